"""Figures of the SIGIR 2014 paper: the chains, the curves, the heat maps and the pairs that change place."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from walkeval.correlation import kendall
from walkeval.figures import SYNTHETIC, Look, Sheet, draw_curves, fit, message_sheet, save, sheet, spread, style
from walkeval.gathering import Evidence
from walkeval.measures.markov_precision import MP, model_names, stationary_law
from walkeval.papers import sigir2014_figures
from walkeval.papers.sigir2014 import measures as paper_measures
from walkeval.papers.sigir2014_figures import (
    PANELS, correlation_matrix, families, panel_looks, pool_curves, seriation, short_names, transition_matrix, watched,
    write_chains, write_heatmaps, write_pair_changes, write_pool_figures,
)  # fmt: skip
from walkeval.ranked import RankedLists
from walkeval.robustness import PoolSummary
from walkeval.scoring import Scores
from walkeval.seeds import generator
from walkeval.swaps import pair_changes
from walkeval.tables import correlation_table

ROOT = Path(__file__).resolve().parents[1]
RATES = [90, 70, 50, 30, 10]
MEASURES = [*paper_measures(), "RR", "ESL(wanted=1)", "ESL(wanted=5)"]


def evidence_of(name: str, kind: str = "synthetic", runs: int = 6) -> Evidence:
    files = {f"run{number}": "file" for number in range(runs)}
    return Evidence(name, f"{name}, {kind}", kind, qrels="qrels", runs=files)


def scores_of(name: str, runs: int = 6, topics: int = 4) -> Scores:
    values = generator(f"test/{name}").random((len(MEASURES), runs, topics))
    names = [f"run{number}" for number in range(runs)]
    return Scores(list(MEASURES), names, [str(one) for one in range(topics)], values)


def pools_of(name: str, replicates: int = 5) -> PoolSummary:
    random = generator(f"test/pools/{name}")
    shape = replicates, len(RATES), len(MEASURES)
    level = np.array([0.9, 0.8, 0.7, 0.5, 0.3])[None, :, None]
    tau = level - 0.1 * random.random(shape)
    return PoolSummary(list(MEASURES), RATES, np.arange(replicates), 0.5 * level * random.random(shape), tau)


def draw_everything(folder: Path, evidence: list[Evidence]) -> None:
    folder.mkdir(exist_ok=True)
    names = [one.collection for one in evidence if one.runs]
    scores = {name: scores_of(name) for name in names}
    write_chains(folder)
    write_pool_figures(folder, evidence, pool_curves(evidence, scores, {name: pools_of(name) for name in names}))
    write_heatmaps(folder, evidence, {name: correlation_table(scores[name], name, samples=0) for name in names})
    write_pair_changes(folder, evidence, scores)


WITHOUT_RUNS = Evidence("trec10", "TREC 10, 2001, Web", "real", qrels="qrels")
EVIDENCE = [evidence_of("trec07"), evidence_of("trec14"), WITHOUT_RUNS]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything, for two synthetic collections and one without runs."""
    folder = tmp_path_factory.mktemp("figures")
    draw_everything(folder, EVIDENCE)
    return folder


FIGURES = ["figure1", "figure2", "figure3", "figure4", "figure4-all", "heatmaps"]
WITH_DATA = FIGURES[2:]


def read_table(path: Path) -> pd.DataFrame:
    """A TSV as any reader would take it."""
    return pd.read_csv(path, sep="\t")


def text_of(path: Path) -> str:
    """All words on the face of an SVG."""
    root = ElementTree.parse(path).getroot()
    return " ".join(one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text"))


# --- the chains -----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(model_names()), st.lists(st.booleans(), min_size=2, max_size=12).filter(lambda one: sum(one) >= 2)
)
def test_the_chain_that_is_drawn_is_the_one_that_is_scored(model: str, gains: list[bool]) -> None:
    relevant = [rank for rank, gain in enumerate(gains, start=1) if gain]
    ranks, matrix = transition_matrix(MP(model=model), len(gains), relevant)
    assert matrix.sum(axis=1) == pytest.approx(1)
    seen = watched(ranks, matrix, relevant)
    assert seen.sum(axis=1) == pytest.approx(1)
    weights = MP(model=model).weights(RankedLists.from_gains([[int(gain) for gain in gains]]))
    assert stationary_law(seen) == pytest.approx(weights / weights.sum())


