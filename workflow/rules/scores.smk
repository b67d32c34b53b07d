# Judged runs become scores, under the full pool and under downsampled ones.


rule score_collection:
    input:
        judged=work("judged/{collection}.npz"),
    output:
        scores=work("scores/{collection}.npz"),
    log:
        log_of("score_collection/{collection}"),
    benchmark:
        benchmark_of("score_collection/{collection}")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
    params:
        measures=config["measures"],
        min_grade=config["min_grade"],
        graded=config["graded"],
    script:
        "../../scripts/score_collection.py"


rule score_pools:
    input:
        judged=work("judged/{collection}.npz"),
        scores=work("scores/{collection}.npz"),
    output:
        summary=work("pools/{collection}/{shard}.npz"),
    log:
        log_of("score_pools/{collection}-{shard}"),
    benchmark:
        benchmark_of("score_pools/{collection}-{shard}")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1500,
    params:
        measures=config["measures"],
        min_grade=config["min_grade"],
        graded=config["graded"],
        rates=config["pool_rates"],
        replicates=config["replicates"],
        shard=config["shard"],
        tau=config["tau"],
        rounding=config["rounding"],
    script:
        "../../scripts/score_pools.py"


rule correlate_measures:
    input:
        scores=work("scores/{collection}.npz"),
    output:
        correlations=work("correlations/{collection}.tsv"),
    log:
        log_of("correlate_measures/{collection}"),
    benchmark:
        benchmark_of("correlate_measures/{collection}")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
    params:
        tau=config["tau"],
        rounding=config["rounding"],
        bootstrap=config["bootstrap"],
    script:
        "../../scripts/correlate_measures.py"
