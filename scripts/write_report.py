"""Write the page to read, its Markdown twin and the record of what everything stands on."""

from pathlib import Path

from job import job

from walkeval.gathering import Evidence
from walkeval.report import provenance, write_markdown, write_page

with job(snakemake):
    evidence = [Evidence.load(path) for path in snakemake.input.evidence]
    record = provenance(snakemake.params.config, evidence, snakemake.params.sources)
    Path(snakemake.output.provenance).write_text(record, encoding="utf-8")
    folder = Path(snakemake.params.folder)
    write_page(snakemake.output.page, folder, snakemake.params.config, evidence)
    write_markdown(snakemake.output.markdown, folder, snakemake.params.config, evidence)
