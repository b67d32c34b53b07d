"""Draw Figures 3 and 4 of the SIGIR 2014 paper, and Figure 4 for all measures."""

from job import job

from walkeval.gathering import Evidence
from walkeval.papers.sigir2014_figures import pool_curves, write_pool_figures
from walkeval.robustness import PoolSummary
from walkeval.scoring import Scores

with job(snakemake):
    evidence = [Evidence.load(path) for path in snakemake.input.evidence]
    names = [one.collection for one in evidence]
    scores = {name: Scores.load(path) for name, path in zip(names, snakemake.input.scores, strict=True)}
    # The shards of the first collection come first, then those of the second.
    shards = snakemake.params.shards
    summaries = {}
    if shards:
        for place, name in enumerate(names):
            paths = snakemake.input.pools[place * shards : (place + 1) * shards]
            summaries[name] = PoolSummary.merge([PoolSummary.load(path) for path in paths])
    write_pool_figures(snakemake.params.folder, evidence, pool_curves(evidence, scores, summaries))
