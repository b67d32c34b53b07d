"""P@H against oracles written here: paths followed one by one, dense linear algebra, exact fractions, users."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.errors import ParameterError
from walkeval.measures.base import parse_measure
from walkeval.measures.stopping_time import (
    DFBM,
    PH,
    RWBM,
    SFBM,
    BrowsingModel,
    average_precision,
    discounted_cumulated_gain,
    expected_precision,
    expected_precisions,
    expected_reciprocal_rank,
    expected_steps,
    precision,
    rank_biased_precision,
)
from walkeval.ranked import RankedLists
from walkeval.stopping_law import Law, moments, precision_law, simulate, steps_law

RUN_R = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
RUN_S = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]
FIGURE_1D = RWBM(0.5, 0.25)


def constant(value):
    """A probability that does not say that it is constant: it takes the path of the general models."""
    return lambda ranks, gains: np.full(len(ranks), value)


# --- oracles ---------------------------------------------------------------------------------------------


def follow_paths(forward, backward, stop, gains, g, tail=1e-13):
    """All (H, S) with their probabilities, by following every path with the visits to each document."""
    count = len(gains)
    start = tuple(int(i == 0) for i in range(count))
    alive = {(0, start): 1.0}
    ended = defaultdict(float)
    steps = 1
    while sum(alive.values()) > tail:
        after = defaultdict(float)
        for (rank, visits), mass in alive.items():
            if stop[rank] > 0:
                total = sum(g(k, gains[i]) for i in range(count) for k in range(1, visits[i] + 1))
                ended[steps, total] += mass * stop[rank]
            for move, chance in ((1, forward[rank]), (-1, backward[rank])):
                if chance > 0:
                    new = list(visits)
                    new[rank + move] += 1
                    after[rank + move, tuple(new)] += mass * chance
        alive = after
        steps += 1
    return ended


def dense_functions(forward, backward, stop, z):
    """First visit, first return and rest of every rank from (I - zP)^-1."""
    matrix = np.diag(forward[:-1], 1) + np.diag(backward[1:], -1)
    green = np.linalg.inv(np.eye(len(forward)) - z * matrix)
    own = np.diag(green)
    return green[0] / own, 1 - 1 / own, z * green @ stop


def dense_expectation(forward, backward, stop, gains, loss, nodes=64):
    """E[S/H] by one Gauss-Legendre rule over dense inverses, and E[S]/E[H]."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    gains = np.asarray(gains, dtype=float)
    one = 0.0
    for z, weight in zip((points + 1) / 2, weights / 2, strict=True):
        first, back, rest = dense_functions(forward, backward, stop, z)
        one += weight / z * np.sum(first * rest * gains / (1 - (1 - loss) * back))
    first, back, _ = dense_functions(forward, backward, stop, 1.0)
    two = np.sum(first * gains / (1 - (1 - loss) * back)) / np.sum(first / (1 - back))
    return one, two


def stepwise_expectation(forward, backward, stop, gains, effort, steps):
    """E[S/f(H)] without loss, by the recursion of users and of what they hold."""
    gains = np.asarray(gains, dtype=float)
    users, held, score = np.zeros(len(gains)), np.zeros(len(gains)), 0.0
    users[0] = 1.0

    def move(values):
        moved = np.zeros_like(values)
        moved[1:] += values[:-1] * forward[:-1]
        moved[:-1] += values[1:] * backward[1:]
        return moved

    for step in range(1, steps + 1):
        held = held + users * gains
        score += float(held @ stop) / effort(step)
        users, held = move(users), move(held)
    return score, users.sum()


@st.composite
def walks(draw, most=8):
    """Probabilities that keep s_i at least 0.02, so that the dense oracle is itself accurate; and gains."""
    count = draw(st.integers(1, most))
    share = st.floats(0, 1, allow_nan=False)
    forward, backward = [], []
    for _ in range(count):
        p = draw(share) * 0.98
        forward.append(p)
        backward.append(draw(share) * (0.98 - p))
    gains = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.5]), min_size=count, max_size=count))
    return np.array(forward), np.array(backward), gains


def ends_applied(forward, backward):
    """The caption of Figure 1d: back from rank 1 is forward, forward from the last rank is the stop."""
    forward, backward = forward.copy(), backward.copy()
    forward[0] += backward[0]
    backward[0] = forward[-1] = 0.0
    return forward, backward, 1 - forward - backward


# --- expectations against the oracles ----------------------------------------------------------------------


