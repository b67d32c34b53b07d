"""Write the page to read, its Markdown twin and the record of what everything stands on."""

import json
from pathlib import Path

from job import job

from walkeval.claims import read_claims
from walkeval.gathering import Evidence
from walkeval.report import provenance, write_markdown, write_page

with job(snakemake):
    config = snakemake.params.config
    evidence = [Evidence.load(path) for path in snakemake.input.evidence]
    record = provenance(config, evidence, snakemake.params.sources, snakemake.input.records)
    Path(snakemake.output.provenance).write_text(record, encoding="utf-8")
    folder = Path(snakemake.params.folder)
    names = [Path(one).relative_to(folder).as_posix() for one in snakemake.input.artefacts]
    claims = read_claims(snakemake.input.claims)
    write_page(snakemake.output.page, folder, names, config, evidence, claims, json.loads(record))
    write_markdown(snakemake.output.markdown, folder, config, evidence, names, claims)
