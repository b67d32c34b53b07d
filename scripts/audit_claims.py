"""Give every claim its verdict."""

from job import job

from walkeval.audit import judge_claims, read_reproductions, write_verdicts
from walkeval.claims import read_claims

with job(snakemake):
    found = [one for path in snakemake.input.reproductions for one in read_reproductions(path)]
    verdicts = judge_claims(read_claims(snakemake.input.claims), found, snakemake.params.printing)
    write_verdicts(snakemake.output.verdicts, verdicts)
