"""How good the examination of tables is: errors planted in true tables, and what it finds.

A true table is made from the scores of a collection's systems under several measures, so that nothing in it is impossible,
ties included. Then one error of a known kind is planted, as a typesetter or a scanner makes it.
"""

from __future__ import annotations


from collections.abc import Sequence

import numpy as np
import pandas as pd

from walkeval.audit import as_printed
from walkeval.correlation import tau_matrix
from walkeval.errors import ParameterError
from walkeval.examination import DEFAULT_TIES, Block, Finding, examine_block, one_digit_away
from walkeval.scoring import Scores
from walkeval.seeds import generator

KINDS = ("digit", "swap", "shift", "duplicate", "copied row")
ALARM = ("impossible", "implausible")
MEASURES = (
    "AP", "P@10", "Rprec", "bpref", "RBP(p=0.8)", 'MP(model="GL_AD_ID")', 'MP(model="GL_AD_LID",rescale="recall")',
    'MP(model="GL_OR_ID")', 'MP(model="LO_OR_ID",rescale="recall")', 'MP(model="LO_AD_ID")',
)  # fmt: skip
"""Ten measures of the SIGIR 2014 paper, near and far from each other."""
FEWEST_RUNS = 20
"""With fewer systems tau takes so few values that equal cells mean nothing."""


def true_table(scores: Scores, name: str, measures: Sequence[str], systems: int = 103) -> Block:
    """Correlations between measures of some of the systems of a collection, over topics drawn with replacement."""
    random = generator(f"planting/{name}")
    chosen = random.choice(len(scores.runs), min(systems, len(scores.runs)), replace=False)
    topics = random.integers(len(scores.topics), size=len(scores.topics))
    values = np.stack([scores.of(measure)[np.ix_(chosen, topics)].mean(axis=1) for measure in measures])
    tau = tau_matrix(values, "b", 4)
    names = tuple(measures)
    printed = {
        (names[i], names[j]): as_printed(tau[i, j], "0.0000", "truncated")
        for i in range(len(names))
        for j in range(i + 1, len(names))
    }
    return Block(name, names, names, printed, len(chosen))


def plant(block: Block, kind: str, name: str) -> Block:
    """The table with one error of this kind, different from the true one in at least one cell."""
    random = generator(f"planting/{name}/{kind}")
    for _ in range(1000):
        row = block.rows[int(random.integers(len(block.rows) - 3))]
        cells = block.cells(row)
        texts = [block.printed[cell] for cell in cells]
        if kind == "digit":
            place = int(random.integers(len(cells)))
            texts[place] = str(random.choice(one_digit_away(texts[place])))
        elif kind == "swap":
            first, second = random.choice(len(cells), 2, replace=False)
            texts[first], texts[second] = texts[second], texts[first]
        elif kind == "shift":
            start = int(random.integers(1, len(cells)))
            texts[start:] = texts[start - 1 : -1]
        elif kind == "duplicate":
            place = int(random.integers(1, len(cells)))
            texts[place] = texts[place - 1]
        else:
            other = block.rows[int(random.integers(len(block.rows) - 3))]
            source = [block.printed.get((other, cell[1])) or block.printed.get((cell[1], other)) for cell in cells]
            texts = [mine if theirs is None else theirs for mine, theirs in zip(texts, source, strict=True)]
        planted = block.with_cells(dict(zip(cells, texts, strict=True)))
        if planted.printed != block.printed:
            return planted
    raise ParameterError(f"no error of the kind {kind!r} changes the table {block.name!r}: its rows are all alike")


def alarms(findings: list[Finding]) -> set[str]:
    """The tests that raised more than a note."""
    return {one.test for one in findings if one.severity in ALARM}


def largest_collection(candidates: Sequence[Scores]) -> Scores:
    """The collection with the most runs, for true tables of many systems."""
    return max(candidates, key=lambda one: len(one.runs), default=Scores([], [], [], np.zeros((0, 0, 0))))


def power(scores: Scores, corruptions: int = 200, clean: int = 200, ties: float = DEFAULT_TIES) -> pd.DataFrame:
    """Detection and false-alarm rates, by kind of error and by test, on tables of up to ten measures.

    Errors of the five kinds are planted in turn. ``ties`` is the share of tied pairs that the examination assumes. Without
    enough runs or measures for a table there is nothing to count.
    """
    measures = [name for name in MEASURES if name in scores.measures]
    if len(scores.runs) < FEWEST_RUNS or len(measures) < 5:
        corruptions = clean = 0
    tests = ("triangle", "gram", "copied row")
    counts = {kind: dict.fromkeys(("tables", "any", *tests), 0) for kind in (*KINDS, "none")}
    for number in range(corruptions):
        kind = KINDS[number % len(KINDS)]
        planted = plant(true_table(scores, f"table {number}", measures), kind, str(number))
        _count(counts[kind], alarms(examine_block(planted, ties, repairs=False)))
    for number in range(clean):
        _count(counts["none"], alarms(examine_block(true_table(scores, f"clean {number}", measures), ties, repairs=False)))
    columns = ["planted", "tables", "any", *tests]
    rows = [
        {"planted": kind, "tables": one["tables"], **{key: one[key] / one["tables"] for key in ("any", *tests)}}
        for kind, one in counts.items()
        if one["tables"]
    ]
    return pd.DataFrame(rows, columns=columns)


def _count(counts: dict[str, int], raised: set[str]) -> None:
    counts["tables"] += 1
    counts["any"] += bool(raised)
    for test in raised:
        counts[test] += 1
