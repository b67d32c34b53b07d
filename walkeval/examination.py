"""What is impossible in a table of Kendall correlations, without any data.

A table of tau between named rankings of the same n systems has to obey laws that no data can break:

- *triangle*: for rankings without ties, (1 - tau) / 2 is the share of pairs that two rankings order differently, a
  metric. A pair that a and c order differently is ordered differently by a and b or by b and c, so
  ``tau(a,b) + tau(b,c) - tau(a,c) <= 1``. With ties the bound gives way by what `tie_slack` says, and no more.
- *gram*: tau-b is the cosine between the vectors of pair orders (-1, 0, 1), ties or not, so a complete square of
  correlations is positive semidefinite.

Others can only be broken by data that are very unlikely, or under assumptions:

- *copied row*: the same digits in a whole row where different rankings were compared (*equal neighbors* in a row are a
  note only);
- *attainable*, *parity*: without ties tau is 1 - 2d / (n (n-1) / 2) for a whole d, and of three rankings the sum of the
  d is even. Ties undo both, so these give notes.

Every finding says what it assumes. `repair` looks for the smallest change that removes all contradictions of a row: two
cells swapped, the row shifted by a cell, or cells misread.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from os import PathLike
from pathlib import Path

import numpy as np

from walkeval.audit import write_rows
from walkeval.errors import InputError, ParameterError

SEVERITIES = ("impossible", "implausible", "note")
FINDING_COLUMNS = ("test", "cells", "severity", "sentence", "repair")
DEFAULT_TIES = 0.005
_TAU = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")

Cell = tuple[str, str]
"""The two rankings that a correlation compares: row and column."""


@dataclass(frozen=True)
class Block:
    """Correlations of one set of systems: rows and columns are rankings, cells are text as printed or empty."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    printed: dict[Cell, str]
    systems: int | None = None
    shown: tuple[str, ...] = field(default=())
    """Columns in the order of the page, where that differs; shifts happen along it."""

    def cells(self, row: str) -> list[Cell]:
        """The printed cells of a row, in the order of the page."""
        return [(row, column) for column in (self.shown or self.columns) if (row, column) in self.printed]

    def with_cells(self, changed: dict[Cell, str]) -> Block:
        """The same block with other text in some cells; empty text means that the cell is not known."""
        printed = {cell: text for cell, text in {**self.printed, **changed}.items() if text}
        return Block(self.name, self.rows, self.columns, printed, self.systems, self.shown)


@dataclass(frozen=True)
class Finding:
    """Something that cannot be, or hardly can."""

    test: str
    block: str
    cells: tuple[Cell, ...]
    severity: str
    sentence: str
    repair: str = ""

    def row(self) -> list[str]:
        """As a row of findings.tsv."""
        where = "; ".join(f"{self.block}/{row}/{column}" for row, column in self.cells)
        return [self.test, where, self.severity, self.sentence, self.repair]


