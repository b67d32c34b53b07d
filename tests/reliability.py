"""What tests tried and what came of it: tables in results/reliability/, from which docs/reliability.md is made."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

from walkeval.claims import read_rows, write_rows

FOLDER = Path(__file__).resolve().parents[1] / "results" / "reliability"
COLUMNS = ("what", "times", "outcome")
Row = tuple[str, int, str]


def record(part: str, rows: Sequence[Row], folder: Path = FOLDER) -> None:
    """Keep what was tried, how many times, and what came of it. A row of the same name is replaced, the others stay."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{part}.tsv"
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # several fuzzers write to one table
        known = {row[0]: row for row in [*recorded(place), *rows]}
        write_rows(place, COLUMNS, [known[what] for what in sorted(known)])
    finally:
        os.close(descriptor)


def recorded(place: Path) -> list[Row]:
    """The rows of a table; none where there is no table yet."""
    if not place.exists():
        return []
    return [(what, int(times), outcome) for _, (what, times, outcome) in read_rows(place, COLUMNS)]
