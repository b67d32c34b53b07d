"""Plant errors in true tables and count how many of them the examination finds."""

from job import job

from walkeval.planting import largest_collection, power
from walkeval.scoring import Scores
from walkeval.tables import write_table

with job(snakemake):
    scores = largest_collection([Scores.load(path) for path in snakemake.input.scores])
    table = power(scores, corruptions=snakemake.params.tables, clean=snakemake.params.tables)
    write_table(snakemake.output.power, table)