def read_blocks(path: str | PathLike[str], systems: int | None = None) -> list[Block]:
    """Read a table of correlations: the first column names the row's ranking, the others are rankings by name.

    A column called ``block`` splits the table, one called ``systems`` gives n for each block. Stars and blanks around numbers
    do not count; an empty cell is one that is not known. Ragged rows, text that is no number and values outside [-1, 1] name
    file and line.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            lines = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    except UnicodeDecodeError:
        raise InputError(path, "is not a text file in UTF-8") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None
    if len(lines) < 2:
        raise InputError(path, "needs a line of column names and at least two rows")
    header = [name.strip() for name in lines[0]]
    if len(set(header)) < len(header) or not all(header[1:]):
        raise InputError(path, "every column needs a name of its own", 1)
    special = {name: header.index(name) for name in ("block", "systems") if name in header}
    label = next((number for number in range(len(header)) if number not in special.values()), None)
    columns = [number for number in range(len(header)) if number not in (label, *special.values())]
    if not columns:
        raise InputError(path, "has no column of correlations", 1)
    blocks: dict[str, dict] = {}
    for line, row in enumerate(lines[1:], start=2):
        if not any(row):
            continue
        if len(row) != len(header):
            raise InputError(path, f"has {len(row)} cells where the first line has {len(header)}", line)
        name = row[special["block"]].strip() if "block" in special else "table"
        block = blocks.setdefault(name, {"rows": [], "printed": {}, "systems": systems})
        ranking = row[label].strip()
        if not ranking or ranking in block["rows"]:
            raise InputError(path, f"the row {ranking!r} needs a name that its block does not have yet", line)
        block["rows"].append(ranking)
        if "systems" in special and row[special["systems"]].strip():
            block["systems"] = _whole(path, line, row[special["systems"]].strip())
        for number in columns:
            text = row[number].strip().rstrip("*").strip()
            if not text or ranking == header[number]:
                continue
            if not _TAU.fullmatch(text):
                raise InputError(path, f"{text!r} in the column {header[number]!r} is not a number", line)
            if not -1 <= float(text) <= 1:
                raise InputError(path, f"{text} in the column {header[number]!r} is outside [-1, 1]", line)
            block["printed"][ranking, header[number]] = text
    found = [
        Block(name, tuple(one["rows"]), tuple(header[number] for number in columns), one["printed"], one["systems"])
        for name, one in blocks.items()
    ]
    for block in found:
        if len(block.rows) < 2:
            raise InputError(path, f"the block {block.name!r} has one row; there is nothing to compare")
    return found


def _whole(path: Path, line: int, text: str) -> int:
    if not text.isdigit() or int(text) < 2:
        raise InputError(path, f"systems must be a whole number of at least 2, not {text!r}", line)
    return int(text)


class _Values:
    """The correlations of a block as intervals: what was printed may have been rounded or cut off."""

    def __init__(self, block: Block):
        self.names = list(dict.fromkeys((*block.rows, *block.columns)))
        self.cell: dict[frozenset, Cell] = {}
        self.low: dict[frozenset, float] = {}
        self.high: dict[frozenset, float] = {}
        self.disagree: list[tuple[Cell, Cell]] = []
        for cell, text in block.printed.items():
            pair = frozenset(cell)
            low, high = rounding_interval(text)
            if pair in self.cell:
                if low > self.high[pair] or high < self.low[pair]:
                    self.disagree.append((self.cell[pair], cell))
                continue
            self.cell[pair], self.low[pair], self.high[pair] = cell, low, high

    def known(self, *names: str) -> bool:
        return all(frozenset(pair) in self.cell for pair in combinations(names, 2))

    def triples(self) -> Iterator[tuple[str, str, str]]:
        """Three rankings whose three correlations are all known."""
        neighbors: dict[str, set[str]] = {name: set() for name in self.names}
        for pair in self.cell:
            first, second = pair
            neighbors[first].add(second)
            neighbors[second].add(first)
        order = {name: number for number, name in enumerate(self.names)}
        for first, second in combinations(self.names, 2):
            if second in neighbors[first]:
                for third in sorted(neighbors[first] & neighbors[second], key=order.get):
                    if order[third] > order[second]:
                        yield first, second, third


def rounding_interval(text: str) -> tuple[float, float]:
    """All values that are printed so, whether by rounding or by cutting off.

    >>> rounding_interval("0.80")
    (0.795, 0.81)
    """
    value, unit = float(text), 10.0 ** -len(text.partition(".")[2])
    above = value + (unit if value >= 0 else unit / 2)
    below = value - (unit / 2 if value > 0 else unit)
    return round(max(below, -1.0), 12), round(min(above, 1.0), 12)


def tie_slack(first: float, second: float, third: float, ties: float) -> float:
    """How far ``tau(a,b) + tau(b,c) - tau(a,c)`` may exceed 1 if at most this share of pairs is tied in each ranking.

    A pair contributes 1 - ac, which is |a - c| but for a pair tied in both, where it is 1 and |a - c| is 0. Summing
    |a - c| <= |a - b| + |b - c| over the pairs, with s_xy = sqrt((1 - t_x)(1 - t_y)) between tau-b and the sum of products,
    ``ab s_ab + bc s_bc - ac s_ac - 1 <= pairs tied in both a and c <= min(t_a, t_c)``. The slack is the largest over
    all shares up to the one assumed.

    >>> tie_slack(0.9, 0.9, 0.8, 0.0)
    0.0
    """
    most = 0.0
    for share_a in (0.0, ties):
        for share_b in (0.0, ties):
            for share_c in (0.0, ties):
                keep_ab, keep_bc, keep_ac = (
                    np.sqrt((1 - one) * (1 - other))
                    for one, other in ((share_a, share_b), (share_b, share_c), (share_a, share_c))
                )
                lost = first * (1 - keep_ab) + second * (1 - keep_bc) - third * (1 - keep_ac)
                most = max(most, lost + min(share_a, share_c))
    return float(most)


def triangle_violations(values: _Values, ties: float) -> list[tuple[tuple[str, str, str], float]]:
    """Triples of rankings that no data can have, with how far they are beyond what rounding and ties allow."""
    found = []
    for names in values.triples():
        worst = 0.0
        for middle in range(3):
            first, third = (names[number] for number in range(3) if number != middle)
            second = names[middle]
            sides = frozenset((first, second)), frozenset((second, third)), frozenset((first, third))
            low_ab, low_bc, high_ac = values.low[sides[0]], values.low[sides[1]], values.high[sides[2]]
            excess = low_ab + low_bc - high_ac - 1
            if excess > 0:
                worst = max(worst, excess - tie_slack(low_ab, low_bc, high_ac, ties))
        if worst > 1e-9:
            found.append((names, worst))
    return found


def examine_block(block: Block, ties: float = DEFAULT_TIES, repairs: bool = True) -> list[Finding]:
    """All findings within one block; without repairs it is many times faster."""
    if not 0 <= ties < 1:
        raise ParameterError(f"ties must be a share of pairs, from 0 to below 1; got {ties!r}")
    values = _Values(block)
    findings = [
        Finding("symmetry", block.name, cells, "impossible", f"the same correlation is printed as {_two(block, cells)}")
        for cells in values.disagree
    ]
    findings += _triangles(block, values, ties, repairs)
    findings += _gram(block, values)
    findings += _equal_neighbors(block, ties, repairs)
    findings += _equal_rows(block, values)
    findings += _attainable(block, values)
    return findings


def _two(block: Block, cells: Sequence[Cell]) -> str:
    return " and ".join(block.printed[cell] for cell in cells)


def _triangles(block: Block, values: _Values, ties: float, repairs: bool) -> list[Finding]:
    violations = triangle_violations(values, ties)
    by_row: dict[str, list[tuple[tuple[str, str, str], float]]] = {}
    for names, excess in violations:
        blamed = _blamed_row(block, names)
        by_row.setdefault(blamed, []).append((names, excess))
    findings = []
    for row, rows_violations in by_row.items():
        mended = repair(block, row, ties) if repairs else ""
        for names, excess in sorted(rows_violations, key=lambda one: -one[1]):
            cells = tuple(values.cell[frozenset(pair)] for pair in combinations(names, 2))
            shown = ", ".join(f"{a} with {b} {block.printed[a, b]}" for a, b in cells)
            sentence = (
                f"{shown} break the triangle inequality by {excess:.4f} beyond rounding and {ties:.1%} of tied pairs in each ranking"
            )
            findings.append(Finding("triangle", block.name, cells, "impossible", sentence, mended))
    return findings


def _blamed_row(block: Block, names: Iterable[str]) -> str:
    """The row to look at: of the three, the one that is a row and not a column, else the first row."""
    rows = [name for name in names if name in block.rows]
    return next((name for name in rows if name not in block.columns), rows[0] if rows else next(iter(names)))


def _gram(block: Block, values: _Values) -> list[Finding]:
    """Complete squares of four rankings and more; triples are in the triangle test's reach, the whole block first."""
    complete = [name for name in values.names if all(values.known(name, other) for other in values.names if other != name)]
    if len(complete) < 3:
        return []
    square, width = np.eye(len(complete)), 0.0
    for (i, first), (j, second) in combinations(enumerate(complete), 2):
        pair = frozenset((first, second))
        square[i, j] = square[j, i] = (values.low[pair] + values.high[pair]) / 2
        width = max(width, (values.high[pair] - values.low[pair]) / 2)
    least = float(np.linalg.eigvalsh(square)[0])
    if least >= -width * (len(complete) - 1) - 1e-9:
        return []
    cells = tuple(values.cell[frozenset(pair)] for pair in combinations(complete, 2))
    sentence = (
        f"the correlations of {len(complete)} rankings have the eigenvalue {least:.4f}, but tau-b is a cosine and its matrix cannot "
        "have one below 0 (ties or not)"
    )
    return [Finding("gram", block.name, cells, "impossible", sentence)]


