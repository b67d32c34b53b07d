"""Looking at the processes of this machine, and ending them: through /proc, for tests that kill."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def everything() -> list[int]:
    """All processes."""
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]


def read(process: int, name: str) -> bytes:
    """What the system says of a process; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/{name}").read_bytes()
    except OSError:  # it has ended, or is not ours
        return b""


def variable(process: int, name: str) -> str:
    """A variable that a process was started with; nothing if it has none of this name."""
    for one in read(process, "environ").split(b"\0"):
        key, _, value = one.partition(b"=")
        if key == name.encode():
            return value.decode(errors="replace")
    return ""


def descendants(process: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    parents: dict[int, list[int]] = {}
    for one in everything():
        fields = read(one, "stat").rpartition(b")")[2].split()
        if fields:
            parents.setdefault(int(fields[1]), []).append(one)
    found, waiting = [], [process]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def kill(process: int) -> bool:
    """End a process at once; whether there was one."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
