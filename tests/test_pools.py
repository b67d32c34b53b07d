"""Downsampled pools: sizes, nesting, and that nothing but names decides them."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.errors import ParameterError
from walkeval.pools import RATES, downsample, write_qrels
from walkeval.trec import Qrels, read_qrels


def records(sizes):
    """Judgements for topics with so many relevant and so many nonrelevant documents."""
    return [
        (str(401 + topic), f"D-{kind}-{number}", kind)
        for topic, size in enumerate(sizes)
        for kind in (1, 0)
        for number in range(size[1 - kind])
    ]


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 90)), min_size=1, max_size=4),
    st.lists(st.integers(1, 100), min_size=1, max_size=5, unique=True),
    st.integers(0, 1000),
)
def test_sizes_and_nesting(sizes, rates, replicate):
    qrels = Qrels.from_records(records(sizes))
    pools = downsample(qrels, rates, replicate, "any")
    assert list(pools) == rates
    for rate, pool in pools.items():
        for topic, (relevant, nonrelevant) in enumerate(sizes):
            part = slice(qrels.topic_start[topic], qrels.topic_start[topic + 1])
            for kind, available, least in ((1, relevant, 1), (0, nonrelevant, 10)):
                share = floor(Fraction(rate * available, 100) + Fraction(1, 2))
                expected = min(available, max(least, share))
                assert np.count_nonzero(pool[part] & (qrels.grade[part] == kind)) == expected
    for low, high in zip(sorted(rates), sorted(rates)[1:], strict=False):
        assert not (pools[low] & ~pools[high]).any()


def test_the_full_pool_at_100():
    qrels = Qrels.from_records(records([(5, 30)]))
    assert downsample(qrels, [100], 0, "any")[100].all()


def named_pool(qrels, pool):
    topic = np.repeat(qrels.topics, np.diff(qrels.topic_start))
    return set(zip(topic[pool].tolist(), qrels.document[pool].tolist(), strict=True))


def test_other_topics_and_the_order_of_records_do_not_matter():
    rows = records([(20, 40), (30, 50), (10, 90)])
    whole, turned = Qrels.from_records(rows), Qrels.from_records(rows[::-1])
    alone = Qrels.from_records(records([(20, 40)]))
    for replicate in range(3):
        kept = named_pool(whole, downsample(whole, [30], replicate, "any")[30])
        assert kept == named_pool(turned, downsample(turned, [30], replicate, "any")[30])
        first = {pair for pair in kept if pair[0] == "401"}
        assert first == named_pool(alone, downsample(alone, [30], replicate, "any")[30])


def test_rates_asked_together_or_alone_are_the_same():
    qrels = Qrels.from_records(records([(20, 40), (30, 50)]))
    together = downsample(qrels, RATES, 4, "any")
    for rate in RATES:
        assert (together[rate] == downsample(qrels, [rate], 4, "any")[rate]).all()


def test_names_replicates_and_topics_all_matter():
    qrels = Qrels.from_records(records([(30, 60), (30, 60)]))
    base = downsample(qrels, [50], 0, "any")[50]
    assert (base != downsample(qrels, [50], 1, "any")[50]).any()
    assert (base != downsample(qrels, [50], 0, "other")[50]).any()
    assert (base[:90] != base[90:]).any()


def test_every_judgement_is_as_likely():
    qrels = Qrels.from_records(records([(20, 40)]))
    draws = 2000
    kept = sum(downsample(qrels, [50], replicate, "any")[50].astype(int) for replicate in range(draws))
    # Half of each kind: binomial with standard deviation 22; five of them leave no chance to 60 documents.
    assert np.abs(kept - draws / 2).max() < 5 * np.sqrt(draws / 4)


def test_min_grade_decides_what_is_relevant():
    grades = [2] * 10 + [1] * 30 + [0] * 160
    qrels = Qrels.from_records([("401", f"D{number:03}", grade) for number, grade in enumerate(grades)])
    lenient, strict = (downsample(qrels, [10], 0, "any", min_grade)[10] for min_grade in (1, 2))
    assert (int((qrels.grade[lenient] >= 1).sum()), int(lenient.sum())) == (4, 20)
    assert (int((qrels.grade[strict] >= 2).sum()), int(strict.sum())) == (1, 20)


PROGRAM = """
import hashlib
from walkeval.pools import RATES, downsample
from walkeval.trec import Qrels
rows = [(str(401 + topic), f"D-{number}", int(number % 7 == 0)) for topic in range(3) for number in range(200)]
pools = downsample(Qrels.from_records(rows), RATES, 3, "collection")
print(hashlib.sha256(b"".join(pool.tobytes() for pool in pools.values())).hexdigest())
"""


def test_another_process_and_another_machine_draw_the_same():
    rows = [(str(401 + topic), f"D-{number}", int(number % 7 == 0)) for topic in range(3) for number in range(200)]
    pools = downsample(Qrels.from_records(rows), RATES, 3, "collection")
    here = hashlib.sha256(b"".join(pool.tobytes() for pool in pools.values())).hexdigest()
    there = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout.strip()
    assert here == there
    # Written down, so that a change of numpy or of machine that changes published results is noticed.
    assert here == "c031865fbc84d136f856bb8d14bc1cfeb3a09a1d9e57e28d0b3101cc188c1924"


@pytest.mark.parametrize("rate", [0, -1, 101, 12.5, True])
def test_rates_must_be_percent(rate):
    with pytest.raises(ParameterError, match="a pool rate must be"):
        downsample(Qrels.from_records(records([(2, 3)])), [rate], 0, "any")


def test_other_bad_parameters():
    qrels = Qrels.from_records(records([(2, 3)]))
    with pytest.raises(ParameterError, match="min_grade must be at least 1"):
        downsample(qrels, [10], 0, "any", min_grade=0)
    with pytest.raises(ParameterError, match="replicate must be at least 0"):
        downsample(qrels, [10], -1, "any")


def test_written_pool_reads_back(tmp_path):
    qrels = Qrels.from_records([*records([(20, 40), (30, 50)]), ("401", "negative", -2)])
    pool = downsample(qrels, [30], 0, "any")[30]
    pool[np.flatnonzero(qrels.grade == -2)] = True
    write_qrels(tmp_path / "small", qrels, pool)
    small = read_qrels(tmp_path / "small")
    assert small.document.tolist() == qrels.document[pool].tolist()
    assert small.grade.tolist() == qrels.grade[pool].tolist()
    write_qrels(tmp_path / "all", qrels)
    whole = read_qrels(tmp_path / "all")
    assert whole.topics == qrels.topics and whole.topic_start.tolist() == qrels.topic_start.tolist()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["all", "small"]


def test_trec8_pools_keep_the_minimum(trec8_qrels):
    qrels = read_qrels(trec8_qrels)
    pool = downsample(qrels, RATES, 0, "trec8")[10]
    relevant = np.add.reduceat(pool & (qrels.grade >= 1), qrels.topic_start[:-1])
    nonrelevant = np.add.reduceat(pool & (qrels.grade < 1), qrels.topic_start[:-1])
    available = np.add.reduceat(qrels.grade >= 1, qrels.topic_start[:-1])
    assert relevant.tolist() == np.maximum(1, np.floor(available / 10 + 0.5)).astype(int).tolist()
    assert nonrelevant.min() >= 10
