"""docs/reliability.md says what the tests recorded, and every reader was fuzzed."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from reliability import FOLDER, record, recorded

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))
from targets import TARGETS  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "update_reliability.py"))


def test_the_page_is_made_of_what_was_recorded():
    """Written by: ./run python scripts/update_reliability.py"""
    assert (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8") == SCRIPT["page"](SCRIPT["recorded"]())
    assert {one.stem for one in FOLDER.glob("*.tsv")} == SCRIPT["PARTS"].keys()


def test_every_reader_was_fuzzed():
    fuzzed = {what.partition(":")[0] for what, _, _ in recorded(FOLDER / "fuzzing.tsv") if ":" in what}
    assert fuzzed == set(TARGETS)


def test_findings_are_told_on_the_page():
    page = SCRIPT["page"]({"killing": [["a", "20", "same"]], "fuzzing": [["run: x", "7", "2 findings"]]})
    assert "20 faults injected, 7 inputs fuzzed,\n1 readers with findings" in page
    assert "| run: x | 7 | 2 findings |" in page


def test_a_row_replaces_that_of_the_same_name(tmp_path):
    record("part", [("b", 1, "fine"), ("a", 2, "fine")], tmp_path)
    record("part", [("b", 3, "better")], tmp_path)
    assert recorded(tmp_path / "part.tsv") == [("a", 2, "fine"), ("b", 3, "better")]
    assert [one.name for one in tmp_path.iterdir()] == ["part.tsv"]
