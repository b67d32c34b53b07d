"""The part of a README that is generated: how many claims of each paper got which verdict."""

from __future__ import annotations

import os
from pathlib import Path

from walkeval.audit import read_verdicts
from walkeval.errors import InputError
from walkeval.report import count_table, told

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


def fill(path: str | os.PathLike[str], section: str) -> str:
    """The text of a file with the section between its two marks replaced."""
    text = Path(path).read_text(encoding="utf-8")
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end or START in rest:
        raise InputError(path, f"must have one line {START} and after it one line {END}")
    return f"{before}{START}\n{section}\n{END}{after}"
