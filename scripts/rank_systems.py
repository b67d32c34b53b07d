"""Rank the systems of somebody's own collections by the first measure of the edition."""

from pathlib import Path

from job import job

from walkeval.report import systems_table
from walkeval.scoring import Scores
from walkeval.tables import write_table

with job(snakemake):
    scores = {Path(path).stem: Scores.load(path) for path in snakemake.input.scores}
    write_table(snakemake.output.systems, systems_table(scores))
