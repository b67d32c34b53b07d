"""Piwowarski and Dupret, SIGIR 2006: the examples and equations of EPRUM, and its Figure 4 on a generated stand-in.

The paper's numbers are known only through the claims; what an example starts from stands in the claim's words as
``given name = (...)``. Equations are checked against the enumeration of all that a user can do. INEX 2005 is not
public: its stand-in (`walkeval.papers.inex_stand_in`) is synthetic, and says nothing about the paper's own curves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from walkeval.audit import Reproduction, Verdict, judge_claims, number
from walkeval.claims import Claim
from walkeval.judging import JudgedCollection
from walkeval.measures.classical import AP
from walkeval.measures.navigation import (
    EPGR,
    EPRUM,
    containment_navigation,
    distance_navigation,
    expected_inverse_length,
    expected_length,
    found_law,
    ideal_length,
    path_navigation,
    seen_probability,
    shortfall,
)
from walkeval.papers.inex_stand_in import TREES, Topic, generate_topics
from walkeval.papers.sigir1988 import NUMERALS, given, verdict_lines, write_errata
from walkeval.ranked import RankedLists
from walkeval.seeds import generator
from walkeval.tables import escape_markdown, write_everywhere, write_table

PAPER = "sigir2006-eprum"
INSTANCES = 150
"""Random users for which each equation is checked."""
EXACT = 1e-12
"""Two ways of computing the same differ by no more than this."""
DEPTH = 100
"""Ranks up to which the general formula is computed for TREC lists; the measure's fast path knows no such bound."""
LEVELS = np.arange(1, 51) / 50
"""Recall levels of Figure 4."""
REPLICATES = 6
"""Randomized runs for each probability to move: the mean is drawn, and how much they differ is told."""
NEAR_NULL = 0.05
"""Our reading of "near null precision", which the paper does not quantify."""
ON_STAND_IN = "SYNTHETIC stand-in"

Navigation = NDArray[np.float64]


# --- everything that a user can do ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Session:
    """One way of consulting a whole list: how likely it is, and the rank that first shows each element (0: none)."""

    probability: float
    first: tuple[int, ...]

    def found(self, rank: int) -> int:
        """F_k: elements seen after this many ranks."""
        return sum(0 < one <= rank for one in self.first)

    def length(self, recall: int) -> int | None:
        """ML: the rank at which so many elements have been seen; None if they never are."""
        ranks = sorted(one for one in self.first if one)
        return ranks[recall - 1] if len(ranks) >= recall else None


def sessions(navigation: Navigation) -> list[Session]:
    """All sessions, by deciding for every rank and element whether the user goes from the one to the other."""
    ranks, elements = navigation.shape
    open_events = [(k, x) for k in range(ranks) for x in range(elements) if 0 < navigation[k, x] < 1]
    certain = [[k + 1 for k in range(ranks) if navigation[k, x] == 1] for x in range(elements)]
    gathered: dict[tuple[int, ...], float] = {}
    for choice in product((True, False), repeat=len(open_events)):
        probability = 1.0
        seen = [list(one) for one in certain]
        for (k, x), goes in zip(open_events, choice, strict=True):
            probability *= navigation[k, x] if goes else 1 - navigation[k, x]
            if goes:
                seen[x].append(k + 1)
        first = tuple(min(one, default=0) for one in seen)
        gathered[first] = gathered.get(first, 0.0) + probability
    return [Session(probability, first) for first, probability in gathered.items()]


def _expected(all_sessions: Sequence[Session], value: Callable[[Session], float]) -> float:
    return math.fsum(one.probability * value(one) for one in all_sessions)


# --- the examples ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """One recomputed claim."""

    claim: str
    value: float | bool
    note: str = ""
    evidence: str = "recomputed from the example"

    @property
    def text(self) -> str:
        if isinstance(self.value, bool):
            return "holds" if self.value else "fails"
        return number(self.value)


def _matrix(text: str) -> Navigation:
    return np.array([[float(one) for one in row.split()] for row in text.split(";")])


def examples(claims: Mapping[str, Claim]) -> list[Example]:
    """Every example of the paper that needs no data."""
    parts = (_section_2, _figure_1, _figure_2, _equation_1, _table_1, _section_5, _section_7)
    return [replace(one, claim=f"sigir2006/{one.claim}") for part in parts for one in part(claims)]


def _section_2(claims: Mapping[str, Claim]) -> Iterator[Example]:
    gains = [int(one) for one in given(claims["sigir2006/section-2/standard/recall1"], "list").split()]
    ranks = [rank for rank, gain in enumerate(gains, start=1) if gain]
    recalls = (1, 2, 3)
    navigation = classical_navigation(ranks, len(gains), len(recalls))
    inverse = expected_inverse_length(navigation)
    least = [ideal_length(np.eye(len(recalls)), recall).upper for recall in recalls]
    standard, new = [], []
    for recall in recalls:
        standard.append(recall / ranks[recall - 1] if recall <= len(ranks) else 0.0)
        new.append(least[recall - 1] * float(inverse[recall - 1]))
        yield Example(f"section-2/standard/recall{recall}", standard[-1])
        yield Example(f"section-2/new/recall{recall}", new[-1])
    yield Example("section-2/least/recall1", least[0])
    yield Example("section-2/least/recall2", least[1])
    yield Example("section-2/consulted/recall2", float(ranks[1]))
    yield Example("section-2/coincides", standard == new)
    # More than one element for recall 1 is what recall 2 needs.
    yield Example(
        "section-2/stopping",
        new[1] == new[0],
        f"read as printed, recall 1 of the example would take {ranks[1]} ranks and have precision {new[1]:g}; "
        "equation (2), the example and everything else have 'at least'",
    )


def _figure_1(claims: Mapping[str, Claim]) -> Iterator[Example]:
    claim = claims["sigir2006/figure1/F1"]
    ideal = set(given(claim, "ideal").split())
    seen: set[str] = set()
    counts = []
    for step in given(claim, "walk").split(";"):
        seen |= set(step.split())
        counts.append(len(seen & ideal))
    yield Example("figure1/F1", NUMERALS.index(claim.printed) == counts[0])
    for rank in (2, 3, 4, 5):
        yield Example(f"figure1/F{rank}", float(counts[rank - 1]))
    note = "the index is a slip for 5: F_4 is named correctly one step before"
    yield Example("figure1/F4-at-step-5", float(counts[3]), note)
    yield Example("figure1/discovering-ranks", float(np.count_nonzero(np.diff([0, *counts]))))
    yield Example("figure1/more-than-one", counts[4] - counts[3] > 1)


