"""What click logs say about how users walk: backward moves, transitions between ranks, and time spent at a rank.

Two passes over a log, each with counters that can be merged (one for each part of a log that is cut in parts):

1. `summarize_clicks` counts everything that does not need to know the query: a table of fixed size.
2. `query_holding_times` collects holding times query by query, for the queries with many sessions only. Which those
   are is not known before the end of the first pass, and a log can hold tens of millions of queries; so the first pass
   counts sessions in a fixed number of buckets, into which the queries are scattered by a hash. A query with 100
   sessions is in a bucket with 100 or more, so no such query is missed; rare ones that share a bucket with others are
   told by their exact counts in the second pass. The result is exact, and the second pass keeps one row for each
   query of a full bucket: about as many as there are frequent queries, not as there are queries or records.

A *transition* leads from one click to the next click of the same query session. It is *backward* if it leads to a
higher place (a smaller rank) and a *repeat* if it leads to the same place.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

from walkeval.click_logs import ClickLog, Ledger, Progress, QuerySessions
from walkeval.errors import ParameterError

_BUCKETS = 1 << 22


class Share(NamedTuple):
    """A share with its name, so that nobody has to guess what was divided by what."""

    name: str
    backward: int
    total: int

    @property
    def value(self) -> float:
        return self.backward / self.total if self.total else float("nan")


@dataclass
class ClickSummary:
    """Counters of one pass over a log; those of two parts of a log can be merged."""

    ranks: int = 10
    sessions: int = 0
    sessions_with_transition: int = 0
    sessions_with_backward: int = 0
    query_sessions: int = 0
    query_sessions_with_click: int = 0
    query_sessions_with_transition: int = 0
    query_sessions_with_backward: int = 0
    clicks: int = 0
    transitions: int = 0
    backward: int = 0
    repeats: int = 0
    beyond: int = 0  # transitions from or to a rank below the last one of the matrix: in the shares, not in the matrix
    counts: NDArray[np.int64] = field(init=False)  # transitions from rank (row) to rank (column)
    clicks_by_rank: NDArray[np.int64] = field(init=False)
    holding_count: NDArray[np.int64] = field(init=False)  # holding times seen at each rank
    holding_total: NDArray[np.float64] = field(init=False)  # and their sum
    buckets: NDArray[np.int32] = field(init=False)  # query sessions by hash of the query, see the module
    ledger: Ledger = field(default_factory=Ledger)

    def __post_init__(self) -> None:
        if self.ranks < 2:
            raise ParameterError(f"ranks is {self.ranks}; a transition needs at least two")
        self.counts = np.zeros((self.ranks, self.ranks), dtype=np.int64)
        self.clicks_by_rank = np.zeros(self.ranks, dtype=np.int64)
        self.holding_count = np.zeros(self.ranks, dtype=np.int64)
        self.holding_total = np.zeros(self.ranks, dtype=np.float64)
        self.buckets = np.zeros(_BUCKETS, dtype=np.int32)

    def add(self, chunk: QuerySessions) -> None:
        """Counts a chunk of query sessions."""
        if len(chunk) == 0:
            return
        clicks = np.diff(chunk.start)
        owner = np.repeat(np.arange(len(chunk)), clicks)
        follows = (owner[1:] == owner[:-1]) & ~chunk.after_gap[1:]
        origin = chunk.rank[:-1][follows]
        target = chunk.rank[1:][follows]
        backward = target < origin
        walker = owner[1:][follows]
        moved = np.zeros(len(chunk), dtype=np.bool_)
        moved[walker] = True
        returned = np.zeros(len(chunk), dtype=np.bool_)
        returned[walker[backward]] = True
        first = np.flatnonzero(np.append(True, chunk.session[1:] != chunk.session[:-1]))

        self.sessions += len(first)
        self.sessions_with_transition += int(np.logical_or.reduceat(moved, first).sum())
        self.sessions_with_backward += int(np.logical_or.reduceat(returned, first).sum())
        self.query_sessions += len(chunk)
        self.query_sessions_with_click += int((clicks > 0).sum())
        self.query_sessions_with_transition += int(moved.sum())
        self.query_sessions_with_backward += int(returned.sum())
        self.clicks += len(chunk.rank)
        self.transitions += len(origin)
        self.backward += int(backward.sum())
        self.repeats += int((target == origin).sum())

        inside = (origin <= self.ranks) & (target <= self.ranks)
        self.beyond += len(origin) - int(inside.sum())
        cell = (origin[inside] - 1) * self.ranks + target[inside] - 1
        self.counts += np.bincount(cell, minlength=self.counts.size).reshape(self.counts.shape)
        self.clicks_by_rank += np.bincount(chunk.rank, minlength=self.ranks + 1)[1 : self.ranks + 1]
        timed = ~np.isnan(chunk.dwell) & (chunk.rank <= self.ranks)
        place = chunk.rank[timed] - 1
        self.holding_count += np.bincount(place, minlength=self.ranks)
        self.holding_total += np.bincount(place, weights=chunk.dwell[timed], minlength=self.ranks)
        np.add.at(self.buckets, _bucket(chunk.query), np.int32(1))  # of the same type, or it takes the slow way

    def merge(self, other: ClickSummary) -> None:
        """Adds the counters of another part of the log (no session may be cut between the parts)."""
        if other.ranks != self.ranks:
            raise ParameterError(f"summaries of {self.ranks} and of {other.ranks} ranks cannot be merged")
        for counter in fields(self):
            if counter.name not in ("ranks", "ledger"):
                setattr(self, counter.name, getattr(self, counter.name) + getattr(other, counter.name))
        self.ledger.merge(other.ledger)

    def backward_shares(self) -> list[Share]:
        """How common it is to go backward, with each denominator that "21%" may have.

        The 2014 paper says of the same figure that it is the share of "the observed transitions" (its section 5.5) and
        of "the users" (section 2); the 2020 paper speaks of "sessions". In a log without sessions every query session
        is one.
        """
        return [
            Share("transitions", self.backward, self.transitions),
            Share("transitions without repeats", self.backward, self.transitions - self.repeats),
            Share("query sessions", self.query_sessions_with_backward, self.query_sessions),
            Share("query sessions with a click", self.query_sessions_with_backward, self.query_sessions_with_click),
            Share(
                "query sessions with a transition",
                self.query_sessions_with_backward,
                self.query_sessions_with_transition,
            ),
            Share("sessions", self.sessions_with_backward, self.sessions),
            Share("sessions with a transition", self.sessions_with_backward, self.sessions_with_transition),
        ]


def _bucket(query: NDArray) -> NDArray[np.int64]:
    """The bucket of each query: the high bits of a product, which depend on all bits of the number."""
    if query.dtype.kind in "iu":
        number = query.astype(np.uint64)
    else:
        names, inverse = np.unique(query, return_inverse=True)
        number = np.array([zlib.crc32(str(name).encode()) for name in names], dtype=np.uint64)[inverse]
    return ((number * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - 22)).astype(np.int64)


def summarize_clicks(log: ClickLog, ranks: int = 10, progress: Progress | None = None) -> ClickSummary:
    """One pass over a log: all counters, and the ledger of what was odd in it."""
    summary = ClickSummary(ranks)
    for chunk in log.chunks(summary.ledger, progress):
        summary.add(chunk)
    return summary


@dataclass
class QueryHolding:
    """Holding times by query and rank: for each query its sessions, and the number and sum of holding times by rank."""

    query: NDArray  # sorted
    sessions: NDArray[np.int64]
    count: NDArray[np.int64]  # one row for each query, one column for each rank
    total: NDArray[np.float64]

    @classmethod
    def empty(cls, ranks: int = 10) -> QueryHolding:
        """Counters before anything was counted."""
        none = np.zeros((0, ranks), dtype=np.int64)
        return cls(none[:, 0], none[:, 0], none, none.astype(np.float64))

    @property
    def ranks(self) -> int:
        return self.count.shape[1]

    def __len__(self) -> int:
        return len(self.sessions)

    def _rows(self, query: NDArray) -> NDArray[np.int64]:
        """The rows of queries (given without doubles), which are made where there is none yet."""
        known = self.query if len(self) else query[:0]  # the first queries say whether names are numbers or text
        everything = np.union1d(known, query)
        if len(everything) > len(known):
            row = np.searchsorted(everything, known)
            for name in ("sessions", "count", "total"):
                old = getattr(self, name)
                new = np.zeros((len(everything), *old.shape[1:]), dtype=old.dtype)
                new[row] = old
                setattr(self, name, new)
            self.query = everything
        return np.searchsorted(everything, query)

    def add(self, chunk: QuerySessions, chosen: NDArray[np.bool_]) -> None:
        """Counts the chosen query sessions of a chunk."""
        if not chosen.any():
            return
        names, inverse = np.unique(chunk.query[chosen], return_inverse=True)
        row = np.full(len(chunk), -1, dtype=np.int64)
        row[chosen] = self._rows(names)[inverse]

        # A query that is asked twice in a session has one session there.
        number = np.cumsum(np.append(False, chunk.session[1:] != chunk.session[:-1]))
        pair = np.unique(number[chosen] * len(self) + row[chosen])
        self.sessions += np.bincount(pair % len(self), minlength=len(self))

        owner = np.repeat(row, np.diff(chunk.start))
        timed = (owner >= 0) & ~np.isnan(chunk.dwell) & (chunk.rank <= self.ranks)
        cell = owner[timed] * self.ranks + chunk.rank[timed] - 1
        self.count += np.bincount(cell, minlength=self.count.size).reshape(self.count.shape)
        self.total += np.bincount(cell, chunk.dwell[timed], minlength=self.count.size).reshape(self.count.shape)

    def merge(self, other: QueryHolding) -> None:
        """Adds the counters of another part of the log."""
        if other.ranks != self.ranks:
            raise ParameterError(f"holding times of {self.ranks} and of {other.ranks} ranks cannot be merged")
        if len(other):
            row = self._rows(other.query)
            self.sessions[row] += other.sessions
            self.count[row] += other.count
            self.total[row] += other.total

    def frequent(self, minimum_sessions: int) -> QueryHolding:
        """Only the queries that appear in so many sessions."""
        kept = self.sessions >= minimum_sessions
        return QueryHolding(self.query[kept], self.sessions[kept], self.count[kept], self.total[kept])


def query_holding_times(
    log: ClickLog, summary: ClickSummary, minimum_sessions: int = 100, progress: Progress | None = None
) -> QueryHolding:
    """The second pass: holding times of the queries that appear in at least `minimum_sessions` sessions (100 in
    section 5.1 of the SIGIR 2014 paper). `summary` is that of the whole log."""
    if minimum_sessions < 1:
        raise ParameterError(f"minimum_sessions is {minimum_sessions}; a query in a log has at least 1")
    holding = QueryHolding.empty(summary.ranks)
    for chunk in log.chunks(Ledger(), progress):  # the first pass has listed the oddities
        if len(chunk):
            holding.add(chunk, summary.buckets[_bucket(chunk.query)] >= minimum_sessions)
    return holding.frequent(minimum_sessions)


class HoldingParameters(NamedTuple):
    """Estimated parameters of exponential holding times, with an interval for each."""

    mu: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def holding_parameters(count: ArrayLike, total: ArrayLike, confidence: float = 0.95) -> HoldingParameters:
    """Parameters mu of exponential holding times from their number n and sum S (any shape).

    The estimator is that of section 5.5 of the SIGIR 2014 paper, the inverse of the sample mean times (n-1)/n, which
    is (n-1)/S and without bias. The interval is exact under the exponential model, where 2 mu S has the chi-square law
    with 2n degrees of freedom. With one holding time the estimator would be 0 whatever was observed, and with S = 0 it
    has no value: both give NaN.

    M. Ferrante, N. Ferro, M. Maistro: Injecting User Models and Time into Precision via Markov Chains. SIGIR 2014.

    >>> mu, low, high = holding_parameters([5], [40.0])
    >>> float(mu[0]), round(float(low[0]), 4), round(float(high[0]), 4)
    (0.1, 0.0406, 0.256)
    """
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence is {confidence}; it must be between 0 and 1")
    n = np.asarray(count, dtype=np.float64)
    s = np.asarray(total, dtype=np.float64)
    if (n < 0).any() or (s < 0).any():
        raise ParameterError("holding times and their number cannot be negative")
    n, s = np.broadcast_arrays(n, s)
    positive = (n >= 1) & (s > 0)
    safe_n = np.where(positive, n, 1.0)
    safe_s = np.where(positive, s, np.nan)
    tail = (1 - confidence) / 2
    return HoldingParameters(
        mu=np.where(n >= 2, (safe_n - 1) / safe_s, np.nan),
        low=chi2.ppf(tail, 2 * safe_n) / (2 * safe_s),
        high=chi2.ppf(1 - tail, 2 * safe_n) / (2 * safe_s),
    )


def transition_matrix(counts: ArrayLike) -> NDArray[np.float64]:
    """Observed transition frequencies: rows divided by their sums. A rank that nobody left has a row of NaN: the log
    says nothing about it (`learned_transition_matrix` says what to do instead).

    >>> transition_matrix([[1, 3], [0, 0]]).tolist()
    [[0.25, 0.75], [nan, nan]]
    """
    counts = _checked_counts(counts)
    left = counts.sum(axis=1, keepdims=True)
    return np.where(left > 0, counts / np.where(left > 0, left, 1.0), np.nan)


def learned_transition_matrix(counts: ArrayLike, smoothing: float = 1.0) -> NDArray[np.float64]:
    """A transition matrix on ranks, learned from observed transitions, that has one invariant law.

    p(i,j) = (c(i,j) + smoothing) / (sum over k != i of c(i,k) + smoothing), and p(i,i) = 0: additive smoothing off the
    diagonal. All ranks reach each other in one step, so the chain is irreducible whatever was observed; a rank
    that nobody left moves to all others alike. Repeats are left out because the chain of Markov Precision is that of
    the jumps: to stay longer is a matter of the holding time.

    >>> learned_transition_matrix([[9, 3, 0], [0, 0, 0], [1, 1, 0]]).tolist()
    [[0.0, 0.8, 0.2], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    """
    counts = _checked_counts(counts)
    if not 0 < smoothing < np.inf:
        raise ParameterError(f"smoothing is {smoothing}; it must be positive, or ranks without moves stay apart")
    weights = counts + smoothing
    np.fill_diagonal(weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def _checked_counts(counts: ArrayLike) -> NDArray[np.float64]:
    counts = np.array(counts, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] < 2:
        raise ParameterError(f"counts of transitions must be a square matrix of two ranks or more, not {counts.shape}")
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ParameterError("counts of transitions must be finite and not negative")
    return counts


# ---------------------------------------------------------------------------------------------------------------------
# A synthetic log in the original format of the Yandex Relevance Prediction Challenge
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SyntheticUser:
    """A user whose walk is known: after each click a stop, or a move, backward or forward, to a near rank.

    The distance of a move is geometric (each rank farther is half as likely). Where only one direction is left, at the
    two ends of the list, the move goes that way. At rank i the user stays an exponential time with parameter mu(i).
    """

    ranks: int = 10
    stop: float = 0.45  # chance that a click is the last one on its list
    backward: float = 0.3  # chance that a move goes backward where it can go both ways
    no_click: float = 0.3  # chance that a list gets no click
    another_query: float = 0.4  # chance that a session goes on with another query
    reading: float = 15.0  # mean time on a list before the first click, or before it is given up

    def __post_init__(self) -> None:
        for name in ("stop", "backward", "no_click", "another_query"):
            if not 0 <= getattr(self, name) <= 1:
                raise ParameterError(f"{name} is {getattr(self, name)}; a probability is between 0 and 1")
        if self.stop == 0 or self.another_query == 1:
            raise ParameterError("stop must be above 0 and another_query below 1, or a session never ends")
        if self.ranks < 2 or self.reading < 0:
            raise ParameterError("a synthetic user needs two ranks or more and a reading time that is not negative")

    def first_rank(self) -> NDArray[np.float64]:
        """Law of the first click."""
        weights = 0.6 ** np.arange(self.ranks)
        return weights / weights.sum()

    def transition(self) -> NDArray[np.float64]:
        """Law of the next rank, given the rank and that there is a next one."""
        rank = np.arange(self.ranks)
        near = 0.5 ** np.abs(rank[:, None] - rank)
        up, down = np.tril(near, -1), np.triu(near, 1)
        up[1:] /= up[1:].sum(axis=1, keepdims=True)
        down[:-1] /= down[:-1].sum(axis=1, keepdims=True)
        both = self.backward * up + (1 - self.backward) * down
        both[0], both[-1] = down[0], up[-1]
        return both

    def mu(self) -> NDArray[np.float64]:
        """Parameters of the holding times: longer stays lower down, as time units of whole numbers allow."""
        return 1.0 / (20.0 + 10.0 * np.arange(1, self.ranks + 1))

    def backward_share(self) -> float:
        """The expected share of backward transitions among all, exactly."""
        jump = (1 - self.stop) * self.transition()
        visits = np.linalg.solve(np.eye(self.ranks) - jump.T, self.first_rank())
        moves = visits[:, None] * jump
        return float(np.tril(moves, -1).sum() / moves.sum()) if self.stop < 1 else float("nan")


_FIRST_QUERY = 1_000_000  # so that numbers are about as long as in a real log


def _decimal_text(value: NDArray[np.int64], separator: NDArray[np.uint8], letter: NDArray[np.uint8]) -> bytes:
    """Numbers as decimal text, each with the separator that follows it; a letter, where not 0, replaces the number."""
    width = len(str(int(value.max())))
    text = np.empty((len(value), width + 1), dtype=np.uint8)
    shown = np.ones(text.shape, dtype=np.bool_)
    rest = value
    for column in range(width - 1, -1, -1):
        if column < width - 1:
            np.greater(rest, 0, out=shown[:, column])  # no zeros in front of a number
        quotient = rest // 10
        text[:, column] = rest - 10 * quotient
        rest = quotient
    text += ord("0")
    text[:, -1] = separator
    is_letter = letter > 0
    text[is_letter, -2] = letter[is_letter]
    return text[shown].tobytes()


def _synthetic_block(
    generator: np.random.Generator, user: SyntheticUser, first_session: int, sessions: int, queries: int
) -> tuple[bytes, int]:
    """The text of so many sessions, and how many records it holds."""
    asked = generator.geometric(1 - user.another_query, sessions)
    session_of_list = np.repeat(np.arange(sessions), asked)
    lists = len(session_of_list)
    # Few queries are asked often and most are rare: the number of a query is a power of a uniform variable.
    query = _FIRST_QUERY + (queries * generator.random(lists) ** 3).astype(np.int64)
    turned = generator.integers(0, user.ranks, lists)  # the same query does not always have the same list

    walk_list, walk_rank = [], []
    walker = np.flatnonzero(generator.random(lists) >= user.no_click)
    rank = np.searchsorted(np.cumsum(user.first_rank())[:-1], generator.random(len(walker)), side="right")
    ladder = np.cumsum(user.transition(), axis=1)[:, :-1]
    while len(walker):
        walk_list.append(walker)
        walk_rank.append(rank)
        on = generator.random(len(walker)) >= user.stop
        walker, rank = walker[on], rank[on]
        rank = (generator.random(len(walker))[:, None] >= ladder[rank]).sum(axis=1)
    clicked_list = np.concatenate([np.zeros(0, dtype=np.int64), *walk_list])
    order = np.argsort(clicked_list, kind="stable")
    clicked_list = clicked_list[order]
    clicked_rank = np.concatenate([np.zeros(0, dtype=np.int64), *walk_rank])[order]

    # Records in the order of the log: a list, then its clicks.
    clicks = np.bincount(clicked_list, minlength=lists)
    list_record = np.arange(lists) + np.cumsum(clicks) - clicks
    records = lists + len(clicked_list)
    is_list = np.zeros(records, dtype=np.bool_)
    is_list[list_record] = True
    owner = np.cumsum(is_list) - 1
    mean_stay = np.full(records, user.reading)
    mean_stay[~is_list] = 1.0 / user.mu()[clicked_rank]
    stay = generator.standard_exponential(records) * mean_stay
    clock = np.append(0.0, np.cumsum(stay)[:-1])
    session = session_of_list[owner]
    begins = np.append(True, session[1:] != session[:-1])
    time = np.rint(clock - clock[begins][np.cumsum(begins) - 1]).astype(np.int64)

    # All fields of all records in one row of numbers: 5 and the documents for a list, 4 for a click.
    width = np.where(is_list, 5 + user.ranks, 4)
    begin = np.cumsum(width) - width
    value = np.zeros(int(width.sum()), dtype=np.int64)
    separator = np.full(len(value), ord("\t"), dtype=np.uint8)
    separator[begin + width - 1] = ord("\n")
    letter = np.zeros(len(value), dtype=np.uint8)
    letter[begin + 2] = np.where(is_list, ord("Q"), ord("C"))
    value[begin] = first_session + session
    value[begin + 1] = time
    value[begin[is_list] + 3] = query
    value[begin[is_list] + 4] = query % 4
    places = np.arange(user.ranks)
    documents = query[:, None] * user.ranks + (places + turned[:, None]) % user.ranks
    value[begin[is_list][:, None] + 5 + places] = documents
    value[begin[~is_list] + 3] = documents[clicked_list, clicked_rank]
    return _decimal_text(value, separator, letter), records


def write_synthetic_log(
    path: str | PathLike[str],
    sessions: int,
    name: str,
    user: SyntheticUser = SyntheticUser(),
    queries: int = 1000,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Writes a log in the original Yandex format, of users whose walk and whose times are known; returns the number of
    records. The seed comes from the name: the same name gives the same log.

    `progress` is called with the number of sessions just written.
    """
    if sessions < 1 or queries < 1:
        raise ParameterError(f"sessions is {sessions} and queries {queries}; both must be at least 1")
    seed = hashlib.sha256(f"walkeval synthetic clicks\0{name}".encode()).digest()
    generator = np.random.default_rng(int.from_bytes(seed, "big"))
    records = 0
    with open(path, "wb") as stream:
        for first in range(0, sessions, 10_000):
            block = min(10_000, sessions - first)
            text, written = _synthetic_block(generator, user, first + 1, block, queries)
            stream.write(text)
            records += written
            if progress is not None:
                progress(block)
    return records
