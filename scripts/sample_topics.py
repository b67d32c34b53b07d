"""Correlate the measures of a collection in samples of its topics, one shard of them."""

import numpy as np
from job import job

from walkeval.scoring import Scores
from walkeval.shards import shard_of
from walkeval.tables import sampled_taus
from walkeval.trec import whole_file

with job(snakemake):
    taus = sampled_taus(
        Scores.load(snakemake.input.scores),
        name=snakemake.wildcards.collection,
        samples=shard_of(int(snakemake.wildcards.shard), snakemake.params.shards, snakemake.params.samples),
        variant=snakemake.params.tau,
        decimals=snakemake.params.rounding,
    )
    with whole_file(snakemake.output.taus) as file:
        np.save(file, taus)
