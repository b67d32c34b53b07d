"""Reproduce the SIGIR 2006 paper: its examples and equations, and its figure on a stand-in."""

from job import job

from walkeval.audit import write_reproductions
from walkeval.claims import read_claims
from walkeval.judging import JudgedCollection
from walkeval.papers.sigir2006 import write_paper

with job(snakemake):
    judged = zip(snakemake.params.collections, snakemake.input.judged, strict=True)
    found = write_paper(
        snakemake.params.folder,
        read_claims([snakemake.input.claims]),
        {name: JudgedCollection.load(path) for name, path in judged},
        snakemake.params.synthetic,
        min_grade=snakemake.params.min_grade,
    )
    write_reproductions(snakemake.output.reproductions, found)
