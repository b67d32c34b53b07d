"""What click logs say: tables against counts by hand, missing logs, and the numbers of the real logs."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from walkeval.audit import judge_claim
from walkeval.claims import read_claims
from walkeval.errors import EvidenceError, InputError, UnknownNameError
from walkeval.papers.sigir2014_clicks import (
    LOGS,
    LogEvidence,
    LogStatistics,
    backward_table,
    files_by_hand,
    gather_logs,
    generate_log,
    holding_queries_table,
    holding_table,
    ledger_table,
    mp_table,
    refuse_lost_logs,
    reproductions,
    summarize_log,
    transitions_table,
    write_clicks,
)
from walkeval.sources import Source, read_registry
from walkeval.tables import write_table

ROOT = Path(__file__).parent.parent

# Lists of ten documents. The clicked ranks are 1 3 2, then 4 and 4 again, then none; 999 is in no list.
TEN = ",".join(map(str, range(101, 111)))
PYCLICK = f"7_0\t{TEN}:101,103,102;7_0\t{TEN}:104,104;8_0\t{TEN} :;\n"
PYCLICK_MORE = f"9_0\t{TEN}:999,105\n"
# One list: rank 1 at 2 s, rank 3 at 12 s, rank 2 at 17 s.
TIMED = "0\t0 1 2 3 4 5 6 7 8 9\t1 1 1 0 0 0 0 0 0 0\t2 17 12 -1 -1 -1 -1 -1 -1 -1\n"
SESSION = """<sessiontrack2013><session num="1">
 <interaction num="1" starttime="1.0"><query>flowers</query>
  <results><result rank="1"/><result rank="2"/><result rank="11"/></results>
  <clicked>
   <click num="1" starttime="3.0" endtime="7.0"><rank>2</rank></click>
   <click num="2" starttime="9.0" endtime="NA"><rank>1</rank></click>
   <click num="3" starttime="11.0" endtime="12.0"><rank>11</rank></click>
  </clicked>
 </interaction>
