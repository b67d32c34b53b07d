"""A user who walks through a list until she stops: expectations over all her walks, exactly and without simulation.

At rank i she steps to i+1 with probability p_i, back to i-1 with q_i, or stops with s_i = 1 - p_i - q_i. H counts the
documents that she visits and S is what they yield: g(k, y) at the k-th visit to a document of gain y. Wanted are
E[S / f(H)] (order 1) and E[S] / E[f(H)] (order 2) for an effort f.

- Forward models (q_i = 0): the law of H is a product of the p_i, so that both are finite sums.
- Random walks: with h_i(z) the generating function of the first visit to rank i, f_i(z) of the first return to it and
  u_i(z) of what is left from a visit to the stop,

      E[S z^H] = sum_i h_i(z) u_i(z) sum_k g(k, y_i) f_i(z)^(k-1),

  and E[S / f(H)] is a weighted sum of E[S z^H] over nodes z. For f(h) = h this is Gauss-Legendre quadrature of
  1/h = integral over 0..1 of z^(h-1) dz; for any other f the nodes are roots of unity and the weights the Fourier
  transform of 1/f. All three functions follow from recursions over the ranks, from the top and from the bottom.

The recursions carry kappa = 1 - z and the complements of the probabilities along, so that nothing is ever subtracted:
they stay accurate for users who make 10^100 steps.

Users who step with the same p and q at every rank (`ConstantWalk`) have tables that serve lists of all lengths at once;
all others are followed list by list (`walk_scores`). The user models themselves are in
`walkeval.measures.stopping_time`; whole laws and simulated users are in `walkeval.stopping_law`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from walkeval.errors import ParameterError, UnknownNameError

Floats = NDArray[np.float64]
Step = tuple[float, float, float]
"""Probabilities of a step forward, of a step backward and of the stop."""
Loss = float | str | Callable[[int, Floats], ArrayLike]
"""The share of its utility that a document loses at each visit, ``"once"``, or the function g(k, y)."""
Effort = str | Callable[[Floats], ArrayLike]
"""``"steps"``, ``"one"``, ``"log2"``, or the function f(h) of an array of step counts."""

STOP: Step = (0.0, 0.0, 1.0)
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


class Transitions(NamedTuple):
    """Step probabilities of one list: every row adds up to 1, and no step leads out of the list."""

    forward: Floats
    backward: Floats
    stop: Floats
    beyond: Step | None
    """The same three for every rank after the list's end; None if the user cannot get there."""

    @classmethod
    def reachable(cls, forward: Floats, backward: Floats, stop: Floats, beyond: Step | None) -> Transitions:
        """The probabilities, where a user who is at a rank that none can reach stops.

        Otherwise such ranks could look like ranks where users stay for ever.

        >>> Transitions.reachable([0.5, 0.0, 0.5], [0.0, 0.5, 0.5], [0.5, 0.5, 0.0], None).stop.tolist()
        [0.5, 0.5, 1.0]
        """
        forward, backward, stop = np.array(forward), np.array(backward), np.array(stop)
        blocked = np.flatnonzero(forward == 0.0)
        if len(blocked):
            after = slice(blocked[0] + 1, None)
            forward[after], backward[after], stop[after] = STOP
            beyond = None
        return cls(forward, backward, stop, beyond)

    @property
    def is_forward(self) -> bool:
        """Whether no step leads backward."""
        return not self.backward.any() and (self.beyond is None or self.beyond[1] == 0.0)


# ---------------------------------------------------------------------------------------------------------
# What a visit yields, g(k, y), and what the steps cost, f(h)


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


def utility_of_visit(loss: Loss, visit: int, gains: Floats) -> Floats:
    """g(k, y): what the k-th visit to documents of these gains yields.

    >>> utility_of_visit(0.5, 3, np.array([1.0, 4.0])).tolist()
    [0.25, 1.0]
    """
    if not callable(loss):
        return gains * (1.0 - loss) ** (visit - 1)
    values = np.broadcast_to(np.asarray(loss(visit, gains), dtype=np.float64), gains.shape)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(f"loss g(k, y) must be finite and not negative; got {values.tolist()} at k={visit}")
    return values