def _digits(text: str) -> str:
    return text.lstrip("+-").replace(".", "")


def _equal_neighbors(block: Block, ties: float, repairs: bool) -> list[Finding]:
    """A pair of cells agrees by chance about once in 2,500, so this alone is worth no more than a note."""
    findings = []
    for row in block.rows:
        cells = block.cells(row)
        for left, right in zip(cells, cells[1:], strict=False):
            text = block.printed[left]
            if text == block.printed[right] and len(_digits(text)) >= 4 and float(text) != 1:
                sentence = f"{row} is printed with {text} for both {left[1]} and {right[1]}: a coincidence, or a cell printed twice"
                mended = repair(block, row, ties) if repairs else ""
                findings.append(Finding("equal neighbors", block.name, (left, right), "note", sentence, mended))
    return findings


def _equal_rows(block: Block, values: _Values) -> list[Finding]:
    """Two rows with the same digits: the same ranking, or a row copied. Where their own tau is known, it tells which."""
    findings = []
    for first, second in combinations(block.rows, 2):
        shared = [
            other
            for other in values.names
            if other not in (first, second) and values.known(first, other) and values.known(second, other)
        ]
        if len(shared) < 3:
            continue
        texts = [
            (block.printed[values.cell[frozenset((first, other))]], block.printed[values.cell[frozenset((second, other))]])
            for other in shared
        ]
        if any(one != other or len(_digits(one)) < 4 for one, other in texts):
            continue
        cells = tuple(values.cell[frozenset((second, other))] for other in shared)
        own = frozenset((first, second))
        if own in values.high and values.high[own] < 1 and _coincidence(block, texts[0][0], len(shared)) < COINCIDENCE:
            sentence = (
                f"{first} and {second} have the same {len(shared)} correlations to all digits, yet their own tau is "
                f"{block.printed[values.cell[own]]}: one row is a copy of the other"
            )
            findings.append(Finding("copied row", block.name, cells, "implausible", sentence, f"take {second} as not known"))
        else:
            sentence = f"{first} and {second} have the same {len(shared)} correlations: the same ranking, or one row copied"
            findings.append(Finding("copied row", block.name, cells, "note", sentence))
    return findings


