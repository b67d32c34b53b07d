"""Ferrante and Ferro, ICTIR 2020 (P@H): Figure 1, example 4.1, section 6 and what lies beyond, recomputed.

The closed forms are in `walkeval.papers.ictir2020_formulas`. Models and runs are read from the claims. Nothing in the
paper needs a collection; the TREC 8 runs, or synthetic ones in their place, show how measures and orders behave there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from walkeval.audit import Reproduction, count_verdicts, judge_claims, number
from walkeval.claims import Claim
from walkeval.correlation import kendall, pair_signs
from walkeval.measures import parse_measure
from walkeval.measures.stopping_time import (
    DFBM,
    PH,
    RWBM,
    SFBM,
    BrowsingModel,
    average_precision,
    discounted_cumulated_gain,
    expected_precision,
    expected_reciprocal_rank,
)
from walkeval.papers.ictir2020_formulas import Checked, check_all, closed_forms, errata, visits
from walkeval.ranked import RankedLists
from walkeval.stopping_law import Law, Simulation, precision_law, simulate, steps_law
from walkeval.tables import write_everywhere, write_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

PAPER = "ictir2020-stopping-time"
CONFIDENCE = 0.99
ERRORS = 4
"""Standard errors that a simulated value may be from the exact one."""
_SAME = 1e-10
_GRID = np.arange(0, 21) / 20
"""Values of P@H at which the distribution functions are tabulated."""


def _claim(claims: Mapping[str, Claim], name: str) -> Claim:
    return claims[f"ictir2020/{name}"]


def _value(claims: Mapping[str, Claim], name: str) -> float:
    """The number that a claim prints."""
    printed = _claim(claims, name).printed
    return float(printed.rstrip("%")) / (100 if printed.endswith("%") else 1)


def _lists_in(text: str) -> list[list[int]]:
    """The lists of whole numbers in brackets in a text.

    >>> _lists_in("the walk [1, 2] over [3, 0]")
    [[1, 2], [3, 0]]
    """
    return [[int(one) for one in inside.split(",")] for inside in re.findall(r"\[([\d, ]+)\]", text)]


def example_runs(claims: Mapping[str, Claim]) -> dict[str, list[int]]:
    """The runs r and s of section 5.2."""
    return dict(zip(("r", "s"), _lists_in(_claim(claims, "section5.2/length").what), strict=True))


# --- Figure 1 -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel of Figure 1: a browsing model and a utility loss."""

    letter: str
    title: str
    model: BrowsingModel
    loss: float = 0.0


def panels(claims: Mapping[str, Claim]) -> list[Panel]:
    """The four panels. The caption of (c) contradicts the text and itself; RBP with the stated persistence counts."""
    persistence = _value(claims, "figure1c/persistence")
    p, q = _value(claims, "figure1d/caption-pi"), _value(claims, "figure1d/caption-qi")
    loss = _value(claims, "figure1d/loss")
    return [
        Panel("a", "DFBM à la Precision", DFBM()),
        Panel("b", "SFBM à la AP", average_precision().model),
        Panel("c", f"SFBM à la RBP, p = {persistence:g}", SFBM(persistence)),
        Panel("d", f"RWBM, p = {p:g}, q = {q:g}, loss {loss:.0%}", RWBM(p, q), loss),
    ]


@dataclass(frozen=True, eq=False)
class RunOfPanel:
    """What a panel says about one run: exact values, and simulated users."""

    gains: list[int]
    law: Law
    order1: float
    order2: float
    users: Simulation
    simulated: Law


@dataclass(frozen=True, eq=False)
class PanelResult:
    """A panel worked out for the runs r and s."""

    panel: Panel
    r: RunOfPanel
    s: RunOfPanel

    @property
    def runs(self) -> dict[str, RunOfPanel]:
        return {"r": self.r, "s": self.s}


def work_out(panel: Panel, runs: Mapping[str, Sequence[int]], users: int, seed: str) -> PanelResult:
    """Exact laws and orders of a panel, which do not depend on the seed, and its simulated users, which do."""
    band = float(np.sqrt(np.log(2 / (1 - CONFIDENCE)) / (2 * users)))
    found = {}
    for run, gains in runs.items():
        model, loss = panel.model, panel.loss
        law = precision_law(model, gains, loss)
        orders = [expected_precision(model, gains, loss, order=order) for order in (1, 2)]
        walked = simulate(model, gains, users, f"{seed}/{panel.letter}/{run}", loss)
        seen = Law.of(walked.value, np.ones(users), band=band, exact=False, confidence=CONFIDENCE)
        found[run] = RunOfPanel(list(gains), law, *orders, walked, seen)
    return PanelResult(panel, **found)


@dataclass(frozen=True)
class Shares:
    """Users who are better off with the one run, with the other, and with neither."""

    first: float
    second: float
    equal: float


def percentile_shares(first: Law, second: Law, low: float = -np.inf, high: float = np.inf) -> Shares:
    """Compare users of equal standing: at which share of all percentiles the one law has the larger value.

    A percentile counts only if both values lie in [low, high].

    >>> percentile_shares(Law.of([0, 1], [1, 1]), Law.of([0, 2], [3, 1]))
    Shares(first=0.25, second=0.25, equal=0.5)
    """
    level = np.unique(np.concatenate((first.cumulative, second.cumulative)))
    width = np.diff(level, prepend=0.0)
    middle = level - width / 2
    one, two = (
        law.support[np.minimum(np.searchsorted(law.cumulative, middle), len(law.support) - 1)]
        for law in (first, second)
    )
    width = np.where((np.minimum(one, two) >= low) & (np.maximum(one, two) <= high), width, 0.0)
    return Shares(
        float(width[one > two + _SAME].sum()),
        float(width[two > one + _SAME].sum()),
        float(width[np.abs(one - two) <= _SAME].sum()),
    )


def random_shares(first: Law, second: Law) -> Shares:
    """Compare two users chosen at random, one of each law.

    >>> random_shares(Law.of([0, 1], [1, 1]), Law.of([0, 2], [3, 1]))
    Shares(first=0.375, second=0.25, equal=0.375)
    """
    cumulative = np.concatenate(([0.0], second.cumulative))
    below = cumulative[np.searchsorted(second.support, first.support - _SAME)]
    up_to = cumulative[np.searchsorted(second.support, first.support + _SAME)]
    larger, smaller = float(first.probability @ below), float(first.probability @ (1.0 - up_to))
    return Shares(larger, smaller, 1.0 - larger - smaller)


