"""Synthetic collections: exact sizes, the same bytes every time, and the behavior of real runs."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from walkeval.errors import InputError, ParameterError, UnknownNameError
from walkeval.synthetic import (
    SyntheticCollection,
    SyntheticSpecification,
    document_name,
    generate,
    generate_in_memory,
    read_specifications,
)

SPECIFICATIONS = Path(__file__).parents[1] / "config" / "synthetic.yaml"

# Table 1 of the SIGIR 2014 paper: topics, runs, minimum, total (mean x topics) and maximum of relevant documents.
TABLE_1 = {
    "trec07": (50, 103, 7, 4674, 361),
    "trec08": (50, 129, 6, 4728, 347),
    "trec10": (50, 97, 2, 3363, 372),
    "trec14": (50, 74, 9, 6561, 376),
}

# Kendall's tau with AP over the 129 real runs of TREC 8 (means rounded to 9 decimals, tau-b).
REAL_TREC_8 = {"P@10": 0.8267, "Rprec": 0.9219, "bpref": 0.9360, "RBP": 0.8095}


def small(**changes) -> SyntheticSpecification:
    parameters = {"name": "small", "topics": 3, "runs": 4, "relevant": (2, 5, 9), "depth": 20}
    return SyntheticSpecification(**parameters | changes)


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for line in path.read_text().splitlines():
        topic, _, document, grade = line.split(" ")
        assert document not in qrels.setdefault(topic, {})
        qrels[topic][document] = int(grade)
    return qrels


def content(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def scores(collection: SyntheticCollection) -> dict[str, np.ndarray]:
    """Mean scores of all runs, straight from the definitions."""
    base = (collection.grade > 0).sum(axis=1)
    other = (collection.grade == 0).sum(axis=1)
    names = ("AP", "P@10", "Rprec", "bpref", "RBP")
    means: dict[str, list[float]] = {name: [] for name in names}
    for run in range(len(collection.runs)):
        grade = collection.grades(run)
        relevant = grade > 0
        rank = np.arange(1, grade.shape[1] + 1)
        found = relevant.cumsum(axis=1)
        above = np.minimum((grade == 0).cumsum(axis=1), base[:, None])
        by_topic = {
            "AP": (relevant * found / rank).sum(axis=1) / base,
            "P@10": relevant[:, :10].sum(axis=1) / 10,
            "Rprec": (relevant & (rank <= base[:, None])).sum(axis=1) / base,
            "bpref": (relevant * (1 - above / np.minimum(base, other)[:, None])).sum(axis=1) / base,
            "RBP": (relevant * 0.2 * 0.8 ** (rank - 1)).sum(axis=1),
        }
        for name in names:
            means[name].append(by_topic[name].mean())
    return {name: np.round(value, 9) for name, value in means.items()}


@pytest.fixture(scope="module")
def trec08() -> SyntheticCollection:
    return generate_in_memory(read_specifications(SPECIFICATIONS)["trec08"])


def test_the_four_collections_are_those_of_table_1():
    assert sorted(read_specifications(SPECIFICATIONS)) == sorted(TABLE_1)


@pytest.mark.parametrize("name", ["trec10", "trec14"])
def test_written_files_have_the_sizes_of_table_1(name, tmp_path):
    specification = read_specifications(SPECIFICATIONS)[name]
    generate(specification, tmp_path / name)
    counts = [sum(grade > 0 for grade in one.values()) for one in read_qrels(tmp_path / name / "qrels.txt").values()]
    runs = list((tmp_path / name / "runs").iterdir())
    assert (len(counts), len(runs), min(counts), sum(counts), max(counts)) == TABLE_1[name]


@pytest.mark.parametrize("name", ["trec07", "trec08"])
def test_shorter_lists_do_not_change_the_sizes(name, tmp_path):
    parameters = vars(read_specifications(SPECIFICATIONS)[name]) | {"depth": 10, "candidates": 1000}
    collection = generate_in_memory(SyntheticSpecification(**parameters))
    counts = (collection.grade > 0).sum(axis=1)
    found = (len(collection.topics), len(collection.runs), counts.min(), counts.sum(), counts.max())
    assert found == TABLE_1[name]


@pytest.mark.parametrize("measure", list(REAL_TREC_8))
def test_measures_agree_with_average_precision_as_on_the_real_runs(trec08, measure):
    means = scores(trec08)
    assert kendalltau(means["AP"], means[measure]).statistic == pytest.approx(REAL_TREC_8[measure], abs=0.05)


def test_systems_are_as_good_as_the_real_ones(trec08):
    means = scores(trec08)["AP"]
    assert 0.0 <= means.min() < 0.1
    assert np.median(means) == pytest.approx(0.260, abs=0.05)  # of the real runs
    assert means.max() == pytest.approx(0.469, abs=0.08)


def test_lists_are_odd_in_the_ways_of_real_ones(trec08):
    depth = trec08.runs[0].document.shape[1]
    mean_length = np.array([run.length.mean() for run in trec08.runs])
    assert all(run.length.min() >= 1 for run in trec08.runs)
    assert 0 < (mean_length < depth).sum() < len(mean_length) / 2
    ties = [1 - np.mean([len(np.unique(row)) for row in run.score]) / depth for run in trec08.runs]
    assert sum(share > 0.3 for share in ties) >= 5
    assert np.median(ties) < 0.1
    judged = (trec08.grade >= 0).sum(axis=1)
    assert judged.mean() == pytest.approx(1737, rel=0.25)  # of the real judgements
    grades = np.stack([trec08.grades(run) for run in range(len(trec08.runs))])
    assert (grades[:, :, :10] == -1).mean() < 0.1 < 0.3 < (grades[:, :, -100:] == -1).mean()


def test_runs_of_a_site_resemble_each_other(trec08):
    by_site: dict[str, list[int]] = {}
    for number, run in enumerate(trec08.runs):
        by_site.setdefault(re.fullmatch(r"syn(\d+)[a-z]", run.name)[1], []).append(number)
    pairs = [sites[:2] for sites in by_site.values() if len(sites) > 1]

    def overlap(first: int, second: int) -> float:
        one, other = trec08.runs[first].document[:, :20], trec08.runs[second].document[:, :20]
        return float(np.mean([len(np.intersect1d(a, b)) / 20 for a, b in zip(one, other, strict=True)]))

    same = np.mean([overlap(*pair) for pair in pairs])
    different = np.mean([overlap(one[0], other[1]) for one, other in zip(pairs, pairs[1:])])
    assert same > different + 0.1


def test_the_same_name_gives_the_same_bytes(tmp_path):
    for folder in ("one", "two"):
        generate(small(), tmp_path / folder)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    generate(small(name="other"), tmp_path / "three")
    assert content(tmp_path / "one") != content(tmp_path / "three")


def test_the_bytes_are_those_that_tracked_results_stand_on(tmp_path):
    """Another numpy or platform that draws other numbers would silently change every result of the demo."""
    generate(small(), tmp_path / "files")
    digest = hashlib.sha256()
    for name, text in sorted(content(tmp_path / "files").items()):
        digest.update(name.encode() + b"\0" + text)
    assert digest.hexdigest() == "94c353b3c0720adb614bc90cf14383077f3870e3ea2c3cbe590044839b8129bb"


def test_files_hold_what_is_generated_in_memory(tmp_path):
    """trec_eval's AP of the files, ties and short lists included, is that of the arrays."""
    specification = small(
        runs=12, depth=60, relevant=(2, 20, 40), candidates=300, pool_depth=15, tied_runs=0.6, short_runs=0.5
    )
    collection = generate_in_memory(specification)
    generate(specification, tmp_path / "files")
    qrels = read_qrels(tmp_path / "files" / "qrels.txt")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "num_ret"})
    expected = scores(collection)["AP"]
    for number, run in enumerate(collection.runs):
        with open(tmp_path / "files" / "runs" / f"{run.name}.txt") as file:
            result = evaluator.evaluate(pytrec_eval.parse_run(file))
        assert [result[topic]["num_ret"] for topic in collection.topics] == run.length.tolist()
        mean = np.mean([result[topic]["map"] for topic in collection.topics])
        assert mean == pytest.approx(expected[number], abs=1e-8)
    assert len(list((tmp_path / "files" / "runs").iterdir())) == 12