COINCIDENCE = 1e-6
"""Equal rows are implausible when chance would make them less often than this."""


def _coincidence(block: Block, text: str, cells: int) -> float:
    """Chance that as many cells agree in all digits if each takes any of the values within 0.3 that it can take."""
    values = 0.3 * 10 ** len(text.partition(".")[2])
    if block.systems is not None:
        values = min(values, 0.3 * block.systems * (block.systems - 1) / 4)
    return max(values, 1.0) ** -cells


def _attainable(block: Block, values: _Values) -> list[Finding]:
    """Without ties tau takes few values; how many printed ones are among them, and whether sums of three are even."""
    if block.systems is None or not values.cell:
        return []
    cells = len(values.cell)
    reached = [pair for pair in values.cell if _swaps(values, pair, block.systems) is not None]
    chance = _chance(values, block.systems)
    others = [n for n in range(max(3, block.systems - 5), block.systems + 6) if n != block.systems and _fits_all(values, n)]
    sentence = (
        f"{len(reached)} of {cells} values can be tau without ties of {block.systems} systems; of random digits {chance:.0%} could"
    )
    if len(reached) < cells:
        sentence += ", so there are ties, tau-b was used, or digits are wrong"
    if others:
        sentence += f"; all could for {', '.join(map(str, others))} systems"
    findings = [Finding("attainable", block.name, (), "note", sentence)]
    odd = even = 0
    for names in values.triples():
        swaps = [_swaps(values, frozenset(pair), block.systems) for pair in combinations(names, 2)]
        if None not in swaps:
            odd, even = odd + sum(swaps) % 2, even + 1 - sum(swaps) % 2
    if odd + even:
        sentence = f"of {odd + even} triples of values that ties did not touch {even} have an even number of swapped pairs; without ties all have"
        findings.append(Finding("parity", block.name, (), "note", sentence))
    return findings


