"""Van Dijk, Ferrante, Ferro and Kanoulas, ECIR 2019, electronic appendix: Algorithm 1 (MsM), recomputed and applied.

Of the paper only the appendix is at hand, so there is no experiment of its own to repeat. What can be checked is the
algorithm: whether it can be computed faster with the same result, whether each of its quantities is what the
pseudo-code calls it (against simulation and linear algebra), and what its open points do to real sessions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from walkeval.audit import Reproduction, number
from walkeval.claims import Claim
from walkeval.correlation import tau_matrix
from walkeval.measures.session import (
    DISCOUNTS,
    markov_session_measure,
    session_dcg,
    session_quantities,
    session_weights,
)
from walkeval.reference import session as reference
from walkeval.seeds import generator
from walkeval.sessions import (
    ENDINGS,
    MOVES,
    WALKS,
    JudgedSession,
    SessionEvidence,
    count_moves,
    estimate_moves,
    judge_sessions,
    read_sessions,
    write_synthetic_sessions,
)
from walkeval.sources import Source, fetch
from walkeval.tables import markdown, write_table
from walkeval.trec import Qrels, read_qrels

PAPER = "ecir2019-session"
SOURCES = ("sessions/trec2013", "sessions/trec2013-qrels")
TITLE = "the TREC Session track 2013"
DEFAULT = (0.6, 0.1, 0.2, 0.1)
"""p, q, r and s where one set must do: the appendix gives none."""
LENGTH = 10
"""Documents of a query on real sessions: one page of results."""
LENGTHS, QUERIES = (1, 2, 3, 5, 10), (1, 2, 4)
SIMULATED_LENGTH, SIMULATED_QUERIES, USERS = 5, 3, 100_000
STANDARD_ERRORS = 4
"""A simulated value agrees when it is that near."""
TOLERANCE = 1e-9
"""Of the matrices and inverses: with q far above p they lose about seven digits."""
NOISE = 1e-12
BOOTSTRAP = 500

Steps = tuple[float, float, float, float]


def grid() -> list[Steps]:
    """All p, q, r and s in tenths with p, r and s above 0.

    >>> len(grid()), (0.6, 0.1, 0.2, 0.1) in grid()
    (120, True)
    """
    tenths = range(11)
    return [
        (p / 10, q / 10, r / 10, (10 - p - q - r) / 10)
        for p in tenths[1:]
        for q in tenths
        for r in tenths[1:]
        if p + q + r < 10
    ]


# --- the algorithm, as printed and fast -----------------------------------------------------------------------------


def algorithm_table() -> pd.DataFrame:
    """Algorithm 1 line by line (the reference, with matrices and inverses) against the fast path, over the grid.

    Deviations are relative to the value where that is above 1. They are rounded up to a power of ten, and 1e-12 stands
    for all below: the digits of such noise differ between machines. Above it the worst case is named.
    """
    worst: dict[str, tuple[float, str]] = {}
    cases = 0
    for length in LENGTHS:
        for queries in QUERIES:
            run = generator(f"{PAPER}/run {length} x {queries}").integers(0, 5, size=(length, queries))
            for steps in grid():
                cases += 1
                where = f"N={length} K={queries} {_named(steps)}"
                for name, (slow, fast) in _both_ways(run, steps).items():
                    slow, fast = np.asarray(slow), np.asarray(fast)
                    deviation = float(np.max(np.abs(slow - fast) / np.maximum(1.0, np.abs(slow))))
                    if name not in worst or deviation > worst[name][0]:
                        worst[name] = deviation, where
    return pd.DataFrame(
        [
            {
                "quantity": name,
                "cases": cases,
                "largest_deviation": float(f"1e{int(np.ceil(np.log10(max(deviation, NOISE))))}"),
                "worst_case": where if deviation > NOISE else "",
            }
            for name, (deviation, where) in worst.items()
        ]
    )


def _both_ways(run: NDArray, steps: Steps) -> dict[str, tuple]:
    slow = reference.session_quantities(run.tolist(), *steps)
    fast = session_quantities(*run.shape, *steps)
    pairs = {
        "e": (slow["e"], fast.e),
        "e_Q": (slow["e_Q"], fast.e_q),
        "h_F": (slow["h_F"], fast.h_f),
        "h_FK": (slow["h_FK"], fast.h_fk),
        "h": (slow["h"], fast.h),
        "pi": (slow["pi"], fast.pi),
        "g": (slow["g"], (session_weights(*run.shape, *steps) * run).sum(axis=0)),
        "MsM, linear discount": (slow["MsM"], markov_session_measure(run, *steps)),
    }
    for name, discount, query_time in (
        ("MsM, logarithmic discount", "log", "once"),
        ("MsM, linear discount, time by query", "linear", "per_query"),
    ):
        literal = reference.markov_session_measure(run.tolist(), *steps, discount, query_time.replace("_", " "))
        pairs[name] = literal, markov_session_measure(run, *steps, discount, query_time)
    return pairs


def _named(steps: Sequence[float]) -> str:
    return " ".join(f"{name}={value:g}" for name, value in zip(MOVES, steps, strict=True))


# --- the session chain itself ---------------------------------------------------------------------------------------


def _moves(document: int, length: int, steps: Steps, last_query: bool) -> NDArray[np.float64]:
    """Probabilities of p, q, r and s at a document (from 0), the impossible ones gone and the others rescaled."""
    weight = np.array(steps)
    weight[0] *= document < length - 1
    weight[1] *= document > 0
    weight[2] *= not last_query
    return weight / weight.sum()


def session_chain(length: int, queries: int, steps: Steps) -> NDArray[np.float64]:
    """Transitions between all documents of all queries, query by query; what is missing to 1 ends the session.

    >>> chain = session_chain(2, 2, (0.5, 0.2, 0.2, 0.1))
    >>> chain[1].round(6).tolist()
    [0.4, 0.0, 0.4, 0.0]
    """
    chain = np.zeros((length * queries, length * queries))
    for query in range(queries):
        for document in range(length):
            on, back, next_query, _ = _moves(document, length, steps, query == queries - 1)
            here = query * length + document
            for there, probability in ((here + 1, on), (here - 1, back), ((query + 1) * length, next_query)):
                if probability:
                    chain[here, there] += probability
    return chain


def passage(chain: NDArray[np.float64], target: int) -> tuple[float, float]:
    """The probability of ever reaching a state from state 0, and the mean time to it given that it is reached.

    With A the chain without the target, u = (I - A)^-1 a the probabilities of reaching it and v = (I - A)^-1 u the
    times over the sessions that do, this is u and v/u at the start.
    """
    if target == 0:
        return 1.0, 0.0
    others = np.delete(np.arange(len(chain)), target)
    system = np.eye(len(others)) - chain[np.ix_(others, others)]
    reach = np.linalg.solve(system, chain[others, target])
    time = np.linalg.solve(system, reach)
    return float(reach[0]), float(time[0] / reach[0])


def conditional_times(length: int, steps: Steps) -> tuple[NDArray[np.float64], float]:
    """Mean times from document 1 to each document and to the next query, over the users of the session chain who get
    there: what the appendix promises where Algorithm 1 gives e and e_Q.

    >>> conditional_times(5, DEFAULT)[0].round(3).tolist()
    [0.0, 1.0, 2.143, 3.29, 4.437]
    """
    chain = session_chain(length, 2, steps)
    return np.array([passage(chain, target)[1] for target in range(length)]), passage(chain, length)[1]


def simulate(
    length: int,
    queries: int,
    steps: Steps,
    users: int,
    name: str,
    stop: tuple[int, int] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Walk all users at once: the time of the first arrival by user, query and document (-1 for never), and the query
    in which each session ended. With ``stop`` (query, document) users are let go once they are there.
    """
    draws = generator(name)
    bounds = np.array(
        [
            [np.cumsum(_moves(document, length, steps, last)) for document in range(length)]
            for last in (False, True)
            if last is False or steps[3] > 0
        ]
    )
    arrival = np.full((users, queries, length), -1, dtype=np.int64)
    arrival[:, 0, 0] = 0
    ended = np.full(users, -1, dtype=np.int64)
    active = np.arange(users)
    document, query = np.zeros(users, dtype=np.int64), np.zeros(users, dtype=np.int64)
    time = 0
    while len(active):
        time += 1
        last = ((query == queries - 1) & (len(bounds) > 1)).astype(np.int64)
        # The last bound may be a little below 1: nobody may fall beyond it.
        move = (draws.random(len(active))[:, None] >= bounds[last, document, :3]).sum(axis=1)
        ended[active[move == 3]] = query[move == 3]
        stays = move < 3
        active, document, query, move = active[stays], document[stays], query[stays], move[stays]
        document = np.where(move == 2, 0, document + np.array([1, -1, 0])[move])
        query = query + (move == 2)
        new = arrival[active, query, document] < 0
        arrival[active[new], query[new], document[new]] = time
        if stop is not None:
            stays = (query != stop[0]) | (document != stop[1])
            active, document, query = active[stays], document[stays], query[stays]
    return arrival, ended


