"""The benchmarks run at tiny sizes and write their tables; no time is asserted anywhere."""

from __future__ import annotations

import doctest
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import ratios, run_all, scale, scaling, timing
from benchmarks.files import Files, repeated_runs, stand_in, trec8
from benchmarks.stages import stages
from walkeval.judging import judge
from walkeval.measures import parse_measure
from walkeval.papers.sigir2014 import models
from walkeval.synthetic import SyntheticSpecification
from walkeval.tables import read_table

ROOT = Path(__file__).resolve().parents[1]
TRACKS = ROOT / "benchmarks" / "tracks.tsv"
TINY_RATIOS = ratios.Plan(rounds=1, slow_rounds=1, quick_rounds=1, most_users=2000, standard_error=0.01)
TINY_SCALING = scaling.Plan(
    axes=(
        scaling.Axis("runs", (2, 4), 2, topics=2, depth=20, candidates=300),
        scaling.Axis("topics", (2, 4), 2, runs=2, depth=20, candidates=300),
        scaling.Axis("depth", (20, 40), 20, runs=2, topics=2, candidates=300),
    ),
    check={"runs": 6, "topics": 4, "depth": 20},
    relevant=(2, 3, 4),
    files=2,
    replicates=(1, 2),
    records=(2000,),
    lines_per_measurement=1,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Files:
    tiny = SyntheticSpecification("tiny", topics=6, runs=5, relevant=(3, 6, 12), depth=60, candidates=300)
    return stand_in(tiny, tmp_path_factory.mktemp("files") / "tiny", "SYNTHETIC tiny")


@pytest.fixture(scope="module")
def written(files, tmp_path_factory) -> Path:
    """A folder with everything that a tiny benchmark writes, and the page."""
    folder = tmp_path_factory.mktemp("benchmarks")
    shutil.copy(ROOT / "docs" / "scale.md", folder / "scale.md")
    words: list[str] = []
    measured = run_all.measure(files, TINY_RATIOS, TINY_SCALING, None, words.append)
    run_all.write(measured, folder / "results", stages(folder), folder / "scale.md")
    assert len(words) > 5
    return folder


def test_ratios_have_their_columns_and_name_both_sides(written):
    table = read_table(written / "results" / "ratios.tsv", ["ours_s", "peer_s", "ratio", "wanted"])
    assert list(table.columns) == ratios.COLUMNS
    assert list(table.columns[:5]) == ["what", "peer", "ours_s", "peer_s", "ratio"]
    measured = table[table["note"] != "not installed"]
    assert np.allclose(measured["ratio"], measured["peer_s"] / measured["ours_s"])
    peers = " ".join(table["peer"])
    for peer in ("pytrec_eval", "ir_measures", "ranx (warm)", "ranx (cold)", "linear systems", "simulated users"):
        assert peer in peers
    assert (table.loc[table["peer"].str.startswith("ranx"), "note"] == "not installed").all()
    assert set(table["wanted"].dropna()) == {2, 3, 50, 1000}
    assert table["what"].str.contains("SYNTHETIC").all()


def test_points_exponents_laws_and_checks_are_written(written):
    tables = scale.Tables.read(written / "results")
    assert list(tables.points.columns) == scaling.COLUMNS
    assert set(tables.points["axis"]) == {
        "runs", "topics", "depth", "replicates", "click records", scaling.CHECK, scaling.REAL,
    }  # fmt: skip
    assert (tables.points["cpu_seconds"] >= 0).all() and (tables.points["data"].str.startswith("SYNTHETIC")).all()
    judged = tables.points[tables.points["stage"] == "judge"]
    assert (judged["lines"] == judged["runs"] * judged["topics"] * judged["depth"]).iloc[:6].all()
    assert set(tables.exponents["quantity"]) == {"time", "memory"}
    assert (tables.laws["coefficient"] >= 0).all()
    assert set(tables.checks["what"]) == {scaling.CHECK, scaling.REAL}


def test_all_files_are_there_and_tell_nothing_of_the_machine_but_its_kind(written):
    names = {path.name for path in (written / "results").iterdir()}
    assert names == {
        "ratios.tsv", "scaling.tsv", "exponents.tsv", "laws.tsv", "checks.tsv", "stages.tsv", "machine.txt", "README.md",
        "scaling.svg", "scaling.pdf",
    }  # fmt: skip
    machine = (written / "results" / "machine.txt").read_text()
    for word in ("processor: ", "cores: ", "python: ", "package: numpy "):
        assert word in machine
    assert "/" not in machine and timing.platform.node() not in machine.split()
    assert "SYNTHETIC DATA" in (written / "results" / "scaling.svg").read_text()


def test_the_page_has_numbers_of_the_tables_between_its_marks(written):
    text = (written / "scale.md").read_text()
    assert text.count(scale.BEGIN) == text.count(scale.END) == 1
    part = text.split(scale.BEGIN)[1].split(scale.END)[0]
    assert part.strip() == scale.generated(scale.Tables.read(written / "results"), TRACKS).strip()
    assert "100,000 systems x 10,000 topics" in part


def test_the_tracked_page_follows_from_the_tracked_tables():
    text = (ROOT / "docs" / "scale.md").read_text()
    part = text.split(scale.BEGIN)[1].split(scale.END)[0]
    assert part.strip() == scale.generated(scale.Tables.read(ROOT / "results" / "benchmarks"), TRACKS).strip()


def test_linear_systems_by_numpy_are_those_of_the_reference(files):
    lists = judge(files.qrels, files.runs).lists()
    number = int(np.argmax(lists.relevant.count))
    gains = lists.select(np.array([number])).dense()[0].astype(int).tolist()
    base = int(lists.recall_base[number])
    for model, measure in models().items():
        exact = parse_measure(measure).score(lists.select(np.array([number])))[0]
        for law in (ratios.law_by_numpy, ratios.reference.relevant_law):
            assert ratios._by_linear_systems(gains, model, base, law) == pytest.approx(exact, abs=1e-10)


def test_different_results_are_never_compared():
    with pytest.raises(SystemExit, match="peer: the results differ by 1.0e-01"):
        ratios._agree("peer", np.array([0.5]), np.array([0.6]))
    with pytest.raises(SystemExit):
        ratios._agree("peer", np.array([0.5]), np.array([np.nan]))


def test_a_ratio_is_reached_only_by_both_clocks():
    seconds = timing.Seconds
    rows = [
        ratios.row("a", "x", seconds(1.0, 1.0), seconds(3.0, 2.5), 2),
        ratios.row("b", "x", seconds(1.0, 1.0), seconds(3.0, 1.5), 2),
        ratios.row("c", "x", None, None, None, "not installed"),
    ]
    assert ratios.summary(pd.DataFrame(rows, columns=ratios.COLUMNS)) == {"a / x": True, "b / x": False}


def test_exponents_and_laws_find_what_was_put_in():
    size = np.array([10.0, 30.0, 100.0])
    assert scaling.slope_of_logarithms(size, 7 * size**1.5) == pytest.approx((1.5, 0.0), abs=1e-7)
    assert np.isnan(scaling.slope_of_logarithms([1.0], [1.0])).all()
    points = pd.DataFrame(
        [
            {"axis": axis, "stage": "judge", "runs": runs, "lines": runs * lines, "judgements": 5 * lines, "lists": runs,
             "judged": runs * lines // 2, "peak_mb": 0.0, "cpu_seconds": 2e-4 * runs + 1e-7 * runs * lines + 3e-6 * lines}
            for axis, runs, lines in [("runs", 10, 1000), ("runs", 1000, 1000), ("depth", 8, 100), ("depth", 8, 10**6)]
        ]
    )  # fmt: skip
    laws = scaling.laws(points)
    assert laws.set_index("term")["coefficient"].to_dict() == pytest.approx(
        {"runs": 2e-4, "lines": 1e-7, "judgements": 6e-7}, rel=1e-6
    )
    larger = {"runs": 10**4, "lines": 10**8, "judgements": 5 * 10**4}
    assert scaling.predict(laws, "judge", "time", larger) == pytest.approx(2 + 10 + 0.03)


def test_examples_in_the_documentation_hold():
    assert [doctest.testmod(module).failed for module in (scale, scaling)] == [0, 0]
    assert doctest.testmod(scale).attempted and doctest.testmod(scaling).attempted


def test_rounds_take_turns():
    calls: list[str] = []
    works = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b") or "b's result"}
    done = timing.in_turns(works, {"a": 1, "b": 2})
    assert calls == ["a", "b", "b"] and done["b"][1] == "b's result"


def test_the_best_time_is_the_least_of_each_clock():
    seconds = timing.Seconds
    assert timing.best([seconds(3, 1), seconds(2, 2)]) == seconds(2, 1)
    assert seconds(3, 1).times(2) == seconds(6, 2)


def test_runs_are_taken_again_and_again(files):
    runs = repeated_runs(files, 12)
    assert len(runs) == 12 and list(runs.values())[:5] == list(runs.values())[5:10]


def test_stages_are_summed_by_rule(tmp_path):
    folder = tmp_path / "demo" / "benchmarks"
    (folder / "judge_collection").mkdir(parents=True)
    head = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
    for name, line in (("judge_collection/a", "1.5"), ("judge_collection/b", "2.5"), ("write_report", "9")):
        (folder / f"{name}.tsv").write_text(f"{head}{line}\t0:00:01\t100\t1\t1\t1\t-\t-\t0\t0.5\n")
    rows = stages(tmp_path).values.tolist()
    assert rows == [
        ["demo", "write_report", 1, 9.0, 9.0, 0.5, 100.0],
        ["demo", "judge_collection", 2, 4.0, 2.5, 1.0, 100.0],
    ]
    assert stages(tmp_path / "none").empty


def test_without_the_real_runs_there_is_a_stand_in_that_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("WALKEVAL_MIRROR", raising=False)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "synthetic.yaml").write_text(
        "trec08: {topics: 2, runs: 3, relevant: [2, 3, 4], depth: 20}\n"
    )
    assert trec8(tmp_path, tmp_path / "files").title.startswith("SYNTHETIC")


def test_the_real_runs_are_unpacked(mirror, tmp_path, monkeypatch):
    monkeypatch.setenv("WALKEVAL_MIRROR", str(mirror))
    found = trec8(tmp_path, tmp_path / "files")
    assert (found.title, len(found.runs)) == ("TREC 8 ad hoc", 129)
    assert found.qrels.read_text().startswith("401 0 ")
