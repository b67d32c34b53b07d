"""The ledger of published numbers: ``config/claims/*.tsv``, one row a claim, kept as the text that was printed."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from walkeval.errors import InputError

COLUMNS = ("claim", "paper", "where", "what", "printed", "kind", "needs")
KINDS = ("count", "number", "tau", "formula", "statement")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(/\d+|%)?")


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
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
            header = next(rows, None)
            if header is None or tuple(header) != COLUMNS:
                raise InputError(path, f"must start with the columns {', '.join(COLUMNS)} separated by tabs", 1)
            for line, row in enumerate(rows, start=2):
                if len(row) != len(COLUMNS):
                    raise InputError(path, f"has {len(row)} columns where {len(COLUMNS)} are needed", line)
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
