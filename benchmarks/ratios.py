"""How many times faster than its peers: each row is measured on the same files, in turns, and the results are compared.

A ratio is the peer's time over ours. A peer that computes something else than walkeval stops the benchmark: a ratio
between different results says nothing.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytrec_eval
from numpy.typing import NDArray

from benchmarks.files import Files
from benchmarks.timing import Seconds, Stopwatch, best, in_turns, repeated
from walkeval.judging import JudgedCollection, judge
from walkeval.measures import parse_measure
from walkeval.measures.stopping_time import RWBM, expected_precision
from walkeval.papers.sigir2014 import measures, models
from walkeval.pools import downsample, write_qrels
from walkeval.ranked import RankedLists
from walkeval.reference import markov_precision as reference
from walkeval.scoring import Scores, score_collection
from walkeval.stopping_law import simulate

COLUMNS = ["what", "peer", "ours_s", "peer_s", "ratio", "ours_cpu_s", "peer_cpu_s", "cpu_ratio", "wanted", "note"]
CLASSICAL = ["AP", "P@10", "Rprec", "bpref"]
"""What the peers compute; ours computes these, RBP and all 16 variants of MP in the same time."""
PYTREC_EVAL = {"AP": "map", "P@10": "P_10", "Rprec": "Rprec", "bpref": "bpref"}
IR_MEASURES = [ir_measures.AP, ir_measures.P @ 10, ir_measures.Rprec, ir_measures.Bpref]
ORDER = "trec_eval9"
"""The order of equal scores that the peers have."""
TOLERANCE = 1e-9
KERNELS = {"ID": reference.inverse_distance(), "LID": reference.logarithmic_inverse_distance(2)}
LOSS = 0.25
USERS = ((0.5, 0.25), (0.7, 0.2), (0.8, 0.195))
"""Random walks of increasing patience: probability of a step forward and back."""
PILOT_USERS = 20_000


@dataclass(frozen=True)
class Plan:
    """How often each side runs."""

    rounds: int = 3
    slow_rounds: int = 2
    """Of peers that take long."""
    quick_rounds: int = 20
    """Of what takes milliseconds."""
    standard_error: float = 1e-4
    """Of the simulated E[P@H]: half a unit of the fourth decimal is 5e-5."""
    most_users: int = 200_000
    """Simulated at most; the time of more is that of these, scaled up."""


def row(
    what: str, peer: str, ours: Seconds | None, theirs: Seconds | None, wanted: int | None = None, note: str = ""
) -> list[object]:
    """A row of the table of ratios; no times where a side could not be measured."""
    if ours is None or theirs is None:
        return [what, peer, *[None] * 6, wanted, note]
    times = [ours.wall, theirs.wall, theirs.wall / ours.wall, ours.processor, theirs.processor]
    return [what, peer, *times, theirs.processor / ours.processor, wanted, note]


def all_ratios(files: Files, plan: Plan, ranx_python: Path | None, say: Callable[[str], object]) -> pd.DataFrame:
    """All rows, one family after the other."""
    say(f"judging and scoring {len(files.runs)} runs, in turns with pytrec_eval and ir_measures")
    rows, collection = judging_and_scoring(files, plan, ranx_python, say)
    say("a smaller pool, in turns with pytrec_eval")
    rows += reevaluation(files, collection, plan)
    say("Markov Precision and linear systems")
    rows += markov_precision(files, collection, plan)
    say("expected P@H and simulated users")
    rows += stopping_time(files, collection, plan)
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"wanted": "Int64"})


# --- the peers ------------------------------------------------------------------------------------------------------


def with_walkeval(files: Files) -> Scores:
    """From text to the scores of 21 measures."""
    return score_collection(judge(files.qrels, files.runs, order=ORDER), measures())


def with_pytrec_eval(files: Files, qrels: Path, parsing: Stopwatch, evaluating: Stopwatch) -> NDArray[np.float64]:
    """From text to means by measure and run, as the documentation of pytrec_eval does it."""
    with parsing.running(), open(qrels) as file:
        judgements = pytrec_eval.parse_qrel(file)
    with evaluating.running():
        evaluator = pytrec_eval.RelevanceEvaluator(judgements, set(PYTREC_EVAL.values()))
    means = []
    for path in files.runs.values():
        with parsing.running(), open(path) as file:
            run = pytrec_eval.parse_run(file)
        with evaluating.running():
            scores = evaluator.evaluate(run)
        sums = [sum(topic[name] for topic in scores.values()) for name in PYTREC_EVAL.values()]
        means.append([one / len(judgements) for one in sums])
    return np.array(means).T


def with_ir_measures(files: Files) -> NDArray[np.float64]:
    """The same with ir_measures, whose evaluator keeps the judgements for all runs."""
    judgements = list(ir_measures.read_trec_qrels(str(files.qrels)))
    topics = len({one.query_id for one in judgements})
    evaluator = ir_measures.evaluator(IR_MEASURES, judgements)
    means = []
    for path in files.runs.values():
        sums = dict.fromkeys(IR_MEASURES, 0.0)
        for metric in evaluator.iter_calc(ir_measures.read_trec_run(str(path))):
            sums[metric.measure] += metric.value
        means.append([one / topics for one in sums.values()])
    return np.array(means).T


def _agree(what: str, ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> str:
    """The largest difference, in words; too large a one is an error."""
    difference = float(np.abs(ours - theirs).max())
    if not difference <= TOLERANCE:
        raise SystemExit(f"{what}: the results differ by {difference:.1e}, so that their times cannot be compared")
    return f"largest difference of results {difference:.0e}"


def judging_and_scoring(
    files: Files, plan: Plan, ranx_python: Path | None, say: Callable[[str], object]
) -> tuple[list[list[object]], JudgedCollection]:
    """From the files to scores: 21 measures of ours, 4 of theirs."""
    sides = {
        "walkeval": partial(with_walkeval, files),
        "pytrec_eval": lambda: with_pytrec_eval(files, files.qrels, Stopwatch(), Stopwatch()),
        "ir_measures": partial(with_ir_measures, files),
    }
    rounds = {"walkeval": plan.rounds, "pytrec_eval": plan.rounds, "ir_measures": plan.slow_rounds}
    done = in_turns(sides, rounds)
    ours, scores = done["walkeval"]
    means = scores.means()[[scores.measures.index(name) for name in CLASSICAL]]
    what = f"judging, 5 classical measures and 16 of MP, {len(files.runs)} runs, {files.title}"
    rows = []
    for peer, wanted in (("pytrec_eval", 2), ("ir_measures", 3)):
        theirs, result = done[peer]
        note = f"peer computes {', '.join(CLASSICAL)} alone; {_agree(peer, means, result)}"
        rows.append(row(what, peer, ours, theirs, wanted, note))
    rows += _ranx_rows(what, files, ours, means, ranx_python, say)
    return rows, judge(files.qrels, files.runs, order=ORDER)


def _ranx_rows(
    what: str,
    files: Files,
    ours: Seconds,
    means: NDArray[np.float64],
    python: Path | None,
    say: Callable[[str], object],
) -> list[list[object]]:
    """ranx in an environment of its own: all runs when it is warm, and everything from its start on when it is cold."""
    if python is None:
        return [row(what, peer, None, None, None, "not installed") for peer in ("ranx (warm)", "ranx (cold)")]
    say("ranx, in an environment of its own")
    with tempfile.TemporaryDirectory() as folder:
        order = Path(folder, "order.json")
        order.write_text(json.dumps({"qrels": str(files.qrels), "runs": [str(path) for path in files.runs.values()]}))
        script = Path(__file__).with_name("ranx_peer.py")
        done = subprocess.run([python, script, order], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout.splitlines()[-1])
    # ranx leaves documents with equal scores in the order in which it sorts them.
    difference = float(np.abs(means - np.array(report["means"])).max())
    note = f"peer computes {', '.join(CLASSICAL)} alone; largest difference of means {difference:.0e} (order of ties)"
    warm, cold = Seconds(*report["warm"]), Seconds(*report["cold"])
    return [
        row(what, "ranx (warm)", ours, warm, None, f"ranx {report['version']}, compiled before; {note}"),
        row(what, "ranx (cold)", ours, cold, None, f"the same with its import and its compilation; {note}"),
    ]


def reevaluation(files: Files, collection: JudgedCollection, plan: Plan) -> list[list[object]]:
    """A pool of half the judgements: ours takes the judged collection at hand, the peer runs again."""
    pool = downsample(collection, [50], 0, "trec08")[50]
    parsed = [parse_measure(name) for name in CLASSICAL]
    shape = len(collection.runs), len(collection.topics)

    def ours() -> NDArray[np.float64]:
        lists = collection.lists(pool)
        return np.stack([measure.score(lists).reshape(shape).mean(axis=1) for measure in parsed])

    quick, whole, evaluations = [], [], []
    ours()  # What one collection keeps for all its pools is there from the first pool on.
    with tempfile.TemporaryDirectory() as folder:
        qrels = Path(folder, "qrels.txt")
        write_qrels(qrels, collection, pool)
        for _ in range(plan.slow_rounds):
            quick.append(repeated(ours, plan.quick_rounds))
            parsing, evaluating = Stopwatch(), Stopwatch()
            theirs = with_pytrec_eval(files, qrels, parsing, evaluating)
            evaluations.append(evaluating.total)
            whole.append(Seconds(*map(sum, zip(parsing.total, evaluating.total, strict=True))))
    agreement = _agree("pytrec_eval on a smaller pool", ours(), theirs)
    what = f"{', '.join(CLASSICAL)} under a pool of 50%, {len(files.runs)} runs, {files.title}"
    return [
        row(what, "pytrec_eval run again", best(quick), best(whole), 50, agreement),
        row(
            what, "pytrec_eval on runs parsed before", best(quick), best(evaluations), None,
            "peer's reading of runs and judgements not counted; " + agreement,
        ),
    ]  # fmt: skip


# --- measures against their definitions -----------------------------------------------------------------------------


def markov_precision(files: Files, collection: JudgedCollection, plan: Plan) -> list[list[object]]:
    """The 16 variants of MP, on one list and on all, against the paper's linear systems."""
    lists = collection.lists()
    number = _middling_list(lists)
    gains = lists.select(np.array([number])).dense()[0].astype(int).tolist()
    parsed = [parse_measure(name) for name in models().values()]

    def ours(chosen: NDArray[np.intp]) -> NDArray[np.float64]:
        part = lists.select(chosen)
        return np.stack([measure.score(part) for measure in parsed])

    def theirs(law: Callable) -> NDArray[np.float64]:
        base = int(lists.recall_base[number])
        values = [_by_linear_systems(gains, model, base, law) for model in models()]
        return np.array(values)[:, None]

    one, every = np.array([number]), np.arange(len(lists))
    single = repeated(partial(ours, one), plan.quick_rounds)
    whole = repeated(partial(ours, every), plan.rounds).times(1 / len(lists))
    rows = []
    found, length = int(lists.relevant.count[number]), int(lists.length[number])
    peers = {
        "linear systems of the paper (walkeval.reference)": (reference.relevant_law, 1000),
        "linear systems, matrices built by numpy": (law_by_numpy, None),
    }
    for peer, (law, wanted) in peers.items():
        slow, result = in_turns({peer: partial(theirs, law)}, {peer: plan.slow_rounds})[peer]
        note = _agree(peer, ours(one), result)
        what = f"16 variants of MP, one list of {length} documents, {found} relevant, {files.title}"
        rows.append(row(what, peer, single, slow, wanted, note))
        what = f"16 variants of MP, a list among all {len(lists)} at once, {files.title}"
        rows.append(row(what, peer, whole, slow, wanted, "peer's time is that of the one list above"))
    return rows


