"""EPRUM: expected precision and recall of a user who navigates on from what the list points to.

Piwowarski and Dupret (SIGIR 2006). Rank k of a list leads a user to the ideal element x with probability
``navigation[k, x]``, independently of everything else (hypothesis 3.1). So after k ranks x has been seen with a
noisy-or probability (equation 1), the number F_k of ideal elements seen is Poisson-binomial (7), and the rank ML
at which a recall of r elements is reached has ``P(ML > k) = P(F_k < r)``. Precision compares the ranks needed in
the best possible list (marked *) with those of the list at hand, 0 where recall r is never reached (A = 0):

    Precision = E[ML*] E[A / ML],   E[ML*] = sum_{k>=0} P(F*_k < r)  (4),   E[A/ML] by equation (5).

The Poisson-binomial law is computed exactly, one element after the other, without a normal approximation.

*Recall.* At level l with t ideal elements the user wants F >= l t, that is r = ceil(l t) elements. Precision as a
function of l is therefore constant between the natural recall points 1/t, ..., 1, and the average precision used
here, its mean over the t natural recall points, is also its integral over all levels.

*Graded idealism.* A user of satisfaction level s, uniform between 0 and 1, takes the elements with idealism
probability of at least s as ideal. All values are constant between the distinct idealism values, so the integral
over s is a finite sum. The users above the highest idealism find nothing ideal and count as 0, which is how a
topic without relevant documents counts for every measure.

*The ideal list* is looked for among candidate pointers, each used at most once. Without candidates it is the list
of the ideal elements themselves, each leading to itself alone, where E[ML*] = r (sections 4 and 7 of the paper).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, expit

from walkeval.errors import ParameterError
from walkeval.measures.base import Measure, parameter, register
from walkeval.ranked import RankedLists

CERTAIN = 1e-12
"""A recall is reached for certain if the probability of missing it is at most this."""
EXACT_POINTERS = 12
"""Candidate pointers up to which the ideal list is found exactly: all subsets of them are looked at."""


def seen_probability(navigation: ArrayLike) -> NDArray[np.float64]:
    """P(element seen by rank k): noisy-or of the ranks up to k, equation (1).

    ``navigation`` holds P(rank leads to element), one row a rank, one column an ideal element.

    >>> seen_probability([[0.4], [0.6], [1.0]]).round(6).tolist()
    [[0.4], [0.76], [1.0]]
    """
    return 1 - np.cumprod(1 - _probabilities("navigation", navigation), axis=0)


def found_law(seen: ArrayLike) -> NDArray[np.float64]:
    """Law of the number of ideal elements seen (equation 7), over 0, 1, ..., t along the last axis.

    >>> found_law([0.5, 0.5]).tolist()
    [0.25, 0.5, 0.25]
    """
    chances = np.asarray(seen, dtype=np.float64)
    _check_probabilities("seen", chances)
    if chances.ndim == 0:
        raise ParameterError("seen must have one probability an element; got a single number")
    return _count_law(chances, chances.shape[-1] + 1)


def shortfall(navigation: ArrayLike) -> NDArray[np.float64]:
    """P(F_k < r): one row for each k = 0, ..., N ranks consulted, one column for each recall r = 1, ..., t.

    >>> shortfall([[1.0, 0.0], [0.0, 0.5]]).tolist()
    [[1.0, 1.0], [0.0, 1.0], [0.0, 0.5]]
    """
    matrix = _probabilities("navigation", navigation)
    found = _count_law(1 - np.cumprod(1 - matrix, axis=0), matrix.shape[1] + 1)
    # Rounding may lift the sum of a law a little above 1.
    below = np.minimum(np.cumsum(found, axis=1)[:, :-1], 1.0)
    return np.concatenate((np.ones((1, matrix.shape[1])), below))


def expected_length(navigation: ArrayLike) -> NDArray[np.float64]:
    """E[ML] for each recall r = 1, ..., t (equation 4); infinite where the list may not reach r.

    >>> expected_length([[0.9, 0.9], [1.0, 0.0], [0.0, 1.0]]).round(6).tolist()
    [1.01, 1.29]
    """
    short = shortfall(navigation)
    return np.where(short[-1] <= CERTAIN, short.sum(axis=0), np.inf)


def expected_inverse_length(navigation: ArrayLike) -> NDArray[np.float64]:
    """E[A/ML] for each recall r = 1, ..., t (equation 5): 1/ML where the list reaches r, 0 where it does not.

    >>> expected_inverse_length([[0.4, 0.4], [0.6, 0.4], [1.0, 0.0]]).round(4).tolist()
    [0.8056, 0.3744]
    """
    short = shortfall(navigation)
    reached = np.maximum(short[:-1] - short[1:], 0.0)
    return (reached / np.arange(1, len(short))[:, None]).sum(axis=0)


@dataclass(frozen=True)
class IdealLength:
    """The expected length of the ideal list, or an interval that holds it."""

    lower: float
    """No list of the candidate pointers is expected to be shorter."""
    upper: float
    """What ``pointers`` achieves."""
    pointers: tuple[int, ...]
    """The best list found: rows of the candidates."""
    exact: bool
    """Whether the list found is an ideal list."""


def ideal_length(pointers: ArrayLike, recall: int, exact_pointers: int = EXACT_POINTERS) -> IdealLength:
    """The list of candidate pointers with the smallest expected length for a recall of ``recall`` elements.

    ``pointers`` holds P(pointer leads to element), one row a candidate; each may stand in the list once. F_k
    depends on which pointers come first, not on their order, so with up to ``exact_pointers`` candidates the best
    list is a shortest way through their subsets, found exactly. Beyond that, two greedy lists are tried (the next
    pointer leaves the fewest wanted elements missing; or makes missing the recall least likely) and the shorter
    one is the upper end of an interval. Its lower end is ``sum_k b_k``, where b_k is the largest of three lower
    bounds on P(F_k < r) that hold for any k pointers:

    - each element is seen at most as likely as after its own k best pointers; more likely elements can only raise
      F_k, so the Poisson-binomial law of these chances falls short less often;
    - F_k is at most what the k pointers with the largest contexts reach: 1 if that is less than r;
    - E[F_k] is at most m, the k largest row sums together; if m <= r - 1, P(F_k <= r - 1) is at least that of a
      binomial of the same number of elements and mean m (Hoeffding, Annals of Mathematical Statistics 1956).

    >>> best = ideal_length([[0.9, 0.9], [1.0, 0.0], [0.0, 1.0]], recall=2)
    >>> best.pointers, round(best.upper, 6), best.exact
    ((0, 1, 2), 1.29, True)
    """
    matrix = _probabilities("pointers", pointers)
    elements = matrix.shape[1]
    if isinstance(recall, bool) or not isinstance(recall, (int, np.integer)) or not 1 <= recall <= elements:
        raise ParameterError(f"recall must be a whole number from 1 to the {elements} elements; got {recall!r}")
    recall = int(recall)
    # Pointers that lead nowhere only lengthen a list.
    useful = np.flatnonzero(matrix.any(axis=1))
    matrix = matrix[useful]
    all_seen = 1 - np.prod(1 - matrix, axis=0)
    if _count_law(all_seen, recall).sum() > CERTAIN:
        raise ParameterError(f"pointers: no list of them reaches recall={recall} for certain, so none is ideal")
    if len(matrix) <= exact_pointers:
        length, chosen = _shortest_over_subsets(matrix, recall)
        return IdealLength(length, length, tuple(useful[chosen].tolist()), True)
    length, chosen = min((_greedy(matrix, recall, likeliest) for likeliest in (False, True)), key=lambda one: one[0])
    lower = min(_length_bound(matrix, recall), length)
    return IdealLength(lower, length, tuple(useful[chosen].tolist()), bool(length - lower <= CERTAIN * length))


def eprum_precision(
    navigation: ArrayLike, level: float, idealism: ArrayLike | None = None, pointers: ArrayLike | None = None
) -> float:
    """EPRUM precision of a list at a recall level.

    ``navigation``: P(rank leads to element) by rank and element; ``idealism``: probability that each element is
    ideal (1 if left out); ``pointers``: candidates for the ideal list, see the module and `ideal_length`. With
    more than EXACT_POINTERS candidates E[ML*] is the greedy list's, and the precision an upper bound.

    >>> round(eprum_precision([[0.4, 0.4], [0.6, 0.4], [1.0, 0.0]], level=0.5), 4)
    0.8056
    """
    if isinstance(level, bool) or not isinstance(level, (int, float, np.integer, np.floating)) or not 0 < level <= 1:
        raise ParameterError(f"level must be above 0 and at most 1; got {level!r}")
    total = 0.0
    for weight, found, candidates in _satisfaction_levels(navigation, idealism, pointers):
        recall = int(_recall_value(level, np.array(found.shape[1])))
        best = recall if candidates is None else ideal_length(candidates, recall).upper
        total += weight * best * float(expected_inverse_length(found)[recall - 1])
    return total


def eprum_average_precision(
    navigation: ArrayLike, idealism: ArrayLike | None = None, pointers: ArrayLike | None = None
) -> float:
    """EPRUM precision averaged over the natural recall points 1/t, ..., 1 (arguments as `eprum_precision`).

    >>> round(eprum_average_precision([[1, 0], [0, 0], [0, 0], [0, 1]]), 4)
    0.75
    """
    total = 0.0
    for weight, found, candidates in _satisfaction_levels(navigation, idealism, pointers):
        recalls = range(1, found.shape[1] + 1)
        best = [recall if candidates is None else ideal_length(candidates, recall).upper for recall in recalls]
        total += weight * float(np.mean(np.array(best) * expected_inverse_length(found)))
    return total


def containment_navigation(
    entries: Sequence[tuple[float, float]], elements: Sequence[tuple[float, float]]
) -> NDArray[np.float64]:
    """Navigation up and down an XML tree (section 7): the shorter length over the longer, if one contains the other.

    Both are (start, end) positions in characters; entries are what the ranks point to.

    >>> containment_navigation([(0, 100), (40, 50)], [(0, 50), (60, 70)]).tolist()
    [[0.5, 0.1], [0.2, 0.0]]
    """
    entry, element = _spans("entries", entries), _spans("elements", elements)
    first, second = entry[:, None], element[None, :]
    inside = (second[..., 0] <= first[..., 0]) & (first[..., 1] <= second[..., 1])
    around = (first[..., 0] <= second[..., 0]) & (second[..., 1] <= first[..., 1])
    one, other = (entry[:, 1] - entry[:, 0])[:, None], (element[:, 1] - element[:, 0])[None, :]
    return np.where(inside | around, np.minimum(one, other) / np.maximum(one, other), 0.0)


def distance_navigation(distance: ArrayLike, theta: float) -> NDArray[np.float64]:
    """Navigation by distance (section 3.3): ``1 / (1 + exp(theta * distance))``.

    >>> distance_navigation([[0, 10]], theta=0.1).round(4).tolist()
    [[0.5, 0.2689]]
    """
    far = np.asarray(distance, dtype=np.float64)
    if not (far >= 0).all():
        raise ParameterError(f"distance must be at least 0; got {far[~(far >= 0)][0]}")
    if not np.isfinite(theta):
        raise ParameterError(f"theta must be finite; got {theta!r}")
    return expit(-theta * far)


def path_navigation(transitions: ArrayLike, entry: int) -> NDArray[np.float64]:
    """P(k ~> y) for each element y of a graph that rank k enters at ``entry``: that a walk ever comes to y.

    ``transitions[x, y]`` is the share of users who go from x on to y; what a row lacks to 1 stops there. Figure 2
    of the paper:

    >>> path_navigation([[0, 0.5, 0.3], [0, 0, 0.8], [0, 0.12, 0]], entry=0).round(3).tolist()
    [1.0, 0.536, 0.7]
    """
    steps = _probabilities("transitions", transitions)
    size = len(steps)
    if steps.shape != (size, size):
        raise ParameterError(f"transitions must be a square table; got {steps.shape[0]} by {steps.shape[1]}")
    if size and steps.sum(axis=1).max() > 1 + 1e-9:
        raise ParameterError(f"transitions must have rows of at most 1; got {steps.sum(axis=1).max():.12g}")
    if isinstance(entry, bool) or not isinstance(entry, (int, np.integer)) or not 0 <= entry < size:
        raise ParameterError(f"entry must be an element from 0 to {size - 1}; got {entry!r}")
    result = np.zeros(size)
    for target in range(size):
        # Only elements with a way to the target matter, and from these no walk can go on forever without it.
        leads = np.zeros(size, dtype=bool)
        leads[target] = True
        while True:
            more = leads | (steps[:, leads] > 0).any(axis=1)
            if (more == leads).all():
                break
            leads = more
        others = np.flatnonzero(leads & (np.arange(size) != target))
        system = np.eye(len(others)) - steps[np.ix_(others, others)]
        result[target] = entry == target
        if entry in others:
            result[target] = np.linalg.solve(system, steps[others, target])[np.searchsorted(others, entry)]
    return result


def effort_precision(gains: ArrayLike, ideal_gains: ArrayLike, level: float) -> float:
    """Effort-precision at a gain-recall level (EP/GR of the xCG family: Kazai and Lalmas, INEX 2005).

    The ranks that the ideal list needs for this share of all gain, over the ranks that the list needs; 0 if it never
    gets there. Ranks are whole: the first where the cumulated gain is reached, with no interpolation in between. The
    INEX text was not at hand when this was written: check its interpolation before comparing with printed values.

    >>> effort_precision([1, 0, 0, 1], [1, 1, 1], level=2 / 3)
    0.5
    """
    return float(EPGR(level).score(_one_list(gains, ideal_gains))[0])


def average_effort_precision(gains: ArrayLike, ideal_gains: ArrayLike) -> float:
    """Effort-precision averaged over all relevant documents: at the gain reached at each, 0 if not retrieved.

    With binary gains this is average precision.

    >>> average_effort_precision([1, 0, 0, 1], [1, 1, 1])
    0.5
    """
    return float(EPGR().score(_one_list(gains, ideal_gains))[0])


@register
@dataclass(frozen=True)
class EPRUM(Measure):
    """EPRUM of ranked lists under the classical user: each rank leads to its own document and nowhere else.

    Gains over the highest possible gain are idealism probabilities. For binary gains the precision at the natural
    recall points is the classical one, and without a level the score is average precision. Other users:
    `eprum_precision` and `eprum_average_precision`.
    """

    level: float | None = parameter(None, "recall level; without it, the average over recall", above=0, high=1)

    user_model: ClassVar[str] = (
        "A user consults ranks, and what can be reached from each, until enough ideal elements are found; the ranks "
        "needed are compared with those of the ideal list."
    )
    citation: ClassVar[str] = "piwowarski2006"
    at: ClassVar[str | None] = "level"
    monotone: ClassVar[str | None] = "layers"

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        result = np.zeros(len(lists))
        found = lists.relevant
        ideal_topic = np.repeat(np.arange(len(lists.ideal_start) - 1), np.diff(lists.ideal_start))
        grades = np.unique(np.concatenate((lists.ideal_gain, found.gain)))
        grades = grades[grades > 0]
        for grade, width in zip(grades, np.diff(grades, prepend=0.0), strict=True):
            wanted = np.bincount(ideal_topic[lists.ideal_gain >= grade], minlength=len(lists.ideal_start) - 1)
            total = wanted[lists.topic] if len(lists) else np.zeros(0, dtype=np.int64)
            kept = found.gain >= grade
            where, rank = found.list_index[kept], found.rank[kept]
            count = np.bincount(where, minlength=len(lists))
            start = np.cumsum(count) - count
            if self.level is None:
                precision = (np.arange(1, len(rank) + 1) - start[where]) / rank
                value = np.bincount(where, weights=precision, minlength=len(lists)) / np.maximum(total, 1)
            else:
                recall = _recall_value(self.level, total)
                value = np.zeros(len(lists))
                reached = np.flatnonzero((total > 0) & (count >= recall))
                value[reached] = recall[reached] / rank[start[reached] + recall[reached] - 1]
            result += width / lists.max_gain * value
        return result


@register
@dataclass(frozen=True)
class EPGR(Measure):
    """Effort-precision at a level of gain-recall, or averaged over all relevant documents (xCG family).

    See `effort_precision` and `average_effort_precision` for the definitions.
    """

    level: float | None = parameter(None, "gain-recall level; without it, the average", above=0, high=1)

    user_model: ClassVar[str] = (
        "A user wants a share of all the gain there is; the ranks needed are compared with those of the ideal list."
    )
    citation: ClassVar[str] = "kazai2005"
    at: ClassVar[str | None] = "level"
    monotone: ClassVar[str | None] = "swap"

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        if not len(lists):
            return np.zeros(0)
        found = lists.relevant
        topics = len(lists.ideal_start) - 1
        ideal_topic = np.repeat(np.arange(topics), np.diff(lists.ideal_start))
        total = np.bincount(ideal_topic, weights=lists.ideal_gain, minlength=topics)[lists.topic]
        # Shares of all gain are in (0, 1]; with the number of the list or topic added they are sorted keys. The
        # slack lets sums of the same gains in another order meet.
        slack = 1e-9
        ideal_share = _cumulated(lists.ideal_gain, ideal_topic, lists.ideal_start)
        ideal_key = ideal_topic + ideal_share
        run_share = _cumulated(found.gain, found.list_index, found.start, total)

        def ideal_rank(topic: NDArray[np.intp], share: NDArray[np.float64]) -> NDArray[np.int64]:
            return np.searchsorted(ideal_key, topic + share - slack) - lists.ideal_start[topic] + 1

        if self.level is None:
            effort = ideal_rank(lists.topic[found.list_index], run_share) / found.rank
            return lists.sum_relevant(effort) / np.maximum(lists.recall_base, 1)
        share = np.full(len(lists), self.level)
        place = np.searchsorted(found.list_index + run_share, np.arange(len(lists)) + share - slack)
        reached = np.flatnonzero((total > 0) & (place < found.start[1:]))
        result = np.zeros(len(lists))
        result[reached] = ideal_rank(lists.topic[reached], share[reached]) / found.rank[place[reached]]
        return result


def _cumulated(
    gain: NDArray[np.float64],
    owner: NDArray[np.intp],
    start: NDArray[np.int64],
    total: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Cumulated gain of each owner (a list or a topic), as a share of ``total`` (by default of its own gain)."""
    running = np.concatenate(([0.0], np.cumsum(gain)))
    within = running[1:] - running[start[:-1]][owner]
    whole = (running[start[1:]] - running[start[:-1]] if total is None else total)[owner]
    # The last share of a complete list must not pass into the next one's keys by rounding.
    return np.minimum(within / whole, 1.0)


