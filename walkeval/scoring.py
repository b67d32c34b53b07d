"""Scores of a judged collection: one number for each measure, run and topic."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import InputError
from walkeval.judging import JudgedCollection
from walkeval.measures import parse_measure


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores by measure, run and topic."""

    measures: list[str]
    runs: list[str]
    topics: list[str]
    values: NDArray[np.float64]

    def of(self, measure: str) -> NDArray[np.float64]:
        """Scores by run and topic of one measure."""
        return self.values[self.measures.index(measure)]

    def means(self) -> NDArray[np.float64]:
        """Means over topics, by measure and run."""
        return self.values.mean(axis=2) if self.topics else np.zeros(self.values.shape[:2])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one file, whole or not at all."""
        path = Path(path)
        part = path.with_name(path.name + ".part")
        with part.open("wb") as stream:
            np.savez(
                stream,
                measures=np.array(self.measures, dtype=str),
                runs=np.array(self.runs, dtype=str),
                topics=np.array(self.topics, dtype=str),
                values=self.values,
            )
        os.replace(part, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scores:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                names = [[str(one) for one in stored[key]] for key in ("measures", "runs", "topics")]
                return cls(*names, stored["values"])
        except (OSError, ValueError, KeyError) as error:
            raise InputError(path, f"is not a file of scores ({error}); remove it and run again") from error


def score_collection(
    collection: JudgedCollection,
    measures: Sequence[str],
    pool: NDArray[np.bool_] | None = None,
    min_grade: int = 1,
) -> Scores:
    """Score every run and topic of a collection by these measures, under a pool."""
    parsed = [parse_measure(name) for name in measures]
    lists = collection.lists(pool=pool, min_grade=min_grade)
    shape = len(collection.runs), len(collection.topics)
    values = np.stack([measure.score(lists).reshape(shape) for measure in parsed]) if parsed else np.zeros((0, *shape))
    return Scores([measure.name for measure in parsed], list(collection.runs), list(collection.topics), values)
