"""The classical measures against the literal reference, and against trec_eval on real runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval import evaluate
from walkeval.errors import ParameterError
from walkeval.reference import classical as reference

GAINS = st.lists(st.sampled_from([None, 0, 0, 0, 1, 1, 2, 3]), max_size=40)


def close(first: float, second: float) -> bool:
    return first == pytest.approx(second, rel=1e-12, abs=1e-12)


@settings(max_examples=400, deadline=None)
@given(GAINS, st.integers(0, 5), st.integers(0, 5))
def test_fast_paths_equal_the_reference(gains, more_relevant, more_nonrelevant):
    base = sum(1 for one in gains if one) + more_relevant
    others = sum(1 for one in gains if one == 0) + more_nonrelevant
    known = {"recall_base": base, "nonrelevant_base": others}

    def ours(name: str) -> float:
        return evaluate(name, gains, max_gain=3, **known)

    binary = [None if one is None else min(one, 1) for one in gains]
    assert close(ours("AP"), reference.average_precision(gains, base))
    assert close(ours("P@5"), reference.precision_at(gains, 5))
    assert close(ours("R@5"), reference.recall_at(gains, 5, base))
    assert close(ours("Rprec"), reference.r_precision(gains, base))
    assert close(ours("RR"), reference.reciprocal_rank(gains))
    assert close(ours("bpref"), reference.bpref_trec_eval(binary, base, others))
    assert close(ours('bpref(variant="paper")'), reference.bpref_paper(binary, base, others))
    assert close(ours('bpref(variant="before_2006")'), reference.bpref_trec_eval_before_2006(binary, base, others))
    assert close(ours("RBP(p=0.8)"), reference.rbp(gains, 0.8))
    assert close(ours("DCG"), reference.dcg_trec_eval(gains))
    assert close(ours("DCG(base=3)"), reference.dcg_base(gains, 3))
    assert close(ours("ERR"), reference.err(gains, 3))


@pytest.mark.parametrize("name", ["AP", "P@10", "R@10", "Rprec", "bpref", "RBP(p=0.8)", "RR", "DCG", "nDCG", "ERR"])
@pytest.mark.parametrize("gains", [[], [0], [None], [0] * 1000])
def test_nothing_relevant_scores_0(name, gains):
    assert evaluate(name, gains) == 0


def test_all_relevant_is_perfect():
    for name in ("AP", "Rprec", "bpref", "RR", "nDCG", "P@1000", "R@1000"):
        assert evaluate(name, [1] * 1000) == pytest.approx(1, abs=1e-12), name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("RBP(p=1.5)", ["p", "1.5"]),
        ("P@0", ["k", "0"]),
        ("P@2.5", ["k", "2.5"]),
        ("Rperc", ["Rperc", "'Rprec'"]),
        ("RBP(persistence=0.5)", ["persistence"]),
        ("AP@10", ["AP", "@10"]),
        ("AP(", ["AP("]),
        ("DCG(base=1)", ["base", "1"]),
        ("RBP(p=nan)", ["p", "nan"]),
        ('bpref(variant="trec")', ["variant", "'trec_eval'"]),
    ],
)
def test_wrong_names_and_parameters_are_named(name, words):
    with pytest.raises(ParameterError) as caught:
        evaluate(name, [1, 0])
    assert isinstance(caught.value, ValueError)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"gains": [1, -1]}, "negative"),
        ({"gains": [1, float("nan")]}, "finite"),
        ({"gains": [1, 1], "recall_base": 1}, "recall_base"),
        ({"gains": [1, 0], "nonrelevant_base": 0}, "nonrelevant_base"),
        ({"gains": [1, 0], "recall_base": 1.5}, "recall_base"),
        ({"gains": [3, 0], "max_gain": 1}, "max_gain"),
    ],
)
def test_impossible_lists_are_refused(arguments, word):
    with pytest.raises(ParameterError, match=word):
        evaluate("AP", **arguments)


def test_real_runs_equal_trec_eval(trec8_qrels, trec8_runs):
    """Per topic, for every tenth run of TREC 8: pytrec_eval's own values (it ranks by 32-bit scores)."""
    import gzip

    import pytrec_eval

    from walkeval.judging import judge
    from walkeval.measures import parse_measure

    names = {
        "AP": "map", "P@10": "P_10", "P@1000": "P_1000", "Rprec": "Rprec", "bpref": "bpref", "RR": "recip_rank",
        "nDCG": "ndcg", "nDCG@20": "ndcg_cut_20", "R@100": "recall_100",
    }  # fmt: skip
    chosen = dict(list(trec8_runs.items())[::10])
    collection = judge(trec8_qrels, chosen, order="trec_eval9")
    lists = collection.lists()
    shape = len(collection.runs), len(collection.topics)
    ours = {name: parse_measure(name).score(lists).reshape(shape) for name in names}
    with open_text(trec8_qrels, gzip) as stream:
        qrels = pytrec_eval.parse_qrel(stream)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "P", "Rprec", "bpref", "recip_rank", "ndcg", "ndcg_cut", "recall"})
    for number, run in enumerate(collection.runs):
        with open_text(chosen[run], gzip) as stream:
            theirs = evaluator.evaluate(pytrec_eval.parse_run(stream))
        for name, other in names.items():
            expected = [theirs.get(topic, {}).get(other, 0.0) for topic in collection.topics]
            assert np.allclose(ours[name][number], expected, rtol=0, atol=1e-6), (run, name)


def open_text(path, gzip):
    with open(path, "rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rt") if zipped else open(path)
