"""Fast paths against references that somebody else wrote from the papers' text alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval import evaluate
from walkeval.measures import navigation as fast_navigation
from walkeval.measures.search_length import WeakOrder
from walkeval.measures.session import markov_session_measure, session_dcg, session_quantities
from walkeval.measures.stopping_time import (
    RWBM,
    BrowsingModel,
    average_precision,
    discounted_cumulated_gain,
    expected_precision,
    expected_reciprocal_rank,
    precision,
    rank_biased_precision,
)
from walkeval.reference import navigation as reference_navigation
from walkeval.reference import search_length as reference_search_length
from walkeval.reference import session as reference_session
from walkeval.reference import stopping_time as reference_stopping
from walkeval.stopping_law import moments

STEPS = st.tuples(*[st.floats(0.01, 1)] * 4).map(lambda raw: tuple(one / sum(raw) for one in raw))
# Where going back is much likelier than going on, the reference's inverses lose digits that the recursions keep.
STEPS = STEPS.filter(lambda steps: steps[1] <= 1.5 * steps[0])
SESSIONS = st.integers(1, 12).flatmap(
    lambda size: st.integers(1, 4).flatmap(
        lambda queries: st.lists(st.lists(st.integers(0, 3), min_size=queries, max_size=queries), min_size=size, max_size=size)
    )
)


@settings(max_examples=200, deadline=None)
@given(SESSIONS, STEPS, st.sampled_from(["linear", "log"]), st.booleans())
def test_msm(run, steps, discount, once):
    ours = markov_session_measure(run, *steps, discount=discount, query_time="once" if once else "per_query")
    theirs = reference_session.markov_session_measure(run, *steps, discount, "once" if once else "per query")
    assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-10)


@settings(max_examples=100, deadline=None)
@given(SESSIONS, STEPS)
def test_quantities_of_algorithm_1(run, steps):
    ours = session_quantities(len(run), len(run[0]), *steps)
    theirs = reference_session.session_quantities(run, *steps)
    assert np.allclose(ours.e, np.ravel(theirs["e"]), rtol=1e-10)
    for name, value in (("e_Q", ours.e_q), ("h_F", ours.h_f), ("h_FK", ours.h_fk)):
        assert value == pytest.approx(theirs[name], rel=1e-10), name
    assert np.allclose(ours.h, np.ravel(theirs["h"]), rtol=1e-10, atol=1e-12)
    assert np.allclose(ours.pi, np.ravel(theirs["pi"]), rtol=1e-10, atol=1e-12)


def test_msm_of_long_lists():
    run = np.zeros((1000, 1), dtype=int)
    run[np.random.default_rng(5).choice(1000, 300, replace=False)] = 1
    steps = (0.6, 0.1, 0.2, 0.1)
    ours = evaluate("MsM", run[:, 0].tolist(), **dict(zip("pqrs", steps, strict=True)))
    theirs = reference_session.markov_session_measure(run.tolist(), *steps, "linear", "once")
    assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-10)


@given(SESSIONS)
def test_session_dcg(run):
    assert session_dcg(run) == pytest.approx(reference_session.sdcg(run), abs=1e-12)
    assert evaluate("sDCG", run) == pytest.approx(reference_session.sdcg(run), abs=1e-12)


GROUPS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3)).filter(lambda one: sum(one) > 0), min_size=1, max_size=4
)


@settings(max_examples=200, deadline=None)
@given(GROUPS, st.integers(1, 6))
def test_search_length(groups, wanted):
    order = WeakOrder.from_groups(groups)
    theirs = reference_search_length.law_by_enumeration(groups, wanted)
    law = order.law(wanted)
    assert sum(law) == pytest.approx(1)
    for nonrelevant, probability in enumerate(law):
        assert probability == pytest.approx(float(theirs.get(nonrelevant, 0)), abs=1e-12)
    assert order.expected(wanted) == pytest.approx(float(reference_search_length.expectation(theirs)), abs=1e-10)
    assert order.reduction_factor(wanted) == pytest.approx(
        float(reference_search_length.reduction_factor(groups, wanted)), abs=1e-10
    )
    gains = [one for relevant, other in groups for one in [1] * relevant + [0] * other]
    scores = [-number for number, (relevant, other) in enumerate(groups) for _ in range(relevant + other)]
    assert evaluate("ESL", gains, wanted=wanted, scores=scores) == pytest.approx(order.expected(wanted), abs=1e-10)


NAVIGATION = st.integers(1, 4).flatmap(
    lambda ranks: st.integers(1, 3).flatmap(
        lambda elements: st.lists(
            st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), min_size=elements, max_size=elements),
            min_size=ranks,
            max_size=ranks,
        )
    )
)


@settings(max_examples=200, deadline=None)
@given(NAVIGATION, st.data())
def test_expected_lengths(navigation, data):
    wanted = data.draw(st.integers(1, len(navigation[0])))
    array = np.array(navigation)
    theirs = reference_navigation.expected_inverse_length(navigation, wanted)
    by_scenarios = reference_navigation.expected_inverse_length_by_scenarios(navigation, wanted)
    assert fast_navigation.expected_inverse_length(array)[wanted - 1] == pytest.approx(theirs, abs=1e-12)
    assert by_scenarios == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(NAVIGATION, st.data())
def test_ideal_lists(navigation, data):
    navigation = [*navigation, [1.0] * len(navigation[0])]
    wanted = data.draw(st.integers(1, len(navigation[0])))
    best = reference_navigation.ideal_list({str(rank): row for rank, row in enumerate(navigation)}, wanted)[1]
    found = fast_navigation.ideal_length(np.array(navigation), wanted)
    assert found.exact
    assert found.upper == pytest.approx(best, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=6).filter(any), st.integers(0, 2))
def test_eprum_under_the_classical_user_is_average_precision(gains, more):
    base = sum(gains) + more
    assert evaluate("EPRUM", gains, base) == pytest.approx(evaluate("AP", gains, base), abs=1e-12)
    table = reference_navigation.classical_navigation(gains, base)
    theirs = reference_navigation.average_precision(table)
    assert evaluate("EPRUM", gains, base) == pytest.approx(theirs, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 0.5), st.floats(0, 1)), min_size=1, max_size=3), st.floats(0, 1))
def test_stopping_time_equals_the_sum_over_paths(rows, loss):
    # At least half of the users stop at every step, so paths of more than 44 steps weigh less than 1e-13.
    gains = [gain for gain, _, _ in rows]
    forward = [moving * share for _, moving, share in rows]
    backward = [moving * (1 - share) for _, moving, share in rows]
    forward[-1] = backward[0] = 0.0
    order1, numerator, denominator, missing = reference_stopping.path_sum(gains, forward, backward, loss, max_steps=44)
    assert missing < 1e-12
    model = BrowsingModel(forward, backward, first="stop")
    assert expected_precision(model, gains, loss) == pytest.approx(order1, abs=1e-10)
    assert expected_precision(model, gains, loss, order=2) == pytest.approx(numerator / denominator, abs=1e-10)
    effort = lambda steps: np.log2(1 + steps)  # noqa: E731
    order1 = reference_stopping.path_sum(gains, forward, backward, loss, effort, max_steps=44)[0]
    assert expected_precision(model, gains, loss, effort="log2") == pytest.approx(order1, abs=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=8), st.floats(0, 0.5), st.floats(0, 0.5))
def test_moments_equal_the_linear_systems(gains, p, q):
    forward, backward = reference_stopping.random_walk(len(gains), p, q)
    model = RWBM(p, q)
    if p + q > 0.98:
        return
    found = moments(model, gains)
    assert found.mean_utility == pytest.approx(reference_stopping.expected_total(gains, forward, backward)[0], rel=1e-9)
    assert found.variance_utility == pytest.approx(
        reference_stopping.variance_total(gains, forward, backward)[0], rel=1e-8, abs=1e-10
    )
    assert found.mean_steps == pytest.approx(reference_stopping.expected_steps(forward, backward)[0], rel=1e-9)
    assert found.variance_steps == pytest.approx(
        reference_stopping.variance_steps(forward, backward)[0], rel=1e-8, abs=1e-10
    )


@given(st.lists(st.integers(0, 1), min_size=1, max_size=12).filter(any), st.integers(0, 3))
def test_classical_measures_as_stopping_times_equal_the_classical_code(gains, more):
    base = sum(gains) + more
    assert precision().score(gains) == pytest.approx(evaluate(f"P@{len(gains)}", gains), abs=1e-12)
    assert average_precision(base).score(gains) == pytest.approx(evaluate("AP", gains, base), abs=1e-12)
    assert average_precision().score(gains) == pytest.approx(evaluate("AP", gains), abs=1e-12)
    assert rank_biased_precision(0.8).score(gains) == pytest.approx(evaluate("RBP(p=0.8)", gains), abs=1e-12)
    assert discounted_cumulated_gain(2).score(gains) == pytest.approx(evaluate("DCG(base=2)", gains), abs=1e-12)
    assert expected_reciprocal_rank(1).score(gains) == pytest.approx(evaluate("ERR", gains), abs=1e-12)
    finite = rank_biased_precision(0.8, infinite=False).score(gains)
    assert finite * (1 - 0.8 ** len(gains)) == pytest.approx(evaluate("RBP(p=0.8)", gains), abs=1e-12)
