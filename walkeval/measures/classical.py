"""The measures that the papers compare theirs with: a user who reads down the list.

Notation: a list retrieves T documents; gain_i is the gain at rank i; a document is relevant if its gain is above 0;
r of the RB relevant documents of the pool are retrieved; NRB documents of the pool are judged not relevant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from walkeval.measures.base import Measure, parameter, register
from walkeval.ranked import RankedLists


def divide(numerator: NDArray, denominator: NDArray) -> NDArray[np.float64]:
    """Divide, with 0 where there is nothing to divide by."""
    return np.divide(numerator, denominator, out=np.zeros(len(denominator)), where=denominator > 0)


@register
@dataclass(frozen=True)
class AP(Measure):
    """Average precision: ``AP = 1/RB * sum over relevant ranks i of P(i)``.

    >>> import walkeval
    >>> walkeval.evaluate("AP", [1, 0, 1], recall_base=2)  # (1 + 2/3) / 2
    0.8333333333333333
    """

    user_model = "Stops at a relevant document chosen evenly among all that exist, and is pleased by the precision there."
    citation = "buckley2005"
    monotone = "swap"
    binary = True

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        return divide(lists.sum_relevant(lists.relevant.precision), lists.recall_base)


@register
@dataclass(frozen=True)
class P(Measure):
    """Precision at a cut-off: the share of relevant documents among the first k ranks, retrieved or not.

    >>> import walkeval
    >>> walkeval.evaluate("P@2", [1, 0, 1])
    0.5
    """

    k: int = parameter(10, "ranks that are read", low=1)

    at = "k"
    user_model = "Reads exactly the first k documents."
    citation = "buckley2005"
    monotone = "gain"
    binary = True

    @property
    def name(self) -> str:
        return f"P@{self.k}"

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        return lists.sum_relevant(lists.relevant.rank <= self.k) / self.k


@register
@dataclass(frozen=True)
class R(Measure):
    """Recall: the share of the relevant documents found in the first k ranks, or in the whole list without k.

    >>> import walkeval
    >>> walkeval.evaluate("R@2", [1, 0, 1], recall_base=4)
    0.25
    """

    k: int | None = parameter(None, "ranks that are read; without it, the whole list", low=1)

    at = "k"
    user_model = "Reads the first k documents and wants everything that is relevant."
    citation = "buckley2005"
    monotone = "swap"
    binary = True

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        found = lists.relevant.count if self.k is None else lists.sum_relevant(lists.relevant.rank <= self.k)
        return divide(found, lists.recall_base)


@register
@dataclass(frozen=True)
class Rprec(Measure):
    """R-precision: precision at rank RB.

    >>> import walkeval
    >>> walkeval.evaluate("Rprec", [1, 0, 1])
    0.5
    """

    user_model = "Reads as many documents as there are relevant ones."
    citation = "buckley2005"
    monotone = "swap"
    binary = True

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        seen = lists.relevant.rank <= lists.recall_base[lists.relevant.list_index]
        return divide(lists.sum_relevant(seen), lists.recall_base)


@register
@dataclass(frozen=True)
class Bpref(Measure):
    """Binary preference: how rarely a judged nonrelevant document stands above a relevant one.

    ``bpref = 1/RB * sum over relevant i of (1 - min(n_i, RB) / D)``, where n_i judged nonrelevant documents stand above
    i and unjudged documents do not count. D is min(RB, NRB) in today's trec_eval and in formula (5) of SIGIR 2014,
    which are the same function (``"paper"`` is kept as a name of its own so that a search over variants can say so).
    Versions before 2006 took by mistake the nonrelevant documents that the run *retrieved* for NRB (``"before_2006"``). A
    relevant document with nothing above it counts 1, also where NRB is 0.

    >>> import walkeval
    >>> walkeval.evaluate("bpref", [1, 0, None, 1], recall_base=2, nonrelevant_base=4)  # (1 + 1/2) / 2
    0.75
    """

    variant: str = parameter("trec_eval", "which formula", choices=("trec_eval", "before_2006", "paper"))

    label = "bpref"
    user_model = "Compares judged documents pair by pair and dislikes a nonrelevant one above a relevant one."
    citation = "buckley2004"
    monotone = "swap"
    binary = True

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        above = self._nonrelevant_above(lists)
        base = lists.recall_base[lists.relevant.list_index]
        nonrelevant = lists.nonrelevant_base
        if self.variant == "before_2006":
            nonrelevant = np.diff(lists.start) - lists.relevant.count
        divisor = np.minimum(base, nonrelevant[lists.relevant.list_index])
        penalty = np.minimum(above, base) / np.maximum(divisor, 1)
        return divide(lists.sum_relevant(1 - penalty), lists.recall_base)

    @staticmethod
    def _nonrelevant_above(lists: RankedLists) -> NDArray[np.int64]:
        """Judged nonrelevant documents above each relevant one: its place among the judged, less the relevant."""
        place = lists.relevant_position - lists.start[lists.relevant.list_index]
        return place - (lists.relevant.ordinal - 1)


@register
@dataclass(frozen=True)
class RBP(Measure):
    """Rank-biased precision: ``RBP = (1-p) * sum over i of gain_i p^(i-1)``.

    >>> import walkeval
    >>> walkeval.evaluate("RBP(p=0.5)", [1, 0, 1])
    0.625
    """

    p: float = parameter(0.8, "persistence: probability of going on to the next document", low=0, below=1, named=True)

    user_model = "After each document goes on to the next with probability p, and never returns."
    citation = "moffat2008"
    monotone = "gain"

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        return (1 - self.p) * lists.sum_relevant(lists.relevant.gain * self.p ** (lists.relevant.rank - 1.0))


@register
@dataclass(frozen=True)
class RR(Measure):
    """Reciprocal rank of the first relevant document.

    >>> import walkeval
    >>> walkeval.evaluate("RR", [0, 1, 1])
    0.5
    """

    user_model = "Reads down to the first relevant document and stops."
    citation = "buckley2005"
    monotone = "gain"
    binary = True

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        return lists.sum_relevant((lists.relevant.ordinal == 1) / lists.relevant.rank)


def discount(rank: NDArray, base: float | None) -> NDArray[np.float64]:
    """What a gain at this rank is divided by: ``max(1, log_base rank)``, or ``log2(rank + 1)`` without a base."""
    if base is None:
        return np.log2(rank + 1.0)
    return np.maximum(1.0, np.log(rank) / np.log(base))


@register
@dataclass(frozen=True)
class DCG(Measure):
    """Discounted cumulated gain.

    ``DCG_b = sum over i of gain_i / max(1, log_b i)`` (ICTIR 2020, equation 10); without a base
    ``sum over i of gain_i / log2(i + 1)``, as in trec_eval.

    >>> import walkeval
    >>> walkeval.evaluate("DCG(base=2)", [3, 2, 0, 1])  # 3 + 2 + 1/2
    5.5
    """

    base: float | None = parameter(None, "base of the logarithm; without it, trec_eval's log2(rank + 1)", above=1)
    k: int | None = parameter(None, "ranks that are read; without it, the whole list", low=1)

    at = "k"
    user_model = "Reads down the list with an interest that fades with the logarithm of the rank."
    citation = "jarvelin2002"
    monotone = "gain"

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        found = lists.relevant
        return lists.sum_relevant(_cut(found.gain / discount(found.rank, self.base), found.rank, self.k))


@register
@dataclass(frozen=True)
class nDCG(Measure):
    """DCG divided by that of the ideal list: all relevant documents of the pool, best first.

    >>> import walkeval
    >>> walkeval.evaluate("nDCG", [1, 0, 0])
    1.0
    """

    base: float | None = parameter(None, "base of the logarithm; without it, trec_eval's log2(rank + 1)", above=1)
    k: int | None = parameter(None, "ranks that are read; without it, the whole list", low=1)

    at = "k"
    user_model = "As for DCG, measured against the best list that could have been."
    citation = "jarvelin2002"
    monotone = "layers"

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        return divide(*self.parts(lists))

    def parts(self, lists: RankedLists) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """DCG of each list, and that of its ideal list."""
        sizes = np.diff(lists.ideal_start)
        rank = np.arange(1, len(lists.ideal_gain) + 1) - np.repeat(lists.ideal_start[:-1], sizes)
        value = _cut(lists.ideal_gain / discount(rank, self.base), rank, self.k)
        best = np.bincount(np.repeat(np.arange(len(sizes)), sizes), weights=value, minlength=len(sizes))
        return DCG(base=self.base, k=self.k).score(lists), best[lists.topic]


def _cut(value: NDArray[np.float64], rank: NDArray, k: int | None) -> NDArray[np.float64]:
    return value if k is None else np.where(rank <= k, value, 0.0)


@register
@dataclass(frozen=True)
class ERR(Measure):
    """Expected reciprocal rank.

    ``ERR = sum over i of 1/i * R_i * product over j < i of (1 - R_j)`` with ``R_i = (2^gain_i - 1) / 2^m`` for the highest
    gain m that a judgement can give (ICTIR 2020, equation 11).

    >>> import walkeval
    >>> walkeval.evaluate("ERR", [1, 1])  # 1/2 + 1/2 * 1/2 * 1/2
    0.625
    """

    k: int | None = parameter(None, "ranks that are read; without it, the whole list", low=1)

    at = "k"
    user_model = "Reads down the list and is satisfied by each document with a probability that grows with its gain."
    citation = "chapelle2009"
    monotone = "gain"

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        found = lists.relevant
        satisfied = (2.0**found.gain - 1) / 2.0**lists.max_gain
        searching = np.ones(len(lists))
        total = np.zeros(len(lists))
        for ordinal in range(found.count.max(initial=0)):
            still = np.flatnonzero((found.count > ordinal) & (searching > 1e-17))
            here = found.start[still] + ordinal
            total[still] += _cut(searching[still] * satisfied[here] / found.rank[here], found.rank[here], self.k)
            searching[still] *= 1 - satisfied[here]
        return total
