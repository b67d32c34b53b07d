# Runs are read once and joined with the judgements; everything after is array work.


rule judge_collection:
    input:
        evidence=work("collections/{collection}/evidence.json"),
    output:
        judged=work("judged/{collection}.npz"),
        ledger=artefact("ledgers/{collection}.tsv"),
    log:
        log_of("judge_collection/{collection}"),
    benchmark:
        benchmark_of("judge_collection/{collection}")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(1000),
    params:
        order=config["order"],
    script:
        "../../scripts/judge_collection.py"
