"""What each stage of an edition took, from the benchmark files that Snakemake leaves beside its results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

COLUMNS = ["edition", "stage", "jobs", "seconds", "longest_s", "cpu_seconds", "max_rss_mb"]


def stages(data: Path) -> pd.DataFrame:
    """Rules of all editions below a data folder; no rows where none has run.

    Snakemake looks at a job now and then, so that memory and processor time of jobs below a second are too low.
    """
    rows = []
    for folder in sorted(data.glob("*/benchmarks")):
        parts = []
        for path in sorted(folder.rglob("*.tsv")):
            jobs = pd.read_csv(path, sep="\t", na_values=["-", "NA"])
            stage = path.relative_to(folder).parts[0].removesuffix(".tsv")
            parts.append(jobs[["s", "cpu_time", "max_rss"]].assign(stage=stage))
        for stage, jobs in pd.concat(parts).groupby("stage") if parts else ():
            times = jobs["s"].sum(), jobs["s"].max(), jobs["cpu_time"].sum(), jobs["max_rss"].max()
            rows.append([folder.parent.name, stage, len(jobs), *map(float, times)])
    return pd.DataFrame(rows, columns=COLUMNS).sort_values(["edition", "seconds"], ascending=[True, False])
