"""The last lines of ./run: where the report is, and what counts for its reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from walkeval.audit import Verdict, write_verdicts
from walkeval.tables import write_table

ROOT = Path(__file__).resolve().parents[1]
PAPERS = Verdict("sigir2014/table2/trec08/bpref", "0.9", "0.9", "reproduced", "runs", "no", "")
OWN = Verdict("mine2025/table1/best", "0.5", "0.4", "differs", "runs", "no", "")


@pytest.mark.parametrize(
    ("own", "collections", "verdicts", "expected"),
    [
        ([], ["trec08"], [PAPERS], ["verdicts: 1 reproduced"]),
        (["mine"], ["mine"], [PAPERS], ["systems: {}/systems.tsv"]),
        (["mine"], ["mine"], [PAPERS, OWN], ["systems: {}/systems.tsv", "verdicts: 1 differs"]),
        (["mine"], ["mine", "trec08"], [PAPERS], ["systems: {}/systems.tsv", "verdicts: 1 reproduced"]),
    ],
)
def test_own_runs_are_not_told_the_verdicts_of_the_papers(tmp_path, own, collections, verdicts, expected):
    (tmp_path / "audit").mkdir()
    write_verdicts(tmp_path / "audit" / "verdicts.tsv", verdicts)
    write_table(tmp_path / "evidence.tsv", pd.DataFrame({"collection": collections}))
    if own:
        write_table(tmp_path / "systems.tsv", pd.DataFrame({"collection": own, "system": "a"}))
    command = [sys.executable, str(ROOT / "scripts" / "summarize.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    lines = [f"report: {tmp_path}/report/index.html", *(one.format(tmp_path) for one in expected)]
    assert done.stdout.splitlines() == lines
