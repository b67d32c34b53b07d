# Bollmann and Raghavan, SIGIR 1988 (expected search length): its examples and axioms, and ties in runs.


rule reproduce_sigir1988:
    input:
        claims="config/claims/sigir1988.tsv",
        judged=of_collections("judged/{collection}.npz"),
    output:
        artefacts=sigir1988_artefacts(),
        reproductions=work("reproductions/sigir1988.tsv"),
    log:
        log_of("reproduce_sigir1988"),
    benchmark:
        benchmark_of("reproduce_sigir1988")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(1500),
    params:
        folder=lambda wildcards, output: str(Path(output.artefacts[0]).parent),
        collections=config["collections"],
        synthetic=config["kind"] == "synthetic",
        tau=config["tau"],
        rounding=config["rounding"],
        min_grade=config["min_grade"],
    script:
        "../../scripts/reproduce_sigir1988.py"
