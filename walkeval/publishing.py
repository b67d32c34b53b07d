"""From finished artefacts to tracked results: all at once, and never over results that stand on better evidence."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from walkeval.gathering import published_evidence, refuse_weaker

RECORD = "provenance.json"
"""The record of what results stand on. A folder with one holds published results, and nothing else."""


def publish(
    artefacts: str | os.PathLike[str], names: Iterable[str], target: str | os.PathLike[str], edition: str
) -> list[str]:
    """Make ``target`` hold exactly these files of the folder ``artefacts``; returns the names of those that changed.

    Files that are equal are left alone, so that running an edition again changes nothing. Files of an earlier
    publication that are no longer wanted go; what lies in a folder that was never published to stays.
    """
    artefacts, target, wanted = Path(artefacts), Path(target), set(names)
    before = published_evidence(target / RECORD)
    refuse_weaker(published_evidence(artefacts / RECORD), before, edition)
    changed = []
    # The record goes last: a publication that was cut off half-way is not taken for a whole one.
    for name in sorted(wanted, key=lambda one: (one == RECORD, one)):
        source, copy = artefacts / name, target / name
        if _equal(source, copy):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        part = copy.with_name(f".{copy.name}.part")
        shutil.copyfile(source, part)
        os.replace(part, copy)
        changed.append(name)
    for old in sorted(_files(target)):
        left_over = old.rpartition("/")[2].startswith(".") and old.endswith(".part")
        if old not in wanted and (before or left_over):
            (target / old).unlink()
            changed.append(old)
    for folder in sorted((one for one in target.rglob("*") if one.is_dir()), reverse=True):
        if before and not any(folder.iterdir()):
            folder.rmdir()
    return changed


def is_published(artefacts: str | os.PathLike[str], names: Iterable[str], target: str | os.PathLike[str]) -> bool:
    """Whether ``target`` holds these files as they are in ``artefacts``: somebody may have removed or changed them."""
    return all(_equal(Path(artefacts, name), Path(target, name)) for name in names)


def _equal(first: Path, second: Path) -> bool:
    return first.is_file() and second.is_file() and filecmp.cmp(first, second, shallow=False)


def _files(folder: Path) -> set[str]:
    return {one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()}
