"""The 2006 paper's examples, equations and stand-in, by other ways than those that its reproduction takes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as with_examples
from hypothesis import settings
from hypothesis import strategies as st

from walkeval.audit import judge_claims
from walkeval.claims import Claim, read_claims
from walkeval.errors import UnknownNameError
from walkeval.judging import judge
from walkeval.measures.navigation import (
    containment_navigation,
    effort_precision,
    eprum_average_precision,
    eprum_precision,
    expected_inverse_length,
)
from walkeval.papers import inex_stand_in
from walkeval.papers import sigir2006 as paper
from walkeval.reference.navigation import scenarios
from walkeval.seeds import generator

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    return read_claims([ROOT / "config" / "claims" / "sigir2006.tsv"])


@pytest.fixture(scope="module")
def topics() -> list[inex_stand_in.Topic]:
    return inex_stand_in.generate_topics(4)


@pytest.fixture(scope="module")
def stand_in(claims) -> paper.StandIn:
    return paper.make_stand_in(8, paper.moves(claims), replicates=2)


def write_short(folder: Path, claims: dict[str, Claim]) -> Path:
    """Write the paper's artefacts, with one randomized run for each probability to move to save time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "make_stand_in", partial(paper.make_stand_in, replicates=1))
        paper.write_paper(folder, claims, {}, synthetic=True)
    return folder


@pytest.fixture(scope="module")
def written(claims, tmp_path_factory) -> Path:
    return write_short(tmp_path_factory.mktemp("paper"), claims)


# --- examples and equations ---


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("section-2/new/recall2", 0.5),
        ("figure1/F5", 4),
        ("figure2/y", 0.536),
        ("figure2/independent", 0.3752),
        ("equation-1/after2", 0.76),
        ("table1/scenario6/probability", 12.96),
        ("table1/expected-one", 0.8056),
        ("section-4/precision-two", 0.7488),
        ("section-5/length-two", 1.29),
        ("section-7/values", 1305),
    ],
)
def test_gold_values_of_examples(claims, claim, value):
    found = {one.claim: one.value for one in paper.examples(claims)}
    assert found[f"sigir2006/{claim}"] == pytest.approx(value, abs=1e-10)


@settings(max_examples=40)
@with_examples(st.integers(1, 3), st.integers(1, 2), st.data())
def test_sessions_are_those_of_the_reference(ranks, elements, data):
    chance = st.sampled_from([0.0, 0.25, 0.6, 1.0])
    rows = data.draw(st.lists(st.lists(chance, min_size=elements, max_size=elements), min_size=ranks, max_size=ranks))
    expected = {tuple(one or 0 for one in first): p for first, p in scenarios(rows).items()}
    assert {one.first: one.probability for one in paper.sessions(np.array(rows))} == pytest.approx(expected)


def test_session_counts():
    one = paper.Session(1.0, (2, 0, 1))
    assert [one.found(rank) for rank in range(4)] == [0, 1, 2, 2]
    assert [one.length(recall) for recall in (1, 2, 3)] == [1, 2, None]


def test_equations_as_printed_and_corrected(claims):
    found = {one.claim.removeprefix("sigir2006/"): one for one in paper.check_formulas(claims, instances=25)}
    assert {name for name, one in found.items() if not one.holds} == {
        "equation-3",
        "equation-5/first",
        "section-3.1/nested",
    }
    for one in found.values():
        assert one.holds or one.corrected_deviation <= paper.EXACT
    # What (3) leaves out is the share of users who are done after the first rank.
    assert found["equation-3"].deviation == 1.0
    assert {"equation-1", "equation-2", "equation-4", "equation-5", "equation-6", "equation-7"} <= found.keys()


def test_a_wrong_equation_would_be_found(claims, monkeypatch):
    """Equation (5) with a sum that ends too early deviates."""
    right = paper.shortfall
    monkeypatch.setattr(
        paper, "shortfall", lambda navigation: right(navigation) * np.array([[1.0]] + [[0.99]] * len(navigation))
    )
    found = {one.claim: one.holds for one in paper.check_formulas(claims, instances=10)}
    assert not found["sigir2006/equation-5"] and not found["sigir2006/equation-4"]
    assert found["sigir2006/equation-1"]


