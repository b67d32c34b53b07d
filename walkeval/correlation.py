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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from walkeval.errors import ParameterError
from walkeval.seeds import generator

NOISE_DECIMALS = 12
"""Decimals at which means of at most 1e4 topics of scores at most 1 carry no rounding noise."""
ONE_SYSTEM = "tau needs at least two systems"
ALL_EQUAL = "all systems are equal under one of the measures"
_COMPANY = 32
"""Samples of topics whose means are computed together."""
SIGNS = 4_000_000
"""Signs of pairs that are held at once: bounds the memory whatever the number of systems, measures and samples."""
_EXACT = 2**24
"""Whole numbers up to which 32-bit floats are exact, and so the most pairs of which signs are added up in them."""


@dataclass(frozen=True)
class Tau:
    """A correlation, or the reason why there is none."""

    value: float
    pairs: int
    disagreements: int
    ties: int
    """Pairs that are tied in at least one of the two orders."""
    reason: str = ""


def _rounded(values: ArrayLike, decimals: int | None) -> NDArray[np.float64]:
    """Scores without the differences that are none."""
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ParameterError("tau needs finite scores")
    if decimals is None:
        # The noise of a sum grows with its terms, and some measures go far beyond 1.
        largest = np.abs(values).max(axis=-1, keepdims=True, initial=1.0)
        return np.round(values / 10.0 ** np.ceil(np.log10(largest)), NOISE_DECIMALS)
    return np.round(values, decimals)


