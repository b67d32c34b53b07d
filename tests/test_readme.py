"""The README: its counts are generated from the published results, and nothing else of it is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from walkeval.audit import Verdict, write_verdicts
from walkeval.errors import InputError
from walkeval.readme import END, START, counts_section, fill

ROOT = Path(__file__).resolve().parents[1]


def test_the_readme_has_the_counts_of_the_published_results():
    """Filled by: ./run python scripts/update_readme.py"""
    section = counts_section(ROOT / "results" / "paper", "results/paper")
    assert fill(ROOT / "README.md", section) == (ROOT / "README.md").read_text(encoding="utf-8")


def test_only_the_marked_part_is_replaced(tmp_path):
    (tmp_path / "audit").mkdir()
    write_verdicts(tmp_path / "audit" / "verdicts.tsv", [Verdict("sigir2014/1", "1", "1", "reproduced", "", "no", "")])
    section = counts_section(tmp_path, "here")
    assert "| SIGIR 2014 | 1 | 1 | 0 | 0 | 0 | 0 |" in section
    assert "(here/audit/verdicts.tsv)" in section
    path = tmp_path / "README.md"
    path.write_text(f"before\n{START}\nold\n{END}\nafter {END}\n")
    text = fill(path, section)
    assert text == f"before\n{START}\n{section}\n{END}\nafter {END}\n"
    path.write_text(text)
    assert fill(path, section) == text


@pytest.mark.parametrize("text", ["", START, f"{END}{START}", f"{START}{START}{END}"])
def test_a_file_without_the_marks_is_refused(tmp_path, text):
    (tmp_path / "README.md").write_text(text)
    with pytest.raises(InputError, match=r"README\.md: must have one line"):
        fill(tmp_path / "README.md", "x")