def _one_list(gains: ArrayLike, ideal_gains: ArrayLike) -> RankedLists:
    ideal = np.sort(np.asarray(ideal_gains, dtype=np.float64).ravel())[::-1]
    if not np.isfinite(ideal).all() or (ideal < 0).any():
        raise ParameterError(f"ideal_gains must be finite and at least 0; got {ideal.tolist()}")
    ideal = ideal[ideal > 0]
    lists = RankedLists.from_gains([np.asarray(gains, dtype=np.float64).tolist()])
    found = np.sort(lists.relevant.gain)[::-1]
    if len(found) > len(ideal) or (found > ideal[: len(found)]).any():
        raise ParameterError("ideal_gains must hold the gains of all relevant documents, those retrieved included")
    return RankedLists(
        length=lists.length,
        start=lists.start,
        rank=lists.rank,
        gain=lists.gain,
        recall_base=np.array([len(ideal)]),
        nonrelevant_base=lists.nonrelevant_base,
        topic=lists.topic,
        ideal_start=np.array([0, len(ideal)]),
        ideal_gain=ideal,
        max_gain=max(1.0, float(ideal.max(initial=0.0))),
    )


def _recall_value(level: float, total: NDArray[np.int64]) -> NDArray[np.int64]:
    """Elements wanted at a recall level: the least r >= level * total, whatever the last digit of the product."""
    return np.maximum(np.ceil(level * total - 1e-9), 1).astype(np.int64)


