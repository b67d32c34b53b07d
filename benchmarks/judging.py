"""How long reading and judging takes, beside pytrec_eval, on the 129 runs of TREC 8 ad hoc.

    WALKEVAL_MIRROR=<mirror> python benchmarks/judging.py

Both sides read the same plain files, one after the other for each run, in the same process, and compute
average precision; unpacking of gzip is measured by itself. Peak memory is that of a process that only judges.
"""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytrec_eval

from walkeval.judging import JudgedCollection, judge
from walkeval.trec import read_qrels

GITHUB = "raw.githubusercontent.com"
QRELS = "castorini/anserini-tools/*/qrels/qrels.adhoc.401-450.txt.gz"
RUNS = "isoboroff/trec8-scores/*/inputs/input.*.gz"
ROUNDS = 3


def main() -> int:
    if sys.argv[1:2] == ["--memory"]:
        return report_memory(Path(sys.argv[2]))
    mirror = os.environ.get("WALKEVAL_MIRROR")
    if not mirror:
        sys.exit("WALKEVAL_MIRROR is not set: it names the mirror directory that holds the runs")
    files = Path(mirror) / GITHUB
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder)
        start = time.perf_counter()
        (plain / "qrels").write_bytes(gzip.decompress(next(files.glob(QRELS)).read_bytes()))
        (plain / "runs").mkdir()
        for path in files.glob(RUNS):
            name = path.name.removeprefix("input.").removesuffix(".gz")
            (plain / "runs" / name).write_bytes(gzip.decompress(path.read_bytes()))
        runs = run_files(plain)
        unpacking = (time.perf_counter() - start) / len(runs)
        rounds = [one_round(plain, runs) for _ in range(ROUNDS)]
        mine, theirs = (min(one[side] for one in rounds) / len(runs) for side in (0, 1))
        print(f"runs                          {len(runs)}")
        print(f"unpacking gzip, per run       {unpacking * 1e3:.1f} ms")
        print(f"walkeval, per run             {mine * 1e3:.1f} ms")
        print(f"pytrec_eval, per run          {theirs * 1e3:.1f} ms")
        print(f"ratio                         {theirs / mine:.2f} (best of {ROUNDS} rounds each)")
        ratios = ", ".join(f"{one[1] / one[0]:.2f}" for one in rounds)
        print(f"ratio in each round           {ratios}")
        processor = min(one[4] for one in rounds) / min(one[3] for one in rounds)
        print(f"ratio of processor time       {processor:.2f} (depends less on what else the machine does)")
        print(f"largest difference of MAP     {max(one[2] for one in rounds):.1e} (order trec_eval9)")
        command = [sys.executable, __file__, "--memory", folder]
        print(subprocess.run(command, capture_output=True, text=True, check=True).stdout, end="")
    return 0


def run_files(plain: Path) -> dict[str, Path]:
    return {path.name: path for path in sorted((plain / "runs").iterdir())}


def one_round(plain: Path, runs: dict[str, Path]) -> tuple[float, ...]:
    """Seconds for all runs on each side, the largest difference between their MAP, processor seconds on each side."""
    start, processor = time.perf_counter(), time.process_time()
    qrels = read_qrels(plain / "qrels")
    mine = average_precision(judge(qrels, runs, order="trec_eval9")).mean(axis=1)
    seconds, processor_seconds = time.perf_counter() - start, time.process_time() - processor
    start, processor = time.perf_counter(), time.process_time()
    with open(plain / "qrels") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"map"})
    theirs = []
    for path in runs.values():
        with open(path) as file:
            scores = evaluator.evaluate(pytrec_eval.parse_run(file))
        theirs.append(sum(topic["map"] for topic in scores.values()) / len(qrels.topics))
    their_seconds, their_processor_seconds = time.perf_counter() - start, time.process_time() - processor
    difference = float(np.abs(mine - theirs).max())
    return seconds, their_seconds, difference, processor_seconds, their_processor_seconds


def average_precision(collection: JudgedCollection) -> np.ndarray:
    """Average precision by run and topic."""
    lists = collection.lists()
    score = lists.sum_relevant(lists.relevant.precision) / np.maximum(lists.recall_base, 1)
    return score.reshape(len(collection.runs), len(collection.topics))


def peak_memory() -> float:
    """Peak resident memory in MB. What `resource` says may be the peak of the process that started this one."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report_memory(plain: Path) -> int:
    before = peak_memory()
    collection = judge(plain / "qrels", run_files(plain), order="trec_eval9")
    average_precision(collection)
    peak = peak_memory()
    path = plain / "judged.npz"
    collection.save(path)
    start = time.perf_counter()
    loaded = JudgedCollection.load(path)
    print(f"peak memory                   {peak:.0f} MB (of which {before:.0f} MB for the imports)")
    print(f"judged arrays on disk         {path.stat().st_size / 1e6:.1f} MB")
    print(f"loading them                  {(time.perf_counter() - start) * 1e3:.1f} ms")
    pool = np.random.default_rng(0).random(len(loaded.grade)) < 0.5
    for label, mask in (("all judgements", None), ("half the judgements", pool)):
        loaded.lists(mask).relevant
        start = time.perf_counter()
        loaded.lists(mask).relevant
        print(f"lists, {label:<22} {(time.perf_counter() - start) * 1e3:.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