def test_figure_1_has_the_probabilities_of_equation_10(drawn: Path) -> None:
    table = read_table(drawn / "figure1.tsv").set_index(["model", "from_rank", "to_rank"])["probability"]
    row = np.array([1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6])
    assert [table["GL_AD_ID", 1, end] for end in range(2, 7)] == pytest.approx((row / row.sum()).tolist())
    assert table["LO_AD_ID", 1, 2] == 1
    assert table["LO_AD_ID", 3, 4] == table["LO_AD_ID", 3, 2] == 0.5
    assert len(table) == 30 + 10
    words = text_of(drawn / "figure1.svg")
    assert words.count(".34") == 2, "from the first rank to the second, and from the last to the one before"


def test_figure_2_is_over_relevant_ranks_only(drawn: Path) -> None:
    table = read_table(drawn / "figure2.tsv")
    assert set(table["from_rank"]) == set(table["to_rank"]) == {1, 3, 4, 6}
    local = table[table["model"] == "LO_AD_ID"].set_index(["from_rank", "to_rank"])["probability"]
    # From rank 1 to rank 2, and from there back or on to rank 3.
    assert local[1, 1] == local[1, 3] == 0.5
    assert local[3, 1] == local[3, 3] == 0.25
    assert (1, 4) not in local.index
    assert "#c4c4c4" in (drawn / "figure2.svg").read_text(encoding="utf-8")
    assert "#c4c4c4" not in (drawn / "figure1.svg").read_text(encoding="utf-8")


# --- files ----------------------------------------------------------------------------------------------------------


