"""Expected search length against the enumeration of every order of the ties."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.errors import ParameterError
from walkeval.measures.base import parse_measure
from walkeval.measures.search_length import ESL, ESLRF, WeakOrder, convolve_laws
from walkeval.ranked import RankedLists

relaxed = settings(deadline=None, max_examples=80)
small_groups = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda group: 0 < sum(group) <= 5), max_size=4
)


def enumerated_law(groups, wanted):
    """Law of the nonrelevant documents read, by going through every order of every group's documents."""
    total = sum(group[1] for group in groups)
    law = [Fraction(0)] * (total + 1)
    orders = [list(itertools.permutations("+" * relevant + "-" * other)) for relevant, other in groups]
    # Only the group where the search ends matters; the others may stand in any one order.
    for place, group in enumerate(groups):
        found = sum(one[0] for one in groups[:place])
        if found < wanted <= found + group[0]:
            for order in orders[place]:
                documents = "".join("".join(one[0]) for one in orders[:place]) + "".join(order)
                read = missing = 0
                for document in documents:
                    missing += document == "+"
                    read += document == "-"
                    if missing == wanted:
                        break
                law[read] += Fraction(1, len(orders[place]))
            return law
    law[total] = Fraction(1)
    return law


@relaxed
@given(small_groups, st.integers(1, 6))
def test_law_is_the_enumeration_of_all_orders(groups, wanted):
    order = WeakOrder.from_groups(groups)
    expected = enumerated_law(groups, wanted)
    assert order.law(wanted) == pytest.approx([float(one) for one in expected], abs=1e-14)
    assert order.expected(wanted) == pytest.approx(float(sum(k * one for k, one in enumerate(expected))), abs=1e-12)
    alone = [(sum(one[0] for one in groups), sum(one[1] for one in groups))]
    assert order.random_expected(wanted) == WeakOrder.from_groups(alone).expected(wanted)


@relaxed
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from([0, 0, 1, 2, None]), st.integers(0, 3)), max_size=8), min_size=1, max_size=6
    ),
    st.integers(1, 4),
)
def test_scores_of_lists_equal_every_order_of_their_ties(rows, wanted):
    rows = [sorted(row, key=lambda one: -one[1]) for row in rows]
    gains = [[one[0] for one in row] for row in rows]
    scores = [[one[1] for one in row] for row in rows]
    lists = RankedLists.from_gains(gains, scores=scores)
    lengths, factors = ESL(wanted).score(lists), ESLRF(wanted).score(lists)
    for row, length, factor in zip(rows, lengths, factors, strict=True):
        groups = []
        for _, members in itertools.groupby(row, key=lambda one: one[1]):
            signs = [bool(one[0]) for one in members]
            groups.append((sum(signs), len(signs) - sum(signs)))
        if max((sum(group) for group in groups), default=0) > 6:
            continue
        expected = sum(k * one for k, one in enumerate(enumerated_law(groups, wanted)))
        assert length == pytest.approx(float(expected), abs=1e-12)
        order = WeakOrder.from_groups(groups)
        assert factor == pytest.approx(order.reduction_factor(wanted), abs=1e-12)
        by_score = WeakOrder.from_scores([one[0] for one in row], [one[1] for one in row])
        assert by_score == order


@relaxed
@given(
    st.lists(st.sampled_from([0, 1, None]), max_size=8), st.integers(0, 3), st.integers(0, 5), st.integers(1, 6)
)
def test_collection_adds_what_was_not_retrieved_as_last_group(gains, missing, outside, wanted):
    found = sum(gain == 1 for gain in gains)
    groups = [(1, 0) if gain == 1 else (0, 1) for gain in gains]
    size = len(gains) + missing + outside
    if size == 0:
        return
    lists = RankedLists.from_gains([gains], recall_base=found + missing)
    order = WeakOrder.from_groups([*groups, (missing, outside)])
    assert ESL(wanted, collection_size=size).score(lists)[0] == pytest.approx(order.expected(wanted), abs=1e-12)
    assert ESLRF(wanted, collection_size=size).score(lists)[0] == pytest.approx(
        order.reduction_factor(wanted), abs=1e-12
    )


def test_examples_of_the_paper():
    order = WeakOrder.from_text("+ - | + - - | + + - - -")
    assert order == WeakOrder.from_groups([(1, 1), (1, 2), (2, 3)])
    assert order.expected(1) == 0.5  # example 2.1
    assert order.law(2)[:4] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3], abs=1e-15)  # example 2.2
    assert order.law(2)[4:].tolist() == [0, 0, 0]
    assert order.expected(2) == 2
    # Example 3.1: a first group of one nonrelevant document, then two relevant among three others.
    assert WeakOrder.from_text("-|++---").law(1) == pytest.approx([0, 2 / 5, 3 / 10, 1 / 5, 1 / 10], abs=1e-15)
    # Example 4.1.
    both = convolve_laws([1 / 2, 1 / 4, 1 / 4], [1 / 3, 1 / 3, 1 / 3])
    assert both[:2] == pytest.approx([1 / 6, 1 / 4], abs=1e-15)
    assert both.sum() == pytest.approx(1, abs=1e-15)


