"""Smaller pools: judgements left out at random, as in Buckley & Voorhees (SIGIR 2004).

For each topic the relevant and the nonrelevant judgements are put into random order, separately, and
the pool at rate R keeps the first R% of each, at least 1 relevant and 10 nonrelevant ones (all of them where
there are fewer). The pools of one replicate are nested, because they are beginnings of the same lists. R% of n is
rounded to the nearest whole number, halves upwards.

The random order of a topic follows from the name of the collection, the topic and the replicate alone:
not from other topics, the order of files, the number of cores or the machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from os import PathLike
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import ParameterError
from walkeval.trec import whole_file

RATES = (90, 70, 50, 30, 10)
"""Rates of the SIGIR 2014 paper, in percent."""
LEAST_RELEVANT = 1
LEAST_NONRELEVANT = 10


class Judgements(Protocol):
    """What a pool is drawn from: `walkeval.trec.Qrels` or `walkeval.judging.JudgedCollection`."""

    topics: list[str]
    topic_start: NDArray[np.int64]
    grade: NDArray[np.integer]
    document: NDArray[np.bytes_]


def downsample(
    judgements: Judgements, rates: Iterable[int], replicate: int, name: str, min_grade: int = 1
) -> dict[int, NDArray[np.bool_]]:
    """Draw one nested family of pools: for each rate (in percent) a mask over the judgements.

    ``name`` is that of the collection, ``min_grade`` the lowest grade that counts as relevant.

    >>> from walkeval.trec import Qrels
    >>> qrels = Qrels.from_records(("401", f"D{number}", int(number < 20)) for number in range(100))
    >>> pools = downsample(qrels, [50, 10], replicate=0, name="example")
    >>> [(int(pool.sum()), int(qrels.grade[pool].sum())) for pool in pools.values()]
    [(50, 10), (12, 2)]
    """
    rates = [_checked_rate(rate) for rate in rates]
    if min_grade < 1:
        raise ParameterError(f"min_grade must be at least 1; got {min_grade}")
    if replicate < 0:
        raise ParameterError(f"replicate must be at least 0; got {replicate}")
    pools = {rate: np.zeros(len(judgements.grade), dtype=bool) for rate in rates}
    for number, topic in enumerate(judgements.topics):
        start, end = judgements.topic_start[number : number + 2]
        # The documents of a topic are in the order of their bytes, so keys do not depend on that of the file.
        shuffled = start + np.argsort(_random_keys(f"{name}/{topic}/{replicate}", end - start), kind="stable")
        relevant = judgements.grade[shuffled] >= min_grade
        for chosen, least in ((shuffled[relevant], LEAST_RELEVANT), (shuffled[~relevant], LEAST_NONRELEVANT)):
            for rate, pool in pools.items():
                pool[chosen[: kept_count(len(chosen), rate, least)]] = True
    return pools


def kept_count(available: int, rate: int, least: int) -> int:
    """How many of the available judgements a rate keeps: rate% rounded half up, at least ``least`` if there are.

    >>> [kept_count(available, 10, 1) for available in (0, 4, 14, 15, 25)]
    [0, 1, 1, 2, 3]
    """
    return min(available, max(least, (2 * rate * available + 100) // 200))


def write_qrels(path: str | PathLike[str], judgements: Judgements, pool: NDArray[np.bool_] | None = None) -> None:
    """Write the judgements of a pool (None: all) as a TREC qrels file, which appears only when it is complete."""
    kept = np.arange(len(judgements.grade)) if pool is None else np.flatnonzero(pool)
    topic = np.searchsorted(judgements.topic_start, kept, side="right") - 1
    documents, grades = judgements.document[kept].tolist(), judgements.grade[kept].tolist()
    topics = [judgements.topics[number].encode() for number in topic]
    lines = [
        b"%b 0 %b %d\n" % (one, document, grade) for one, document, grade in zip(topics, documents, grades, strict=True)
    ]
    with whole_file(path) as file:
        file.writelines(lines)


def _checked_rate(rate: int) -> int:
    if isinstance(rate, bool) or int(rate) != rate or not 0 < rate <= 100:
        raise ParameterError(f"a pool rate must be a whole number of percent from 1 to 100; got {rate}")
    return int(rate)


def _random_keys(name: str, count: int) -> NDArray[np.uint64]:
    """Random 64-bit numbers that depend on a name only.

    Raw output of a bit generator is what numpy promises never to change; its shuffles may.
    """
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest(), "little")
    return np.random.PCG64(seed).random_raw(int(count))
