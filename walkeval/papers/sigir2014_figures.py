"""Ferrante, Ferro and Maistro, SIGIR 2014: Figures 1 to 4, recomputed, and what goes beyond them.

Beyond the paper: the robustness curves and the correlations of all measures of an edition, and the pairs of systems
that change place between AP and the models of MP. Every figure has the numbers that it draws beside it, as TSV.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from walkeval.audit import number
from walkeval.correlation import kendall
from walkeval.figures import (
    BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, WINE, Look, Sheet, draw_chain, draw_curves, draw_heat_key,
    draw_heatmap, draw_key, draw_message, leave_blank, message_sheet, save, sheet, style,
)  # fmt: skip
from walkeval.gathering import Evidence
from walkeval.measures import parse_measure
from walkeval.measures.markov_precision import MP, stationary_law
from walkeval.papers.sigir2014 import COMPARISONS
from walkeval.robustness import PoolSummary, curves
from walkeval.scoring import Scores
from walkeval.swaps import SWAP_COLUMNS, pair_changes
from walkeval.tables import write_everywhere, write_table

LENGTH = 6
RELEVANT = (1, 3, 4, 6)
"""The list of Figures 1 and 2: so many documents, and the ranks of the relevant ones."""

PANELS = {
    "trec07": ("GL_AD_ID", "GL_AD_LID", "GL_OR_ID"),
    "trec08": ("GL_AD_ID", "LO_AD_ID"),
    "trec10": ("GL_AD_ID", "GL_OR_ID"),
    "trec14": ("LO_OR_ID",),
}
"""The models that sections 5.3 and 5.4 discuss for each collection. Where the text names no kernel (GL_OR, LO_AD,
LO_OR), ID is taken, the kernel that the paper defines first."""
OTHER_PANEL = ("GL_AD_ID", "LO_OR_ID")
"""The models for a collection that the paper does not have."""

CURVE_COLUMNS = ["collection", "data", "measure", "rate", "value", "low", "high", "replicates"]
LARGEST_CHANGES = 20
_LONGEST_NAME = 28
"""Letters of a measure's name for which a panel of half the width has room."""
PALEST = 60
"""Hundredths of tau below which cells of a heat map are all alike, so that high values can be told apart."""

_COMPARISON_LOOKS = {
    "AP": ("AP", BLACK, "o"),
    "P@10": ("P@10", ORANGE, "s"),
    "Rprec": ("Rprec", SKY, "^"),
    "bpref": ("bpref", GREEN, "D"),
    "RBP(p=0.8)": ("RBP", PURPLE, "v"),
}
_NAME = re.compile(r"([^(@]+)(?:\((.*)\))?(@.*)?")
_MODEL_COLORS = (VERMILION, BLUE, WINE)
_FAMILIES = {
    "classical": "Other classical measures",
    "stopping_time": "Precision at a random stop",
    "search_length": "Search length",
    "navigation": "Navigation",
    "session": "Sessions",
    "markov_precision": "Other chains",
}


def short_names(measures: Sequence[str]) -> dict[str, str]:
    """Names for a figure: the paper's own for the models of MP; others with the parameters that differ between them.

    >>> names = short_names(['MP(model="GL_OR_LID",rescale="recall")', "RBP(p=0.8)", "ESL(wanted=1)", "ESL(wanted=5)"])
    >>> list(names.values())
    ['GL_OR_LID@Rec', 'RBP', 'ESL(wanted=1)', 'ESL(wanted=5)']
    """
    measures = list(measures)
    parts = {measure: _NAME.fullmatch(measure).groups("") for measure in measures}
    shared: dict[str, set[str]] = {}
    for head, inside, _ in parts.values():
        words = set(inside.split(","))
        shared[head] = shared.get(head, words) & words
    short = {}
    for measure, (head, inside, suffix) in parts.items():
        parsed = parse_measure(measure)
        if isinstance(parsed, MP) and measure == _model(parsed.model, parsed.rescale is not None):
            short[measure] = parsed.model + ("@Rec" if parsed.rescale else "")
        else:
            words = [word.replace('"', "") for word in inside.split(",") if word not in shared[head]]
            short[measure] = head + (f"({','.join(words)})" if words else "") + suffix
    # Where leaving out makes two names one, they are written in full.
    twice = {one for one in short.values() if list(short.values()).count(one) > 1}
    return {measure: measure if one in twice else one for measure, one in short.items()}


