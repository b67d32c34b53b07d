"""Say once, in one table, what the results stand on and what is missing."""

from job import job

from walkeval.gathering import Evidence, evidence_table
from walkeval.tables import write_table

with job(snakemake):
    write_table(snakemake.output.table, evidence_table(Evidence.load(path) for path in snakemake.input.evidence))
