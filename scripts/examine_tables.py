"""Examine Tables 2 and 3 of the SIGIR 2014 paper without any data."""

from pathlib import Path

from job import job

from walkeval.audit import write_reproductions
from walkeval.claims import read_claims
from walkeval.examination import examine, write_findings
from walkeval.examination_figure import draw_findings
from walkeval.figures import save
from walkeval.papers.sigir2014 import impossible_cells, printed_blocks

with job(snakemake):
    blocks = printed_blocks(read_claims([snakemake.input.claims]))
    findings = examine(blocks)
    write_findings(snakemake.output.findings, findings)
    save(draw_findings(blocks, findings), Path(snakemake.output.findings).with_suffix(""))
    write_reproductions(snakemake.output.impossible, impossible_cells(blocks))
