"""The appendix of the ECIR 2019 paper, and sessions: what the tables say, and that the parts under them are right."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.audit import count_verdicts, judge_claims
from walkeval.claims import read_claims
from walkeval.click_logs import Ledger, read_trec_session
from walkeval.errors import EvidenceError, InputError, ParameterError
from walkeval.measures.session import markov_session_measure, session_dcg, session_quantities, session_weights
from walkeval.papers import ecir2019
from walkeval.reference import session as reference
from walkeval.sessions import (
    Interaction,
    Session,
    SessionEvidence,
    count_moves,
    estimate_moves,
    judge_sessions,
    read_sessions,
    refuse_lost_sessions,
    write_synthetic_sessions,
)
from walkeval.sources import read_registry
from walkeval.tables import read_table
from walkeval.trec import Qrels, read_qrels

CONFIG = Path(__file__).parents[1] / "config"
CLAIMS = CONFIG / "claims" / "ecir2019.tsv"


@pytest.fixture(scope="module")
def algorithm():
    return ecir2019.algorithm_table()


@pytest.fixture(scope="module")
def quantities():
    return ecir2019.quantities_table()


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic")
    return ecir2019.generate_sessions(folder / "sessions.xml", folder / "qrels.txt")


# --- the algorithm --------------------------------------------------------------------------------------------------


def test_the_fast_path_is_algorithm_1(algorithm):
    assert set(algorithm["quantity"]) >= {"e", "e_Q", "h_F", "h_FK", "h", "pi", "g"}
    assert (algorithm["largest_deviation"] <= 1e-9).all()
    assert (
        algorithm.set_index("quantity").drop(["e", "MsM, logarithmic discount"])["largest_deviation"] == 1e-12
    ).all()


def test_the_larger_deviation_of_e_is_that_of_the_inverse():
    steps = (Fraction(1, 10), Fraction(7, 10))
    time, total, exact = Fraction(1), Fraction(0), [Fraction(0)]
    for _ in range(9):
        total += time
        exact.append(total)
        # One step; one that went back has to come all the way again.
        time = (1 + steps[1] / (steps[0] + steps[1]) * time) / (steps[0] / (steps[0] + steps[1]))
    fast = session_quantities(10, 1, 0.1, 0.7, 0.1, 0.1).e
    slow = reference.session_quantities([[1]] * 10, 0.1, 0.7, 0.1, 0.1)["e"]
    wanted = np.array([float(one) for one in exact])
    np.testing.assert_allclose(fast, wanted, rtol=1e-13)
    assert np.abs(slow / np.maximum(wanted, 1) - wanted / np.maximum(wanted, 1)).max() > 1e-13


def test_simulated_quantities_agree_with_what_they_are(quantities):
    assert (quantities["agrees_as_is"] == "yes").all()
    called = (quantities["exact_as_called"] - quantities["simulated_as_called"]).abs()
    assert (called <= 4 * quantities["standard_error"] + 1e-12).all()


def test_the_exact_value_decides_what_a_quantity_may_be_called(quantities):
    same = np.isclose(quantities["exact_as_called"], quantities["algorithm1"])
    assert (same == (quantities["agrees"] == "yes")).all()
    called = dict(zip(quantities["quantity"], quantities["agrees"], strict=True))
    assert [called[one] for one in ("h_F", "h_FK", "h(1)", "h(2)", "h(3)", "e(2)")] == ["yes"] * 6
    assert [called[one] for one in ("e(3)", "e_Q", "pi(1)", "pi(2)", "h_F, the K-1 queries together")] == ["no"] * 5


def test_conditional_time_by_enumeration_of_paths():
    # Three documents: to document 3 given arrival, over all ways back and forth between 1 and 2.
    p, q, r, s = 0.5, 0.2, 0.2, 0.1
    first = p / (p + r + s)
    weight = [first * p * (first * q) ** n for n in range(200)]
    expected = sum((2 + 2 * n) * one for n, one in enumerate(weight)) / sum(weight)
    times, wait = ecir2019.conditional_times(3, (p, q, r, s))
    assert times[2] == pytest.approx(expected, abs=1e-12)
    # Where to is independent of when: the wait for a next query is the time in the query.
    chain = ecir2019.session_chain(3, 2, (p, q, r, s))[:3, :3]
    assert wait == pytest.approx(np.linalg.solve(np.eye(3) - chain, np.ones(3))[0])


@settings(max_examples=30)
@given(st.sampled_from(ecir2019.grid()), st.integers(1, 6), st.integers(1, 4))
def test_the_session_chain_gives_h_and_pi_of_the_algorithm(steps, length, queries):
    chain = ecir2019.session_chain(length, queries, steps)
    found = session_quantities(length, queries, *steps)
    np.testing.assert_allclose(ecir2019._ending(chain, length), found.h, atol=1e-12)
    reached = [ecir2019.passage(chain, query * length)[0] for query in range(queries)]
    np.testing.assert_allclose(reached, found.pi, atol=1e-12)


def test_simulation_repeats_and_lets_users_go():
    steps = (0.5, 0.2, 0.2, 0.1)
    first, ended = ecir2019.simulate(4, 2, steps, 500, "a")
    again, _ = ecir2019.simulate(4, 2, steps, 500, "a")
    other, _ = ecir2019.simulate(4, 2, steps, 500, "b")
    assert (first == again).all() and (first != other).any()
    assert set(ended) == {0, 1} and ((first[:, 1, 0] >= 0) == (ended == 1)).all()
    stopped, nobody = ecir2019.simulate(4, 2, (0.5, 0.3, 0.2, 0.0), 500, "c", stop=(1, 0))
    assert (stopped[:, 1, 0] > 0).all() and (nobody == -1).all() and (stopped[:, 1, 1:] == -1).all()


# --- the claims -----------------------------------------------------------------------------------------------------


def test_every_claim_gets_a_verdict(algorithm, quantities):
    claims = read_claims([CLAIMS])
    found = ecir2019.reproductions(algorithm, quantities)
    assert {one.claim for one in found} == set(claims)
    verdicts = judge_claims(claims, found)
    counts = count_verdicts(verdicts)
    assert counts["not checkable"] == 0 and counts["reproduced"] + counts["differs"] == len(claims)
    fails = {one.claim.removeprefix("ecir2019/") for one in verdicts if one.verdict == "differs"}
    assert fails == {
        "text/restriction", "data/e", "data/e_Q", "data/pi", "data/g", "algorithm1/P1",
        "algorithm1/pi-1", "algorithm1/pi", "algorithm1/E-linear", "algorithm1/E-log", "algorithm1/g",
    }  # fmt: skip
    assert all(one.note for one in verdicts if one.verdict == "differs")


def test_a_wrong_fast_path_or_simulation_would_be_seen(algorithm, quantities):
    worse = algorithm.assign(largest_deviation=1e-3)
    found = {one.claim: one.value for one in ecir2019.reproductions(worse, quantities)}
    assert found["ecir2019/algorithm1/MsM"] == found["ecir2019/algorithm1/e"] == "fails"
    found = {one.claim: one.value for one in ecir2019.reproductions(algorithm, quantities.assign(agrees="no"))}
    assert found["ecir2019/data/h"] == found["ecir2019/data/h_F"] == found["ecir2019/algorithm1/e-1"] == "fails"


def test_the_printed_matrix_is_that_of_the_reference():
    for length, steps in product((2, 3, 6), ecir2019.grid()[::7]):
        np.testing.assert_allclose(ecir2019.printed_matrix(length, steps), reference.query_matrix(length, *steps))


# --- reading sessions -----------------------------------------------------------------------------------------------

TWO_LISTS = """<track><session num="5"><topic num="7"><desc>x</desc></topic>
 <interaction num="1"><query>a  b &amp; c</query><results>
  <result rank="1"><url>u</url><clueweb12id>A</clueweb12id><title>A</title></result>
  <result rank="2"><clueweb12id>B</clueweb12id></result></results>
  <clicked><click num="1"><rank>2</rank></click><click num="2"><rank>1</rank></click></clicked></interaction>
 <interaction num="2"><query>d</query><results></results></interaction>
 <currentquery><query>e</query></currentquery></session></track>"""


def _file(tmp_path, text):
    path = tmp_path / "sessions.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_reading_sessions(tmp_path):
    assert read_sessions(_file(tmp_path, TWO_LISTS)) == [
        Session("5", "7", (Interaction("a b & c", ("A", "B"), (2, 1)), Interaction("d", (), ())), continued=True)
    ]


@pytest.mark.parametrize(
    ("old", "new", "sentence", "line"),
    [
        ("<track>", '<!DOCTYPE x [<!ENTITY e "eeee">]><track>', "entity declarations are not accepted", 1),
        ("<track>", '<!DOCTYPE x SYSTEM "file:///etc/hostname"><track>', "entity declarations are not accepted", 1),
        ("</track>", "", "not well-formed", 7),
        ('rank="2"', 'rank="3"', "rank '3' where 2 belongs", 4),
        ("<rank>2</rank>", "<rank>9</rank>", "a click on rank '9' of a list of 2", 5),
        ("<rank>2</rank>", "<rank>x</rank>", "a click on rank 'x'", 5),
        ("<clueweb12id>B</clueweb12id>", "", "rank 2 does not name one document", 4),
        ("<clueweb12id>B</clueweb12id>", "<clueweb12id> </clueweb12id>", "rank 2 does not name one document", 4),
        ("<clueweb12id>B</clueweb12id>", 2 * "<clueweb12id>B</clueweb12id>", "rank 2 does not name one document", 4),
        ('num="5"', 'num=""', "session number ''", 1),
        ('num="7"', "", "session 5 has no topic", 7),
        ("</track>", TWO_LISTS.removeprefix("<track>"), "was there before", 7),
        (TWO_LISTS, "<track></track>", "no session", None),
        ("a  b", "a" * 20_000, "more than 10000 characters", 2),
    ],
)  # fmt: skip
def test_files_that_are_refused(tmp_path, old, new, sentence, line):
    with pytest.raises(InputError, match=sentence.replace("'", ".")) as caught:
        read_sessions(_file(tmp_path, TWO_LISTS.replace(old, new, 1)))
    assert caught.value.line == line


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_sessions(tmp_path / "none.xml")


# --- judging, scoring, estimating -----------------------------------------------------------------------------------


def test_gains_by_topic():
    lists = (Interaction("a", ("A", "B", "C"), ()), Interaction("b", (), ()), Interaction("c", ("B", "A"), ()))
    qrels = Qrels.from_records([("7", "A", 2), ("7", "B", -2), ("8", "C", 4)])
    one, other = judge_sessions([Session("1", "7", lists, False), Session("2", "9", lists, False)], qrels)
    assert one.grades == ((2, -2, None), (), (-2, 2)) and one.topic_judged and not other.topic_judged
    assert one.gains().tolist() == [[2, 0], [0, 2], [0, 0]]
    assert one.gains(1).tolist() == [[2, 0]]
    assert one.gains(new_only=True).tolist() == [[2, 0], [0, 0], [0, 0]]
    assert other.gains(2).tolist() == [[0, 0], [0, 0]]


def test_one_table_of_weights_scores_all_sessions(synthetic):
    judged = judge_sessions(read_sessions(synthetic.sessions), read_qrels(synthetic.qrels))
    gains = ecir2019.SessionGains(judged)
    for discount, query_time in product(("linear", "log"), ("once", "per_query")):
        alone = [markov_session_measure(one.gains(10), *ecir2019.DEFAULT, discount, query_time) for one in judged]
        np.testing.assert_allclose(gains.msm(ecir2019.DEFAULT, discount, query_time), alone)
    assert ecir2019.sdcg(judged)[3] == session_dcg(judged[3].gains(10))


def test_counting_moves():
    lists = (
        Interaction("a", ("A", "B", "C", "D"), (4, 4, 2)),
        Interaction("b", ("A",), (1,)),
        Interaction("c", (), ()),
    )
    ended, continued = Session("1", "7", lists, False), Session("2", "7", lists, True)
    steps, more = count_moves([ended, continued])
    #                          p  q  r  s
    assert steps.tolist() == [[1, 0, 0, 0], [2, 1, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    assert more.tolist() == [[1, 0, 0, 0], [2, 1, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    assert count_moves([continued], ending="last list").tolist() == [steps.tolist()]
    assert count_moves([ended], "clicks").tolist() == [[[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]]
    with pytest.raises(ParameterError, match="walk must be"):
        count_moves([ended], "stairs")
    with pytest.raises(ParameterError, match="ending must be"):
        count_moves([ended], ending="never")


@settings(max_examples=25)
@given(st.lists(st.integers(1, 60), min_size=12, max_size=12))
def test_estimates_are_at_the_top_of_the_likelihood(numbers):
    allowed = np.array([[1, 0, 1, 1], [1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]], dtype=bool)
    counts = np.zeros((4, 4), dtype=np.int64)
    counts[allowed] = numbers

    def likelihood(steps):
        return sum(
            counts[place, move] * np.log(steps[move] / steps[allowed[place]].sum())
            for place, move in zip(*np.nonzero(allowed), strict=True)
        )

    best = estimate_moves(counts)
    assert best.sum() == pytest.approx(1)
    for move, factor in product(range(4), (0.97, 1.03)):
        other = best.copy()
        other[move] *= factor
        assert likelihood(other / other.sum()) < likelihood(best)


def test_estimates_find_the_walk_of_synthetic_users(tmp_path):
    steps = (0.5, 0.2, 0.18, 0.12)
    write_synthetic_sessions(
        tmp_path / "s.xml", tmp_path / "q.txt", "a test", steps, sessions=1500, length=5, most_lists=3
    )
    sessions = read_sessions(tmp_path / "s.xml")
    counts = count_moves(sessions).sum(axis=0)
    np.testing.assert_allclose(estimate_moves(counts), steps, atol=0.02)
    # Sessions that the file breaks off would be taken for ended ones.
    assert any(one.continued for one in sessions)
    assert estimate_moves(count_moves(sessions, ending="last list").sum(axis=0))[3] > 0.14


# --- everything -----------------------------------------------------------------------------------------------------


def test_everything_on_synthetic_sessions(synthetic, tmp_path):
    claims = read_claims([CLAIMS])
    found = ecir2019.reproduce(tmp_path / "one", synthetic, claims)
    assert len(found) == len(claims)
    ecir2019.reproduce(tmp_path / "two", synthetic, claims)
    files = sorted(one.name for one in (tmp_path / "one").iterdir())
    assert files == sorted(one.name for one in (tmp_path / "two").iterdir())
    assert all((tmp_path / "one" / one).read_bytes() == (tmp_path / "two" / one).read_bytes() for one in files)
    for name in ("decisions", "coverage", "sessions", "grid", "parameters", "tau"):
        assert set(read_table(tmp_path / "one" / f"{name}.tsv")["data"]) == {"synthetic"}
    assert "SYNTHETIC" in (tmp_path / "one" / "README.md").read_text(encoding="utf-8")
    assert "SYNTHETIC DATA" in (tmp_path / "one" / "tau.svg").read_text(encoding="utf-8")
    parameters = read_table(tmp_path / "one" / "parameters.tsv", ("estimate", "low", "high", "known"))
    known = parameters[parameters["known"].notna()]
    assert len(known) == 4 and ((known["low"] <= known["known"]) & (known["known"] <= known["high"])).all()


def test_missing_sessions_are_no_error(tmp_path):
    registry = read_registry(CONFIG / "sources.tsv")
    evidence, reasons = ecir2019.gather_sessions(registry, tmp_path, network=False)
    assert evidence.missing and len(reasons) == 2
    evidence.save(tmp_path / "evidence.json")
    assert SessionEvidence.load(tmp_path / "evidence.json") == evidence
    tables = ecir2019.session_tables(evidence)
    assert all(table.empty and "data" in table for table in tables.values())
    assert list(tables["grid"].columns)[1:] == list(ecir2019.grid_table_columns())
    ecir2019.draw_tau(tmp_path / "tau", tables["grid"], evidence)
    assert "could not be fetched" in (tmp_path / "tau.svg").read_text(encoding="utf-8")


def test_published_sessions_are_not_overwritten_by_nothing(tmp_path):
    evidence = SessionEvidence("some sessions", "real", missing="they are gone")
    published = tmp_path / "sessions.tsv"
    refuse_lost_sessions(evidence, published, "paper")
    published.write_text("data\tsession\n", encoding="utf-8")
    refuse_lost_sessions(evidence, published, "paper")
    published.write_text("data\tsession\nreal\t1\n", encoding="utf-8")
    refuse_lost_sessions(SessionEvidence("some sessions", "real", "a", "b"), published, "paper")
    with pytest.raises(EvidenceError, match="they are gone"):
        refuse_lost_sessions(evidence, published, "paper")


def test_a_damaged_record_is_named(tmp_path):
    (tmp_path / "evidence.json").write_text(json.dumps({"other": 1}), encoding="utf-8")
    with pytest.raises(InputError, match="not a record of sessions"):
        SessionEvidence.load(tmp_path / "evidence.json")


# --- the real sessions ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(mirror, tmp_path_factory):
    registry = read_registry(CONFIG / "sources.tsv")
    evidence, _ = ecir2019.gather_sessions(registry, tmp_path_factory.mktemp("data"), mirror, network=False)
    assert not evidence.missing
    return evidence


def test_real_sessions_and_their_judgements(real):
    sessions = read_sessions(real.sessions)
    assert len(sessions) == 133 and sum(one.continued for one in sessions) == 87
    clicks = [rank for one in sessions for interaction in one.interactions for rank in interaction.clicks]
    chunks = list(read_trec_session(real.sessions, Ledger()))
    assert clicks == np.concatenate([one.rank for one in chunks]).tolist()
    judged = judge_sessions(sessions, read_qrels(real.qrels))
    coverage = ecir2019.coverage_table(judged, read_qrels(real.qrels)).set_index("what")
    assert coverage.loc["sessions whose topic is judged", "count"] == 116
    assert coverage.loc["documents shown that are judged for the topic", "count"] == 4250
    assert coverage.loc["documents shown in sessions of judged topics that are judged", "share"] == 1
    # The key of the judgements is the topic: by the session's number hardly any document would be found.
    assert coverage.loc["documents shown that would be judged if the key were the session's number", "share"] < 0.1


def test_real_sessions_scored(real):
    tables = ecir2019.session_tables(real)
    sessions = tables["sessions"]
    assert len(sessions) == 133 and sessions["msm_linear"].notna().sum() == 116
    best = sessions.iloc[0]
    judged = {one.session.name: one for one in judge_sessions(read_sessions(real.sessions), read_qrels(real.qrels))}
    weights = session_weights(10, best["queries"], *ecir2019.DEFAULT)
    assert best["msm_linear"] == pytest.approx((weights * judged[best["session"]].gains(10)).sum())
    assert best["msm_linear"] == sessions["msm_linear"].max()
    grid = tables["grid"]
    assert len(grid) == 125 and grid[["tau_linear_sdcg", "tau_log_sdcg", "tau_linear_log"]].min().min() > 0.6
    estimates = tables["parameters"].pivot(index=["walk", "ending"], columns="parameter", values="estimate")
    np.testing.assert_allclose(estimates.sum(axis=1), 1)
    assert (estimates["p"] > estimates["r"]).all() and (estimates["r"] > estimates["s"]).all()
