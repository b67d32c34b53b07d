"""Give every claim its verdict."""

from job import job

from walkeval.audit import judge_claims, read_reproductions, with_impossible, write_verdicts
from walkeval.claims import read_claims
from walkeval.conventions import read_explanations

with job(snakemake):
    found = [one for path in snakemake.input.reproductions for one in read_reproductions(path)]
    found = with_impossible(found, read_reproductions(snakemake.input.impossible))
    explanations = {}
    for path in snakemake.input.explanations:
        explanations |= read_explanations(path)
    verdicts = judge_claims(read_claims(snakemake.input.claims), found, snakemake.params.printing, explanations)
    write_verdicts(snakemake.output.verdicts, verdicts)
