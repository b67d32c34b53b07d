"""What a measure could be if the unjudged documents of a list were judged: the lowest and the highest score.

A judgement gives every unjudged document that a list retrieves a grade: 0, or relevant. Each relevant one
raises the recall base RB of the topic by one, and each nonrelevant one the nonrelevant base NRB. With binary
judgements a relevant document has gain 1; with graded ones any grade: the gains that the list and its pool
show, and the whole numbers, up to ``max_gain``. Unjudged documents that the list does not retrieve stay as they
are; they could only raise RB and NRB. The score of the list as it stands always lies within the bounds (for
bpref, which skips unjudged documents, it is not among the judgements and is added to them).

How the bounds are found depends on what ``Measure.monotone`` says:

``"gain"``
    Raising a gain never lowers the score (of ESL: never raises it). Two judgements suffice: none relevant, and
    all at the highest gain. This holds for weighted sums of gains (P, RBP, DCG, sDCG, MsM, PH), for RR and for
    ESL (in every order of the ties, a nonrelevant document that turns relevant shortens the search or
    leaves it). It holds for ERR: with t the rest of the sum below rank i, given that the user gets there, R_i
    enters as ``R_i / i + (1 - R_i) t``, and t is at most 1/(i+1).

``"swap"``
    With their number fixed, moving a relevant document up never lowers the score. So of all judgements with m
    further relevant documents, that of the first m unjudged ranks is best and that of the last m is worst,
    and all m are tried. With the number fixed so are RB and NRB, and the sorted relevant ranks s_1 < s_2 < ... can only
    fall. AP is a sum of k/s_k, R and Rprec count the s_k up to a fixed rank, the nonrelevant documents above the k-th
    relevant one that bpref counts are s_k - k, and ESLRF compares ESL with a search length that is fixed.

``"layers"``
    With graded gains the score is a sum over the grades, weighted by their widths, of a term that
    depends only on which documents reach the grade, and to which "swap" applies (EPRUM), or a ratio of two such sums
    (nDCG: both DCG and the ideal DCG are sums over the grades). Fewer documents reach a higher grade, so
    that the best numbers m_1 >= m_2 >= ... are found by dynamic programming; a ratio is
    maximized by the method of Dinkelbach (Management Science 1967). Grades between two that occur add nothing.

None
    All judgements are tried where there are at most 4096. Beyond that:

    - MP and MPChain with weights that do not depend on relevance are ``sum w_i c_i/i / sum w_i`` over the relevant
      ranks, c_i of them up to rank i: Dinkelbach's method, with a dynamic program over the unjudged ranks and
      the number of them taken as relevant. Times recall the program gives a limit for every such number, and is
      repeated until the limits meet the best value found, or up to a fixed number of times (then: only a bound).
    - For the other MP models (OR) only this is used, and is only a bound: a weighted mean lies between its extremes.
      With m further relevant documents these are the lowest and highest precision that a relevant rank can have.
    - EPGR with graded gains, only a bound: the ideal list needs no more documents than the list at hand, so that
      effort-precision is at most precision; and it needs at least the gain over the highest gain.
    - Of any other measure nothing is known, and its interval is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import ParameterError
from walkeval.measures import Measure, parse_measure
from walkeval.measures.classical import AP, R, Rprec, discount, divide, nDCG
from walkeval.measures.markov_precision import MP, MPChain
from walkeval.measures.navigation import EPGR, EPRUM
from walkeval.ranked import RankedLists

Floats = NDArray[np.float64]

EXHAUSTIVE = 2**12
"""Judgements up to which all are tried where nothing else is known: 12 unjudged documents, if binary."""
_CELLS = 2_000_000  # Documents of judged lists held at a time: bounds the memory.
_PROGRAM_CELLS = 32_000  # The dynamic program of a batch of lists is fastest within the processor's cache.
_MOST_PROGRAMS = 60
_CLOSED = 2e-13  # A gap between limit and value that is only rounding.


@dataclass(frozen=True)
class Bounds:
    """The interval of a score over all judgements of the unjudged documents."""

    low: float
    high: float
    exact: bool
    """Whether some judgement attains each end; otherwise the interval may be wider than needed."""
    how: str
    """Why the ends are exact, or that they are only bounds."""


_NONE = "Every retrieved document is judged: there is one score."
_GAIN = "Exact: the score is monotone in every gain, so judging none and all of the unjudged relevant gives its ends."
_SWAP = "Exact: for each number of further relevant documents the first and the last unjudged ranks are the extremes."
_TIES = (
    "Only a bound: the ties among documents that nobody judged are not known, and were taken to be broken in the best "
    "and in the worst way."
)
_LAYERS = "Exact: the score is a sum over grades, or a ratio of two, whose extremes dynamic programming finds."
_ALL = "Exact: all judgements of the unjudged documents were tried."
_PROGRAM = "Exact: the extremes of this weighted mean of precisions were found by dynamic programming."
_LIMITS = "Only a bound: dynamic programming limits this weighted mean of precisions for each number of relevant ranks."
_MEAN = "Only a bound: a weighted mean of precisions lies between the extremes that a relevant rank can have."
_EFFORT = "Only a bound: effort-precision is at most precision, and no ideal rank has more than the top gain."
_NOTHING = "Only a bound, and an empty one: nothing is known of how this measure depends on the unjudged documents."


def bounds(
    measure: Measure | str,
    gains: Sequence[float | None],
    recall_base: int | None = None,
    nonrelevant_base: int | None = None,
    scores: Sequence[float] | None = None,
    max_gain: float | None = None,
    **parameters: Any,
) -> Bounds:
    """The lowest and highest score of one list over all judgements of its unjudged documents (None in ``gains``).

    The arguments are those of `walkeval.evaluate`; see the module for what is exact and why.

    >>> bounds("P@2", [1, None, 0])
    Bounds(low=0.5, high=1.0, exact=True, how='Exact: the score is monotone in every gain, so judging none and all of \
the unjudged relevant gives its ends.')
    >>> found = bounds("AP", [0, 1, None], recall_base=1)  # 1/2, or (1/2 + 2/3) / 2
    >>> found.low, round(found.high, 6)
    (0.5, 0.583333)
    """
    if isinstance(measure, str):
        measure = parse_measure(measure, **parameters)
    elif parameters:
        raise ParameterError(f"{measure.name} has its parameters already; got also {', '.join(sorted(parameters))}")
    if any(isinstance(row, (Sequence, np.ndarray)) for row in gains):
        raise ParameterError("bounds are those of one ranked list; got a table of gains, which is a session")
    given = None if scores is None else [scores]
    lists = RankedLists.from_gains([gains], recall_base, nonrelevant_base, given, max_gain)
    (one,) = _open(lists, measure.needs_ties)
    if scores is not None and measure.needs_ties:
        # With the scores at hand the ties of unjudged documents are known too.
        full = RankedLists.from_gains([[0.0] * len(one.gain)], scores=given)
        one = replace(one, tie_first=full.tie_first, tie_last=full.tie_last, loose_ties=False)
    (found,) = _bounds(measure, [one], measure.score(lists))
    return found


def collection_bounds(measure: Measure | str, lists: RankedLists) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Lowest and highest score of each list over all judgements of its unjudged documents, and whether they are exact.

    The unjudged documents are the ranks up to a list's length that hold no judged document.

    >>> low, high, exact = collection_bounds("RR", RankedLists.from_gains([[None, 1], [0, 1]]))
    >>> low.tolist(), high.tolist(), exact.tolist()
    ([0.5, 0.5], [1.0, 0.5], [True, True])
    """
    if isinstance(measure, str):
        measure = parse_measure(measure)
    found = _bounds(measure, list(_open(lists, measure.needs_ties)), measure.score(lists))
    low = np.array([one.low for one in found], dtype=np.float64)
    high = np.array([one.high for one in found], dtype=np.float64)
    return low, high, np.array([one.exact for one in found], dtype=bool)


