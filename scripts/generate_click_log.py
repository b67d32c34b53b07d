"""Generate a synthetic click log in the original Yandex format."""

from job import job

from walkeval.papers.sigir2014_clicks import generate_log

with job(snakemake):
    generate_log(snakemake.output.clicks, snakemake.params.sessions).save(snakemake.output.evidence)
