"""``walkeval compare``: means, tau with intervals, swapped pairs and the dominance order of P@H."""

from __future__ import annotations

from argparse import Namespace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from walkeval.commands.common import (
    check_picture,
    judge_runs,
    measure_of,
    measures_of,
    progress,
    refuse_missing,
    save_picture,
    say,
    write_sections,
)
from walkeval.display import Distribution, list_law
from walkeval.errors import InputError, ParameterError
from walkeval.judging import JudgedCollection
from walkeval.measures.stopping_time import PH
from walkeval.ranked import RankedLists
from walkeval.scoring import Scores
from walkeval.stopping_law import Law
from walkeval.swaps import pair_changes
from walkeval.tables import correlation_table

MOST_CURVES = 8
"""Runs whose laws are drawn: the best by mean."""


def run(arguments: Namespace) -> int:
    check_picture(arguments.plot)
    measures = measures_of(arguments.measures)
    model = measure_of(arguments.dominance)
    if not isinstance(model, PH):
        raise ParameterError(f"--dominance compares laws of P@H: give a PH measure, not {model.name}")
    if len(arguments.runs) < 2:
        raise ParameterError("compare needs at least two runs")
    collection = judge_runs(arguments)
    topics = _topics(collection, arguments.missing)
    whole = collection.lists(min_grade=arguments.min_grade, graded=not arguments.binary)
    runs = len(collection.runs)
    lists = whole.select((np.arange(runs)[:, None] * len(collection.topics) + topics).ravel())
    names = [collection.topics[one] for one in topics]
    values = np.stack(
        [measure.score(lists).reshape(runs, -1) for measure in progress(measures, len(measures), "measures")]
    )
    scores = Scores([one.name for one in measures], list(collection.runs), names, values)
    laws = [
        _law(model, lists, range(one * len(names), (one + 1) * len(names)))
        for one in progress(range(runs), runs, "laws")
    ]
    means = scores.means()
    # The best by the first measure comes first.
    sign = np.array([1.0 if one.higher_is_better else -1.0 for one in measures])
    order = np.argsort(-sign[0] * means[0], kind="stable")
    tau = correlation_table(scores, "walkeval compare", samples=arguments.samples)
    write_sections(
        [
            (
                f"means over {len(names)} topics",
                ("run", *scores.measures),
                [(scores.runs[one], *map(float, means[:, one])) for one in order],
            ),
            ("tau between measures", tuple(tau.columns), [tuple(row) for row in tau.itertuples(index=False)]),
            (
                "pairs that change place",
                ("measure", "first", "second", f"{scores.measures[0]} difference", "difference", "size"),
                _swaps(scores, sign),
            ),
            (f"dominance by {model.name}", ("first", "second", "verdict", "crossings"), _dominance(scores.runs, laws)),
        ],
        arguments.format,
    )
    for measure in measures:
        if not measure.higher_is_better:
            say(f"{measure.name} is a cost: lower is better, and differences are turned round")
    if arguments.plot:
        save_picture(_picture(scores, tau, laws, model), arguments.plot)
    return 0


def _topics(collection: JudgedCollection, missing: str) -> NDArray[np.intp]:
    """The topics that all runs are compared on."""
    present = collection.length.reshape(len(collection.runs), len(collection.topics)) > 0
    if present.all():
        return np.arange(len(collection.topics))
    if missing == "error":
        for number in range(len(collection.runs)):
            refuse_missing(collection, number, np.flatnonzero(~present[number]))
    lacking = collection.runs[int(np.argmin(present.all(axis=1)))]
    if missing == "zero":
        say(f"{int((~present).sum())} missing topics, such as of {lacking}, count as lists that retrieve nothing")
        return np.arange(len(collection.topics))
    kept = np.flatnonzero(present.all(axis=0))
    if not len(kept):
        raise InputError(lacking, "the runs have no topic in common")
    say(f"{len(collection.topics) - len(kept)} topics that some run lacks are left out for all, such as of {lacking}")
    return kept


