"""How fast the exact P@H is, as ratios within one run: ``python -m benchmarks.stopping_time``.

1. One list of 1,000 documents under a random walk with loss: the exact E[P@H] against 1,000 simulated users.
2. All lists of a collection of the size of TREC 8 (129 runs x 50 topics), for each browsing model.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np

from walkeval.measures.stopping_time import PH, RWBM, expected_precision
from walkeval.ranked import RankedLists
from walkeval.seeds import generator
from walkeval.stopping_law import simulate


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs: what the work takes when nothing else disturbs it."""
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return min(times)


def synthetic_lists(count: int = 6450) -> RankedLists:
    """Lists of the shape of TREC 8: most are 1,000 long, with about 45 relevant documents each, more at the top."""
    random = generator("benchmarks/stopping_time")
    length = np.where(random.random(count) < 0.85, 1000, random.integers(1, 1001, count))
    chance = 0.3 / np.sqrt(np.arange(1, 1001) / 8)
    found = [np.flatnonzero(random.random(one) < chance[:one]) + 1 for one in length]
    sizes = np.array([len(one) for one in found])
    return RankedLists(
        length=length,
        start=np.concatenate(([0], np.cumsum(sizes))),
        rank=np.concatenate(found),
        gain=np.ones(int(sizes.sum())),
        recall_base=sizes,
        nonrelevant_base=np.zeros(count, dtype=np.int64),
        topic=np.arange(count),
        ideal_start=np.concatenate(([0], np.cumsum(sizes))),
        ideal_gain=np.ones(int(sizes.sum())),
    )


def lines() -> Iterator[str]:
    """The report, line by line."""
    gains = (generator("benchmarks/stopping_time/list").random(1000) < 0.045).astype(float)
    for p, q, loss in ((0.5, 0.25, 0.25), (0.7, 0.2, 0.25), (0.8, 0.195, 0.25)):
        model = RWBM(p, q)
        exact = seconds(lambda model=model, loss=loss: expected_precision(model, gains, loss), 20)
        users = seconds(lambda model=model, loss=loss: simulate(model, gains, 1000, 1, loss), 10)
        yield (
            f"RWBM p={p} q={q} loss={loss} N=1000: exact {1e3 * exact:.2f} ms, 1000 users {1e3 * users:.2f} ms, "
            f"ratio {users / exact:.1f}"
        )
    lists = synthetic_lists()
    yield f"{len(lists)} lists, {lists.relevant.count.mean():.1f} relevant documents each:"
    for measure in (
        PH(browsing="DFBM"),
        PH(browsing="SFBM", p=0.8),
        PH(),
        PH(loss=0.25),
        PH(loss=0.25, order=2),
        PH(p=0.8, q=0.195, loss=0.25),
        PH(p=0.5, q=0.5, loss=0.25),
        PH(loss=0.25, effort="log2"),
    ):
        once = seconds(lambda measure=measure: measure.score(lists), 3)
        yield f"{measure.name}: {once:.3f} s, {len(lists) / once:.0f} lists a second"


if __name__ == "__main__":
    for line in lines():
        sys.stdout.write(line + "\n")
