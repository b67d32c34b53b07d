"""Write what the click logs say as tables and a figure, and what they say about the paper's claims."""

from job import job

from walkeval.audit import write_reproductions
from walkeval.claims import read_claims
from walkeval.papers.sigir2014_clicks import LogStatistics, write_clicks

with job(snakemake):
    logs = [LogStatistics.load(path) for path in snakemake.input.statistics]
    found = write_clicks(snakemake.params.folder, logs, read_claims([snakemake.input.claims]))
    write_reproductions(snakemake.output.reproductions, found)
