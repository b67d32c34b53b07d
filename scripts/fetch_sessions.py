"""Fetch and check the sessions and their judgements; what is missing is said in their record."""

from job import job

from walkeval.papers.ecir2019 import gather_sessions
from walkeval.sessions import refuse_lost_sessions
from walkeval.sources import mirror_folder, read_registry

with job(snakemake):
    found, reasons = gather_sessions(
        read_registry(snakemake.input.registry),
        snakemake.params.data,
        mirror=mirror_folder(snakemake.config),
        network=snakemake.params.network,
    )
    for reason in reasons:
        print(reason)
    refuse_lost_sessions(found, snakemake.params.published, snakemake.params.edition)
    found.save(snakemake.output.evidence)
