"""P@H: what a user gains until she stops, over the steps that she made (ICTIR 2020).

A user starts at rank 1 and steps from rank i to i+1 with probability p_i, back to i-1 with q_i, or stops
with s_i = 1 - p_i - q_i. The k-th visit to a document of gain y yields g(k, y). After H visited documents
she stops, and

    P@H = (1 / f(H)) * sum over the visits n = 1..H of g(k(n), gain of the n-th document visited).

Order 1 is E[P@H]; order 2 is E[sum] / E[f(H)]. Both are computed exactly, without simulation: how is in
`walkeval.stopping_walk`. The law of P@H, the law and moments of H and simulated users are in
`walkeval.stopping_law`.

A new user model is a `BrowsingModel`: two probabilities, constant or functions of rank and gain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from walkeval.errors import ParameterError, UnknownNameError
from walkeval.measures.base import Measure, parameter, register
from walkeval.ranked import RankedLists
from walkeval.stopping_walk import (
    EFFORTS,
    STOP,
    ConstantWalk,
    Effort,
    Floats,
    Loss,
    Step,
    Transitions,
    check_loss,
    effort_values,
    forward_score,
    forward_weights,
    goes_far,
    mean_steps,
    utility_of_visit,
    walk_scores,
)

Probability = float | ArrayLike | Callable[[NDArray[np.int64], Floats], ArrayLike]
"""A constant, one value per rank, or a function of the ranks and the gains of the whole list."""

FIRST = ("forward", "stop")
LAST = ("stop", "backward", "continue")


# ---------------------------------------------------------------------------------------------------------
# Browsing models


@dataclass(frozen=True, eq=False)
class BrowsingModel:
    """How a user moves: probability of a step forward and backward at each rank; she stops otherwise.

    ``forward`` and ``backward`` are constants, arrays with one probability per rank, or functions
    ``(ranks, gains) -> probabilities`` of the whole list, for models that depend on relevance. What
    becomes of the two steps that would leave the list:

    - ``first``: a step backward at rank 1 is a step ``"forward"`` (caption of Figure 1d: p_1 = p + q) or the
      ``"stop"`` (p_1 = p, as in the appendix C).
    - ``last``: a step forward at the last rank is the ``"stop"`` (Figure 1d: q_N = q, s_N = 1 - q), a step
      ``"backward"``, or the user may ``"continue"`` over infinitely many nonrelevant documents, where the
      probabilities are those of the rank after the last one. Functions then get one rank more, of gain 0
      (they always do; the value is used only here), and arrays need one entry more.

    A list of one document with nowhere to go has H = 1.

    >>> BrowsingModel(0.5, 0.25).transitions([1, 0, 1]).forward.tolist()
    [0.75, 0.5, 0.0]
    """

    forward: Probability
    backward: Probability = 0.0
    first: str = "forward"
    last: str = "stop"

    def __post_init__(self) -> None:
        if self.first not in FIRST:
            raise UnknownNameError("value of first", str(self.first), FIRST)
        if self.last not in LAST:
            raise UnknownNameError("value of last", str(self.last), LAST)
        for name in ("forward", "backward"):
            value = getattr(self, name)
            if callable(value):
                continue
            array = _probabilities(name, value)
            if array.ndim > 1 or array.size == 0:
                raise ParameterError(f"{name} must be a number or one probability per rank; got {value!r}")
            object.__setattr__(self, name, float(array) if array.ndim == 0 else array)
        if self.is_constant:
            _check_sum(self.forward, self.backward)

    @property
    def is_constant(self) -> bool:
        """Whether neither probability depends on rank or relevance."""
        return isinstance(self.forward, float) and isinstance(self.backward, float)

    def transitions(self, gains: ArrayLike) -> Transitions:
        """The probabilities for a list of these gains."""
        gains = check_gains(gains)
        count = len(gains)
        if count == 0:
            raise ParameterError("gains is empty: a user needs a first document to visit")
        forward = self._by_rank("forward", gains)
        backward = self._by_rank("backward", gains)
        _check_sum(forward, backward)
        steps = np.array([forward, backward, _stop(forward, backward)])
        beyond = None
        steps[:, 0] = self._at_first(*steps[:, 0])
        if self.last == "continue":
            beyond = tuple(steps[:, count].tolist())
        else:
            steps[:, count - 1] = self._at_last(*steps[:, count - 1]) if count > 1 else STOP
        return Transitions.reachable(*steps[:, :count], beyond)

    def constant_walk(self) -> ConstantWalk:
        """The probabilities for lists of all lengths, if they are constant."""
        inner = self.forward, self.backward, float(_stop(self.forward, self.backward))
        return ConstantWalk(
            self._at_first(*inner), inner, last=None if self.last == "continue" else self._at_last(*inner)
        )

    def _at_first(self, p: float, q: float, s: float) -> Step:
        return (min(1.0, p + q), 0.0, s) if self.first == "forward" else (p, 0.0, 1.0 - p)

    def _at_last(self, p: float, q: float, s: float) -> Step:
        return (0.0, q, 1.0 - q) if self.last == "stop" else (0.0, min(1.0, p + q), s)

    def _by_rank(self, name: str, gains: Floats) -> Floats:
        value = getattr(self, name)
        needed = len(gains) + 1
        if callable(value):
            ranks = np.arange(1, needed + 1)
            array = _probabilities(name, value(ranks, np.append(gains, 0.0)))
        else:
            array = np.asarray(value)
            if array.ndim == 1 and self.last != "continue" and len(array) == len(gains):
                array = np.append(array, 0.0)
        if array.ndim and len(array) != needed:
            wanted = needed if self.last == "continue" or callable(value) else len(gains)
            raise ParameterError(f"{name} must have {wanted} probabilities for {len(gains)} gains; got {len(array)}")
        return np.array(np.broadcast_to(array, needed), dtype=np.float64)


def DFBM() -> BrowsingModel:
    """Deterministic forward browsing: the user reads the whole list once."""
    return BrowsingModel(1.0)


def SFBM(p: Probability, last: str = "stop") -> BrowsingModel:
    """Stochastic forward browsing: on to the next document with probability p, else she stops."""
    return BrowsingModel(p, 0.0, last=last)


def RWBM(p: Probability, q: Probability, first: str = "forward", last: str = "stop") -> BrowsingModel:
    """Random walk: forward with probability p, backward with q, else she stops."""
    return BrowsingModel(p, q, first, last)


def check_gains(gains: ArrayLike) -> Floats:
    """Gains as an array, or the error that names the one that cannot be."""
    array = np.asarray(gains, dtype=np.float64)
    if array.ndim != 1:
        raise ParameterError(f"gains must be one list of numbers; got {array.ndim} dimensions")
    if not np.isfinite(array).all():
        raise ParameterError(f"gains must be finite numbers; got {array[~np.isfinite(array)][0]}")
    if (array < 0).any():
        raise ParameterError(f"gains must not be negative; got {array.min():g}")
    return array


def _probabilities(name: str, value: object) -> Floats:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be probabilities; got {value!r}") from None
    wrong = ~((array >= 0) & (array <= 1))
    if wrong.any():
        raise ParameterError(f"{name} must lie in [0, 1]; got {array[wrong].flat[0]:g}")
    return array


def _check_sum(forward: ArrayLike, backward: ArrayLike) -> None:
    total = np.atleast_1d(np.asarray(forward) + np.asarray(backward))
    if (total > 1 + 1e-12).any():
        worst = int(np.argmax(total))
        p, q = (float(np.broadcast_to(one, total.shape)[worst]) for one in (forward, backward))
        raise ParameterError(f"forward + backward must be at most 1; got p={p:g} and q={q:g} (rank {worst + 1})")


def _stop(forward: ArrayLike, backward: ArrayLike) -> Floats:
    """The probability of the stop; what is only rounding (1 - 0.8 - 0.2) is 0."""
    rest = 1.0 - (np.asarray(forward) + np.asarray(backward))
    return np.where(rest < 1e-15, 0.0, rest)


# ---------------------------------------------------------------------------------------------------------
# Expectations


def expected_precision(
    model: BrowsingModel, gains: ArrayLike, loss: Loss = 0.0, effort: Effort = "steps", order: int = 1
) -> float:
    """E[P@H] (order 1) or E[sum of utilities] / E[f(H)] (order 2) of one list, exactly.

    ``loss`` is the share lambda of its utility that a document loses at each visit, so that
    g(k, y) = y (1 - lambda)^(k-1); or any function g(k, y), not increasing in k; or ``"once"``: utility 1 at
    the first document and none later (the paper's ERR). ``effort`` is ``"steps"`` (f(h) = h), ``"one"``
    (f = 1), ``"log2"`` (log2(1 + h)) or any function of an array of step counts.

    A user who never stops counts with the limit of her P@H: for f(h) = h her long-run average gain, which is
    0 on an endless list of nonrelevant documents. The empty list scores 0. (ICTIR 2020, (3) and (4).)

    >>> expected_precision(DFBM(), [1, 0, 0, 1, 0])
    0.4
    >>> round(expected_precision(RWBM(0.5, 0.25), [1, 0, 0, 1, 0, 0, 1, 0, 0, 1], loss=0.25), 6)
    0.555704
    """
    return float(expected_precisions(model, [gains], loss, effort, order)[0])


def expected_precisions(
    model: BrowsingModel,
    lists: Sequence[ArrayLike],
    loss: Loss = 0.0,
    effort: Effort = "steps",
    order: int = 1,
) -> Floats:
    """`expected_precision` of several lists at once."""
    loss = check_loss(loss)
    effort_values(effort, np.ones(1))
    if order not in (1, 2):
        raise ParameterError(f"order must be 1 or 2; got {order!r}")
    rows = [check_gains(one) for one in lists]
    if model.is_constant and loss != "once":
        length = np.array([len(one) for one in rows], dtype=np.int64)
        found = [np.flatnonzero(one) for one in rows]
        index = np.repeat(np.arange(len(rows)), [len(one) for one in found])
        if not len(index):
            return np.zeros(len(rows))
        gain = np.concatenate([one[ranks] for one, ranks in zip(rows, found, strict=True)])
        parts = constant_scores(model, np.concatenate(found) + 1, length[index], gain, loss, effort, order)
        return np.bincount(index, weights=parts, minlength=len(rows))
    scores = np.zeros(len(rows))
    walks: dict[int, Transitions] = {}
    for number, gains in enumerate(rows):
        if not len(gains):
            continue
        transitions = model.transitions(gains)
        if transitions.is_forward and not (transitions.beyond and goes_far(transitions.beyond[0])):
            scores[number] = forward_score(transitions, gains, loss, effort, order)
        else:
            walks[number] = transitions
    if walks:
        scores[list(walks)] = walk_scores(list(walks.values()), [rows[number] for number in walks], loss, effort, order)
    return scores


def expected_steps(model: BrowsingModel, gains: ArrayLike) -> float:
    """E[H]: how many documents a user visits on average, repeated visits included; infinite if she may not stop.

    >>> expected_steps(SFBM(0.5), [0] * 3)
    1.75
    """
    return mean_steps(model.transitions(gains))


def constant_scores(
    model: BrowsingModel,
    rank: NDArray[np.int64],
    length: NDArray[np.int64],
    gain: Floats,
    loss: Loss = 0.0,
    effort: Effort = "steps",
    order: int = 1,
) -> Floats:
    """What a document of this rank and gain adds to the score of a list of this length, under constant p, q.

    The score is a sum over the documents because the browsing does not depend on relevance.
    """
    if not len(rank):
        return np.zeros(0)
    forward = model.backward == 0.0 and model.last != "backward"
    continues = model.last == "continue"
    if forward and not (continues and goes_far(model.forward)):
        weight = forward_weights(model.forward, continues, rank, length, effort, order)
        return weight * utility_of_visit(loss, 1, gain)
    return model.constant_walk().scores(rank, length, gain, loss, effort, order)


# ---------------------------------------------------------------------------------------------------------
# Classical measures as instances (section 6)


@dataclass(frozen=True, eq=False)
class StoppingPrecision:
    """A P@H instance: browsing model, utility loss, effort and the order that gives its score."""

    model: BrowsingModel
    loss: Loss = 0.0
    effort: Effort = "steps"
    order: int = 1

    def score(self, gains: ArrayLike) -> float:
        """The score of one list."""
        return expected_precision(self.model, gains, self.loss, self.effort, self.order)


def _binary(visit: int, gains: Floats) -> Floats:
    return (gains > 0).astype(np.float64)


def precision() -> StoppingPrecision:
    """Precision over the whole list (section 6.1).

    >>> precision().score([1, 0, 0, 1])
    0.5
    """
    return StoppingPrecision(DFBM(), _binary)


def average_precision(recall_base: int | None = None) -> StoppingPrecision:
    """Average precision (section 6.2): the user stops only at relevant documents, P[H = i] = r[i] / RB.

    That law of H needs the probability r[i] / (RB - R_(i-1)) of stopping once she is at rank i, where R_i
    counts the relevant documents up to i; the constant 1/RB of the paper's assumption (3) does not give it.
    A user who wants a relevant document that was not retrieved never stops and gains 0 on the way. Without
    ``recall_base`` it is the number of relevant documents retrieved (the paper's corrected version).

    >>> round(average_precision(4).score([1, 0, 0, 1]), 6)
    0.375
    """
    if recall_base is not None and (recall_base != int(recall_base) or recall_base < 1):
        raise ParameterError(f"recall_base must be a whole number, at least 1; got {recall_base!r}")

    def forward(ranks: NDArray[np.int64], gains: Floats) -> Floats:
        relevant = gains > 0
        retrieved = np.cumsum(relevant)
        base = int(retrieved[-1]) if recall_base is None else recall_base
        if base < retrieved[-1]:
            raise ParameterError(f"recall_base must be at least the {retrieved[-1]} in the list; got {recall_base}")
        wanted = base - retrieved + relevant
        return 1.0 - np.where(relevant, 1.0 / np.maximum(wanted, 1), 0.0)

    return StoppingPrecision(BrowsingModel(forward, last="stop" if recall_base is None else "continue"), _binary)


def rank_biased_precision(p: float, infinite: bool = True) -> StoppingPrecision:
    """RBP as order 2 (section 6.3): of the list followed by nonrelevant documents without end, or RBP(N).

    >>> rank_biased_precision(0.5).score([1, 0, 1])
    0.625
    """
    return StoppingPrecision(SFBM(p, last="continue" if infinite else "stop"), order=2)


def discounted_cumulated_gain(base: float = 2.0) -> StoppingPrecision:
    """DCG with the discount max(1, log_b i) of (10), as the law of H; the effort is constant (section 6.4).

    >>> discounted_cumulated_gain(2).score([3, 2, 0, 1])
    5.5
    """
    if not (np.isfinite(base) and base > 1):
        raise ParameterError(f"base must be above 1; got {base!r}")

    def forward(ranks: NDArray[np.int64], gains: Floats) -> Floats:
        discount = np.maximum(1.0, np.log(np.append(ranks, ranks[-1] + 1)) / np.log(base))
        return discount[:-1] / discount[1:]

    return StoppingPrecision(BrowsingModel(forward), effort="one")


def expected_reciprocal_rank(max_gain: float, forced: bool = False) -> StoppingPrecision:
    """ERR (section 6.5): she stops at gain y with probability (2^y - 1) / 2^max_gain, and P@H is 1/H.

    The paper lets every user stop at the last rank (R_N = 1), which adds 1/N for those who are not satisfied:
    ``forced``. Otherwise they go on for ever and gain 0, as in the measure of Chapelle et al.

    >>> expected_reciprocal_rank(1).score([0, 1])
    0.25
    >>> expected_reciprocal_rank(1, forced=True).score([0, 1])
    0.5
    """
    if not (np.isfinite(max_gain) and max_gain > 0):
        raise ParameterError(f"max_gain must be above 0; got {max_gain!r}")

    def forward(ranks: NDArray[np.int64], gains: Floats) -> Floats:
        if (gains > max_gain).any():
            raise ParameterError(f"max_gain must be at least the highest gain ({gains.max():g}); got {max_gain!r}")
        return 1.0 - (np.exp2(gains) - 1.0) / np.exp2(max_gain)

    return StoppingPrecision(BrowsingModel(forward, last="stop" if forced else "continue"), loss="once")


# ---------------------------------------------------------------------------------------------------------
# The measure


@register
@dataclass(frozen=True)
class PH(Measure):
    """P@H with constant step probabilities: E[P@H] (order 1) or E[utility] / E[effort] (order 2).

    ``DFBM`` reads the whole list (p and q are not used), ``SFBM`` goes on with probability p (q is not used),
    ``RWBM`` also goes back, with probability q. Models that depend on rank or relevance, and other losses and
    efforts, are functions: see `expected_precision`.

    >>> lists = RankedLists.from_gains([[1, 0, 0, 1, 0, 0, 1, 0, 0, 1], [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]])
    >>> PH(browsing="RWBM", p=0.5, q=0.25, loss=0.25, order=1).score(lists).round(6).tolist()
    [0.555704, 0.430953]
    """

    user_model: ClassVar[str] = (
        "The user starts at the first document, steps forward or backward at random until she stops, gains from "
        "each visit what the document still has to give, and divides it by her effort."
    )
    citation: ClassVar[str] = "ferrante2020"
    at: ClassVar[str] = "depth"
    monotone: ClassVar[str] = "gain"

    browsing: str = parameter("RWBM", "browsing model", choices=("DFBM", "SFBM", "RWBM"), named=True)
    p: float = parameter(0.5, "probability of a step forward (SFBM, RWBM)", low=0, high=1, named=True)
    q: float = parameter(0.25, "probability of a step backward (RWBM only)", low=0, high=1, named=True)
    loss: float = parameter(0.0, "share of its utility that a document loses at each visit", low=0, high=1, named=True)
    order: int = parameter(1, "1: expectation of the ratio; 2: ratio of the expectations", choices=(1, 2), named=True)
    effort: str = parameter("steps", "what divides the utility: h, 1 or log2(1+h) of h steps", choices=tuple(EFFORTS))
    first: str = parameter("forward", "what a step backward at the first rank becomes", choices=FIRST)
    last: str = parameter("stop", "what a step forward at the last rank becomes", choices=LAST)
    depth: int | None = parameter(None, "ranks that the user can see; all if left out", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.browsing == "RWBM" and self.p + self.q > 1 + 1e-12:
            raise ParameterError(f"PH: p + q must be at most 1; got p={self.p!r} and q={self.q!r}")

    @property
    def model(self) -> BrowsingModel:
        """The browsing model that the parameters stand for."""
        if self.browsing == "DFBM":
            return DFBM()
        if self.browsing == "SFBM":
            return SFBM(self.p, self.last)
        return RWBM(self.p, self.q, self.first, self.last)

    def score(self, lists: RankedLists) -> Floats:
        relevant = lists.relevant
        length = lists.length if self.depth is None else np.minimum(lists.length, self.depth)
        weights = np.zeros(len(relevant.rank))
        seen = np.flatnonzero(relevant.rank <= length[relevant.list_index])
        weights[seen] = constant_scores(
            self.model,
            relevant.rank[seen],
            length[relevant.list_index[seen]],
            relevant.gain[seen],
            self.loss,
            self.effort,
            self.order,
        )
        return lists.sum_relevant(weights)
