"""Fetch and check every source of an edition's collections."""

from job import job

from walkeval.gathering import gather, published_evidence, refuse_weaker
from walkeval.sources import mirror_folder

with job(snakemake):
    found = gather(
        snakemake.params.collections,
        "config",
        snakemake.params.data,
        mirror=mirror_folder(snakemake.config),
        network=snakemake.params.network,
    )
    before = published_evidence(snakemake.params.published)
    refuse_weaker({one.collection: one.level for one in found}, before, snakemake.params.edition)
    for evidence, path in zip(found, snakemake.output.evidence, strict=True):
        evidence.save(path)
