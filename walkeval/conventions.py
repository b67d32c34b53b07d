"""Which conventions the SIGIR 2014 paper used, and what would explain the numbers that still differ.

The paper does not say how equal scores are ordered, whether means are rounded before they are compared, which tau it
takes, whether printed values are rounded or cut off, nor how its LID kernel reads. `search` tries every combination
on the one collection whose runs are public and counts the clear cells of Tables 2 and 3 that come out to all four
printed digits; `unseen_cells` confronts the winner with cells of other collections, which the search never saw;
`readings` tells what doubtful digits of the scan must be if the winner is right.

`explain` looks at every cell that is still different: does the value stand in a neighboring cell, does a single
switch of the conventions make it equal, or a run more or less? Where nothing does, it says what was tried and how far
off it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from walkeval.audit import Reproduction, as_printed, judge_claim, number
from walkeval.claims import Claim, read_rows, write_rows
from walkeval.correlation import kendall, pair_signs, tau_matrix
from walkeval.errors import InputError, ParameterError, UnknownNameError
from walkeval.evidence import per_topic_scores, read_nist_summary, read_topic_means, read_trec_eval_output
from walkeval.gathering import Evidence
from walkeval.judging import ORDERS, judge
from walkeval.measures.classical import Bpref
from walkeval.measures.markov_precision import MP
from walkeval.papers.sigir2014 import COMPARISONS, PRINTED_DECIMALS, models, weaker_means
from walkeval.scoring import score_collection

KERNELS = {
    "1/log10(d+1)": (1, 0),
    "1/log10(d+2)": (2, 0),
    "1/log10(d+10)": (10, 0),
    "1/(1+log10(d))": (0, 1),
    "1/(1+log10(d+1))": (1, 1),
}
"""Readings of the LID kernel by formula: MP's parameters offset and outside."""
SWITCHES = {
    "order": ORDERS,
    "rounding": ("none", "4"),
    "tau": ("a", "b"),
    "printing": ("rounded", "truncated"),
    "kernel": tuple(KERNELS),
    "bpref": ("trec_eval", "before_2006", "paper"),
}
"""What is searched: every combination of these."""
SEARCH_COLUMNS = [
    *SWITCHES, "table2_equal", "table2_cells", "table3_equal", "table3_cells", "equal", "rank", "note",
]  # fmt: skip
TESTED_COLUMNS = ["collection", "cell", "evidence", "convention", "value", "shown", "printed", "equal"]
READING_COLUMNS = ["collection", "cell", "readings", "value", "shown", "reading"]
EXPLANATION_COLUMNS = ("claim", "printed", "reproduced", "explanation", "switch", "value_under_switch")
NO_SWITCH = "none found"


@dataclass(frozen=True)
class Convention:
    """One way to get from runs to printed digits."""

    order: str
    rounding: str
    """Decimals of the system means before they are compared, or ``none``."""
    tau: str
    printing: str
    kernel: str
    bpref: str

    def __post_init__(self) -> None:
        for switch, values in SWITCHES.items():
            value = str(getattr(self, switch))
            if value not in values and not (switch == "rounding" and value.isdecimal()):
                raise UnknownNameError(f"{switch} of a convention", value, values)

    @property
    def decimals(self) -> int | None:
        """Decimals of the means, as `walkeval.correlation` wants them."""
        return None if self.rounding == "none" else int(self.rounding)

    def measure(self, name: str) -> str:
        """Our measure for a row or column of the tables, under this convention.

        >>> Convention("rank", "4", "b", "rounded", "1/(1+log10(d))", "paper").measure("GL_OR_LID@Rec")
        'MP(model="GL_OR_LID",rescale="recall",offset=0,outside=1)'
        """
        if name == "bpref":
            return f'bpref(variant="{self.bpref}")'
        if name in COMPARISONS:
            return COMPARISONS[name]
        known = models()
        if name not in known:
            raise UnknownNameError("measure of the tables", name, [*COMPARISONS, *known])
        if "_LID" not in name:
            return known[name]
        offset, outside = KERNELS[self.kernel]
        return known[name].removesuffix(")") + f",offset={offset},outside={outside})"


