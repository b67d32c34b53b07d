"""P@H: what a user gains until she stops, over the steps that she made (ICTIR 2020).

A user starts at rank 1 and steps from rank i to i+1 with probability p_i, back to i-1 with q_i, or stops
with s_i = 1 - p_i - q_i. The k-th visit to a document of gain y yields g(k, y). After H visited documents
she stops, and

    P@H = (1 / f(H)) * sum over the visits n = 1..H of g(k(n), gain of the n-th document visited).

Order 1 is E[P@H]; order 2 is E[sum] / E[f(H)]. Both are computed exactly, without simulation:

- Forward models (q_i = 0): the law of H is a product of the p_i, so that both are finite sums.
- Random walks: with h_i(z) the generating function of the first visit to rank i, f_i(z) of the first
  return to it and u_i(z) of what is left from a visit to the stop,

      E[S z^H] = sum_i h_i(z) u_i(z) sum_k g(k, y_i) f_i(z)^(k-1),

  and E[S/f(H)] is a weighted sum of E[S z^H] over nodes z. For f(h) = h this is Gauss-Legendre quadrature
  of 1/h = integral over 0..1 of z^(h-1) dz; for any other f the nodes are roots of unity and the weights the
  Fourier transform of 1/f. All three functions follow from recursions over the ranks.

The recursions carry kappa = 1 - z and the complements of the probabilities along, so that nothing is ever
subtracted: they stay accurate for users who make 10^100 steps.

The law of P@H, the law and moments of H and simulated users are in `walkeval.stopping_law`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from walkeval.errors import ParameterError, UnknownNameError
from walkeval.measures.base import Measure, parameter, register
from walkeval.ranked import RankedLists

Floats = NDArray[np.float64]
Probability = float | ArrayLike | Callable[[NDArray[np.int64], Floats], ArrayLike]
"""A constant, one value per rank, or a function of the ranks and the gains of the whole list."""
Loss = float | str | Callable[[int, Floats], ArrayLike]
"""The share of its utility that a document loses at each visit, ``"once"``, or the function g(k, y)."""
Effort = str | Callable[[Floats], ArrayLike]
"""``"steps"``, ``"one"``, ``"log2"``, or the function f(h) of an array of step counts."""

FIRST = ("forward", "stop")
LAST = ("stop", "backward", "continue")
EFFORTS: dict[str, Callable[[Floats], Floats]] = {
    "steps": lambda steps: steps,
    "one": lambda steps: np.ones_like(steps),
    "log2": lambda steps: np.log2(1.0 + steps),
}

_PANEL_NODES = 12
_ENDLESS = 1e150  # Expected steps from which on the stop is out of reach of the arithmetic (see _steps_nodes).
_ENDLESS_KAPPA = 1e-75
_MOST_NODES = 2**22
_MOST_TERMS = 20_000
_CELLS = 2_000_000  # Array elements worked on at a time: bounds the memory.


# ---------------------------------------------------------------------------------------------------------
# Browsing models


class Transitions(NamedTuple):
    """Step probabilities of one list: every row adds up to 1, and no step leads out of the list."""

    forward: Floats
    backward: Floats
    stop: Floats
    beyond: tuple[float, float, float] | None
    """The same three for every rank after the list's end; None if the user cannot get there."""


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
        stop = _remainder(forward, backward)
        if self.first == "forward":
            forward[0] = min(1.0, forward[0] + backward[0])
        else:
            stop[0] = 1.0 - forward[0]
        backward[0] = 0.0
        end = count - 1
        beyond = None
        if self.last == "continue":
            beyond = float(forward[count]), float(backward[count]), float(stop[count])
        elif self.last == "stop" or count == 1:
            forward[end], stop[end] = 0.0, 1.0 - backward[end]
        else:
            forward[end], backward[end] = 0.0, min(1.0, forward[end] + backward[end])
        # Ranks that no user can reach must not look like ranks where users stay for ever.
        blocked = np.flatnonzero(forward[:count] == 0.0)
        if len(blocked):
            beyond = None
            after = slice(blocked[0] + 1, None)
            forward[after], backward[after], stop[after] = 0.0, 0.0, 1.0
        return Transitions(forward[:count], backward[:count], stop[:count], beyond)

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


