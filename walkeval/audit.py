"""A verdict for every published number.

Verdicts, each two-sided (a better value is as wrong as a worse one):

- ``reproduced``: equal in all printed digits under the stated convention;
- ``consistent``: not recomputable, but inside what rounding or the available evidence allows;
- ``differs``: recomputed, and not equal;
- ``impossible``: no data could give it;
- ``not checkable``: something is missing, and the note says what and how to supply it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from os import PathLike

from walkeval.claims import Claim, read_rows, write_rows
from walkeval.errors import InputError, ParameterError, UnknownNameError

VERDICTS = ("reproduced", "consistent", "differs", "impossible", "not checkable")
VERDICT_COLUMNS = ("claim", "printed", "reproduced", "verdict", "evidence", "conclusion_changes", "note")
REPRODUCTION_COLUMNS = ("claim", "value", "low", "high", "evidence", "note")
THRESHOLDS = (0.80, 0.90, 0.97)
"""Where the SIGIR 2014 paper draws its lines: noticeably different, equivalent, an alternative reading of the measure."""

_PRINTING = {"rounded": (ROUND_HALF_EVEN, ROUND_HALF_UP), "truncated": (ROUND_DOWN,)}
"""A half goes either way: some programs round it to the even digit, others away from zero."""


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
    """A value with as many decimals as a printed one has, rounded or cut off; a share where that is in percent.

    >>> as_printed(0.85107, "0.8510", "truncated"), as_printed(0.85107, "0.8510")
    ('0.8510', '0.8511')
    """
    return _as_printed(value, like, printing)[0]


def _as_printed(value: float, like: str, printing: str) -> list[str]:
    """All texts that a value may be printed as: two if it is a half, otherwise one."""
    if printing not in _PRINTING:
        raise UnknownNameError("way of printing", printing, _PRINTING)
    if "/" in like:
        # A fraction is exact, and values are written with 10 digits.
        return [like if math.isclose(value, _decimal(like), rel_tol=1e-9, abs_tol=1e-12) else number(value)]
    unit = "%" if like.endswith("%") else ""
    decimals = len(like.rstrip("%").partition(".")[2])
    # repr gives the shortest decimal that is this float, so 0.825 is cut as 0.825 and not as 0.82499999...
    exact = Decimal(repr(round(float(value), 12))) * (100 if unit else 1)
    texts = [exact.quantize(Decimal(1).scaleb(-decimals), rounding=way) for way in _PRINTING[printing]]
    # Adding zero takes the sign from -0.00.
    return list(dict.fromkeys(f"{text + 0:f}{unit}" for text in texts))


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
        # A formula with a slip is mended; a statement that does not hold is reversed.
        changes = "yes" if not holds and claim.kind == "statement" else "no"
        return row("reproduced" if holds else "differs", found.value, changes)
    value = _finite(claim, found.value)
    way = printing if claim.kind == "tau" else "rounded"
    for reading in claim.readings:
        if claim.kind == "count" and value != round(value):
            break
        for shown in _as_printed(value, reading, way):
            if _decimal(shown) == _decimal(reading):
                note = f"of the readings {claim.printed} this is {reading}" if len(claim.readings) > 1 else ""
                return row("reproduced", shown, "no", note)
    if found.low or found.high:
        low, high = _finite(claim, found.low), _finite(claim, found.high)
        for reading in claim.readings:
            # Some value of the interval is printed like this, since printing keeps the order.
            if _decimal(as_printed(low, reading, way)) <= _decimal(reading) <= _decimal(as_printed(high, reading, way)):
                note = f"inside [{found.low}, {found.high}], which the printed inputs allow"
                return row("consistent", as_printed(value, reading, way), "no", note)
    scale = 100 if claim.readings[0].endswith("%") else 1
    reading = min(claim.readings, key=lambda one: abs(float(_decimal(one)) - value * scale))
    shown, printed_value = as_printed(value, reading, way), float(_decimal(reading))
    changes = "no"
    if claim.kind == "tau":
        crossed = [line for line in THRESHOLDS if (printed_value >= line) != (float(_decimal(shown)) >= line)]
        if crossed:
            changes = "yes: on the other side of " + ", ".join(f"{line:.2f}" for line in crossed)
    return row("differs", shown, changes, f"reproduced minus printed: {value * scale - printed_value:+.4g}")


def _finite(claim: Claim, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ParameterError(f"{claim.claim} is a {claim.kind}: its reproduction must be a number; got {text!r}")
    return value


def _decimal(printed: str) -> Decimal:
    """The number that is printed, in its own unit."""
    top, _, bottom = printed.rstrip("%").partition("/")
    return Decimal(top) / Decimal(bottom or 1)


def with_impossible(found: Iterable[Reproduction], impossible: Iterable[Reproduction]) -> list[Reproduction]:
    """What was found, and that a number is impossible where nothing better was found: data go before arguments."""
    by_claim = {one.claim: one for one in impossible}
    for one in found:
        if one.value or one.claim not in by_claim:
            by_claim[one.claim] = one
    return list(by_claim.values())


def judge_claims(
    claims: Mapping[str, Claim],
    found: Iterable[Reproduction],
    printing: str = "rounded",
    explanations: Mapping[str, str] | None = None,
) -> list[Verdict]:
    """Exactly one verdict for each claim, in the ledger's order. Explanations of claims are added to their notes."""
    by_claim: dict[str, Reproduction] = {}
    for one in found:
        if one.claim not in claims:
            raise UnknownNameError("claim", one.claim, claims)
        if one.claim in by_claim:
            raise ParameterError(f"claim {one.claim!r} is reproduced twice")
        by_claim[one.claim] = one
    verdicts = {name: judge_claim(claim, by_claim.get(name), printing) for name, claim in claims.items()}
    for name, sentence in (explanations or {}).items():
        if name not in claims:
            raise UnknownNameError("claim", name, claims)
        verdicts[name] = replace(verdicts[name], note="; ".join(filter(None, (verdicts[name].note, sentence))))
    return list(verdicts.values())


