"""Write docs/reliability.md from what the tests recorded in results/reliability/: ./run python scripts/update_reliability.py."""

from __future__ import annotations

from pathlib import Path

from walkeval.claims import read_rows

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Reliability

What was tried against the program, how many times, and what came of it: {faults:,} faults injected, {inputs:,} inputs fuzzed,
{lost}.

The tests count. They write the tables in `results/reliability/`, and `./run python scripts/update_reliability.py` writes
this page from those. A row is that of the last time that all went well: a test that finds something lost, or an error
without a name, fails.
"""
PARTS = {
    "cluster": (
        "A Slurm cluster with faults",
        "`tests/test_cluster.py`, in every run of the tests where Slurm is installed",
    ),
    "killing": ("Runs that are killed", "`tests/test_killing.py`, in every run of the tests"),
    "fetching": (
        "Downloads that go wrong",
        "`tests/test_sources.py`, against a local server, in every run of the tests",
    ),
    "hostile": ("Hostile words", "`tests/test_report.py`, `tests/test_report_page.py`, `tests/test_clicks.py`, in every run of the tests"),
    "fuzzing": (
        "Readers fed with nonsense",
        "`tests/fuzz/campaign.py`: a coverage-guided fuzzer (atheris) on every reader of files from outside. Findings are "
        "kept in `tests/fuzz/corpus/` and replayed in every run of the tests",
    ),
}
COLUMNS = ("what", "times", "outcome")


def page(parts: dict[str, list[list[str]]]) -> str:
    """The page: the sums, and a table for each part."""
    times = {name: sum(int(row[1]) for row in rows) for name, rows in parts.items()}
    findings = [row for rows in parts.values() for row in rows if row[2].endswith("findings")]
    lost = f"{len(findings)} readers with findings" if findings else "nothing lost, no error without a name"
    inputs = times.get("fuzzing", 0)
    text = HEAD.format(faults=sum(times.values()) - inputs, inputs=inputs, lost=lost)
    for name, (title, where) in PARTS.items():
        if name in parts:
            text += f"\n## {title}\n\n{where}.\n\n| tried | times | outcome |\n|---|---:|---|\n"
            for what, count, outcome in parts[name]:
                text += f"| {what} | {int(count):,} | {outcome} |\n"
    return text


def recorded() -> dict[str, list[list[str]]]:
    """The tables that the tests wrote."""
    places = sorted((ROOT / "results" / "reliability").glob("*.tsv"))
    return {one.stem: [row for _, row in read_rows(one, COLUMNS)] for one in places}


if __name__ == "__main__":
    (ROOT / "docs" / "reliability.md").write_text(page(recorded()), encoding="utf-8")
