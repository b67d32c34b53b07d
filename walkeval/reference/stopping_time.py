"""P@H (Ferrante, Ferro, ICTIR 2020): users that walk a list until they stop, one path after the other.

A browsing model is two vectors over the ranks 1..N: ``forward`` (p_i) and ``backward`` (q_i), with q_1 = 0; the
user stops at rank i with probability s_i = 1 - p_i - q_i. In the paper p_N = 0. A positive p_N is allowed here for
one purpose: it is the probability of walking off the list, a user without a score, who counts as 0 in order 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from walkeval.reference.classical import Gains, gain_of, is_relevant

Utility = Callable[[int, float], float]
Vectors = tuple[list[float], list[float]]


def utility_with_loss(loss: float) -> Utility:
    """g(k, y) = y (1 - loss)^(k-1): what the k-th visit to a document of relevance y is worth (example 4.1)."""
    return lambda visit, relevance: relevance * (1 - loss) ** (visit - 1)


def _utility(loss: float | Utility) -> Utility:
    return loss if callable(loss) else utility_with_loss(loss)


def transition_matrix(forward: Sequence[float], backward: Sequence[float]) -> NDArray[np.float64]:
    """The matrix of section 3 with its rows and columns in the paper's order: End, 1, 2, ..., N."""
    size = len(forward)
    matrix = np.zeros((size + 1, size + 1))
    matrix[0, 0] = 1.0
    for rank in range(1, size + 1):
        matrix[rank, 0] = 1 - forward[rank - 1] - backward[rank - 1]
        if rank > 1:
            matrix[rank, rank - 1] = backward[rank - 1]
        if rank < size:
            matrix[rank, rank + 1] = forward[rank - 1]
    return matrix


def score_path(
    gains: Gains, path: Sequence[int], loss: float | Utility = 0.0, effort: Callable[[int], float] = lambda h: h
) -> float:
    """P@H of one user (2): the sum of g(k(n), r[X_n]) along the visited ranks, over f(H).

    Example 4.1 of the paper:

    >>> score_path([3, 2, 3, 0, 1], [1, 2, 1, 2, 3], loss=0.5)
    2.1
    """
    return total_of_path(gains, path, loss) / effort(len(path))


def total_of_path(gains: Gains, path: Sequence[int], loss: float | Utility = 0.0) -> float:
    """T(H): the sum of g(k(n), r[X_n]) along the visited ranks."""
    utility = _utility(loss)
    total = 0.0
    for n in range(1, len(path) + 1):
        visit = sum(1 for i in range(1, n + 1) if path[i - 1] == path[n - 1])
        total += utility(visit, gain_of(gains[path[n - 1] - 1]))
    return total


def all_paths(forward: Sequence[float], backward: Sequence[float], max_steps: int) -> Iterator[tuple[list[int], float]]:
    """Every path from rank 1 to End with at most ``max_steps`` visited documents, and its probability."""
    matrix = transition_matrix(forward, backward)
    pending = [([1], 1.0)]
    while pending:
        path, probability = pending.pop()
        here = path[-1]
        if matrix[here, 0] > 0:
            yield path, float(probability * matrix[here, 0])
        if len(path) < max_steps:
            for there in (here - 1, here + 1):
                if 1 <= there < len(matrix) and matrix[here, there] > 0:
                    pending.append(([*path, there], probability * float(matrix[here, there])))


def _grouped_paths(
    forward: Sequence[float], backward: Sequence[float], max_steps: int
) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """The same paths, those with equal visits to every rank taken together: steps, visits by rank, probability.

    The total utility of a path depends on nothing but how often it visits each rank, so this loses nothing and
    reaches far longer paths than `all_paths`.
    """
    matrix = transition_matrix(forward, backward)
    size = len(forward)
    alive = {(1, (1,) + (0,) * (size - 1)): 1.0} if size else {}
    for steps in range(1, max_steps + 1):
        following: dict[tuple[int, tuple[int, ...]], float] = {}
        for (here, visits), probability in alive.items():
            if matrix[here, 0] > 0:
                yield steps, visits, float(probability * matrix[here, 0])
            for there in (here - 1, here + 1):
                if 1 <= there <= size and matrix[here, there] > 0:
                    more = visits[: there - 1] + (visits[there - 1] + 1,) + visits[there:]
                    key = (there, more)
                    following[key] = following.get(key, 0.0) + probability * float(matrix[here, there])
        alive = following


def _total_of_visits(gains: Gains, visits: Sequence[int], utility: Utility) -> float:
    return sum(
        utility(k, gain_of(gain)) for gain, count in zip(gains, visits, strict=True) for k in range(1, count + 1)
    )