# --- what the quantities are called, and what they are ---------------------------------------------------------------


@dataclass(frozen=True)
class _Estimate:
    value: float
    error: float

    @classmethod
    def of(cls, sample: NDArray) -> _Estimate:
        sample = sample.astype(np.float64)
        return cls(float(sample.mean()), float(sample.std() / np.sqrt(len(sample))))

    def agrees(self, value: float) -> str:
        near = abs(self.value - value) <= STANDARD_ERRORS * self.error + 1e-12
        return "yes" if near else "no"


def quantities_table(
    length: int = SIMULATED_LENGTH,
    queries: int = SIMULATED_QUERIES,
    steps: Steps = DEFAULT,
    users: int = USERS,
) -> pd.DataFrame:
    """Each intermediate quantity of Algorithm 1 beside two simulations: of what the pseudo-code calls it, in the
    chain of sessions itself, and of what it is. ``exact_as_called`` is the value of what it is called, by linear
    algebra on the whole session.
    """
    found = reference.session_quantities([[1.0] * queries] * length, *steps)
    p, q, r, s = steps
    arrival, ended = simulate(length, queries, steps, users, f"{PAPER}/sessions")
    inside = p + q
    only_documents, _ = simulate(
        length, 1, (p / inside, q / inside, 0.0, 0.0), users, f"{PAPER}/documents only", stop=(0, length - 1)
    )
    endless, _ = simulate(length, 2, (p, q, r, 0.0), users, f"{PAPER}/no end", stop=(1, 0))
    chain = session_chain(length, queries, steps)
    end = 1 - chain.sum(axis=1)
    visits = np.linalg.solve(np.eye(len(chain)).T - chain.T, np.eye(len(chain))[0])
    exact_h = (visits * end).reshape(queries, length).sum(axis=1)
    rows = []

    def row(
        quantity: str, called: str, what: str, value: float, as_called: NDArray, as_is: NDArray, exact: float
    ) -> None:
        first, second = _Estimate.of(as_called), _Estimate.of(as_is)
        rows.append(
            {
                "quantity": quantity, "called": called, "is": what, "algorithm1": value,
                "simulated_as_called": first.value, "standard_error": first.error, "agrees": first.agrees(value),
                "exact_as_called": exact, "simulated_as_is": second.value, "standard_error_as_is": second.error,
                "agrees_as_is": second.agrees(value),
            }
        )  # fmt: skip

    for i in range(length):
        times = arrival[:, 0, i]
        row(
            f"e({i + 1})", "mean time from document 1 to it, given that the search does not end before",
            "mean time in a chain without end and next query, rows normalized", found["e"][i],
            times[times >= 0], only_documents[:, 0, i], passage(chain, i)[1],
        )  # fmt: skip
    # Every session that reaches query 2 waited once for a next query.
    waits = arrival[:, 1, 0]
    row(
        "e_Q", "mean time to the next query, given that the search does not end before",
        "mean time in a chain without end, rows normalized", found["e_Q"],
        waits[waits >= 0], endless[:, 1, 0], passage(chain, length)[1],
    )  # fmt: skip
    for j in range(queries):
        times = arrival[:, j, length - 1]
        # In the chains of the algorithm the way to query j takes j - 1 waits.
        row(
            f"e({length}) + e_Q at query {j + 1}", "mean time to the document of that query",
            "mean time to it in query 2, whatever the query", found["e"][-1] + found["e_Q"],
            times[times >= 0], only_documents[:, 0, length - 1] + endless[:, 1, 0],
            passage(chain, j * length + length - 1)[1],
        )  # fmt: skip
    early = np.flatnonzero(ended < queries - 1)
    starts = (arrival[:, :-1, 0] >= 0).sum()
    any_of = np.concatenate([np.ones(len(early)), np.zeros(starts - len(early))])
    row(
        "h_F", "probability of ending in a query that is not the last, from its document 1", "the same: s/(r+s)",
        found["h_F"], any_of, any_of, exact_h[0],
    )  # fmt: skip
    row(
        "h_F, the K-1 queries together", "probability of ending anywhere in the first K-1 queries",
        "that of ending in one of them, once there", found["h_F"], ended < queries - 1, any_of,
        float(exact_h[:-1].sum()),
    )  # fmt: skip
    there = ended[arrival[:, queries - 1, 0] >= 0] == queries - 1
    row(
        "h_FK", "probability of ending in the K-th query, from its document 1", "the same, and always 1",
        found["h_FK"], there, there, 1.0,
    )  # fmt: skip
    for j in range(queries):
        row(
            f"h({j + 1})", "probability of ending in the query", "the same", found["h"][j], ended == j, ended == j,
            float(exact_h[j]),
        )  # fmt: skip
    for j in range(queries):
        row(
            f"pi({j + 1})", "probability of ending in the query", "probability of reaching the query", found["pi"][j],
            ended == j, arrival[:, j, 0] >= 0, float(exact_h[j]),
        )  # fmt: skip
    return pd.DataFrame(rows)