def _remainder(forward: ArrayLike, backward: ArrayLike) -> Floats:
    """The probability of the stop; what is only rounding (1 - 0.8 - 0.2) is 0."""
    rest = 1.0 - (np.asarray(forward) + np.asarray(backward))
    return np.where(rest < 1e-15, 0.0, rest)


def check_loss(loss: Loss) -> Loss:
    """The loss, or the error that says why it cannot be one."""
    if callable(loss):
        return loss
    if isinstance(loss, str):
        if loss != "once":
            raise UnknownNameError("loss", loss, ("once",))
        return loss
    if isinstance(loss, bool) or not isinstance(loss, (int, float, np.integer, np.floating)) or not 0 <= loss <= 1:
        raise ParameterError(f"loss must lie in [0, 1]; got {loss!r}")
    return float(loss)


def effort_values(effort: Effort, steps: Floats) -> Floats:
    """f(h) for step counts in ascending order, checked: positive and not decreasing."""
    if not callable(effort):
        if effort not in EFFORTS:
            raise UnknownNameError("effort", str(effort), EFFORTS)
        return EFFORTS[effort](np.asarray(steps, dtype=np.float64))
    steps = np.asarray(steps, dtype=np.float64)
    values = np.asarray(effort(steps), dtype=np.float64)
    if values.shape != steps.shape:
        raise ParameterError(f"effort must give one value per step count; got shape {values.shape} for {steps.shape}")
    if not (values > 0).all():
        raise ParameterError(f"effort must be positive; got {values[~(values > 0)].flat[0]:g}")
    if (values[1:] < values[:-1]).any():
        raise ParameterError("effort must not decrease with the number of steps")
    return values


def utility_of_visit(loss: Loss, visit: int, gains: Floats) -> Floats:
    """g(k, y): what the k-th visit to documents of these gains yields."""
    if not callable(loss):
        return gains * (1.0 - loss) ** (visit - 1)
    values = np.broadcast_to(np.asarray(loss(visit, gains), dtype=np.float64), gains.shape)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(f"loss g(k, y) must be finite and not negative; got {values.tolist()} at k={visit}")
    return values


# ---------------------------------------------------------------------------------------------------------
# Nodes: E[phi(H)] and E[S phi(H)] as weighted sums of generating functions


class _Nodes(NamedTuple):
    z: NDArray
    kappa: NDArray
    """1 - z, held apart because z is 1 in floating point where kappa is still far from 0."""
    weight: NDArray
    ends: NDArray[np.bool_]
    """Whether only users who stop count there (E[S z^H]); otherwise all do (E[S up to a stop or a kill])."""

    def part(self, chosen: slice) -> _Nodes:
        return _Nodes(*(one[chosen] for one in self))


def _total_node(longest: float) -> _Nodes:
    """The node of E[S] itself: z = 1, or as near as a user who hardly ever stops allows."""
    kappa = np.array([0.0 if longest <= _ENDLESS else _ENDLESS_KAPPA])
    return _Nodes(1.0 - kappa, kappa, np.ones(1), np.zeros(1, dtype=bool))


def _steps_nodes(longest: float) -> _Nodes:
    """Nodes for f(h) = h, given the largest expected number of steps from any rank.

    E[S z^H] is singular only at real z with |z| > 1, and not within 1/longest of z = 1. On panels
    kappa in [2^-m, 2^-(m-1)] and a last one [0, about 1/longest] each singularity is at least a panel's
    length away, so that n Gauss-Legendre nodes a panel err by about 5^(-2n), whatever the model.

    A user who makes more than 1e150 steps is for all purposes one who never stops: the share of P@H that
    those users have is their long-run average, the limit of kappa E[S up to a kill with probability kappa].
    """
    endless = longest > _ENDLESS
    floor = _ENDLESS_KAPPA if endless else 0.5 / longest
    edges = 0.5 ** np.arange(0, np.ceil(-np.log2(floor)) + 1)
    if not endless:
        edges = np.append(edges, 0.0)
    points, weights = np.polynomial.legendre.leggauss(_PANEL_NODES)
    high, low = edges[:-1, None], edges[1:, None]
    kappa = (low + (high - low) * (points + 1) / 2).ravel()
    z = 1.0 - kappa
    weight = ((high - low) * weights / 2).ravel() / z
    ends = np.ones(len(z), dtype=bool)
    if endless:
        z, kappa = np.append(z, 1.0), np.append(kappa, edges[-1])
        weight, ends = np.append(weight, edges[-1]), np.append(ends, False)
    return _Nodes(z, kappa, weight, ends)


