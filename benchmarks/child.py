"""One measurement in a process of its own, so that its peak of memory is its own: called by benchmarks.scaling.

    python -m benchmarks.child '{"task": "judge", ...}'

writes one line of JSON: seconds on the wall and of the processor, and the peak of memory above that of the imports.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft  # noqa: F401  what measures import when they need it belongs to the imports here

from benchmarks.files import Files, repeated_runs
from benchmarks.ratios import ORDER
from benchmarks.timing import Seconds, best, clock, forget_peak, peak_memory
from walkeval.click_logs import ClickLog
from walkeval.clicks import query_holding_times, summarize_clicks
from walkeval.correlation import tau_matrix
from walkeval.judging import JudgedCollection, judge
from walkeval.papers.sigir2014 import measures
from walkeval.robustness import summarize_pools
from walkeval.scoring import Scores, score_collection


def judge_and_score(
    base: float, qrels: str, paths: list[str], runs: int, rounds: int, correlate: bool
) -> dict[str, Any]:
    """Read and judge so many runs, score them by all measures of the SIGIR 2014 paper, and correlate these."""
    files = Files("", Path(qrels), {str(number): Path(path) for number, path in enumerate(paths)})
    names = repeated_runs(files, runs)
    times: dict[str, list[Seconds]] = {"judge": [], "score": [], "both": []}
    peaks = {}
    for _ in range(rounds):
        judging, collection = clock(lambda: judge(qrels, names, order=ORDER))
        peaks.setdefault("judge", peak_memory() - base)
        scoring, scores = clock(lambda: score_collection(collection, measures()))
        peaks.setdefault("score", peak_memory() - base)
        times["judge"].append(judging)
        times["score"].append(scoring)
        times["both"].append(Seconds(*map(sum, zip(judging, scoring, strict=True))))
    peaks["both"] = peaks["score"]
    lists = collection.lists()
    sizes = {
        "lists": len(lists),
        "lines": int(lists.length.sum()),
        "judgements": len(collection.grade),
        "judged": len(lists.rank),
        "relevant": len(lists.relevant.rank),
    }
    depth = int(lists.length.max())
    if correlate:
        del collection, lists
        means = scores.means()
        del scores
        forget_peak()
        times["correlate"] = [clock(lambda: tau_matrix(means))[0] for _ in range(rounds)]
        peaks["correlate"] = peak_memory() - base
    times = {stage: best(one) for stage, one in times.items()}
    return {"sizes": sizes, "depth": depth, "times": times, "peaks": peaks}


def score_replicates(base: float, judged: str, scores: str, replicates: int, rates: list[int]) -> dict[str, Any]:
    """One shard of the replicate stage, as its script does it."""
    collection, full = JudgedCollection.load(judged), Scores.load(scores)
    seconds, summary = clock(lambda: summarize_pools(collection, full, rates, range(replicates), "trec08", decimals=4))
    sizes = {
        "lists": len(collection.length),
        "lines": int(collection.length.sum()),
        "judgements": len(collection.grade),
        "judged": len(collection.rank),
        "pools": int(np.isfinite(summary.tau).all(axis=2).sum()),
    }
    return {"sizes": sizes, "times": {"replicates": seconds}, "peaks": {"replicates": peak_memory() - base}}


def read_clicks(base: float, path: str) -> dict[str, Any]:
    """Both passes over a click log: all counters, and the holding times of the frequent queries."""
    log = ClickLog((path,), "yandex")
    first, summary = clock(lambda: summarize_clicks(log))
    second, _ = clock(lambda: query_holding_times(log, summary))
    seconds = Seconds(*map(sum, zip(first, second, strict=True)))
    sizes = {"lines": int(summary.ledger.records)}
    return {"sizes": sizes, "times": {"clicks": seconds}, "peaks": {"clicks": peak_memory() - base}}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "judge": judge_and_score,
    "replicates": score_replicates,
    "clicks": read_clicks,
}


def main(order: str) -> None:
    given = json.loads(order)
    task = TASKS[given.pop("task")]
    sys.stdout.write(json.dumps(task(peak_memory(), **given)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
