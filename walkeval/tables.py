"""Tables as people read them: the same rows as TSV at full precision, Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from walkeval.audit import number, write_rows
from walkeval.correlation import bootstrap_intervals, tau_matrix
from walkeval.scoring import Scores

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    }
)  # fmt: skip
_MARKDOWN = str.maketrans({"|": r"\|", "*": r"\*", "_": r"\_", "<": "&lt;", ">": "&gt;", "`": r"\`", "[": r"\[", "]": r"\]"})


def correlation_table(
    scores: Scores, name: str, variant: str = "b", decimals: int | None = None, samples: int = 1000
) -> pd.DataFrame:
    """Tau between every two measures of a collection, with its bootstrap interval over topics."""
    tau = tau_matrix(scores.means(), variant, decimals)
    low, high = bootstrap_intervals(scores.values, name, samples, variant, decimals)
    first, second = np.triu_indices(len(scores.measures), k=1)
    return pd.DataFrame(
        {
            "first": [scores.measures[one] for one in first],
            "second": [scores.measures[one] for one in second],
            "tau": tau[first, second],
            "low": low[first, second],
            "high": high[first, second],
            "n_runs": len(scores.runs),
        }
    )


def cell(value: object) -> str:
    """A cell as text: floats with 10 significant digits, nothing for what is missing."""
    if value is None or value is pd.NA:
        return ""
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    return str(value)


def write_table(path: str | PathLike[str], table: pd.DataFrame) -> None:
    """Write a table as TSV."""
    write_rows(path, table.columns, ([cell(value) for value in row] for row in table.itertuples(index=False)))


def read_table(path: str | PathLike[str]) -> pd.DataFrame:
    """Read what `write_table` wrote; numbers become numbers, other columns stay text."""
    return pd.read_csv(path, sep="\t", quoting=3, keep_default_na=False, na_values={"tau": [""], "low": [""], "high": [""]})


def markdown(table: pd.DataFrame, caption: str) -> str:
    """A table in Markdown, its caption above."""
    header = [str(name) for name in table.columns]
    lines = [caption.translate(_MARKDOWN), "", _line(header), _line(["---"] * len(header))]
    lines += [_line([cell(value).translate(_MARKDOWN) for value in row]) for row in table.itertuples(index=False)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def latex(table: pd.DataFrame, caption: str) -> str:
    """A table in LaTeX, to be included as it is."""
    rows = [[str(name) for name in table.columns]]
    rows += [[cell(value) for value in row] for row in table.itertuples(index=False)]
    body = [" & ".join(text.translate(_LATEX) for text in row) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{caption.translate(_LATEX)}}}",
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
    head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in table.columns)
    lines = ["<table>", f"<caption>{html.escape(caption)}</caption>", f"<thead><tr>{head}</tr></thead>", "<tbody>"]
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
