"""Reproduce the SIGIR 1988 paper: its examples and axioms, and what ties do to runs."""

from job import job

from walkeval.audit import write_reproductions
from walkeval.claims import read_claims
from walkeval.judging import JudgedCollection
from walkeval.papers.sigir1988 import write_paper

with job(snakemake):
    judged = zip(snakemake.params.collections, snakemake.input.judged, strict=True)
    found = write_paper(
        snakemake.params.folder,
        read_claims([snakemake.input.claims]),
        {name: JudgedCollection.load(path) for name, path in judged},
        snakemake.params.synthetic,
        variant=snakemake.params.tau,
        decimals=snakemake.params.rounding,
        min_grade=snakemake.params.min_grade,
    )
    write_reproductions(snakemake.output.reproductions, found)
