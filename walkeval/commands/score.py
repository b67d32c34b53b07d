"""``walkeval score``: runs by measures, in the lines of trec_eval."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from walkeval.commands.common import cell, judge_runs, measures_of, progress, refuse_missing, say
from walkeval.judging import JudgedCollection
from walkeval.measures import Measure
from walkeval.ranked import RankedLists
from walkeval.trec import topic_key


class Row(NamedTuple):
    """One line of the output."""

    run: str
    topic: str
    measure: str
    value: float
    low: float | None = None
    high: float | None = None
    exact: bool | None = None


def run(arguments: Namespace) -> int:
    measures = measures_of(arguments.measures)
    collection = judge_runs(arguments)
    lists = collection.lists(min_grade=arguments.min_grade, graded=not arguments.binary)
    counted = counted_topics(collection, arguments.missing, measures)
    values = score_lists(collection, lists, measures, arguments.bounds)
    write = {"trec": _write_trec, "tsv": _write_tsv, "jsonl": _write_jsonl, "latex": _write_latex}[arguments.format]
    write(collection, list(rows(collection, measures, values, counted, arguments.per_topic)), counted, arguments.bounds)
    return 0


def counted_topics(collection: JudgedCollection, missing: str, measures: list[Measure]) -> NDArray[np.bool_]:
    """Which topics count for each run."""
    present = collection.length.reshape(len(collection.runs), len(collection.topics)) > 0
    lacking = np.flatnonzero(~present.all(axis=1))
    if missing == "error":
        for number in lacking:
            refuse_missing(collection, number, np.flatnonzero(~present[number]))
    if not len(lacking):
        return present
    total = int((~present).sum())
    which = (
        collection.runs[lacking[0]]
        if len(lacking) == 1
        else f"{len(lacking)} runs such as {collection.runs[lacking[0]]}"
    )
    if missing == "skip":
        say(f"{which}: {total} missing topics left out of the means, as trec_eval does; --missing zero counts them")
        return present
    say(f"{which}: {total} missing topics count as lists that retrieve nothing")
    for measure in measures:
        if not measure.higher_is_better:
            say(f"{measure.name} is a cost, and a list that retrieves nothing costs least: {measure.undefined}")
    return np.ones_like(present)


def score_lists(
    collection: JudgedCollection, lists: RankedLists, measures: list[Measure], with_bounds: bool
) -> dict[str, list[NDArray]]:
    """For each measure its scores by run and topic; with bounds also lowest, highest, and whether these are exact."""
    shape = len(collection.runs), len(collection.topics)
    found = {}
    for measure in progress(measures, len(measures), "measures"):
        parts = [measure.score(lists)]
        if with_bounds:
            from walkeval.bounds import collection_bounds

            parts += collection_bounds(measure, lists)
            if not parts[-1].all():
                say(f"{measure.name}: of {int((~parts[-1]).sum())} lists the bounds may be wider than needed")
        found[measure.name] = [part.reshape(shape) for part in parts]
    return found


def rows(
    collection: JudgedCollection,
    measures: list[Measure],
    values: dict[str, list[NDArray]],
    counted: NDArray[np.bool_],
    per_topic: bool,
) -> Iterator[Row]:
    """The lines of each run: those of its topics, and the means."""
    # trec_eval adds the topics up in the order of their names as text, and a sum of floats depends on its order.
    by_name = np.array(sorted(range(len(collection.topics)), key=lambda one: collection.topics[one].encode()))
    by_number = sorted(range(len(collection.topics)), key=lambda one: topic_key(collection.topics[one]))
    for number, name in enumerate(collection.runs):
        for topic in by_number if per_topic else ():
            if counted[number, topic]:
                for measure in measures:
                    found = [part[number, topic].item() for part in values[measure.name]]
                    yield Row(name, collection.topics[topic], measure.name, *found)
        chosen = by_name[counted[number, by_name]]
        for measure in measures:
            value, *limits = values[measure.name]
            means = [_mean(part[number, chosen]) for part in (value, *limits[:2])]
            exact = [bool(limits[2][number, chosen].all())] if limits else []
            yield Row(name, "all", measure.name, *means, *exact)


def _mean(values: NDArray[np.float64]) -> float:
    """The mean, summed one after the other as trec_eval does; 0 of nothing."""
    return float(np.cumsum(values)[-1] / len(values)) if len(values) else 0.0


def _write_trec(collection: JudgedCollection, lines: list[Row], counted: NDArray[np.bool_], bounds: bool) -> None:
    before = None
    for line in lines:
        if line.run != before:
            before = line.run
            topics = int(counted[collection.runs.index(line.run)].sum())
            sys.stdout.write(f"{'runid':<22}\tall\t{line.run}\n{'num_q':<22}\tall\t{topics}\n")
        numbers = [line.value, line.low, line.high] if bounds else [line.value]
        sys.stdout.write(f"{line.measure:<22}\t{line.topic}\t" + "\t".join(f"{one:6.4f}" for one in numbers) + "\n")


def _write_tsv(collection: JudgedCollection, lines: list[Row], counted: NDArray[np.bool_], bounds: bool) -> None:
    columns = Row._fields if bounds else Row._fields[:4]
    sys.stdout.write("\t".join(columns) + "\n")
    for line in lines:
        sys.stdout.write("\t".join(cell(one) for one in line[: len(columns)]) + "\n")


def _write_jsonl(collection: JudgedCollection, lines: list[Row], counted: NDArray[np.bool_], bounds: bool) -> None:
    columns = Row._fields if bounds else Row._fields[:4]
    for line in lines:
        values = (None if isinstance(one, float) and not np.isfinite(one) else one for one in line)
        sys.stdout.write(json.dumps(dict(zip(columns, values, strict=False))) + "\n")


def _write_latex(collection: JudgedCollection, lines: list[Row], counted: NDArray[np.bool_], bounds: bool) -> None:
    import pandas as pd

    from walkeval.tables import latex

    topics = any(line.topic != "all" for line in lines)
    table: dict[tuple[str, str], dict[str, str]] = {}
    for line in lines:
        head = {"run": line.run} | ({"topic": line.topic} if topics else {})
        row = table.setdefault((line.run, line.topic), head)
        row[line.measure] = f"{line.value:.4f}" + (f" ({line.low:.4f} to {line.high:.4f})" if bounds else "")
    sys.stdout.write(latex(pd.DataFrame(table.values()), "Scores" + (" by topic" if topics else "; means over topics")))
