"""P@H as a random variable: its law, the law and moments of H, simulated users (ICTIR 2020, order 3).

Two runs are compared by stochastic dominance: one is at least as good as the other if at every value x at
least as many of its users reach more than x. `Law.compare` says which one dominates, or where they cross.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_banded

from walkeval.errors import ParameterError
from walkeval.measures.stopping_time import BrowsingModel, check_gains
from walkeval.seeds import generator
from walkeval.stopping_walk import (
    STOP,
    Effort,
    Floats,
    Loss,
    Transitions,
    check_loss,
    effort_values,
    forward_law,
    gained,
    longest_steps,
    tail_steps,
    utility_of_visit,
)

_SAME = 1e-11  # Values nearer than this (relative to 1 and to themselves) are one value.
_MOST_STEPS = 1_000_000
_CELLS = 4_000_000  # Array elements that the simulator holds at a time: bounds the memory.


class Comparison(NamedTuple):
    """How one law stands to another."""

    verdict: str
    """``"dominates"``, ``"dominated"``, ``"crosses"`` or ``"equal"``."""
    crossings: tuple[float, ...]
    """The values at which the other distribution function becomes the larger one; empty unless they cross."""


@dataclass(frozen=True, eq=False)
class Law:
    """A discrete law, and how far its distribution function may be off.

    ``exact``: computed, with an error of at most ``band`` (the probability of the paths left out). Otherwise it
    is that of simulated users, and the true distribution function lies everywhere within ``band`` of it with
    probability ``confidence`` (Dvoretzky-Kiefer-Wolfowitz).
    """

    support: Floats
    """Values that it takes, ascending."""
    probability: Floats
    """Their probabilities; they add up to 1."""
    band: float = 0.0
    exact: bool = True
    confidence: float = 1.0

    @classmethod
    def of(cls, values: ArrayLike, weights: ArrayLike, **rest: float | bool) -> Law:
        """The law with these weights on these values, equal values taken together.

        >>> Law.of([0.5, 1.0, 0.5], [0.25, 0.5, 0.25]).support.tolist()
        [0.5, 1.0]
        """
        values, weights = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        if values.size == 0 or values.shape != weights.shape or values.ndim != 1:
            raise ParameterError(f"values and weights must be as many, at least one; got {values.size}, {weights.size}")
        if np.isnan(values).any() or not (np.isfinite(weights) & (weights >= 0)).all() or weights.sum() == 0:
            raise ParameterError("values must be numbers and weights finite and not negative, not all 0")
        kept = weights > 0
        values, weights = values[kept], weights[kept]
        order = np.argsort(values, kind="stable")
        values, weights = values[order], weights[order]
        begin = np.flatnonzero(np.concatenate(([True], _apart(values))))
        sums = np.add.reduceat(weights, begin)
        return cls(values[begin], sums / sums.sum(), **rest)

    @cached_property
    def cumulative(self) -> Floats:
        """The distribution function at the support."""
        return np.minimum(np.cumsum(self.probability), 1.0)

    def cdf(self, x: ArrayLike) -> Floats:
        """P[value <= x]."""
        x = np.asarray(x, dtype=np.float64)
        position = np.searchsorted(self.support, x + _SAME * np.maximum(1.0, np.abs(x)), side="right")
        return np.concatenate(([0.0], self.cumulative))[position]

    @property
    def mean(self) -> float:
        """Expectation."""
        return float(self.probability @ self.support)

    @property
    def variance(self) -> float:
        """Variance; infinite if a value is."""
        if not np.isfinite(self.support).all():
            return float("inf")
        return float(self.probability @ (self.support - self.mean) ** 2)

    def compare(self, other: Law) -> Comparison:
        """First-order stochastic dominance: which of the two is larger, or where they cross.

        Distribution functions count as different at a value only if they differ by more than both bands
        together (and 1e-12): for simulated laws "equal" means that the users do not tell them apart, and a
        dominance that no observed value contradicts beyond the bands.

        >>> low, high = Law.of([0, 1], [0.5, 0.5]), Law.of([0, 1], [0.25, 0.75])
        >>> low.compare(high).verdict
        'dominated'
        """
        values = np.sort(np.concatenate((self.support, other.support)))
        grid = values[np.concatenate((_apart(values), [True]))]
        gap = self.cdf(grid) - other.cdf(grid)
        sign = np.where(np.abs(gap) > self.band + other.band + 1e-12, np.sign(gap), 0.0)
        different = np.flatnonzero(sign)
        if not len(different):
            return Comparison("equal", ())
        change = different[1:][np.diff(sign[different]) != 0]
        if len(change):
            return Comparison("crosses", tuple(float(x) for x in grid[change]))
        return Comparison("dominates" if sign[different[0]] < 0 else "dominated", ())


def _apart(values: Floats) -> NDArray[np.bool_]:
    """Whether each sorted value differs from the one before it."""
    with np.errstate(invalid="ignore"):
        return np.diff(values) > _SAME * np.maximum(1.0, np.abs(values[:-1]))


# ---------------------------------------------------------------------------------------------------------
# The law of H, moments


def steps_law(model: BrowsingModel, gains: ArrayLike, tail: float = 1e-15) -> Law:
    """The law of H, the number of documents that a user visits.

    It is in closed form for forward models (a user who never stops has H infinite); for random walks the
    steps are followed until less than ``tail`` of the users is left, which is then the ``band``.

    >>> from walkeval.measures.stopping_time import SFBM
    >>> steps_law(SFBM(0.5), [0, 0, 0]).probability.tolist()
    [0.5, 0.25, 0.25]
    """
    transitions = model.transitions(gains)
    if transitions.is_forward:
        law, steps = forward_law(transitions)
        return Law.of(steps, law)
    limit = _steps_limit(transitions, tail)
    if limit > _MOST_STEPS:
        raise ParameterError(f"users of this model make up to {limit:.3g} steps, more than {_MOST_STEPS}")
    forward, backward, stop = _padded(transitions, int(limit))
    users = np.zeros(len(forward))
    users[0] = 1.0
    law = []
    while users.sum() > tail:
        law.append(float(users @ stop))
        users = _step(users, forward, backward)
    return Law.of(np.arange(1.0, len(law) + 1), law, band=float(users.sum()))


def _step(users: Floats, forward: Floats, backward: Floats) -> Floats:
    moved = np.zeros_like(users)
    moved[1:] = users[:-1] * forward[:-1]
    moved[:-1] += users[1:] * backward[1:]
    return moved


def _steps_limit(transitions: Transitions, tail: float) -> float:
    return tail_steps(longest_steps(transitions), tail)


def _with_beyond(transitions: Transitions) -> list[Floats]:
    """The probabilities with one row more, for all ranks after the list's end."""
    beyond = transitions.beyond or STOP
    return [np.append(inside, outside) for inside, outside in zip(transitions[:3], beyond, strict=True)]


