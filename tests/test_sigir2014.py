"""Tables 1 to 4 of the SIGIR 2014 paper: on the real data, and on what users bring."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from walkeval.audit import VERDICTS, Verdict, judge_claims
from walkeval.claims import Claim, read_claims
from walkeval.correlation import ALL_EQUAL, ONE_SYSTEM
from walkeval.gathering import Evidence, gather
from walkeval.judging import judge
from walkeval.papers.sigir2014 import COMPARISONS, measures, models, table1, table2_and_3, table4, write_tables
from walkeval.scoring import Scores, score_collection
from walkeval.seeds import generator
from walkeval.tables import correlation_table, read_table

ROOT = Path(__file__).resolve().parents[1]
COLLECTIONS = ["trec07", "trec08", "trec10", "trec14"]
COLUMNS = [
    "collection",
    "model",
    "measure",
    "tau",
    "printed",
    "reported",
    "verdict",
    "evidence",
    "n_runs",
    "low",
    "high",
]


@pytest.fixture(scope="session")
def claims() -> dict[str, Claim]:
    return read_claims([ROOT / "config" / "claims" / "sigir2014.tsv"])


# --- the real data ---


@pytest.fixture(scope="session")
def evidence(mirror, tmp_path_factory) -> list[Evidence]:
    folder = tmp_path_factory.mktemp("sigir2014")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IR_DATASETS_HOME", str(folder / "ir_datasets"))
        patch.delenv("TREC_USER", raising=False)
        patch.chdir(folder)
        return gather(COLLECTIONS, ROOT / "config", folder / "data", mirror=mirror, network=False)


@pytest.fixture(scope="session")
def written(evidence, claims, tmp_path_factory) -> tuple[Path, list[Verdict]]:
    """The folder with the tables, and the audit, under the conventions of the paper edition."""
    folder = tmp_path_factory.mktemp("tables")
    (trec8,) = (one for one in evidence if one.collection == "trec08")
    scores = score_collection(judge(trec8.qrels, trec8.run_paths(), order="trec_eval9"), measures())
    correlations = {"trec08": correlation_table(scores, "trec08", "b", 4, samples=40)}
    found = write_tables(folder, evidence, correlations, claims, "b", 4, "truncated")
    return folder, judge_claims(claims, found, "truncated")


def of(verdicts: list[Verdict], prefix: str) -> dict[str, Verdict]:
    return {one.claim.removeprefix(prefix): one for one in verdicts if one.claim.startswith(prefix)}


def test_every_number_of_table_1_is_reproduced(written):
    rows = of(written[1], "sigir2014/table1/")
    assert len(rows) == 20
    assert {one.verdict for one in rows.values()} == {"reproduced"}
    assert rows["trec08/runs"].evidence == "runs"
    assert rows["trec10/runs"].evidence == "run summaries"


def test_table_2_on_trec_8_to_the_last_digit(written):
    rows = of(written[1], "sigir2014/table2/trec08/")
    found = {name: (one.reproduced, one.verdict, one.evidence) for name, one in rows.items()}
    assert found == {
        "AP": ("1.000", "reproduced", "by definition"),
        "P@10": ("0.8264", "reproduced", "runs"),
        "Rprec": ("0.9219", "reproduced", "runs"),
        "bpref": ("0.9361", "reproduced", "runs"),
        "RBP": ("0.8090", "reproduced", "runs"),
    }


def test_table_2_on_trec_7_where_the_evidence_reaches(written):
    rows = of(written[1], "sigir2014/table2/trec07/")
    found = {name: (one.reproduced, one.verdict, one.evidence) for name, one in rows.items()}
    assert found["P@10"] == ("0.8018", "reproduced", "per-topic scores")
    assert found["Rprec"] == ("0.9261", "reproduced", "run summaries")
    for name in ("bpref", "RBP"):
        assert rows[name].verdict == "not checkable"
        assert rows[name].evidence == "none: needs the runs of TREC 7, 1998, Ad Hoc"


def test_every_cell_of_table_2_that_the_evidence_reaches_is_judged(written):
    rows = of(written[1], "sigir2014/table2/")
    reached = {name for name, one in rows.items() if one.verdict != "not checkable"}
    assert {"trec14/P@10", "trec14/Rprec", "trec14/bpref", "trec10/Rprec"} <= reached
    assert not {"trec14/RBP", "trec10/RBP"} & reached


def test_table_3_on_trec_8(written, claims):
    rows = of(written[1], "sigir2014/table3/trec08/")
    clear = {name: one for name, one in rows.items() if len(claims[one.claim].readings) == 1}
    assert len(clear) == 68
    others = {name for name, one in clear.items() if one.verdict != "reproduced"}
    assert len(clear) - len(others) == 64
    assert {name.split("/")[0] for name in others} == {"LO_OR_ID@Rec"}
    assert {clear[name].verdict for name in others} == {"differs"}
    assert {one.evidence for one in rows.values()} == {"runs"}


def test_table_3_without_runs_is_not_checkable(written):
    for collection in ("trec07", "trec10", "trec14"):
        rows = of(written[1], f"sigir2014/table3/{collection}/")
        assert {one.verdict for one in rows.values()} == {"not checkable"}
        assert {one.note for one in rows.values()} == {f"needs {collection} runs"}


def test_the_files_of_tables_2_and_3(written):
    folder, _ = written
    second, third = (read_table(folder / f"table{number}.tsv") for number in (2, 3))
    assert list(second.columns) == list(third.columns) == COLUMNS
    assert (len(second), len(third)) == (4 * 5, 4 * 16 * 5)
    ours = third[third["collection"] == "trec08"]
    assert (ours["low"] <= ours["high"]).all()
    assert set(ours["n_runs"]) == {129}
    assert set(ours["model"]) == set(models())
    row = second[(second["collection"] == "trec08") & (second["measure"] == "bpref")].iloc[0]
    assert (row["printed"], row["reported"], row["verdict"]) == ("0.9361", "0.9361", "reproduced")
    assert 0.9361 <= row["tau"] < 0.9362
    for number in (1, 2, 3, 4):
        for suffix in ("md", "tex", "html"):
            assert "reproduced" in (folder / f"table{number}.{suffix}").read_text()


def test_exactly_one_verdict_a_claim(written, claims):
    verdicts = written[1]
    assert [one.claim for one in verdicts] == list(claims)
    assert {one.verdict for one in verdicts} <= set(VERDICTS)


# --- Table 4 needs no data ---


def test_table_4(claims):
    table = table4(claims).set_index("run")
    assert table.loc["run2", "gains"] == "1 1 1 0 1 0 0 0 1 0"
    for run in ("run1", "run2", "run3"):
        row = table.loc[run]
        printed = {time: float(claims[f"sigir2014/table4/{run}/{time}"].printed) for time in ("discrete", "continuous")}
        assert row["discrete"] == pytest.approx(printed["discrete"], abs=0.5e-4)
        assert row["low"] < row["continuous"] < row["high"]
        assert row["low"] <= printed["continuous"] <= row["high"]


def test_the_interval_holds_whatever_rounds_to_the_printed_parameters(claims):
    from walkeval import evaluate

    random = generator("test/table4")
    for row in table4(claims).itertuples():
        gains = [int(one) for one in row.gains.split()]
        printed = [claims[f"sigir2014/table4/{row.run}/mu{rank}"].printed for rank in range(1, 11)]
        for _ in range(50):
            off = random.uniform(-0.5, 0.5, size=10)
            mu = [
                float(one) + each * 10.0 ** -len(one.partition(".")[2]) for one, each in zip(printed, off, strict=True)
            ]
            value = evaluate("MP", gains, model="GL_AD_ID", holding=mu)
            assert row.low - 1e-12 <= value <= row.high + 1e-12


def test_table_4_is_judged(claims, tmp_path):
    found = write_tables(tmp_path, [], {}, claims)
    rows = of(judge_claims(claims, found), "sigir2014/table4/")
    assert {rows[f"run{number}/discrete"].verdict for number in (1, 2, 3)} == {"reproduced"}
    assert {rows[f"run{number}/continuous"].verdict for number in (1, 2, 3)} <= {"reproduced", "consistent"}


# --- other collections ---

QRELS = "1 0 A 1\n1 0 B 0\n1 0 C 1\n2 0 A 1\n2 0 B 0\n"


@pytest.fixture
def qrels(tmp_path) -> str:
    (tmp_path / "qrels").write_text(QRELS)
    return str(tmp_path / "qrels")


def correlations(values: np.ndarray) -> pd.DataFrame:
    runs, topics = ([str(number) for number in range(size)] for size in values.shape[1:])
    return correlation_table(Scores(measures(), runs, topics, values), "test", samples=5)


def mine(qrels: str, kind: str = "real", runs: int = 3) -> Evidence:
    return Evidence("mine", "Mine", kind, qrels, "d", {str(number): "file" for number in range(runs)})


def test_features_by_hand(qrels):
    table = table1([mine(qrels)]).set_index("feature")["value"]
    assert table.to_dict() == {"topics": 2, "runs": 3, "min_relevant": 1, "mean_relevant": 1.5, "max_relevant": 2}
    assert table1([Evidence("none", "None", "real")]).empty


def test_a_collection_that_the_paper_does_not_have(qrels, claims, tmp_path):
    values = generator("test/mine").uniform(size=(len(measures()), 3, 2))
    found = write_tables(tmp_path, [mine(qrels)], {"mine": correlations(values)}, claims)
    assert all(one.claim.startswith("sigir2014/table4/") for one in found)
    second = read_table(tmp_path / "table2.tsv")
    assert set(second["verdict"]) == {""}
    assert second["tau"].notna().all()
    judge_claims(claims, found)


@pytest.mark.parametrize(("runs", "reason"), [(1, ONE_SYSTEM), (3, ALL_EQUAL)])
def test_where_tau_is_undefined_the_cell_says_why(qrels, claims, tmp_path, runs, reason):
    values = np.full((len(measures()), runs, 2), 0.25)
    one = Evidence("trec08", "TREC 8", "real", qrels, "d", {str(number): "file" for number in range(runs)})
    found = write_tables(tmp_path, [one], {"trec08": correlations(values)}, claims)
    for number in (2, 3):
        table = read_table(tmp_path / f"table{number}.tsv")
        cells = table[table["measure"] != table["model"]]
        assert cells["tau"].isna().all()
        assert set(cells["printed"]) == {""}
        assert set(cells["evidence"]) == {f"runs; undefined: {reason}"}
        assert reason in (tmp_path / f"table{number}.md").read_text()
    verdict = of(judge_claims(claims, found), "sigir2014/table2/trec08/")["P@10"]
    assert (verdict.verdict, verdict.evidence, verdict.note) == ("not checkable", "runs", f"tau is undefined: {reason}")


def test_an_edition_with_few_measures_says_which_are_missing(qrels, claims, tmp_path):
    scores = Scores(["AP", "P@10"], ["0", "1", "2"], ["1"], generator("test/few").uniform(size=(2, 3, 1)))
    write_tables(tmp_path, [mine(qrels)], {"mine": correlation_table(scores, "mine", samples=5)}, claims)
    table = read_table(tmp_path / "table2.tsv").set_index("measure")
    assert table.loc["P@10", "evidence"] == "runs"
    assert table.loc["bpref", "evidence"] == "none: AP or bpref is not a measure of the edition"
    assert np.isnan(table.loc["bpref", "tau"])


def test_synthetic_collections_are_marked_and_compared_with_nothing(qrels, claims, tmp_path):
    values = generator("test/synthetic").uniform(size=(len(measures()), 3, 2))
    one = Evidence("trec08", "trec08, synthetic", "synthetic", qrels, "generated", {"0": "f", "1": "f", "2": "f"})
    found = write_tables(tmp_path, [one], {"trec08": correlations(values)}, claims)
    assert {one.claim.split("/")[1] for one in found} == {"table4"}
    for number in (1, 2, 3):
        table = read_table(tmp_path / f"table{number}.tsv")
        assert set(table["reported"]) == set(table["verdict"]) == {""}
        for suffix in ("md", "tex", "html"):
            assert "SYNTHETIC" in (tmp_path / f"table{number}.{suffix}").read_text()


def test_table_3_says_what_a_blank_reported_cell_is(qrels, claims, tmp_path):
    sentence = "A blank reported cell of the paper's collections is illegible in the paper."
    values = generator("test/blank").uniform(size=(len(measures()), 3, 2))
    for name, expected in (("trec08", True), ("mine", False)):
        one = Evidence(name, "T", "real", qrels, "d", {"0": "f", "1": "f", "2": "f"})
        write_tables(tmp_path, [one], {name: correlations(values)}, claims)
        assert "" in set(read_table(tmp_path / "table3.tsv")["reported"])
        assert (sentence in (tmp_path / "table3.md").read_text()) is expected, "nothing of an own one is in the paper"
        assert sentence not in (tmp_path / "table2.md").read_text()


def test_no_collections_at_all(claims, tmp_path):
    write_tables(tmp_path, [], {}, claims)
    assert read_table(tmp_path / "table3.tsv").empty
    second, third = table2_and_3([], {})
    assert second.empty
    assert third.empty


def test_names_of_rows_and_columns():
    assert list(COMPARISONS) == ["AP", "P@10", "Rprec", "bpref", "RBP"]
    names = list(models())
    assert len(names) == 16
    assert names[:4] == ["GL_AD_ID", "GL_AD_ID@Rec", "GL_AD_LID", "GL_AD_LID@Rec"]
    assert len(set(measures())) == 21
