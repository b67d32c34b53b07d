"""Collections and their judgements, through ir-datasets.

ir-datasets' own id is used when its file is in its cache (and has the right hash) or the network is there; otherwise
the registry's file is registered with ir-datasets under an id of ours. Both ways must give the same judgements.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

import pandas as pd

from walkeval.errors import InputError, SourceError, did_you_mean
from walkeval.sources import Source, atomic_write, cached_path, check, disk, reachable
from walkeval.trec import Qrels
from walkeval.yaml_files import read_yaml

# Where ir-datasets keeps what its own ids need: section and entry of its list of downloads.
_DOWNLOADS = {
    "disks45/nocr/trec7": ("disks45", "trec7-qrels"),
    "disks45/nocr/trec8": ("disks45", "trec8-qrels"),
    "aquaint/trec-robust-2005": ("aquaint", "trec-robust-2005/qrels"),
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NEAR = 5
"""Most ids that are offered in place of one that does not exist."""


@dataclass(frozen=True)
class Collection:
    """A test collection as config/collections describes it; all but the name may be empty.

    The judgements are a source of the registry (``qrels``), a file of one's own (``qrels_file``) or a data set of
    ir-datasets; the runs are sources, or files in a folder or of a pattern.
    """

    name: str
    title: str
    topics: tuple[int, int] | None = None
    """The first and the last topic; None for all."""
    qrels: str = ""
    qrels_file: str = ""
    ir_datasets: str = ""
    runs: str = ""
    nist_track: str = ""
    runs_folder: str = ""
    runs_glob: str = ""
    summary: str = ""
    per_topic: Mapping[str, str] = field(default_factory=dict)
    per_topic_runs: str = ""
    topic_means: str = ""

    @property
    def is_own(self) -> bool:
        """Whether it is somebody's own: its judgements are no source of the registry."""
        return not self.qrels

    def source_ids(self, registry: Mapping[str, Source]) -> list[str]:
        """Every source of the registry that the collection names, in the registry's order."""
        named = {self.qrels, self.summary, self.topic_means, *self.per_topic.values()}
        prefixes = tuple(filter(None, (self.runs, self.per_topic_runs)))
        return [one for one in registry if one in named or (prefixes and one.startswith(prefixes))]


