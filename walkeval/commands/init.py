"""``walkeval init``: the two files that take an own collection through the whole workflow."""

from __future__ import annotations

import glob
import json
import os
import re
from argparse import Namespace
from pathlib import Path

from walkeval.commands.common import missing_dataset, say
from walkeval.errors import InputError, ParameterError

_QRELS = "my/qrels.txt"

COLLECTION = """\
# An own collection. Paths are relative to the folder that holds ./run, or absolute.
title: {title}

# The judgements, in one of two ways: a file in TREC format (topic, iteration, document, grade; may be gzipped) ...
{file}qrels_file: {qrels}
# ... or the id of a data set of ir-datasets.
{dataset}ir_datasets: {identifier}

# The runs, in TREC format (topic, Q0, document, rank, score, tag; may be gzipped): all files of a folder ...
{folder}runs_folder: {runs}
# ... or all that fit a pattern. A run is called like its file, without .gz and .txt.
{pattern}runs_glob: {glob}

# Only topics with numbers in this range, if it is given.
# topics: {{first: 1, last: 50}}
"""

EDITION = """\
# An own edition: ./run {name} makes tables, figures, heat maps, ledger and report in results/{name}/.
title: {title}
kind: real
collections: [{name}]      # files in config/collections/
click_logs: []{room}# none of the papers' click logs

# What orders the documents of a run: trec_eval9 (score, then document number), trec_eval, rank or file.
order: trec_eval9
min_grade: 1              # lowest grade that counts as relevant
graded: false             # whether gains are the grades, or 1 for every relevant document
rounding: null            # decimals of a system's mean before tau; null for all of them
printing: rounded         # how tables show tau; the papers' own digits were cut off, which is the default elsewhere
replicates: 10            # downsampled pools of each size, for the robustness curves
bootstrap: 1000           # samples of the topics for the intervals of tau

# Measures to compare; without this list, all that the papers compare. `walkeval measures` lists what there is.
# measures: ["AP", "P@10", "Rprec", "bpref", "RBP(p=0.8)", 'MP(model="GL_AD_ID")', 'MP(model="GL_OR_ID")']
"""


def run(arguments: Namespace) -> int:
    name = arguments.name
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise ParameterError(f"--name {name}: a name consists of letters, digits, _ and -")
    folder = Path(arguments.directory)
    qrels = _QRELS if arguments.qrels is None else arguments.qrels
    is_file = arguments.qrels is None or (folder / qrels).exists()
    if not is_file:
        _check_dataset(folder, qrels)
    is_pattern = any(one in arguments.runs for one in "*?[")
    collection = COLLECTION.format(
        title=json.dumps(arguments.title or name, ensure_ascii=False),
        qrels=json.dumps(qrels if is_file else _QRELS, ensure_ascii=False),
        identifier=json.dumps("disks45/nocr/trec8" if is_file else qrels),
        runs=json.dumps("my/runs" if is_pattern else arguments.runs, ensure_ascii=False),
        glob=json.dumps(arguments.runs if is_pattern else "my/runs/*.run", ensure_ascii=False),
        file="" if is_file else "# ",
        dataset="# " if is_file else "",
        folder="# " if is_pattern else "",
        pattern="" if is_pattern else "# ",
    )
    edition = EDITION.format(name=name, title=json.dumps(arguments.title or name, ensure_ascii=False), room=" " * 12)
    targets = {
        folder / "config" / "collections" / f"{name}.yaml": collection,
        folder / "config" / f"{name}.yaml": edition,
    }
    for path in targets:
        if path.exists():
            raise InputError(path, "is there already: remove it, or give another --name")
    for path, text in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        say(f"wrote {path}")
    if is_file and not (folder / qrels).is_file():
        say(f"put the judgements at {folder / qrels}, or change qrels_file")
    if not _runs(folder, arguments.runs, is_pattern):
        say(f"put the runs at {folder / arguments.runs}, or change where they are")
    if (folder / "run").is_file():
        say(f"then, in {folder}: ./run {name}")
    else:
        say(f"{folder} is no checkout of walkeval: copy {folder / 'config'} into one, and there: ./run {name}")
    return 0


def _check_dataset(folder: Path, qrels: str) -> None:
    """Refuse judgements that are neither a file nor a data set of ir-datasets, before anything is written."""
    if os.path.exists(qrels):
        raise InputError(folder / qrels, f"there is no such file: give the path of {qrels} from {folder}, or in full")
    trouble = missing_dataset(qrels)
    if trouble:
        raise InputError(folder / qrels, trouble)


def _runs(folder: Path, runs: str, is_pattern: bool) -> bool:
    if is_pattern:
        return bool(glob.glob(str(folder / runs), recursive=True))
    return (folder / runs).is_dir() and any((folder / runs).iterdir())
