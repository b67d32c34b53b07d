"""The references against the numbers that the papers print, and against definitions older than the papers."""

from __future__ import annotations

from itertools import product
from math import inf, isclose, log10, sqrt

import numpy as np
import pytest
import pytrec_eval
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from walkeval.reference import classical, markov_precision, navigation, search_length, session, stopping_time

binary_lists = st.lists(st.sampled_from([0, 1, None]), min_size=1, max_size=12)
graded_lists = st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=1, max_size=12)
few = settings(max_examples=60, deadline=None)

RUN_R = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
RUN_S = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]


# Classical measures


@few
@given(graded_lists, st.integers(0, 4), st.integers(0, 4))
def test_classical_measures_equal_trec_eval(gains, more_relevant, more_nonrelevant):
    judged = {f"d{rank:03}": int(gain) for rank, gain in enumerate(gains) if gain is not None}
    judged |= {f"relevant{n}": 1 for n in range(more_relevant)} | {f"other{n}": 0 for n in range(more_nonrelevant)}
    recall_base = sum(1 for grade in judged.values() if grade > 0)
    nonrelevant_base = len(judged) - recall_base
    assume(recall_base > 0)
    ranking = {f"d{rank:03}": float(-rank) for rank in range(len(gains))}
    names = {"map", "P.5", "recall.5", "Rprec", "bpref", "recip_rank", "ndcg"}
    expected = pytrec_eval.RelevanceEvaluator({"t": judged}, names).evaluate({"t": ranking})["t"]
    found = {
        "map": classical.average_precision(gains, recall_base),
        "P_5": classical.precision_at(gains, 5),
        "recall_5": classical.recall_at(gains, 5, recall_base),
        "Rprec": classical.r_precision(gains, recall_base),
        "bpref": classical.bpref_trec_eval(gains, recall_base, nonrelevant_base),
        "recip_rank": classical.reciprocal_rank(gains),
        "ndcg": classical.ndcg_trec_eval(gains, list(judged.values())),
    }
    assert found == pytest.approx(expected, abs=1e-9)


@few
@given(binary_lists, st.integers(0, 4), st.integers(0, 4))
def test_bpref_of_the_paper_is_that_of_trec_eval(gains, more_relevant, more_nonrelevant):
    recall_base = len(classical.relevant_ranks(gains)) + more_relevant
    nonrelevant_base = sum(1 for gain in gains if gain == 0) + more_nonrelevant
    assert classical.bpref_paper(gains, recall_base, nonrelevant_base) == pytest.approx(
        classical.bpref_trec_eval(gains, recall_base, nonrelevant_base), abs=1e-12
    )


def test_bpref_before_the_fix_divides_by_the_nonrelevant_that_are_retrieved():
    gains = [1, 0, 1]
    # R = 4 and N = 10: min(R, N) = 4, but only one judged nonrelevant document is retrieved.
    assert classical.bpref_trec_eval(gains, 4, 10) == pytest.approx((1 + 3 / 4) / 4)
    assert classical.bpref_trec_eval_before_2006(gains, 4, 10) == pytest.approx((1 + 0) / 4)
    # With R nonrelevant documents retrieved both agree.
    gains = [1, 0, 1, 0, None, 0, 0, 1]
    assert classical.bpref_trec_eval(gains, 4, 10) == pytest.approx((1 + 3 / 4 + 0) / 4)
    assert classical.bpref_trec_eval_before_2006(gains, 4, 10) == pytest.approx((1 + 3 / 4 + 0) / 4)


def test_classical_measures_without_anything_relevant():
    for gains in ([], [0, None, 0]):
        assert classical.average_precision(gains) == classical.average_precision(gains, 3) == 0
        assert classical.recall_at(gains, 2) == classical.r_precision(gains) == classical.reciprocal_rank(gains) == 0
        assert classical.bpref_paper(gains, 0, 2) == classical.bpref_trec_eval(gains, 3, 2) == 0
        assert classical.ndcg_base(gains, [], 2) == classical.ndcg_trec_eval(gains, [1]) == 0
        assert classical.rbp(gains, 0.8) == classical.err(gains, 1) == markov_precision.markov_precision(gains) == 0


def test_dcg_with_base_two_leaves_two_ranks_undiscounted():
    assert classical.dcg_base([3, 2, 3], 2) == pytest.approx(5 + 3 / np.log2(3))
    assert classical.dcg_base([1] * 10, 10) == pytest.approx(10)
    assert classical.dcg_base([0] * 99 + [1], 10) == pytest.approx(1 / 2)
    assert classical.ndcg_base([0, 2, 0], [2, 1], 2) == pytest.approx(2 / 3)


