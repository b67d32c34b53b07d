"""Fetch and check every source of an edition's collections."""

import json
from pathlib import Path

from job import job

from walkeval.gathering import gather, refuse_weaker

with job(snakemake):
    found = gather(
        snakemake.params.collections,
        "config",
        snakemake.params.data,
        mirror=snakemake.params.mirror,
        network=snakemake.params.network,
    )
    published = Path(snakemake.params.published)
    if published.exists():
        before = json.loads(published.read_text(encoding="utf-8"))["evidence"]
        refuse_weaker({one.collection: one.level for one in found}, before, snakemake.params.edition)
    for evidence, path in zip(found, snakemake.output.evidence, strict=True):
        evidence.save(path)
