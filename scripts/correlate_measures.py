"""Correlate every measure of a collection with every other."""

import numpy as np
from job import job

from walkeval.scoring import Scores
from walkeval.tables import correlation_table, write_table

with job(snakemake):
    scores = Scores.load(snakemake.input.scores)
    table = correlation_table(
        scores,
        name=snakemake.wildcards.collection,
        variant=snakemake.params.tau,
        decimals=snakemake.params.rounding,
        sampled=[np.load(path) for path in snakemake.input.sampled],
    )
    write_table(snakemake.output.correlations, table)