@settings(deadline=None, max_examples=150)
@given(walks(), st.sampled_from([0.0, 0.25, 0.9, 1.0]))
def test_rank_dependent_walks_equal_dense_algebra(walk, loss):
    forward, backward, gains = walk
    model = RWBM(forward, backward)
    one, two = dense_expectation(*ends_applied(forward, backward), gains, loss)
    assert expected_precision(model, gains, loss) == pytest.approx(one, abs=1e-10)
    assert expected_precision(model, gains, loss, order=2) == pytest.approx(two, abs=1e-10)


@settings(deadline=None, max_examples=60)
@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=12),
    st.sampled_from(["forward", "stop"]),
    st.sampled_from(["stop", "backward", "continue"]),
    st.sampled_from([0.0, 0.25, 1.0]),
)
def test_constant_walks_equal_the_general_path(p, share, gains, first, last, loss):
    q = share * (1 - p)
    tables, general = RWBM(p, q, first, last), RWBM(constant(p), constant(q), first, last)
    for order in (1, 2):
        assert expected_precision(tables, gains, loss, order=order) == pytest.approx(
            expected_precision(general, gains, loss, order=order), abs=1e-12
        )


@pytest.mark.parametrize("gains", [[1, 0, 2], [0, 3, 1], [1, 1, 0, 2]])
@pytest.mark.parametrize("loss", [0.0, 0.3, 1.0, "harmonic"])
def test_expectations_and_law_equal_all_paths(gains, loss):
    forward, backward, stop = ends_applied(np.array([0.3, 0.25, 0.4, 0.2][: len(gains)]), np.full(len(gains), 0.2))
    model = RWBM([0.3, 0.25, 0.4, 0.2][: len(gains)], [0.2] * len(gains))
    if loss == "harmonic":
        loss = g = lambda k, y: y / k
    else:
        def g(k, y):
            return y * (1 - loss) ** (k - 1)
    ended = follow_paths(forward, backward, stop, gains, g)
    for effort, f in (("steps", float), ("one", lambda h: 1.0), ("log2", lambda h: np.log2(1 + h)), (np.sqrt, np.sqrt)):
        one = sum(mass * total / f(h) for (h, total), mass in ended.items())
        two = sum(mass * total for (_, total), mass in ended.items()) / sum(m * f(h) for (h, _), m in ended.items())
        assert expected_precision(model, gains, loss, effort, 1) == pytest.approx(one, abs=1e-11)
        assert expected_precision(model, gains, loss, effort, 2) == pytest.approx(two, abs=1e-11)
    law = precision_law(model, gains, loss)
    assert law.exact and law.band <= 1e-12
    for x in (0.1, 0.2517, 1 / 3, 0.5, 0.61, 1.0, 1.4, 2.0):
        assert law.cdf(x) == pytest.approx(sum(m for (h, t), m in ended.items() if t / h <= x + 1e-9), abs=1e-11)
    assert law.mean == pytest.approx(expected_precision(model, gains, loss), abs=1e-11)


def test_any_loss_function_equals_the_geometric_one_when_it_is_geometric():
    for model in (FIGURE_1D, RWBM(constant(0.5), constant(0.25)), RWBM(0.6, 0.39)):
        for order in (1, 2):
            by_function = expected_precision(model, RUN_R, lambda k, y: y * 0.75 ** (k - 1), order=order)
            assert by_function == pytest.approx(expected_precision(model, RUN_R, 0.25, order=order), abs=1e-12)
            kept = expected_precision(model, RUN_R, lambda k, y: y, order=order)
            assert kept == pytest.approx(expected_precision(model, RUN_R, order=order), abs=1e-12)


def test_a_slow_loss_function_is_refused_with_its_error():
    with pytest.raises(ParameterError, match="does not settle"):
        expected_precision(RWBM(0.5, 0.5), [1] + [0] * 4000, lambda k, y: y / np.log2(1 + k), order=2)


@pytest.mark.parametrize(("p", "q", "steps"), [(0.5, 0.25, 400), (0.9, 0.099, 40_000), (0.999, 0.001, 5_000)])
def test_a_thousand_documents_equal_the_step_recursion(p, q, steps):
    gains = (np.random.default_rng(1).random(1000) < 0.3).astype(float)
    score, left = stepwise_expectation(*ends_applied(np.full(1000, p), np.full(1000, q)), gains, float, steps)
    assert left < 1e-14
    assert expected_precision(RWBM(p, q), gains) == pytest.approx(score, abs=1e-12)


def test_a_thousand_documents_with_loss_equal_dense_algebra():
    gains = np.zeros(1000)
    gains[[0, 2, 3, 10, 400, 999]] = 1, 2, 1, 1, 3, 1
    one, two = dense_expectation(*ends_applied(np.full(1000, 0.5), np.full(1000, 0.25)), gains, 0.25, nodes=20)
    assert expected_precision(FIGURE_1D, gains, 0.25) == pytest.approx(one, abs=1e-12)
    assert expected_precision(FIGURE_1D, gains, 0.25, order=2) == pytest.approx(two, abs=1e-12)


