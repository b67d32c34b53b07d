"""Draw Figures 1 and 2 of the SIGIR 2014 paper from its models."""

from job import job

from walkeval.papers.sigir2014_figures import write_chains

with job(snakemake):
    write_chains(snakemake.params.folder)
