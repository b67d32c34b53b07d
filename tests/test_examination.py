"""Tables examined without data: what cannot be is found, and what can be is left alone."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.audit import as_printed
from walkeval.claims import read_claims
from walkeval.correlation import kendall, tau_matrix
from walkeval.errors import InputError, ParameterError
from walkeval.examination import (
    Block,
    culprit,
    examine,
    examine_block,
    read_blocks,
    repair,
    rounding_interval,
    tie_slack,
    write_findings,
)
from walkeval.examination_figure import draw_findings, marks
from walkeval.papers.sigir2014 import impossible_cells, printed_blocks
from walkeval.planting import KINDS, plant, power, true_table
from walkeval.scoring import Scores

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def printed():
    return printed_blocks(read_claims([ROOT / "config" / "claims" / "sigir2014.tsv"]))


def severe(findings):
    return [one for one in findings if one.severity != "note"]


def test_every_contradiction_of_the_paper_s_tables_is_found(printed):
    found = {(one.test, one.block, one.cells[0][0]) for one in severe(examine(printed))}
    assert found == {
        ("triangle", "trec08", "LO_OR_ID@Rec"),
        ("triangle", "trec10", "GL_AD_ID@Rec"),
        ("triangle", "trec14", "GL_AD_LID@Rec"),
        ("copied row", "trec10", "GL_OR_ID@Rec"),
    }


def test_the_shifted_row_is_repaired_as_the_runs_have_it(printed):
    block = next(one for one in printed if one.name == "trec08")
    words = repair(block, "LO_OR_ID@Rec")
    assert "shifted by one: P@10 0.8714, Rprec 0.8987, bpref 0.9127, RBP not known" in words
    assert culprit(block, "LO_OR_ID@Rec") is None


def test_impossible_cells_of_the_paper(printed):
    assert {one.claim for one in impossible_cells(printed)} == {
        "sigir2014/table3/trec10/GL_AD_ID@Rec/RBP",
        "sigir2014/table3/trec14/GL_AD_LID@Rec/RBP",
    }


def block_of(scores: np.ndarray, decimals: int = 4, printing: str = "truncated") -> Block:
    tau = tau_matrix(scores, "b", 6)
    names = tuple(f"m{number}" for number in range(len(scores)))
    cells = {
        (names[i], names[j]): as_printed(tau[i, j], "0." + "0" * decimals, printing)
        for i in range(len(names))
        for j in range(i + 1, len(names))
    }
    return Block("table", names, names, cells, scores.shape[1])


@settings(max_examples=150)
@given(st.integers(3, 6), st.integers(3, 40), st.integers(0, 10**6), st.sampled_from(["rounded", "truncated"]))
def test_true_tables_raise_no_alarm(measures, systems, seed, printing):
    random = np.random.default_rng(seed)
    scores = np.round(random.normal(size=systems) + random.random() * random.normal(size=(measures, systems)), 6)
    assert severe(examine_block(block_of(scores, printing=printing), ties=0.0)) == []


@settings(max_examples=150)
@given(st.integers(4, 30), st.integers(0, 10**6))
def test_true_tables_with_ties_raise_no_alarm_when_the_ties_are_allowed_for(systems, seed):
    random = np.random.default_rng(seed)
    scores = random.integers(0, systems, size=(4, systems)).astype(float)
    shares = [1 - np.abs(np.sign(np.subtract.outer(row, row)))[np.triu_indices(systems, 1)].mean() for row in scores]
    if max(shares) < 1:
        assert severe(examine_block(block_of(scores), ties=max(shares))) == []


def test_tie_slack_is_reached_by_no_three_small_rankings():
    """Every triple of weak orders of four systems obeys the bound with its own share of ties."""
    orders = sorted({tuple(np.unique(one, return_inverse=True)[1]) for one in permutations([0, 0, 1, 2])} | set(permutations(range(4))))
    signs = {one: np.sign(np.subtract.outer(one, one))[np.triu_indices(4, 1)] for one in orders}
    for first in orders:
        for second in orders:
            ab = kendall(first, second).value
            for third in orders[::3]:
                bc, ac = kendall(second, third).value, kendall(first, third).value
                ties = max(np.mean(signs[one] == 0) for one in (first, second, third))
                assert ab + bc - ac - 1 <= tie_slack(ab, bc, ac, ties) + 1e-12


def test_swapped_cells_and_misread_digits_are_repaired():
    random = np.random.default_rng(4)
    quality = random.normal(size=200)
    noise = np.array([0.02, 0.03, 0.9, 0.9, 0.9])[:, None]
    block = block_of(quality + noise * random.normal(size=(5, 200)))
    first, far = ("m0", "m1"), ("m0", "m2")
    swapped = block.with_cells({first: block.printed[far], far: block.printed[first]})
    assert severe(examine_block(swapped, ties=0.0))
    assert "m1 and m2 of m0 are swapped" in repair(swapped, "m0", ties=0.0)
    wrong = block.with_cells({far: "0.99" + block.printed[far][4:]})
    assert severe(examine_block(wrong, ties=0.0))
    assert "m2 of m0" in repair(wrong, "m0", ties=0.0)


def test_one_possible_reading_is_named_once(printed):
    block = next(one for one in printed if one.name == "trec10")
    assert repair(block, "GL_AD_ID@Rec") == "RBP of GL_AD_ID@Rec is not 0.8771 but, one digit away, 0.7771"


def test_a_matrix_that_is_no_gram_matrix_is_found():
    names = ("a", "b", "c")
    cells = {("a", "b"): "0.9000", ("b", "c"): "0.9000", ("a", "c"): "0.1000"}
    tests = {one.test for one in severe(examine_block(Block("t", names, names, cells)))}
    assert tests == {"triangle", "gram"}


def test_two_prints_of_one_correlation_must_agree():
    names = ("a", "b")
    findings = examine_block(Block("t", names, names, {("a", "b"): "0.9000", ("b", "a"): "0.8000"}))
    assert [(one.test, one.severity) for one in findings] == [("symmetry", "impossible")]


def test_equal_rows_of_different_rankings_are_a_copy():
    names = ("a", "b", "c", "d", "e")
    cells = {("a", "b"): "0.9000"} | {(row, column): f"0.8{number}11" for number, column in enumerate("cde") for row in "ab"}
    found = severe(examine_block(Block("t", names, names, cells)))
    assert [(one.test, one.severity) for one in found] == [("copied row", "implausible")]


def test_rounding_interval_covers_rounding_and_cutting():
    assert rounding_interval("0.8510") == (0.85095, 0.8511)
    assert rounding_interval("-0.5") == (-0.6, -0.45)
    assert rounding_interval("1.000") == (0.9995, 1.0)


def test_attainable_values_and_parity_are_noted():
    random = np.random.default_rng(2)
    block = block_of(random.normal(size=(4, 30)) + random.normal(size=30))
    notes = {one.test: one.sentence for one in examine_block(block, ties=0.0)}
    assert notes["attainable"].startswith("6 of 6 values can be tau without ties of 30 systems")
    assert notes["parity"].startswith("of 4 triples of values that ties did not touch 4 have an even number")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs a line of column names"),
        ("m\tAP\tRBP\n", "needs a line of column names"),
        ("m\tAP\tRBP\na\t0.5\n", ":2: has 2 cells where the first line has 3"),
        ("m\tAP\tRBP\na\t0.5\t1.5\nb\t0.1\t0.2\n", ":2: 1.5 in the column 'RBP' is outside [-1, 1]"),
        ("m\tAP\tRBP\na\t0.5\tx\nb\t0.1\t0.2\n", ":2: 'x' in the column 'RBP' is not a number"),
        ("m\tAP\tRBP\na\t0.5\tnan\nb\t0.1\t0.2\n", "'nan'"),
        ("m\tAP\tAP\na\t0.5\t0.5\nb\t0.1\t0.2\n", ":1: every column needs a name of its own"),
        ("m\tAP\tRBP\na\t0.5\t0.5\na\t0.1\t0.2\n", ":3: the row 'a' needs a name"),
        ("m\tAP\tRBP\na\t0.5\t0.5\n", "one row"),
        ("m\nx\ny\n", "no column of correlations"),
        ("m\tsystems\tAP\na\tmany\t0.5\nb\t5\t0.5\n", "systems must be a whole number"),
    ],
)
def test_a_bad_table_is_refused_with_file_and_line(tmp_path, text, words):
    path = tmp_path / "table.tsv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_blocks(path)
    assert words in str(caught.value) and "table.tsv" in str(caught.value)


def test_a_table_is_read_with_stars_blanks_and_blocks(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("block\tmodel\tsystems\tAP\tRBP\nx\tAP\t50\t1.000\t0.80\nx\tm\t\t 0.9** \t\ny\tAP\t\t\t0.7\ny\tm\t\t0.6\t0.5\n")
    first, second = read_blocks(path)
    assert (first.name, first.rows, first.columns, first.systems) == ("x", ("AP", "m"), ("AP", "RBP"), 50)
    assert first.printed == {("AP", "RBP"): "0.80", ("m", "AP"): "0.9"}
    assert second.systems is None


def test_ties_must_be_a_share(printed):
    with pytest.raises(ParameterError, match="ties"):
        examine(printed, ties=1.0)


def test_findings_are_written_with_their_columns(tmp_path, printed):
    path = tmp_path / "findings.tsv"
    write_findings(path, examine(printed))
    lines = path.read_text().splitlines()
    assert lines[0].split("\t") == ["test", "cells", "severity", "sentence", "repair"]
    assert all(line.count("\t") == 4 for line in lines)


def test_the_picture_marks_the_cells_of_the_row_and_not_the_column_s_own(printed):
    findings = examine(printed)
    block = next(one for one in printed if one.name == "trec10")
    found = marks(block, findings)
    assert found["GL_AD_ID@Rec", "RBP"] == "impossible" and ("AP", "RBP") not in found
    assert found["GL_OR_ID@Rec", "AP"] == "implausible"
    assert len(draw_findings(printed, findings).panels) == 4


@pytest.fixture(scope="module")
def scores():
    """Scores of 120 simulated systems under measures that are near and far from each other, one of them coarse."""
    from walkeval.planting import MEASURES

    random = np.random.default_rng(8)
    quality = random.normal(size=(120, 1)) + 0.3 * random.normal(size=(120, 50))
    noise = np.linspace(0.02, 0.4, len(MEASURES))
    values = np.stack([0.3 + 0.1 * (quality + one * random.normal(size=(120, 1))) for one in noise])
    values[1] = np.round(values[1], 1)
    runs, topics = [f"s{number}" for number in range(120)], [f"t{number}" for number in range(50)]
    return Scores(list(MEASURES), runs, topics, values)


def test_planted_errors_change_the_table_and_clean_tables_raise_no_alarm(scores):
    table = power(scores, corruptions=50, clean=40).set_index("planted")
    assert table.loc["none", "any"] == 0
    assert set(table.index) == {*KINDS, "none"}
    assert table.loc["digit", "triangle"] > 0 and table.loc["copied row", "any"] > 0
    from walkeval.planting import MEASURES

    true = true_table(scores, "x", MEASURES)
    assert len(true.printed) == 45 and true.systems == 103
    for kind in KINDS:
        planted = plant(true, kind, "1")
        changed = {cell for cell in true.printed if planted.printed[cell] != true.printed[cell]}
        assert changed and len({row for row, _ in changed}) == 1, kind


def test_too_few_runs_make_no_table():
    from walkeval.planting import MEASURES

    assert power(Scores(["AP"], ["a"], ["1"], np.zeros((1, 1, 1)))).empty
    assert power(Scores(list(MEASURES), ["a", "b"], ["1", "2"], np.zeros((len(MEASURES), 2, 2)))).empty


def test_a_table_of_equal_cells_takes_no_swap():
    names = tuple("abcdef")
    cells = {(first, second): "0.9000" for number, first in enumerate(names) for second in names[number + 1 :]}
    with pytest.raises(ParameterError, match="swap"):
        plant(Block("t", names, names, cells), "swap", "x")
