"""Kendall's tau against scipy, at its edges, and its bootstrap intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from walkeval.correlation import (
    ALL_EQUAL,
    ONE_SYSTEM,
    _sign_blocks,
    bootstrap_intervals,
    bootstrap_taus,
    kendall,
    pair_signs,
    percentile_intervals,
    tau_matrix,
)
from walkeval.errors import ParameterError
from walkeval.seeds import generator
from walkeval.shards import shard_of

# Few different values, so that ties are common.
coarse = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=25)


@settings(deadline=None, max_examples=150)
@given(coarse)
def test_tau_b_is_scipys(pairs):
    x, y = (np.array(one) / 7 for one in zip(*pairs, strict=True))
    found, gold = kendall(x, y), kendalltau(x, y, variant="b").statistic
    if math.isnan(gold):
        assert math.isnan(found.value)
        assert found.reason == ALL_EQUAL
    else:
        assert found.value == pytest.approx(gold, abs=1e-14)
        assert found.reason == ""


@settings(deadline=None, max_examples=100)
@given(coarse)
def test_tau_a_counts_pairs_by_hand(pairs):
    x, y = (list(one) for one in zip(*pairs, strict=True))
    agreements = disagreements = ties = 0
    for second in range(len(x)):
        for first in range(second):
            product = (x[first] - x[second]) * (y[first] - y[second])
            agreements, disagreements, ties = (
                agreements + (product > 0),
                disagreements + (product < 0),
                ties + (product == 0),
            )
    found = kendall(x, y, "a")
    total = agreements + disagreements + ties
    assert found.value == pytest.approx((agreements - disagreements) / total, abs=1e-15)
    assert (found.pairs, found.disagreements, found.ties) == (total, disagreements, ties)


def test_variants_differ_by_hand_where_there_are_ties():
    # One pair of three is tied in x: two agreements of three pairs; tau-b divides by sqrt(2 * 3).
    assert kendall([1, 1, 2], [1, 2, 3], "a").value == 2 / 3
    assert kendall([1, 1, 2], [1, 2, 3], "b").value == pytest.approx(2 / math.sqrt(6), abs=1e-15)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=200).filter(lambda one: len(set(one)) > 1))
def test_equal_orders_give_exactly_one_and_turned_ones_exactly_minus_one(values):
    values = np.array(values) / 6
    assert kendall(values, values).value == 1.0
    assert kendall(values, 3 * values + 1).value == 1.0
    assert kendall(values, -values).value == -1.0
    assert tau_matrix(np.stack([values, 3 * values])).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_means_that_differ_only_by_the_order_of_the_sum_are_tied():
    random = generator("test/noise")
    precision = random.integers(0, 11, size=50) / 10
    orders = [random.permutation(precision) for _ in range(200)]
    means = np.array([sum(one.tolist()) / 50 for one in orders])
    assert len(set(means.tolist())) > 1, "the sums of this test must show noise"
    assert not pair_signs(means).any()
    assert kendall(means, np.arange(200.0)).reason == ALL_EQUAL
    # A true difference of one relevant document in one topic is kept.
    means[0] += 1 / 500
    assert kendall(means, np.arange(200.0)).ties == 199 * 198 // 2


def test_noise_does_not_count_where_scores_are_large_either():
    random = generator("test/large noise")
    cost = random.uniform(0, 1000, size=50)
    means = np.array([sum(random.permutation(cost).tolist()) / 50 for _ in range(200)])
    assert len(set(means.tolist())) > 1, "the sums of this test must show noise"
    assert not pair_signs(means).any()


def test_rounding_is_a_convention_that_makes_ties():
    x, y = [0.12344, 0.12341, 0.2], [0.1, 0.2, 0.3]
    assert kendall(x, y).value == pytest.approx(1 / 3)
    assert kendall(x, y, "a", decimals=4).value == 2 / 3
    assert kendall(x, y, "b", decimals=4).value == pytest.approx(2 / math.sqrt(6))


@pytest.mark.parametrize("variant", ["a", "b"])
@pytest.mark.parametrize("systems", [0, 1])
def test_fewer_than_two_systems_have_no_tau_and_a_reason(systems, variant):
    found = kendall(np.ones(systems), np.ones(systems), variant)
    assert math.isnan(found.value)
    assert found.reason == ONE_SYSTEM
    assert np.isnan(tau_matrix(np.ones((3, systems)), variant)).all()


def test_all_equal_systems_have_a_tau_a_of_zero_and_no_tau_b():
    assert kendall([1, 1, 1], [1, 2, 3], "a").value == 0
    found = kendall([1, 1, 1], [1, 2, 3])
    assert math.isnan(found.value)
    assert found.reason == ALL_EQUAL
    matrix = tau_matrix(np.array([[1.0, 1, 1], [1, 2, 3]]))
    assert np.isnan(matrix[0]).all()
    assert np.isnan(matrix[:, 0]).all()
    assert matrix[1, 1] == 1


def test_what_is_no_score_is_refused():
    with pytest.raises(ParameterError, match="shapes"):
        kendall([1, 2], [1, 2, 3])
    with pytest.raises(ParameterError, match="shapes"):
        kendall([[1, 2]], [[1, 2]])
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ParameterError, match="finite"):
            kendall([1, bad], [1, 2])
        with pytest.raises(ParameterError, match="finite"):
            tau_matrix(np.array([[1.0, bad], [1, 2]]))
    for call in (lambda: kendall([1, 2], [1, 2], "c"), lambda: tau_matrix(np.ones((2, 2)), "c")):
        with pytest.raises(ParameterError, match="'a' or 'b'"):
            call()


@settings(deadline=None, max_examples=60)
@given(
    st.integers(2, 12).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 5), min_size=n, max_size=n), min_size=1, max_size=5)
    ),
    st.sampled_from("ab"),
    st.sampled_from([None, 0, 1]),
)
def test_the_matrix_holds_the_pairwise_taus(rows, variant, decimals):
    scores = np.array(rows) / 6
    matrix = tau_matrix(scores, variant, decimals)
    for first in range(len(rows)):
        for second in range(len(rows)):
            gold = kendall(scores[first], scores[second], variant, decimals).value
            assert matrix[first, second] == pytest.approx(gold, abs=1e-15, nan_ok=True)
    samples = np.stack([scores, scores[:, ::-1]])
    assert np.array_equal(tau_matrix(samples, variant, decimals)[0], matrix, equal_nan=True)


def _scores(measures: int = 3, systems: int = 6, topics: int = 8) -> np.ndarray:
    return generator("test/scores").uniform(size=(measures, systems, topics))


@pytest.mark.parametrize("most", [1, 7, 30, 10_000])
def test_pairs_are_the_same_in_blocks_of_any_size(most):
    scores = np.round(generator("blocks").random((2, 3, 11)), 1)
    blocks = list(_sign_blocks(scores, most))
    assert (len(blocks) == 1) == (most == 10_000)
    assert np.array_equal(np.concatenate(blocks, axis=-1), pair_signs(scores))
    first, second = np.triu_indices(11, k=1)
    assert np.array_equal(pair_signs(scores), np.sign(scores[..., first] - scores[..., second]))


def test_tau_is_exact_where_32_bits_do_not_count_all_pairs():
    """6,001 systems have more than 2^24 pairs."""
    first = generator("many systems").random(6001)
    scores = np.stack([first, first + np.where(np.arange(6001) < 2, 0.9, 0)])
    expected = kendalltau(*scores).statistic
    assert tau_matrix(scores)[0, 1] == pytest.approx(expected, abs=1e-13)
    assert tau_matrix(scores)[0, 0] == 1
    assert kendall(*scores).value == pytest.approx(expected, abs=1e-13)


def test_the_bootstrap_depends_on_its_name_alone():
    scores = _scores()
    first, again, other = (bootstrap_intervals(scores, name, 60) for name in ("one", "one", "other"))
    assert all(np.array_equal(x, y) for x, y in zip(first, again, strict=True))
    assert not all(np.array_equal(x, y) for x, y in zip(first, other, strict=True))


def test_the_bootstrap_is_that_of_a_loop():
    scores = _scores()
    draws = generator("bootstrap/loop").integers(8, size=(50, 8))
    taus = [kendall(scores[0][:, draw].mean(axis=1), scores[1][:, draw].mean(axis=1)).value for draw in draws]
    low, high = bootstrap_intervals(scores, "loop", 50)
    assert [low[0, 1], high[0, 1]] == pytest.approx(np.quantile(taus, [0.025, 0.975]), abs=1e-12)


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 45])
def test_the_bootstrap_is_the_same_in_any_number_of_shards(shards):
    scores = generator("shards").random((3, 5, 8))
    whole = bootstrap_taus(scores, "shards", range(45))
    parts = [bootstrap_taus(scores, "shards", shard_of(number, shards, 45)) for number in range(shards)]
    assert np.array_equal(np.concatenate(parts), whole)
    expected = bootstrap_intervals(scores, "shards", 45)
    assert np.array_equal(percentile_intervals(parts[::-1], 3), expected)


def test_more_samples_begin_with_those_of_fewer():
    few, many = (bootstrap_taus(_scores(), "more", range(samples)) for samples in (40, 100))
    assert np.array_equal(many[:40], few)


def test_intervals_are_of_whole_precision_ordered_symmetric_and_one_on_the_diagonal():
    low, high = bootstrap_intervals(_scores(), "whole", 60)
    assert (low <= high).all()
    assert np.array_equal(low, low.T)
    assert np.array_equal(high, high.T)
    assert (low.diagonal() == 1).all()
    assert (high.diagonal() == 1).all()
    # Tau of 6 systems without ties is a multiple of 2/15; in 32 bits these would be off in the eighth digit.
    least, most = bootstrap_intervals(_scores(), "whole", 60, level=1.0)
    for bound in (least[0, 1], most[0, 1]):
        assert bound * 15 / 2 + 7.5 == pytest.approx(round(bound * 15 / 2 + 7.5), abs=1e-12)


@pytest.mark.parametrize("shape", [(2, 1, 5), (2, 5, 1), (2, 0, 5), (2, 5, 0), (0, 5, 5)])
def test_the_bootstrap_of_next_to_nothing_is_undefined(shape):
    low, high = bootstrap_intervals(np.ones(shape), "nothing", 10)
    assert low.shape == high.shape == (shape[0], shape[0])
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_the_bootstrap_leaves_out_what_is_undefined():
    scores = _scores()
    assert np.isnan(bootstrap_intervals(scores, "none", 0)).all()
    scores[0] = 0.5
    low, high = bootstrap_intervals(scores, "equal", 30)
    assert np.isnan(low[0]).all()
    assert np.isnan(high[:, 0]).all()
    assert np.isfinite(low[1:, 1:]).all()
    # Only one topic tells the systems apart: samples without it have no tau, the others a perfect one.
    scores = np.zeros((2, 4, 3))
    scores[:, :, 0] = [0.1, 0.2, 0.3, 0.4]
    low, high = bootstrap_intervals(scores, "rare", 30)
    assert (low == 1).all()
    assert (high == 1).all()
