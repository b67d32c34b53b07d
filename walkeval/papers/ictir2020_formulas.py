"""Ferrante and Ferro, ICTIR 2020: every closed form of the paper as printed, against brute force, and corrected.

The text of each formula is a claim; here is what it computes. Three things are compared over a grid of parameters:

- ``printed``: the formula exactly as it stands in the paper;
- ``true``: the same quantity without the formula. Users are followed step by step, all that agree in rank and in what
  they gained taken together, until fewer than one in 10^15 is left: the joint law of the stopping time H and of the
  total utility T(H), from every start. Sums over paths are taken path by path, expectations over an infinite list from
  one long enough;
- ``corrected``: where the two differ, the formula as it should read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import log2, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_banded

from walkeval.claims import Claim
from walkeval.measures.stopping_time import BrowsingModel, expected_precision

Floats = NDArray[np.float64]

TOLERANCE = 1e-10
"""A formula holds if it is nowhere farther than this from the truth, relative to values above 1."""
COLUMNS = ("id", "where", "formula", "largest_deviation", "holds", "corrected", "corrected_deviation")
_TAIL = 1e-15


# --- brute force ----------------------------------------------------------------------------------------------------


class Chain(NamedTuple):
    """A browsing model on N ranks: the matrix of the steps among them, and the probability of the stop at each."""

    within: Floats
    stop: Floats

    @classmethod
    def of(cls, forward: ArrayLike, backward: ArrayLike | None = None) -> Chain:
        """The matrix of section 3 without its row and column End, from p_i and q_i; p_N and q_1 are not used."""
        forward = np.asarray(forward, dtype=np.float64)
        backward = np.zeros_like(forward) if backward is None else np.asarray(backward, dtype=np.float64)
        within = np.diag(forward[:-1], 1) + np.diag(backward[1:], -1)
        return cls(within, 1.0 - within.sum(axis=1))

    @classmethod
    def walk(cls, size: int, p: float, q: float, ends: str = "stop") -> Chain:
        """A random walk with constant p and q; at rank 1 a step back is a stop (appendix C) or forward (Figure 1d)."""
        forward = np.full(size, p)
        if ends == "forward":
            forward[0] = p + q
        return cls.of(forward, np.full(size, q))


def follow(chain: Chain, gains: Sequence[int]) -> Floats:
    """The joint law of (H, T(H)) from every start: P[H = h, T = t] at ``[start, h - 1, t]``, for whole gains.

    >>> follow(Chain.of([0.5, 0]), [1, 1])[0].tolist()
    [[0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]
    """
    gains = np.asarray(gains)
    size = len(gains)
    users = np.eye(size)[:, :, None]  # by start, rank and total so far
    users = _credit(users, gains)
    stopped = []
    while users.sum() > _TAIL * size:
        stopped.append(np.einsum("irt,r->it", users, chain.stop))
        users = _credit(np.einsum("irt,rj->ijt", users, chain.within), gains)
    law = np.zeros((size, len(stopped), stopped[-1].shape[1]))
    for step, one in enumerate(stopped):
        law[:, step, : one.shape[1]] = one
    return law


def _credit(users: Floats, gains: NDArray) -> Floats:
    """Let everybody gain from the rank where she is."""
    wider = np.zeros((*users.shape[:2], users.shape[2] + max(1, int(gains.max()))))
    for rank, gain in enumerate(gains):
        wider[:, rank, gain : gain + users.shape[2]] = users[:, rank]
    used = np.flatnonzero(wider.any(axis=(0, 1)))
    return wider[:, :, : used[-1] + 1 if len(used) else 1]


@dataclass(frozen=True)
class Situation:
    """A browsing model and a run, with what brute force says about them."""

    name: str
    chain: Chain
    gains: tuple[int, ...]

    @cached_property
    def law(self) -> Floats:
        return follow(self.chain, self.gains)

    @cached_property
    def totals(self) -> Floats:
        """P_i[T = t], by start and t."""
        return self.law.sum(axis=1)

    @cached_property
    def steps(self) -> Floats:
        """P_i[H = h], by start and h - 1."""
        return self.law.sum(axis=2)

    @property
    def size(self) -> int:
        return len(self.gains)

    @property
    def relevance(self) -> Floats:
        return np.array(self.gains, dtype=np.float64)

    @property
    def binary(self) -> bool:
        return max(self.gains) <= 1

    @property
    def mean_total(self) -> Floats:
        return self.totals @ np.arange(self.totals.shape[1])

    @property
    def variance_total(self) -> Floats:
        return self.totals @ np.arange(self.totals.shape[1]) ** 2.0 - self.mean_total**2

    @property
    def mean_steps(self) -> Floats:
        return self.steps @ np.arange(1, self.steps.shape[1] + 1)

    @property
    def variance_steps(self) -> Floats:
        return self.steps @ np.arange(1, self.steps.shape[1] + 1) ** 2.0 - self.mean_steps**2

    @property
    def mean_precision(self) -> Floats:
        """E_i[T / H]."""
        return np.einsum("iht,h,t->i", self.law, 1 / np.arange(1, self.law.shape[1] + 1), np.arange(self.law.shape[2]))


def paths(chain: Chain, most_steps: int) -> Iterator[tuple[list[int], float]]:
    """Every path from rank 1 to End with at most this many documents, and its probability."""
    pending = [([1], 1.0)]
    while pending:
        path, probability = pending.pop()
        here = path[-1] - 1
        if chain.stop[here] > 0:
            yield path, probability * float(chain.stop[here])
        if len(path) < most_steps:
            for there in np.flatnonzero(chain.within[here]):
                pending.append(([*path, int(there) + 1], probability * float(chain.within[here, there])))


def visits(path: Sequence[int]) -> list[int]:
    """k(n) of (2): the how-manieth visit to its rank each step of a path is."""
    return [path[:n].count(path[n - 1]) for n in range(1, len(path) + 1)]


class Grid:
    """The parameters at which formulas are tried; laws are computed once for all formulas."""

    RUNS = ((1, 0, 0, 1, 0, 1), (0, 1, 1, 0), (0, 0, 1, 0, 0), (1, 1, 1), (2, 0, 1, 3))
    WALKS = ((0.5, 0.25), (0.3, 0.4), (0.6, 0.1), (0.15, 0.2))
    FORWARD = (0.05, 0.3, 0.5, 0.6, 0.8, 0.95)

    @cached_property
    def walks(self) -> list[Situation]:
        """Random walks over binary and graded runs; both conventions at the first rank, and one that varies by rank."""
        found = []
        for run in self.RUNS:
            for (p, q), ends in product(self.WALKS, ("stop", "forward")):
                name = f"p={p:g}, q={q:g}, p_1={p if ends == 'stop' else p + q:g}, r={list(run)}"
                found.append(Situation(name, Chain.walk(len(run), p, q, ends), run))
            rank = np.arange(1, len(run) + 1)
            varying = Chain.of(0.9 / (1 + 0.3 * rank), 0.5 * rank / (1 + 2.0 * rank))
            found.append(Situation(f"p_i=0.9/(1+0.3i), q_i=0.5i/(1+2i), r={list(run)}", varying, run))
        return found

    @cached_property
    def binary_walks(self) -> list[Situation]:
        return [one for one in self.walks if one.binary]

    @cached_property
    def forward(self) -> list[tuple[float, Situation]]:
        """Forward models with constant p."""
        return [
            (p, Situation(f"p={p:g}, r={list(run)}", Chain.of(np.full(len(run), p)), run))
            for run in self.RUNS
            for p in self.FORWARD
        ]


# --- formulas -------------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A formula at one point of the grid."""

    at: str
    printed: ArrayLike
    true: ArrayLike
    corrected: ArrayLike | None = None
    corrected_true: ArrayLike | None = None
    """What the corrected formula is compared with, where the correction is what it is said to compute."""


@dataclass(frozen=True)
class Formula:
    """A printed formula. Its text and place are the claim ``ictir2020/<id>``."""

    id: str
    against: str
    """What it was compared with."""
    cases: Callable[[Grid], Iterable[Case]]
    corrected: str = ""
    proof: str = ""
    """Why the corrected one holds."""


def _inverse(matrix: Floats) -> Floats:
    return np.linalg.inv(np.eye(len(matrix)) - matrix)


# Section 3


def section3_stopping_time(grid: Grid) -> Iterator[Case]:
    for p, q in grid.WALKS:
        # X_1, X_2, ... with End written as 0, as in (1).
        walked = [([*path, 0], len(path)) for path, _ in paths(Chain.walk(4, p, q), 9)]
        yield Case(f"N=4, p={p:g}, q={q:g}", [chain.index(0) for chain, _ in walked], [steps for _, steps in walked])


def section3_last_rank(grid: Grid) -> Iterator[Case]:
    for p, q in grid.WALKS:
        size = 4
        walked = [path for path, _ in paths(Chain.walk(size, p, q), 9) if len(path) >= size]
        at = f"N={size}, p={p:g}, q={q:g}, walks of 4 to 9 steps"
        steps = [[*path, 0].index(0) for path in walked]  # H by (1), with End written as 0
        corrected = [path[h - 1] for path, h in zip(walked, steps, strict=True)]
        yield Case(at, [path[size - 1] for path in walked], [path[-1] for path in walked], corrected)


def section3_rows(grid: Grid) -> Iterator[Case]:
    for size, (p, q) in product((2, 5, 8), grid.WALKS):
        rank = np.arange(1, size + 1)
        forward, backward = p / (1 + 0.1 * rank), q / (1 + 0.2 * rank)
        matrix = np.zeros((size + 1, size + 1))
        matrix[0, 0] = 1.0
        matrix[1, [0, 2]] = 1 - forward[0], forward[0]
        for i in range(2, size):
            matrix[i, [0, i - 1, i + 1]] = 1 - forward[i - 1] - backward[i - 1], backward[i - 1], forward[i - 1]
        matrix[size, [0, size - 1]] = 1 - backward[-1], backward[-1]
        yield Case(f"N={size}, p={p:g}/(1+0.1i), q={q:g}/(1+0.2i)", matrix.sum(axis=1), np.ones(size + 1))


# Section 4


def section4_utility(grid: Grid) -> Iterator[Case]:
    for loss in (0.0, 0.25, 0.5, 1.0):
        table = np.array([[i * (1 - loss) ** (k - 1) for i in range(4)] for k in range(1, 9)])
        broken = (np.diff(table, axis=0) > 0).sum() + (np.diff(table, axis=1) < 0).sum() + (table[:, 0] != 0).sum()
        yield Case(f"loss={loss:g}", broken, 0)


def example41_argument(grid: Grid) -> Iterator[Case]:
    path, run, loss = [1, 2, 1, 2, 3], [3, 2, 3, 0, 1], 0.5
    count = visits(path)
    kept = [(1 - loss) ** (k - 1) for k in count]
    true = [3, 2, 1.5, 1, 3]
    at = "the walk and the run of the example"
    printed = [x * share for x, share in zip(path, kept, strict=True)]
    yield Case(at, printed, true, [run[x - 1] * share for x, share in zip(path, kept, strict=True)])


# Section 5


def equation_2(grid: Grid) -> Iterator[Case]:
    run, size = (3, 2, 3, 0, 1), 5
    for (p, q), loss in product(grid.WALKS, (0.0, 0.5)):
        walked = [path for path, _ in paths(Chain.walk(size, p, q), 10)]
        printed = [
            sum(run[x - 1] * (1 - loss) ** (k - 1) for x, k in zip(path, visits(path), strict=True)) / len(path)
            for path in walked
        ]
        # The other way round: what each document yields over all its visits.
        true = [
            sum(run[i - 1] * sum((1 - loss) ** k for k in range(path.count(i))) for i in range(1, size + 1)) / len(path)
            for path in walked
        ]
        yield Case(f"all walks of at most 10 steps, p={p:g}, q={q:g}, loss={loss:g}", printed, true)


def equation_5(grid: Grid) -> Iterator[Case]:
    """P[P@H > x] as (5) prints it, with 1/H, against P@H as (2) defines it, with another f."""
    efforts = {"f(h)=h": lambda h: h, "f(h)=log2(1+h)": lambda h: np.log2(1 + h), "f(h)=1": lambda h: np.ones(len(h))}
    for one, (name, effort) in product(grid.walks[::9], efforts.items()):
        law = one.law[0]
        steps, total = np.arange(1.0, law.shape[0] + 1), np.arange(law.shape[1])
        x = np.array([0.1, 0.3, 0.45, 0.7, 0.9])[:, None, None]
        above = [((total / divisor[:, None] > x) * law).sum(axis=(1, 2)) for divisor in (steps, effort(steps))]
        # P[P@H > x] user by user: each stopped user carries T and f(H) in one number.
        value = (total[None, :] / effort(steps)[:, None]).ravel()
        order = np.argsort(value, kind="stable")
        reached = np.append(np.cumsum(law.ravel()[order][::-1])[::-1], 0.0)
        true = reached[np.searchsorted(value[order], x.ravel(), side="right")]
        yield Case(f"{name}, {one.name}", above[0], true, above[1])


# Section 6.1


def equation_6(grid: Grid) -> Iterator[Case]:
    for run in grid.RUNS:
        one = Situation(f"r={list(run)}", Chain.of(np.ones(len(run))), run)
        printed = sum(run) / len(run)
        both = np.array([one.mean_precision[0], one.mean_total[0] / one.mean_steps[0]])
        yield Case(one.name, np.full(2, printed), both)


# Section 6.2

_RECALLED = (
    (1, 0, 0, 1, 0, 0, 1, 0, 0, 1), (0, 1, 1, 1, 1, 0, 0, 0, 0, 0), (1, 0, 0, 1, 0, 1), (1,), (0, 1, 0), (1, 1, 1),
)  # fmt: skip
"""Runs that retrieve all relevant documents of their topics."""


def _constant_stop(run: Sequence[int], base: int) -> Chain:
    """Assumptions (2) and (3): forward for sure after a nonrelevant document, stop with 1/RB after a relevant one."""
    return Chain.of([1 - 1 / base if relevant else 1.0 for relevant in run])


def _uniform_stop(run: Sequence[int], base: int) -> Chain:
    """Stop with 1 / (RB - R_(i-1)) at a relevant document."""
    before = np.cumsum(run) - run
    return Chain.of([1 - 1 / (base - seen) if here else 1.0 for here, seen in zip(run, before, strict=True)])


def _reach(law: Floats, size: int) -> Floats:
    """A law of H on 1..N, with the values of no probability at its end."""
    return np.concatenate((law, np.zeros(size - len(law))))


def section62_forward(grid: Grid) -> Iterator[Case]:
    for run in _RECALLED:
        chain, base = _constant_stop(run, sum(run)), sum(run)
        relevant = [i for i in range(len(run) - 1) if run[i]]
        true = chain.within.sum(axis=1)[relevant]
        yield Case(f"r={list(run)}, RB={base}", np.full(len(relevant), 1 - 1 / base), true)


def section62_law(grid: Grid) -> Iterator[Case]:
    for run in _RECALLED:
        base, relevant = sum(run), np.array(run)
        before = np.cumsum(relevant) - relevant
        corrected = relevant / base * (1 - 1 / base) ** before
        corrected[-1] = (1 - 1 / base) ** before[-1]  # Whoever comes to the last rank stops there.
        law = _reach(Situation("", _constant_stop(run, base), run).steps[0], len(run))
        yield Case(f"r={list(run)}, RB={base}", relevant / base, law, corrected)


def equation_7(grid: Grid) -> Iterator[Case]:
    for run in _RECALLED:
        base, relevant = sum(run), np.array(run)
        average = float(relevant @ (np.cumsum(relevant) / np.arange(1, len(run) + 1))) / base
        constant, uniform = _constant_stop(run, base), _uniform_stop(run, base)
        true, corrected = (Situation("", chain, run).mean_precision[0] for chain in (constant, uniform))
        yield Case(f"r={list(run)}, RB={base}", average, true, average, corrected)


def section62_total(grid: Grid) -> Iterator[Case]:
    """The sum of r[i]/RB is 1 exactly for runs that retrieve all relevant documents."""
    for run, missed in product(_RECALLED, (0, 1, 3)):
        base = sum(run) + missed
        total = sum(one / base for one in run)
        yield Case(f"r={list(run)}, RB={base}", abs(total - 1) < 1e-12, missed == 0)


def section62_matrix(grid: Grid) -> Iterator[Case]:
    for run in (*_RECALLED, (0, 1, 0, 1, 1)):
        relevant = np.array(run)
        seen, total = np.cumsum(relevant), sum(run)
        before = seen - relevant
        # Past the last relevant document the matrix has 0/0, at ranks that nobody reaches.
        reached = total > before
        wanted = np.where(reached, total - before, 1)
        chain = Chain.of(np.where(reached, (total - seen) / wanted, 0.0))
        law = _reach(Situation("", chain, run).steps[0], len(run))
        stop = np.where(reached, relevant / wanted, chain.stop)
        # Rows that are reached add up to 1, and P[H = i] is r[i] / R_N.
        printed = np.concatenate((relevant / total, (stop + chain.within.sum(axis=1))[reached]))
        yield Case(f"r={list(run)}", printed, np.concatenate((law, np.ones(int(reached.sum())))))


# Section 6.3 and appendix C


def section63_law(grid: Grid) -> Iterator[Case]:
    for p in grid.FORWARD:
        # What happens at the first 30 ranks does not depend on the list behind them.
        law = Situation("", Chain.of(np.full(31, p)), (0,) * 31).steps[0]
        yield Case(f"p={p:g}, i <= 30", [p ** (i - 1) * (1 - p) for i in range(1, 31)], _reach(law, 31)[:30])


def _survival(p: float, size: int) -> Floats:
    """Users who come to each rank of a long list, followed from rank to rank."""
    return np.cumprod(np.append(1.0, np.full(size - 1, p)))


def equation_8(grid: Grid) -> Iterator[Case]:
    for p in grid.FORWARD:
        i = np.arange(1, 4001)
        yield Case(f"p={p:g}", 1 / (1 - p), float(i @ (p ** (i - 1.0) * (1 - p))))


def section63_utility(grid: Grid) -> Iterator[Case]:
    for p, one in grid.forward:
        yield Case(one.name, one.relevance @ p ** np.arange(one.size), one.mean_total[0])


def equation_9(grid: Grid) -> Iterator[Case]:
    """RBP against E[T] / E[H] of a list that goes on with nonrelevant documents, 800 of them."""
    for p, one in grid.forward:
        printed = (1 - p) * (one.relevance @ p ** np.arange(one.size))
        reached = _survival(p, one.size + 800)
        yield Case(one.name, printed, reached[: one.size] @ one.relevance / reached.sum())


def section63_last(grid: Grid) -> Iterator[Case]:
    for p, one in grid.forward:
        yield Case(one.name, p ** (one.size - 1), _reach(one.steps[0], one.size)[-1])


def section63_steps(grid: Grid) -> Iterator[Case]:
    for p, one in grid.forward:
        size = one.size
        yield Case(one.name, [sum(p**i for i in range(size)), (1 - p**size) / (1 - p)], np.full(2, one.mean_steps[0]))


def section63_limit(grid: Grid) -> Iterator[Case]:
    for p in grid.FORWARD:
        yield Case(f"p={p:g}, N=800", 1 / (1 - p), _survival(p, 800).sum())


def section63_rbp(grid: Grid) -> Iterator[Case]:
    for p, one in grid.forward:
        steps = (1 - p**one.size) / (1 - p)
        yield Case(one.name, one.relevance @ p ** np.arange(one.size) / steps, one.mean_total[0] / one.mean_steps[0])


def section63_index(grid: Grid) -> Iterator[Case]:
    """The sum runs over n and its terms have i: for each i the printed sum is N r[i] p^(i-1)."""
    for p, one in grid.forward:
        steps = (1 - p**one.size) / (1 - p)
        literal = one.size * one.relevance * p ** np.arange(one.size) / steps
        corrected = one.relevance @ p ** np.arange(one.size) / steps
        true = one.mean_total[0] / one.mean_steps[0]
        yield Case(one.name, literal, np.full(one.size, true), np.full(one.size, corrected))


# Section 6.4 and appendix D


def _discount(rank: ArrayLike, base: float) -> Floats:
    return np.maximum(1.0, np.log(rank) / np.log(base))


def _discounted(size: int, base: float = 2.0) -> Situation:
    """The forward model whose P[H >= i] is 1 / max(1, log_b i), for gains 1."""
    discount = _discount(np.arange(1, size + 1), base)
    chain = Chain.of(np.append(discount[:-1] / discount[1:], 0.0))
    return Situation(f"N={size}, b={base:g}", chain, (1,) * size)


_SIZES = (3, 4, 7, 20)


def equation_10(grid: Grid) -> Iterator[Case]:
    for run, base in product((*grid.RUNS, (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)), (2, 3, 10)):
        chain = _discounted(len(run), base).chain
        printed = sum(gain / _discount(i, base) for i, gain in enumerate(run, start=1))
        yield Case(f"w(y)=y, b={base}, r={list(run)}", printed, Situation("", chain, run).mean_total[0])


def section64_orders(grid: Grid) -> Iterator[Case]:
    """With f = 1: E[T / 1] and E[T] / E[1], the mean of the law of T and the sum of r[i] P[H >= i]."""
    for run, base in product(grid.RUNS, (2, 10)):
        one = Situation("", _discounted(len(run), base).chain, run)
        survival = np.cumsum(_reach(one.steps[0], len(run))[::-1])[::-1]
        yield Case(f"w(y)=y, b={base}, r={list(run)}", one.mean_total[0], survival @ one.relevance)


def appendix_d_sums(grid: Grid) -> Iterator[Case]:
    for _, one in grid.forward:
        law = _reach(one.steps[0], one.size)
        first = sum(sum(one.gains[:n]) * law[n - 1] for n in range(1, one.size + 1))
        second = sum(law[i - 1 :].sum() * one.gains[i - 1] for i in range(1, one.size + 1))
        yield Case(one.name, [first, second], np.full(2, one.mean_total[0]))


def appendix_d_system(grid: Grid) -> Iterator[Case]:
    for size, base in product(_SIZES, (2, 3, 10)):
        one = _discounted(size, base)
        survival = np.cumsum(one.steps[0][::-1])[::-1]
        yield Case(one.name, 1 / _discount(np.arange(1, size + 1), base), _reach(survival, size))


def _solved(size: int) -> Floats:
    """P[H = n] from the linear system itself, for b = 2."""
    return np.linalg.solve(np.triu(np.ones((size, size))), 1 / _discount(np.arange(1, size + 1), 2))


def appendix_d_first(grid: Grid) -> Iterator[Case]:
    for size in _SIZES:
        yield Case(f"N={size}", 0.0, _solved(size)[0])


def appendix_d_second(grid: Grid) -> Iterator[Case]:
    for size in _SIZES:
        yield Case(f"N={size}", (log2(3) - 1) / log2(3), _solved(size)[1] if size > 2 else np.nan)


def appendix_d_inner(grid: Grid) -> Iterator[Case]:
    for size in (4, 7, 20):
        printed = [(log2(i + 1) - log2(i)) / (log2(i + 1) * log2(i)) for i in range(3, size)]
        yield Case(f"N={size}", printed, _solved(size)[2 : size - 1])


def appendix_d_last(grid: Grid) -> Iterator[Case]:
    for size in _SIZES:
        yield Case(f"N={size}", 1 / log2(size), _solved(size)[-1])


def _decreasing(size: int) -> tuple[str, Floats, Floats]:
    """A forward model that varies by rank: its name, its p_i, and its law of H by following users."""
    p = 0.9 / (1 + 0.05 * np.arange(1, size + 1))
    return f"N={size}, p_i=0.9/(1+0.05i)", p, Situation("", Chain.of(p), (0,) * size).steps[0]


def appendix_d_product(grid: Grid) -> Iterator[Case]:
    for name, p, law in map(_decreasing, _SIZES):
        yield Case(name, [(1 - p[n - 1]) * np.prod(p[: n - 1]) for n in range(1, len(p))], law[:-1])


def appendix_d_product_last(grid: Grid) -> Iterator[Case]:
    for name, p, law in map(_decreasing, _SIZES):
        yield Case(name, np.prod(p[:-1]), law[-1])


def _printed_steps(size: int) -> Floats:
    return np.array([1.0, *(log2(i) / log2(i + 1) for i in range(2, size)), 0.0])


def appendix_d_probabilities(grid: Grid) -> Iterator[Case]:
    for size in _SIZES:
        law = Situation("", Chain.of(_printed_steps(size)), (0,) * size).steps[0]
        yield Case(f"N={size}", law, _solved(size))


def appendix_d_matrix(grid: Grid) -> Iterator[Case]:
    """The printed matrix, its powers' first column against the law that the linear system gives."""
    for size in _SIZES:
        matrix = np.zeros((size + 1, size + 1))
        matrix[0, 0] = matrix[1, 2] = matrix[size, 0] = 1.0
        for i in range(2, size):
            matrix[i, [0, i + 1]] = 1 - log2(i) / log2(i + 1), log2(i) / log2(i + 1)
        ended = [np.linalg.matrix_power(matrix, steps)[1, 0] for steps in range(size + 1)]
        yield Case(f"N={size}", np.diff(ended), _solved(size))


# Section 6.5


def _stopping(run: Sequence[int], highest: int) -> Floats:
    return (2.0 ** np.array(run) - 1) / 2.0**highest


_GRADED = ((1, 0, 2, 0, 1), (0, 0, 0), (2, 2, 1, 0), (0, 1, 0, 0, 0, 2), (1,))


def section65_matrix(grid: Grid) -> Iterator[Case]:
    """Rows add up to 1, and its powers give the law of users followed step by step."""
    for run in _GRADED:
        size, satisfied = len(run), _stopping(run, 2)
        satisfied[-1] = 1.0
        matrix = np.zeros((size + 1, size + 1))
        matrix[0, 0], matrix[1:, 0] = 1.0, satisfied
        matrix[np.arange(1, size), np.arange(2, size + 1)] = 1 - satisfied[:-1]
        ended = [np.linalg.matrix_power(matrix, steps)[1, 0] for steps in range(size + 1)]
        law = _reach(Situation("", Chain.of(1 - satisfied), run).steps[0], size)
        printed, true = np.append(np.diff(ended), matrix.sum(axis=1)), np.append(law, np.ones(size + 1))
        yield Case(f"r={list(run)}, highest grade 2, R_N=1", printed, true)


def section65_law(grid: Grid) -> Iterator[Case]:
    for run in _GRADED:
        satisfied = _stopping(run, 2)
        satisfied[-1] = 1.0
        printed = [np.prod(1 - satisfied[: i - 1]) * satisfied[i - 1] for i in range(1, len(run) + 1)]
        law = _reach(Situation("", Chain.of(1 - satisfied), run).steps[0], len(run))
        yield Case(f"r={list(run)}, highest grade 2, R_N=1", printed, law)


def equation_11(grid: Grid) -> Iterator[Case]:
    for run in _GRADED:
        satisfied = _stopping(run, 2)
        rank = np.arange(1, len(run) + 1)
        printed = sum(np.prod(1 - satisfied[: i - 1]) * satisfied[i - 1] / i for i in rank)
        law = _reach(Situation("", Chain.of(1 - satisfied), run).steps[0], len(run))
        corrected = printed + np.prod(1 - satisfied) / len(run)
        yield Case(f"r={list(run)}, highest grade 2", printed, law @ (1 / rank), corrected)


# Appendix A


def appendix_a_forward(grid: Grid) -> Iterator[Case]:
    for p, one in grid.forward:
        size, run = one.size, one.relevance
        inner = sum(p ** (h - 1) * (1 - p) / h * run[:h].sum() for h in range(1, size))
        printed, corrected = (inner + p**power / size * run.sum() for power in (size, size - 1))
        yield Case(one.name, printed, one.mean_precision[0], corrected)


_SHORT_WALKS = ((4, 0.15, 0.05, (1, 0, 2, 1)), (4, 0.1, 0.1, (0, 1, 1, 0)), (3, 0.2, 0.1, (1, 0, 1)))


def appendix_a_general(grid: Grid) -> Iterator[Case]:
    """Path after path, until those left out have less than 1e-12 of the users; against the integral over z."""
    for (size, p, q, run), loss in product(_SHORT_WALKS, (0.0, 0.25)):
        chain = Chain.walk(size, p, q)
        steps = int(np.ceil(np.log(1e-12) / np.log(p + q)))
        printed = 0.0
        for path, probability in paths(chain, steps):
            gained = sum(run[x - 1] * (1 - loss) ** (k - 1) for x, k in zip(path, visits(path), strict=True))
            printed += gained / len(path) * probability
        true = expected_precision(BrowsingModel(p, q, first="stop"), run, loss)
        yield Case(f"N={size}, p={p:g}, q={q:g}, loss={loss:g}, r={list(run)}", printed, true)


# Appendix B


def appendix_b_steps(grid: Grid) -> Iterator[Case]:
    for one in grid.walks[::5]:
        ones = Situation(one.name, one.chain, (1,) * one.size)
        yield Case(one.name, ones.mean_total, one.mean_steps)


def appendix_b_notation(grid: Grid) -> Iterator[Case]:
    for one in grid.walks:
        yield Case(f"f(h)=h, {one.name}", one.mean_steps, one.mean_total, _inverse(one.chain.within) @ one.relevance)


def appendix_b_conditioning(grid: Grid) -> Iterator[Case]:
    """E_i = sum over j in S of E_i[T | X_2 = j] p_ij, End included."""
    for one in grid.walks:
        after = one.relevance[:, None] + one.mean_total[None, :]
        yield Case(one.name, (after * one.chain.within).sum(axis=1) + one.relevance * one.chain.stop, one.mean_total)


def appendix_b_recursion(grid: Grid) -> Iterator[Case]:
    for one in grid.walks:
        corrected = one.relevance + one.chain.within @ one.mean_total
        yield Case(one.name, one.relevance + one.mean_total.sum(), one.mean_total, corrected)


def appendix_b_expectation(grid: Grid) -> Iterator[Case]:
    for one in grid.walks:
        yield Case(one.name, _inverse(one.chain.within) @ one.relevance, one.mean_total)


def _variance(within: Floats, rewards: Floats) -> tuple[Floats, Floats]:
    """As printed, and corrected."""
    green, identity = _inverse(within), np.eye(len(within))
    reward = np.diag(rewards)
    printed = green @ reward @ (identity - 2 * within @ green) @ rewards
    mean = green @ rewards
    return printed, green @ reward @ (identity + 2 * within @ green) @ rewards - mean * mean


def appendix_b_variance(grid: Grid) -> Iterator[Case]:
    for one in grid.walks:
        printed, corrected = _variance(one.chain.within, one.relevance)
        yield Case(one.name, printed, one.variance_total, corrected)


def _distribution(one: Situation) -> Callable[[int], Floats]:
    """The printed distribution of T(H) as a function of n."""
    within, identity = one.chain.within, np.eye(one.size)
    reward = np.diag(one.relevance)
    reach = np.linalg.inv(identity - (identity - reward) @ within)
    step = reach @ reward @ within
    return lambda n: np.linalg.matrix_power(step, n - 1) @ (identity - step) @ reach @ one.relevance


def appendix_b_distribution(grid: Grid) -> Iterator[Case]:
    for one in grid.binary_walks:
        printed = _distribution(one)
        values = range(1, min(12, one.totals.shape[1]))
        yield Case(f"n=1..{values[-1]}, {one.name}", np.array([printed(n) for n in values]), one.totals[:, values].T)


def appendix_b_distribution_zero(grid: Grid) -> Iterator[Case]:
    """At n = 0 the formula asks for an inverse, which mostly does not exist."""
    pair = Situation("p=0.5, q=0.25, p_1=0.5, r=[1, 1]", Chain.walk(2, 0.5, 0.25), (1, 1))
    for one in (*grid.binary_walks, pair):
        reward = np.diag(one.relevance)
        reach = np.linalg.inv(np.eye(one.size) - (np.eye(one.size) - reward) @ one.chain.within)
        singular = np.linalg.matrix_rank(reach @ reward @ one.chain.within) < one.size
        printed = np.full(one.size, np.nan) if singular else _distribution(one)(0)
        yield Case(f"n=0, {one.name}", printed, one.totals[:, 0], 1 - reach @ one.relevance)


def appendix_b_distribution_graded(grid: Grid) -> Iterator[Case]:
    for one in grid.walks:
        if one.binary:
            continue
        printed = _distribution(one)
        # s_i(n) = [n = r_i] stop_i + sum over j of p_ij s_j(n - r_i); ranks of gain 0 refer to the same n.
        most = 12
        zero = np.array([gain == 0 for gain in one.gains])
        system = np.eye(one.size) - zero[:, None] * one.chain.within
        corrected = np.zeros((most + 1, one.size))
        for n in range(most + 1):
            right = np.zeros(one.size)
            for i, gain in enumerate(one.gains):
                right[i] = one.chain.stop[i] * (n == gain)
                if 0 < gain <= n:
                    right[i] += one.chain.within[i] @ corrected[n - gain]
            corrected[n] = np.linalg.solve(system, right)
        values = range(1, most + 1)
        found = np.array([printed(n) for n in values])
        yield Case(f"n=1..{most}, {one.name}", found, one.totals[:, values].T, corrected[1:])


def appendix_b_vector(grid: Grid) -> Iterator[Case]:
    """How many components the printed vector has, for the component i that ends it, against those of the right side."""
    for one in grid.binary_walks:
        components = len(_distribution(one)(1))
        yield Case(one.name, np.arange(1, one.size + 1), np.full(one.size, components), np.full(one.size, one.size))


def appendix_b_steps_expectation(grid: Grid) -> Iterator[Case]:
    for one in grid.walks:
        yield Case(one.name, _inverse(one.chain.within) @ np.ones(one.size), one.mean_steps)


def appendix_b_steps_variance(grid: Grid) -> Iterator[Case]:
    for one in grid.walks:
        printed, corrected = _variance(one.chain.within, np.ones(one.size))
        yield Case(one.name, printed, one.variance_steps, corrected)


def appendix_b_steps_distribution(grid: Grid) -> Iterator[Case]:
    for one in grid.walks:
        within, values = one.chain.within, range(1, 16)
        ends = (np.eye(one.size) - within) @ np.ones(one.size)
        printed = np.array([np.linalg.matrix_power(within, n - 1) @ ends for n in values])
        yield Case(f"n=1..{values[-1]}, {one.name}", printed, one.steps[:, :15].T)


def appendix_b_forward_variance(grid: Grid) -> Iterator[Case]:
    for p, one in grid.forward:
        run, size = one.relevance, one.size
        printed = sum(
            run[m - 1] * p ** (m - 1) * (1 - p ** (m - 1))
            * (run[m - 1] + 2 * sum(run[i - 1] * p ** (i - m) for i in range(m + 1, size + 1)))
            for m in range(2, size + 1)
        )  # fmt: skip
        yield Case(one.name, printed, one.variance_total[0])


def appendix_b_rbp(grid: Grid) -> Iterator[Case]:
    """RBP over E_1[T(H)] is the same for all runs: 1 - p."""
    for p, one in grid.forward:
        rbp = (1 - p) * (one.relevance @ p ** np.arange(one.size))
        yield Case(one.name, rbp / (1 - p), one.mean_total[0])


# Appendix C

_PAIRS = ((0.5, 0.25), (0.3, 0.4), (0.6, 0.1), (0.45, 0.45), (0.1, 0.8), (0.8, 0.15), (0.25, 0.25))


def appendix_c_polynomial(grid: Grid) -> Iterator[Case]:
    run = (1, 0, 0, 1, 0, 1)
    for p, q in _PAIRS:
        numerator = 1 - 4 * p * q + p**3 + 3 * p**2 * q**2 - p**4 * q + p**5
        printed = numerator / (1 - 5 * p * q + 6 * p**2 * q**2 - p**3 * q**3)
        one = Situation(f"p={p:g}, q={q:g}, r={list(run)}", Chain.walk(6, p, q), run)
        yield Case(one.name, printed, one.mean_precision[0], printed, one.mean_total[0])


def _printed_steps_expectation(p: float, q: float, size: int) -> float:
    """Formula (3) of the appendix."""
    root = sqrt(1 - 4 * p * q)
    small, large = (1 - root) / (2 * p), (1 + root) / (2 * p)
    g1, g2 = (one**size - q * one ** (size - 1) for one in (small, large))
    constant = (g1 / (1 - p - q) - p / (1 - p - q)) / (g2 - g1)
    return constant * root / p + (2 * p - 1 + root) / (2 * p * (1 - p - q))


def appendix_c_steps(grid: Grid) -> Iterator[Case]:
    for (p, q), size in product(_PAIRS, (1, 2, 3, 6, 10, 25)):
        true = Situation("", Chain.walk(size, p, q), (0,) * size).mean_steps[0]
        yield Case(f"p={p:g}, q={q:g}, N={size}", _printed_steps_expectation(p, q, size), true)


def appendix_c_forward(grid: Grid) -> Iterator[Case]:
    """Against users, and against (3) at q = 0."""
    for p, size in product(grid.FORWARD, (1, 2, 5, 10)):
        followed = Situation("", Chain.of(np.full(size, p)), (0,) * size).mean_steps[0]
        true = [followed, _printed_steps_expectation(p, 0.0, size)]
        yield Case(f"p={p:g}, N={size}", np.full(2, (1 - p**size) / (1 - p)), true)


def appendix_c_infinite(grid: Grid) -> Iterator[Case]:
    for p, q in (*_PAIRS, (0.9, 0.05)):
        printed = (2 * p - 1 + sqrt(1 - 4 * p * q)) / (2 * p) / (1 - p - q)
        bands = np.repeat([[-p], [1.0], [-q]], 800, axis=1)  # of Id - P~
        yield Case(f"p={p:g}, q={q:g}, N=800", printed, solve_banded((1, 1), bands, np.ones(800))[0])


def appendix_c_forward_infinite(grid: Grid) -> Iterator[Case]:
    for p in grid.FORWARD:
        printed = (2 * p - 1 + sqrt(1.0)) / (2 * p) / (1 - p)
        yield Case(f"p={p:g}, N=800", [printed, 1 / (1 - p)], np.full(2, _survival(p, 800).sum()))


_FOLLOWED = "users followed step by step"
_LONG = "a list of 800 documents"

FORMULAS = (
    Formula("section3/matrix", "the sums of its rows", section3_rows),
    Formula("section3/equation-1", "all walks of at most 9 steps", section3_stopping_time),
    Formula(
        "section3/last-rank",
        "all walks of at most 9 steps",
        section3_last_rank,
        "X_H is the rank of the last document visited",
        "H = H^End - 1 is the last n with X_n != End, so that the last document visited is X_H. X_N is where the user "
        "is after N steps; the two are the same for sure only if H = N, as in the deterministic model and by chance in"
        " example 4.1.",
    ),
    Formula("section4/utility", "the three assumptions on g, counted where broken", section4_utility),
    Formula(
        "example4.1/argument",
        "the values that the example prints",
        example41_argument,
        "g(1, r[X_1]) = 3, g(1, r[X_2]) = 2, g(2, r[X_3]) = 1.5, g(2, r[X_4]) = 1, g(1, r[X_5]) = 3",
        "The second argument of g is a relevance, and X_n is a rank. g(1, X_1) = g(1, 1) would be 1; with r[X_n] in "
        "its place, as in (2), all five values are the printed ones.",
    ),
    Formula("section5/equation-2", "the same sum document by document", equation_2),
    Formula(
        "section5/equation-5",
        _FOLLOWED,
        equation_5,
        "P[(1/f(H)) sum of g(k(n), r[X_n]) > x] <= P[(1/f(H)) sum of g(k(n), s[X_n]) > x] for all x",
        "Order 3 compares the laws of P@H, and P@H divides by f(H) as (2) defines it; (3) and (4) print f(H). The "
        "printed 1/H is the case f(h) = h, which is the one that the paper draws.",
    ),
    Formula("section6.1/equation-6", _FOLLOWED, equation_6),
    Formula("section6.2/forward-probability", "the sums of the rows", section62_forward),
    Formula(
        "section6.2/law-of-H",
        _FOLLOWED,
        section62_law,
        "P[H = i] = (r[i]/RB) (1 - 1/RB)^R_(i-1) for i < N, and P[H = N] = (1 - 1/RB)^R_(N-1)",
        "A user who stops with the constant probability 1/RB after each relevant document comes past R_(i-1) of them "
        "with probability (1 - 1/RB)^R_(i-1) and then stops at i with r[i]/RB: H counts trials until a success, cut at"
        " N, and is not uniform over the relevant documents.",
    ),
    Formula(
        "section6.2/equation-7",
        _FOLLOWED,
        equation_7,
        "AP = E[P@H] if she stops after the relevant document at rank i with probability 1/(RB - R_(i-1)) in place of "
        "1/RB",
        "If every rank before i was survived, P[H >= i] = (RB - R_(i-1))/RB by induction: it is 1 at the top, and a "
        "relevant document takes the share 1/(RB - R_(i-1)) of it, which leaves (RB - R_i)/RB. Hence P[H = i] = "
        "r[i]/RB, and the expectation of the precision at H is AP. This is the paper's own matrix with R_N = RB.",
    ),
    Formula("section6.2/total-probability", "the sum, for runs that retrieve all and for others", section62_total),
    Formula("section6.2/matrix", _FOLLOWED, section62_matrix),
    Formula("section6.3/law-of-H", _FOLLOWED, section63_law),
    Formula("section6.3/equation-8", "the first 4000 terms", equation_8),
    Formula("section6.3/expected-utility", _FOLLOWED, section63_utility),
    Formula("section6.3/equation-9", "E[T]/E[H], followed by 800 nonrelevant documents", equation_9),
    Formula("section6.3/stop-at-N", _FOLLOWED, section63_last),
    Formula("section6.3/K-p-N", _FOLLOWED, section63_steps),
    Formula("section6.3/K-limit", _LONG, section63_limit),
    Formula("section6.3/RBP-N", _FOLLOWED, section63_rbp),
    Formula(
        "section6.3/RBP-N-index",
        _FOLLOWED,
        section63_index,
        "K(p,N)^(-1) sum_(i=1)^N r[i] p^(i-1)",
        "The sum runs over n and its terms hold i. With i as the index, E[T] = sum of r[i] P[H >= i] = sum of r[i] "
        "p^(i-1) and E[H] = K(p,N), whose quotient is RBP(N).",
    ),
    Formula("section6.4/equation-10", _FOLLOWED, equation_10),
    Formula("section6.4/orders-coincide", _FOLLOWED, section64_orders),
    Formula("section6.5/matrix", _FOLLOWED, section65_matrix),
    Formula("section6.5/law-of-H", _FOLLOWED, section65_law),
    Formula(
        "section6.5/equation-11",
        _FOLLOWED,
        equation_11,
        "E[1/H] = ERR(r) + (1/N) prod_(j=1)^N (1 - R_j), with ERR of (11) and R_N = rho(r[N])",
        "The model stops everybody at rank N, so that P[H = N] = prod_(j<N) (1 - R_j), while the term of (11) for N is"
        " that times R_N. The difference is prod_(j<N) (1 - R_j) (1 - R_N) / N: the users who read everything "
        "unsatisfied, who count 0 in ERR and 1/N here. (11) with R_N = 1 put into it is E[1/H], but is not the measure"
        " of Chapelle et al.",
    ),
    Formula(
        "appendix-a/order1-sfbm",
        _FOLLOWED,
        appendix_a_forward,
        "sum_(h=1)^(N-1) p^(h-1) (1-p) (1/h) sum_(i=1)^h g(1,r[i]) + p^(N-1) (1/N) sum_(i=1)^N g(1,r[i])",
        "P[H >= h] = p^(h-1), as h - 1 steps forward lead to rank h. At rank N everybody stops, so P[H = N] = P[H >= "
        "N] = p^(N-1), as section 6.3 says itself. The printed weights add up to 1 - p^(N-1) (1 - p), less than 1.",
    ),
    Formula("appendix-a/order1-general", "an integral over generating functions, exact", appendix_a_general),
    Formula("appendix-b/H-as-T", _FOLLOWED, appendix_b_steps),
    Formula(
        "appendix-b/expectation-notation",
        _FOLLOWED,
        appendix_b_notation,
        "E[T(H) | X_1 = i] = E_i[T(H)]",
        "The chain of equalities is about T(H), whose definition stands right after the sign; f(H) is the effort, and "
        "E_i[f(H)] is the denominator of order 2.",
    ),
    Formula("appendix-b/conditioning", _FOLLOWED, appendix_b_conditioning),
    Formula(
        "appendix-b/recursion-E",
        _FOLLOWED,
        appendix_b_recursion,
        "E_i[T(H)] = g(r[i]) + sum_(j in N) p_ij E_j[T(H)]",
        "Condition on X_2. From End nothing more is gained; from j the walk starts anew, by the Markov property, so "
        "that E_i[T | X_2 = j] = g(r[i]) + E_j[T]. Weighted by p_ij and summed, the p_ij of g(r[i]) add up to 1 and "
        "those of E_j stay. Only with them is (1), E = (Id - P~)^-1 rho, the solution.",
    ),
    Formula("appendix-b/expectation-of-T", _FOLLOWED, appendix_b_expectation),
    Formula(
        "appendix-b/variance-of-T",
        _FOLLOWED,
        appendix_b_variance,
        "V = (Id - P~)^-1 R [Id + 2 P~ (Id - P~)^-1] rho - E o E, where o multiplies component by component",
        "T = r[i] + T' with T' = 0 at End and T' like T from X_2 otherwise. So M_i = E_i[T^2] = r[i]^2 + 2 r[i] sum_j "
        "p_ij E_j + sum_j p_ij M_j, that is (Id - P~) M = R rho + 2 R P~ E with E = (Id - P~)^-1 rho. Hence M is the "
        "printed product with + in place of -, and the variance is M - E o E. The printed one is negative where a "
        "second visit is likely.",
    ),
    Formula(
        "appendix-b/vector-s",
        "the number of components of the right side",
        appendix_b_vector,
        "s = (s_1(n), ..., s_N(n))^tr",
        "The right side has one component for each of the N starting ranks.",
    ),
    Formula("appendix-b/distribution-of-T", _FOLLOWED, appendix_b_distribution),
    Formula(
        "appendix-b/distribution-of-T-zero",
        _FOLLOWED,
        appendix_b_distribution_zero,
        "P_i(T(H) = 0) = 1 - ([Id - (Id - R) P~]^-1 rho)_i; the printed form is for n >= 1",
        "A = [Id - (Id - R) P~]^-1 sums over walks through nonrelevant ranks, so that (A R)_ij is the probability that"
        " j is the first relevant rank visited, and P_i[T >= 1] = (A R e)_i = (A rho)_i. From a relevant rank to the "
        "next it is P~ A R, hence P[T >= n] = A R (P~ A R)^(n-1) e = (A R P~)^(n-1) A rho, and the printed form is P[T"
        " >= n] - P[T >= n+1] for n >= 1. At n = 0 it asks for the inverse of A R P~. There is none if a rank is not "
        "relevant (R is singular) or if N is odd (P~ is, as its diagonal is 0); where there is one, it does not give "
        "P[T = 0].",
    ),
    Formula(
        "appendix-b/distribution-of-T-graded",
        _FOLLOWED,
        appendix_b_distribution_graded,
        "s_i(n) = [n = r[i]] p_(i,End) + sum_(j in N) p_ij s_j(n - r[i]), solved for n = 0, 1, 2, ...",
        "The printed form counts visits to relevant ranks, which is T(H) only for REL = {0, 1}; with more grades Id - "
        "R is not the indicator of nonrelevance. Conditioning on X_2 gives the recursion for any whole gains; at each "
        "n it is a linear system in the ranks of gain 0 alone.",
    ),
    Formula("appendix-b/expectation-of-H", _FOLLOWED, appendix_b_steps_expectation),
    Formula(
        "appendix-b/variance-of-H",
        _FOLLOWED,
        appendix_b_steps_variance,
        "V = (Id - P~)^-1 [Id + 2 P~ (Id - P~)^-1] e - E o E",
        "The variance of T(H) with R = Id and rho = e. For a geometric H, P~ = p: E = 1/(1-p), E[H^2] = (1+p)/(1-p)^2 "
        "and the variance is p/(1-p)^2, while the printed form gives (1-3p)/(1-p)^2.",
    ),
    Formula("appendix-b/distribution-of-H", _FOLLOWED, appendix_b_steps_distribution),
    Formula("appendix-b/sfbm-mean", _FOLLOWED, section63_utility),
    Formula("appendix-b/sfbm-variance", _FOLLOWED, appendix_b_forward_variance),
    Formula("appendix-b/rbp-up-to-a-constant", _FOLLOWED, appendix_b_rbp),
    Formula(
        "appendix-c/polynomial-N6",
        _FOLLOWED,
        appendix_c_polynomial,
        "the same fraction is E_1[T(H)] = E_1[sum_(n=1)^H r[X_n]], with p_1 = p and s_1 = 1 - p",
        "det(Id - P~) of six ranks is 1 - 5pq + 6p^2q^2 - p^3q^3, and the numerator is the sum over the relevant ranks"
        " 1, 4, 6 of the cofactors p^(i-1) det(Id - P~ of the ranks after i): 1 - 4pq + 3p^2q^2 for rank 1, p^3 (1 - "
        "pq) for rank 4, p^5 for rank 6. So it is the first component of (Id - P~)^-1 rho, the numerator of order 2, "
        "as the sentence before it says; E_1[P@H] would need the division by H inside the expectation.",
    ),
    Formula("appendix-c/expectation-of-H", _FOLLOWED, appendix_c_steps),
    Formula("appendix-c/K-p-0-N", _FOLLOWED, appendix_c_forward),
    Formula("appendix-c/K-infinity", _LONG, appendix_c_infinite),
    Formula("appendix-c/K-p-0-infinity", _LONG, appendix_c_forward_infinite),
    Formula("appendix-d/exchange-of-sums", _FOLLOWED, appendix_d_sums),
    Formula("appendix-d/linear-system", _FOLLOWED, appendix_d_system),
    Formula("appendix-d/P-H-1", "the linear system", appendix_d_first),
    Formula("appendix-d/P-H-2", "the linear system", appendix_d_second),
    Formula("appendix-d/P-H-i", "the linear system", appendix_d_inner),
    Formula("appendix-d/P-H-N", "the linear system", appendix_d_last),
    Formula("appendix-d/P-H-n-as-product", _FOLLOWED, appendix_d_product),
    Formula("appendix-d/P-H-N-as-product", _FOLLOWED, appendix_d_product_last),
    Formula("appendix-d/p-i", "the linear system", appendix_d_probabilities),
    Formula("appendix-d/matrix", "the linear system", appendix_d_matrix),
)


# --- the check ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Checked:
    """What came out for one formula."""

    formula: Formula
    cases: int
    deviation: float
    """Infinite where the printed formula has no value."""
    worst: Case
    corrected_deviation: float
    """Not a number where the formula needs no correction."""

    @property
    def holds(self) -> bool:
        return self.deviation <= TOLERANCE


def deviation(found: ArrayLike, true: ArrayLike) -> float:
    """The largest difference, relative to values above 1; infinite where there is no value.

    >>> deviation([1.0, 20.0], [1.0, 10.0])
    1.0
    """
    found, true = np.asarray(found, dtype=np.float64), np.asarray(true, dtype=np.float64)
    difference = np.abs(found - true) / np.maximum(1.0, np.abs(true))
    return float(np.where(np.isfinite(difference), difference, np.inf).max(initial=0.0))


def check(formula: Formula, grid: Grid) -> Checked:
    """Try one formula at every point of the grid."""
    cases = list(formula.cases(grid))
    deviations = [deviation(one.printed, one.true) for one in cases]
    worst = int(np.argmax(np.round(deviations, 11)))  # The first of equals, whatever the machine rounds.
    corrected = np.nan
    if formula.corrected:
        corrected = max(
            deviation(one.corrected, one.true if one.corrected_true is None else one.corrected_true) for one in cases
        )
    return Checked(formula, len(cases), deviations[worst], cases[worst], corrected)


def check_all() -> list[Checked]:
    """Try all formulas."""
    grid = Grid()
    return [check(one, grid) for one in FORMULAS]


def closed_forms(checked: Sequence[Checked], claims: Mapping[str, Claim]) -> pd.DataFrame:
    """One row a formula: whether it holds, and the corrected one.

    Deviations are rounded to 11 decimals, because rounding errors differ between machines; without a value it is
    infinite.
    """
    rows = []
    for one in checked:
        claim = claims[f"ictir2020/{one.formula.id}"]
        rows.append(
            {
                "id": one.formula.id,
                "where": claim.where,
                "formula": claim.printed,
                "largest_deviation": round(one.deviation, 11),
                "holds": "yes" if one.holds else "no",
                "corrected": one.formula.corrected,
                "corrected_deviation": round(one.corrected_deviation, 11),
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def magnitude(value: float) -> str:
    """A deviation in words: four digits where it is one, a bound where it is only rounding.

    >>> magnitude(0.92199), magnitude(3e-17), magnitude(float("inf"))
    ('0.922', 'below 1e-10', 'infinite (no value)')
    """
    if np.isinf(value):
        return "infinite (no value)"
    return f"below {TOLERANCE:.0e}" if value < TOLERANCE else f"{value:.4g}"


def errata(checked: Sequence[Checked], claims: Mapping[str, Claim]) -> str:
    """The formulas that do not hold, with what they should read and why, in Markdown."""
    wrong = [one for one in checked if not one.holds]
    lines = [
        "# Errata of the formulas",
        "",
        f"{len(checked)} formulas of the paper and its appendices were computed exactly as printed and compared with "
        f"brute force at {sum(one.cases for one in checked)} points of parameters. {len(checked) - len(wrong)} hold to"
        f" 1e-10; {len(wrong)} do not hold as printed, typing slips included. Each corrected one holds to 1e-10 at the"
        " same points, and the reason is given.",
        "",
        "P~ is the matrix of the steps among the ranks, R the diagonal matrix of the gains, rho their vector, e a "
        "vector of ones,",
        "R_i the number of relevant documents up to rank i.",
    ]
    for one in wrong:
        claim = claims[f"ictir2020/{one.formula.id}"]
        lines += [
            "",
            f"## {one.formula.id} ({claim.where})",
            "",
            f"- What it is about: {claim.what}.",
            f"- Printed: `{claim.printed}`",
            f"- Corrected: `{one.formula.corrected}`",
            f"- Evidence: {one.formula.against}; largest deviation as printed {magnitude(one.deviation)}, corrected "
            f"{magnitude(one.corrected_deviation)}, over {one.cases} points.",
            f"- Where it is largest ({one.worst.at}): printed {_shown(one.worst.printed)}, true "
            f"{_shown(one.worst.true)}.",
            f"- Why: {one.formula.proof}",
        ]
    return "\n".join(lines) + "\n"


def _shown(values: ArrayLike) -> str:
    """A few numbers of a case."""
    array = np.atleast_1d(np.asarray(values, dtype=np.float64)).ravel()
    if not np.isfinite(array).all():
        return "no value (the inverse of a singular matrix)"
    text = ", ".join(f"{one + 0:.5g}" for one in np.where(np.abs(array[:6]) < 1e-12, 0.0, array[:6]))
    return text + (", ..." if len(array) > 6 else "")
