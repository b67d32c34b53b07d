"""How a measure bears an incomplete pool: its mean and its ranking of systems under downsampled judgements.

Replicates are scored in shards. Of a replicate, its pools and scores (megabytes) are in memory only while it is scored;
what remains are two numbers for each rate and measure, 2.5 kB with 5 rates and 31 measures. So the memory of a shard is
that of one replicate, however many there are. Putting shards together keeps those numbers, because the quantiles of the
bands are exact, and exact quantiles need them: 25 MB for 10,000 replicates of a collection.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from walkeval.correlation import kendall
from walkeval.errors import InputError, ParameterError
from walkeval.judging import JudgedCollection
from walkeval.pools import downsample
from walkeval.scoring import Scores, score_collection
from walkeval.trec import whole_file


@dataclass(frozen=True, eq=False)
class PoolSummary:
    """Mean score and tau with the full pool, by replicate, rate and measure."""

    measures: list[str]
    rates: list[int]
    replicates: NDArray[np.int64]
    mean: NDArray[np.float64]
    tau: NDArray[np.float64]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one file, whole or not at all."""
        with whole_file(path) as stream:
            np.savez(
                stream, measures=np.array(self.measures, dtype=str), rates=np.array(self.rates),
                replicates=self.replicates, mean=self.mean, tau=self.tau,
            )  # fmt: skip

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PoolSummary:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                return cls(
                    [str(one) for one in stored["measures"]], stored["rates"].tolist(),
                    stored["replicates"], stored["mean"], stored["tau"],
                )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(path, f"is not a summary of pools ({error}); remove it and run again") from error

    @classmethod
    def merge(cls, parts: Sequence[PoolSummary]) -> PoolSummary:
        """Put shards together, in the order of the replicates, so that sharding does not show."""
        if not parts:
            raise ParameterError("there are no summaries of pools to put together")
        if any((one.measures, one.rates) != (parts[0].measures, parts[0].rates) for one in parts):
            raise ParameterError("summaries of pools must be of the same measures and rates to be put together")
        replicates = np.concatenate([one.replicates for one in parts])
        order = np.argsort(replicates, kind="stable")
        if len(np.unique(replicates)) < len(replicates):
            raise ParameterError("a replicate is in two of the summaries of pools")
        return cls(
            parts[0].measures,
            parts[0].rates,
            replicates[order],
            np.concatenate([one.mean for one in parts])[order],
            np.concatenate([one.tau for one in parts])[order],
        )


def summarize_pools(
    collection: JudgedCollection,
    full: Scores,
    rates: Sequence[int],
    replicates: Iterable[int],
    name: str,
    variant: str = "b",
    decimals: int | None = None,
    min_grade: int = 1,
    graded: bool = False,
) -> PoolSummary:
    """Score a collection under downsampled pools and compare with the full pool's scores."""
    replicates = list(replicates)
    reference = full.means()
    shape = len(replicates), len(rates), len(full.measures)
    mean, tau = np.full(shape, np.nan), np.full(shape, np.nan)
    for row, replicate in enumerate(replicates):
        pools = downsample(collection, rates, replicate, name, min_grade=min_grade)
        for column, rate in enumerate(rates):
            means = score_collection(collection, full.measures, pool=pools[rate], min_grade=min_grade, graded=graded).means()
            if means.shape[1]:
                mean[row, column] = means.mean(axis=1)
            for index in range(len(full.measures)):
                tau[row, column, index] = kendall(reference[index], means[index], variant, decimals).value
    return PoolSummary(list(full.measures), list(rates), np.array(replicates, dtype=np.int64), mean, tau)


def curves(summary: PoolSummary, full: Scores, level: float = 0.95) -> pd.DataFrame:
    """What Figures 3 and 4 plot: by measure and rate, the mean over replicates and a band; 100% is the full pool."""
    rows = []
    reference = full.means()
    tails = [(1 - level) / 2, 1 - (1 - level) / 2]
    for index, measure in enumerate(summary.measures):
        whole = float(reference[index].mean()) if reference.shape[1] else float("nan")
        agreement = kendall(reference[index], reference[index]).value  # 1, unless tau is undefined
        for quantity, values, at_full in (("mean", summary.mean, whole), ("tau", summary.tau, agreement)):
            rows.append((measure, 100, quantity, at_full, at_full, at_full, 0))
            for column, rate in enumerate(summary.rates):
                sample = values[:, column, index]
                sample = sample[np.isfinite(sample)]
                low, high = np.quantile(sample, tails) if len(sample) else (np.nan, np.nan)
                average = float(sample.mean()) if len(sample) else float("nan")
                rows.append((measure, rate, quantity, average, float(low), float(high), len(sample)))
    return pd.DataFrame(rows, columns=["measure", "rate", "quantity", "value", "low", "high", "replicates"])
