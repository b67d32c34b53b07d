"""From finished artefacts to tracked results: all at once, and never over results that stand on better evidence."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
from pathlib import Path

from walkeval.gathering import refuse_weaker


def publish(artefacts: str | os.PathLike[str], target: str | os.PathLike[str], edition: str) -> list[str]:
    """Make ``target`` hold exactly the files of ``artefacts``; returns the names of those that changed.

    Files that are equal are left alone, so that running an edition again changes nothing.
    """
    artefacts, target = Path(artefacts), Path(target)
    provenance = target / "provenance.json"
    if provenance.exists():
        before = json.loads(provenance.read_text(encoding="utf-8"))["evidence"]
        now = json.loads((artefacts / "provenance.json").read_text(encoding="utf-8"))["evidence"]
        refuse_weaker(now, before, edition)
    wanted = {one.relative_to(artefacts) for one in artefacts.rglob("*") if one.is_file() and not one.name.startswith(".")}
    changed = []
    # The record of the evidence goes last: a publication that was cut off half-way is not taken for a whole one.
    for name in sorted(wanted, key=lambda one: (one.name == "provenance.json", one)):
        source, copy = artefacts / name, target / name
        if copy.is_file() and filecmp.cmp(source, copy, shallow=False):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        part = copy.with_name(f".{copy.name}.part")
        shutil.copyfile(source, part)
        os.replace(part, copy)
        changed.append(str(name))
    for old in sorted(one for one in target.rglob("*") if one.is_file() and one.relative_to(target) not in wanted):
        old.unlink()
        changed.append(str(old.relative_to(target)))
    for folder in sorted((one for one in target.rglob("*") if one.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    return changed
