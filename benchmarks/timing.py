"""Clocks. Two works are compared by running them in turns, in one process, and keeping the best time of each.

The best time is the one that was disturbed least. Beside the time on the wall stands the processor's: it depends less
on what else the machine does, and since every work here has one thread, both compare the same thing.
"""

from __future__ import annotations

import gc
import importlib.metadata
import os
import platform
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = ("numpy", "scipy", "pandas", "pytrec-eval-terrier", "ir-measures", "snakemake")
"""Those whose version matters for a time."""


class Seconds(NamedTuple):
    """A time on the wall and of the processor."""

    wall: float
    processor: float

    def times(self, factor: float) -> Seconds:
        return Seconds(self.wall * factor, self.processor * factor)


class Stopwatch:
    """Adds up the times of what runs inside `running`."""

    def __init__(self) -> None:
        self.total = Seconds(0.0, 0.0)

    @contextmanager
    def running(self) -> Iterator[None]:
        wall, processor = time.perf_counter(), time.process_time()
        yield
        self.total = Seconds(
            self.total.wall + time.perf_counter() - wall, self.total.processor + time.process_time() - processor
        )


def clock(work: Callable[[], Any]) -> tuple[Seconds, Any]:
    """How long a work takes, and what it gives."""
    gc.collect()
    watch = Stopwatch()
    with watch.running():
        result = work()
    return watch.total, result


def best(times: Iterable[Seconds]) -> Seconds:
    """The shortest time on the wall, and the shortest of the processor."""
    times = list(times)
    return Seconds(min(one.wall for one in times), min(one.processor for one in times))


def in_turns(works: Mapping[str, Callable[[], Any]], rounds: Mapping[str, int]) -> dict[str, tuple[Seconds, Any]]:
    """Run the works in turns, each in as many rounds as it is given: its best time, and what it gave last."""
    times: dict[str, list[Seconds]] = {name: [] for name in works}
    results = {}
    for turn in range(max(rounds.values())):
        for name, work in works.items():
            if turn < rounds[name]:
                seconds, results[name] = clock(work)
                times[name].append(seconds)
    return {name: (best(times[name]), results[name]) for name in works}


def repeated(work: Callable[[], Any], rounds: int) -> Seconds:
    """The best of several rounds of a work that is done in no time."""
    return best(clock(work)[0] for _ in range(rounds))


def peak_memory() -> float:
    """Peak resident memory in MB. What `resource` says may be the peak of the process that started this one."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget_peak() -> None:
    """Let the peak begin anew from what is held now, where the system can do that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def machine() -> list[str]:
    """What the times stand on: processor, cores, memory, versions. Neither the machine's name nor a path of it."""
    versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    return [
        f"processor: {_processor()}",
        f"cores: {os.cpu_count()}",
        f"memory: {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB",
        f"system: {platform.system()} {platform.machine()}",
        f"python: {platform.python_version()}",
        *(f"package: {version}" for version in versions),
        f"load over 1, 5 and 15 minutes: {load}",
    ]


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