# ---------------------------------------------------------------------------------------------------------
# One list, and its judgements


@dataclass(frozen=True, eq=False)
class _List:
    """One ranked list, rank by rank."""

    gain: Floats
    """Gain at each rank, 0 for unjudged documents."""
    unjudged: NDArray[np.intp]
    """Places (rank - 1) of the unjudged documents, ascending."""
    recall_base: int
    nonrelevant_base: int
    ideal: Floats
    """Gains of the pool's relevant documents, descending."""
    max_gain: float
    tie_first: NDArray[np.int64] | None
    tie_last: NDArray[np.int64] | None
    loose_ties: bool
    """Whether the ties among some unjudged documents are not known; they then count as none."""

    @property
    def relevant(self) -> NDArray[np.intp]:
        """Places of the documents judged relevant."""
        return np.flatnonzero(self.gain > 0)

    @property
    def possible(self) -> NDArray[np.intp]:
        """Places of the documents that are or may be relevant."""
        return np.union1d(self.relevant, self.unjudged)

    @property
    def grades(self) -> Floats:
        """All gains that a judgement can give, ascending from 0."""
        whole = np.arange(0, np.floor(self.max_gain) + 1)
        found = np.unique(np.concatenate((whole, self.gain, self.ideal, [0.0, self.max_gain])))
        return found[found <= self.max_gain]

    @property
    def is_binary(self) -> bool:
        """Whether all relevant documents, judged or not, have the same gain."""
        return len(self.grades) <= 2 and bool((self.ideal == self.max_gain).all())

    def layer(self, grade: float | None = None) -> _List:
        """The binary list in which the documents that reach a grade are relevant; without one, all relevant are."""
        reaches = (self.gain > 0, self.ideal > 0) if grade is None else (self.gain >= grade, self.ideal >= grade)
        lost = len(self.ideal) - int(reaches[1].sum())
        return replace(
            self,
            gain=reaches[0].astype(np.float64),
            recall_base=self.recall_base - lost,
            nonrelevant_base=self.nonrelevant_base + lost,
            ideal=np.ones(len(self.ideal) - lost),
            max_gain=1.0,
        )


