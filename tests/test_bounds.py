"""Bounds over the judgements of unjudged documents, against all judgements of small lists one by one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval import bounds as module
from walkeval.bounds import bounds, collection_bounds
from walkeval.errors import ParameterError
from walkeval.measures import Measure, known_measures, parse_measure
from walkeval.measures.markov_precision import Kernel
from walkeval.ranked import RankedLists

CHAIN = [[0.2, 0.5, 0.2, 0.1], [0.6, 0.1, 0.2, 0.1], [0.1, 0.4, 0.1, 0.4], [0.3, 0.1, 0.5, 0.1]]
HOLDING = [1.0, 0.25, 3.0, 0.5, 2.0, 0.1, 1.0, 5.0, 1.0, 1.0]

NEEDED = {"MPChain": {"matrix": CHAIN}}
"""Parameters of the measures that have no default for them."""

VARIANTS = [
    ("P@3", {}),
    ("R@3", {}),
    ('bpref(variant="before_2006")', {}),
    ('bpref(variant="paper")', {}),
    ("RBP(p=0)", {}),
    ("DCG(base=2)@4", {}),
    ("nDCG(base=2)", {}),
    ("nDCG@3", {}),
    ("ERR@3", {}),
    ('PH(browsing="SFBM",p=0.7,order=2)', {}),
    ('PH(browsing="RWBM",p=0.5,q=0.4,loss=0.5,effort="log2",last="continue")', {}),
    ('PH(browsing="DFBM")@3', {}),
    ('MsM(p=0.3,q=0.4,r=0.2,s=0.1,discount="log")', {}),
    ("ESL(wanted=2)", {}),
    ("ESL(wanted=3,collection_size=30)", {}),
    ("ESLRF(wanted=2)", {}),
    ("ESLRF(wanted=3,collection_size=30)", {}),
    ("EPRUM@0.5", {}),
    ("EPRUM@1.0", {}),
    ("EPGR@0.5", {}),
    ("EPGR@1.0", {}),
    ('MP(model="LO_AD_ID")', {}),
    ('MP(model="LO_OR_LID")', {}),
    ('MP(model="GL_OR_ID")', {}),
    ('MP(model="GL_OR_constant")', {}),
    ('MP(model="GL_AD_constant",rescale="recall")', {}),
    ('MP(model="GL_AD_LID",rescale="recall")', {}),
    ('MP(model="LO_OR_ID",rescale="recall")', {}),
    ("MP", {"model": "GL_AD_ID", "holding": HOLDING}),
    ("MP", {"model": "GL_OR_constant", "holding": HOLDING, "rescale": "recall"}),
    ("MP", {"model": "GL_OR", "kernel": Kernel("SQ", lambda distance: distance**-2.0)}),
    ("MPChain", {"matrix": CHAIN, "rescale": "recall"}),
    ("MPChain", {"matrix": CHAIN, "holding": [1.0, 4.0, 0.5, 2.0]}),
]


def measures() -> list[Measure]:
    found = []
    for label in known_measures():
        try:
            found.append(parse_measure(label, **NEEDED.get(label, {})))
        except ParameterError as error:
            raise LookupError(
                f"{label} cannot be made without parameters ({error}); enter some in NEEDED of {__name__}, so that its "
                "bounds are tested too"
            ) from error
    return found + [parse_measure(name, **parameters) for name, parameters in VARIANTS]


MEASURES = measures()
NAMES = [f"{number}-{measure.name}" for number, measure in enumerate(MEASURES)]
every_measure = pytest.mark.parametrize("measure", MEASURES, ids=NAMES)


def may_be_only_a_bound(measure: Measure, graded: bool) -> bool:
    """Whether more than a few unjudged documents leave the measure with a bound that need not be exact."""
    if measure.label == "MP":
        return "_OR" in measure.model and measure.model != "GL_OR_constant"
    return measure.label == "EPGR" and graded


@dataclass
class Case:
    gains: list
    recall_base: int
    nonrelevant_base: int
    scores: list | None
    max_gain: int

    @property
    def arguments(self) -> dict:
        return {
            "recall_base": self.recall_base,
            "nonrelevant_base": self.nonrelevant_base,
            "scores": self.scores,
            "max_gain": self.max_gain,
        }


@st.composite
def cases(draw, longest: int = 9) -> Case:
    max_gain = draw(st.sampled_from([1, 1, 2, 3]))
    most = {1: 6, 2: 5, 3: 4}[max_gain]
    gains = draw(st.lists(st.one_of(st.none(), st.integers(0, max_gain)), max_size=longest))
    unjudged = [place for place, gain in enumerate(gains) if gain is None]
    for place in unjudged[most:]:
        gains[place] = 0
    relevant = sum(gain is not None and gain > 0 for gain in gains)
    nonrelevant = sum(gain == 0 for gain in gains)
    scores = None
    if draw(st.booleans()):
        drops = draw(st.lists(st.integers(0, 1), min_size=len(gains), max_size=len(gains)))
        scores = (-np.cumsum(drops, dtype=float)).tolist()
    return Case(
        gains, relevant + draw(st.integers(0, 3)), nonrelevant + draw(st.integers(0, 3)), scores, max_gain
    )


def all_scores(measure: Measure, case: Case) -> np.ndarray:
    """The score of the list as it stands, then of the list under every judgement."""
    gains, base, other = [case.gains], [case.recall_base], [case.nonrelevant_base]
    places = [place for place, gain in enumerate(case.gains) if gain is None]
    for judgement in product(range(case.max_gain + 1), repeat=len(places)):
        judged = list(case.gains)
        for place, gain in zip(places, judgement, strict=True):
            judged[place] = gain
        relevant = sum(gain > 0 for gain in judgement)
        gains.append(judged)
        base.append(case.recall_base + relevant)
        other.append(case.nonrelevant_base + len(places) - relevant)
    scores = None if case.scores is None else [case.scores] * len(gains)
    return measure.score(RankedLists.from_gains(gains, base, other, scores, case.max_gain))


@every_measure
@settings(max_examples=20, deadline=None)
@given(case=cases())
def test_equal_to_all_judgements(measure, case):
    scores = all_scores(measure, case)
    found = bounds(measure, case.gains, **case.arguments)
    assert found.exact
    assert found.low == pytest.approx(scores.min(), abs=1e-12, rel=1e-12)
    assert found.high == pytest.approx(scores.max(), abs=1e-12, rel=1e-12)
    assert found.low <= scores[0] <= found.high
    assert not found.how.startswith("Only")


@every_measure
@settings(max_examples=30, deadline=None)
@given(case=cases())
def test_without_trying_all_judgements(measure, case):
    """As for lists with too many unjudged documents to try all judgements."""
    scores = all_scores(measure, case)
    with mock.patch.object(module, "EXHAUSTIVE", 1):
        found = bounds(measure, case.gains, **case.arguments)
    assert found.low <= scores.min() + 1e-12 * (1 + abs(scores.min()))
    assert found.high >= scores.max() - 1e-12 * (1 + abs(scores.max()))
    assert found.low <= scores[0] <= found.high
    assert found.exact or may_be_only_a_bound(measure, case.max_gain > 1)
    assert found.exact != found.how.startswith("Only")
    assert np.isfinite([found.low, found.high]).all()
    if found.exact:
        assert found.low == pytest.approx(scores.min(), abs=1e-12, rel=1e-12)
        assert found.high == pytest.approx(scores.max(), abs=1e-12, rel=1e-12)


@every_measure
def test_no_unjudged_document(measure):
    gains = [1, 0, 0, 1, 1, 0]
    found = bounds(measure, gains, recall_base=4)
    score = measure.score(RankedLists.from_gains([gains], 4))[0]
    assert (found.low, found.high, found.exact) == (score, score, True)


@every_measure
def test_empty_list(measure):
    found = bounds(measure, [], recall_base=2)
    score = measure.score(RankedLists.from_gains([[]], 2))[0]
    assert (found.low, found.high, found.exact) == (score, score, True)


@every_measure
@pytest.mark.parametrize("length", [1, 5])
def test_all_unjudged(measure, length):
    case = Case([None] * length, 0, 0, None, 1)
    scores = all_scores(measure, case)
    found = bounds(measure, case.gains)
    assert (found.low, found.high) == pytest.approx((scores.min(), scores.max()), abs=1e-12)
    assert found.exact


@every_measure
@settings(max_examples=6, deadline=None)
@given(group=st.lists(cases(), max_size=4))
def test_collection_equals_its_lists(measure, group):
    lists = RankedLists.from_gains(
        [case.gains for case in group],
        [case.recall_base for case in group],
        [case.nonrelevant_base for case in group],
        max_gain=3,
    )
    low, high, exact = collection_bounds(measure, lists)
    assert low.shape == high.shape == exact.shape == (len(group),)
    for number, case in enumerate(group):
        one = bounds(measure, case.gains, case.recall_base, case.nonrelevant_base, max_gain=3)
        assert (low[number], high[number]) == pytest.approx((one.low, one.high), abs=1e-12)
        assert exact[number] == one.exact


@pytest.mark.parametrize("name", ["ESL", "ESL(wanted=3)", "ESLRF", "ESLRF(wanted=2)", "AP"])
@settings(max_examples=40, deadline=None)
@given(case=cases().filter(lambda case: case.scores is not None))
def test_ties_that_a_collection_does_not_know(name, case):
    """Lists keep the ties of judged documents only."""
    measure = parse_measure(name)
    scores = all_scores(measure, case)
    lists = RankedLists.from_gains([case.gains], case.recall_base, case.nonrelevant_base, [case.scores], case.max_gain)
    low, high, exact = collection_bounds(measure, lists)
    assert low[0] <= scores.min() + 1e-12
    assert high[0] >= scores.max() - 1e-12
    assert exact[0] or name.startswith("ESLRF")
    if exact[0]:
        assert (low[0], high[0]) == pytest.approx((scores.min(), scores.max()), abs=1e-12)


def test_unknown_ties_make_a_bound():
    gains, scores = [1, None, None, None], [3.0, 2.0, 2.0, 1.0]
    lists = RankedLists.from_gains([gains], scores=[scores])
    low, high, exact = collection_bounds("ESLRF(wanted=2)", lists)
    known = bounds("ESLRF(wanted=2)", gains, scores=scores)
    assert known.exact and not exact[0]
    assert low[0] <= known.low and known.high <= high[0]


def long_lists(number: int, length: int, max_gain: int = 1) -> RankedLists:
    random = np.random.default_rng(number)
    gains = []
    for _ in range(number):
        judged = random.random(length) < random.uniform(0.1, 0.9)
        gain = random.integers(0, max_gain + 1, length)
        gains.append([int(one) if known else None for one, known in zip(gain, judged, strict=True)])
    return RankedLists.from_gains(gains, recall_base=length, max_gain=max_gain)


@pytest.mark.parametrize("name", ["AP", "R", "R@7", "Rprec", "nDCG", "nDCG(base=3)@9", "EPRUM", "EPGR"])
@pytest.mark.parametrize("backward", [False, True])
def test_terms_of_further_documents(name, backward):
    measure = parse_measure(name)
    for one in module._open(long_lists(6, 40)):
        expected = module._judged_by_number(measure.score, one, backward)
        assert module._parts_by_number(measure, one, backward) is not None
        assert np.allclose(module._scores_by_number(measure, one, backward), expected, rtol=1e-12, atol=1e-12)


# The holding times of MP are given for few ranks, and the size of the collection is too small for long lists.
FOR_LONG_LISTS = [one for one in MEASURES if one.label != "MP" or one.holding is None]


@pytest.mark.parametrize("measure", FOR_LONG_LISTS, ids=str)
def test_long_lists_contain_random_judgements(measure):
    if getattr(measure, "collection_size", None) is not None:
        measure = type(measure)(wanted=measure.wanted, collection_size=500)
    lists = long_lists(5, 60, max_gain=2)
    low, high, exact = collection_bounds(measure, lists)
    random = np.random.default_rng(3)
    for number, one in enumerate(module._open(lists)):
        for density in (0.02, 0.3, 0.9):
            chosen = random.random((40, len(one.unjudged))) < density
            score = measure.score(module._judge([one], [chosen * random.integers(1, 3, chosen.shape).astype(float)]))
            assert (score >= low[number] - 1e-9).all() and (score <= high[number] + 1e-9).all()
    assert exact.all() or may_be_only_a_bound(measure, graded=True)


@pytest.mark.parametrize("model", ["GL_AD_ID", "LO_AD_ID", "GL_AD_LID"])
@pytest.mark.parametrize("rescale", [None, "recall"])
def test_dynamic_programs_equal_all_judgements(model, rescale):
    measure = parse_measure("MP", model=model, rescale=rescale)
    random = np.random.default_rng(11)
    gains = []
    for _ in range(6):
        row = random.integers(0, 2, 24).tolist()
        for place in random.choice(24, 11, replace=False):
            row[place] = None
        gains.append(row)
    lists = RankedLists.from_gains(gains, recall_base=15)
    tried = collection_bounds(measure, lists)
    with mock.patch.object(module, "EXHAUSTIVE", 1):
        found = collection_bounds(measure, lists)
    assert found[2].all() and tried[2].all()
    assert np.allclose(found[:2], tried[:2], rtol=0, atol=1e-12)


def test_work_in_parts_gives_the_same():
    lists = long_lists(4, 30)
    for name in ("RBP", "bpref", "ESLRF", "EPRUM@0.4", "MP", 'MP(model="LO_OR_ID")'):
        whole = collection_bounds(name, lists)
        with mock.patch.multiple(module, _CELLS=70, _PROGRAM_CELLS=20):
            parts = collection_bounds(name, lists)
        for one, other in zip(whole, parts, strict=True):
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12)


def test_stopped_search_is_a_bound():
    lists = long_lists(8, 40)
    low, high, exact = collection_bounds('MP(model="GL_AD_ID",rescale="recall")', lists)
    assert exact.all()
    with mock.patch.object(module, "_MOST_PROGRAMS", 1):
        wider_low, wider_high, still = collection_bounds('MP(model="GL_AD_ID",rescale="recall")', lists)
    assert not still.all()
    assert (wider_low <= low + 1e-12).all() and (wider_high >= high - 1e-12).all()
    assert (wider_high <= 1).all() and (wider_low >= 0).all()


def test_weighted_mean_of_a_known_list():
    # Rank 1 is not relevant and rank 3 is; rank 2 may be. Of LO_AD's weights 1, 2, 1 the relevant ranks count.
    found = bounds('MP(model="LO_AD_ID")', [0, None, 1])
    assert (found.low, found.high) == pytest.approx((1 / 3, (2 * 1 / 2 + 1 * 2 / 3) / 3))


@dataclass(frozen=True)
class Odd(Measure):
    """Whether an odd number of documents is relevant: of no use to anybody, and monotone in nothing."""

    label = "Odd"

    def score(self, lists):
        return (lists.relevant.count % 2).astype(float)


def test_a_measure_of_which_nothing_is_known():
    found = bounds(Odd(), [1, None, None])
    assert (found.low, found.high, found.exact) == (0, 1, True)
    found = bounds(Odd(), [1] + [None] * 13)
    assert (found.low, found.high, found.exact) == (-np.inf, np.inf, False)


@dataclass(frozen=True)
class Mistaken(Odd):
    label = "Mistaken"
    monotone = "increasing"


def test_bad_input():
    with pytest.raises(ParameterError, match="increasing"):
        bounds(Mistaken(), [None])
    with pytest.raises(ParameterError, match="has its parameters already; got also p"):
        bounds(parse_measure("RBP"), [1], p=0.5)
    with pytest.raises(ParameterError, match="session"):
        bounds("MsM", [[1, 0], [0, 1]])
    with pytest.raises(ParameterError, match="did you mean 'RBP'"):
        bounds("RBp", [1])
    with pytest.raises(ParameterError, match="max_gain"):
        bounds("ERR", [3, None], max_gain=2)


def test_twelve_unjudged_documents_are_tried_in_all_ways():
    gains = [0, 1, *[None] * 12]
    assert bounds('MP(model="GL_OR_ID")', gains).exact
    assert not bounds('MP(model="GL_OR_ID")', [*gains, None]).exact