def _padded(transitions: Transitions, steps: int) -> tuple[Floats, Floats, Floats]:
    """The probabilities with as many ranks after the list's end as a user could reach in these steps."""
    if transitions.beyond is None:
        return transitions[:3]
    return tuple(
        np.concatenate((inside, np.full(steps, outside)))
        for inside, outside in zip(transitions[:3], transitions.beyond, strict=True)
    )


class Moments(NamedTuple):
    """Mean and variance of the steps H and of the utility T(H) = sum of g(k(n), r[X_n])."""

    mean_steps: float
    variance_steps: float
    mean_utility: float
    variance_utility: float


def moments(model: BrowsingModel, gains: ArrayLike, loss: Loss = 0.0) -> Moments:
    """Mean and variance of H and T(H), from first principles.

    The variances in matrix form of the appendix B are misprinted (a sign, and the square of the mean is
    missing); its sum for the forward model is right.

    Without loss T obeys T = y_1 + T' where T' starts at the next rank, so that with P the matrix of the steps,
    (I - P) E[T] = y and (I - P) E[T^2] = y^2 + 2 y P E[T]; H is the case y = 1. With a loss lambda > 0,
    T = sum_i y_i (1 - x^V_i) / lambda, where x = 1 - lambda and V_i counts the visits to rank i. For two ranks A
    and G = (I - P)^-1 restricted to them, E[x^(V_i + V_j)] from a start in A is x ((1 - x) G + x I)^-1 1.

    >>> from walkeval.measures.stopping_time import SFBM
    >>> moments(SFBM(0.5), [1, 0]).mean_steps
    1.5
    """
    gains, loss = check_gains(gains), check_loss(loss)
    transitions = model.transitions(gains)
    if transitions.is_forward:
        law, steps = forward_law(transitions)
        total = gained(gains, loss, len(law))
        mean_steps, mean_utility = float(law @ steps), float(law @ total)
        variance_steps = float(law @ (steps - mean_steps) ** 2) if np.isfinite(mean_steps) else np.inf
        return Moments(mean_steps, variance_steps, mean_utility, float(law @ (total - mean_utility) ** 2))
    if callable(loss):
        raise ParameterError(
            "loss g(k, y) as a function has no moments in closed form for a random walk; "
            "use precision_law with effort='one'"
        )
    limit = _steps_limit(transitions, 1e-18)
    if transitions.beyond is not None and limit > _MOST_STEPS or not np.isfinite(limit):
        raise ParameterError(f"users of this model make up to {limit:.3g} steps, too many for their moments")
    forward, backward, _ = _padded(transitions, int(min(limit, _MOST_STEPS)))
    count = len(forward)
    bands = np.zeros((3, count))
    bands[0, 1:], bands[1], bands[2, :-1] = -forward[:-1], 1.0, -backward[1:]
    ones = np.ones(count)
    mean_steps, variance_steps = _additive_moments(bands, forward, backward, ones)
    if loss == "once":
        return Moments(mean_steps, variance_steps, 1.0, 0.0)
    utility = np.concatenate((gains, np.zeros(count - len(gains))))
    if loss == 0.0:
        return Moments(mean_steps, variance_steps, *_additive_moments(bands, forward, backward, utility))
    return Moments(mean_steps, variance_steps, *_lossy_moments(bands, utility, 1.0 - loss))


