# Ferrante, Ferro and Maistro, SIGIR 2014: its tables and figures.


rule tabulate_sigir2014:
    input:
        claims="config/claims/sigir2014.tsv",
        evidence=of_collections("collections/{collection}/evidence.json"),
        correlations=of_collections("correlations/{collection}.tsv"),
    output:
        tables=expand(
            artefact("sigir2014-markov-precision/table{number}.{suffix}"),
            number=(1, 2, 3, 4),
            suffix=("tsv", "md", "tex", "html"),
        ),
        reproductions=work("reproductions/sigir2014.tsv"),
    log:
        log_of("tabulate_sigir2014"),
    benchmark:
        benchmark_of("tabulate_sigir2014")
    conda:
        "../../environment.yml"
    params:
        folder=lambda wildcards, output: str(Path(output.tables[0]).parent),
        tau=config["tau"],
        rounding=config["rounding"],
        printing=config["printing"],
        bootstrap=config["bootstrap"],
    script:
        "../../scripts/tabulate_sigir2014.py"
