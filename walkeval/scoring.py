"""Scores of a judged collection: one number for each measure, run and topic."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import InputError
from walkeval.judging import JudgedCollection
from walkeval.measures import parse_measure
from walkeval.trec import whole_file


BLOCK = 3_000_000
"""Judged documents that are scored at a time: larger arrays cost more for each document, and memory besides."""


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
        with whole_file(path) as stream:
            np.savez(
                stream,
                measures=np.array(self.measures, dtype=str),
                runs=np.array(self.runs, dtype=str),
                topics=np.array(self.topics, dtype=str),
                values=self.values,
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scores:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                names = [[str(one) for one in stored[key]] for key in ("measures", "runs", "topics")]
                values = stored["values"]
            if values.shape != tuple(map(len, names)):
                raise ValueError(f"the scores have the shape {values.shape}")
            return cls(*names, values)
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(path, f"is not a file of scores ({error}); remove it and run again") from error


def score_collection(
    collection: JudgedCollection,
    measures: Sequence[str],
    pool: NDArray[np.bool_] | None = None,
    min_grade: int = 1,
    graded: bool = False,
) -> Scores:
    """Score every run and topic of a collection by these measures, under a pool.

    Relevance is binary unless ``graded``: the papers compare measures on grades mapped leniently to two.
    """
    parsed = [parse_measure(name) for name in measures]
    topics = len(collection.topics)
    values = np.zeros((len(parsed), len(collection.runs), topics))
    for runs in _blocks(collection):
        lists = collection.lists(pool=pool, min_grade=min_grade, graded=graded, runs=runs)
        for number, measure in enumerate(parsed):
            values[number, runs.start : runs.stop] = measure.score(lists).reshape(len(runs), topics)
    return Scores([measure.name for measure in parsed], list(collection.runs), list(collection.topics), values)


def _blocks(collection: JudgedCollection) -> Iterator[range]:
    """Runs one after the other, as many at a time as fit into a block, and at least one."""
    judged = collection.start[np.arange(len(collection.runs) + 1) * len(collection.topics)]
    first = 0
    while first < len(collection.runs):
        last = max(first + 1, int(np.searchsorted(judged, judged[first] + BLOCK, side="right")) - 1)
        yield range(first, last)
        first = last