def test_every_claim_has_its_verdict(claims, written):
    text = (written / "README.md").read_text()
    assert f"Of {len(claims)} claims: 94 reproduced, 9 differs, 15 not checkable." in text
    errata = (written / "errata.md").read_text()
    for printed in ("0.9", "645", "0.74", "more than l t"):
        assert f"- printed: {printed}\n" in errata


def test_claims_that_need_inex_stay_unchecked(claims, stand_in):
    statements = paper.stand_in_statements(stand_in, claims)
    found = paper.reproductions(
        claims, paper.examples(claims), paper.check_formulas(claims, 5),
        [paper.study_classical("random lists", paper.random_lists(30), "random")], [stand_in], statements,
    )  # fmt: skip
    verdicts = {one.claim: one for one in judge_claims(claims, found)}
    for name, claim in claims.items():
        if claim.needs.startswith("INEX") and name != "sigir2006/section-7/values":
            assert verdicts[name].verdict == "not checkable", name
            assert "INEX 2005" in verdicts[name].note
    figure = [one for name, one in verdicts.items() if name.startswith("sigir2006/figure4/")]
    assert len(figure) == 6 and all("SYNTHETIC" in one.note for one in figure)
    differing = {name.removeprefix("sigir2006/") for name, one in verdicts.items() if one.verdict == "differs"}
    assert differing == {
        "section-2/stopping", "section-3.1/nested", "figure1/F4-at-step-5", "equation-1/second-rank",
        "section-4/inverse", "section-4/precision-two", "equation-3", "equation-5/first", "section-7/values",
    }  # fmt: skip


def test_other_numbers_of_runs_and_topics_would_explain_the_values(claims):
    wrong = {**claims, "sigir2006/section-7/runs": replace(claims["sigir2006/section-7/runs"], printed="15")}
    found = {one.claim: one for one in paper.examples(wrong)}["sigir2006/section-7/values"]
    assert found.value == 435
    assert "43 runs and 15 topics" not in found.note


def test_ideal_list_is_found_by_no_other(claims):
    """With a pointer that leads nowhere in place of the first, the printed list is not the best one any more."""
    name = "sigir2006/section-5/length-one"
    other = {**claims, name: replace(claims[name], what="given pointers = (a 0.1 0.1; b 1 0; c 0 1)")}
    found = {one.claim: one.value for one in paper.examples(other)}
    assert found["sigir2006/section-5/ideal-list"] is False
    assert found["sigir2006/section-5/length-two"] == pytest.approx(2)


def test_normal_approximation_is_worse_for_rare_elements():
    errors = list(paper.normal_approximation(10, users=100).values())
    assert errors[0] < 0.05 < errors[1]
    assert max(paper.normal_approximation(200, users=20).values()) < errors[1]


# --- the classical user ---


def test_classical_user_is_precision_at_natural_recall_points():
    row = paper.study_classical("random lists", paper.random_lists(60), "random")
    assert row["largest_deviation_of_average"] <= 1e-12 and row["largest_deviation_at_points"] <= 1e-12
    assert row["points_by_general_formula"] > 100
    assert row["share_different_from_interpolation"] > 0


def test_interpolated_precision_by_definition():
    lists = paper.random_lists(40)
    gains = lists.dense()
    for level in (0.1, 0.35, 1.0):
        expected = []
        for row, base in zip(gains, lists.recall_base, strict=True):
            hits = np.cumsum(row > 0)
            ranks = np.arange(1, len(row) + 1)
            enough = (hits >= level * base - 1e-9) & (hits > 0)
            expected.append(float((hits / ranks)[enough].max(initial=0)) if base else 0.0)
        assert paper._interpolated(paper._binary(lists), level) == pytest.approx(expected)