def effort_values(effort: Effort, steps: Floats) -> Floats:
    """f(h) for step counts in ascending order, checked: positive and not decreasing.

    >>> effort_values("log2", [1, 3]).tolist()
    [1.0, 2.0]
    """
    steps = np.asarray(steps, dtype=np.float64)
    if not callable(effort):
        if effort not in EFFORTS:
            raise UnknownNameError("effort", str(effort), EFFORTS)
        return EFFORTS[effort](steps)
    values = np.asarray(effort(steps), dtype=np.float64)
    if values.shape != steps.shape:
        raise ParameterError(f"effort must give one value per step count; got shape {values.shape} for {steps.shape}")
    if not (values > 0).all():
        raise ParameterError(f"effort must be positive; got {values[~(values > 0)].flat[0]:g}")
    if (values[1:] < values[:-1]).any():
        raise ParameterError("effort must not decrease with the number of steps")
    return values


# ---------------------------------------------------------------------------------------------------------
# Forward models: the law of H in closed form


def goes_far(forward: float) -> bool:
    """Whether users beyond a list's end make too many steps for a law of H in full: quadrature is better then."""
    return 0.0 < 1.0 - forward < 1e-5


def forward_law(transitions: Transitions) -> tuple[Floats, Floats]:
    """P[H = h] of a model without steps backward, and its values h; a user who never stops has H infinite.

    Beyond the list's end (``last="continue"``) the law is cut where less than 1e-18 is left.

    >>> half = np.array([0.5, 0.5])
    >>> forward_law(Transitions(half, 0 * half, half, (1.0, 0.0, 0.0)))
    (array([0.5 , 0.25, 0.25]), array([ 1.,  2., inf]))
    """
    p, _, s, beyond = transitions
    law = np.concatenate(([1.0], np.cumprod(p[:-1]))) * s
    reached = float(np.prod(p))
    if beyond is not None and reached > 0.0:
        on, _, out = beyond
        if on == 1.0:
            return np.append(law, reached), np.append(np.arange(1.0, len(law) + 1), np.inf)
        more = 1 if on == 0.0 else max(1.0, np.ceil(np.log(1e-18) / np.log(on)))
        if more > _MOST_NODES:
            raise ParameterError(
                f"forward={on!r} beyond the list's end needs {more:.3g} ranks, more than {_MOST_NODES}"
            )
        law = np.concatenate((law, reached * out * on ** np.arange(int(more))))
    return law, np.arange(1.0, len(law) + 1)


def gained(gains: Floats, loss: Loss, count: int) -> Floats:
    """What a user who reads the list once, from the top, has gained after 1, 2, ..., ``count`` documents."""
    if loss == "once":
        return np.ones(count)
    sums = np.cumsum(utility_of_visit(loss, 1, gains) * (gains > 0))
    return np.concatenate((sums[:count], np.full(max(0, count - len(sums)), sums[-1])))


def forward_score(transitions: Transitions, gains: Floats, loss: Loss, effort: Effort, order: int) -> float:
    """The score of one list under a model without steps backward."""
    law, steps = forward_law(transitions)
    sums, efforts = gained(gains, loss, len(law)), effort_values(effort, steps)
    return float(law @ (sums / efforts)) if order == 1 else float((law @ sums) / (law @ efforts))


def forward_weights(
    p: float, continues: bool, rank: NDArray[np.int64], length: NDArray[np.int64], effort: Effort, order: int
) -> Floats:
    """Weight of the utility at each rank in the score of a list of each length, if all steps are forward with p."""
    depth = int(length.max())
    ranks = np.arange(1, depth + 1)
    survival = p ** (ranks - 1.0)
    if continues:
        if order == 2 and effort == "steps":
            return survival[rank - 1] * (1 - p)
        law, steps = forward_law(
            Transitions(np.full(depth, p), np.zeros(depth), np.full(depth, 1 - p), (p, 0.0, 1 - p))
        )
        efforts = effort_values(effort, steps)
        if order == 1:
            return np.cumsum((law / efforts)[::-1])[::-1][rank - 1]
        return survival[rank - 1] / (law @ efforts)
    efforts = effort_values(effort, ranks)
    if order == 1:
        inside = np.append(np.cumsum((survival * (1 - p) / efforts)[::-1])[::-1], 0.0)
        return inside[rank - 1] - inside[length - 1] + survival[length - 1] / efforts[length - 1]
    inside = np.concatenate(([0.0], np.cumsum(survival * (1 - p) * efforts)))
    return survival[rank - 1] / (inside[length - 1] + survival[length - 1] * efforts[length - 1])