# Markov Precision, SIGIR 2014

TABLE_4 = [
    (
        [1, 1, 1, 1, 0, 0, 0, 1, 0, 0],
        [0.2000, 0.0357, 0.2000, 0.0400, 0.0056, 0.0005, 0.0035, 0.0017, 0.0034, 0.0024],
        0.9205,
        0.6603,
    ),
    (
        [1, 1, 1, 0, 1, 0, 0, 0, 1, 0],
        [0.0177, 0.0047, 0.0037, 0.0015, 0.0041, 0.0031, 0.0057, 0.0022, 0.0061, 0.0045],
        0.8668,
        0.8710,
    ),
    (
        [1, 1, 0, 1, 1, 0, 0, 0, 0, 1],
        [0.0056, 0.0051, 0.0062, 0.0031, 0.0046, 0.0025, 0.005, 0.0022, 0.007, 0.005],
        0.8120,
        0.8001,
    ),
]


@pytest.mark.parametrize("gains, holding, discrete, continuous", TABLE_4)
def test_table_4_discrete(gains, holding, discrete, continuous):
    assert round(markov_precision.markov_precision(gains), 4) == discrete


@pytest.mark.parametrize("gains, holding, discrete, continuous", TABLE_4)
def test_table_4_continuous_within_the_rounding_of_the_parameters(gains, holding, discrete, continuous):
    # MP is a ratio of linear functions in each 1/mu, so its extremes lie at the corners of what mu may have been.
    ranks = classical.relevant_ranks(gains)
    corners = []
    for signs in product((-1, 1), repeat=len(ranks)):
        corner = list(holding)
        for rank, sign in zip(ranks, signs, strict=True):
            corner[rank - 1] += sign * 0.00005
        corners.append(markov_precision.markov_precision(gains, holding=corner))
    assert min(corners) - 0.00005 <= continuous <= max(corners) + 0.00005
    assert markov_precision.markov_precision(gains, holding=holding) == pytest.approx(continuous, abs=5e-4)


@few
@given(binary_lists, st.sampled_from(["GL", "LO"]), st.sampled_from(["AD", "OR"]), st.integers(0, 5))
def test_constant_kernel_rescaled_by_recall_is_average_precision(gains, connectedness, space, more):
    recall_base = len(classical.relevant_ranks(gains)) + more
    value = markov_precision.markov_precision(gains, "GL", space, markov_precision.constant(), recall_base)
    assert value == pytest.approx(classical.average_precision(gains, recall_base), abs=1e-12)
    # With all holding parameters equal, time changes nothing.
    timed = markov_precision.markov_precision(gains, connectedness, space, holding=[0.3] * len(gains))
    assert timed == pytest.approx(markov_precision.markov_precision(gains, connectedness, space), abs=1e-12)


def test_transition_matrix_by_hand():
    matrix = markov_precision.transition_matrix([1, 2, 4], "GL", markov_precision.inverse_distance())
    assert matrix[0] == pytest.approx([0, (1 / 2) / (3 / 4), (1 / 4) / (3 / 4)])
    matrix = markov_precision.transition_matrix([1, 2, 4], "LO", markov_precision.inverse_distance())
    assert matrix[1] == pytest.approx([(1 / 2) / (5 / 6), 0, (1 / 3) / (5 / 6)])
    assert matrix[0] == pytest.approx([0, 1, 0])
    kernel = markov_precision.logarithmic_inverse_distance(10, outside=1)
    assert kernel(90) == pytest.approx(1 / (1 + 2))
    assert markov_precision.logarithmic_inverse_distance(9)(1) == pytest.approx(1)
    assert markov_precision.logarithmic_inverse_distance(2)(1) == pytest.approx(1 / log10(3))


def test_watched_chain_equals_long_walks_between_the_watched_states():
    matrix = markov_precision.transition_matrix(range(1, 7), "LO", markov_precision.inverse_distance())
    watched = [0, 2, 5]
    rest = [1, 3, 4]
    inside = matrix[np.ix_(rest, rest)]
    walks = sum(np.linalg.matrix_power(inside, steps) for steps in range(400))
    expected = matrix[np.ix_(watched, watched)] + matrix[np.ix_(watched, rest)] @ walks @ matrix[np.ix_(rest, watched)]
    found = markov_precision.watched_on(matrix, watched)
    assert found == pytest.approx(expected, abs=1e-12)
    law = markov_precision.invariant_law(found)
    assert law @ found == pytest.approx(law, abs=1e-12)
    assert law.sum() == pytest.approx(1)


