"""Ferrante, Ferro and Maistro, SIGIR 2014: Tables 1 to 4, recomputed.

Every function returns a table with the reproduced value, and knows the paper's own numbers only as claims.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from walkeval import evaluate
from walkeval.audit import Reproduction, as_printed, judge_claim, number
from walkeval.claims import Claim
from walkeval.correlation import bootstrap_intervals, kendall
from walkeval.evidence import per_topic_scores, read_anonymous_scores, read_nist_summary
from walkeval.examination import Block, culprit, examine_block
from walkeval.gathering import Evidence
from walkeval.measures.markov_precision import model_names
from walkeval.tables import write_everywhere
from walkeval.trec import Qrels, read_qrels

PAPER = "sigir2014-markov-precision"
COMPARISONS = {"AP": "AP", "P@10": "P@10", "Rprec": "Rprec", "bpref": "bpref", "RBP": "RBP(p=0.8)"}
"""The paper's names of the measures that it compares with, and ours."""
FEATURES = ("topics", "runs", "min_relevant", "mean_relevant", "max_relevant")
PRINTED_DECIMALS = "0.0000"


def models() -> dict[str, str]:
    """The sixteen rows of Table 3, in its order: the paper's name of a model, and our measure.

    >>> list(models().items())[1]
    ('GL_AD_ID@Rec', 'MP(model="GL_AD_ID",rescale="recall")')
    """
    rows = {}
    for model in model_names(("ID", "LID")):
        rows[model] = f'MP(model="{model}")'
        rows[f"{model}@Rec"] = f'MP(model="{model}",rescale="recall")'
    return rows


def measures() -> list[str]:
    """All measures that Tables 2 and 3 need."""
    return [*COMPARISONS.values(), *models().values()]


def table1(evidence: Sequence[Evidence]) -> pd.DataFrame:
    """Features of the collections: topics, runs, and relevant documents of a topic (least, mean, most)."""
    rows = []
    for one in evidence:
        values: dict[str, float] = {}
        if one.qrels:
            values |= _relevant_counts(read_qrels(one.qrels))
        basis = "judgements"
        if one.runs:
            values["runs"] = len(one.runs)
            run_basis = "runs"
        elif one.summary:
            values["runs"] = len(read_nist_summary(one.summary))
            run_basis = "run summaries"
        for feature in FEATURES:
            if feature in values:
                shown = run_basis if feature == "runs" else basis
                rows.append({"collection": one.collection, "feature": feature, "value": values[feature], "evidence": shown})
    return pd.DataFrame(rows, columns=["collection", "feature", "value", "evidence"])


def _relevant_counts(qrels: Qrels, min_grade: int = 1) -> dict[str, float]:
    topic = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.topic_start))
    counts = np.bincount(topic[qrels.grade >= min_grade], minlength=len(qrels.topics))
    return {
        "topics": len(counts),
        "min_relevant": int(counts.min()),
        "mean_relevant": float(counts.mean()),
        "max_relevant": int(counts.max()),
    }