# --- the claims -----------------------------------------------------------------------------------------------------


def printed_matrix(length: int, steps: Steps) -> NDArray[np.float64]:
    """P entry by entry as the appendix prints it (from two documents on)."""
    p, q, r, s = steps
    matrix = np.zeros((length + 2, length + 2))
    end, query = length, length + 1
    for i in range(1, length - 1):
        matrix[i, [i - 1, i + 1, end, query]] = q, p, s, r
    matrix[0, [1, end, query]] = np.array([p, s, r]) / (p + s + r)
    matrix[length - 1, [length - 2, end, query]] = np.array([q, s, r]) / (q + s + r)
    matrix[end, end] = matrix[query, query] = 1.0
    return matrix


def reproductions(algorithm: pd.DataFrame, quantities: pd.DataFrame) -> list[Reproduction]:
    """What the two tables and the printed formulas over the grid say about the claims."""
    found: list[Reproduction] = []

    def add(claim: str, holds: bool, evidence: str, note: str = "") -> None:
        found.append(Reproduction(f"ecir2019/{claim}", "holds" if holds else "fails", evidence, note=note))

    equal = dict(zip(algorithm["quantity"], algorithm["largest_deviation"] <= TOLERANCE, strict=True))
    by_name = quantities.set_index("quantity")

    def agree(name: str, column: str = "agrees") -> bool:
        """Whether a quantity agrees with a simulation, at all its places (a name followed by a bracket)."""
        same = by_name.index.str.fullmatch(re.escape(name) + r"(\(\d+\))?")
        return bool((by_name.loc[same, column] == "yes").all())

    parameters = grid()
    cases = f"{len(parameters)} parameter sets"
    p, q, r, s = np.array(parameters).T
    checks = {f"{name}_1": (value / (p + s + r), value / (1 - q)) for name, value in (("p", p), ("s", s), ("r", r))}
    checks |= {f"{name}_N": (value / (q + s + r), value / (1 - p)) for name, value in (("q", q), ("s", s), ("r", r))}
    for end in ("1", "N"):
        total = sum(values for name, (values, _) in checks.items() if name.endswith(end))
        for name, (values, conditional) in checks.items():
            if name.endswith(end):
                holds = np.allclose(total, 1, atol=1e-12) and np.allclose(values, conditional, atol=1e-12)
                note = "the probability given that the impossible move is not made; the three sum to 1; "
                note += "the single document of N = 1 is both first and last, which the appendix leaves out"
                add(f"data/{name}", holds, cases, note)
    matrices = {(n, one): printed_matrix(n, one) for n in LENGTHS if n > 1 for one in parameters}
    every = f"{len(matrices)} matrices"
    stochastic = all((one >= 0).all() and np.allclose(one.sum(axis=1), 1) for one in matrices.values())
    same = all(np.allclose(one, reference.query_matrix(n, *steps)) for (n, steps), one in matrices.items())
    add(
        "input/assumptions", stochastic, every, "under them P is stochastic and every search ends or goes on to a query"
    )
    add("data/P", stochastic and same, every, "from N = 2 on")
    for place, name in ((-2, "F"), (-1, "Q")):
        absorbing = all(one[place, place] == 1 and one[place].sum() == 1 for one in matrices.values())
        add(f"data/{name}-absorbing", absorbing, every)

    chains = {(n, steps): session_chain(n, 3, steps) for n in (2, 5) for steps in parameters}
    unsure = all(passage(chain, target)[0] < 1 for chain in chains.values() for target in range(1, len(chain)))
    add(
        "text/infinite-expectation", unsure, f"{len(chains)} sessions", "all documents but the first of the first query"
    )
    one_query = all(
        np.allclose(session_quantities(n, 3, *steps).h, _ending(chain, n)) for (n, steps), chain in chains.items()
    )
    add(
        "text/one-matrix", one_query, f"{len(chains)} sessions", "h from P equals h from the chain of the whole session"
    )
    simulated = f"{USERS} simulated sessions and linear algebra"
    last = by_name.loc[f"e({SIMULATED_LENGTH})"]
    law = (
        "normalizing each row is not the law given that the search goes on, which weighs a step by what may follow "
        "it: "
        f"e({SIMULATED_LENGTH}) is {last['algorithm1']:.4g}, the time given arrival {last['exact_as_called']:.4g}"
    )
    add("text/restriction", agree("e") and agree("e_Q"), simulated, law)
    add("data/e", agree("e"), simulated, f"e(1) and e(2) only; {law}")
    query = by_name.loc["e_Q"]
    add(
        "data/e_Q", agree("e_Q"), simulated,
        f"e_Q is {query['algorithm1']:.4g}; over the users who get to a next query it is "
        f"{query['exact_as_called']:.4g}",
    )  # fmt: skip
    add(
        "data/h_F", agree("h_F"), simulated,
        "for any one of these queries, once there; not for all of them together; it is s/(r+s)",
    )  # fmt: skip
    add("data/h_FK", agree("h_FK"), simulated, "always 1: nothing but the end is left in the last query")
    add("data/h", agree("h"), simulated)
    add("data/pi", agree("pi"), simulated, "it is the probability of reaching the query; h is that of ending in it")
    add(
        "data/g", not _first_column_differs(), "Algorithm 1",
        "it sums discounted gains, times the probability of reaching the query; as printed, without j, those of query "
        "1 always",
    )  # fmt: skip

    compared = f"{int(algorithm['cases'].iloc[0])} cases, fast path against matrices"
    add("algorithm1/e-1", agree("e(1)"), simulated)
    rows = {name: min(_least_row(one, name) for one in matrices.values()) for name in ("P1", "P2", "P3")}
    add(
        "algorithm1/P1", rows["P1"] > 0, every,
        "with q = 0, which the appendix allows, and with N = 1 the last row is all 0 and cannot be normalized; it is "
        "not used, so it can be left as it is",
    )  # fmt: skip
    add(
        "algorithm1/e",
        equal["e"] and agree("e", "agrees_as_is"),
        compared,
        "the mean time in the chain of normalized rows",
    )
    add("algorithm1/P2", rows["P2"] > 0, every)
    add(
        "algorithm1/e_Q",
        equal["e_Q"] and agree("e_Q", "agrees_as_is"),
        compared,
        "the mean time in the chain of normalized rows",
    )
    add("algorithm1/h_F", equal["h_F"], compared, "s/(r+s): each document leaves to F and Q in this proportion")
    add("algorithm1/P3", rows["P3"] > 0, every)
    add("algorithm1/h_FK", equal["h_FK"], compared, "always 1")
    add("algorithm1/h-j", equal["h"] and agree("h"), compared)
    add("algorithm1/h-K", equal["h"] and agree(f"h({SIMULATED_QUERIES})"), compared)
    add("algorithm1/pi-1", agree("pi(1)"), simulated, "1 is the probability of reaching query 1, not of ending in it")
    add(
        "algorithm1/pi", equal["pi"] and agree("pi"), simulated,
        "the line gives the probability of reaching query j, (r/(r+s))^(j-1), where the comment says ending",
    )  # fmt: skip
    discounted = (
        "e_Q is added once whatever the query; in the chains of the algorithm itself j - 1 of them pass before query "
        "j, so "
        "the discount is that of the time to the document for j = 2 only"
    )
    for name, discount in (("E-linear", "linear"), ("E-log", "log")):
        shapes = [(n, 3, *steps, discount) for n in LENGTHS for steps in parameters]
        right = all(np.allclose(session_weights(*one, "once"), session_weights(*one, "per_query")) for one in shapes)
        add(f"algorithm1/{name}", right, f"{len(shapes)} sessions of 3 queries", discounted)
    add(
        "algorithm1/g", not _first_column_differs(), "Algorithm 1",
        "E(i) lacks j: read as the first column of E, all queries would get the gain of query 1; E(i, j) is meant",
    )  # fmt: skip
    add("algorithm1/MsM", all(equal[one] for one in equal if one.startswith("MsM")), compared)
    return found