def test_watched_chain_of_a_long_list():
    # A chain that steps to either neighbor is as often at every inner rank, and half as often at the two ends.
    gains = [1 if rank % 3 == 0 or rank == 999 else 0 for rank in range(1000)]
    law = markov_precision.relevant_law(gains, "LO", "AD", markov_precision.constant())
    weights = np.array([1.0 if rank in (1, 1000) else 2.0 for rank in classical.relevant_ranks(gains)])
    assert law == pytest.approx(weights / weights.sum(), abs=1e-12)


def test_one_relevant_document_has_weight_one():
    for connectedness, space in product(("GL", "LO"), ("AD", "OR")):
        assert markov_precision.markov_precision([0, 0, 1, 0], connectedness, space) == pytest.approx(1 / 3)
        assert markov_precision.markov_precision([1], connectedness, space, recall_base=4) == pytest.approx(1 / 4)


# P@H, ICTIR 2020


def test_example_4_1():
    path = [1, 2, 1, 2, 3]
    utility = stopping_time.utility_with_loss(0.5)
    assert [utility(1, 3), utility(1, 2), utility(2, 3), utility(2, 2), utility(1, 3)] == [3, 2, 1.5, 1, 3]
    assert stopping_time.total_of_path([3, 2, 3, 0, 1], path, 0.5) == 10.5
    assert stopping_time.score_path([3, 2, 3, 0, 1], path, 0.5) == 10.5 / 5


@pytest.mark.parametrize("gains, average, biased", [(RUN_R, 0.58, 0.57), (RUN_S, 0.68, 0.47)])
def test_figure_1_legends(gains, average, biased):
    order1, total, steps, missing = stopping_time.path_sum(gains, *stopping_time.deterministic_forward(10))
    assert (order1, total / steps, missing) == (0.4, 0.4, 0)
    order1 = stopping_time.path_sum(gains, *stopping_time.average_precision_model(gains))[0]
    assert round(order1, 2) == average
    assert order1 == pytest.approx(classical.average_precision(gains), abs=1e-12)
    _, total, steps, _ = stopping_time.path_sum(gains, *stopping_time.stochastic_forward(10, 0.5))
    assert round(total / steps, 2) == biased == round(classical.rbp(gains, 0.5), 2)
    assert (1 - 0.5) * total == pytest.approx(classical.rbp(gains, 0.5), abs=1e-12)
    assert steps == pytest.approx((1 - 0.5**10) / (1 - 0.5), abs=1e-12)


def test_figure_1b_distributions_meet_at_three_quarters():
    law_r = stopping_time.law_of_score(RUN_R, *stopping_time.average_precision_model(RUN_R))
    law_s = stopping_time.law_of_score(RUN_S, *stopping_time.average_precision_model(RUN_S))
    assert {round(value, 4): chance for value, chance in law_r.items()} == pytest.approx(
        {0.4: 0.25, 0.4286: 0.25, 0.5: 0.25, 1.0: 0.25}
    )
    assert {round(value, 4): chance for value, chance in law_s.items()} == pytest.approx(
        {0.5: 0.25, 0.6667: 0.25, 0.75: 0.25, 0.8: 0.25}
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=5),
    st.floats(0.01, 0.15),
    st.floats(0.0, 0.15),
    st.sampled_from([0.0, 0.25, 1.0]),
)
def test_grouped_paths_equal_single_paths(gains, p, q, loss):
    vectors = stopping_time.random_walk(len(gains), p, q)
    order1 = numerator = denominator = probability = 0.0
    for path, chance in stopping_time.all_paths(*vectors, max_steps=9):
        order1 += chance * stopping_time.score_path(gains, path, loss)
        numerator += chance * stopping_time.total_of_path(gains, path, loss)
        denominator += chance * len(path)
        probability += chance
    found = stopping_time.path_sum(gains, *vectors, loss=loss, max_steps=9)
    assert found == pytest.approx((order1, numerator, denominator, 1 - probability), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([0, 1, 3]), min_size=1, max_size=5), st.floats(0.01, 0.2), st.floats(0.0, 0.1))
