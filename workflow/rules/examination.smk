# Tables are examined for what no data could give, and the examination for how much it would find.


rule examine_tables:
    input:
        claims="config/claims/sigir2014.tsv",
    output:
        findings=artefact("audit/findings.tsv"),
        figure=report(
            expand(artefact("audit/findings.{suffix}"), suffix=("svg", "pdf")),
            caption="../report/findings.rst",
            category="Audit",
        ),
        impossible=work("reproductions/impossible.tsv"),
    log:
        log_of("examine_tables"),
    benchmark:
        benchmark_of("examine_tables")
    conda:
        "../../environment.yml"
    script:
        "../../scripts/examine_tables.py"


rule measure_examination:
    input:
        scores=of_collections("scores/{collection}.npz"),
    output:
        power=artefact("audit/examination-power.tsv"),
    log:
        log_of("measure_examination"),
    benchmark:
        benchmark_of("measure_examination")
    conda:
        "../../environment.yml"
    params:
        tables=config["planted_tables"],
    script:
        "../../scripts/measure_examination.py"


rule examine_sources:
    input:
        evidence=of_collections("collections/{collection}/evidence.json"),
        judged=of_collections("judged/{collection}.npz"),
    output:
        columns=artefact("audit/source-columns.tsv"),
    log:
        log_of("examine_sources"),
    benchmark:
        benchmark_of("examine_sources")
    conda:
        "../../environment.yml"
    script:
        "../../scripts/examine_sources.py"
