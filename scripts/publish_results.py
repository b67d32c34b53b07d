"""Copy the finished artefacts to results/<edition>/."""

import json
from pathlib import Path

from job import job

from walkeval.publishing import publish

with job(snakemake):
    folder = Path(snakemake.params.folder)
    names = [Path(one).relative_to(folder).as_posix() for one in snakemake.input]
    changed = publish(folder, names, snakemake.params.target, snakemake.params.edition)
    Path(snakemake.output.stamp).write_text(json.dumps({"changed": changed}, indent=1) + "\n", encoding="utf-8")
