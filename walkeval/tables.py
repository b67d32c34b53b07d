"""Tables as people read them: the same rows as TSV at full precision, Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from walkeval.audit import number
from walkeval.claims import write_rows
from walkeval.correlation import ALL_EQUAL, ONE_SYSTEM, bootstrap_taus, percentile_intervals, tau_matrix
from walkeval.errors import InputError
from walkeval.measures import parse_measure
from walkeval.scoring import Scores

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
        "|": r"\textbar{}", "[": "{[}", "]": "{]}",
    }
)  # fmt: skip
"""Brackets too: one at the start of a row would be the option of the line break before it."""
_MARKDOWN = str.maketrans({one: f"\\{one}" for one in "\\|*_`[]~$#"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"})
NUMBERS = ("tau", "low", "high", "n_runs")
"""Columns of the tables of correlations that hold numbers; all others are text, also where a run is called 007."""


def sampled_taus(
    scores: Scores, name: str, samples: range, variant: str = "b", decimals: int | None = None
) -> NDArray[np.float64]:
    """Tau between every two measures of a collection in samples of its topics, for `correlation_table`."""
    return bootstrap_taus(_direction(scores)[:, None, None] * scores.values, name, samples, variant, decimals)


def correlation_table(
    scores: Scores,
    name: str,
    variant: str = "b",
    decimals: int | None = None,
    samples: int = 1000,
    sampled: Sequence[NDArray[np.float64]] | None = None,
) -> pd.DataFrame:
    """Tau between every two measures of a collection, with its bootstrap interval over topics.

    Measures of cost, where less is better, are turned round, so that tau is about which systems are good. Samples that
    were computed elsewhere, as parts of `sampled_taus` in any order, take the place of those that are drawn here.
    """
    if sampled is None:
        sampled = [sampled_taus(scores, name, range(samples), variant, decimals)]
    tau = tau_matrix(_direction(scores)[:, None] * scores.means(), variant, decimals)
    low, high = percentile_intervals(sampled, len(scores.measures))
    first, second = np.triu_indices(len(scores.measures), k=1)
    return pd.DataFrame(
        {
            "first": [scores.measures[one] for one in first],
            "second": [scores.measures[one] for one in second],
            "tau": tau[first, second],
            "low": low[first, second],
            "high": high[first, second],
            "n_runs": len(scores.runs),
            "reason": [_reason(scores, tau[one, two]) for one, two in zip(first, second, strict=True)],
        }
    )


def _direction(scores: Scores) -> NDArray[np.float64]:
    """For each measure 1, or -1 where less is better."""
    return np.array([1.0 if parse_measure(measure).higher_is_better else -1.0 for measure in scores.measures])


def _reason(scores: Scores, tau: float) -> str:
    """Why there is no tau; nothing where there is one."""
    if not np.isnan(tau):
        return ""
    return ONE_SYSTEM if len(scores.runs) < 2 else ALL_EQUAL


def cell(value: object) -> str:
    """A cell as text on one line: floats with 10 significant digits, nothing for what is missing."""
    if value is None or value is pd.NA:
        return ""
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    return " ".join(str(value).split())


def write_table(path: str | PathLike[str], table: pd.DataFrame) -> None:
    """Write a table as TSV."""
    write_rows(path, table.columns, ([cell(value) for value in row] for row in table.itertuples(index=False)))


def read_table(path: str | PathLike[str], numbers: Sequence[str] = NUMBERS) -> pd.DataFrame:
    """Read what `write_table` wrote: these columns as numbers, where there are such, and all others as text."""
    try:
        header, *rows = (
            line.split("\t") for line in Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        )
        if header == [""] or any(len(row) != len(header) for row in rows):
            raise ValueError("its rows do not have the columns of its first line")
        table = pd.DataFrame(rows, columns=header, dtype=str)
        for name in table.columns.intersection(numbers):
            table[name] = [float(text) if text else np.nan for text in table[name]]
    except (OSError, ValueError) as error:
        raise InputError(path, f"is not a table ({error}); remove it and run again") from error
    return table


def markdown(table: pd.DataFrame, caption: str) -> str:
    """A table in Markdown, its caption above."""
    rows = [[escape_markdown(value) for value in row] for row in (table.columns, *table.itertuples(index=False))]
    lines = [escape_markdown(caption), "", _line(rows[0]), _line(["---"] * len(rows[0])), *map(_line, rows[1:])]
    return "\n".join(lines) + "\n"


def escape_markdown(value: object) -> str:
    """A cell as text that Markdown leaves as it is.

    >>> escape_markdown("<b>|*a*")
    '&lt;b&gt;\\\\|\\\\*a\\\\*'
    """
    return cell(value).translate(_MARKDOWN)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def latex(table: pd.DataFrame, caption: str) -> str:
    """A table in LaTeX, to be included as it is."""
    rows = [[cell(value) for value in row] for row in (table.columns, *table.itertuples(index=False))]
    body = [" & ".join(text.translate(_LATEX) for text in row) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{cell(caption).translate(_LATEX)}}}",
            rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}",
            r"\hline",
            body[0],
            r"\hline",
            *body[1:],
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def html_table(table: pd.DataFrame, caption: str, verdict_column: str | None = None) -> str:
    """A table in HTML; rows carry their verdict as a class, and every text is escaped."""
    head = "".join(f'<th scope="col">{html.escape(cell(name))}</th>' for name in table.columns)
    lines = [
        "<table>",
        f"<caption>{html.escape(cell(caption))}</caption>",
        f"<thead><tr>{head}</tr></thead>",
        "<tbody>",
    ]
    for row in table.to_dict("records"):
        mark = ""
        if verdict_column and row.get(verdict_column):
            mark = f' class="verdict-{html.escape(str(row[verdict_column]).replace(" ", "-"))}"'
        cells = "".join(f"<td>{html.escape(cell(row[name]))}</td>" for name in table.columns)
        lines.append(f"<tr{mark}>{cells}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>", ""])


def write_everywhere(
    stem: str | PathLike[str], table: pd.DataFrame, caption: str, shown: pd.DataFrame | None = None
) -> None:
    """Write ``stem.tsv`` at full precision, and ``shown`` (or the same) as Markdown, LaTeX and HTML beside it."""
    stem = Path(stem)
    shown = table if shown is None else shown
    write_table(f"{stem}.tsv", table)
    Path(f"{stem}.md").write_text(markdown(shown, caption), encoding="utf-8")
    Path(f"{stem}.tex").write_text(latex(shown, caption), encoding="utf-8")
    Path(f"{stem}.html").write_text(html_table(shown, caption, "verdict"), encoding="utf-8")
