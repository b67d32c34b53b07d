"""For notebooks and the command line: the chain of a measure's user, the law of P@H, and scores as data frames.

`chain` and `distribution` give objects that show themselves in a notebook (as a drawing), in text (``text()``) and on
an axis of matplotlib (``draw(axes)``); `scores` takes and gives pandas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import ParameterError
from walkeval.measures import Measure, parse_measure
from walkeval.measures.classical import AP, DCG, ERR, RBP, RR, P, R, Rprec, discount, nDCG
from walkeval.measures.markov_precision import MP, MPChain, stationary_law
from walkeval.measures.navigation import EPRUM
from walkeval.measures.search_length import ESL, ESLRF
from walkeval.measures.session import MsM, sDCG
from walkeval.measures.stopping_time import (
    DFBM,
    PH,
    SFBM,
    BrowsingModel,
    average_precision,
    discounted_cumulated_gain,
    expected_reciprocal_rank,
    expected_steps,
)
from walkeval.ranked import RankedLists
from walkeval.stopping_law import Law, precision_law

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from walkeval.trec import Qrels, Run

Floats = NDArray[np.float64]
_ACROSS = 6
"""Ranks in one line of a drawing in text."""
_MOST_STATES = 12
"""States up to which a whole matrix is written out."""


# --- chains ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Chain:
    """How a user walks over the ranks of one list."""

    ranks: tuple[int, ...]
    """The ranks that the user can be at."""
    matrix: Floats
    """Probability of a step from one of these ranks (row) to another (column)."""
    stop: Floats
    """Probability of stopping at each of them; 0 for a user who walks for ever."""
    relevant: frozenset[int]
    length: int
    effort: float
    """Expected number of documents visited, repeated visits counted; infinite for a user who does not stop."""

    @property
    def share(self) -> Floats:
        """Where the user is in the long run or, if there is an end, the expected share of the visits."""
        if not self.stop.any():
            return stationary_law(self.matrix)
        start = np.zeros(len(self.ranks))
        start[0] = 1.0
        visits = np.linalg.solve(np.eye(len(self.ranks)) - self.matrix.T, start)
        return visits / visits.sum()

    def text(self) -> str:
        """A drawing of letters: ranks in a row with steps forward above and back below, or else the matrix.

        >>> print(chain("PH", [1, 0, 1]).text())
                   0.75       0.50
             [1]* ----> [2]  ----> [3]*
                  <----      <----
                   0.25       0.25
        stop 0.25       0.25       0.75
        """
        places = np.arange(len(self.ranks))
        near = np.abs(np.subtract.outer(places, places)) <= 1
        if not (self.matrix[~near] > 0).any():
            return "\n\n".join(self._row(first) for first in range(0, len(self.ranks), _ACROSS))
        return self._table()

    def _row(self, first: int) -> str:
        chosen = range(first, min(first + _ACROSS, len(self.ranks)))
        on, nodes, back, probability, ends = ([""] for _ in range(5))
        for place in chosen:
            rank = self.ranks[place]
            node = f"[{rank}]{'*' if rank in self.relevant else ' '}"
            nodes[0] += node
            there = place + 1 < len(self.ranks)
            # What is left at the last rank goes on below the list.
            left = 1 - self.matrix[place].sum() - self.stop[place]
            forward = self.matrix[place, place + 1] if there else left if left > 1e-9 else 0.0
            backward = self.matrix[place + 1, place] if there else 0.0
            gap = " " * len(node)
            on[0] += gap + (f"  {forward:.2f}  " if forward else " " * 7)[:7]
            back[0] += gap + (" <---- " if backward else " " * 7)
            probability[0] += gap + (f"  {backward:.2f}  " if backward else " " * 7)[:7]
            nodes[0] += " ----> " if forward else " " * 7
            nodes[0] += "..." if forward and not there else ""
            ends[0] += f"{self.stop[place]:.2f}".ljust(len(node) + 7)
        lines = [on[0], nodes[0], back[0], probability[0]]
        if self.stop.any():
            lines.append("stop " + ends[0])
            lines = ["     " + line if not line.startswith("stop") else line for line in lines]
        return "\n".join(line.rstrip() for line in lines if line.strip())

    def _table(self) -> str:
        shown = self.ranks[:_MOST_STATES]
        rows = [["from \\ to", *map(str, shown)]]
        for place, rank in enumerate(shown):
            steps = self.matrix[place, : len(shown)]
            rows.append(
                [f"{rank}{'*' if rank in self.relevant else ''}", *(f"{one:.2f}" if one else "." for one in steps)]
            )
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
        if len(self.ranks) > len(shown):
            lines.append(f"(the first {len(shown)} of {len(self.ranks)} ranks)")
        return "\n".join(lines)

    def draw(self, axes: Axes) -> None:
        """Draw on an axis: steps forward above, steps back below; relevant ranks are grey."""
        from walkeval.figures import draw_chain

        shown = [place for place, rank in enumerate(self.ranks) if rank <= _MOST_STATES]
        draw_chain(
            axes,
            self.matrix[np.ix_(shown, shown)],
            [self.ranks[place] for place in shown],
            min(self.length, _MOST_STATES),
            grey=sorted(self.relevant),
        )

    def _repr_html_(self) -> str:
        return _svg(self.draw, "The chain; relevant ranks are grey", 1.8)


def chain(measure: Measure | str, gains: Sequence[float | None], recall_base: int | None = None) -> Chain | None:
    """The walk of a measure's user over a list of these gains; None if the measure has no user who walks.

    >>> chain('MP(model="LO_OR_ID")', [1, 0, 1, 1]).matrix.round(2).tolist()
    [[0.0, 1.0, 0.0], [0.4, 0.0, 0.6], [0.0, 1.0, 0.0]]
    >>> chain("bpref", [1, 0]) is None
    True
    """
    measure = parse_measure(measure) if isinstance(measure, str) else measure
    values = np.array([0.0 if one is None else one for one in gains], dtype=np.float64)
    relevant = frozenset((np.flatnonzero(values > 0) + 1).tolist())
    if not len(values):
        return None
    if isinstance(measure, (MP, MPChain)):
        return _endless(measure, values, relevant)
    if isinstance(measure, MsM):
        return _session(measure, values, relevant)
    found = _browsing(measure, values, len(relevant) if recall_base is None else recall_base)
    if found is None:
        return None
    model, seen = found
    steps = model.transitions(seen)
    ends = np.flatnonzero(steps.forward == 0)
    if len(ends):
        # Nobody gets below a rank that nobody leaves downward.
        seen = seen[: ends[0] + 1]
        steps = model.transitions(seen)
    matrix = np.diag(steps.forward[:-1], 1) + np.diag(steps.backward[1:], -1)
    effort = expected_steps(model, seen)
    return Chain(tuple(range(1, len(seen) + 1)), matrix, steps.stop, relevant, len(seen), effort)


def _endless(measure: MP | MPChain, gains: Floats, relevant: frozenset[int]) -> Chain | None:
    """The chain of Markov Precision, equations (9) and (10) of SIGIR 2014."""
    if isinstance(measure, MPChain):
        matrix = np.array(measure.matrix)
        ranks = list(range(1, len(matrix) + 1))
    else:
        connectedness, space, kernel = measure.model_parts()
        ranks = list(range(1, len(gains) + 1)) if space == "AD" else sorted(relevant)
        if not ranks:
            return None
        weight = kernel.table(len(gains))[np.abs(np.subtract.outer(ranks, ranks))]
        if connectedness == "LO":
            place = np.arange(len(ranks))
            weight[np.abs(np.subtract.outer(place, place)) != 1] = 0
        # A user who has nowhere to go stays.
        matrix = weight / weight.sum(axis=1, keepdims=True) if len(ranks) > 1 else np.ones((1, 1))
    length = max(len(gains), len(matrix))
    return Chain(tuple(ranks), matrix, np.zeros(len(ranks)), relevant, length, float("inf"))


def _session(measure: MsM, gains: Floats, relevant: frozenset[int]) -> Chain:
    """One query of a session: whoever moves on to the next query, or ends the session, stops here."""
    size = len(gains)
    forward, backward, leave = np.full(size, measure.p), np.full(size, measure.q), np.full(size, measure.r + measure.s)
    forward[-1] = backward[0] = 0.0
    total = forward + backward + leave
    matrix = np.diag((forward / total)[:-1], 1) + np.diag((backward / total)[1:], -1)
    visits = np.linalg.solve(np.eye(size) - matrix, np.ones(size))
    return Chain(tuple(range(1, size + 1)), matrix, leave / total, relevant, size, float(visits[0]))


def _browsing(measure: Measure, gains: Floats, base: int) -> tuple[BrowsingModel, Floats] | None:
    """The browsing model of a user who starts at the top and stops somewhere, and the list that she sees."""
    if isinstance(measure, PH):
        return measure.model, gains[: measure.depth]
    if isinstance(measure, AP) or (isinstance(measure, EPRUM) and measure.level is None):
        found = int((gains > 0).sum())
        return (average_precision(None if base == found else base).model, gains) if found else None
    if isinstance(measure, RBP):
        return SFBM(measure.p, last="continue"), gains
    if isinstance(measure, (P, R, Rprec)):
        depth = base if isinstance(measure, Rprec) else measure.k or len(gains)
        return (DFBM(), np.append(gains, np.zeros(depth))[:depth]) if depth else None
    if isinstance(measure, (DCG, nDCG, sDCG)):
        logarithm = measure.b if isinstance(measure, sDCG) else measure.base
        depth = None if isinstance(measure, sDCG) else measure.k
        if logarithm is not None:
            return discounted_cumulated_gain(logarithm).model, gains[:depth]
        return BrowsingModel(lambda ranks, _: discount(ranks, None) / discount(ranks + 1, None)), gains[:depth]
    if isinstance(measure, ERR):
        return expected_reciprocal_rank(max(1.0, float(gains.max()))).model, gains[: measure.k]
    wanted = 1 if isinstance(measure, RR) else measure.wanted if isinstance(measure, (ESL, ESLRF)) else None
    if isinstance(measure, EPRUM):
        wanted = int(np.ceil(measure.level * base - 1e-9))
    if wanted is None:
        return None
    # She reads on until she has found what she wants, at the latest to the end.
    return BrowsingModel(lambda ranks, values: np.where(np.cumsum(values > 0) >= wanted, 0.0, 1.0)), gains


# --- weights --------------------------------------------------------------------------------------------------------


def rank_weights(measure: Measure | str, gains: Sequence[float | None], recall_base: int | None = None) -> Floats:
    """What a relevant document at each rank adds to the score of this list.

    At a relevant rank: the score less that of the same list with this document not relevant. Elsewhere: the score that
    the list would have if one relevant document more existed and stood here (with gain 1), less the score if it existed
    and were not retrieved. Either way the two lists differ in this rank only.

    >>> rank_weights("P@2", [1, 0, 0]).tolist()
    [0.5, 0.5, 0.0]
    """
    measure = parse_measure(measure) if isinstance(measure, str) else measure
    values = [0.0 if one is None else float(one) for one in gains]
    found = sum(one > 0 for one in values)
    base = found if recall_base is None else recall_base
    more = max(base, found + 1)
    rows, bases = [values, values], [base, more]
    for rank, one in enumerate(values):
        rows.append([*values[:rank], 0.0 if one > 0 else 1.0, *values[rank + 1 :]])
        bases.append(base if one > 0 else more)
    lists = RankedLists.from_gains(rows, recall_base=bases, max_gain=max([1.0, *values]))
    score, score_with_more, *changed = measure.score(lists)
    pairs = zip(values, changed, strict=True)
    return np.array([(score - other) if one > 0 else (other - score_with_more) for one, other in pairs])


# --- laws -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Distribution:
    """The law of P@H on one list, for showing; the law itself is `law`."""

    law: Law
    heading: str

    def text(self, rows: int = 12) -> str:
        """Values with their probability and that of at most so much; equal parts of the users where there are many."""
        law = self.law
        if len(law.support) <= rows:
            chosen = np.arange(len(law.support))
        else:
            chosen = np.unique(
                np.searchsorted(law.cumulative, np.linspace(1 / rows, 1, rows) - 1e-12).clip(max=len(law.support) - 1)
            )
        lines = ["   value  at most"]
        for place in chosen:
            reached = law.cumulative[place]
            lines.append(f"{law.support[place]:8.4f}  {reached:7.4f}  {'#' * round(40 * reached)}")
        if len(chosen) < len(law.support):
            lines.append(f"({len(law.support)} values in all)")
        return "\n".join(lines)

    def draw(self, axes: Axes, label: str | None = None, color: str | None = None) -> None:
        """Draw the distribution function on an axis."""
        values = np.concatenate(([0.0], self.law.support, [max(1.0, float(self.law.support[-1]))]))
        reached = np.concatenate(([0.0], self.law.cumulative, [1.0]))
        axes.step(values, reached, where="post", label=label, color=color, linewidth=1.2)
        axes.set(xlabel="P@H", ylabel="users with at most so much", ylim=(0, 1.02))

    def _repr_html_(self) -> str:
        return _svg(self.draw, self.heading, 2.2)


def distribution(measure: Measure | str, gains: Sequence[float | None]) -> Distribution:
    """The law of P@H on a list of these gains.

    >>> found = distribution('PH(browsing="SFBM",p=0.5)', [1, 0, 0])
    >>> found.law.support.round(3).tolist(), round(found.law.mean, 4)
    ([0.333, 0.5, 1.0], 0.7083)
    """
    measure = parse_measure(measure) if isinstance(measure, str) else measure
    if not isinstance(measure, PH):
        raise ParameterError(f"{measure.name} has no law of P@H; a PH measure has")
    values = [0.0 if one is None else float(one) for one in gains][: measure.depth]
    return Distribution(list_law(measure, values), f"Law of {measure.name}")


def list_law(measure: PH, gains: Sequence[float]) -> Law:
    """The law of a P@H on one list; a list that retrieves nothing has the value 0."""
    if not len(gains):
        return Law.of([0.0], [1.0])
    return precision_law(measure.model, gains, measure.loss, measure.effort)


def _svg(draw, heading: str, height: float) -> str:
    """A drawing as SVG, for a notebook."""
    from io import StringIO

    from walkeval.figures import sheet, style

    with style():
        result = sheet(heading, "", [height])
        draw(result.panels[0])
        text = StringIO()
        result.figure.savefig(text, format="svg")
    return text.getvalue()[text.getvalue().index("<svg") :]


# --- data frames ----------------------------------------------------------------------------------------------------

_COLUMNS = {
    "topic": ("topic", "query_id", "qid", "query"),
    "document": ("document", "doc_id", "docno", "docid"),
    "grade": ("grade", "relevance", "label", "rel"),
    "score": ("score",),
}


def scores(
    qrels: pd.DataFrame | str | PathLike[str],
    runs: Mapping[str, pd.DataFrame | str | PathLike[str]],
    measures: Sequence[str],
    order: str = "trec_eval9",
    min_grade: int = 1,
    graded: bool = True,
) -> pd.DataFrame:
    """Scores by run, topic and measure as a data frame with these columns and ``value``.

    Judgements and runs are data frames or files. Columns may be called as in ir_datasets (query_id, doc_id, relevance,
    score), as in PyTerrier (qid, docno, label, score) or topic, document, grade, score. Topics that a run lacks are in
    the frame, as lists that retrieve nothing. Gains are grades, or 1 for every relevant document without ``graded``.

    >>> import pandas as pd
    >>> qrels = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [1, 0]})
    >>> run = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "a"], "score": [2.0, 1.0]})
    >>> scores(qrels, {"mine": run}, ["RR"])["value"].tolist()
    [0.5]
    """
    import pandas as pd

    from walkeval.judging import judge
    from walkeval.scoring import score_collection
    from walkeval.trec import Qrels, Run

    judgements: Qrels | str | PathLike[str] = qrels
    if isinstance(qrels, pd.DataFrame):
        judgements = Qrels.from_records(
            _records(qrels, ("topic", "document", "grade"), "the judgements"), "the judgements"
        )
    read: dict[str, Run | str | PathLike[str]] = {}
    for name, one in runs.items():
        is_frame = isinstance(one, pd.DataFrame)
        read[name] = Run.from_records(_records(one, ("topic", "document", "score"), name), name) if is_frame else one
    found = score_collection(judge(judgements, read, order=order), measures, min_grade=min_grade, graded=graded)
    index = pd.MultiIndex.from_product([found.runs, found.topics, found.measures], names=["run", "topic", "measure"])
    return pd.DataFrame({"value": found.values.transpose(1, 2, 0).ravel()}, index=index).reset_index()


def _records(frame: pd.DataFrame, wanted: Sequence[str], name: str):
    columns = []
    for one in wanted:
        known = [column for column in _COLUMNS[one] if column in frame.columns]
        if not known:
            raise ParameterError(f"{name}: no column for the {one}; call it {' or '.join(_COLUMNS[one])}")
        columns.append(frame[known[0]])
    return zip(*columns, strict=True)