def figure1_table(results: Sequence[PanelResult], claims: Mapping[str, Claim]) -> pd.DataFrame:
    """Figure 1 in numbers: orders, distribution functions, crossings and shares, exact and simulated."""
    columns = [
        "panel",
        "run",
        "quantity",
        "exact",
        "simulated",
        "standard_error",
        "within_4_standard_errors",
        "paper",
        "note",
    ]
    rows = [
        row | {"panel": one.panel.letter}
        for one in results
        for row in (*_values_of(one, claims), *_comparison_of(one, claims))
    ]
    table = pd.DataFrame(rows).reindex(columns=columns)
    for name in ("exact", "simulated", "standard_error"):
        table[name] = table[name].astype(float).round(10)
    return table.fillna({"within_4_standard_errors": "", "paper": "", "note": ""})


def _tried(exact: float, simulated: float, error: float) -> dict[str, object]:
    """Cells of a simulated value beside the exact one."""
    within = abs(simulated - exact) <= ERRORS * error + _SAME
    return {
        "exact": exact,
        "simulated": simulated,
        "standard_error": error,
        "within_4_standard_errors": "yes" if within else "no",
    }


def _values_of(result: PanelResult, claims: Mapping[str, Claim]) -> Iterator[dict[str, object]]:
    letter = result.panel.letter
    printed = {("a", 1): "figure1a/P10", ("a", 2): "figure1a/P10", ("b", 1): "figure1b/AP", ("c", 2): "figure1c/RBP"}
    for run, one in result.runs.items():
        values, steps, utility = one.users
        users = len(values)
        ratio = utility.mean() / steps.mean()
        simulated = {
            1: (values.mean(), values.std() / np.sqrt(users)),
            2: (ratio, (utility - ratio * steps).std() / np.sqrt(users) / steps.mean()),
        }
        for order, exact in ((1, one.order1), (2, one.order2)):
            paper = printed.get((letter, order))
            yield {
                "run": run,
                "quantity": f"order {order}",
                **_tried(exact, *map(float, simulated[order])),
                "paper": _claim(claims, f"{paper}-{run}").printed if paper else "",
            }
        for x in _GRID:
            exact = float(one.law.cdf(x))
            error = float(np.sqrt(exact * (1 - exact) / users)) if 0 < exact < 1 else 0.0
            yield {"run": run, "quantity": f"F({x:.2f})", **_tried(exact, float(one.simulated.cdf(x)), error)}
        grid = np.concatenate((one.law.support, one.simulated.support))
        distance = float(np.abs(one.law.cdf(grid) - one.simulated.cdf(grid)).max())
        where = "inside" if distance <= one.simulated.band else "outside"
        yield {
            "run": run,
            "quantity": "largest distance between the simulated and the exact distribution function",
            "simulated": distance,
            "note": f"{where} the Dvoretzky-Kiefer-Wolfowitz band of {CONFIDENCE:.0%}, {one.simulated.band:.6f}",
        }


def _comparison_of(result: PanelResult, claims: Mapping[str, Claim]) -> Iterator[dict[str, object]]:
    letter, r, s = result.panel.letter, result.r, result.s
    comparison = r.law.compare(s.law)
    yield {
        "run": "r and s",
        "quantity": f"order 3: r {comparison.verdict} s" if comparison.verdict != "equal" else "order 3: equal",
    }
    printed = {"d": ("figure1d/range-low", "figure1d/range-high")}.get(letter, ())
    for place, x in enumerate(comparison.crossings):
        yield {
            "run": "r and s",
            "quantity": f"crossing {place + 1}: the order of the distribution functions is reversed from this value on",
            "exact": x,
            "paper": _claim(claims, printed[place]).printed if place < len(printed) else "",
        }
    if letter == "b":
        yield {
            "run": "r and s",
            "quantity": "the value from which on the distribution functions are equal, up to the crossing",
            "exact": meeting(r.law, s.law),
            "paper": _claim(claims, "figure1b/crossing").printed,
        }
    equal = percentile_shares(r.law, s.law)
    paper = {"b": _claim(claims, "figure1b/share").printed}.get(letter, "")
    yield {"run": "r", "quantity": "share of percentiles at which r is better", "exact": equal.first, "paper": paper}
    yield {"run": "s", "quantity": "share of percentiles at which s is better", "exact": equal.second}
    yield {"run": "r and s", "quantity": "share of percentiles at which they are equal", "exact": equal.equal}
    if letter == "d":
        low, high = (_value(claims, f"figure1d/range-{end}") for end in ("low", "high"))
        yield {
            "run": "s",
            "quantity": f"share of percentiles at which s is better and both are in {low:.2f}-{high:.2f}",
            "exact": percentile_shares(r.law, s.law, low, high).second,
            "paper": _claim(claims, "figure1d/share").printed,
        }
    exact = random_shares(r.law, s.law)
    gap = r.users.value - s.users.value
    users = len(gap)
    for run, share, found in (
        ("r", exact.first, (gap > _SAME).mean()),
        ("s", exact.second, (gap < -_SAME).mean()),
        ("r and s", exact.equal, (np.abs(gap) <= _SAME).mean()),
    ):
        better = "they are equal" if run == "r and s" else f"{run} is better"
        error = float(np.sqrt(max(share * (1 - share), 0.0) / users))
        yield {
            "run": run,
            "quantity": f"share of pairs of random users for whom {better}",
            **_tried(share, float(found), error),
        }


def meeting(first: Law, second: Law) -> float:
    """The last value before the first crossing at which two distribution functions become equal."""
    crossing = first.compare(second).crossings[0]
    grid = np.union1d(first.support, second.support)
    grid = grid[grid < crossing - _SAME]
    apart = np.flatnonzero(np.abs(first.cdf(grid) - second.cdf(grid)) > 1e-12)
    return float(grid[min(apart[-1] + 1, len(grid) - 1)])


