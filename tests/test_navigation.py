"""EPRUM against the enumeration of everything that a user may come to see."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.errors import ParameterError
from walkeval.measures.base import parse_measure
from walkeval.measures.navigation import (
    EPGR,
    EPRUM,
    average_effort_precision,
    containment_navigation,
    distance_navigation,
    effort_precision,
    eprum_average_precision,
    eprum_precision,
    expected_inverse_length,
    expected_length,
    found_law,
    ideal_length,
    path_navigation,
    seen_probability,
    shortfall,
)
from walkeval.ranked import RankedLists

relaxed = settings(deadline=None, max_examples=60)
chance = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))


@st.composite
def navigations(draw, most_cells=10, least_ranks=1):
    elements = draw(st.integers(1, 3))
    ranks = draw(st.integers(least_ranks, max(least_ranks, most_cells // elements)))
    row = st.lists(chance, min_size=elements, max_size=elements)
    return np.array(draw(st.lists(row, min_size=ranks, max_size=ranks)))


def enumerated(navigation):
    """Every outcome of every navigation: P(F_k < r), E[A/ML] and P(reached) by recall."""
    ranks, elements = navigation.shape
    short = np.zeros((ranks + 1, elements))
    inverse = np.zeros(elements)
    for outcome in itertools.product((0, 1), repeat=navigation.size):
        went = np.array(outcome).reshape(navigation.shape)
        weight = np.prod(np.where(went, navigation, 1 - navigation))
        if weight == 0:
            continue
        for recall in range(1, elements + 1):
            length = next((k for k in range(1, ranks + 1) if went[:k].any(axis=0).sum() >= recall), None)
            short[: ranks + 1 if length is None else length, recall - 1] += weight
            inverse[recall - 1] += 0 if length is None else weight / length
    return short, inverse


@relaxed
@given(navigations())
def test_expectations_equal_the_enumeration_of_all_navigations(navigation):
    short, inverse = enumerated(navigation)
    assert shortfall(navigation) == pytest.approx(short, abs=1e-12)
    assert expected_inverse_length(navigation) == pytest.approx(inverse, abs=1e-12)
    # Equation (5) as it is printed.
    n = len(navigation)
    printed = 1 - short[n] / n - sum(short[k] / (k * (k + 1)) for k in range(1, n))
    assert printed == pytest.approx(inverse, abs=1e-12)
    certain = np.vstack([navigation, np.ones(navigation.shape[1])])
    assert expected_length(certain) == pytest.approx(1 + short[1:].sum(axis=0), abs=1e-12)


@relaxed
@given(st.lists(chance, max_size=7))
def test_law_of_the_number_seen_is_the_sum_over_subsets(chances):
    expected = np.zeros(len(chances) + 1)
    for outcome in itertools.product((0, 1), repeat=len(chances)):
        expected[sum(outcome)] += math.prod(p if seen else 1 - p for p, seen in zip(chances, outcome, strict=True))
    assert found_law(np.array(chances)) == pytest.approx(expected, abs=1e-13)


def test_law_of_many_elements_is_exact():
    # 300 equal chances: binomial, down to its smallest probabilities.
    law = found_law(np.full(300, 0.3))
    for count in (0, 1, 90, 250, 300):
        exact = math.comb(300, count) * 0.3**count * 0.7 ** (300 - count)
        assert law[count] == pytest.approx(exact, rel=1e-11)


def certain_candidates(rows, elements):
    """Random pointers, and one to each element itself, so that every recall can be reached."""
    return np.vstack([np.array(rows).reshape(-1, elements), np.eye(elements)])


@st.composite
def candidates(draw, most=3):
    elements = draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(chance, min_size=elements, max_size=elements), max_size=most))
    return certain_candidates(rows, elements), draw(st.integers(1, elements))


@relaxed
@given(candidates())
def test_ideal_list_is_the_best_permutation(problem):
    pointers, recall = problem
    best = min(
        expected_length(pointers[list(order)])[recall - 1] for order in itertools.permutations(range(len(pointers)))
    )
    found = ideal_length(pointers, recall)
    assert found.exact and found.lower == found.upper
    assert found.upper == pytest.approx(best, abs=1e-9)
    assert len(set(found.pointers)) == len(found.pointers)
    assert expected_length(pointers[list(found.pointers)])[recall - 1] == pytest.approx(best, abs=1e-9)
    # The greedy list and the bound, forced on the same candidates, hold the truth between them.
    greedy = ideal_length(pointers, recall, exact_pointers=0)
    assert greedy.lower <= best + 1e-9
    assert greedy.upper >= best - 1e-9
    assert expected_length(pointers[list(greedy.pointers)])[recall - 1] == pytest.approx(greedy.upper, abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(4, 6), st.integers(1, 6), st.floats(0.1, 0.9))
def test_bound_and_greedy_hold_the_exact_length_of_sparse_navigation(seed, elements, recall, density):
    random = np.random.default_rng(seed)
    recall = min(recall, elements)
    rows = random.random((5, elements)) * (random.random((5, elements)) < density)
    pointers = certain_candidates(rows, elements)
    exact, greedy = ideal_length(pointers, recall), ideal_length(pointers, recall, exact_pointers=0)
    assert exact.exact
    assert greedy.lower <= exact.upper + 1e-9 <= greedy.upper + 2e-9


def test_classical_user_needs_as_many_ranks_as_elements():
    for size in (1, 5, 40):
        for recall in {1, size // 2 + 1, size}:
            found = ideal_length(np.eye(size), recall)
            assert (found.lower, found.upper, found.exact) == (recall, recall, True)
    assert expected_length(np.eye(5)).tolist() == [1, 2, 3, 4, 5]


def test_noisy_or_of_section_3():
    assert seen_probability([[0.4], [0.6], [1.0]]).ravel() == pytest.approx([0.4, 0.76, 1.0], abs=1e-15)


def test_table_1():
    navigation = np.array([[0.4, 0.4], [0.6, 0.4], [1.0, 0.0]])
    scenarios = {}
    for outcome in itertools.product((0, 1), repeat=6):
        went = np.array(outcome).reshape(3, 2)
        weight = np.prod(np.where(went, navigation, 1 - navigation))
        first = tuple(int(column.argmax()) + 1 if column.any() else 0 for column in went.T)
        scenarios[first] = scenarios.get(first, 0) + weight
    # Rank where a and b are first seen (0: never) and the printed percentages, in the order of the columns.
    printed = {
        (1, 1): 16.0,
        (1, 2): 9.6,
        (1, 0): 14.4,
        (2, 1): 14.4,
        (2, 2): 8.64,
        (2, 0): 12.96,
        (3, 1): 9.6,
        (3, 2): 5.76,
        (3, 0): 8.64,
    }
    assert {key: round(100 * value, 6) for key, value in scenarios.items() if value > 0} == printed
    inverse = expected_inverse_length(navigation)
    assert inverse == pytest.approx([0.8056, 0.3744], abs=1e-12)
    assert inverse.round(2).tolist() == [0.81, 0.37]
    assert round(eprum_precision(navigation, 0.5), 2) == 0.81
    # The paper multiplies the rounded 0.37 by 2; unrounded, precision at recall 2 is 0.7488.
    assert round(2 * inverse[1].round(2), 2) == 0.74
    assert eprum_precision(navigation, 1.0) == pytest.approx(0.7488, abs=1e-12)


def test_ideal_list_of_section_5():
    pointers = [[0.9, 0.9], [1, 0], [0, 1]]
    two = ideal_length(pointers, 2)
    assert two.upper == pytest.approx(1.29, abs=1e-12)
    assert two.pointers[0] == 0 and set(two.pointers) == {0, 1, 2}
    one = ideal_length(pointers, 1)
    assert one.upper == 1 and one.pointers in ((1,), (2,))
    short = shortfall(np.array(pointers, dtype=float)[list(two.pointers)])[:, 1]
    assert -np.diff(short) == pytest.approx([0.81, 0.09, 0.10], abs=1e-12)
    # A system that returns the ideal list itself: E[ML*] E[1/ML], which is above 1 since E[1/ML] > 1/E[ML].
    value = eprum_precision(np.array(pointers)[list(two.pointers)], 1.0, pointers=pointers)
    assert value == pytest.approx(1.29 * (0.81 + 0.09 / 2 + 0.10 / 3), abs=1e-12)


def test_precision_of_section_2():
    lists = RankedLists.from_gains([[1, 0, 0, 1, 0]], recall_base=3)
    assert [EPRUM(level).score(lists)[0] for level in (1 / 3, 2 / 3, 1.0)] == [1, 0.5, 0]
    navigation = np.zeros((5, 3))
    navigation[0, 0] = navigation[3, 1] = 1
    assert [eprum_precision(navigation, level) for level in (1 / 3, 2 / 3, 1.0)] == [1, 0.5, 0]


def test_levels_between_natural_recall_points_ask_for_the_next_one():
    lists = RankedLists.from_gains([[1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1]], recall_base=10)
    for wanted in range(1, 10):
        at_point = EPRUM(wanted / 10).score(lists)[0]
        assert EPRUM(wanted / 10 - 0.05).score(lists)[0] == at_point
    # 0.07 * 100 is 7.000000000000001 in floating point, and must still ask for 7 elements.
    assert 0.07 * 100 > 7
    assert EPRUM(0.07).score(RankedLists.from_gains([[0] + [1] * 100]))[0] == 7 / 8


@relaxed
@given(st.lists(st.lists(st.sampled_from([0, 0, 1, None]), max_size=10), min_size=1, max_size=5), st.integers(0, 3))
def test_classical_user_gives_average_precision(gains, missing):
    base = [sum(gain == 1 for gain in row) + missing for row in gains]
    lists = RankedLists.from_gains(gains, recall_base=base)
    averages = EPRUM().score(lists)
    for row, total, average in zip(gains, base, averages, strict=True):
        ranks = [rank for rank, gain in enumerate(row, 1) if gain == 1]
        precision = [number / rank for number, rank in enumerate(ranks, 1)] + [0.0] * (total - len(ranks))
        assert average == pytest.approx(sum(precision) / total if total else 0.0, abs=1e-12)
    for number in range(1, max(base) + 1):
        for row, total in zip(gains, base, strict=True):
            if number <= total:
                ranks = [rank for rank, gain in enumerate(row, 1) if gain == 1]
                one = RankedLists.from_gains([row], recall_base=total)
                expected = number / ranks[number - 1] if number <= len(ranks) else 0.0
                assert EPRUM(number / total).score(one)[0] == pytest.approx(expected, abs=1e-12)


@relaxed
@given(
    st.lists(st.lists(st.sampled_from([0, 0, 1, 2, 3, None]), max_size=8), min_size=1, max_size=5),
    st.integers(0, 2),
    st.one_of(st.none(), st.floats(0.05, 1)),
)
def test_lists_are_the_classical_navigation_of_graded_elements(gains, missing, level):
    base = [sum(bool(gain) for gain in row) + missing for row in gains]
    lists = RankedLists.from_gains(gains, recall_base=base, max_gain=3)
    scores = EPRUM(level).score(lists)
    for row, score in zip(gains, scores, strict=True):
        relevant = [rank for rank, gain in enumerate(row) if gain]
        navigation = np.zeros((len(row), len(relevant) + missing))
        navigation[relevant, np.arange(len(relevant))] = 1
        # Relevant documents that are not retrieved have gain 1.
        idealism = [row[rank] / 3 for rank in relevant] + [1 / 3] * missing
        if level is None:
            expected = eprum_average_precision(navigation, idealism)
        else:
            expected = eprum_precision(navigation, level, idealism)
        assert score == pytest.approx(expected, abs=1e-12)


@relaxed
@given(navigations(most_cells=8), st.floats(0.01, 1), st.data())
def test_graded_idealism_is_an_average_over_satisfaction_levels(navigation, level, data):
    elements = navigation.shape[1]
    eighths = st.lists(st.integers(0, 8), min_size=elements, max_size=elements)
    idealism = np.array(data.draw(eighths)) / 8
    # Multiples of 1/8: the integral over s is the mean over the middle of 8 equal ranges.
    expected = average = 0.0
    for s in (np.arange(8) + 0.5) / 8:
        ideal = idealism >= s
        if not ideal.any():
            continue
        total = int(ideal.sum())
        inverse = enumerated(navigation[:, ideal])[1]
        recall = next(r for r in range(1, total + 1) if r >= level * total - 1e-9)
        expected += recall * inverse[recall - 1] / 8
        average += (np.arange(1, total + 1) @ inverse) / total / 8
    assert eprum_precision(navigation, level, idealism) == pytest.approx(expected, abs=1e-12)
    assert eprum_average_precision(navigation, idealism) == pytest.approx(average, abs=1e-12)


@relaxed
@given(navigations(most_cells=9), navigations(most_cells=6))
def test_average_precision_is_the_integral_over_levels(navigation, rows):
    elements = navigation.shape[1]
    pointers = certain_candidates(np.resize(rows, (2, elements)), elements)
    levels = (np.arange(60) + 0.5) / 60  # 60 is a multiple of every number of elements used here
    mean = np.mean([eprum_precision(navigation, level, pointers=pointers) for level in levels])
    assert eprum_average_precision(navigation, pointers=pointers) == pytest.approx(mean, abs=1e-10)


def test_many_elements_and_ranks():
    random = np.random.default_rng(3)
    navigation = random.random((1000, 300)) * (random.random((1000, 300)) < 0.01)
    inverse = expected_inverse_length(navigation)
    assert np.isfinite(inverse).all() and (np.diff(inverse) <= 1e-15).all() and (inverse >= 0).all()
    # The mean number seen is the sum of the chances, rank by rank.
    seen = seen_probability(navigation)
    assert shortfall(navigation)[1:].sum(axis=1) == pytest.approx(300 - seen.sum(axis=1), rel=1e-10)
    lists = RankedLists.from_gains([[1] * 300 + [0] * 700, [0] * 700 + [1] * 300])
    assert EPRUM().score(lists)[0] == 1
    assert EPRUM(1.0).score(lists).tolist() == [1, 0.3]


def test_edges():
    lists = RankedLists.from_gains([[], [1], [0, 0], [1, 1], [None]], recall_base=[0, 1, 0, 2, 2])
    assert EPRUM().score(lists).tolist() == [0, 1, 0, 1, 0]
    assert EPRUM(0.5).score(lists).tolist() == [0, 1, 0, 1, 0]
    assert EPRUM().score(RankedLists.from_gains([])).shape == (0,)
    assert EPGR().score(RankedLists.from_gains([])).shape == (0,)
    assert eprum_average_precision(np.zeros((0, 2))) == 0
    assert eprum_average_precision(np.zeros((3, 0))) == 0
    assert eprum_average_precision(np.ones((2, 2)), idealism=[0, 0]) == 0
    assert expected_length([[0.5]]).tolist() == [math.inf]
    assert parse_measure("EPRUM@0.5").level == 0.5 and parse_measure("EPRUM").level is None
    assert parse_measure("EPRUM@0.5").name == "EPRUM@0.5"


@relaxed
@given(
    st.lists(st.lists(st.sampled_from([0, 0, 1, 2.5, None]), max_size=9), min_size=1, max_size=5),
    st.lists(st.sampled_from([1.0, 4.0]), max_size=2),
    st.integers(1, 20).map(lambda k: k / 20),
)
def test_effort_precision_is_the_ratio_of_the_ranks_needed(gains, missing, level):
    def needed(values, target):
        return next((rank for rank in range(1, len(values) + 1) if sum(values[:rank]) >= target - 1e-9), None)

    for row in gains:
        values = [gain or 0 for gain in row]
        ideal = sorted([gain for gain in values if gain] + missing, reverse=True)
        found = needed(values, level * sum(ideal)) if ideal else None
        expected = needed(ideal, level * sum(ideal)) / found if found else 0.0
        assert effort_precision(values, ideal, level) == pytest.approx(expected, abs=1e-12)
        efforts = [needed(ideal, sum(values[:rank])) / rank for rank in range(1, len(row) + 1) if values[rank - 1]]
        expected = sum(efforts) / len(ideal) if ideal else 0.0
        assert average_effort_precision(values, ideal) == pytest.approx(expected, abs=1e-12)
    # All lists in one call, with every relevant document retrieved.
    together = RankedLists.from_gains(gains)
    alone = [RankedLists.from_gains([row]) for row in gains]
    for measure in (EPGR(), EPGR(level)):
        assert measure.score(together) == pytest.approx([measure.score(one)[0] for one in alone], abs=1e-12)


def test_effort_precision_of_binary_gains_is_average_precision():
    lists = RankedLists.from_gains([[1, 0, 1, None, 1], [0, 0], [0, 1]], recall_base=[5, 1, 1])
    assert EPGR().score(lists) == pytest.approx(EPRUM().score(lists), abs=1e-12)


def test_navigation_models():
    # A section (0, 100) with paragraphs (0, 20) and (30, 80); the user may go up and down, not sideways.
    spans = [(0, 100), (0, 20), (30, 80)]
    expected = [[1, 0.2, 0.5], [0.2, 1, 0], [0.5, 0, 1]]
    assert containment_navigation(spans, spans) == pytest.approx(np.array(expected))
    assert containment_navigation([], spans).shape == (0, 3)
    assert distance_navigation([0, 1, 1e6], 2.0) == pytest.approx([0.5, 1 / (1 + math.exp(2)), 0])
    assert path_navigation([[0, 0.5, 0.3], [0, 0, 0.8], [0, 0.12, 0]], 0) == pytest.approx([1, 0.536, 0.7])


@relaxed
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_path_navigation_equals_long_walks(seed, size):
    random = np.random.default_rng(seed)
    steps = random.random((size, size)) * (random.random((size, size)) < 0.5)
    steps *= 0.8 / np.maximum(steps.sum(axis=1, keepdims=True), 0.8)
    expected = []
    for target in range(size):
        # First visits, step by step; at most 0.8 of the users go on each time.
        blocked = steps.copy()
        blocked[target] = 0
        at = np.zeros(size)
        at[0] = 1
        arrived = at[target]
        at[target] = 0
        for _ in range(300):
            at = at @ blocked
            arrived += at[target]
            at[target] = 0
        expected.append(arrived)
    assert path_navigation(steps, 0) == pytest.approx(expected, abs=1e-12)


def test_path_navigation_with_walks_that_never_end():
    # From 0 half the users are caught between 1 and 2 for ever, the others go to 3.
    steps = [[0, 0.5, 0, 0.5], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert path_navigation(steps, 0) == pytest.approx([1, 0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: EPRUM(level=0), "level must be above 0; got 0"),
        (lambda: EPRUM(level=1.5), "level must be at most 1; got 1.5"),
        (lambda: EPGR(level=-1), "got -1"),
        (lambda: seen_probability([[0.5, 1.2]]), "navigation must hold probabilities from 0 to 1; got 1.2"),
        (lambda: seen_probability([0.5]), "two dimensions; got 1"),
        (lambda: found_law([math.nan]), "seen must hold probabilities from 0 to 1; got nan"),
        (lambda: found_law(0.5), "single number"),
        (lambda: eprum_precision([[1.0]], 0), "level must be above 0 and at most 1; got 0"),
        (lambda: eprum_precision([[1.0]], "1"), "got '1'"),
        (lambda: eprum_precision([[1.0]], 1, idealism=[-0.5]), "idealism must hold probabilities"),
        (lambda: eprum_precision([[1.0]], 1, idealism=[0.5, 0.5]), "1 elements"),
        (lambda: eprum_precision([[1.0]], 1, pointers=[[1.0, 0.0]]), "got 2"),
        (lambda: ideal_length([[1.0]], 2), "recall must be a whole number from 1 to the 1 elements; got 2"),
        (lambda: ideal_length([[0.5]], 1), "recall=1"),
        (lambda: containment_navigation([(5, 5)], [(0, 1)]), "entries must start before they end; got (5.0, 5.0)"),
        (lambda: distance_navigation([-1], 1), "distance must be at least 0; got -1"),
        (lambda: distance_navigation([1], math.inf), "theta must be finite; got inf"),
        (lambda: path_navigation([[0.6, 0.6], [0, 0]], 0), "rows of at most 1; got 1.2"),
        (lambda: path_navigation([[0.5, 0.1]], 0), "square table; got 1 by 2"),
        (lambda: path_navigation([[0.5]], 1), "entry must be an element from 0 to 0; got 1"),
        (lambda: average_effort_precision([1, 1], [1]), "ideal_gains"),
        (lambda: effort_precision([1], [1, -1], 0.5), "-1.0"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ParameterError) as error:
        call()
    assert named in str(error.value)
