# The page to read, and the step that makes results tracked: all at once, when everything else is done.


rule write_report:
    input:
        artefacts=artefacts(),
        evidence=of_collections("collections/{collection}/evidence.json"),
    output:
        page=artefact("report/index.html"),
        markdown=artefact("REPRODUCTION.md"),
        provenance=artefact("provenance.json"),
    log:
        log_of("write_report"),
    benchmark:
        benchmark_of("write_report")
    conda:
        "../../environment.yml"
    params:
        folder=lambda wildcards, output: str(Path(output.provenance).parent),
        config=config,
        sources="config/sources.tsv",
    script:
        "../../scripts/write_report.py"


rule publish_results:
    input:
        artefacts=artefacts(),
        page=artefact("report/index.html"),
        provenance=artefact("provenance.json"),
    output:
        stamp=work("published.json"),
    log:
        log_of("publish_results"),
    benchmark:
        benchmark_of("publish_results")
    conda:
        "../../environment.yml"
    params:
        folder=lambda wildcards, input: str(Path(input.provenance).parent),
        target=f"{config['results']}/{config['edition']}",
        edition=config["edition"],
    script:
        "../../scripts/publish_results.py"