def plot_figure1(stem: str | PathLike[str], results: Sequence[PanelResult]) -> None:
    """Draw ``stem.svg`` and ``stem.pdf``: the distribution functions, and how far the simulated users are off."""
    from walkeval import figures  # matplotlib is only needed here

    users = len(results[0].r.users.value)
    caption = (
        f"Distribution function F(x) of P@H for r = {results[0].r.gains} and s = {results[0].s.gains}: exact (thin) "
        f"over {users:,} simulated users (pale). Vertical lines: order 1 (dashed) and order 2 (dotted), exact. Below "
        f"each panel the simulated minus the exact function, in the band that holds all of it with {CONFIDENCE:.0%} "
        "confidence (Dvoretzky-Kiefer-Wolfowitz). In (a) the two runs coincide, and so do the two orders."
    )
    with figures.style():
        drawn = figures.sheet(
            "P@H of two runs under four browsing models", caption, [1.7, 1.7], columns=2, width=6.2,
            left=0.62, between=0.2, above=0.32, below=0.95,
        )  # fmt: skip
        colors = {"r": figures.BLUE, "s": figures.VERMILION}
        dark = {run: figures.darker(color) for run, color in colors.items()}
        for place, (axes, result) in enumerate(zip(drawn.panels, results, strict=True)):
            axes.set_title(f"({result.panel.letter}) {result.panel.title}", size=8.5)
            _draw_functions(axes, result, colors, dark)
            strip = axes.inset_axes((0, -0.3, 1, 0.24))
            _draw_differences(strip, result, dark)
            if place % 2:
                axes.set_yticklabels([])
                strip.set_yticklabels([])
            else:
                axes.set_ylabel("F(x)", labelpad=2)
            if place >= 2:
                strip.set_xlabel("x, a value of P@H", labelpad=2)
        _draw_legend(drawn.panels[0], dark)
    figures.save(drawn, stem)


def _draw_functions(axes: Axes, result: PanelResult, colors: Mapping[str, str], dark: Mapping[str, str]) -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.03, 1.05)
    axes.set_xticks(np.arange(0, 1.01, 0.2), [""] * 6)
    axes.set_yticks(np.arange(0, 1.01, 0.25))
    axes.grid(True)
    for run, one in result.runs.items():
        pale = {"color": colors[run], "alpha": 0.4, "linewidth": 3.2, "solid_capstyle": "butt"}
        axes.plot(*_outline(one.simulated), drawstyle="steps-post", **pale)
        axes.plot(*_outline(one.law), drawstyle="steps-post", color=dark[run], linewidth=0.9)
        # Where lines of both runs coincide, the second one is drawn in the gaps of the first.
        offset = 0.0 if run == "r" else 3.0
        axes.axvline(one.order1, color=dark[run], linewidth=1.1, linestyle=(offset, (3.0, 3.0)))
        axes.axvline(one.order2, color=dark[run], linewidth=1.3, linestyle=(offset / 2, (1.0, 2.0)))


def _draw_differences(strip: Axes, result: PanelResult, dark: Mapping[str, str]) -> None:
    band = result.r.simulated.band
    strip.axhspan(-band, band, facecolor="#e8e8e8", linewidth=0)
    for run, one in result.runs.items():
        x = np.union1d(_outline(one.law)[0], _outline(one.simulated)[0])
        strip.plot(x, one.simulated.cdf(x) - one.law.cdf(x), drawstyle="steps-post", color=dark[run], linewidth=0.8)
    strip.set_xlim(-0.02, 1.02)
    strip.set_ylim(-1.3 * band, 1.3 * band)
    strip.set_xticks(np.arange(0, 1.01, 0.2))
    strip.set_yticks([-band, 0, band], [f"−{band:.4f}", "0", f"+{band:.4f}"], size=7)


def _draw_legend(axes: Axes, dark: Mapping[str, str]) -> None:
    """In the empty corner of the first panel."""
    from matplotlib.lines import Line2D

    entries = [
        (Line2D([], [], color=dark["r"], linewidth=1.6), "run r"),
        (Line2D([], [], color=dark["s"], linewidth=1.6), "run s"),
        (Line2D([], [], color="#999999", linewidth=3.2, solid_capstyle="butt"), "simulated"),
        (Line2D([], [], color="black", linewidth=1.1, linestyle=(0, (3.0, 3.0))), "order 1"),
        (Line2D([], [], color="black", linewidth=1.3, linestyle=(0, (1.0, 2.0))), "order 2"),
    ]
    handles, labels = zip(*entries, strict=True)
    axes.legend(
        handles,
        labels,
        loc="center right",
        bbox_to_anchor=(1.0, 0.42),
        fontsize=7.5,
        framealpha=1.0,
        edgecolor="#dddddd",
    )


def _outline(law: Law, cells: int = 400) -> tuple[Floats, Floats]:
    """The distribution function where it changes, or, where that is too often for a drawing, at equal distances."""
    x = law.support if len(law.support) <= cells else np.arange(cells + 1) / cells
    x = np.concatenate(([-0.02], x, [1.02]))
    y = law.cdf(x)
    kept = np.concatenate(([True], np.diff(y[:-1]) > 1e-6, [True]))
    return x[kept], y[kept]


# --- Example 4.1 ----------------------------------------------------------------------------------------------------


def example41(claims: Mapping[str, Claim]) -> pd.DataFrame:
    """The walk of example 4.1, step by step."""
    what = _claim(claims, "example4.1/H").what
    path, run = _lists_in(what)
    loss = float(re.search(r"lambda = ([\d.]+)", what)[1])
    rows = []
    for step, (rank, visit) in enumerate(zip(path, visits(path), strict=True), start=1):
        utility = run[rank - 1] * (1 - loss) ** (visit - 1)
        rows.append({"n": step, "X_n": rank, "k(n)": visit, "r[X_n]": run[rank - 1], "g": utility})
    table = pd.DataFrame(rows)
    return table.assign(paper=[_claim(claims, f"example4.1/g{step}").printed for step in table["n"]])


# --- Section 6 ------------------------------------------------------------------------------------------------------


