"""Collections, and their judgements through ir-datasets."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from walkeval import datasets
from walkeval.datasets import Collection, export_qrels, load_qrels, qrels_dataset, qrels_statistics, read_collection
from walkeval.errors import InputError, SourceError
from walkeval.sources import Source, cached_path, fetch, read_registry

CONFIG = Path(__file__).parents[1] / "config"
QRELS = b"502 0 B 1\n501 0 B 0\n501 0 A 2\n450 0 A 1\n"
NAMES = ("trec07", "trec08", "trec10", "trec14")

# Table 1 of the SIGIR 2014 paper: topics, and minimum, mean and maximum number of relevant documents.
TABLE_1 = {
    "trec07": (50, 7, 93.48, 361),
    "trec08": (50, 6, 94.56, 347),
    "trec10": (50, 2, 67.26, 372),
    "trec14": (50, 9, 131.22, 376),
}


def small(tmp_path, content=QRELS, name="small"):
    """A registry with one file of judgements in the cache, and a collection that names it."""
    digest = hashlib.sha256(content).hexdigest()
    source = Source("small/qrels", "https://example.org/qrels", len(content), digest, "free", "tests")
    path = cached_path(source, tmp_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return Collection(name, "Small", (501, 550), "small/qrels"), {"small/qrels": source}, path


# Descriptions of collections


@pytest.mark.parametrize("name", NAMES)
def test_every_collection_of_the_project_is_sound(name):
    registry = read_registry(CONFIG / "sources.tsv")
    collection = read_collection(CONFIG / "collections" / f"{name}.yaml", registry)
    assert collection.name == name
    assert collection.runs_folder == f"data/runs/{name}"
    assert {collection.qrels, collection.summary} <= set(collection.source_ids(registry))
    assert all(one.startswith(f"{name}/") for one in collection.source_ids(registry))


def test_every_trec_source_belongs_to_a_collection():
    registry = read_registry(CONFIG / "sources.tsv")
    used = {
        one
        for name in NAMES
        for one in read_collection(CONFIG / "collections" / f"{name}.yaml").source_ids(registry)
    }
    assert {one for one in registry if one.startswith("trec")} - used == {"trec10/per-topic-sds"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title: T\ntopics: {first: 1, last: 2}\nqrel: a/qrels\n", "unknown key 'qrel'; did you mean 'qrels'?"),
        ("title: T\ntopics: {first: 1, last: 2}\n", "lacks the key 'qrels'"),
        ("title: T\ntopics: {first: 3, last: 2}\nqrels: a/qrels\n", "topics must be"),
        ("title: T\ntopics: 1-2\nqrels: a/qrels\n", "topics must be"),
        ("title: 7\ntopics: {first: 1, last: 2}\nqrels: a/qrels\n", "title must be a text"),
        ("title: T\ntopics: {first: 1, last: 2}\nqrels: a/qrls\n", "did you mean 'a/qrels'?"),
        ("title: T\ntopics: {first: 1, last: 2}\nqrels: a/qrels\nruns: b/\n", "starts with 'b/'"),
        ("title: T\ntopics: {first: 1, last: 2}\nqrels: a/qrels\nper_topic: [a]\n", "per_topic must give"),
        ("- a\n", "must be a list of lines"),
        ("title: [\n", "not valid YAML"),
    ],
)
def test_an_error_in_a_description_is_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    registry = {"a/qrels": Source("a/qrels", "https://example.org/a", 1, "0" * 64, "x", "y")}
    with pytest.raises(InputError) as caught:
        read_collection(path, registry)
    assert str(caught.value).startswith(str(path)) and sentence in str(caught.value)
    with pytest.raises(InputError, match="no such file"):
        read_collection(tmp_path / "none.yaml")


# Judgements


def test_judgements_are_sorted_and_cut_to_the_topics(tmp_path):
    collection, registry, _ = small(tmp_path)
    identifier = qrels_dataset(collection, registry, tmp_path, network=False)
    assert identifier.startswith("walkeval/small")
    frame = load_qrels(identifier, collection.topics)
    assert frame.to_numpy().tolist() == [["501", "A", 2], ["501", "B", 0], ["502", "B", 1]]
    assert qrels_statistics(frame) == {"topics": 2, "minimum": 1, "mean": 1.0, "maximum": 1}
    assert qrels_statistics(frame, min_grade=2) == {"topics": 2, "minimum": 0, "mean": 0.5, "maximum": 1}
    export_qrels(identifier, tmp_path / "out" / "qrels.txt", collection.topics)
    assert (tmp_path / "out" / "qrels.txt").read_text() == "501 0 A 2\n501 0 B 0\n502 0 B 1\n"
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["qrels.txt"]


def test_a_second_look_gives_the_same_id_and_another_folder_another(tmp_path):
    collection, registry, _ = small(tmp_path / "a", name="twice")
    first = qrels_dataset(collection, registry, tmp_path / "a", network=False)
    assert qrels_dataset(collection, registry, tmp_path / "a", network=False) == first
    collection, registry, _ = small(tmp_path / "b", QRELS.replace(b"502 0 B 1", b"502 0 B 0"), name="twice")
    second = qrels_dataset(collection, registry, tmp_path / "b", network=False)
    assert second != first
    assert load_qrels(first)["grade"].sum() == load_qrels(second)["grade"].sum() + 1


def test_a_changed_file_is_refused(tmp_path):
    collection, registry, path = small(tmp_path, name="changed")
    path.write_bytes(QRELS.replace(b"502 0 B 1", b"502 0 B 0"))
    with pytest.raises(SourceError, match="was expected to have sha256"):
        qrels_dataset(collection, registry, tmp_path, network=False)


def test_a_changed_copy_of_ir_datasets_is_made_anew(tmp_path):
    collection, registry, _ = small(tmp_path, name="copied")
    load_qrels(qrels_dataset(collection, registry, tmp_path, network=False))
    copy = tmp_path / "ir_datasets" / "walkeval" / registry["small/qrels"].sha256
    assert copy.read_bytes() == QRELS
    copy.write_bytes(QRELS.replace(b"502 0 B 1", b"502 0 B 0"))
    program = (
        "import sys; from walkeval.datasets import *; from walkeval.sources import Source; "
        f"registry = {{'small/qrels': {registry['small/qrels']!r}}}; "
        "found = qrels_dataset(Collection('copied', 'x', (501, 550), 'small/qrels'), registry, sys.argv[1], False); "
        "print(load_qrels(found)['grade'].sum())"
    )
    assert outside(program, tmp_path) == "4"
    assert copy.read_bytes() == QRELS


def test_missing_judgements_are_one_sentence(tmp_path):
    collection, registry, path = small(tmp_path, name="missing")
    path.unlink()
    with pytest.raises(SourceError, match=r"missing: no judgements: .*qrels is missing; fetch it, or download https"):
        qrels_dataset(collection, registry, tmp_path, network=False)
    with pytest.raises(SourceError, match="the registry lacks its judgements"):
        qrels_dataset(collection, {}, tmp_path, network=False)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (QRELS + b"501 0 A 1\n", "document A of topic 501 twice"),
        (b"501 0 A\n", "expected 4 columns"),
        (b"501 0 A high\n", "invalid literal"),
        (b"q501 0 A 1\n", "topic 'q501', which is no number"),
        (b"401 0 A 1\n", "no topic from 501 to 550"),
        (b"\xff\xfe\n", "cannot give the judgements"),
    ],
)
def test_bad_judgements_are_one_sentence(tmp_path, content, sentence):
    collection, registry, _ = small(tmp_path, content, name="bad")
    identifier = qrels_dataset(collection, registry, tmp_path, network=False)
    with pytest.raises(SourceError, match=sentence):
        load_qrels(identifier, collection.topics)


def test_unknown_data_sets_are_named(tmp_path):
    with pytest.raises(SourceError, match="does not know 'walkeval/none'"):
        load_qrels("walkeval/none")
    collection, registry, _ = small(tmp_path)
    wrong = Collection("small", "Small", (501, 550), "small/qrels", ir_datasets="disks45/nocr/trec9")
    with pytest.raises(SourceError, match="did you mean 'disks45/nocr/trec"):
        qrels_dataset(wrong, registry, tmp_path, network=False)


def test_what_differs_is_said():
    first = pd.DataFrame({"topic": ["1", "1"], "document": ["a", "b"], "grade": [1, 0]})
    assert datasets._difference(first, first.copy()) == ""
    found = datasets._difference(first, first.assign(grade=[1, 1]))
    assert found.startswith("1 judgements differ, first topic 1 document b grade 0 against")
    assert datasets._difference(first, first[:1]) == "2 judgements against 1"


# With the real files


def outside(program, *arguments, **environment):
    """Run a program in a process of its own: ir-datasets fixes its home when it is imported."""
    process = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[1],
        env={**{key: value for key, value in os.environ.items() if key != "IR_DATASETS_HOME"}, **environment},
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


@pytest.mark.parametrize("name", NAMES)
def test_the_judgements_give_table_1(tmp_path, mirror, name):
    registry = read_registry(CONFIG / "sources.tsv")
    collection = read_collection(CONFIG / "collections" / f"{name}.yaml", registry)
    fetch([registry[collection.qrels]], tmp_path, mirror, network=False)
    frame = load_qrels(qrels_dataset(collection, registry, tmp_path, network=False), collection.topics)
    found = qrels_statistics(frame)
    assert (found["topics"], found["minimum"], round(found["mean"], 2), found["maximum"]) == TABLE_1[name]
    if name != "trec10":
        # ir-datasets ships the counts of its own judgements.
        counts = datasets._ir_datasets(tmp_path).load(collection.ir_datasets).metadata()["qrels"]
        assert len(frame) == counts["count"]
        graded = {str(grade): int(count) for grade, count in frame["grade"].value_counts().items()}
        assert graded == counts["fields"]["relevance"]["counts_by_value"]


PROGRAM = """
import json, sys
from pathlib import Path
from walkeval.datasets import load_qrels, qrels_dataset, read_collection, register_qrels
from walkeval.sources import cached_path, read_registry

