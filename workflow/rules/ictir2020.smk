# Ferrante and Ferro, ICTIR 2020 (P@H): its figure, its examples and its formulas, and its orders on the TREC 8 runs.


rule reproduce_ictir2020:
    input:
        claims="config/claims/ictir2020.tsv",
        # An edition without TREC 8 reproduces what needs no runs, which is all of the paper.
        evidence=of_trec08("collections/trec08/evidence.json"),
        judged=of_trec08("judged/trec08.npz"),
    output:
        artefacts=ictir2020_artefacts(),
        reproductions=work("reproductions/ictir2020.tsv"),
    log:
        log_of("reproduce_ictir2020"),
    benchmark:
        benchmark_of("reproduce_ictir2020")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(1500),
    params:
        folder=lambda wildcards, output: str(Path(output.artefacts[0]).parent),
        tau=config["tau"],
        rounding=config["rounding"],
        min_grade=config["min_grade"],
    script:
        "../../scripts/reproduce_ictir2020.py"