def _model(name: str, recall: bool) -> str:
    return MP(model=name, rescale="recall" if recall else None).name


# --- Figures 1 and 2 ------------------------------------------------------------------------------------------------


def transition_matrix(model: MP, length: int, relevant: Sequence[int]) -> tuple[list[int], NDArray[np.float64]]:
    """The states (ranks) of a model's chain and its transition probabilities, equations (9) and (10).

    The chain of an AD model runs over all ranks, that of an OR model over the relevant ones; in LO models it only steps
    to the neighbors among its states.

    >>> ranks, matrix = transition_matrix(MP(model="LO_OR_ID"), 5, relevant=[1, 3, 4])
    >>> ranks, matrix.round(2).tolist()
    ([1, 3, 4], [[0.0, 1.0, 0.0], [0.4, 0.0, 0.6], [0.0, 1.0, 0.0]])
    """
    connectedness, space, kernel = model.model_parts()
    ranks = list(range(1, length + 1)) if space == "AD" else list(relevant)
    weight = kernel.table(length)[np.abs(np.subtract.outer(ranks, ranks))]
    if connectedness == "LO":
        place = np.arange(len(ranks))
        weight[np.abs(np.subtract.outer(place, place)) != 1] = 0
    return ranks, weight / weight.sum(axis=1, keepdims=True)