def _middling_list(lists: RankedLists) -> int:
    """A full list with as many relevant documents as half the full lists have at most."""
    full = np.flatnonzero(lists.length == lists.length.max())
    count = lists.relevant.count[full]
    return int(full[np.argmin(np.abs(count - np.median(count[count > 1])))])


def _by_linear_systems(gains: Sequence[int], model: str, recall_base: int, law: Callable) -> float:
    connectedness, space, kernel = model.removesuffix("@Rec").split("_")
    weights = law(gains, connectedness, space, KERNELS[kernel])
    ranks = np.flatnonzero(gains) + 1
    value = float(np.dot(weights, np.arange(1, len(ranks) + 1) / ranks))
    return value * len(ranks) / recall_base if model.endswith("@Rec") else value


def law_by_numpy(gains: Sequence[int], connectedness: str, space: str, kernel: Callable) -> NDArray[np.float64]:
    """The linear systems that the reference solves, without its loops over pairs of ranks: a peer that tries hard."""
    ranks = np.flatnonzero(gains) + 1
    states = ranks if space == "OR" else np.arange(1, len(gains) + 1)
    table = np.array([0.0] + [kernel(distance) for distance in range(1, len(gains))])
    alpha = table[np.abs(np.subtract.outer(states, states))]
    if connectedness == "LO":
        place = np.arange(len(states))
        alpha[np.abs(np.subtract.outer(place, place)) != 1] = 0.0
    matrix = alpha / alpha.sum(axis=1, keepdims=True)
    if space == "AD":
        matrix = reference.watched_on(matrix, (ranks - 1).tolist())
    return reference.invariant_law(matrix)


