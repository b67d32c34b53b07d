"""Reproduce the ICTIR 2020 paper: its figure, examples and formulas, and its orders on the TREC 8 runs."""

from job import job

from walkeval.audit import write_reproductions
from walkeval.claims import read_claims
from walkeval.gathering import Evidence
from walkeval.judging import JudgedCollection
from walkeval.papers.ictir2020 import Systems, write_everything

with job(snakemake):
    systems = None
    if snakemake.input.judged:
        evidence = Evidence.load(snakemake.input.evidence[0])
        collection = JudgedCollection.load(snakemake.input.judged[0])
        lists = collection.lists(min_grade=snakemake.params.min_grade)
        systems = Systems(evidence.title, evidence.kind == "synthetic", collection.runs, lists)
    found = write_everything(
        snakemake.params.folder,
        read_claims([snakemake.input.claims]),
        systems,
        variant=snakemake.params.tau,
        decimals=snakemake.params.rounding,
    )
    write_reproductions(snakemake.output.reproductions, found)
