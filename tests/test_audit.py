"""Verdicts: every kind of claim, every verdict, both sides of every edge."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.audit import (
    VERDICT_COLUMNS,
    VERDICTS,
    Reproduction,
    Verdict,
    as_printed,
    changed_verdicts,
    count_verdicts,
    judge_claim,
    judge_claims,
    number,
    read_reproductions,
    read_verdicts,
    write_reproductions,
    write_verdicts,
)
from walkeval.claims import Claim, read_claims
from walkeval.errors import InputError, ParameterError, UnknownNameError

ROOT = Path(__file__).resolve().parents[1]


def claim(printed: str, kind: str = "number", needs: str = "nothing") -> Claim:
    return Claim("p/1", "p", "Table 1", "what", printed, kind, needs)


def judged(printed: str, value: str | float, kind: str = "number", printing: str = "rounded", **more: str) -> Verdict:
    text = value if isinstance(value, str) else number(value)
    return judge_claim(claim(printed, kind), Reproduction("p/1", text, "runs", **more), printing)


# --- digits ---


@pytest.mark.parametrize(
    ("value", "like", "rounded", "truncated"),
    [
        (0.8251, "0.8251", "0.8251", "0.8251"),
        (0.82509999999999994, "0.0000", "0.8251", "0.8251"),  # 0.8251 with noise in its last bits
        (0.1 + 0.2, "0.3", "0.3", "0.3"),
        (0.85107, "0.8510", "0.8511", "0.8510"),
        (0.99999, "0.0000", "1.0000", "0.9999"),
        (1.0, "1.000", "1.000", "1.000"),
        (-0.82599, "0.825", "-0.826", "-0.825"),
        (-0.00001, "0.00", "0.00", "0.00"),
        (93.48, "93.48", "93.48", "93.48"),
        (340796067, "340796067", "340796067", "340796067"),
        (2.999999, "3", "3", "2"),
        (0.2149, "21%", "21%", "21%"),
        (0.2151, "21%", "22%", "21%"),
        (0.07, "7.0%", "7.0%", "7.0%"),
        (0.29, "29.0%", "29.0%", "29.0%"),  # 0.29 * 100 is 28.999999999999996 in floats
        (0.5, ".5", "0.5", "0.5"),
    ],
)
def test_as_printed(value, like, rounded, truncated):
    assert as_printed(value, like, "rounded") == rounded
    assert as_printed(value, like, "truncated") == truncated


@given(st.integers(-(10**6), 10**6), st.integers(0, 6))
@settings(deadline=None)
def test_a_number_prints_as_itself_whatever_the_way(digits, decimals):
    text = f"{Decimal(digits).scaleb(-decimals):.{decimals}f}"
    for way in ("rounded", "truncated"):
        assert Decimal(as_printed(float(text), text, way)) == Decimal(text)


def test_an_unknown_way_of_printing_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'rounded'"):
        as_printed(0.5, "0.5", "round")


def test_number_has_ten_digits():
    assert number(2 / 3) == "0.6666666667"
    assert number(float("nan")) == ""
    assert number(0.30000000000000004) == "0.3"


# --- verdicts on numbers ---


@pytest.mark.parametrize(
    ("printed", "value", "kind", "printing", "verdict", "shown"),
    [
        ("0.8264", 0.82645, "tau", "truncated", "reproduced", "0.8264"),
        ("0.8264", 0.826499999, "tau", "truncated", "reproduced", "0.8264"),
        ("0.8264", 0.8265, "tau", "truncated", "differs", "0.8265"),
        ("0.8264", 0.8263999, "tau", "truncated", "differs", "0.8263"),
        ("0.8264", 0.82639, "tau", "rounded", "reproduced", "0.8264"),
        ("0.8264", 0.82646, "tau", "rounded", "differs", "0.8265"),
        # Only correlations are printed by the paper's own way: other numbers are rounded.
        ("93.48", 93.4799, "number", "truncated", "reproduced", "93.48"),
        # A half goes up in some programs and to the even digit in others.
        ("0.12", 0.125, "number", "rounded", "reproduced", "0.12"),
        ("0.13", 0.125, "number", "rounded", "reproduced", "0.13"),
        ("0.14", 0.125, "number", "rounded", "differs", "0.12"),
        ("-0.12", -0.125, "number", "rounded", "reproduced", "-0.12"),
        ("0.12", -0.12, "number", "rounded", "differs", "-0.12"),
        ("1.000", 1.0, "tau", "truncated", "reproduced", "1.000"),
        ("50", 50.0, "count", "truncated", "reproduced", "50"),
        ("21%", 0.21, "number", "rounded", "reproduced", "21%"),
        ("21%", 0.2161, "number", "rounded", "differs", "22%"),
        ("21%", 21.0, "number", "rounded", "differs", "2100%"),
        ("2/3", 2 / 3, "number", "rounded", "reproduced", "2/3"),
        ("2/3", 0.667, "number", "rounded", "differs", "0.667"),
        ("1/2", 0.5, "number", "rounded", "reproduced", "1/2"),
        ("-1/3", -1 / 3, "number", "rounded", "reproduced", "-1/3"),
        ("0/5", 0.0, "number", "rounded", "reproduced", "0/5"),
    ],
)
def test_equal_in_all_printed_digits_or_not(printed, value, kind, printing, verdict, shown):
    found = judged(printed, value, kind, printing)
    assert (found.verdict, found.reproduced) == (verdict, shown)
    assert (found.claim, found.printed, found.evidence) == ("p/1", printed, "runs")


@given(st.integers(0, 9999), st.integers(-20, 20).filter(bool))
@settings(deadline=None)
def test_a_better_value_is_as_wrong_as_a_worse_one(digits, off):
    printed, value = f"{digits / 10000:.4f}", (digits + off) / 10000
    for way in ("rounded", "truncated"):
        assert judged(printed, value, "tau", way).verdict == "differs"
        assert judged(printed, digits / 10000, "tau", way).verdict == "reproduced"


def test_a_difference_is_said_in_the_unit_of_the_claim():
    assert "reproduced minus printed: +0.01" in judged("0.50", 0.51).note
    assert "reproduced minus printed: -0.01" in judged("0.50", 0.49).note
    assert "reproduced minus printed: +9" in judged("21%", 0.30).note


# --- doubtful readings ---


def test_a_doubtful_reading_is_settled_by_the_one_that_fits():
    found = judged("0.7358|0.7938|0.7958", 0.79381, "tau", "truncated")
    assert (found.verdict, found.reproduced) == ("reproduced", "0.7938")
    assert "this is 0.7938" in found.note
    assert judged("0.7938", 0.79381, "tau", "truncated").note == ""


def test_a_doubtful_reading_that_fits_nowhere_differs_from_the_nearest():
    found = judged("0.7358|0.7938|0.7958", 0.7945, "tau", "truncated")
    assert found.verdict == "differs"
    assert found.note == "reproduced minus printed: +0.0007"


def test_a_doubtful_percentage_is_compared_in_percent():
    found = judged("20%|90%", 0.88)
    assert (found.verdict, found.reproduced) == ("differs", "88%")
    assert found.note == "reproduced minus printed: -2"


# --- intervals ---


@pytest.mark.parametrize(
    ("printed", "value", "low", "high", "verdict"),
    [
        ("0.8710", "0.8712", "0.8705", "0.8720", "consistent"),
        ("0.8710", "0.8712", "0.8711", "0.8720", "differs"),
        ("0.8710", "0.8708", "0.8700", "0.8709", "differs"),
        ("0.8710", "0.8712", "0.8710", "0.8720", "consistent"),
        # 0.87104 would be printed as 0.8710.
        ("0.8710", "0.8712", "0.87104", "0.8720", "consistent"),
        ("0.8710", "0.87101", "0.8", "0.9", "reproduced"),
        ("21%", "0.23", "0.20", "0.25", "consistent"),
        ("21%", "0.23", "0.22", "0.25", "differs"),
        ("21%", "0.23", "20", "25", "differs"),
        ("2/3", "0.7", "0.6", "0.8", "consistent"),
        ("2/3", "0.7", "0.69", "0.8", "differs"),
        ("0.90|0.8710", "0.8712", "0.8705", "0.8720", "consistent"),
    ],
)
def test_what_the_printed_inputs_allow(printed, value, low, high, verdict):
    found = judged(printed, value, low=low, high=high)
    assert found.verdict == verdict
    assert (low in found.note) == (verdict == "consistent")


def test_an_interval_without_an_end_is_refused():
    with pytest.raises(ParameterError, match="must be a number; got ''"):
        judged("0.5", "0.7", low="0.6")


# --- does it change the conclusion? ---


@pytest.mark.parametrize(
    ("printed", "value", "changes"),
    [
        ("0.9000", 0.8999, "yes: on the other side of 0.90"),
        ("0.8999", 0.9, "yes: on the other side of 0.90"),
        ("0.7999", 0.9701, "yes: on the other side of 0.80, 0.90, 0.97"),
        ("0.8100", 0.8999, "no"),
        ("0.9600", 0.9100, "no"),
        ("0.8000", 0.80001, "no"),
    ],
)
def test_lines_of_the_paper_that_a_difference_crosses(printed, value, changes):
    assert judged(printed, value, "tau", "truncated").conclusion_changes == changes


def test_other_numbers_have_no_lines():
    assert judged("0.89", 0.95).conclusion_changes == "no"


def test_a_count_is_equal_or_it_is_not():
    assert judged("50", "50", "count").verdict == "reproduced"
    assert judged("50", "49.6", "count").verdict == "differs"


# --- statements, the impossible, the missing ---


@pytest.mark.parametrize(("kind", "changes"), [("formula", "no"), ("statement", "yes")])
def test_statements_hold_or_fail(kind, changes):
    holds, fails = judged("equal", "holds", kind), judged("equal", "fails", kind)
    assert (holds.verdict, holds.conclusion_changes) == ("reproduced", "no")
    assert (fails.verdict, fails.conclusion_changes) == ("differs", changes)
    with pytest.raises(ParameterError, match=f"p/1 is a {kind}: it holds or fails; got 'perhaps'"):
        judged("equal", "perhaps", kind)


def test_what_no_data_could_give_is_impossible():
    found = judged("1.2", "impossible", "tau", note="tau is at most 1")
    assert (found.verdict, found.reproduced, found.note) == ("impossible", "", "tau is at most 1")


def test_what_is_missing_is_named():
    missing = judge_claim(claim("0.9", "tau", "trec07 runs"), None)
    assert (missing.verdict, missing.note, missing.evidence) == ("not checkable", "needs trec07 runs", "")
    assert judge_claim(claim("0.9"), None).note == "no reproduction is implemented yet"
    undefined = judge_claim(
        claim("0.9", "tau", "trec07 runs"), Reproduction("p/1", "", "runs", note="tau is undefined")
    )
    assert (undefined.verdict, undefined.note, undefined.evidence) == ("not checkable", "tau is undefined", "runs")


@pytest.mark.parametrize("value", ["abc", "nan", "inf", "holds"])
def test_a_reproduction_that_is_no_number_is_refused(value):
    with pytest.raises(ParameterError, match=r"p/1 is a tau: its reproduction must be a number"):
        judged("0.5", value, "tau")


# --- the whole audit ---


def test_exactly_one_verdict_a_claim_in_the_order_of_the_ledger():
    claims = {name: replace(claim("0.5"), claim=name) for name in ("c", "a", "b")}
    verdicts = judge_claims(claims, [Reproduction("b", "0.5", "runs"), Reproduction("c", "0.6", "runs")])
    assert [(one.claim, one.verdict) for one in verdicts] == [
        ("c", "differs"),
        ("a", "not checkable"),
        ("b", "reproduced"),
    ]


def test_reproductions_of_nothing_or_twice_are_refused():
    claims = {"sigir/table1": claim("0.5")}
    with pytest.raises(UnknownNameError, match="unknown claim 'sigir/table11'; did you mean 'sigir/table1'"):
        judge_claims(claims, [Reproduction("sigir/table11", "0.5", "runs")])
    with pytest.raises(ParameterError, match="'sigir/table1' is reproduced twice"):
        judge_claims(claims, [Reproduction("sigir/table1", "0.5", "runs")] * 2)


def test_every_claim_of_the_ledger_can_be_judged_by_its_own_digits():
    """The printed text of every number, taken as the value, is reproduced, whatever the way of printing."""
    claims = read_claims(sorted((ROOT / "config" / "claims").glob("*.tsv")))
    found = []
    for one in claims.values():
        if one.kind in ("formula", "statement"):
            found.append(Reproduction(one.claim, "holds", "itself"))
        else:
            text, share = one.readings[-1].rstrip("%"), one.readings[-1].endswith("%")
            top, _, bottom = text.partition("/")
            found.append(
                Reproduction(one.claim, number(float(top) / float(bottom or 1) / (100 if share else 1)), "itself")
            )
    for printing in ("rounded", "truncated"):
        verdicts = judge_claims(claims, found, printing)
        assert [one.claim for one in verdicts] == list(claims)
        assert {one.verdict for one in verdicts} == {"reproduced"}
    assert {one.verdict for one in judge_claims(claims, [])} == {"not checkable"}


def test_all_five_are_counted():
    rows = [Verdict("p", "", "", verdict, "", "", "") for verdict in (*VERDICTS, "differs")]
    assert count_verdicts(rows) == {"reproduced": 1, "consistent": 1, "differs": 2, "impossible": 1, "not checkable": 1}
    assert count_verdicts([]) == dict.fromkeys(VERDICTS, 0)


# --- files ---


def test_files_bring_everything_back(tmp_path):
    found = [Reproduction("p/1", "0.5", "per-topic scores", "0.4", "0.6", 'a "note"'), Reproduction("p/2", "", "runs")]
    write_reproductions(tmp_path / "r.tsv", found)
    assert read_reproductions(tmp_path / "r.tsv") == found
    verdicts = [
        Verdict("p/1", "0.50", "0.49", "differs", "runs", "no", "note"),
        Verdict("p/2", "", "", "impossible", "", "", ""),
    ]
    write_verdicts(tmp_path / "v.tsv", verdicts)
    assert read_verdicts(tmp_path / "v.tsv") == verdicts
    write_verdicts(tmp_path / "v.tsv", [replace(verdicts[0], note="tab\tand\nbreak")])
    assert read_verdicts(tmp_path / "v.tsv")[0].note == "tab and break"


def test_damaged_files_name_file_and_line(tmp_path):
    path = tmp_path / "v.tsv"
    head = "\t".join(VERDICT_COLUMNS)
    for content, sentence in [
        ("", r"v\.tsv:1: must start with the columns"),
        (f"{head}\na\tb\n", r"v\.tsv:2: has 2 columns"),
        (f"{head}\n" + "\t".join("abcdefgh") + "\n", r"v\.tsv:2: has 8 columns"),
        (f"{head}\n" + "\t".join("abcdefg") + "\n", r"v\.tsv:2: verdict 'd' is not one of reproduced, consistent"),
    ]:
        path.write_text(content)
        with pytest.raises(InputError, match=sentence):
            read_verdicts(path)
    path.write_text("claim\tvalue\n")
    with pytest.raises(InputError, match=r"v\.tsv:1: must start with the columns claim, value, low, high"):
        read_reproductions(path)


def test_changed_verdicts_are_told_in_both_directions():
    def row(claim: str, verdict: str, value: str = "") -> Verdict:
        return Verdict(claim, "0.9", value, verdict, "", "", "")

    old = [row("a", "reproduced", "0.9"), row("b", "differs", "0.8"), row("c", "reproduced", "0.9")]
    new = [row("a", "reproduced", "0.9"), row("b", "reproduced", "0.9"), row("d", "differs", "0.8")]
    assert changed_verdicts(old, old) == []
    assert changed_verdicts(new, old) == [
        "b: was differs 0.8, is reproduced 0.9",
        "d: new, differs",
        "c: was reproduced, is gone",
    ]
