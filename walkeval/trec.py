"""TREC judgements (qrels) and runs, read from plain or gzipped files in every form found in the wild.

A file is tokenised as a whole, in numpy: fields are what stands between blanks, tabs, carriage returns
and line ends, whatever their mixture. Document numbers become fixed-width bytes, so that comparing
and joining them is arithmetic on 64-bit words. What cannot be read raises `InputError` with file and line.

Forms accepted:

- gzip, known by its first bytes and not by the name of the file; a UTF-8 byte order mark; CRLF or CR line
  ends; blank lines.
- runs of six columns (topic, Q0, document, rank, score, tag) or of five (the tag is missing), the same
  number on every line.
- scores as any decimal number that is finite: ``12``, ``+1.5``, ``.5``, ``-3e-7``.
- qrels of four columns (topic, iteration, document, grade); grades are whole numbers, also negative.
"""

from __future__ import annotations

import os
import re
import tempfile
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import InputError

MAX_BYTES = 4 * 1024**3
"""A gzipped file that unpacks to more than this is refused."""
MAX_NAME_BYTES = 1024
"""Longest topic or document number: all of a file are stored as wide as its longest."""
_BLOCK, _BLOCK_BYTES = 2**16, 2**20
"""Rows, and bytes, that are worked on at a time: what is in between then stays small, however long the file is."""
_MARGIN = MAX_NAME_BYTES
_NEWLINE = ord("\n")
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_GRADE_LIMIT = 2**15 - 1


class LedgerEntry(NamedTuple):
    """Something odd in the data and what was done about it."""

    run: str
    """The run, or "" for the judgements."""
    topic: str
    """The topic, or "" where the entry is about several."""
    what: str
    count: int
    done: str


