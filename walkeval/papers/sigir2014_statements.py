"""Ferrante, Ferro and Maistro, SIGIR 2014: what the paper says in words and formulas, checked without any data.

Formulas are checked on random lists against the paper's own linear systems; statements about the tables are checked on
the tables as printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from walkeval import evaluate
from walkeval.audit import Reproduction
from walkeval.claims import Claim
from walkeval.measures.markov_precision import model_names
from walkeval.papers.sigir2014 import table4
from walkeval.reference import markov_precision as reference
from walkeval.seeds import generator

TOLERANCE = 1e-10
LISTS = 200
KERNELS: dict[str, Callable] = {
    "ID": reference.inverse_distance(),
    "LID": reference.logarithmic_inverse_distance(2),
    "constant": reference.constant(),
}


def random_lists(name: str, count: int = LISTS) -> list[list[int]]:
    """Lists of 1 to 30 documents of which about a third are relevant, and at least one."""
    random = generator(f"sigir2014/{name}")
    lists = []
    while len(lists) < count:
        gains = (random.random(int(random.integers(1, 31))) < 1 / 3).astype(int).tolist()
        if any(gains):
            lists.append(gains)
    return lists


def reproductions(claims: Mapping[str, Claim]) -> list[Reproduction]:
    """The verdicts' raw material for formulas and statements."""
    return [
        _average_precision(),
        _watched_chain(),
        _local_models(),
        _never_below(claims),
        _jumps(claims),
        _continuous_smaller(claims),
        _fast_convergence(),
    ]


def _holds(claim: str, holds: bool, evidence: str, note: str) -> Reproduction:
    return Reproduction(f"sigir2014/{claim}", "holds" if holds else "fails", evidence, note=note)


def _average_precision() -> Reproduction:
    """MP with the constant kernel, times recall, is AP: also where the list misses relevant documents."""
    worst = 0.0
    for missing, gains in enumerate(random_lists("ap-identity")):
        base = sum(gains) + missing % 4
        value = evaluate("MP", gains, base, model="GL_AD_constant", rescale="recall")
        worst = max(worst, abs(value - evaluate("AP", gains, base)))
    return _holds("section4.2/ap-identity", worst < TOLERANCE, f"{LISTS} random lists", f"largest deviation {worst:.0e}")


def _watched_chain() -> Reproduction:
    """The closed form of the AD models is the invariant law of the chain that solves system (8)."""
    worst = 0.0
    for gains in random_lists("system8"):
        for model in model_names(("ID", "LID")):
            connectedness, space, kernel = model.split("_")
            if space == "AD":
                literal = reference.markov_precision(gains, connectedness, space, KERNELS[kernel])
                worst = max(worst, abs(evaluate("MP", gains, model=model) - literal))
    note = f"largest deviation of the closed form from the solved systems {worst:.0e}; the sum in (8) is over k not in R"
    return _holds("section4.3.1/system8", worst < TOLERANCE, f"{LISTS} random lists", note)


def _local_models() -> Reproduction:
    worst = 0.0
    for gains in random_lists("footnote4"):
        values = [reference.markov_precision(gains, "LO", "AD", KERNELS[kernel]) for kernel in ("ID", "LID")]
        worst = max(worst, abs(values[0] - values[1]))
    note = "every step of a local chain over all documents has distance 1, so the kernel cancels; the footnote prints LO_AD_ID twice"
    return _holds("footnote4/local-models-equal", worst < TOLERANCE, f"{LISTS} random lists", note)


def _table3(claims: Mapping[str, Claim], measures: tuple[str, ...]) -> dict[str, float]:
    """The printed values of Table 3 for these measures; a doubtful one counts by its lowest reading."""
    return {
        name: min(float(one) for one in claim.readings)
        for name, claim in claims.items()
        if name.startswith("sigir2014/table3/") and name.rpartition("/")[2] in measures
    }


def _never_below(claims: Mapping[str, Claim]) -> Reproduction:
    values = _table3(claims, ("AP", "P@10", "Rprec"))
    least = min(values, key=values.get)
    note = f"the least printed value is {values[least]:.4f} ({least.removeprefix('sigir2014/table3/')})"
    return _holds("section5.2/never-below-0.70", values[least] >= 0.70, "Table 3 as printed", note)


def _jumps(claims: Mapping[str, Claim]) -> Reproduction:
    values = {
        name: value
        for name, value in _table3(claims, ("AP",)).items()
        if name.split("/")[3] in ("GL_AD_LID@Rec", "LO_AD_ID@Rec")
    }
    note = f"the printed values go from {min(values.values()):.4f} to {max(values.values()):.4f}"
    holds = all(0.97 <= value <= 1.00 for value in values.values())
    return _holds("section5.2/rec-jumps", holds, "Table 3 as printed", note)


def _continuous_smaller(claims: Mapping[str, Claim]) -> Reproduction:
    table = table4(claims)
    discrete, continuous = table["discrete"].tolist(), table["continuous"].tolist()
    holds = discrete == sorted(discrete, reverse=True) and continuous[0] == min(continuous)
    return _holds("section5.5/continuous-smaller", holds, "Table 4 recomputed", "")


def _fast_convergence() -> Reproduction:
    """How far ten steps from the first relevant document are from the long run, as the largest error of MP."""
    worst: dict[str, float] = {}
    for gains in random_lists("remark1", 60):
        relevant = [rank for rank, gain in enumerate(gains, start=1) if gain]
        precision = np.array([sum(gains[:rank]) / rank for rank in relevant])
        for model in model_names(("ID",)):
            connectedness, space, kernel = model.split("_")
            states = range(1, len(gains) + 1) if space == "AD" else relevant
            if len(states) < 2 or len(relevant) < 2:
                continue
            chain = reference.transition_matrix(list(states), connectedness, KERNELS[kernel])
            if space == "AD":
                chain = reference.watched_on(chain, [rank - 1 for rank in relevant])
            after = np.linalg.matrix_power(chain, 10)[0] @ precision
            exact = evaluate("MP", gains, model=model)
            worst[model] = max(worst.get(model, 0.0), abs(float(after) - exact))
    words = ", ".join(f"{model} {value:.2g}" for model, value in worst.items())
    note = (
        f"the paper sets no measure of a reasonable approximation; measured on 60 random lists, the largest error of MP after "
        f"10 steps from the first relevant document is {words} (a chain that can only alternate never converges)"
    )
    return Reproduction("sigir2014/remark1/fast-convergence", "", "the formula", note=note)