def _swaps(values: _Values, pair: frozenset, systems: int) -> int | None:
    """The number of swapped pairs that this value means without ties, or None."""
    pairs = systems * (systems - 1) // 2
    low, high = (1 - values.high[pair]) * pairs / 2, (1 - values.low[pair]) * pairs / 2
    least = int(np.ceil(low - 1e-9))
    return least if least <= high + 1e-9 else None


def _fits_all(values: _Values, systems: int) -> bool:
    return all(_swaps(values, pair, systems) is not None for pair in values.cell)


def _chance(values: _Values, systems: int) -> float:
    """Share of values with these digits that some number of swapped pairs would give."""
    pairs = systems * (systems - 1) // 2
    widths = [values.high[pair] - values.low[pair] for pair in values.cell]
    return float(np.mean([min(1.0, width * pairs / 2) for width in widths]))


def examine(blocks: Sequence[Block], ties: float = DEFAULT_TIES) -> list[Finding]:
    """All findings of a table, worst first within each block, then those that compare blocks."""
    findings: list[Finding] = []
    for block in blocks:
        findings += sorted(examine_block(block, ties), key=lambda one: SEVERITIES.index(one.severity))
    return findings + _copied_between(blocks)


def _copied_between(blocks: Sequence[Block]) -> list[Finding]:
    """Rows that stand with the same digits in two blocks, which are about different systems."""
    findings = []
    for first, second in combinations(blocks, 2):
        rows = {tuple(first.printed[cell] for cell in first.cells(row)): row for row in first.rows if len(first.cells(row)) >= 3}
        for row in second.rows:
            texts = tuple(second.printed[cell] for cell in second.cells(row))
            same = rows.get(texts)
            if same is None or all(len(_digits(text)) < 4 for text in texts):
                continue
            sentence = (
                f"{row} in {second.name} has the same {len(texts)} values, to all digits, as {same} in {first.name}, though the systems differ"
            )
            cells = tuple(second.cells(row))
            findings.append(
                Finding("copied row", second.name, cells, "implausible", sentence, f"take {row} as not known in {second.name} or in {first.name}")
            )
    return findings


def contradictions(block: Block, row: str, ties: float) -> int:
    """How many triangles through this row are broken."""
    return sum(row in names for names, _ in triangle_violations(_Values(block), ties))


def _oddities(block: Block, row: str, ties: float) -> int:
    """Broken triangles and equal neighbors of a row: a repair of the ones that leaves the others explains less."""
    texts = [block.printed[cell] for cell in block.cells(row)]
    equal = sum(one == other and len(_digits(one)) >= 4 for one, other in zip(texts, texts[1:], strict=False))
    return contradictions(block, row, ties) + equal


