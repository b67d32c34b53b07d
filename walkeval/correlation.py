"""Kendall's rank correlation between measures, with every convention a parameter.

Two orders of the same n systems agree on some pairs and disagree on others; a pair that either order ties is neither.
``tau_a = (agreements - disagreements) / all pairs``; ``tau_b`` divides by the geometric mean of the pairs that are not
tied in the one order and in the other (Kendall 1945).

Means over topics are sums of floats, and equal means may differ in their last bit. A difference there is not a
difference between systems, so means are rounded before they are compared: to ``NOISE_DECIMALS`` of the order of
magnitude of the largest, unless a convention says otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from walkeval.errors import ParameterError
from walkeval.seeds import generator

NOISE_DECIMALS = 12
"""Decimals at which means of at most 1e4 topics of scores at most 1 carry no rounding noise."""
ONE_SYSTEM = "tau needs at least two systems"
ALL_EQUAL = "all systems are equal under one of the measures"
_CHUNK = 20_000_000
"""Signs of pairs that are held at once when samples are drawn: bounds the memory whatever the number of runs."""


@dataclass(frozen=True)
class Tau:
    """A correlation, or the reason why there is none."""

    value: float
    pairs: int
    disagreements: int
    ties: int
    """Pairs that are tied in at least one of the two orders."""
    reason: str = ""


def pair_signs(values: ArrayLike, decimals: int | None = None) -> NDArray[np.int8]:
    """The sign of the difference of every pair of systems, after rounding; the last axis becomes pairs."""
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ParameterError("tau needs finite scores")
    if decimals is None:
        # The noise of a sum grows with its terms, and some measures go far beyond 1.
        largest = np.abs(values).max(axis=-1, keepdims=True, initial=1.0)
        rounded = np.round(values / 10.0 ** np.ceil(np.log10(largest)), NOISE_DECIMALS)
    else:
        rounded = np.round(values, decimals)
    first, second = np.triu_indices(rounded.shape[-1], k=1)
    return np.sign(rounded[..., first] - rounded[..., second]).astype(np.int8)


def kendall(x: ArrayLike, y: ArrayLike, variant: str = "b", decimals: int | None = None) -> Tau:
    """Kendall's tau of two scores of the same systems.

    >>> kendall([1, 2, 3, 4], [1, 2, 4, 3]).value
    0.6666666666666666
    >>> kendall([1, 1], [1, 2]).reason
    'all systems are equal under one of the measures'
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ParameterError(f"tau needs two scores of the same systems; got the shapes {x.shape} and {y.shape}")
    if variant not in ("a", "b"):
        raise ParameterError(f"tau variant must be 'a' or 'b'; got {variant!r}")
    sign_x, sign_y = pair_signs(x, decimals).astype(np.int64), pair_signs(y, decimals).astype(np.int64)
    pairs = len(sign_x)
    if not pairs:
        return Tau(float("nan"), 0, 0, 0, ONE_SYSTEM)
    product = sign_x * sign_y
    untied_x, untied_y = int(np.abs(sign_x).sum()), int(np.abs(sign_y).sum())
    disagreements, ties = int((product < 0).sum()), int((product == 0).sum())
    if variant == "b" and not (untied_x and untied_y):
        return Tau(float("nan"), pairs, disagreements, ties, ALL_EQUAL)
    # The root of a square is exact, so that a perfect agreement is exactly 1.
    divisor = pairs if variant == "a" else math.sqrt(untied_x * untied_y)
    return Tau(float(product.sum() / divisor), pairs, disagreements, ties)


def tau_matrix(scores: NDArray[np.float64], variant: str = "b", decimals: int | None = None) -> NDArray[np.float64]:
    """Kendall's tau between every two rows of scores (by measure and system); not a number where it is undefined.

    Leading axes, such as samples, are kept.
    """
    if variant not in ("a", "b"):
        raise ParameterError(f"tau variant must be 'a' or 'b'; got {variant!r}")
    signs = pair_signs(scores, decimals).astype(np.float32)
    # Products of signs are whole numbers, and float32 holds them exactly up to 2^24 pairs.
    product = (signs @ np.swapaxes(signs, -1, -2)).astype(np.float64)
    if variant == "a":
        return product / signs.shape[-1] if signs.shape[-1] else np.full(product.shape, np.nan)
    untied = np.diagonal(product, axis1=-2, axis2=-1)
    divisor = np.sqrt(untied[..., :, None] * untied[..., None, :])
    return np.divide(product, divisor, out=np.full(product.shape, np.nan), where=divisor > 0)


def bootstrap_intervals(
    scores: NDArray[np.float64],
    name: str,
    samples: int = 1000,
    variant: str = "b",
    decimals: int | None = None,
    level: float = 0.95,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile intervals of tau between every two measures, over samples of topics drawn with replacement.

    ``scores`` are by measure, system and topic; ``name`` seeds the samples. Samples in which tau is undefined are left out;
    where none remains, the interval is not a number.
    """
    measures, systems, topics = scores.shape
    undefined = np.full((measures, measures), np.nan)
    if samples == 0 or measures == 0 or systems < 2 or topics < 2:
        return undefined, undefined.copy()
    draws = generator(f"bootstrap/{name}").integers(topics, size=(samples, topics))
    weight = np.zeros((samples, topics))
    np.add.at(weight, (np.arange(samples)[:, None], draws), 1.0)
    taus = np.empty((samples, measures, measures))
    step = max(1, min(32, _CHUNK // (measures * systems * (systems - 1) // 2)))
    for first in range(0, samples, step):
        means = np.einsum("mrt,st->smr", scores, weight[first : first + step], optimize=True) / topics
        taus[first : first + step] = tau_matrix(means, variant, decimals)
    tail = (1 - level) / 2
    defined = np.isfinite(taus).any(axis=0)
    low, high = undefined.copy(), undefined.copy()
    if defined.any():
        low[defined], high[defined] = np.nanquantile(taus[:, defined], [tail, 1 - tail], axis=0)
    return low, high
