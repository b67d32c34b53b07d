"""What several commands share: reading judgements and runs, naming measures, writing tables and pictures."""

from __future__ import annotations

import json
import math
import os
import re
import stat
import sys
import tempfile
import zlib
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from walkeval.citations import CITATIONS
from walkeval.errors import InputError, ParameterError
from walkeval.judging import JudgedCollection, judge
from walkeval.measures import Measure, parse_measure
from walkeval.trec import Qrels, read_qrels

Item = TypeVar("Item")
Section = tuple[str, Sequence[str], Sequence[Sequence[Any]]]
"""A table: its title, its column names and its rows."""

STANDARD_INPUT = "/dev/stdin"
DEFAULT_MEASURES = (
    "AP",
    "P@10",
    "Rprec",
    "bpref",
    "RR",
    "nDCG",
    "RBP(p=0.8)",
    'MP(model="GL_AD_ID")',
    'MP(model="GL_AD_ID",rescale="recall")',
    'PH(browsing="RWBM",p=0.5,q=0.25,loss=0.25,order=1)',
)
_TREC_NAMES = {"map": "AP", "recip_rank": "RR", "ndcg": "nDCG", "set_recall": "R", "Rprec": "Rprec", "bpref": "bpref"}
_TREC_CUTS = {"P": "P", "recall": "R", "ndcg_cut": "nDCG"}
_QUIET = ("missing topic", "topics with equal scores", "topic without a relevant document")
"""Entries of the ledger that are nothing odd, or that a command tells itself."""


def say(sentence: str) -> None:
    """Tell the person at the terminal something that is not output."""
    sys.stderr.write(f"walkeval: {sentence}\n")


def progress(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """The same items, with a bar where somebody is looking."""
    if not sys.stderr.isatty() or total < 2:
        return iter(items)
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        return iter(items)
    return iter(tqdm(items, total=total, desc=what, leave=False, file=sys.stderr))


def measure_of(name: str) -> Measure:
    """A measure by its name, or by that which trec_eval gives it.

    >>> measure_of("map").name, measure_of("P_10").name, measure_of("ndcg_cut.5").name
    ('AP', 'P@10', 'nDCG@5')
    """
    if name in _TREC_NAMES:
        return parse_measure(_TREC_NAMES[name])
    match = re.fullmatch(r"(P|recall|ndcg_cut)[._](\d+)", name)
    return parse_measure(f"{_TREC_CUTS[match[1]]}@{match[2]}" if match else name)


def measures_of(names: Sequence[str] | None) -> list[Measure]:
    """The measures asked for, each once, or the default ones."""
    return list({one.name: one for one in map(measure_of, names or DEFAULT_MEASURES)}.values())


def short_citation(key: str) -> str:
    """A paper in a few words.

    >>> short_citation("ferrante2014"), short_citation("cooper1968")
    ('Ferrante et al., SIGIR 2014', 'Cooper, American Documentation 1968')
    """
    entry = CITATIONS[key]
    authors = [one.split()[-1] for one in entry["author"].split(" and ")]
    who = authors[0] if len(authors) == 1 else " and ".join(authors) if len(authors) == 2 else f"{authors[0]} et al."
    place = entry.get("booktitle") or entry.get("journal", "")
    return f"{who}, {place} {entry['year']}".replace('{\\"a}', "ä")


# --- judgements and runs --------------------------------------------------------------------------------------------


def read_judgements(text: str) -> Qrels:
    """Judgements from a file, from standard input (-) or from ir-datasets, by id."""
    if text != "-" and not os.path.exists(text):
        return _dataset(text)
    path = STANDARD_INPUT if text == "-" else text
    try:
        return read_qrels(path)
    except InputError:
        columns = _columns(path)
        if columns in (5, 6):
            raise ParameterError(
                f"{text} looks like a run (it has {columns} columns): the judgements come first, then the runs"
            ) from None
        raise


def _dataset(identifier: str) -> Qrels:
    trouble = missing_dataset(identifier)
    if trouble:
        raise InputError(identifier, trouble)
    from walkeval.datasets import dataset_judgements

    return dataset_judgements(identifier)


def missing_dataset(name: str) -> str:
    """Why a name that no file has is no id of ir-datasets with judgements either; empty if it is one."""
    # Ids hold neither dots nor a slash at an end. Merely imported, ir-datasets makes folders: it is not asked in vain.
    if not re.fullmatch(r"\w[\w-]*(/[\w-]+)*", name, re.ASCII):
        return "cannot be read: No such file or directory"
    from walkeval.datasets import dataset_trouble

    trouble = dataset_trouble(name)
    return f"there is no such file, and {trouble}" if trouble else ""


def run_name(path: str) -> str:
    """What a run is called: its file without folder and endings.

    >>> run_name("runs/input.INQ604.gz"), run_name("my.run"), run_name("-")
    ('INQ604', 'my.run', '-')
    """
    name = os.path.basename(path).removeprefix("input.").removesuffix(".gz").removesuffix(".txt")
    return name or path


def named_runs(paths: Sequence[str]) -> dict[str, str]:
    """Files of runs by name; where two files have the same name, by their paths."""
    if len(set(paths)) < len(paths):
        twice = next(one for number, one in enumerate(paths) if one in paths[:number])
        raise ParameterError(f"the run {twice} is given twice")
    names = [run_name(one) for one in paths]
    named = {(one if names.count(name) > 1 else name): one for name, one in zip(names, paths, strict=True)}
    return {name: STANDARD_INPUT if path == "-" else path for name, path in named.items()}


class _Watched(dict):
    """Runs by name, with a bar over those that were read."""

    def items(self):
        return progress(super().items(), len(self), "runs")


def judge_runs(arguments: Namespace) -> JudgedCollection:
    """Read judgements and runs as the arguments say; what was odd about them is said."""
    if [arguments.qrels, *arguments.runs].count("-") > 1:
        raise ParameterError("standard input can be given only once")
    qrels = read_judgements(arguments.qrels)
    runs = named_runs(arguments.runs)
    try:
        collection = judge(qrels, _Watched(runs), order=arguments.order, max_rank=arguments.depth)
    except InputError as error:
        if _columns(error.path) == 4 and error.path in runs.values():
            raise ParameterError(f"{error.path} looks like judgements (it has 4 columns), not like a run") from None
        raise
    _tell_oddities(collection)
    _tell_unjudged(collection)
    return collection


def _tell_oddities(collection: JudgedCollection) -> None:
    """One sentence for each kind of entry in the ledger, however many runs have it."""
    kinds: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for entry in collection.ledger:
        if entry.what not in _QUIET:
            what = re.sub(r", such as .*", "", re.sub(r" as run .*", " as another run", entry.what))
            kinds.setdefault((what, entry.done), []).append((entry.run, entry.count))
    for (what, done), found in kinds.items():
        runs = [run for run in dict.fromkeys(run for run, _ in found) if run]
        where = "the judgements" if not runs else runs[0] if len(runs) == 1 else f"{len(runs)} runs such as {runs[0]}"
        say(f"{where}: {what} ({sum(count for _, count in found)}): {done}")


def _tell_unjudged(collection: JudgedCollection) -> None:
    """Say which runs have no judged document at all: most likely their document numbers are written in another way."""
    topics = len(collection.topics)
    for number, run in enumerate(collection.runs):
        first, last = number * topics, (number + 1) * topics
        if collection.start[first] == collection.start[last] and collection.length[first:last].any():
            documents = int(collection.length[first:last].sum())
            say(f"{run}: none of its {documents} documents is judged; are its document numbers those of the judgements?")


def refuse_missing(collection: JudgedCollection, run: int, missing: Sequence[int]) -> None:
    """Refuse a run that lacks topics."""
    if len(missing):
        topics = [collection.topics[one] for one in missing]
        others = f" and {len(topics) - 1} others" if len(topics) > 1 else ""
        raise InputError(collection.runs[run], f"the run has nothing for topic {topics[0]}{others}")


def _columns(path: str) -> int:
    """How many columns the first line of a file has; 0 if that cannot be seen."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return 0
        with open(path, "rb") as file:
            head = file.read(65536)
        if head.startswith(b"\x1f\x8b"):
            head = zlib.decompressobj(wbits=31).decompress(head, 65536)
    except (OSError, zlib.error):
        return 0
    return len(head.strip().partition(b"\n")[0].split())


# --- output ---------------------------------------------------------------------------------------------------------


def cell(value: Any) -> str:
    """A value as text: 10 significant digits, nothing for what is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.10g}" if isinstance(value, float) else " ".join(str(value).split())