def test_a_line_looks_like_a_line_of_a_trec_run(tmp_path):
    generate(small(), tmp_path / "files")
    for path in (tmp_path / "files" / "runs").iterdir():
        previous: dict[str, tuple[int, float]] = {}
        for line in path.read_text().splitlines():
            topic, q0, document, rank, score, tag = line.split(" ")
            assert (q0, tag) == ("Q0", path.stem)
            assert re.fullmatch(rf"SYN{topic}-\d{{4}}", document)
            last_rank, last_score = previous.get(topic, (0, float("inf")))
            assert int(rank) == last_rank + 1 and float(score) <= last_score
            previous[topic] = int(rank), float(score)
        assert sorted(previous) == ["401", "402", "403"]


def test_grades_are_shared_out_as_asked():
    collection = generate_in_memory(small(topics=20, relevant=(50, 60, 70), highly_relevant=0.4))
    share = (collection.grade == 2).sum() / (collection.grade > 0).sum()
    assert share == pytest.approx(0.4, abs=0.05)
    assert (generate_in_memory(small()).grade <= 1).all()


def test_only_what_is_pooled_or_relevant_is_judged():
    collection = generate_in_memory(small(pool_depth=3, runs=6))
    for topic in range(3):
        pool = {
            int(document)
            for run in collection.runs
            if run.pooled
            for document in run.document[topic, : min(3, run.length[topic])]
        }
        assert set(np.flatnonzero(collection.grade[topic] == 0)) <= pool
        assert pool <= set(np.flatnonzero(collection.grade[topic] >= 0))