def section6(lists: RankedLists, data: str, persistence: float) -> pd.DataFrame:
    """The classical measures as instances of P@H, on all these lists: the largest deviation between the two.

    Lists without a document are left out, and for AP those of topics without a relevant document.
    """
    filled = np.flatnonzero(lists.length > 0)
    lists = lists.select(filled)
    dense = lists.dense()
    gains = [row[:length] for row, length in zip(dense, lists.length, strict=True)]
    relevant, base = lists.relevant, lists.recall_base

    def instance(build: Callable[[int], float], which: NDArray) -> Floats:
        return np.array([build(one) for one in which])

    def stops(one: int) -> float:
        """Assumptions (2) and (3) of section 6.2 as printed."""
        model = BrowsingModel(lambda ranks, gains: 1.0 - (gains > 0) / base[one])
        return expected_precision(model, gains[one] > 0)

    everything, judged = np.arange(len(lists)), np.flatnonzero(base > 0)
    deep = np.flatnonzero(lists.length >= 10)
    binary = replace_gains(lists)
    precise = parse_measure("AP").score(lists)
    retrieved = np.maximum(relevant.count, 1)
    rbp = parse_measure(f"RBP(p={persistence!r})").score(lists)
    steps = (1 - persistence**lists.length) / (1 - persistence)
    finite = PH(browsing="SFBM", p=persistence, order=2).score(lists)
    err = parse_measure("ERR").score(lists)
    rows = []

    def compare(
        section: str,
        measure: str,
        model: str,
        scores: Floats,
        classical: Floats,
        which: NDArray = everything,
        note: str = "",
    ) -> None:
        deviation = float(np.abs(scores - classical).max(initial=0.0))
        rows.append(
            {
                "data": data, "section": section, "measure": measure, "P@H instance": model, "lists": len(which),
                "mean P@H": float(np.mean(scores)), "mean classical": float(np.mean(classical)),
                "largest_deviation": round(deviation, 11), "equal": "yes" if deviation <= _SAME else "no", "note": note,
            }
        )  # fmt: skip

    scores = PH(browsing="DFBM").score(binary)
    compare("6.1", "P over the whole list", "DFBM, f(h)=h, order 1", scores, relevant.count / lists.length)
    scores, classical = PH(browsing="DFBM", depth=10).score(binary)[deep], parse_measure("P@10").score(lists)[deep]
    model, note = "DFBM with N=10, f(h)=h, order 1", "lists of at least 10 documents"
    compare("6.1", "P@10", model, scores, classical, deep, note)

    scores = instance(lambda one: average_precision(int(base[one])).score(gains[one]), judged)
    model, note = "SFBM, stop 1/(RB-R_(i-1)), f(h)=h, order 1", "who wants a document that was not retrieved gains 0"
    compare("6.2", "AP", model, scores, precise[judged], judged, note)
    scores = instance(lambda one: average_precision().score(gains[one]), everything)
    model, note = "SFBM, stop 1/(R_N-R_(i-1)), f(h)=h, order 1", "the paper's corrected AP"
    compare("6.2", "AP over the relevant documents retrieved", model, scores, precise * base / retrieved, note=note)
    model, note = "SFBM, stop 1/RB as printed, f(h)=h, order 1", "assumption (3) of the paper does not give AP"
    compare("6.2", "AP", model, instance(stops, judged), precise[judged], judged, note)

    scores = PH(browsing="SFBM", p=persistence, order=2, last="continue").score(lists)
    compare("6.3", f"RBP(p={persistence:g})", "SFBM on an endless list, f(h)=h, order 2", scores, rbp)
    model = "SFBM, f(h)=h, order 2"
    compare("6.3", f"RBP(N) with p={persistence:g}", model, finite, rbp / (1 - persistence) / steps)
    note = "RBP is the limit of RBP(N) for long lists"
    compare("6.3", f"RBP(p={persistence:g})", model, finite, rbp, note=note)

    for logarithm in (2, 10):
        whole = discounted_cumulated_gain(logarithm)
        scores = instance(lambda one, whole=whole: whole.score(gains[one]), everything)
        discount = np.maximum(1.0, np.log(relevant.rank) / np.log(logarithm))
        model = f"SFBM, P[H>=i]=1/max(1, log_{logarithm} i), f(h)=1, order 1"
        compare("6.4", f"DCG with b={logarithm}", model, scores, lists.sum_relevant(relevant.gain / discount))

    for forced, ending in ((False, "endless if never satisfied"), (True, "R_N=1 as printed")):
        whole = expected_reciprocal_rank(lists.max_gain, forced)
        scores = instance(lambda one, whole=whole: whole.score(gains[one]), everything)
        note = "R_N=1 gives 1/N to users who are never satisfied" if forced else ""
        compare("6.5", "ERR", f"SFBM, stop R_i, {ending}, f(h)=h, order 1", scores, err, note=note)
    return pd.DataFrame(rows)


def replace_gains(lists: RankedLists) -> RankedLists:
    """The same lists with binary relevance."""
    return replace(lists, gain=np.minimum(lists.gain, 1.0), ideal_gain=np.minimum(lists.ideal_gain, 1.0), max_gain=1.0)


# --- Orders 1, 2 and 3 of all pairs of systems ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Systems:
    """The runs that the measures and orders are shown on."""

    title: str
    synthetic: bool
    names: Sequence[str]
    lists: RankedLists
    """As `JudgedCollection.lists` gives them: for each system its lists for all topics."""

    @property
    def data(self) -> str:
        """What stands on the face of tables."""
        return f"SYNTHETIC runs ({self.title})" if self.synthetic else self.title


@dataclass(frozen=True, eq=False)
class GroupLaws:
    """For each group of lists the law of P@H under a forward model: that of a random list, then of a random user.

    The groups are systems, with their lists for all topics, or single lists. All laws are on one common grid, the
    fractions k/h of relevant documents among the first h, so that they are compared exactly. Users who go on where
    fewer than 1 in 10^15 are left are let stop there.
    """

    value: Floats
    probability: Floats
    """By group and value."""

    @property
    def mean(self) -> Floats:
        return self.probability @ self.value

    @property
    def variance(self) -> Floats:
        return self.probability @ self.value**2 - self.mean**2


