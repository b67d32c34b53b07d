"""A run that is killed and started again gives the same results, to the byte, whenever it is killed."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from processes import descendants, everything, read
from reliability import record
from small_edition import EDITION, PATIENCE, results, small_copy, undisturbed, variables

KILLS = 20
CHOICES = {
    "cores": ["1", "2", "3"],
    "PYTHONHASHSEED": ["0", "1", "4294967295"],
    "LC_ALL": ["C", "POSIX", "C.UTF-8"],
    "TZ": ["UTC", "Asia/Tokyo", "America/New_York"],
}


def start(repository: Path, folder: Path, cores: str = "2", **more: str) -> subprocess.Popen[bytes]:
    """Start ./run in any folder, in a process group of its own."""
    with (repository.parent / "output.txt").open("wb") as output:
        return subprocess.Popen(
            [str(repository / "run"), EDITION, "--cores", cores, "--quiet"],
            cwd=folder,
            env=variables(**more),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def finish(process: subprocess.Popen[bytes], repository: Path) -> dict[str, bytes]:
    """Wait for a run that must succeed; its results."""
    assert process.wait(timeout=PATIENCE) == 0, (repository.parent / "output.txt").read_text()[-4000:]
    made = results(repository)
    assert not [name for name in made if name.endswith(".part")]
    return made


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a run with all its jobs, at once and without a warning."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def differing(made: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    return sorted(name for name in made.keys() | expected.keys() if made.get(name) != expected.get(name))


@pytest.fixture
def process():
    """A list of one run, which is ended with the test, whatever happens."""
    if shutil.which("flock") is None:
        pytest.skip(
            "flock is not on this machine: there ./run cannot tell the locks of the dead, and --unlock is needed"
        )
    running: list[subprocess.Popen[bytes]] = []
    yield running
    for one in running:
        if one.poll() is None:
            kill(one)


def test_killed_at_random_moments_and_started_again_gives_the_same_bytes(tmp_path, tmp_path_factory, process):
    expected, length = undisturbed(tmp_path_factory.getbasetemp())
    repository = small_copy(tmp_path / "a copy")
    folders = [repository, tmp_path, Path("/")]
    # The same moments every time, as far as machines allow: fractions of how long a run takes here.
    generator = random.Random("moments")
    kills = 0
    while kills < KILLS:
        choices = {key: generator.choice(values) for key, values in CHOICES.items()}
        process[:] = [start(repository, generator.choice(folders), **choices)]
        try:
            process[0].wait(timeout=generator.uniform(0, 0.4 * length))
        except subprocess.TimeoutExpired:
            kill(process[0])
            kills += 1
            left = {name: content for name, content in results(repository).items() if not name.endswith(".part")}
            assert [name for name, content in left.items() if content != expected[name]] == [], "half-written"
        else:
            # What the killed runs have left was enough to finish in time; another one from the start.
            assert differing(finish(process[0], repository), expected) == []
            shutil.rmtree(repository / "data")
            shutil.rmtree(repository / "results")
    process[:] = [start(repository, repository)]
    assert differing(finish(process[0], repository), expected) == []
    outcome = f"results never half-written; all {len(expected)} files the same bytes whenever a run could finish"
    record("killing", [("kill -9 of a run with all its jobs at a random moment, then run again", kills, outcome)])


def is_held(lock: Path) -> bool:
    """Whether a process holds a lock."""
    if not lock.exists():
        return False
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def jobs_of(repository: Path) -> list[int]:
    """The processes that run a script of a rule in this copy, without the shells around them."""
    scripts = f"{repository}/.snakemake/scripts/".encode()
    words = {one: read(one, "cmdline") for one in everything()}
    return [
        one for one, each in words.items() if scripts in each and not each.split(b"\0")[0].endswith((b"/sh", b"/bash"))
    ]


def test_jobs_that_outlive_their_run_are_waited_for(tmp_path, tmp_path_factory, process):
    """As when only the run is killed, for its memory or by hand: its jobs go on, and nothing is written twice."""
    expected, _ = undisturbed(tmp_path_factory.getbasetemp())
    repository = small_copy(tmp_path / "a copy")
    process[:] = [start(repository, repository)]
    end = time.monotonic() + PATIENCE
    while not is_held(repository / ".snakemake" / "walkeval-jobs.lock"):
        assert process[0].poll() is None and time.monotonic() < end, "no job is at work"
        time.sleep(0.01)
    jobs = jobs_of(repository)
    for job in jobs:
        os.kill(job, signal.SIGSTOP)  # so that it cannot end before the next run looks
    assert is_held(repository / ".snakemake" / "walkeval-jobs.lock"), "the job has ended in this moment"
    runs = [process[0].pid, *descendants(process[0].pid)]
    for one in reversed(runs):
        if one not in jobs_of(repository):
            os.kill(one, signal.SIGKILL)
    process[0].wait()
    refused = subprocess.run(
        [str(repository / "run"), EDITION, "--quiet"], env=variables(), text=True, capture_output=True, timeout=PATIENCE
    )
    for job in jobs:
        os.kill(job, signal.SIGCONT)
    assert refused.returncode == 1
    assert refused.stderr.endswith("still at work: wait for them to end, then start again\n")
    while jobs_of(repository):
        assert time.monotonic() < end, "a job does not end"
        time.sleep(0.05)
    process[:] = [start(repository, repository)]
    assert differing(finish(process[0], repository), expected) == []
    record(
        "killing",
        [
            (
                "kill -9 of a run alone, its jobs left at work, then run again",
                1,
                "refused until they have ended; then the same bytes",
            )
        ],
    )


def test_two_runs_at_once_do_not_meet(tmp_path, process):
    """The lock that the dead leave is removed, that of the living is not."""
    repository = small_copy(tmp_path / "a copy")
    process[:] = [start(repository, repository)]
    locks = repository / ".snakemake" / "locks"
    end = time.monotonic() + PATIENCE
    while not list(locks.glob("*.output.lock")):
        assert process[0].poll() is None and time.monotonic() < end, "the run has locked nothing"
        time.sleep(0.05)
    second = subprocess.run(
        [str(repository / "run"), EDITION, "--quiet"], env=variables(), text=True, capture_output=True, timeout=PATIENCE
    )
    assert second.returncode != 0
    assert "cannot be locked" in second.stderr
    kill(process[0])
    assert list(locks.glob("*.output.lock")), "nothing of the dead to remove"
    third = subprocess.run(
        [str(repository / "run"), EDITION, "--quiet", "--until", "plot_sigir2014_chains"],
        env=variables(),
        text=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert "cannot be locked" not in third.stderr
