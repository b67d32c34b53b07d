"""MsM, the Markov session measure (van Dijk, Ferrante, Ferro, Kanoulas, ECIR 2019, electronic appendix).

Algorithm 1 line by line, with full matrices and inverses; and session DCG for comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

Run = Sequence[Sequence[float | None]]


def query_matrix(size: int, p: float, q: float, r: float, s: float) -> NDArray[np.float64]:
    """P: documents 1..N, then F (end of the session), then Q (next query).

    The first document has no way back and the last none forward: their other probabilities are rescaled. A single
    document is both.
    """
    matrix = np.zeros((size + 2, size + 2))
    end, query = size, size + 1
    for i in range(size):
        back = q if i > 0 else 0.0
        on = p if i < size - 1 else 0.0
        total = back + on + s + r
        if i > 0:
            matrix[i, i - 1] = back / total
        if i < size - 1:
            matrix[i, i + 1] = on / total
        matrix[i, end] = s / total
        matrix[i, query] = r / total
    matrix[end, end] = 1.0
    matrix[query, query] = 1.0
    return matrix


def _stochastic(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = matrix.sum(axis=1, keepdims=True)
    return np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums > 0)


def session_quantities(
    run: Run,
    p: float,
    q: float,
    r: float,
    s: float,
    discount: str = "linear",
    query_time: str = "once",
) -> dict[str, Any]:
    """Everything that Algorithm 1 computes, under its names: e, e_Q, h_F, h_FK, h, pi, E, g, MsM.

    ``run`` has a row for each of the N ranks and a column for each of the K queries. ``query_time="once"`` adds e_Q
    once whatever the query, as printed; ``"per query"`` adds it once for each query before: (j - 1) e_Q. The sum
    over i in g(j) takes E(i, j) where the pseudo-code prints E(i).
    """
    table = np.array([[0.0 if gain is None else float(gain) for gain in row] for row in run])
    size, queries = table.shape
    matrix = query_matrix(size, p, q, r, s)
    documents = list(range(size))
    end, query = size, size + 1

    e = np.zeros(size)
    first = _stochastic(matrix[np.ix_(documents, documents)])
    for i in range(1, size):
        times = np.linalg.inv(np.eye(i) - first[:i, :i]) @ np.ones(i)
        e[i] = times[0]

    second = _stochastic(matrix[np.ix_([*documents, query], [*documents, query])])
    e_query = (np.linalg.inv(np.eye(size) - second[:size, :size]) @ np.ones(size))[0]

    h_end = (np.linalg.inv(np.eye(size) - matrix[:size, :size]) @ matrix[:size, end])[0]

    third = _stochastic(matrix[np.ix_([*documents, end], [*documents, end])])
    h_end_last = (np.linalg.inv(np.eye(size) - third[:size, :size]) @ third[:size, size])[0]

    h = np.zeros(queries)
    for j in range(1, queries):
        h[j - 1] = (1 - h_end) ** (j - 1) * h_end
    h[queries - 1] = (1 - h_end) ** (queries - 1) * h_end_last

    pi = np.ones(queries)
    for j in range(2, queries + 1):
        pi[j - 1] = 1 - sum(h[: j - 1])

    discounted = np.zeros((size, queries))
    for i in range(size):
        for j in range(queries):
            time = 1 + e[i] + (e_query if query_time == "once" else j * e_query)
            discounted[i, j] = table[i, j] / (time if discount == "linear" else 1 + log10(time))

    g = np.array([pi[j] * sum(discounted[:, j]) for j in range(queries)])
    return {
        "e": e,
        "e_Q": float(e_query),
        "h_F": float(h_end),
        "h_FK": float(h_end_last),
        "h": h,
        "pi": pi,
        "E": discounted,
        "g": g,
        "MsM": float(sum(g)),
    }


def markov_session_measure(
    run: Run,
    p: float,
    q: float,
    r: float,
    s: float,
    discount: str = "linear",
    query_time: str = "once",
) -> float:
    """MsM = sum over the queries of pi(j) times the discounted gains of the query.

    A single document and query: no time to it, e_Q = 1.

    >>> markov_session_measure([[1]], p=0.6, q=0.1, r=0.2, s=0.1)
    0.5
    """
    return session_quantities(run, p, q, r, s, discount, query_time)["MsM"]


def simulate_session(
    size: int, queries: int, p: float, q: float, r: float, s: float, users: int, seed: int
) -> dict[str, Any]:
    """Estimates of e, e_Q, h and pi from simulated users, one after the other.

    h and pi come from users of the session chain itself: the fraction that ends in query j, and that reaches it.
    e comes from users who neither end nor reformulate, and e_Q from users who do not end: the row-normalised chains
    of the algorithm. ``e_given_arrival`` is the mean time to a document over the users of the session chain who
    reach it within the first query, which is what the appendix's text describes (nan where nobody did).
    """
    generator = np.random.default_rng(seed)
    ended = np.zeros(queries)
    reached = np.zeros(queries)
    time_to = np.zeros(size)
    time_to_query = 0.0
    arrivals = np.zeros(size)
    arrival_time = np.zeros(size)

    def leave(document: int, allowed: set[str]) -> str:
        moves = {
            "on": p if document < size - 1 else 0.0,
            "back": q if document > 0 else 0.0,
            "query": r,
            "end": s,
        }
        names = [name for name in moves if name in allowed and moves[name] > 0]
        weights = np.array([moves[name] for name in names])
        return names[int(generator.choice(len(names), p=weights / weights.sum()))]

    step = {"on": 1, "back": -1}
    for _ in range(users):
        document, number, steps, seen = 0, 0, 0, set()
        reached[0] += 1
        while True:
            if number == 0 and document not in seen:
                seen.add(document)
                arrivals[document] += 1
                arrival_time[document] += steps
            allowed = {"on", "back", "query", "end"} if number < queries - 1 else {"on", "back", "end"}
            move = leave(document, allowed)
            steps += 1
            if move == "end":
                ended[number] += 1
                break
            if move == "query":
                document, number = 0, number + 1
                reached[number] += 1
            else:
                document += step[move]

        document, steps, missing = 0, 0, set(range(1, size))
        while missing:
            document += step[leave(document, {"on", "back"})]
            steps += 1
            if document in missing:
                missing.remove(document)
                time_to[document] += steps

        document, steps = 0, 0
        while True:
            move = leave(document, {"on", "back", "query"})
            steps += 1
            if move == "query":
                break
            document += step[move]
        time_to_query += steps

    given = np.divide(arrival_time, arrivals, out=np.full(size, np.nan), where=arrivals > 0)
    return {
        "e": time_to / users,
        "e_Q": time_to_query / users,
        "h": ended / users,
        "pi": reached / users,
        "e_given_arrival": given,
    }


def sdcg(run: Run, rank_base: float = 2.0, query_base: float = 4.0) -> float:
    """Session DCG: sum of run(i, j) / (max(1, log_b i) (1 + log_bq j)).

    Järvelin, Price, Delcambre, Nielsen, Discounted cumulated gain based evaluation of multiple-query IR sessions,
    ECIR 2008, with the rank discount of DCG as its authors defined it in 2002: none before rank b.

    >>> sdcg([[1, 0], [1, 0]])
    2.0
    """
    total = 0.0
    for i, row in enumerate(run, start=1):
        for j, gain in enumerate(row, start=1):
            rank_discount = max(1.0, log(i) / log(rank_base))
            query_discount = 1 + log(j) / log(query_base)
            total += (0.0 if gain is None else float(gain)) / (rank_discount * query_discount)
    return total
