"""What the report's page shows and how: tables as the papers lay them out, figures, notes, errata, conventions."""

from __future__ import annotations

import html
import html.parser
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walkeval import figures
from walkeval.audit import Verdict, write_verdicts
from walkeval.claims import Claim
from walkeval.errors import InputError
from walkeval.gathering import Evidence
from walkeval.report import provenance, systems_table, write_markdown, write_page
from walkeval.report_page import (
    SCRIPT, SCRIPT_WITHOUT_VERDICTS, STYLE, inline_figure, markdown_to_html, policy, polish, shorten,
)  # fmt: skip
from walkeval.scoring import Scores
from walkeval.tables import html_table, write_everywhere, write_table

ROOT = Path(__file__).resolve().parents[1]
EVIL = "</td></script><script>alert('x')</script><img src=http://evil.example/x onerror=y>"
CONFIG = {"edition": "demo", "title": ""}
MP = "sigir2014-markov-precision"


class Page(html.parser.HTMLParser):
    """Tags, attributes and text of a page; tags must be closed in order."""

    def __init__(self, source: str):
        super().__init__()
        self.source, self.tags, self.attributes, self.pieces, self.open = source, [], [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in ("meta", "input", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes another tag"

    def handle_data(self, data):
        self.pieces.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.pieces).split())

    def ids(self) -> list[str]:
        return [value for _, name, value in self.attributes if name == "id"]


@pytest.fixture
def folder(tmp_path):
    for name in ("audit", "mine", MP):
        (tmp_path / name).mkdir()
    write_verdicts(tmp_path / "audit" / "verdicts.tsv", [])
    return tmp_path


def page(folder, names=(), evidence=(), claims=None, record=None, config=CONFIG) -> Page:
    write_page(folder / "index.html", folder, names, config, evidence, claims, record)
    return Page((folder / "index.html").read_text(encoding="utf-8"))


def twin(folder, names=(), evidence=(), claims=None, config=CONFIG) -> list[str]:
    write_markdown(folder / "R.md", folder, config, evidence, names, claims)
    return (folder / "R.md").read_text(encoding="utf-8").splitlines()


# --- verdicts ---


def test_counts_lead_to_the_verdicts_behind_them(folder):
    rows = [
        Verdict("p/1", "1", "1", "reproduced", "", "no", ""),
        Verdict("q/1", "1", "", "not checkable", "", "", "needs"),
    ]
    write_verdicts(folder / "audit" / "verdicts.tsv", rows)
    seen = page(folder)
    assert "2 published numbers, formulas and statements of 2 papers: 1 reproduced, 1 not checkable." in seen.words
    marks = [(name, value) for tag, name, value in seen.attributes if tag == "a" and name.startswith("data-")]
    assert {value for name, value in marks if name == "data-verdict"} == {"reproduced", "not-checkable"}
    assert {value for name, value in marks if name == "data-paper"} == {"p", "q", ""}
    options = [value for tag, name, value in seen.attributes if (tag, name) == ("option", "value")]
    assert {"reproduced", "not-checkable", "p", "q"} <= set(options)
    lines = twin(folder)
    assert "| p | 1 | 1 | 0 | 0 | 0 | 0 |" in lines
    assert "| all | 2 | 1 | 0 | 0 | 0 | 1 |" in lines