def _open(lists: RankedLists, with_ties: bool = False) -> Iterator[_List]:
    for number in range(len(lists)):
        judged = slice(lists.start[number], lists.start[number + 1])
        length = int(lists.length[number])
        place = lists.rank[judged] - 1
        gain = np.zeros(length)
        gain[place] = lists.gain[judged]
        unjudged = np.ones(length, dtype=bool)
        unjudged[place] = False
        first = last = None
        loose = False
        if with_ties and lists.tie_first is not None and lists.tie_last is not None:
            first, last = np.arange(1, length + 1), np.arange(1, length + 1)
            unknown = np.ones(length, dtype=bool)
            groups = np.unique(np.stack((lists.tie_first[judged], lists.tie_last[judged]), axis=1), axis=0)
            for begin, end in groups:
                first[begin - 1 : end], last[begin - 1 : end], unknown[begin - 1 : end] = begin, end, False
            # A single document between two known groups can be tied with nothing.
            loose = bool((unknown[1:] & unknown[:-1]).any())
        topic = lists.topic[number]
        yield _List(
            gain=gain,
            unjudged=np.flatnonzero(unjudged),
            recall_base=int(lists.recall_base[number]),
            nonrelevant_base=int(lists.nonrelevant_base[number]),
            ideal=lists.ideal_gain[lists.ideal_start[topic] : lists.ideal_start[topic + 1]],
            max_gain=lists.max_gain,
            tie_first=first,
            tie_last=last,
            loose_ties=loose,
        )


def _judge(ones: Sequence[_List], assigned: Sequence[Floats]) -> RankedLists:
    """Fully judged lists: for each list a table with a judgement a row and an unjudged document a column."""
    length, rank, gain, base, other, ideal_size, ideal, first, last = ([] for _ in range(9))
    for one, table in zip(ones, assigned, strict=True):
        size, count = len(one.gain), len(table)
        judged = np.tile(one.gain, (count, 1))
        judged[:, one.unjudged] = table
        further = np.count_nonzero(table, axis=1)
        length.append(np.full(count, size))
        rank.append(np.tile(np.arange(1, size + 1), count))
        gain.append(judged.ravel())
        base.append(one.recall_base + further)
        other.append(one.nonrelevant_base + len(one.unjudged) - further)
        ideal_size.append(len(one.ideal) + further)
        if one.is_binary:
            ideal.append(np.full(ideal_size[-1].sum(), one.max_gain))
        else:
            pool = np.concatenate((np.tile(one.ideal, (count, 1)), table), axis=1)
            pool = -np.sort(-pool, axis=1)
            ideal.append(pool[pool > 0])
        if one.tie_first is not None and one.tie_last is not None:
            first.append(np.tile(one.tie_first, count))
            last.append(np.tile(one.tie_last, count))
    length, ideal_size = np.concatenate(length), np.concatenate(ideal_size)
    return RankedLists(
        length=length,
        start=np.concatenate(([0], np.cumsum(length))),
        rank=np.concatenate(rank),
        gain=np.concatenate(gain),
        recall_base=np.concatenate(base),
        nonrelevant_base=np.concatenate(other),
        topic=np.arange(len(length)),
        ideal_start=np.concatenate(([0], np.cumsum(ideal_size))),
        ideal_gain=np.concatenate(ideal),
        max_gain=ones[0].max_gain,
        tie_first=np.concatenate(first) if first else None,
        tie_last=np.concatenate(last) if last else None,
    )