@dataclass(frozen=True, eq=False)
class Run:
    """The lines of one run file, in the order of the file."""

    path: str
    topics: list[str]
    """Topics in the order of their first line, as the file writes them."""
    topic: NDArray[np.int32]
    """Which of the topics each line is for."""
    document: NDArray[np.bytes_]
    score: NDArray[np.float64]
    rank: NDArray[np.float64]
    """The rank column; NaN where it is not a number, which only the order ``rank`` minds."""
    line: Callable[[int], int]
    """The line of the file that an entry stands on."""

    @classmethod
    def from_records(cls, records: Iterable[tuple[str, str, float]], path: str | PathLike[str] = "run") -> Run:
        """Build a run from (topic, document, score) records, in this order; ``path`` names it in messages.

        >>> Run.from_records([("401", "A", 2.5), ("401", "B", 1.5)]).rank.tolist()
        [1.0, 2.0]
        """
        records = list(records)
        if not records:
            raise InputError(path, "is empty: a run has at least one line")
        names: dict[str, int] = {}
        topic = np.array([names.setdefault(str(record[0]), len(names)) for record in records], dtype=np.int32)
        document = np.array([str(record[1]).encode() for record in records])
        score = np.array([float(record[2]) for record in records])
        if not np.isfinite(score).all():
            wrong = int(np.argmin(np.isfinite(score)))
            raise InputError(path, f"score {records[wrong][2]!r} is not a finite number", wrong + 1)
        seen = [0] * len(names)
        rank = np.empty(len(records))
        for place, number in enumerate(topic):
            seen[number] += 1
            rank[place] = seen[number]
        width = -(-document.dtype.itemsize // 8) * 8
        document = document.astype(f"S{width}")
        return cls(fspath(path), list(names), topic, document, score, rank, lambda number: number + 1)


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judgements: topics in numerical (else alphabetical) order, documents of a topic in the order of their bytes.

    >>> qrels = Qrels.from_records([("402", "B", 1), ("402", "A", 0), ("401", "C", 2)])
    >>> qrels.topics, qrels.topic_start.tolist(), qrels.document.tolist(), qrels.grade.tolist()
    (['401', '402'], [0, 1, 3], [b'C', b'A', b'B'], [2, 0, 1])
    """

    path: str
    topics: list[str]
    topic_start: NDArray[np.int64]
    """Where the judgements of each topic begin; one entry more than there are topics."""
    document: NDArray[np.bytes_]
    grade: NDArray[np.int16]
    ledger: list[LedgerEntry]

    def __len__(self) -> int:
        return len(self.grade)

    @classmethod
    def from_records(cls, records: Iterable[tuple[str, str, int]], path: str | PathLike[str] = "qrels") -> Qrels:
        """Build judgements from (topic, document, grade) records; ``path`` names them in messages."""
        records = list(records)
        if not records:
            raise InputError(path, "there are no judgements")
        names: dict[str, int] = {}
        topic = np.array([names.setdefault(str(record[0]), len(names)) for record in records], dtype=np.int32)
        document = np.array([str(record[1]).encode() for record in records])
        grade = np.array([int(record[2]) for record in records], dtype=np.int64)
        return _qrels(fspath(path), list(names), topic, document, grade, lambda number: None)

    def select(self, topics: Iterable[str]) -> Qrels:
        """Only these topics; asking for one that has no judgements is an error.

        >>> Qrels.from_records([("401", "A", 1), ("402", "B", 0)]).select(["402"]).document.tolist()
        [b'B']
        """
        number = {name: position for position, name in enumerate(self.topics)}
        topics = sorted(set(topics), key=topic_key)
        for name in topics:
            if name not in number:
                raise InputError(self.path, f"there are no judgements for topic {name}")
        chosen = [np.arange(self.topic_start[number[name]], self.topic_start[number[name] + 1]) for name in topics]
        position = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
        start = np.concatenate(([0], np.cumsum([len(one) for one in chosen]))).astype(np.int64)
        ledger = [entry for entry in self.ledger if not entry.topic or entry.topic in topics]
        return Qrels(self.path, topics, start, self.document[position], self.grade[position], ledger)


def read_run(path: str | PathLike[str], max_bytes: int = MAX_BYTES) -> Run:
    """Read a TREC run file; see the head of this module for the forms accepted."""
    table = _Table(path, _read(path, max_bytes), (6, 5), "a run")
    topics, topic = table.names(0)
    score = table.numbers(4)
    if not np.isfinite(score).all():
        wrong = int(np.argmin(np.isfinite(score)))
        text = table.token(wrong, 4)
        number = "a finite number" if _named_or_huge(text) else "a number"
        raise InputError(table.path, f"score {_show(text)} is not {number}", table.line(wrong))
    return Run(table.path, topics, topic, table.texts(2), score, table.numbers(3), table.line)


def read_qrels(path: str | PathLike[str], max_bytes: int = MAX_BYTES) -> Qrels:
    """Read TREC judgements; see the head of this module for the forms accepted.

    A judgement that is there twice with the same grade counts once, with an entry in the ledger; with
    different grades it is an error that names both lines.
    """
    table = _Table(path, _read(path, max_bytes), (4,), "qrels")
    topics, topic = table.names(0)
    grade = table.numbers(3)
    whole = np.isfinite(grade) & (np.floor(grade) == grade)
    whole[whole] = np.abs(grade[whole]) <= _GRADE_LIMIT
    if not whole.all():
        wrong = int(np.argmin(whole))
        sentence = f"grade {_show(table.token(wrong, 3))} is not a whole number of at most {_GRADE_LIMIT}"
        raise InputError(table.path, sentence, table.line(wrong))
    return _qrels(table.path, topics, topic, table.texts(2), grade, table.line)


def _read(path: str | PathLike[str], max_bytes: int) -> NDArray[np.uint8]:
    """The text of a file between two margins of line ends; unreadable, damaged and binary files are refused.

    The margins let fixed-width reads run over the ends of the first and last fields.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            # One byte more than the file is said to have shows whether it has grown, or is a pipe.
            size = os.fstat(file.fileno()).st_size
            buffer = np.empty(size + 1 + 2 * _MARGIN, dtype=np.uint8)
            have = file.readinto(memoryview(buffer)[_MARGIN : _MARGIN + size + 1])
            content = None if have == size else buffer[_MARGIN : _MARGIN + have].tobytes() + (file.readall() or b"")
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or error}") from None
    buffer = buffer[:-1] if content is None else _with_margins(content)
    if bytes(buffer[_MARGIN : _MARGIN + 2]) == _GZIP_MAGIC:
        buffer = _with_margins(_unpack(path, buffer[_MARGIN:-_MARGIN].tobytes(), max_bytes))
    buffer[:_MARGIN] = buffer[-_MARGIN:] = _NEWLINE
    if bytes(buffer[_MARGIN : _MARGIN + 3]) == _BYTE_ORDER_MARK:
        buffer[_MARGIN : _MARGIN + 3] = ord(" ")
    if not buffer.min():
        raise InputError(path, "is a binary file (it has NUL bytes), not a text file in TREC format")
    return buffer