def watched(ranks: Sequence[int], matrix: NDArray[np.float64], relevant: Sequence[int]) -> NDArray[np.float64]:
    """The chain watched only when it is at a relevant rank: the solution of equation (8).

    >>> ranks, matrix = transition_matrix(MP(model="LO_AD_ID"), 3, relevant=[1, 3])
    >>> watched(ranks, matrix, [1, 3]).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    seen = np.isin(ranks, relevant)
    between = np.eye((~seen).sum()) - matrix[np.ix_(~seen, ~seen)]
    onward = np.linalg.solve(between, matrix[np.ix_(~seen, seen)])
    return matrix[np.ix_(seen, seen)] + matrix[np.ix_(seen, ~seen)] @ onward


def chain_table(model: str, ranks: Sequence[int], matrix: NDArray[np.float64]) -> pd.DataFrame:
    """The steps of a chain that can happen, and the share of time that it is in the long run where a step begins."""
    law = stationary_law(matrix)
    return pd.DataFrame(
        [
            (model, start, end, float(matrix[row, column]), float(law[row]))
            for row, start in enumerate(ranks)
            for column, end in enumerate(ranks)
            if matrix[row, column] > 0
        ],
        columns=["model", "from_rank", "to_rank", "probability", "long_run_share_of_from"],
    )


def write_chains(folder: str | PathLike[str]) -> None:
    """Figures 1 and 2: the chain over all documents, and the chain that is seen at the relevant ones."""
    folder = Path(folder)
    models = ("GL_AD_ID", "LO_AD_ID")
    words = {"GL": "global: a step to any other rank", "LO": "local: a step to a neighboring rank"}
    arrows = (
        f"Drawn from the models for a list of {LENGTH} documents. Blue arrows above are steps down the list, orange "
        "ones below steps back up; the number on an arrow, its width and its darkness are the probability of the step."
    )
    for figure, heights, heading, caption in (
        ("figure1", (2.95, 0.85), "Figure 1: structure of the Markov chain over ranks", arrows),
        (
            "figure2",
            (2.95, 1.3),
            "Figure 2: the sub-chain on the relevant documents",
            "Relevant documents are grey, others white: the user passes through those, but only relevant documents "
            f"count. {arrows} A number in a node with a turning arrow is the probability that the next relevant "
            "document is the same one again.",
        ),
    ):
        tables = []
        with style():
            result = sheet(heading, caption, heights, left=0.1, right=0.1, below=0.12)
            for axes, name in zip(result.panels, models, strict=True):
                ranks, matrix = transition_matrix(MP(model=name), LENGTH, RELEVANT)
                grey: Sequence[int] = ()
                if figure == "figure2":
                    ranks, matrix, grey = list(RELEVANT), watched(ranks, matrix, RELEVANT), RELEVANT
                draw_chain(axes, matrix, ranks, LENGTH, grey)
                axes.set_title(f"MP {name} ({words[name[:2]]})")
                tables.append(chain_table(name, ranks, matrix))
            save(result, folder / figure)
        write_table(folder / f"{figure}.tsv", pd.concat(tables))


# --- Figures 3 and 4 ------------------------------------------------------------------------------------------------


def pool_curves(
    evidence: Sequence[Evidence], scores: Mapping[str, Scores], summaries: Mapping[str, PoolSummary]
) -> pd.DataFrame:
    """What Figures 3 and 4 draw, for all measures and all collections with runs; no row where no pool was drawn.

    Numbers have the digits of the TSV, so that a figure is the same wherever its numbers are.
    """
    parts = []
    for one in evidence:
        if one.runs and one.collection in summaries:
            table = curves(summaries[one.collection], scores[one.collection])
            parts.append(table.assign(collection=one.collection, data=one.kind))
    columns = [*CURVE_COLUMNS, "quantity"]
    if not parts:
        return pd.DataFrame(columns=columns)
    table = pd.concat(parts, ignore_index=True)[columns]
    for name in ("value", "low", "high"):
        table[name] = [float(number(one) or "nan") for one in table[name]]
    return table


def absent(evidence: Sequence[Evidence]) -> str:
    """A sentence on the collections that are left out, and why; nothing if there are none."""
    without = [f"{one.title} (at hand: {one.level})" for one in evidence if not one.runs]
    return f" Left out for want of runs: {'; '.join(without)}; evidence.tsv says where runs are." if without else ""


def write_pool_figures(folder: str | PathLike[str], evidence: Sequence[Evidence], table: pd.DataFrame) -> None:
    """Figures 3 and 4 for the paper's measures, and Figure 4 for all measures, from `pool_curves`."""
    folder = Path(folder)
    drawn = [one for one in evidence if one.runs]
    asked = int(table["replicates"].max()) if len(table) else 0
    basis = (
        f"Lines are means over {asked} replicate{'s' if asked != 1 else ''} of the downsampling, bands hold 95% of "
        "them; 100 is the full pool."
    )
    models = "Thick lines are models of MP; dashed: rescaled by recall (@Rec)."
    if any(one.collection in PANELS for one in drawn):
        models += (
            " Each panel has the models that the paper's text discusses for its collection, with kernel ID where the "
            "text names none."
        )
    for figure, quantity, heading, axis in (
        ("figure3", "mean", "Figure 3: performance as the pool shrinks", "mean over topics and runs"),
        ("figure4", "tau", "Figure 4: order of systems as the pool shrinks", "Kendall's τ with the full pool"),
    ):
        part = table[table["quantity"] == quantity]
        caption = f"{basis} {models}{absent(evidence)}"
        with style():
            result = _nothing(heading, evidence, asked)
            used = []
            if result is None:
                result = sheet(heading, caption, [2.75] * len(drawn), right=1.35, synthetic=is_synthetic(drawn))
                for axes, one in zip(result.panels, drawn, strict=True):
                    rows = part[part["collection"] == one.collection]
                    looks = panel_looks(one.collection, rows["measure"].unique())
                    used.append(rows[rows["measure"].isin(looks)])
                    _draw_panel(axes, rows, looks, quantity, axis)
                    axes.set_title(one.title)
            save(result, folder / figure)
        _write_curves(folder / f"{figure}.tsv", pd.concat(used) if used else part)
    caption = (
        f"All measures of this edition by family; AP is repeated in grey for comparison. {basis}{absent(evidence)}"
    )
    part = table[table["quantity"] == "tau"]
    with style():
        heading = "Order of systems as the pool shrinks: all measures"
        result = _nothing(heading, evidence, asked) or _all_curves(heading, caption, part, drawn)
        save(result, folder / "figure4-all")
    _write_curves(folder / "figure4-all.tsv", part)


def _nothing(heading: str, evidence: Sequence[Evidence], replicates: int = 1) -> Sheet | None:
    """A figure that says why there is nothing to draw, if that is so."""
    caption = absent(evidence).strip()
    if not any(one.runs for one in evidence):
        return message_sheet(heading, caption, "No collection of this edition has runs, so there is nothing to draw.")
    if not replicates:
        sentence = "No pool was downsampled (replicates: 0), so there is nothing to draw."
        return message_sheet(heading, caption, sentence, is_synthetic(evidence))
    return None


def is_synthetic(evidence: Sequence[Evidence]) -> bool:
    """Whether anything that is drawn stands on a synthetic collection."""
    return any(one.runs and one.kind == "synthetic" for one in evidence)