def conventions() -> list[Convention]:
    """Every combination of the switches."""
    return [Convention(*values) for values in product(*SWITCHES.values())]


def edition_convention(order: str, rounding: int | None, tau: str, printing: str) -> Convention:
    """The convention of an edition's config; kernel and bpref are as the measures have them by default."""
    kernel = next(name for name, parameters in KERNELS.items() if parameters == (MP().offset, MP().outside))
    return Convention(order, "none" if rounding is None else str(rounding), tau, printing, kernel, Bpref().variant)


def single_changes(convention: Convention) -> dict[str, Convention]:
    """The conventions that differ in one switch, by what was changed."""
    return {
        f"{switch}={value}": replace(convention, **{switch: value})
        for switch, values in SWITCHES.items()
        for value in values
        if value != getattr(convention, switch)
    }


@dataclass(frozen=True, eq=False)
class SystemMeans:
    """Means over topics by order of runs, measure and run: all that the search needs to know of a collection."""

    orders: list[str]
    measures: list[str]
    runs: list[str]
    values: NDArray[np.float64]

    def of(self, convention: Convention, name: str) -> NDArray[np.float64]:
        """Means by run of a row or column of the tables."""
        place = self._place[convention.measure(name)]
        return self.values[self.orders.index(convention.order), place]

    def tau(self, convention: Convention, first: str, second: str) -> float:
        """Kendall's tau of two rows or columns of the tables."""
        key = convention.order, convention.tau, convention.decimals
        if key not in self._taus:
            scores = self.values[self.orders.index(convention.order)]
            self._taus[key] = tau_matrix(scores, convention.tau, convention.decimals)
        places = (self._place[convention.measure(one)] for one in (first, second))
        return float(self._taus[key][tuple(places)])

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.measures)}

    @cached_property
    def _taus(self) -> dict[tuple, NDArray[np.float64]]:
        return {}

    def save(self, path: str | PathLike[str]) -> None:
        """Write to one file."""
        head = json.dumps({"orders": self.orders, "measures": self.measures, "runs": self.runs})
        with Path(path).open("wb") as stream:
            np.savez(stream, head=np.frombuffer(head.encode(), dtype=np.uint8), values=self.values)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SystemMeans:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                return cls(**json.loads(stored["head"].tobytes()), values=stored["values"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(path, f"is not a file of system means ({error}); remove it and run again") from error


def system_means(evidence: Evidence, orders: Sequence[str] = ORDERS) -> SystemMeans:
    """Score all runs of a collection under every order of equal scores, kernel and variant of bpref."""
    names = list(dict.fromkeys(one.measure(name) for one in conventions() for name in (*COMPARISONS, *models())))
    if not evidence.runs:
        return SystemMeans(list(orders), names, [], np.zeros((len(orders), len(names), 0)))
    values = [
        score_collection(judge(evidence.qrels, evidence.run_paths(), order=order), names).means() for order in orders
    ]
    return SystemMeans(list(orders), names, sorted(evidence.runs), np.stack(values))


@dataclass(frozen=True)
class Cell:
    """A cell of Table 2 (whose rows are AP) or Table 3."""

    table: str
    collection: str
    model: str
    measure: str

    @property
    def claim(self) -> str:
        """The id of its claim."""
        middle = self.collection if self.table == "table2" else f"{self.collection}/{self.model}"
        return f"sigir2014/{self.table}/{middle}/{self.measure}"

    @property
    def name(self) -> str:
        """As people say it."""
        return f"{self.table.replace('table', 'Table ')}, {self.model} with {self.measure}"


def cells(collection: str, claims: Mapping[str, Claim]) -> dict[Cell, Claim]:
    """The cells of Tables 2 and 3 of a collection that can be read at all, but for AP with itself."""
    every = [Cell("table2", collection, "AP", measure) for measure in COMPARISONS if measure != "AP"]
    every += [Cell("table3", collection, model, measure) for model in models() for measure in COMPARISONS]
    return {one: claims[one.claim] for one in every if one.claim in claims}


def shown(value: float, printing: str) -> str:
    """A tau as the paper would print it."""
    return "" if np.isnan(value) else as_printed(value, PRINTED_DECIMALS, printing)


def printed_by(means: SystemMeans, convention: Convention, wanted: Iterable[Cell]) -> tuple[str, ...]:
    """What a convention prints in each of these cells."""
    return tuple(shown(means.tau(convention, one.model, one.measure), convention.printing) for one in wanted)


def search(means: SystemMeans, claims: Mapping[str, Claim], collection: str) -> pd.DataFrame:
    """Every convention with the clear cells that it reproduces to all printed digits, the best first.

    Conventions with the same count share a rank. The note says which of them print the same in every cell, clear or
    not, and so cannot be told apart, and sets the winner's count beside the runner-up's. Without runs there is nothing
    to search.
    """
    if not means.runs:
        return pd.DataFrame(columns=SEARCH_COLUMNS)
    wanted = cells(collection, claims)
    clear = {one: claim.printed for one, claim in wanted.items() if len(claim.readings) == 1}
    if not clear:
        raise ParameterError(f"no claim about {collection} in Tables 2 and 3: there is nothing to search on")
    sizes = {table: sum(one.table == table for one in clear) for table in ("table2", "table3")}
    rows = []
    known: dict[tuple[float, str], str] = {}  # conventions share most of their values, and printing takes longest
    for convention in conventions():
        printed = {}
        for one in wanted:
            key = means.tau(convention, one.model, one.measure), convention.printing
            if key not in known:
                known[key] = shown(*key)
            printed[one] = known[key]
        equal = {
            table: sum(printed[one] == text for one, text in clear.items() if one.table == table) for table in sizes
        }
        rows.append((-sum(equal.values()), convention, equal, tuple(printed.values())))
    rows.sort(key=lambda row: row[0])  # stable: equal counts stay in the order of the grid
    counts = [-row[0] for row in rows]
    first_like: dict[tuple[str, ...], int] = {}
    table = []
    for line, (_, convention, equal, printed) in enumerate(rows, start=1):
        note = ""
        if printed in first_like:
            note = f"prints the same as line {first_like[printed]} in every cell"
        elif line == 1:
            runner_up = next((count for row, count in zip(rows, counts, strict=True) if row[3] != printed), 0)
            note = f"winner: {counts[0]} of {len(clear)} clear cells; the best that prints otherwise: {runner_up}"
        first_like.setdefault(printed, line)
        table.append(
            {
                **{one.name: getattr(convention, one.name) for one in fields(convention)},
                "table2_equal": equal["table2"], "table2_cells": sizes["table2"],
                "table3_equal": equal["table3"], "table3_cells": sizes["table3"],
                "equal": counts[line - 1], "rank": counts.index(counts[line - 1]) + 1, "note": note,
            }
        )  # fmt: skip
    return pd.DataFrame(table, columns=SEARCH_COLUMNS)


def winner(table: pd.DataFrame) -> Convention | None:
    """The best convention of a search, if it had anything to search on."""
    return None if table.empty else Convention(**{name: str(table[name].iloc[0]) for name in SWITCHES})


def unseen_cells(
    best: Convention | None, evidence: Iterable[Evidence], claims: Mapping[str, Claim], searched: str
) -> pd.DataFrame:
    """The winner, and the winner with one switch changed, on clear cells of the collections that were not searched.

    Collections with runs test all switches; per-topic scores and summaries test those that come after the means.
    """
    rows = []
    changed = {} if best is None else {"winner": best, **single_changes(best)}
    for one in evidence:
        if one.collection == searched:
            continue
        clear = {cell: claim for cell, claim in cells(one.collection, claims).items() if len(claim.readings) == 1}
        means = system_means(one) if one.runs and changed else None
        weaker = {} if one.runs else weaker_means(one)
        for cell, claim in clear.items():
            for label, convention in changed.items():
                if means is not None:
                    basis, value = "runs", means.tau(convention, cell.model, cell.measure)
                elif cell.table == "table2" and cell.measure in weaker and label.partition("=")[0] in _AFTER_MEANS:
                    basis, frame = weaker[cell.measure]
                    value = kendall(frame["AP"], frame[cell.measure], convention.tau, convention.decimals).value
                else:
                    continue
                text = shown(value, convention.printing)
                rows.append(
                    [one.collection, cell.name, basis, label, value, text, claim.printed, _yes(text == claim.printed)]
                )
    return pd.DataFrame(rows, columns=TESTED_COLUMNS)


_AFTER_MEANS = ("winner", "rounding", "tau", "printing")


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def readings(
    means: SystemMeans, best: Convention | None, claims: Mapping[str, Claim], collection: str
) -> pd.DataFrame:
    """The doubtful cells of the searched collection: which of the readings the winner says it is, if any."""
    rows = []
    for cell, claim in cells(collection, claims).items():
        if len(claim.readings) > 1 and best is not None:
            value = means.tau(best, cell.model, cell.measure)
            text = shown(value, best.printing)
            reading = text if text in claim.readings else "none of them"
            rows.append([collection, cell.name, claim.printed, value, text, reading])
    return pd.DataFrame(rows, columns=READING_COLUMNS)


@dataclass(frozen=True)
class Explanation:
    """What would make a number that differs equal, or that nothing was found."""

    claim: str
    printed: str
    reproduced: str
    explanation: str
    switch: str = NO_SWITCH
    value_under_switch: str = ""


def misplaced(cell: tuple[str, str], printed: str, values: Mapping[tuple[str, str], str]) -> tuple[str, str] | None:
    """Where in a table a printed value belongs: the nearest other cell of the same row, or else of the same column.

    Cells are (row, column); ``values`` are those of the whole table, row by row, as they should be printed.

    >>> table = {("a", "x"): "0.1", ("a", "y"): "0.2", ("b", "x"): "0.3", ("b", "y"): "0.4"}
    >>> misplaced(("a", "y"), "0.1", table), misplaced(("a", "y"), "0.4", table), misplaced(("a", "y"), "0.3", table)
    (('a', 'x'), ('b', 'y'), None)
    """
    if cell not in values:
        raise UnknownNameError("cell", "/".join(cell), map("/".join, values))
    for axis in (0, 1):
        line = [one for one in values if one[axis] == cell[axis]]
        matches = [one for one in line if one != cell and values[one] == printed]
        if matches:
            return min(matches, key=lambda one: abs(line.index(one) - line.index(cell)))
    return None


def taus_without(
    x: ArrayLike, y: ArrayLike, variant: str = "b", decimals: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Tau without each one system, and (as a square) without each two of them.

    >>> one, two = taus_without([1, 2, 3, 4], [1, 2, 4, 3])
    >>> one.round(3).tolist(), float(two[2, 3])
    ([0.333, 0.333, 1.0, 1.0], 1.0)
    """
    size = len(np.atleast_1d(x))
    if size < 4:
        raise ParameterError(f"leaving out two systems needs at least four of them; there are {size}")
    sides = []
    for scores in (x, y):
        square = np.zeros((size, size))
        square[np.triu_indices(size, k=1)] = pair_signs(scores, decimals)
        sides.append(square - square.T)
    # Sums over pairs lose the rows of the systems left out; the pair of both is in both rows and is given back.
    parts = [sides[0] * sides[1], sides[0] ** 2, sides[1] ** 2]
    one = [part.sum() / 2 - part.sum(axis=1) for part in parts]
    two = [part.sum() / 2 - part.sum(axis=1)[:, None] - part.sum(axis=1) + part for part in parts]

    def tau(sums: Sequence[NDArray], systems: int) -> NDArray[np.float64]:
        pairs = np.full(sums[0].shape, systems * (systems - 1) / 2)
        divisor = pairs if variant == "a" else np.sqrt(np.maximum(sums[1], 0) * np.maximum(sums[2], 0))
        return np.divide(sums[0], divisor, out=np.full(sums[0].shape, np.nan), where=divisor > 0)

    return tau(one, size - 1), tau(two, size - 2)


def fewest_changed_pairs(
    x: ArrayLike,
    y: ArrayLike,
    wanted: Sequence[str],
    variant: str = "b",
    decimals: int | None = None,
    printing: str = "rounded",
    most: int = 8,
) -> int | None:
    """How many pairs of systems must at least compare differently for tau to be printed as one of the wanted texts.

    A pair agrees, disagrees, or is tied in the one order, in the other or in both; a change moves it from one of these
    five to another. None if ``most`` changes do not suffice.

    >>> fewest_changed_pairs([1, 2, 3, 4], [1, 2, 4, 3], ["1.0000"])
    1
    """
    sign_x, sign_y = pair_signs(x, decimals), pair_signs(y, decimals)
    tied_x, tied_y = sign_x == 0, sign_y == 0
    start = tuple(
        int(np.sum(one))
        for one in (
            sign_x * sign_y > 0, sign_x * sign_y < 0, tied_x & ~tied_y, ~tied_x & tied_y, tied_x & tied_y,
        )
    )  # fmt: skip

    def hit(counts: tuple[int, ...]) -> bool:
        agree, disagree, only_x, only_y, _ = counts
        untied = (agree + disagree + only_y) * (agree + disagree + only_x)
        divisor = sum(counts) if variant == "a" else np.sqrt(untied)
        return divisor > 0 and as_printed((agree - disagree) / divisor, wanted[0], printing) in wanted

    reached, frontier = {start}, {start}
    for changes in range(most + 1):
        if any(map(hit, frontier)):
            return changes
        moved = {
            tuple(count - (place == source) + (place == target) for place, count in enumerate(counts))
            for counts in frontier
            for source in range(5)
            if counts[source]
            for target in range(5)
            if target != source
        }
        frontier = moved - reached
        reached |= frontier
    return None


def explain(
    claims: Mapping[str, Claim],
    found: Iterable[Reproduction],
    evidence: Iterable[Evidence],
    convention: Convention,
    means: Mapping[str, SystemMeans],
) -> list[Explanation]:
    """An explanation of each cell of Tables 2 and 3 that differs, and of cells that a misnamed column might fill.

    ``means`` are those of the collections that were searched; those of others with runs are computed when a cell of
    theirs differs.
    """
    by_claim = {one.claim: one for one in found}
    means = dict(means)
    explained = []
    for one in evidence:
        wanted = cells(one.collection, claims)
        differing = {
            cell: claim
            for cell, claim in wanted.items()
            if claim.claim in by_claim
            and judge_claim(claim, by_claim[claim.claim], convention.printing).verdict == "differs"
        }
        if one.runs:
            if differing and one.collection not in means:
                means[one.collection] = system_means(one)
            explained += [
                _explain_from_runs(cell, differing, wanted, means[one.collection], convention) for cell in differing
            ]
            continue
        weaker = weaker_means(one)
        for cell, claim in differing.items():
            runs = claims.get(f"sigir2014/table1/{one.collection}/runs")
            counted = runs.printed if runs else "no number"
            explained.append(_explain_from_means(cell, claim, one, weaker[cell.measure], convention, means, counted))
        precision = Cell("table2", one.collection, "AP", "P@10")
        if "P@10" not in weaker and precision in wanted:
            explained += _misnamed_precision(precision, wanted[precision], one, convention)
    return explained


def _explain_from_runs(
    cell: Cell,
    differing: Mapping[Cell, Claim],
    wanted: Mapping[Cell, Claim],
    means: SystemMeans,
    convention: Convention,
) -> Explanation:
    claim = differing[cell]
    rows = ["AP"] if cell.table == "table2" else list(models())
    values = {
        (row, column): shown(means.tau(convention, row, column), convention.printing)
        for row in rows
        for column in COMPARISONS
    }
    place = cell.model, cell.measure
    for reading in claim.readings:
        other = misplaced(place, reading, values)
        if other is not None:
            return Explanation(
                claim.claim, claim.printed, values[place], _misplaced_sentence(cell, other, differing, values),
                f"cell={'/'.join(other)}", number(means.tau(convention, *other)),
            )  # fmt: skip
    clear = {one: text.printed for one, text in wanted.items() if len(text.readings) == 1}
    equal = [
        one for one, text in zip(clear, printed_by(means, convention, clear), strict=True) if text == clear[one]
    ]
    hits = []
    for label, changed in single_changes(convention).items():
        value = means.tau(changed, cell.model, cell.measure)
        if shown(value, changed.printing) in claim.readings:
            kept = sum(
                text == clear[one] for one, text in zip(equal, printed_by(means, changed, equal), strict=True)
            )
            hits.append((len(equal) - kept, label, value))
    x, y = means.of(convention, cell.model), means.of(convention, cell.measure)
    facts = ["no single switch of the conventions makes it equal"]
    if hits:
        lost, label, value = min(hits)
        facts = [f"it would be equal with {label}"]
        if lost:
            facts[0] += f", but {lost} of the {len(equal)} clear cells that are equal would then differ"
        else:
            return Explanation(claim.claim, claim.printed, values[place], facts[0], label, number(value))
    facts.append(_pairs_sentence(x, y, claim, convention))
    close = [one for one in claim.readings if _one_digit_apart(one, values[place])]
    if len(claim.readings) > 1 and close:
        row = {one: clear[one] for one in equal if one.model == cell.model and one.table == cell.table}
        reached, kept = _nudges(cell, claim, row, means, convention)
        facts.append(
            f"of all changes of one run's mean by 0.0001 {reached} give a reading, and {kept} of these keep the "
            f"{len(row)} clear cells of its row equal"
        )
        if not kept:
            lead = f"the scan is doubtful here, and most likely {values[place]} was misread as {close[0]}"
            value = number(means.tau(convention, *place))
            return Explanation(
                claim.claim, claim.printed, values[place], "; ".join([lead, *facts]), "misread digit", value
            )
    return Explanation(claim.claim, claim.printed, values[place], "; ".join(facts))


def _misplaced_sentence(
    cell: Cell, other: tuple[str, str], differing: Mapping[Cell, Claim], values: Mapping[tuple[str, str], str]
) -> str:
    row = [one for one in values if one[0] == cell.model]
    place = cell.model, cell.measure
    printed_here = {
        (one.model, one.measure): claim.printed for one, claim in differing.items() if one.table == cell.table
    }
    sentence = f"printed is the value of {' with '.join(other)}"
    if printed_here.get(other) == values[place]:
        return f"{sentence}, and there stands the value that belongs here: the two cells are swapped"
    shifted = [one for left, one in zip(row, row[1:], strict=False) if printed_here.get(one) == values[left]]
    if place in shifted and len(shifted) > 1:
        last = row[-1]
        sentence += (
            f": the row {cell.model} is printed one cell too far to the right from {shifted[0][1]} on, which repeats "
            f"the value of {row[row.index(shifted[0]) - 1][1]}"
        )
        if last in shifted:
            sentence += f", and its value with {last[1]} ({values[last]}) is not printed"
    return sentence


def _one_digit_apart(first: str, second: str) -> bool:
    return len(first) == len(second) and sum(one != two for one, two in zip(first, second, strict=True)) == 1


def _nudges(
    cell: Cell, claim: Claim, row: Mapping[Cell, str], means: SystemMeans, convention: Convention
) -> tuple[int, int]:
    """How many changes of one run's mean by a last digit give a reading, and how many also keep the rest of the row."""
    mine = np.round(means.of(convention, cell.model), 4)
    reached = kept = 0
    for run, step in product(range(len(mine)), (-1e-4, 1e-4)):
        changed = mine.copy()
        changed[run] += step

        def printed(measure: str, changed: NDArray[np.float64] = changed) -> str:
            other = means.of(convention, measure)
            return shown(kendall(changed, other, convention.tau, convention.decimals).value, convention.printing)

        if printed(cell.measure) in claim.readings:
            reached += 1
            kept += all(printed(one.measure) == text for one, text in row.items())
    return reached, kept


def _pairs_sentence(x: ArrayLike, y: ArrayLike, claim: Claim, convention: Convention) -> str:
    fewest = fewest_changed_pairs(
        x, y, claim.readings, convention.tau, convention.decimals, convention.printing
    )  # fmt: skip
    pairs = len(pair_signs(x))
    if fewest is None:
        return f"more than 8 of the {pairs} pairs of systems would have to compare differently"
    return f"at least {fewest} of the {pairs} pairs of systems would have to compare differently"


def _explain_from_means(
    cell: Cell,
    claim: Claim,
    evidence: Evidence,
    basis_and_means: tuple[str, pd.DataFrame],
    convention: Convention,
    searched: Mapping[str, SystemMeans],
    counted: str,
) -> Explanation:
    basis, frame = basis_and_means
    x, y = frame["AP"].to_numpy(), frame[cell.measure].to_numpy()
    reproduced = shown(kendall(x, y, convention.tau, convention.decimals).value, convention.printing)
    tried = _other_values(cell.measure, evidence, frame, convention)
    hits = [(label, value) for label, (value, way) in tried.items() if shown(value, way) in claim.readings]
    facts = [f"it would be equal with {hits[0][0]}" if hits else "no switch was found that makes it equal"]
    listed = ", ".join(f"{label} {shown(value, way)}" for label, (value, way) in tried.items())
    facts.append(f"tried on the {basis}, where all means are over the same topics: {listed}")
    facts.append(_pairs_sentence(x, y, claim, convention))
    if len(x) >= 4:
        one, two = taus_without(x, y, convention.tau, convention.decimals)
        pairs = two[np.triu_indices(len(x), k=1)]
        single = [name for name, value in zip(frame.index, one, strict=True) if _prints(value, claim, convention)]
        double = sum(_prints(value, claim, convention) for value in pairs)
        facts.append(
            f"leaving out one run makes it equal for {len(single)} of {len(one)} runs{_named(single)}, leaving out two "
            f"for {double} of {len(pairs)} pairs"
            + (", so that none is singled out" if len(single) > 1 else "")
            + f" (Table 1 counts {counted}, and there are {len(x)})"
        )
    without_topic = _without_topics(cell.measure, evidence, convention)
    if without_topic:
        topics = [name for name, value in without_topic.items() if _prints(value, claim, convention)]
        facts.append(f"leaving out one topic for {len(topics)} of {len(without_topic)}{_named(topics)}")
    if cell.measure == "bpref":
        facts.append("which formula of bpref the files of an old trec_eval hold is not known, and it changed in 2006")
    facts += _later_evaluation(cell.measure, evidence, frame)
    facts += [_sensitivity(cell.measure, name, means, convention) for name, means in searched.items()]
    label, value = hits[0] if hits else (NO_SWITCH, float("nan"))
    return Explanation(claim.claim, claim.printed, reproduced, "; ".join(facts), label, number(value))


def _prints(value: float, claim: Claim, convention: Convention) -> bool:
    return shown(value, convention.printing) in claim.readings


def _named(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if 0 < len(names) <= 6 else ""


def _other_values(
    measure: str, evidence: Evidence, frame: pd.DataFrame, convention: Convention
) -> dict[str, tuple[float, str]]:
    """What other conventions, other evidence or another column under this name would give, and how it is printed."""
    x, y = frame["AP"], frame[measure]
    found = {}
    for label, changed in single_changes(convention).items():
        if label.partition("=")[0] in _AFTER_MEANS:
            found[label] = kendall(x, y, changed.tau, changed.decimals).value, changed.printing
    found["rounding=3"] = kendall(x, y, convention.tau, 3).value, convention.printing
    names = {"Rprec": "Rprec", "bpref": "bpref", "P@10": "P_10"}
    if evidence.per_topic_runs:
        # trec_eval took these means before it rounded the scores of the topics.
        rows = {run: read_trec_eval_output(path) for run, path in evidence.per_topic_runs.items()}
        if all("all" in one.index for one in rows.values()):
            whole = pd.DataFrame({run: one.loc["all", ["map", names[measure]]] for run, one in rows.items()})
            value = kendall(whole.loc["map"], whole.loc[names[measure]], convention.tau, convention.decimals).value
            found["means as trec_eval printed them"] = value, convention.printing
    if evidence.summary and measure == "P@10":
        summary = read_nist_summary(evidence.summary)
        for column in [name for name in summary if name.startswith("P_") and name != "P_10"]:
            value = kendall(summary["map"], summary[column], convention.tau, convention.decimals).value
            found[f"measure={column}"] = value, convention.printing
    return found


def _without_topics(measure: str, evidence: Evidence, convention: Convention) -> dict[str, float]:
    if not evidence.per_topic_runs:
        return {}
    names = {"Rprec": "Rprec", "bpref": "bpref", "P@10": "P_10"}
    average = per_topic_scores(evidence.per_topic_runs, "map")
    other = per_topic_scores(evidence.per_topic_runs, names[measure])
    return {
        topic: kendall(
            average.drop(topic).mean(), other.drop(topic).mean(), convention.tau, convention.decimals
        ).value
        for topic in average.index
    }  # fmt: skip


def _later_evaluation(measure: str, evidence: Evidence, frame: pd.DataFrame) -> list[str]:
    """Whether the sum of the summary's means fits that of another evaluation of the same runs, given by topic.

    Means that were rounded to 4 decimals are off by at most half a last digit, evenly, so the sum over n runs has the
    standard deviation 1e-4 sqrt(n/12).
    """
    if not evidence.topic_means:
        return []
    other = read_topic_means(evidence.topic_means)
    columns = {name: column for name, column in (("AP", "AP"), (measure, {"Rprec": "RP"}.get(measure, measure)))}
    if not set(columns.values()) <= set(other.columns):
        return []
    deviation = 1e-4 * np.sqrt(len(frame) / 12)
    gaps = {name: frame[name].sum() - len(frame) * other[column].mean() for name, column in columns.items()}
    listed = " and ".join(f"{name} by {gap:+.4f} ({gap / deviation:+.1f})" for name, gap in gaps.items())
    return [
        "against the means by topic of another evaluation of the same runs the sums of the summary's means are off for "
        f"{listed}, in brackets as standard deviations of what rounding explains"
    ]


def _sensitivity(measure: str, collection: str, means: SystemMeans, convention: Convention) -> str:
    """How much the switches that this evidence cannot test move cells of the same column where there are runs."""
    rows = ["AP", *models()]
    before = {row: means.tau(convention, row, measure) for row in rows}
    parts = []
    for label, changed in single_changes(convention).items():
        if label.partition("=")[0] in ("order", "bpref") and (measure == "bpref" or label.startswith("order")):
            after = {row: means.tau(changed, row, measure) for row in rows}
            moved = sum(
                shown(before[row], convention.printing) != shown(after[row], convention.printing) for row in rows
            )
            largest = max(abs(after[row] - before[row]) for row in rows)
            here = shown(after["AP"], changed.printing)
            parts.append(f"{label} {moved} by up to {largest:.4f} (this one to {here})")
    return (
        f"switches that these data cannot test change the {len(rows)} cells with {measure} of {collection}, whose runs "
        f"are at hand: {', '.join(parts)}"
    )


def _misnamed_precision(
    cell: Cell, claim: Claim, evidence: Evidence, convention: Convention
) -> list[Explanation]:
    """What a summary calls P_10 may be precision at 15: said, because somebody will try it; never a reproduction."""
    if not evidence.summary:
        return []
    summary = read_nist_summary(evidence.summary)
    column = summary.attrs["renamed"].get("P_10")
    if column is None:
        return []
    value = kendall(summary["map"], summary[column], convention.tau, convention.decimals).value
    text = shown(value, convention.printing)
    verb = "gives" if text in claim.readings else "does not give"
    sentence = (
        f"the summary's column P_10 holds {column.replace('P_', 'P@')} by its values, and tau of AP with it ({text}) "
        f"{verb} the printed number; for information only, for it is another measure"
    )
    return [Explanation(claim.claim, claim.printed, "", sentence, f"measure={column}", number(value))]


def write_explanations(path: str | PathLike[str], explained: Iterable[Explanation]) -> None:
    """Write ``explanations.tsv``."""
    write_rows(path, EXPLANATION_COLUMNS, ([getattr(one, name) for name in EXPLANATION_COLUMNS] for one in explained))


def read_explanations(path: str | PathLike[str]) -> dict[str, str]:
    """The sentence of each claim that `write_explanations` wrote."""
    rows = (dict(zip(EXPLANATION_COLUMNS, row, strict=True)) for _, row in read_rows(path, EXPLANATION_COLUMNS))
    return {row["claim"]: row["explanation"] for row in rows}