def write_reproductions(path: str | PathLike[str], found: Iterable[Reproduction]) -> None:
    """Write what was found, for the audit to read."""
    write_rows(path, REPRODUCTION_COLUMNS, ([getattr(one, name) for name in REPRODUCTION_COLUMNS] for one in found))


def read_reproductions(path: str | PathLike[str]) -> list[Reproduction]:
    """Read what `write_reproductions` wrote."""
    rows = read_rows(path, REPRODUCTION_COLUMNS)
    return [Reproduction(**dict(zip(REPRODUCTION_COLUMNS, row, strict=True))) for _, row in rows]


def write_verdicts(path: str | PathLike[str], verdicts: Iterable[Verdict]) -> None:
    """Write ``verdicts.tsv``."""
    write_rows(path, VERDICT_COLUMNS, ([getattr(one, name) for name in VERDICT_COLUMNS] for one in verdicts))


def read_verdicts(path: str | PathLike[str]) -> list[Verdict]:
    """Read ``verdicts.tsv``."""
    verdicts = []
    for line, row in read_rows(path, VERDICT_COLUMNS):
        verdict = Verdict(*row)
        if verdict.verdict not in VERDICTS:
            raise InputError(path, f"verdict {verdict.verdict!r} is not one of {', '.join(VERDICTS)}", line)
        verdicts.append(verdict)
    return verdicts


def count_verdicts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many of each, all five named."""
    counts = dict.fromkeys(VERDICTS, 0)
    for one in verdicts:
        counts[one.verdict] += 1
    return counts


def changed_verdicts(new: Iterable[Verdict], published: Iterable[Verdict]) -> list[str]:
    """One line for each claim whose verdict or reproduced value is not the published one, or that is new or gone."""
    before = {one.claim: one for one in published}
    lines = []
    for one in new:
        old = before.pop(one.claim, None)
        if old is None:
            lines.append(f"{one.claim}: new, {one.verdict}")
        elif (old.verdict, old.reproduced) != (one.verdict, one.reproduced):
            lines.append(f"{one.claim}: was {old.verdict} {old.reproduced}, is {one.verdict} {one.reproduced}")
    return lines + [f"{claim}: was {old.verdict}, is gone" for claim, old in before.items()]