def test_linear_systems_equal_path_sums(gains, p, q):
    vectors = stopping_time.random_walk(len(gains), p, q)
    _, total, steps, missing = stopping_time.path_sum(gains, *vectors, max_steps=24)
    assert missing < 1e-11
    assert stopping_time.expected_total(gains, *vectors)[0] == pytest.approx(total, abs=1e-9)
    assert stopping_time.expected_steps(*vectors)[0] == pytest.approx(steps, abs=1e-9)
    totals = stopping_time.law_of_score(gains, *vectors, effort=lambda h: 1, max_steps=24)
    second = sum(chance * value**2 for value, chance in totals.items())
    assert stopping_time.second_moment_total(gains, *vectors)[0] == pytest.approx(second, abs=1e-8)
    law = stopping_time.law_of_steps(*vectors, max_steps=24)
    assert sum(h * chance for h, chance in enumerate(law, start=1)) == pytest.approx(steps, abs=1e-9)
    mean = stopping_time.expected_steps(*vectors)[0]
    spread = sum((h - mean) ** 2 * chance for h, chance in enumerate(law, start=1))
    assert stopping_time.variance_steps(*vectors)[0] == pytest.approx(spread, abs=1e-8)


def test_variance_of_the_stochastic_forward_model_is_the_printed_closed_form():
    gains, p = [1, 0, 0, 1, 0, 1], 0.6
    printed = sum(
        gains[m - 1]
        * p ** (m - 1)
        * (1 - p ** (m - 1))
        * (gains[m - 1] + 2 * sum(gains[i - 1] * p ** (i - m) for i in range(m + 1, 7)))
        for m in range(2, 7)
    )
    vectors = stopping_time.stochastic_forward(6, p)
    assert stopping_time.variance_total(gains, *vectors)[0] == pytest.approx(printed, abs=1e-12)


def test_matrix_formula_of_the_variance_needs_another_sign_and_the_square_of_the_mean():
    gains = [1, 0, 0, 1, 0, 1]
    vectors = stopping_time.random_walk(6, 0.5, 0.25)
    within = stopping_time.transition_matrix(*vectors)[1:, 1:]
    identity, relevance = np.eye(6), np.array(gains)
    inverse = np.linalg.inv(identity - within)
    printed = inverse @ np.diag(relevance) @ (identity - 2 * within @ inverse) @ relevance
    corrected = inverse @ np.diag(relevance) @ (identity + 2 * within @ inverse) @ relevance
    assert printed[0] < 0
    assert corrected == pytest.approx(stopping_time.second_moment_total(gains, *vectors), abs=1e-12)


def test_law_of_the_total_is_the_printed_closed_form():
    gains = [1, 0, 0, 1, 0, 1]
    vectors = stopping_time.random_walk(6, 0.2, 0.1)
    law = stopping_time.law_of_total(gains, *vectors, values=6)
    counted = [0.0] * 7
    for path, chance in stopping_time.all_paths(*vectors, max_steps=16):
        total = int(stopping_time.total_of_path(gains, path))
        if total <= 6:
            counted[total] += chance
    assert law == pytest.approx(counted[1:], abs=1e-7)


@pytest.mark.parametrize("p, q", [(0.5, 0.25), (0.3, 0.2), (0.6, 0.1)])
def test_appendix_c(p, q):
    gains = [1, 0, 0, 1, 0, 1]
    vectors = stopping_time.random_walk_appendix(6, p, q)
    polynomial = (1 - 4 * p * q + p**3 + 3 * p**2 * q**2 - p**4 * q + p**5) / (
        1 - 5 * p * q + 6 * p**2 * q**2 - p**3 * q**3
    )
    # Printed as E[P@H]; it is E[T(H)], the numerator of order 2.
    assert stopping_time.expected_total(gains, *vectors)[0] == pytest.approx(polynomial, abs=1e-12)
    assert stopping_time.path_sum(gains, *vectors, max_steps=20)[0] < polynomial - 0.2
    root = sqrt(1 - 4 * p * q)

    def power(sign: int) -> float:
        base = (1 + sign * root) / (2 * p)
        return base**6 - q * base**5

    stop = 1 - p - q
    factor = (power(-1) / stop - p / stop) / (power(1) - power(-1))
    printed = factor * root / p + (2 * p - 1 + root) / (2 * p * stop)
    assert stopping_time.expected_steps(*vectors)[0] == pytest.approx(printed, abs=1e-12)
    endless = stopping_time.random_walk_appendix(300, p, q)
    assert stopping_time.expected_steps(*endless)[0] == pytest.approx((2 * p - 1 + root) / (2 * p * stop), abs=1e-9)


