"""What is at hand for a collection, from best to worst: its runs, per-topic scores, per-run summaries, judgements.

A claim is checked on the best evidence, and the verdict names it. What is missing is said once, in one table.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from walkeval.errors import EvidenceError, InputError, SourceError

if TYPE_CHECKING:
    from walkeval.datasets import Collection

LEVELS = ("nothing", "judgements", "run summaries", "per-topic scores", "runs")
"""From worst to best."""


@dataclass(frozen=True)
class Evidence:
    """The checked files of one collection."""

    collection: str
    title: str
    kind: str
    """``real`` or ``synthetic``."""
    qrels: str = ""
    dataset: str = ""
    """The ir-datasets id that the judgements came through."""
    runs: dict[str, str] = field(default_factory=dict)
    """Run name to file."""
    summary: str = ""
    per_topic: dict[str, str] = field(default_factory=dict)
    """Measure to file, one column a run."""
    per_topic_runs: dict[str, str] = field(default_factory=dict)
    """Run to file of trec_eval's output."""
    topic_means: str = ""
    sources: tuple[str, ...] = ()
    """Ids of the registry's sources among these files."""
    missing: tuple[str, ...] = ()
    """One sentence for each thing that is not at hand: what, where it is, and where to put it."""

    @property
    def level(self) -> str:
        """The best that is at hand."""
        if self.runs:
            return "runs"
        if self.per_topic or self.per_topic_runs:
            return "per-topic scores"
        if self.summary:
            return "run summaries"
        return "judgements" if self.qrels else "nothing"

    def run_paths(self) -> dict[str, Path]:
        """Run name to path, in the order of the names."""
        return {name: Path(self.runs[name]) for name in sorted(self.runs)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write as JSON."""
        Path(path).write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Evidence:
        """Read what `save` wrote."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls(**content | {key: tuple(content[key]) for key in ("sources", "missing")})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(path, f"is not a record of evidence ({error}); remove it and run again") from error


def evidence_table(found: Iterable[Evidence]) -> pd.DataFrame:
    """One row a collection: what its results stand on, and what is missing."""
    return pd.DataFrame(
        [
            {
                "collection": one.collection,
                "title": one.title,
                "data": one.kind,
                "evidence": one.level,
                "judgements": "at hand" if one.qrels else "",
                "runs": len(one.runs),
                "missing": " ".join(one.missing),
            }
            for one in found
        ]
    )


def refuse_weaker(at_hand: Mapping[str, str], published: Mapping[str, str], edition: str) -> None:
    """Refuse to go on where published results stand on better evidence than is at hand."""
    for collection, before in published.items():
        now = at_hand.get(collection, before)
        if now in LEVELS and before in LEVELS and LEVELS.index(now) < LEVELS.index(before):
            rest = "nothing of it is at hand" if now == "nothing" else f"only its {now} are at hand"
            raise EvidenceError(
                f"the results of {edition} for {collection} stand on its {before}, but {rest}: set WALKEVAL_MIRROR to "
                f"a mirror that has them, go online, or write elsewhere with ./run {edition} results=FOLDER"
            )


def published_evidence(path: str | os.PathLike[str]) -> dict[str, str]:
    """What published results stand on, by collection, from their ``provenance.json``; nothing if there is none."""
    try:
        evidence = json.loads(Path(path).read_text(encoding="utf-8"))["evidence"]
        return {str(collection): str(level) for collection, level in evidence.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(path, f"does not say what the results stand on ({error}); restore it, or remove it") from error


def gather(
    collections: Iterable[str],
    config: str | os.PathLike[str],
    data: str | os.PathLike[str],
    mirror: str | os.PathLike[str] | None = None,
    network: bool = True,
) -> list[Evidence]:
    """Fetch and check everything that the registry has for these collections.

    ``config`` is the folder with ``sources.tsv`` and ``collections/``. Judgements pass through ir-datasets and are
    written as plain TREC files below ``data``. Being offline is no error: what is missing is said in the evidence. Own
    collections, whose files no registry knows, must be there.
    """
    from walkeval.datasets import export_qrels, qrels_dataset, read_collection
    from walkeval.evidence import fetch_protected_runs, read_nist_summary
    from walkeval.sources import fetch, read_registry

    registry = read_registry(Path(config, "sources.tsv"))
    described = [read_collection(Path(config, "collections", f"{name}.yaml"), registry) for name in collections]
    wanted = dict.fromkeys(one for collection in described for one in collection.source_ids(registry))
    results = {one.source.id: one for one in fetch([registry[one] for one in wanted], data, mirror, network)}
    paths = {name: str(result.path) for name, result in results.items() if result.path is not None}
    gathered = []
    for collection in described:
        if collection.is_own:
            gathered.append(_own(collection, data))
            continue
        absent = [results[one] for one in collection.source_ids(registry) if one not in paths]
        missing = []
        if absent:
            reasons = dict.fromkeys(one.reason for one in absent)
            missing.append(f"{len(absent)} of its sources are missing, such as {absent[0].source.id}: {'; '.join(reasons)}.")
        qrels = dataset = ""
        try:
            dataset = qrels_dataset(collection, registry, data, network)
            qrels = str(Path(data, "qrels", f"{collection.name}.txt"))
            export_qrels(dataset, qrels, collection.topics)
        except SourceError as error:
            missing.append(f"{error}.")
            qrels = dataset = ""
        runs = _of_prefix(paths, collection.runs) | runs_in_folder(collection.runs_folder)
        summary = paths.get(collection.summary, "")
        if not collection.runs and summary and collection.nist_track:
            published = read_nist_summary(summary)
            sentence = fetch_protected_runs(published, collection, network=network)
            runs = runs_in_folder(collection.runs_folder)
            if sentence:
                missing.append(sentence)
            expected = set(published["run"])
        else:
            expected = _of_prefix(registry, collection.runs).keys()
        per_topic_runs = _of_prefix(paths, collection.per_topic_runs)
        # A part of the runs gives other correlations than all of them: it is no evidence for the collection.
        if runs and not (qrels and expected <= runs.keys()):
            reason = f"the collection has {len(expected)}" if qrels else "there are no judgements"
            missing.append(f"The {len(runs)} runs at hand are not used, because {reason}.")
            runs = {}
        if not _of_prefix(registry, collection.per_topic_runs).keys() <= per_topic_runs.keys():
            per_topic_runs = {}
        per_topic = {key: paths[one] for key, one in collection.per_topic.items() if one in paths}
        topic_means = paths.get(collection.topic_means, "")
        used = {summary, topic_means, *runs.values(), *per_topic.values(), *per_topic_runs.values()}
        if qrels and collection.qrels in paths:
            used.add(paths[collection.qrels])
        gathered.append(
            Evidence(
                collection=collection.name,
                title=collection.title,
                kind="real",
                qrels=qrels,
                dataset=dataset,
                runs=runs,
                summary=summary,
                per_topic=per_topic,
                per_topic_runs=per_topic_runs,
                topic_means=topic_means,
                sources=tuple(sorted(one for one in collection.source_ids(registry) if paths.get(one) in used)),
                missing=tuple(missing),
            )
        )
    return gathered


def _own(collection: Collection, data: str | os.PathLike[str]) -> Evidence:
    """Somebody's own collection: what it names must be there."""
    from walkeval.datasets import dataset_judgements
    from walkeval.pools import write_qrels
    from walkeval.trec import read_qrels

    dataset = collection.ir_datasets
    judgements = dataset_judgements(dataset) if dataset else read_qrels(collection.qrels_file)
    if collection.topics is not None:
        first, last = collection.topics
        chosen = [one for one in judgements.topics if one.isascii() and one.isdigit() and first <= int(one) <= last]
        if not chosen:
            raise InputError(judgements.path, f"has no topic from {first} to {last}")
        judgements = judgements.select(chosen)
    runs = own_runs(collection)
    if not runs:
        raise SourceError(f"{collection.name}: there are no runs in {collection.runs_folder or collection.runs_glob}")
    qrels = Path(data, "qrels", f"{collection.name}.txt")
    qrels.parent.mkdir(parents=True, exist_ok=True)
    write_qrels(qrels, judgements)
    return Evidence(
        collection=collection.name,
        title=collection.title,
        kind="real",
        qrels=str(qrels),
        dataset=dataset or "own file",
        runs=runs,
    )


def own_runs(collection: Collection) -> dict[str, str]:
    """The runs that somebody put where a collection's description says, by name."""
    if not collection.runs_glob:
        return runs_in_folder(collection.runs_folder)
    runs: dict[str, str] = {}
    for path in sorted(glob.glob(collection.runs_glob, recursive=True)):
        name = _run_name(path)
        if name in runs:
            raise SourceError(f"{collection.name}: two runs are called {name}: {runs[name]} and {path}")
        if Path(path).is_file():
            runs[name] = path
    return runs


def own_files(collection: Collection) -> list[Path]:
    """All files that are read in place, without a checksum: when one of them changes, the work starts again."""
    judgements = [Path(collection.qrels_file)] if collection.qrels_file and Path(collection.qrels_file).exists() else []
    return judgements + [Path(one) for one in own_runs(collection).values()]


def _of_prefix(files: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """What belongs to the sources whose id starts so, by the name of the run."""
    return {_run_name(one): files[one] for one in files if prefix and one.startswith(prefix)}


def runs_in_folder(folder: str | os.PathLike[str]) -> dict[str, str]:
    """The runs that somebody put into a folder, by name; hidden files are left alone."""
    folder = Path(folder)
    if not folder.is_dir():
        return {}
    files = (one for one in folder.iterdir() if one.is_file() and not one.name.startswith("."))
    return {_run_name(one.name): str(one) for one in sorted(files)}


def _run_name(text: str) -> str:
    return text.rpartition("/")[2].removeprefix("input.").removesuffix(".gz").removesuffix(".txt")