# ---------------------------------------------------------------------------------------------------------
# Random walks: E[phi(H)] and E[S phi(H)] as weighted sums of generating functions over nodes


class _Nodes(NamedTuple):
    z: NDArray
    kappa: NDArray
    """1 - z, held apart because z is 1 in floating point where kappa is still far from 0."""
    weight: NDArray
    ends: NDArray[np.bool_]
    """Whether only users who stop count there (E[S z^H]); otherwise all do (E[S up to a stop or a kill])."""

    def parts(self, depth: int) -> Iterator[_Nodes]:
        """The nodes, as many at a time as a table of this many ranks allows."""
        width = max(1, _CELLS // depth)
        for begin in range(0, len(self.z), width):
            yield _Nodes(*(one[begin : begin + width] for one in self))

    def weigh(self, first: NDArray, complement: NDArray, left: NDArray, utility: NDArray) -> Floats:
        """Sum over the nodes of weight x first visit x utility x what is left to the stop."""
        left = np.where(self.ends, left / complement, 1.0)
        return np.real((first * utility * left) @ self.weight)


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


def _scores(
    longest: float,
    loss: Loss,
    effort: Effort,
    order: int,
    utility: Callable[[_Nodes], Floats],
    steps: Callable[[_Nodes], Floats],
    expectation: Callable[[_Nodes], Floats],
) -> Floats:
    """Order 1 or 2 of walks that give E[S phi(H)], E[H] and E[phi(H)] for nodes.

    ``longest`` bounds the expected number of steps from any rank.
    """
    if order == 1 and effort != "one":
        return utility(_steps_nodes(longest) if effort == "steps" else _fourier_nodes(effort, longest, inverse=True))
    if longest > _ENDLESS and effort == "one" and loss == 0.0:
        raise ParameterError("effort='one' with loss=0 gives no finite score: the user never stops gaining")
    node = _total_node(longest)
    total = utility(node)
    if effort == "one":
        return total
    if effort == "steps":
        return total / steps(node)
    return total / expectation(_fourier_nodes(effort, longest, inverse=False))


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


def _utility(loss: Loss, gains: Floats, complement: NDArray) -> NDArray:
    """sum_k g(k, y) f^(k-1) for documents (rows) and nodes (columns), where ``complement`` is 1 - f."""
    if not callable(loss):
        return gains[:, None] / (loss + (1.0 - loss) * complement)
    levels, level = np.unique(gains, return_inverse=True)
    limit = utility_of_visit(loss, 2**53, levels)
    before = utility_of_visit(loss, 1, levels)
    scale = max(float(before.max(initial=0.0)), 1e-300)
    back = 1.0 - complement
    largest = float(np.abs(back).max(initial=0.0))
    total = limit[level][:, None] / complement
    power = np.ones_like(back)
    for visit in range(1, _MOST_TERMS + 1):
        value = utility_of_visit(loss, visit, levels)
        if (value < limit).any() or (value > before).any():
            raise ParameterError(f"loss g(k, y) must not increase with the visit; it does at k={visit}")
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
# Walks with the same probabilities at every rank: the score is a sum over the documents


@dataclass(frozen=True)
class ConstantWalk:
    """A random walk with constant p and q, for lists of all lengths at once.

    What is above a rank depends on the rank alone, what is below on the distance to the end alone: two
    tables serve every list.
    """

    first: Step
    """At rank 1."""
    inner: Step
    """At the ranks between the first and the last one."""
    last: Step | None
    """At the last rank (a list of one document has only the stop); None if the list goes on for ever, by ``inner``."""

    def scores(
        self,
        rank: NDArray[np.int64],
        length: NDArray[np.int64],
        gain: Floats,
        loss: Loss,
        effort: Effort,
        order: int,
    ) -> Floats:
        """What a document of this rank and gain adds to the score of a list of this length."""
        depth = int(length.max())
        # Documents that differ at most in a gain that only scales what they yield are worked out once.
        key, unit, scale = rank * (depth + 1) + length, np.ones(len(gain)), gain
        if callable(loss):
            levels, level = np.unique(gain, return_inverse=True)
            key, unit, scale = key * len(levels) + level, gain, 1.0
        _, sample, document = np.unique(key, return_index=True, return_inverse=True)
        different = rank[sample], length[sample], unit[sample], loss
        lengths, which = np.unique(length, return_inverse=True)
        return _scores(
            self._longest(depth),
            loss,
            effort,
            order,
            utility=lambda nodes: scale * self._documents(*different, nodes)[document],
            steps=lambda node: self._steps(lengths, node)[which],
            expectation=lambda nodes: self._expectation(lengths, nodes)[which],
        )

    def _at(self, rank: ArrayLike, length: ArrayLike) -> Floats:
        """Step probabilities (columns) at these ranks of lists of these lengths."""
        rank, length = np.broadcast_arrays(rank, length)
        steps = np.where(rank[:, None] == 1, self.first, self.inner)
        if self.last is not None:
            steps[rank == length] = self.last
            steps[length == 1] = STOP
        return steps

    def _longest(self, depth: int) -> float:
        """A bound on the expected steps from any rank: no list up to this depth has more."""
        stop = self.inner[2]
        if stop > 1e-3:
            return 1.0 / stop
        steps = self._at(np.arange(1, depth + 1), depth)
        return longest_steps(Transitions.reachable(*steps.T, self.inner if self.last is None else None))

    def _above(self, depth: int, nodes: _Nodes) -> tuple[NDArray, NDArray, NDArray]:
        """By rank (row 0 is rank 1): first visit, leak and stop of the rank before."""
        passage, leak, stops = _settling_table(depth, self.first, self.inner, nodes)
        first = np.ones((depth, len(nodes.z)), dtype=passage.dtype)
        np.cumprod(passage[: depth - 1], axis=0, out=first[1:])
        return first, leak, stops

    def _below(self, depth: int, nodes: _Nodes) -> tuple[NDArray, NDArray]:
        """By distance of the next rank to the end: leak and stop there."""
        if self.last is None:
            leak, stops, _ = _infinite(*self.inner, nodes.z, nodes.kappa)
            return np.tile(leak, (depth, 1)), np.tile(stops, (depth, 1))
        # Seen from the end of the list, forward is backward.
        last, inner = ((q, p, s) for p, q, s in (self.last, self.inner))
        return _settling_table(depth, last, inner, nodes)[1:]

    def _documents(self, rank: NDArray, length: NDArray, gain: Floats, loss: Loss, nodes: _Nodes) -> Floats:
        """What each document adds to E[S phi(H)] of its list."""
        total = np.zeros(len(rank))
        depth = int(rank.max())
        distance = max(1, int((length - rank).max()))
        for some in nodes.parts(max(depth, distance)):
            first, leak_above, stop_above = self._above(depth, some)
            leak_below, stop_below = self._below(distance, some)
            rows = max(1, _CELLS // (8 * len(some.z)))
            for low in range(0, len(rank), rows):
                chosen = slice(low, low + rows)
                i, t = rank[chosen] - 1, length[chosen] - rank[chosen]
                p, q, s = (column[:, None] for column in self._at(rank[chosen], length[chosen]).T)
                before, after = np.maximum(i - 1, 0), np.maximum(t - 1, 0)
                complement = some.kappa + some.z * (s + q * leak_above[before] + p * leak_below[after])
                left = some.z * (s + q * stop_above[before] + p * stop_below[after])
                utility = _utility(loss, gain[chosen], complement)
                total[chosen] += some.weigh(first[i], complement, left, utility)
        return total

    def _steps(self, length: NDArray[np.int64], node: _Nodes) -> Floats:
        """E[H] for lists of these lengths (E[H up to a kill] where the user hardly ever stops)."""
        depth = int(length.max())
        first, leak, _ = (table[:, 0] for table in self._above(depth, node))
        z, kappa = float(node.z[0]), float(node.kappa[0])
        ranks = np.arange(1, depth + 1)
        gap = np.append(0.0, leak[:-1])
        # Expected steps at or above a rank until the next rank is reached; and the same for a last rank.
        p, q, s = self._at(ranks, depth + 1).T
        below = kappa + z * (s + p + q * gap)
        inside = np.zeros(depth)
        for i in range(depth):
            inside[i] = (1.0 + z * q[i] * (inside[i - 1] if i else 0.0)) / below[i]
        if self.last is None:
            leak_out, _, outside = (float(one) for one in _infinite(*self.inner, z, kappa))
            passage = 1.0 - leak
            at_end = (inside + passage * outside) / (leak + passage * leak_out)
        else:
            p, q, s = self._at(ranks, ranks).T
            at_end = (1.0 + z * q * np.append(0.0, inside[:-1])) / (kappa + z * (s + p + q * gap))
        total = np.append(0.0, np.cumsum(first * inside))
        return total[length - 1] + first[length - 1] * at_end[length - 1]

    def _expectation(self, length: NDArray[np.int64], nodes: _Nodes) -> Floats:
        """E[phi(H)] for lists of these lengths."""
        total = np.zeros(len(length))
        depth = max(1, int(length.max()) - 1)
        row = np.maximum(length - 2, 0)
        p, _, s = (column[:, None] for column in self._at(1, length).T)
        for some in nodes.parts(depth):
            leak, stops = self._below(depth, some)
            left = some.z * (s + p * stops[row])
            complement = some.kappa + some.z * (s + p * leak[row])
            total += np.real((left / complement) @ some.weight)
        return total


def _settling_table(depth: int, start: Step, inner: Step, nodes: _Nodes) -> tuple[NDArray, NDArray, NDArray]:
    """Rows of `_ahead` for a rank of probabilities ``start`` and then ranks of probabilities ``inner``."""
    tables = tuple(np.empty((depth, len(nodes.z)), dtype=nodes.z.dtype) for _ in range(3))
    passages, leaks, stops = tables
    leak = stopped = older = np.zeros_like(nodes.z)
    for index in range(depth):
        p, q, s = inner if index else start
        before = leak
        passage, leak, stopped = _ahead(p, q, s, leak, stopped, nodes)
        passages[index], leaks[index], stops[index] = passage, leak, stopped
        # Once the leak repeats (or flips in its last bit) it has settled for good, and the probability to
        # stop goes on by a fixed rule: new = stop here + back x old.
        if index > 1 and (np.array_equal(leak, before) or np.array_equal(leak, older)):
            rest = slice(index + 1, depth)
            passages[rest], leaks[rest] = passage, leak
            below = nodes.kappa + nodes.z * (s + q * leak + p)
            powers = np.empty((depth - index, len(nodes.z)), dtype=nodes.z.dtype)
            powers[0], powers[1:] = 1.0, nodes.z * q / below
            np.cumprod(powers, axis=0, out=powers)
            stops[rest] = powers[1:] * stopped
            stops[rest] += np.cumsum(powers[:-1], axis=0) * (nodes.z * s / below)
            break
        older = before
    return tables


# ---------------------------------------------------------------------------------------------------------
# Walks with probabilities of their own at every rank, several lists at a time


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
        beyond = np.tile(STOP, (len(lists), 1))
        for row, one in enumerate(lists):
            count = length[row]
            forward[row, :count], backward[row, :count], stop[row, :count] = one[:3]
            if one.beyond is not None:
                beyond[row] = one.beyond
        return cls(length, forward, backward, stop, beyond)

    def at(self, i: int) -> tuple[Floats, Floats, Floats]:
        """Step probabilities of each list at rank i + 1."""
        return self.forward[:, i], self.backward[:, i], self.stop[:, i]


def walk_scores(
    walks: Sequence[Transitions], lists: Sequence[Floats], loss: Loss, effort: Effort, order: int
) -> Floats:
    """The scores of lists of these gains under random walks with these probabilities."""
    batch = _Batch.of(walks)
    nothing = np.zeros(batch.forward.shape)
    gains = nothing.copy()
    for row, one in enumerate(lists):
        gains[row, : len(one)] = one

    def expectation(nodes: _Nodes) -> Floats:
        return _batch_sums(batch, nothing, 0.0, nodes)[1]

    def utility(nodes: _Nodes) -> Floats:
        # A user who gains 1 at her first document has S = 1.
        return expectation(nodes) if loss == "once" else _batch_sums(batch, gains, loss, nodes)[0]

    def steps(node: _Nodes) -> Floats:
        return _expected_steps(batch, float(node.kappa[0]))[0]

    longest = float(_expected_steps(batch, 0.0)[1].max())
    return _scores(longest, loss, effort, order, utility, steps, expectation)


def mean_steps(transitions: Transitions) -> float:
    """E[H]: the expected number of steps from rank 1; infinite if the user may not stop."""
    return float(_expected_steps(_Batch.of([transitions]), 0.0)[0][0])


def longest_steps(transitions: Transitions) -> float:
    """The largest expected number of steps from any rank that a user can reach."""
    return float(_expected_steps(_Batch.of([transitions]), 0.0)[1][0])


def _expected_steps(batch: _Batch, kappa: float) -> tuple[Floats, Floats]:
    """E[H] from rank 1, and the largest E[H] from any rank, of each list; infinite where she may never stop."""
    z = 1.0 - kappa
    count, depth = batch.forward.shape
    passage, inside, gaps = (np.zeros((depth, count)) for _ in range(3))
    leak, before = np.zeros(count), np.zeros(count)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for i in range(depth):
            p, q, s = batch.at(i)
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


def _batch_sums(batch: _Batch, gains: Floats, loss: Loss, nodes: _Nodes) -> tuple[Floats, Floats]:
    """E[S phi(H)] and E[phi(H)] of each list, for the weights phi of the nodes."""
    count, depth = batch.forward.shape
    utility, expectation = np.zeros(count), np.zeros(count)
    for some in nodes.parts(depth):
        rows = max(1, _CELLS // (depth * len(some.z)))
        for low in range(0, count, rows):
            chosen = slice(low, low + rows)
            one, two = _chunk_sums(_Batch(*(part[chosen] for part in batch)), gains[chosen], loss, some)
            utility[chosen] += one
            expectation[chosen] += two
    return utility, expectation


def _chunk_sums(batch: _Batch, gains: Floats, loss: Loss, nodes: _Nodes) -> tuple[Floats, Floats]:
    """The same for so few lists and nodes that a table of all ranks fits into memory."""
    count, depth = batch.forward.shape
    shape = count, len(nodes.z)
    nothing = np.zeros(shape, dtype=nodes.z.dtype)
    leak_out, stop_out, _ = _infinite(*(column[:, None] for column in batch.beyond.T), nodes.z, nodes.kappa)
    leak_after, stop_after = (np.zeros((depth, *shape), dtype=nodes.z.dtype) for _ in range(2))
    leak, stops = nothing, nothing
    for i in range(depth - 1, -1, -1):
        last = (batch.length - 1 == i)[:, None]
        leak_after[i], stop_after[i] = np.where(last, leak_out, leak), np.where(last, stop_out, stops)
        p, q, s = (column[:, None] for column in batch.at(i))
        _, leak, stops = _ahead(q, p, s, leak_after[i], stop_after[i], nodes)
    total = np.zeros(count)
    first = np.ones(shape, dtype=nodes.z.dtype)
    leak, stops = nothing, nothing
    for i in range(depth):
        p, q, s = (column[:, None] for column in batch.at(i))
        which = np.flatnonzero(gains[:, i] > 0)
        if len(which) or i == 0:
            complement = nodes.kappa + nodes.z * (s + q * leak + p * leak_after[i])
            left = nodes.z * (s + q * stops + p * stop_after[i])
        if i == 0:
            ones = np.ones((count, 1))
            expectation = nodes.weigh(ones, complement, left, ones)
        if len(which):
            utility = _utility(loss, gains[which, i], complement[which])
            total[which] += nodes.weigh(first[which], complement[which], left[which], utility)
        passage, leak, stops = _ahead(p, q, s, leak, stops, nodes)
        first = first * passage
    return total, expectation