def test_appendix_a_needs_the_power_of_the_step_before():
    gains, p, size = [1, 0, 0, 1, 0, 1], 0.6, 6
    start = sum(p ** (h - 1) * (1 - p) * sum(gains[:h]) / h for h in range(1, size))
    order1 = stopping_time.path_sum(gains, *stopping_time.stochastic_forward(size, p))[0]
    assert order1 == pytest.approx(start + p ** (size - 1) * sum(gains) / size, abs=1e-12)
    assert order1 != pytest.approx(start + p**size * sum(gains) / size, abs=1e-3)


@few
@given(graded_lists, st.integers(0, 3))
def test_classical_measures_as_stopping_times(gains, more):
    relevant = len(classical.relevant_ranks(gains))
    binary = [1 if classical.is_relevant(gain) else 0 for gain in gains]
    if relevant + more:
        model = stopping_time.average_precision_model(gains, relevant + more)
        order1 = stopping_time.path_sum(binary, *model)[0]
        assert order1 == pytest.approx(classical.average_precision(gains, relevant + more), abs=1e-12)
    model = stopping_time.discounted_gain_model(len(gains), 2)
    order1 = stopping_time.path_sum(gains, *model, effort=lambda h: 1)[0]
    assert order1 == pytest.approx(classical.dcg_base(gains, 2), abs=1e-12)
    # ERR as E[1/H] makes the last document satisfy everybody: the rest of the users counts 1/N.
    unsatisfied = np.prod([1 - (2 ** classical.gain_of(gain) - 1) / 8 for gain in gains])
    model = stopping_time.reciprocal_rank_model(gains, 3)
    order1 = stopping_time.path_sum([1] + [0] * (len(gains) - 1), *model)[0]
    assert order1 == pytest.approx(classical.err(gains, 3) + unsatisfied / len(gains), abs=1e-12)


def test_constant_stop_of_section_6_2_is_not_average_precision():
    order1 = stopping_time.path_sum(RUN_R, *stopping_time.average_precision_constant_stop(RUN_R, 4))[0]
    assert order1 == pytest.approx(1 / 4 + (3 / 16) / 2 + (9 / 64) * 3 / 7 + (27 / 64) * 0.4, abs=1e-12)
    assert abs(order1 - classical.average_precision(RUN_R)) > 0.009


def test_simulated_users_come_near_the_path_sums():
    vectors = stopping_time.random_walk(4, 0.3, 0.2)
    users = np.array(stopping_time.simulate([2, 0, 1, 1], *vectors, 0.25, 20000, seed=11))
    order1, total, steps, missing = stopping_time.path_sum([2, 0, 1, 1], *vectors, loss=0.25, max_steps=40)
    assert missing < 1e-10
    # Five standard errors of each mean.
    for values, exact in ((users[:, 0] / users[:, 1], order1), (users[:, 0], total), (users[:, 1], steps)):
        assert abs(values.mean() - exact) < 5 * values.std() / sqrt(len(values))


def test_browsing_models_of_short_lists():
    for model in (
        stopping_time.deterministic_forward,
        lambda size: stopping_time.stochastic_forward(size, 0.5),
        lambda size: stopping_time.random_walk(size, 0.5, 0.25),
        lambda size: stopping_time.random_walk_appendix(size, 0.5, 0.25),
        lambda size: stopping_time.discounted_gain_model(size, 2),
    ):
        assert model(0) == ([], [])
        assert model(1) == ([0], [0])
    assert stopping_time.random_walk(2, 0.5, 0.25) == ([0.75, 0], [0, 0.25])
    assert stopping_time.random_walk_appendix(3, 0.5, 0.25) == ([0.5, 0.5, 0], [0, 0.25, 0.25])
    assert stopping_time.average_precision_model([0, 1, 0, 1]) == ([1, 0.5, 1, 0], [0, 0, 0, 0])
    assert stopping_time.path_sum([], [], []) == (0, 0, 0, 1)


