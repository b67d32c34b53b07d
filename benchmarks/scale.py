"""From the measured points to docs/scale.md: laws of cost, how well they predict, and what they say of larger worlds.

The part of the page between the two marks is written from the tables in results/benchmarks/ alone, so that a page and
tables of the same commit always agree; the words around it are written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import scaling
from walkeval.tables import read_table

BEGIN = "<!-- written by ./run bench from results/benchmarks: begin -->"
END = "<!-- written by ./run bench from results/benchmarks: end -->"
BYTES_PER_LINE = 50
"""Of a run file."""
SCORE_BYTES = 8
MEASURES = 21
NODE_CORES = 64
NODE_GB = 256
PRICE = 0.05
"""Of one core for one hour."""
SYSTEMS, TOPICS, DEPTH = 100_000, 10_000, 1_000
REPLICATES, RATES, SAMPLES = 1_000, 5, 1_000
RUNS_PER_JOB = 100
PATIENCE_HOURS = 24
TERMS = {
    "runs": "runs",
    "lines": "lines of all runs",
    "lines per run": "lines of one run",
    "judgements": "judgements",
    "lists": "lists (a run's for a topic)",
    "judged": "judged documents in lists",
    "judged at a time": "judged documents in lists, up to those of a block",
    "pairs": "pairs of systems",
    "pairs at a time": "pairs of systems, up to those of a block",
}


@dataclass(frozen=True)
class Tables:
    """What was measured, as it is published."""

    points: pd.DataFrame
    exponents: pd.DataFrame
    laws: pd.DataFrame
    checks: pd.DataFrame

    @classmethod
    def read(cls, folder: Path) -> Tables:
        return cls(
            read_table(folder / "scaling.tsv", scaling.NUMBERS),
            read_table(folder / "exponents.tsv", ["exponent", "standard_error"]),
            read_table(folder / "laws.tsv", ["coefficient"]),
            read_table(folder / "checks.tsv", ["runs", "predicted", "measured", "measured_over_predicted"]),
        )


def write_page(page: Path, folder: Path, tracks: Path) -> None:
    """Put the generated part into a page, in place of the earlier one."""
    text = page.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{generated(Tables.read(folder), tracks)}{END}{after}", encoding="utf-8")


def generated(tables: Tables, tracks: Path) -> str:
    """The part of the page that follows from the tables."""
    parts = [
        "### Exponents", _exponents(tables),
        "### Laws", _laws(tables),
        "### Do the laws predict?", _checks(tables),
        "### All TREC ad hoc tracks", _tracks(tables, tracks),
        f"### {SYSTEMS:,} systems x {TOPICS:,} topics", _world(tables),
        "### What breaks first", _limits(tables),
    ]  # fmt: skip
    return "\n".join(f"\n{part}\n" if part.startswith("#") else part for part in parts) + "\n"


def short(value: float) -> str:
    """Three significant digits, without a power of ten.

    >>> [short(one) for one in (0.0123456, 12.3456, 1234567.0)]
    ['0.0123', '12.3', '1,230,000']
    """
    if not np.isfinite(value) or value == 0:
        return "0" if value == 0 else "–"
    digits = 2 - int(np.floor(np.log10(abs(value))))
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown; numbers are shortened."""
    lines = [head, ["---"] * len(head), *(map(_cell, row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return short(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _exponents(tables: Tables) -> str:
    rows = []
    for one in tables.exponents.itertuples():
        if np.isfinite(one.exponent):
            rows.append(
                [one.axis, one.stage, one.quantity, f"{one.exponent:.2f}", f"{one.standard_error:.2f}", one.sizes]
            )
    head = ["grows with", "stage", "quantity", "exponent", "standard error", "fitted sizes"]
    chosen = tables.exponents.query("stage == 'both' and quantity == 'time'")
    linear = (abs(chosen["exponent"] - 1) <= 0.1).all()
    found = ", ".join(f"{one.exponent:.2f} in {one.axis}" for one in chosen.itertuples())
    verdict = "within" if linear else "NOT within"
    sentence = f"The time of judging and scoring together is {verdict} 10% of exponent 1: {found}."
    return f"{sentence}\n\n{table(head, rows)}"


def _laws(tables: Tables) -> str:
    rows = []
    for one in tables.laws.itertuples():
        unit, factor = ("µs", 1e6) if one.unit == "s" else ("bytes", 2**20)
        each = "once" if one.term == "one" else f"for each of: {TERMS[one.term]}"
        rows.append([one.stage, one.quantity, each, f"{short(one.coefficient * factor)} {unit}"])
    return table(["stage", "quantity", "what", "cost"], rows)


def _checks(tables: Tables) -> str:
    title = tables.points.loc[tables.points["axis"] == scaling.REAL, "data"].iloc[0]
    rows = []
    for one in tables.checks.itertuples():
        what = f"{title if one.what == scaling.REAL else one.what}, {int(one.runs):,} runs"
        values = [f"{short(value)} {one.unit}" for value in (one.predicted, one.measured)]
        rows.append([what, one.stage, one.quantity, *values, f"{one.measured_over_predicted:.2f}"])
    return table(["collection", "stage", "quantity", "predicted", "measured", "measured / predicted"], rows)


def real_factor(tables: Tables) -> float:
    """How much more the lines of the collection at hand cost than synthetic ones; predictions take it in."""
    chosen = tables.checks.query(f"what == '{scaling.REAL}' and stage == 'both' and quantity == 'time'")
    return float(chosen["measured_over_predicted"].iloc[0])


def sizes_of(tables: Tables, runs: float, topics: float, depth: float) -> dict[str, float]:
    """The sizes of a collection whose lists and judgements are as those of the collection at hand."""
    known = tables.points[tables.points["axis"] == scaling.REAL].iloc[0]
    lists = runs * topics
    return {
        "runs": runs,
        "lists": lists,
        "lines": lists * depth,
        "judgements": topics * known["judgements"] / known["topics"],
        "judged": lists * known["judged"] / known["lists"],
    }


def pool_seconds(tables: Tables) -> float:
    """Processor seconds for one list under one more pool, from the replicate stage.

    The correlations of that stage are in it for as few systems as were measured; for many they are a cost of their own.
    """
    stage = tables.points[tables.points["axis"] == "replicates"].iloc[-1]
    return float(stage["cpu_seconds"] / stage["size"] / stage["lists"])


def _time(tables: Tables, stage: str, sizes: dict[str, float]) -> float:
    return real_factor(tables) * scaling.predict(tables.laws, stage, "time", sizes)


def _tracks(tables: Tables, tracks: Path) -> str:
    rows, total = [], np.zeros(3)
    known = read_table(tracks, ["editions", "runs", "topics", "depth"])
    for one in known.itertuples():
        sizes = sizes_of(tables, one.runs, one.topics, one.depth)
        seconds = one.editions * (_time(tables, "judge", sizes) + _time(tables, "score", sizes))
        pools = one.editions * sizes["lists"] * RATES * 100 * pool_seconds(tables)
        memory = max(scaling.predict(tables.laws, stage, "memory", sizes) for stage in ("judge", "score"))
        lines = one.editions * sizes["lines"]
        total += [lines, seconds, pools]
        shape = f"{int(one.editions)} x {int(one.runs)} x {int(one.topics)} x {int(one.depth)}"
        rows.append([one.tracks, shape, lines / 1e6, seconds / 60, pools / 3600, memory / 1024, one.basis])
    rows.append(["**all**", "", float(total[0]) / 1e6, float(total[1]) / 60, float(total[2]) / 3600, "", ""])
    head = [
        "tracks", "editions x runs x topics x depth", "million lines", "judging and scoring, core minutes",
        "500 pools, core hours", "GB of the largest job", "assumption",
    ]  # fmt: skip
    return table(head, rows)


def _world(tables: Tables) -> str:
    sizes = sizes_of(tables, SYSTEMS, TOPICS, DEPTH)
    jobs = SYSTEMS / RUNS_PER_JOB
    job = sizes_of(tables, RUNS_PER_JOB, TOPICS, DEPTH)
    pairs, pools = SYSTEMS * (SYSTEMS - 1) / 2, REPLICATES * RATES
    tau = scaling.predict(tables.laws, "correlate", "time", sizes)
    costs = {
        f"judging, {jobs:,.0f} jobs of {RUNS_PER_JOB} runs": jobs * _time(tables, "judge", job),
        f"scoring, {MEASURES} measures": jobs * _time(tables, "score", job),
        f"scoring of {REPLICATES:,} replicates x {RATES} pools": pools * sizes["lists"] * pool_seconds(tables),
        f"tau of {MEASURES} measures, {pairs:,.0f} pairs of systems": tau,
        f"the same for {SAMPLES:,} bootstrap samples": SAMPLES * tau,
        f"tau of each of the {pools:,} pools with the full one, at least": pools * tau,
    }
    rows = []
    for what, seconds in [*costs.items(), ("**all**", sum(costs.values()))]:
        hours = seconds / 3600
        rows.append([what, hours, hours / NODE_CORES, hours / NODE_CORES / 24, hours * PRICE])
    head = ["work", "core hours", f"hours on one node of {NODE_CORES} cores", "nodes for one day", "price"]
    run_memory = max(scaling.predict(tables.laws, stage, "memory", job) for stage in ("judge", "score"))
    volumes = [
        ["run files", sizes["lines"] * BYTES_PER_LINE / 1e12],
        ["judged documents (4 bytes each) and ties (1 bit a line)", (4 * sizes["judged"] + sizes["lines"] / 8) / 1e12],
        [f"scores of {MEASURES} measures by topic", sizes["lists"] * MEASURES * SCORE_BYTES / 1e12],
        [f"memory of one job of {RUNS_PER_JOB} runs", run_memory * 2**20 / 1e12],
        ["signs of pairs of systems, in blocks, while tau is computed",
         scaling.predict(tables.laws, "correlate", "memory", sizes) * 2**20 / 1e12],
    ]  # fmt: skip
    return table(head, rows) + "\n\n" + table(["what has to be held", "TB"], volumes)


def limits(tables: Tables) -> list[tuple[float, str, str]]:
    """How many systems, at so many topics, reach each limit of one node; fewest first."""

    def most(cost: Callable[[float], float]) -> float:
        """The largest number of systems whose cost is within a limit of 1, by bisection."""
        low, high = 1.0, 1e9
        while high / low > 1.0001:
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if cost(middle) <= 1 else (low, middle)
        return low

    def memory(stage: str) -> Callable[[float], float]:
        return lambda systems: (
            scaling.predict(tables.laws, stage, "memory", sizes_of(tables, systems, TOPICS, DEPTH)) / 1024 / NODE_GB
        )

    def tau_hours(systems: float) -> float:
        return scaling.predict(tables.laws, "correlate", "time", sizes_of(tables, systems, TOPICS, DEPTH)) / 3600

    found = [
        (most(lambda systems: tau_hours(systems) / PATIENCE_HOURS), f"tau of {MEASURES} measures",
         f"one core takes more than {PATIENCE_HOURS} hours for all pairs of systems; whatever the topics"),
        (most(memory("judge")), "judging in one job", f"the judged runs fill {NODE_GB} GB"),
        (most(memory("score")), "scoring in one job", f"lists and scores fill {NODE_GB} GB"),
    ]  # fmt: skip
    return sorted(found)


def _limits(tables: Tables) -> str:
    rows = [[int(systems), what, why] for systems, what, why in limits(tables)]
    return table([f"systems, at {TOPICS:,} topics", "what", "why"], rows)