def _chunks(sizes: Sequence[int], cells: int) -> Iterator[slice]:
    """Consecutive slices of at least one and together at most ``cells``."""
    begin = total = 0
    for place, size in enumerate(sizes):
        if place > begin and total + size > cells:
            yield slice(begin, place)
            begin, total = place, 0
        total += size
    if len(sizes):
        yield slice(begin, len(sizes))


# ---------------------------------------------------------------------------------------------------------
# The methods


def _bounds(measure: Measure, ones: list[_List], score: Floats) -> list[Bounds]:
    """Bounds of these lists, whose scores as they stand are given."""
    found: list[Bounds] = [Bounds(float(value), float(value), True, _NONE) for value in score]
    for numbers, method in _methods(measure, ones):
        for number, (low, high, exact, how) in zip(numbers, method(measure, [ones[n] for n in numbers]), strict=True):
            value = score[number]
            found[number] = Bounds(float(min(low, value)), float(max(high, value)), bool(exact), how)
    return found


Found = tuple[float, float, bool, str]
Method = Callable[[Any, list[_List]], Iterator[Found]]


def _methods(measure: Measure, ones: list[_List]) -> list[tuple[list[int], Method]]:
    """Which lists with unjudged documents are bounded by which method."""
    by_method: dict[Method, list[int]] = {}
    for number, one in enumerate(ones):
        if len(one.unjudged):
            by_method.setdefault(_method(measure, one), []).append(number)
    return [(numbers, method) for method, numbers in by_method.items()]


def _method(measure: Measure, one: _List) -> Method:
    if measure.monotone == "gain":
        return _two_judgements
    if measure.monotone == "layers":
        return _by_layer
    if measure.monotone == "swap" and (measure.binary or one.is_binary):
        return _by_number
    if measure.monotone not in ("swap", None):
        raise ParameterError(
            f"{measure.label}: monotone must be 'gain', 'swap', 'layers' or None; got {measure.monotone!r}"
        )
    grades = 2 if measure.binary else len(one.grades)
    if len(one.unjudged) * np.log2(grades) <= np.log2(EXHAUSTIVE) and not (measure.needs_ties and one.loose_ties):
        return _all_judgements
    if isinstance(measure, (MP, MPChain)):
        return _weighted_mean
    return _effort_precision if type(measure) is EPGR else _unknown


def _two_judgements(measure: Measure, ones: list[_List]) -> Iterator[Found]:
    for part in _chunks([2 * len(one.gain) for one in ones], _CELLS):
        tables = [np.outer([0.0, one.max_gain], np.ones(len(one.unjudged))) for one in ones[part]]
        score = measure.score(_judge(ones[part], tables)).reshape(-1, 2)
        for low, high in np.sort(score, axis=1):
            yield low, high, True, _GAIN


def _by_number(measure: Measure, ones: list[_List]) -> Iterator[Found]:
    for one in ones:
        binary = one.layer() if measure.binary else one
        first, last = (_scores_by_number(measure, binary, backward) for backward in (False, True))
        loose = measure.needs_ties and one.loose_ties
        yield min(first.min(), last.min()), max(first.max(), last.max()), not loose, _TIES if loose else _SWAP


def _scores_by_number(measure: Measure, one: _List, backward: bool) -> Floats:
    """Scores of a binary list with the first (or last) 0, 1, ... unjudged documents relevant."""
    found = _parts_by_number(measure, one, backward)
    return _judged_by_number(measure.score, one, backward) if found is None else divide(*found)


