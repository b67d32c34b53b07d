"""How fast a click log is read, and how much memory that takes, at several lengths of the log.

    python benchmarks/clicks.py [records ...]

Writes synthetic logs of about so many records in the original Yandex format into a temporary folder, and reads each in
a process of its own: the first pass (all counters) and the second (holding times of the frequent queries). The number
of different queries grows with the log, so that a memory that depended on it would show.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from walkeval.click_logs import ClickLog  # noqa: E402
from walkeval.clicks import query_holding_times, summarize_clicks, write_synthetic_log  # noqa: E402

RECORDS_PER_SESSION = 4.256  # of the default synthetic user


def read(path: str) -> None:
    """In a process of its own: both passes, and the peak of the memory."""
    log = ClickLog((path,), "yandex")
    clock = [(time.perf_counter(), time.process_time())]
    summary = summarize_clicks(log)
    clock.append((time.perf_counter(), time.process_time()))
    holding = query_holding_times(log, summary)
    clock.append((time.perf_counter(), time.process_time()))
    records = summary.ledger.records
    speeds = [records / (after[k] - before[k]) / 1e6 for before, after in pairwise(clock) for k in (0, 1)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{records:>12,}", *(f"{speed:>10.2f}" for speed in speeds), f"{peak:>10.0f} {len(holding):>10,}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=int, nargs="*", default=[200_000, 2_000_000])
    parser.add_argument("--read", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        read(arguments.read)
        return
    print(f"{'':>12} {'million records a second, by the clock and by processor time':^43}")
    heads = ("pass 1", "(cpu)", "pass 2", "(cpu)", "peak MB", "frequent")
    print(f"{'records':>12}", *(f"{head:>10}" for head in heads))
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        for records in arguments.records:
            path = Path(folder, "log")
            sessions = max(1, round(records / RECORDS_PER_SESSION))
            begin = time.perf_counter()
            written = write_synthetic_log(path, sessions, f"benchmark {records}", queries=max(1, sessions // 10))
            spent = time.perf_counter() - begin
            size = path.stat().st_size / 1e6
            subprocess.run([sys.executable, __file__, "--read", str(path)], check=True)
            print(f"{'':>12} (written in {spent:.1f} s: {written / spent / 1e6:.2f} M/s, {size:,.0f} MB)", flush=True)


if __name__ == "__main__":
    main()
