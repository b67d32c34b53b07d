"""How fast the measures are: ratios measured side by side in one run, on one core.

    WALKEVAL_MIRROR=... ./run python benchmarks/measures.py

Prints the speed of Markov Precision against the paper's linear systems at T = 1000, and, where the TREC 8 runs are at
hand, the time of all 16 variants of MP with the five comparison measures over 129 runs x 50 topics.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from walkeval import evaluate
from walkeval.judging import judge
from walkeval.measures import parse_measure
from walkeval.measures.markov_precision import model_names
from walkeval.papers.sigir2014 import measures
from walkeval.ranked import RankedLists
from walkeval.reference import markov_precision as reference

KERNELS = {"ID": reference.inverse_distance(), "LID": reference.logarithmic_inverse_distance(2)}


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The best of several rounds, which is the one that was disturbed least."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def one_list(say: Callable[[str], object]) -> None:
    """MP of one list of 1000 documents, 300 of them relevant, by closed form and by the linear systems."""
    gains = np.zeros(1000, dtype=int)
    gains[np.random.default_rng(1).choice(1000, 300, replace=False)] = 1
    gains = gains.tolist()
    lists = RankedLists.from_gains([gains] * 64)
    say("model\tfast_s\treference_s\tratio")
    for model in model_names(("ID", "LID")):
        connectedness, space, kernel = model.split("_")
        slow = seconds(lambda: reference.markov_precision(gains, connectedness, space, KERNELS[kernel]), 2)
        measure = parse_measure("MP", model=model)

        def fast() -> None:
            lists.memo.clear()
            measure.score(lists)

        quick = seconds(fast, 5) / len(lists)
        if abs(evaluate("MP", gains, model=model) - reference.markov_precision(gains, connectedness, space, KERNELS[kernel])) > 1e-10:
            raise SystemExit(f"{model}: fast path and reference disagree")
        say(f"{model}\t{quick:.2e}\t{slow:.2e}\t{slow / quick:.0f}")


def whole_collection(mirror: Path, say: Callable[[str], object]) -> None:
    """All measures of Tables 2 and 3 for TREC 8, once judged."""
    host = mirror / "raw.githubusercontent.com"
    qrels = next(host.glob("castorini/anserini-tools/*/qrels/qrels.adhoc.401-450.txt*"))
    paths = sorted(host.glob("isoboroff/trec8-scores/*/inputs/*"))
    collection = judge(qrels, {path.name.removeprefix("input.").removesuffix(".gz"): path for path in paths})
    parsed = [parse_measure(name) for name in measures()]

    def score() -> None:
        lists = collection.lists()
        for measure in parsed:
            measure.score(lists)

    say(f"{len(parsed)} measures, {len(collection.runs)} runs x {len(collection.topics)} topics: {seconds(score, 3):.2f} s")


def main() -> None:
    def say(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    one_list(say)
    mirror = os.environ.get("WALKEVAL_MIRROR")
    if mirror:
        whole_collection(Path(mirror), say)
    else:
        say("TREC 8: skipped, WALKEVAL_MIRROR is not set")


if __name__ == "__main__":
    main()