def _draw_panel(axes, rows: pd.DataFrame, looks: Mapping[str, Look], quantity: str, axis: str) -> None:
    shown = rows[rows["measure"].isin(looks)]
    finite = shown[["value", "low", "high"]].to_numpy(dtype=np.float64)
    reduced = shown.loc[shown["rate"] < 100, "value"]
    if not looks:
        draw_message(axes, "None of the paper's measures is in this edition.")
    elif not np.isfinite(reduced.to_numpy(dtype=np.float64)).any():
        draw_message(axes, "Kendall's τ is undefined here: it needs two systems at least, and not all equal.")
    else:
        low, high = np.nanmin(finite), np.nanmax(finite)
        if quantity == "mean" and low >= 0:
            low = 0.0
        margin = 0.03 * (high - low)
        axes.set_ylim(low - (0 if low == 0 else margin), high + margin)
        draw_curves(axes, shown, looks, ticks=sorted(shown["rate"].unique()))
        axes.set_xlabel("judgements kept in the pool (%)")
        axes.set_ylabel(axis)


def _write_curves(path: Path, table: pd.DataFrame) -> None:
    write_table(path, table[CURVE_COLUMNS])


def panel_looks(collection: str, measures: Sequence[str]) -> dict[str, Look]:
    """How the measures of a collection's panel look; those that the edition does not compute are left out."""
    looks = {measure: Look(*_COMPARISON_LOOKS[measure]) for measure in COMPARISONS.values()}
    for model, color in zip(PANELS.get(collection, OTHER_PANEL), _MODEL_COLORS, strict=False):
        for recall in (False, True):
            name = _model(model, recall)
            looks[name] = Look(model + ("@Rec" if recall else ""), color, "o", dashed=recall, width=2.0)
    return {measure: look for measure, look in looks.items() if measure in measures}


def families(measures: Sequence[str], largest: int = 6) -> list[tuple[str, list[str]]]:
    """Measures by family, none of more than ``largest``: the paper's comparisons, the models of MP, then all others.

    >>> families(["AP", 'MP(model="GL_AD_ID")', "P@10", 'MP(model="GL_AD_LID")', "nDCG@10"])[1]
    ('MP GL_AD', ['MP(model="GL_AD_ID")', 'MP(model="GL_AD_LID")'])
    """
    found: dict[str, list[str]] = {}
    for measure in measures:
        parsed = parse_measure(measure)
        if measure in _COMPARISON_LOOKS:
            family = "The paper's comparisons"
        elif isinstance(parsed, MP):
            family = "MP " + "_".join(parsed.model.split("_")[:2])
        else:
            module = type(parsed).__module__.rpartition(".")[2]
            family = _FAMILIES.get(module, "Others")
        found.setdefault(family, []).append(measure)
    others = [*_FAMILIES.values(), "Others"]
    order = sorted(found, key=lambda family: others.index(family) if family in others else -1)
    result = []
    for family in order:
        members = found[family]
        for start in range(0, len(members), largest):
            result.append((family if start == 0 else f"{family}, continued", members[start : start + largest]))
    return result