def _judged_by_number(score: Callable[[RankedLists], Any], one: _List, backward: bool) -> Floats:
    """The same for any score (or several in rows), by judging the list in each of these ways."""
    unjudged = len(one.unjudged)
    parts = []
    for part in _chunks([len(one.gain)] * (unjudged + 1), _CELLS):
        table = np.arange(unjudged) < np.arange(part.start, part.stop)[:, None]
        table = table[:, ::-1] if backward else table
        parts.append(score(_judge([one], [table * one.max_gain])))
    return np.concatenate(parts, axis=-1)


def _parts_by_number(measure: Any, one: _List, backward: bool) -> tuple[Floats, Floats] | None:
    """Numerator and denominator of these scores where each further document adds a known term; None where not.

    What needs the square of the length when all the lists are judged takes one pass here.
    """
    rank = one.unjudged[:: -1 if backward else 1] + 1
    given = one.relevant + 1
    number = np.arange(len(rank) + 1)
    base = (one.recall_base + number).astype(np.float64)
    kind = type(measure)  # A subclass may score otherwise.
    if kind is AP or (kind in (EPRUM, EPGR) and measure.level is None):
        # A document at rank i adds the precision there, and 1/j for each relevant document j below it.
        inverse = np.zeros(len(one.gain) + 2)
        inverse[given] = 1 / given
        if backward:
            inverse[rank] = 1 / rank
        below = np.cumsum(inverse[::-1])[::-1][rank + 1]
        above = np.searchsorted(given, rank) + (0 if backward else number[:-1])
        start = (np.arange(1, len(given) + 1) / given).sum()
        return _running(start, (above + 1) / rank + below), base
    if kind is R:
        within = np.inf if measure.k is None else measure.k
        return _running((given <= within).sum(), rank <= within), base
    if kind is Rprec:
        judged = np.searchsorted(given, base, side="right")
        unjudged = np.searchsorted(one.unjudged + 1, base, side="right")
        further = np.maximum(number - (len(rank) - unjudged), 0) if backward else np.minimum(number, unjudged)
        return (judged + further).astype(np.float64), base
    if kind is nDCG:
        depth = max(len(one.gain), one.recall_base + len(rank))
        ranks = np.arange(1, depth + 1)
        weight = 1 / discount(ranks, measure.base)
        if measure.k is not None:
            weight[measure.k :] = 0.0
        ideal = np.concatenate(([0.0], np.cumsum(weight)))
        return _running(weight[given - 1].sum(), weight[rank - 1]), ideal[one.recall_base + number]
    return None


def _running(start: float, added: NDArray) -> Floats:
    return start + np.concatenate(([0.0], np.cumsum(added)))


