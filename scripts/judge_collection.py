"""Read a collection's runs and join them with its judgements."""

from job import job

from walkeval.gathering import Evidence
from walkeval.judging import JudgedCollection, judge

with job(snakemake):
    evidence = Evidence.load(snakemake.input.evidence)
    if evidence.qrels:
        collection = judge(evidence.qrels, evidence.run_paths(), order=snakemake.params.order)
    else:
        collection = JudgedCollection.empty(snakemake.params.order)
    collection.save(snakemake.output.judged)
    collection.write_ledger(snakemake.output.ledger)
