"""Long files and large collections are worked on in blocks: the results are those of one block, whatever its size."""

from __future__ import annotations

import numpy as np
import pytest

from walkeval import judging, scoring, trec
from walkeval.errors import InputError
from walkeval.judging import JudgedCollection, judge
from walkeval.papers.sigir2014 import measures
from walkeval.pools import downsample
from walkeval.scoring import score_collection
from walkeval.synthetic import SyntheticSpecification, generate
from walkeval.trec import read_run

SCORES = ["12", "-0.5", "+.25", "1e-3", "3.", "1234567.1234567", "0.1000000000000000055511151231257827", "7"]


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> JudgedCollection:
    folder = tmp_path_factory.mktemp("blocks") / "collection"
    generate(SyntheticSpecification("blocks", topics=7, runs=6, relevant=(3, 9, 20), depth=50, candidates=300), folder)
    return judge(folder / "qrels.txt", {path.stem: path for path in sorted((folder / "runs").iterdir())})


def odd_run(lines: int, between: str) -> str:
    """Fields of many widths and numbers of many forms."""
    rows = [
        (
            f"{401 + number // 10}",
            "Q0",
            "D" * (1 + number % 19) + str(number),
            str(number % 10),
            SCORES[number % len(SCORES)],
        )
        for number in range(lines)
    ]
    return "".join(between.join((*row, "tag")) + "\n" for row in rows)


@pytest.mark.parametrize("between", [" ", "  \t"])
@pytest.mark.parametrize("rows, size", [(1, 1), (3, 7), (5, 64)])
def test_reading(tmp_path, monkeypatch, between, rows, size):
    path = tmp_path / "run"
    path.write_text(odd_run(37, between))
    whole = read_run(path)
    monkeypatch.setattr(trec, "_BLOCK", rows)
    monkeypatch.setattr(trec, "_BLOCK_BYTES", size)
    parts = read_run(path)
    assert (parts.topics, parts.topic.tolist()) == (whole.topics, whole.topic.tolist())
    assert (parts.document.tolist(), parts.score.tolist()) == (whole.document.tolist(), whole.score.tolist())
    assert parts.rank.tolist() == whole.rank.tolist() == [float(number % 10) for number in range(37)]
    assert whole.score.tolist() == [float(SCORES[number % len(SCORES)]) for number in range(37)]


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_a_bad_number_in_a_later_block_is_still_found_on_its_line(tmp_path, monkeypatch, size):
    path = tmp_path / "run"
    path.write_text(odd_run(20, " ") + "403 Q0 X 1 many tag\n")
    monkeypatch.setattr(trec, "_BLOCK", size)
    with pytest.raises(InputError, match=r"'many' is not a number") as caught:
        read_run(path)
    assert caught.value.line == 21


@pytest.mark.parametrize("place", range(6, 12))
def test_two_blanks_at_the_edge_of_a_block_are_two_blanks(tmp_path, monkeypatch, place):
    path = tmp_path / "run"
    path.write_text("401 Q0  A 1 2 tag\n")
    monkeypatch.setattr(trec, "_BLOCK_BYTES", place)
    assert read_run(path).document.tolist() == [b"A"]


@pytest.mark.parametrize("size", [1, 3, 64])
def test_judging(tmp_path, monkeypatch, size):
    generate(SyntheticSpecification("blocks", topics=4, runs=3, relevant=(2, 4, 9), depth=40), tmp_path / "collection")
    runs = {path.stem: path for path in sorted((tmp_path / "collection" / "runs").iterdir())}
    whole = judge(tmp_path / "collection" / "qrels.txt", runs)
    monkeypatch.setattr(judging, "_BLOCK", size)
    parts = judge(tmp_path / "collection" / "qrels.txt", runs)
    for name in ("length", "start", "rank", "judgement", "tied"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name)), name


@pytest.mark.parametrize("rate", [None, 50])
def test_lists_of_some_runs_are_those_among_the_lists_of_all(collection, rate):
    pool = None if rate is None else downsample(collection, [rate], 0, "blocks")[rate]
    every, topics = collection.lists(pool), len(collection.topics)
    for runs in (range(0, 2), range(2, 3), range(3, 6), range(6)):
        some = collection.lists(pool, runs=runs)
        wanted = every.select(np.arange(runs.start * topics, runs.stop * topics))
        for name in (
            "length",
            "start",
            "rank",
            "gain",
            "recall_base",
            "nonrelevant_base",
            "topic",
            "tie_first",
            "tie_last",
        ):
            assert np.array_equal(getattr(some, name), getattr(wanted, name)), name


@pytest.mark.parametrize("size", [1, 300, 10**9])
@pytest.mark.parametrize("rate", [None, 50])
def test_scoring(collection, monkeypatch, size, rate):
    pool = None if rate is None else downsample(collection, [rate], 0, "blocks")[rate]
    names = [*measures(), "nDCG", "ESL"]
    whole = score_collection(collection, names, pool).values
    monkeypatch.setattr(scoring, "BLOCK", size)
    blocks = list(scoring._blocks(collection))
    assert [number for runs in blocks for number in runs] == list(range(6))
    assert len(blocks) == {1: 6, 10**9: 1}.get(size, len(blocks))
    # The transform behind MP may round differently with the longest list beside it.
    np.testing.assert_allclose(score_collection(collection, names, pool).values, whole, rtol=1e-13, atol=1e-15)