def _satisfaction_levels(navigation: ArrayLike, idealism: ArrayLike | None, pointers: ArrayLike | None):
    """Width of each range of satisfaction levels, with navigation and candidates restricted to its ideal set."""
    matrix = _probabilities("navigation", navigation)
    elements = matrix.shape[1]
    ideal = np.ones(elements) if idealism is None else np.asarray(idealism, dtype=np.float64)
    _check_probabilities("idealism", ideal)
    if ideal.shape != (elements,):
        raise ParameterError(f"idealism must have one value for each of the {elements} elements; got {ideal.shape}")
    candidates = None if pointers is None else _probabilities("pointers", pointers)
    if candidates is not None and candidates.shape[1] != elements:
        raise ParameterError(f"pointers must have the {elements} columns of navigation; got {candidates.shape[1]}")
    values = np.unique(ideal[ideal > 0])
    for value, width in zip(values, np.diff(values, prepend=0.0), strict=True):
        chosen = ideal >= value
        yield float(width), matrix[:, chosen], None if candidates is None else candidates[:, chosen]


def _count_law(chances: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
    """P(0), ..., P(columns - 1) of the number of successes, for the independent chances along the last axis.

    Every step is a sum of products of positive numbers, so small probabilities keep their digits.
    """
    flat = chances.reshape(int(np.prod(chances.shape[:-1])), chances.shape[-1])
    law = np.zeros((len(flat), columns))
    law[:, 0] = 1
    for place in np.flatnonzero(flat.any(axis=0)):
        chance = flat[:, place, None]
        advanced = law[:, :-1] * chance
        law *= 1 - chance
        law[:, 1:] += advanced
    return law.reshape(*chances.shape[:-1], columns)


def _shortest_over_subsets(matrix: NDArray[np.float64], recall: int) -> tuple[float, list[int]]:
    """Length and pointers of an ideal list: cheapest way from no pointer to a set that is certain to suffice."""
    count = len(matrix)
    missed = np.ones((1, matrix.shape[1]))
    for row in matrix:
        missed = np.concatenate((missed, missed * (1 - row)))
    short = _count_law(1 - missed, recall).sum(axis=1)
    # cost[S]: expected ranks consulted from the moment the pointers of S have been consulted.
    sets = np.arange(1 << count)
    size = np.bitwise_count(sets)
    enough = short <= CERTAIN
    cost = np.where(enough, 0.0, np.inf)
    following = np.full(1 << count, -1)
    for level in range(count - 1, -1, -1):
        open_sets = sets[(size == level) & ~enough]
        for pointer in range(count):
            able = open_sets[(open_sets >> pointer) & 1 == 0]
            through = short[able] + cost[able | (1 << pointer)]
            better = through < cost[able]
            cost[able[better]] = through[better]
            following[able[better]] = pointer
    chosen, current = [], 0
    while not enough[current]:
        chosen.append(int(following[current]))
        current |= 1 << chosen[-1]
    return float(cost[0]), chosen


def _greedy(matrix: NDArray[np.float64], recall: int, likeliest: bool) -> tuple[float, list[int]]:
    """Length and pointers of a greedy list, by least shortfall probability or by fewest elements missing."""
    lacking = recall - np.arange(recall)
    missed = np.ones(matrix.shape[1])
    remaining = list(range(len(matrix)))
    chosen: list[int] = []
    length, short = 0.0, 1.0
    while short > CERTAIN:
        length += short
        law = _count_law(1 - missed * (1 - matrix[remaining]), recall)
        chances, missing = law.sum(axis=1), law @ lacking
        # Rounded, so that equal chances are ties that the number of missing elements decides.
        best = int(np.lexsort((missing, chances.round(12)))[0]) if likeliest else int(np.argmin(missing))
        chosen.append(remaining.pop(best))
        missed = missed * (1 - matrix[chosen[-1]])
        short = float(chances[best])
    return length, chosen


def _length_bound(matrix: NDArray[np.float64], recall: int) -> float:
    """The lower bound on the expected length of any list that `ideal_length` derives."""
    elements = matrix.shape[1]
    best_missed = np.cumprod(np.sort(1 - matrix, axis=0), axis=0)
    dominated = _count_law(1 - best_missed, recall).sum(axis=1)
    reachable = np.cumsum(np.sort((matrix > 0).sum(axis=1))[::-1])
    mean = np.minimum(np.cumsum(np.sort(matrix.sum(axis=1))[::-1]), (1 - best_missed).sum(axis=1))
    binomial = np.where(mean <= recall - 1, bdtr(recall - 1, elements, np.minimum(mean / elements, 1.0)), 0.0)
    bounds = np.maximum(np.maximum(dominated, binomial), reachable < recall)
    return 1.0 + float(bounds.sum())


def _check_probabilities(name: str, values: NDArray[np.float64]) -> None:
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        raise ParameterError(f"{name} must hold probabilities from 0 to 1; got {values[wrong][0]}")


def _probabilities(name: str, values: ArrayLike) -> NDArray[np.float64]:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ParameterError(f"{name} must be a table with two dimensions; got {matrix.ndim}")
    _check_probabilities(name, matrix)
    return matrix


def _spans(name: str, values: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    spans = np.asarray(values, dtype=np.float64).reshape(-1, 2) if len(values) else np.zeros((0, 2))
    wrong = ~(spans[:, 0] < spans[:, 1])
    if wrong.any():
        raise ParameterError(f"{name} must start before they end; got {tuple(spans[wrong][0].tolist())}")
    return spans
