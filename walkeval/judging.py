"""Judged collections: for every run, topic and rank, which of the topic's judgements the document is.

Text is parsed and joined once. Everything after is array work: a pool is a mask over the judgements, and
`JudgedCollection.lists` turns it into `RankedLists` without parsing or joining anything again.

The order of a run is a parameter, because it decides scores where retrieval scores are equal:

- ``trec_eval``: score, then document number (compared as bytes), both descending, scores as 64-bit floats,
  as trec_eval does from version 10 on;
- ``trec_eval9``: the same with scores rounded to 32-bit floats, as trec_eval did up to 9.0.8;
- ``rank``: the rank column ascending, equal ranks in the order of the file;
- ``file``: the order of the lines.

Topics are matched by their names. Where a name of a run is not a topic of the judgements, letters before
its digits (with ``-``, ``_``, ``:`` or ``.`` between) and leading zeros do not count on either side: ``q401``,
``topic-401`` and ``0401`` are ``401``. The ledger says so where that was needed.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import InputError, ParameterError, UnknownNameError
from walkeval.ranked import RankedLists
from walkeval.trec import MAX_BYTES, LedgerEntry, Qrels, Run, read_qrels, read_run, whole_file

if TYPE_CHECKING:
    import pandas as pd

ORDERS = ("trec_eval", "trec_eval9", "rank", "file")
USUAL_DEPTH = 1000
"""TREC asks for at most this many documents a topic; more are kept and noted."""
_BLOCK = 2**16
"""Documents that are looked up at a time, so that what is in between stays small, however long a run is."""
_FORMAT = "walkeval judged collection 1"
_NUMBERED = re.compile(r"(?:[A-Za-z]+[-_:.]?)?0*(\d+)", re.ASCII)
# Odd constants that spread 64-bit words over 64-bit keys; any would do, equal keys are compared in full.
_SPREAD = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


@dataclass(frozen=True, eq=False)
class JudgedCollection:
    """The runs of a collection, joined with its judgements. List number = run number * topics + topic number."""

    runs: list[str]
    topics: list[str]
    topic_start: NDArray[np.int64]
    """Where the judgements of each topic begin; one entry more than there are topics."""
    grade: NDArray[np.int16]
    document: NDArray[np.bytes_]
    length: NDArray[np.int64]
    """Documents in each list."""
    start: NDArray[np.int64]
    """Where the judged documents of each list begin; one entry more than there are lists."""
    rank: NDArray[np.unsignedinteger]
    """Rank of each judged document, from 1."""
    judgement: NDArray[np.unsignedinteger]
    """Which judgement of its topic each judged document is."""
    tied: NDArray[np.uint8]
    """For all documents of all lists, one after the other, one bit: same score as the document before."""
    order: str
    ledger: list[LedgerEntry]

    @classmethod
    def empty(cls, order: str = "trec_eval9") -> JudgedCollection:
        """What there is of a collection when nothing is at hand: no runs, topics or judgements.

        >>> JudgedCollection.empty().lists().length.tolist()
        []
        """
        arrays = {name: np.zeros(0, dtype) for name, dtype in (("grade", np.int16), ("document", "S1"))}
        arrays |= {name: np.zeros(0, np.uint16) for name in ("rank", "judgement")}
        arrays |= {name: np.zeros(1, np.int64) for name in ("topic_start", "start")}
        arrays |= {"length": np.zeros(0, np.int64), "tied": np.zeros(0, np.uint8)}
        return cls(runs=[], topics=[], order=order, ledger=[], **arrays)

    @cached_property
    def topic(self) -> NDArray[np.int64]:
        """Topic number of each list."""
        return np.tile(np.arange(len(self.topics)), len(self.runs))

    @cached_property
    def position(self) -> NDArray[np.int32]:
        """Position of each judged document of the lists among the judgements of all topics."""
        offset = np.repeat(self.topic_start[self.topic].astype(np.int32), np.diff(self.start))
        return offset + self.judgement.astype(np.int32)

    @cached_property
    def ties(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """First and last rank of the group of equal scores that each judged document stands in."""
        total = int(self.length.sum())
        tied = np.unpackbits(self.tied, count=total).view(bool)
        group_start = np.flatnonzero(~tied)
        group = np.cumsum(~tied, dtype=np.int32 if total < 2**31 else np.int64) - 1
        list_start = np.cumsum(self.length) - self.length
        offset = np.repeat(list_start, np.diff(self.start))
        mine = group[offset + self.rank - 1]
        group_end = np.append(group_start[1:], total)
        return (group_start[mine] - offset + 1).astype(np.int32), (group_end[mine] - offset).astype(np.int32)

    def lists(
        self,
        pool: NDArray[np.bool_] | None = None,
        min_grade: int = 1,
        graded: bool = True,
        runs: range | None = None,
    ) -> RankedLists:
        """Ranked lists as judged by a pool, a mask over the judgements; None is all of them.

        Documents whose judgement is not in the pool count as unjudged. Gain is the grade where that is at
        least ``min_grade``, and 0 below: relevance is lenient by default, and a negative grade is a
        judgement of not relevant. Without ``graded`` every relevant document has gain 1. With ``runs``, only the
        lists of these runs, one after the other, for work in blocks.
        """
        if min_grade < 1:
            raise ParameterError(f"min_grade must be at least 1; got {min_grade}")
        judgements = len(self.grade)
        if pool is not None:
            pool = np.asarray(pool)
            if pool.dtype != np.bool_ or pool.shape != (judgements,):
                raise ParameterError(
                    f"a pool must be a boolean mask over the {judgements} judgements; "
                    f"got {pool.dtype} of shape {pool.shape}"
                )
        relevant = self.grade >= min_grade
        gain = np.where(relevant, self.grade if graded else 1, 0).astype(np.float64)
        judgement_topic = np.repeat(np.arange(len(self.topics)), np.diff(self.topic_start))
        unwanted = ~relevant
        if pool is not None:
            relevant, unwanted = relevant & pool, unwanted & pool
        recall_base = np.bincount(judgement_topic[relevant], minlength=len(self.topics))
        nonrelevant_base = np.bincount(judgement_topic[unwanted], minlength=len(self.topics))
        ideal = gain[relevant]
        ideal = ideal[np.lexsort((-ideal, judgement_topic[relevant]))]
        runs = range(len(self.runs)) if runs is None else runs
        chosen = slice(runs.start * len(self.topics), runs.stop * len(self.topics))
        bounds = self.start[chosen.start : chosen.stop + 1]
        kept: slice | NDArray[np.intp] = slice(bounds[0], bounds[-1])
        start = bounds - bounds[0]
        if pool is not None:
            kept = np.flatnonzero(pool[self.position[kept]]) + bounds[0]
            start = np.searchsorted(kept, bounds)
        topic = self.topic[chosen]
        return _CollectionLists.build(
            self,
            kept,
            length=self.length[chosen],
            start=start,
            rank=self.rank[kept].astype(np.int64),
            gain=gain[self.position[kept]],
            recall_base=recall_base[topic],
            nonrelevant_base=nonrelevant_base[topic],
            topic=topic,
            ideal_start=np.concatenate(([0], np.cumsum(recall_base))),
            ideal_gain=ideal,
            max_gain=max(1.0, float(self.grade.max(initial=1))) if graded else 1.0,
        )

    def ledger_table(self) -> pd.DataFrame:
        """The ledger as a table with columns run, topic, what, count, done."""
        import pandas as pd  # only here, because importing it takes longer than judging dozens of runs

        return pd.DataFrame(self.ledger, columns=list(LedgerEntry._fields))

    def write_ledger(self, path: str | PathLike[str]) -> None:
        """Write the ledger as tab-separated values, with a header."""
        rows = [LedgerEntry._fields, *self.ledger]
        with whole_file(path) as file:
            file.write("".join("\t".join(map(str, row)) + "\n" for row in rows).encode())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the collection to one npz file, which appears only when it is complete."""
        head = {"format": _FORMAT, "runs": self.runs, "topics": self.topics, "order": self.order}
        head["ledger"] = [list(entry) for entry in self.ledger]
        text = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
        with whole_file(path) as file:
            np.savez(file, head=text, **{name: getattr(self, name) for name in _ARRAYS})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> JudgedCollection:
        """Read what `save` wrote; any other file is refused."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                head = json.loads(archive["head"].tobytes())
                arrays = {name: archive[name] for name in _ARRAYS}
            if head["format"] != _FORMAT:
                raise InputError(path, f"is not a {_FORMAT}; it says {head['format']!r}")
            ledger = [LedgerEntry(*entry) for entry in head["ledger"]]
            return cls(runs=head["runs"], topics=head["topics"], order=head["order"], ledger=ledger, **arrays)
        except OSError as error:
            raise InputError(path, f"cannot be read: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError, EOFError, AttributeError, zipfile.BadZipFile):
            raise InputError(path, "is not a judged collection of walkeval") from None


_ARRAYS = ("topic_start", "grade", "document", "length", "start", "rank", "judgement", "tied")


class _CollectionLists(RankedLists):
    """Ranked lists that work out tie groups only when a measure asks for them, which few do."""

    @classmethod
    def build(cls, collection: JudgedCollection, kept: slice | NDArray[np.intp], **arrays) -> _CollectionLists:
        lists = cls(**arrays)
        # The constructor has set these to None, and the properties below would never be asked.
        del lists.__dict__["tie_first"], lists.__dict__["tie_last"]
        lists.__dict__["_source"] = collection, kept
        return lists

    @cached_property
    def tie_first(self) -> NDArray[np.int64]:
        return self._ranks_of_ties(0)

    @cached_property
    def tie_last(self) -> NDArray[np.int64]:
        return self._ranks_of_ties(1)

    def _ranks_of_ties(self, side: int) -> NDArray[np.int64]:
        collection, kept = self.__dict__["_source"]
        return collection.ties[side][kept].astype(np.int64)


def judge(
    qrels: str | PathLike[str] | Qrels,
    runs: Mapping[str, str | PathLike[str] | Run],
    order: str = "trec_eval9",
    max_rank: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> JudgedCollection:
    """Read runs one at a time and join them with judgements.

    ``runs`` maps the name of each run to its file, or to the run itself; the tags inside files are not used. Lists
    are cut after ``max_rank`` documents. The topics are those of the judgements; what a run has for other topics is
    left out, with an entry in the ledger, and a run that has none of the topics is refused.
    """
    if order not in ORDERS:
        raise UnknownNameError("order of a run", order, ORDERS)
    if max_rank is not None and max_rank < 1:
        raise ParameterError(f"max_rank must be at least 1; got {max_rank}")
    if not isinstance(qrels, Qrels):
        qrels = read_qrels(qrels, max_bytes)
    index = _JudgementIndex(qrels)
    relevant = np.add.reduceat(qrels.grade >= 1, qrels.topic_start[:-1])
    ledger = list(qrels.ledger)
    for topic in np.flatnonzero(relevant == 0):
        ledger.append(LedgerEntry("", qrels.topics[topic], "topic without a relevant document", 1, "kept"))
    lengths, ranks, judgements, ties, sizes = [], [], [], [], []
    seen: dict[bytes, str] = {}
    for name, path in runs.items():
        run = path if isinstance(path, Run) else read_run(path, max_bytes)
        judged = _judge_run(name, run, index, order, max_rank)
        ledger += judged.ledger
        if judged.fingerprint in seen:
            what = f"same documents in the same order as run {seen[judged.fingerprint]}"
            ledger.append(LedgerEntry(name, "", what, 1, "kept"))
        seen.setdefault(judged.fingerprint, name)
        lengths.append(judged.length)
        sizes.append(judged.size)
        ranks.append(judged.rank)
        judgements.append(judged.judgement)
        ties.append(judged.tied)
    length = _joined(lengths, np.int32).astype(np.int64)
    return JudgedCollection(
        runs=list(runs),
        topics=list(qrels.topics),
        topic_start=qrels.topic_start,
        grade=qrels.grade,
        document=qrels.document,
        length=length,
        start=np.concatenate(([0], np.cumsum(_joined(sizes, np.int64)))).astype(np.int64),
        rank=_joined(ranks, np.uint16),
        judgement=_joined(judgements, np.uint16),
        tied=np.packbits(_joined(ties, np.bool_)),
        order=order,
        ledger=ledger,
    )


def _joined(parts: list[NDArray], dtype: type) -> NDArray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


@dataclass(frozen=True, eq=False)
class _JudgedRun:
    length: NDArray[np.int64]
    size: NDArray[np.int64]
    rank: NDArray[np.unsignedinteger]
    judgement: NDArray[np.unsignedinteger]
    tied: NDArray[np.bool_]
    fingerprint: bytes
    ledger: list[LedgerEntry]


class _JudgementIndex:
    """Finds the judgement of (topic, document) pairs, many at once, through buckets of 64-bit keys.

    Every topic has its own buckets, and a run is read topic by topic, so that what is looked at stays in the cache of
    the processor however many topics there are.
    """

    def __init__(self, qrels: Qrels):
        self.qrels = qrels
        self.number = {name: position for position, name in enumerate(qrels.topics)}
        numbered: dict[str, int | None] = {}
        for name, position in self.number.items():
            if match := _NUMBERED.fullmatch(name):
                # Two topics that differ in letters or zeros only are told apart: then names count as they are.
                numbered[match[1]] = None if match[1] in numbered else position
        self.numbered = numbered
        topic = np.repeat(np.arange(len(qrels.topics), dtype=np.int32), np.diff(qrels.topic_start))
        document = _in_words(qrels.document)
        key = _keys(topic, document)
        bits = np.ceil(np.log2(np.diff(qrels.topic_start) + 1)).astype(np.int64) + 1
        self.shift = (64 - bits).astype(np.uint64)
        buckets = np.cumsum(2**bits)
        self.base = buckets - 2**bits
        bucket = self._bucket(key, topic)
        self.position = np.argsort(bucket).astype(np.int32)
        self.key, self.topic = key[self.position], topic[self.position]
        self.words = np.ascontiguousarray(_words(document[self.position]).T)
        sizes = np.bincount(bucket, minlength=buckets[-1])
        self.first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)

    def _bucket(self, key: NDArray[np.uint64], topic: NDArray[np.integer]) -> NDArray[np.int64]:
        return self.base[topic] + (key >> self.shift[topic]).view(np.int64)

    def topic_number(self, name: str) -> int | None:
        """Which topic of the judgements a run means, or None."""
        if name in self.number:
            return self.number[name]
        match = _NUMBERED.fullmatch(name)
        return self.numbered.get(match[1]) if match else None

    def find(self, key: NDArray[np.uint64], topic: NDArray[np.int32], document: NDArray[np.bytes_]) -> NDArray:
        """Position of each pair among the judgements, -1 where it is not judged."""
        found = np.empty(len(key), dtype=np.int32)
        for begin in range(0, len(key), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            found[rows] = self._find_some(key[rows], topic[rows], document[rows])
        return found

    def _find_some(self, key: NDArray[np.uint64], topic: NDArray[np.int32], document: NDArray[np.bytes_]) -> NDArray:
        found = np.full(len(key), -1, dtype=np.int32)
        words = _words(document).T
        bucket = self._bucket(key, topic)
        candidate, end = self.first[bucket], self.first[bucket + 1]
        pending = np.flatnonzero(candidate < end)
        candidate, end = candidate[pending], end[pending]
        while len(pending):
            hit = self.key[candidate] == key[pending]
            which = np.flatnonzero(hit)
            # Different pairs can share a key, so what looks equal is compared in full.
            mine, theirs = candidate[which], pending[which]
            same = self.topic[mine] == topic[theirs]
            for column, word in enumerate(words):
                same &= (self.words[column][mine] if column < len(self.words) else 0) == word[theirs]
            for word in self.words[len(words) :]:
                same &= word[mine] == 0
            found[theirs[same]] = self.position[mine[same]]
            hit[which] = same
            candidate += 1
            more = np.flatnonzero(~hit & (candidate < end))
            pending, candidate, end = pending[more], candidate[more], end[more]
        return found


def _in_words(document: NDArray[np.bytes_]) -> NDArray[np.bytes_]:
    """Document numbers padded to whole words of 8 bytes, as those of runs are."""
    width = max(8, -(-document.dtype.itemsize // 8) * 8)
    return np.ascontiguousarray(document.astype(f"S{width}", copy=False))


def _words(document: NDArray[np.bytes_], dtype: str = "=u8") -> NDArray[np.uint64]:
    """The bytes of document numbers as words, a row for each."""
    return document.view(dtype).reshape(len(document), document.dtype.itemsize // 8)


def _keys(topic: NDArray[np.int32], document: NDArray[np.bytes_]) -> NDArray[np.uint64]:
    """A 64-bit key of each (topic, document); equal pairs have equal keys, whatever the width of the bytes."""
    words = _words(document)
    key = topic.astype(np.uint64) * np.uint64(_SPREAD[0])
    for column in range(words.shape[1]):
        # A word of zeros leaves the key as it is, so that padding does not matter.
        factor = np.uint64((_SPREAD[1] * (2 * column + 1) ^ (_SPREAD[2] << column)) % 2**64 | 1)
        key += (words[:, column] ^ (words[:, column] >> np.uint64(32))) * factor
    key ^= key >> np.uint64(29)
    key *= np.uint64(_SPREAD[2])
    return key


def _judge_run(name: str, run: Run, index: _JudgementIndex, order: str, max_rank: int | None) -> _JudgedRun:
    topics = index.qrels.topics
    ledger: list[LedgerEntry] = []
    number = _match_topics(name, run, index, ledger)
    topic = number[run.topic]
    document, score, rank = run.document, run.score, run.rank
    line = np.arange(len(topic))
    if (topic < 0).any() or (topic[1:] < topic[:-1]).any():
        # Other topics go, and the lines of a topic come together, in the order of the file.
        line = np.argsort(topic, kind="stable")
        line = line[np.searchsorted(topic[line], 0) :]
        topic, document, score, rank = topic[line], document[line], score[line], rank[line]
    if order == "trec_eval9":
        # What is beyond the range of 32 bits becomes infinite, as in trec_eval, and so equal.
        with np.errstate(over="ignore"):
            score = score.astype(np.float32)
    if order == "rank" and np.isnan(rank).any():
        wrong = int(line[np.argmax(np.isnan(rank))])
        raise InputError(run.path, "the rank is not a number, and the order asked for is by rank", run.line(wrong))
    key = _keys(topic, document)
    _note_ranks(name, topic, rank, score, order, ledger)
    arranged = _arrange(topic, document, score, rank, order)
    if arranged is not None:
        topic, document, score, key = topic[arranged], document[arranged], score[arranged], key[arranged]
    again = _repeated(key, topic, document)
    if len(again):
        for number in np.unique(topic[again]):
            count = int(np.count_nonzero(topic[again] == number))
            ledger.append(LedgerEntry(name, topics[number], "document there twice", count, "kept the first"))
        keep = np.ones(len(key), dtype=bool)
        keep[again] = False
        topic, document, score, key = topic[keep], document[keep], score[keep], key[keep]
    length = np.bincount(topic, minlength=len(topics))
    for number in np.flatnonzero(length > USUAL_DEPTH):
        what = f"more than {USUAL_DEPTH} documents"
        done = "kept" if max_rank is None or max_rank >= length[number] else f"cut after {max_rank}"
        ledger.append(LedgerEntry(name, topics[number], what, int(length[number]), done))
    first = np.cumsum(length) - length
    place = np.arange(1, len(topic) + 1) - first[topic]
    if max_rank is not None and (length > max_rank).any():
        keep = place <= max_rank
        topic, document, score, key, place = topic[keep], document[keep], score[keep], key[keep], place[keep]
        length = np.minimum(length, max_rank)
    tied = np.zeros(len(score), dtype=bool)
    np.equal(score[1:], score[:-1], out=tied[1:])
    tied &= place > 1
    lists_with_ties = len(np.unique(topic[tied]))
    if lists_with_ties:
        ledger.append(LedgerEntry(name, "", "topics with equal scores", lists_with_ties, f"order {order}"))
    found = index.find(key, topic, document)
    hit = np.flatnonzero(found >= 0)
    judgement = found[hit] - index.qrels.topic_start[topic[hit]]
    deep = np.uint16 if int(length.max(initial=0)) < 2**16 else np.uint32
    many = np.uint16 if int(np.diff(index.qrels.topic_start).max()) <= 2**16 else np.uint32
    return _JudgedRun(
        length=length,
        size=np.bincount(topic[hit], minlength=len(topics)),
        rank=place[hit].astype(deep),
        judgement=judgement.astype(many),
        tied=tied,
        fingerprint=hashlib.blake2b(key).digest(),
        ledger=ledger,
    )


def _match_topics(name: str, run: Run, index: _JudgementIndex, ledger: list[LedgerEntry]) -> NDArray[np.int16]:
    """Topic number of each topic of the run, -1 where the judgements do not have it."""
    topics = index.qrels.topics
    number = np.full(len(run.topics), -1, dtype=np.int32)
    taken: dict[int, str] = {}
    renamed = 0
    for position, text in enumerate(run.topics):
        found = index.topic_number(text)
        if found is None:
            continue
        if found in taken:
            raise InputError(run.path, f"topics {taken[found]!r} and {text!r} are the same topic {topics[found]}")
        taken[found] = text
        number[position] = found
        renamed += text != topics[found]
    if not taken:
        sentence = f"is a run for another topic set: it has {run.topics[0]!r}, the judgements have {topics[0]!r}"
        raise InputError(run.path, sentence)
    if renamed:
        example = next(text for found, text in taken.items() if text != topics[found])
        what = f"topics written in another way, such as {example}"
        ledger.append(LedgerEntry(name, "", what, renamed, "matched by number"))
    extra = len(run.topics) - len(taken)
    if extra:
        ledger.append(LedgerEntry(name, "", "topics without judgements", extra, "left out"))
    for position, topic in enumerate(topics):
        if position not in taken:
            ledger.append(LedgerEntry(name, topic, "missing topic", 1, "empty list"))
    return number.astype(np.int16 if len(topics) < 2**15 else np.int32)


def _note_ranks(name: str, topic, rank, score, order: str, ledger: list[LedgerEntry]) -> None:
    """Note topics where the score rises somewhere down the rank column."""
    if np.isnan(rank).any():
        ledger.append(LedgerEntry(name, "", "ranks that are not numbers", int(np.isnan(rank).sum()), "not used"))
        return
    if len(_steps(topic, rank[1:] < rank[:-1])):
        score = score[np.lexsort((rank, topic))]
    rises = len(np.unique(topic[_steps(topic, score[1:] > score[:-1])]))
    if rises:
        ledger.append(LedgerEntry(name, "", "topics whose ranks disagree with the scores", rises, f"order {order}"))


def _steps(topic: NDArray[np.integer], step: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Positions where ``step`` holds between a document and the next one of the same topic."""
    place = np.flatnonzero(step)
    return place[topic[place] == topic[place + 1]]


