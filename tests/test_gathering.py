"""What is at hand for a collection: the ladder, the record, the guard, and gathering from a mirror."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from walkeval.errors import EvidenceError, InputError
from walkeval.gathering import (
    LEVELS,
    Evidence,
    evidence_table,
    gather,
    published_evidence,
    refuse_weaker,
    runs_in_folder,
)

ROOT = Path(__file__).resolve().parents[1]


# --- the ladder ---


def test_the_level_is_the_best_that_is_at_hand():
    nothing = Evidence("c", "C", "real")
    judgements = replace(nothing, qrels="q")
    summaries = replace(judgements, summary="s")
    per_topic = replace(summaries, per_topic={"map": "m"})
    by_run = replace(summaries, per_topic_runs={"r": "f"})
    runs = replace(per_topic, runs={"r": "f"})
    found = [one.level for one in (nothing, judgements, summaries, per_topic, by_run, runs)]
    assert found == ["nothing", "judgements", "run summaries", "per-topic scores", "per-topic scores", "runs"]
    assert list(dict.fromkeys(found)) == list(LEVELS)


@pytest.mark.parametrize(("worse", "better"), list(pairwise(LEVELS)))
def test_a_step_down_is_refused_and_a_step_up_is_not(worse, better):
    refuse_weaker({"trec08": better}, {"trec08": worse}, "paper")
    refuse_weaker({"trec08": better}, {"trec08": better}, "paper")
    with pytest.raises(EvidenceError, match=f"stand on its {better}, but"):
        refuse_weaker({"trec07": better, "trec08": worse}, {"trec07": worse, "trec08": better}, "paper")


def test_the_refusal_is_one_sentence_that_says_what_to_do():
    with pytest.raises(EvidenceError) as error:
        refuse_weaker({"trec08": "judgements"}, {"trec08": "runs"}, "paper")
    sentence = str(error.value)
    assert sentence == (
        "the results of paper for trec08 stand on its runs, but only its judgements are at hand: set WALKEVAL_MIRROR to "
        "a mirror that has them, go online, or write elsewhere with ./run paper results=FOLDER"
    )
    with pytest.raises(EvidenceError, match="but nothing of it is at hand: set"):
        refuse_weaker({"trec08": "nothing"}, {"trec08": "judgements"}, "paper")


def test_collections_that_come_or_go_are_no_weakening():
    refuse_weaker({"mine": "judgements"}, {"trec08": "runs"}, "paper")


def test_the_record_of_published_results(tmp_path):
    path = tmp_path / "provenance.json"
    assert published_evidence(path) == {}
    path.write_text(json.dumps({"evidence": {"trec08": "runs"}, "other": 1}))
    assert published_evidence(path) == {"trec08": "runs"}
    for content in ("", "{", "[]", "{}", '{"evidence": []}'):
        path.write_text(content)
        with pytest.raises(InputError, match=r"provenance\.json: does not say what the results stand on"):
            published_evidence(path)


# --- the record of evidence ---


def test_the_record_brings_everything_back(tmp_path):
    one = Evidence(
        "c",
        "Title <b>",
        "real",
        "q",
        "d",
        {"1": "a", "NA": "b"},
        "s",
        {"map": "m"},
        {"r": "f"},
        "t",
        ("x/y",),
        ("First.", "Second."),
    )
    one.save(tmp_path / "e.json")
    assert Evidence.load(tmp_path / "e.json") == one
    assert list(one.run_paths()) == ["1", "NA"]


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"collection": "c"}', '{"unknown": 1, "missing": [], "sources": []}']
)
def test_a_damaged_record_is_refused_by_name(tmp_path, content):
    (tmp_path / "e.json").write_text(content)
    with pytest.raises(InputError, match=r"e\.json: is not a record of evidence"):
        Evidence.load(tmp_path / "e.json")


def test_one_table_says_it_all():
    table = evidence_table(
        [
            Evidence("a", "A", "real", "q", "walkeval/a", {"r": "f"}),
            Evidence("b", "B", "real", missing=("First.", "Second.")),
        ]
    )
    rows = table.to_dict("records")
    assert [(one["collection"], one["evidence"], one["runs"], one["missing"]) for one in rows] == [
        ("a", "runs", 1, ""),
        ("b", "nothing", 0, "First. Second."),
    ]
    # Judgements are the same whichever way they came, so the table does not depend on the way.
    assert [one["judgements"] for one in rows] == ["at hand", ""]


def test_runs_in_a_folder(tmp_path):
    for name in ("input.one.gz", "two.txt", "007", ".hidden", "<b>.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "folder").mkdir()
    assert sorted(runs_in_folder(tmp_path)) == ["007", "<b>", "one", "two"]
    assert runs_in_folder(tmp_path / "gone") == {}


# --- gathering, from a small mirror ---

SUMMARY = "".join(
    f"#### {run}\n[**`Input`**](https://trec.nist.gov/results/t/input.{run}.gz)\n"
    f"\tmap\t\tall\t{ap}\n\tP_10\t\tall\t{p10}\n"
    for run, ap, p10 in (("alpha", "0.2500", "0.5000"), ("beta", "0.5000", "0.6000"))
)
QRELS = "1 0 A 1\n1 0 B 0\n2 0 A 1\n"
RUN = "1 Q0 A 1 2.0 x\n2 Q0 A 1 2.0 x\n"
EVAL = "map\t1\t0.5\nmap\t2\t0.5\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A config, a mirror and a data folder; nothing of the machine's own."""
    monkeypatch.delenv("TREC_USER", raising=False)
    monkeypatch.delenv("TREC_PASSWORD", raising=False)
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "ir_datasets"))
    (tmp_path / "config" / "collections").mkdir(parents=True)
    sources = {"mine/qrels": QRELS, "mine/summary": SUMMARY}
    sources |= {f"mine/run/input.{name}": RUN for name in ("alpha", "beta")}
    sources |= {f"mine/per-topic/{name}": EVAL for name in ("alpha", "beta")}
    lines = ["id\turl\tbytes\tsha256\tlicence\tused_for"]
    for name, text in sources.items():
        path = tmp_path / "mirror" / "example.org" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        content = text.encode()
        digest = hashlib.sha256(content).hexdigest()
        lines.append(f"{name}\thttps://example.org/{name}\t{len(content)}\t{digest}\tnone\ttests")
    (tmp_path / "config" / "sources.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def found(place, *keys: str) -> Evidence:
    lines = ["title: Mine", "topics: {first: 1, last: 2}", "qrels: mine/qrels", f"runs_folder: {place}/by hand", *keys]
    (place / "config" / "collections" / "mine.yaml").write_text("\n".join(lines) + "\n")
    (one,) = gather(["mine"], place / "config", place / "data", mirror=place / "mirror", network=False)
    return one


def test_all_runs_of_the_registry_are_evidence(place):
    one = found(place, "runs: mine/run/")
    assert one.level == "runs"
    assert sorted(one.runs) == ["alpha", "beta"]
    assert one.missing == ()
    assert one.sources == ("mine/qrels", "mine/run/input.alpha", "mine/run/input.beta")
    assert Path(one.qrels).read_text().split() == "1 0 A 1 1 0 B 0 2 0 A 1".split()


def test_a_part_of_the_runs_is_no_evidence(place):
    (place / "mirror/example.org/mine/run/input.beta").unlink()
    one = found(place, "runs: mine/run/")
    assert (one.level, one.runs) == ("judgements", {})
    assert any("1 of its sources are missing, such as mine/run/input.beta" in text for text in one.missing)
    assert any("The 1 runs at hand are not used" in text for text in one.missing)
    assert one.sources == ("mine/qrels",)
    # Somebody has it: then all are there.
    (place / "by hand").mkdir()
    (place / "by hand" / "beta.txt").write_text(RUN)
    assert found(place, "runs: mine/run/").level == "runs"


def test_runs_put_by_hand_count_when_all_that_the_summary_lists_are_there(place):
    keys = ["summary: mine/summary", "nist_track: https://trec.nist.gov/results/t/"]
    assert found(place, *keys).level == "run summaries"
    (place / "by hand").mkdir()
    (place / "by hand" / "input.alpha").write_text(RUN)
    part = found(place, *keys)
    assert part.level == "run summaries"
    assert any("1 of 2 runs are missing" in text for text in part.missing)
    (place / "by hand" / "input.beta").write_text(RUN)
    whole = found(place, *keys)
    assert (whole.level, whole.missing) == ("runs", ())


def test_own_runs_need_no_list_of_all(place):
    (place / "by hand").mkdir()
    (place / "by hand" / "mine.txt").write_text(RUN)
    one = found(place)
    assert (one.level, list(one.runs), one.missing) == ("runs", ["mine"], ())


def test_a_part_of_the_per_topic_scores_is_no_evidence(place):
    assert found(place, "per_topic_runs: mine/per-topic/").level == "per-topic scores"
    (place / "mirror/example.org/mine/per-topic/beta").unlink()
    (place / "data/sources/example.org/mine/per-topic/beta").unlink()
    assert found(place, "per_topic_runs: mine/per-topic/").level == "judgements"


def test_runs_without_judgements_are_no_evidence(place):
    (place / "mirror/example.org/mine/qrels").unlink()
    one = found(place, "runs: mine/run/")
    assert (one.level, one.runs, one.qrels, one.sources) == ("nothing", {}, "", ())
    assert any("no judgements" in text for text in one.missing)
    assert any("not used, because there are no judgements" in text for text in one.missing)


def test_a_source_with_another_content_is_not_used(place):
    (place / "mirror/example.org/mine/run/input.beta").write_text(RUN.replace("A", "B"))
    one = found(place, "runs: mine/run/")
    assert one.level == "judgements"


def test_the_real_registry_reaches_what_it_says(mirror, tmp_path, monkeypatch):
    monkeypatch.delenv("TREC_USER", raising=False)
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "ir_datasets"))
    monkeypatch.chdir(tmp_path)
    names = ["trec07", "trec10"]
    evidence = gather(names, ROOT / "config", tmp_path / "data", mirror=mirror, network=False)
    assert {one.collection: one.level for one in evidence} == {"trec07": "per-topic scores", "trec10": "run summaries"}
    for one in evidence:
        assert one.qrels
        assert all(name.startswith(f"{one.collection}/") for name in one.sources)
        (text,) = one.missing
        assert "TREC_USER" in text