def test_figure_1d_swaps_the_runs_between_the_orders():
    vectors = stopping_time.random_walk(10, 0.5, 0.25)
    assert (vectors[0][0], vectors[0][1], vectors[0][-1]) == (0.75, 0.5, 0)
    assert (vectors[1][0], vectors[1][1], vectors[1][-1]) == (0, 0.25, 0.25)
    users_r = np.array(stopping_time.simulate(RUN_R, *vectors, 0.25, 20000, seed=1))
    users_s = np.array(stopping_time.simulate(RUN_S, *vectors, 0.25, 20000, seed=2))
    assert (users_r[:, 0] / users_r[:, 1]).mean() > (users_s[:, 0] / users_s[:, 1]).mean() + 0.1
    assert users_r[:, 0].mean() / users_r[:, 1].mean() < users_s[:, 0].mean() / users_s[:, 1].mean() - 0.1


# MsM, ECIR 2019


@pytest.mark.parametrize("size, queries, p, q, r, s", [(4, 3, 0.6, 0.1, 0.2, 0.1), (1, 2, 0.5, 0.1, 0.1, 0.3)])
def test_session_quantities_equal_simulated_sessions(size, queries, p, q, r, s):
    exact = session.session_quantities(np.ones((size, queries)), p, q, r, s)
    users = 4000
    found = session.simulate_session(size, queries, p, q, r, s, users, seed=5)
    assert found["h"] == pytest.approx(exact["h"], abs=5 * 0.5 / sqrt(users))
    assert found["pi"] == pytest.approx(exact["pi"], abs=5 * 0.5 / sqrt(users))
    assert found["e"] == pytest.approx(exact["e"], rel=0.05)
    assert found["e_Q"] == pytest.approx(exact["e_Q"], rel=0.08)
    assert exact["h"].sum() == pytest.approx(1)


def test_session_measure_by_hand():
    # Two documents and no way back: e = (0, 1). Of the users who do not end, 1/3 reformulate after document 1 and
    # 2/3 after document 2: e_Q = 1 + 2/3. Half of all end within a query.
    values = session.session_quantities([[1, 0], [2, 3]], p=0.5, q=0.0, r=0.25, s=0.25)
    assert values["e"] == pytest.approx([0, 1])
    assert values["e_Q"] == pytest.approx(1 + 2 / 3)
    assert values["h_F"] == pytest.approx(0.5)
    assert values["h_FK"] == pytest.approx(1)
    assert values["pi"] == pytest.approx([1, 0.5])
    once = 1 / (1 + 5 / 3) + 2 / (2 + 5 / 3) + 0.5 * 3 / (2 + 5 / 3)
    assert session.markov_session_measure([[1, 0], [2, 3]], 0.5, 0.0, 0.25, 0.25) == pytest.approx(once)
    each = 1 / 1 + 2 / 2 + 0.5 * 3 / (2 + 5 / 3)
    value = session.markov_session_measure([[1, 0], [2, 3]], 0.5, 0.0, 0.25, 0.25, query_time="per query")
    assert value == pytest.approx(each)
    slow = 1 / 1 + 2 / (1 + log10(2)) + 0.5 * 3 / (1 + log10(2 + 5 / 3))
    value = session.markov_session_measure([[1, 0], [2, None]], 0.5, 0.0, 0.25, 0.25, "log", "per query")
    assert value == pytest.approx(slow - 0.5 * 3 / (1 + log10(2 + 5 / 3)))


def test_time_of_the_algorithm_is_not_the_time_given_arrival():
    # The appendix speaks of the expectation "under the restriction that the search does not end before"; making the
    # rows stochastic is another law, in which long detours are not rarer than in a search that nobody leaves.
    matrix = session.query_matrix(5, 0.6, 0.1, 0.2, 0.1)
    inverse = np.linalg.inv(np.eye(4) - matrix[:4, :4])
    arrival = inverse @ matrix[:4, 4]
    given_arrival = (inverse @ arrival)[0] / arrival[0]
    found = session.simulate_session(5, 2, 0.6, 0.1, 0.2, 0.1, 8000, seed=9)
    assert found["e_given_arrival"][4] == pytest.approx(given_arrival, abs=0.15)
    exact = session.session_quantities(np.ones((5, 2)), 0.6, 0.1, 0.2, 0.1)["e"]
    assert exact == pytest.approx([0, 1, 7 / 3, 67 / 18, 553 / 108])
    assert (round(given_arrival, 3), round(exact[4], 3)) == (4.437, 5.12)


def test_session_discounted_gain():
    run = [[1, 0, 0, 2], [0, 3, 0, 0]]
    assert session.sdcg(run) == pytest.approx(1 + 3 / (1 * 1.5) + 2 / (1 * 2))
    assert session.sdcg(run, rank_base=4, query_base=2) == pytest.approx(1 + 3 / (1 * 2) + 2 / 3)


