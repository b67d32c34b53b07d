"""Tables as text: nothing that a name holds can act, and what was written is read back."""

from __future__ import annotations

import html.parser
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.correlation import ALL_EQUAL, ONE_SYSTEM, kendall
from walkeval.errors import InputError
from walkeval.scoring import Scores
from walkeval.seeds import generator
from walkeval.tables import (
    cell,
    correlation_table,
    escape_markdown,
    html_table,
    latex,
    markdown,
    read_table,
    write_everywhere,
    write_table,
)

HOSTILE = [
    "<script>alert(1)</script>",
    "a|b",
    r"a\|b",
    "line\nbreak\ttab\r\n",
    r"\input{x} $y$ 100% #1 a_b {c} ~ ^ &",
    "[1] [x](javascript:alert(1))",
    "*bold* _it_ `code` ~~gone~~",
    "&lt;b&gt;",
    "\"'><img src=x onerror=y>",
]


# --- cells ---


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 / 3, "0.3333333333"),
        (2 / 3 * 1e6, "666666.6667"),
        (np.float64(0.8264), "0.8264"),
        (129.0, "129"),
        (float("nan"), ""),
        (np.float64("nan"), ""),
        (None, ""),
        (pd.NA, ""),
        (7, "7"),
        ("0.90", "0.90"),
        ("NA", "NA"),
        (" two\nlines\t", "two lines"),
    ],
)
def test_a_cell(value, text):
    assert cell(value) == text


def test_ten_digits_hide_what_machines_disagree_on():
    assert cell(0.1 + 0.2) == cell(0.3) == "0.3"


# --- the four forms ---


