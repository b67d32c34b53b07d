# Piwowarski and Dupret, SIGIR 2006 (EPRUM): its examples and equations, and Figure 4 on a generated stand-in.


rule reproduce_sigir2006:
    input:
        claims="config/claims/sigir2006.tsv",
        judged=of_collections("judged/{collection}.npz"),
    output:
        artefacts=sigir2006_artefacts(),
        reproductions=work("reproductions/sigir2006.tsv"),
    log:
        log_of("reproduce_sigir2006"),
    benchmark:
        benchmark_of("reproduce_sigir2006")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(1500),
    params:
        folder=lambda wildcards, output: str(Path(output.artefacts[0]).parent),
        collections=config["collections"],
        synthetic=config["kind"] == "synthetic",
        min_grade=config["min_grade"],
    script:
        "../../scripts/reproduce_sigir2006.py"
