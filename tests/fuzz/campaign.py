"""Fuzz every reader for ten minutes: python tests/fuzz/campaign.py FOLDER [TARGET ...]

Needs atheris, as fuzz.py does. Writes how many inputs each reader was given, and how many of them it did not bear, to
results/reliability/fuzzing.tsv, from which docs/reliability.md is made; rows of readers that are not named stay.
Runs in slices, each going on from the corpus of those before, because the memory of atheris itself grows by megabytes with
every thousand inputs (the readers' own does not, in as many calls without it).
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]
from reliability import record  # noqa: E402
from targets import TARGETS  # noqa: E402

MINUTES, SLICE = 10, 10
"""Minutes for each reader, in slices of so many seconds."""


def fuzz(name: str, folder: Path) -> tuple[int, int]:
    """How many inputs a reader was given, and how many were findings."""
    inputs, spent, number, start = 0, 0.0, 0, time.time()
    folder.mkdir(parents=True, exist_ok=True)
    # A slice ends with its first finding, so there may be more of them than fit into the time.
    while spent < 60 * MINUTES:
        before = time.time()
        words = [sys.executable, str(HERE / "fuzz.py"), name, str(SLICE), str(folder)]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        (folder / f"log.{number}").write_text(done.stdout, encoding="utf-8")
        executed = re.search(r"number_of_executed_units: (\d+)", done.stdout)
        if executed is None:
            sys.exit(f"the fuzzer did not run:\n{done.stdout[-2000:]}")
        inputs += int(executed[1])
        number += 1
        spent += min(SLICE, time.time() - before)
    findings = [one for one in folder.glob("*-*") if one.name.startswith(("crash-", "timeout-", "oom-"))]
    return inputs, sum(one.stat().st_mtime > start for one in findings)


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(TARGETS)
    for name in names:
        inputs, findings = fuzz(name, folder / name)
        outcome = f"{findings} findings" if findings else "read, or refused by a named error"
        record("fuzzing", [(f"{name}: {MINUTES} minutes of inputs", inputs, outcome)])


if __name__ == "__main__":
    main()
