# Where collections come from: fetched and checked, or generated.


if config["kind"] == "synthetic":

    rule generate_collection:
        input:
            specification=config["synthetic"],
        output:
            files=directory(work("collections/{collection}/files")),
            evidence=work("collections/{collection}/evidence.json"),
        log:
            log_of("generate_collection/{collection}"),
        benchmark:
            benchmark_of("generate_collection/{collection}")
        conda:
            "../../environment.yml"
        resources:
            mem_mb=growing(1500),
        script:
            "../../scripts/generate_collection.py"

else:

    localrules:
        fetch_sources,

    # One process for all sources, so that a host that is down is asked once. A local rule: compute nodes need no network.
    rule fetch_sources:
        input:
            registry="config/sources.tsv",
            offers=offers_of_the_mirror(),
            collections=expand("config/collections/{collection}.yaml", collection=config["collections"]),
        output:
            evidence=of_collections("collections/{collection}/evidence.json"),
        log:
            log_of("fetch_sources"),
        benchmark:
            benchmark_of("fetch_sources")
        conda:
            "../../environment.yml"
        params:
            collections=config["collections"],
            runs=runs_by_hand,
            data=data_folder,
            network=config["network"],
            published=f"{config['results']}/{config['edition']}/provenance.json",
            edition=config["edition"],
        script:
            "../../scripts/fetch_sources.py"


rule tabulate_evidence:
    input:
        evidence=of_collections("collections/{collection}/evidence.json"),
    output:
        table=artefact("evidence.tsv"),
    log:
        log_of("tabulate_evidence"),
    benchmark:
        benchmark_of("tabulate_evidence")
    conda:
        "../../environment.yml"
    script:
        "../../scripts/tabulate_evidence.py"
