"""A verdict for every published number.

Verdicts, each two-sided (a better value is as wrong as a worse one):

- ``reproduced``: equal in all printed digits under the stated convention;
- ``consistent``: not recomputable, but inside what rounding or the available evidence allows;
- ``differs``: recomputed, and not equal;
- ``impossible``: no data could give it;
- ``not checkable``: something is missing, and the note says what and how to supply it.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from os import PathLike
from pathlib import Path

from walkeval.claims import Claim
from walkeval.errors import InputError, ParameterError, UnknownNameError

VERDICTS = ("reproduced", "consistent", "differs", "impossible", "not checkable")
VERDICT_COLUMNS = ("claim", "printed", "reproduced", "verdict", "evidence", "conclusion_changes", "note")
REPRODUCTION_COLUMNS = ("claim", "value", "low", "high", "evidence", "note")
THRESHOLDS = (0.80, 0.90, 0.97)
"""Where the SIGIR 2014 paper draws its lines: noticeably different, equivalent, an alternative reading of the measure."""

_PRINTING = {"rounded": ROUND_HALF_EVEN, "truncated": ROUND_DOWN}


@dataclass(frozen=True)
class Reproduction:
    """What this program finds for a claim."""

    claim: str
    value: str
    """A number at full precision; for a statement or a formula, ``holds`` or ``fails``."""
    evidence: str
    low: str = ""
    """With ``high``: the interval that the printed inputs allow, where they are too coarse for all digits."""
    high: str = ""
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    """One row of the audit."""

    claim: str
    printed: str
    reproduced: str
    verdict: str
    evidence: str
    conclusion_changes: str
    note: str


def number(value: float) -> str:
    """A number as the tables write it: 10 significant digits, so that machines agree.

    >>> number(1 / 3)
    '0.3333333333'
    """
    return "" if value is None or math.isnan(value) else f"{value:.10g}"


def as_printed(value: float, like: str, printing: str = "rounded") -> str:
    """A value with as many decimals as a printed one has, rounded or cut off.

    >>> as_printed(0.85107, "0.8510", "truncated"), as_printed(0.85107, "0.8510")
    ('0.8510', '0.8511')
    """
    if printing not in _PRINTING:
        raise UnknownNameError("way of printing", printing, _PRINTING)
    decimals = len(like.rstrip("%").partition(".")[2])
    # repr gives the shortest decimal that is this float, so 0.825 is cut as 0.825 and not as 0.82499999...
    exact = Decimal(repr(round(float(value), 12))) * (100 if like.endswith("%") else 1)
    text = str(exact.quantize(Decimal(1).scaleb(-decimals), rounding=_PRINTING[printing]))
    return text + "%" if like.endswith("%") else text


def judge_claim(claim: Claim, found: Reproduction | None, printing: str = "rounded") -> Verdict:
    """The verdict on one claim. ``printing`` is how the paper turned its correlations into digits."""

    def row(verdict: str, reproduced: str = "", changes: str = "", note: str = "") -> Verdict:
        evidence = found.evidence if found else ""
        notes = "; ".join(filter(None, (note, found.note if found else "")))
        return Verdict(claim.claim, claim.printed, reproduced, verdict, evidence, changes, notes)

    if found is None or not found.value:
        needed = f"needs {claim.needs}" if claim.needs != "nothing" else "no reproduction is implemented yet"
        return row("not checkable", note=needed if found is None or not found.note else "")
    if found.value == "impossible":
        return row("impossible")
    if claim.kind in ("formula", "statement"):
        if found.value not in ("holds", "fails"):
            raise ParameterError(f"{claim.claim} is a {claim.kind}: it holds or fails; got {found.value!r}")
        holds = found.value == "holds"
        return row("reproduced" if holds else "differs", found.value, "no" if holds else "yes")
    value = float(found.value)
    way = printing if claim.kind == "tau" else "rounded"
    for reading in claim.readings:
        shown = as_printed(value, reading, way)
        if Decimal(shown.rstrip("%")) == Decimal(_decimal(reading)):
            note = f"of the readings {claim.printed} this is {reading}" if len(claim.readings) > 1 else ""
            return row("reproduced", shown, "no", note)
    reading = min(claim.readings, key=lambda one: abs(float(_decimal(one)) - value))
    shown = as_printed(value, reading, way)
    if found.low and float(found.low) <= float(_decimal(reading)) <= float(found.high):
        return row("consistent", shown, "no", f"inside [{found.low}, {found.high}], which the printed inputs allow")
    printed_value, scale = float(_decimal(reading)), 100 if reading.endswith("%") else 1
    changes = "no"
    if claim.kind == "tau":
        crossed = [line for line in THRESHOLDS if (printed_value >= line) != (float(shown) >= line)]
        if crossed:
            changes = "yes: on the other side of " + ", ".join(f"{line:.2f}" for line in crossed)
    return row("differs", shown, changes, f"reproduced minus printed: {value * scale - printed_value:+.4g}")


def _decimal(printed: str) -> str:
    number_part = printed.rstrip("%")
    if "/" in number_part:
        top, bottom = number_part.split("/")
        return str(Decimal(top) / Decimal(bottom))
    return number_part


def judge_claims(
    claims: Mapping[str, Claim], found: Iterable[Reproduction], printing: str = "rounded"
) -> list[Verdict]:
    """Exactly one verdict for each claim, in the ledger's order."""
    by_claim: dict[str, Reproduction] = {}
    for one in found:
        if one.claim not in claims:
            raise UnknownNameError("claim", one.claim, claims)
        if one.claim in by_claim:
            raise ParameterError(f"claim {one.claim!r} is reproduced twice")
        by_claim[one.claim] = one
    return [judge_claim(claim, by_claim.get(name), printing) for name, claim in claims.items()]


def write_rows(path: str | PathLike[str], columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table of text as TSV. Tabs and line breaks inside a cell become spaces."""
    lines = ["\t".join(columns)]
    lines += ["\t".join(" ".join(str(cell).split()) for cell in row) for row in rows]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_reproductions(path: str | PathLike[str], found: Iterable[Reproduction]) -> None:
    """Write what was found, for the audit to read."""
    write_rows(path, REPRODUCTION_COLUMNS, ([getattr(one, name) for name in REPRODUCTION_COLUMNS] for one in found))


def read_reproductions(path: str | PathLike[str]) -> list[Reproduction]:
    """Read what `write_reproductions` wrote."""
    with Path(path).open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        if tuple(rows.fieldnames or ()) != REPRODUCTION_COLUMNS:
            raise InputError(path, f"must have the columns {', '.join(REPRODUCTION_COLUMNS)}", 1)
        return [Reproduction(**row) for row in rows]


def write_verdicts(path: str | PathLike[str], verdicts: Iterable[Verdict]) -> None:
    """Write ``verdicts.tsv``."""
    write_rows(path, VERDICT_COLUMNS, ([getattr(one, name) for name in VERDICT_COLUMNS] for one in verdicts))


def read_verdicts(path: str | PathLike[str]) -> list[Verdict]:
    """Read ``verdicts.tsv``."""
    with Path(path).open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        if tuple(rows.fieldnames or ()) != VERDICT_COLUMNS:
            raise InputError(path, f"must have the columns {', '.join(VERDICT_COLUMNS)}", 1)
        return [Verdict(**row) for row in rows]


def count_verdicts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many of each, all five named."""
    counts = dict.fromkeys(VERDICTS, 0)
    for one in verdicts:
        counts[one.verdict] += 1
    return counts
