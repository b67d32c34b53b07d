"""The convention search on made-up tables and on the real runs, and the explanations of differences."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval import evaluate
from walkeval.audit import Reproduction, judge_claims, number
from walkeval.claims import Claim, read_claims
from walkeval.conventions import (
    KERNELS,
    NO_SWITCH,
    Cell,
    Convention,
    Explanation,
    SystemMeans,
    cells,
    conventions,
    edition_convention,
    explain,
    fewest_changed_pairs,
    misplaced,
    printed_by,
    read_explanations,
    readings,
    search,
    shown,
    single_changes,
    system_means,
    taus_without,
    unseen_cells,
    winner,
    write_explanations,
)
from walkeval.correlation import kendall
from walkeval.errors import InputError, ParameterError, UnknownNameError
from walkeval.gathering import Evidence, gather
from walkeval.measures.markov_precision import Kernel
from walkeval.papers.sigir2014 import COMPARISONS, models

ROOT = Path(__file__).parent.parent
BEST = Convention("trec_eval9", "4", "b", "truncated", "1/log10(d+2)", "trec_eval")
TRUTH = Convention("rank", "4", "b", "truncated", "1/(1+log10(d))", "paper")


def made_up_means(systems: int = 12) -> SystemMeans:
    """Means in which every order, kernel and variant of bpref gives other numbers, with ties once rounded."""
    random = np.random.default_rng(20140706)
    names = list(dict.fromkeys(one.measure(name) for one in conventions() for name in (*COMPARISONS, *models())))
    orders = list(dict.fromkeys(one.order for one in conventions()))
    quality = np.linspace(0.1, 0.1015, systems)
    noise = random.normal(scale=2e-4, size=(len(orders), len(names), systems))
    return SystemMeans(orders, names, [f"run{one}" for one in range(systems)], quality + noise)


def claims_for(means: SystemMeans, convention: Convention, collection: str = "made-up") -> dict[str, Claim]:
    """Claims that a convention would print."""
    every = [Cell("table2", collection, "AP", one) for one in COMPARISONS if one != "AP"]
    every += [Cell("table3", collection, model, one) for model in models() for one in COMPARISONS]
    texts = printed_by(means, convention, every)
    return {
        one.claim: Claim(one.claim, "paper", "Table", "tau", text, "tau", "runs")
        for one, text in zip(every, texts, strict=True)
    }


def with_printed(claims: dict[str, Claim], **printed: str) -> dict[str, Claim]:
    """The same claims, some of them printed otherwise; keys are the ends of ids with double underscores for slashes."""
    changed = dict(claims)
    for end, text in printed.items():
        name = next(one for one in claims if one.endswith("/" + end.replace("__", "/").replace("P10", "P@10")))
        changed[name] = replace(claims[name], printed=text)
    return changed


def found_by(means: SystemMeans, convention: Convention, claims: dict[str, Claim]) -> list[Reproduction]:
    """What the audit would be given."""
    return [
        Reproduction(claim.claim, number(means.tau(convention, cell.model, cell.measure)), "runs")
        for cell, claim in cells("made-up", claims).items()
    ]


WITH_RUNS = Evidence(collection="made-up", title="Made up", kind="real", qrels="q", runs={"a": "a"})


def explained(means: SystemMeans, convention: Convention, claims: dict[str, Claim]) -> dict[str, Explanation]:
    found = explain(claims, found_by(means, convention, claims), [WITH_RUNS], convention, {"made-up": means})
    return {one.claim.removeprefix("sigir2014/table3/made-up/"): one for one in found}


def test_every_combination_is_searched_once():
    every = conventions()
    assert len(every) == len(set(every)) == 4 * 2 * 2 * 2 * 5 * 3


def test_single_changes_differ_in_the_switch_that_they_name():
    changes = single_changes(BEST)
    assert len(changes) == 3 + 1 + 1 + 1 + 4 + 2
    for label, changed in changes.items():
        switch, _, value = label.partition("=")
        assert getattr(changed, switch) == value != getattr(BEST, switch)
        assert replace(changed, **{switch: getattr(BEST, switch)}) == BEST


@pytest.mark.parametrize("switch", ["order", "rounding", "tau", "printing", "kernel", "bpref"])
def test_a_value_that_a_switch_does_not_have_is_refused(switch: str):
    with pytest.raises(UnknownNameError, match=f"{switch} of a convention"):
        replace(BEST, **{switch: "nonsense"})


def test_a_convention_names_the_measures_of_rows_and_columns():
    assert BEST.measure("AP") == "AP"
    assert BEST.measure("bpref") == 'bpref(variant="trec_eval")'
    assert BEST.measure("LO_OR_ID@Rec") == 'MP(model="LO_OR_ID",rescale="recall")'
    assert TRUTH.measure("LO_OR_LID") == 'MP(model="LO_OR_LID",offset=0,outside=1)'
    with pytest.raises(UnknownNameError, match="did you mean 'GL_AD_ID'"):
        BEST.measure("GL_AD_IDD")


FORMULAS = {
    "1/log10(d+1)": lambda d: 1 / np.log10(d + 1),
    "1/log10(d+2)": lambda d: 1 / np.log10(d + 2),
    "1/log10(d+10)": lambda d: 1 / np.log10(d + 10),
    "1/(1+log10(d))": lambda d: 1 / (1 + np.log10(d)),
    "1/(1+log10(d+1))": lambda d: 1 / (1 + np.log10(d + 1)),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_formula_of_a_kernel_is_what_the_measure_computes(kernel: str):
    gains = [1, 0, 0, 1, 0, 1, 1]
    own = Kernel("own", FORMULAS[kernel])
    expected = evaluate("MP", gains, model="GL_OR", kernel=own)
    assert evaluate(replace(BEST, kernel=kernel).measure("GL_OR_LID"), gains) == pytest.approx(expected, rel=1e-12)


def test_the_search_finds_the_convention_that_made_the_tables():
    means = made_up_means()
    table = search(means, claims_for(means, TRUTH), "made-up")
    assert winner(table) == TRUTH
    first = table.iloc[0]
    assert (first["table2_equal"], first["table3_equal"], first["equal"], first["rank"]) == (4, 80, 84, 1)
    assert table["equal"].is_monotonic_decreasing and len(table) == 480
    assert table["equal"].iloc[1] < 84
    assert first["note"] == f"winner: 84 of 84 clear cells; the best that prints otherwise: {table['equal'].iloc[1]}"


def test_ranks_are_shared_and_conventions_that_print_the_same_are_marked():
    means = made_up_means()
    # A variant with the same numbers cannot be told apart.
    place = {name: number for number, name in enumerate(means.measures)}
    means.values[:, place['bpref(variant="paper")']] = means.values[:, place['bpref(variant="trec_eval")']]
    table = search(means, claims_for(means, TRUTH), "made-up")
    assert table["rank"].iloc[:2].tolist() == [1, 1] and table["rank"].iloc[2] == 3
    assert set(table["bpref"].iloc[:2]) == {"paper", "trec_eval"}
    assert table["note"].iloc[1] == "prints the same as line 1 in every cell"


def test_doubtful_cells_are_not_counted_but_read():
    means = made_up_means()
    claims = claims_for(means, TRUTH)
    right = claims["sigir2014/table3/made-up/GL_AD_ID/RBP"].printed
    claims = with_printed(claims, GL_AD_ID__RBP=f"0.1111|{right}", GL_AD_ID__AP="0.1111|0.2222")
    table = search(means, claims, "made-up")
    assert table[["table3_equal", "table3_cells"]].iloc[0].tolist() == [78, 78]
    resolved = readings(means, TRUTH, claims, "made-up").set_index("cell")
    assert resolved["reading"].to_dict() == {
        "Table 3, GL_AD_ID with AP": "none of them",
        "Table 3, GL_AD_ID with RBP": right,
    }


def test_without_runs_there_is_nothing_to_search():
    evidence = Evidence(collection="made-up", title="Made up", kind="real")
    means = system_means(evidence)
    table = search(means, {}, "made-up")
    assert table.empty and list(table)[:6] == ["order", "rounding", "tau", "printing", "kernel", "bpref"]
    assert winner(table) is None
    assert unseen_cells(None, [evidence], {}, "other").empty
    assert readings(means, None, {}, "made-up").empty


def test_a_collection_without_claims_is_refused():
    with pytest.raises(ParameterError, match="nothing to search on"):
        search(made_up_means(), {}, "elsewhere")


def test_means_are_read_as_written(tmp_path: Path):
    means = made_up_means()
    means.save(tmp_path / "means.npz")
    again = SystemMeans.load(tmp_path / "means.npz")
    assert (again.orders, again.measures, again.runs) == (means.orders, means.measures, means.runs)
    np.testing.assert_array_equal(again.values, means.values)
    (tmp_path / "bad.npz").write_text("not an archive")
    with pytest.raises(InputError, match="bad.npz: is not a file of system means"):
        SystemMeans.load(tmp_path / "bad.npz")


def test_a_shifted_row_is_explained_cell_by_cell():
    means = made_up_means()
    claims = claims_for(means, TRUTH)
    row = {one: claims[f"sigir2014/table3/made-up/LO_OR_ID/{one}"].printed for one in COMPARISONS}
    assert len(set(row.values())) == 5
    shifted = with_printed(
        claims, LO_OR_ID__P10=row["AP"], LO_OR_ID__Rprec=row["P@10"], LO_OR_ID__bpref=row["Rprec"],
        LO_OR_ID__RBP=row["bpref"],
    )  # fmt: skip
    found = explained(means, TRUTH, shifted)
    assert {one: found[one].switch for one in found} == {
        "LO_OR_ID/P@10": "cell=LO_OR_ID/AP",
        "LO_OR_ID/Rprec": "cell=LO_OR_ID/P@10",
        "LO_OR_ID/bpref": "cell=LO_OR_ID/Rprec",
        "LO_OR_ID/RBP": "cell=LO_OR_ID/bpref",
    }
    for one in found.values():
        assert "one cell too far to the right from P@10 on, which repeats the value of AP" in one.explanation
        assert f"its value with RBP ({row['RBP']}) is not printed" in one.explanation
        assert shown(float(one.value_under_switch), "truncated") == one.printed


def test_swapped_cells_are_explained():
    means = made_up_means()
    claims = claims_for(means, TRUTH)
    row = {one: claims[f"sigir2014/table3/made-up/GL_AD_ID/{one}"].printed for one in COMPARISONS}
    found = explained(means, TRUTH, with_printed(claims, GL_AD_ID__AP=row["RBP"], GL_AD_ID__RBP=row["AP"]))
    assert set(found) == {"GL_AD_ID/AP", "GL_AD_ID/RBP"}
    assert all("the two cells are swapped" in one.explanation for one in found.values())


def test_a_value_copied_from_the_row_below_is_explained():
    means = made_up_means()
    claims = claims_for(means, TRUTH)
    below = claims["sigir2014/table3/made-up/GL_AD_ID@Rec/P@10"].printed
    found = explained(means, TRUTH, with_printed(claims, GL_AD_ID__P10=below))["GL_AD_ID/P@10"]
    assert found.switch == "cell=GL_AD_ID@Rec/P@10"
    assert found.explanation == "printed is the value of GL_AD_ID@Rec with P@10"


@pytest.mark.parametrize("switch", ["order=trec_eval", "rounding=none", "tau=a", "bpref=before_2006"])
def test_a_cell_printed_under_another_switch_names_it(switch: str):
    means = made_up_means()
    claims = claims_for(means, TRUTH)
    other = single_changes(TRUTH)[switch]
    cell = next(
        one
        for one in cells("made-up", claims)
        if one.measure == "bpref"
        and (text := shown(means.tau(other, one.model, "bpref"), "truncated")) != claims[one.claim].printed
        and text not in {claims[two.claim].printed for two in cells("made-up", claims)}
    )
    text = shown(means.tau(other, cell.model, "bpref"), "truncated")
    claims[cell.claim] = replace(claims[cell.claim], printed=text)
    found = explain(claims, found_by(means, TRUTH, claims), [WITH_RUNS], TRUTH, {"made-up": means})
    assert [one.claim for one in found] == [cell.claim]
    assert found[0].switch == NO_SWITCH
    # All other cells speak against the switch, and the sentence says how many.
    named, _, against = found[0].explanation.removeprefix("it would be equal with ").partition(", but ")
    changed = single_changes(TRUTH)[named]
    assert shown(means.tau(changed, cell.model, "bpref"), changed.printing) == text
    assert against.partition(";")[0].endswith("of the 83 clear cells that are equal would then differ")


def test_a_switch_that_costs_no_other_cell_is_the_explanation():
    means = made_up_means()
    claims = claims_for(means, TRUTH)
    other = replace(TRUTH, kernel="1/log10(d+10)")
    kernel_cells = [one for one in cells("made-up", claims) if "_LID" in one.model]
    for one in kernel_cells:
        text = shown(means.tau(other, one.model, one.measure), "truncated")
        claims[one.claim] = replace(claims[one.claim], printed=text)
    found = explain(claims, found_by(means, TRUTH, claims), [WITH_RUNS], TRUTH, {"made-up": means})
    by_switch = [one for one in found if one.switch == "kernel=1/log10(d+10)"]
    assert len(by_switch) > len(kernel_cells) / 2
    assert all(one.explanation == "it would be equal with kernel=1/log10(d+10)" for one in by_switch)


def test_what_nothing_explains_says_so():
    means = made_up_means()
    claims = with_printed(claims_for(means, TRUTH), GL_OR_ID__Rprec="0.0001")
    found = explained(means, TRUTH, claims)["GL_OR_ID/Rprec"]
    assert (found.switch, found.value_under_switch) == (NO_SWITCH, "")
    start = "no single switch of the conventions makes it equal; more than 8 of the 66 pairs"
    assert found.explanation.startswith(start)


def test_equal_cells_are_not_explained():
    means = made_up_means()
    assert explained(means, TRUTH, claims_for(means, TRUTH)) == {}


def test_a_cell_outside_the_table_is_refused():
    with pytest.raises(UnknownNameError, match="unknown cell 'a/z'"):
        misplaced(("a", "z"), "0.1", {("a", "x"): "0.1"})


few_values = st.integers(0, 5)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(few_values, few_values), min_size=4, max_size=9), st.sampled_from("ab"))
def test_leaving_out_systems_is_tau_of_the_others(pairs: list[tuple[int, int]], variant: str):
    x, y = np.array(pairs, dtype=float).T
    one, two = taus_without(x, y, variant)
    for left_out in range(len(x)):
        keep = np.arange(len(x)) != left_out
        assert one[left_out] == pytest.approx(kendall(x[keep], y[keep], variant).value, nan_ok=True)
    for first, second in itertools.combinations(range(len(x)), 2):
        keep = ~np.isin(np.arange(len(x)), [first, second])
        expected = kendall(x[keep], y[keep], variant).value
        assert two[first, second] == pytest.approx(expected, nan_ok=True)
        assert two[second, first] == pytest.approx(expected, nan_ok=True)


def test_too_few_systems_to_leave_two_out_are_refused():
    with pytest.raises(ParameterError, match="at least four"):
        taus_without([1, 2, 3], [1, 2, 3])


@settings(deadline=None, max_examples=40)
@given(st.permutations(range(5)), st.permutations(range(5)))
def test_fewest_changed_pairs_of_orders_without_ties_counts_disagreements(x: list[int], y: list[int]):
    # To full agreement every disagreeing pair must change, and none else; tau-a sees nothing but their number.
    assert fewest_changed_pairs(x, y, ["1.0000"], "a", most=10) == kendall(x, y).disagreements
    assert fewest_changed_pairs(x, y, [shown(kendall(x, y).value, "rounded")]) == 0


def test_fewest_changed_pairs_gives_up_where_it_was_told_to():
    assert fewest_changed_pairs([1, 2, 3, 4], [4, 3, 2, 1], ["1.0000"], "a", most=5) is None
    assert fewest_changed_pairs([1, 2, 3, 4], [4, 3, 2, 1], ["1.0000"], "a", most=6) == 6


def test_explanations_reach_the_notes_of_verdicts(tmp_path: Path):
    means = made_up_means()
    claims = with_printed(claims_for(means, TRUTH), GL_OR_ID__Rprec="0.0001")
    found = found_by(means, TRUTH, claims)
    path = tmp_path / "explanations.tsv"
    write_explanations(path, explain(claims, found, [WITH_RUNS], TRUTH, {"made-up": means}))
    sentences = read_explanations(path)
    assert list(sentences) == ["sigir2014/table3/made-up/GL_OR_ID/Rprec"]
    verdicts = {one.claim: one for one in judge_claims(claims, found, "truncated", sentences)}
    note = verdicts["sigir2014/table3/made-up/GL_OR_ID/Rprec"].note
    assert note.startswith("reproduced minus printed: ") and note.endswith(next(iter(sentences.values())))
    assert sum(one.verdict == "differs" for one in verdicts.values()) == 1
    with pytest.raises(UnknownNameError, match="unknown claim 'nowhere'"):
        judge_claims(claims, found, "truncated", {"nowhere": "a sentence"})


def test_a_file_that_is_not_of_explanations_is_refused(tmp_path: Path):
    path = tmp_path / "explanations.tsv"
    path.write_text("claim\tsentence\n")
    with pytest.raises(InputError, match=r"explanations.tsv:1: must start with the columns claim, printed"):
        read_explanations(path)


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    return read_claims([ROOT / "config" / "claims" / "sigir2014.tsv"])


@pytest.fixture(scope="module")
def evidence(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Evidence]:
    names = ["trec07", "trec08", "trec10", "trec14"]
    found = gather(names, ROOT / "config", tmp_path_factory.mktemp("data"), mirror, network=False)
    return {one.collection: one for one in found}


@pytest.fixture(scope="module")
def trec8_means(evidence: dict[str, Evidence]) -> SystemMeans:
    return system_means(evidence["trec08"])


@pytest.fixture(scope="module")
def searched(trec8_means: SystemMeans, claims: dict[str, Claim]) -> pd.DataFrame:
    return search(trec8_means, claims, "trec08")


def test_the_winner_on_the_real_runs_is_the_convention_of_the_paper_edition(searched: pd.DataFrame):
    config = yaml.safe_load((ROOT / "config" / "paper.yaml").read_text(encoding="utf-8"))
    edition = edition_convention(*(config[key] for key in ("order", "rounding", "tau", "printing")))
    assert winner(searched) == edition == BEST
    first = searched.iloc[0]
    assert first[["table2_equal", "table2_cells", "table3_equal", "table3_cells"]].tolist() == [4, 4, 64, 68]


def test_the_runner_up_on_the_real_runs_is_far_behind(searched: pd.DataFrame):
    # The paper's formula of bpref is the same function as today's trec_eval; all others print something else.
    assert searched["equal"].iloc[:3].tolist() == [68, 68, 56]
    assert searched["note"].iloc[1] == "prints the same as line 1 in every cell"
    assert searched["bpref"].iloc[:3].tolist() == ["trec_eval", "paper", "before_2006"]
    best_with = searched.groupby("kernel")["equal"].max()
    assert best_with.drop("1/log10(d+2)").max() == 45


def test_the_winner_predicts_cells_that_the_search_never_saw(evidence: dict[str, Evidence], claims: dict[str, Claim]):
    table = unseen_cells(BEST, evidence.values(), claims, "trec08")
    assert set(table["collection"]) == {"trec07", "trec10", "trec14"}
    equal = table[table["equal"] == "yes"].groupby("convention").size().to_dict()
    assert table.groupby("convention").size().to_dict() == dict.fromkeys(
        ("winner", "rounding=none", "tau=a", "printing=rounded"), 6
    )
    assert equal == {"winner": 4, "rounding=none": 3}


def test_doubtful_readings_of_the_scan(trec8_means: SystemMeans, claims: dict[str, Claim]):
    table = readings(trec8_means, BEST, claims, "trec08").set_index("cell")["reading"]
    assert len(table) == 9
    assert table[table == "none of them"].index.tolist() == ["Table 3, GL_AD_ID@Rec with RBP"]


def test_every_difference_on_the_real_data_is_explained(
    evidence: dict[str, Evidence], trec8_means: SystemMeans, claims: dict[str, Claim]
):
    found = [
        Reproduction(claim.claim, number(trec8_means.tau(BEST, cell.model, cell.measure)), "runs")
        for cell, claim in cells("trec08", claims).items()
    ]
    found += [
        Reproduction("sigir2014/table2/trec10/Rprec", "0.8743686241", "run summaries"),
        Reproduction("sigir2014/table2/trec14/bpref", "0.8390442818", "per-topic scores"),
    ]
    table = {
        one.claim.removeprefix("sigir2014/"): one
        for one in explain(claims, found, evidence.values(), BEST, {"trec08": trec8_means})
    }
    assert {one: table[one].switch for one in table} == {
        "table3/trec08/GL_AD_ID@Rec/RBP": "misread digit",
        "table3/trec08/LO_OR_ID@Rec/P@10": "cell=LO_OR_ID@Rec/AP",
        "table3/trec08/LO_OR_ID@Rec/Rprec": "cell=LO_OR_ID@Rec/P@10",
        "table3/trec08/LO_OR_ID@Rec/bpref": "cell=LO_OR_ID@Rec/Rprec",
        "table3/trec08/LO_OR_ID@Rec/RBP": "cell=LO_OR_ID@Rec/bpref",
        "table2/trec10/Rprec": NO_SWITCH,
        "table2/trec10/P@10": "measure=P_15",
        "table2/trec14/bpref": NO_SWITCH,
    }
    web = table["table2/trec10/Rprec"].explanation
    assert "at least 3 of the 4656 pairs" in web
    assert "leaving out one run makes it equal for 5 of 97 runs" in web
    assert "for 282 of 4656 pairs" in web
    assert "Table 1 counts 97, and there are 97" in web
    assert "AP by +0.0002 (+0.8) and Rprec by +0.0011 (+4.0)" in web
    robust = table["table2/trec14/bpref"].explanation
    assert "means as trec_eval printed them 0.8390" in robust
    assert "at least 2 of the 2701 pairs" in robust
    assert "leaving out one topic for 0 of 50" in robust
    assert "bpref=before_2006 16 by up to 0.0033" in robust
    assert table["table2/trec10/P@10"].value_under_switch == "0.7969417983"
