"""Search the conventions that the SIGIR 2014 paper does not state, and test them on cells that the search never saw."""

from job import job

from walkeval.claims import read_claims
from walkeval.conventions import readings, search, system_means, unseen_cells, winner
from walkeval.gathering import Evidence
from walkeval.tables import write_table

with job(snakemake):
    claims = read_claims([snakemake.input.claims])
    evidence = [Evidence.load(path) for path in snakemake.input.evidence]
    searched = snakemake.params.searched
    means = system_means(next(one for one in evidence if one.collection == searched))
    means.save(snakemake.output.means)
    table = search(means, claims, searched)
    best = winner(table)
    write_table(snakemake.output.conventions, table)
    write_table(snakemake.output.tested, unseen_cells(best, evidence, claims, searched))
    write_table(snakemake.output.readings, readings(means, best, claims, searched))
