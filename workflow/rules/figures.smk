# Figures of the SIGIR 2014 paper, and the same questions asked of all measures of the edition.


rule plot_sigir2014_chains:
    output:
        figures=report(figures_of("figure1", "figure2"), caption="../report/figures.rst", category="SIGIR 2014"),
    log:
        log_of("plot_sigir2014_chains"),
    benchmark:
        benchmark_of("plot_sigir2014_chains")
    conda:
        "../../environment.yml"
    params:
        folder=lambda wildcards, output: str(Path(output.figures[0]).parent),
    script:
        "../../scripts/plot_sigir2014_chains.py"


rule plot_sigir2014_pools:
    input:
        evidence=of_collections("collections/{collection}/evidence.json"),
        scores=of_collections("scores/{collection}.npz"),
        pools=expand(
            work("pools/{collection}/{shard}.npz"),
            collection=config["collections"],
            shard=shards("replicates", "shard"),
        ),
    output:
        figures=report(
            figures_of("figure3", "figure4", "figure4-all"), caption="../report/figures.rst", category="SIGIR 2014"
        ),
    log:
        log_of("plot_sigir2014_pools"),
    benchmark:
        benchmark_of("plot_sigir2014_pools")
    conda:
        "../../environment.yml"
    params:
        folder=lambda wildcards, output: str(Path(output.figures[0]).parent),
        shards=len(shards("replicates", "shard")),
    script:
        "../../scripts/plot_sigir2014_pools.py"


rule plot_correlations:
    input:
        evidence=of_collections("collections/{collection}/evidence.json"),
        scores=of_collections("scores/{collection}.npz"),
        correlations=of_collections("correlations/{collection}.tsv"),
    output:
        figures=report(figures_of("heatmaps"), caption="../report/figures.rst", category="SIGIR 2014"),
        changes=artefact("sigir2014-markov-precision/pair-changes.tsv"),
        summary=expand(
            artefact("sigir2014-markov-precision/pair-changes-summary.{suffix}"),
            suffix=("tsv", "md", "tex", "html"),
        ),
    log:
        log_of("plot_correlations"),
    benchmark:
        benchmark_of("plot_correlations")
    conda:
        "../../environment.yml"
    params:
        folder=lambda wildcards, output: str(Path(output.changes).parent),
        tau=config["tau"],
        rounding=config["rounding"],
        printing=config["printing"],
    script:
        "../../scripts/plot_correlations.py"