def test_a_verdict_says_what_the_claim_is_about_and_whether_it_matters(folder):
    rows = [
        Verdict("p/1", "0.7|0.8", "0.6123", "differs", "runs", "yes: on the other side of 0.80", "why: 0.123456789"),
        Verdict("p/2", "1", "1", "reproduced", "runs", "no", ""),
        Verdict("p/3", "9", "", "impossible", "the table", "no", "because"),
    ]
    write_verdicts(folder / "audit" / "verdicts.tsv", rows)
    claims = {"p/1": Claim("p/1", "p", "Table 9", "tau of this with that", "0.7|0.8", "tau", "runs")}
    text = page(folder, claims=claims).words
    assert "2 claims that differ or are impossible; 1 of them change a conclusion" in text
    assert text.count("Table 9: tau of this with that") == 2, "among the differences, and among all"
    assert text.count("0.7 or 0.8") == 2
    assert text.count("Changes the conclusion: on the other side of 0.80. why: 0.1235") == 2
    lines = twin(folder, claims=claims)
    assert (
        "| p/1 | tau of this with that | 0.7 or 0.8 | 0.6123 | yes: on the other side of 0.80 | why: 0.1235 |" in lines
    )
    assert "| p/3 |  | 9 | impossible | no | because |" in lines
    assert not [one for one in lines if one.startswith("| p/2")]


def test_papers_come_in_their_order_with_their_names_and_folders(folder):
    names = []
    for key in ("ecir2019-session", MP):
        (folder / key).mkdir(exist_ok=True)
        write_everywhere(folder / key / "t", pd.DataFrame({"a": [f"cell of {key}"]}), "c")
        names.append(f"{key}/t.html")
    rows = [Verdict(f"{one}/1", "1", "1", "reproduced", "", "no", "") for one in ("ecir2019", "mine", "sigir2014")]
    write_verdicts(folder / "audit" / "verdicts.tsv", rows)
    seen = page(folder, names)
    sections = [value for tag, name, value in seen.attributes if (tag, name) == ("section", "id")]
    assert sections[:4] == ["glance", "paper-sigir2014", "paper-ecir2019", "paper-mine"]
    assert seen.words.index(f"cell of {MP}") < seen.words.index("cell of ecir2019")
    assert "Marco Ferrante, Nicola Ferro, Maria Maistro: Injecting User Models" in seen.words


# --- tables of the papers ---

TABLE = pd.DataFrame(
    {
        "collection": ["trec08", "trec08", "trec07", "trec07"],
        "model": ["AP"] * 4,
        "measure": ["P@10", "bpref"] * 2,
        "tau": [0.82647, 0.93612, None, 0.9],
        "printed": ["0.8264", "0.9361", "", "0.9000"],
        "reported": ["0.8264", "0.9363|0.9365", "0.7", ""],
        "verdict": ["reproduced", "differs", "not checkable", ""],
        "evidence": ["runs"] * 4,
        "low": [0.7545123456, None, None, None],
        "high": [0.8402123456, None, None, None],
    }
)


def test_a_table_of_the_paper_is_laid_out_as_there(folder):
    write_everywhere(folder / MP / "table2", TABLE, "Table 2: tau & more.", TABLE.drop(columns="tau"))
    evidence = [Evidence("trec08", "TREC 8", "real"), Evidence("trec07", "TREC 7", "real")]
    names = [f"{MP}/table2.html", f"{MP}/table2.tsv"]
    seen = page(folder, names, evidence)
    assert "Table 2: tau & more." in seen.words
    assert "0.8264 → 0.8264reproduced0.7545 to 0.8402" in seen.words
    assert "0.9363 or 0.9365 → 0.9361differs" in seen.words
    assert "0.7not checkable" in seen.words
    assert seen.attributes.count(("td", "class", "differs")) == 1
    assert ("span", "class", "tag differs") in seen.attributes
    assert ("a", "href", f"../{MP}/table2.tsv") in seen.attributes
    heads = re.findall(r'<th scope="(\w+)">([^<]*)</th>', seen.source)
    assert {("col", "P@10"), ("col", "bpref"), ("row", "TREC 8"), ("row", "TREC 7")} <= set(heads)
    lines = twin(folder, names, evidence)
    assert "| TREC 8 | P@10 | 0.8264 | 0.8264 | reproduced | runs |" in lines