def test_classical_user_on_real_runs(trec8_qrels, trec8_runs):
    collection = judge(trec8_qrels, dict(list(trec8_runs.items())[::40]))
    row = paper.study_classical("trec08", collection.lists(), "real", general_lists=60)
    assert row["largest_deviation_of_average"] <= 1e-12 and row["largest_deviation_at_points"] <= 1e-12
    assert row["points_by_general_formula"] > 500


# --- the stand-in ---


@pytest.mark.parametrize("trees", inex_stand_in.TREES)
def test_trees_are_trees(trees):
    for topic in inex_stand_in.generate_topics(3, trees):
        roots = np.flatnonzero(topic.parent < 0)
        assert len(roots) == topic.documents
        inside = np.flatnonzero(topic.parent >= 0)
        above = topic.parent[inside]
        assert (above < inside).all()
        assert (topic.start[above] <= topic.start[inside]).all() and (topic.end[inside] <= topic.end[above]).all()
        assert (topic.start < topic.end).all()
        for element in range(0, len(topic.parent), 37):
            children = topic.child[topic.child_start[element] : topic.child_start[element + 1]]
            assert set(children.tolist()) == set(np.flatnonzero(topic.parent == element).tolist())
        spans = sorted(topic.spans(topic.ideal))
        assert all(one[1] <= other[0] for one, other in zip(spans, spans[1:], strict=False))
        assert (np.diff(topic.idealism) <= 0).all() and topic.idealism[0] == 1


def test_kinds_of_trees_differ_and_repeat():
    inline, leaf = (inex_stand_in.generate_topics(2, trees) for trees in inex_stand_in.TREES)
    again = inex_stand_in.generate_topics(2)
    assert inline[0].start.tolist() == again[0].start.tolist() and inline[1].ideal.tolist() == again[1].ideal.tolist()
    assert len(inline[0].parent) / inline[0].documents > 1.5 * len(leaf[0].parent) / leaf[0].documents
    with pytest.raises(UnknownNameError, match="unknown kind of trees 'bushes'"):
        inex_stand_in.generate_topics(1, "bushes")


def test_randomized_runs_move_along_the_tree(topics):
    for topic in topics:
        assert topic.randomized(0.0, generator("nobody moves")).tolist() == topic.ideal.tolist()
        run = topic.randomized(0.9, generator("most move"))
        assert len(run) == len(topic.ideal) and (run != topic.ideal).mean() > 0.5
        # Everybody stays on the way between an article and its leaves.
        related = np.diagonal(containment_navigation(topic.spans(run), topic.spans(topic.ideal)))
        assert (related > 0).all()


def test_moves_have_the_stated_probability():
    topic = inex_stand_in.generate_topics(1)[0]
    draws = np.array([topic.randomized(0.3, generator(f"draw {n}")) != topic.ideal for n in range(300)])
    # Leaves and articles cannot move in one of the two directions.
    assert 0.15 < draws.mean() < 0.3


def test_curve_is_the_measure_at_each_level(topics):
    topic = topics[1]
    run = topic.randomized(0.4, generator("some move"))
    navigation = containment_navigation(topic.spans(run), topic.spans(topic.ideal))
    levels = np.array([0.1, 0.35, 0.6, 1.0])
    expected = [eprum_precision(navigation, float(level), topic.idealism) for level in levels]
    assert paper.eprum_curve(navigation, topic.idealism, levels) == pytest.approx(expected, abs=1e-12)
    fine = paper.eprum_curve(navigation, topic.idealism, (np.arange(2000) + 0.5) / 2000)
    assert fine.mean() == pytest.approx(eprum_average_precision(navigation, topic.idealism), abs=5e-3)


def test_gains_of_near_misses_by_hand():
    navigation = np.array([[0.6, 0.0], [0.6, 0.5], [1.0, 0.0]])
    # Of the first element 0.6, then the 0.4 that are left, then nothing.
    assert paper.near_miss_gains(navigation, np.array([1.0, 0.5])) == pytest.approx([0.6, 0.4 + 0.25, 0.0])


