"""Ranked lists with their judgements: all that a measure ever sees.

A ranked list is what one run retrieved for one topic. Most retrieved documents are unjudged, so only
the judged ones are stored, one after the other for all lists (``rank`` and ``gain``), with ``start``
marking where each list begins. A measure is a function from `RankedLists` to one score a list; a new
pool of judgements is a new ``gain`` array over the same ranks, with no parsing and no join.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from walkeval.errors import ParameterError


@dataclass(frozen=True, eq=False)
class RelevantDocuments:
    """The relevant documents that the lists retrieve, one after the other."""

    list_index: NDArray[np.intp]
    """Which list the document is in."""
    rank: NDArray[np.int64]
    """Its rank, from 1."""
    gain: NDArray[np.float64]
    """Its gain, above 0."""
    ordinal: NDArray[np.int64]
    """How many relevant documents the list has up to this rank, this one included."""
    start: NDArray[np.int64]
    """Where each list begins; one entry more than there are lists."""
    count: NDArray[np.int64]
    """Relevant documents retrieved by each list (r)."""

    @cached_property
    def precision(self) -> NDArray[np.float64]:
        """Precision at the rank of each relevant document."""
        return self.ordinal / self.rank


@dataclass(frozen=True, eq=False)
class RankedLists:
    """Ranked lists and the judgements of one pool. Arrays are never changed in place."""

    length: NDArray[np.int64]
    """Documents retrieved by each list (T)."""
    start: NDArray[np.int64]
    """Where the judged documents of each list begin; one entry more than there are lists."""
    rank: NDArray[np.int64]
    """Rank of each judged document, from 1, ascending within a list."""
    gain: NDArray[np.float64]
    """Gain of each judged document; 0 is judged not relevant."""
    recall_base: NDArray[np.int64]
    """Relevant documents in the pool of each list's topic (RB)."""
    nonrelevant_base: NDArray[np.int64]
    """Judged nonrelevant documents in that pool (NRB)."""
    topic: NDArray[np.int64]
    """Which topic each list answers: a row of ``ideal_start``."""
    ideal_start: NDArray[np.int64]
    """Where the ideal gains of each topic begin; one entry more than there are topics."""
    ideal_gain: NDArray[np.float64]
    """Gains of the pool's relevant documents, topic after topic, each in descending order."""
    max_gain: float = 1.0
    """The highest gain that a judgement can give (for ERR)."""
    tie_first: NDArray[np.int64] | None = None
    """First rank of the group of equal scores that each judged document stands in; None: no ties."""
    tie_last: NDArray[np.int64] | None = None
    """Last rank of that group."""

    def __len__(self) -> int:
        return len(self.length)

    @cached_property
    def list_index(self) -> NDArray[np.intp]:
        """Which list each judged document is in."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @cached_property
    def relevant(self) -> RelevantDocuments:
        """The relevant documents among the judged."""
        chosen = np.flatnonzero(self.gain > 0)
        list_index = self.list_index[chosen]
        count = np.bincount(list_index, minlength=len(self)).astype(np.int64)
        start = np.concatenate(([0], np.cumsum(count)))
        ordinal = np.arange(1, len(chosen) + 1) - start[list_index]
        return RelevantDocuments(list_index, self.rank[chosen], self.gain[chosen], ordinal, start, count)

    @cached_property
    def relevant_position(self) -> NDArray[np.intp]:
        """Positions of the relevant documents within the judged ones."""
        return np.flatnonzero(self.gain > 0)

    @cached_property
    def memo(self) -> dict:
        """Values that several measures share, kept as long as these lists."""
        return {}

    def sum_relevant(self, values: ArrayLike) -> NDArray[np.float64]:
        """Sum a value per relevant document over each list."""
        return np.bincount(self.relevant.list_index, weights=values, minlength=len(self))

    def dense(self, depth: int | None = None) -> NDArray[np.float64]:
        """Gains by list and rank; unjudged documents and ranks beyond a list's end have gain 0."""
        depth = int(self.length.max(initial=0)) if depth is None else depth
        table = np.zeros((len(self), depth))
        kept = self.relevant.rank <= depth
        table[self.relevant.list_index[kept], self.relevant.rank[kept] - 1] = self.relevant.gain[kept]
        return table

    def select(self, which: NDArray[np.intp]) -> RankedLists:
        """Only the lists at these positions, in this order (for work in chunks)."""
        which = np.asarray(which, dtype=np.intp)
        sizes = np.diff(self.start)[which]
        start = np.concatenate(([0], np.cumsum(sizes)))
        position = np.arange(start[-1]) - np.repeat(start[:-1], sizes) + np.repeat(self.start[which], sizes)
        return RankedLists(
            length=self.length[which],
            start=start,
            rank=self.rank[position],
            gain=self.gain[position],
            recall_base=self.recall_base[which],
            nonrelevant_base=self.nonrelevant_base[which],
            topic=self.topic[which],
            ideal_start=self.ideal_start,
            ideal_gain=self.ideal_gain,
            max_gain=self.max_gain,
            tie_first=None if self.tie_first is None else self.tie_first[position],
            tie_last=None if self.tie_last is None else self.tie_last[position],
        )

    @classmethod
    def from_gains(
        cls,
        gains: Sequence[Sequence[float | None]],
        recall_base: Sequence[int] | int | None = None,
        nonrelevant_base: Sequence[int] | int | None = None,
        scores: Sequence[Sequence[float]] | None = None,
        max_gain: float | None = None,
    ) -> RankedLists:
        """Build lists from the gain at each rank; None marks an unjudged document.

        Without ``recall_base`` every relevant document is taken to be retrieved; relevant documents that
        are not retrieved have gain 1 in the ideal list. ``scores``, where given, must not increase down a
        list; equal scores are ties.

        >>> RankedLists.from_gains([[1, 0, None, 1]]).relevant.rank.tolist()
        [1, 4]
        """
        ranks, values, lengths, sizes, firsts, lasts = [], [], [], [], [], []
        for number, row in enumerate(gains):
            row = list(row)
            value = np.array([-1.0 if one is None else one for one in row], dtype=np.float64)
            judged = np.array([one is not None for one in row], dtype=bool)
            if not np.isfinite(value).all():
                raise ParameterError(f"gains must be finite numbers; got {value[~np.isfinite(value)][0]}")
            if (value[judged] < 0).any():
                raise ParameterError(f"gains must not be negative; got {value[judged].min():g}")
            ranks.append(np.flatnonzero(judged) + 1)
            values.append(value[judged])
            lengths.append(len(row))
            sizes.append(int(judged.sum()))
            if scores is not None:
                score = np.asarray(scores[number], dtype=np.float64)
                if len(score) != len(row):
                    raise ParameterError(f"scores must be as many as gains ({len(row)}); got {len(score)}")
                if not np.isfinite(score).all() or (np.diff(score) > 0).any():
                    raise ParameterError("scores must be finite and must not increase down the list")
                first = np.searchsorted(-score, -score, side="left") + 1
                last = np.searchsorted(-score, -score, side="right")
                firsts.append(first[judged])
                lasts.append(last[judged])
        retrieved = np.array([int((value > 0).sum()) for value in values], dtype=np.int64)
        unwanted = np.array([int((value == 0).sum()) for value in values], dtype=np.int64)
        base = _per_list("recall_base", recall_base, retrieved)
        other = _per_list("nonrelevant_base", nonrelevant_base, unwanted)
        ideals = [
            np.sort(np.concatenate((value[value > 0], np.ones(total - found))))[::-1]
            for value, total, found in zip(values, base, retrieved, strict=True)
        ]
        return cls(
            length=np.array(lengths, dtype=np.int64),
            start=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            rank=_joined(ranks, np.int64),
            gain=_joined(values, np.float64),
            recall_base=base,
            nonrelevant_base=other,
            topic=np.arange(len(lengths)),
            ideal_start=np.concatenate(([0], np.cumsum([len(one) for one in ideals]))).astype(np.int64),
            ideal_gain=_joined(ideals, np.float64),
            max_gain=_highest_gain(values, max_gain),
            tie_first=None if scores is None else _joined(firsts, np.int64),
            tie_last=None if scores is None else _joined(lasts, np.int64),
        )


def _joined(parts: list[NDArray], dtype: type) -> NDArray:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)


def _highest_gain(values: list[NDArray[np.float64]], max_gain: float | None) -> float:
    found = max((float(value.max(initial=0.0)) for value in values), default=0.0)
    if max_gain is None:
        return max(1.0, found)
    if not max_gain >= max(found, np.nextafter(0, 1)):
        raise ParameterError(f"max_gain must be at least the highest gain ({found:g}); got {max_gain}")
    return float(max_gain)


def _per_list(name: str, given: Sequence[int] | int | None, least: NDArray[np.int64]) -> NDArray[np.int64]:
    if given is None:
        return least
    value = np.broadcast_to(np.asarray(given), least.shape)
    if not np.issubdtype(value.dtype, np.integer):
        if not np.all(value == np.floor(value)):
            raise ParameterError(f"{name} must be a whole number; got {given}")
    if (value < least).any():
        short = int(np.argmax(value < least))
        raise ParameterError(f"{name} must be at least the {least[short]} in the list; got {value[short]}")
    return value.astype(np.int64)
