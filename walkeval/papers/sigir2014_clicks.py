"""What click logs say about the walk of the SIGIR 2014 paper (its sections 2, 5.1 and 5.5), log by log.

The paper's log, that of the Yandex Relevance Prediction Challenge, is not among the public sources. Whoever has it puts
it at ``data/clicks/yandex``; without it three public logs stand in, and the paper's own figures stay unchecked.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from walkeval import evaluate
from walkeval.audit import Reproduction, number
from walkeval.claims import Claim
from walkeval.click_logs import ODDITIES, ClickLog, Ledger, Progress
from walkeval.clicks import (
    ClickSummary,
    QueryHolding,
    Share,
    SyntheticUser,
    holding_parameters,
    learned_transition_matrix,
    query_holding_times,
    summarize_clicks,
    transition_matrix,
    write_synthetic_log,
)
from walkeval.errors import EvidenceError, InputError, UnknownNameError
from walkeval.papers.sigir2014 import table4
from walkeval.sources import Source, fetch
from walkeval.tables import read_table, write_everywhere, write_table
from walkeval.trec import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RANKS = 10
MINIMUM_SESSIONS = 100
"""Sessions of a query whose holding times are estimated on their own (section 5.1)."""

LOGS = {
    "yandex": ("the log of the Yandex Relevance Prediction Challenge at data/clicks/yandex", "yandex", ()),
    "yandex-sample": (
        "the sample of the Yandex log in PyClick",
        "pyclick",
        ("clicks/pyclick-train", "clicks/pyclick-test"),
    ),
    "engine-sample": (
        "the log of a commercial engine in clickmodel_wc",
        "clickmodel_wc",
        ("clicks/timed-train", "clicks/timed-test"),
    ),
    "trec-session-2013": ("the TREC Session track 2013", "trec-session", ("sessions/trec2013",)),
}
"""Real logs by name: what they are, their format, and their files in the registry of sources."""

SYNTHETIC = "synthetic"
FORMATS_WITH_SESSIONS = ("yandex", "trec-session")
HOLDING_TIME = {
    "yandex": "from a click to the next action of its session, in the log's unit of time",
    "pyclick": "not recorded",
    "clickmodel_wc": "from a click to the next click on the same list, in seconds",
    "trec-session": "from the start of a click to its end, in seconds",
}
DENOMINATORS = {
    "transitions": "all transitions (from a click to the next click on the same result list)",
    "transitions without repeats": "transitions to another rank (a second click on the same rank left out)",
    "query sessions": "all query sessions (result lists that were shown)",
    "query sessions with a click": "query sessions with a click",
    "query sessions with a transition": "query sessions with a transition",
    "sessions": "all sessions (the query sessions of one user in one sitting)",
    "sessions with a transition": "sessions with a transition",
}
_BACKWARD_TRANSITIONS = "sigir2014/section5.5/backward-transitions"
_BACKWARD_USERS = "sigir2014/section2/backward-users"


@dataclass(frozen=True)
class LogEvidence:
    """The checked files of one click log, or the sentence that says what is missing."""

    log: str
    title: str
    kind: str
    """``real`` or ``synthetic``."""
    format: str
    paths: tuple[str, ...] = ()
    missing: str = ""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write as JSON."""
        Path(path).write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LogEvidence:
        """Read what `save` wrote."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls(**{**content, "paths": tuple(content["paths"])})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(path, f"is not a record of a click log ({error}); remove it and run again") from error


def files_by_hand(data: str | os.PathLike[str]) -> list[str]:
    """The original Yandex log as somebody put it there: the file ``clicks/yandex``, or the files of a folder of that
    name in the order of their names. Hidden files are left alone."""
    place = Path(data, "clicks", "yandex")
    if place.is_file():
        return [str(place)]
    if not place.is_dir():
        return []
    return sorted(str(one) for one in place.iterdir() if one.is_file() and not one.name.startswith("."))


def gather_logs(
    names: Sequence[str],
    registry: Mapping[str, Source],
    data: str | os.PathLike[str],
    mirror: str | os.PathLike[str] | None = None,
    network: bool = True,
) -> tuple[list[LogEvidence], list[str]]:
    """Fetch and check the real logs of these names. A log is used whole or not at all; one that is missing is no error.

    Returns the logs, and for the job's log the reasons why files are missing. Those name places on this machine and
    change with the weather of the network, so they do not belong into tables.
    """
    for name in names:
        if name not in LOGS:
            raise UnknownNameError("click log", name, LOGS)
    wanted = [registry[one] for name in names for one in LOGS[name][2]]
    results = {one.source.id: one for one in fetch(wanted, data, mirror, network)}
    found = []
    for log in names:
        title, log_format, sources = LOGS[log]
        paths = tuple(str(results[one].path) for one in sources) if sources else tuple(files_by_hand(data))
        absent = [one for one in sources if results[one].path is None]
        missing = ""
        if absent:
            missing = f"{', '.join(absent)} could not be fetched: go online, or name a mirror in WALKEVAL_MIRROR"
        elif not paths:
            missing = "it is not among the public sources; whoever has it puts its file or files there"
        found.append(LogEvidence(log, title, "real", log_format, () if missing else paths, missing))
    return found, [f"{name}: {one.reason}" for name, one in results.items() if one.path is None]


def refuse_lost_logs(found: Iterable[LogEvidence], published: str | os.PathLike[str], edition: str) -> None:
    """Refuse to go on where published tables (told by their ledger) stand on a log that is missing now."""
    published = Path(published)
    if not published.exists():
        return
    before = read_table(published)
    read = set(before.loc[before["kind"] == "records read", "log"])
    for one in found:
        if one.missing and one.log in read:
            raise EvidenceError(
                f"the results of {edition} stand on the click log {one.log}, which is missing now ({one.missing}); "
                f"supply it, or write elsewhere with --config results=FOLDER"
            )


def generate_log(path: str | os.PathLike[str], sessions: int) -> LogEvidence:
    """Write the synthetic log, of users who walk as `SyntheticUser` says, in the original Yandex format."""
    write_synthetic_log(path, sessions, SYNTHETIC, SyntheticUser(ranks=RANKS))
    return LogEvidence(SYNTHETIC, "a SYNTHETIC log, generated", "synthetic", "yandex", (str(path),))


@dataclass(frozen=True)
class LogStatistics:
    """What one log says: its counters, and the holding times of its frequent queries."""

    evidence: LogEvidence
    summary: ClickSummary
    holding: QueryHolding

    @property
    def log(self) -> str:
        return self.evidence.log

    @property
    def head(self) -> dict[str, str]:
        """The first columns of every table."""
        return {"log": self.evidence.log, "data": self.evidence.kind}

    def shares(self) -> dict[str, Share]:
        """Shares of backward moves, by the name of the denominator, for the denominators that the log has."""
        found = {one.name: one for one in self.summary.backward_shares()}
        if self.evidence.format not in FORMATS_WITH_SESSIONS:
            return {name: share for name, share in found.items() if not name.startswith("sessions")}
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write as an npz file."""
        counters = {one.name: getattr(self.summary, one.name) for one in fields(self.summary) if one.name not in _APART}
        facts = {
            "evidence": asdict(self.evidence),
            "counters": {name: value for name, value in counters.items() if isinstance(value, int)},
            "ledger": asdict(self.summary.ledger),
        }
        arrays = {name: value for name, value in counters.items() if isinstance(value, np.ndarray)}
        arrays |= {f"query_{one.name}": getattr(self.holding, one.name) for one in fields(self.holding)}
        with whole_file(path) as stream:
            np.savez(stream, facts=np.array(json.dumps(facts)), **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LogStatistics:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                facts = json.loads(str(stored["facts"]))
                evidence = LogEvidence(**{**facts["evidence"], "paths": tuple(facts["evidence"]["paths"])})
                summary = ClickSummary(**facts["counters"], ledger=Ledger(**facts["ledger"]))
                for name in ("counts", "clicks_by_rank", "holding_count", "holding_total"):
                    setattr(summary, name, stored[name])
                holding = QueryHolding(*(stored[f"query_{one.name}"] for one in fields(QueryHolding)))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(path, f"is not a summary of clicks ({error}); remove it and run again") from error
        return cls(evidence, summary, holding)


_APART = ("ledger", "buckets")  # the buckets only lead the second pass


def summarize_log(evidence: LogEvidence, progress: Progress | None = None) -> LogStatistics:
    """Both passes over a log; of a missing one, counters that are all 0. ``progress`` is called with the bytes read."""
    if not evidence.paths:
        return LogStatistics(evidence, ClickSummary(RANKS), QueryHolding.empty(RANKS))
    log = ClickLog(evidence.paths, evidence.format)
    summary = summarize_clicks(log, RANKS, progress)
    return LogStatistics(evidence, summary, query_holding_times(log, summary, MINIMUM_SESSIONS, progress))


def backward_table(logs: Sequence[LogStatistics], claims: Mapping[str, Claim]) -> pd.DataFrame:
    """How common it is to go backward, with every denominator that the log has.

    For a synthetic log the share that its generator aims at stands in ``known``. Beside Yandex data stands what the
    paper says of it.
    """
    rows = []
    for one in logs:
        if one.evidence.missing:
            said = {"denominator": "", "paper": "", "note": f"missing: {one.evidence.title}; {one.evidence.missing}"}
            rows.append(one.head | said)
            continue
        for name, share in one.shares().items():
            row = {"denominator": DENOMINATORS[name], "backward": share.backward, "total": share.total}
            row |= {"share": share.value, "paper": _paper_says(one, name, claims), "note": ""}
            if one.evidence.kind == "synthetic" and name.startswith("transitions"):
                row["known"] = SyntheticUser(ranks=RANKS).backward_share()
            if name == "transitions without repeats" and one.evidence.format == "clickmodel_wc":
                row["note"] = "repeats cannot be seen: the log has at most one click for each result"
            rows.append(one.head | row)
    columns = ["log", "data", "denominator", "backward", "total", "share", "known", "paper", "note"]
    table = pd.DataFrame(rows).reindex(columns=columns)
    # A missing count must not turn the others into floats.
    return table.astype({"backward": "Int64", "total": "Int64"})


def _paper_says(one: LogStatistics, denominator: str, claims: Mapping[str, Claim]) -> str:
    """The paper's figure where this denominator may be the one that it had in mind, for Yandex data only."""
    if one.evidence.kind != "real" or not one.log.startswith("yandex"):
        return ""
    if denominator.startswith("transitions"):
        claim, what = claims[_BACKWARD_TRANSITIONS], "the observed transitions"
    elif denominator.startswith("sessions") or one.evidence.format not in FORMATS_WITH_SESSIONS:
        claim, what = claims[_BACKWARD_USERS], "the users"
    else:
        return ""
    return f"{claim.printed} of {what} ({claim.where}), in the original log"


def transitions_table(logs: Sequence[LogStatistics]) -> pd.DataFrame:
    """Transitions between ranks: counts, the observed frequency of the next rank, and the learned chain's probability.

    The learned chain leaves out repeats and is smoothed (see `learned_transition_matrix`). Where nobody left a rank
    nothing was observed, and ``probability`` is empty.
    """
    rows = []
    for one in _at_hand(logs):
        counts = one.summary.counts
        observed, learned = transition_matrix(counts), learned_transition_matrix(counts)
        for origin, target in product(range(RANKS), repeat=2):
            row = {"from": origin + 1, "to": target + 1, "count": counts[origin, target]}
            rows.append(one.head | row | {"probability": observed[origin, target], "learned": learned[origin, target]})
    return pd.DataFrame(rows, columns=["log", "data", "from", "to", "count", "probability", "learned"])


def holding_table(logs: Sequence[LogStatistics]) -> pd.DataFrame:
    """The parameter of the holding time at each rank, with its 95% interval, for the logs that have times."""
    rows = []
    for one in _with_times(logs):
        count, total = one.summary.holding_count, one.summary.holding_total
        mu, low, high = holding_parameters(count, total)
        known = SyntheticUser(ranks=RANKS).mu() if one.evidence.kind == "synthetic" else np.full(RANKS, np.nan)
        for rank in range(RANKS):
            row = {"rank": rank + 1, "n": count[rank], "mean": total[rank] / count[rank] if count[rank] else math.nan}
            row |= {"mu": mu[rank], "low": low[rank], "high": high[rank], "known": known[rank]}
            rows.append(one.head | row | {"holding_time": HOLDING_TIME[one.evidence.format]})
    columns = ["log", "data", "rank", "n", "mean", "mu", "low", "high", "known", "holding_time"]
    return pd.DataFrame(rows, columns=columns)


def holding_queries_table(logs: Sequence[LogStatistics]) -> pd.DataFrame:
    """The same parameters query by query, for the queries with many sessions; empty where one time or none was seen."""
    rows = []
    for one in _with_times(logs):
        mu = holding_parameters(one.holding.count, one.holding.total).mu
        for query, sessions, parameters in zip(one.holding.query, one.holding.sessions, mu, strict=True):
            names = (f"mu_{rank}" for rank in range(1, RANKS + 1))
            rows.append(one.head | {"query": query, "sessions": sessions} | dict(zip(names, parameters, strict=True)))
    return pd.DataFrame(rows, columns=["log", "data", "query", "sessions", *(f"mu_{n}" for n in range(1, RANKS + 1))])


def mp_table(logs: Sequence[LogStatistics], claims: Mapping[str, Claim]) -> pd.DataFrame:
    """MP of the three runs of Table 4: GL_AD_ID and the chain learned from each log, in discrete and continuous time.

    Continuous time takes the parameters of the log's holding times, rank by rank over all its queries.
    """
    rows = []
    for one in _at_hand(logs):
        learned = learned_transition_matrix(one.summary.counts)
        mu = holding_parameters(one.summary.holding_count, one.summary.holding_total).mu
        for run in table4(claims).itertuples():
            gains = [int(gain) for gain in run.gains.split()]
            row = {"transitions": one.summary.counts.sum(), "run": run.run, "gains": run.gains}
            row |= {"GL_AD_ID": run.discrete, "learned": evaluate("MPChain", gains, matrix=learned)}
            unknown = [rank + 1 for rank in np.flatnonzero(gains) if math.isnan(mu[rank])]
            row["note"] = _no_times(one, unknown) if unknown else ""
            if not unknown:
                # Only the times at relevant ranks count; the others must merely be numbers.
                holding = np.where(np.isnan(mu), 1.0, mu)
                row["GL_AD_ID_continuous"] = evaluate("MP", gains, model="GL_AD_ID", holding=holding)
                row["learned_continuous"] = evaluate("MPChain", gains, matrix=learned, holding=holding)
            rows.append(one.head | row)
    columns = ["log", "data", "transitions", "run", "gains", *_VALUES, "note"]
    return pd.DataFrame(rows).reindex(columns=columns)


_VALUES = ("GL_AD_ID", "GL_AD_ID_continuous", "learned", "learned_continuous")


def _no_times(one: LogStatistics, ranks: Sequence[int]) -> str:
    if not one.summary.holding_count.any():
        return "the log has no times"
    return f"fewer than two holding times at rank {', '.join(map(str, ranks))}"


def ledger_table(logs: Sequence[LogStatistics]) -> pd.DataFrame:
    """What was read, what was odd about it and what was done, log by log; a missing log has one row that says so."""
    rows = []
    for one in logs:
        if one.evidence.missing:
            rows.append((*one.head.values(), "missing log", 0, "", f"{one.evidence.title}: {one.evidence.missing}"))
            continue
        rows.append((*one.head.values(), "records read", one.summary.ledger.records, "", one.evidence.title))
        rows += [(*one.head.values(), *row, ODDITIES[row[0]]) for row in one.summary.ledger.rows()]
        if one.summary.beyond:
            done = f"a transition from or to a rank beyond {RANKS}: in the shares, but not in the matrix of ranks"
            rows.append((*one.head.values(), "beyond the matrix", one.summary.beyond, "", done))
    return pd.DataFrame(rows, columns=["log", "data", "kind", "count", "places", "done"])


def _at_hand(logs: Sequence[LogStatistics]) -> list[LogStatistics]:
    return [one for one in logs if not one.evidence.missing]


def _with_times(logs: Sequence[LogStatistics]) -> list[LogStatistics]:
    return [one for one in logs if one.summary.holding_count.any()]


def reproductions(logs: Sequence[LogStatistics], claims: Mapping[str, Claim]) -> list[Reproduction]:
    """What the logs say about the paper's two claims on backward moves.

    Only the original log can confirm or refute them, and only if it has as many records as the paper says; anything
    else makes a note.
    """
    by_name = {one.log: one for one in _at_hand(logs) if one.evidence.kind == "real"}
    nearest = by_name.get("yandex") or by_name.get("yandex-sample")
    if nearest is None:
        return []
    shares = nearest.shares()
    names = {
        _BACKWARD_TRANSITIONS: [name for name in shares if name.startswith("transitions")],
        _BACKWARD_USERS: [name for name in shares if not name.startswith("transitions")],
    }
    words = {claim: ", ".join(_in_words(shares[name]) for name in names[claim]) for claim in names}
    needs = "needs the original Yandex log at data/clicks/yandex"
    if nearest.log == "yandex":
        records = nearest.summary.ledger.records
        sizes = [claims[f"sigir2014/section5.1/{name}"] for name in ("log-records", "assessed-records")]
        for size in sizes:
            if int(size.printed) == records:
                evidence = f"the original log ({size.what})"
                # The log knows no users, only their sessions.
                value = {_BACKWARD_TRANSITIONS: shares["transitions"].value, _BACKWARD_USERS: shares["sessions"].value}
                return [
                    Reproduction(size.claim, str(records), evidence),
                    *(Reproduction(claim, number(value[claim]), evidence, note=words[claim]) for claim in value),
                ]
        printed = " or ".join(size.printed for size in sizes)
        needs = f"the log at data/clicks/yandex has {records} records, the paper's {printed}"
    where = f"{nearest.evidence.title} ({len(nearest.holding)} queries of {MINIMUM_SESSIONS} sessions or more)"
    return [
        Reproduction(claim, "", nearest.evidence.title, note=f"{needs}; backward in {where}: {words[claim]}")
        for claim in words
    ]


def _in_words(share: Share) -> str:
    return f"{_percent(share.value)} of {share.total} {share.name}"


def write_clicks(
    folder: str | os.PathLike[str], logs: Sequence[LogStatistics], claims: Mapping[str, Claim]
) -> list[Reproduction]:
    """Write all tables and the figure into a folder, and return what they say about the paper's claims."""
    folder = Path(folder)
    table = backward_table(logs, claims)
    caption = (
        "How often users go backward: backward transitions, or sessions with at least one, as a share of each "
        "denominator. " + " ".join(f"{one.log} is {one.evidence.title}." for one in _at_hand(logs))
    )
    if any(one.evidence.kind == "synthetic" for one in logs):
        caption += " SYNTHETIC data; not comparable with the paper."
    elif table["paper"].any():
        caption += " What the paper says of the original Yandex log stands beside Yandex data, for information."
    shown = table.assign(**{name: [_percent(share) for share in table[name]] for name in ("share", "known")})
    empty = [name for name in ("known", "paper", "note") if not shown[name].any()]
    write_everywhere(folder / "clicks-backward", table, caption, shown.drop(columns=empty))
    write_table(folder / "clicks-transitions.tsv", transitions_table(logs))
    write_table(folder / "clicks-holding.tsv", holding_table(logs))
    write_table(folder / "clicks-holding-queries.tsv", holding_queries_table(logs))
    write_table(folder / "clicks-mp.tsv", mp_table(logs, claims))
    write_table(folder / "clicks-ledger.tsv", ledger_table(logs))
    plot_transitions(folder / "clicks-transitions", logs)
    return reproductions(logs, claims)


def plot_transitions(stem: str | os.PathLike[str], logs: Sequence[LogStatistics]) -> None:
    """Draw ``stem.svg`` and ``stem.pdf``: for each log at hand a heat map of the observed next rank, given the rank."""
    from walkeval import figures  # matplotlib is only needed here

    shown = _at_hand(logs)
    heading = "Transitions between clicked ranks"
    synthetic = any(one.evidence.kind == "synthetic" for one in logs)
    if not shown:
        figures.save(figures.message_sheet(heading, "No click log is at hand.", "No click log is at hand."), stem)
        return
    caption = (
        "Of the transitions that leave a rank (row), the share that leads to each rank (column), in hundredths; the "
        "darker the more. Below the diagonal users go backward; on it they click the same rank again. An empty cell "
        "was never seen, and a gray row is a rank that nobody left."
    )
    columns = min(len(shown), 2)
    width = figures.WIDTH if columns == 2 else 3.6
    side = (width - 0.45 - 0.1 - 0.4 * (columns - 1)) / columns
    with figures.style():
        drawn = figures.sheet(
            heading, caption, [side] * -(-len(shown) // columns), columns=columns, width=width,
            left=0.45, right=0.1, above=0.42, between=0.4, synthetic=synthetic,
        )  # fmt: skip
        for panel in drawn.panels[len(shown) :]:
            panel.set_axis_off()
        for panel, one in zip(drawn.panels, shown, strict=False):
            _draw_transitions(panel, one.summary.counts)
            share = one.shares()["transitions"]
            panel.set_title(f"{one.log}\n{share.total} transitions, {_percent(share.value)} backward", size=8)
    figures.save(drawn, stem)


def _draw_transitions(panel: Axes, counts: NDArray[np.int64]) -> None:
    """One heat map, with the hundredths in its cells."""
    from matplotlib import colormaps

    matrix = transition_matrix(counts)
    # Few cells are above one half, and those by chance: a wider scale would make all others alike.
    colors = colormaps["cividis_r"].with_extremes(bad="#dddddd")
    panel.pcolormesh(matrix, cmap=colors, vmin=0.0, vmax=0.5, edgecolors="white", linewidth=0.4)
    for row, column in zip(*np.nonzero(counts), strict=True):
        probability = matrix[row, column]
        panel.text(
            column + 0.5, row + 0.52, f"{100 * probability:.0f}", size=6.5, ha="center", va="center_baseline",
            color="white" if probability > 0.25 else "black",
        )  # fmt: skip
    places = np.arange(RANKS) + 0.5
    panel.set_xticks(places, range(1, RANKS + 1))
    panel.set_yticks(places, range(1, RANKS + 1))
    panel.set_ylim(RANKS, 0)
    panel.set_xlabel("to rank", labelpad=1)
    panel.set_ylabel("from rank", labelpad=1)
    panel.tick_params(length=0)
    for spine in panel.spines.values():
        spine.set_visible(False)


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{share:.2%}"