def path_sum(
    gains: Gains,
    forward: Sequence[float],
    backward: Sequence[float],
    loss: float | Utility = 0.0,
    effort: Callable[[int], float] = lambda h: h,
    max_steps: int = 40,
) -> tuple[float, float, float, float]:
    """Sums over all paths of at most ``max_steps`` visits (appendix A).

    Returns E[T(H) / f(H)] (order 1), E[T(H)] and E[f(H)] (numerator and denominator of order 2), and the
    probability of the paths left out, by which the first is at most short times the largest score.
    ``loss`` is the loss of `utility_with_loss`, or any function g(k, y).
    """
    utility = _utility(loss)
    order1 = numerator = denominator = counted = 0.0
    for steps, visits, probability in _grouped_paths(forward, backward, max_steps):
        total = _total_of_visits(gains, visits, utility)
        order1 += probability * total / effort(steps)
        numerator += probability * total
        denominator += probability * effort(steps)
        counted += probability
    return order1, numerator, denominator, 1 - counted


def law_of_score(
    gains: Gains,
    forward: Sequence[float],
    backward: Sequence[float],
    loss: float | Utility = 0.0,
    effort: Callable[[int], float] = lambda h: h,
    max_steps: int = 40,
) -> dict[float, float]:
    """Law of P@H by enumeration: probability by value (to 12 decimals, so that equal scores are one value)."""
    utility = _utility(loss)
    law: dict[float, float] = {}
    for steps, visits, probability in _grouped_paths(forward, backward, max_steps):
        value = round(_total_of_visits(gains, visits, utility) / effort(steps), 12)
        law[value] = law.get(value, 0.0) + probability
    return dict(sorted(law.items()))


def law_of_steps(forward: Sequence[float], backward: Sequence[float], max_steps: int) -> list[float]:
    """P(H = h) for h = 1..max_steps: X_(h+1) is End and X_h is not, from powers of the matrix."""
    matrix = transition_matrix(forward, backward)
    ended = [float(np.linalg.matrix_power(matrix, steps)[1, 0]) for steps in range(max_steps + 1)]
    return [ended[h] - ended[h - 1] for h in range(1, max_steps + 1)]


def expected_total(gains: Gains, forward: Sequence[float], backward: Sequence[float]) -> NDArray[np.float64]:
    """E_i[T(H)] for a start at each rank i, without loss: E_i = r[i] + sum over j of p_ij E_j (appendix B)."""
    within = transition_matrix(forward, backward)[1:, 1:]
    relevance = np.array([gain_of(gain) for gain in gains])
    return np.linalg.solve(np.eye(len(within)) - within, relevance)


def second_moment_total(gains: Gains, forward: Sequence[float], backward: Sequence[float]) -> NDArray[np.float64]:
    """E_i[T(H)^2]: T from i is r[i] plus T' from the next rank, so M_i = r[i]^2 + 2 r[i] (P E)_i + (P M)_i."""
    within = transition_matrix(forward, backward)[1:, 1:]
    relevance = np.array([gain_of(gain) for gain in gains])
    expectation = expected_total(gains, forward, backward)
    right = relevance**2 + 2 * relevance * (within @ expectation)
    return np.linalg.solve(np.eye(len(within)) - within, right)


def variance_total(gains: Gains, forward: Sequence[float], backward: Sequence[float]) -> NDArray[np.float64]:
    """Var_i[T(H)] = E_i[T(H)^2] - E_i[T(H)]^2."""
    return second_moment_total(gains, forward, backward) - expected_total(gains, forward, backward) ** 2


def expected_steps(forward: Sequence[float], backward: Sequence[float]) -> NDArray[np.float64]:
    """E_i[H]: the expectation of T(H) with g = 1."""
    return expected_total([1] * len(forward), forward, backward)


def variance_steps(forward: Sequence[float], backward: Sequence[float]) -> NDArray[np.float64]:
    """Var_i[H]: the variance of T(H) with g = 1."""
    return variance_total([1] * len(forward), forward, backward)


def law_of_total(
    gains: Gains, forward: Sequence[float], backward: Sequence[float], values: int
) -> NDArray[np.float64]:
    """P_1(T(H) = n) for n = 1..values, binary relevance, by the closed form of appendix B."""
    within = transition_matrix(forward, backward)[1:, 1:]
    relevance = np.array([1.0 if is_relevant(gain) else 0.0 for gain in gains])
    identity = np.eye(len(within))
    chosen = np.diag(relevance)
    reach = np.linalg.inv(identity - (identity - chosen) @ within)
    step = reach @ chosen @ within
    law = [np.linalg.matrix_power(step, n - 1) @ (identity - step) @ reach @ relevance for n in range(1, values + 1)]
    return np.array([float(value[0]) for value in law])


