"""A copy of the repository with a small edition that runs in seconds, for tests that run it many times."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from test_workflow import SPECIFICATION, TINY, copy_of_the_repository

ROOT = Path(__file__).resolve().parents[1]
EDITION = "tiny"
VALUES = {"replicates": "2", "shard": "1"}
"""Two shards for each collection, so that there is something to put together."""
PATIENCE = 1800
"""Seconds that anything may take on a machine that is busy with other things. None is spent unless something is wrong."""


def small_copy(folder: Path) -> Path:
    """Copy the repository, with ./run, which works in the environment of this test without setting up one of its own."""
    repository = copy_of_the_repository(folder)
    (repository / "config" / "small synthetic.yaml").write_text(SPECIFICATION)
    lines = [line for line in TINY.splitlines() if line.partition(":")[0] not in VALUES]
    lines += [f"{key}: {value}" for key, value in VALUES.items()]
    (repository / "config" / f"{EDITION}.yaml").write_text("\n".join(lines) + "\n")
    for name in ("run", "requirements.txt"):
        shutil.copy(ROOT / name, repository)
    environment = repository / ".venv"
    (environment / "bin").mkdir(parents=True)
    python = environment / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    # What ./run compares to know that an environment is current.
    content = (repository / "requirements.txt").read_bytes() + b"\0" + os.fsencode(repository)
    version = "{}.{}".format(*sys.version_info)
    (environment / "walkeval.stamp").write_text(f"{version} {hashlib.sha256(content).hexdigest()}\n")
    (environment / "walkeval.lock").touch()
    return repository


def variables(**more: str) -> dict[str, str]:
    """The environment for ./run: that of this test, without what would lead it elsewhere."""
    left_out = ("WALKEVAL_", "TREC_", "IR_DATASETS_", "SLURM", "SBATCH", "SRUN", "SNAKEMAKE_", "PYTEST_")
    return {key: value for key, value in os.environ.items() if not key.startswith(left_out)} | more


def results(repository: Path, edition: str = EDITION) -> dict[str, bytes]:
    """All files of the results of an edition, by name."""
    folder = repository / "results" / edition
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


@functools.cache
def undisturbed(folder: Path, edition: str = EDITION) -> tuple[dict[str, bytes], float]:
    """The results of a run on this machine that is left alone, and how many seconds it takes. Run once for all tests."""
    repository = small_copy(folder / f"undisturbed {edition}")
    before = time.monotonic()
    done = subprocess.run(
        [str(repository / "run"), edition, "--quiet"],
        env=variables(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return results(repository, edition), time.monotonic() - before
