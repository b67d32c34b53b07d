"""The 1988 paper's examples and axioms, by other ways than those that its reproduction takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as with_examples
from hypothesis import settings
from hypothesis import strategies as st

from walkeval.audit import judge_claims
from walkeval.claims import Claim, read_claims
from walkeval.errors import ParameterError
from walkeval.judging import judge
from walkeval.measures.search_length import ESL, WeakOrder
from walkeval.papers import sigir1988 as paper
from walkeval.ranked import RankedLists
from walkeval.reference.search_length import law_by_enumeration

ROOT = Path(__file__).parent.parent
GROUPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(any), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    return read_claims([ROOT / "config" / "claims" / "sigir1988.tsv"])


@pytest.fixture(scope="module")
def axioms() -> list[paper.AxiomCheck]:
    return paper.check_axioms(checks=40)


# --- laws ---


def law_by_permutations(order: WeakOrder, wanted: int) -> dict[int, Fraction]:
    """All permutations of all documents of each group, which is what a random order within a group means."""

    def arrangements(groups: list[str]) -> Iterator[str]:
        if not groups:
            yield ""
            return
        for head in permutations(groups[0]):
            for rest in arrangements(groups[1:]):
                yield "".join(head) + rest

    groups = ["+" * r + "-" * n for r, n in zip(order.relevant, order.nonrelevant, strict=True)]
    counts: dict[int, int] = {}
    for documents in arrangements(groups):
        read, found = 0, 0
        for document in documents:
            if found == wanted:
                break
            found += document == "+"
            read += document == "-"
        counts[read] = counts.get(read, 0) + 1
    total = sum(counts.values())
    return {read: Fraction(count, total) for read, count in counts.items()}


@pytest.mark.parametrize("wanted", [1, 2, 3])
@pytest.mark.parametrize("text", ["+-|+--", "-|++--", "+-|-|++-", "--|-"])
def test_exact_law_counts_permutations(text, wanted):
    order = WeakOrder.from_text(text)
    law = paper.exact_law(order, wanted)
    assert {k: p for k, p in enumerate(law) if p} == law_by_permutations(order, wanted)
    assert sum(law) == 1


@settings(max_examples=60)
@with_examples(GROUPS, st.integers(1, 5))
def test_exact_law_is_the_reference_and_the_fast_path(groups, wanted):
    order = WeakOrder.from_groups(groups)
    law = paper.exact_law(order, wanted)
    reference = law_by_enumeration(groups, wanted)
    assert {k: float(p) for k, p in enumerate(law) if p} == pytest.approx(reference, abs=1e-12)
    assert paper.trimmed_floats(order.law(wanted)) == pytest.approx([float(p) for p in law], abs=1e-12)
    assert float(paper.expectation(law)) == pytest.approx(order.expected(wanted))


@settings(max_examples=80)
@with_examples(GROUPS, st.integers(1, 4))
def test_every_law_of_a_weak_order_is_recognized(groups, wanted):
    law = paper.exact_law(WeakOrder.from_groups(groups), wanted)
    order, needed = paper.retrieval_result(law)
    assert paper.exact_law(order, needed) == law
    bounded = paper.retrieval_result(law, wanted)
    assert bounded is not None
    assert paper.exact_law(bounded[0], wanted) == law and bounded[1] == wanted


def test_recognition_agrees_with_a_search_over_small_weak_orders():
    """Laws of at most two nonrelevant documents, one wanted, denominators up to 6: found by search, or refused."""
    orders = [
        [(0, before), (relevant, tied)]
        for before in range(3)
        for tied in range(3 - before)
        for relevant in range(1, 13)
    ]
    reachable = {paper.exact_law(WeakOrder.from_groups(groups), 1) for groups in orders}
    denominators = range(1, 7)
    seen = refused = 0
    for d in denominators:
        for a in range(d + 1):
            for b in range(d + 1 - a):
                law = paper.trimmed([Fraction(a, d), Fraction(b, d), Fraction(d - a - b, d)])
                found = paper.retrieval_result(law, wanted=1)
                assert (found is not None) == (law in reachable), law
                seen += found is not None
                refused += found is None
    assert seen > 10 and refused > 10


def test_weak_orders_are_all_and_different():
    orders = list(paper.weak_orders(1, 1))
    assert {(order.relevant, order.nonrelevant) for order in orders} == {
        ((1,), (0,)), ((0,), (1,)), ((1,), (1,)), ((1, 0), (0, 1)), ((0, 1), (1, 0)),
    }  # fmt: skip
    assert len(orders) == 5


def test_convolution_and_mixture():
    half, third = Fraction(1, 2), Fraction(1, 3)
    first, second = (half, half / 2, half / 2), (third, third, third)
    assert paper.convolution(first, second) == tuple(Fraction(n, 12) for n in (2, 3, 4, 2, 1))
    assert paper.mixture(third, paper.point_mass(2), paper.point_mass(0)) == (1 - third, 0, third)
    assert not paper.is_law((half,)) and not paper.is_law((-half, 1 + half))


# --- the paper ---


def test_every_claim_has_its_verdict(claims, axioms):
    found = paper.reproductions(paper.examples(claims), axioms)
    verdicts = {one.claim.removeprefix("sigir1988/"): one.verdict for one in judge_claims(claims, found)}
    assert {name for name, verdict in verdicts.items() if verdict == "not checkable"} == {
        "theorem-3.1/existence", "theorem-4.1/existence",
    }  # fmt: skip
    assert {name for name, verdict in verdicts.items() if verdict == "differs"} == {
        "section-2/esl-differs", "example-3.2/wanted", "example-3.4/symbol", "section-3/form-of-f",
        "definition-4.1/iii-with-two-results", "lemma-4.1/step",
    }  # fmt: skip
    assert set(verdicts.values()) == {"reproduced", "differs", "not checkable"}


@pytest.mark.parametrize(
    ("claim", "exact"),
    [
        ("example-2.1/esl1", Fraction(1, 2)),
        ("example-2.2/p2", Fraction(1, 3)),
        ("example-2.2/esl2", Fraction(2)),
        ("example-3.1/p4", Fraction(1, 10)),
        ("example-3.4/rest", Fraction(99, 100)),
        ("example-4.1/x1", Fraction(1, 4)),
    ],
)
def test_gold_values_of_examples(claims, claim, exact):
    found = {one.claim: one for one in paper.examples(claims)}
    assert found[f"sigir1988/{claim}"].exact == exact
    library = found[f"sigir1988/{claim}"].library
    assert np.isnan(library) or library == pytest.approx(float(exact), abs=1e-12)


def test_a_law_that_a_weak_order_has_would_be_found(claims):
    """The search of example 3.2 can fail: given another law, it finds the order."""
    name = "sigir1988/example-3.2/tied"
    other = {**claims, name: replace(claims[name], what="given law = (0 1/2 1/2)")}
    found = {one.claim: one.exact for one in paper.examples(other)}
    assert found["sigir1988/example-3.2/no-result"] is False
    assert found["sigir1988/section-3/converse"] is False
    assert {one.claim: one.exact for one in paper.examples(claims)}["sigir1988/example-3.2/no-result"] is True


def test_a_wrong_printed_value_differs(claims, axioms):
    name = "sigir1988/example-4.1/x1"
    wrong = {**claims, name: replace(claims[name], printed="1/5")}
    verdicts = {one.claim: one for one in judge_claims(wrong, paper.reproductions(paper.examples(wrong), axioms))}
    assert (verdicts[name].verdict, verdicts[name].reproduced) == ("differs", "0.25")


def test_axioms_hold_for_expectation_and_fail_for_others(axioms):
    own = {one.axiom: one for one in axioms if one.preference == paper.EXPECTED.name}
    assert all(one.checks == 40 for one in own.values())
    failing = {name for name, one in own.items() if one.violations}
    assert failing == {"definition-4.1/iii-with-two-results", "lemma-4.1/step"}
    for control in paper.CONTROLS:
        assert any(one.violations for one in axioms if one.preference == control.name), control.name
    worst = {one.axiom: one.violations for one in axioms if one.preference == "control: worst case"}
    # One bad outcome, however unlikely, decides for a user who looks at the worst case.
    assert worst["theorem-3.1/iii"] == 40 and worst["section-3/indifference"] == 40


def test_axioms_repeat(axioms):
    assert paper.check_axioms(checks=40) == axioms


def test_lemma_31_needs_asymmetry():
    exceptions, relations = paper.lemma_31()
    assert relations == {"all": 2**9, "asymmetric": 3**3}
    assert exceptions["asymmetric"] == 0 and exceptions["all"] > 0


def test_what_an_example_starts_from_must_be_there(claims):
    claim = claims["sigir1988/example-2.1/documents"]
    assert paper.given(claim, "order") == "+-|+--|++---"
    with pytest.raises(ParameterError, match="gives no 'law'"):
        paper.given(claim, "law")


# --- ties ---


def tied_lists() -> RankedLists:
    gains = [[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1]]
    scores = [[3, 3, 3, 1], [4, 3, 2, 1], [1, 1, 1, 1], [2, 2, 1, 1]]
    return RankedLists.from_gains(gains, recall_base=[2, 1, 1, 2], scores=scores)


def test_critical_groups():
    lists = tied_lists()
    reached, size, nonrelevant = paper.critical_groups(lists, 1)
    assert reached.tolist() == [True, True, False, True]
    assert size.tolist() == [3, 1, 0, 2]
    assert nonrelevant.tolist() == [2, 0, 0, 0]
    assert paper.critical_groups(lists, 2)[1].tolist() == [1, 0, 0, 2]
    assert paper.first_relevant_rank(lists).tolist() == [2, 1, 5, 3]


def test_without_ties_search_length_is_the_rank_of_the_first_relevant():
    lists = tied_lists()
    plain = paper.without_ties(lists)
    assert ESL(1).score(plain).tolist() == (paper.first_relevant_rank(plain) - 1).tolist()
    assert ESL(1).score(lists).tolist() == [1.0, 0.0, 4.0, 2.0]


def test_study_of_ties_counts_by_hand():
    study = paper.study_ties("toy", tied_lists(), systems=2, synthetic=True)
    row = next(row for row in study.ties if row["wanted"] == 1)
    assert row["data"] == "SYNTHETIC" and row["lists"] == 4
    assert row["tied_critical_group"] == 0.5 and row["tied_and_mixed"] == 0.25 and row["too_few_relevant"] == 0.25
    # One list has a relevant document among two others in its first group: 1 expected, 1 in the order of the ranks.
    assert row["mean_difference"] == 0.0 and row["esl_with_ties"] == row["esl_of_order"] == 1.75
    tau = {cell["compared_with"]: cell["tau"] for cell in study.taus if cell["wanted"] == 1}
    assert tau["rank of the first relevant"] == 1.0


def test_ties_change_the_search_length_of_a_run():
    gains, scores = [[1, 0, 0], [0, 0, 1]], [[1, 1, 1], [3, 2, 1]]
    lists = RankedLists.from_gains(gains, scores=scores)
    row = paper.study_ties("toy", lists, systems=2, synthetic=False).ties[0]
    assert row["mean_difference"] == 0.5 and row["largest_difference"] == 1.0 and row["mean_difference_if_mixed"] == 1.0


def test_one_system_has_no_tau_and_no_ties_no_difference():
    lists = RankedLists.from_gains([[1, 0], [0, 1]], scores=[[2, 1], [2, 1]])
    study = paper.study_ties("toy", lists, systems=1, synthetic=True)
    assert all(np.isnan(cell["tau"]) and cell["reason"] for cell in study.taus)
    assert study.ties[0]["tied_and_mixed"] == 0 and np.isnan(study.ties[0]["mean_difference_if_mixed"])
    assert "tau undefined with AP" in paper._readme([], [], [study], True).replace("\n", " ")


def test_everything_is_written_and_repeats(claims, axioms, tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "check_axioms", lambda: axioms)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        paper.write_paper(tmp_path / name, claims, {}, synthetic=True)
    files = sorted(one.name for one in (tmp_path / "one").iterdir())
    assert {"examples.tsv", "axioms.tsv", "ties.tsv", "taus.md", "ties-by-wanted.svg", "errata.md", "README.md"} <= set(
        files
    )
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    assert "No collection" in (tmp_path / "one" / "README.md").read_text()
    errata = (tmp_path / "one" / "errata.md").read_text()
    assert "exactly one nonrelevant document" in errata and "6 claims" in errata


def test_real_runs_have_ties_that_matter_little(trec8_qrels, trec8_runs):
    """On six runs: the study against means taken list by list from weak orders."""
    runs = dict(list(trec8_runs.items())[::22])
    collection = judge(trec8_qrels, runs)
    lists = collection.lists()
    study = paper.study_ties("trec08", lists, len(runs), synthetic=False)
    row = next(row for row in study.ties if row["wanted"] == 5)
    lengths = []
    for one in range(len(lists)):
        rows = slice(lists.relevant.start[one], lists.relevant.start[one + 1])
        position = lists.relevant_position[rows]
        first, last = lists.tie_first[position], lists.tie_last[position]
        groups = dict.fromkeys(zip(first.tolist(), last.tolist(), strict=True), 0)
        for pair in zip(first.tolist(), last.tolist(), strict=True):
            groups[pair] += 1
        at, weak = 1, []
        for (low, high), relevant in groups.items():
            weak += [(0, low - at)] if low > at else []
            weak.append((relevant, high - low + 1 - relevant))
            at = high + 1
        rest = int(lists.length[one]) - at + 1
        weak += [(0, rest)] if rest else []
        lengths.append(WeakOrder.from_groups(weak).expected(5))
    assert row["esl_with_ties"] == pytest.approx(np.mean(lengths))
    assert 0 < row["tied_and_mixed"] < 0.5