def test_example_3_2_has_no_weak_order():
    for size in (1, 2, 3):
        for before in range(3):
            law = WeakOrder.from_groups([(0, 1)] * before + [(1, size)]).law(1)
            wished = np.zeros(len(law))
            if len(law) > 3:
                wished[[1, 3]] = 0.5
            assert not np.allclose(law, wished)


@relaxed
@given(small_groups, small_groups, st.integers(1, 4))
def test_expectations_of_two_results_add_up(first, second, wanted):
    one, other = WeakOrder.from_groups(first), WeakOrder.from_groups(second)
    law = convolve_laws(one.law(wanted), other.law(wanted))
    assert np.arange(len(law)) @ law == pytest.approx(one.expected(wanted) + other.expected(wanted), abs=1e-12)


@pytest.mark.parametrize(
    ("relevant", "nonrelevant", "wanted"), [(300, 700, 1), (300, 700, 300), (1, 5000, 1), (500, 9, 77)]
)
def test_large_groups_keep_their_digits(relevant, nonrelevant, wanted):
    order = WeakOrder.from_groups([(relevant, nonrelevant)])
    law = order.law(wanted)
    assert np.isfinite(law).all()
    assert law.sum() == pytest.approx(1, abs=1e-13)
    assert np.arange(len(law)) @ law == pytest.approx(order.expected(wanted), rel=1e-12)
    for read in {0, 1, nonrelevant // 2, nonrelevant}:
        exact = Fraction(
            math.comb(read + wanted - 1, read) * math.comb(nonrelevant - read + relevant - wanted, nonrelevant - read),
            math.comb(nonrelevant + relevant, nonrelevant),
        )
        assert law[read] == pytest.approx(float(exact), rel=1e-11, abs=1e-300)


def test_edges():
    lists = RankedLists.from_gains([[], [1], [0], [1, 1, 1], [0, None, 0], [0, 1, 0, 1]])
    assert ESL().score(lists).tolist() == [0, 0, 1, 0, 3, 1]
    assert ESL(wanted=2).score(lists).tolist() == [0, 0, 1, 0, 3, 2]
    assert ESLRF().score(lists) == pytest.approx([0, 0, 0, 0, 0, (2 / 3 - 1) / (2 / 3)])
    assert ESL().score(RankedLists.from_gains([])).shape == (0,)
    long = RankedLists.from_gains([[0] * 700 + [1] * 300], scores=[[1.0] * 1000])
    assert ESL(wanted=300).score(long)[0] == pytest.approx(300 * 700 / 301)
    assert WeakOrder.from_text("").expected(1) == 0
    assert WeakOrder.from_text("").law(1).tolist() == [1]
    assert WeakOrder.from_text("--").law(1).tolist() == [0, 0, 1]
    assert WeakOrder.from_text("++").reduction_factor(1) == 0
    assert WeakOrder.from_text("-|+").reduction_factor(1) == -1


def test_registry():
    measure = parse_measure("ESL(wanted=2)")
    assert measure.wanted == 2 and measure.needs_ties and not measure.higher_is_better
    assert parse_measure("ESLRF").name == "ESLRF(wanted=1)"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ESL(wanted=0), "wanted must be at least 1; got 0"),
        (lambda: ESL(wanted=1.5), "wanted must be a whole number; got 1.5"),
        (lambda: ESL(collection_size=2).score(RankedLists.from_gains([[0, 0, 1]])), "got 2"),
        (lambda: WeakOrder.from_text("+-").law(0), "wanted must be a whole number of at least 1; got 0"),
        (lambda: WeakOrder.from_text("+-").expected(True), "got True"),
        (lambda: WeakOrder.from_text("+x"), "'+x'"),
        (lambda: WeakOrder.from_text("+||-"), "'+||-'"),
        (lambda: WeakOrder.from_groups([(1, -1)]), "got -1"),
        (lambda: WeakOrder.from_groups([(1, 2, 3)]), "(1, 2, 3)"),
        (lambda: WeakOrder((1,), ()), "got 1 and 0"),
        (lambda: WeakOrder.from_scores([1, 0], [1.0]), "as many as gains (2); got 1"),
        (lambda: WeakOrder.from_scores([1, 0], [1.0, math.nan]), "got nan"),
        (lambda: WeakOrder.from_scores([1, -2], [1.0, 0.5]), "got -2"),
        (lambda: convolve_laws([0.5, 0.4], [1.0]), "first must sum to 1; got 0.9"),
        (lambda: convolve_laws([1.0], [-0.5, 1.5]), "second must hold probabilities of at least 0; got -0.5"),
        (lambda: convolve_laws([], [1.0]), "first must be a list of probabilities"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ParameterError) as error:
        call()
    assert named in str(error.value)
