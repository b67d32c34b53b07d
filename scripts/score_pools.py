"""Score one shard of the replicates of a collection's downsampled pools."""

from job import job

from walkeval.judging import JudgedCollection
from walkeval.robustness import summarize_pools
from walkeval.scoring import Scores
from walkeval.shards import shard_of

with job(snakemake):
    summarize_pools(
        JudgedCollection.load(snakemake.input.judged),
        Scores.load(snakemake.input.scores),
        rates=snakemake.params.rates,
        replicates=shard_of(int(snakemake.wildcards.shard), snakemake.params.shards, snakemake.params.replicates),
        name=snakemake.wildcards.collection,
        variant=snakemake.params.tau,
        decimals=snakemake.params.rounding,
        min_grade=snakemake.params.min_grade,
        graded=snakemake.params.graded,
    ).save(snakemake.output.summary)
