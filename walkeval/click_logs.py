"""Click logs as one stream of query sessions, whatever the format of the file.

A *query session* is one result list that was shown and the clicks on it, in the order in which they were made; a
*session* is one or more query sessions of the same user. Readers stream: a file is read in blocks, every block becomes
one `QuerySessions` chunk of arrays, and no reader keeps more than one block (or one session, if that is longer).

What a log holds that cannot be used as it stands is counted and listed in a `Ledger`, and is never used silently.
The kinds are those of `ODDITIES`; what happens to each is said there.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import InputError, ParameterError, UnknownNameError

Progress = Callable[[int], None]

ODDITIES = {
    "malformed record": "a cut line, a wrong number of columns or a value that is no number: its session is set aside",
    "time running backwards": "an action earlier than the one before it: its session is set aside",
    "session set aside": "a session with a malformed record or a time running backwards: none of it is used, not even "
    "in the number of sessions",
    "session cut": "a session longer than the reader holds at once: what follows is read as another session",
    "click before query": "a click before the first query of its session: left out",
    "unknown document": "a click on a document that is in no list shown in its session: left out, and no transition "
    "is counted across it",
    "no end of click": "a click whose end is not recorded although the format has it: no holding time is taken from it",
}
"""The kinds of oddities and what is done about each."""


@dataclass
class Ledger:
    """What was read, and what was odd about it: counts by kind, with the first places (file and line) of each.

    >>> ledger = Ledger()
    >>> ledger.note("unknown document", "log.txt", [7, 9])
    >>> ledger.rows()
    [('unknown document', 2, 'log.txt:7 log.txt:9')]
    """

    records: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    LISTED = 5  # places kept for each kind: enough to go and look, and bounded

    def note(self, kind: str, path: str | PathLike[str], lines: Sequence[int] | NDArray) -> None:
        """Counts one oddity for each line, and lists the first of them."""
        if kind not in ODDITIES:
            raise UnknownNameError("kind of oddity", kind, ODDITIES)
        if len(lines) == 0:
            return
        self.counts[kind] = self.counts.get(kind, 0) + len(lines)
        places = self.places.setdefault(kind, [])
        places.extend((Path(path).name, int(line)) for line in lines[: self.LISTED - len(places)])

    def merge(self, other: Ledger) -> None:
        """Adds what another ledger holds."""
        self.records += other.records
        for kind, count in other.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + count
            places = self.places.setdefault(kind, [])
            places.extend(other.places[kind][: self.LISTED - len(places)])

    def rows(self) -> list[tuple[str, int, str]]:
        """Kind, count and first places, in the order of `ODDITIES`."""
        return [
            (kind, self.counts[kind], " ".join(f"{name}:{line}" for name, line in self.places[kind]))
            for kind in ODDITIES
            if kind in self.counts
        ]


@dataclass(frozen=True)
class QuerySessions:
    """A chunk of query sessions in columns. The query sessions of a session stand together, all in one chunk."""

    query: NDArray  # name of the query: a number where the log has numbers, text where it has text
    session: NDArray[np.int64]
    list_size: NDArray[np.int64]
    start: NDArray[np.int64]  # the clicks of query session k are start[k]:start[k+1] of the arrays below
    rank: NDArray[np.int64]  # clicked rank, from 1, in the order of the clicks
    time: NDArray[np.float64]  # when it was clicked, NaN where the log does not say
    dwell: NDArray[np.float64]  # how long the user stayed, NaN where the log does not say
    after_gap: NDArray[np.bool_]  # an odd click was left out since the click before: no transition leads here

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True)
class ClickLog:
    """The files of one click log, to be read as often as needed.

    >>> ClickLog(("a.txt",), "yandx")
    Traceback (most recent call last):
      ...
    walkeval.errors.UnknownNameError: unknown click log format 'yandx'; did you mean 'yandex'?
    """

    paths: tuple[str | PathLike[str], ...]
    format: str

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise UnknownNameError("click log format", self.format, FORMATS)
        if isinstance(self.paths, (str, PathLike)):
            object.__setattr__(self, "paths", (self.paths,))

    def chunks(self, ledger: Ledger, progress: Progress | None = None) -> Iterator[QuerySessions]:
        """The query sessions of all files, in order. `progress` is called with the number of bytes just taken in."""
        for path in self.paths:
            yield from FORMATS[self.format](path, ledger, progress)

    def size(self) -> int:
        """Bytes on disk: the total for a progress bar."""
        return sum(Path(path).stat().st_size for path in self.paths)


# ---------------------------------------------------------------------------------------------------------------------
# Bytes: plain or gzip (told by the first two bytes, not by the name), in blocks
# ---------------------------------------------------------------------------------------------------------------------

_BLOCK = 1 << 19  # the arrays of one block stay in the processor's cache: larger blocks are slower, not faster
_LONGEST = 1 << 24  # of a line or a session, in bytes


def _blocks(path: str | PathLike[str], progress: Progress | None, block_bytes: int = _BLOCK) -> Iterator[bytes]:
    """The content of a file in blocks, uncompressed."""
    try:
        raw: BinaryIO = open(path, "rb")  # noqa: SIM115 (closed below, with what wraps it)
    except OSError as error:
        raise InputError(path, f"the file cannot be opened ({error.strerror})") from None
    with raw:
        compressed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        stream = gzip.GzipFile(fileobj=raw) if compressed else raw
        position = 0
        while True:
            try:
                block = stream.read(block_bytes)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise InputError(path, f"the compressed file is cut or damaged ({error}); fetch it again") from None
            except OSError as error:
                raise InputError(path, f"the file cannot be read ({error.strerror})") from None
            if progress is not None:
                now = raw.tell()
                progress(now - position)
                position = now
            if not block:
                return
            yield block


def _pieces(path: str | PathLike[str], ends: bytes, progress: Progress | None) -> Iterator[tuple[int, bytes]]:
    """Line number and content of every piece of a text file that ends in one of the given bytes."""
    pattern = re.compile(b"[^" + ends + b"]*[" + ends + b"]")
    carry = b""
    line = 1
    for block in _blocks(path, progress):
        text = carry + block
        taken = 0
        for match in pattern.finditer(text):
            piece = match.group()
            yield line, piece[:-1]
            line += piece.endswith(b"\n")
            taken = match.end()
        carry = text[taken:]
        if len(carry) > _LONGEST:
            raise InputError(path, f"a record of more than {_LONGEST} bytes; this is not a click log", line)
    if carry:
        yield line, carry


def _check_found(path: str | PathLike[str], what: str, records: int, usable: int) -> None:
    """A file without one usable record is a mistake of the user, not an odd log."""
    if records == 0:
        raise InputError(path, f"the file is empty; expected {what}")
    if usable == 0:
        raise InputError(path, f"none of its {records} records is one of {what}; is the format right?")


class _Builder:
    """Collects query sessions one by one, for the readers of small formats."""

    FULL = 50_000

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.query: list[str | int] = []
        self.session: list[int] = []
        self.list_size: list[int] = []
        self.start = [0]
        self.clicks: list[tuple[int, float, float, bool]] = []

    def add(
        self, query: str | int, session: int, list_size: int, clicks: list[tuple[int, float, float, bool]]
    ) -> None:
        self.query.append(query)
        self.session.append(session)
        self.list_size.append(list_size)
        self.clicks.extend(clicks)
        self.start.append(len(self.clicks))

    def full(self) -> bool:
        return len(self.query) >= self.FULL

    def take(self) -> QuerySessions:
        rank, time, dwell, after_gap = zip(*self.clicks, strict=True) if self.clicks else ((), (), (), ())
        chunk = QuerySessions(
            np.array(self.query),
            np.array(self.session, dtype=np.int64),
            np.array(self.list_size, dtype=np.int64),
            np.array(self.start, dtype=np.int64),
            np.array(rank, dtype=np.int64),
            np.array(time, dtype=np.float64),
            np.array(dwell, dtype=np.float64),
            np.array(after_gap, dtype=np.bool_),
        )
        self.clear()
        return chunk


# ---------------------------------------------------------------------------------------------------------------------
# The original format of the Yandex Relevance Prediction Challenge
# ---------------------------------------------------------------------------------------------------------------------

_QUERY, _CLICK = ord("Q"), ord("C")
_ZEROS = np.uint64(0x3030303030303030)
_SIXES = np.uint64(0x0606060606060606)
_HIGH = np.uint64(0xF0F0F0F0F0F0F0F0)
# Row k keeps the last k bytes of a word that was loaded up to the end of a number (the last byte is the highest).
_KEEP_LOW = np.array([(0xFFFFFFFFFFFFFFFF << 8 * max(8 - k, 0)) & 0xFFFFFFFFFFFFFFFF for k in range(18)], dtype="<u8")
_PAD = b"\0" * 16
_DIGITS = 16


def _decimal(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Eight digits (one in each byte, the first in the lowest) to one number: pairs, then fours, then eight."""
    word *= np.uint64(2561)
    word >>= np.uint64(8)
    word &= np.uint64(0x00FF00FF00FF00FF)
    word *= np.uint64(6553601)
    word >>= np.uint64(16)
    word &= np.uint64(0x0000FFFF0000FFFF)
    word *= np.uint64(42949672960001)
    word >>= np.uint64(32)
    return word