def _all_judgements(measure: Measure, ones: list[_List]) -> Iterator[Found]:
    for one in ones:
        one = one.layer() if measure.binary else one
        grades = np.array([0.0, 1.0]) if measure.binary else one.grades
        digits = np.arange(len(one.unjudged))
        low, high = np.inf, -np.inf
        judgements = len(grades) ** len(digits)
        for part in _chunks([len(one.gain)] * judgements, _CELLS):
            table = grades[np.arange(part.start, part.stop)[:, None] // len(grades) ** digits % len(grades)]
            score = measure.score(_judge([one], [table]))
            low, high = min(low, score.min()), max(high, score.max())
        yield low, high, True, _ALL


def _unknown(measure: Measure, ones: list[_List]) -> Iterator[Found]:
    for _ in ones:
        yield -np.inf, np.inf, False, _NOTHING


# ---------------------------------------------------------------------------------------------------------
# Sums over grades


def _by_layer(measure: Any, ones: list[_List]) -> Iterator[Found]:
    is_ratio = hasattr(measure, "parts")
    for one in ones:
        grades = np.unique(np.concatenate((one.gain, one.ideal, [one.max_gain])))
        grades = grades[grades > 0]
        widths = np.diff(grades, prepend=0.0)
        ends = []
        for sign, backward in ((-1.0, True), (1.0, False)):
            layers = []
            for grade, width in zip(grades, widths, strict=True):
                layer = width * _layer(measure, one.layer(grade), backward)
                # A pool may hold more gain than a judgement is said to give.
                layers.append(layer if grade <= one.max_gain else layer[:, :1])
            ends.append(_extreme_ratio(layers, 0.0 if is_ratio else one.max_gain, sign))
        yield ends[0], ends[1], True, _LAYERS


def _layer(measure: Any, one: _List, backward: bool) -> Floats:
    """Numerator and denominator of a binary list by the number of further documents; no denominator (0) for a sum."""
    if not hasattr(measure, "parts"):
        score = _scores_by_number(measure, one, backward)
        return np.stack((score, np.zeros(len(score))))
    found = _parts_by_number(measure, one, backward)
    if found is None:
        return _judged_by_number(lambda lists: np.stack(measure.parts(lists)), one, backward)
    return np.stack(found)


def _extreme_ratio(layers: list[Floats], constant: float, sign: float) -> float:
    """The largest (sign 1) or smallest (-1) ratio of two sums over layers, the second with a constant added.

    Each layer has its terms of the numerator and the denominator in two rows, a column for each number m of further
    documents; m must not rise from a layer to the next, higher one. Nothing at all over nothing at all is 0.
    """
    none = sum((layer[:, 0] for layer in layers), np.array([0.0, constant]))
    ratio = _ratio(*none)
    while True:
        total = np.array([[0.0], [constant]])
        for layer in reversed(layers):
            width = layer.shape[1]
            total = layer + np.pad(total, ((0, 0), (0, width - total.shape[1])), mode="edge")
            value = sign * (total[0] - ratio * total[1])
            # For each m, the best number up to m.
            best = np.maximum.accumulate(value)
            total = total[:, np.maximum.accumulate(np.where(value == best, np.arange(width), 0))]
        better = _ratio(*total[:, -1])
        if not sign * (better - ratio) > 1e-15:
            return ratio
        ratio = better


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0 else 0.0


# ---------------------------------------------------------------------------------------------------------
# Weighted means of precisions (MP)


def _weighted_mean(measure: MP | MPChain, ones: list[_List]) -> Iterator[Found]:
    """Exact where the weights are fixed, as far as the number of dynamic programs allows; else the simple bound."""
    walks = []
    for part in _chunks([len(one.gain) for one in ones], _CELLS):
        judged = _judge(ones[part], [np.full((1, len(one.unjudged)), one.max_gain) for one in ones[part]])
        weights = measure.fixed_weights(judged)
        if weights is None:
            yield from (_precision_range(measure, one) for one in ones[part])
            continue
        found = judged.relevant
        walks += [
            _Walk.of(one, weights[begin:end], measure.rescale is not None)
            for one, begin, end in zip(ones[part], found.start, found.start[1:], strict=False)
        ]
    ends = [_extreme_means(walks, sign) for sign in (-1.0, 1.0)]
    for (low, low_exact), (high, high_exact) in zip(*ends, strict=True):
        exact = low_exact and high_exact
        yield low, high, exact, _PROGRAM if exact else _LIMITS


def _precision_range(measure: MP | MPChain, one: _List) -> Found:
    """Least and greatest precision of a relevant rank for each number m of further relevant documents."""
    place = one.possible
    own = np.isin(place, one.unjudged)
    judged = np.cumsum(~own)
    before = np.cumsum(own)
    count = len(one.unjudged)
    low, high = np.inf, -np.inf
    if not len(one.relevant):
        low = high = 0.0
    for part in _chunks([len(place)] * (count + 1), _CELLS):
        further = np.arange(part.start, part.stop)[:, None]
        # A document that is not yet judged counts only where it is relevant, which takes an m of at least 1.
        most = (judged + np.minimum(further, before)) / (place + 1)
        least = (judged + np.maximum(further - (count - before), own)) / (place + 1)
        outside = own & (further == 0)
        recall = np.ones(len(further))
        if measure.rescale is not None:
            relevant = len(one.relevant) + further[:, 0]
            recall = relevant / np.maximum(one.recall_base + further[:, 0], 1)
        low = min(low, (recall * np.where(outside, 1.0, least).min(axis=1)).min())
        high = max(high, (recall * np.where(outside, 0.0, most).max(axis=1)).max())
    return low, high, False, _MEAN


@dataclass(frozen=True, eq=False)
class _Walk:
    """What the dynamic program needs of one list: a step for each unjudged document that has a weight."""

    weight: Floats
    """Weight of each unjudged document."""
    inverse_rank: Floats
    judged: Floats
    """Documents judged relevant above it."""
    between: Floats
    """Columns: sums over the judged relevant documents before the first step and after each one of
    weight x judged relevant up to it / rank, of weight / rank, and of weight."""
    least_recall: Floats
    """Factor of the score by the number of documents taken, if no document without weight is relevant."""
    most_recall: Floats
    """The same if they all are."""

    @property
    def steps(self) -> int:
        return len(self.weight)

    @classmethod
    def of(cls, one: _List, weights: Floats, rescale: bool) -> _Walk:
        place = one.possible
        # Documents below the last one with a weight (of a chain over the first ranks) change only recall.
        end = int(np.flatnonzero(weights > 0).max(initial=-1)) + 1
        place, weights = place[:end], weights[:end]
        own = np.isin(place, one.unjudged)
        judged = np.cumsum(~own)
        inverse = 1 / (place + 1)
        segment = np.cumsum(own)[~own]
        given = weights[~own]
        steps = int(own.sum())
        sums = [given * judged[~own] * inverse[~own], given * inverse[~own], given]
        between = np.stack([np.bincount(segment, weights=one_sum, minlength=steps + 1) for one_sum in sums])
        taken = np.arange(steps + 1)
        recalls = []
        for below in (0, len(one.unjudged) - steps):
            relevant = len(one.relevant) + taken + below
            recalls.append(relevant / np.maximum(one.recall_base + taken + below, 1) if rescale else np.ones(steps + 1))
        return cls(weights[own], inverse[own], judged[own].astype(np.float64), between, *recalls)


def _extreme_means(walks: list[_Walk], sign: float) -> list[tuple[float, bool]]:
    """The largest (sign 1) or smallest (-1) score of each list, or a limit for it, and whether it is attained."""
    result: list[tuple[float, bool]] = [(0.0, True)] * len(walks)
    order = sorted(range(len(walks)), key=lambda number: walks[number].steps)
    for part in _chunks([walks[number].steps + 1 for number in order], _PROGRAM_CELLS):
        numbers = order[part]
        for number, found in zip(numbers, _batch_means([walks[number] for number in numbers], sign), strict=True):
            result[number] = found
    return result


def _batch_means(walks: list[_Walk], sign: float) -> list[tuple[float, bool]]:
    """`_extreme_means` of lists of similar size, one dynamic program after the other for all of them.

    For a level x the program finds, for each number c of documents taken, V_c = max of sign (N - x D), where N/D is the
    mean. The set that attains it has the mean x + sign V_c / D, a value; and no set of c documents has a mean beyond
    x + sign V_c / D', with D' the smallest weight of c documents where V_c is positive and the largest where not:
    a limit. The next level is the one at which the number with the best limit would equal the best value. What is
    kept is multiplied by sign, so that both directions maximize.
    """
    most = max(walk.steps for walk in walks)
    shape = len(walks), most + 1
    recall, limit = np.zeros(shape), np.full(shape, -np.inf)
    lightest, heaviest = np.zeros(shape), np.zeros(shape)
    best = np.full(len(walks), -np.inf)
    for row, walk in enumerate(walks):
        taken = slice(0, walk.steps + 1)
        recall[row, taken] = walk.most_recall if sign > 0 else walk.least_recall
        limit[row, taken] = recall[row, taken] if sign > 0 else 0.0
        given = walk.between[2].sum()
        ascending = np.sort(walk.weight)
        lightest[row, taken] = given + np.concatenate(([0.0], np.cumsum(ascending)))
        heaviest[row, taken] = given + np.concatenate(([0.0], np.cumsum(ascending[::-1])))
        if given == 0:
            # With none of them taken nothing relevant is visited: the score is 0, and no mean.
            limit[row, 0], best[row] = -np.inf, 0.0
    level = np.where(np.isfinite(best), 0.0, 0.5)
    active = np.arange(len(walks))
    for _ in range(_MOST_PROGRAMS):
        if not len(active):
            break
        value, weight = _program([walks[row] for row in active], sign, level[active])
        width = value.shape[1]
        now = active, slice(0, width)
        factor = recall[now]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = sign * level[active, None] + value / weight
            beyond = sign * level[active, None] + value / np.where(value > 0, lightest[now], heaviest[now])
            able = np.isfinite(limit[now])
            attained = np.where(able & np.isfinite(mean), factor * mean, -np.inf)
            closer = np.where(able & ~np.isnan(beyond), np.minimum(limit[now], factor * beyond), limit[now])
        best[active] = np.maximum(best[active], attained.max(axis=1))
        limit[now] = closer
        leader = limit[active].argmax(axis=1)
        open_still = limit[active, leader] > best[active] + _CLOSED
        active, leader = active[open_still], leader[open_still]
        level[active] = sign * best[active] / recall[active, leader]
    closed = limit.max(axis=1) <= best + _CLOSED
    ends = np.where(closed, best, np.maximum(limit.max(axis=1), best))
    return [(float(sign * end) + 0.0, bool(exact)) for end, exact in zip(ends, closed, strict=True)]


def _program(walks: list[_Walk], sign: float, level: Floats) -> tuple[Floats, Floats]:
    """For each list and number c of documents taken: max of sign (N - level D), and D of a set that attains it."""
    most = max(walk.steps for walk in walks)

    def columns(name: str, fill: float) -> Floats:
        table = np.full((most, len(walks), 1), fill)
        for row, walk in enumerate(walks):
            table[: walk.steps, row, 0] = getattr(walk, name)
        return table

    weight, inverse, judged = columns("weight", 0.0), columns("inverse_rank", 0.0), columns("judged", 0.0)
    slope = sign * weight * inverse
    offset = slope * judged - sign * weight * level[:, None]
    between = np.zeros((3, most + 1, len(walks), 1))
    for row, walk in enumerate(walks):
        between[:, : walk.steps + 1, row, 0] = walk.between
        # The steps beyond the end of a shorter list cannot be taken.
        offset[walk.steps :, row] = -np.inf
    lift = sign * (between[0] - level[:, None] * between[2])
    tilt = sign * between[1]
    taken = np.arange(most + 1, dtype=np.float64)
    value = np.full((len(walks), most + 1), -np.inf)
    value[:, :1] = lift[0]
    total = np.zeros((len(walks), most + 1))
    has_judged = np.any(between[2] > 0, axis=(1, 2))
    for step in range(most):
        upto = step + 2
        take = value[:, : upto - 1] + (slope[step] * taken[1:upto] + offset[step])
        better = take > value[:, 1:upto]
        np.maximum(take, value[:, 1:upto], out=value[:, 1:upto])
        heavier = total[:, : upto - 1] + weight[step]
        np.copyto(total[:, 1:upto], heavier, where=better)
        if has_judged[step + 1]:
            value[:, :upto] += tilt[step + 1] * taken[:upto] + lift[step + 1]
    total += between[2].sum(axis=0)
    return value, total


# ---------------------------------------------------------------------------------------------------------
# Effort-precision of graded lists


def _effort_precision(measure: EPGR, ones: list[_List]) -> Iterator[Found]:
    slack = 1e-5  # EPGR lets shares of gain meet that differ by rounding; whole numbers of documents are far apart.
    for one in ones:
        place = one.possible
        rank = place + 1
        if measure.level is None:
            high = _scores_by_number(AP(), one.layer(), backward=False).max()
            needed = np.ceil(np.cumsum(one.gain[one.relevant]) / one.max_gain - slack)
            certain = (np.maximum(needed, 1) / (one.relevant + 1)).sum()
            # Each further relevant document is worth at least 1 over its rank, the lowest first.
            further = np.concatenate(([0.0], np.cumsum(1 / (one.unjudged[::-1] + 1))))
            low = ((certain + further) / np.maximum(one.recall_base + np.arange(len(further)), 1)).min()
            yield low, high, False, _EFFORT
            continue
        high = (np.arange(1, len(rank) + 1) / rank).max()
        low, total = 0.0, one.ideal.sum()
        if total > 0 and one.gain.sum() >= measure.level * total:
            # Further gain that is retrieved raises the share that is reached.
            low = max(1.0, np.ceil(measure.level * total / one.max_gain - slack)) / rank[-1]
        yield low, high, False, _EFFORT