def _figure_2(claims: Mapping[str, Claim]) -> Iterator[Example]:
    steps = {}
    for step in given(claims["sigir2006/figure2/x"], "steps").split(";"):
        origin, target, share = step.split()
        steps[origin, target] = float(share)
    names = sorted({name for pair in steps for name in pair})
    matrix = np.array([[steps.get((origin, target), 0.0) for target in names] for origin in names])
    reach = dict(zip(names, path_navigation(matrix, names.index("x")).tolist(), strict=True))
    for name in names:
        yield Example(f"figure2/{name}", reach[name])
    yield Example("figure2/stay", 1 - steps["x", "y"] - steps["x", "z"])
    first, second = steps["x", "y"] * steps["y", "z"], steps["x", "z"] * steps["z", "y"]
    both, independent, direct = first + second, reach["y"] * reach["z"], steps["x", "y"] * steps["x", "z"]
    yield Example("figure2/y-then-z", first)
    yield Example("figure2/z-then-y", second)
    yield Example("figure2/both", both)
    yield Example("figure2/independent", independent)
    yield Example("figure2/direct", direct)
    yield Example("figure2/difference", 0 < abs(both - independent) < abs(both - direct))


def _equation_1(claims: Mapping[str, Claim]) -> Iterator[Example]:
    ranks = _matrix(given(claims["sigir2006/equation-1/after1"], "ranks")).T
    seen = seen_probability(ranks)[:, 0]
    for rank in (1, 2, 3):
        yield Example(f"equation-1/after{rank}", float(seen[rank - 1]))
    yield Example("equation-1/after2-percent", float(seen[1]))
    yield Example("equation-1/after3-percent", float(seen[2]))
    note = (
        "a slip for the share that the example starts from; the factor of the certain third rank is 0, so the product "
        "is the same"
    )
    yield Example("equation-1/second-rank", float(ranks[1, 0]), note)


def _table_1(claims: Mapping[str, Claim]) -> Iterator[Example]:
    navigation = _matrix(given(claims["sigir2006/table1/sum"], "navigation"))
    table = sessions(navigation)
    probability = {one.first: one for one in table}
    yield Example(
        "table1/sum", abs(sum(one.probability for one in table) - 1) < EXACT and len(table) == _scenarios(claims)
    )
    for row in range(1, _scenarios(claims) + 1):
        stem = f"table1/scenario{row}"
        words = given(claims[f"sigir2006/{stem}/probability"], "first").split()
        one = probability[tuple(0 if word == "-" else int(word) for word in words)]
        yield Example(f"{stem}/probability", 100 * one.probability)
        for recall, name in ((1, "one"), (2, "two")):
            length = one.length(recall)
            yield Example(f"{stem}/{name}", 0.0 if length is None else 1 / length)
    inverse = [_expected(table, lambda one, r=recall: 1 / (one.length(r) or math.inf)) for recall in (1, 2)]
    yield Example("table1/expected-one", inverse[0])
    yield Example("table1/expected-two", inverse[1])
    to_a, to_b = navigation.T
    yield Example("section-4/p16", float(to_a[0] * to_b[0]))
    yield Example("section-4/p096", float(to_a[0] * (1 - to_b[0]) * to_b[1]))
    mean = _expected(table, lambda one: one.length(1) or math.inf)
    yield Example(
        "section-4/inverse",
        abs(1 / mean - inverse[0]) < 0.005,
        f"the column is the expectation of the inverse ({inverse[0]:.4f} for one element), as the caption says; the "
        f"inverse of the expectation is {1 / mean:.4f}: a slip in the words, the numbers are right",
    )
    least = [ideal_length(np.eye(2), recall).upper for recall in (1, 2)]
    yield Example("section-4/least-one", least[0])
    yield Example("section-4/least-two", least[1])
    library = expected_inverse_length(navigation)
    yield Example("section-4/precision-one", least[0] * float(library[0]))
    rounded = claims["sigir2006/table1/expected-two"].printed
    yield Example(
        "section-4/precision-two",
        least[1] * float(library[1]),
        f"the printed value is the product of rounded ones, {least[1]:g} x {rounded} = {least[1] * float(rounded):g}; "
        "unrounded it rounds to the next hundredth",
    )
    last = len(navigation)
    yield Example("section-4/standard-one", 1 / last, f"only rank {last} is itself ideal")
    yield Example("section-4/standard-two", 0.0)
    yield Example("section-4/superior", bool(least[0] * library[0] > 2 / last and least[1] * library[1] > 0))


def _scenarios(claims: Mapping[str, Claim]) -> int:
    return sum(name.startswith("sigir2006/table1/scenario") and name.endswith("/probability") for name in claims)


def _section_5(claims: Mapping[str, Claim]) -> Iterator[Example]:
    pointers = {}
    for row in given(claims["sigir2006/section-5/length-one"], "pointers").split(";"):
        name, *chances = row.split()
        pointers[name] = [float(one) for one in chances]
    matrix = np.array(list(pointers.values()))
    yield Example("section-5/length-one", ideal_length(matrix, 1).upper)
    best = ideal_length(matrix, 2)
    names = given(claims["sigir2006/section-5/ideal-list"], "best").split()
    printed = np.array([pointers[name] for name in names])
    length = float(expected_length(printed)[1])
    repeated = min(float(expected_length(np.vstack([printed[:1]] * times + [printed[1:]]))[1]) for times in range(1, 8))
    note = f"of all lists that use each pointer once; a list that may repeat the first one has {repeated:.4f}"
    yield Example("section-5/ideal-list", abs(length - best.upper) < EXACT, note)
    short = shortfall(printed)[:, 1]
    for rank in (1, 2, 3):
        yield Example(f"section-5/after{rank}", float(short[rank - 1] - short[rank]))
    yield Example("section-5/length-two", best.upper, note)