def write_sections(sections: Iterable[Section], form: str = "tsv") -> None:
    """Write tables to standard output: as JSON lines that name their table, or as TSV, each below its title after a #.

    On a terminal the columns of TSV are put below each other.
    """
    write = sys.stdout.write
    for number, (title, header, rows) in enumerate(sections):
        if form == "jsonl":
            for row in rows:
                write(json.dumps({"table": title} | dict(zip(header, map(_plain, row), strict=True))) + "\n")
            continue
        lines = [list(header), *([cell(value) for value in row] for row in rows)]
        write(f"{chr(10) if number else ''}# {title}\n")
        if sys.stdout.isatty():
            widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
            lines = [
                ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()]
                for line in lines
            ]
        write("".join("\t".join(line) + "\n" for line in lines))


def _plain(value: Any) -> Any:
    """A value as JSON has it; what is not a number becomes null."""
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_target(path: str | None) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    if path is not None and not Path(path).absolute().parent.is_dir():
        raise InputError(path, "cannot be written: there is no such folder")


def check_picture(path: str | None) -> None:
    """Refuse a picture that cannot be drawn or written, before any work is done."""
    if path is not None and Path(path).suffix not in (".svg", ".pdf", ".png"):
        raise ParameterError(f"--plot {path}: the name must end in .svg, .pdf or .png")
    check_target(path)


def save_picture(result: Any, path: str) -> None:
    """Write a `walkeval.figures.Sheet` to one file, in the format that its name says."""
    from walkeval.figures import fit, save, style

    target = Path(path)
    if target.suffix == ".png":
        fit(result)
        with style():
            result.figure.savefig(target, dpi=200)
        return
    with tempfile.TemporaryDirectory() as folder:
        save(result, Path(folder, "walkeval"))
        target.write_bytes(Path(folder, f"walkeval{target.suffix}").read_bytes())
