"""Expected search length on weak orders (Cooper 1968; Bollmann, Raghavan, SIGIR 1988), by enumeration.

A weak order is a list of ranks, each a pair (relevant, nonrelevant): how many documents of each kind are tied there.
A law is a dictionary from the number of nonrelevant documents read to its probability.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

Groups = Sequence[tuple[int, int]]
Law = dict[int, float]


def _orders(relevant: int, nonrelevant: int) -> Iterator[list[bool]]:
    """Every order of a group of ties, as relevance by place; all are equally likely."""
    size = relevant + nonrelevant
    for places in combinations(range(size), relevant):
        yield [place in places for place in range(size)]


def law_by_enumeration(groups: Groups, wanted: int) -> Law:
    """Law of the number of nonrelevant documents read before the wanted-th relevant one.

    With fewer relevant documents than wanted the user reads all nonrelevant ones. Example 2.2 of the 1988 paper:

    >>> law_by_enumeration([(1, 1), (1, 2), (2, 3)], wanted=2)
    {1: 0.3333333333333333, 2: 0.3333333333333333, 3: 0.3333333333333333}
    """
    counts: dict[int, int] = {}
    orders = 0
    for chosen in product(*(list(_orders(*group)) for group in groups)):
        found = read = 0
        for relevant in (document for group in chosen for document in group):
            if found == wanted:
                break
            if relevant:
                found += 1
            else:
                read += 1
        counts[read] = counts.get(read, 0) + 1
        orders += 1
    return {read: float(Fraction(count, orders)) for read, count in sorted(counts.items())}


def expectation(law: Law) -> float:
    """Mean of a law."""
    return sum(read * probability for read, probability in law.items())


def expected_search_length(groups: Groups, wanted: int) -> float:
    """esl_i: the expected number of nonrelevant documents read before the i-th relevant one.

    Example 2.1:

    >>> expected_search_length([(1, 1), (1, 2), (2, 3)], wanted=1)
    0.5
    """
    return expectation(law_by_enumeration(groups, wanted))


def random_search_length(relevant: int, nonrelevant: int, wanted: int) -> float:
    """Expected search length of a random order: i N / (R + 1); all N where fewer than i are relevant."""
    if wanted > relevant:
        return float(nonrelevant)
    return wanted * nonrelevant / (relevant + 1)


def reduction_factor(groups: Groups, wanted: int) -> float:
    """Cooper's expected search length reduction factor: (random - esl) / random; 0 if a random search costs nothing."""
    random = random_search_length(sum(group[0] for group in groups), sum(group[1] for group in groups), wanted)
    if random == 0:
        return 0.0
    return (random - expected_search_length(groups, wanted)) / random


def convolution(first: Law, second: Law) -> Law:
    """Law of the nonrelevant documents read in both: P*Q(k) = sum over r + t = k of P(r) Q(t) (example 4.1)."""
    law: Law = {}
    for r, left in first.items():
        for t, right in second.items():
            law[r + t] = law.get(r + t, 0.0) + left * right
    return dict(sorted(law.items()))
