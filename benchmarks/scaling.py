"""How time and memory grow with runs, topics, depth, replicates and click records, and the laws that this follows.

Each size is measured in a process of its own. Collections are synthetic, a few different files of which are read again
and again where more runs are asked for. One number varies at a time, and the judged documents of a list stay about as
many.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import nnls

from benchmarks.files import Files, stand_in
from walkeval.clicks import write_synthetic_log
from walkeval.correlation import SIGNS
from walkeval.judging import judge
from walkeval.papers.sigir2014 import measures
from walkeval.scoring import BLOCK, score_collection
from walkeval.synthetic import SyntheticSpecification

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = [
    "axis", "size", "stage", "data", "runs", "topics", "depth", "lists", "lines", "judgements", "judged", "relevant",
    "seconds", "cpu_seconds", "peak_mb", "fitted",
]  # fmt: skip
NUMBERS = [name for name in COLUMNS if name not in ("axis", "stage", "data", "fitted")]
SYNTHETIC = "SYNTHETIC"
RECORDS_PER_SESSION = 4.256
"""Of the default synthetic user of click logs."""
CHECK = "ten times TREC 8"
REAL = "the whole collection"
"""The files that the ratios are measured on, once: how far their lines cost what synthetic ones do."""
ALIKE = {
    "runs_per_site": 1, "shallow_runs": 0, "short_runs": 0, "tied_runs": 0,
    "appeal_spread": 6.5, "site_noise": 7.5, "run_noise": 5.5, "strength": 9.9,
}  # fmt: skip
"""What makes lists alike but for the size that varies: all full, and scores spread so widely that few are equal,
whatever the depth (scores have four decimals, and equal ones cost a comparison of document numbers)."""
TIME_TERMS = {
    "judge": ("runs", "lines", "judgements"),
    "score": ("one", "lists", "judged"),
    "correlate": ("one", "pairs"),
}
MEMORY_TERMS = {
    "judge": ("lines per run", "lines", "judgements", "judged"),
    "score": ("lines per run", "lists", "judged", "judged at a time"),
    "correlate": ("one", "pairs at a time"),
}
"""What a stage's cost is a sum over: so much for each line, for each list, and so on."""


@dataclass(frozen=True)
class Axis:
    """What varies, over which sizes, and from which size on fixed costs are small enough for an exponent."""

    name: str
    sizes: tuple[int, ...]
    fitted_from: int
    runs: int = 8
    topics: int = 50
    depth: int = 1000
    candidates: int = 2000
    """Documents of each topic that runs retrieve from: twice the depth at least."""

    def shape(self, size: int) -> dict[str, int]:
        return {"runs": self.runs, "topics": self.topics, "depth": self.depth} | {self.name: size}


@dataclass(frozen=True)
class Plan:
    """All sizes. The largest are bounded by time and disk; correlations by time, which grows with the square."""

    axes: tuple[Axis, ...] = (
        Axis("runs", (10, 30, 100, 300, 1000, 3000), fitted_from=100, topics=10),
        Axis("topics", (10, 30, 100, 300, 1000), fitted_from=100),
        Axis("depth", (100, 300, 1000, 3000, 10000), fitted_from=1000, candidates=20_000),
    )
    check: Mapping[str, int] | None = field(default_factory=lambda: {"runs": 1290, "topics": 50, "depth": 1000})
    """The simulated point at ten times the paper's size."""
    relevant: tuple[int, float, int] = (5, 50, 200)
    """Relevant documents of a topic: fewest, mean and most."""
    files: int = 8
    """Different files among the runs."""
    most_correlated: int = 3000
    """Systems up to which all pairs are compared."""
    replicates: tuple[int, ...] = (5, 20, 80)
    replicate_rates: tuple[int, ...] = (50,)
    records: tuple[int, ...] = (100_000, 400_000, 1_600_000)
    lines_per_measurement: int = 3_000_000
    """Small sizes are measured again until about so many lines are read, but from 3 to 7 times."""


def all_points(plan: Plan, files: Files, say: Callable[[str], object]) -> pd.DataFrame:
    """Measure every size of every axis."""
    rows: list[dict[str, Any]] = []
    for axis in plan.axes:
        say(f"scaling with {axis.name}: {', '.join(map(str, axis.sizes))}")
        rows += _axis_rows(axis, plan)
    if plan.check:
        say(f"a simulated collection of {plan.check['runs']} runs")
        rows += _point(CHECK, plan.check["runs"], dict(plan.check), plan, candidates=6000, rounds=1, correlate=False)
    say(f"{files.title} in a process of its own")
    rows += _whole_rows(files)
    say(f"replicates of pools: {', '.join(map(str, plan.replicates))}")
    rows += _replicate_rows(plan, files)
    say(f"click records: {', '.join(map(str, plan.records))}")
    rows += _click_rows(plan)
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({name: "Int64" for name in NUMBERS if name not in ("seconds", "cpu_seconds", "peak_mb")})


