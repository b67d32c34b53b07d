"""Markov Precision: closed forms against the paper's own linear systems, and the oracles that the theory gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval import evaluate
from walkeval.errors import ParameterError
from walkeval.measures import parse_measure
from walkeval.measures.markov_precision import Kernel, model_names, stationary_law
from walkeval.ranked import RankedLists
from walkeval.reference import markov_precision as reference

BINARY = st.lists(st.sampled_from([0, 0, 0, 1]), min_size=1, max_size=30)
KERNELS = {
    "ID": reference.inverse_distance(),
    "LID": reference.logarithmic_inverse_distance(2),
    "constant": reference.constant(),
}


def literal(model: str, gains: list[int], **more) -> float:
    connectedness, space, kernel = model.split("_")
    return reference.markov_precision(gains, connectedness, space, KERNELS[kernel], **more)


@pytest.mark.parametrize("model", model_names())
@settings(max_examples=150, deadline=None)
@given(gains=BINARY, more=st.integers(0, 4))
def test_closed_forms_equal_the_linear_systems(model, gains, more):
    base = sum(gains) + more
    assert evaluate("MP", gains, model=model) == pytest.approx(literal(model, gains), abs=1e-10)
    ours = evaluate("MP", gains, base, model=model, rescale="recall")
    recall = sum(gains) / base if base else 0
    assert ours == pytest.approx(literal(model, gains) * recall, abs=1e-10)


@pytest.mark.parametrize("model", model_names())
@settings(max_examples=40, deadline=None)
@given(data=st.data(), gains=BINARY)
def test_continuous_time_equals_the_reference(model, data, gains):
    holding = data.draw(st.lists(st.floats(1e-3, 10), min_size=len(gains), max_size=len(gains)))
    ours = evaluate("MP", gains, model=model, holding=holding)
    assert ours == pytest.approx(literal(model, gains, holding=holding), abs=1e-10)


@pytest.mark.parametrize("model", model_names())
@pytest.mark.parametrize(
    "gains",
    [[0], [1], [0, 0], [1, 1], [1, 0], [0, 1], [1] * 12, [0] * 5 + [1], [1] + [0] * 30, [1, 0, 0, 0, 1]],
)
def test_edge_cases_equal_the_linear_systems(model, gains):
    assert evaluate("MP", gains, model=model) == pytest.approx(literal(model, gains), abs=1e-10)


@pytest.mark.parametrize("model", model_names())
def test_long_lists_equal_the_linear_systems(model):
    random = np.random.default_rng(7)
    gains = np.zeros(1000, dtype=int)
    gains[random.choice(1000, size=300, replace=False)] = 1
    gains = gains.tolist()
    assert evaluate("MP", gains, model=model) == pytest.approx(literal(model, gains), abs=1e-10)


@pytest.mark.parametrize("model", ["GL_AD_constant", "GL_OR_constant"])
@given(gains=BINARY, more=st.integers(0, 4))
def test_constant_kernel_times_recall_is_average_precision(model, gains, more):
    base = sum(gains) + more
    ours = evaluate("MP", gains, base, model=model, rescale="recall")
    assert ours == pytest.approx(evaluate("AP", gains, base), abs=1e-12)


@given(gains=BINARY)
def test_local_models_over_all_documents_do_not_depend_on_the_kernel(gains):
    values = {evaluate("MP", gains, model=f"LO_AD_{kernel}") for kernel in KERNELS}
    assert len(values) == 1


@pytest.mark.parametrize("model", model_names())
def test_many_lists_at_once_are_the_lists_one_by_one(model):
    random = np.random.default_rng(3)
    gains = [random.integers(0, 2, size=size).tolist() for size in (0, 1, 2, 5, 40, 40, 200)]
    together = parse_measure("MP", model=model).score(RankedLists.from_gains(gains))
    assert together.tolist() == pytest.approx([evaluate("MP", one, model=model) for one in gains], abs=1e-13)


def test_table_4_of_the_paper():
    runs = ([1, 1, 1, 1, 0, 0, 0, 1, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0, 1, 0], [1, 1, 0, 1, 1, 0, 0, 0, 0, 1])
    assert [f"{evaluate('MP', run, model='GL_AD_ID'):.4f}" for run in runs] == ["0.9205", "0.8668", "0.8120"]


def test_a_kernel_of_ones_own_takes_three_lines():
    square = Kernel("SQ", lambda distance: 1 / distance**2)
    gains = [1, 0, 1, 1]
    expected = reference.markov_precision(gains, "GL", "OR", lambda distance: 1 / distance**2)
    assert evaluate("MP", gains, model="GL_OR", kernel=square) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6))
def test_explicit_chain_of_a_model_equals_the_model(size, seed):
    random = np.random.default_rng(seed)
    gains = random.integers(0, 2, size=size).tolist()
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    alpha = np.where(distance > 0, 1 / (distance + 1), 0)
    matrix = alpha / alpha.sum(axis=1, keepdims=True)
    assert evaluate("MPChain", gains, matrix=matrix) == pytest.approx(evaluate("MP", gains, model="GL_AD_ID"), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 15), st.integers(0, 10**6))
def test_stationary_law_is_invariant(size, seed):
    matrix = np.random.default_rng(seed).random((size, size)) ** 8 + 1e-9
    matrix /= matrix.sum(axis=1, keepdims=True)
    law = stationary_law(matrix)
    assert law.sum() == pytest.approx(1)
    assert np.allclose(law @ matrix, law, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], "reducible"),
        ([[0.5, 0.4], [0.5, 0.5]], "row 1 must sum to 1; it sums to 0.9"),
        ([[1.5, -0.5], [0.5, 0.5]], "not negative"),
        ([[0.5, 0.5]], "square"),
        ([[float("nan")]], "finite"),
        ([], "square"),
    ],
)
def test_invalid_chains_are_refused_with_the_reason(matrix, words):
    with pytest.raises(ParameterError, match=words):
        stationary_law(matrix)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"model": "GL_AD_IDD"}, "did you mean 'GL_AD_ID'"),
        ({"model": "XX"}, "unknown model of MP 'XX'"),
        ({"model": "GL_AD", "kernel": Kernel("bad", lambda distance: -distance)}, "kernel bad"),
        ({"rescale": "precision"}, "rescale"),
        ({"model": "GL_AD_LID", "offset": 0}, "offset"),
        ({"holding": [1.0]}, "holding has 1 ranks"),
        ({"holding": 3}, "holding must be a list of numbers, one a rank; got 3"),
        ({"holding": [1.0, 0.0, 1.0]}, "holding must be finite and above 0; got 0.0 at rank 2"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(ParameterError, match=words.replace("(", r"\(")):
        evaluate("MP", [1, 0, 1], **parameters)
