# The page to read, and the step that makes results tracked: all at once, when everything else is done.


# What Snakemake's own --report says before the files that rules mark with report().
report: "../report/workflow.rst"


rule write_report:
    input:
        artefacts=artefacts(),
        evidence=of_collections("collections/{collection}/evidence.json"),
        records=[*expand(work("clicks/{click_log}.json"), click_log=click_logs()), work("sessions/evidence.json")],
        claims=claims_files(),
    output:
        page=report(artefact("report/index.html"), caption="../report/page.rst", category="Report"),
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
        reports=reports(),
    output:
        stamp=work("published.json"),
    log:
        log_of("publish_results"),
    benchmark:
        benchmark_of("publish_results")
    conda:
        "../../environment.yml"
    params:
        folder=lambda wildcards, input: str(Path(input.reports[-1]).parent),
        target=f"{config['results']}/{config['edition']}",
        edition=config["edition"],
        state=state_of_results,
    script:
        "../../scripts/publish_results.py"
