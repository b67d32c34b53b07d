"""Expected search length: how many nonrelevant documents stand between a user and the relevant ones wanted.

Cooper (American Documentation 1968); Bollmann and Raghavan (SIGIR 1988). A system orders documents only as far
as its scores differ: documents of equal score form a group, and within a group the user meets them in random
order. A retrieval result is therefore a weak order, and the number of nonrelevant documents read before the
wanted-th relevant one is a random number with a law of its own.

In the group where the wanted-th relevant document falls, let R documents be relevant and M not, and let s of
the R still be wanted. The nonrelevant ones read there follow the negative hypergeometric law

    P(x) = C(x+s-1, x) C(M-x+R-s, M-x) / C(M+R, M),        expectation s M / (R+1).

If there are fewer relevant documents than wanted, the paper assumes that the user reads all the nonrelevant
ones. For a retrieved list these are the nonrelevant documents of the list: what was not retrieved is not known
to a ranked list. With ``collection_size`` it is known by number, and becomes the last group of the weak order:
the recall base that was not retrieved, and everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from walkeval.errors import ParameterError
from walkeval.measures.base import Measure, parameter, register
from walkeval.ranked import RankedLists


@dataclass(frozen=True)
class WeakOrder:
    """Documents in groups, best group first; within a group the order is random."""

    relevant: tuple[int, ...]
    """Relevant documents of each group."""
    nonrelevant: tuple[int, ...]
    """Other documents of each group, the unjudged included."""

    def __post_init__(self) -> None:
        if len(self.relevant) != len(self.nonrelevant):
            raise ParameterError(
                f"relevant and nonrelevant must have one number a group; got {len(self.relevant)} and "
                f"{len(self.nonrelevant)}"
            )
        for number in (*self.relevant, *self.nonrelevant):
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 0:
                raise ParameterError(f"groups must hold whole numbers of documents; got {number!r}")

    @classmethod
    def from_groups(cls, groups: Sequence[tuple[int, int]]) -> WeakOrder:
        """From (relevant, nonrelevant) for each group.

        >>> WeakOrder.from_groups([(1, 1), (1, 2), (2, 3)]).expected(2)
        2.0
        """
        pairs = [tuple(group) for group in groups]
        for pair in pairs:
            if len(pair) != 2:
                raise ParameterError(f"groups must be pairs of relevant and nonrelevant documents; got {pair!r}")
        return cls(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))

    @classmethod
    def from_text(cls, text: str) -> WeakOrder:
        """From the notation of the paper: ``+`` relevant, ``-`` not, ``|`` between groups; spaces are ignored.

        >>> WeakOrder.from_text("+ - | + - - | + + - - -").expected(1)
        0.5
        """
        groups = ["".join(part.split()) for part in text.split("|")] if text.strip() else []
        for group in groups:
            if not group or set(group) - {"+", "-"}:
                raise ParameterError(f"a weak order is written like '+-|+--'; got {text!r}")
        return cls(tuple(group.count("+") for group in groups), tuple(group.count("-") for group in groups))

    @classmethod
    def from_scores(cls, gains: Sequence[float | None], scores: ArrayLike) -> WeakOrder:
        """From the gain and score of each document, in any order; equal scores are one group.

        A document is relevant if its gain is above 0; None (unjudged) counts as not relevant.

        >>> WeakOrder.from_scores([0, 1, None, 1], [0.5, 0.9, 0.9, 0.5])
        WeakOrder(relevant=(1, 1), nonrelevant=(1, 1))
        """
        score = np.asarray(scores, dtype=np.float64)
        gain = np.array([0.0 if one is None else one for one in gains], dtype=np.float64)
        if score.shape != gain.shape:
            raise ParameterError(f"scores must be as many as gains ({len(gain)}); got {score.size}")
        for name, value in (("scores", score), ("gains", gain)):
            if not np.isfinite(value).all():
                raise ParameterError(f"{name} must be finite numbers; got {value[~np.isfinite(value)][0]}")
        if (gain < 0).any():
            raise ParameterError(f"gains must not be negative; got {gain.min():g}")
        distinct, group = np.unique(-score, return_inverse=True)
        size = np.bincount(group, minlength=len(distinct))
        relevant = np.bincount(group, weights=gain > 0, minlength=len(distinct)).astype(np.int64)
        return cls(tuple(relevant.tolist()), tuple((size - relevant).tolist()))

    def law(self, wanted: int = 1) -> NDArray[np.float64]:
        """Probability of each number of nonrelevant documents, from 0 to all there are.

        >>> WeakOrder.from_text("+-|+--|++---").law(2).round(6).tolist()
        [0.0, 0.333333, 0.333333, 0.333333, 0.0, 0.0, 0.0]
        """
        before, s, relevant, nonrelevant = self._critical_group(wanted)
        result = np.zeros(sum(self.nonrelevant) + 1)
        result[before : before + nonrelevant + 1] = _negative_hypergeometric(s, relevant, nonrelevant)
        return result

    def expected(self, wanted: int = 1) -> float:
        """Expected search length: nonrelevant documents read until ``wanted`` relevant ones are found."""
        before, s, relevant, nonrelevant = self._critical_group(wanted)
        return before + s * nonrelevant / (relevant + 1)

    def random_expected(self, wanted: int = 1) -> float:
        """Expected search length of the same documents in wholly random order.

        >>> WeakOrder.from_text("+|--").random_expected()
        1.0
        """
        return WeakOrder((sum(self.relevant),), (sum(self.nonrelevant),)).expected(wanted)

    def reduction_factor(self, wanted: int = 1) -> float:
        """Cooper's reduction factor: the share of the random order's search length that is saved.

        ``(random - expected) / random``; 1 at best, negative for an order worse than random, and 0 where a random
        order costs nothing either (no nonrelevant document).

        >>> WeakOrder.from_text("+|--").reduction_factor()
        1.0
        """
        random = self.random_expected(wanted)
        return (random - self.expected(wanted)) / random if random > 0 else 0.0

    def _critical_group(self, wanted: int) -> tuple[int, int, int, int]:
        """Nonrelevant documents before the group where the search ends; s, R and M in that group."""
        if isinstance(wanted, bool) or not isinstance(wanted, (int, np.integer)) or wanted < 1:
            raise ParameterError(f"wanted must be a whole number of at least 1; got {wanted!r}")
        found = read = 0
        for relevant, nonrelevant in zip(self.relevant, self.nonrelevant, strict=True):
            if found + relevant >= wanted:
                return read, int(wanted) - found, int(relevant), int(nonrelevant)
            found += int(relevant)
            read += int(nonrelevant)
        return read, 0, 0, 0


def convolve_laws(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Law of the nonrelevant documents read in two results together, if they share none (section 4).

    >>> convolve_laws([0.5, 0.25, 0.25], [0.5, 0.5]).tolist()
    [0.25, 0.375, 0.25, 0.125]
    """
    laws = []
    for name, given in (("first", first), ("second", second)):
        law = np.asarray(given, dtype=np.float64)
        if law.ndim != 1 or len(law) == 0:
            raise ParameterError(f"{name} must be a list of probabilities; got an array of shape {law.shape}")
        if not (law >= 0).all():
            raise ParameterError(f"{name} must hold probabilities of at least 0; got {law[~(law >= 0)][0]}")
        if abs(law.sum() - 1) > 1e-9:
            raise ParameterError(f"{name} must sum to 1; got {law.sum():.12g}")
        laws.append(law)
    return np.convolve(*laws)


