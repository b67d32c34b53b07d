"""The classical measures, from their formulas.

Numbers in brackets are those of the SIGIR 2014 paper ((1) to (5)) and of the ICTIR 2020 paper ((10), (11)).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

Gains = Sequence[float | None]


def gain_of(gain: float | None) -> float:
    """The gain that a user gets: an unjudged document gives none."""
    return 0.0 if gain is None else float(gain)


def is_relevant(gain: float | None) -> bool:
    """Any gain above 0 is relevant; unjudged is not."""
    return gain_of(gain) > 0


def relevant_ranks(gains: Gains) -> list[int]:
    """The set R of the SIGIR 2014 paper: ranks, from 1, of the relevant documents."""
    return [rank for rank, gain in enumerate(gains, start=1) if is_relevant(gain)]


def _base(gains: Gains, recall_base: int | None) -> int:
    return len(relevant_ranks(gains)) if recall_base is None else recall_base


def precision_at(gains: Gains, k: int) -> float:
    """Prec(k) = (1/k) sum of a_m over the first k ranks (1); ranks beyond the end hold nothing.

    >>> precision_at([1, 0, 1], 2)
    0.5
    """
    return sum(1 for rank in relevant_ranks(gains) if rank <= k) / k


def recall_at(gains: Gains, k: int, recall_base: int | None = None) -> float:
    """Relevant documents among the first k, over the recall base; Rec(T) of (2) with k = T."""
    base = _base(gains, recall_base)
    if base == 0:
        return 0.0
    return sum(1 for rank in relevant_ranks(gains) if rank <= k) / base


def average_precision(gains: Gains, recall_base: int | None = None) -> float:
    """AP = (1/RB) sum of Prec(i) over the relevant ranks (3).

    >>> average_precision([1, 0, 1, 0], recall_base=2)
    0.8333333333333333
    """
    base = _base(gains, recall_base)
    if base == 0:
        return 0.0
    return sum(precision_at(gains, rank) for rank in relevant_ranks(gains)) / base


def r_precision(gains: Gains, recall_base: int | None = None) -> float:
    """Prec(RB)."""
    base = _base(gains, recall_base)
    return 0.0 if base == 0 else precision_at(gains, base)


def reciprocal_rank(gains: Gains) -> float:
    """One over the rank of the first relevant document; 0 if there is none."""
    ranks = relevant_ranks(gains)
    return 1 / ranks[0] if ranks else 0.0


def rbp(gains: Gains, p: float) -> float:
    """RBP = (1-p) sum of r[i] p^(i-1): (4) for binary gains, (9) of the ICTIR 2020 paper for graded ones."""
    return (1 - p) * sum(gain_of(gain) * p ** (rank - 1) for rank, gain in enumerate(gains, start=1))


def _nonrelevant_before(gains: Gains, rank: int) -> int:
    """Judged nonrelevant documents above a rank; the unjudged are passed over."""
    return sum(1 for gain in gains[: rank - 1] if gain is not None and not is_relevant(gain))


def bpref_paper(gains: Gains, recall_base: int, nonrelevant_base: int) -> float:
    """Formula (5): j runs over the first RB nonrelevant retrieved judged documents.

    bpref = (1/RB) sum over relevant i of (1 - |j ranked higher than i| / min(RB, NRB)).
    """
    if recall_base == 0:
        return 0.0
    nonrelevant = [rank for rank, gain in enumerate(gains, start=1) if gain is not None and not is_relevant(gain)]
    first = nonrelevant[:recall_base]
    total = 0.0
    for i in relevant_ranks(gains):
        higher = sum(1 for j in first if j < i)
        # 0 of 0 preferences broken is no fault.
        total += 1 - (higher / min(recall_base, nonrelevant_base) if higher else 0.0)
    return total / recall_base


def bpref_trec_eval(gains: Gains, recall_base: int, nonrelevant_base: int) -> float:
    """bpref of trec_eval from version 7.4 on: 1 - min(n, R) / min(R, N), N the judged nonrelevant in the pool."""
    if recall_base == 0:
        return 0.0
    total = 0.0
    for rank in relevant_ranks(gains):
        before = _nonrelevant_before(gains, rank)
        total += 1 - (min(before, recall_base) / min(recall_base, nonrelevant_base) if before else 0.0)
    return total / recall_base


def bpref_trec_eval_before_2006(gains: Gains, recall_base: int, nonrelevant_base: int) -> float:
    """bpref of trec_eval up to version 7.3: the same with N the judged nonrelevant that the run *retrieves*.

    trec_eval's change log (entries of November 2005, versions 7.4 and 8.0) names the fault: it divided by the
    number of nonrelevant documents retrieved instead of the number judged, which shows when fewer than R are
    retrieved. Later versions kept it as ``old_bpref``. The pool's nonrelevant documents therefore play no part.
    """
    if recall_base == 0:
        return 0.0
    retrieved = _nonrelevant_before(gains, len(gains) + 1)
    total = 0.0
    for rank in relevant_ranks(gains):
        before = _nonrelevant_before(gains, rank)
        total += 1 - (min(before, recall_base) / min(recall_base, retrieved) if before else 0.0)
    return total / recall_base


def dcg_base(gains: Gains, base: float) -> float:
    """DCG_b = sum of r[i] / max(1, log_b i) (10), with w(r) = r.

    >>> dcg_base([1, 1, 0, 1], 2)
    2.5
    """
    return sum(gain_of(gain) / max(1.0, log(rank) / log(base)) for rank, gain in enumerate(gains, start=1))


def dcg_trec_eval(gains: Gains) -> float:
    """The discount of trec_eval: sum of r[i] / log2(i + 1)."""
    return sum(gain_of(gain) / (log(rank + 1) / log(2)) for rank, gain in enumerate(gains, start=1))


def _ideal(ideal_gains: Gains) -> list[float]:
    return sorted((gain_of(gain) for gain in ideal_gains), reverse=True)


def ndcg_base(gains: Gains, ideal_gains: Gains, base: float) -> float:
    """dcg_base over that of all the topic's gains in descending order, to the full depth of the ideal list."""
    best = dcg_base(_ideal(ideal_gains), base)
    return dcg_base(gains, base) / best if best > 0 else 0.0


def ndcg_trec_eval(gains: Gains, ideal_gains: Gains) -> float:
    """dcg_trec_eval over that of all the topic's gains in descending order, to the full depth of the ideal list."""
    best = dcg_trec_eval(_ideal(ideal_gains))
    return dcg_trec_eval(gains) / best if best > 0 else 0.0


def err(gains: Gains, max_grade: float) -> float:
    """ERR = sum over i of (1/i) R_i times the product of (1 - R_j), j < i (11), R = (2^grade - 1) / 2^max_grade.

    >>> err([1, 1], 1)
    0.625
    """
    satisfied = [(2 ** gain_of(gain) - 1) / 2**max_grade for gain in gains]
    total = 0.0
    for i in range(1, len(gains) + 1):
        product = 1.0
        for j in range(1, i):
            product *= 1 - satisfied[j - 1]
        total += product * satisfied[i - 1] / i
    return total
