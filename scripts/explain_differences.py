"""Explain every cell of the SIGIR 2014 paper's Tables 2 and 3 that differs."""

from job import job

from walkeval.audit import read_reproductions
from walkeval.claims import read_claims
from walkeval.conventions import SystemMeans, edition_convention, explain, write_explanations
from walkeval.gathering import Evidence

with job(snakemake):
    params = snakemake.params
    means = SystemMeans.load(snakemake.input.means)
    explained = explain(
        read_claims([snakemake.input.claims]),
        read_reproductions(snakemake.input.reproductions),
        [Evidence.load(path) for path in snakemake.input.evidence],
        edition_convention(params.order, params.rounding, params.tau, params.printing),
        {params.searched: means} if means.runs else {},
    )
    write_explanations(snakemake.output.explanations, explained)