def _negative_hypergeometric(s: int, relevant: int, nonrelevant: int) -> NDArray[np.float64]:
    """Law of the nonrelevant documents before the s-th relevant one of a group in random order.

    Neighboring probabilities have a simple ratio. Starting from the likeliest value and normalizing at the end
    keeps every digit, where factorials would overflow and their logarithms lose some.
    """
    if s == 0:
        return np.ones(1)
    read = np.arange(nonrelevant)
    ratio = (read + s) / (read + 1) * ((nonrelevant - read) / (nonrelevant - read + relevant - s))
    peak = int(np.argmax(ratio < 1)) if (ratio < 1).any() else nonrelevant
    above = np.cumprod(ratio[peak:])
    below = np.cumprod(1 / ratio[:peak][::-1])[::-1]
    law = np.concatenate((below, [1.0], above))
    return law / law.sum()


@dataclass(frozen=True)
class _SearchLength(Measure):
    """What both measures need: the search length of every list, and its counts."""

    wanted: int = parameter(1, "how many relevant documents the user wants", low=1, named=True)
    collection_size: int | None = parameter(
        None, "documents of the collection; without it, the retrieved list is all there is", low=1
    )

    needs_ties: ClassVar[bool] = True
    binary: ClassVar[bool] = True

    def _lengths(self, lists: RankedLists) -> NDArray[np.float64]:
        relevant, nonrelevant = self._counts(lists)
        found = lists.relevant
        # What if the relevant documents do not suffice: all the nonrelevant are read.
        result = nonrelevant.astype(np.float64)
        reached = found.count >= self.wanted
        if self.collection_size is not None:
            missing = relevant - found.count
            outside = self.collection_size - lists.length - missing
            at_rest = ~reached & (relevant >= self.wanted)
            s = self.wanted - found.count
            result = np.where(at_rest, (lists.length - found.count) + s * outside / (missing + 1), result)
        first, last = found.rank, found.rank
        if lists.tie_first is not None and lists.tie_last is not None:
            first = lists.tie_first[lists.relevant_position]
            last = lists.tie_last[lists.relevant_position]
        # Groups follow each other within a list, so list and first rank make a sorted key of the group.
        stride = int(lists.length.max(initial=0)) + 1
        group = found.list_index * stride + first
        target = (found.start[:-1] + self.wanted - 1)[reached]
        begin = np.searchsorted(group, group[target], side="left")
        end = np.searchsorted(group, group[target], side="right")
        before = begin - found.start[:-1][reached]
        within = end - begin
        others = last[target] - first[target] + 1 - within
        result[reached] = first[target] - 1 - before + (self.wanted - before) * others / (within + 1)
        return result

    def _counts(self, lists: RankedLists) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Relevant and nonrelevant documents of the list, or of the collection where its size is given."""
        if self.collection_size is None:
            return lists.relevant.count, lists.length - lists.relevant.count
        least = int((lists.length + lists.recall_base - lists.relevant.count).max(initial=0))
        if self.collection_size < least:
            raise ParameterError(
                f"{type(self).__name__}: collection_size must be at least the {least} documents retrieved or "
                f"relevant; got {self.collection_size}"
            )
        return lists.recall_base, self.collection_size - lists.recall_base


@register
@dataclass(frozen=True)
class ESL(_SearchLength):
    """Expected search length: nonrelevant documents read until the wanted relevant ones are found.

    Equal scores are ties in random order; unjudged documents count as not relevant.
    """

    user_model: ClassVar[str] = (
        "A user wants a number of relevant documents, reads down the list until they are found, and pays for each "
        "nonrelevant document on the way."
    )
    citation: ClassVar[str] = "bollmann1988"
    higher_is_better: ClassVar[bool] = False
    undefined: ClassVar[str] = (
        "Where fewer relevant documents are retrieved than wanted (or none exist), all nonrelevant documents of the "
        "list are read, as the paper assumes for a collection. A list that retrieves nothing therefore scores 0 "
        "without merit, unless collection_size says what else there was to read."
    )
    monotone: ClassVar[str | None] = "gain"

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        return self._lengths(lists)


@register
@dataclass(frozen=True)
class ESLRF(_SearchLength):
    """Expected search length reduction factor (Cooper 1968): the share saved against a random order.

    ``(random - ESL) / random``. The random order is one of the retrieved list's own documents, or of the whole
    collection where ``collection_size`` is given: with R relevant and M nonrelevant documents in it the random
    search length is ``wanted * M / (R+1)``, or M if R is below ``wanted``.
    """

    user_model: ClassVar[str] = (
        "A user wants a number of relevant documents and compares the nonrelevant ones read on the way with those "
        "that a random order would have cost."
    )
    citation: ClassVar[str] = "cooper1968"
    undefined: ClassVar[str] = (
        "Where a random order costs nothing (no nonrelevant document, an empty list) nothing can be saved: 0. Where "
        "fewer relevant documents exist than wanted, every order reads all nonrelevant ones: 0."
    )
    monotone: ClassVar[str | None] = "swap"

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        relevant, nonrelevant = self._counts(lists)
        enough = relevant >= self.wanted
        random = np.where(enough, self.wanted * nonrelevant / (relevant + 1), nonrelevant)
        saved = random - self._lengths(lists)
        return np.divide(saved, random, out=np.zeros(len(lists)), where=random > 0)
