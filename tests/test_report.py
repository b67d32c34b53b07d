"""The report: whatever stands in the data stays text, nothing comes from elsewhere, and nothing tells of the machine."""

from __future__ import annotations

import html.parser
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest

from walkeval.audit import VERDICTS, Verdict, write_verdicts
from walkeval.gathering import Evidence
from walkeval.report import provenance, write_markdown, write_page
from walkeval.tables import write_everywhere

ROOT = Path(__file__).resolve().parents[1]
EVIL = "</td></script><script>alert('x')</script><img src=http://evil.example/x onerror=y>"
CONFIG = {"edition": "demo", "title": "", "data": "/srv/somebody/data", "mirror": "/mnt/mirror", "results": "/srv/r"}


class Page(html.parser.HTMLParser):
    """What a browser makes of a page: tags in order, attributes, text of cells."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in ("meta", "input", "link", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes another tag"

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "audit").mkdir()
    (tmp_path / "paper one").mkdir()
    write_verdicts(tmp_path / "audit" / "verdicts.tsv", [])
    return tmp_path


def page(folder, names=(), config=CONFIG, evidence=()) -> Page:
    write_page(folder / "index.html", folder, names, config, evidence)
    return Page((folder / "index.html").read_text(encoding="utf-8"))


def test_without_a_verdict_or_a_collection_there_is_a_page(folder):
    seen = page(folder)
    assert seen.open == []
    assert seen.tags.count("h1") == 1
    assert "walkeval: demo" in seen.text
    write_markdown(folder / "R.md", folder, CONFIG, [])
    assert (folder / "R.md").read_text().startswith("# demo\n")


@pytest.mark.tried("hostile", "script and markup as names of runs, claims, columns and titles", "text on the page, no element of it")
def test_hostile_words_stay_words_everywhere(folder):
    write_verdicts(
        folder / "audit" / "verdicts.tsv",
        [Verdict(f"{EVIL}/t", EVIL, EVIL, verdict, EVIL, EVIL, EVIL) for verdict in VERDICTS],
    )
    write_everywhere(folder / "paper one" / "table1", pd.DataFrame({EVIL: [EVIL], "verdict": [EVIL]}), EVIL)
    evidence = [Evidence(EVIL, EVIL, "real", missing=(EVIL,))]
    seen = page(folder, ["paper one/table1.html"], CONFIG | {"title": EVIL}, evidence)
    assert seen.open == []
    assert seen.tags.count("script") == 1, "only the page's own"
    assert "img" not in seen.tags
    assert not [one for one in seen.attributes if one[1].startswith("on")]
    assert "".join(seen.text).count("alert('x')") > 5 * 5
    write_markdown(folder / "R.md", folder, CONFIG | {"title": EVIL}, evidence)
    text = (folder / "R.md").read_text()
    assert "<" not in text
    assert len(text.splitlines()[0]) > len(EVIL)


def test_nothing_is_loaded_from_elsewhere(folder):
    write_everywhere(folder / "paper one" / "table1", pd.DataFrame({"see": ["https://example.org/data"]}), "c")
    (folder / "paper one" / "figure1.svg").write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE svg>\n'
        '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><g/></svg>\n'
    )
    seen = page(folder, ["paper one/table1.html", "paper one/figure1.svg", "paper one/table1.tsv"])
    assert seen.tags.count("svg") == 1
    for tag, name, value in seen.attributes:
        if name in ("src", "href", "srcset", "data", "action", "poster", "xlink:href"):
            assert not re.match(r"(?i)\s*([a-z][a-z0-9+.-]*:|//)", value), (tag, name, value)
    assert not {"link", "iframe", "object", "embed", "base"} & set(seen.tags)
    text = (folder / "index.html").read_text()
    assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", text)
    assert "<?xml" not in text


def test_the_page_shows_the_given_files_and_no_others(folder):
    for name in ("new", "old"):
        write_everywhere(folder / "paper one" / name, pd.DataFrame({"a": [f"cell of {name}"]}), "c")
    seen = page(folder, ["paper one/new.html", "paper one/new.tsv", "audit/verdicts.tsv"])
    assert "cell of new" in seen.text
    assert "cell of old" not in seen.text
    links = {unquote(value) for _, name, value in seen.attributes if name == "href"}
    assert "../paper one/new.tsv" in links
    assert "../paper one/old.tsv" not in links


def test_counts_and_rows_of_verdicts(folder):
    rows = [
        Verdict("p/1", "1", "1", "reproduced", "runs", "no", ""),
        Verdict("q/1", "1", "", "not checkable", "", "", "needs"),
    ]
    write_verdicts(folder / "audit" / "verdicts.tsv", rows)
    seen = page(folder)
    classes = [value for tag, name, value in seen.attributes if (tag, name) == ("tr", "class")]
    assert sum("verdict-reproduced" in one for one in classes) == 1
    assert sum("verdict-not-checkable" in one for one in classes) == 1
    write_markdown(folder / "R.md", folder, CONFIG, [])
    lines = (folder / "R.md").read_text().splitlines()
    assert any(re.fullmatch(r"\| p \|.*\| 1 \| 0 \| 0 \| 0 \| 0 \|", line) for line in lines)
    assert any(re.fullmatch(r"\| q \|.*\| 0 \| 0 \| 0 \| 0 \| 1 \|", line) for line in lines)


def test_synthetic_data_is_marked(folder):
    for kind, marked in (("synthetic", True), ("real", False)):
        evidence = [Evidence("c", "C", kind)]
        assert ("SYNTHETIC" in "".join(page(folder, evidence=evidence).text)) == marked
        write_markdown(folder / "R.md", folder, CONFIG, evidence)
        assert ("SYNTHETIC" in (folder / "R.md").read_text()) == marked


# --- provenance ---


def test_provenance_says_what_the_results_stand_on_and_nothing_of_the_machine(monkeypatch):
    monkeypatch.setenv("TREC_USER", "somebody")
    monkeypatch.setenv("TREC_PASSWORD", "verysecret")
    evidence = [
        Evidence("trec08", "T", "real", "/srv/somebody/q", "d", {"r": "/srv/somebody/r"}, sources=("trec08/qrels",)),
        Evidence("trec07", "T", "real"),
    ]
    config = CONFIG | {"synthetic": "/srv/somebody/synthetic.yaml", "network": False, "shard": 3, "replicates": 7}
    text = provenance(config, evidence, ROOT / "config" / "sources.tsv")
    assert text == provenance(config, evidence, ROOT / "config" / "sources.tsv")
    assert not re.search(r"/home|/mnt|/tmp|somebody|verysecret|\d\d:\d\d", text)
    content = json.loads(text)
    assert content["evidence"] == {"trec08": "runs", "trec07": "nothing"}
    assert content["data"] == {"trec08": "real", "trec07": "real"}
    assert list(content["sources"]) == ["trec08/qrels"]
    assert re.fullmatch("[0-9a-f]{64}", content["sources"]["trec08/qrels"])
    assert content["settings"] == {"edition": "demo", "title": "", "synthetic": "synthetic.yaml", "replicates": 7}
    assert {"numpy", "scipy", "snakemake"} <= content["packages"].keys()


def test_where_and_how_an_edition_was_run_does_not_show():
    here = provenance(CONFIG, [], ROOT / "config" / "sources.tsv")
    there = {"data": "d", "mirror": None, "results": "r", "network": False, "shard": 1}
    assert provenance(CONFIG | there, [], ROOT / "config" / "sources.tsv") == here
    assert provenance(CONFIG | {"tau": "a"}, [], ROOT / "config" / "sources.tsv") != here