def test_the_audit_knows_more_than_the_table(folder):
    """A cell that cannot be recomputed may still be impossible; what is not compared gets no verdict."""
    write_everywhere(folder / MP / "table2", TABLE, "Table 2.")
    claims = ("trec07/P@10", "trec07/bpref")
    rows = [Verdict(f"sigir2014/table2/{one}", "0.7", "", "impossible", "the table", "", "") for one in claims]
    write_verdicts(folder / "audit" / "verdicts.tsv", rows)
    names = [f"{MP}/table2.html", f"{MP}/table2.tsv"]
    seen = page(folder, names)
    assert "0.7impossible" in seen.words
    assert seen.attributes.count(("td", "class", "impossible")) == 1, "that of bpref was not reported"
    assert "| trec07 | P@10 | 0.7 |  | impossible | runs |" in twin(folder, names)


def test_blocks_of_which_nothing_is_known_are_folded_away(folder):
    table = TABLE.assign(verdict=["reproduced", "differs", "not checkable", "not checkable"])
    write_everywhere(folder / MP / "table3", table, "Table 3: tau.")
    source = page(folder, [f"{MP}/table3.html", f"{MP}/table3.tsv"]).source
    assert "<details open><summary>Table 3, trec08: 1 reproduced, 1 differs</summary>" in source
    assert "<details><summary>Table 3, trec07: 2 not checkable</summary>" in source


def test_values_are_shown_with_the_digits_of_the_printed_ones(folder):
    table = pd.DataFrame(
        {"run": ["run1", "run1"], "time": ["discrete", "continuous"], "value": [0.92051711, 0.66001210],
         "reported": ["0.9205", "0.6603"], "verdict": ["reproduced", "consistent"]}
    )  # fmt: skip
    write_everywhere(folder / MP / "table4", table, "Table 4.")
    words = page(folder, [f"{MP}/table4.html", f"{MP}/table4.tsv"]).words
    assert "0.9205 → 0.9205reproduced" in words
    assert "0.6603 → 0.6600consistent" in words


def test_a_table_without_any_verdict_shows_what_was_found(folder):
    table = TABLE.assign(verdict="", reported="")
    write_everywhere(folder / MP / "table2", table, "Table 2. SYNTHETIC collections.")
    seen = page(folder, [f"{MP}/table2.html", f"{MP}/table2.tsv"])
    assert "Each cell: what was found" in seen.words
    assert "SYNTHETIC collections." in seen.words
    assert "→" not in seen.words.partition("At a glance")[2]


def test_other_tables_show_verdicts_in_color_and_short_numbers():
    table = pd.DataFrame({"mean_runs": [1 / 3], "verdict": ["differs"], "printed": ["0.43095"], "why": ["word " * 9]})
    text = polish(html_table(table, "A: b & c", "verdict"), "<i>source</i>")
    assert '<td><span class="tag differs">differs</span></td>' in text
    assert "<td>0.3333</td>" in text
    assert "<td>0.43095</td>" in text, "what was printed stays"
    assert '<th scope="col">mean runs</th>' in text
    assert "<caption><b>A:</b> b &amp; c <i>source</i></caption>" in text
    assert text.count('<td class="words">') == 1


def test_long_tables_are_folded_away(folder):
    for name, length in (("short", 25), ("long", 26)):
        write_everywhere(folder / "mine" / name, pd.DataFrame({"a": range(length)}), f"The {name} one. And more.")
    source = page(folder, ["mine/short.html", "mine/long.html"]).source
    assert "<summary>The long one (26 rows)</summary>" in source
    assert "<summary>The short one" not in source


def test_shortening_leaves_everything_else_alone():
    text = "1e-09 12345678 1.2345678.9 v1.12345678e5 0.1234567 -0.00001234567"
    assert shorten(text) == "1e-09 12345678 1.2345678.9 v1.12345678e5 0.1235 -1.235e-05"


# --- figures ---