def simulate(
    gains: Gains,
    forward: Sequence[float],
    backward: Sequence[float],
    loss: float | Utility,
    users: int,
    seed: int,
) -> list[tuple[float, int]]:
    """T(H) and H of one simulated user after the other; a user who walks off the list is left out."""
    utility = _utility(loss)
    generator = np.random.default_rng(seed)
    outcomes = []
    for _ in range(users):
        visits = [0] * len(gains)
        rank, steps, total = 1, 0, 0.0
        while True:
            steps += 1
            visits[rank - 1] += 1
            total += utility(visits[rank - 1], gain_of(gains[rank - 1]))
            draw = generator.random()
            if draw < forward[rank - 1]:
                rank += 1
                if rank > len(gains):
                    break
            elif draw < forward[rank - 1] + backward[rank - 1]:
                rank -= 1
            else:
                outcomes.append((total, steps))
                break
    return outcomes


def _ending(forward: Sequence[float], backward: Sequence[float]) -> Vectors:
    """The vectors with q_1 = 0 and p_N = 0: before the first rank and after the last there is nothing."""
    return [*forward[:-1], 0.0][: len(forward)], [0.0, *backward[1:]][: len(backward)]


def deterministic_forward(size: int) -> Vectors:
    """DFBM: read everything, then stop. Precision at N is its P@H (6)."""
    return _ending([1.0] * size, [0.0] * size)


def stochastic_forward(size: int, p: float) -> Vectors:
    """SFBM with constant p: RBP(N) is its order 2, RBP is (1-p) times the numerator (section 6.3)."""
    return _ending([p] * size, [0.0] * size)


def random_walk(size: int, p: float, q: float) -> Vectors:
    """RWBM of Figure 1d: at the first rank what would go back goes forward, at the last what would go on stops."""
    return _ending(([p + q] + [p] * size)[:size], [q] * size)


def random_walk_appendix(size: int, p: float, q: float) -> Vectors:
    """RWBM of appendix C: p_i = p and q_i = q for any i, so at both ends the missing step is a stop."""
    return _ending([p] * size, [q] * size)


def average_precision_model(gains: Gains, recall_base: int | None = None) -> Vectors:
    """SFBM with P[H = i] = r[i] / B: AP is its order 1 (section 6.2).

    Without a recall base B = R_N, the relevant documents retrieved: the paper's corrected matrix, with
    p_i = (B - R_i) / (B - R_(i-1)). With one, B = RB: the 1 - R_N / RB of users who meet no stop walk off the end.
    """
    relevant = [1 if is_relevant(gain) else 0 for gain in gains]
    base = sum(relevant) if recall_base is None else recall_base
    forward, seen = [], 0
    for here in relevant:
        remaining = base - seen
        seen += here
        # Past the last relevant document nobody is left; the matrix of the paper stops there (its row sums to 1).
        forward.append((base - seen) / remaining if remaining > 0 else 0.0)
    return _ending(forward, [0.0] * len(gains)) if recall_base is None else (forward, [0.0] * len(gains))


def average_precision_constant_stop(gains: Gains, recall_base: int) -> Vectors:
    """Assumptions (2) and (3) of section 6.2 as printed: stop with probability 1 / RB at each relevant document.

    This is not the law P[H = i] = r[i] / RB that the text derives from it.
    """
    forward = [1 - 1 / recall_base if is_relevant(gain) else 1.0 for gain in gains]
    return _ending(forward, [0.0] * len(gains))


def discounted_gain_model(size: int, base: float) -> Vectors:
    """SFBM with P[H >= i] = 1 / max(1, log_b i): DCG is its expectation with f = 1 (appendix D)."""
    discount = [max(1.0, log(rank) / log(base)) for rank in range(1, size + 1)]
    forward = [discount[rank - 1] / discount[min(rank, size - 1)] for rank in range(1, size + 1)]
    return _ending(forward, [0.0] * size)


def reciprocal_rank_model(gains: Gains, max_grade: float) -> Vectors:
    """SFBM with s_i = R_i = (2^r - 1) / 2^max_grade and R_N = 1 (section 6.5): its E[1/H] is ERR with R_N = 1.

    Only the first step counts: use gains 1, 0, 0, ... in `path_sum`.
    """
    forward = [1 - (2 ** gain_of(gain) - 1) / 2**max_grade for gain in gains]
    return _ending(forward, [0.0] * len(gains))
