"""The ledger of published numbers: what it refuses, with file and line, and what it holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from walkeval.claims import COLUMNS, Claim, read_claims, read_rows, write_rows
from walkeval.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
HEAD = "\t".join(COLUMNS) + "\n"
GOOD = "p/1\tpaper\tTable 1\twhat\t0.90\ttau\tnothing\n"


def _read(tmp_path, text: str | bytes, name: str = "claims.tsv") -> dict[str, Claim]:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_claims([path])


def test_the_printed_text_is_kept(tmp_path):
    claims = _read(tmp_path, HEAD + GOOD + 'p/2\tpaper\t"x\twhat\t1.000|1.010\tnumber\tnothing\n')
    assert claims["p/1"].printed == "0.90"
    assert claims["p/1"].readings == ("0.90",)
    assert claims["p/2"].readings == ("1.000", "1.010")
    assert claims["p/2"].where == '"x'


def test_a_bar_in_a_formula_is_no_doubt(tmp_path):
    (claim,) = _read(tmp_path, HEAD + "p\tp\tw\tw\t|a|b|\tformula\tnothing\n").values()
    assert claim.readings == ("|a|b|",)


def test_line_ends_of_another_system_are_taken(tmp_path):
    assert list(_read(tmp_path, (HEAD + GOOD).replace("\n", "\r\n"))) == ["p/1"]


@pytest.mark.parametrize(
    ("printed"), ["1", "0.90", "-0.5", "+3", ".5", "5.", "21%", "3.5%", "2/3", "0.8|0.9", "340796067", "1/10"]
)
def test_numbers(tmp_path, printed):
    (claim,) = _read(tmp_path, HEAD + f"p\tp\tw\tw\t{printed}\tnumber\tnothing\n").values()
    assert claim.printed == printed


@pytest.mark.parametrize(
    "printed",
    ["", "abc", "0.9x", "0,9", "1e5", "nan", "inf", "0.8|", "|0.8", "0.8||0.9", "1/0", "2/00", "٣", "0.8 ", "%"],
)
def test_what_is_no_number_names_file_and_line(tmp_path, printed):
    with pytest.raises(InputError, match=r"claims\.tsv:3: printed '.*' is not a number"):
        _read(tmp_path, HEAD + GOOD + f"p\tp\tw\tw\t{printed}\tcount\tnothing\n")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"claims\.tsv:1: must start with the columns claim, paper"),
        ("claim\tpaper\n", r"claims\.tsv:1: must start with the columns"),
        (HEAD.replace("kind", "sort") + GOOD, r"claims\.tsv:1: must start with the columns"),
        (HEAD + GOOD + "p/2\tpaper\tTable 1\n", r"claims\.tsv:3: has 3 columns where 7 are needed"),
        (HEAD + GOOD.replace("\n", "\tmore\n"), r"claims\.tsv:2: has 8 columns where 7 are needed"),
        (HEAD + "\n" + GOOD, r"claims\.tsv:2: has 0 columns"),
        (HEAD + GOOD + GOOD, r"claims\.tsv:3: repeats the claim 'p/1' of .*claims\.tsv:2"),
        (HEAD + GOOD.replace("p/1", ""), r"claims\.tsv:2: has a claim without an id"),
        (
            HEAD + GOOD.replace("tau", "tua"),
            r"claims\.tsv:2: kind 'tua' is not one of count, number, tau, formula, statement",
        ),
        (b"\xff\xfe\x00", r"claims\.tsv: is not a text file in UTF-8"),
        (HEAD + GOOD.replace("what", "wh\rat"), r"claims\.tsv:2: has 4 columns where 7 are needed"),
    ],
)
def test_bad_files_name_file_and_line(tmp_path, text, sentence):
    with pytest.raises(InputError, match=sentence):
        _read(tmp_path, text)


def test_a_claim_repeated_in_another_file_names_both(tmp_path):
    (tmp_path / "a.tsv").write_text(HEAD + GOOD)
    (tmp_path / "b.tsv").write_text(HEAD + GOOD.replace("p/1", "p/0") + GOOD)
    with pytest.raises(InputError, match=r"b\.tsv:3: repeats the claim 'p/1' of .*a\.tsv:2"):
        read_claims([tmp_path / "a.tsv", tmp_path / "b.tsv"])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.tsv: cannot be read"):
        read_claims([tmp_path / "gone.tsv"])


def test_rows_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "rows.tsv"
    write_rows(path, ["a", "b"], [["x\ty", "one\ntwo"], [1, ""]])
    assert list(read_rows(path, ["a", "b"])) == [(2, ["x y", "one two"]), (3, ["1", ""])]

    def rows():
        yield ["fine", "so far"]
        raise RuntimeError("cut off")

    with pytest.raises(RuntimeError):
        write_rows(path, ["a", "b"], rows())
    assert [row for _, row in read_rows(path, ["a", "b"])] == [["x y", "one two"], ["1", ""]]
    assert [one.name for one in tmp_path.iterdir()] == ["rows.tsv"]


# --- the committed ledger ---


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    return read_claims(sorted((ROOT / "config" / "claims").glob("*.tsv")))


def test_the_ledger_of_sigir2014_has_every_table(claims):
    ours = [one for name, one in claims.items() if name.startswith("sigir2014/")]
    count = Counter(one.claim.split("/")[1] for one in ours)
    assert count["table1"] == 4 * 5
    assert count["table2"] == 4 * 5
    # Table 3 has 16 models by 5 measures for each collection; some cells of the scan cannot be read at all.
    third = Counter(one.claim.split("/")[2] for one in ours if one.where == "Table 3")
    assert set(third) == {"trec07", "trec08", "trec10", "trec14"}
    assert all(60 <= one <= 80 for one in third.values())
    assert sum(1 for one in ours if one.claim.startswith("sigir2014/table3/trec08/") and len(one.readings) == 1) == 68
    assert count["table4"] == 3 * (2 + 10)
    assert {one.kind for one in ours} == {"count", "number", "tau", "formula", "statement"}


def test_printed_numbers_are_those_of_the_paper(claims):
    assert claims["sigir2014/table1/trec14/mean_relevant"].printed == "131.22"
    assert claims["sigir2014/table2/trec08/RBP"].printed == "0.8090"
    assert claims["sigir2014/table2/trec07/AP"].printed == "1.000"
    assert claims["sigir2014/table4/run3/mu7"].printed == "0.005"
    assert claims["sigir2014/section5.5/backward-transitions"].printed == "21%"


def test_every_claim_says_what_it_is_and_needs(claims):
    for claim in claims.values():
        assert all(getattr(claim, name).strip() for name in COLUMNS), claim.claim
        assert claim.claim == claim.claim.strip()
        assert claim.claim.split("/")[0] in claim.paper.replace("-", "/").split("/")