# Expected search length, SIGIR 1988

WEAK_ORDER = [(1, 1), (1, 2), (2, 3)]


def test_examples_2_1_and_2_2():
    assert search_length.law_by_enumeration(WEAK_ORDER, 1) == {0: 1 / 2, 1: 1 / 2}
    assert search_length.expected_search_length(WEAK_ORDER, 1) == 1 / 2
    assert search_length.law_by_enumeration(WEAK_ORDER, 2) == {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}
    assert search_length.expected_search_length(WEAK_ORDER, 2) == pytest.approx(2)


def test_example_3_1():
    law = search_length.law_by_enumeration([(0, 1), (2, 3)], 1)
    assert law == {1: 2 / 5, 2: 3 / 10, 3: 1 / 5, 4: 1 / 10}


def test_example_3_2_no_weak_order_has_this_law():
    # Any result in which 1 and 3 nonrelevant documents are equally likely and nothing else is possible.
    for before in range(4):
        for relevant in range(1, 4):
            for nonrelevant in range(4):
                law = search_length.law_by_enumeration([(0, before), (relevant, nonrelevant)], 1)
                assert law != {1: 1 / 2, 3: 1 / 2}


def test_example_4_1_convolution():
    law = search_length.convolution({0: 1 / 2, 1: 1 / 4, 2: 1 / 4}, {0: 1 / 3, 1: 1 / 3, 2: 1 / 3})
    assert law == pytest.approx({0: 1 / 6, 1: 1 / 4, 2: 1 / 3, 3: 1 / 6, 4: 1 / 12})
    assert search_length.expectation(law) == pytest.approx(3 / 4 + 1)


def test_too_few_relevant_documents_cost_all_nonrelevant_ones():
    assert search_length.law_by_enumeration(WEAK_ORDER, 5) == {6: 1.0}
    assert search_length.law_by_enumeration([], 1) == {0: 1.0}


@few
@given(st.integers(0, 4), st.integers(0, 4), st.integers(1, 5))
def test_random_search_length_is_that_of_one_group(relevant, nonrelevant, wanted):
    random = search_length.random_search_length(relevant, nonrelevant, wanted)
    assert search_length.expected_search_length([(relevant, nonrelevant)], wanted) == pytest.approx(random)
    assert search_length.reduction_factor([(relevant, nonrelevant)], wanted) == pytest.approx(0, abs=1e-12)


def test_reduction_factor():
    # 4 relevant and 6 nonrelevant: a random search for 2 costs 2 * 6 / 5 = 2.4.
    assert search_length.reduction_factor(WEAK_ORDER, 2) == pytest.approx((2.4 - 2) / 2.4)
    assert search_length.reduction_factor([(4, 0), (0, 6)], 3) == 1


# EPRUM, SIGIR 2006

FIGURE_3 = [[0.4, 0.4], [0.6, 0.4], [1.0, 0.0]]


def test_figure_2_navigation():
    links = {"x": {"y": 0.5, "z": 0.3}, "y": {"z": 0.8}, "z": {"y": 0.12}}
    outcomes = navigation.walk_outcomes(links, "x")
    reach_y = sum(chance for seen, chance in outcomes.items() if "y" in seen)
    reach_z = sum(chance for seen, chance in outcomes.items() if "z" in seen)
    both = sum(chance for seen, chance in outcomes.items() if {"y", "z"} <= seen)
    assert reach_y == pytest.approx(0.536)
    assert reach_z == pytest.approx(0.7)
    assert both == pytest.approx(0.436)
    assert reach_y * reach_z == pytest.approx(0.3752)
    assert links["x"]["y"] * links["x"]["z"] == pytest.approx(0.15)
    assert sum(outcomes.values()) == pytest.approx(1)


def test_equation_1_example():
    seen = [navigation.seen_probability(FIGURE_3, k, 0) for k in (1, 2, 3)]
    assert seen == pytest.approx([0.4, 0.76, 1.0])


def test_table_1_scenarios():
    printed = {
        (1, 1): 16.0,
        (1, 2): 9.6,
        (1, None): 14.4,
        (2, 1): 14.4,
        (2, 2): 8.64,
        (2, None): 12.96,
        (3, 1): 9.6,
        (3, 2): 5.76,
        (3, None): 8.64,
    }
    found = navigation.scenarios(FIGURE_3)
    assert {first: 100 * chance for first, chance in found.items()} == pytest.approx(printed)