def tail_steps(longest: float, tail: float = 1e-18) -> float:
    """A number of steps that is exceeded with probability below about ``tail``.

    If E[H] is at most m from every rank then E[(1 + c/m)^H] is at most 1 / (1 - c) for c < 1.
    """
    return np.ceil(np.log(10.0 / tail) / np.log1p(0.9 / longest)) if np.isfinite(longest) else np.inf


def _fourier_nodes(effort: Effort, longest: float, inverse: bool) -> _Nodes:
    """Nodes for E[S/f(H)] (``inverse``) or E[f(H)] with any f: roots of unity."""
    count = tail_steps(longest)
    if count > _MOST_NODES:
        raise ParameterError(
            f"effort={effort!r} needs the law of H up to {count:.3g} steps for these probabilities, more than "
            f"{_MOST_NODES}; effort='steps' and effort='one' have no such limit"
        )
    values = effort_values(effort, np.arange(1, int(count) + 1))
    size = 2 * int(count // 2 + 1)
    spectrum = np.fft.rfft(np.concatenate(([0.0], 1.0 / values if inverse else values)), n=size) / size
    spectrum[1:-1] *= 2.0  # The other half of the circle is the conjugate of this one.
    angle = 2 * np.pi * np.arange(len(spectrum)) / size
    kappa = 2 * np.sin(angle / 2) ** 2 - 1j * np.sin(angle)
    return _Nodes(np.exp(1j * angle), kappa, spectrum, np.ones(len(spectrum), dtype=bool))


def _utility(loss: Loss, gains: Floats, complement: NDArray) -> NDArray:
    """sum_k g(k, y) f^(k-1) for documents (rows) and nodes (columns), where ``complement`` is 1 - f."""
    if not callable(loss):
        return gains[:, None] / (loss + (1.0 - loss) * complement)
    levels, level = np.unique(gains, return_inverse=True)
    limit = utility_of_visit(loss, 2**53, levels)
    back = 1.0 - complement
    largest = float(np.abs(back).max(initial=0.0))
    total = limit[level][:, None] / complement
    power = np.ones_like(back)
    before = None
    for visit in range(1, _MOST_TERMS + 1):
        value = utility_of_visit(loss, visit, levels)
        if (value < limit).any() or (before is not None and (value > before).any()):
            raise ParameterError(f"loss g(k, y) must not increase with the visit; it does at k={visit}")
        if before is None:
            scale = max(float(value.max(initial=0.0)), 1e-300)
        # What is left of the series is at most this, as g does not increase.
        rest = float((value - limit).max(initial=0.0)) * largest ** (visit - 1)
        if rest <= 1e-16 * scale * max(1.0 - largest, 1e-300):
            return total
        total = total + (value - limit)[level][:, None] * power
        power = power * back
        before = value
    error = rest / max(1.0 - largest, 1e-300)
    if error > 1e-12 * scale:
        raise ParameterError(
            f"loss g(k, y) does not settle within {_MOST_TERMS} visits: the rest may be {error:.3g}; "
            "documents are visited too often for a series, use a constant loss"
        )
    return total


# ---------------------------------------------------------------------------------------------------------
# Generating functions of a nearest-neighbor walk. "Leak" is the complement of a first-passage function.


def _ahead(p: ArrayLike, q: ArrayLike, s: ArrayLike, leak: NDArray, stops: NDArray, nodes: _Nodes) -> tuple:
    """One step of the recursion from one side: first passage over this rank, its complement, stop before it.

    ``p`` leads to the side that is asked for, ``q`` back to the ranks that ``leak`` and ``stops`` describe.
    """
    lost = nodes.kappa + nodes.z * (s + q * leak)
    below = lost + nodes.z * p
    return nodes.z * p / below, lost / below, nodes.z * (s + q * stops) / below


def _infinite(p: ArrayLike, q: ArrayLike, s: ArrayLike, z: ArrayLike, kappa: ArrayLike) -> tuple:
    """For the first of infinitely many equal ranks: leak and stop before stepping back out of them, and the
    expected steps there. The first passage d solves d = z q / (1 - z p d)."""
    base = kappa + z * s
    drift = base + z * q - z * p
    root = np.sqrt(drift**2 + 4 * z * p * base)
    inward = np.real(drift) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        leak = np.where(inward, 2 * base / (drift + root), (root - drift) / (2 * z * p))
        below = np.where(inward, (drift + root) / 2, 2 * z * p * base / (root - drift))
        stops = np.where(np.asarray(s) > 0, z * s / below, 0.0)
        return leak, stops, 1.0 / below


def _weigh(nodes: _Nodes, first: NDArray, complement: NDArray, left: NDArray, utility: NDArray) -> Floats:
    """Sum over the nodes of weight x first visit x utility x what is left to the stop."""
    left = np.where(nodes.ends, left / complement, 1.0)
    return np.real((first * utility * left) @ nodes.weight)


@dataclass(frozen=True)
class _ConstantWalk:
    """A random walk with constant p and q, for lists of all lengths at once.

    What is above a rank depends on the rank alone, what is below on the distance to the end alone: two
    tables serve every list.
    """

    p: float
    q: float
    first: str
    last: str

    @property
    def inner(self) -> tuple[float, float, float]:
        return self.p, self.q, float(_remainder(self.p, self.q))

    @property
    def head(self) -> tuple[float, float, float]:
        p, q, s = self.inner
        return (min(1.0, p + q), 0.0, s) if self.first == "forward" else (p, 0.0, 1.0 - p)

    @property
    def end(self) -> tuple[float, float, float]:
        p, q, s = self.inner
        return {"stop": (0.0, q, 1.0 - q), "backward": (0.0, min(1.0, p + q), s), "continue": (p, q, s)}[self.last]

    def longest(self, depth: int) -> float:
        """A bound on the expected steps from any rank: no list up to this depth has more."""
        s = self.inner[2]
        if s > 1e-3:
            return 1.0 / s
        gains = np.zeros(depth)
        transitions = BrowsingModel(self.p, self.q, self.first, self.last).transitions(gains)
        return float(_expected_steps(_Batch.of([transitions]), 0.0)[1][0])

    def above(self, depth: int, nodes: _Nodes) -> tuple[NDArray, NDArray, NDArray]:
        """By rank (row 0 is rank 1): first visit, leak and stop of the rank before."""
        passage, leak, stops = self._table(depth, self.head, self.inner, nodes, turned=False)
        first = np.ones((depth, len(nodes.z)), dtype=passage.dtype)
        np.cumprod(passage[: depth - 1], axis=0, out=first[1:])
        return first, leak, stops

    def below(self, depth: int, nodes: _Nodes) -> tuple[NDArray, NDArray]:
        """By distance of the next rank to the end: leak and stop there."""
        if self.last == "continue":
            leak, stops, _ = _infinite(*self.inner, nodes.z, nodes.kappa)
            return np.tile(leak, (depth, 1)), np.tile(stops, (depth, 1))
        return self._table(depth, self.end, self.inner, nodes, turned=True)[1:]

    @staticmethod
    def _table(depth: int, start: tuple, inner: tuple, nodes: _Nodes, turned: bool) -> tuple:
        tables = tuple(np.empty((depth, len(nodes.z)), dtype=nodes.z.dtype) for _ in range(3))
        passages, leaks, stops = tables
        leak = stopped = older = np.zeros_like(nodes.z)
        for index in range(depth):
            p, q, s = start if index == 0 else inner
            if turned:
                p, q = q, p
            new, before = _ahead(p, q, s, leak, stopped, nodes), leak
            passages[index], leaks[index], stops[index] = new
            leak, stopped = new[1:]
            # Once the leak repeats (or flips in its last bit) it has settled for good, and the probability to
            # stop goes on by a fixed rule: new = stop here + back x old.
            if index > 1 and (np.array_equal(leak, before) or np.array_equal(leak, older)):
                rest = slice(index + 1, depth)
                passages[rest], leaks[rest] = new[:2]
                below = nodes.kappa + nodes.z * (s + q * leak + p)
                powers = np.empty((depth - index, len(nodes.z)), dtype=nodes.z.dtype)
                powers[0], powers[1:] = 1.0, nodes.z * q / below
                np.cumprod(powers, axis=0, out=powers)
                stops[rest] = powers[1:] * stopped
                stops[rest] += np.cumsum(powers[:-1], axis=0) * (nodes.z * s / below)
                break
            older = before
        return tables

    def documents(self, rank: NDArray, length: NDArray, gain: Floats, loss: Loss, nodes: _Nodes) -> Floats:
        """What each document adds to E[S phi(H)] of its list."""
        total = np.zeros(len(rank))
        if not len(rank):
            return total
        # Tables of all nodes at once would be large for the roots of unity.
        depth = int(rank.max())
        distance = int((length - rank).max())
        width = max(1, _CELLS // max(depth, distance, 1))
        for begin in range(0, len(nodes.z), width):
            some = nodes.part(slice(begin, begin + width))
            first, leak_above, stop_above = self.above(depth, some)
            leak_below, stop_below = self.below(max(distance, 1), some)
            rows = max(1, _CELLS // (8 * len(some.z)))
            for low in range(0, len(rank), rows):
                chosen = slice(low, low + rows)
                i, t = rank[chosen] - 1, length[chosen] - rank[chosen]
                probabilities = np.where(i[:, None] == 0, self.head, self.inner)
                if self.last != "continue":
                    probabilities[t == 0] = self.end
                    probabilities[length[chosen] == 1] = (0.0, 0.0, 1.0)
                p, q, s = (one[:, None] for one in probabilities.T)
                before, after = np.maximum(i - 1, 0), np.maximum(t - 1, 0)
                complement = some.kappa + some.z * (s + q * leak_above[before] + p * leak_below[after])
                left = some.z * (s + q * stop_above[before] + p * stop_below[after])
                utility = _utility(loss, gain[chosen], complement)
                total[chosen] += _weigh(some, first[i], complement, left, utility)
        return total

    def steps(self, length: NDArray[np.int64], longest: float) -> Floats:
        """E[H] for lists of these lengths (E[H up to a kill] where the user hardly ever stops)."""
        depth = int(length.max())
        node = _total_node(longest)
        first, leak, _ = self.above(depth, node)
        first, leak = first[:, 0], leak[:, 0]
        z, kappa = float(node.z[0]), float(node.kappa[0])
        # Expected steps at or above a rank until the next rank is reached; and the same for a last rank.
        inside, at_end = np.zeros(depth), np.zeros(depth)
        for i in range(depth):
            before, gap = (inside[i - 1], leak[i - 1]) if i else (0.0, 0.0)
            for target, (p, q, s) in ((inside, self.head if i == 0 else self.inner), (at_end, self.end)):
                if i == 0 and target is at_end:
                    p, q, s = (0.0, 0.0, 1.0) if self.last != "continue" else self.head
                target[i] = (1.0 + z * q * before) / (kappa + z * (s + p + q * gap))
        total = np.concatenate(([0.0], np.cumsum(first * inside)))
        index = length - 1
        if self.last == "continue":
            leak_out, _, outside = (float(one) for one in _infinite(*self.inner, z, kappa))
            passage = 1.0 - leak
            end = (inside + passage * outside) / (leak + passage * leak_out)
            return total[index] + first[index] * end[index]
        return total[index] + first[index] * at_end[index]

    def expectation(self, length: NDArray[np.int64], nodes: _Nodes) -> Floats:
        """E[phi(H)] for lists of these lengths."""
        total = np.zeros(len(length))
        depth = max(1, int(length.max()) - 1)
        width = max(1, _CELLS // depth)
        for begin in range(0, len(nodes.z), width):
            some = nodes.part(slice(begin, begin + width))
            leak, stops = self.below(depth, some)
            row = np.maximum(length - 2, 0)
            p, _, s = (
                np.where((length == 1) & (self.last != "continue"), alone, usual)[:, None]
                for alone, usual in zip((0.0, 0.0, 1.0), self.head, strict=True)
            )
            left = some.z * (s + p * stops[row])
            complement = some.kappa + some.z * (s + p * leak[row])
            total += np.real((left / complement) @ some.weight)
        return total


class _Batch(NamedTuple):
    """Transitions of several lists, padded to the longest."""

    length: NDArray[np.int64]
    forward: Floats
    backward: Floats
    stop: Floats
    beyond: Floats
    """Three columns; a list that does not go on has 0, 0, 1."""

    @classmethod
    def of(cls, lists: Sequence[Transitions]) -> _Batch:
        length = np.array([len(one.forward) for one in lists])
        shape = len(lists), int(length.max())
        forward, backward, stop = np.zeros(shape), np.zeros(shape), np.ones(shape)
        beyond = np.tile([0.0, 0.0, 1.0], (len(lists), 1))
        for row, one in enumerate(lists):
            count = length[row]
            forward[row, :count], backward[row, :count], stop[row, :count] = one[:3]
            if one.beyond is not None:
                beyond[row] = one.beyond
        return cls(length, forward, backward, stop, beyond)


def _expected_steps(batch: _Batch, kappa: float) -> tuple[Floats, Floats]:
    """E[H] from rank 1, and the largest E[H] from any rank, of each list; infinite where she may never stop."""
    z = 1.0 - kappa
    count, depth = batch.forward.shape
    passage, inside = np.zeros((depth, count)), np.zeros((depth, count))
    leak, before = np.zeros(count), np.zeros(count)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gaps = np.zeros((depth, count))
        for i in range(depth):
            p, q, s = batch.forward[:, i], batch.backward[:, i], batch.stop[:, i]
            lost = kappa + z * (s + q * leak)
            below = lost + z * p
            before = (1.0 + np.where(q > 0, z * q * before, 0.0)) / below
            leak = np.where(below > 0, lost / below, 0.0)
            inside[i], passage[i], gaps[i] = before, np.where(p > 0, z * p / below, 0.0), leak
        leak_out, _, outside = _infinite(*batch.beyond.T, z, kappa)
        total, most = np.zeros(count), np.zeros(count)
        for i in range(depth - 1, -1, -1):
            on = passage[i] > 0
            total = inside[i] + np.where(on, passage[i] * total, 0.0)
            last = (batch.length - 1 == i) & on
            if last.any():
                closed = (inside[i] + passage[i] * outside) / (gaps[i] + passage[i] * leak_out)
                closed = np.where(np.isnan(closed), np.inf, closed)
                total = np.where(last, closed, total)
                most = np.where(last, np.maximum(most, np.maximum(1.0 / batch.beyond[:, 2], closed)), most)
            total = np.where(np.isnan(total), np.inf, total)
            most = np.maximum(most, total)
    return total, most


def _batch_scores(batch: _Batch, gains: Floats, loss: Loss, nodes: _Nodes) -> tuple[Floats, Floats]:
    """E[S phi(H)] and E[phi(H)] of each list, for the weights phi of the nodes."""
    count, depth = batch.forward.shape
    scores, expectation = np.zeros(count), np.zeros(count)
    width = max(1, _CELLS // depth)
    for begin in range(0, len(nodes.z), width):
        some = nodes.part(slice(begin, begin + width))
        rows = max(1, _CELLS // (depth * len(some.z)))
        for low in range(0, count, rows):
            chosen = slice(low, low + rows)
            one, two = _chunk_scores(_Batch(*(part[chosen] for part in batch)), gains[chosen], loss, some)
            scores[chosen] += one
            expectation[chosen] += two
    return scores, expectation


def _chunk_scores(batch: _Batch, gains: Floats, loss: Loss, nodes: _Nodes) -> tuple[Floats, Floats]:
    count, depth = batch.forward.shape
    shape = depth, count, len(nodes.z)
    kind = np.result_type(nodes.z)
    leak_after, stop_after = np.zeros(shape, dtype=kind), np.zeros(shape, dtype=kind)
    beyond = [column[:, None] for column in batch.beyond.T]
    leak_out, stop_out, _ = _infinite(*beyond, nodes.z, nodes.kappa)
    leak, stops = np.zeros(shape[1:], dtype=kind), np.zeros(shape[1:], dtype=kind)
    for i in range(depth - 1, -1, -1):
        last = (batch.length - 1 == i)[:, None]
        leak_after[i], stop_after[i] = np.where(last, leak_out, leak), np.where(last, stop_out, stops)
        p, q, s = (part[:, i, None] for part in (batch.forward, batch.backward, batch.stop))
        _, leak, stops = _ahead(q, p, s, leak_after[i], stop_after[i], nodes)
    scores = np.zeros(count)
    first = np.ones(shape[1:], dtype=kind)
    leak, stops = np.zeros(shape[1:], dtype=kind), np.zeros(shape[1:], dtype=kind)
    for i in range(depth):
        p, q, s = (part[:, i, None] for part in (batch.forward, batch.backward, batch.stop))
        which = np.flatnonzero(gains[:, i] > 0)
        if len(which) or i == 0:
            complement = nodes.kappa + nodes.z * (s + q * leak + p * leak_after[i])
            left = nodes.z * (s + q * stops + p * stop_after[i])
        if i == 0:
            ones = np.ones((count, 1))
            expectation = _weigh(nodes, ones, complement, left, ones)
        if len(which):
            utility = _utility(loss, gains[which, i], complement[which])
            scores[which] += _weigh(nodes, first[which], complement[which], left[which], utility)
        passage, leak, stops = _ahead(p, q, s, leak, stops, nodes)
        first = first * passage
    return scores, expectation


# ---------------------------------------------------------------------------------------------------------
# Forward models: the law of H in closed form


def forward_law(transitions: Transitions, tail: float = 1e-18) -> tuple[Floats, float]:
    """P[H = h] for h = 1, 2, ... of a model without steps backward, and the probability of never stopping.

    Beyond the list's end (``last="continue"``) the law is cut where less than ``tail`` is left.
    """
    p, _, s, beyond = transitions
    law = np.concatenate(([1.0], np.cumprod(p[:-1]))) * s
    reached = float(np.prod(p))
    if beyond is None or reached == 0.0:
        return law, 0.0
    on, _, out = beyond
    if on == 1.0:
        return law, reached
    more = 1 if on == 0.0 else max(1.0, np.ceil(np.log(tail) / np.log(on)))
    if more > _MOST_NODES:
        raise ParameterError(f"forward={on!r} beyond the list's end needs {more:.3g} ranks, more than {_MOST_NODES}")
    return np.concatenate((law, reached * out * on ** np.arange(int(more)))), 0.0


def _goes_far(forward: float) -> bool:
    """Whether users beyond a list's end make too many steps for a law of H in full: quadrature is better then."""
    return 0.0 < 1.0 - forward < 1e-5


def is_forward(transitions: Transitions) -> bool:
    """Whether no step leads backward."""
    return not transitions.backward.any() and (transitions.beyond is None or transitions.beyond[1] == 0.0)


def gained(gains: Floats, loss: Loss, count: int) -> Floats:
    """What a user who reads the list once, from the top, has gained after 1, 2, ..., ``count`` documents."""
    if loss == "once":
        return np.ones(count)
    sums = np.cumsum(utility_of_visit(loss, 1, gains) * (gains > 0))
    return np.concatenate((sums[:count], np.full(max(0, count - len(sums)), sums[-1])))


def _forward_score(transitions: Transitions, gains: Floats, loss: Loss, effort: Effort, order: int) -> float:
    law, steps = with_endless(*forward_law(transitions))
    sums, efforts = gained(gains, loss, len(law)), effort_values(effort, steps)
    return float(law @ (sums / efforts)) if order == 1 else float((law @ sums) / (law @ efforts))


def with_endless(law: Floats, never: float) -> tuple[Floats, Floats]:
    """The law of H and its values, where a user who never stops has H infinite."""
    steps = np.arange(1.0, len(law) + 1)
    return (np.append(law, never), np.append(steps, np.inf)) if never else (law, steps)


def _constant_forward(p: float, last: str, rank: NDArray, length: NDArray, effort: Effort, order: int) -> Floats:
    """Weight of the gain at each rank in E[P@H] of a forward model with constant p, for lists of each length."""
    depth = int(length.max(initial=1))
    ranks = np.arange(1, depth + 1)
    survival = p ** (ranks - 1.0)
    if last == "continue":
        if order == 2 and effort == "steps":
            return survival[rank - 1] * (1 - p)
        ranked = np.full(depth, p), np.zeros(depth), np.full(depth, 1 - p)
        law, steps = with_endless(*forward_law(Transitions(*ranked, (p, 0.0, 1 - p))))
        efforts = effort_values(effort, steps)
        if order == 1:
            return np.cumsum((law / efforts)[::-1])[::-1][rank - 1]
        return survival[rank - 1] / (law @ efforts)
    steps = effort_values(effort, ranks.astype(np.float64))
    if order == 1:
        inside = np.append(np.cumsum((survival * (1 - p) / steps)[::-1])[::-1], 0.0)
        return inside[rank - 1] - inside[length - 1] + survival[length - 1] / steps[length - 1]
    inside = np.concatenate(([0.0], np.cumsum(survival * (1 - p) * steps)))
    return survival[rank - 1] / (inside[length - 1] + survival[length - 1] * steps[length - 1])


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
    scores = np.zeros(len(rows))
    if model.is_constant and loss != "once":
        length = np.array([len(one) for one in rows], dtype=np.int64)
        found = [np.flatnonzero(one) for one in rows]
        index = np.repeat(np.arange(len(rows)), [len(one) for one in found])
        if len(index):
            rank = np.concatenate(found) + 1
            gain = np.concatenate(rows)[np.flatnonzero(np.concatenate(rows))]
            parts = constant_scores(model, rank, length[index], gain, loss, effort, order)
            scores = np.bincount(index, weights=parts, minlength=len(rows))
        return scores
    walks: list[tuple[int, Transitions]] = []
    for number, gains in enumerate(rows):
        if len(gains):
            transitions = model.transitions(gains)
            endless = transitions.beyond is not None and _goes_far(transitions.beyond[0])
            if is_forward(transitions) and not endless:
                scores[number] = _forward_score(transitions, gains, loss, effort, order)
            else:
                walks.append((number, transitions))
    if walks:
        which = np.array([number for number, _ in walks])
        batch = _Batch.of([one for _, one in walks])
        table = np.zeros(batch.forward.shape)
        for row, number in enumerate(which):
            table[row, : batch.length[row]] = rows[number]
        scores[which] = _walk_scores(batch, table, loss, effort, order)
    return scores


def expected_steps(model: BrowsingModel, gains: ArrayLike) -> float:
    """E[H]: how many documents a user visits on average, repeated visits included; infinite if she may not stop.

    >>> expected_steps(SFBM(0.5), [0] * 3)
    1.75
    """
    return float(_expected_steps(_Batch.of([model.transitions(gains)]), 0.0)[0][0])


def longest_steps(transitions: Transitions) -> float:
    """The largest expected number of steps from any rank that a user can reach."""
    return float(_expected_steps(_Batch.of([transitions]), 0.0)[1][0])


def _walk_scores(batch: _Batch, gains: Floats, loss: Loss, effort: Effort, order: int) -> Floats:
    longest = float(_expected_steps(batch, 0.0)[1].max())
    once = loss == "once"
    number_loss = 0.0 if once else loss
    utilities = np.zeros_like(gains) if once else gains
    if order == 1 and effort != "one":
        nodes = _steps_nodes(longest) if effort == "steps" else _fourier_nodes(effort, longest, inverse=True)
        scores, expectation = _batch_scores(batch, utilities, number_loss, nodes)
        return expectation if once else scores
    _refuse_endless(longest, loss, effort)
    node = _total_node(longest)
    total = np.ones(len(gains)) if once else _batch_scores(batch, utilities, number_loss, node)[0]
    if effort == "one":
        return total
    if effort == "steps":
        return total / _expected_steps(batch, float(node.kappa[0]))[0]
    return total / _batch_scores(batch, np.zeros_like(gains), 0.0, _fourier_nodes(effort, longest, inverse=False))[1]


def _refuse_endless(longest: float, loss: Loss, effort: Effort) -> None:
    if longest > _ENDLESS and effort == "one" and loss == 0.0:
        raise ParameterError("effort='one' with loss=0 gives no finite score: the user never stops gaining")


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
    endless = model.last == "continue" and _goes_far(model.forward)
    if model.backward == 0.0 and model.last != "backward" and not endless:
        weight = _constant_forward(model.forward, model.last, rank, length, effort, order)
        return weight * utility_of_visit(loss, 1, gain)
    walk = _ConstantWalk(model.forward, model.backward, model.first, model.last)
    longest = walk.longest(int(length.max()))
    key = rank * (int(length.max()) + 1) + length
    scale = np.ones(len(gain)) if callable(loss) else gain
    if callable(loss):
        levels, level = np.unique(gain, return_inverse=True)
        key = key * len(levels) + level
    _, sample, inverse = np.unique(key, return_index=True, return_inverse=True)
    level_gain = gain[sample] if callable(loss) else np.ones(len(sample))
    some = rank[sample], length[sample], level_gain, loss
    if order == 1 and effort != "one":
        nodes = _steps_nodes(longest) if effort == "steps" else _fourier_nodes(effort, longest, inverse=True)
        return scale * walk.documents(*some, nodes)[inverse]
    _refuse_endless(longest, loss, effort)
    total = scale * walk.documents(*some, _total_node(longest))[inverse]
    if effort == "one":
        return total
    lengths, which = np.unique(length, return_inverse=True)
    if effort == "steps":
        return total / walk.steps(lengths, longest)[which]
    return total / walk.expectation(lengths, _fourier_nodes(effort, longest, inverse=False))[which]


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
