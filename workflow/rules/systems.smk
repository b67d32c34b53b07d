# The systems of somebody's own collections, from best to worst: what their owner looks at first.


rule rank_systems:
    input:
        scores=expand(work("scores/{collection}.npz"), collection=own_collections()),
    output:
        systems=artefact("systems.tsv"),
    log:
        log_of("rank_systems"),
    benchmark:
        benchmark_of("rank_systems")
    conda:
        "../../environment.yml"
    script:
        "../../scripts/rank_systems.py"