def _arrange(topic, document, score, rank, order: str) -> NDArray[np.intp] | None:
    """Positions in the order asked for, topic by topic; None where that is the order they are in."""
    if order == "file":
        return None
    ascending = rank if order == "rank" else -score
    wrong = _steps(topic, ascending[1:] < ascending[:-1])
    arranged = None
    if len(wrong):
        # Most topics are in order already; a stable sort keeps equal ones in the order of the file.
        arranged = np.arange(len(topic))
        for number in np.unique(topic[wrong]):
            start, end = np.searchsorted(topic, [number, number + 1])
            arranged[start:end] = start + np.argsort(ascending[start:end], kind="stable")
    if order == "rank":
        return arranged
    value = score if arranged is None else score[arranged]
    upper = _steps(topic, value[1:] == value[:-1])
    if not len(upper):
        return arranged
    arranged = np.arange(len(topic)) if arranged is None else arranged
    # Document numbers are compared within groups of equal scores only, and those are all that is sorted.
    member = np.zeros(len(topic), dtype=bool)
    member[upper] = member[upper + 1] = True
    opens = np.ones(len(topic), dtype=bool)
    opens[upper + 1] = False
    place = np.flatnonzero(member)
    group = np.cumsum(opens[place])
    mine = arranged[place]
    # As big-endian numbers, words compare as their bytes do; inverted, the highest comes first.
    words = ~_words(document[mine], ">u8").astype(np.uint64)
    arranged[place] = mine[np.lexsort((*words.T[::-1], group))]
    return arranged


def _repeated(key, topic, document) -> NDArray[np.intp]:
    """Positions of (topic, document) pairs that have stood before."""
    ordered = np.sort(key)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.zeros(0, dtype=np.intp)
    by_pair = np.lexsort((document, topic))
    same = (topic[by_pair][1:] == topic[by_pair][:-1]) & (document[by_pair][1:] == document[by_pair][:-1])
    return np.sort(by_pair[1:][same])