def test_table_1_expectations():
    one = navigation.expected_inverse_length(FIGURE_3, 1)
    two = navigation.expected_inverse_length(FIGURE_3, 2)
    assert (round(one, 2), round(two, 2)) == (0.81, 0.37)
    assert one == pytest.approx(0.8056)
    assert two == pytest.approx(0.3744)
    assert round(navigation.precision_at_recall(FIGURE_3, 0.5), 2) == 0.81
    # Printed as 2 x 0.37 = 0.74; without rounding in between it is 0.7488.
    assert navigation.precision_at_recall(FIGURE_3, 1.0) == pytest.approx(0.7488)
    assert 2 * round(two, 2) == 0.74


def test_section_5_ideal_list():
    pointers = {"a": [0.9, 0.9], "b": [1.0, 0.0], "c": [0.0, 1.0]}
    assert navigation.ideal_list(pointers, 1)[1] == pytest.approx(1)
    best, length = navigation.ideal_list(pointers, 2)
    assert set(best[1:]) == {"b", "c"}
    assert length == pytest.approx(1.29)
    ordered = [pointers[name] for name in ("a", "b", "c")]
    assert navigation.law_of_length(ordered, 2) == pytest.approx([0.81, 0.09, 0.10])
    assert navigation.expected_length([pointers["b"], pointers["c"]], 2) == pytest.approx(2)
    assert navigation.expected_length([pointers["a"], pointers["b"]], 2) == inf


def test_section_2_example():
    table = navigation.classical_navigation([1, 0, 0, 1, 0], recall_base=3)
    found = [navigation.precision_at_recall(table, recall / 3) for recall in (1, 2, 3)]
    assert found == pytest.approx([1, 0.5, 0])


chances = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(chances, chances, chances), min_size=1, max_size=3), st.integers(1, 3))
def test_the_sums_of_equations_3_to_5_agree_with_the_scenarios(table, wanted):
    found = navigation.expected_inverse_length(table, wanted)
    assert found == pytest.approx(navigation.expected_inverse_length_by_tails(table, wanted), abs=1e-12)
    assert found == pytest.approx(navigation.expected_inverse_length_by_scenarios(table, wanted), abs=1e-12)
    length = navigation.expected_length(table, wanted)
    tails = navigation.expected_length_by_tails(table, wanted)
    assert length == tails or isclose(length, tails, abs_tol=1e-12)
    assert sum(navigation.found_law(table, len(table))) == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([0, 1, None]), min_size=1, max_size=7), st.integers(0, 2))
def test_classical_user_gets_average_precision(gains, more):
    recall_base = len(classical.relevant_ranks(gains)) + more
    table = navigation.classical_navigation(gains, recall_base)
    value = navigation.average_precision(table)
    assert value == pytest.approx(classical.average_precision(gains, recall_base), abs=1e-12)


def test_satisfaction_levels():
    table = navigation.classical_navigation([1, 0, 1])
    # Up to level 0.5 both elements are ideal, up to 0.8 only the one at rank 3, above nothing is.
    found = navigation.precision_over_satisfaction(table, [0.5, 0.8], 1.0)
    assert found == pytest.approx(0.5 * 2 / 3 + 0.3 * 1 / 3)
    assert navigation.precision_over_satisfaction(table, [1.0, 1.0], 0.5) == pytest.approx(1)


@few
@given(binary_lists, st.integers(0, 3))
def test_effort_precision_of_binary_gains_is_precision_at_recall_points(gains, more):
    ranks = classical.relevant_ranks(gains)
    ideal = [1] * (len(ranks) + more)
    curve = navigation.effort_precision_curve(gains, ideal)
    assert [point[0] for point in curve] == pytest.approx([n / len(ideal) for n in range(1, len(ranks) + 1)])
    assert [point[1] for point in curve] == pytest.approx([n / rank for n, rank in enumerate(ranks, start=1)])
    if more:
        assert navigation.effort_precision(gains, ideal, 1.0) == 0


def test_effort_precision_of_graded_gains():
    gains, ideal = [1, 0, 3, 1], [3, 2, 1, 1]
    assert navigation.gain_recall(gains, ideal, 3) == pytest.approx(4 / 7)
    # 4 of 7 are reached at rank 2 by the ideal list and at rank 3 by the run.
    assert navigation.effort_precision(gains, ideal, 4 / 7) == pytest.approx(2 / 3)
    assert navigation.effort_precision(gains, ideal, 1.0) == 0
