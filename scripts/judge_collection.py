"""Read a collection's runs and join them with its judgements."""

from job import job

from walkeval.gathering import Evidence
from walkeval.judging import judge

with job(snakemake):
    evidence = Evidence.load(snakemake.input.evidence)
    collection = judge(evidence.qrels, evidence.run_paths(), order=snakemake.params.order)
    collection.save(snakemake.output.judged)
    collection.write_ledger(snakemake.output.ledger)