config, data = Path(sys.argv[1]), Path(sys.argv[2])
registry = read_registry(config / "sources.tsv")
collection = read_collection(config / "collections" / "trec14.yaml", registry)
chosen = qrels_dataset(collection, registry, data, network=False)
source = registry[collection.qrels]
ours = load_qrels(register_qrels("trec14", cached_path(source, data), source, data))
theirs = load_qrels(chosen)
print(json.dumps([chosen, len(theirs), bool(theirs.equals(ours))]))
"""


def test_both_ways_to_robust_2005_agree(tmp_path, mirror):
    registry = read_registry(CONFIG / "sources.tsv")
    data = tmp_path / "data"
    (result,) = fetch([registry["trec14/qrels"]], data, mirror, network=False)
    cache = data / "ir_datasets" / "aquaint" / "trec-robust-2005" / "qrels"
    # Without ir-datasets' own file the registry's is taken, and nothing is written into the home of the user.
    home = tmp_path / "home"
    assert json.loads(outside(PROGRAM, CONFIG, data, HOME=str(home))) == ["walkeval/trec14", 37798, True]
    assert not home.exists()
    # With it, ir-datasets' own id is taken.
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_bytes(result.path.read_bytes())
    assert json.loads(outside(PROGRAM, CONFIG, data)) == ["aquaint/trec-robust-2005", 37798, True]
    # A file there with another hash is set aside.
    cache.write_bytes(result.path.read_bytes() + b"1 0 X 1\n")
    assert json.loads(outside(PROGRAM, CONFIG, data)) == ["walkeval/trec14", 37798, True]
    assert not cache.exists() and Path(f"{cache}.rejected").exists()


def test_disagreement_is_an_error(tmp_path, monkeypatch):
    collection, registry, _ = small(tmp_path, name="disagree")
    ours = qrels_dataset(collection, registry, tmp_path, network=False)
    other, others, _ = small(tmp_path / "other", QRELS.replace(b"502 0 B 1", b"502 0 B 0"), name="other")
    theirs = qrels_dataset(other, others, tmp_path / "other", network=False)
    monkeypatch.setattr(datasets, "_native_at_hand", lambda *arguments: True)
    same = Collection("disagree", "x", (501, 550), "small/qrels", ir_datasets=ours)
    assert qrels_dataset(same, registry, tmp_path) == ours
    with pytest.raises(SourceError, match="disagree: 1 judgements differ, first topic 502 document B"):
        qrels_dataset(Collection("disagree", "x", (501, 550), "small/qrels", ir_datasets=theirs), registry, tmp_path)


def test_the_mirror_holds_what_ir_datasets_expects(tmp_path, mirror):
    ir_datasets = datasets._ir_datasets(tmp_path)
    expected = ir_datasets.util.DownloadConfig.context("aquaint", Path("x"))["trec-robust-2005/qrels"].expected_md5
    (packed,) = mirror.rglob("qrels.robust05.txt.gz")
    assert hashlib.md5(gzip.decompress(packed.read_bytes())).hexdigest() == expected
