"""What the fuzzer once found, replayed; and its seeds, so that the targets themselves keep working."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from walkeval.errors import WalkevalError

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))
from targets import SEEDS, TARGETS  # noqa: E402

CORPUS = Path(__file__).parent / "fuzz" / "corpus"
FOUND = [(path.parent.name, path) for path in sorted(CORPUS.glob("*/*"))]


def read(name: str, path: Path) -> None:
    try:
        TARGETS[name](path)
    except WalkevalError as error:
        assert "\n" not in str(error).strip()


@pytest.mark.tried("fuzzing", "findings of earlier campaigns, replayed", "read, or refused by a named error")
@pytest.mark.parametrize(("name", "path"), FOUND, ids=lambda one: one if isinstance(one, str) else one.name)
def test_findings_stay_fixed(name, path, tmp_path):
    copy = tmp_path / "input"
    copy.write_bytes(path.read_bytes())
    read(name, copy)


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read_or_refused(name, tmp_path):
    path = tmp_path / "input"
    for seed in [*SEEDS[name], b"", b"\x00", b"\xff\xfe", b"\n" * 10]:
        path.write_bytes(seed)
        read(name, path)