def _additive_moments(bands: Floats, forward: Floats, backward: Floats, reward: Floats) -> tuple[float, float]:
    mean = solve_banded((1, 1), bands, reward)
    ahead = forward * np.append(mean[1:], 0.0) + backward * np.concatenate(([0.0], mean[:-1]))
    square = solve_banded((1, 1), bands, reward**2 + 2 * reward * ahead)
    return float(mean[0]), float(square[0] - mean[0] ** 2)


def _lossy_moments(bands: Floats, gains: Floats, kept: float) -> tuple[float, float]:
    ranks = np.flatnonzero(gains)
    if not len(ranks):
        return 0.0, 0.0
    # Only the rows and columns of relevant ranks are needed, and the row of the start.
    columns = np.zeros((len(gains), len(ranks)))
    columns[ranks, np.arange(len(ranks))] = 1.0
    green = solve_banded((1, 1), bands, columns)
    visits = green[ranks]
    own = np.diag(visits)
    reach = green[0] / own
    diagonal = (1 - kept) * own + kept
    once = 1 - reach + reach * kept / diagonal  # E[x^V_i]
    cross = (1 - kept) * visits
    determinant = diagonal[:, None] * diagonal[None, :] - cross * cross.T
    with np.errstate(divide="ignore", invalid="ignore"):
        after = kept * (diagonal[None, :] - cross) / determinant  # E[x^(V_i + V_j)] from rank i
    both = 1 - reach[:, None] + reach[:, None] * after
    # A user who starts at rank 1 comes to the smaller of two ranks first.
    upper = np.triu(both, 1)
    both = upper + upper.T
    # E[x^(2 V_i)]: the generating function of V_i at x^2.
    squared = kept**2
    np.fill_diagonal(both, 1 - reach + reach * squared / ((1 - squared) * own + squared))
    covariance = both - once[:, None] * once[None, :]
    weight = gains[ranks] / (1 - kept)
    return float(weight @ (1 - once)), float(weight @ covariance @ weight)


# ---------------------------------------------------------------------------------------------------------
# The law of P@H


def precision_law(
    model: BrowsingModel,
    gains: ArrayLike,
    loss: Loss = 0.0,
    effort: Effort = "steps",
    *,
    tail: float = 1e-12,
    states: int = 200_000,
    users: int = 100_000,
    seed: int | str = "precision law",
    confidence: float = 0.99,
) -> Law:
    """The law of P@H on one list.

    Forward models: exact. Random walks: all paths are followed step by step, paths that agree in rank and in
    how often they visited each relevant document (without loss: each level of gain) taken together, until
    all but ``tail`` of the users have stopped. Of more than ``states`` such groups the rarest are given up, and the
    ``band`` says how many users they hold. Where that is worse than simulating, the law is that of ``users``
    simulated users, with the band of the given confidence (``exact`` is then False).

    >>> from walkeval.measures.stopping_time import SFBM
    >>> precision_law(SFBM(0.5), [1, 0, 0]).support.round(3).tolist()
    [0.333, 0.5, 1.0]
    """
    gains, loss = check_gains(gains), check_loss(loss)
    if not 0 < tail < 1:
        raise ParameterError(f"tail must lie between 0 and 1; got {tail!r}")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must lie between 0 and 1; got {confidence!r}")
    transitions = model.transitions(gains)
    if transitions.is_forward:
        law, steps = forward_law(transitions)
        return Law.of(gained(gains, loss, len(law)) / effort_values(effort, steps), law)
    band = float(np.sqrt(np.log(2 / (1 - confidence)) / (2 * users)))
    followed = _follow(transitions, gains, loss, effort, tail, states, band)
    if followed is not None:
        return followed
    values = simulate(model, gains, users, seed, loss, effort).value
    return Law.of(values, np.ones(users), band=band, exact=False, confidence=confidence)