def test_figures_of_the_same_name_in_two_folders_share_no_id_and_no_style(folder):
    names = []
    for paper in ("one", "two"):
        (folder / paper).mkdir()
        drawn = figures.sheet("The same figure", "caption", [1.0])
        drawn.panels[0].plot([0, 1], [0, 1], marker="o")
        figures.save(drawn, folder / paper / "figure1")
        names.append(f"{paper}/figure1.svg")
    seen = page(folder, names)
    assert seen.tags.count("svg") == 2
    ids = seen.ids()
    assert len(ids) == len(set(ids)) > 10
    targets = [value[1:] for tag, name, value in seen.attributes if tag == "use" and name.endswith("href")]
    assert targets
    assert set(targets) <= set(ids)
    drawings = re.findall(r'<svg id="(\w+)-svg"(.*?)</svg>', seen.source, re.DOTALL)
    assert len(drawings) == 2
    for name, drawing in drawings:
        rules = re.search(r"<style[^>]*>(.*?)</style>", drawing, re.DOTALL)[1]
        selectors = [rule.partition("{")[0].strip() for rule in rules.split("}") if rule.strip()]
        assert len(selectors) > 3
        assert all(one.startswith(f"#{name}-svg ") for one in selectors)
        assert set(re.findall(r"url\(#([^)]*)\)", drawing)) <= {one for one in ids if one.startswith(f"{name}-")}
        assert "The same figure" in drawing
        assert "<metadata>" not in drawing


def test_an_inlined_figure_keeps_its_text():
    text = '<?xml version="1.0"?>\n<svg id="a-svg"><text>a-b #1</text><path clip-path="url(#a-c)"/></svg>\n'
    assert inline_figure(text, "p") == '<svg id="p-svg"><text>a-b #1</text><path clip-path="url(#p-c)"/></svg>'
    text = '<svg><g><g clip-path="x"><g/><g>\n<path d="M 1.00 2"/></g></g></g></svg>'
    assert inline_figure(text, "p") == '<svg><g clip-path="x"><path d="M1 2"/></g></svg>'


# --- the audit ---


def test_findings_errata_and_notes(folder):
    columns = ("test", "cells", "severity", "sentence", "repair")
    findings = [("triangle", "a/b; a/c", "impossible", "breaks it", "swap"), ("parity", "", "note", "even", "")]
    write_table(folder / "audit" / "findings.tsv", pd.DataFrame(findings, columns=columns))
    forms = {"where": ["(1)", "(2)"], "formula": ["a", "b"], "holds": ["no", "yes"], "corrected": ["a2", ""]}
    write_table(folder / "mine" / "closed-forms.tsv", pd.DataFrame(forms))
    (folder / "mine" / "errata.md").write_text("# Errata\n\n## Of (1)\n\nBecause `closed-forms.tsv` says so.\n")
    (folder / "mine" / "README.md").write_text("# Mine\n\nWhat was *done*.\n")
    names = ["audit/findings.tsv", "mine/closed-forms.tsv", "mine/errata.md", "mine/README.md"]
    seen = page(folder, names)
    for sentence in (
        "Found: 1 impossible, 1 note.",
        "a/b, a/c",
        "1 formulas that do not hold as printed",
        "Of (1)",
        "done",
    ):
        assert sentence in seen.words
    assert ("a", "href", "../mine/closed-forms.tsv") in seen.attributes
    lines = twin(folder, names)
    assert "| impossible | triangle | breaks it | swap |" in lines
    assert not [one for one in lines if "parity" in one]


