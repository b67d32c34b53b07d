"""Draw the correlations of all measures, and list the pairs of systems that change place between AP and MP."""

from job import job

from walkeval.gathering import Evidence
from walkeval.papers.sigir2014_figures import write_heatmaps, write_pair_changes
from walkeval.scoring import Scores
from walkeval.tables import read_table

with job(snakemake):
    evidence = [Evidence.load(path) for path in snakemake.input.evidence]
    names = [one.collection for one in evidence]
    correlations = {name: read_table(path) for name, path in zip(names, snakemake.input.correlations, strict=True)}
    scores = {name: Scores.load(path) for name, path in zip(names, snakemake.input.scores, strict=True)}
    write_heatmaps(snakemake.params.folder, evidence, correlations, snakemake.params.printing)
    write_pair_changes(
        snakemake.params.folder, evidence, scores, variant=snakemake.params.tau, decimals=snakemake.params.rounding
    )