def _ending(chain: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    visits = np.linalg.solve(np.eye(len(chain)) - chain.T, np.eye(len(chain))[0])
    return (visits * (1 - chain.sum(axis=1))).reshape(-1, length).sum(axis=1)


def _least_row(matrix: NDArray[np.float64], name: str) -> float:
    documents = list(range(len(matrix) - 2))
    kept = {"P1": documents, "P2": [*documents, len(matrix) - 1], "P3": [*documents, len(matrix) - 2]}[name]
    return float(matrix[np.ix_(kept, kept)].sum(axis=1).min())


def _first_column_differs() -> bool:
    """Whether taking E(i) as the first column of E, as the last sum is printed, changes the measure."""
    found = reference.session_quantities([[1, 0], [0, 2]], *DEFAULT)
    return not np.isclose(found["pi"].sum() * found["E"][:, 0].sum(), found["MsM"])


# --- real or synthetic sessions -------------------------------------------------------------------------------------


def gather_sessions(
    registry: Mapping[str, Source],
    data: str | PathLike[str],
    mirror: str | PathLike[str] | None = None,
    network: bool = True,
) -> tuple[SessionEvidence, list[str]]:
    """Fetch and check the sessions and their judgements; also the reasons, for the job's log, why a file is missing."""
    results = fetch([registry[one] for one in SOURCES], data, mirror, network)
    absent = [one.source.id for one in results if one.path is None]
    reasons = [f"{one.source.id}: {one.reason}" for one in results if one.path is None]
    if absent:
        missing = f"{' and '.join(absent)} could not be fetched: go online, or name a mirror in WALKEVAL_MIRROR"
        return SessionEvidence(TITLE, "real", missing=missing), reasons
    return SessionEvidence(TITLE, "real", *(str(one.path) for one in results)), reasons


def generate_sessions(sessions: str | PathLike[str], qrels: str | PathLike[str]) -> SessionEvidence:
    """Write synthetic sessions, of users who walk by `DEFAULT`, and their judgements."""
    write_synthetic_sessions(sessions, qrels, f"{PAPER}/synthetic", DEFAULT)
    return SessionEvidence("SYNTHETIC sessions, generated", "synthetic", str(sessions), str(qrels))


def coverage_table(judged: Sequence[JudgedSession], qrels: Qrels) -> pd.DataFrame:
    """How much of the sessions the judgements cover, by topic; beside it, what the session number as key would."""
    sessions = [one.session for one in judged]
    wrong_key = judge_sessions(
        [type(one)(one.name, one.name, one.interactions, one.continued) for one in sessions], qrels
    )
    lists = [one for session in judged for one in session.lists]
    known = [one for session in judged if session.topic_judged for one in session.lists]
    interactions = sum(len(one.grades) for one in judged)
    shown, first = [grade for one in known for grade in one], [grade for one in known for grade in one[:LENGTH]]
    documents = sum(map(len, lists))
    every = [grade for one in lists for grade in one]
    topics = {one.topic for one in sessions}
    found_wrongly = sum(grade is not None for one in wrong_key for ranks in one.lists for grade in ranks)
    ranks, here = f"the first {LENGTH} ranks", "of these sessions"
    rows = [
        ("sessions whose topic is judged", sum(one.topic_judged for one in judged), len(judged)),
        ("topics that are judged", len(topics & set(qrels.topics)), len(topics)),
        ("sessions with two lists or more", sum(len(one.lists) > 1 for one in judged), len(judged)),
        ("sessions that one more query follows, without a list", sum(one.continued for one in sessions), len(judged)),
        (
            "sessions whose end is recorded that have one list only",
            sum(not one.session.continued and len(one.lists) == 1 for one in judged),
            sum(not one.continued for one in sessions),
        ),
        ("interactions with documents", len(lists), interactions),
        (f"lists with more than {LENGTH} documents (cut)", sum(len(one) > LENGTH for one in lists), len(lists)),
        (f"lists with fewer than {LENGTH} (filled with gain 0)", sum(len(one) < LENGTH for one in lists), len(lists)),
        ("documents shown that are judged for the topic", sum(one is not None for one in every), documents),
        ("documents shown that would be judged if the key were the session's number", found_wrongly, documents),
        (
            "documents shown in sessions of judged topics that are judged",
            sum(one is not None for one in shown),
            len(shown),
        ),
        (f"documents in {ranks} {here} that are judged", sum(one is not None for one in first), len(first)),
        (f"relevant documents in {ranks} {here}", sum((one or 0) > 0 for one in first), len(first)),
        (f"spam (negative grades, gain 0) in {ranks} {here}", sum((one or 0) < 0 for one in first), len(first)),
    ]
    return pd.DataFrame(rows, columns=["what", "count", "of"]).assign(share=lambda table: table["count"] / table["of"])


class SessionGains:
    """The gains of all sessions that can be scored, as one array by session, document and query."""

    def __init__(self, judged: Sequence[JudgedSession], length: int = LENGTH, new_only: bool = False):
        tables = [one.gains(length, new_only) for one in judged]
        self.queries = np.array([one.shape[1] for one in tables])
        self.values = np.zeros((len(tables), length, max(self.queries, default=1)))
        for place, table in zip(self.values, tables, strict=True):
            place[:, : table.shape[1]] = table

    def score(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums of gains times weights by document and query."""
        return np.einsum("sij,ij->s", self.values, weights)

    def msm(self, steps: Steps, discount: str = "linear", query_time: str = "once") -> NDArray[np.float64]:
        """MsM of each session. Neither e, e_Q nor pi depend on K, so one table of weights serves all sessions."""
        return self.score(session_weights(*self.values.shape[1:], *steps, discount, query_time))


def sdcg(judged: Sequence[JudgedSession]) -> NDArray[np.float64]:
    """sDCG of each session, with its own parameters, on the same documents."""
    return np.array([session_dcg(one.gains(LENGTH)) for one in judged])


def sessions_table(judged: Sequence[JudgedSession]) -> pd.DataFrame:
    """Every session with its values and ranks (ties share the best rank) for the default parameters."""
    scored = [one for one in judged if one.topic_judged and one.lists]
    gains = SessionGains(scored)
    values = {f"msm_{discount}": gains.msm(DEFAULT, discount) for discount in DISCOUNTS} | {"sdcg": sdcg(scored)}
    table = pd.DataFrame(
        {
            "session": [one.session.name for one in scored],
            "topic": [one.session.topic for one in scored],
            "queries": gains.queries,
            "relevant": (gains.values > 0).sum(axis=(1, 2)),
        }
        | values
    )
    for name in values:
        # Rounded as tau is, so that noise in the last digits makes no ranks.
        table[f"rank_{name}"] = table[name].round(10).rank(ascending=False, method="min").astype(int)
    left = [one for one in judged if not (one.topic_judged and one.lists)]
    rest = pd.DataFrame(
        {
            "session": [one.session.name for one in left],
            "topic": [one.session.topic for one in left],
            "queries": [len(one.lists) for one in left],
            "note": [
                "not scored: no judgements of its topic" if one.lists else "not scored: no documents" for one in left
            ],
        }
    )
    table = pd.concat([table.sort_values("rank_msm_linear", kind="stable").astype(object), rest.astype(object)])
    return table.reindex(columns=[*table.columns.drop("note", errors="ignore"), "note"])


def grid_table(judged: Sequence[JudgedSession], estimated: Mapping[str, Steps]) -> pd.DataFrame:
    """For each set of parameters: mean MsM with both discounts, and tau between the rankings of the sessions."""
    gains = SessionGains(judged)
    cumulated = sdcg(judged)
    rows = []
    for name, steps in [("grid", one) for one in grid()] + list(estimated.items()):
        linear, logarithmic = gains.msm(steps, "linear"), gains.msm(steps, "log")
        by_query = gains.msm(steps, "linear", "per_query")
        tau = tau_matrix(np.array([linear, logarithmic, by_query, cumulated]))
        rows.append(
            {
                "set": name, **dict(zip(MOVES, steps, strict=True)), "sessions": len(judged),
                "mean_linear": linear.mean(), "mean_log": logarithmic.mean(),
                "tau_linear_sdcg": tau[0, 3], "tau_log_sdcg": tau[1, 3], "tau_linear_log": tau[0, 1],
                "tau_once_per_query": tau[0, 2],
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def parameters_table(judged: Sequence[JudgedSession], known: Steps | None) -> tuple[pd.DataFrame, dict[str, Steps]]:
    """p, q, r and s estimated from the clicks of all sessions (none needs a judgement), in two readings of a move and
    two of an end, with a bootstrap interval over sessions. Also the sets that MsM can take, by name.
    """
    sessions = [one.session for one in judged]
    rows, usable = [], {}
    for walk in WALKS:
        for ending in ENDINGS:
            counts = count_moves(sessions, walk, ending)
            value = estimate_moves(counts.sum(axis=0))
            draws = generator(f"{PAPER}/bootstrap")
            weight = draws.multinomial(len(sessions), np.full(len(sessions), 1 / len(sessions)), size=BOOTSTRAP)
            sample = estimate_moves(np.einsum("bs,spm->bpm", weight, counts))
            low, high = np.nanquantile(sample, (0.025, 0.975), axis=0)
            for place, name in enumerate(MOVES):
                rows.append(
                    {
                        "walk": walk, "ending": ending, "parameter": name, "moves": int(counts[:, :, place].sum()),
                        "estimate": value[place], "low": low[place], "high": high[place],
                        "known": known[place] if known and walk == "steps" and ending == "recorded" else np.nan,
                    }
                )  # fmt: skip
            if value[[0, 2, 3]].min() > 0:
                usable[f"estimated: {walk}, {ending}"] = tuple(value)
    return pd.DataFrame(rows), usable


def decisions_table(judged: Sequence[JudgedSession]) -> pd.DataFrame:
    """Each open point: what was decided, the other way, and tau between the rankings of the sessions that they give."""
    gains = SessionGains(judged)
    length, queries = gains.values.shape[1:]
    found = session_quantities(length, queries, *DEFAULT)
    arrival, wait = conditional_times(length, DEFAULT)

    def discounted(time: NDArray, discount: str) -> NDArray:
        return 1 / (1 + time) if discount == "linear" else 1 / (1 + np.log10(1 + time))

    def conditional(discount: str, waits: ArrayLike) -> NDArray:
        return gains.score(found.pi * discounted(arrival[:, None] + np.multiply(waits, wait), discount))

    def ending(discount: str) -> NDArray:
        # The last query of a session takes all that reach it, so the weights depend on its number of queries.
        scores = []
        for table, last in zip(gains.values, gains.queries, strict=True):
            own = session_quantities(length, int(last), *DEFAULT)
            scores.append((table[:, :last] * own.h * discounted(own.e + own.e_q, discount)[:, None]).sum())
        return np.array(scores)

    def first_column(discount: str) -> NDArray:
        first = np.einsum("si,i->s", gains.values[:, :, 0], discounted(found.e + found.e_q, discount))
        return first * np.cumsum(found.pi)[gains.queries - 1]

    def longest(discount: str) -> NDArray:
        return np.array([markov_session_measure(one.gains(), *DEFAULT, discount) for one in judged])

    others = {
        "e_Q and the query": (
            "e_Q is added once for every query, the first included, as printed", "(j-1) e_Q for query j",
            lambda discount: gains.msm(DEFAULT, discount, "per_query"),
        ),
        "the law of the times": (
            "rows are normalized, as printed", "mean times given arrival in the session chain, as promised; e_Q once",
            lambda discount: conditional(discount, np.ones(queries)),
        ),
        "both of these": (
            "as printed", "mean times given arrival, (j-1) waits for query j: the time that the text promises",
            lambda discount: conditional(discount, np.arange(queries)),
        ),
        "pi": (
            "pi(j) is the probability of reaching query j, as the lines compute it",
            "h(j), of ending in it, as it is called", ending,
        ),
        "the sum in g(j)": ("E(i, j)", "E(i) as printed, read as the first column of E", first_column),
        "N": (
            f"the first {LENGTH} documents of each list, shorter ones filled with gain 0",
            "all documents, N the longest list of the session", longest,
        ),
        "documents shown again": (
            "count each time that they are shown: the appendix does not look at which document it is",
            "count the first time only",
            lambda discount: SessionGains(judged, new_only=True).msm(DEFAULT, discount),
        ),
    }  # fmt: skip
    rows = []
    for point, (decided, other, score) in others.items():
        row = {"open_point": point, "decided": decided, "alternative": other, "sessions": len(judged)}
        for discount in DISCOUNTS:
            row[f"tau_{discount}"] = tau_matrix(np.array([gains.msm(DEFAULT, discount), score(discount)]))[0, 1]
        rows.append(row)
    return pd.DataFrame(rows)


# --- figures --------------------------------------------------------------------------------------------------------


def weights_table(queries: int = 4) -> pd.DataFrame:
    """What one unit of gain adds to MsM by rank and query, for the default parameters."""
    rows = []
    for discount in DISCOUNTS:
        for query_time in ("once", "per_query"):
            weights = session_weights(LENGTH, queries, *DEFAULT, discount, query_time)
            for j in range(queries):
                for i in range(LENGTH):
                    rows.append(
                        {
                            "discount": discount,
                            "query_time": query_time,
                            "query": j + 1,
                            "rank": i + 1,
                            "weight": weights[i, j],
                        }
                    )
    return pd.DataFrame(rows)


def draw_weights(stem: Path, table: pd.DataFrame) -> None:
    """The weights as lines over ranks, one panel a discount."""
    from walkeval import figures  # only here: who wants no figure need not wait for matplotlib

    caption = (
        f"What one unit of gain adds to MsM, for {_named(DEFAULT)} and N = {LENGTH}. Solid: Algorithm 1 as printed, "
        "e_Q added once "
        "in every query. Dotted: the time that passes, e_Q added once for each query before (in query 2 the same). No "
        "data needed."
    )
    titles = {"linear": "Linear discount", "log": "Logarithmic discount"}
    looks = ((figures.BLUE, "o"), (figures.VERMILION, "s"), (figures.GREEN, "^"), (figures.PURPLE, "D"))
    with figures.style():
        result = figures.sheet("MsM: weights of documents by rank and query", caption, [1.9, 1.9], right=0.8)
        for axes, discount in zip(result.panels, titles, strict=True):
            rows_of = table[table["discount"] == discount]
            for (query_time, j), rows in rows_of.groupby(["query_time", "query"]):
                color, marker = looks[j - 1]
                once = query_time == "once"
                axes.plot(
                    rows["rank"], rows["weight"], color=color, linewidth=1.2 if once else 1.0,
                    linestyle="-" if once else ":", marker=marker if once else "", markersize=3.4,
                )  # fmt: skip
                if once:
                    axes.text(
                        LENGTH + 0.2,
                        rows["weight"].iloc[-1],
                        f"query {j}",
                        size=8,
                        va="center",
                        color=figures.darker(color),
                    )
            axes.set_yscale("log")
            ticks = [one for one in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if one > 0.9 * rows_of["weight"].min()]
            axes.set_yticks(ticks, [f"{one:g}" for one in ticks])
            axes.minorticks_off()
            axes.set_title(titles[discount])
            axes.set_ylabel("weight (log scale)")
            axes.set_xlabel("rank")
            axes.set_xticks(range(1, LENGTH + 1))
            axes.grid(True, axis="y")
    figures.save(result, stem)


def draw_tau(stem: Path, table: pd.DataFrame, evidence: SessionEvidence) -> None:
    """Tau of MsM with sDCG over the grid, by the probability that a query is followed by another."""
    from walkeval import figures

    heading = "MsM and sDCG: agreement on the ranking of sessions"
    synthetic = evidence.kind == "synthetic"
    if table.empty:
        figures.save(
            figures.message_sheet(heading, f"Needs {evidence.title}.", f"Nothing to draw: {evidence.missing}."), stem
        )
        return
    rows = table[table["set"] == "grid"]
    caption = (
        f"Kendall's tau between MsM and sDCG over {int(rows['sessions'].iloc[0])} sessions ({evidence.title}), one "
        "mark for each "
        f"of {len(rows)} sets of parameters and each discount. MsM with e_Q added once, as printed."
    )
    with figures.style():
        result = figures.sheet(heading, caption, [2.6], synthetic=synthetic)
        axes = result.panels[0]
        goes_on = (rows["r"] / (rows["r"] + rows["s"])).round(10)
        # Shifted a little to either side, so that the two discounts do not hide each other.
        looks = {
            "tau_linear_sdcg": ("linear discount", figures.BLUE, "o", -0.005),
            "tau_log_sdcg": ("logarithmic discount", figures.VERMILION, "^", 0.005),
        }
        for column, (label, color, marker, shift) in looks.items():
            axes.plot(
                goes_on + shift, rows[column], linestyle="", marker=marker, markersize=3.6, color=color, alpha=0.6,
                markeredgewidth=0, label=label,
            )  # fmt: skip
        axes.legend(loc="upper left", frameon=False, fontsize=8.5, handletextpad=0.2, borderaxespad=0.1)
        axes.set_xlabel("probability that a query is followed by another, r/(r+s)")
        axes.set_ylabel("Kendall's tau with sDCG")
        axes.grid(True, axis="y")
    figures.save(result, stem)


# --- everything -----------------------------------------------------------------------------------------------------


def reproduce(
    folder: str | PathLike[str], evidence: SessionEvidence, claims: Mapping[str, Claim]
) -> list[Reproduction]:
    """Write all artefacts into a folder, and return what may be compared with the paper (none of it needs data)."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    algorithm, quantities, weights = algorithm_table(), quantities_table(), weights_table()
    found = reproductions(algorithm, quantities)
    for name, table in (("algorithm", algorithm), ("quantities", quantities), ("weights", weights)):
        write_table(folder / f"{name}.tsv", table)
    draw_weights(folder / "weights", weights)

    tables = session_tables(evidence)
    for name, table in tables.items():
        write_table(folder / f"{name}.tsv", table)
    draw_tau(folder / "tau", tables["grid"], evidence)
    tau = tables["grid"].drop(columns=["mean_linear", "mean_log"])
    write_table(folder / "tau.tsv", tau)
    with (folder / "README.md").open("w", encoding="utf-8") as file:
        file.write(readme(algorithm, quantities, tables, evidence, found, claims))
    return found


def session_tables(evidence: SessionEvidence) -> dict[str, pd.DataFrame]:
    """The tables that need sessions, each row marked as real or synthetic; empty ones where there are none."""
    if evidence.missing:
        nothing: list[JudgedSession] = []
        columns = {
            "decisions": ["open_point", "decided", "alternative", "sessions", "tau_linear", "tau_log"],
            "coverage": ["what", "count", "of", "share"],
            "sessions": list(sessions_table(nothing).columns),
            "grid": list(grid_table_columns()),
            "parameters": ["walk", "ending", "parameter", "moves", "estimate", "low", "high", "known"],
        }
        return {name: pd.DataFrame(columns=["data", *names]) for name, names in columns.items()}
    qrels = read_qrels(evidence.qrels)
    judged = judge_sessions(read_sessions(evidence.sessions), qrels)
    scored = [one for one in judged if one.topic_judged and one.lists]
    parameters, estimated = parameters_table(judged, DEFAULT if evidence.kind == "synthetic" else None)
    tables = {
        "decisions": decisions_table(scored),
        "coverage": coverage_table(judged, qrels),
        "sessions": sessions_table(judged),
        "grid": grid_table(scored, {"default": DEFAULT} | estimated),
        "parameters": parameters,
    }
    for table in tables.values():
        table.insert(0, "data", evidence.kind)
    return tables


def grid_table_columns() -> tuple[str, ...]:
    """The columns of `grid_table`."""
    return (
        "set", *MOVES, "sessions", "mean_linear", "mean_log", "tau_linear_sdcg", "tau_log_sdcg", "tau_linear_log",
        "tau_once_per_query",
    )  # fmt: skip


def readme(
    algorithm: pd.DataFrame,
    quantities: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    evidence: SessionEvidence,
    found: Sequence[Reproduction],
    claims: Mapping[str, Claim],
) -> str:
    """The page of this folder: what was reproduced, how, with what evidence, and what could not be and why."""
    fails = [one for one in found if one.value == "fails"]
    worst = algorithm["largest_deviation"].max()
    shown = quantities[
        ["quantity", "called", "is", "algorithm1", "simulated_as_called", "standard_error", "agrees"]
    ].copy()
    for name in ("algorithm1", "simulated_as_called", "standard_error"):
        shown[name] = [f"{value:.4f}" for value in shown[name]]
    p, q, r, s = DEFAULT
    parts = [
        "# ECIR 2019, electronic appendix: the Markov session measure MsM",
        "Van Dijk, Ferrante, Ferro and Kanoulas, A Markovian Approach to Evaluate Session-based IR Systems, Algorithm "
        "1. "
        "Generated; every number here is computed.",
        "## What was reproduced",
        f"Of {len(claims)} formulas, lines and descriptions in the appendix, {len(found)} were checked: "
        f"{len(found) - len(fails)} hold, {len(fails)} fail. None of these needs data.",
        "- **Algorithm 1** with matrices and inverses, line by line, against the fast path (recursions, no matrix), "
        "over "
        f"{int(algorithm['cases'].iloc[0])} cases (N in {_listed(LENGTHS)}; K in {_listed(QUERIES)}; {len(grid())} "
        "sets of p, q, r, s): "
        f"no deviation is above {worst:.0e}, and that where q is far above p and the inverse loses digits "
        "(`algorithm.tsv`).\n"
        f"- **Each quantity** against {USERS} simulated sessions (seeded; N = {SIMULATED_LENGTH}, K = "
        f"{SIMULATED_QUERIES}, "
        f"{_named(DEFAULT)}) and against linear algebra on the chain of the whole session (`quantities.tsv`). "
        "Agreement is "
        f"within {STANDARD_ERRORS} standard errors.\n"
        f"- **The weights** of documents by rank and query (`weights.svg`).",
        markdown(shown, "What the pseudo-code calls each quantity, and what it is."),
        "## What does not hold",
        "\n".join(f"- `{one.claim.removeprefix('ecir2019/')}`: {one.note}." for one in fails),
        "## Open points, as decided here",
        "- **e_Q** is added once in every query, the first included, as printed (`query_time=once`); `per_query` adds "
        "(j-1) e_Q.\n"
        "- **The sum in g(j)** is over E(i, j); the pseudo-code prints E(i).\n"
        "- **The law of the times**: rows are normalized, as the lines say, although the text promises the "
        "expectation given "
        "that the search does not end before.\n"
        f"- **pi** is the probability of reaching a query, as the lines compute it. With s/(r+s) = {s / (r + s):.4g} "
        "for h_F and 1 for h_FK, "
        "no system has to be solved for h_F, h_FK, h and pi.\n"
        "- **First and last document**: the missing move is left out and the others are rescaled, as printed. "
        "**N = 1**: the single document is both, so that only r and s remain, e(1) = 0 and e_Q = 1.\n"
        "- **q = 0**: the last row of the matrix without F and Q is all 0 and cannot be normalized; it is left so, "
        "for it is never used.\n"
        "- The heading of the printed matrix numbers its fourth column 0; 4 is meant (or lost in the transcription at "
        "hand).",
        "## Sessions",
    ]
    if evidence.missing:
        parts.append(f"Not computed: {evidence.missing}. The tables of sessions are empty.")
    else:
        parts += _session_parts(tables, evidence)
    parts += [
        "## What could not be reproduced",
        "The paper itself is not at hand, only its appendix: neither equation (1), nor the experiments, nor the "
        "values of p, q, r and s "
        "used there. The application to sessions above is therefore new, and compares with nothing printed. No runs "
        "of other systems for these sessions are at hand, so it ranks sessions, not systems. The sDCG beside it is "
        "that of Järvelin et al. (ECIR 2008) with its "
        "usual bases (2 for ranks, 4 for queries).",
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _session_parts(tables: Mapping[str, pd.DataFrame], evidence: SessionEvidence) -> list[str]:
    coverage, table, decisions = tables["coverage"], tables["grid"], tables["decisions"].copy()
    lines = [
        f"- {row.what}: {row.count} of {row.of} ({row.share:.1%})"
        for row in coverage.drop(columns="data").itertuples(name="Row", index=False)
    ]
    rows = table[table["set"] == "grid"]
    default = table[table["set"] == "default"].iloc[0]
    for name in ("tau_linear", "tau_log"):
        decisions[name] = [f"{value:.3f}" for value in decisions[name]]
    wide = tables["parameters"].assign(
        shown=lambda one: [
            f"{e:.3f} ({a:.3f} to {b:.3f})" for e, a, b in zip(one["estimate"], one["low"], one["high"], strict=True)
        ]
    )
    wide = wide.pivot(index=["walk", "ending"], columns="parameter", values="shown").reset_index()
    mark = (
        "**SYNTHETIC sessions, generated: they show that everything runs, and nothing else.** "
        if evidence.kind == "synthetic"
        else ""
    )
    ends = coverage.set_index("what").loc["sessions whose end is recorded that have one list only"]
    warning = []
    if ends["count"] == ends["of"]:
        warning.append(
            f"Take s and r with care: all {int(ends['of'])} sessions whose end is recorded have one list only, so "
            "which sessions the file breaks off decides both."
        )
    return [
        f"{mark}Data: {evidence.title}. Each list is judged by the judgements of the session's *topic* (they are not "
        "keyed by the session). "
        "The gain is the grade; spam and what is not judged have gain 0.",
        "\n".join(lines),
        f"MsM with both discounts over {len(rows)} sets of parameters, beside sDCG (`grid.tsv`, `tau.svg`): tau with "
        "sDCG goes from "
        f"{rows['tau_linear_sdcg'].min():.3f} to {rows['tau_linear_sdcg'].max():.3f} (linear) and from "
        f"{rows['tau_log_sdcg'].min():.3f} to "
        f"{rows['tau_log_sdcg'].max():.3f} (logarithmic); between the two discounts from "
        f"{rows['tau_linear_log'].min():.3f} to "
        f"{rows['tau_linear_log'].max():.3f}. With {_named(DEFAULT)} they are {default['tau_linear_sdcg']:.3f}, "
        f"{default['tau_log_sdcg']:.3f} and "
        f"{default['tau_linear_log']:.3f}; the sessions in the order of MsM are in `sessions.tsv`.",
        markdown(
            decisions.drop(columns=["data", "sessions"]),
            f"How much each decision matters: tau between the rankings of the {int(default['sessions'])} sessions "
            "with the decision and with the alternative.",
        ),
        "Parameters from the sessions' own clicks (`parameters.tsv`). A user starts each list at document 1 and goes "
        "from click to click; "
        "*steps* counts a way over several ranks as that many moves (as the chain walks), *clicks* as one; a second "
        "click on the same document is no move. Then "
        "comes the next query, or the end. *recorded*: the end counts only where the file holds the whole session "
        "(where one more query follows, the file "
        "breaks off before the end); *last list*: the last list of the file counts as the end. The estimate is the "
        "maximum "
        "likelihood of the chain with its rescaled first and last documents; in brackets 95% of a bootstrap over "
        "sessions.",
        markdown(wide, "Estimates of p, q, r and s."),
        *warning,
    ]


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
