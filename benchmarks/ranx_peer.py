"""ranx on the files of the benchmark, in an environment that has it: called by benchmarks.ratios, never by people.

Cold is all from the import to the last run, with the compilation that the first call of a new installation does; warm
is a second pass over the same files.
"""

import json
import sys
import time

FOUR = ["map", "precision@10", "r-precision", "bpref"]


def main() -> None:
    start = time.perf_counter(), time.process_time()
    with open(sys.argv[1]) as file:
        order = json.load(file)
    import ranx

    means = evaluate_all(ranx, order)
    middle = time.perf_counter(), time.process_time()
    evaluate_all(ranx, order)
    end = time.perf_counter(), time.process_time()
    report = {
        "version": getattr(ranx, "__version__", "") or version(),
        "means": [[one[name] for one in means] for name in FOUR],
        "cold": [after - before for before, after in zip(start, middle)],
        "warm": [after - before for before, after in zip(middle, end)],
    }
    sys.stdout.write(json.dumps(report) + "\n")


def evaluate_all(ranx, order: dict) -> list[dict]:
    """Means over topics of each run; a topic that a run lacks counts 0, as on the other side."""
    qrels = ranx.Qrels.from_file(order["qrels"], kind="trec")
    means = []
    for path in order["runs"]:
        run = ranx.Run.from_file(path, kind="trec")
        means.append({name: float(one) for name, one in ranx.evaluate(qrels, run, FOUR, make_comparable=True).items()})
    return means


def version() -> str:
    from importlib.metadata import version

    return version("ranx")


if __name__ == "__main__":
    main()
