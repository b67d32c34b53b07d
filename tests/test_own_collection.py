"""An own collection: `walkeval init`, then the workflow on judgements and runs that no registry knows."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from pathlib import Path

import pytest
import yaml
from test_workflow import ROOT, copy_of_the_repository, snakemake, started

from walkeval import cli
from walkeval.configuration import check
from walkeval.datasets import read_collection
from walkeval.errors import InputError, SourceError
from walkeval.gathering import gather, own_files
from walkeval.tables import read_table
from walkeval.trec import read_qrels
from walkeval.yaml_files import read_yaml

TOPICS = ("q-a", "q-b", "7", "12")
PAPER = "sigir2014-markov-precision"


def write_files(folder: Path, runs: int = 4) -> None:
    """Judgements and runs, drawn at random but the same every time."""
    draw = random.Random("own collection")
    documents = [f"D{number:02d}" for number in range(30)]
    (folder / "my" / "runs").mkdir(parents=True)
    (folder / "my" / "qrels.txt").write_text(
        "".join(f"{topic} 0 {one} {int(draw.random() < 0.3)}\n" for topic in TOPICS for one in documents[:20])
    )
    for number in range(runs):
        lines = []
        for topic in TOPICS:
            draw.shuffle(documents)
            lines += [f"{topic} Q0 {one} {rank} {100 - rank} tag\n" for rank, one in enumerate(documents[:20], 1)]
        text = "".join(lines).encode()
        if number == 0:
            (folder / "my" / "runs" / "run0.txt.gz").write_bytes(gzip.compress(text))
        else:
            (folder / "my" / "runs" / f"run{number}.txt").write_bytes(text)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    write_files(tmp_path)
    (tmp_path / "config" / "collections").mkdir(parents=True)
    shutil.copy(ROOT / "config" / "sources.tsv", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "ir_datasets"))
    return tmp_path


def describe(folder: Path, text: str, name: str = "mine") -> Path:
    path = folder / "config" / "collections" / f"{name}.yaml"
    path.write_text(text)
    return path


# --- init ---


def test_init_writes_two_files_that_are_right(folder, capsys):
    assert cli.main(["init", ".", "--title", 'My "own" runs']) == 0
    assert "wrote config/mine.yaml" in capsys.readouterr().err
    collection = read_collection("config/collections/mine.yaml")
    assert (collection.title, collection.qrels_file, collection.runs_folder) == (
        'My "own" runs',
        "my/qrels.txt",
        "my/runs",
    )
    schema = json.loads((ROOT / "workflow/schemas/config.schema.json").read_text())
    edition = check(read_yaml("config/mine.yaml") | {"edition": "mine"}, schema, "config/mine.yaml")
    assert (edition["collections"], edition["kind"], edition["click_logs"]) == (["mine"], "real", [])
    (evidence,) = gather(["mine"], "config", "data", network=False)
    assert (evidence.level, sorted(evidence.runs)) == ("runs", ["run0", "run1", "run2", "run3"])


def test_init_knows_patterns_and_data_sets(folder, capsys):
    assert cli.main(["init", ".", "--name", "other", "--qrels", "beir/nq", "--runs", "my/runs/*.txt"]) == 0
    described = yaml.safe_load((folder / "config/collections/other.yaml").read_text())
    assert described == {"title": "other", "ir_datasets": "beir/nq", "runs_glob": "my/runs/*.txt"}
    assert "put the" not in capsys.readouterr().err
    assert cli.main(["init", "elsewhere", "--name", "third", "--runs", "none"]) == 0
    error = capsys.readouterr().err
    assert "put the judgements at elsewhere/my/qrels.txt" in error and "put the runs at elsewhere/none" in error


@pytest.mark.parametrize(
    ("qrels", "sentence"),
    [
        ("none.txt", "none.txt: cannot be read: No such file or directory"),
        ("my/qrels", "my/qrels: there is no such file, and ir-datasets knows no such id; `ir_datasets list` gives all"),
        ("trec8", "no such file, and ir-datasets knows no such id; did you mean disks45/nocr/trec8, "),
        ("msmarco", "did you mean "),  # a part of hundreds of ids
        ("disks45/nocr", "no such file, and the data set of this id has no judgements; did you mean disks45/nocr/trec"),
    ],
)
def test_init_says_at_once_that_there_are_no_judgements(folder, capsys, qrels, sentence):
    assert cli.main(["init", ".", "--qrels", qrels, "--runs", "my/runs"]) == 1
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1 and len(error) < 400
    assert {one.name for one in (folder / "config").rglob("*")} == {"collections", "sources.tsv"}, "nothing is written"


def test_init_takes_paths_from_the_folder_that_it_sets_up(folder, capsys):
    assert cli.main(["init", "elsewhere", "--qrels", "my/qrels.txt"]) == 1
    assert capsys.readouterr().err == (
        "walkeval: elsewhere/my/qrels.txt: there is no such file: give the path of my/qrels.txt from elsewhere, or in "
        "full\n"
    )


def test_init_overwrites_nothing(folder, capsys):
    (folder / "config" / "mine.yaml").write_text("title: precious\n")
    assert cli.main(["init", "."]) == 1
    assert capsys.readouterr().err == (
        "walkeval: config/mine.yaml: is there already: remove it, or give another --name\n"
    )
    assert (folder / "config" / "mine.yaml").read_text() == "title: precious\n"
    assert not (folder / "config/collections/mine.yaml").exists()


# --- descriptions ---


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title: T\n", "lacks the key 'qrels' (or, for an own collection, 'qrels_file' or 'ir_datasets')"),
        ("qrels_file: a\nir_datasets: b\n", "gives its judgements twice"),
        ("qrels_file: a\nruns_glob: b\nruns_folder: c\n", "gives its runs twice"),
        ("qrels_file: a\nrun_folder: b\n", "did you mean 'runs_folder'?"),
        ("qrels_file: [a]\n", "qrels_file must be a text"),
        ("qrels_file: a\ntopics: {first: 2, last: 1}\n", "topics must be"),
    ],
)
def test_an_error_in_a_description_is_one_sentence(folder, text, sentence):
    with pytest.raises(InputError) as caught:
        read_collection(describe(folder, text), {})
    assert sentence in str(caught.value)


def test_title_and_topics_may_be_left_out_and_a_pattern_chosen(folder):
    describe(folder, "qrels_file: my/qrels.txt\nruns_glob: my/**/run[12].txt\n")
    (evidence,) = gather(["mine"], "config", "data", network=False)
    assert (evidence.title, evidence.kind, sorted(evidence.runs)) == ("mine", "real", ["run1", "run2"])
    assert read_qrels(evidence.qrels).topics == ["7", "12", "q-a", "q-b"]


def test_a_range_of_topics_is_kept(folder):
    describe(folder, "qrels_file: my/qrels.txt\nruns_folder: my/runs\ntopics: {first: 10, last: 20}\n")
    (evidence,) = gather(["mine"], "config", "data", network=False)
    assert read_qrels(evidence.qrels).topics == ["12"]


def test_judgements_of_a_data_set(folder):
    import ir_datasets

    path = folder / "names.txt"
    path.write_text("one 0 D01 1\none 0 D02 0\n")
    download = ir_datasets.util.Download(
        [ir_datasets.util.LocalDownload(path, mkdir=False)], cache_path=folder / "cached"
    )
    ir_datasets.registry.register(
        "walkeval-test/own", ir_datasets.Dataset(ir_datasets.formats.TrecQrels(download, {0: "", 1: ""}))
    )
    describe(folder, "ir_datasets: walkeval-test/own\nruns_folder: my/runs\n")
    (evidence,) = gather(["mine"], "config", "data", network=False)
    assert (evidence.dataset, read_qrels(evidence.qrels).topics) == ("walkeval-test/own", ["one"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("qrels_file: my/none.txt\nruns_folder: my/runs\n", "my/none.txt: cannot be read: No such file or directory"),
        ("qrels_file: my/qrels.txt\nruns_folder: none\n", "mine: there are no runs in none"),
        ("qrels_file: my/qrels.txt\nruns_glob: none/*.txt\n", "mine: there are no runs in none/*.txt"),
        ("qrels_file: my/qrels.txt\nruns_glob: '**/run1.*'\n", "mine: two runs are called run1"),
        ("qrels_file: my/qrels.txt\ntopics: {first: 500, last: 600}\n", "has no topic from 500 to 600"),
        ("ir_datasets: no-such/data-set\n", "no-such/data-set: ir-datasets knows no such id"),
    ],
)
def test_what_is_not_there_is_one_sentence(folder, text, sentence):
    (folder / "my" / "again").mkdir()
    shutil.copy(folder / "my/runs/run1.txt", folder / "my/again/run1.txt")
    describe(folder, text)
    with pytest.raises((InputError, SourceError, ValueError)) as caught:
        gather(["mine"], "config", "data", network=False)
    assert sentence in str(caught.value)


def test_the_files_that_are_watched_are_judgements_and_runs(folder):
    collection = read_collection(describe(folder, "qrels_file: my/qrels.txt\nruns_folder: my/runs\n"))
    assert [one.name for one in own_files(collection)] == [
        "qrels.txt",
        "run0.txt.gz",
        "run1.txt",
        "run2.txt",
        "run3.txt",
    ]


# --- the workflow ---

TARGETS = [
    f"data/mine/artefacts/{name}"
    for name in ("evidence.tsv", "systems.tsv", f"{PAPER}/table2.tsv", f"{PAPER}/heatmaps.svg", f"{PAPER}/figure4.svg")
]
SETTINGS = ("network=false", "replicates=1", "bootstrap=10", "pool_rates=[50]")


def test_an_own_collection_goes_through_the_workflow(tmp_path):
    repository = copy_of_the_repository(tmp_path / "a copy")
    write_files(repository)
    assert cli.main(["init", str(repository)]) == 0
    result = snakemake(repository, "mine", *SETTINGS, options=tuple(TARGETS))
    assert result.returncode == 0, result.stdout
    folder = repository / "data" / "mine" / "artefacts"
    (row,) = read_table(folder / "evidence.tsv").to_dict("records")
    assert (row["collection"], row["evidence"], row["runs"]) == ("mine", "runs", "4")
    table = read_table(folder / PAPER / "table2.tsv")
    assert set(table["collection"]) == {"mine"}
    assert table["tau"].notna().all()
    assert set(table["verdict"]) == {""}, "it is compared with no paper"
    assert (folder / "ledgers" / "mine.tsv").read_text().startswith("run\ttopic\twhat\tcount\tdone\n")
    systems = read_table(folder / "systems.tsv", numbers=("place", "AP"))
    assert sorted(systems["system"]) == ["run0", "run1", "run2", "run3"] and systems["place"].is_monotonic_increasing
    assert systems["AP"].is_monotonic_decreasing
    assert "in hundredths, rounded" in (folder / PAPER / "heatmaps.svg").read_text(), "as the edition says"
    # All of the edition can be made from it, and a changed file of judgements starts the work again.
    result = snakemake(repository, "mine", *SETTINGS, options=("--dry-run", "--quiet"))
    assert result.returncode == 0, result.stdout
    qrels = repository / "my" / "qrels.txt"
    qrels.write_text(qrels.read_text().replace("q-a 0 D00 0", "q-a 0 D00 1").replace("q-a 0 D01 0", "q-a 0 D01 1"))
    result = snakemake(repository, "mine", *SETTINGS, options=(TARGETS[0], "--dry-run"))
    assert "fetch_sources" in started(result), result.stdout


def test_a_missing_file_stops_the_workflow_with_one_sentence(tmp_path):
    repository = copy_of_the_repository(tmp_path / "a copy")
    assert cli.main(["init", str(repository)]) == 0
    result = snakemake(repository, "mine", *SETTINGS, options=(TARGETS[0],))
    assert result.returncode != 0
    assert result.stdout.count("my/qrels.txt: cannot be read: No such file or directory") == 1, result.stdout
    assert "Traceback" not in result.stdout
