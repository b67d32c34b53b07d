"""MsM and sDCG against dense linear algebra and against simulated users."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.errors import ParameterError
from walkeval.measures.base import parse_measure
from walkeval.measures.session import (
    MsM,
    markov_session_measure,
    sDCG,
    session_dcg,
    session_quantities,
    session_weights,
)
from walkeval.ranked import RankedLists

relaxed = settings(deadline=None, max_examples=60)


@st.composite
def step_probabilities(draw):
    """p, q, r, s that sum to 1; q is 0 now and then."""
    p, r, s = (draw(st.floats(0.02, 1)) for _ in range(3))
    q = draw(st.one_of(st.just(0.0), st.floats(0.02, 1)))
    total = p + q + r + s
    return {"p": p / total, "q": q / total, "r": r / total, "s": s / total}


def printed_matrix(n, p, q, r, s):
    """The transition matrix of a query as the paper prints it; documents first, then F, then Q."""
    matrix = np.zeros((n + 2, n + 2))
    for row in range(n):
        if row > 0:
            matrix[row, row - 1] = q
        if row < n - 1:
            matrix[row, row + 1] = p
        matrix[row, n], matrix[row, n + 1] = s, r
        matrix[row] /= matrix[row].sum()
    matrix[n, n] = matrix[n + 1, n + 1] = 1
    return matrix


def normalized(matrix):
    sums = matrix.sum(axis=1, keepdims=True)
    return np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums > 0)


def dense_quantities(n, p, q, r, s):
    """e, e_Q, h_F and h_FK by solving the systems of Algorithm 1 as they are printed."""
    matrix = printed_matrix(n, p, q, r, s)
    documents = np.arange(n)
    walk = normalized(matrix[:n, :n])
    e = [0.0] + [np.linalg.solve(np.eye(i) - walk[:i, :i], np.ones(i))[0] for i in range(1, n)]
    onward = normalized(matrix[np.ix_([*documents, n + 1], [*documents, n + 1])])
    e_q = np.linalg.solve(np.eye(n) - onward[:n, :n], np.ones(n))[0]
    h_f = np.linalg.solve(np.eye(n) - matrix[:n, :n], matrix[:n, n])[0]
    final = normalized(matrix[: n + 1, : n + 1])
    h_fk = np.linalg.solve(np.eye(n) - final[:n, :n], final[:n, n])[0]
    return np.array(e), e_q, h_f, h_fk


def dense_measure(run, p, q, r, s, discount, query_time):
    n, k = run.shape
    e, e_q, h_f, h_fk = dense_quantities(n, p, q, r, s)
    h = [(1 - h_f) ** j * h_f for j in range(k - 1)] + [(1 - h_f) ** (k - 1) * h_fk]
    total = 0.0
    for j in range(k):
        reach = 1 - sum(h[:j])
        for i in range(n):
            time = e[i] + (e_q if query_time == "once" else j * e_q)
            total += reach * run[i, j] / (1 + (time if discount == "linear" else math.log10(1 + time)))
    return total


@relaxed
@given(st.integers(1, 25), st.integers(1, 5), step_probabilities())
def test_quantities_equal_dense_solution(n, k, steps):
    found = session_quantities(n, k, **steps)
    e, e_q, h_f, h_fk = dense_quantities(n, **steps)
    # The dense solution of a badly conditioned system is the less exact one of the two.
    trusted = found.e < 1e4
    np.testing.assert_allclose(found.e[trusted], e[trusted], rtol=1e-9)
    assert found.e_q == pytest.approx(e_q, rel=1e-10)
    assert found.h_f == pytest.approx(h_f, rel=1e-10)
    assert found.h_fk == pytest.approx(h_fk, rel=1e-10)
    assert found.h.sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(found.pi, 1 - np.concatenate(([0], np.cumsum(found.h)[:-1])), atol=1e-12)


@relaxed
@given(
    st.integers(1, 8),
    st.integers(1, 4),
    step_probabilities(),
    st.sampled_from(["linear", "log"]),
    st.sampled_from(["once", "per_query"]),
    st.randoms(use_true_random=False),
)
def test_measure_equals_dense_solution(n, k, steps, discount, query_time, random):
    run = np.array([[random.randrange(4) for _ in range(k)] for _ in range(n)], dtype=float)
    expected = dense_measure(run, **steps, discount=discount, query_time=query_time)
    assert markov_session_measure(run, **steps, discount=discount, query_time=query_time) == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


def simulated_steps(chain, target, users, random):
    """Mean and standard error of the steps from state 0 to ``target`` in a chain."""
    cumulative = np.cumsum(chain, axis=1)
    state = np.zeros(users, dtype=int)
    steps = np.zeros(users)
    for _ in range(20_000):
        moving = np.flatnonzero(state != target)
        if len(moving) == 0:
            return steps.mean(), steps.std() / math.sqrt(users)
        draws = random.random(len(moving))
        state[moving] = (draws[:, None] >= cumulative[state[moving]]).sum(axis=1)
        steps[moving] += 1
    raise AssertionError("some simulated users never arrived")


@pytest.mark.parametrize("steps", [(0.6, 0.1, 0.2, 0.1), (0.4, 0.3, 0.1, 0.2), (0.3, 0.4, 0.2, 0.1)])
def test_times_equal_simulated_walks(steps):
    n, users = 5, 20_000
    random = np.random.default_rng(20190414)
    found = session_quantities(n, 3, *steps)
    matrix = printed_matrix(n, *steps)
    walk = normalized(matrix[:n, :n])
    for i in range(1, n):
        mean, error = simulated_steps(walk, i, users, random)
        assert abs(mean - found.e[i]) <= 5 * error + 1e-12
    kept = [*range(n), n + 1]
    mean, error = simulated_steps(normalized(matrix[np.ix_(kept, kept)]), n, users, random)
    assert abs(mean - found.e_q) <= 5 * error


def test_reached_queries_equal_simulated_sessions():
    """Users walk through whole sessions: how many reach and how many end in each query."""
    n, k, users = 4, 4, 20_000
    steps = (0.45, 0.25, 0.2, 0.1)
    found = session_quantities(n, k, *steps)
    within = np.cumsum(printed_matrix(n, *steps), axis=1)
    last = printed_matrix(n, *steps)[: n + 1, : n + 1]
    at_last = np.cumsum(np.column_stack([normalized(last), np.zeros(n + 1)]), axis=1)
    random = np.random.default_rng(4)
    reached, ended = np.zeros(k), np.zeros(k)
    alive = users
    for query in range(k):
        reached[query] = alive
        table = at_last if query == k - 1 else within
        state = np.zeros(alive, dtype=int)
        while (state < n).any():
            moving = np.flatnonzero(state < n)
            state[moving] = (random.random(len(moving))[:, None] >= table[state[moving]]).sum(axis=1)
        ended[query] = (state == n).sum()
        alive -= int(ended[query])
    assert alive == 0
    for seen, expected in ((reached / users, found.pi), (ended / users, found.h)):
        assert (np.abs(seen - expected) <= 5 * np.sqrt(expected * (1 - expected) / users) + 1e-12).all()


def test_closed_forms():
    # q = 0: every document is as many steps away as there are documents above it.
    assert session_quantities(6, 1, p=0.7, q=0.0, r=0.2, s=0.1).e.tolist() == [0, 1, 2, 3, 4, 5]
    # p = q: a symmetric walk with a wall takes (i-1)^2 steps.
    assert session_quantities(6, 1, p=0.35, q=0.35, r=0.2, s=0.1).e == pytest.approx([0, 1, 4, 9, 16, 25])
    one = session_quantities(1, 1)
    assert (one.e.tolist(), one.e_q, one.h.tolist(), one.pi.tolist()) == ([0.0], 1.0, [1.0], [1.0])


def test_long_lists_stay_finite():
    times = session_quantities(1000, 2, p=0.05, q=0.85, r=0.05, s=0.05)
    assert np.isinf(times.e[-1]) and np.isfinite(times.e_q)
    linear = session_weights(1000, 2, p=0.05, q=0.85, r=0.05, s=0.05)
    assert np.isfinite(linear).all() and (linear >= 0).all() and linear[-1, 0] == 0
    logarithmic = session_weights(1000, 2, p=0.05, q=0.85, r=0.05, s=0.05, discount="log")
    assert (np.diff(logarithmic[:, 0]) < 0).all()
    # e grows by the factor q/p = 17 a document in the end, so log10(e) by log10(17).
    decades = 1 / logarithmic[:, 0] - 1
    assert np.diff(decades)[-600:] == pytest.approx(math.log10(17), rel=1e-9)


def test_tiny_probability_of_a_next_query_loses_no_digits():
    # Nearly never a next query: e_Q is close to (1/r) times what one step costs, found without cancellation.
    r = 1e-12
    found = session_quantities(3, 1, p=0.3, q=0.3, r=r, s=0.4 - r)
    walk = np.array([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]])
    law = np.linalg.lstsq(np.vstack([walk.T - np.eye(3), np.ones(3)]), np.array([0, 0, 0, 1.0]), rcond=None)[0]
    rate = law @ np.array([r / (0.3 + r), r / (0.6 + r), r / (0.3 + r)])
    assert found.e_q == pytest.approx(1 / rate, rel=1e-9)


@relaxed
@given(
    st.lists(st.lists(st.sampled_from([0, 0, 1, 2, None]), max_size=12), min_size=1, max_size=6),
    step_probabilities(),
    st.sampled_from(["linear", "log"]),
    st.sampled_from(["once", "per_query"]),
)
def test_lists_are_sessions_of_one_query(gains, steps, discount, query_time):
    scores = MsM(**steps, discount=discount, query_time=query_time).score(RankedLists.from_gains(gains))
    for score, row in zip(scores, gains, strict=True):
        run = np.array([[gain or 0] for gain in row], dtype=float).reshape(len(row), 1)
        expected = dense_measure(run, **steps, discount=discount, query_time=query_time) if row else 0.0
        assert score == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_registry_and_edges():
    measure = parse_measure('MsM(p=0.6,q=0.1,r=0.2,s=0.1,discount="linear")')
    lists = RankedLists.from_gains([[], [1], [0, 0, 0], [1] * 1000, [1] * 300 + [0] * 700])
    scores = measure.score(lists)
    assert scores[0] == scores[2] == 0
    assert scores[1] == 0.5
    assert 0 < scores[4] < scores[3]
    assert MsM().score(RankedLists.from_gains([])).shape == (0,)
    assert MsM().name == "MsM"


def test_session_dcg():
    # Two queries by hand, b = 2 and bq = 4.
    run = [[1, 0], [1, 2], [0, 1], [3, 0]]
    first = 1 + 1 / 1 + 3 / 2
    second = (2 / 1 + 1 / math.log2(3)) / (1 + math.log(2, 4))
    assert session_dcg(run) == pytest.approx(first + second, rel=1e-12)
    lists = RankedLists.from_gains([[1, 1, 0, 3], [], [0, None, 2]])
    assert sDCG().score(lists) == pytest.approx([first, 0, 2 / math.log2(3)], rel=1e-12)
    assert parse_measure("sDCG(b=10)").score(lists) == pytest.approx([5, 0, 2])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: MsM(p=0.5), "p=0.5"),
        (lambda: MsM(p=0.0, q=0.7), "p must be above 0"),
        (lambda: MsM(q=-0.1, p=0.8), "q must be at least 0"),
        (lambda: session_weights(5, 2, p=0.7, q=0.1, r=0.2, s=0.0), "s=0.0"),
        (lambda: session_weights(5, 2, p=0.7, q=0.2, r=0.0, s=0.1), "r=0.0"),
        (lambda: session_weights(5, 2, p=0.9, q=-0.2, r=0.2, s=0.1), "q=-0.2"),
        (lambda: session_weights(5, 2, p=math.nan, q=0.1, r=0.2, s=0.1), "p=nan"),
        (lambda: session_weights(5, 2, p="x", q=0.1, r=0.2, s=0.1), "p='x'"),
        (lambda: session_weights(0, 2), "length must be a whole number of at least 1; got 0"),
        (lambda: session_weights(5, 1.5), "queries must be a whole number of at least 1; got 1.5"),
        (lambda: session_weights(5, 2, discount="linaer"), "did you mean 'linear'"),
        (lambda: session_weights(5, 2, query_time="twice"), "query_time='twice'"),
        (lambda: MsM(discount="logarithmic"), "discount='logarithmic'"),
        (lambda: markov_session_measure([1, 0]), "1 dimension"),
        (lambda: markov_session_measure([[1, -2]]), "got -2"),
        (lambda: markov_session_measure([[1, math.nan]]), "got nan"),
        (lambda: session_dcg([[1]], b=1), "b must be above 1; got 1"),
        (lambda: session_dcg([[1]], bq=0.5), "bq must be above 1; got 0.5"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ParameterError) as error:
        call()
    assert named in str(error.value)
