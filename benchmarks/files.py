"""The files that everything is measured on: the 129 runs of TREC 8 ad hoc, unpacked, or a stand-in of their size."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from walkeval.synthetic import SyntheticSpecification, generate, read_specifications

GITHUB = "raw.githubusercontent.com"
QRELS = "castorini/anserini-tools/*/qrels/qrels.adhoc.401-450.txt*"
RUNS = "isoboroff/trec8-scores/*/inputs/input.*"
WHOLE = 129
"""Runs of TREC 8; a folder with fewer is not it."""


@dataclass(frozen=True)
class Files:
    """Judgements and runs as plain text: no side has to unpack anything."""

    title: str
    """How tables name them; synthetic ones say so."""
    qrels: Path
    runs: dict[str, Path]


def trec8(root: Path, folder: Path) -> Files:
    """TREC 8 from the mirror, or from what ``./run fetch`` left below data/; else a stand-in of the demo edition."""
    mirror = os.environ.get("WALKEVAL_MIRROR")
    for place in ([Path(mirror)] if mirror else []) + [root / "data" / "sources"]:
        runs = sorted((place / GITHUB).glob(RUNS))
        qrels = sorted((place / GITHUB).glob(QRELS))
        if len(runs) == WHOLE and len(qrels) == 1:
            return _unpacked(qrels[0], runs, folder)
    specification = read_specifications(root / "config" / "synthetic.yaml")["trec08"]
    return stand_in(specification, folder, "SYNTHETIC stand-in of the size of TREC 8")


def stand_in(specification: SyntheticSpecification, folder: Path, title: str) -> Files:
    """A synthetic collection as files."""
    generate(specification, folder)
    return Files(title, folder / "qrels.txt", {path.stem: path for path in sorted((folder / "runs").iterdir())})


def repeated_runs(files: Files, count: int) -> dict[str, Path]:
    """As many runs as asked for, by taking the same files again and again.

    Each is read, arranged and joined as if it were new, so that time and memory grow as with different runs; only the
    disk is spared.
    """
    paths = list(files.runs.values())
    return {f"run{number:05d}": paths[number % len(paths)] for number in range(count)}


def _unpacked(qrels: Path, runs: Iterable[Path], folder: Path) -> Files:
    (folder / "runs").mkdir(parents=True)
    named = {path.name.removeprefix("input.").removesuffix(".gz"): path for path in runs}
    for source, target in (
        (qrels, folder / "qrels.txt"),
        *((path, folder / "runs" / name) for name, path in named.items()),
    ):
        content = source.read_bytes()
        target.write_bytes(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    return Files("TREC 8 ad hoc", folder / "qrels.txt", {name: folder / "runs" / name for name in sorted(named)})