def test_conventions_show_the_winner_and_the_best_of_the_others_only(folder):
    rows = [
        ("b", "cut", 4, 4, 9, 10, 13, "winner: 13"),
        ("b", "round", 3, 4, 9, 10, 12, ""),
        ("a", "cut", 1, 4, 1, 10, 2, ""),
    ]
    columns = ["tau", "printing", "table2_equal", "table2_cells", "table3_equal", "table3_cells", "equal", "note"]
    write_table(folder / "audit" / "conventions.tsv", pd.DataFrame(rows, columns=columns))
    columns = ["collection", "cell", "evidence", "convention", "value", "shown", "printed", "equal"]
    tested = [("trec07", "Table 2", "runs", "winner", "0.71", "0.7", "0.7", "yes")]
    tested += [("trec07", "Table 2", "runs", "tau=a", "0.61", "0.6", "0.7", "no")]
    tested = pd.DataFrame(tested, columns=columns)
    write_table(folder / "audit" / "conventions-tested.tsv", tested)
    readings = pd.DataFrame([("trec08", "Table 3", "0.6|0.8", "0.8123", "0.8", "0.8")])
    readings.columns = ["collection", "cell", "readings", "value", "shown", "reading"]
    write_table(folder / "audit" / "readings.tsv", readings)
    seen = page(folder, [f"audit/{one}.tsv" for one in ("conventions", "conventions-tested", "readings")])
    assert "All 3 combinations" in seen.words
    assert re.search(r"winner ?b ?cut ?13 of 14", seen.words)
    assert re.search(r"best of the others ?b ?round ?12 of 14", seen.words)
    assert re.search(r"tau ?a ?2 of 14", seen.words), "how much a choice matters"
    assert "0.7 equal" in seen.words
    assert "0.6 not equal" in seen.words
    assert "0.6 or 0.8" in seen.words


# --- for everybody ---


def test_a_page_can_be_used_without_a_mouse_and_without_eyes(folder):
    write_everywhere(folder / "mine" / "t", pd.DataFrame({"a": [1]}), "A table")
    write_verdicts(folder / "audit" / "verdicts.tsv", [Verdict("p/1", "1", "1", "reproduced", "", "no", "")])
    seen = page(folder, ["mine/t.html"], [Evidence("c", "C", "real")])
    assert ("html", "lang", "en") in seen.attributes
    assert {"header", "nav", "main", "footer"} <= set(seen.tags)
    ids = seen.ids()
    assert len(ids) == len(set(ids))
    inside = [
        value[1:] for tag, name, value in seen.attributes if (tag, name) == ("a", "href") and value.startswith("#")
    ]
    assert "main" in inside
    assert set(inside) <= set(ids)
    assert seen.tags.count("caption") == seen.tags.count("table") > 3
    assert seen.source.count("<th") - seen.source.count("<thead") == sum(
        one[:2] == ("th", "scope") for one in seen.attributes
    )
    assert ("p", "aria-live", "polite") in seen.attributes
    labels = re.findall(r"<label>\w+ <(?:input|select) id=\"(\w+)\"", seen.source)
    assert labels == ["search", "verdict", "paper"]
    levels = [int(one[1]) for one in seen.tags if re.fullmatch("h[1-6]", one)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))


def contrast(first: str, second: str) -> float:
    """The ratio of luminance of two colors, by the definition of WCAG 2."""

    def luminance(color: str) -> float:
        parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_words_stand_out_by_day_and_by_night():
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
    day = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light))
    night = day | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", dark))
    assert day["paper"] != night["paper"]
    for colors in (day, night):
        for ground in ("paper", "soft"):
            for ink in ("ink", "quiet", "link"):
                assert contrast(colors[ink], colors[ground]) >= 4.5, (ink, ground)
        for verdict in ("reproduced", "consistent", "differs", "impossible", "not-checkable"):
            assert contrast("#ffffff", colors[verdict]) >= 4.5, verdict


def test_browsers_are_told_to_load_nothing(folder):
    seen = page(folder)
    assert ("meta", "content", policy()) in seen.attributes
    assert "default-src 'none'" in policy()
    assert f"<script>{SCRIPT}</script>" in seen.source, "the checksum of the policy is that of the script"
    assert "http" not in SCRIPT + STYLE


