"""The ledger of published numbers: ``config/claims/*.tsv``, one row a claim, kept as the text that was printed."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from walkeval.errors import InputError
from walkeval.trec import whole_file

COLUMNS = ("claim", "paper", "where", "what", "printed", "kind", "needs")
KINDS = ("count", "number", "tau", "formula", "statement")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(/0*[1-9]\d*|%)?", re.ASCII)


@dataclass(frozen=True)
class Claim:
    """One published number, formula or statement."""

    claim: str
    """Stable id, such as ``sigir2014/table2/trec08/bpref``."""
    paper: str
    where: str
    what: str
    printed: str
    """As printed. A doubtful reading lists its candidates, separated by ``|``."""
    kind: str
    needs: str
    """What it takes to check it: ``nothing``, or data such as ``trec08 runs``."""

    @property
    def readings(self) -> tuple[str, ...]:
        """The candidates of a doubtful reading, or the one clear one."""
        return tuple(self.printed.split("|")) if self.kind in ("count", "number", "tau") else (self.printed,)


def read_claims(paths: Iterable[str | PathLike[str]]) -> dict[str, Claim]:
    """Read claims files, in order; a repeated id, a wrong kind or a number that is none names file and line."""
    claims: dict[str, Claim] = {}
    seen: dict[str, str] = {}
    for path in map(Path, paths):
        for line, row in read_rows(path, COLUMNS):
            claim = Claim(*row)
            if not claim.claim:
                raise InputError(path, "has a claim without an id", line)
            if claim.claim in claims:
                raise InputError(path, f"repeats the claim {claim.claim!r} of {seen[claim.claim]}", line)
            if claim.kind not in KINDS:
                raise InputError(path, f"kind {claim.kind!r} is not one of {', '.join(KINDS)}", line)
            if claim.kind in ("count", "number", "tau"):
                for reading in claim.readings:
                    if not _NUMBER.fullmatch(reading):
                        raise InputError(path, f"printed {reading!r} is not a number", line)
            claims[claim.claim] = claim
            seen[claim.claim] = f"{path}:{line}"
    return claims


def read_rows(path: str | PathLike[str], columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table of text with these columns, each with the number of its line."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
            if tuple(next(rows, ())) != tuple(columns):
                raise InputError(path, f"must start with the columns {', '.join(columns)}, separated by tabs", 1)
            for row in rows:
                if len(row) != len(columns):
                    raise InputError(path, f"has {len(row)} columns where {len(columns)} are needed", rows.line_num)
                yield rows.line_num, row
    except UnicodeDecodeError:
        raise InputError(path, "is not a text file in UTF-8") from None
    except (OSError, csv.Error) as error:
        raise InputError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def write_rows(path: str | PathLike[str], columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table of text, whole or not at all. Tabs and line breaks inside a cell become spaces."""
    lines = ("\t".join(" ".join(str(cell).split()) for cell in row) + "\n" for row in (columns, *rows))
    with whole_file(path) as file:
        file.write("".join(lines).encode())
