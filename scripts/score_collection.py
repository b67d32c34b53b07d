"""Score every run and topic of a collection by the edition's measures."""

from job import job

from walkeval.judging import JudgedCollection
from walkeval.scoring import score_collection

with job(snakemake):
    collection = JudgedCollection.load(snakemake.input.judged)
    scores = score_collection(
        collection,
        snakemake.params.measures,
        min_grade=snakemake.params.min_grade,
        graded=snakemake.params.graded,
    )
    scores.save(snakemake.output.scores)
