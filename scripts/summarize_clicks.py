"""Read a click log twice: once for its counters, once for the holding times of its frequent queries."""

from pathlib import Path

from job import job
from tqdm import tqdm

from walkeval.papers.sigir2014_clicks import LogEvidence, summarize_log

with job(snakemake):
    evidence = LogEvidence.load(snakemake.input.evidence)
    size = 2 * sum(Path(path).stat().st_size for path in evidence.paths)
    with tqdm(total=size, unit="B", unit_scale=True, desc=evidence.log, mininterval=5) as bar:
        summarize_log(evidence, bar.update).save(snakemake.output.statistics)