def read_collection(path: str | os.PathLike[str], registry: Mapping[str, Source] | None = None) -> Collection:
    """Read a collection's description; its name is that of the file. With a registry, its sources must be there."""
    path = Path(path)
    content = read_yaml(path)
    name = path.stem
    if not _NAME.fullmatch(name):
        raise InputError(path, "the file name must consist of letters, digits, _ and -")
    known = [one.name for one in fields(Collection) if one.name != "name"]
    for key in content:
        if key not in known:
            raise InputError(path, f"unknown key {key!r}{did_you_mean(str(key), known)}")
    if not any(key in content for key in ("qrels", "qrels_file", "ir_datasets")):
        raise InputError(path, "lacks the key 'qrels' (or, for an own collection, 'qrels_file' or 'ir_datasets')")
    # A collection of the registry is one of the papers', and known by title and topics.
    for key in ("title", "topics") if "qrels" in content else ():
        if key not in content:
            raise InputError(path, f"lacks the key {key!r}")
    topics = content.get("topics")
    if topics is not None and not (
        isinstance(topics, dict)
        and set(topics) == {"first", "last"}
        and all(type(one) is int for one in topics.values())
        and topics["first"] <= topics["last"]
    ):
        raise InputError(path, "topics must be {first: a number, last: a number not smaller}")
    per_topic = content.get("per_topic") or {}
    if not isinstance(per_topic, dict) or not all(isinstance(one, str) for pair in per_topic.items() for one in pair):
        raise InputError(path, "per_topic must give a source id for each measure")
    texts = {key: value for key, value in content.items() if key not in ("topics", "per_topic")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise InputError(path, f"{key} must be a text, not {value!r}")
    texts.setdefault("title", name)
    if "qrels_file" in texts and ("qrels" in texts or "ir_datasets" in texts):
        raise InputError(path, "gives its judgements twice: qrels_file and another key")
    if "runs_glob" in texts and "runs_folder" in texts:
        raise InputError(path, "gives its runs twice: runs_folder and runs_glob")
    if "runs_glob" not in texts:
        texts.setdefault("runs_folder", f"data/runs/{name}")
    first_and_last = None if topics is None else (topics["first"], topics["last"])
    collection = Collection(name=name, topics=first_and_last, per_topic=per_topic, **texts)
    if registry is not None:
        for one in (collection.qrels, collection.summary, collection.topic_means, *per_topic.values()):
            if one and one not in registry:
                raise InputError(path, f"unknown source {one!r}{did_you_mean(one, registry)}")
        for prefix in filter(None, (collection.runs, collection.per_topic_runs)):
            if not any(one.startswith(prefix) for one in registry):
                raise InputError(path, f"no source has an id that starts with {prefix!r}")
    return collection


def qrels_dataset(
    collection: Collection, registry: Mapping[str, Source], data: str | os.PathLike[str], network: bool = True
) -> str:
    """The id under which ir-datasets gives the judgements of a collection.

    Its own id when the file is in its cache or can be fetched, otherwise `walkeval/<collection>` for the registry's
    file, which must have been fetched. When both are at hand and disagree, that is a SourceError.
    """
    own = ""
    if collection.ir_datasets and _native_at_hand(collection.ir_datasets, Path(data), network):
        own = collection.ir_datasets
    source = registry.get(collection.qrels)
    if source is None:
        raise SourceError(f"{collection.name}: the registry lacks its judgements, {collection.qrels!r}")
    path = cached_path(source, data)
    if not path.is_file():
        if own:
            return own
        raise SourceError(
            f"{collection.name}: no judgements: {path} is missing; fetch it, or download {source.url} and put it there"
        )
    registered = register_qrels(collection.name, path, source, data)
    if own:
        difference = _difference(load_qrels(own, collection.topics), load_qrels(registered, collection.topics))
        if difference:
            raise SourceError(f"{collection.name}: ir-datasets' {own} and {path} disagree: {difference}")
        return own
    return registered


def register_qrels(name: str, path: Path, source: Source, data: str | os.PathLike[str]) -> str:
    """Register a file of judgements with ir-datasets as `walkeval/<name>` and return that id.

    The file is checked against the registry here, and ir-datasets checks the copy that it makes by its MD5.
    """
    ir_datasets = _ir_datasets(data)
    try:
        trouble = check(path, source)
        content = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from None
    if trouble:
        raise SourceError(trouble)
    copy = Path(data, "ir_datasets", "walkeval", source.sha256)
    # ir-datasets takes a file at its cache path without looking, so a copy that was changed must go first.
    if copy.is_file() and check(copy, source):
        copy.unlink()
    identifier, number = f"walkeval/{name}", 1
    while identifier in ir_datasets.registry:
        if ir_datasets.load(identifier).qrels_handler().walkeval_copy == copy:
            return identifier
        number += 1  # one process with two data folders
        identifier = f"walkeval/{name}-{number}"
    download = ir_datasets.util.Download(
        [ir_datasets.util.LocalDownload(path, mkdir=False)],
        cache_path=copy,
        expected_md5=hashlib.md5(content, usedforsecurity=False).hexdigest(),
    )
    qrels = ir_datasets.formats.TrecQrels(download, {})
    qrels.walkeval_copy = copy
    ir_datasets.registry.register(identifier, ir_datasets.Dataset(qrels))
    return identifier


def load_qrels(dataset_id: str, topics: tuple[int, int] | None = None) -> pd.DataFrame:
    """The judgements of a data set: columns topic, document, grade, sorted by topic (as a number) and document.

    Sorted, so that nothing later depends on which of several equal files was read. `topics` is an inclusive range.
    """
    import ir_datasets

    try:
        dataset = ir_datasets.load(dataset_id)
        rows = [(one.query_id, one.doc_id, one.relevance) for one in dataset.qrels_iter()]
    except KeyError:
        raise SourceError(f"ir-datasets does not know {dataset_id!r}") from None
    except Exception as error:  # ir-datasets raises what its download layers raise
        raise SourceError(f"ir-datasets cannot give the judgements of {dataset_id}: {error}") from error
    for topic, _, _ in rows:
        if not (topic.isascii() and topic.isdigit()):
            raise SourceError(f"the judgements of {dataset_id} name a topic {topic!r}, which is no number")
    if topics is not None:
        first, last = topics
        rows = [row for row in rows if first <= int(row[0]) <= last]
        if not rows:
            raise SourceError(f"the judgements of {dataset_id} have no topic from {first} to {last}")
    rows.sort(key=lambda row: (int(row[0]), row[1]))
    frame = pd.DataFrame(rows, columns=["topic", "document", "grade"])
    repeated = frame.duplicated(["topic", "document"])
    if repeated.any():
        topic, document, _ = frame[repeated].iloc[0]
        raise SourceError(f"the judgements of {dataset_id} name document {document} of topic {topic} twice")
    return frame


def dataset_trouble(dataset_id: str) -> str:
    """Why ir-datasets has no judgements for an id, with at most five ids that resemble it; empty if it has some."""
    import ir_datasets

    ir_datasets.log.easy().logger().setLevel(logging.ERROR)  # what is old about the ids below is nobody's concern
    try:
        if ir_datasets.load(dataset_id).has_qrels():
            return ""
        sentence = "the data set of this id has no judgements"
    except (KeyError, ValueError):
        sentence = "ir-datasets knows no such id"
    judged = (one for one in near_ids(dataset_id, ir_datasets.registry) if ir_datasets.load(one).has_qrels())
    near = list(islice(judged, _NEAR))
    meant = f"; did you mean {', '.join(near[:-1])}{' or ' if near[:-1] else ''}{near[-1]}?" if near else ";"
    return f"{sentence}{meant} `ir_datasets list` gives all ids"


def near_ids(name: str, known: Iterable[str]) -> list[str]:
    """The ids of data sets that resemble a name, the nearest first: those that have it as a part, then misspelt ones.

    >>> near_ids("trec8", ["beir/nq", "disks45/nocr/trec8", "disks45/nocr/trec7"])
    ['disks45/nocr/trec8', 'disks45/nocr/trec7']
    """

    def plain(text: str) -> str:
        return re.sub(r"[^a-z0-9]+", "", text.casefold())

    def likeness(one: str) -> float:
        last = [plain(text.rpartition("/")[2]) for text in (name, one)]
        whole, ending = (SequenceMatcher(None, *pair).ratio() for pair in ((plain(name), plain(one)), last))
        return max(whole, 0.95 * ending, 0.99 * (plain(name) in plain(one)))

    found = sorted(((likeness(one), one) for one in known), key=lambda pair: (-pair[0], len(pair[1]), pair[1]))
    return [one for likely, one in found if likely >= 0.7]


def dataset_judgements(dataset_id: str) -> Qrels:
    """The judgements of any data set of ir-datasets, whatever its topics are called."""
    import ir_datasets

    ir_datasets.log.easy().logger().setLevel(logging.ERROR)  # what fails is said once, in the error
    # Its defaults (ten tries after a 403, time-outs of 15 s) keep a user waiting who is offline.
    for name, value in (("TIMEOUT", "10"), ("TRIES", "1"), ("403_TRIES", "1")):
        os.environ.setdefault(f"IR_DATASETS_DL_{name}", value)
    trouble = dataset_trouble(dataset_id)
    if trouble:
        raise SourceError(f"{dataset_id}: {trouble}")
    dataset = ir_datasets.load(dataset_id)
    try:
        records = [(one.query_id, one.doc_id, one.relevance) for one in dataset.qrels_iter()]
    except Exception as error:  # ir-datasets raises what its download layers raise
        # Of several arguments the first is the sentence, and the others are long.
        reason = str(next(iter(error.args), "")).strip().partition("\n")[0] or type(error).__name__
        raise SourceError(f"ir-datasets cannot give the judgements of {dataset_id}: {reason}") from error
    return Qrels.from_records(records, dataset_id)


def export_qrels(dataset_id: str, path: str | os.PathLike[str], topics: tuple[int, int] | None = None) -> None:
    """Write the judgements of a data set as a plain TREC file, whole or not at all."""
    frame = load_qrels(dataset_id, topics)
    with atomic_write(path) as handle:
        for topic, document, grade in frame.itertuples(index=False):
            handle.write(f"{topic} 0 {document} {grade}\n".encode())


def qrels_statistics(qrels: pd.DataFrame, min_grade: int = 1) -> dict[str, float]:
    """Number of topics, and minimum, mean and maximum number of relevant documents per topic.

    >>> qrels_statistics(pd.DataFrame({"topic": ["1", "1", "2"], "document": ["a", "b", "a"], "grade": [1, 2, 1]}))
    {'topics': 2, 'minimum': 1, 'mean': 1.5, 'maximum': 2}
    """
    relevant = (qrels["grade"] >= min_grade).groupby(qrels["topic"]).sum()
    return {
        "topics": len(relevant),
        "minimum": int(relevant.min()),
        "mean": float(relevant.sum() / len(relevant)),
        "maximum": int(relevant.max()),
    }


def _ir_datasets(data: str | os.PathLike[str]):
    # ir-datasets makes its home when it is imported: the variable must be set before, or it writes into the user's.
    # A home that the user has chosen stays, and so does one that an earlier import has already fixed.
    if "ir_datasets" not in sys.modules:
        os.environ.setdefault("IR_DATASETS_HOME", str(Path(data, "ir_datasets").absolute()))
    import ir_datasets

    return ir_datasets


def _native_at_hand(dataset_id: str, data: Path, network: bool) -> bool:
    """Whether ir-datasets' own judgements lie in its cache with the right hash, or could just be put there."""
    ir_datasets = _ir_datasets(data)
    if dataset_id not in _DOWNLOADS:
        raise SourceError(f"unknown ir-datasets id {dataset_id!r}{did_you_mean(dataset_id, _DOWNLOADS)}")
    section, entry = _DOWNLOADS[dataset_id]
    home = ir_datasets.util.home_path()
    download = ir_datasets.util.DownloadConfig.context(section, home / section)[entry]
    path = Path(download.path(force=False))
    if path.is_file():
        if hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() == download.expected_md5:
            return True
        with disk(path):
            os.replace(path, path.with_name(path.name + ".rejected"))
    urls = [one.url for one in download.mirrors if hasattr(one, "url")]
    if not network or not reachable(urls):
        return False
    # Its defaults (ten tries after a 403, time-outs of 15 s) are meant for large files.
    for name, value in (("TIMEOUT", "10"), ("TRIES", "1"), ("403_TRIES", "1"), ("DISABLE_PBAR", "true")):
        os.environ.setdefault(f"IR_DATASETS_DL_{name}", value)
    try:
        download.path()
    except Exception:  # whatever its layers raise, the registry's file is the other way
        return False
    return path.is_file()


def _difference(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """Empty if two sorted sets of judgements are equal, otherwise what differs."""
    if len(first) != len(second):
        return f"{len(first)} judgements against {len(second)}"
    unequal = (first != second).any(axis=1)
    if not unequal.any():
        return ""
    one, other = first[unequal].iloc[0], second[unequal].iloc[0]
    return (
        f"{int(unequal.sum())} judgements differ, first topic {one.topic} document {one.document} grade {one.grade} "
        f"against topic {other.topic} document {other.document} grade {other.grade}"
    )