def _follow(
    transitions: Transitions, gains: Floats, loss: Loss, effort: Effort, tail: float, states: int, most_lost: float
) -> Law | None:
    """The law by following groups of users, or None if more than ``most_lost`` of them had to be given up.

    A group is one integer: the rank in the lowest bits, then a counter of visits for each class of ranks. Ranks
    are one class if only the sum of their visits matters.
    """
    longest = longest_steps(transitions)
    limit = tail_steps(longest, tail)
    if limit > 100_000:
        return None
    limit = int(limit)
    forward, backward, stop = _with_beyond(transitions)
    counted = np.zeros(len(gains) + 1, dtype=np.int64)  # Class of each rank from 1 on; 0 yields nothing.
    relevant = np.flatnonzero(gains)
    if loss == "once":
        levels = np.zeros(0)
    elif loss == 0.0:
        levels, which = np.unique(gains[relevant], return_inverse=True)
        counted[relevant] = which + 1
    else:
        levels = gains[relevant]
        counted[relevant] = np.arange(len(relevant)) + 1
    rank_bits = (len(gains) + limit + 1).bit_length()
    bits = min(limit.bit_length(), (62 - rank_bits) // max(1, len(levels)))
    if bits < 1:
        return None
    tables, settled = _utility_tables(loss, levels, min(limit, (1 << bits) - 1))
    most = len(tables[0]) - 1 if tables else 0
    mask, rank_mask = (1 << bits) - 1, (1 << rank_bits) - 1
    offset = rank_bits + bits * (np.arange(len(levels) + 1) - 1)
    offset[0] = 0
    one = np.where(np.arange(len(levels) + 1) > 0, np.left_shift(1, offset), 0)

    def visit(groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The groups after the visit, and which of them have a counter that cannot count it."""
        kind = counted[np.minimum(groups & rank_mask, len(gains))]
        full = (kind > 0) & ((groups >> offset[kind]) & mask >= most)
        return groups + np.where(full, 0, one[kind]), full & (not settled)

    groups, mass = visit(np.zeros(1, dtype=np.int64))[0], np.ones(1)
    values, weights = [], []
    lost = 0.0
    for steps in range(1, limit + 1):
        rank = np.minimum(groups & rank_mask, len(gains))
        ends = np.flatnonzero(stop[rank] > 0)
        if len(ends):
            utility = np.full(len(ends), 1.0 if loss == "once" else 0.0)
            for number, table in enumerate(tables, start=1):
                utility += table[(groups[ends] >> offset[number]) & mask]
            level, which = np.unique(utility, return_inverse=True)
            values.append(level / float(effort_values(effort, np.array([float(steps)]))[0]))
            weights.append(np.bincount(which, weights=mass[ends] * stop[rank[ends]]))
        on, back = forward[rank] > 0, backward[rank] > 0
        moved, full = visit(np.concatenate((groups[on] + 1, groups[back] - 1)))
        shares = np.concatenate((mass[on] * forward[rank[on]], mass[back] * backward[rank[back]]))
        if full.any():
            lost += shares[full].sum()
            moved, shares = moved[~full], shares[~full]
        groups, which = np.unique(moved, return_inverse=True)
        mass = np.bincount(which, weights=shares, minlength=len(groups))
        alive = mass.sum()
        if alive <= tail / 2:
            lost += alive
            break
        # Rare groups are given up: over all steps at most tail / 2, since the users alive add up to E[H].
        rising = np.argsort(mass)
        given = int(np.searchsorted(np.cumsum(mass[rising]), 0.5 * tail * alive / longest))
        given = max(given, len(groups) - states)
        if given:
            lost += mass[rising[:given]].sum()
            kept = np.sort(rising[given:])
            groups, mass = groups[kept], mass[kept]
        if lost > most_lost:
            return None
    else:
        lost += mass.sum()
    return Law.of(np.concatenate(values), np.concatenate(weights), band=float(lost))


def _utility_tables(loss: Loss, levels: Floats, most: int) -> tuple[list[Floats], bool]:
    """For each level of gain the utility of 0, 1, 2, ... visits, and whether further visits yield nothing."""
    rows = [np.zeros(len(levels))]
    for visit in range(1, most + 2):
        yielded = utility_of_visit(loss, visit, levels) if len(levels) else np.zeros(0)
        if not yielded.any():
            return list(np.cumsum(rows, axis=0).T), True
        rows.append(yielded)
    return list(np.cumsum(rows[:-1], axis=0).T), False


# ---------------------------------------------------------------------------------------------------------
# Simulated users


class Simulation(NamedTuple):
    """What each simulated user did."""

    value: Floats
    """Her P@H."""
    steps: Floats
    """Her H; infinite if she never stops."""
    utility: Floats
    """What she gained."""


def simulate(
    model: BrowsingModel,
    gains: ArrayLike,
    users: int,
    seed: int | str,
    loss: Loss = 0.0,
    effort: Effort = "steps",
) -> Simulation:
    """Let users walk through the list: the P@H, H and utility of each.

    The same seed (a whole number or a name) gives the same users; memory does not grow with their number
    beyond the three arrays returned.

    >>> from walkeval.measures.stopping_time import DFBM
    >>> simulate(DFBM(), [1, 0], users=3, seed=1).value.tolist()
    [0.5, 0.5, 0.5]
    """
    gains, loss = check_gains(gains), check_loss(loss)
    if isinstance(users, bool) or users != int(users) or users < 1:
        raise ParameterError(f"users must be a whole number, at least 1; got {users!r}")
    if isinstance(seed, str):
        random = generator(seed)
    elif isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        random = np.random.default_rng(int(seed))
    else:
        raise ParameterError(f"seed must be a name or a whole number, at least 0; got {seed!r}")
    transitions = model.transitions(gains)
    mean = 0.0 if transitions.is_forward else longest_steps(transitions)
    if mean > 1e7:
        raise ParameterError(f"users of this model make {mean:.3g} steps on average: too many to simulate")
    users = int(users)
    steps, utility = np.zeros(users), np.zeros(users)
    relevant = np.flatnonzero(gains)
    chunk = max(1, min(users, _CELLS // (1 + len(relevant))))
    for begin in range(0, users, chunk):
        chosen = slice(begin, min(users, begin + chunk))
        steps[chosen], utility[chosen] = _walk(transitions, gains, loss, random, chosen.stop - begin)
    order = np.argsort(steps)
    value = np.empty(users)
    value[order] = utility[order] / effort_values(effort, steps[order])
    return Simulation(value, steps, utility)


def _walk(
    transitions: Transitions, gains: Floats, loss: Loss, random: np.random.Generator, count: int
) -> tuple[Floats, Floats]:
    forward, backward, _ = _with_beyond(transitions)
    moves = forward + backward
    endless = forward[-1] == 1.0
    end = len(gains)
    # Forward users never come back, so that only the first visit counts.
    repeated = loss not in (0.0, "once") and not transitions.is_forward
    worth = np.append(np.zeros(end) if loss == "once" else utility_of_visit(loss, 1, gains) * (gains > 0), 0.0)
    relevant = np.flatnonzero(worth)
    column = np.full(end + 1, len(relevant))  # The last column takes the visits that yield nothing.
    column[relevant] = np.arange(len(relevant))
    visits = np.zeros((count, len(relevant) + 1), dtype=np.int64) if repeated else None
    table = np.append(worth[relevant], 0.0)[None, :]
    steps, utility = np.zeros(count), np.full(count, 1.0 if loss == "once" else 0.0)
    user, rank = np.arange(count), np.zeros(count, dtype=np.int64)
    step = 0
    while len(user):
        step += 1
        place = np.minimum(rank, end)
        if repeated:
            columns = column[place]
            seen = visits[user, columns]
            if seen.max() >= len(table):
                more = [
                    np.append(utility_of_visit(loss, visit, gains[relevant]), 0.0)
                    for visit in range(len(table) + 1, 2 * len(table) + 1)
                ]
                table = np.concatenate((table, more))
            utility[user] += table[seen, columns]
            visits[user, columns] = seen + 1
        else:
            utility[user] += worth[place]
        draw = random.random(len(user))
        going = draw < moves[place]
        on = draw < forward[place]
        steps[user[~going]] = step
        rank = (rank + np.where(on, 1, -1))[going]
        user = user[going]
        if endless and (rank >= end).any():
            gone = rank >= end
            steps[user[gone]] = np.inf
            user, rank = user[~gone], rank[~gone]
    return steps, utility