def group_laws(lists: RankedLists, groups: int, p: float) -> GroupLaws:
    """The laws of P@H for the forward model with constant p and binary relevance; the lists of a group are in a row.

    The user who stops at rank h has the precision at h. A list without a document has P@H = 0.
    """
    depth = min(int(np.ceil(np.log(1e-15) / np.log(p))) + 1, max(1, int(lists.length.max(initial=1))))
    rank = np.arange(1, depth + 1)
    fractions = np.arange(depth + 1)[:, None] / rank
    value, place = np.unique(np.round(np.minimum(fractions, 1.0), 12), return_inverse=True)
    place = place.reshape(fractions.shape)
    found = np.cumsum(lists.dense(depth) > 0, axis=1)
    last = np.minimum(np.maximum(lists.length, 1), depth)[:, None]
    stop = np.where(rank < last, p ** (rank - 1.0) * (1 - p), np.where(rank == last, p ** (rank - 1.0), 0.0))
    size = len(lists) // groups
    cell = (np.arange(len(lists)) // size)[:, None] * len(value) + place[found, rank - 1]
    total = np.bincount(cell.ravel(), weights=stop.ravel(), minlength=groups * len(value))
    return GroupLaws(value, total.reshape(groups, len(value)) / size)


def dominance(probability: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Order 3 of every pair of laws (rows), in the order of `numpy.triu_indices`.

    1: the first dominates; -1: the second does; 0: they are equal; 2: they cross. The second array is the largest
    distance between their distribution functions.

    >>> dominance(np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]))[0].tolist()
    [-1, -1, 2]
    """
    cumulative = np.cumsum(probability, axis=1)
    verdicts, distances = [], []
    for one in range(len(cumulative) - 1):
        gap = cumulative[one] - cumulative[one + 1 :]
        high, low = gap.max(axis=1), gap.min(axis=1)
        above, below = high > 1e-12, low < -1e-12
        verdicts.append(np.where(above & below, 2, below.astype(np.int8) - above.astype(np.int8)))
        distances.append(np.maximum(high, -low))
    if not verdicts:
        return np.zeros(0, dtype=np.int8), np.zeros(0)
    return np.concatenate(verdicts).astype(np.int8), np.concatenate(distances)


@dataclass(frozen=True, eq=False)
class Orders:
    """Orders 1, 2 and 3 of the systems of a collection."""

    systems: pd.DataFrame
    summary: pd.DataFrame


def orders(runs: Systems, claims: Mapping[str, Claim], variant: str = "b", decimals: int | None = None) -> Orders:
    """Orders 1, 2 and 3 of all pairs of systems, how often they disagree, and how they agree with AP and RBP.

    A system's order 1 and order 2 are means over topics. Order 3 compares its law of P@H over all topics, for the
    forward models, where that law is exact.
    """
    lists = replace_gains(runs.lists.select(np.arange(len(runs.lists))))
    count = len(runs.names)
    topics = len(lists) // count
    first, second = np.triu_indices(count, k=1)
    persistence = _value(claims, "figure1c/persistence")
    p, q, loss = (_value(claims, f"figure1d/{name}") for name in ("caption-pi", "caption-qi", "loss"))

    def mean(measure: str) -> Floats:
        return parse_measure(measure).score(lists).reshape(count, topics).mean(axis=1)

    compared = {"AP": mean("AP"), "RBP(p=0.8)": mean("RBP(p=0.8)")}
    systems: dict[str, object] = {"system": list(runs.names), **compared}
    rows: list[dict[str, object]] = []
    pairs = len(first)

    def say(model: str, quantity: str, value: float, of: int | None = None, note: str = "") -> None:
        share = value / of if of else float("nan")
        rows.append(
            {
                "data": runs.data,
                "model": model,
                "quantity": quantity,
                "value": value,
                "of": of,
                "share": share,
                "note": note,
            }
        )

    models = {f"SFBM(p={one:g})": f'PH(browsing="SFBM",p={one!r}' for one in (persistence, 0.8)}
    models[f"RWBM(p={p:g},q={q:g},loss={loss:g})"] = f'PH(browsing="RWBM",p={p!r},q={q!r},loss={loss!r}'
    for model, measure in models.items():
        scores = {order: mean(f"{measure},order={order})") for order in (1, 2)}
        signs = {order: pair_signs(scores[order]) for order in (1, 2)}
        for order in (1, 2):
            systems[f"{model} order {order}"] = scores[order]
        say(model, "pairs of systems", pairs)
        say(model, "pairs that orders 1 and 2 put the other way round", int((signs[1] * signs[2] < 0).sum()), pairs)
        for order, (name, values) in product((1, 2), compared.items()):
            say(model, f"tau of order {order} with {name}", kendall(scores[order], values, variant, decimals).value)
        say(model, "tau of order 1 with order 2", kendall(scores[1], scores[2], variant, decimals).value)
        if not model.startswith("SFBM"):
            continue
        forward = float(re.search(r"p=([\d.]+)", measure)[1])
        laws = group_laws(lists, count, forward)
        verdict, distance = dominance(laws.probability)
        decided = np.abs(verdict) == 1
        say(model, "pairs that order 3 decides (one law dominates)", int(decided.sum()), pairs)
        say(model, "pairs of equal laws", int((verdict == 0).sum()), pairs)
        say(model, "pairs that order 3 cannot compare (the laws cross)", int((verdict == 2).sum()), pairs)
        say(
            model, "pairs that orders 3 and 1 put the other way round", int((verdict * signs[1] < 0)[decided].sum()),
            int(decided.sum()), "0 by a theorem: the larger law has the larger mean",
        )  # fmt: skip
        against = int((verdict * signs[2] < 0)[decided].sum())
        say(model, "pairs that orders 3 and 2 put the other way round", against, int(decided.sum()))
        agree = decided & (signs[1] == verdict) & (signs[2] == verdict)
        say(model, "pairs on which all three orders agree", int(agree.sum()), pairs)
        for name, values in compared.items():
            same = (pair_signs(values) == verdict)[decided]
            say(model, f"pairs that order 3 decides as {name} does", int(same.sum()), int(decided.sum()))
        largest = float(np.abs(laws.mean - scores[1]).max())
        say(model, "largest deviation of the mean of the law from order 1", round(largest, 11))
        users = int(_value(claims, "section5.2/users"))
        _say_cost(say, model, laws, forward, (first, second), distance[decided], users, len(lists))
        if forward == persistence:
            _say_topics(say, model, group_laws(lists, len(lists), forward), topics)
        for label, sign in (("dominates", 1), ("is dominated by", -1)):
            times = np.bincount(first[verdict == sign], minlength=count) + np.bincount(
                second[verdict == -sign], minlength=count
            )
            systems[f"{model} order 3: systems that it {label}"] = times
    summary = pd.DataFrame(rows)
    summary["of"] = summary["of"].astype("Int64")
    return Orders(pd.DataFrame(systems), summary)


def _say_topics(say: Callable, model: str, laws: GroupLaws, topics: int) -> None:
    """Order 3 topic by topic, from the laws of single lists."""
    counts = np.zeros(4, dtype=np.int64)
    for topic in range(topics):
        counts += np.bincount(dominance(laws.probability[topic::topics])[0] + 1, minlength=4)
    total = int(counts.sum())
    say(model, "pairs of lists of one topic that order 3 decides", int(counts[0] + counts[2]), total)
    say(model, "pairs of lists of one topic with equal laws", int(counts[1]), total)
    say(model, "pairs of lists of one topic that order 3 cannot compare", int(counts[3]), total)


def _say_cost(
    say: Callable,
    model: str,
    laws: GroupLaws,
    p: float,
    pairs: tuple[NDArray, NDArray],
    distance: Floats,
    users: int,
    lists: int,
) -> None:
    """What simulation would cost for what is exact here, in users and steps: seconds differ from machine to machine."""
    first, second = pairs
    gap = np.abs(laws.mean[first] - laws.mean[second])
    told = gap > 1e-9
    if not told.any():
        return
    wanted = 4 * (laws.variance[first] + laws.variance[second])[told] / gap[told] ** 2
    note = "their order 1 then differs by two standard errors"
    for level in (0.5, 0.9):
        some = float(np.ceil(np.quantile(wanted, level)))
        say(model, f"simulated users a system to tell {level:.0%} of the pairs apart by order 1", some, note=note)
    note = "two standard errors; pairs of equal order 1 left out"
    say(
        model,
        f"pairs that {users} simulated users a system do not tell apart",
        int((wanted > users).sum()),
        len(wanted),
        note,
    )
    if len(distance):
        some = float(np.ceil(np.median(2 * np.log(2 / (1 - CONFIDENCE)) / distance**2)))
        note = f"the distribution functions then differ by both bands of {CONFIDENCE:.0%}"
        say(model, "simulated users a system for half of the pairs that order 3 decides", some, note=note)
    steps = float(users / (1 - p) * len(laws.probability))
    say(model, f"steps of {users} simulated users a system", steps, note="1/(1-p) steps a user")
    depth = int(np.ceil(np.log(1e-15) / np.log(p))) + 1
    note = f"{lists} lists, at most {depth} ranks each"
    say(model, "terms of the exact laws of all systems", float(lists * depth), note=note)


# --- Claims ---------------------------------------------------------------------------------------------------------


def formula_reproductions(checked: Sequence[Checked]) -> list[Reproduction]:
    """Which formulas hold."""
    found = []
    for one in checked:
        formula = one.formula
        evidence = f"computed as printed at {one.cases} points; against {formula.against}"
        note = "" if one.holds else f"corrected: {formula.corrected}"
        found.append(Reproduction(f"ictir2020/{formula.id}", "holds" if one.holds else "fails", evidence, note=note))
    return found


def reproductions(
    results: Sequence[PanelResult], table41: pd.DataFrame, checked: Sequence[Checked], claims: Mapping[str, Claim]
) -> list[Reproduction]:
    """What was found for the claims; none of them needs a collection."""
    found = formula_reproductions(checked)
    exact = "exact law"

    def say(name: str, value: object, evidence: str = exact, note: str = "") -> None:
        if isinstance(value, (bool, np.bool_)):
            value = "holds" if value else "fails"
        text = value if isinstance(value, str) else number(float(value))
        found.append(Reproduction(f"ictir2020/{name}", text, evidence, note=note))

    a, b, c, d = results
    length = len(a.r.gains)
    say("example4.1/H", len(table41), "the walk of the example")
    for row in table41.itertuples(index=False):
        say(f"example4.1/g{row.n}", row.g, "the walk of the example")
    say("section5.2/users", len(a.r.users.value), "users simulated here")
    say("section5.2/length", length, "the runs as printed")

    say("section3/deterministic-H", steps_law(a.panel.model, a.r.gains).support.tolist() == [length])
    longest = [float(steps_law(SFBM(p), a.r.gains).support[-1]) for p in (0.1, 0.5, 0.99)]
    say("section3/forward-H-finite", max(longest) <= length, note=f"at most N = {length}")
    say(
        "section5/partial-order",
        b.r.law.compare(b.s.law).verdict == "crosses",
        note="the runs of Figure 1b are a counterexample",
    )

    for name, one in a.runs.items():
        say(f"figure1a/P10-{name}", one.order1)
    single = all(len(one.law.support) == 1 and one.law.mean == one.order1 == one.order2 for one in a.runs.values())
    say("figure1a/one-value", single)
    forward, _, stop, _ = a.panel.model.transitions(a.r.gains)
    for name, value in (("p1", forward[0]), ("pi", forward[1]), ("sN", stop[-1])):
        say(f"figure1a/caption-{name}", value, "the model drawn here")

    for name, one in b.runs.items():
        say(
            f"figure1b/AP-{name}",
            one.order1,
            note="AP is order 1 with stops 1/(RB - R_(i-1)); 1/RB as printed gives another value",
        )
    say("figure1b/not-comparable", b.r.law.compare(b.s.law).verdict == "crosses")
    crossing, meets = b.r.law.compare(b.s.law).crossings[0], meeting(b.r.law, b.s.law)
    say(
        "figure1b/crossing", meets,
        note=f"the distribution functions are equal from {meets:g} on and reversed from {crossing:g} on",
    )  # fmt: skip
    better = percentile_shares(b.r.law, b.s.law).first
    say(
        "figure1b/share",
        better,
        note=f"exactly {better:.0%}: one of the {sum(b.r.gains)} relevant documents where users stop",
    )
    by_one, by_two = (b.s.order1 - b.r.order1, b.s.order2 - b.r.order2)
    say(
        "figure1b/order2-agrees",
        0 < by_one < by_two,
        "exact orders",
        f"s leads by {by_one:.4f} in order 1, by {by_two:.4f} in order 2",
    )
    say(
        "figure1b/caption", _depends_on_length(b.panel.model, [one.gains for one in b.runs.values()]),
        "the model drawn here",
        "they depend on the number of relevant documents retrieved; further nonrelevant documents change nothing",
    )  # fmt: skip

    forward, backward, stop, _ = c.panel.model.transitions(c.r.gains)
    say("figure1c/persistence", forward[1], "the model drawn here")
    for name, one in c.runs.items():
        endless = expected_precision(SFBM(_value(claims, "figure1c/persistence"), last="continue"), one.gains, order=2)
        say(f"figure1c/RBP-{name}", one.order2, note=f"order 2, that is RBP(N); RBP itself is {endless:.6f}")
    say("figure1c/dominance", c.r.law.compare(c.s.law).verdict == "dominates")
    by_one, by_two = (c.r.order1 - c.s.order1, c.r.order2 - c.s.order2)
    agree = c.r.law.compare(c.s.law).verdict == "dominates" and 0 < by_two < by_one
    say("figure1c/orders-agree", agree, note=f"r leads by {by_one:.4f} in order 1, by {by_two:.4f} in order 2")
    spread = (_inside(c.s.law, 0.0, 0.4), _inside(c.r.law, 0.5, 1.0))
    at = float(c.s.law.cdf(0.0)), 1.0 - float(c.r.law.cdf(1.0 - _SAME))
    say(
        "figure1c/half-uniform", min(spread) > 0,
        note=f"{at[0]:.0%} of the users of s have P@H = 0 and {at[1]:.0%} of those of r have P@H = 1; where the "
        f"distribution functions are flat (0 to 0.4 for s, 0.5 to 1 for r) there is nobody: {spread[0]:.0%} and "
        f"{spread[1]:.0%}",
    )  # fmt: skip
    say("figure1c/stop", at[0], note="the share of users of s with P@H = 0, those who stop at once")
    printed = _value(claims, "figure1c/caption-p1")
    other = expected_precision(BrowsingModel([printed, *forward[1:]]), c.r.gains, order=2)
    garbled = (
        f"the caption mixes in that of (d): with p_1 = {printed:g} order 2 of r is {other:.4f}, not the printed RBP"
    )
    for name, value in (
        ("p1", forward[0]), ("s1-first", stop[0]), ("pi", forward[1]), ("qi", backward[1]), ("s1-second", stop[0]),
        ("si", stop[1]), ("sN", stop[-1]),
    ):  # fmt: skip
        differs = abs(value - _value(claims, f"figure1c/caption-{name}")) > _SAME
        say(f"figure1c/caption-{name}", value, "RBP with the stated persistence", garbled if differs else "")

    forward, backward, stop, _ = d.panel.model.transitions(d.r.gains)
    say("figure1d/loss", d.panel.loss, "the model drawn here")
    for name, value in (
        ("p1", forward[0]), ("s1", stop[0]), ("pi", forward[1]), ("qi", backward[1]), ("si", stop[1]),
        ("qN", backward[-1]), ("sN", stop[-1]),
    ):  # fmt: skip
        say(f"figure1d/caption-{name}", value, "the model drawn here")
    split = forward[1] == _value(claims, "figure1c/persistence") and backward[1] == stop[1] == (1 - forward[1]) / 2
    say("figure1d/split", split, "the model drawn here")
    comparison = d.r.law.compare(d.s.law)
    crossings = ", ".join(f"{one:.4f}" for one in comparison.crossings)
    say(
        "figure1d/not-comparable",
        len(comparison.crossings) > 1,
        note=f"they cross {len(comparison.crossings)} times: at {crossings}",
    )
    low, high = comparison.crossings[0], comparison.crossings[-1]
    near = _value(claims, "figure1d/range-low")
    between = np.linspace(low, near - 1e-6, 1000)
    before, after = float((d.r.law.cdf(between) - d.s.law.cdf(between)).max()), float(
        d.r.law.cdf(near) - d.s.law.cdf(near)
    )
    say(
        "figure1d/range-low", low,
        note=f"they cross at {low:.4f}; up to {near:.2f} they differ by at most {before:.4f}, there by {after:.4f}",
    )  # fmt: skip
    say("figure1d/range-high", high, note=f"they cross again at {high:.4f} = 2/3, an atom of the law of s")
    least, most = (float(one.rstrip("%")) / 100 for one in _claim(claims, "figure1d/share").printed.split("-"))
    ends = near, _value(claims, "figure1d/range-high")
    inside, anywhere = percentile_shares(d.r.law, d.s.law, *ends).second, percentile_shares(d.r.law, d.s.law).second
    at_random = random_shares(d.r.law, d.s.law).second
    in_range = [float(one.law.cdf(ends[1]) - one.law.cdf(ends[0])) for one in d.runs.values()]
    say(
        "figure1d/share", least <= inside <= most,
        note="the paper does not say how users are matched, and the verdict stands on one reading, chosen after "
        f"several were computed: users of equal percentile, of whom {inside:.1%} are better off with s in that range "
        f"({anywhere:.1%} anywhere). "
        f"Other readings are outside: of two random users that of s is better off with probability {at_random:.1%}; "
        f"{in_range[0]:.1%} of the users of r and {in_range[1]:.1%} of those of s are in the range",
    )  # fmt: skip
    swapped = (d.r.order1 - d.s.order1) * (d.r.order2 - d.s.order2) < 0
    say(
        "figure1d/orders-swap", swapped, "exact orders",
        f"order 1: r {d.r.order1:.5f}, s {d.s.order1:.5f}; order 2: r {d.r.order2:.5f}, s {d.s.order2:.5f}",
    )  # fmt: skip

    say("section6.1/orders-coincide", _precision_orders_coincide(4), note="all pairs of binary runs of four documents")
    general = next(one for one in checked if one.formula.id == "appendix-a/order1-general")
    say(
        "appendix-a/cannot-be-simplified", not general.holds, f"{general.cases} points",
        "1/h is the integral of z^(h-1) over z from 0 to 1, which turns the sum over all paths into one integral of "
        "generating functions that follow from recursions over the ranks",
    )  # fmt: skip
    return found


def _inside(law: Law, low: float, high: float) -> float:
    """Users strictly between two values."""
    return float(law.cdf(high - _SAME) - law.cdf(low))


def _depends_on_length(model: BrowsingModel, runs: Sequence[Sequence[int]]) -> bool:
    """Whether more documents, none of them relevant, change a transition probability at a rank that is reached."""
    for gains in runs:
        short, long = model.transitions(gains), model.transitions([*gains, 0, 0, 0])
        reached = np.concatenate(([1.0], np.cumprod(short.forward[:-1]))) > 0
        if (np.abs(short.stop - long.stop[: len(gains)])[reached] > _SAME).any():
            return True
    return False


def _precision_orders_coincide(size: int) -> bool:
    """Whether orders 1, 2 and 3 agree for all pairs of binary runs under the deterministic model."""
    known = []
    for gains in product((0, 1), repeat=size):
        one, two = (expected_precision(DFBM(), gains, order=order) for order in (1, 2))
        known.append((one, two, precision_law(DFBM(), gains)))
    verdicts = {"dominates": 1, "dominated": -1, "equal": 0}
    return all(
        np.sign(x[0] - y[0]) == np.sign(x[1] - y[1]) == verdicts.get(x[2].compare(y[2]).verdict)
        for x, y in product(known, repeat=2)
    )


# --- All of it ------------------------------------------------------------------------------------------------------


NO_RUNS = "no runs of TREC 8 are at hand"


def write_everything(
    folder: str | PathLike[str],
    claims: Mapping[str, Claim],
    systems: Systems | None,
    variant: str = "b",
    decimals: int | None = None,
    users: int | None = None,
) -> list[Reproduction]:
    """Write all artefacts of the paper into a folder, and return what may be compared with it.

    ``systems`` are the runs to show measures and orders on, if there are any. ``users`` are as many as in the paper, if
    left out.
    """
    folder = Path(folder)
    if systems is not None and len(systems.names) < 2:
        systems = None
    runs = example_runs(claims)
    users = int(_value(claims, "section5.2/users")) if users is None else users
    results = [work_out(panel, runs, users, "ictir2020/figure1") for panel in panels(claims)]
    table = figure1_table(results, claims)
    write_table(folder / "figure1.tsv", table)
    plot_figure1(folder / "figure1", results)
    table41 = example41(claims)
    write_table(folder / "example4-1.tsv", table41)

    persistence = _value(claims, "figure1c/persistence")
    parts = [section6(RankedLists.from_gains([gains]), f"run {name}", persistence) for name, gains in runs.items()]
    if systems:
        parts.append(section6(systems.lists, systems.data, persistence))
    instances = pd.concat(parts, ignore_index=True)
    data = systems.data if systems else NO_RUNS
    write_everywhere(folder / "section6", instances, f"Section 6: classical measures as instances of P@H; {data}.")

    checked = check_all()
    forms = closed_forms(checked, claims)
    caption = "Every formula of the paper as printed, against brute force, and corrected."
    write_everywhere(folder / "closed-forms", forms, caption)
    (folder / "errata.md").write_text(errata(checked, claims), encoding="utf-8")

    if systems:
        compared = orders(systems, claims, variant, decimals)
    else:
        columns = ["data", "model", "quantity", "value", "of", "share", "note"]
        nothing = pd.DataFrame([["", "", "pairs of systems", 0, None, np.nan, NO_RUNS]], columns=columns)
        compared = Orders(pd.DataFrame(columns=["system"]), nothing)
    write_table(folder / "orders.tsv", compared.systems)
    caption = f"Orders 1, 2 and 3 of all pairs of systems; {data}. Means over topics, and laws over topics and users."
    write_everywhere(folder / "orders-summary", compared.summary, caption)
    found = reproductions(results, table41, checked, claims)
    text = readme(found, claims, table, forms, instances, compared.summary, data)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return found


def readme(
    found: Sequence[Reproduction],
    claims: Mapping[str, Claim],
    figure1: pd.DataFrame,
    forms: pd.DataFrame,
    instances: pd.DataFrame,
    summary: pd.DataFrame,
    data: str,
) -> str:
    """What was reproduced, how, on what evidence, and what could not be."""
    verdicts, notes = judge_claims(claims, found), {one.claim: one.note for one in found}
    counts = ", ".join(f"{count} {verdict}" for verdict, count in count_verdicts(verdicts).items() if count)
    tried = figure1["within_4_standard_errors"]
    wrong = forms[forms["holds"] == "no"]
    lines = [
        "# Ferrante and Ferro, ICTIR 2020: P@H",
        "",
        "Exploiting Stopping Time to Evaluate Accumulated Relevance, with its electronic appendix.",
        "",
        f"{len(claims)} claims (numbers, formulas, statements in words): {counts}.",
        "",
        "## What was done",
        "",
        "- `figure1.svg`, `figure1.pdf`, `figure1.tsv`: the four panels. Exact laws of P@H and exact orders, drawn "
        f"over {_claim(claims, 'section5.2/users').printed} simulated users a run and panel. Of "
        f"{int((tried != '').sum())} simulated values {int((tried == 'yes').sum())} are within {ERRORS} standard "
        "errors of the exact ones. Exact values do not depend on the seed. Crossings and shares of users are in the "
        "table, beside what the paper says.",
        "- `example4-1.tsv`: example 4.1, step by step.",
        "- `section6.*`: precision, AP, RBP, RBP(N), DCG and ERR as instances of P@H, on the runs r and s and all "
        f"lists ({data}): {int((instances['equal'] == 'yes').sum())} of {len(instances)} rows equal to 1e-10; the "
        "others are readings that the paper prints and that do not give the measure, or limits, and say so.",
        f"- `closed-forms.*`, `errata.md`: {len(forms)} formulas, each computed exactly as printed and compared with "
        f"brute force over a grid of parameters; {len(wrong)} do not hold as printed. Each of these is corrected, and "
        "the corrected one is checked in the same way and proved in `errata.md`. Deviations are relative for values "
        "above 1.",
        f"- `orders.tsv`, `orders-summary.*`: orders 1, 2 and 3 of all pairs of systems ({data}), beyond the paper. "
        "Order 3 of a system is that of its law of P@H over a random topic and a random user, exact for forward "
        "models. What simulation would cost is given in users and steps; seconds are in the benchmark of the rule and"
        " in `benchmarks/stopping_time.py`.",
        "",
        "## What differs from the paper",
        "",
    ]
    for one in verdicts:
        if one.verdict == "differs" and claims[one.claim].kind != "formula":
            claim = claims[one.claim]
            note = f" Note: {notes[one.claim]}." if notes[one.claim] else ""
            lines.append(f"- {claim.where}, {claim.what}. Printed: {claim.printed}. Found: {one.reproduced}.{note}")
    lines += [
        "",
        "Formulas that do not hold as printed (see `errata.md`): " + ", ".join(f"`{one}`" for one in wrong["id"]) + ".",
    ]
    lines += ["", "## What could not be checked", ""]
    for one in verdicts:
        if one.verdict == "not checkable":
            claim = claims[one.claim]
            lines.append(f"- {claim.where}, {claim.what}: {claim.printed} ({one.note}).")
    lines += ["", "## Orders of systems", "", f"Data: {data}.", ""]
    shown = summary[summary["quantity"].str.startswith("pairs") & summary["share"].notna()]
    for row in shown.itertuples():
        lines.append(f"- {row.model}: {row.quantity}: {row.value:.0f} of {row.of} ({row.share:.1%}).")
    return "\n".join(lines) + "\n"
