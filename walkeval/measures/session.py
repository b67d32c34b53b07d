"""Sessions of several queries: the Markov session measure (MsM) and sDCG.

MsM is Algorithm 1 of the appendix of van Dijk, Ferrante, Ferro and Kanoulas (ECIR 2019). A user walks up
(probability q) and down (p) the N documents of a query, moves on to the next query (r) or ends the session
(s); first and last document have no way up or down, so the remaining probabilities are rescaled. Every
matrix of the algorithm is tridiagonal and only the first entry of every solution is used, which leaves:

- ``e(i)``, steps from document 1 to document i in the chain that knows neither Q nor F. It is the sum of the
  steps from each document to the next, ``t(1) = 1`` and ``t(i) = 1 + q/p + (q/p) t(i-1)``, so it depends on
  neither N nor the target's successors, and one recursion gives it for every list length;
- ``e_Q``, steps to the next query in the chain that does not know F. It depends on N only through the last
  document, so eliminating documents from the first one on gives it for all N in one pass;
- ``h_F = s / (r + s)`` exactly: each document, first and last included, leaves to F and Q in this proportion;
- ``h_FK = 1``, and therefore ``pi(j) = (r / (r + s))^(j-1)``. The algorithm's comment calls pi the
  probability of *ending* in query j; what it computes is the probability of *reaching* query j.

Both times are expectations under a row-normalized chain, as printed. That is not the law of the session
chain given that it reaches its target: conditioning weighs each step by what may still happen after it.

Two points of the pseudo-code are open. It adds e_Q once for every query index, the first one included:
``query_time="once"``; ``"per_query"`` adds (j-1) e_Q, the time that really passes before query j. And its last
sum writes E(i) for E(i, j), which is what is meant here.

A query of one document (N = 1) has neither a next nor a previous document: only r and s remain, so e_Q = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from walkeval.errors import ParameterError, did_you_mean
from walkeval.measures.base import Measure, parameter, register
from walkeval.ranked import RankedLists

DISCOUNTS = ("linear", "log")
QUERY_TIMES = ("once", "per_query")
_LOG_OF_10 = float(np.log(10.0))


@dataclass(frozen=True, eq=False)
class SessionQuantities:
    """The quantities of Algorithm 1, under their names in the paper."""

    e: NDArray[np.float64]
    """Expected steps from document 1 to each document; infinite where beyond the range of a float."""
    e_q: float
    """Expected steps from document 1 to the next query."""
    h_f: float
    """Probability that the session ends in a query that is not the last."""
    h_fk: float
    """Probability that the session ends in the last query once there."""
    h: NDArray[np.float64]
    """Probability that the session ends in each query."""
    pi: NDArray[np.float64]
    """Probability that the session reaches each query."""


def session_quantities(
    length: int, queries: int, p: float = 0.6, q: float = 0.1, r: float = 0.2, s: float = 0.1
) -> SessionQuantities:
    """Times and probabilities of a session of ``queries`` queries with ``length`` documents each.

    >>> found = session_quantities(3, 2, p=0.5, q=0.25, r=0.125, s=0.125)
    >>> found.e.tolist()
    [0.0, 1.0, 3.0]
    >>> found.h_f, found.h_fk, found.pi.tolist()
    (0.5, 1.0, [1.0, 0.5])
    """
    length = _whole("length", length)
    queries = _whole("queries", queries)
    _check_steps(p, q, r, s)
    ending = s / (r + s)
    pi = (r / (r + s)) ** np.arange(queries)
    # The last query cannot be left for another one: all that reach it end in it.
    h = np.append(ending * pi[:-1], pi[-1])
    return SessionQuantities(
        e=_steps_to_document(length, p, q),
        e_q=float(_steps_to_next_query(length, p, q, r)[length]),
        h_f=ending,
        h_fk=1.0,
        h=h,
        pi=pi,
    )


def session_weights(
    length: int,
    queries: int,
    p: float = 0.6,
    q: float = 0.1,
    r: float = 0.2,
    s: float = 0.1,
    discount: str = "linear",
    query_time: str = "once",
) -> NDArray[np.float64]:
    """What one unit of gain at each document (row) and query (column) adds to MsM.

    ``pi(j) / (1 + e(i) + e_Q)`` with the linear discount, ``pi(j) / (1 + log10(1 + e(i) + e_Q))`` with the
    logarithmic one; see the module for ``query_time``.

    >>> session_weights(2, 2, p=0.5, q=0.25, r=0.125, s=0.125, query_time="per_query")[:, 0].tolist()
    [1.0, 0.5]
    """
    found = session_quantities(length, queries, p, q, r, s)
    _check_choice("discount", discount, DISCOUNTS)
    _check_choice("query_time", query_time, QUERY_TIMES)
    times = 1.0 if query_time == "once" else np.arange(queries)
    spent = np.multiply(times, found.e_q) * np.ones(queries)
    return found.pi * _discount(np.arange(length)[:, None], spent, discount, p, q)


def markov_session_measure(
    run: ArrayLike,
    p: float = 0.6,
    q: float = 0.1,
    r: float = 0.2,
    s: float = 0.1,
    discount: str = "linear",
    query_time: str = "once",
) -> float:
    """MsM of a session: gains by document (row) and query (column).

    Van Dijk, Ferrante, Ferro and Kanoulas, ECIR 2019, Algorithm 1.

    >>> round(markov_session_measure([[1, 0], [0, 2]], p=0.5, q=0.25, r=0.125, s=0.125), 6)
    0.376614
    """
    gains = _session_gains(run)
    # A session without a document has no weights, but its parameters must still be possible ones.
    weights = session_weights(*np.maximum(gains.shape, 1), p, q, r, s, discount, query_time)
    return float((weights * gains).sum()) if gains.size else 0.0


def session_dcg(run: ArrayLike, b: float = 2.0, bq: float = 4.0) -> float:
    """sDCG of a session: gains by document (row) and query (column).

    ``sum_j 1 / (1 + log_bq(j)) * sum_i run(i, j) / max(1, log_b(i))``: the discounted cumulated gain of each
    query (Järvelin and Kekäläinen, TOIS 2002: no discount before rank b), discounted again by the position j
    of the query in the session (Järvelin, Price, Delcambre and Nielsen, ECIR 2008). Later work also uses
    ``log_bq(j + bq - 1)`` for the query and ``log_b(i + b - 1)`` for the rank; both forms give the first query
    and the first rank the weight 1. The 2008 paper's own text was not at hand when this was written.

    >>> session_dcg([[1, 1], [1, 0], [0, 0], [1, 0]], b=2, bq=2)
    3.0
    """
    gains = _session_gains(run)
    for name, value in (("b", b), ("bq", bq)):
        if not (np.isfinite(value) and value > 1):
            raise ParameterError(f"{name} must be above 1; got {value!r}")
    by_rank = _rank_discount(np.arange(1, gains.shape[0] + 1), b)
    by_query = 1 / (1 + np.log(np.arange(1, gains.shape[1] + 1)) / np.log(bq))
    return float(by_rank @ gains @ by_query)


@register
@dataclass(frozen=True)
class MsM(Measure):
    """Markov session measure; a ranked list is a session of one query, of all its documents.

    Sessions of several queries: `markov_session_measure`.
    """

    p: float = parameter(0.6, "probability of moving on to the next document", above=0, below=1)
    q: float = parameter(0.1, "probability of moving back to the previous document", low=0, below=1)
    r: float = parameter(0.2, "probability of moving on to the next query", above=0, below=1)
    s: float = parameter(0.1, "probability of ending the session", above=0, below=1)
    discount: str = parameter("linear", "how the time to reach a document discounts it", choices=DISCOUNTS)
    query_time: str = parameter(
        "once", "time added for queries: once as printed, or per_query for each query before", choices=QUERY_TIMES
    )

    user_model: ClassVar[str] = (
        "A user walks up and down the documents of a query until moving to the next query or ending the session; "
        "a document is worth its gain over the expected time to reach it."
    )
    citation: ClassVar[str] = "vandijk2019"
    monotone: ClassVar[str | None] = "gain"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_steps(self.p, self.q, self.r, self.s)

    def score_session(self, run: ArrayLike) -> float:
        """Score a session: gains by document (row) and query (column)."""
        return markov_session_measure(run, self.p, self.q, self.r, self.s, self.discount, self.query_time)

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        longest = int(lists.length.max(initial=0))
        found = lists.relevant
        spent = np.zeros(len(found.rank))
        if self.query_time == "once":
            by_length = _steps_to_next_query(longest, self.p, self.q, self.r)
            spent = by_length[lists.length[found.list_index]]
        return lists.sum_relevant(found.gain * _discount(found.rank - 1, spent, self.discount, self.p, self.q))


@register
@dataclass(frozen=True)
class sDCG(Measure):  # noqa: N801 - the name that the literature uses
    """Session DCG; a ranked list is a session of one query, whose discount is 1: the DCG of 2002, base b.

    Sessions of several queries: `session_dcg`. This is not the *scaled* DCG that others call SDCG.
    """

    b: float = parameter(2.0, "base of the rank discount; ranks before b are not discounted", above=1)
    bq: float = parameter(4.0, "base of the discount of later queries", above=1)

    user_model: ClassVar[str] = (
        "A user reads the documents of each query downward with fading patience, and of later queries with less."
    )
    citation: ClassVar[str] = "jarvelin2008"
    monotone: ClassVar[str | None] = "gain"

    def score_session(self, run: ArrayLike) -> float:
        """Score a session: gains by document (row) and query (column)."""
        return session_dcg(run, self.b, self.bq)

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        return lists.sum_relevant(lists.relevant.gain * _rank_discount(lists.relevant.rank, self.b))


def _rank_discount(rank: NDArray[np.int64], b: float) -> NDArray[np.float64]:
    return 1 / np.maximum(1.0, np.log(rank) / np.log(b))


def _steps_to_document(length: int, p: float, q: float) -> NDArray[np.float64]:
    """e(1), ..., e(length): all terms are positive, so nothing cancels; too large a time is infinite."""
    if length == 0:
        return np.zeros(0)
    ratio = q / p
    with np.errstate(over="ignore"):
        power = ratio ** np.arange(length - 1, dtype=np.float64)
        before = np.concatenate(([0.0], np.cumsum(power)[:-1])) if length > 1 else power
        to_next = power + (1 + ratio) * before
        return np.concatenate(([0.0], np.cumsum(to_next)))


def _log_steps_to_document(length: int, ratio: float) -> NDArray[np.float64]:
    """Natural logarithm of e(2), ..., e(length) where the times themselves are beyond a float."""
    power = np.arange(length - 1) * np.log(ratio)
    before = np.concatenate(([-np.inf], np.logaddexp.accumulate(power)[:-1]))
    return np.logaddexp.accumulate(np.logaddexp(power, np.log1p(ratio) + before))


def _steps_to_next_query(longest: int, p: float, q: float, r: float) -> NDArray[np.float64]:
    """e_Q for every number of documents from 0 (where it is 0) to ``longest``.

    Eliminating the documents above writes the time from document i as ``through[i] + stay[i] * time from i+1``.
    Instead of stay, its complement is carried (the chance of having left for Q), so that no two nearly equal
    numbers are ever subtracted, however small r is.
    """
    result = np.zeros(longest + 1)
    if longest:
        result[1] = 1.0
    first = p + r
    inner = p + q + r
    last_back, last_leave = q / (q + r), r / (q + r)
    back, forward, leave = q / inner, p / inner, r / inner
    # Seen from document 1: time = total + weight * time from the document after those eliminated.
    through, left = 1.0, r / first
    total, weight = 1.0, p / first
    for size in range(2, longest + 1):
        at_last = (1.0 + last_back * through) / (last_leave + last_back * left)
        result[size] = total + weight * at_last
        pivot = leave + forward + back * left
        through = (1.0 + back * through) / pivot
        left = (leave + back * left) / pivot
        total += weight * through
        weight *= forward / pivot
    return result


def _discount(
    place: NDArray[np.int64], spent: NDArray[np.float64], discount: str, p: float, q: float
) -> NDArray[np.float64]:
    """Discount of documents at 0-based places after ``spent`` steps for queries (arrays that broadcast)."""
    deepest = int(place.max(initial=-1)) + 1
    steps = _steps_to_document(deepest, p, q)
    waited = steps[place] + spent
    if discount == "linear":
        return 1 / (1 + waited)
    decades = np.log10(1 + waited)
    if np.isinf(steps).any():
        # Beside a time of 1e308 steps the time spent for queries is nothing.
        logs = np.concatenate(([0.0], _log_steps_to_document(deepest, q / p))) / _LOG_OF_10
        decades = np.where(np.isinf(waited), logs[place], decades)
    return 1 / (1 + decades)


def _check_steps(p: float, q: float, r: float, s: float) -> None:
    named = f"p={p!r}, q={q!r}, r={r!r}, s={s!r}"
    try:
        finite = all(np.isfinite(value) for value in (p, q, r, s))
    except TypeError:
        finite = False
    if not finite:
        raise ParameterError(f"p, q, r and s must be numbers; got {named}")
    if not (p > 0 and r > 0 and s > 0):
        raise ParameterError(f"p, r and s must be above 0; got {named}")
    if q < 0:
        raise ParameterError(f"q must be at least 0; got {named}")
    if abs(p + q + r + s - 1) > 1e-9:
        raise ParameterError(f"p + q + r + s must be 1; got {p + q + r + s:.12g} from {named}")


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ParameterError(f"{name}={value!r} is not one of its values{did_you_mean(str(value), choices)}")


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ParameterError(f"{name} must be a whole number of at least 1; got {value!r}")
    return int(value)


def _session_gains(run: ArrayLike) -> NDArray[np.float64]:
    gains = np.asarray(run, dtype=np.float64)
    if gains.ndim != 2:
        raise ParameterError(f"run must be a table of documents by queries; got {gains.ndim} dimension(s)")
    if not np.isfinite(gains).all():
        raise ParameterError(f"run must hold finite gains; got {gains[~np.isfinite(gains)][0]}")
    if (gains < 0).any():
        raise ParameterError(f"run must not hold negative gains; got {gains.min():g}")
    return gains
