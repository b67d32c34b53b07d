"""Does a column of published means fit its name? The examination of tables, for sources.

A mean of precision at k over t topics is a multiple of 1/(k t), so its digits tell which k it can be. Where the runs, or
scores by topic, are at hand, the column is also compared with what they give.
"""

from __future__ import annotations

import pandas as pd

from walkeval.evidence import CUTOFFS, per_topic_scores, plausible_cutoffs, read_nist_summary
from walkeval.gathering import Evidence
from walkeval.judging import JudgedCollection
from walkeval.measures import parse_measure

COLUMNS = ["collection", "column", "holds", "runs", "possible_cutoffs", "compared_with", "equal", "equal_under_its_name", "finding"]


def examine_summary(evidence: Evidence, judged: JudgedCollection | None, decimals: int = 4) -> pd.DataFrame:
    """One row for each precision column of NIST's summary of a collection."""
    if not evidence.summary:
        return pd.DataFrame(columns=COLUMNS)
    summary = read_nist_summary(evidence.summary).set_index("run")
    named = {held: column for column, held in summary.attrs["renamed"].items()}
    rows = []
    for held in [column for column in summary if column.startswith("P_")]:
        column = named.get(held, held)
        values = summary[held].dropna()
        possible = [k for k in plausible_cutoffs(values, topics=50, decimals=decimals) if k in CUTOFFS]
        basis, means = _known_means(evidence, judged, {held, column})
        equal = {name: int((means[name].reindex(values.index).round(decimals) == values).sum()) for name in means}
        rows.append(
            {
                "collection": evidence.collection,
                "column": column,
                "holds": held,
                "runs": len(values),
                "possible_cutoffs": " ".join(map(str, possible)),
                "compared_with": basis,
                "equal": equal.get(held, ""),
                "equal_under_its_name": equal.get(column, ""),
                "finding": _finding(column, held, possible, equal, len(values)),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def _known_means(
    evidence: Evidence, judged: JudgedCollection | None, names: set[str]
) -> tuple[str, dict[str, pd.Series]]:
    """Means of these measures by run, from the best evidence that has them."""
    if judged is not None and judged.runs:
        lists = judged.lists()
        shape = len(judged.runs), len(judged.topics)
        scores = {name: parse_measure(f"P@{name[2:]}").score(lists).reshape(shape).mean(axis=1) for name in sorted(names)}
        return "runs", {name: pd.Series(value, index=judged.runs) for name, value in scores.items()}
    if evidence.per_topic_runs:
        return "per-topic scores", {name: per_topic_scores(evidence.per_topic_runs, name).mean() for name in sorted(names)}
    return "", {}


def _finding(column: str, held: str, possible: list[int], equal: dict[str, int], runs: int) -> str:
    if column == held:
        if equal:
            return f"as named: equal for {equal[held]} of {runs} runs"
        return "as named, as far as the digits tell" if possible else "the digits cannot tell"
    sentence = f"called {column} but its digits rule that out; the smallest cut-off that they allow is {held[2:]}"
    if equal:
        sentence += f", which gives {equal[held]} of {runs} runs (under its name {equal.get(column, 0)})"
    return sentence