def test_effort_of_the_stand_in_is_the_measure(stand_in):
    place, replicate, number = 4, 1, 3
    topic = stand_in.topics[number]
    run = topic.randomized(
        stand_in.moves[place], generator(f"{topic.name}/move {stand_in.moves[place]:g}/replicate {replicate}")
    )
    navigation = containment_navigation(topic.spans(run), topic.spans(topic.ideal))
    cumulated = np.cumsum(paper.near_miss_gains(navigation, topic.idealism)) / topic.idealism.sum()
    ideal = np.cumsum(topic.idealism) / topic.idealism.sum()
    for level in (0, 9, 24, 40):
        target = paper.LEVELS[level] - 1e-9
        needed = int((ideal < target).sum()) + 1
        expected = needed / (int((cumulated < target).sum()) + 1) if cumulated[-1] >= target else 0.0
        assert stand_in.effort[place, replicate, number, level] == pytest.approx(expected)
    plain = np.array([1.0, 0.0, 1.0])
    assert effort_precision(plain, [1.0, 1.0], 1.0) == pytest.approx(2 / 3)


def test_ideal_runs_are_perfect_and_moves_cost(stand_in, claims):
    for measure in ("EPRUM", "EP/GR"):
        curves = stand_in.curves(measure)
        assert curves[0] == pytest.approx(np.ones(len(paper.LEVELS)))
        assert curves[-1].mean() < 0.5 * curves[1].mean()
    statements = paper.stand_in_statements(stand_in, claims)
    assert set(statements["data"]) == {paper.ON_STAND_IN}
    assert (statements.loc[statements["claim"] == "sigir2006/figure4/perfect", "holds"] == "yes").all()
    worse = replace(stand_in, eprum=stand_in.eprum * 0.9)
    changed = paper.stand_in_statements(worse, claims)
    assert (changed.loc[changed["claim"] == "sigir2006/figure4/perfect", "holds"] == "no").any()


def test_contrast_needs_both_halves(stand_in, claims):
    statements = paper.stand_in_statements(stand_in, claims)
    trees = stand_in.trees
    both = statements.assign(holds="yes")
    assert paper._shows_contrast(both, trees)
    for half in ("near-null", "eprum-not-null"):
        one = both.copy()
        one.loc[one["claim"] == f"sigir2006/figure4/{half}", "holds"] = "no"
        assert not paper._shows_contrast(one, trees)


def test_no_list_beats_the_ideal_elements(topics):
    """Section 7, on the stand-in: no element is expected to lead to more than one ideal element."""
    for topic in topics:
        everything = np.arange(len(topic.parent))
        chances = containment_navigation(topic.spans(everything), topic.spans(topic.ideal))
        assert chances.sum(axis=1).max() <= 1 + 1e-12
        inverse = expected_inverse_length(containment_navigation(topic.spans(topic.ideal), topic.spans(topic.ideal)))
        assert inverse == pytest.approx(1 / np.arange(1, len(topic.ideal) + 1))


# --- files ---


def test_artefacts_are_complete_and_marked(written):
    names = {one.name for one in written.iterdir()}
    assert {"examples.tsv", "formulas.tsv", "classical.md", "statements.html", "figure4.tsv", "stand-in.tsv"} <= names
    svg = (written / "figure4.svg").read_text()
    assert "SYNTHETIC DATA" in svg and "INEX 2005 is not" in svg
    assert "SYNTHETIC" in (written / "statements.md").read_text().splitlines()[0]
    lines = (written / "figure4.tsv").read_text().splitlines()
    assert len(lines) == 1 + 2 * 2 * 10 * len(paper.LEVELS) and all(
        line.startswith("SYNTHETIC\t") for line in lines[1:]
    )


def test_artefacts_repeat(claims, written, tmp_path):
    again = write_short(tmp_path, claims)
    for one in written.iterdir():
        assert one.read_bytes() == (again / one.name).read_bytes(), one.name