@pytest.mark.tried("hostile", "script and markup in notes and findings", "text on the page, no element of it")
def test_hostile_words_in_notes_and_findings_stay_words(folder):
    columns = ("test", "cells", "severity", "sentence", "repair")
    write_table(folder / "audit" / "findings.tsv", pd.DataFrame([[EVIL] * 5], columns=columns))
    lines = [f"# {EVIL}", "", EVIL, "", f"- {EVIL}", "", f"| {EVIL} |", "| --- |", f"| {EVIL} |", "", f"`{EVIL}`"]
    (folder / "mine" / "README.md").write_text("\n".join(lines))
    (folder / "mine" / "errata.md").write_text(
        f"## {EVIL}\n\n**{EVIL}** [{EVIL}](javascript:alert) [x](javascript:alert)\n"
    )
    forms = {"where": [EVIL], "formula": [EVIL], "holds": ["no"], "corrected": [EVIL]}
    write_table(folder / "mine" / "closed-forms.tsv", pd.DataFrame(forms))
    write_verdicts(folder / "audit" / "verdicts.tsv", [Verdict(f"{EVIL}/t", EVIL, EVIL, "differs", EVIL, EVIL, EVIL)])
    claims = {f"{EVIL}/t": Claim(f"{EVIL}/t", EVIL, EVIL, EVIL, EVIL, "statement", EVIL)}
    record = {"packages": {EVIL: EVIL}, "settings": {EVIL: [EVIL]}, "sources": {EVIL: EVIL}, "seeds": EVIL}
    names = ["audit/findings.tsv", *(f"mine/{one}" for one in ("README.md", "errata.md", "closed-forms.tsv"))]
    config = {"title": EVIL, "edition": EVIL}
    seen = page(folder, names, [Evidence(EVIL, EVIL, "real", missing=(EVIL,))], claims, record, config)
    assert seen.tags.count("script") == 1, "only the page's own"
    assert "img" not in seen.tags
    assert not [one for one in seen.attributes if one[1].startswith("on")]
    assert not [one for one in seen.attributes if one[1] == "href" and not one[2].startswith(("../", "#"))]
    assert seen.words.count("alert('x')") > 40
    assert "<" not in "".join(twin(folder, names, (), claims, config))


# --- Markdown ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title", ""),
        ("## A\n### B", "<h4>A</h4>\n<h5>B</h5>"),
        ("a\nb\n\nc", "<p>a b</p>\n<p>c</p>"),
        ("text\n- a\n  more\n- b", "<p>text</p>\n<ul><li>a more</li><li>b</li></ul>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("*a* **b** 2 * 3 * 4 e_Q_x", "<p><em>a</em> <b>b</b> 2 * 3 * 4 e_Q_x</p>"),
        ("`a*b*<c>` \\*d\\* &lt;e", "<p><code>a*b*&lt;c&gt;</code> *d* &lt;e</p>"),
        ("```\na\n\n<b>\n```", '<pre class="scroll"><code>a\n\n&lt;b&gt;</code></pre>'),
        ("```\nnot closed", '<pre class="scroll"><code>not closed</code></pre>'),
        ("    a\n    b", '<pre class="scroll"><code>a\nb</code></pre>'),
        ("[a](x.tsv) [b](http://c.d)", '<p><a href="../p/x.tsv">a</a> b</p>'),
        ("`x.tsv` `y.tsv`", '<p><a href="../p/x.tsv"><code>x.tsv</code></a> <code>y.tsv</code></p>'),
        ("<script>", "<p>&lt;script&gt;</p>"),
        ("|\n|", "<p>|</p>\n<p>|</p>"),
    ],
)
def test_markdown(text, expected):
    assert markdown_to_html(text, 4, {"x.tsv"}, "../p") == expected


def test_tables_in_markdown():
    text = markdown_to_html("Caption.\n\n| a | b |\n| --- | ---: |\n| 1\\|2 | **x** |\n| 3 | |\n")
    assert re.findall(r"<td>(.*?)</td>", text) == ["1|2", "<b>x</b>", "3", ""]
    assert re.findall(r'<th scope="col">(.*?)</th>', text) == ["a", "b"]


# --- Snakemake's own report ---


