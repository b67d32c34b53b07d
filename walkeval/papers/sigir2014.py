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
from walkeval.correlation import kendall
from walkeval.evidence import per_topic_scores, read_anonymous_scores, read_nist_summary
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
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tau of AP with the comparison measures (Table 2), and of every model with them (Table 3).

    ``correlations`` are the tables of `walkeval.tables.correlation_table` for the collections that have runs. Where there
    are only per-topic scores or summaries, the cells of Table 2 that need no more are computed from those.
    """
    table2, table3 = [], []
    for one in evidence:
        known = _lookup(correlations.get(one.collection))
        weaker = {} if one.runs else weaker_means(one)
        for name, measure in COMPARISONS.items():
            row = {"collection": one.collection, "model": "AP", "measure": name}
            if name == "AP":
                table2.append(row | {"tau": 1.0, "evidence": "by definition"})
            elif one.runs:
                table2.append(row | known[frozenset(("AP", measure))] | {"evidence": "runs"})
            elif name in weaker:
                basis, means = weaker[name]
                tau = kendall(means["AP"], means[name], variant, decimals)
                table2.append(row | {"tau": tau.value, "n_runs": len(means), "evidence": basis})
            else:
                table2.append(row | {"evidence": f"none: needs the runs of {one.title}"})
        for model, measure in models().items():
            for name, comparison in COMPARISONS.items():
                row = {"collection": one.collection, "model": model, "measure": name}
                if one.runs:
                    table3.append(row | known[frozenset((measure, comparison))] | {"evidence": "runs"})
                else:
                    table3.append(row | {"evidence": f"none: needs the runs of {one.title}"})
    columns = ["collection", "model", "measure", "tau", "evidence", "n_runs", "low", "high"]
    return tuple(pd.DataFrame(rows).reindex(columns=columns) for rows in (table2, table3))


def _lookup(table: pd.DataFrame | None) -> dict[frozenset, dict]:
    if table is None:
        return {}
    return {
        frozenset((row["first"], row["second"])): {key: row[key] for key in ("tau", "low", "high", "n_runs")}
        for row in table.to_dict("records")
    }


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
    if one.per_topic and summary is not None and one.qrels:
        topics = read_qrels(one.qrels).topics
        scores = {key: read_anonymous_scores(path, summary.index, topics) for key, path in one.per_topic.items()}
        if {"map", "P_10"} <= scores.keys():
            means = pd.DataFrame({"AP": scores["map"].mean(), "P@10": scores["P_10"].mean()})
            found["P@10"] = "per-topic scores", means
    if one.per_topic_runs:
        names = {"P@10": "P_10", "Rprec": "Rprec", "bpref": "bpref"}
        average_precision = per_topic_scores(one.per_topic_runs, "map").mean()
        for name, measure in names.items():
            means = pd.DataFrame({"AP": average_precision, name: per_topic_scores(one.per_topic_runs, measure).mean()})
            found[name] = "per-topic scores", means
    return found


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
    """What the four tables say about the paper's claims."""
    found = [
        Reproduction(f"sigir2014/table1/{row.collection}/{row.feature}", number(row.value), row.evidence)
        for row in first.itertuples()
    ]
    for table, where in ((second, "table2"), (third, "table3")):
        for row in table.itertuples():
            middle = row.collection if where == "table2" else f"{row.collection}/{row.model}"
            claim = f"sigir2014/{where}/{middle}/{row.measure}"
            if claim in claims:
                found.append(Reproduction(claim, number(row.tau), row.evidence))
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
    return Reproduction(claim.claim, number(row.tau), row.evidence)


def write_tables(
    folder: str | PathLike[str],
    evidence: Sequence[Evidence],
    correlations: Mapping[str, pd.DataFrame],
    claims: Mapping[str, Claim],
    variant: str = "b",
    decimals: int | None = None,
    printing: str = "rounded",
) -> list[Reproduction]:
    """Write Tables 1 to 4 into a folder, and return what may be compared with the paper.

    Tables of synthetic collections say so in their captions, and are compared with nothing.
    """
    folder = Path(folder)
    real = [one for one in evidence if one.kind == "real"]
    known = claims if real else {}
    source = "" if real else " SYNTHETIC collections, generated; not comparable with the paper."
    first = table1(evidence)
    second, third = table2_and_3(evidence, correlations, variant, decimals)
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
