"""Markov Precision (Ferrante, Ferro, Maistro, SIGIR 2014), section 4, with full matrices.

States, weights (9), transition matrix (10), the chain watched on the relevant ranks by the linear system (8), its
invariant law as a solution of pi = pi P, and Definition 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log10

import numpy as np
from numpy.typing import NDArray

from walkeval.reference.classical import Gains, precision_at, recall_at, relevant_ranks

Kernel = Callable[[int], float]


def inverse_distance() -> Kernel:
    """alpha(d) = 1 / (d + 1) (9)."""
    return lambda distance: 1 / (distance + 1)


def logarithmic_inverse_distance(offset: float, outside: float = 0.0) -> Kernel:
    """alpha(d) = 1 / (outside + log10(d + offset)).

    The paper prints no formula: it smooths "the distance by using the base 10 logarithm". The offset within the
    logarithm, and what is added outside it, are the readings that its text leaves open.
    """
    return lambda distance: 1 / (outside + log10(distance + offset))


def constant() -> Kernel:
    """alpha(d) = 1: every other document is as likely (7)."""
    return lambda distance: 1.0


def transition_matrix(states: Sequence[int], connectedness: str, kernel: Kernel) -> NDArray[np.float64]:
    """p(s_i, s_j) = alpha(s_i, s_j) / sum over k of alpha(s_i, s_k) (10).

    States are ranks. GL connects every pair of different states, LO only neighbours in the list of states; the
    distance is always that of the ranks. A single state leads to itself.
    """
    size = len(states)
    if size == 1:
        return np.ones((1, 1))
    alpha = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            if i == j or (connectedness == "LO" and abs(i - j) != 1):
                continue
            alpha[i, j] = kernel(abs(states[i] - states[j]))
    return alpha / alpha.sum(axis=1, keepdims=True)


def watched_on(matrix: NDArray[np.float64], watched: Sequence[int]) -> NDArray[np.float64]:
    """Transition matrix of the chain seen only while it is in the watched states (positions, from 0).

    h_i^j = p_ij + sum over unwatched k of p_ik h_k^j (8), solved over all states i for each watched j.
    """
    watched = list(watched)
    unwatched = sorted(set(range(len(matrix))) - set(watched))
    system = np.eye(len(matrix))
    system[:, unwatched] -= matrix[:, unwatched]
    return np.linalg.solve(system, matrix[:, watched])[watched, :]


def invariant_law(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The solution of pi = pi P with sum 1: the equations of pi (I - P) = 0 with one replaced by the sum."""
    size = len(matrix)
    system = (np.eye(size) - matrix).T
    system[-1, :] = 1.0
    right = np.zeros(size)
    right[-1] = 1.0
    return np.linalg.solve(system, right)


def relevant_law(gains: Gains, connectedness: str, space: str, kernel: Kernel) -> NDArray[np.float64]:
    """Invariant law over the relevant ranks: chain on all ranks, then watched (AD), or on these alone (OR)."""
    ranks = relevant_ranks(gains)
    if space == "OR":
        return invariant_law(transition_matrix(ranks, connectedness, kernel))
    whole = transition_matrix(range(1, len(gains) + 1), connectedness, kernel)
    return invariant_law(watched_on(whole, [rank - 1 for rank in ranks]))


def markov_precision(
    gains: Gains,
    connectedness: str = "GL",
    space: str = "AD",
    kernel: Kernel | None = None,
    recall_base: int | None = None,
    holding: Sequence[float] | None = None,
) -> float:
    """MP = sum of pi_i Prec(i) over the relevant ranks (Definition 1).

    The kernel is `inverse_distance` unless given. With ``recall_base``, rescaled by Rec(T) (2). With ``holding``,
    the parameters mu of the exponential holding times by rank, continuous time: pi_i / mu_i, normalised.

    >>> round(markov_precision([1, 1, 1, 1, 0, 0, 0, 1, 0, 0]), 4)
    0.9205
    """
    ranks = relevant_ranks(gains)
    if not ranks:
        return 0.0
    law = relevant_law(gains, connectedness, space, inverse_distance() if kernel is None else kernel)
    if holding is not None:
        law = np.array([weight / holding[rank - 1] for weight, rank in zip(law, ranks, strict=True)])
        law = law / law.sum()
    value = sum(weight * precision_at(gains, rank) for weight, rank in zip(law, ranks, strict=True))
    if recall_base is not None:
        value *= recall_at(gains, len(gains), recall_base)
    return float(value)
