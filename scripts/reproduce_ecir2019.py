"""Recompute the appendix of the ECIR 2019 paper, apply its measure to sessions, and write everything."""

from job import job

from walkeval.audit import write_reproductions
from walkeval.claims import read_claims
from walkeval.papers.ecir2019 import reproduce
from walkeval.sessions import SessionEvidence

with job(snakemake):
    evidence = SessionEvidence.load(snakemake.input.evidence)
    found = reproduce(snakemake.params.folder, evidence, read_claims([snakemake.input.claims]))
    write_reproductions(snakemake.output.reproductions, found)
