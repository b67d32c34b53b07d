"""EPRUM (Piwowarski, Dupret, SIGIR 2006) by its defining sums, and EP/GR of the xCG family.

``navigation[k-1][x]`` is P(k ~> x), the probability that a user goes from rank k of the list to ideal element x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations, product
from math import ceil, inf, prod

from walkeval.reference.classical import Gains, gain_of, is_relevant

Navigation = Sequence[Sequence[float]]


def wanted_elements(level: float, total: int) -> int:
    """The least whole number that is at least level times total (F_k >= l t), safe against rounding of the level."""
    return ceil(level * total - 1e-9)


def walk_outcomes(links: Mapping[str, Mapping[str, float]], start: str) -> dict[frozenset[str], float]:
    """Which elements a user sees who starts at one and follows links, never back to one already seen (Figure 2).

    What the links of an element leave of 1 is the probability to stop there.
    """
    outcomes: dict[frozenset[str], float] = {}
    pending = [((start,), 1.0)]
    while pending:
        path, probability = pending.pop()
        onward = {there: chance for there, chance in links.get(path[-1], {}).items() if there not in path}
        pending.extend(((*path, there), probability * chance) for there, chance in onward.items())
        seen = frozenset(path)
        outcomes[seen] = outcomes.get(seen, 0.0) + probability * (1 - sum(onward.values()))
    return outcomes


def classical_navigation(gains: Gains, recall_base: int | None = None) -> list[list[float]]:
    """The classical user: P(k ~> x) = 1 if rank k is the relevant document x, else 0; the unretrieved come last."""
    relevant = [rank for rank, gain in enumerate(gains) if is_relevant(gain)]
    total = len(relevant) if recall_base is None else recall_base
    table = [[0.0] * total for _ in gains]
    for x, rank in enumerate(relevant):
        table[rank][x] = 1.0
    return table


def seen_probability(navigation: Navigation, k: int, element: int) -> float:
    """P(x in S_k) = 1 - product over j <= k of (1 - P(j ~> x)) (1).

    >>> [round(seen_probability([[0.4], [0.6], [1.0]], k, 0), 12) for k in (1, 2, 3)]
    [0.4, 0.76, 1.0]
    """
    return 1 - prod(1 - navigation[j][element] for j in range(k))


def found_law(navigation: Navigation, k: int, elements: Sequence[int] | None = None) -> list[float]:
    """P(F_k = f) for f = 0..t: the sum over all subsets of f elements of being seen exactly so (7)."""
    if elements is None:
        elements = range(len(navigation[0])) if len(navigation) else []
    law = []
    for f in range(len(elements) + 1):
        total = 0.0
        for subset in combinations(elements, f):
            total += prod(seen_probability(navigation, k, x) for x in subset) * prod(
                1 - seen_probability(navigation, k, x) for x in elements if x not in subset
            )
        law.append(total)
    return law


def probability_below(navigation: Navigation, k: int, wanted: int, elements: Sequence[int] | None = None) -> float:
    """P(F_k < wanted); F_0 = 0."""
    if k == 0:
        return 1.0 if wanted > 0 else 0.0
    return sum(found_law(navigation, k, elements)[:wanted])


def law_of_length(navigation: Navigation, wanted: int, elements: Sequence[int] | None = None) -> list[float]:
    """P(ML = k) for k = 1..N: F_k >= wanted and F_(k-1) < wanted (2). What is missing to 1 never gets there."""
    below = [probability_below(navigation, k, wanted, elements) for k in range(len(navigation) + 1)]
    return [below[k - 1] - below[k] for k in range(1, len(navigation) + 1)]


def expected_length(navigation: Navigation, wanted: int, elements: Sequence[int] | None = None) -> float:
    """E[ML*] = sum of k P(ML = k) (3); infinite for a list that does not always get there."""
    if probability_below(navigation, len(navigation), wanted, elements) > 1e-12:
        return inf
    return sum(k * chance for k, chance in enumerate(law_of_length(navigation, wanted, elements), start=1))


def expected_length_by_tails(navigation: Navigation, wanted: int, elements: Sequence[int] | None = None) -> float:
    """E[ML*] = 1 + sum over k >= 1 of P(F_k < wanted) (4)."""
    if probability_below(navigation, len(navigation), wanted, elements) > 1e-12:
        return inf
    return 1 + sum(probability_below(navigation, k, wanted, elements) for k in range(1, len(navigation) + 1))


def expected_inverse_length(navigation: Navigation, wanted: int, elements: Sequence[int] | None = None) -> float:
    """E[A / ML] = sum of P(ML = k) / k, the first line of (5)."""
    return sum(chance / k for k, chance in enumerate(law_of_length(navigation, wanted, elements), start=1))


def expected_inverse_length_by_tails(
    navigation: Navigation, wanted: int, elements: Sequence[int] | None = None
) -> float:
    """E[A / ML] = 1 - P(F_N < wanted) / N - sum over k < N of P(F_k < wanted) / (k (k + 1)), the second line of (5)."""
    size = len(navigation)
    if size == 0:
        return 0.0
    return (
        1
        - probability_below(navigation, size, wanted, elements) / size
        - sum(probability_below(navigation, k, wanted, elements) / (k * (k + 1)) for k in range(1, size))
    )


def scenarios(navigation: Navigation) -> dict[tuple[int | None, ...], float]:
    """Every way a session can go (Table 1): the rank at which each element is first seen, None for never.

    Literally all combinations of "goes from rank k to x" and "does not", each with the product of its chances.
    """
    size, total = len(navigation), len(navigation[0]) if len(navigation) else 0
    events = [(k, x) for k in range(size) for x in range(total)]
    outcomes: dict[tuple[int | None, ...], float] = {}
    for choice in product((True, False), repeat=len(events)):
        probability = 1.0
        first: list[int | None] = [None] * total
        for (k, x), happens in zip(events, choice, strict=True):
            probability *= navigation[k][x] if happens else 1 - navigation[k][x]
            if happens and first[x] is None:
                first[x] = k + 1
        if probability > 0:
            outcomes[tuple(first)] = outcomes.get(tuple(first), 0.0) + probability
    return outcomes


def expected_inverse_length_by_scenarios(navigation: Navigation, wanted: int) -> float:
    """E[A / ML] from `scenarios`: one over the rank at which the wanted-th element is seen, 0 if it never is."""
    total = 0.0
    for first, probability in scenarios(navigation).items():
        ranks = sorted(rank for rank in first if rank is not None)
        if len(ranks) >= wanted:
            total += probability / ranks[wanted - 1]
    return total


def ideal_list(pointers: Mapping[str, Sequence[float]], wanted: int) -> tuple[tuple[str, ...], float]:
    """The order of the pointers with the least E[ML*], each used once, and that expectation, by trying all orders.

    ``pointers[name][x]`` is the probability of going from that pointer to ideal element x. Section 5:

    >>> best, length = ideal_list({"a": [0.9, 0.9], "b": [1, 0], "c": [0, 1]}, wanted=2)
    >>> best, round(length, 12)
    (('a', 'b', 'c'), 1.29)
    """
    best: tuple[tuple[str, ...], float] = ((), inf)
    for order in permutations(pointers):
        length = expected_length([pointers[name] for name in order], wanted)
        if length < best[1] - 1e-12:
            best = (order, length)
    return best


def precision_at_recall(
    navigation: Navigation, level: float, ideal_length: Callable[[int], float] | None = None, total: int | None = None
) -> float:
    """Precision at recall level l = E[ML*] E[A / ML] (section 5).

    ``ideal_length`` gives E[ML*] for a number of wanted elements; left out, it is that number: one pointer leads to
    one ideal element for sure, as for the classical user.
    """
    if total is None:
        total = len(navigation[0]) if len(navigation) else 0
    if total == 0:
        return 0.0
    wanted = wanted_elements(level, total)
    best = float(wanted) if ideal_length is None else ideal_length(wanted)
    return best * expected_inverse_length(navigation, wanted, range(total)) if len(navigation) else 0.0


def average_precision(
    navigation: Navigation, ideal_length: Callable[[int], float] | None = None, total: int | None = None
) -> float:
    """Mean precision over the natural recall levels 1/t, 2/t, ..., 1."""
    if total is None:
        total = len(navigation[0]) if len(navigation) else 0
    if total == 0:
        return 0.0
    return sum(precision_at_recall(navigation, r / total, ideal_length, total) for r in range(1, total + 1)) / total


def precision_over_satisfaction(
    navigation: Navigation,
    idealism: Sequence[float],
    level: float,
    ideal_length: Callable[[tuple[int, ...], int], float] | None = None,
) -> float:
    """Precision at a recall level, integrated over the satisfaction level S, uniform on [0, 1] (section 3.1).

    ``idealism[x]`` is P(x in I). At level s the ideal set is {x: P(x in I) >= s}, constant between two values of
    idealism, so the integral is a sum. Levels at which nothing is ideal count 0. ``ideal_length`` gives E[ML*] for
    an ideal set and a number of wanted elements; left out, it is that number.
    """
    total = 0.0
    lower = 0.0
    for upper in sorted({value for value in idealism if value > 0}):
        ideal = tuple(x for x, value in enumerate(idealism) if value >= upper)
        wanted = wanted_elements(level, len(ideal))
        best = float(wanted) if ideal_length is None else ideal_length(ideal, wanted)
        total += (upper - lower) * best * expected_inverse_length(navigation, wanted, ideal)
        lower = upper
    return total


def _rank_reaching(gains: Sequence[float], amount: float) -> int | None:
    """First rank at which the cumulated gain reaches an amount."""
    cumulated = 0.0
    for rank, gain in enumerate(gains, start=1):
        cumulated += gain
        if cumulated >= amount - 1e-12:
            return rank
    return None


def gain_recall(gains: Gains, ideal_gains: Gains, rank: int) -> float:
    """Gain-recall: gain cumulated by the run up to a rank, over all the gain there is."""
    whole = sum(gain_of(gain) for gain in ideal_gains)
    return sum(gain_of(gain) for gain in gains[:rank]) / whole if whole > 0 else 0.0


def effort_precision(gains: Gains, ideal_gains: Gains, recall: float) -> float:
    """Effort-precision at a gain-recall point (Kazai, Lalmas, INEX 2005 evaluation measures).

    The rank at which the ideal list reaches that share of the whole gain, over the rank at which the run does; 0 if
    the run never does.

    >>> effort_precision([0, 1, 0, 1], [1, 1], 1.0)
    0.5
    """
    best = sorted((gain_of(gain) for gain in ideal_gains), reverse=True)
    amount = recall * sum(best)
    if amount <= 0:
        return 0.0
    ideal_rank = _rank_reaching(best, amount)
    run_rank = _rank_reaching([gain_of(gain) for gain in gains], amount)
    return 0.0 if run_rank is None or ideal_rank is None else ideal_rank / run_rank


def effort_precision_curve(gains: Gains, ideal_gains: Gains) -> list[tuple[float, float]]:
    """(gain-recall, effort-precision) at the natural points: each rank of the run that adds gain."""
    points = [gain_recall(gains, ideal_gains, rank) for rank, gain in enumerate(gains, start=1) if gain_of(gain) > 0]
    return [(recall, effort_precision(gains, ideal_gains, recall)) for recall in points]