class _Cells(html.parser.HTMLParser):
    """Every tag, and the text of every cell, as a browser would see them."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.cells = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in ("td", "th", "caption"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


@pytest.mark.parametrize("name", HOSTILE)
def test_html_shows_a_hostile_name_as_it_is(name):
    text = html_table(pd.DataFrame({name: [name], "verdict": [name]}), name, "verdict")
    seen = _Cells(text)
    assert seen.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    plain = " ".join(name.split())
    assert [one.strip("\n") for one in seen.cells] == [plain, plain, "verdict", plain, plain]


def test_rows_carry_their_verdict_as_a_class():
    text = html_table(pd.DataFrame({"verdict": ["not checkable", ""]}), "caption", "verdict")
    assert re.findall("<tr.*?>", text) == ["<tr>", '<tr class="verdict-not-checkable">', "<tr>"]


def _split_markdown_row(line: str) -> list[str]:
    """The cells of a row as GitHub cuts them: at every bar that no backslash escapes."""
    cells, current, position = [], "", 0
    inner = line.removeprefix("| ").removesuffix(" |")
    while position < len(inner):
        if inner[position] == "\\":
            current += inner[position : position + 2]
            position += 2
        elif inner[position] == "|":
            cells.append(current)
            current, position = "", position + 1
        else:
            current += inner[position]
            position += 1
    return [one.strip() for one in [*cells, current]]


def _unescape_markdown(text: str) -> str:
    plain = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_keeps_one_line_a_row_and_shows_a_hostile_name_as_it_is(name):
    text = markdown(pd.DataFrame({name: [name, 0.5], "other": ["x", "y"]}), name)
    caption, empty, *lines = text.splitlines()
    assert len(lines) == 4
    plain = " ".join(name.split())
    assert _unescape_markdown(caption) == plain
    rows = [_split_markdown_row(line) for line in lines]
    assert [len(row) for row in rows] == [2] * 4
    assert [_unescape_markdown(one) for one in rows[0]] == [plain, "other"]
    assert [_unescape_markdown(one) for one in rows[2]] == [plain, "x"]
    assert "<" not in text
    # No mark that is left without its backslash.
    assert not re.search(r"(?<!\\)(\\\\)*[*_`\[\]~]", caption + "".join(lines[2:]))


@given(st.text(alphabet="ab|\\*_`[]<>&~$#\n", max_size=12))
@settings(deadline=None)
def test_markdown_brings_any_text_back(text):
    escaped = escape_markdown(text)
    assert _unescape_markdown(escaped) == " ".join(text.split())
    assert len(_split_markdown_row(f"| {escaped} |")) == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_latex_has_no_command_or_column_of_a_hostile_name(name):
    text = latex(pd.DataFrame({name: [name], "b": [0.25]}), name)
    lines = text.splitlines()
    assert lines[-3:] == [r"\hline", r"\end{tabular}", r"\end{table}"]
    rows = [lines[4], lines[6]]
    for row in rows:
        assert row.endswith(r" \\")
        # Exactly the one column break, and no row may begin with the bracket that \\ would take for its option.
        assert len(re.findall(r"(?<!\\)&", row)) == 1
        assert not row.startswith("[")
    known = r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar)\{\}|\\[&%$#_{}]|\{[\[\]]\}"
    left = re.sub(known, "", rows[1].removesuffix(r" \\").replace(" & ", " "))
    assert not set(left) & set("\\{}$&#^_~%<>|[]")


def test_write_everywhere_writes_full_precision_only_to_the_numbers(tmp_path):
    table = pd.DataFrame({"tau": [1 / 3], "printed": ["0.33"], "verdict": ["differs"]})
    write_everywhere(tmp_path / "table9", table, "A caption.", table.drop(columns="tau"))
    assert sorted(one.name for one in tmp_path.iterdir()) == [f"table9.{one}" for one in ("html", "md", "tex", "tsv")]
    assert (tmp_path / "table9.tsv").read_text() == "tau\tprinted\tverdict\n0.3333333333\t0.33\tdiffers\n"
    for suffix in ("md", "tex", "html"):
        text = (tmp_path / f"table9.{suffix}").read_text()
        assert "0.33" in text
        assert "0.333" not in text
        assert "A caption." in text


# --- reading back ---


def test_names_that_look_like_numbers_or_like_nothing_stay_text(tmp_path):
    runs = ["1", "007", "NA", "nan", "null", "None", "1e5", "true", '"', "'", "", "-"]
    write_table(tmp_path / "t.tsv", pd.DataFrame({"first": runs, "run": runs[::-1], "tau": np.arange(12) / 7}))
    table = read_table(tmp_path / "t.tsv")
    assert table["first"].tolist() == runs
    assert table["run"].tolist() == runs[::-1]
    assert table["tau"].tolist() == pytest.approx(np.arange(12) / 7, rel=1e-9)


def test_numbers_are_numbers_and_what_is_missing_is_missing(tmp_path):
    frame = pd.DataFrame({"tau": [0.5, np.nan], "low": [np.nan, np.nan], "n_runs": [129, 1], "value": [0.5, 1]})
    write_table(tmp_path / "t.tsv", frame)
    table = read_table(tmp_path / "t.tsv")
    assert table["tau"].tolist() == pytest.approx([0.5, np.nan], nan_ok=True)
    assert table["low"].isna().all()
    assert table["n_runs"].tolist() == [129, 1]
    assert table["value"].tolist() == ["0.5", "1"]
    assert read_table(tmp_path / "t.tsv", numbers=["value"])["value"].tolist() == [0.5, 1]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_what_is_read_is_written_again_as_it_was(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("round") / "t.tsv"
    write_table(path, pd.DataFrame({"tau": values}))
    content = path.read_bytes()
    write_table(path, read_table(path))
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"tau\nabc\n", b"a\tb\nx\ty\tz\n", b"\xff\xfe", None])
def test_a_damaged_table_is_refused_by_name(tmp_path, content):
    if content is not None:
        (tmp_path / "t.tsv").write_bytes(content)
    with pytest.raises(InputError, match=r"t\.tsv: is not a table"):
        read_table(tmp_path / "t.tsv")


# --- correlations ---


def _scores(values: np.ndarray, measures=("AP", "P@10")) -> Scores:
    runs = [str(number) for number in range(values.shape[1])]
    return Scores(list(measures), runs, [str(number) for number in range(values.shape[2])], values)


def test_the_table_of_correlations():
    scores = _scores(generator("test/table").uniform(size=(3, 7, 6)), ("AP", "P@10", "Rprec"))
    table = correlation_table(scores, "name", samples=40)
    assert table[["first", "second"]].to_numpy().tolist() == [["AP", "P@10"], ["AP", "Rprec"], ["P@10", "Rprec"]]
    gold = kendall(scores.of("AP").mean(axis=1), scores.of("Rprec").mean(axis=1)).value
    assert table.loc[1, "tau"] == pytest.approx(gold)
    assert (table["low"] <= table["high"]).all()
    assert table["n_runs"].tolist() == [7] * 3
    assert table["reason"].tolist() == [""] * 3


def test_a_cost_is_turned_round():
    values = generator("test/cost").uniform(1, 9, size=(2, 7, 6))
    values[1] = 10 - values[0]
    assert correlation_table(_scores(values, ("AP", "ESL")), "name", samples=0)["tau"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("shape", "reason"),
    [((2, 1, 4), ONE_SYSTEM), ((2, 0, 4), ONE_SYSTEM), ((2, 0, 0), ONE_SYSTEM), ((2, 3, 4), ALL_EQUAL)],
)
def test_where_tau_is_undefined_the_table_says_why(shape, reason):
    (row,) = correlation_table(_scores(np.full(shape, 0.5)), "name", samples=10).to_dict("records")
    assert np.isnan([row["tau"], row["low"], row["high"]]).all()
    assert row["reason"] == reason


def test_one_topic_has_a_tau_but_no_interval():
    values = np.array([[[0.1], [0.2], [0.3]], [[0.1], [0.3], [0.2]]])
    (row,) = correlation_table(_scores(values), "name", samples=10).to_dict("records")
    assert row["tau"] == pytest.approx(1 / 3)
    assert np.isnan([row["low"], row["high"]]).all()
    assert row["reason"] == ""