def stopping_time(files: Files, collection: JudgedCollection, plan: Plan) -> list[list[object]]:
    """E[P@H] of a random walk whose documents lose utility, exact, against as many users as an error of 1e-4 takes."""
    lists = collection.lists()
    found = lists.relevant
    full = np.flatnonzero((lists.length == lists.length.max()) & (lists.sum_relevant(found.rank <= 10) == 5))
    number = int(full[0]) if len(full) else _middling_list(lists)
    gains = lists.select(np.array([number])).dense()[0]
    rows = []
    for forward, backward in USERS:
        model = RWBM(forward, backward)
        ours = repeated(partial(expected_precision, model, gains, LOSS), plan.quick_rounds)
        exact = expected_precision(model, gains, LOSS)
        pilot = simulate(model, gains, min(PILOT_USERS, plan.most_users), "benchmarks/pilot", LOSS)
        needed = max(1, round(float(pilot.value.var()) / plan.standard_error**2))
        simulated = min(needed, plan.most_users)
        timed = {"users": partial(simulate, model, gains, simulated, "benchmarks/users", LOSS)}
        seconds, users = in_turns(timed, {"users": plan.slow_rounds})["users"]
        error = float(users.value.std() / np.sqrt(simulated))
        if not abs(users.value.mean() - exact) <= 6 * error:
            raise SystemExit(f"simulated users disagree with the exact E[P@H] of {exact:.6f}")
        note = f"exact to rounding; {needed} users have a standard error of {plan.standard_error:g}"
        if simulated < needed:
            note += f", their time is that of {simulated} scaled up"
        rows.append(
            row(
                f"E[P@H], RWBM p={forward} q={backward} loss={LOSS}, one list of {len(gains)} documents, {files.title}",
                "simulated users (walkeval.stopping_law)", ours, seconds.times(needed / simulated), None, note,
            )
        )  # fmt: skip
    return rows


def summary(table: pd.DataFrame) -> Mapping[str, bool]:
    """Whether each ratio that was asked for is reached, by the clock on the wall and by processor time."""
    asked = table[table["wanted"].notna()]
    return {f"{one.what} / {one.peer}": bool(min(one.ratio, one.cpu_ratio) >= one.wanted) for one in asked.itertuples()}
