"""The registry of measures and the grammar of their names."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval import evaluate
from walkeval.citations import CITATIONS, bibtex
from walkeval.errors import ParameterError, UnknownNameError, WalkevalError
from walkeval.measures import parse_measure
from walkeval.measures.base import Measure, known_measures, parameter
from walkeval.ranked import RankedLists

ALL = sorted(known_measures())


# --- every measure ---


@pytest.mark.parametrize("family", ALL)
def test_every_measure_says_what_it_is(family):
    measure = known_measures()[family]
    assert measure.user_model.strip().endswith(".")
    assert measure.undefined.strip()
    assert measure.__doc__.strip()
    assert bibtex(measure.citation).startswith("@")
    assert measure.at is None or measure.at in {one.name for one in fields(measure)}


@pytest.mark.parametrize("family", [one for one in ALL if one != "MPChain"])
def test_a_name_is_read_back_as_the_same_measure(family):
    measure = parse_measure(family)
    assert parse_measure(measure.name) == measure
    assert parse_measure(measure.name).name == measure.name == str(measure)


def test_a_chain_needs_its_matrix():
    with pytest.raises(ParameterError, match="MPChain needs its parameter matrix"):
        parse_measure("MPChain")


def test_citations_are_whole():
    for key, entry in CITATIONS.items():
        text = bibtex(key)
        assert text.startswith(f"@{entry['kind']}{{{key},\n")
        assert text.endswith("\n}")
        assert text.count("{") == text.count("}")
        assert entry["year"] in key
    with pytest.raises(UnknownNameError, match="did you mean 'moffat2008'"):
        bibtex("moffat2080")


# --- names ---


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("AP", "AP"),
        ("AP()", "AP"),
        (" AP ", "AP"),
        ("P@10", "P@10"),
        ("P @ 10", "P@10"),
        ("P@10.0", "P@10"),
        ("P(k=10)", "P@10"),
        ("RBP", "RBP(p=0.8)"),
        ("RBP(p=0.50)", "RBP(p=0.5)"),
        ("RBP( p = 5e-1 )", "RBP(p=0.5)"),
        ("MP(model='GL_AD_ID')", 'MP(model="GL_AD_ID")'),
        ('MP(rescale="recall",model="LO_OR_LID")', 'MP(model="LO_OR_LID",rescale="recall")'),
    ],
)
def test_spellings_of_one_name(text, name):
    assert parse_measure(text).name == name


@settings(deadline=None)
@given(st.floats(0.001, 0.999))
def test_numbers_in_names_lose_no_bit(p):
    measure = parse_measure("RBP", p=p)
    assert parse_measure(measure.name).p == p


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "cannot read the measure name ''"),
        ("@10", "cannot read the measure name"),
        ("P@", "cannot read the measure name"),
        ("P@10@5", "cannot read the measure name"),
        ("P(k=10", "cannot read the measure name"),
        ("AP; AP", "cannot read the measure name"),
        ("NDGC@10", "unknown measure 'NDGC'; did you mean 'nDCG'"),
        ("ap", "unknown measure 'ap'; did you mean 'AP'"),
        ("AP@10", "AP takes no cut-off: leave out '@10'"),
        ("AP(x=1)", "AP takes no parameters; got 'x'"),
        ("RBP(q=1)", "unknown parameter of RBP 'q'; known: p"),
        ("RBP(0.8)", "cannot read '0.8' in 'RBP\\(0.8\\)'; write parameter=value"),
        ("RBP(p=)", "cannot read 'p='"),
        ("RBP(p=0.8 q=1)", "cannot read 'p=0.8 q=1'"),
        ("RBP(p=0.8,p=0.9)", "p is given twice"),
        ("P(k=5)@10", "k is given twice"),
        ("RBP(p=1.5)", "RBP: p must be"),
        ("RBP(p=-0.1)", "RBP: p must be"),
        ("RBP(p=True)", "RBP: p must be a number; got True"),
        ('RBP(p="0.8")', "RBP: p must be a number; got '0.8'"),
        ("RBP(p=nan)", "RBP: p must be finite; got nan"),
        ("P@0", "P: k must be at least 1; got 0"),
        ("P@-3", "P: k must be at least 1; got -3"),
        ("P@2.5", "P: k must be a whole number; got 2.5"),
        ("P@inf", "P: k must be finite; got inf"),
        ("P@nan", "P: k must be finite; got nan"),
        ("P@1e999", "P: k must be finite; got inf"),
        ("P@ten", "P: k must be a number; got 'ten'"),
        ('MP(model="GL_AD_IDD")', "did you mean 'GL_AD_ID'"),
        ('MP(rescale="recal")', "did you mean 'recall'"),
    ],
)
def test_bad_names_get_a_sentence(text, sentence):
    with pytest.raises(ParameterError, match=sentence):
        parse_measure(text)


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(
        st.text(max_size=20),
        st.from_regex(r"(AP|P|RBP|MP|nDCG|ERR)(\([a-z]{0,6}=?[-0-9a-zA-Z.\"',=]{0,8}\))?(@.{0,4})?", fullmatch=True),
    )
)
def test_any_text_is_a_measure_or_a_sentence(text):
    try:
        measure = parse_measure(text)
    except WalkevalError as error:
        assert str(error)
    else:
        assert parse_measure(measure.name) == measure


def test_parameters_as_keywords():
    assert parse_measure("RBP", p=0.5) == parse_measure("RBP(p=0.5)")
    assert parse_measure("P", k=np.int64(5)).name == "P@5"
    with pytest.raises(ParameterError, match="p is given twice, in the name 'RBP\\(p=0.5\\)' and as an argument"):
        parse_measure("RBP(p=0.5)", p=0.5)
    with pytest.raises(ParameterError, match="k must be finite"):
        parse_measure("P", k=10**400)


# --- a measure of one's own ---


def test_a_new_measure_writes_its_class_only():
    @dataclass(frozen=True)
    class Half(Measure):
        """Half of nothing."""

        label: ClassVar[str] = "Half"
        share: float = parameter(0.5, "how much", above=0, below=1)
        way: str = parameter("up", "where to", choices=("up", "down"))

        def score(self, lists: RankedLists):
            return np.full(len(lists.length), self.share)

    assert Half().name == "Half"
    assert Half(share=0.25, way="down").name == 'Half(share=0.25,way="down")'
    assert Half(share=np.float32(0.25)).share == 0.25
    for bad in (0, 1):
        with pytest.raises(ParameterError, match="Half: share must be (above|below) [01]; got [01]"):
            Half(share=bad)
    with pytest.raises(ParameterError, match="way='left' is not one of its values; known: down, up"):
        Half(way="left")
    assert "Half" not in known_measures(), "only `register` makes a measure known"
    with pytest.raises(ParameterError, match="has no score for ranked lists"):
        Measure.score(Half(), RankedLists.from_gains([[1]]))


# --- one list ---


def test_evaluate_by_hand():
    assert evaluate("P@2", [1, 0, 1]) == 0.5
    assert evaluate("P@10", [1, 0, 1]) == pytest.approx(0.2)
    assert evaluate("AP", [0, 1, 0, 1], recall_base=4) == pytest.approx((1 / 2 + 2 / 4) / 4)
    assert evaluate("RBP", [1, 0, 1], p=0.5) == pytest.approx(0.5 * (1 + 0.25))
    assert evaluate("AP", []) == 0
    assert evaluate("AP", [0, None, 0]) == 0


def test_a_table_of_gains_needs_a_measure_of_sessions():
    with pytest.raises(ParameterError, match="AP scores one ranked list; got a table of gains"):
        evaluate("AP", [[1, 0], [0, 1]])
    assert evaluate("sDCG", [[1, 0], [0, 1]]) > 0