def table2_and_3(
    evidence: Sequence[Evidence],
    correlations: Mapping[str, pd.DataFrame],
    variant: str = "b",
    decimals: int | None = None,
    samples: int = 1000,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tau of AP with the comparison measures (Table 2), and of every model with them (Table 3).

    ``correlations`` are the tables of `walkeval.tables.correlation_table` for the collections that have runs. Where there
    are only per-topic scores or summaries, the cells of Table 2 that need no more are computed from those.
    """
    table2, table3 = [], []
    for one in evidence:
        known = _lookup(correlations.get(one.collection))
        weaker, scores = ({}, {}) if one.runs else (weaker_means(one), topic_scores(one))
        for name, measure in COMPARISONS.items():
            row = {"collection": one.collection, "model": "AP", "measure": name}
            if name == "AP":
                table2.append(row | {"tau": 1.0, "evidence": "by definition"})
            elif one.runs:
                table2.append(row | _from_runs(known, "AP", measure))
            elif name in weaker:
                basis, means = weaker[name]
                tau = kendall(means["AP"], means[name], variant, decimals)
                row |= {"tau": tau.value, "n_runs": len(means), "evidence": _because(basis, tau.reason)}
                table2.append(row | _interval(one, scores, name, variant, decimals, samples))
            else:
                table2.append(row | {"evidence": f"none: needs the runs of {one.title}"})
        for model, measure in models().items():
            for name, comparison in COMPARISONS.items():
                row = {"collection": one.collection, "model": model, "measure": name}
                if one.runs:
                    table3.append(row | _from_runs(known, measure, comparison))
                else:
                    table3.append(row | {"evidence": f"none: needs the runs of {one.title}"})
    columns = ["collection", "model", "measure", "tau", "evidence", "n_runs", "low", "high"]
    return tuple(pd.DataFrame(rows).reindex(columns=columns) for rows in (table2, table3))


def _lookup(table: pd.DataFrame | None) -> dict[frozenset, dict]:
    if table is None:
        return {}
    return {
        frozenset((row["first"], row["second"])): {key: row[key] for key in ("tau", "low", "high", "n_runs")}
        | {"evidence": _because("runs", row["reason"])}
        for row in table.to_dict("records")
    }


def _from_runs(known: Mapping[frozenset, dict], first: str, second: str) -> dict:
    """The cell of two measures; an edition may leave measures out."""
    absent = {"evidence": f"none: {first} or {second} is not a measure of the edition"}
    return known.get(frozenset((first, second)), absent)


def _because(evidence: str, reason: str) -> str:
    """The evidence, and why it gives no tau."""
    return f"{evidence}; undefined: {reason}" if reason else evidence


def weaker_means(one: Evidence) -> dict[str, tuple[str, pd.DataFrame]]:
    """For each comparison measure that needs no runs: what it stands on, and means by run of AP and of it.

    Per-topic scores are better than summaries, for they are not rounded means.
    """
    found: dict[str, tuple[str, pd.DataFrame]] = {}
    summary = read_nist_summary(one.summary).set_index("run") if one.summary else None
    if summary is not None:
        names = {"AP": "map", "P@10": "P_10", "Rprec": "Rprec", "bpref": "bpref"}
        for name in ("P@10", "Rprec", "bpref"):
            if names["AP"] in summary and names[name] in summary:
                columns = summary[[names["AP"], names[name]]].dropna()
                if len(columns):
                    found[name] = "run summaries", columns.set_axis(["AP", name], axis=1)
    scores = topic_scores(one)
    for name in scores:
        if name != "AP":
            means = pd.DataFrame({"AP": scores["AP"].mean(), name: scores[name].mean()})
            found[name] = "per-topic scores", means
    return found


def topic_scores(one: Evidence) -> dict[str, pd.DataFrame]:
    """Published scores by topic (row) and run (column), of AP and of each comparison measure that has them."""
    if one.per_topic_runs:
        names = {"AP": "map", "P@10": "P_10", "Rprec": "Rprec", "bpref": "bpref"}
        return {name: per_topic_scores(one.per_topic_runs, measure) for name, measure in names.items()}
    if {"map", "P_10"} <= one.per_topic.keys() and one.summary and one.qrels:
        runs, topics = read_nist_summary(one.summary)["run"], read_qrels(one.qrels).topics
        names = {"AP": "map", "P@10": "P_10"}
        return {name: read_anonymous_scores(one.per_topic[measure], runs, topics) for name, measure in names.items()}
    return {}


def _interval(
    one: Evidence, scores: Mapping[str, pd.DataFrame], name: str, variant: str, decimals: int | None, samples: int
) -> dict[str, float]:
    """The bootstrap interval of a cell that stands on per-topic scores; a summary has no topics to draw from."""
    if name not in scores:
        return {}
    values = np.stack([scores["AP"].to_numpy().T, scores[name].to_numpy().T])
    low, high = bootstrap_intervals(values, one.collection, samples, variant, decimals)
    return {"low": low[0, 1], "high": high[0, 1]}


def table4(claims: Mapping[str, Claim]) -> pd.DataFrame:
    """Discrete and continuous MP of the three runs of Table 4, from the runs and parameters as printed.

    The parameters are printed with few digits. ``low`` and ``high`` are the least and the largest continuous MP over all
    parameters that round to the printed ones: MP is monotone in each of them, so the corners suffice.
    """
    rows = []
    for number_of_run in (1, 2, 3):
        stem = f"sigir2014/table4/run{number_of_run}"
        what = claims[f"{stem}/discrete"].what
        gains = [int(digit) for digit in what[what.rindex("(") + 1 : what.rindex(")")].split(",")]
        printed = [claims[f"{stem}/mu{rank}"].printed for rank in range(1, len(gains) + 1)]
        mu = np.array([float(one) for one in printed])
        half = np.array([0.5 * 10.0 ** -len(one.partition(".")[2]) for one in printed])
        relevant = np.flatnonzero(gains)
        corners = []
        for signs in product((-1, 1), repeat=len(relevant)):
            changed = mu.copy()
            changed[relevant] += np.array(signs) * half[relevant]
            corners.append(evaluate("MP", gains, model="GL_AD_ID", holding=changed))
        rows.append(
            {
                "run": f"run{number_of_run}",
                "gains": " ".join(map(str, gains)),
                "discrete": evaluate("MP", gains, model="GL_AD_ID"),
                "continuous": evaluate("MP", gains, model="GL_AD_ID", holding=mu),
                "low": min(corners),
                "high": max(corners),
            }
        )
    return pd.DataFrame(rows)


def reproductions(
    first: pd.DataFrame, second: pd.DataFrame, third: pd.DataFrame, fourth: pd.DataFrame, claims: Mapping[str, Claim]
) -> list[Reproduction]:
    """What the four tables say about the paper's claims; a collection may be one that the paper does not have."""
    found = [
        Reproduction(claim, number(row.value), row.evidence)
        for row in first.itertuples()
        if (claim := f"sigir2014/table1/{row.collection}/{row.feature}") in claims
    ]
    for table, where in ((second, "table2"), (third, "table3")):
        for row in table.itertuples():
            middle = row.collection if where == "table2" else f"{row.collection}/{row.model}"
            claim = f"sigir2014/{where}/{middle}/{row.measure}"
            if claim in claims:
                found.append(_found(claims[claim], row))
    for row in fourth.itertuples():
        stem = f"sigir2014/table4/{row.run}"
        found.append(Reproduction(f"{stem}/discrete", number(row.discrete), "the formula"))
        found.append(
            Reproduction(
                f"{stem}/continuous", number(row.continuous), "the formula and the printed parameters",
                number(row.low), number(row.high),
            )
        )  # fmt: skip
    return found


def with_verdicts(table: pd.DataFrame, where: str, claims: Mapping[str, Claim], printing: str) -> pd.DataFrame:
    """Table 2 or 3 with the paper's digits and the verdict beside the reproduced value.

    Without claims (a synthetic edition) nothing is compared, and the columns say so by being empty.
    """
    printed, reported, verdicts = [], [], []
    for row in table.itertuples():
        middle = row.collection if where == "table2" else f"{row.collection}/{row.model}"
        claim = claims.get(f"sigir2014/{where}/{middle}/{row.measure}")
        known = not math.isnan(row.tau)
        printed.append(as_printed(row.tau, PRINTED_DECIMALS, printing) if known else "")
        reported.append(claim.printed if claim else "")
        verdicts.append(judge_claim(claim, _found(claim, row), printing).verdict if claim else "")
    columns = ["collection", "model", "measure", "tau", "printed", "reported", "verdict", "evidence", "n_runs", "low", "high"]
    return table.assign(printed=printed, reported=reported, verdict=verdicts).reindex(columns=columns)


def _found(claim: Claim, row) -> Reproduction:
    evidence, _, reason = row.evidence.partition("; undefined: ")
    return Reproduction(claim.claim, number(row.tau), evidence, note=f"tau is undefined: {reason}" if reason else "")


def printed_blocks(claims: Mapping[str, Claim]) -> list[Block]:
    """Tables 2 and 3 as printed, one block a collection, for the examination; doubtful readings are left out."""
    blocks = []
    for collection in dict.fromkeys(name.split("/")[2] for name in claims if name.startswith("sigir2014/table3/")):
        printed, rows = {}, ["AP"]
        for name, claim in claims.items():
            parts = name.split("/")
            if parts[1:3] == ["table2", collection] and parts[3] != "AP":
                printed["AP", parts[3]] = claim.printed
            elif parts[1:3] == ["table3", collection]:
                rows.append(parts[3])
                if len(claim.readings) == 1:
                    printed[parts[3], parts[4]] = claim.printed
        systems = int(claims[f"sigir2014/table1/{collection}/runs"].printed)
        blocks.append(Block(collection, tuple(dict.fromkeys(rows)), tuple(COMPARISONS), printed, systems))
    return blocks


def impossible_cells(blocks: Sequence[Block]) -> list[Reproduction]:
    """The cells of Table 3 that are impossible by the table alone, where it is clear which of a row it is."""
    found = []
    for block in blocks:
        for row in block.rows:
            cell = culprit(block, row) if row not in block.columns else None
            if cell is not None:
                finding = next(one for one in examine_block(block) if cell in one.cells and one.severity == "impossible")
                claim = f"sigir2014/table3/{block.name}/{row}/{cell[1]}"
                found.append(Reproduction(claim, "impossible", "Tables 2 and 3 alone", note=finding.sentence))
    return found


def write_tables(
    folder: str | PathLike[str],
    evidence: Sequence[Evidence],
    correlations: Mapping[str, pd.DataFrame],
    claims: Mapping[str, Claim],
    variant: str = "b",
    decimals: int | None = None,
    printing: str = "rounded",
    samples: int = 1000,
) -> list[Reproduction]:
    """Write Tables 1 to 4 into a folder, and return what may be compared with the paper.

    Tables of synthetic collections say so in their captions, and are compared with nothing.
    """
    folder = Path(folder)
    real = [one for one in evidence if one.kind == "real"]
    known = claims if real else {}
    source = "" if real else " SYNTHETIC collections, generated; not comparable with the paper."
    first = table1(evidence)
    second, third = table2_and_3(evidence, correlations, variant, decimals, samples)
    fourth = table4(claims)
    found = reproductions(first if real else first[:0], second if real else second[:0], third if real else third[:0], fourth, claims)
    verdicts = {one.claim: judge_claim(claims[one.claim], one, printing) for one in found}

    def beside(claim: str) -> dict[str, str]:
        row = verdicts.get(claim)
        return {"reported": row.printed if row else "", "verdict": row.verdict if row else ""}

    first = pd.DataFrame(
        [row._asdict() | beside(f"sigir2014/table1/{row.collection}/{row.feature}") for row in first.itertuples(index=False)]
    ).reindex(columns=["collection", "feature", "value", "reported", "verdict", "evidence"])
    write_everywhere(folder / "table1", first, f"Table 1: main features of the collections.{source}")
    captions = {
        "table2": "Table 2: Kendall's tau between AP and the other measures.",
        "table3": "Table 3: Kendall's tau between the models of MP and the other measures.",
    }
    for where, table in (("table2", second), ("table3", third)):
        table = with_verdicts(table, where, known, printing)
        # Of the paper's own collections all cells are printed, but not all can be read.
        if where == "table3" and any(table["reported"]):
            captions[where] += " A blank reported cell of the paper's collections is illegible in the paper."
        write_everywhere(folder / where, table, captions[where] + source, table.drop(columns="tau"))
    rows = [
        {
            "run": row.run, "gains": row.gains, "time": time, "value": getattr(row, time),
            **beside(f"sigir2014/table4/{row.run}/{time}"),
            "low": row.low if time == "continuous" else float("nan"),
            "high": row.high if time == "continuous" else float("nan"),
            "evidence": found_evidence(found, f"sigir2014/table4/{row.run}/{time}"),
        }
        for row in fourth.itertuples()
        for time in ("discrete", "continuous")
    ]  # fmt: skip
    caption = "Table 4: MP GL_AD_ID in discrete and in continuous time, from the runs and parameters as printed (no data needed)."
    write_everywhere(folder / "table4", pd.DataFrame(rows), caption)
    return found


def found_evidence(found: Sequence[Reproduction], claim: str) -> str:
    """What a reproduction stands on."""
    return next(one.evidence for one in found if one.claim == claim)