</session></sessiontrack2013>
"""
CONTENT = {
    "clicks/pyclick-train": PYCLICK,
    "clicks/pyclick-test": PYCLICK_MORE,
    "clicks/timed-train": TIMED,
    "clicks/timed-test": TIMED,
    "sessions/trec2013": SESSION,
}


@pytest.fixture
def claims():
    return read_claims([ROOT / "config" / "claims" / "sigir2014.tsv"])


@pytest.fixture
def small(tmp_path):
    """A registry of small logs, and the mirror that has them."""
    registry = {}
    for name, text in CONTENT.items():
        path = tmp_path / "mirror" / "example.org" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        registry[name] = Source(name, f"https://example.org/{name}", len(text.encode()), digest, "none", "tests")
    return registry, tmp_path / "mirror"


def gathered(small, tmp_path, names=tuple(LOGS)):
    registry, mirror = small
    return gather_logs(names, registry, tmp_path / "data", mirror, network=False)[0]


def statistics(small, tmp_path):
    return [summarize_log(one) for one in gathered(small, tmp_path)]


def put_by_hand(tmp_path, sessions=50):
    place = tmp_path / "data" / "clicks" / "yandex"
    place.parent.mkdir(parents=True)
    generate_log(place, sessions)
    return place


def shares(table, log):
    """Backward and total by the first words of the denominator."""
    rows = table[table["log"] == log]
    return {row.denominator.partition(" (")[0]: (row.backward, row.total) for row in rows.itertuples()}


# ------------------------------------------------------------------------------------------------------- gathering


def test_logs_are_gathered_in_the_order_asked_for(small, tmp_path):
    found = gathered(small, tmp_path, ["trec-session-2013", "yandex-sample"])
    assert [one.log for one in found] == ["trec-session-2013", "yandex-sample"]
    names = [[Path(path).name for path in one.paths] for one in found]
    assert names == [["trec2013"], ["pyclick-train", "pyclick-test"]]
    assert not any(one.missing for one in found)


def test_unknown_log_is_named_with_the_nearest_known(small, tmp_path):
    with pytest.raises(UnknownNameError, match="unknown click log 'yandx'; did you mean 'yandex'"):
        gathered(small, tmp_path, ["yandx"])


def test_without_mirror_and_network_all_logs_are_missing_and_tables_say_so(small, tmp_path, claims):
    registry, _ = small
    found, reasons = gather_logs(list(LOGS), registry, tmp_path / "data", None, network=False)
    assert all(one.missing and not one.paths for one in found)
    assert len(reasons) == len(CONTENT)
    logs = [summarize_log(one) for one in found]
    (tmp_path / "tables").mkdir()
    assert write_clicks(tmp_path / "tables", logs, claims) == []
    table = backward_table(logs, claims)
    assert list(table["log"]) == list(LOGS)
    assert table["note"].str.startswith("missing: ").all()
    assert "sessions/trec2013 could not be fetched" in table["note"].iloc[-1]
    assert list(ledger_table(logs)["kind"]) == ["missing log"] * 4
    for other in (transitions_table(logs), holding_table(logs), holding_queries_table(logs), mp_table(logs, claims)):
        assert len(other) == 0
    assert "No click log is at hand" in (tmp_path / "tables" / "clicks-transitions.svg").read_text()


def test_a_log_is_used_whole_or_not_at_all(small, tmp_path):
    (small[1] / "example.org" / "clicks" / "pyclick-test").unlink()
    sample, timed = gathered(small, tmp_path, ["yandex-sample", "engine-sample"])
    assert sample.paths == ()
    assert sample.missing.startswith("clicks/pyclick-test could not be fetched")
    assert timed.missing == ""


def test_a_file_with_another_checksum_is_not_used_and_its_place_stays_out_of_tables(small, tmp_path):
    (small[1] / "example.org" / "sessions" / "trec2013").write_text(SESSION.replace("flowers", "showers"))
    registry, mirror = small
    (found,), reasons = gather_logs(["trec-session-2013"], registry, tmp_path / "data", mirror, network=False)
    assert found.paths == ()
    assert str(tmp_path) not in found.missing
    assert str(tmp_path) in reasons[0]


def test_the_original_log_is_taken_from_a_file_or_a_folder(tmp_path):
    assert files_by_hand(tmp_path) == []
    place = tmp_path / "clicks" / "yandex"
    place.mkdir(parents=True)
    assert files_by_hand(tmp_path) == []
    for name in ("b.gz", "a", ".hidden"):
        (place / name).touch()
    assert [Path(one).name for one in files_by_hand(tmp_path)] == ["a", "b.gz"]
    for one in place.iterdir():
        one.unlink()
    place.rmdir()
    place.touch()
    assert files_by_hand(tmp_path) == [str(place)]


def test_published_tables_are_not_replaced_by_tables_on_fewer_logs(small, tmp_path):
    ledger = tmp_path / "clicks-ledger.tsv"
    everything = gathered(small, tmp_path)
    refuse_lost_logs(everything, ledger, "paper")  # nothing is published yet
    write_table(ledger, ledger_table([summarize_log(one) for one in everything]))
    refuse_lost_logs(everything, ledger, "paper")  # the original log was missing then, too
    lost = [replace(one, paths=(), missing="gone") if one.log == "engine-sample" else one for one in everything]
    with pytest.raises(EvidenceError, match="the results of paper stand on the click log engine-sample"):
        refuse_lost_logs(lost, ledger, "paper")


# ---------------------------------------------------------------------------------------------------------- tables


def test_shares_by_hand_and_only_denominators_that_the_log_has(small, tmp_path, claims):
    table = backward_table(statistics(small, tmp_path), claims)
    # 1->3, 3->2, 4->4; the click after 999 has no transition into it.
    assert shares(table, "yandex-sample") == {
        "all transitions": (1, 3),
        "transitions to another rank": (1, 2),
        "all query sessions": (1, 4),
        "query sessions with a click": (1, 3),
        "query sessions with a transition": (1, 2),
    }
    # 2->1, 1->11, in one list of one session.
    assert shares(table, "trec-session-2013") == {
        "all transitions": (1, 2),
        "transitions to another rank": (1, 2),
        "all query sessions": (1, 1),
        "query sessions with a click": (1, 1),
        "query sessions with a transition": (1, 1),
        "all sessions": (1, 1),
        "sessions with a transition": (1, 1),
    }
    assert shares(table, "engine-sample")["all transitions"] == (2, 4)


def test_the_paper_stands_beside_yandex_data_only(small, tmp_path, claims):
    put_by_hand(tmp_path)
    table = backward_table(statistics(small, tmp_path), claims)
    said = table[table["paper"] != ""]
    assert set(said["log"]) == {"yandex", "yandex-sample"}
    printed = claims["sigir2014/section5.5/backward-transitions"].printed
    assert said["paper"].str.startswith(f"{printed} of ").all()
    # The paper's users are sessions where there are sessions, and lists where there are none.
    users = said[said["paper"].str.contains("users")]
    assert users[users["log"] == "yandex"]["denominator"].str.contains("^all sessions|^sessions").all()
    assert len(users[users["log"] == "yandex"]) == 2
    assert len(users[users["log"] == "yandex-sample"]) == 3


def test_transitions_by_hand(small, tmp_path):
    table = transitions_table(statistics(small, tmp_path))
    assert len(table) == 3 * 100
    cells = {
        (row.log, row.origin, row.target): row
        for row in table.rename(columns={"from": "origin", "to": "target"}).itertuples()
    }
    assert cells["yandex-sample", 1, 3].count == 1
    assert cells["yandex-sample", 1, 3].probability == 1.0
    assert cells["yandex-sample", 1, 3].learned == 2 / 10  # one seen, and one added to each of nine
    assert cells["yandex-sample", 4, 4].probability == 1.0
    assert cells["yandex-sample", 4, 4].learned == 0.0
    assert math.isnan(cells["yandex-sample", 9, 1].probability)
    assert cells["yandex-sample", 9, 1].learned == 1 / 9
    assert table[table["log"] == "trec-session-2013"]["count"].sum() == 1  # rank 11 is beyond


def test_holding_times_by_hand(small, tmp_path):
    table = holding_table(statistics(small, tmp_path))
    assert set(table["log"]) == {"engine-sample", "trec-session-2013"}
    timed = table[table["log"] == "engine-sample"].set_index("rank")
    # Two lists alike: 10 s at rank 1 and 5 s at rank 3; (n-1)/n divided by the mean.
    assert timed.loc[1, ["n", "mean", "mu"]].tolist() == [2, 10.0, 1 / 20]
    assert timed.loc[3, ["n", "mean", "mu"]].tolist() == [2, 5.0, 1 / 10]
    assert timed.loc[1, "low"] < 1 / 20 < timed.loc[1, "high"]
    assert timed.loc[2, "n"] == 0
    assert math.isnan(timed.loc[2, "mu"])
    session = table[table["log"] == "trec-session-2013"].set_index("rank")
    assert session.loc[2, ["n", "mean"]].tolist() == [1, 4.0]
    assert math.isnan(session.loc[2, "mu"])  # one time tells nothing about its own estimator


def test_only_frequent_queries_have_holding_times_of_their_own(tmp_path):
    asked = "5\t0 1 2\t1 1 0\t{} 20 -1\n"
    rare = "6\t0 1 2\t1 1 0\t4 5 -1\n"
    log = tmp_path / "log"
    log.write_text("".join(asked.format(10 + number % 2) for number in range(100)) + rare * 99)
    one = summarize_log(LogEvidence("engine-sample", "a log", "real", "clickmodel_wc", (str(log),)))
    table = holding_queries_table([one])
    assert table[["log", "query", "sessions"]].values.tolist() == [["engine-sample", 5, 100]]
    assert table["mu_1"].item() == pytest.approx(99 / (50 * 10 + 50 * 9), rel=1e-12)
    assert math.isnan(table["mu_2"].item())


def test_ledger_names_files_and_lines_only(small, tmp_path):
    table = ledger_table(statistics(small, tmp_path))
    rows = {(row.log, row.kind): row for row in table.itertuples()}
    assert rows["yandex-sample", "records read"].count == 4
    assert rows["yandex-sample", "unknown document"].places == "pyclick-test:1"
    assert rows["yandex-sample", "unknown document"].done.endswith("no transition is counted across it")
    assert rows["trec-session-2013", "no end of click"].count == 1
    assert rows["trec-session-2013", "beyond the matrix"].count == 1
    assert rows["yandex", "missing log"].count == 0
    assert "/" not in "".join(table["places"])


# ---------------------------------------------------------------------------------------------- Markov Precision


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    evidence = generate_log(tmp_path_factory.mktemp("synthetic") / "log.txt", 20000)
    return summarize_log(evidence)


def precision_weighted(gains, weight):
    precision = np.cumsum(gains) / np.arange(1, len(gains) + 1)
    chosen = np.flatnonzero(gains)
    return float((weight[chosen] * precision[chosen]).sum() / weight[chosen].sum())


def test_mp_of_the_three_runs_by_matrix_powers(synthetic, claims):
    table = mp_table([synthetic], claims)
    assert list(table["run"]) == ["run1", "run2", "run3"]
    counts = synthetic.summary.counts
    learned = np.where(np.eye(10, dtype=bool), 0.0, counts + 1.0)
    rank = np.arange(10)
    inverse_distance = np.where(np.eye(10, dtype=bool), 0.0, 1 / (np.abs(rank[:, None] - rank) + 1.0))
    n, total = synthetic.summary.holding_count, synthetic.summary.holding_total
    mu = (n - 1) / n / (total / n)
    for row in table.to_dict("records"):
        gains = [int(gain) for gain in row["gains"].split()]
        for weights, name in ((inverse_distance, "GL_AD_ID"), (learned, "learned")):
            matrix = weights / weights.sum(axis=1, keepdims=True)
            law = np.linalg.matrix_power(matrix, 1 << 12)[0]
            assert row[name] == pytest.approx(precision_weighted(gains, law), rel=1e-9)
            assert row[f"{name}_continuous"] == pytest.approx(precision_weighted(gains, law / mu), rel=1e-9)


def test_mp_says_why_there_is_no_continuous_value(small, tmp_path, claims):
    table = mp_table(statistics(small, tmp_path), claims)
    notes = dict(zip(zip(table["log"], table["run"], strict=True), table["note"], strict=True))
    assert notes["yandex-sample", "run1"] == "the log has no times"
    assert notes["engine-sample", "run1"] == "fewer than two holding times at rank 2, 4, 8"
    assert table["GL_AD_ID_continuous"].isna().all()
    assert table["learned"].notna().all()


def test_only_holding_times_at_relevant_ranks_are_needed(synthetic, claims, tmp_path):
    synthetic.save(tmp_path / "copy.npz")
    whole = mp_table([synthetic], claims)
    cut = LogStatistics.load(tmp_path / "copy.npz")
    cut.summary.holding_count[8] = 0  # rank 9 is relevant in the second run only
    cut.summary.holding_total[8] = 0.0
    table = mp_table([cut], claims)
    assert table["GL_AD_ID_continuous"].isna().tolist() == [False, True, False]
    for name in ("GL_AD_ID_continuous", "learned_continuous"):  # equal but for the last bit, as other sums are taken
        assert table[name].iloc[[0, 2]].tolist() == pytest.approx(whole[name].iloc[[0, 2]].tolist(), rel=1e-12)
    assert table["note"].tolist() == ["", "fewer than two holding times at rank 9", ""]


# ------------------------------------------------------------------------------------------------- synthetic logs


def test_synthetic_log_gives_back_its_parameters(synthetic, claims):
    table = backward_table([synthetic], claims)
    transitions = table[table["denominator"].str.contains("transitions ")]
    assert len(transitions) == 2
    assert (transitions["share"] - transitions["known"]).abs().max() < 0.01
    holding = holding_table([synthetic])
    assert ((holding["mu"] - holding["known"]).abs() / holding["known"]).max() < 0.05
    assert len(holding_queries_table([synthetic])) > 10


def test_synthetic_log_is_marked_and_compared_with_nothing(synthetic, claims, tmp_path):
    assert write_clicks(tmp_path, [synthetic], claims) == []
    for name in ("clicks-backward.md", "clicks-backward.tex", "clicks-backward.html", "clicks-transitions.svg"):
        assert "SYNTHETIC" in (tmp_path / name).read_text()
    for path in tmp_path.glob("*.tsv"):
        lines = path.read_text().splitlines()
        assert all(line.split("\t")[:2] == ["synthetic", "synthetic"] for line in lines[1:]), path.name
    assert not backward_table([synthetic], claims)["paper"].any()


# ---------------------------------------------------------------------------------------------------------- claims


def test_the_sample_makes_a_note_and_no_verdict(small, tmp_path, claims):
    found = {one.claim: one for one in reproductions(statistics(small, tmp_path), claims)}
    assert set(found) == {"sigir2014/section5.5/backward-transitions", "sigir2014/section2/backward-users"}
    for claim, one in found.items():
        verdict = judge_claim(claims[claim], one)
        assert verdict.verdict == "not checkable"
        assert verdict.reproduced == ""
        assert verdict.evidence == "the sample of the Yandex log in PyClick"
        assert verdict.note.startswith("needs the original Yandex log at data/clicks/yandex; ")
    assert "33.33% of 3 transitions, 50.00% of 2 transitions" in found["sigir2014/section5.5/backward-transitions"].note
    assert "25.00% of 4 query sessions" in found["sigir2014/section2/backward-users"].note


def test_a_log_of_another_size_is_not_the_papers(small, tmp_path, claims):
    put_by_hand(tmp_path)
    logs = statistics(small, tmp_path)
    records = logs[0].summary.ledger.records
    found = reproductions(logs, claims)
    assert [one.value for one in found] == ["", ""]
    assert all(one.note.startswith(f"the log at data/clicks/yandex has {records} records") for one in found)


def test_a_log_of_the_papers_size_is_judged(small, tmp_path, claims):
    put_by_hand(tmp_path)
    logs = statistics(small, tmp_path)
    size = "sigir2014/section5.1/log-records"
    claims[size] = replace(claims[size], printed=str(logs[0].summary.ledger.records))
    found = {one.claim: judge_claim(claims[one.claim], one) for one in reproductions(logs, claims)}
    assert found[size].verdict == "reproduced"
    share = logs[0].shares()["transitions"].value
    verdict = found["sigir2014/section5.5/backward-transitions"]
    assert verdict.reproduced == f"{share:.0%}"
    assert verdict.verdict == ("reproduced" if verdict.reproduced == verdict.printed else "differs")
    assert found["sigir2014/section2/backward-users"].reproduced == f"{logs[0].shares()['sessions'].value:.0%}"


# ----------------------------------------------------------------------------------------------------------- files


def test_statistics_survive_saving(small, tmp_path, claims):
    put_by_hand(tmp_path)
    for one in statistics(small, tmp_path):
        one.evidence.save(tmp_path / "log.json")
        assert LogEvidence.load(tmp_path / "log.json") == one.evidence
        one.save(tmp_path / "log.npz")
        again = LogStatistics.load(tmp_path / "log.npz")
        assert again.evidence == one.evidence
        for table in (transitions_table, holding_table, holding_queries_table, ledger_table):
            assert table([again]).equals(table([one]))
        assert backward_table([again], claims).equals(backward_table([one], claims))


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "log.npz"
    path.write_text("nothing")
    with pytest.raises(InputError, match="is not a summary of clicks"):
        LogStatistics.load(path)
    with pytest.raises(InputError, match="is not a record of a click log"):
        LogEvidence.load(path)


def test_files_are_the_same_bytes_each_time_and_name_no_place(small, tmp_path, claims):
    put_by_hand(tmp_path)
    written = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        write_clicks(tmp_path / name, statistics(small, tmp_path), claims)
        written.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert written[0] == written[1]
    names = {"backward": "tsv md tex html", "transitions": "tsv svg pdf", "mp": "tsv", "ledger": "tsv"}
    names |= {"holding": "tsv", "holding-queries": "tsv"}
    assert set(written[0]) == {f"clicks-{stem}.{suffix}" for stem, all_of in names.items() for suffix in all_of.split()}
    assert not [name for name, content in written[0].items() if str(tmp_path).encode() in content]


def test_no_logs_at_all_give_empty_tables(tmp_path, claims):
    assert write_clicks(tmp_path, [], claims) == []
    assert (tmp_path / "clicks-backward.tsv").read_text().count("\n") == 1


# ------------------------------------------------------------------------------------------------------- real logs


def test_real_logs(mirror, tmp_path, claims):
    registry = read_registry(ROOT / "config" / "sources.tsv")
    found, _ = gather_logs(list(LOGS), registry, tmp_path / "data", mirror, network=False)
    assert [bool(one.missing) for one in found] == [True, False, False, False]
    logs = [summarize_log(one) for one in found]
    table = backward_table(logs, claims)
    assert shares(table, "yandex-sample")["all transitions"] == (8417, 46995)
    assert shares(table, "yandex-sample")["transitions to another rank"] == (8417, 37938)
    assert shares(table, "engine-sample")["all transitions"] == (611, 3614)
    assert shares(table, "trec-session-2013")["all transitions"] == (41, 337)
    assert shares(table, "trec-session-2013")["all sessions"] == (34, 133)
    assert list(holding_queries_table(logs)["query"]) == [86, 131, 367, 1624, 1652, 3050]
    note = reproductions(logs, claims)[0].note
    assert "17.91% of 46995 transitions, 22.19% of 37938 transitions without repeats" in note
    assert "20 queries of 100 sessions or more" in note