@settings(max_examples=25, deadline=None)
@given(
    topics=st.integers(1, 6),
    runs=st.integers(1, 9),
    depth=st.integers(1, 40),
    low=st.integers(1, 5),
    extra=st.integers(0, 30),
    share=st.floats(0, 1),
)
def test_any_size_works(topics, runs, depth, low, extra, share):
    high = low + (extra if topics > 1 else 0)
    least, most = low * (topics - 1) + high, low + high * (topics - 1)
    total = round(least + share * (most - least)) if topics > 1 else low
    specification = small(
        topics=topics, runs=runs, depth=depth, relevant=(low, total / topics, high), candidates=1
    )
    collection = generate_in_memory(specification)
    counts = (collection.grade > 0).sum(axis=1)
    assert (counts.min(), counts.sum(), counts.max()) == (low, total, high)
    assert len(collection.runs) == len({run.name for run in collection.runs}) == runs
    for run in collection.runs:
        assert run.document.shape == (topics, depth)
        assert all(len(np.unique(row)) == depth for row in run.document)
        assert (np.diff(run.score, axis=1) <= 0).all() and (run.score >= 0).all()
        assert run.length.min() >= 1 and run.length.max() <= depth


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"topics": 0}, "topics must be a whole number of at least 1; got 0"),
        ({"runs": 2.5}, "runs must be a whole number of at least 1; got 2.5"),
        ({"depth": -1}, "depth must be a whole number of at least 1; got -1"),
        ({"relevant": (5, 4, 9)}, "mean between minimum and maximum"),
        ({"relevant": (5, 10, 9)}, "mean between minimum and maximum"),
        ({"relevant": (0, 5, 9)}, "whole numbers of at least 1 as extremes"),
        ({"relevant": (2, 5.1, 9)}, "a whole number over 3 topics"),
        ({"relevant": (2, 3, 9)}, "room for its extremes"),
        ({"relevant": (2, 5)}, "three numbers"),
        ({"relevant": 5}, "three numbers"),
        ({"relevant": (2, float("nan"), 9)}, "mean between minimum and maximum"),
        ({"topics": 1}, "equal minimum, mean and maximum for one topic"),
        ({"tied_runs": 1.2}, "tied_runs is a share"),
        ({"run_noise": float("nan")}, "run_noise must be a number from 0"),
        ({"run_noise": "much"}, "run_noise must be a number from 0"),
        ({"name": "../escape"}, "name must be of letters"),
    ],
)
def test_what_cannot_be_is_refused(changes, sentence):
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        small(**changes)


def test_a_specification_file_is_checked(tmp_path):
    path = tmp_path / "synthetic.yaml"
    path.write_text("a: {topics: 3, runs: 4, relevant: [2, 5, 9], dept: 7}\n")
    with pytest.raises(UnknownNameError, match="did you mean 'depth'"):
        read_specifications(path)
    path.write_text("a: {topics: 3, runs: 4}\n")
    with pytest.raises(InputError, match="collection a: .*relevant"):
        read_specifications(path)
    path.write_text("a: {topics: 0, runs: 4, relevant: [2, 5, 9]}\n")
    with pytest.raises(InputError, match="collection a: topics must be"):
        read_specifications(path)
    path.write_text("a: [\n")
    with pytest.raises(InputError, match="not valid YAML"):
        read_specifications(path)
    path.write_text("- a\n")
    with pytest.raises(InputError, match="must be a list of lines 'key: value'"):
        read_specifications(path)
    path.write_text("a: b\n")
    with pytest.raises(InputError, match="must map the name"):
        read_specifications(path)
    with pytest.raises(InputError, match="no such file"):
        read_specifications(tmp_path / "missing.yaml")


def test_a_folder_appears_only_when_complete_and_spares_the_files_of_others(tmp_path, monkeypatch):
    folder = tmp_path / "files"
    generate(small(), folder)
    before = content(folder)
    monkeypatch.setattr("walkeval.synthetic._qrels_text", lambda model: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        generate(small(name="other"), folder)
    assert content(folder) == before
    monkeypatch.undo()
    generate(small(name="other"), folder)  # what the failure left behind does not stand in the way
    assert content(folder) != before
    assert [one.name for one in tmp_path.iterdir()] == ["files"]
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="choose another folder"):
        generate(small(), folder)


def test_document_names_sort_as_their_numbers():
    names = [document_name("401", number, 1200) for number in (0, 9, 10, 999, 1000, 1199)]
    assert names == sorted(names) and len(set(map(len, names))) == 1
