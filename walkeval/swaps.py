"""Which pairs of systems change place between two measures, and by how much."""

from __future__ import annotations

import numpy as np
import pandas as pd

from walkeval.correlation import NOISE_DECIMALS
from walkeval.scoring import Scores

SWAP_COLUMNS = [
    "first_run", "second_run", "baseline_difference", "model_difference", "size",
    "first_baseline_rank", "second_baseline_rank", "first_model_rank", "second_model_rank",
]  # fmt: skip


def pair_changes(scores: Scores, model: str, baseline: str = "AP", decimals: int | None = None) -> pd.DataFrame:
    """The pairs that ``baseline`` and ``model`` order differently, the clearest change first.

    Differences are of means over topics, rounded as for tau: the baseline prefers the first run (its difference is
    above 0), the model the second. ``size`` says how clear the change is under both measures: the smaller of the two
    differences, each in standard deviations of that measure's means over systems. A rank is 1 plus the number of
    systems that are better.

    >>> values = np.array([[[0.5], [0.4], [0.1]], [[0.6], [0.7], [0.2]]])
    >>> found = pair_changes(Scores(["AP", "RR"], ["a", "b", "c"], ["1"], values), "RR")
    >>> found[["first_run", "second_run", "baseline_difference", "model_difference"]].values.tolist()
    [['a', 'b', 0.1, -0.1]]
    """
    means = np.round(scores.means(), NOISE_DECIMALS if decimals is None else decimals)
    before, after = means[scores.measures.index(baseline)], means[scores.measures.index(model)]
    # Ordered pairs in which the baseline prefers the first: every pair that it does not tie comes once.
    first, second = np.nonzero((before[:, None] > before[None, :]) & (after[:, None] < after[None, :]))
    old, new = before[first] - before[second], after[first] - after[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.minimum(old / before.std(), -new / after.std())
    rank_before = 1 + (before[None, :] > before[:, None]).sum(axis=1)
    rank_after = 1 + (after[None, :] > after[:, None]).sum(axis=1)
    names = np.array(scores.runs, dtype=object)
    columns = [
        names[first], names[second], np.round(old, NOISE_DECIMALS), np.round(new, NOISE_DECIMALS), size,
        rank_before[first], rank_before[second], rank_after[first], rank_after[second],
    ]  # fmt: skip
    table = pd.DataFrame(dict(zip(SWAP_COLUMNS, columns, strict=True)))
    # Sizes that differ by rounding noise only are equal: names decide then, on every machine alike.
    order = np.lexsort((names[second].astype(str), names[first].astype(str), -np.round(size, 9)))
    return table.iloc[order].reset_index(drop=True)