def test_every_caption_of_snakemakes_own_report_is_there():
    captions = set()
    for rules in (ROOT / "workflow" / "rules").glob("*.smk"):
        text = rules.read_text(encoding="utf-8")
        captions.update((rules.parent / one).resolve() for one in re.findall(r'"(\.\./report/[^"]*)"', text))
    assert captions == {one.resolve() for one in (ROOT / "workflow" / "report").iterdir()}
    assert len(captions) > 3


# --- provenance ---


def test_sources_of_data_that_belong_to_no_collection_are_told_by_their_files(tmp_path):
    """Click logs and sessions have records of their own."""
    registry = ROOT / "config" / "sources.tsv"
    head, *lines = (line.split("\t") for line in registry.read_text(encoding="utf-8").splitlines())
    wanted = dict(zip(head, next(one for one in lines if one[0].startswith("sessions/")), strict=True))
    paths = [f"/srv/somebody/sources/{wanted['url'].removeprefix('https://')}", "/srv/somebody/other"]
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"paths": paths, "n": 1, "missing": ""}))
    text = provenance(CONFIG, [], registry, [record])
    assert json.loads(text)["sources"] == {wanted["id"]: wanted["sha256"]}
    assert "somebody" not in text
    record.write_text("{")
    with pytest.raises(InputError, match="record.json: is not a record"):
        provenance(CONFIG, [], registry, [record])


# --- an own edition ---

OWN = Evidence("mine", "My <own> runs", "real", "q", "own file", {"a": "f", "b": "f"})


def write_own(folder: Path) -> list[str]:
    """The artefacts of an edition of own runs: what is about them, what is about the papers, and what is empty."""
    (folder / "ledgers").mkdir()
    (folder / "ledgers" / "mine.tsv").write_text("run\ttopic\twhat\tcount\tdone\n")
    (folder / "ecir2019-session").mkdir()
    (folder / "ecir2019-session" / "README.md").write_text("# Sessions\n\nThere are no sessions.\n")
    write_table(folder / "systems.tsv", systems_table({"mine": SCORES}))
    features = {"topics": 3, "runs": 2, "min_relevant": 1, "mean_relevant": 2.5, "max_relevant": 4}
    rows = [["mine", name, value, "", "", "judgements"] for name, value in features.items()]
    columns = ["collection", "feature", "value", "reported", "verdict", "evidence"]
    write_everywhere(folder / MP / "table1", pd.DataFrame(rows, columns=columns), "Table 1: features.")
    columns = ["collection", "model", "measure", "tau", "printed", "reported", "verdict", "evidence", "low", "high"]
    rows = [["mine", "AP", "P@10", 0.83651, "0.8365", "", "", "runs", 0.4, 1.0]]
    write_everywhere(folder / MP / "table2", pd.DataFrame(rows, columns=columns), "Table 2: tau.")
    write_everywhere(folder / MP / "table4", pd.DataFrame({"run": ["printed run"]}), "Table 4: of the paper.")
    write_everywhere(folder / MP / "clicks-backward", pd.DataFrame(columns=["log", "share"]), "Clicks: none.")
    columns = ("test", "cells", "severity", "sentence", "repair")
    write_table(folder / "audit" / "findings.tsv", pd.DataFrame([["t", "c", "impossible", "a finding", ""]], columns=columns))
    write_verdicts(
        folder / "audit" / "verdicts.tsv",
        [Verdict("sigir2014/table2/trec08/bpref", "0.9", "", "not checkable", "", "", "needs the runs of TREC 8")],
    )
    return [one.relative_to(folder).as_posix() for one in sorted(folder.rglob("*")) if one.is_file()]


SCORES = Scores(["AP", "ESL"], ["a", "b"], ["1", "2", "3"], np.array([[[0.1] * 3, [0.5] * 3], [[9.0] * 3, [2.0] * 3]]))