def _shift_repairs(block: Block, row: str, ties: float) -> list[str]:
    """Repairs by one shift: a cell was printed twice and pushed those after it to the right, the last one off the page."""
    cells = block.cells(row)
    found = []
    for doubled in range(1, len(cells)):
        if block.printed[cells[doubled]] != block.printed[cells[doubled - 1]]:
            continue
        changed = {cells[place]: block.printed[cells[place + 1]] for place in range(doubled, len(cells) - 1)}
        changed[cells[-1]] = ""
        if len(cells) - doubled >= 2 and _oddities(block.with_cells(changed), row, ties) == 0:
            values = ", ".join(f"{cell[1]} {text}" for cell, text in changed.items() if text)
            found.append(f"the cells of {row} from {cells[doubled][1]} on are shifted by one: {values}, {cells[-1][1]} not known")
    return found


def _swap_repairs(block: Block, row: str, ties: float) -> list[str]:
    """Repairs by exchanging two cells of the row."""
    return [
        f"{first[1]} and {second[1]} of {row} are swapped"
        for first, second in combinations(block.cells(row), 2)
        if block.printed[first] != block.printed[second]
        and _oddities(block.with_cells({first: block.printed[second], second: block.printed[first]}), row, ties) == 0
    ]


def repair(block: Block, row: str, ties: float = DEFAULT_TIES) -> str:
    """The smallest change to a row that removes all its contradictions, in words; nothing if none of these does.

    Tried in this order: a shift by one cell (which explains several cells by one slip), two cells swapped, one digit of one
    cell misread, one cell not known, two cells not known. All repairs of the first kind that works are given.
    """
    if contradictions(block, row, ties) == 0:
        return ""
    shifts = _shift_repairs(block, row, ties)
    if shifts:
        return " or ".join(shifts)
    swaps = _swap_repairs(block, row, ties)
    if swaps:
        return " or ".join(swaps)
    cells = block.cells(row)
    misread = []
    for cell in cells:
        if _oddities(block.with_cells({cell: ""}), row, ties) == 0:
            candidates = [text for text in one_digit_away(block.printed[cell]) if _oddities(block.with_cells({cell: text}), row, ties) == 0]
            words = f"{cell[1]} of {row} is not {block.printed[cell]}"
            span = " to ".join(dict.fromkeys((candidates[0], candidates[-1]))) if candidates else ""
            misread.append(words + (f" but, one digit away, {span}" if span else ""))
    if misread:
        return " or ".join(misread)
    for first, second in combinations(cells, 2):
        if _oddities(block.with_cells({first: "", second: ""}), row, ties) == 0:
            return f"{first[1]} and {second[1]} of {row} are both wrong"
    return f"more than two cells of {row} are wrong"


def culprit(block: Block, row: str, ties: float = DEFAULT_TIES) -> Cell | None:
    """The one cell without which the row has no contradiction left; None if no cell is, several could be, or a slip of the
    whole row explains it better."""
    if contradictions(block, row, ties) == 0 or _shift_repairs(block, row, ties) or _swap_repairs(block, row, ties):
        return None
    alone = [cell for cell in block.cells(row) if _oddities(block.with_cells({cell: ""}), row, ties) == 0]
    return alone[0] if len(alone) == 1 else None


def one_digit_away(text: str) -> list[str]:
    """All numbers that differ from this one in a single decimal digit, in order.

    >>> one_digit_away("0.5")
    ['0.0', '0.1', '0.2', '0.3', '0.4', '0.6', '0.7', '0.8', '0.9']
    """
    head, point, tail = text.partition(".")
    return sorted(
        {
            f"{head}{point}{tail[:place]}{digit}{tail[place + 1 :]}"
            for place in range(len(tail))
            for digit in "0123456789"
            if digit != tail[place]
        },
        key=float,
    )


def write_findings(path: str | PathLike[str], findings: Iterable[Finding]) -> None:
    """Write ``findings.tsv``."""
    write_rows(path, FINDING_COLUMNS, (one.row() for one in findings))