def _axis_rows(axis: Axis, plan: Plan) -> list[dict[str, Any]]:
    rows = []
    for size in axis.sizes:
        shape = axis.shape(size)
        lines = shape["runs"] * shape["topics"] * shape["depth"]
        rounds = int(np.clip(plan.lines_per_measurement // lines, 3, 7))
        correlate = axis.name == "runs" and size <= plan.most_correlated
        rows += _point(axis.name, size, shape, plan, axis.candidates, rounds, correlate, size >= axis.fitted_from)
    return rows


def _point(
    axis: str,
    size: int,
    shape: dict[str, int],
    plan: Plan,
    candidates: int,
    rounds: int,
    correlate: bool,
    fitted: bool = False,
) -> list[dict[str, Any]]:
    specification = SyntheticSpecification(
        f"scaling-{axis.replace(' ', '-')}", topics=shape["topics"], runs=min(plan.files, shape["runs"]),
        relevant=plan.relevant, depth=shape["depth"], candidates=max(candidates, 2 * shape["depth"]), **ALIKE,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        files = stand_in(specification, Path(folder, "collection"), SYNTHETIC)
        order = {"qrels": str(files.qrels), "paths": [str(path) for path in files.runs.values()], "runs": shape["runs"]}
        report = in_child("judge", order | {"rounds": rounds, "correlate": correlate})
    return _rows(axis, size, SYNTHETIC, shape, report, fitted)


def _whole_rows(files: Files) -> list[dict[str, Any]]:
    order = {"qrels": str(files.qrels), "paths": [str(path) for path in files.runs.values()], "runs": len(files.runs)}
    report = in_child("judge", order | {"rounds": 2, "correlate": False})
    lists = report["sizes"]["lists"]
    shape = {"runs": len(files.runs), "topics": lists // len(files.runs), "depth": report["depth"]}
    return _rows(REAL, len(files.runs), files.title, shape, report, False)


def _replicate_rows(plan: Plan, files: Files) -> list[dict[str, Any]]:
    """The replicate stage on the whole collection: a shard of few and of many replicates."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        collection = judge(files.qrels, files.runs)
        collection.save(Path(folder, "judged.npz"))
        score_collection(collection, measures()).save(Path(folder, "scores.npz"))
        shape = {"runs": len(collection.runs), "topics": len(collection.topics), "depth": int(collection.length.max())}
        order = {"judged": str(Path(folder, "judged.npz")), "scores": str(Path(folder, "scores.npz"))}
        for count in plan.replicates:
            report = in_child("replicates", order | {"replicates": count, "rates": list(plan.replicate_rates)})
            rows += _rows("replicates", count, files.title, shape, report, True)
    return rows


def _click_rows(plan: Plan) -> list[dict[str, Any]]:
    """Click logs in which the number of different queries grows with the records."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for records in plan.records:
            path = Path(folder, "log")
            sessions = max(1, round(records / RECORDS_PER_SESSION))
            write_synthetic_log(path, sessions, f"benchmark {records}", queries=max(1, sessions // 10))
            rows += _rows("click records", records, SYNTHETIC, {}, in_child("clicks", {"path": str(path)}), True)
    return rows


def in_child(task: str, order: Mapping[str, Any]) -> dict[str, Any]:
    """Run a task of `benchmarks.child` in a process of its own, with one thread."""
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [sys.executable, "-m", "benchmarks.child", json.dumps({"task": task} | dict(order))]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | threads, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def _rows(
    axis: str, size: int, data: str, shape: Mapping[str, int], report: Mapping[str, Any], fitted: bool
) -> list[dict[str, Any]]:
    rows = []
    for stage, (wall, processor) in report["times"].items():
        head = {"axis": axis, "size": size, "stage": stage, "data": data, "fitted": "yes" if fitted else "no"}
        cost = {"seconds": wall, "cpu_seconds": processor, "peak_mb": report["peaks"][stage]}
        rows.append(head | dict(shape) | report["sizes"] | cost)
    return rows


# --- what the points say --------------------------------------------------------------------------------------------


def exponents(points: pd.DataFrame) -> pd.DataFrame:
    """For each axis and stage, the slope of log cost over log size by least squares, over the sizes marked as fitted.

    Time is the processor's. Memory is that above the imports.
    """
    rows = []
    chosen = points[~points["axis"].isin([CHECK, REAL])]
    for (axis, stage), group in chosen.groupby(["axis", "stage"], sort=False):
        chosen = group[group["fitted"] == "yes"]
        for quantity, column in (("time", "cpu_seconds"), ("memory", "peak_mb")):
            slope, error = slope_of_logarithms(chosen["size"].astype(float), chosen[column].astype(float))
            sizes = " ".join(map(str, chosen["size"]))
            rows.append([axis, stage, quantity, slope, error, sizes])
    return pd.DataFrame(rows, columns=["axis", "stage", "quantity", "exponent", "standard_error", "sizes"])


def slope_of_logarithms(size: Sequence[float], cost: Sequence[float]) -> tuple[float, float]:
    """The exponent of a power law, and its standard error; not a number where there are too few points.

    >>> [round(one, 6) + 0.0 for one in slope_of_logarithms([1, 10, 100], [3, 30, 300])]
    [1.0, 0.0]
    """
    x, y = np.log(np.asarray(size)), np.log(np.maximum(np.asarray(cost), 1e-9))
    if len(x) < 2:
        return float("nan"), float("nan")
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    error = float(np.sqrt(rest @ rest / (len(x) - 2) / (x @ x))) if len(x) > 2 else float("nan")
    return slope, error


def laws(points: pd.DataFrame) -> pd.DataFrame:
    """The cost of each stage as a sum over its terms: coefficients of least relative squares that are not negative."""
    rows = []
    axes = points[points["axis"].isin(["runs", "topics", "depth"])]
    for quantity, column, unit, terms in (
        ("time", "cpu_seconds", "s", TIME_TERMS),
        ("memory", "peak_mb", "MB", MEMORY_TERMS),
    ):
        for stage, names in terms.items():
            chosen = axes[(axes["stage"] == stage) & (axes[column].astype(float) > 0)]
            if chosen.empty:
                continue
            cost = chosen[column].to_numpy(float)
            design = _terms(chosen, names) / cost[:, None]
            scale = design.max(axis=0)
            coefficient = nnls(design / scale, np.ones(len(cost)))[0] / scale
            rows += [
                [stage, quantity, name, float(value), unit] for name, value in zip(names, coefficient, strict=True)
            ]
    return pd.DataFrame(rows, columns=["stage", "quantity", "term", "coefficient", "unit"])


def predict(laws: pd.DataFrame, stage: str, quantity: str, sizes: Mapping[str, float]) -> float:
    """What a law says for these sizes, which are named as the columns of the points."""
    chosen = laws[(laws["stage"] == stage) & (laws["quantity"] == quantity)]
    point = pd.DataFrame([dict(sizes)])
    return float(_terms(point, tuple(chosen["term"]))[0] @ chosen["coefficient"].to_numpy(float))


def _terms(points: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """What the coefficients of a law are multiplied with, one row a point."""
    columns = []
    for name in names:
        if name == "one":
            columns.append(np.ones(len(points)))
        elif name == "lines per run":
            columns.append((points["lines"] / points["runs"]).to_numpy(float))
        elif name == "judged at a time":
            columns.append(np.minimum(points["judged"].to_numpy(float), BLOCK))
        elif name == "pairs at a time":
            columns.append(np.minimum((points["runs"] * (points["runs"] - 1) / 2).to_numpy(float), SIGNS / len(measures())))
        elif name == "pairs":
            columns.append((points["runs"] * (points["runs"] - 1) / 2).to_numpy(float))
        else:
            columns.append(points[name].to_numpy(float))
    return np.stack(columns, axis=1)


def checks(points: pd.DataFrame, laws: pd.DataFrame) -> pd.DataFrame:
    """What the laws of the small synthetic points say of the collection at hand, and of one ten times as large."""
    rows = []
    for axis in (REAL, CHECK):
        chosen = points[(points["axis"] == axis) & points["stage"].isin(["judge", "score"])]
        sums = [0.0, 0.0]
        for point in chosen.to_dict("records"):
            predicted = predict(laws, point["stage"], "time", point)
            sums = [sums[0] + predicted, sums[1] + point["cpu_seconds"]]
            rows.append([axis, point["runs"], point["stage"], "time", "s", predicted, point["cpu_seconds"]])
        if not chosen.empty:
            last = chosen.iloc[-1].to_dict()
            rows.append([axis, last["runs"], "both", "time", "s", *sums])
            memory = max(predict(laws, stage, "memory", last) for stage in ("judge", "score"))
            rows.append([axis, last["runs"], "both", "memory", "MB", memory, last["peak_mb"]])
    table = pd.DataFrame(rows, columns=["what", "runs", "stage", "quantity", "unit", "predicted", "measured"])
    table["measured_over_predicted"] = table["measured"] / table["predicted"]
    return table