def test_relevance_dependent_walks_in_one_batch_equal_single_lists():
    def forward(ranks, gains):
        return np.where(gains > 0, 0.3, 0.6) + 0.1 / ranks

    random = np.random.default_rng(2)
    model = RWBM(forward, lambda ranks, gains: np.where(gains > 0, 0.4, 0.1))
    lists = [random.integers(0, 3, random.integers(0, 30)) for _ in range(40)]
    together = expected_precisions(model, lists, 0.25)
    for gains, score in zip(lists, together, strict=True):
        assert score == pytest.approx(expected_precision(model, gains, 0.25), abs=1e-13)
        if len(gains):
            padded = np.append(gains, 0.0)
            ranks = np.arange(1, len(padded) + 1)
            p, q = forward(ranks, padded)[:-1], np.where(gains > 0, 0.4, 0.1)
            assert score == pytest.approx(dense_expectation(*ends_applied(p, q), gains, 0.25, 100)[0], abs=1e-10)


def test_an_endless_list_is_the_limit_of_padding_it_with_nonrelevant_documents():
    for p, q in ((0.5, 0.25), (0.3, 0.5), (0.8, 0.0), (0.0, 0.4)):
        for effort in ("steps", "log2", "one"):
            for order in (1, 2):
                endless = expected_precision(RWBM(p, q, last="continue"), RUN_R, 0.25, effort, order)
                padded = expected_precision(RWBM(p, q), RUN_R + [0] * 300, 0.25, effort, order)
                assert endless == pytest.approx(padded, abs=1e-12)
    # Without a stop she is lost among the nonrelevant documents, sooner or later: the limit of longer lists.
    for p, q, longer, slack in ((0.6, 0.4, 2000, 1e-3), (0.5, 0.5, 2000, 2e-2)):
        endless = RWBM(p, q, last="continue")
        assert expected_steps(endless, [1, 0, 1]) == np.inf
        assert expected_precision(endless, [1, 0, 1]) == pytest.approx(0.0, abs=1e-12)
        near, far = (expected_precision(RWBM(p, q), [1, 0, 1] + [0] * n) for n in (longer // 10, longer))
        assert 0 < far < near / 5 and far < slack
    # K(p, q, infinity) of the appendix C, whose first rank has p_1 = p.
    p, q = 0.5, 0.25
    limit = (2 * p - 1 + np.sqrt(1 - 4 * p * q)) / (2 * p * (1 - p - q))
    assert expected_steps(RWBM(p, q, first="stop", last="continue"), [0, 0]) == pytest.approx(limit, rel=1e-13)


# --- users who hardly ever stop -----------------------------------------------------------------------------


def fraction_visits(count, p, q):
    """Expected visits to each rank from rank 1, in exact fractions, ends as in Figure 1d."""
    p, q = Fraction(p), Fraction(q)
    forward = [p + q] + [p] * (count - 2) + [Fraction(0)]
    backward = [Fraction(0)] + [q] * (count - 1)
    # From the bottom up: the visits to rank i+1 are a fixed multiple of those to rank i.
    ratio = [Fraction(0)] * count
    for i in range(count - 1, 0, -1):
        onward = ratio[i] * backward[i + 1] if i + 1 < count else Fraction(0)
        ratio[i - 1] = forward[i - 1] / (1 - onward)
    visits = [1 / (1 - ratio[0] * backward[1])]
    for i in range(1, count):
        visits.append(visits[-1] * ratio[i - 1])
    return visits


@pytest.mark.parametrize(
    ("count", "p", "q"), [(10, "0.5", "0.5"), (60, "0.3", "0.7"), (40, "0.45", "0.5499"), (300, "0.3", "0.7")]
)
def test_order_2_equals_exact_fractions(count, p, q):
    gains = [i % 3 == 0 for i in range(count)]
    visits = fraction_visits(count, p, q)
    exact = float(sum(v for v, y in zip(visits, gains, strict=True) if y) / sum(visits))
    for model in (RWBM(float(p), float(q)), RWBM(constant(float(p)), constant(float(q)))):
        assert expected_precision(model, gains, order=2) == pytest.approx(exact, abs=1e-12)
    if count < 100:
        assert expected_steps(RWBM(float(p), float(q)), gains) == pytest.approx(float(sum(visits)), rel=1e-9)


@pytest.mark.parametrize("count", [100, 400, 1000])
def test_a_user_who_never_stops_has_her_long_run_average(count):
    p, q = 0.3, 0.7
    law = np.concatenate(([1.0], (p / q) ** np.arange(count - 1) / q))  # detailed balance, p_1 = 1
    law /= law.sum()
    gains = np.array([1, 0, 0, 1] * (count // 4), dtype=float)
    for model in (RWBM(p, q), RWBM(constant(p), constant(q))):
        for order in (1, 2):
            assert expected_precision(model, gains, order=order) == pytest.approx(law @ gains, abs=1e-12)
            assert expected_precision(model, gains, 0.25, order=order) == pytest.approx(0.0, abs=1e-12)
    assert expected_precision(RWBM(0.0, 1.0), [1, 0, 1]) == pytest.approx(0.5, abs=1e-12)


# --- the paper -----------------------------------------------------------------------------------------------


def test_example_4_1():
    path, gains, loss = [1, 2, 1, 2, 3], [3, 2, 3, 0, 1], 0.5
    # This user is certain if the other steps of the path have probability 0: force her by her visits.
    yielded = [gains[rank - 1] * (1 - loss) ** path[:n].count(rank) for n, rank in enumerate(path)]
    assert yielded == [3, 2, 1.5, 1, 3]
    simulation = simulate(RWBM([1, 0.5, 0, 0, 0], [0, 0.5, 0, 0, 0]), gains, 4000, "example 4.1", loss)
    five = simulation.steps == 5
    assert five.any()
    assert simulation.utility[five] == pytest.approx(sum(yielded))
    assert simulation.value[five] == pytest.approx(sum(yielded) / 5)


def test_figure_1_legends():
    for run in (RUN_R, RUN_S):
        for order in (1, 2):
            assert expected_precision(DFBM(), run, order=order) == pytest.approx(0.4, abs=1e-15)
    assert f"{average_precision().score(RUN_R):.2f} {average_precision().score(RUN_S):.2f}" == "0.58 0.68"
    for infinite in (True, False):
        rbp = rank_biased_precision(0.5, infinite)
        assert f"{rbp.score(RUN_R):.2f} {rbp.score(RUN_S):.2f}" == "0.57 0.47"


def test_figure_1_orders():
    # 1b: orders 1 and 2 agree, s is better, the laws cross above 0.75. 1c: r dominates.
    model = average_precision().model
    for order in (1, 2):
        assert expected_precision(model, RUN_S, order=order) > expected_precision(model, RUN_R, order=order)
    assert precision_law(model, RUN_R).compare(precision_law(model, RUN_S)) == ("crosses", (0.8,))
    law_r, law_s = precision_law(SFBM(0.5), RUN_R), precision_law(SFBM(0.5), RUN_S)
    assert law_r.compare(law_s) == ("dominates", ())
    assert law_s.compare(law_r) == ("dominated", ())
    assert law_r.compare(law_r) == ("equal", ())
    # 1d: orders 1 and 2 swap the runs, and the laws cross: s is better in the middle only.
    assert expected_precision(FIGURE_1D, RUN_R, 0.25) > expected_precision(FIGURE_1D, RUN_S, 0.25)
    assert expected_precision(FIGURE_1D, RUN_R, 0.25, order=2) < expected_precision(FIGURE_1D, RUN_S, 0.25, order=2)
    laws = [precision_law(FIGURE_1D, run, 0.25, tail=1e-7) for run in (RUN_R, RUN_S)]
    assert all(law.exact and law.band <= 1e-7 for law in laws)
    verdict, crossings = laws[0].compare(laws[1])
    assert verdict == "crosses"
    assert crossings == pytest.approx((7 / 18, 2 / 3), abs=0.02)
    assert laws[0].mean == pytest.approx(expected_precision(FIGURE_1D, RUN_R, 0.25), abs=1e-6)


def test_appendix_c_polynomial():
    # N = 6, run (1,0,0,1,0,1), p_1 = p: the printed fraction is E[T(H)].
    for p, q in ((0.45, 0.3), (0.2, 0.5), (0.6, 0.1)):
        numerator = 1 - 4 * p * q + p**3 + 3 * p**2 * q**2 - p**4 * q + p**5
        printed = numerator / (1 - 5 * p * q + 6 * p**2 * q**2 - p**3 * q**3)
        model = RWBM(p, q, first="stop")
        assert expected_precision(model, [1, 0, 0, 1, 0, 1], effort="one") == pytest.approx(printed, abs=1e-12)
        assert moments(model, [1, 0, 0, 1, 0, 1]).mean_utility == pytest.approx(printed, abs=1e-12)


def test_appendix_b_variance_of_the_forward_model():
    p, gains = 0.7, [1, 0, 2, 1, 0, 3]
    count = len(gains)
    variance = sum(
        gains[m] * p**m * (1 - p**m) * (gains[m] + 2 * sum(gains[i] * p ** (i - m) for i in range(m + 1, count)))
        for m in range(1, count)
    )
    for model in (SFBM(p), RWBM(p, 1e-14)):
        assert moments(model, gains).variance_utility == pytest.approx(variance, abs=1e-10)


def test_the_figure_1d_measure_by_name():
    measure = parse_measure('PH(browsing="RWBM",p=0.5,q=0.25,loss=0.25,order=1)')
    scores = measure.score(RankedLists.from_gains([RUN_R, RUN_S, [], [0, 0], [1]]))
    expected = [expected_precision(FIGURE_1D, run, 0.25) for run in (RUN_R, RUN_S)]
    assert scores == pytest.approx([*expected, 0.0, 0.0, 1.0], abs=1e-14)


# --- classical measures --------------------------------------------------------------------------------------

graded_lists = st.lists(st.integers(0, 3), min_size=1, max_size=60)


@settings(deadline=None, max_examples=80)
@given(graded_lists, st.integers(0, 20))
def test_average_precision_both_versions(gains, missing):
    relevant = [int(y > 0) for y in gains]
    found = sum(relevant)
    total = sum(sum(relevant[: i + 1]) / (i + 1) for i, r in enumerate(relevant) if r)
    assert average_precision(max(1, found + missing)).score(gains) == pytest.approx(
        total / max(1, found + missing), abs=1e-12
    )
    assert average_precision().score(gains) == pytest.approx(total / found if found else 0.0, abs=1e-12)
    assert precision().score(gains) == pytest.approx(found / len(gains), abs=1e-12)


@settings(deadline=None, max_examples=80)
@given(graded_lists, st.sampled_from([0.0, 0.5, 0.8, 0.95, 0.999]))
def test_rank_biased_precision_both_versions(gains, p):
    total = sum(y * p**i for i, y in enumerate(gains))
    assert rank_biased_precision(p).score(gains) == pytest.approx((1 - p) * total, abs=1e-12)
    finite = sum(p**i for i in range(len(gains)))
    assert rank_biased_precision(p, infinite=False).score(gains) == pytest.approx(total / finite, abs=1e-12)
    lists = RankedLists.from_gains([gains])
    for last, value in (("continue", (1 - p) * total), ("stop", total / finite)):
        assert PH(browsing="SFBM", p=p, order=2, last=last).score(lists)[0] == pytest.approx(value, abs=1e-12)


@settings(deadline=None, max_examples=80)
@given(graded_lists, st.sampled_from([2.0, 3.0, 10.0]))
def test_discounted_cumulated_gain(gains, base):
    value = sum(y / max(1.0, np.log(i) / np.log(base)) for i, y in enumerate(gains, start=1))
    measure = discounted_cumulated_gain(base)
    assert measure.score(gains) == pytest.approx(value, abs=1e-11)
    assert expected_precision(measure.model, gains, effort="one", order=2) == pytest.approx(value, abs=1e-11)


@settings(deadline=None, max_examples=80)
@given(graded_lists)
def test_expected_reciprocal_rank(gains):
    stops = [(2**y - 1) / 2**3 for y in gains]
    value, left = 0.0, 1.0
    for i, stop in enumerate(stops, start=1):
        value += left * stop / i
        left *= 1 - stop
    assert expected_reciprocal_rank(3).score(gains) == pytest.approx(value, abs=1e-12)
    assert expected_reciprocal_rank(3, forced=True).score(gains) == pytest.approx(value + left / len(gains), abs=1e-12)


# --- the law of H, moments, laws, users -----------------------------------------------------------------------


def test_stochastic_forward_expectation_is_that_of_the_law_of_h():
    # Appendix A prints p^N for P[H = N]; it is p^(N-1), since the probabilities add up to 1.
    p, count = 0.6, 7
    gains = [1, 0, 1, 1, 0, 0, 1]
    law = [p ** (h - 1) * (1 - p) for h in range(1, count)] + [p ** (count - 1)]
    assert sum(law) == pytest.approx(1.0)
    value = sum(mass * sum(gains[:h]) / h for h, mass in enumerate(law, start=1))
    assert expected_precision(SFBM(p), gains) == pytest.approx(value, abs=1e-14)
    assert steps_law(SFBM(p), gains).probability == pytest.approx(law)
    assert PH(browsing="SFBM", p=p, q=0.9).score(RankedLists.from_gains([gains]))[0] == pytest.approx(value)


@settings(deadline=None, max_examples=40)
@given(walks(most=4), st.sampled_from([0.0, 0.4, 1.0]))
def test_moments_equal_the_laws(walk, loss):
    forward, backward, gains = walk
    model = RWBM(forward * 0.8, backward * 0.8)
    found = moments(model, gains, loss)
    steps = steps_law(model, gains)
    assert found.mean_steps == pytest.approx(steps.mean, rel=1e-9)
    assert found.variance_steps == pytest.approx(steps.variance, rel=1e-8, abs=1e-9)
    utility = precision_law(model, gains, loss, effort="one", tail=1e-10)
    assert utility.exact
    assert found.mean_utility == pytest.approx(utility.mean, abs=1e-7)
    assert found.variance_utility == pytest.approx(utility.variance, abs=1e-5)


def test_moments_of_a_forward_model_by_hand():
    # H is 1 or 2 with probability 1/2 each; T is 1 or 3.
    assert moments(SFBM(0.5), [1, 2]) == pytest.approx((1.5, 0.25, 2.0, 1.0))
    assert moments(SFBM(0.5, last="continue"), [0]) == pytest.approx((2.0, 2.0, 0.0, 0.0))
    assert moments(average_precision(2).model, [1])[0] == np.inf


def test_law_of_h_of_a_walk_equals_matrix_powers():
    forward, backward, stop = ends_applied(np.full(6, 0.5), np.full(6, 0.25))
    matrix = np.diag(forward[:-1], 1) + np.diag(backward[1:], -1)
    law = steps_law(FIGURE_1D, [0] * 6)
    for h in (1, 2, 3, 10, 25):
        assert law.probability[h - 1] == pytest.approx((np.linalg.matrix_power(matrix, h - 1) @ stop)[0], abs=1e-14)
    assert law.mean == pytest.approx(expected_steps(FIGURE_1D, [0] * 6), abs=1e-10)


MODELS = [
    (FIGURE_1D, 0.25, "steps"),
    (RWBM(0.6, 0.3, first="stop", last="backward"), 0.0, "log2"),
    (RWBM(0.5, 0.3, last="continue"), 1.0, "steps"),
    (RWBM(lambda ranks, gains: np.where(gains > 0, 0.3, 0.7), constant(0.2)), lambda k, y: y / k, "one"),
    (SFBM(0.8), 0.0, "steps"),
    (SFBM(0.7, last="continue"), 0.5, "log2"),
    (average_precision(6).model, 0.0, "steps"),
    (expected_reciprocal_rank(2).model, "once", "steps"),
]


@pytest.mark.parametrize(("model", "loss", "effort"), MODELS)
def test_simulated_users_agree_with_the_expectation_and_the_law(model, loss, effort):
    gains, users = [1, 0, 2, 0, 0, 1], 40_000
    found = simulate(model, gains, users, "agreement", loss, effort)
    exact = expected_precision(model, gains, loss, effort)
    error = found.value.std() / np.sqrt(users)
    assert abs(found.value.mean() - exact) < 4.5 * error + 1e-12
    law = precision_law(model, gains, loss, effort, tail=1e-9)
    assert law.exact and law.band < 1e-8
    assert law.mean == pytest.approx(exact, abs=1e-7)
    band = np.sqrt(np.log(2 / 1e-5) / (2 * users))
    grid = np.unique(found.value)
    empirical = np.searchsorted(np.sort(found.value), grid, side="right") / users
    assert np.abs(law.cdf(grid) - empirical).max() < band + 1e-8


def test_simulation_is_seeded_and_chunks_do_not_show(monkeypatch):
    one = simulate(FIGURE_1D, RUN_R, 500, "name", 0.25)
    two = simulate(FIGURE_1D, RUN_R, 500, "name", 0.25)
    assert np.array_equal(one.value, two.value)
    assert not np.array_equal(one.value, simulate(FIGURE_1D, RUN_R, 500, 7, 0.25).value)
    monkeypatch.setattr("walkeval.stopping_law._CELLS", 1000)
    chunked = simulate(FIGURE_1D, RUN_R, 20_000, 3, 0.25)
    error = chunked.value.std() / np.sqrt(20_000)
    assert abs(chunked.value.mean() - expected_precision(FIGURE_1D, RUN_R, 0.25)) < 4.5 * error
    assert chunked.steps.min() == 1


def test_memory_chunks_do_not_change_the_exact_scores(monkeypatch):
    lists = [RUN_R, RUN_S, [1, 2], [1]]
    models = FIGURE_1D, RWBM(constant(0.5), constant(0.25))
    before = [expected_precisions(model, lists, 0.25, effort) for model in models for effort in ("steps", "log2")]
    monkeypatch.setattr("walkeval.stopping_walk._CELLS", 70)
    after = [expected_precisions(model, lists, 0.25, effort) for model in models for effort in ("steps", "log2")]
    assert np.array(before) == pytest.approx(np.array(after), abs=1e-14)


def test_a_law_that_cannot_be_followed_is_simulated_with_a_band():
    gains = [1] * 30
    law = precision_law(FIGURE_1D, gains, 0.25, users=20_000)
    assert not law.exact
    assert law.band == pytest.approx(np.sqrt(np.log(200) / 40_000))
    assert abs(law.mean - expected_precision(FIGURE_1D, gains, 0.25)) < law.band


def test_laws_given_up_paths_are_in_the_band():
    whole = precision_law(FIGURE_1D, RUN_R, 0.25, tail=1e-8)
    part = precision_law(FIGURE_1D, RUN_R, 0.25, states=300)
    assert part.exact and whole.band < part.band < 0.005
    grid = whole.support
    assert np.abs(whole.cdf(grid) - part.cdf(grid)).max() <= part.band + whole.band


def test_compare_crossing_and_touching():
    wide, narrow = Law.of([0, 1], [0.5, 0.5]), Law.of([0.5], [1])
    assert wide.compare(narrow) == ("crosses", (0.5,))
    assert Law.of([0.1 + 0.2], [1]).compare(Law.of([0.3], [1])).verdict == "equal"
    assert Law.of([0, 1, 2], [1, 0, 1]).support.tolist() == [0, 2]
    assert wide.mean == 0.5 and wide.variance == 0.25
    assert wide.cdf([-1, 0, 0.5, 1]).tolist() == [0, 0.5, 0.5, 1]


# --- edges and bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("browsing", ["DFBM", "SFBM", "RWBM"])
@pytest.mark.parametrize("effort", ["steps", "one", "log2"])
@pytest.mark.parametrize("order", [1, 2])
def test_edges(browsing, effort, order):
    measure = PH(browsing=browsing, effort=effort, order=order, loss=0.5)
    lists = [[], [0], [3], [1] * 5, [0] * 5, [0, 0, 2], [1] + [0] * 999, [0] * 999 + [1]]
    scores = measure.score(RankedLists.from_gains(lists))
    general = BrowsingModel(constant(measure.model.forward), constant(measure.model.backward))
    assert scores == pytest.approx(expected_precisions(general, lists, 0.5, effort, order), abs=1e-12)
    assert scores[[0, 1, 4]].tolist() == [0, 0, 0]
    assert scores[2] == pytest.approx(3.0)  # one visit, and f(1) = 1
    assert (scores >= 0).all() and np.isfinite(scores).all()
    if effort == "steps" and browsing != "RWBM":
        assert scores[3] == pytest.approx(1.0)


def test_limits_of_p_q_and_loss():
    gains = [1, 0, 1, 1]
    assert expected_precision(RWBM(1, 0), gains) == pytest.approx(0.75)
    assert expected_precision(RWBM(0, 0), gains) == 1.0
    assert expected_precision(RWBM(0.5, 0), gains) == pytest.approx(expected_precision(SFBM(0.5), gains))
    nearly = expected_precision(RWBM(0.5, 1e-13), gains, 0.5)
    assert nearly == pytest.approx(expected_precision(SFBM(0.5), gains), abs=1e-11)
    # p = 0: rank 1 leads to rank 2 with probability q, and rank 2 back or to the stop: H is geometric.
    law = steps_law(RWBM(0, 0.5), gains)
    assert law.probability[:20] == pytest.approx(0.5 ** np.arange(1, 21))
    # All relevant and no loss: every visit yields 1, so that P@H is 1; with full loss it is (documents seen) / H.
    assert expected_precision(FIGURE_1D, [1] * 9) == pytest.approx(1.0, abs=1e-13)
    assert expected_precision(FIGURE_1D, [1] * 9, 1.0) < expected_precision(FIGURE_1D, [1] * 9, 0.5) < 1


def test_measure_equals_single_lists_for_many_lengths_and_a_depth():
    random = np.random.default_rng(5)
    lists = [random.integers(0, 3, n).tolist() for n in random.integers(0, 50, 60)]
    reflected = PH(p=0.3, q=0.6, first="stop", last="backward", order=2)
    for measure in (PH(loss=0.25), reflected, PH(browsing="SFBM", p=0.9)):
        scores = measure.score(RankedLists.from_gains(lists))
        general = BrowsingModel(
            constant(measure.p), constant(measure.q if measure.browsing == "RWBM" else 0), measure.first, measure.last
        )
        singly = expected_precisions(general, lists, measure.loss, order=measure.order)
        assert scores == pytest.approx(singly, abs=1e-12)
    cut = parse_measure("PH(loss=0.25)@7").score(RankedLists.from_gains(lists))
    assert cut == pytest.approx(expected_precisions(FIGURE_1D, [one[:7] for one in lists], 0.25), abs=1e-13)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PH(p=0.7, q=0.4), "p=0.7 and q=0.4"),
        (lambda: PH(p=1.2), "p must be at most 1; got 1.2"),
        (lambda: PH(loss=-0.1), "loss must be at least 0; got -0.1"),
        (lambda: PH(browsing="RWMB"), "did you mean 'RWBM'"),
        (lambda: PH(order=3), "order=3"),
        (lambda: PH(p=float("nan")), "p must be finite; got nan"),
        (lambda: PH(depth=0), "depth must be at least 1; got 0"),
        (lambda: RWBM(0.7, 0.4), "p=0.7 and q=0.4"),
        (lambda: RWBM(-0.1, 0.4), r"forward must lie in \[0, 1\]; got -0.1"),
        (lambda: RWBM(0.5, float("nan")), r"backward must lie in \[0, 1\]; got nan"),
        (lambda: RWBM([], 0.1), "forward must be a number or one probability per rank"),
        (lambda: RWBM("half", 0.1), "forward must be probabilities; got 'half'"),
        (lambda: RWBM(0.5, 0.1, first="caption"), "unknown value of first 'caption'"),
        (lambda: RWBM(0.5, 0.1, last="stopp"), "did you mean 'stop'"),
        (lambda: RWBM([0.5, 0.5], [0.1, 0.6]).transitions([1, 0]), r"p=0.5 and q=0.6 \(rank 2\)"),
        (lambda: RWBM([0.5, 0.5], 0.1).transitions([1, 0, 1]), "forward must have 3 probabilities for 3 gains; got 2"),
        (lambda: expected_precision(FIGURE_1D, [1, -2]), "gains must not be negative; got -2"),
        (lambda: expected_precision(FIGURE_1D, [1, float("nan")]), "gains must be finite numbers; got nan"),
        (lambda: expected_precision(FIGURE_1D, [[1, 0]]), "gains must be one list"),
        (lambda: expected_precision(FIGURE_1D, [1], loss=1.5), r"loss must lie in \[0, 1\]; got 1.5"),
        (lambda: expected_precision(FIGURE_1D, [1], loss="onse"), "did you mean 'once'"),
        (lambda: expected_precision(FIGURE_1D, [1, 1], loss=lambda k, y: y * k), "must not increase"),
        (lambda: expected_precision(FIGURE_1D, [1, 1], loss=lambda k, y: -y), "not negative"),
        (lambda: expected_precision(FIGURE_1D, [1], effort="log3"), "did you mean 'log2'"),
        (lambda: expected_precision(FIGURE_1D, [1, 0], effort=lambda h: -h), "effort must be positive; got -1"),
        (lambda: expected_precision(FIGURE_1D, [1, 0], effort=lambda h: 1 / h), "effort must not decrease"),
        (lambda: expected_precision(FIGURE_1D, [1], order=0), "order must be 1 or 2; got 0"),
        (lambda: expected_precision(RWBM(0, 1), [1, 1], effort="one"), "never stops gaining"),
        (lambda: expected_precision(RWBM(0, 1), [1, 1], effort="log2"), "needs the law of H up to inf steps"),
        (lambda: simulate(RWBM(0, 1), [1, 1], 10, 1), "too many to simulate"),
        (lambda: simulate(FIGURE_1D, [1, 1], 0, 1), "users must be a whole number, at least 1; got 0"),
        (lambda: simulate(FIGURE_1D, [1, 1], 10, -1), "seed must be a name or a whole number"),
        (lambda: simulate(FIGURE_1D, [], 10, 1), "gains is empty"),
        (lambda: moments(RWBM(0, 1), [1, 1]), "too many for their moments"),
        (lambda: moments(FIGURE_1D, [1, 1], lambda k, y: y / k), "no moments in closed form"),
        (lambda: steps_law(RWBM(0.5, 0.5), [0] * 1000), "steps, more than 1000000"),
        (lambda: precision_law(FIGURE_1D, [1], tail=0), "tail must lie between 0 and 1; got 0"),
        (lambda: Law.of([], []), "at least one"),
        (lambda: average_precision(1).score([1, 1]), "recall_base must be at least the 2 in the list; got 1"),
        (lambda: average_precision(0), "recall_base must be a whole number, at least 1; got 0"),
        (lambda: discounted_cumulated_gain(1), "base must be above 1; got 1"),
        (lambda: expected_reciprocal_rank(2).score([3]), "max_gain must be at least the highest gain"),
    ],
)
def test_bad_input_names_the_parameter_and_the_value(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