def test_an_own_edition_opens_with_its_systems(folder):
    seen = page(folder, write_own(folder), [OWN], config=CONFIG | {"measures": ["AP", "ESL"]})
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", seen.source)
    assert headings == ["Systems", "Measures compared", "The papers", "Evidence", "Cost"]
    assert '<p class="lead">1 collection, 2 systems, 3 topics, 2 measures.</p>' in seen.source
    table = seen.source[seen.source.index("Systems of My &lt;own&gt; runs") :]
    assert re.findall(r"<td class=\"number\">([^<]*)</td>", table)[:6] == ["1", "0.5000", "2.0000", "2", "0.1000", "9.0000"]
    links = [value for tag, name, value in seen.attributes if (tag, name) == ("a", "href")]
    for name in ("systems.tsv", "ledgers/mine.tsv", f"{MP}/table2.tsv", "audit/verdicts.tsv"):
        assert f"../{name}" in links
    for words in ("published numbers", "not checkable", "a finding", "printed run", "Clicks", "sessions"):
        assert words not in seen.words, words
    anchors = {one[1:] for one in links if one.startswith("#")}
    assert anchors <= set(seen.ids()), "no link leads nowhere"
    assert "getElementById('filter')" not in seen.source, "there is nothing to filter"
    assert html.escape(policy(SCRIPT_WITHOUT_VERDICTS)) in seen.source


def test_the_twin_of_an_own_edition_ranks_its_systems(folder):
    lines = twin(folder, write_own(folder), [OWN], config=CONFIG | {"measures": ["AP", "ESL"]})
    assert [one for one in lines if one.startswith("## ")] == [
        "## Systems",
        "## Kendall's tau between AP and other measures, with intervals over topics",
        "## Evidence",
    ]
    assert "| 1 | b | 0.5000 | 2.0000 |" in lines and "| mine | P@10 | 0.8365 | 0.4 | 1 |" in lines
    assert not [one for one in lines if "checkable" in one or "finding" in one]


def test_claims_about_own_runs_are_shown_after_them(folder):
    names = write_own(folder)
    mine = Verdict("mine2025/table1/best", "0.5", "0.5", "reproduced", "runs", "no", "")
    also = Verdict("sigir2014/table2/mine/bpref", "0.9", "0.8", "differs", "runs", "no", "")
    other = Verdict("sigir2014/table2/trec08/bpref", "0.9", "", "not checkable", "", "", "")
    write_verdicts(folder / "audit" / "verdicts.tsv", [mine, also, other])
    seen = page(folder, names, [OWN])
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", seen.source)
    assert headings[0] == "Systems" and headings[-1] == "All verdicts" and "At a glance" in headings
    assert "2 published numbers, formulas and statements of 2 papers: 1 reproduced, 1 differs." in seen.words
    assert "Nothing here is compared with a paper" not in seen.words
    assert "What the papers say is audited without these runs" in seen.words
    assert SCRIPT in seen.source


def test_an_edition_with_a_collection_of_the_paper_too_keeps_the_audit(folder):
    trec8 = Evidence("trec08", "TREC 8", "real", "q", "walkeval/trec08", {"a": "f"}, sources=("trec08/qrels",))
    seen = page(folder, write_own(folder), [OWN, trec8])
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", seen.source)
    assert headings[:3] == ["Systems", "At a glance", "SIGIR 2014"] and headings[-1] == "All verdicts"
    assert "Impossible without any data" in headings
    assert "Clicks" not in seen.words, "a table without a row is not shown"


def test_systems_with_equal_means_share_a_place_and_less_of_a_cost_is_better():
    scores = Scores(["ESL"], ["a", "b", "c"], ["1"], np.array([[[3.0], [1.0], [3.0]]]))
    table = systems_table({"mine": scores})
    assert table[["place", "system"]].values.tolist() == [[1, "b"], [2, "a"], [2, "c"]]
    assert systems_table({}).empty


def test_two_notes_are_notes(folder):
    columns = ("test", "cells", "severity", "sentence", "repair")
    rows = [["t", "c", "note", "s", ""]] * 2
    write_table(folder / "audit" / "findings.tsv", pd.DataFrame(rows, columns=columns))
    assert "Found: 2 notes." in page(folder, ["audit/findings.tsv"]).words