def test_two_runs_give_the_same_bytes(drawn: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; import matplotlib; matplotlib.rcParams['font.size'] = 30;"
        "import test_figures as one; one.draw_everything(Path(sys.argv[1]), one.EVIDENCE)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=environment)
    names = sorted(one.name for one in drawn.iterdir())
    assert names == sorted(one.name for one in tmp_path.iterdir())
    assert len([name for name in names if name.endswith((".svg", ".pdf"))]) == 12
    for name in names:
        assert (drawn / name).read_bytes() == (tmp_path / name).read_bytes(), name


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_no_date_and_can_stand_in_a_page(drawn: Path, name: str) -> None:
    text = (drawn / f"{name}.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text.encode())
    assert root.get("viewBox") and root.get("role") == "img" and "max-width: 100%" in root.get("style")
    assert root.find("{http://www.w3.org/2000/svg}title").text
    assert root.find("{http://www.w3.org/2000/svg}desc").text
    assert not re.search(r"\b20[2-9]\d-\d\d|dc:date|matplotlib", text)
    assert len(text) < 400_000
    content = (drawn / f"{name}.pdf").read_bytes()
    assert content.startswith(b"%PDF") and b"CreationDate" not in content and b"matplotlib" not in content.lower()


def test_names_in_one_figure_are_not_those_in_another(drawn: Path) -> None:
    names = []
    for one in FIGURES:
        text = (drawn / f"{one}.svg").read_text(encoding="utf-8")
        defined = re.findall(r'\bid="([^"]*)"', text)
        used = re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', text)
        assert {first or second for first, second in used} <= set(defined)
        names += defined
    assert len(names) == len(set(names))


@pytest.mark.parametrize("evidence", [EVIDENCE, [evidence_of("trec08", "real")], [evidence_of("mine", "real")]])
def test_all_text_is_large_enough_and_inside(
    evidence: list[Evidence], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {}
    monkeypatch.setattr(sigir2014_figures, "save", lambda result, stem: kept.update({Path(stem).name: result}))
    draw_everything(tmp_path, evidence)
    assert set(kept) == set(FIGURES)
    for name, result in kept.items():
        with style():
            canvas = FigureCanvasAgg(result.figure)
            canvas.draw()  # labels of axes find their place only now
            renderer = canvas.get_renderer()
            width, height = result.figure.bbox.size
            shown = [one for one in result.figure.findobj(Text) if one.get_visible() and one.get_text()]
            for one in shown:
                place = one.get_window_extent(renderer)
                assert one.get_fontsize() >= 8, (name, one.get_text())
                assert place.x0 >= 0 and place.x1 <= width, (name, one.get_text())
                assert place.y0 >= 0 and place.y1 <= height, (name, one.get_text())


def outside(result: Sheet) -> list[str]:
    """The texts of a figure that are cut off at its left or right edge."""
    with style():
        canvas = FigureCanvasAgg(result.figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        shown = [one for one in result.figure.findobj(Text) if one.get_visible() and one.get_text()]
        places = [(one, one.get_window_extent(renderer)) for one in shown]
    return [one.get_text() for one, place in places if place.x0 < 0 or place.x1 > result.figure.bbox.width]


LONG = ['PH(browsing="RWBM",p=0.5,q=0.25,loss=0.25,order=1)', 'PH(browsing="SFBM",p=0.6,q=0.25,loss=0.1,order=2)']


@pytest.mark.parametrize("collections", [["mine"], ["mine", "others"]])
@pytest.mark.parametrize("measures", [["AP"], LONG, [*LONG, "AP"]])
@pytest.mark.parametrize("shift", [0.0, -1.2])
def test_names_and_ticks_of_any_length_have_room(
    collections: list[str], measures: list[str], shift: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {}
    monkeypatch.setattr(sigir2014_figures, "save", lambda result, stem: kept.update({Path(stem).name: result}))
    shape = 2, len(RATES), len(measures)
    tau = 0.9 + shift * generator("test/long names").random(shape)
    pools = PoolSummary(measures, RATES, np.arange(2), np.full(shape, 0.5), tau)
    values = generator("test/scores of long names").random((len(measures), 6, 4))
    scores = Scores(measures, [f"run{number}" for number in range(6)], list("abcd"), values)
    evidence = [evidence_of(name, "real") for name in collections]
    table = pool_curves(evidence, dict.fromkeys(collections, scores), dict.fromkeys(collections, pools))
    write_pool_figures(tmp_path, evidence, table)
    for result in kept.values():
        fit(result)
        assert outside(result) == []
    # A key that is inside a panel stays there.
    result = kept["figure4-all"]
    with style():
        renderer = FigureCanvasAgg(result.figure).get_renderer()
        for axes in result.panels:
            for one in axes.texts if len(collections) == 1 else ():
                assert one.get_window_extent(renderer).x1 <= axes.get_window_extent(renderer).x1


def test_a_figure_with_room_stays_as_it_is_and_another_keeps_its_panels() -> None:
    with style():
        wide, narrow = sheet("Heading", "Caption", [1.0]), sheet("Heading", "Caption", [1.0], left=0.1)
        for one in (wide, narrow):
            one.panels[0].set_ylabel("a label")
    sizes = {}
    for name, one in (("wide", wide), ("narrow", narrow)):
        before = one.figure.get_size_inches().copy(), one.panels[0].get_position().size * one.figure.get_size_inches()
        fit(one)
        after = one.figure.get_size_inches(), one.panels[0].get_position().size * one.figure.get_size_inches()
        assert after[1].tolist() == pytest.approx(before[1].tolist())
        sizes[name] = (after[0] - before[0]).tolist()
    assert sizes["wide"] == [0, 0]
    assert 0.2 < sizes["narrow"][0] < 0.8 and sizes["narrow"][1] == 0
    assert outside(narrow) == []


@pytest.mark.parametrize("name", WITH_DATA)
def test_synthetic_data_are_marked_on_the_face(drawn: Path, tmp_path: Path, name: str) -> None:
    assert SYNTHETIC in text_of(drawn / f"{name}.svg")


def test_real_data_are_not_marked(tmp_path: Path) -> None:
    draw_everything(tmp_path, [evidence_of("trec08", "real"), Evidence("trec07", "TREC 7", "synthetic", qrels="qrels")])
    for name in FIGURES:
        assert SYNTHETIC not in text_of(tmp_path / f"{name}.svg")
    assert "SYNTHETIC" not in (tmp_path / "pair-changes-summary.html").read_text(encoding="utf-8")


def test_chains_stand_on_no_data(drawn: Path) -> None:
    assert SYNTHETIC not in text_of(drawn / "figure1.svg") + text_of(drawn / "figure2.svg")


# --- Figures 3 and 4 ------------------------------------------------------------------------------------------------


def test_the_tables_have_what_is_plotted(drawn: Path) -> None:
    for figure, quantity in (("figure3", "mean"), ("figure4", "tau")):
        table = read_table(drawn / f"{figure}.tsv")
        assert set(table["data"]) == {"synthetic"}
        for name in ("trec07", "trec14"):
            values = getattr(pools_of(name), quantity)
            rows = table[table["collection"] == name]
            models = {MP(model=model, rescale=one).name for model in PANELS[name] for one in (None, "recall")}
            assert set(rows["measure"]) == models | {"AP", "P@10", "Rprec", "bpref", "RBP(p=0.8)"}
            for measure, part in rows.groupby("measure"):
                assert part["rate"].tolist() == [100, *RATES]
                sample = values[:, :, MEASURES.index(measure)]
                assert part["value"].astype(float).tolist()[1:] == pytest.approx(sample.mean(axis=0), rel=1e-9)
                assert part["low"].tolist()[1:] == pytest.approx(np.quantile(sample, 0.025, axis=0), rel=1e-9)
                assert part["high"].tolist()[1:] == pytest.approx(np.quantile(sample, 0.975, axis=0), rel=1e-9)
                assert part["replicates"].tolist()[1:] == [5] * 5
    assert set(read_table(drawn / "figure4-all.tsv")["measure"]) == set(MEASURES)


def test_an_axis_shows_the_rows_it_is_given() -> None:
    table = pd.DataFrame(
        {
            "measure": ["AP"] * 3 + ["RR"] * 3,
            "rate": [100, 50, 10] * 2,
            "value": [1.0, 0.8, 0.5, 1.0, 0.7, np.nan],
            "low": [1.0, 0.7, 0.4, 1.0, 0.6, np.nan],
            "high": [1.0, 0.9, 0.6, 1.0, 0.8, np.nan],
        }
    )
    with style():
        axes = sheet("Heading", "Caption", [2.0], right=1.0).panels[0]
        axes.set_ylim(0, 1)
        draw_curves(axes, table, {"AP": Look("AP", "#000000"), "RR": Look("first", "#0072B2")}, ticks=[10, 50, 100])
    lines = [line for line in axes.lines if line.get_transform() == axes.transData]
    assert [line.get_ydata().tolist() for line in lines] == [[1.0, 0.8, 0.5], [1.0, 0.7]]
    assert axes.get_xlim()[0] > 100 > 10 > axes.get_xlim()[1], "pools shrink from left to right"
    assert [one.get_text() for one in axes.texts] == ["AP", "first"], "names are in the order of the ends, from below"


def test_what_is_left_out_is_named_with_the_reason(drawn: Path) -> None:
    words = text_of(drawn / "figure3.svg")
    assert "TREC 10, 2001, Web (at hand: judgements)" in words
    assert "5 replicates" in words


def test_without_runs_the_figure_says_so(tmp_path: Path) -> None:
    draw_everything(tmp_path, [Evidence("trec07", "TREC 7, 1998, Ad Hoc", "real", qrels="qrels")])
    for name in WITH_DATA:
        words = text_of(tmp_path / f"{name}.svg")
        assert "No collection of this edition has runs" in words
        assert "TREC 7, 1998, Ad Hoc" in words
        assert read_table(tmp_path / f"{name}.tsv").empty
    assert read_table(tmp_path / "pair-changes.tsv").empty


def test_without_replicates_the_figure_says_so(tmp_path: Path) -> None:
    evidence = [evidence_of("trec08")]
    write_pool_figures(tmp_path, evidence, pool_curves(evidence, {"trec08": scores_of("trec08")}, {}))
    for name in ("figure3", "figure4", "figure4-all"):
        words = text_of(tmp_path / f"{name}.svg")
        assert "replicates: 0" in words and SYNTHETIC in words


def test_one_run_has_no_order_to_keep(tmp_path: Path) -> None:
    evidence = [evidence_of("trec08", "real", runs=1)]
    scores = {"trec08": scores_of("trec08", runs=1)}
    pools = pools_of("trec08")
    undefined = PoolSummary(pools.measures, pools.rates, pools.replicates, pools.mean, np.full(pools.tau.shape, np.nan))
    write_pool_figures(tmp_path, evidence, pool_curves(evidence, scores, {"trec08": undefined}))
    assert "undefined" in text_of(tmp_path / "figure4.svg")
    assert "undefined" not in text_of(tmp_path / "figure3.svg")
    write_heatmaps(tmp_path, evidence, {"trec08": correlation_table(scores["trec08"], "trec08", samples=0)})
    assert "–" in text_of(tmp_path / "heatmaps.svg")
    write_pair_changes(tmp_path, evidence, scores)
    assert set(read_table(tmp_path / "pair-changes-summary.tsv")["changed"]) == {0}


def test_a_measure_that_the_edition_lacks_is_left_out() -> None:
    assert list(panel_looks("trec08", ["AP", 'MP(model="LO_AD_ID")', "RR"])) == ["AP", 'MP(model="LO_AD_ID")']
    assert panel_looks("trec08", ["RR"]) == {}


def test_every_measure_is_in_one_family_once() -> None:
    found = families(MEASURES, largest=3)
    assert sorted(one for _, members in found for one in members) == sorted(MEASURES)
    assert max(len(members) for _, members in found) <= 3
    assert len({family for family, _ in found}) == len(found)


@pytest.mark.parametrize(
    "measures",
    [MEASURES, ["RBP(p=0.5)", "RBP(p=0.8)"], ['MP(model="LO_OR_LID",offset=1.0)', 'MP(model="LO_OR_LID")', "nDCG@10"]],
)
def test_short_names_differ(measures: list[str]) -> None:
    names = short_names(measures)
    assert list(names) == measures
    assert len(set(names.values())) == len(measures)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.01, 0.2))
def test_labels_are_moved_apart_and_keep_their_order(wanted: list[float], gap: float) -> None:
    placed = spread(sorted(wanted), gap)
    assert len(placed) == len(wanted)
    assert (np.diff(placed) >= gap - 1e-9).all()
    if len(wanted) and (np.diff(sorted(wanted)) >= gap).all():
        assert placed == pytest.approx(sorted(wanted))
    if len(wanted):
        assert placed.mean() == pytest.approx(np.mean(wanted))


def test_figures_of_the_same_file_name_share_no_name(tmp_path: Path) -> None:
    names = []
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        with style():
            result = sheet("Heading", f"Caption of the {folder}", [1.0])
            result.panels[0].plot([0, 1], [0, 1], marker="o")
            save(result, tmp_path / folder / "figure1")
        names += re.findall(r'\bid="([^"]*)"', (tmp_path / folder / "figure1.svg").read_text(encoding="utf-8"))
    assert len(names) == len(set(names)) > 2


def test_a_message_can_be_saved(tmp_path: Path) -> None:
    with style():
        save(message_sheet("Heading <1>", "A & B", "Nothing < something"), tmp_path / "empty")
    assert "Nothing < something" in text_of(tmp_path / "empty.svg")


# --- heat maps and pairs --------------------------------------------------------------------------------------------


def test_heat_map_prints_cut_hundredths(tmp_path: Path) -> None:
    names = ["AP", "P@10", "RR"]
    table = pd.DataFrame(
        {
            "first": ["AP", "AP", "P@10"], "second": ["P@10", "RR", "RR"], "tau": [0.999, 1.0, 0.4567],
            "low": np.nan, "high": np.nan, "n_runs": 9,
        }
    )  # fmt: skip
    matrix = correlation_matrix(table, names)
    assert matrix[0, 1] == matrix[1, 0] == 0.999 and (np.diag(matrix) == 1).all()
    write_heatmaps(tmp_path, [evidence_of("trec08")], {"trec08": table})
    words = text_of(tmp_path / "heatmaps.svg").split()
    assert {"99", "≡", "45"} <= set(words)
    assert "100" not in words
    assert read_table(tmp_path / "heatmaps.tsv")["tau"].tolist() == [0.999, 1.0, 0.4567]


def test_heat_map_rounds_where_the_edition_does(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "first": ["AP", "AP", "P@10"], "second": ["P@10", "RR", "RR"], "tau": [0.999, 1.0, 0.4567],
            "low": np.nan, "high": np.nan, "n_runs": 9,
        }
    )  # fmt: skip
    write_heatmaps(tmp_path, [evidence_of("mine", "real")], {"mine": table}, "rounded")
    words = text_of(tmp_path / "heatmaps.svg").split()
    assert {"99", "≡", "46"} <= set(words), "what is not the same order is not shown as such"
    assert not {"45", "100"} & set(words)
    assert "rounded," in words and "cut" not in words


def test_one_measure_has_nothing_to_correlate_with(tmp_path: Path) -> None:
    empty = pd.DataFrame(columns=["first", "second", "tau", "low", "high", "n_runs"])
    write_heatmaps(tmp_path, [evidence_of("trec08")], {"trec08": empty})
    assert "only one measure" in text_of(tmp_path / "heatmaps.svg")


def test_seriation_puts_like_beside_like() -> None:
    group = np.array([0, 1, 0, 1, 0, 1])
    matrix = np.where(group[:, None] == group[None, :], 0.9, 0.2)
    np.fill_diagonal(matrix, 1)
    order = seriation(matrix)
    assert sorted(order) == list(range(6))
    assert group[order].tolist() == [0, 0, 0, 1, 1, 1], "the first measure comes early"
    assert seriation(np.full((3, 3), np.nan)) is not None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=9))