def _sign_blocks(rounded: NDArray[np.float64], most: int = SIGNS) -> Iterator[NDArray[np.int8]]:
    """The signs of all pairs, about ``most`` of them at a time: those of the first systems with all behind, and so on."""
    systems = rounded.shape[-1]
    others = max(1, rounded.size // max(1, systems))
    step = max(1, min(_EXACT, most // others) // max(1, systems))
    for start in range(0, systems - 1, step):
        first, second = np.nonzero(np.arange(systems) > np.arange(start, min(start + step, systems - 1))[:, None])
        yield np.sign(rounded[..., first + start] - rounded[..., second]).astype(np.int8)


def pair_signs(values: ArrayLike, decimals: int | None = None) -> NDArray[np.int8]:
    """The sign of the difference of every pair of systems, after rounding; the last axis becomes pairs.

    >>> pair_signs([0.5, 0.3, 0.5])
    array([ 1,  0, -1], dtype=int8)
    """
    rounded = _rounded(values, decimals)
    none = np.empty((*rounded.shape[:-1], 0), dtype=np.int8)
    return np.concatenate([none, *_sign_blocks(rounded)], axis=-1)


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
    pairs = len(x) * (len(x) - 1) // 2
    if not pairs:
        return Tau(float("nan"), 0, 0, 0, ONE_SYSTEM)
    balance = untied_x = untied_y = disagreements = ties = 0
    for sign_x, sign_y in _sign_blocks(np.stack([_rounded(x, decimals), _rounded(y, decimals)])):
        product = sign_x * sign_y
        balance += int(product.sum(dtype=np.int64))
        untied_x, untied_y = untied_x + np.count_nonzero(sign_x), untied_y + np.count_nonzero(sign_y)
        disagreements, ties = disagreements + np.count_nonzero(product < 0), ties + np.count_nonzero(product == 0)
    if variant == "b" and not (untied_x and untied_y):
        return Tau(float("nan"), pairs, disagreements, ties, ALL_EQUAL)
    # The root of a square is exact, so that a perfect agreement is exactly 1.
    divisor = pairs if variant == "a" else math.sqrt(untied_x * untied_y)
    return Tau(balance / divisor, pairs, disagreements, ties)


def tau_matrix(scores: NDArray[np.float64], variant: str = "b", decimals: int | None = None) -> NDArray[np.float64]:
    """Kendall's tau between every two rows of scores (by measure and system); not a number where it is undefined.

    Leading axes, such as samples, are kept.
    """
    if variant not in ("a", "b"):
        raise ParameterError(f"tau variant must be 'a' or 'b'; got {variant!r}")
    rounded = _rounded(scores, decimals)
    measures, systems = rounded.shape[-2:]
    product = np.zeros((*rounded.shape[:-1], measures))
    for signs in _sign_blocks(rounded):
        # Sums of signs are whole numbers: a block's are exact in 32 bits, which are faster, and those of all in 64.
        signs = signs.astype(np.float32)
        product += signs @ np.swapaxes(signs, -1, -2)
    if variant == "a":
        return product / (systems * (systems - 1) // 2) if systems > 1 else np.full(product.shape, np.nan)
    untied = np.diagonal(product, axis1=-2, axis2=-1)
    divisor = np.sqrt(untied[..., :, None] * untied[..., None, :])
    return np.divide(product, divisor, out=np.full(product.shape, np.nan), where=divisor > 0)


def bootstrap_taus(
    scores: NDArray[np.float64], name: str, samples: range, variant: str = "b", decimals: int | None = None
) -> NDArray[np.float64]:
    """Tau between every two measures in samples of the topics, drawn with replacement: one row a sample.

    ``scores`` are by measure, system and topic; ``name`` seeds the samples, of which any range may be computed on its own.
    The columns are the pairs of measures in the order of `numpy.triu_indices`.
    """
    measures, systems, topics = scores.shape
    first, second = np.triu_indices(measures)
    taus = np.full((len(samples), len(first)), np.nan)
    if not len(samples) or measures == 0 or systems < 2 or topics < 2:
        return taus
    # A product of matrices may differ in its last bits with the number of its rows. So a sample is always computed in
    # the same company, and the result does not depend on how the samples are divided among jobs.
    numbers = generator(f"bootstrap/{name}")
    for begin in range(0, samples.stop, _COMPANY):
        draws = numbers.integers(topics, size=(_COMPANY, topics))
        wanted = range(max(begin, samples.start), min(begin + _COMPANY, samples.stop))
        if not len(wanted):
            continue  # of an earlier shard: drawn only to get to those of this one, which costs next to nothing
        weight = np.zeros((_COMPANY, topics))
        np.add.at(weight, (np.arange(_COMPANY)[:, None], draws), 1.0)
        means = np.einsum("mrt,st->smr", scores, weight, optimize=True) / topics
        tau = tau_matrix(means[wanted.start - begin : wanted.stop - begin], variant, decimals)
        taus[wanted.start - samples.start : wanted.stop - samples.start] = tau[:, first, second]
    return taus


def percentile_intervals(
    parts: Sequence[NDArray[np.float64]], measures: int, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lower and upper ends of the intervals of tau, by measure and measure, from the samples of `bootstrap_taus`.

    Samples in which tau is undefined are left out; where none remains, the interval is not a number. Quantiles are
    exact, so the order of the samples and their division into parts make no difference.
    """
    low, high = (np.full((measures, measures), np.nan) for _ in range(2))
    tail = (1 - level) / 2
    for column, (first, second) in enumerate(zip(*np.triu_indices(measures), strict=True)):
        taus = np.concatenate([np.empty(0), *(part[:, column] for part in parts)])
        taus = taus[np.isfinite(taus)]
        if len(taus):
            ends = np.quantile(taus, [tail, 1 - tail])
            (low[first, second], high[first, second]), (low[second, first], high[second, first]) = ends, ends
    return low, high


def bootstrap_intervals(
    scores: NDArray[np.float64],
    name: str,
    samples: int = 1000,
    variant: str = "b",
    decimals: int | None = None,
    level: float = 0.95,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile intervals of tau between every two measures, over samples of topics drawn with replacement.

    The two functions above in one, for as many samples as one job computes.
    """
    taus = bootstrap_taus(scores, name, range(samples), variant, decimals)
    return percentile_intervals([taus], len(scores), level)
