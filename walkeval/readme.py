"""The parts of the documentation that are generated: counts of verdicts, and what the examination of tables finds."""

from __future__ import annotations

import os
from pathlib import Path

from walkeval.audit import read_verdicts
from walkeval.errors import InputError
from walkeval.report import count_table, told
from walkeval.tables import read_table

START = "<!-- generated: counts -->"
END = "<!-- end -->"


def counts_section(results: str | os.PathLike[str], name: str) -> str:
    """Counts per paper and verdict of published results, in Markdown; ``name`` is how the README calls their folder."""
    verdicts = read_verdicts(Path(results, "audit", "verdicts.tsv"))
    return "\n".join(
        [
            f"{told(verdicts)}, each with a verdict:",
            "",
            *count_table(verdicts),
            "",
            f"What the words mean, and why some differ: [REPRODUCTION.md]({name}/REPRODUCTION.md). Every claim:",
            f"[verdicts.tsv]({name}/audit/verdicts.tsv). The page to read, offline: `{name}/report/index.html`.",
        ]
    )


def power_section(results: str | os.PathLike[str]) -> str:
    """What share of planted errors the examination of tables finds, by kind of error and by test, in Markdown."""
    table = read_table(Path(results, "audit", "examination-power.tsv"), numbers=("any", "triangle", "gram", "copied row"))
    lines = ["| planted error | tables | found by any test | triangle | gram | copied row |", "| --- |" + " ---: |" * 5]
    for row in table.to_dict("records"):
        shares = " | ".join(f"{row[name]:.0%}" for name in ("any", "triangle", "gram", "copied row"))
        kind = "none (false alarms)" if row["planted"] == "none" else row["planted"]
        lines.append(f"| {kind} | {row['tables']} | {shares} |")
    return "\n".join(lines)


def fill(path: str | os.PathLike[str], section: str) -> str:
    """The text of a file with the section between its two marks replaced."""
    text = Path(path).read_text(encoding="utf-8")
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end or START in rest:
        raise InputError(path, f"must have one line {START} and after it one line {END}")
    return f"{before}{START}\n{section}\n{END}{after}"