def test_pairs_that_change_place(pairs: list[tuple[int, int]]) -> None:
    values = np.array(pairs, dtype=float).T[:, :, None] / 10
    scores = Scores(["AP", "RR"], [f"run{number}" for number in range(len(pairs))], ["1"], values)
    found = pair_changes(scores, "RR")
    expected = {
        (f"run{one}", f"run{other}")
        for one, first in enumerate(pairs)
        for other, second in enumerate(pairs)
        if first[0] > second[0] and first[1] < second[1]
    }
    assert set(zip(found["first_run"], found["second_run"], strict=True)) == expected
    assert len(found) == kendall(values[0, :, 0], values[1, :, 0]).disagreements
    assert (found["baseline_difference"] > 0).all() and (found["model_difference"] < 0).all()
    assert (np.diff(found["size"]) <= 1e-9).all()
    assert (found["first_baseline_rank"] < found["second_baseline_rank"]).all()
    assert (found["first_model_rank"] > found["second_model_rank"]).all()


def test_the_summary_counts_what_tau_counts(drawn: Path) -> None:
    summary = read_table(drawn / "pair-changes-summary.tsv")
    assert len(summary) == 2 * 16
    scores = scores_of("trec07")
    means = scores.means()
    for row in summary[summary["collection"] == "trec07"].itertuples():
        measure = {label: name for name, label in short_names(MEASURES).items()}[row.model]
        tau = kendall(means[0], means[MEASURES.index(measure)])
        assert (row.pairs, row.changed, row.tied) == (15, tau.disagreements, tau.ties)
    listed = read_table(drawn / "pair-changes.tsv").groupby(["collection", "model"]).size()
    assert listed.max() <= 20
    assert "SYNTHETIC" in (drawn / "pair-changes-summary.html").read_text(encoding="utf-8")
