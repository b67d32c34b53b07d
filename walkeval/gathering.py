"""What is at hand for a collection, from best to worst: its runs, per-topic scores, per-run summaries, judgements.

A claim is checked on the best evidence, and the verdict names it. What is missing is said once, in one table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd

from walkeval.errors import EvidenceError, InputError, SourceError

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
            return cls(**{**content, "missing": tuple(content["missing"])})
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
                "judgements": one.dataset,
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
            raise EvidenceError(
                f"the results of {edition} for {collection} stand on its {before}, but only {now} are at hand: set "
                f"WALKEVAL_MIRROR to a mirror that has them, go online, or write elsewhere with --config results=FOLDER"
            )


def gather(
    collections: Iterable[str],
    config: str | os.PathLike[str],
    data: str | os.PathLike[str],
    mirror: str | os.PathLike[str] | None = None,
    network: bool = True,
) -> list[Evidence]:
    """Fetch and check everything that the registry has for these collections.

    ``config`` is the folder with ``sources.tsv`` and ``collections/``. Judgements pass through ir-datasets and are written as plain
    TREC files below ``data``. Being offline is no error: what is missing is said in the evidence.
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
        runs = {
            _run_name(one): paths[one] for one in paths if collection.runs and one.startswith(collection.runs)
        } | runs_in_folder(collection.runs_folder)
        summary = paths.get(collection.summary, "")
        if not collection.runs:
            if summary and collection.nist_track:
                sentence = fetch_protected_runs(read_nist_summary(summary), collection, network=network)
                runs = runs_in_folder(collection.runs_folder)
                if sentence:
                    missing.append(sentence)
        gathered.append(
            Evidence(
                collection=collection.name,
                title=collection.title,
                kind="real",
                qrels=qrels,
                dataset=dataset,
                runs=runs if qrels else {},
                summary=summary,
                per_topic={key: paths[one] for key, one in collection.per_topic.items() if one in paths},
                per_topic_runs={
                    one.removeprefix(collection.per_topic_runs): paths[one]
                    for one in paths
                    if collection.per_topic_runs and one.startswith(collection.per_topic_runs)
                },
                topic_means=paths.get(collection.topic_means, ""),
                missing=tuple(missing),
            )
        )
    return gathered


def runs_in_folder(folder: str | os.PathLike[str]) -> dict[str, str]:
    """The runs that somebody put into a folder, by name; hidden files are left alone."""
    folder = Path(folder)
    if not folder.is_dir():
        return {}
    files = (one for one in folder.iterdir() if one.is_file() and not one.name.startswith("."))
    return {_run_name(one.name): str(one) for one in sorted(files)}


def _run_name(text: str) -> str:
    return text.rpartition("/")[2].removeprefix("input.").removesuffix(".gz").removesuffix(".txt")
