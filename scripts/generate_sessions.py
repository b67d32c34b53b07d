"""Generate synthetic sessions and their judgements, in the formats of the TREC Session track."""

from job import job

from walkeval.papers.ecir2019 import generate_sessions

with job(snakemake):
    generate_sessions(snakemake.output.sessions, snakemake.output.qrels).save(snakemake.output.evidence)