def _all_curves(heading: str, caption: str, table: pd.DataFrame, drawn: Sequence[Evidence]) -> Sheet:
    measures = list(dict.fromkeys(table["measure"]))
    groups, names = families(measures), short_names(measures)
    finite = table[["value", "low"]].to_numpy(dtype=np.float64)
    lowest = float(np.nanmin(finite)) if np.isfinite(finite).any() else 0.0
    ticks = sorted(table["rate"].unique())
    # One collection: two families side by side, if their names have room. More: a row for each family, a column for
    # each collection.
    alone = len(drawn) == 1
    longest = max(map(len, names.values()), default=0)
    columns = len(drawn) if not alone else 1 if len(groups) == 1 or longest > _LONGEST_NAME else 2
    rows = -(-len(groups) // columns) if alone else len(groups)
    result = sheet(
        heading, caption, [1.6 if alone else 1.35] * rows, columns=columns, left=0.58, below=0.3, foot=0.2,
        width=5.4 if alone else min(7.2, 2.6 + 1.15 * columns), right=0.15 if alone else 1.4,
        above=0.27 if alone else 0.38, between=0.2 if alone else 0.24, synthetic=is_synthetic(drawn),
    )  # fmt: skip
    for place, axes in enumerate(result.panels):
        row, column = divmod(place, columns)
        if alone and place >= len(groups):
            leave_blank(axes)
            continue
        family, members = groups[place if alone else row]
        one = drawn[0 if alone else column]
        looks = family_looks(members, names)
        behind = {} if "AP" in members or "AP" not in measures else {"AP": Look("AP", GREY, "", width=1.0)}
        axes.set_ylim(lowest - 0.02, 1.02)
        draw_curves(axes, table[table["collection"] == one.collection], behind | looks, ticks=ticks, labels=False)
        axes.set_xticks([one for one in ticks if alone or one in (min(ticks), 50, 100)])
        if column:
            axes.set_yticklabels([])
        if alone or not column:
            axes.set_title(family, pad=4 if alone else 15)
        if not alone:
            axes.text(0.0, 1.03, one.collection, transform=axes.transAxes, size=8, color="#333333")
        if alone or column == columns - 1:
            draw_key(axes, [*looks.values(), *behind.values()], inside=alone)
        if row == rows - 1 and column == 0:
            axes.set_xlabel("judgements kept (%)", loc="left")
            axes.set_ylabel("τ with the full pool")
    return result


def family_looks(members: Sequence[str], names: Mapping[str, str]) -> dict[str, Look]:
    """How the measures of one family look: a kernel of MP is a color, and @Rec is dashed."""
    looks = {}
    colors = (VERMILION, BLUE, GREEN, PURPLE, ORANGE, SKY)
    plain = [measure for measure in members if not names[measure].endswith("@Rec")]
    for place, measure in enumerate(members):
        label = names[measure]
        if measure in _COMPARISON_LOOKS:
            _, color, _ = _COMPARISON_LOOKS[measure]
            looks[measure] = Look(label, color, "", width=1.4)
        else:
            pair = measure.replace(',rescale="recall"', "")
            place = plain.index(pair) if pair in plain else place
            looks[measure] = Look(label, colors[place % len(colors)], "", dashed=label.endswith("@Rec"), width=1.4)
    return looks


# --- beyond the paper: correlations of all measures, and pairs that change place -----------------------------------


def correlation_matrix(table: pd.DataFrame, measures: Sequence[str]) -> NDArray[np.float64]:
    """The rows of `walkeval.tables.correlation_table` as a symmetric matrix."""
    place = {measure: index for index, measure in enumerate(measures)}
    matrix = np.full((len(measures), len(measures)), np.nan)
    np.fill_diagonal(matrix, 1.0)
    for row in table.itertuples():
        matrix[place[row.first], place[row.second]] = matrix[place[row.second], place[row.first]] = float(row.tau)
    return matrix


def seriation(matrix: NDArray[np.float64]) -> list[int]:
    """An order in which measures that correlate are neighbors; the first measure is in its first half.

    Average linkage of ``1 - tau`` with optimal order of the leaves.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(matrix) < 3:
        return list(range(len(matrix)))
    distance = np.round(1 - np.nan_to_num(matrix, nan=0.0), 9)
    np.fill_diagonal(distance, 0)
    order = leaves_list(linkage(squareform(distance), "average", optimal_ordering=True)).tolist()
    return order if order.index(0) < len(order) / 2 else order[::-1]


def write_heatmaps(
    folder: str | PathLike[str],
    evidence: Sequence[Evidence],
    correlations: Mapping[str, pd.DataFrame],
    printing: str = "truncated",
) -> None:
    """The correlations of all measures of the edition, one panel for each collection with runs, all in one order.

    ``printing`` is how tau is shown in hundredths: rounded or truncated.
    """
    folder = Path(folder)
    drawn = [one for one in evidence if one.runs]
    heading = "Kendall's τ between all measures"
    rest = "the rest cut off; ≡ is" if printing == "truncated" else "rounded, though never up to ≡, which is"
    caption = (
        f"Each cell is the τ of two measures over all systems of a collection, in hundredths, {rest} "
        "the same order. Measures that order systems alike stand side by side, by the mean over the panels, in the "
        f"same order in each. Names such as GL_AD_ID are models of MP.{absent(evidence)}"
    )
    columns = ["collection", "data", "first", "second", "tau", "low", "high", "n_runs"]
    tables = {one.collection: correlations[one.collection] for one in drawn}
    measures = list(dict.fromkeys(name for table in tables.values() for name in [*table["first"], *table["second"]]))
    rows = [tables[one.collection].assign(collection=one.collection, data=one.kind) for one in drawn]
    write_table(folder / "heatmaps.tsv", pd.concat(rows)[columns] if rows else pd.DataFrame(columns=columns))
    if not measures:
        with style():
            sentence = "This edition has only one measure, so there is nothing to correlate."
            result = _nothing(heading, evidence) or message_sheet(heading, "", sentence, is_synthetic(drawn))
            save(result, folder / "heatmaps")
        return
    if any(not parse_measure(measure).higher_is_better for measure in measures):
        caption += " Where less is better, the order is turned around."
    matrices = {name: correlation_matrix(table, measures) for name, table in tables.items()}
    order = seriation(np.mean(list(matrices.values()), axis=0))
    names = short_names(measures)
    labels = [names[measures[place]] for place in order]
    width = 7.0
    room = 0.15 + 0.075 * max(len(one) for one in labels)
    side = min(width - room - 0.2, 0.5 * len(labels))
    with style():
        result = sheet(
            heading, caption, [side] * len(drawn), width=width, left=room, right=width - room - side, above=0.3,
            below=room, synthetic=is_synthetic(drawn),
        )  # fmt: skip
        for axes, one in zip(result.panels, drawn, strict=True):
            matrix = matrices[one.collection][np.ix_(order, order)]
            # Two digits of 8 points need 11 points.
            draw_heatmap(axes, matrix, labels, PALEST, side * 72 / len(labels) >= 11, printing)
            axes.set_title(f"{one.title}: {len(one.runs)} systems", x=0.0)
            if side > 3:
                draw_heat_key(axes, PALEST)
        save(result, folder / "heatmaps")


def write_pair_changes(
    folder: str | PathLike[str],
    evidence: Sequence[Evidence],
    scores: Mapping[str, Scores],
    variant: str = "b",
    decimals: int | None = None,
) -> None:
    """The pairs of systems that AP and a model of MP order differently: the clearest of each model, and how many."""
    folder = Path(folder)
    largest, counts = [], []
    drawn = [one for one in evidence if one.runs and "AP" in scores[one.collection].measures]
    for one in drawn:
        found = scores[one.collection]
        means = found.means()
        average_precision = means[found.measures.index("AP")]
        names = short_names(found.measures)
        for measure in found.measures:
            if not isinstance(parse_measure(measure), MP):
                continue
            changes = pair_changes(found, measure, decimals=decimals)
            tau = kendall(average_precision, means[found.measures.index(measure)], variant, decimals)
            head = {"collection": one.collection, "data": one.kind, "model": names[measure]}
            largest.append(changes.head(LARGEST_CHANGES).assign(**head))
            counts.append(
                head
                | {
                    "pairs": tau.pairs,
                    "changed": len(changes),
                    "tied": tau.ties,
                    "share_changed": len(changes) / tau.pairs if tau.pairs else float("nan"),
                    "tau": tau.value,
                    "largest_ap_difference": float(changes["baseline_difference"].max()),
                    "largest_mp_difference": float(-changes["model_difference"].min()),
                }
            )
    columns_of_ap = {
        "baseline_difference": "ap_difference", "model_difference": "mp_difference",
        "first_baseline_rank": "first_ap_rank", "second_baseline_rank": "second_ap_rank",
        "first_model_rank": "first_mp_rank", "second_model_rank": "second_mp_rank",
    }  # fmt: skip
    columns = ["collection", "data", "model", *SWAP_COLUMNS]
    table = pd.concat(largest, ignore_index=True) if largest else pd.DataFrame(columns=columns)
    write_table(folder / "pair-changes.tsv", table[columns].rename(columns=columns_of_ap))
    summary = pd.DataFrame(
        counts,
        columns=[
            "collection", "data", "model", "pairs", "changed", "tied", "share_changed", "tau", "largest_ap_difference",
            "largest_mp_difference",
        ],
    )  # fmt: skip
    source = " SYNTHETIC collections, generated." if is_synthetic(drawn) else ""
    caption = (
        f"Pairs of systems that change place between AP and the models of MP.{source}{absent(evidence)} The clearest "
        f"{LARGEST_CHANGES} of each model are in pair-changes.tsv."
    )
    shown = summary.assign(
        **{
            name: [number(round(value, 4)) for value in summary[name]]
            for name in ("share_changed", "tau", "largest_ap_difference", "largest_mp_difference")
        }
    )
    write_everywhere(folder / "pair-changes-summary", summary, caption, shown)