def _with_margins(content: bytes) -> NDArray[np.uint8]:
    buffer = np.empty(len(content) + 2 * _MARGIN, dtype=np.uint8)
    buffer[_MARGIN : _MARGIN + len(content)] = np.frombuffer(content, dtype=np.uint8)
    return buffer


def safe_name(text: str) -> str:
    """The name itself if it can be part of a path without leading elsewhere, otherwise `InputError`.

    >>> safe_name("INQ604")
    'INQ604'
    """
    shown = repr(text)
    if not text:
        raise InputError(shown, "a name must not be empty")
    if text.startswith("."):
        raise InputError(shown, "a name must not start with a dot")
    if "/" in text or "\\" in text or ".." in text:
        raise InputError(shown, "a name must not hold path separators or '..'")
    if any(unicodedata.category(letter)[0] == "C" for letter in text):
        raise InputError(shown, "a name must not hold control characters")
    return text


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write that appears under its name only when it is complete, and not at all after an error."""
    path = fspath(path)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        # A temporary file is for its owner only; a finished one is as readable as the folder's user wants.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def topic_key(topic: str) -> tuple:
    """Sort key of topics: numbers by value and before other names.

    >>> sorted(["10", "9", "q1"], key=topic_key)
    ['9', '10', 'q1']
    """
    return (0, int(topic), topic) if topic.isascii() and topic.isdigit() else (1, 0, topic)


def _unpack(path: str | PathLike[str], content: bytes, max_bytes: int) -> bytes:
    parts, total = [], 0
    while content:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            part = unpacker.decompress(content, max_bytes - total + 1)
        except zlib.error as error:
            raise InputError(path, f"is a damaged gzip file ({error})") from None
        total += len(part)
        if total > max_bytes:
            raise InputError(path, f"unpacks to more than {max_bytes} bytes, the limit for a gzip file")
        if not unpacker.eof:
            raise InputError(path, "is a truncated gzip file")
        parts.append(part)
        # A gzip file may have several members one after the other, and zeros as padding after the last.
        content = unpacker.unused_data.lstrip(b"\0")
    return b"".join(parts)


class _Table:
    """The fields of a text file, as byte offsets by line and column."""

    def __init__(self, path: str | PathLike[str], buffer: NDArray[np.uint8], columns: tuple[int, ...], what: str):
        self.path = fspath(path)
        self.buffer = buffer
        before, end = _fields(buffer)
        if not len(end):
            raise InputError(self.path, f"is empty: {what} has at least one line")
        newlines = sum(np.count_nonzero(block == _NEWLINE) for block in _blocks(buffer[_MARGIN:-_MARGIN]))
        if not newlines and (buffer == ord("\r")).any():
            # Line ends of old: a carriage return alone.
            buffer[buffer == ord("\r")] = _NEWLINE
            newlines = len(end)
        # How many fields the first line has decides; every other line must have as many.
        count = 1
        while count < min(len(end), max(columns) + 1):
            if (buffer[end[count - 1] : before[count] + 1] == _NEWLINE).any():
                break
            count += 1
        if count not in columns or not self._regular(end, count, newlines):
            raise self._wrong_columns(end, columns, what)
        self.before, self.end = before.reshape(-1, count), end.reshape(-1, count)

    def line(self, row: int) -> int:
        """The line of the file that a row stands on; blank lines make them differ."""
        return int(np.count_nonzero(self.buffer[_MARGIN : self.end[row, 0]] == _NEWLINE)) + 1

    def token(self, row: int, column: int) -> bytes:
        return self.buffer[self.before[row, column] + 1 : self.end[row, column]].tobytes()

    def _span(self, column: int, rows: slice = slice(None)) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the fields of a column start and end."""
        return self.before[rows, column] + 1, self.end[rows, column].copy()

    def texts(self, column: int) -> NDArray[np.bytes_]:
        """A column as bytes padded with zeros to the same width, a multiple of 8."""
        start, end = self._span(column)
        length = end - start
        longest = int(length.max())
        if longest > MAX_NAME_BYTES:
            sentence = f"a name of {longest} bytes is longer than {MAX_NAME_BYTES}"
            raise InputError(self.path, sentence, self.line(int(np.argmax(length))))
        return self._padded(start, length, longest)

    def names(self, column: int) -> tuple[list[str], NDArray[np.int32]]:
        """The different values of a column in order of appearance, and which of them each row has."""
        text = self.texts(column)
        words = text.view(np.uint64).reshape(len(text), -1)
        change = words[1:, 0] != words[:-1, 0]
        for other in range(1, words.shape[1]):
            change |= words[1:, other] != words[:-1, other]
        first = np.concatenate(([0], np.flatnonzero(change) + 1))
        number: dict[bytes, int] = {}
        block = np.array([number.setdefault(value, len(number)) for value in text[first].tolist()], dtype=np.int32)
        try:
            names = [value.decode() for value in number]
        except UnicodeDecodeError as error:
            wrong = int(first[np.argmax(text[first] == error.object)])
            raise InputError(self.path, f"{_show(error.object)} is not UTF-8 text", self.line(wrong)) from None
        return names, np.repeat(block, np.diff(np.append(first, len(text))))

    def numbers(self, column: int) -> NDArray[np.float64]:
        """A column as the nearest 64-bit floats; NaN where the text is not a finite decimal number.

        Nearly all numbers in runs are a sign, at most 15 digits and a point. Their digits form a whole
        number below 2**53, which a float holds exactly, and one division by a power of ten (exact too)
        rounds correctly. Only the other forms are left to Python's own conversion.
        """
        value = np.empty(len(self.end))
        for begin in range(0, len(value), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            value[rows], good = self._usual_numbers(rows, column)
            other = begin + np.flatnonzero(~good)
            if len(other):
                value[other] = self._other_numbers(other, column)
        return value

    def _usual_numbers(self, rows: slice, column: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Numbers of the usual form, and which of them have it."""
        start, end = self._span(column, rows)
        first = self.buffer[start]
        negative = first == ord("-")
        length = end - start
        length -= negative | (first == ord("+"))
        width = 8 if int(length.max()) <= 8 else 16
        # The last bytes of each field, as digits from 0 to 9; what stands before the number becomes the digit 0.
        digits = self._windows(end - width, width)
        digits ^= _ZEROS
        digits &= _SUFFIXES[width].take(length, axis=0, mode="clip")
        is_point = (digits.view(np.uint8) == _POINT).view("<u8")
        digits ^= is_point * np.uint64(_POINT)
        whole, points, place = _eight_digits(digits[:, 0]), *_point(is_point[:, 0])
        if width == 16:
            more_points, more_place = _point(is_point[:, 1])
            whole *= np.uint64(10**8)
            whole += _eight_digits(digits[:, 1])
            place += points * np.uint64(8) + more_place
            points += more_points
        digit_count = length - points.view(np.int64)
        good = (points <= 1) & (digit_count >= 1) & (digit_count <= 15) & (length <= width)
        if int(digits.view(np.uint8).max()) > 9:
            good &= (digits.view(np.uint8).reshape(-1, width) <= 9).all(axis=1)
        if points.any():
            # The point has been read as a digit 0: what stands before it counts ten times too much.
            place = np.where(good, place, 0).view(np.intp)
            whole -= whole // _POINT_DIVISOR[place] * _POINT_EXCESS[place]
            value = whole / _POINT_SCALE[place]
        else:
            value = whole.astype(np.float64)
        np.negative(value, out=value, where=negative)
        return value, good

    def _other_numbers(self, rows: NDArray[np.intp], column: int) -> NDArray[np.float64]:
        """Numbers in any form, through Python's own conversion."""
        start, end = (side[rows] for side in self._span(column))
        length = end - start
        longest = int(length.max())
        if longest <= MAX_NAME_BYTES:
            text = self._padded(start, length, longest)
            # Python takes 1_000 for a number, and names such as nan: neither is a decimal number.
            if not (text.view(np.uint8) == ord("_")).any():
                try:
                    value = np.array(list(map(float, text.tolist())))
                    return np.where(np.isfinite(value), value, np.nan)
                except ValueError:
                    pass
        return np.array([_decimal(self.token(int(row), column)) for row in rows])

    def _windows(self, start: NDArray[np.intp], width: int) -> NDArray[np.uint64]:
        """The ``width`` bytes from each offset on, as words of 8 bytes in the order of the file."""
        windows = np.ndarray((len(self.buffer) - width + 1,), f"S{width}", self.buffer, strides=(1,))
        return windows[start].view("<u8").reshape(len(start), width // 8)

    def _padded(self, start: NDArray[np.intp], length: NDArray[np.intp], longest: int) -> NDArray[np.bytes_]:
        width = -(-longest // 8) * 8
        words, prefixes = np.empty((len(start), width // 8), "<u8"), _prefixes(width)
        for begin in range(0, len(start), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            np.bitwise_and(self._windows(start[rows], width), prefixes.take(length[rows], axis=0), out=words[rows])
        return words.view(f"S{width}").ravel()

    def _regular(self, end: NDArray[np.intp], count: int, newlines: int) -> bool:
        """Whether every line that is not blank has ``count`` fields."""
        if len(end) % count:
            return False
        last = end[count - 1 :: count]
        if newlines <= len(last) and (self.buffer[last] == _NEWLINE).all():
            # The usual file: a line end after the last field of each row, and so none elsewhere.
            return True
        return not (np.searchsorted(end, np.flatnonzero(self.buffer == _NEWLINE), side="right") % count).any()

    def _wrong_columns(self, end: NDArray[np.intp], columns: tuple[int, ...], what: str) -> InputError:
        newline = np.flatnonzero(self.buffer[_MARGIN:-_MARGIN] == _NEWLINE) + _MARGIN
        per_line = np.diff(np.concatenate(([0], np.searchsorted(end, newline, side="right"), [len(end)])))
        filled = np.flatnonzero(per_line)
        expected = int(per_line[filled[0]])
        if expected not in columns:
            known = " or ".join(map(str, columns))
            sentence = f"a line of {what} has {known} columns; this one has {expected}"
            return InputError(self.path, sentence, int(filled[0]) + 1)
        wrong = int(filled[np.argmax(per_line[filled] != expected)])
        sentence = f"this line has {per_line[wrong]} columns; the lines before have {expected}"
        return InputError(self.path, sentence, wrong + 1)


def _fields(buffer: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Offsets of the blank before each field and of the blank after it; the buffer has blanks at both ends."""
    blank = buffer <= ord(" ")
    text = blank[_MARGIN:-_MARGIN]
    if len(text) and not text[0] and not any((block[1:] & block[:-1]).any() for block in _blocks(text, 1)):
        # Never two blanks in a row, as in most runs: each ends one field and stands before the next.
        place = np.flatnonzero(blank[_MARGIN - 1 : (-_MARGIN if text[-1] else 1 - _MARGIN)])
        place += _MARGIN - 1
        return place[:-1], place[1:]
    edge = np.flatnonzero(blank[1:] != blank[:-1])
    return edge[0::2], edge[1::2] + 1


def _blocks(array: NDArray, shared: int = 0) -> Iterator[NDArray]:
    """An array in blocks; with ``shared`` 1 each ends with the first element of the next, so that none are parted."""
    return (array[begin : begin + _BLOCK_BYTES + shared] for begin in range(0, len(array), _BLOCK_BYTES))


def _prefixes(width: int) -> NDArray[np.uint64]:
    """Row n covers the first n of ``width`` bytes."""
    covered = np.arange(width)[None, :] < np.arange(width + 1)[:, None]
    return (covered * np.uint8(255)).view("<u8")


_SUFFIXES = {width: ~_prefixes(width)[::-1] for width in (8, 16)}
_POINT = ord(".") ^ ord("0")
_ZEROS = np.uint64(int.from_bytes(b"0" * 8, "little"))
_EVERY_BYTE = np.uint64(0x0101010101010101)
# By the place of the point from the right, from 1; place 0 is a number without a point.
_POINT_SCALE = np.array([1.0] + [10.0**place for place in range(16)])
_POINT_DIVISOR = np.array([1] + [10 ** (place + 1) for place in range(16)], dtype=np.uint64)
_POINT_EXCESS = np.array([0] + [9 * 10**place for place in range(16)], dtype=np.uint64)


def _eight_digits(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The number that eight decimal digits make, one in each byte, the first in the lowest: pairs, fours, all."""
    value = digits * np.uint64(1 + (10 << 8))
    value >>= np.uint64(8)
    value &= np.uint64(0x00FF00FF00FF00FF)
    value *= np.uint64(1 + (100 << 16))
    value >>= np.uint64(16)
    value &= np.uint64(0x0000FFFF0000FFFF)
    value *= np.uint64(1 + (10000 << 32))
    value >>= np.uint64(32)
    return value


def _point(is_point: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """How many of eight bytes are 1, and which it is, from 1 for the last, where it is only one.

    A product sums all bytes, or moves the byte at the right place, into the highest byte.
    """
    top = np.uint64(56)
    return (is_point * _EVERY_BYTE) >> top, (is_point * np.uint64(0x0807060504030201)) >> top


def _decimal(text: bytes) -> float:
    return float(text) if _DECIMAL.fullmatch(text) else float("nan")


def _named_or_huge(text: bytes) -> bool:
    """Whether a text that has no finite value is at least a number to Python: nan, inf or 1e999."""
    try:
        float(text)
    except ValueError:
        return False
    return b"_" not in text


def _show(text: bytes) -> str:
    short = text if len(text) <= 40 else text[:40] + b"..."
    return repr(short.decode("utf-8", "backslashreplace"))


def _qrels(path, names, topic, document, grade, line) -> Qrels:
    """Sort judgements, and drop or refuse those that are there twice."""
    topics = sorted(names, key=topic_key)
    place = {name: position for position, name in enumerate(topics)}
    topic = np.array([place[name] for name in names], dtype=np.int32)[topic]
    order = np.lexsort((document, topic))
    topic, document, grade = topic[order], document[order], grade[order]
    again = np.flatnonzero((topic[1:] == topic[:-1]) & (document[1:] == document[:-1])) + 1
    ledger = []
    if len(again):
        conflict = again[grade[again] != grade[again - 1]]
        if len(conflict):
            second = conflict[0]
            lines = [line(int(order[second - 1])), line(int(order[second]))]
            where = f" on lines {lines[0]} and {lines[1]}" if lines[0] is not None else ""
            grades = f"{int(grade[second - 1])} and {int(grade[second])}"
            shown = _show(bytes(document[second]))
            sentence = f"topic {topics[topic[second]]} judges document {shown} twice, with grades {grades}{where}"
            raise InputError(path, sentence, lines[1])
        for number, count in zip(*np.unique(topic[again], return_counts=True), strict=True):
            ledger.append(LedgerEntry("", topics[number], "judgements there twice", int(count), "counted once"))
        keep = np.ones(len(topic), dtype=bool)
        keep[again] = False
        topic, document, grade = topic[keep], document[keep], grade[keep]
    start = np.searchsorted(topic, np.arange(len(topics) + 1)).astype(np.int64)
    return Qrels(path, topics, start, document, grade.astype(np.int16), ledger)