def _numbers(text: bytes, start: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[NDArray, NDArray[np.bool_]]:
    """The whole numbers that stand at start:end of a text, and whether each is one (1 to 16 digits, nothing else).

    The text must begin with 16 bytes of padding: words of 8 bytes are loaded up to the end of each number.
    """
    words = np.ndarray(shape=(len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))
    length = end - start
    word = words[end - 8]
    word ^= _ZEROS
    word &= _KEEP_LOW[np.minimum(length, 8)]
    wrong = word + _SIXES
    wrong |= word
    wrong &= _HIGH
    valid = wrong == 0
    valid &= length > 0
    value = _decimal(word)
    long = np.flatnonzero(length > 8)
    if len(long):
        word = words[end[long] - 16]
        word ^= _ZEROS
        word &= _KEEP_LOW[np.minimum(length[long] - 8, 8)]
        valid[long] &= (((word + _SIXES) | word) & _HIGH) == 0
        valid[long] &= length[long] <= _DIGITS
        value[long] += _decimal(word) * np.uint64(10**8)
    return value.view(np.int64), valid


@dataclass(frozen=True)
class _Lines:
    """The lines of a block: arrays over lines, and the lists of documents of its query records."""

    begin: NDArray[np.int64]  # byte where the line begins
    session: NDArray[np.int64]
    time: NDArray[np.int64]
    key: NDArray[np.int64]  # the query of a query record, the document of a click record
    is_query: NDArray[np.bool_]
    is_click: NDArray[np.bool_]
    documents: NDArray[np.int64]  # one row for each query record
    new_session: NDArray[np.bool_]


def _parse_lines(text: bytes, list_size: int) -> _Lines:
    """Splits complete lines at tabs and turns every field into a number at once."""
    padded = _PAD + text
    characters = np.frombuffer(padded, dtype=np.uint8)
    end = np.flatnonzero((characters == 9) | (characters == 10))
    start = np.empty_like(end)
    start[0] = len(_PAD)
    start[1:] = end[:-1] + 1
    last = np.flatnonzero(characters[end] == 10)  # of the fields of each line
    first = np.empty_like(last)
    first[0] = 0
    first[1:] = last[:-1] + 1
    fields = last - first + 1

    value, valid = _numbers(padded, start, end)
    kind_field = np.minimum(first + 2, last)
    kind = np.where(end[kind_field] - start[kind_field] == 1, characters[start[kind_field]], 0)
    # In a well-formed record every field but the kind is a number.
    others_valid = np.add.reduceat(valid, first, dtype=np.int64) == fields - 1
    is_query = (kind == _QUERY) & (fields == 5 + list_size) & others_valid
    is_click = (kind == _CLICK) & (fields == 4) & others_valid

    session = value[first]
    known = valid[first]
    if not known.all():
        # A line whose session cannot be read belongs to the session of the line before it.
        index = np.maximum.accumulate(np.where(known, np.arange(len(first)), -1))
        session = np.where(index >= 0, session[index], -1)
    new_session = np.ones(len(first), dtype=np.bool_)
    np.not_equal(session[1:], session[:-1], out=new_session[1:])
    documents = value[first[is_query][:, None] + np.arange(5, 5 + list_size)]
    return _Lines(
        begin=start[first] - len(_PAD),
        session=session,
        time=value[np.minimum(first + 1, last)],
        key=value[np.minimum(first + 3, last)],
        is_query=is_query,
        is_click=is_click,
        documents=documents,
        new_session=new_session,
    )


def _usable_lines(
    lines: _Lines, count: int, path: str | PathLike[str], line: int, ledger: Ledger
) -> NDArray[np.bool_] | None:
    """Which of the first `count` lines stand in sessions that can be used; None for all of them."""
    malformed = ~(lines.is_query[:count] | lines.is_click[:count])
    backwards = np.zeros(count, dtype=np.bool_)
    np.less(lines.time[1:count], lines.time[: count - 1], out=backwards[1:])
    backwards &= ~lines.new_session[:count]
    any_malformed = bool(malformed.any())
    if any_malformed:
        backwards &= ~malformed
        backwards[1:] &= ~malformed[:-1]
    if not any_malformed and not backwards.any():
        return None
    ledger.note("malformed record", path, line + np.flatnonzero(malformed))
    ledger.note("time running backwards", path, line + np.flatnonzero(backwards))
    number = np.cumsum(lines.new_session[:count]) - 1
    odd = np.zeros(number[-1] + 1, dtype=np.bool_)
    odd[number[malformed | backwards]] = True
    ledger.note("session set aside", path, line + np.flatnonzero(lines.new_session[:count])[odd])
    return ~odd[number]


def _query_sessions(
    lines: _Lines, count: int, path: str | PathLike[str], line: int, ledger: Ledger
) -> QuerySessions | None:
    """The query sessions of the first `count` lines, which are whole sessions."""
    usable = _usable_lines(lines, count, path, line, ledger)
    is_query = lines.is_query[:count]
    is_click = lines.is_click[:count]
    query_line = np.flatnonzero(is_query)
    click_line = np.flatnonzero(is_click)
    if usable is not None:
        click_line = click_line[usable[click_line]]
    number_of_query = np.cumsum(is_query) - 1  # the last query record up to each line, -1 before the first
    session_line = np.maximum.accumulate(np.where(lines.new_session[:count], np.arange(count), 0))

    # Each click goes to the last list before it, in its own session, that has the document; where a list has it
    # twice, to the higher place. Most clicks are settled by the first look, so the later looks are at few.
    clicked = lines.key[click_line]
    query = number_of_query[click_line]
    first_query = number_of_query[session_line[click_line]] + ~is_query[session_line[click_line]]
    early = query < first_query
    rank = np.zeros(len(click_line), dtype=np.int64)
    open_clicks = np.flatnonzero(~early)
    while len(open_clicks):
        same = lines.documents[query[open_clicks]] == clicked[open_clicks, None]
        place = same.argmax(axis=1)
        found = same[np.arange(len(place)), place]
        rank[open_clicks[found]] = place[found] + 1
        open_clicks = open_clicks[~found]
        query[open_clicks] -= 1
        open_clicks = open_clicks[query[open_clicks] >= first_query[open_clicks]]
    unknown = (rank == 0) & ~early
    ledger.note("click before query", path, line + click_line[early])
    ledger.note("unknown document", path, line + click_line[unknown])

    # The user stays until the next action of the same session, whatever it is; after the last one nobody knows.
    dwell = np.full(count, np.nan)
    dwell[:-1] = np.where(lines.new_session[1:count], np.nan, np.diff(lines.time[:count]))
    unknown_before = np.cumsum(unknown)
    kept = rank > 0
    if not kept.all():
        click_line, query, rank, unknown_before = (a[kept] for a in (click_line, query, rank, unknown_before))
    if (query[1:] < query[:-1]).any():  # a click on a list that is not the last one
        order = np.argsort(query, kind="stable")
        click_line, query, rank, unknown_before = (a[order] for a in (click_line, query, rank, unknown_before))
    after_gap = np.zeros(len(rank), dtype=np.bool_)
    np.not_equal(unknown_before[1:], unknown_before[:-1], out=after_gap[1:])

    clicks = np.bincount(query, minlength=len(query_line))
    if usable is not None:
        clicks = clicks[usable[query_line]]
        query_line = query_line[usable[query_line]]
    if len(query_line) == 0:
        return None
    start = np.zeros(len(query_line) + 1, dtype=np.int64)
    np.cumsum(clicks, out=start[1:])
    return QuerySessions(
        query=lines.key[query_line],
        session=lines.session[query_line],
        list_size=np.full(len(query_line), lines.documents.shape[1], dtype=np.int64),
        start=start,
        rank=rank,
        time=lines.time[click_line].astype(np.float64),
        dwell=dwell[click_line],
        after_gap=after_gap,
    )


def read_yandex(
    path: str | PathLike[str],
    ledger: Ledger,
    progress: Progress | None = None,
    list_size: int = 10,
    block_bytes: int = _BLOCK,
) -> Iterator[QuerySessions]:
    """The original format of the Yandex Relevance Prediction Challenge, one action a line, columns set apart by tabs:

        SessionID  TimePassed  Q  QueryID  RegionID  URLID ... URLID     (a query and its `list_size` results)
        SessionID  TimePassed  C  URLID                                  (a click)

    The actions of a session stand together, in the order of time; a SessionID that comes again after another one begins
    a new session, since only a memory as long as the log could tell. A click belongs to the last query of its session
    whose list has the document. Its holding time runs to the next action of the session, whatever that is; the last
    action of a session has none. Any other number of results is a malformed record: a cut line looks like that.

    The format is that of P. Serdyukov, N. Craswell, G. Dupret: WSCD 2012: Workshop on Web Search Click Data 2012.
    """
    if list_size < 1:
        raise ParameterError(f"list_size is {list_size}; a result list has at least one place")
    carry = b""
    line = 1
    well_formed = 0
    before = ledger.records
    blocks = _blocks(path, progress, block_bytes)
    at_end = False
    while not at_end:
        block = next(blocks, b"")
        at_end = not block
        text = carry + block
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        if at_end and text and not text.endswith(b"\n"):
            text += b"\n"
        cut = text.rfind(b"\n") + 1
        if cut == 0:
            if len(text) > _LONGEST:
                raise InputError(path, f"a line of more than {_LONGEST} bytes; this is not a click log", line)
            carry = text
            continue
        lines = _parse_lines(text[:cut], list_size)
        count = len(lines.session)
        if not at_end:
            # The last session may go on in the next block: it waits, unless it is longer than can be held.
            waiting = int(np.flatnonzero(lines.new_session)[-1])
            if cut - lines.begin[waiting] <= _LONGEST:
                count = waiting
            else:
                ledger.note("session cut", path, [line + count - 1])
        if count:
            ledger.records += count
            well_formed += int((lines.is_query[:count] | lines.is_click[:count]).sum())
            chunk = _query_sessions(lines, count, path, line, ledger)
            if chunk is not None:
                yield chunk
        carry = text[lines.begin[count] :] if count < len(lines.begin) else text[cut:]
        line += count
    _check_found(path, "the Yandex click log format", ledger.records - before, well_formed)


# ---------------------------------------------------------------------------------------------------------------------
# The small formats: read record by record
# ---------------------------------------------------------------------------------------------------------------------


def _ranks_of(documents: list[bytes]) -> dict[bytes, int]:
    """Rank of each document of a list; of one that is there twice, the first."""
    ranks: dict[bytes, int] = {}
    for rank, document in enumerate(documents, start=1):
        ranks.setdefault(document, rank)
    return ranks


def read_pyclick(
    path: str | PathLike[str], ledger: Ledger, progress: Progress | None = None
) -> Iterator[QuerySessions]:
    """The sample of the Yandex log that comes with PyClick: records set apart by semicolons or line breaks,

        query_region <tab> document,document,... : document , document , ...

    with the list before the colon and the clicks in their order after it; no times, no sessions. A click on the same
    document again is listed again. Lines hold thousands of records, so the ledger gives the number of the record.
    """
    builder = _Builder()
    seen = usable = 0
    for _, piece in _pieces(path, b";\n", progress):
        if not piece.strip():
            continue
        seen += 1
        ledger.records += 1
        query, tab, rest = piece.strip().partition(b"\t")
        shown, colon, clicked = rest.partition(b":")
        documents = [document.strip() for document in shown.split(b",")]
        clicks = [document.strip() for document in clicked.split(b",")] if clicked.strip() else []
        numbers = [query.replace(b"_", b""), *documents, *clicks]
        if not (tab and colon and all(number.isdigit() for number in numbers)):
            ledger.note("malformed record", path, [seen])
            ledger.note("session set aside", path, [seen])
            continue
        usable += 1
        ranks = _ranks_of(documents)
        kept: list[tuple[int, float, float, bool]] = []
        gap = False
        for document in clicks:
            rank = ranks.get(document, 0)
            if rank:
                kept.append((rank, math.nan, math.nan, gap))
            else:
                ledger.note("unknown document", path, [seen])
            gap = not rank
        builder.add(query.decode("ascii"), ledger.records, len(documents), kept)
        if builder.full():
            yield builder.take()
    _check_found(path, "the PyClick sample format", seen, usable)
    yield builder.take()


def read_click_times(
    path: str | PathLike[str], ledger: Ledger, progress: Progress | None = None
) -> Iterator[QuerySessions]:
    """The log of a commercial engine that comes with clickmodel_wc: one query session a line, in columns set apart by
    tabs, each but the first a list set apart by spaces:

        query   documents   1 if clicked   time of the click in seconds, -1 if none   (mouse features: not used)

    A result has at most one click, so a return to the same document cannot be seen here. The order is that of the
    times; a click lasts until the next one, and the last of a query session has no end.
    """
    builder = _Builder()
    seen = usable = 0
    for line, piece in _pieces(path, b"\n", progress):
        if not piece.strip():
            continue
        seen += 1
        ledger.records += 1
        columns = piece.split(b"\t")
        try:
            query = int(columns[0])
            documents, flags, times = (column.split() for column in columns[1:4])
            clicked = [int(flag) for flag in flags]
            when = [float(time) for time in times]
        except ValueError:
            clicked = when = documents = []
        # A click has a time and what has a time is a click: otherwise one of the two columns is wrong.
        pairs = list(zip(clicked, when, strict=False))
        consistent = all(0 < time < math.inf if flag == 1 else flag == 0 and time == -1 for flag, time in pairs)
        if not (documents and len(documents) == len(clicked) == len(when) and consistent):
            ledger.note("malformed record", path, [line])
            ledger.note("session set aside", path, [line])
            continue
        usable += 1
        order = sorted((time, rank) for rank, (flag, time) in enumerate(pairs, start=1) if flag)
        dwells = [following[0] - this[0] for this, following in zip(order, order[1:], strict=False)] + [math.nan]
        kept = [(rank, time, dwell, False) for (time, rank), dwell in zip(order, dwells, strict=False)]
        builder.add(query, ledger.records, len(documents), kept)
        if builder.full():
            yield builder.take()
    _check_found(path, "the clickmodel_wc format", seen, usable)
    yield builder.take()


class _SessionTrack:
    """What the XML parser tells about a TREC Session file, turned into query sessions."""

    TEXTS = ("query", "rank")
    LONGEST_TEXT = 10_000

    def __init__(self, path: str | PathLike[str], ledger: Ledger):
        self.path = path
        self.ledger = ledger
        self.builder = _Builder()
        self.sessions = 0
        self.in_interaction = False
        self.text: list[str] | None = None
        self.pending: list[tuple[str, int, list[tuple[int, float, float, bool]]]] = []
        self.odd = False
        self.clock = 0.0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.open_element
        self.parser.EndElementHandler = self.close_element
        self.parser.CharacterDataHandler = self.characters
        # Entities can be made to grow without bound or to name other files: a log has no use for them.
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    def refuse(self, *_: object) -> None:
        raise InputError(self.path, "document type and entity declarations are not accepted", self.line())

    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def note(self, kind: str, line: int | None = None) -> None:
        self.ledger.note(kind, self.path, [line or self.line()])

    def malformed(self) -> None:
        self.note("malformed record")
        self.odd = True

    def seconds(self, text: str | None) -> float:
        """The time that an attribute gives, NaN for NA; anything else that is no time is a malformed record."""
        try:
            value = math.nan if text == "NA" else float(text or "")
        except ValueError:
            self.malformed()
            return math.nan
        if value < 0 or math.isinf(value):
            self.malformed()
        return value

    def advance(self, time: float) -> None:
        if time < self.clock:
            self.note("time running backwards")
            self.odd = True
        elif not math.isnan(time):
            self.clock = time

    def open_element(self, name: str, attributes: dict[str, str]) -> None:
        if name == "session":
            self.sessions += 1
            self.session_line = self.line()
            self.pending = []
            self.odd = False
            self.clock = 0.0
        elif name == "interaction":
            self.in_interaction = True
            self.ledger.records += 1
            self.query = ""
            self.shown: set[str] = set()
            self.clicks: list[tuple[int, float, float, bool]] = []
            self.gap = False
            self.advance(self.seconds(attributes.get("starttime")))
        elif name == "result" and self.in_interaction:
            self.shown.add(attributes.get("rank", ""))
        elif name == "click" and self.in_interaction:
            self.ledger.records += 1
            self.began = self.seconds(attributes.get("starttime"))
            self.ended = self.seconds(attributes.get("endtime"))
            self.advance(self.began)
            if self.ended < self.began:
                self.advance(self.ended)
            self.rank = ""
        if name in self.TEXTS and self.in_interaction:
            self.text = []

    def characters(self, data: str) -> None:
        if self.text is not None:
            self.text.append(data)
            if sum(map(len, self.text)) > self.LONGEST_TEXT:
                raise InputError(self.path, f"a text of more than {self.LONGEST_TEXT} characters", self.line())

    def close_element(self, name: str) -> None:
        if name in self.TEXTS and self.text is not None:
            text = " ".join("".join(self.text).split())
            self.text = None
            if name == "query":
                self.query = text
            else:
                self.rank = text
        elif name == "click" and self.in_interaction:
            self.close_click()
        elif name == "interaction":
            self.in_interaction = False
            self.pending.append((self.query, len(self.shown), self.clicks))
        elif name == "session":
            if self.odd:
                self.note("session set aside", self.session_line)
            else:
                for query, list_size, clicks in self.pending:
                    self.builder.add(query, self.sessions, list_size, clicks)

    def close_click(self) -> None:
        if not (self.rank.isascii() and self.rank.isdigit()):
            self.malformed()
            return
        if self.rank not in self.shown:
            self.note("unknown document")
            self.gap = True
            return
        if math.isnan(self.ended):
            self.note("no end of click")
        self.clicks.append((int(self.rank), self.began, self.ended - self.began, self.gap))
        self.gap = False


def read_trec_session(
    path: str | PathLike[str], ledger: Ledger, progress: Progress | None = None
) -> Iterator[QuerySessions]:
    """The file of the TREC Session track (2013): sessions of interactions, each a query, its results by rank, and the
    clicks with rank, start and end. The holding time of a click is its end less its start, where both are known.
    Result lists differ in length, and go beyond rank 10 where the user asked for more.
    """
    track = _SessionTrack(path, ledger)
    try:
        for block in _blocks(path, progress):
            track.parser.Parse(block, False)
            if track.builder.full():
                yield track.builder.take()
        track.parser.Parse(b"", True)
    except expat.ExpatError as error:
        problem = expat.errors.messages[error.code]
        raise InputError(path, f"this is not well-formed XML ({problem})", error.lineno) from None
    if track.sessions == 0:
        raise InputError(path, "no session in it; expected a file of the TREC Session track")
    yield track.builder.take()


FORMATS: dict[str, Callable[[str | PathLike[str], Ledger, Progress | None], Iterator[QuerySessions]]] = {
    "yandex": read_yandex,
    "pyclick": read_pyclick,
    "clickmodel_wc": read_click_times,
    "trec-session": read_trec_session,
}
"""Readers by the name of the format."""
