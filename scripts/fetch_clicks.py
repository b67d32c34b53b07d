"""Fetch and check the click logs; what is missing is said in the records of the logs."""

from job import job

from walkeval.papers.sigir2014_clicks import gather_logs, refuse_lost_logs
from walkeval.sources import mirror_folder, read_registry

with job(snakemake):
    found, reasons = gather_logs(
        snakemake.params.click_logs,
        read_registry(snakemake.input.registry),
        snakemake.params.data,
        mirror=mirror_folder(snakemake.config),
        network=snakemake.params.network,
    )
    for reason in reasons:
        print(reason)
    refuse_lost_logs(found, snakemake.params.published, snakemake.params.edition)
    for evidence, path in zip(found, snakemake.output.evidence, strict=True):
        evidence.save(path)