def _section_7(claims: Mapping[str, Claim]) -> Iterator[Example]:
    yield Example(
        "section-7/new-runs", len(moves(claims)) == NUMERALS.index(claims["sigir2006/section-7/new-runs"].printed)
    )
    runs, topics = (int(claims[f"sigir2006/section-7/{name}"].printed) for name in ("runs", "focused-topics"))
    values = int(claims["sigir2006/section-7/values"].printed)
    pairs = [(r, values // r) for r in range(1, runs + 1) if values % r == 0 and values // r <= topics]
    others = " or ".join(f"{r} runs and {t} topics" for r, t in pairs) or "no smaller numbers of both"
    yield Example(
        "section-7/values",
        float(runs * topics),
        f"every topic of every run makes {runs} x {topics} values; the printed number would be that of {others}. "
        "Values may have been left out for a reason that the text does not give",
        "the paper's own numbers",
    )


def moves(claims: Mapping[str, Claim]) -> list[float]:
    """The probabilities to move of the randomized runs."""
    claim = claims["sigir2006/section-7/new-runs"]
    low, high, step = (float(given(claim, name)) for name in ("least", "most", "step"))
    return [round(low + step * place, 10) for place in range(round((high - low) / step) + 1)]


def classical_navigation(ranks: Sequence[int], length: int, elements: int) -> Navigation:
    """The classical user: the i-th of these ranks leads to element i alone; other elements are not retrieved."""
    navigation = np.zeros((length, elements))
    navigation[np.asarray(ranks, dtype=np.int64) - 1, np.arange(len(ranks))] = 1
    return navigation


# --- the equations --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FormulaCheck:
    """A formula as printed against enumeration, and a corrected one where it does not hold."""

    claim: str
    where: str
    formula: str
    instances: int
    deviation: float
    """Largest, over all instances; not a number where the printed formula has no value."""
    corrected: str = ""
    corrected_deviation: float = math.nan
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.deviation <= EXACT


def random_user(name: str, certain: bool = False) -> Navigation:
    """Random navigation from up to three ranks to up to three elements; ``certain``: all are reached at last."""
    random = generator(f"sigir2006/{name}")
    ranks, elements = (int(one) for one in random.integers(1, 4, size=2))
    navigation = np.round(random.random((ranks, elements)), 2)
    navigation[random.random((ranks, elements)) < 0.15] = 0
    navigation[random.random((ranks, elements)) < 0.1] = 1
    return np.vstack([navigation, np.eye(elements)]) if certain else navigation


def check_formulas(claims: Mapping[str, Claim], instances: int = INSTANCES) -> list[FormulaCheck]:
    """All equations, against the enumeration of sessions of random users."""
    deviations: dict[str, list[float]] = {}

    def note(name: str, one: float, other: float) -> None:
        deviations.setdefault(name, []).append(abs(one - other))

    for instance in range(instances):
        _check_list(random_user(f"list {instance}"), note)
        _check_ideal(random_user(f"ideal list {instance}", certain=True), note)
        _check_independence(
            random_user(f"pair {instance}/list"), random_user(f"pair {instance}/ideal", certain=True), note
        )
        _check_nesting(instance, note)
        _check_tree(instance, note)
    corrections = {
        "equation-3": "sum over k >= 1 of the same",
        "equation-5/first": "sum over k = 1..N of the same",
        "section-3.1/nested": "I_s is a subset of I_s' if s >= s'",
    }
    notes = {
        "equation-3": "the first rank is left out by a slip; (4) has it",
        "equation-5/first": (
            "the index of the sum does not occur in its terms, which leaves k without a value: a slip, the next line "
            "is right"
        ),
        "section-3.1/nested": (
            "only 'if': without an element whose idealism is between s' and s the two sets are the same; nothing that "
            "follows needs 'only if'"
        ),
        "section-7/ideal-run": (
            "for any trees: ideal elements do not overlap, so the chances of a rank sum to at most 1 over them, and "
            "no rank is expected to discover more than one; by optional stopping E[ML] >= r, which the list of ideal "
            "elements attains"
        ),
        "section-3.3/parametric": (
            "at distance 0 it is 1/2 whatever theta is, so that half the users never see the element pointed to"
        ),
        "section-6/once": (
            "for each user; a near miss that is repeated gives the others a second chance, and can still raise "
            "precision"
        ),
    }
    deviations["section-3.3/parametric"] = [_parametric_model()]
    deviations["section-5/quadratic"] = [_quadratic(instances)]
    deviations["equation-5/first"] = [math.nan]
    result = []
    for name, values in deviations.items():
        if name.startswith("corrected/"):
            continue
        claim = claims[f"sigir2006/{name}"]
        other = deviations.get(f"corrected/{name}", [math.nan])
        result.append(
            FormulaCheck(
                claim.claim, claim.where, claim.printed, len(values), max(values), corrections.get(name, ""),
                max(other), notes.get(name, ""),
            )
        )  # fmt: skip
    return result


Note = Callable[[str, float, float], None]


def _check_list(navigation: Navigation, note: Note) -> None:
    """Equations (1), (2), (5), (6) and (7) for a list that may fall short."""
    table = sessions(navigation)
    ranks, elements = navigation.shape
    seen = seen_probability(navigation)
    short = shortfall(navigation)
    inverse = expected_inverse_length(navigation)
    for k in range(1, ranks + 1):
        for x in range(elements):
            note("equation-1", float(seen[k - 1, x]), _expected(table, lambda one, k=k, x=x: 0 < one.first[x] <= k))
        law = found_law(seen[k - 1])
        for f in range(elements + 1):
            enumerated = _expected(table, lambda one, k=k, f=f: one.found(k) == f)
            note("equation-6", float(law[f]), enumerated)
            note("equation-7", _sum_over_subsets(seen[k - 1], f), enumerated)
    # A rank that leads to what was seen adds nothing, for any user.
    again = sessions(np.vstack([navigation, (navigation == 1).any(axis=0).astype(float)]))
    known = {one.first: one.probability for one in table}
    note("section-6/once", 1.0, _expected(again, lambda one: one.first in known))
    for recall in range(1, elements + 1):
        for one in table:
            # Exactly one rank satisfies (2), the one at which the last wanted element is seen; none if it never is.
            satisfying = [k for k in range(1, ranks + 1) if one.found(k) >= recall > one.found(k - 1)]
            note("equation-2", float(satisfying != ([one.length(recall)] if one.length(recall) else [])), 0.0)
        truth = _expected(table, lambda one, r=recall: 1 / (one.length(r) or math.inf))
        below = short[:, recall - 1]
        by_parts = 1 - below[ranks] / ranks - sum(below[k] / (k * (k + 1)) for k in range(1, ranks))
        note("equation-5", by_parts, truth)
        note("corrected/equation-5/first", sum((below[k - 1] - below[k]) / k for k in range(1, ranks + 1)), truth)
        note("corrected/equation-5/first", float(inverse[recall - 1]), truth)


def _sum_over_subsets(seen: NDArray[np.float64], size: int) -> float:
    total = 0.0
    for chosen in combinations(range(len(seen)), size):
        inside = np.isin(np.arange(len(seen)), chosen)
        total += float(np.prod(seen[inside]) * np.prod(1 - seen[~inside]))
    return total


def _check_ideal(navigation: Navigation, note: Note) -> None:
    """Equations (3) and (4), and the step between them, for a list that gets there for certain."""
    table = sessions(navigation)
    ranks, elements = navigation.shape
    below = shortfall(navigation)
    library = expected_length(navigation)
    for recall in range(1, elements + 1):
        truth = _expected(table, lambda one, r=recall: one.length(r) or math.inf)
        at = [
            _expected(table, lambda one, k=k, r=recall: one.found(k) >= r > one.found(k - 1))
            for k in range(1, ranks + 1)
        ]
        note("equation-3", sum(k * at[k - 1] for k in range(2, ranks + 1)), truth)
        note("corrected/equation-3", sum(k * at[k - 1] for k in range(1, ranks + 1)), truth)
        short = below[:, recall - 1]
        for k in range(1, ranks + 1):
            both = _expected(table, lambda one, k=k, r=recall: one.found(k) < r and one.found(k - 1) < r)
            note("section-5/nested-events", both, float(short[k]))
        note("equation-4/first", sum(k * (short[k - 1] - short[k]) for k in range(1, ranks + 1)), truth)
        note("equation-4", 1 + float(short[1:].sum()), truth)
        note("equation-4", float(library[recall - 1]), truth)


def _check_independence(navigation: Navigation, ideal: Navigation, note: Note) -> None:
    """The expectation of the ratio over both lists together against the product of two expectations."""
    evaluated, best = sessions(navigation), sessions(ideal)
    recall = 1
    together = math.fsum(
        one.probability * other.probability * (other.length(recall) or math.inf) / (one.length(recall) or math.inf)
        for one in evaluated
        for other in best
    )
    apart = float(expected_length(ideal)[0]) * float(expected_inverse_length(navigation)[0])
    note("section-5/independence", apart, together)


def _check_nesting(instance: int, note: Note) -> None:
    random = generator(f"sigir2006/satisfaction {instance}")
    idealism = np.round(random.random(4), 1)
    for one, other in random.random((20, 2)):
        inside = bool((idealism[idealism >= one] >= other).all())
        note("section-3.1/nested", float(inside), float(one >= other))
        note("corrected/section-3.1/nested", float(inside or one < other), 1.0)


def _check_tree(instance: int, note: Note) -> None:
    """Navigation by containment against the definition, and that no list beats that of the ideal elements."""
    random = generator(f"sigir2006/tree {instance}")
    parent, start, end = _small_tree(random)
    elements = range(len(parent))
    spans = list(zip(start, end, strict=True))

    def ancestors(element: int) -> set[int]:
        above = set()
        while element >= 0:
            above.add(element)
            element = parent[element]
        return above

    everything = containment_navigation(spans, spans)
    for x, y in product(elements, elements):
        sizes = sorted((end[x] - start[x], end[y] - start[y]))
        related = x in ancestors(y) or y in ancestors(x)
        note("section-7/navigation", float(everything[x, y]), sizes[0] / sizes[1] if related else 0.0)
    ideal: list[int] = []
    for element in random.permutation(len(parent)).tolist():
        if len(ideal) < 4 and all(element not in ancestors(one) and one not in ancestors(element) for one in ideal):
            ideal.append(element)
    for recall in range(1, len(ideal) + 1):
        note("section-7/ideal-run", ideal_length(everything[:, ideal], recall).lower, float(recall))


def _small_tree(random: np.random.Generator) -> tuple[list[int], list[int], list[int]]:
    """A random tree of at most ten elements: parents and spans. Siblings do not overlap; parents have own text."""
    size = int(random.integers(3, 11))
    parent = [-1] + [int(random.integers(0, child)) for child in range(1, size)]
    start, end = [0] * size, [0] * size

    def place(element: int, position: int) -> int:
        start[element] = position
        position += int(random.integers(1, 40))
        for child in (one for one in range(size) if parent[one] == element):
            position = place(child, position) + int(random.integers(0, 10))
        # Room after the last child, so that no element has the span of another.
        end[element] = position + 1
        return end[element]

    place(0, 0)
    return parent, start, end


def _parametric_model() -> float:
    """How far the example of a parametric model is from a decreasing probability: 0 if it is one."""
    distance = np.linspace(0, 40, 200)
    worst = 0.0
    for theta in (0.05, 0.3, 1.0):
        chance = distance_navigation(distance, theta)
        direct = 1 / (1 + np.exp(theta * distance))
        worst = max(
            worst,
            float(np.abs(chance - direct).max()),
            float(np.diff(chance).max()),
            float(chance.max()) - 1,
            -float(chance.min()),
        )
    return max(worst, 0.0)


def _quadratic(instances: int) -> float:
    """The quadratic recursion against the sum over all subsets."""
    random = generator("sigir2006/quadratic")
    worst = 0.0
    for _ in range(instances):
        seen = random.random(int(random.integers(1, 8)))
        law = [1.0]
        for chance in seen:
            # One pass over the law for each element: n (n + 1) / 2 steps altogether.
            law = [
                (law[f] * (1 - chance) if f < len(law) else 0.0) + (law[f - 1] * chance if f else 0.0)
                for f in range(len(law) + 1)
            ]
        worst = max(worst, max(abs(law[f] - _sum_over_subsets(seen, f)) for f in range(len(seen) + 1)))
    return worst


def normal_approximation(elements: int, users: int = 500) -> dict[str, float]:
    """Largest error of P(F <= f) by a normal law with continuity correction, for chances of several sizes."""
    random = generator(f"sigir2006/normal {elements}")
    errors = {}
    for label, high in (("uniform on (0, 1)", 1.0), ("uniform on (0, 0.2)", 0.2), ("uniform on (0, 0.05)", 0.05)):
        chance = high * random.random((users, elements))
        exact = np.cumsum(found_law(chance), axis=1)[:, :-1]
        mean, deviation = chance.sum(axis=1), np.sqrt((chance * (1 - chance)).sum(axis=1))
        near = ndtr((np.arange(elements) + 0.5 - mean[:, None]) / deviation[:, None])
        errors[label] = float(np.abs(exact - near).max())
    return errors


# --- the classical user ---------------------------------------------------------------------------------------------


def _binary(lists: RankedLists) -> RankedLists:
    """The same lists with all relevant documents alike, and without ties."""
    values = {one.name: getattr(lists, one.name) for one in fields(RankedLists) if not one.name.startswith("tie_")}
    values["gain"] = (lists.gain > 0).astype(np.float64)
    values["ideal_gain"] = np.ones(len(lists.ideal_gain))
    return RankedLists(**{**values, "max_gain": 1.0})


def _interpolated(lists: RankedLists, level: float) -> NDArray[np.float64]:
    """TREC's interpolated precision: the largest at this recall level or any higher one."""
    found = lists.relevant
    # Taken from the end, list after list: a later list has the smaller key, so the running maximum starts anew in each.
    key = 2.0 * (len(lists) - found.list_index) + found.precision
    best = np.maximum.accumulate(key[::-1])[::-1] - 2.0 * (len(lists) - found.list_index)
    wanted = np.maximum(np.ceil(level * lists.recall_base - 1e-9), 1).astype(np.int64)
    result = np.zeros(len(lists))
    reached = np.flatnonzero((found.count >= wanted) & (lists.recall_base > 0))
    result[reached] = best[found.start[reached] + wanted[reached] - 1]
    return result


def study_classical(name: str, lists: RankedLists, data: str, general_lists: int | None = None) -> dict:
    """EPRUM with the classical user against precision at the natural recall points, and against TREC's interpolation.

    The general formula (noisy-or, Poisson-binomial, equation 5) is computed for the first ``DEPTH`` ranks of the lists,
    or of as many as ``general_lists`` says, evenly chosen.
    """
    lists = _binary(lists)
    found = lists.relevant
    fast = float(np.abs(EPRUM().score(lists) - AP().score(lists)).max(initial=0))
    chosen = np.arange(len(lists))
    if general_lists is not None and len(lists) > general_lists:
        chosen = np.linspace(0, len(lists) - 1, general_lists).astype(np.intp)
    deviation, points = 0.0, 0
    for one in chosen:
        ranks = found.rank[found.start[one] : found.start[one + 1]]
        ranks = ranks[ranks <= DEPTH]
        if not len(ranks):
            continue
        recall = np.arange(1, len(ranks) + 1)
        navigation = classical_navigation(ranks, int(ranks[-1]), len(ranks))
        deviation = max(deviation, float(np.abs(recall * expected_inverse_length(navigation) - recall / ranks).max()))
        points += len(ranks)
    gaps = np.stack(
        [np.abs(EPRUM(float(level)).score(lists) - _interpolated(lists, level)) for level in np.arange(1, 11) / 10]
    )
    return {
        "lists_of": name, "data": data, "lists": len(lists), "relevant": len(found.rank),
        "largest_deviation_of_average": fast,
        "lists_by_general_formula": len(chosen), "points_by_general_formula": points,
        "largest_deviation_at_points": deviation,
        "share_different_from_interpolation": float((gaps > 1e-9).mean()) if gaps.size else math.nan,
        "largest_difference_from_interpolation": float(gaps.max(initial=0)),
    }  # fmt: skip


def random_lists(count: int = 300) -> RankedLists:
    """Lists with relevance at random, some relevant documents not retrieved."""
    random = generator("sigir2006/random lists")
    gains, bases = [], []
    for _ in range(count):
        row = (random.random(int(random.integers(1, 40))) < random.random()).astype(int)
        gains.append(row.tolist())
        bases.append(int(row.sum() + random.integers(0, 4)))
    return RankedLists.from_gains(gains, recall_base=bases)


# --- Figure 4 on the stand-in ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StandIn:
    """Precision at each level for each probability to move, replicate and topic, by both measures."""

    trees: str
    topics: list[Topic]
    moves: list[float]
    eprum: NDArray[np.float64]
    effort: NDArray[np.float64]

    def curves(self, measure: str) -> NDArray[np.float64]:
        """Mean over replicates and topics, by probability to move and level."""
        return (self.eprum if measure == "EPRUM" else self.effort).mean(axis=(1, 2))


def eprum_curve(
    navigation: Navigation, idealism: NDArray[np.float64], levels: NDArray[np.float64] = LEVELS
) -> NDArray[np.float64]:
    """EPRUM precision at several levels at once: `eprum_precision`, where the list of ideal elements is ideal."""
    total = np.zeros(len(levels))
    values = np.unique(idealism[idealism > 0])
    for value, width in zip(values, np.diff(values, prepend=0.0), strict=True):
        ideal = navigation[:, idealism >= value]
        recall = np.maximum(np.ceil(levels * ideal.shape[1] - 1e-9), 1).astype(np.int64)
        total += width * recall * expected_inverse_length(ideal)[recall - 1]
    return total


def near_miss_gains(navigation: Navigation, idealism: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gain of each rank for EP/GR: of each ideal element, the share that navigation gives, until nothing of it is left.

    This is the closest that a gain without chance comes to the user of EPRUM, as the paper sets the parameters of the
    two measures; the full definition of xCG's near misses is in a text that is not at hand.
    """
    before = np.minimum(np.vstack([np.zeros(navigation.shape[1]), np.cumsum(navigation, axis=0)[:-1]]), 1.0)
    return np.minimum(navigation, 1 - before) @ idealism


def make_stand_in(
    topics: int, all_moves: Sequence[float], trees: str = TREES[0], replicates: int = REPLICATES
) -> StandIn:
    """The topics, their ideal runs (a probability to move of 0) and the randomized ones, measured."""
    generated = generate_topics(topics, trees)
    all_moves = [0.0, *all_moves]
    shape = (len(all_moves), replicates, topics, len(LEVELS))
    eprum = np.zeros(shape)
    gains: list[NDArray[np.float64]] = []
    for (place, move), replicate, (number_of_topic, topic) in product(
        enumerate(all_moves), range(replicates), enumerate(generated)
    ):
        run = topic.randomized(move, generator(f"{topic.name}/move {move:g}/replicate {replicate}"))
        navigation = containment_navigation(topic.spans(run), topic.spans(topic.ideal))
        eprum[place, replicate, number_of_topic] = eprum_curve(navigation, topic.idealism)
        gains.append(near_miss_gains(navigation, topic.idealism))
    lists = _gain_lists(gains, generated)
    effort = np.stack([EPGR(float(level)).score(lists) for level in LEVELS], axis=-1).reshape(shape)
    return StandIn(trees, generated, all_moves, eprum, effort)


def _gain_lists(gains: Sequence[NDArray[np.float64]], topics: Sequence[Topic]) -> RankedLists:
    """Lists of gains against the ideal gains of their topics, which come round again and again."""
    length = np.array([len(one) for one in gains])
    start = np.concatenate(([0], np.cumsum(length)))
    ideal = [topic.idealism for topic in topics]
    topic = np.arange(len(gains)) % len(topics)
    size = np.array([len(one) for one in ideal])
    return RankedLists(
        length=length,
        start=start,
        rank=np.concatenate([np.arange(1, one + 1) for one in length]),
        gain=np.concatenate(gains),
        recall_base=size[topic],
        nonrelevant_base=np.zeros(len(gains), dtype=np.int64),
        topic=topic,
        ideal_start=np.concatenate(([0], np.cumsum(size))),
        ideal_gain=np.concatenate(ideal),
        max_gain=1.0,
    )


def figure4_table(stand_ins: Sequence[StandIn]) -> pd.DataFrame:
    """What Figure 4 draws: mean precision, and its standard deviation over replicates."""
    rows = []
    for one, measure in product(stand_ins, ("EPRUM", "EP/GR")):
        values = (one.eprum if measure == "EPRUM" else one.effort).mean(axis=2)
        for place, move in enumerate(one.moves):
            for level, mean, deviation in zip(
                LEVELS, values[place].mean(axis=0), values[place].std(axis=0), strict=True
            ):
                row = {
                    "data": "SYNTHETIC",
                    "trees": one.trees,
                    "measure": measure,
                    "m": f"{move:g}",
                    "recall": float(level),
                }
                rows.append(
                    row | {"precision": round(float(mean), 9), "deviation_over_replicates": round(float(deviation), 9)}
                )
    return pd.DataFrame(rows)


def stand_in_statements(stand_in: StandIn, claims: Mapping[str, Claim]) -> pd.DataFrame:
    """Which of the paper's sentences about Figure 4 hold on a stand-in; that is no verdict on the paper."""
    curves = {"EPRUM": stand_in.curves("EPRUM"), "EP/GR": stand_in.curves("EP/GR")}
    claim = claims["sigir2006/figure4/near-null"]
    strong = np.array(stand_in.moves) >= float(given(claim, "m")) - 1e-9
    deep = LEVELS > float(given(claim, "recall")) + 1e-9
    rows = []

    def add(name: str, quantity: str, value: float, criterion: str, holds: bool) -> None:
        what = claims[f"sigir2006/{name}"].what.partition("; given ")[0]
        rows.append(
            {
                "claim": f"sigir2006/{name}", "statement": what, "data": ON_STAND_IN, "trees": stand_in.trees,
                "quantity": quantity, "value": round(float(value), 9), "criterion": criterion,
                "holds": "yes" if holds else "no",
            }
        )  # fmt: skip

    overlap = max(_overlaps(topic) for topic in stand_in.topics)
    add("section-7/no-overlap", "ideal elements that overlap another of their topic", overlap, "none", overlap == 0)
    for measure, curve in curves.items():
        least = float(curve[0].min())
        add("figure4/perfect", f"least {measure} at m = 0", least, "1 at all levels", abs(least - 1) < 1e-9)
    for measure, curve in curves.items():
        step = float(np.diff(curve.mean(axis=1)).max())
        add("figure4/smooth", f"largest change of mean {measure} from one m to the next", step, "below 0", step < 0)
    kept = {
        name: float(curve[strong][:, deep].mean() / curve[strong][:, ~deep].mean()) for name, curve in curves.items()
    }
    for measure, share in kept.items():
        quantity = f"mean {measure} beyond this recall as a share of that up to it, at these m"
        add("figure4/stable", quantity, share, "larger for EPRUM", kept["EPRUM"] > kept["EP/GR"])
    largest = {name: curve[strong][:, deep].max(axis=1) for name, curve in curves.items()}
    null = {name: int((values <= NEAR_NULL).sum()) for name, values in largest.items()}
    several = int(strong.sum())
    add(
        "figure4/near-null",
        "largest EP/GR there",
        largest["EP/GR"].max(),
        f"at most {NEAR_NULL}",
        null["EP/GR"] == several,
    )
    quantity = f"of {several} such m, those with EPRUM of at most {NEAR_NULL} there"
    add("figure4/eprum-not-null", quantity, null["EPRUM"], "none", null["EPRUM"] == 0)
    add(
        "figure4/eprum-not-null", "mean EPRUM there over mean EP/GR there",
        curves["EPRUM"][strong][:, deep].mean() / max(curves["EP/GR"][strong][:, deep].mean(), 1e-12), "above 1",
        bool(curves["EPRUM"][strong][:, deep].mean() > curves["EP/GR"][strong][:, deep].mean()),
    )  # fmt: skip
    drop = {name: float(-np.diff(curve, axis=1).min()) for name, curve in curves.items()}
    for measure, value in drop.items():
        quantity = f"largest drop of {measure} between neighboring levels"
        add("figure4/smoother", quantity, value, "smaller for EPRUM", drop["EPRUM"] < drop["EP/GR"])
    return pd.DataFrame(rows)


def _overlaps(topic: Topic) -> int:
    start, end = topic.start[topic.ideal], topic.end[topic.ideal]
    over = (start[:, None] < end) & (start < end[:, None])
    return int(over.sum() - len(start))


def stand_in_correlation(stand_in: StandIn) -> tuple[float, float]:
    """Pearson's correlation of the measures' means over levels: all randomized runs and topics, and least of an m."""
    one, other = (values[1:].mean(axis=-1) for values in (stand_in.eprum, stand_in.effort))
    within = [float(np.corrcoef(a.ravel(), b.ravel())[0, 1]) for a, b in zip(one, other, strict=True)]
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1]), min(within)


def stand_in_table(stand_ins: Sequence[StandIn]) -> pd.DataFrame:
    """The size of the stand-ins, topic by topic."""
    rows = []
    for one, (number_of_topic, topic) in ((one, pair) for one in stand_ins for pair in enumerate(one.topics, start=1)):
        length = (topic.end - topic.start)[topic.ideal]
        rows.append(
            {
                "data": "SYNTHETIC", "trees": one.trees, "topic": number_of_topic, "documents": topic.documents,
                "elements": len(topic.parent),
                "ideal_elements": len(topic.ideal), "median_length_of_ideal": float(np.median(length)),
                "mean_idealism": float(topic.idealism.mean()),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def plot_figure4(stem: str | PathLike[str], stand_ins: Sequence[StandIn]) -> None:
    """Draw ``stem.svg`` and ``stem.pdf``: precision over recall by both measures, a curve for each m."""
    import matplotlib

    from walkeval import figures  # matplotlib is only needed here

    first = stand_ins[0]
    heading = "In the form of Figure 4: randomized ideal runs"
    caption = (
        f"Mean precision over {len(first.topics)} generated topics and {first.eprum.shape[1]} randomized runs for "
        "each m, the probability to move on to a parent or child; m = 0 is the ideal run. Rows: two kinds of "
        "generated trees. INEX 2005 is not public: documents and assessments are synthetic, and these curves say "
        "nothing about the paper's own."
    )
    shades = matplotlib.colormaps["cividis"](np.linspace(0, 0.88, len(first.moves)))
    looks = [
        figures.Look(f"m = {move:g}", matplotlib.colors.to_hex(shade))
        for move, shade in zip(first.moves, shades, strict=True)
    ]
    with figures.style():
        drawn = figures.sheet(
            heading, caption, [1.9] * len(stand_ins), columns=2, right=0.95, above=0.28, between=0.25, synthetic=True
        )
        for panel, (one, measure) in zip(drawn.panels, product(stand_ins, ("EPRUM", "EP/GR")), strict=True):
            for look, curve in zip(looks, one.curves(measure), strict=True):
                panel.plot(LEVELS, curve, color=look.color, linewidth=1.3)
            panel.set_title(f"{measure}, {one.trees}")
            panel.set_xlim(0, 1.02)
            panel.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", ".2", ".4", ".6", ".8", "1"])
            panel.set_ylim(0, 1.03)
            panel.set_xlabel("recall" if measure == "EPRUM" else "gain-recall")
            panel.grid(True, axis="y")
            if measure == "EPRUM":
                panel.set_ylabel("precision")
            else:
                panel.set_yticklabels([])
        figures.draw_key(drawn.panels[1], looks, inside=False)
    figures.save(drawn, stem)


# --- all of it ------------------------------------------------------------------------------------------------------


def reproductions(
    claims: Mapping[str, Claim],
    found: Sequence[Example],
    formulas: Sequence[FormulaCheck],
    classical: Sequence[Mapping],
    stand_ins: Sequence[StandIn],
    statements: pd.DataFrame,
) -> list[Reproduction]:
    """What was found for the claims; what needs INEX stays unchecked, with what the stand-in shows in its note."""
    result = [Reproduction(one.claim, one.text, one.evidence, note=one.note) for one in found]
    for one in formulas:
        deviation = "no value as printed" if math.isnan(one.deviation) else f"largest deviation {small(one.deviation)}"
        fixed = f"; {one.corrected}: largest deviation {small(one.corrected_deviation)}" if one.corrected else ""
        holds = "holds" if one.holds else "fails"
        evidence = f"{one.instances} comparisons, {deviation}{fixed}"
        result.append(Reproduction(one.claim, holds, evidence, note=one.note))
    generated, *collections = classical
    fine = max(generated["largest_deviation_at_points"], generated["largest_deviation_of_average"]) <= EXACT
    evidence = f"{generated['lists']} random lists"
    on_runs = "; ".join(
        f"on {one['lists']} real lists of {one['lists_of']} average precision deviates by "
        f"{small(one['largest_deviation_of_average'])}, and at {one['points_by_general_formula']} natural recall "
        f"points the general formula by {small(one['largest_deviation_at_points'])}"
        for one in collections
        if one["data"] == "real"
    )
    meant = (
        "precision at the rank of each relevant document; TREC's interpolated precision differs at natural recall "
        "points too"
    )
    for name in ("section-2/classical-user", "section-8/reduces"):
        note = "; ".join(filter(None, (meant, on_runs)))
        result.append(Reproduction(f"sigir2006/{name}", "holds" if fine else "fails", evidence, note=note))
    share, most = generated["share_different_from_interpolation"], generated["largest_difference_from_interpolation"]
    note = f"at ten levels {share:.1%} of the values differ, by at most {most:.2f}"
    result.append(
        Reproduction("sigir2006/section-2/interpolation", "holds" if share > 0 else "fails", evidence, note=note)
    )
    elements = int(given(claims["sigir2006/section-5/normal"], "n"))
    errors = ", ".join(f"{error:.3f} for chances {label}" for label, error in normal_approximation(elements).items())
    note = (
        f"no tolerance is given; the largest error of P(F <= f) over random users with {elements} elements is {errors}"
    )
    result.append(Reproduction("sigir2006/section-5/normal", "", "computed", note=note))
    by_claim = statements.groupby("claim", sort=False)
    for name, rows in by_claim:
        words = "; ".join(
            f"{row.trees}: {row.quantity} {row.value:.3g} ({row.criterion}: {row.holds})" for row in rows.itertuples()
        )
        note = f"needs {claims[name].needs}; on a {ON_STAND_IN}, which says nothing about the paper's curves: {words}"
        result.append(Reproduction(name, "", ON_STAND_IN, note=note))
    pooled, within = stand_in_correlation(stand_ins[0])
    note = (
        f"needs {claims['sigir2006/section-7/correlation'].needs}; on a {ON_STAND_IN} the two measures, averaged over "
        f"levels, correlate with {pooled:.3f} over randomized runs and topics, and with at least {within:.3f} for one "
        "m: randomized ideal runs are not participants' runs, so this says nothing about the printed value"
    )
    result.append(Reproduction("sigir2006/section-7/correlation", "", ON_STAND_IN, note=note))
    return result


def write_paper(
    folder: str | PathLike[str],
    claims: Mapping[str, Claim],
    collections: Mapping[str, JudgedCollection],
    synthetic: bool,
    min_grade: int = 1,
) -> list[Reproduction]:
    """Write all artefacts of the paper into a folder, and return what they say about its claims."""
    folder = Path(folder)
    found, formulas = examples(claims), check_formulas(claims)
    classical = [study_classical("random lists", random_lists(), "random")]
    for name, one in collections.items():
        if one.runs:
            lists = one.lists(min_grade=min_grade)
            classical.append(
                study_classical(name, lists, "SYNTHETIC" if synthetic else "real", 1500 if synthetic else None)
            )
    topics = int(claims["sigir2006/section-7/topics"].printed)
    stand_ins = [make_stand_in(topics, moves(claims), trees) for trees in TREES]
    statements = pd.concat([stand_in_statements(one, claims) for one in stand_ins], ignore_index=True)
    result = reproductions(claims, found, formulas, classical, stand_ins, statements)
    verdicts = {one.claim: one for one in judge_claims(claims, result)}
    table = pd.DataFrame(
        [
            {
                "claim": one.claim, "where": claims[one.claim].where, "what": claims[one.claim].what,
                "printed": claims[one.claim].printed, "reproduced": one.text, "verdict": verdicts[one.claim].verdict,
                "note": one.note,
            }
            for one in found
        ]
    )  # fmt: skip
    write_everywhere(
        folder / "examples", table, "The examples of the paper, recomputed.", table.drop(columns=["claim", "note"])
    )
    table = pd.DataFrame(
        [
            {
                "id": one.claim.removeprefix("sigir2006/"), "where": one.where, "formula": one.formula,
                "comparisons": one.instances, "largest_deviation": small(one.deviation),
                "holds": "yes" if one.holds else "no",
                "corrected": one.corrected, "corrected_deviation": small(one.corrected_deviation), "note": one.note,
            }
            for one in formulas
        ]
    )  # fmt: skip
    caption = "Formulas as printed against the enumeration of all that a user can do, for random users."
    write_everywhere(folder / "formulas", table, caption, table.drop(columns="note"))
    table = pd.DataFrame(classical)
    for name in ("largest_deviation_of_average", "largest_deviation_at_points"):
        table[name] = [small(value) for value in table[name]]
    caption = (
        "EPRUM with the classical user: deviation from average precision and from precision at natural recall points, "
        "and "
        "difference from TREC's interpolated precision at ten levels."
        + (" SYNTHETIC collections." if synthetic else "")
    )
    write_everywhere(folder / "classical", table, caption, _scientific(table))
    caption = (
        "What the paper says about Figure 4, on a SYNTHETIC stand-in for INEX 2005. This is no verdict on the paper: "
        "its data are not public."
    )
    shown = statements.assign(value=[f"{value:.3g}" for value in statements["value"]])
    write_everywhere(folder / "statements", statements, caption, shown.drop(columns="claim"))
    write_table(folder / "stand-in.tsv", stand_in_table(stand_ins))
    write_table(folder / "figure4.tsv", figure4_table(stand_ins))
    plot_figure4(folder / "figure4", stand_ins)
    write_errata(folder / "errata.md", "Piwowarski and Dupret, SIGIR 2006", claims, verdicts.values())
    text = _readme(list(verdicts.values()), formulas, classical, stand_ins, statements, synthetic)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return result


def _shows_contrast(statements: pd.DataFrame, trees: str) -> bool:
    """Whether all that was measured for both halves of the paper's contrast holds on trees of this kind."""
    halves = statements["claim"].isin(["sigir2006/figure4/near-null", "sigir2006/figure4/eprum-not-null"])
    return bool((statements.loc[halves & (statements["trees"] == trees), "holds"] == "yes").all())


def small(deviation: float) -> str:
    """A deviation as text that is the same on every machine: what rounding alone explains is not told apart.

    >>> small(3e-16), small(0.25), small(float("nan"))
    ('below 1e-12', '0.25', '')
    """
    return f"below {EXACT:g}" if abs(deviation) <= EXACT else number(deviation)


def _scientific(table: pd.DataFrame) -> pd.DataFrame:
    """For people: few digits."""
    shown = table.copy()
    for name in shown.columns:
        if shown[name].dtype.kind == "f":
            shown[name] = ["" if math.isnan(value) else f"{value:.2g}" for value in shown[name]]
    return shown


def _readme(
    verdicts: list[Verdict],
    formulas: Sequence[FormulaCheck],
    classical: Sequence[Mapping],
    stand_ins: Sequence[StandIn],
    statements: pd.DataFrame,
    synthetic: bool,
) -> str:
    sizes = [len(topic.ideal) for one in stand_ins for topic in one.topics]
    lines = [
        "# Piwowarski and Dupret, SIGIR 2006: Expected Precision-Recall with User Modelling (EPRUM)",
        "",
        "Made by the rule `reproduce_sigir2006`; every number below is computed.",
        "",
        "## Examples and formulas (no data needed)",
        "",
        "Examples start from what the paper's words and tables give, Table 1 by enumerating every session "
        f"(`examples.*`). {len(formulas)} formulas and properties are compared with the enumeration of all that "
        f"random users can do (`formulas.*`): {sum(one.holds for one in formulas)} hold as printed; the others do "
        "after a correction.",
        "",
        *verdict_lines(verdicts),
        "",
        "`errata.md` lists what does not hold as printed.",
        "",
        "## The classical user",
        "",
    ]
    if synthetic:
        lines += ["**The collections below are SYNTHETIC.**", ""]
    for one in classical:
        lines.append(
            f"- {one['lists_of']} ({one['data']}): on {one['lists']} lists EPRUM's average deviates from AP by "
            f"{small(one['largest_deviation_of_average'])}; at {one['points_by_general_formula']} natural recall "
            f"points within rank {DEPTH} the general formula deviates from precision by "
            f"{small(one['largest_deviation_at_points'])}."
        )
    lines += [
        "",
        "## Figure 4, on a SYNTHETIC stand-in",
        "",
        "INEX 2005 is not public. `figure4.*` has the form of the paper's figure and none of its data: "
        f"{len(stand_ins[0].topics)} generated topics with {min(sizes)} to {max(sizes)} ideal elements in XML trees "
        "shaped like articles (`stand-in.tsv`), their ideal runs, and runs randomized as section 7 describes, "
        f"{stand_ins[0].eprum.shape[1]} for each m. EPRUM takes the ratio of lengths as navigation probability; EP/GR "
        "takes the same ratio as the gain of a near miss, which is our choice, since the definition of xCG was not at "
        f"hand. There are two kinds of trees, with {' and with '.join(TREES)}. Which of the paper's sentences hold "
        "there (`statements.*`) is no verdict on the paper, and differs between the two where the shape of the trees "
        "decides; the claims stay 'not checkable'.",
        "",
        "| statement | trees | quantity | value | criterion | holds |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in statements.itertuples():
        cells = (row.statement, row.trees, row.quantity, f"{row.value:.3g}", row.criterion, row.holds)
        lines.append("| " + " | ".join(escape_markdown(one) for one in cells) + " |")
    contrast = [one.trees for one in stand_ins if _shows_contrast(statements, one.trees)]
    lines += [
        "",
        "The contrast that the paper draws, EP/GR near null at high recall while EPRUM is not, appears in "
        f"{len(contrast)} of the {len(stand_ins)} kinds of trees{': ' if contrast else ''}{', '.join(contrast)}. "
        "EPRUM is the larger of the two there, but that is a matter of degree, and the shape of the trees moves "
        "both together.",
        "",
        f"The criteria are ours: the paper quantifies none of these sentences. 'Near null' is at most {NEAR_NULL}; "
        "which quantities stand for a sentence was settled after first curves had been seen, and one draw of topics is "
        "shown, so a value close to its criterion means little.",
        "",
        "The runs of INEX 2005 and their correlations cannot be checked without its data either.",
        "",
    ]
    return "\n".join(lines)
