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
        mem_mb=growing(1000),
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
        mem_mb=growing(1500),
    params:
        measures=config["measures"],
        min_grade=config["min_grade"],
        graded=config["graded"],
        rates=config["pool_rates"],
        replicates=config["replicates"],
        shards=len(shards("replicates", "shard")),
        tau=config["tau"],
        rounding=config["rounding"],
    script:
        "../../scripts/score_pools.py"


rule sample_topics:
    input:
        scores=work("scores/{collection}.npz"),
    output:
        taus=work("samples/{collection}/{shard}.npy"),
    log:
        log_of("sample_topics/{collection}-{shard}"),
    benchmark:
        benchmark_of("sample_topics/{collection}-{shard}")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(1000),
    params:
        samples=config["bootstrap"],
        shards=len(shards("bootstrap", "bootstrap_shard")),
        tau=config["tau"],
        rounding=config["rounding"],
    script:
        "../../scripts/sample_topics.py"


rule correlate_measures:
    input:
        scores=work("scores/{collection}.npz"),
        sampled=expand(
            work("samples/{{collection}}/{shard}.npy"),
            shard=shards("bootstrap", "bootstrap_shard"),
        ),
    output:
        correlations=work("correlations/{collection}.tsv"),
    log:
        log_of("correlate_measures/{collection}"),
    benchmark:
        benchmark_of("correlate_measures/{collection}")
    conda:
        "../../environment.yml"
    resources:
        mem_mb=growing(1000),
    params:
        tau=config["tau"],
        rounding=config["rounding"],
    script:
        "../../scripts/correlate_measures.py"
