"""Scores of a collection: what they hold, and the file they are kept in."""

from __future__ import annotations

import numpy as np
import pytest

from walkeval.errors import InputError, UnknownNameError
from walkeval.judging import JudgedCollection, judge
from walkeval.scoring import Scores, score_collection


@pytest.fixture
def collection(tmp_path) -> JudgedCollection:
    (tmp_path / "qrels").write_text("1 0 A 1\n1 0 B 0\n1 0 C 2\n2 0 A 1\n2 0 D 0\n")
    (tmp_path / "first").write_text("1 Q0 A 1 3 x\n1 Q0 B 2 2 x\n1 Q0 C 3 1 x\n2 Q0 D 1 2 x\n2 Q0 A 2 1 x\n")
    (tmp_path / "second").write_text("1 Q0 B 1 3 x\n1 Q0 C 2 2 x\n2 Q0 A 1 2 x\n")
    return judge(tmp_path / "qrels", {"007": tmp_path / "first", "NA": tmp_path / "second"})


def test_scores_by_hand(collection):
    scores = score_collection(collection, ["AP", "P@10", "RBP(p=0.50)"])
    assert (scores.measures, scores.runs, scores.topics) == (["AP", "P@10", "RBP(p=0.5)"], ["007", "NA"], ["1", "2"])
    assert scores.of("AP") == pytest.approx(np.array([[(1 + 2 / 3) / 2, 1 / 2], [(1 / 2) / 2, 1]]))
    assert scores.of("P@10") == pytest.approx(np.array([[0.2, 0.1], [0.1, 0.1]]))
    assert scores.means()[0] == pytest.approx([(5 / 6 + 1 / 2) / 2, (1 / 4 + 1) / 2])


def test_pool_and_grade_change_scores(collection):
    assert score_collection(collection, ["AP"], min_grade=2).of("AP") == pytest.approx(
        np.array([[1 / 3, 0], [1 / 2, 0]])
    )
    pool = np.array([True, True, False, True, True])
    assert score_collection(collection, ["AP"], pool=pool).of("AP") == pytest.approx(np.array([[1, 1 / 2], [0, 1]]))


def test_no_measures_and_no_collection_are_scores_too(collection):
    assert score_collection(collection, []).values.shape == (0, 2, 2)
    nothing = score_collection(JudgedCollection.empty(), ["AP", "bpref", 'MP(model="GL_OR_ID")'])
    assert nothing.values.shape == (3, 0, 0)
    assert nothing.means().shape == (3, 0)


def test_an_unknown_measure_is_refused(collection):
    with pytest.raises(UnknownNameError, match="did you mean 'bpref'"):
        score_collection(collection, ["bperf"])


def test_the_file_brings_everything_back(collection, tmp_path):
    scores = score_collection(collection, ["AP", 'MP(model="GL_AD_LID",rescale="recall")'])
    scores.save(tmp_path / "scores.npz")
    loaded = Scores.load(tmp_path / "scores.npz")
    assert (loaded.measures, loaded.runs, loaded.topics) == (scores.measures, scores.runs, scores.topics)
    assert np.array_equal(loaded.values, scores.values)
    content = (tmp_path / "scores.npz").read_bytes()
    scores.save(tmp_path / "scores.npz")
    assert (tmp_path / "scores.npz").read_bytes() == content
    assert [one.name for one in tmp_path.iterdir() if one.suffix == ".part"] == []


def _damage(path, how: str) -> None:
    content = path.read_bytes()
    if how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_text("not scores\n")
    elif how == "other":
        np.savez(path, something=np.arange(3))
    elif how == "array":
        with path.open("wb") as stream:
            np.save(stream, np.arange(3))
    elif how == "shape":
        np.savez(path, measures=["AP"], runs=["a", "b"], topics=["1"], values=np.zeros((1, 1, 1)))
    elif how == "objects":
        np.savez(path, measures=np.array([{}], dtype=object), runs=[], topics=[], values=np.zeros((1, 0, 0)))
    else:
        path.unlink()


@pytest.mark.parametrize("how", ["cut", "empty", "text", "other", "array", "shape", "objects", "gone"])
def test_a_damaged_file_is_refused_by_name(collection, tmp_path, how):
    path = tmp_path / "scores.npz"
    score_collection(collection, ["AP"]).save(path)
    _damage(path, how)
    with pytest.raises(InputError, match=r"scores\.npz: is not a file of scores"):
        Scores.load(path)