def _law(model: PH, lists: RankedLists, which: range) -> Law:
    """The law of P@H of one run: a random topic, then a random user of it."""
    found = lists.relevant
    laws = []
    for one in which:
        chosen = slice(found.start[one], found.start[one + 1])
        length = int(lists.length[one]) if model.depth is None else min(int(lists.length[one]), model.depth)
        gains = np.zeros(length)
        rank = found.rank[chosen]
        gains[rank[rank <= length] - 1] = found.gain[chosen][rank <= length]
        laws.append(list_law(model, gains))
    return Law.of(
        np.concatenate([one.support for one in laws]),
        np.concatenate([one.probability for one in laws]) / len(laws),
        band=float(np.mean([one.band for one in laws])),
        exact=all(one.exact for one in laws),
        confidence=min(one.confidence for one in laws),
    )


def _swaps(scores: Scores, sign: NDArray[np.float64]) -> list[tuple]:
    """The pairs that the first measure and another one order differently, the clearest first."""
    turned = Scores(scores.measures, scores.runs, scores.topics, sign[:, None, None] * scores.values)
    rows = []
    for measure in scores.measures[1:]:
        for row in pair_changes(turned, measure, scores.measures[0]).itertuples():
            rows.append(
                (measure, row.first_run, row.second_run, row.baseline_difference, row.model_difference, row.size)
            )
    return rows


def _dominance(runs: list[str], laws: list[Law]) -> list[tuple[str, str, str, str]]:
    """How the laws of every two runs stand to each other, the run with the larger mean first."""
    order = sorted(range(len(runs)), key=lambda one: -laws[one].mean)
    pairs = list(combinations(order, 2))
    rows = []
    for first, second in progress(pairs, len(pairs), "pairs"):
        verdict, crossings = laws[first].compare(laws[second])
        shown = " ".join(f"{one:.4f}" for one in crossings[:5]) + (" ..." if len(crossings) > 5 else "")
        rows.append((runs[first], runs[second], verdict, shown))
    return rows


def _picture(scores: Scores, tau, laws: list[Law], model: PH):
    from walkeval.figures import (
        BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, Look, draw_heat_key, draw_heatmap, draw_key, sheet,
        style,
    )  # fmt: skip
    from walkeval.papers.sigir2014_figures import PALEST, short_names

    size = len(scores.measures)
    matrix = np.ones((size, size))
    first, second = np.triu_indices(size, k=1)
    matrix[first, second] = matrix[second, first] = tau["tau"]
    best = sorted(range(len(laws)), key=lambda one: -laws[one].mean)[:MOST_CURVES]
    colors = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY)
    shown = "" if len(best) == len(laws) else f", the {len(best)} best runs by its mean"
    caption = (
        f"Above: Kendall's tau between measures over {len(scores.runs)} runs, in hundredths, rounded, though "
        f"never up to ≡, which is the same order. Below: the law of {model.name} over topics and users{shown}; "
        "lower is better."
    )
    panels = [0.27 * size + 0.6, 2.2] if size > 1 else [2.2]
    short = short_names(scores.measures)
    labels = [short[one] for one in scores.measures]
    # Names stand upright below the heat map.
    below = 0.3 + 0.075 * max(map(len, labels))
    with style():
        result = sheet("Runs compared", caption, panels, left=1.7, below=below, right=0.3, foot=0.55 - below)
        if size > 1:
            draw_heatmap(result.panels[0], matrix, labels, PALEST, size <= 20, "rounded")
            if size > 4:
                draw_heat_key(result.panels[0], PALEST)
        looks = [Look(scores.runs[one], color) for one, color in zip(best, colors, strict=False)]
        for one, look in zip(best, looks, strict=True):
            Distribution(laws[one], "").draw(result.panels[-1], color=look.color)
        # Beside the panel, since laws may go anywhere in it.
        draw_key(result.panels[-1], looks, inside=False)
    return result
