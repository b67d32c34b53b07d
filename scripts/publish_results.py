"""Copy the finished artefacts to results/<edition>/."""

import json
from pathlib import Path

from job import job

from walkeval.publishing import publish

with job(snakemake):
    changed = publish(snakemake.params.folder, snakemake.params.target, snakemake.params.edition)
    Path(snakemake.output.stamp).write_text(json.dumps({"changed": changed}, indent=1) + "\n", encoding="utf-8")
