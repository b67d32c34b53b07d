"""The workflow on a real Slurm: with a controller and three nodes on this machine, and with faults, the same bytes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml
from cluster.slurm import Cluster, missing_programs, wait_until
from processes import read
from reliability import record
from small_edition import PATIENCE, ROOT, results, small_copy, undisturbed, variables

EDITION = "demo"
PROFILE = "workflow/profiles/slurm"


# --- the profile ---


@pytest.fixture(scope="module")
def profile() -> dict:
    return yaml.safe_load((ROOT / PROFILE / "config.yaml").read_text(encoding="utf-8"))


def rules_and_local_rules() -> tuple[set[str], set[str]]:
    text = "\n".join(
        one.read_text() for one in [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]
    )
    local = re.findall(r"^ *localrules:\n((?: +\w+,?\n)+)", text, re.MULTILINE)
    return set(re.findall(r"^ *rule (\w+):$", text, re.MULTILINE)), set(re.findall(r"\w+", "".join(local)))


def test_every_rule_is_local_or_in_a_group(profile):
    rules, local = rules_and_local_rules()
    assert rules - local == set(profile["groups"])


def test_what_needs_the_network_stays_on_the_machine_that_submits():
    rules, local = rules_and_local_rules()
    assert {one for one in rules if one.startswith("fetch")} <= local
    assert "fetch_sources" in local


def test_memory_grows_with_every_attempt(profile):
    assert "attempt" in profile["default-resources"]["mem_mb"]
    assert profile["retries"] >= 1
    text = "\n".join(one.read_text() for one in sorted((ROOT / "workflow" / "rules").glob("*.smk")))
    asked = re.findall(r"mem_mb=(.*)", text)
    assert asked
    assert [one for one in asked if not re.fullmatch(r"growing\(\d+\),", one)] == []


def test_every_line_of_the_profile_says_why():
    """Each key but the members of a group has a comment, on its line or on that before."""
    lines = (ROOT / PROFILE / "config.yaml").read_text(encoding="utf-8").splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if re.match(r"[\w-]+:", line):
            assert "#" in line or before.startswith("#"), line


# --- the cluster ---


@pytest.fixture
def cluster():
    missing = missing_programs()
    if missing:
        pytest.skip(f"Slurm is not installed: {', '.join(missing)} not found")
    if " " in sys.executable:
        pytest.skip("jobs on a cluster need an environment in a path without spaces (docs/cluster.md)")
    # A short name without spaces: the path of a socket has at most 107 bytes, and slurm.conf knows no quotes.
    with tempfile.TemporaryDirectory(prefix="walkeval-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        with Cluster(Path(folder)) as started:
            yield started


class Run:
    """A run on the cluster, as the documentation says it is started."""

    def __init__(self, repository: Path, cluster: Cluster, *options: str) -> None:
        self.output = repository.parent / "output.txt"
        self.cluster = cluster
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [str(repository / "run"), EDITION, "--profile", PROFILE, *options],
                cwd=repository,
                env=variables(**cluster.environment),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def words(self) -> str:
        return self.output.read_text(errors="replace")[-6000:]

    def job(self, group: str, known: set[str]):
        """The first running job of a group that is not among those known; they include it afterwards."""

        def found():
            assert self.process.poll() is None, f"the run has ended\n{self.words()}"
            jobs = self.cluster.jobs("RUNNING")
            return next((one for one in jobs if one.rules.startswith(f"rule_{group}_") and one.id not in known), None)

        job = wait_until(found, f"a job of {group}", PATIENCE)
        known.add(job.id)
        return job

    def state(self, job: str) -> str:
        return next((one.state for one in self.cluster.jobs() if one.id == job), "")

    def wait_for_end(self, job: str) -> str:
        """How a job ended."""

        def ended():
            state = self.state(job)
            return state if state not in ("RUNNING", "COMPLETING") else ""

        return wait_until(ended, f"the end of job {job}", PATIENCE)

    def held(self, group: str, known: set[str]):
        """A job of a group whose work is stopped in the middle, and the processes of its script.

        Stopped, so that it cannot end before the test does something to it; a job that is about to end is passed over.
        """
        while True:
            job = self.job(group, known)

            def working(job=job):
                if self.state(job.id) != "RUNNING":
                    return True
                return [
                    one for one in self.cluster.processes_of(job.id) if b"/.snakemake/scripts/" in read(one, "cmdline")
                ]

            scripts = wait_until(working, f"a script in job {job.id}", PATIENCE, pause=0.05)
            if scripts is not True and all(_stop(one) for one in scripts):
                return job, scripts

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _stop(process: int) -> bool:
    try:
        os.kill(process, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    status = read(process, "status")
    return bool(status) and b"\nState:\tZ" not in status


@pytest.mark.cluster
def test_a_cluster_with_faults_gives_the_bytes_of_a_local_run(cluster, tmp_path, tmp_path_factory):
    expected, _ = undisturbed(tmp_path_factory.getbasetemp(), EDITION)
    repository = small_copy(tmp_path / "on a cluster")
    known: set[str] = set()

    # The machine that submits fails: its run is gone, its jobs are not.
    run = Run(repository, cluster)
    first, _ = run.held("collection", known)
    run.kill()
    orphans = {one.id for one in cluster.jobs("RUNNING", "PENDING")}
    assert first.id in orphans
    refused = Run(repository, cluster)
    assert refused.process.wait(timeout=PATIENCE) == 1
    named = set(refused.words().strip().rpartition("end them with scancel ")[2].split())
    assert first.id in named <= orphans, "others may have ended by themselves"
    for one in orphans:
        cluster.cancel(one)
    wait_until(lambda: not cluster.jobs("RUNNING", "PENDING", "COMPLETING"), "the end of the orphans", PATIENCE)
    known |= orphans

    # Too little memory for the shards of replicates at the first attempt, enough at the second.
    run = Run(repository, cluster, "--set-resources", "score_pools:mem_mb=60 * attempt ** 3")
    try:
        # A process of a job is killed; then a node goes, with all that it does.
        killed, scripts = run.held("collection", known)
        os.kill(scripts[-1], signal.SIGKILL)
        assert run.wait_for_end(killed.id) == "FAILED"
        lost, _ = run.held("collection", known)
        cluster.lose_node(lost.node)
        assert run.wait_for_end(lost.id) == "NODE_FAIL"
        starved = run.job("pools", known)
        assert run.wait_for_end(starved.id) in ("FAILED", "OUT_OF_MEMORY")
        fed = run.job("pools", known)
        # A job is cancelled.
        cancelled, _ = run.held("papers", known)
        cluster.cancel(cancelled.id)
        assert run.wait_for_end(cancelled.id) == "CANCELLED"
        assert run.process.wait(timeout=PATIENCE) == 0, run.words()
    finally:
        if run.process.poll() is None:
            run.kill()

    assert "down" in cluster.states()[lost.node]
    assert (starved.memory, fed.memory) == ("60M", "480M")
    made = results(repository, EDITION)
    assert sorted(name for name in made.keys() | expected.keys() if made.get(name) != expected.get(name)) == []
    same = f"all {len(expected)} files the same bytes as those of a local run"
    record(
        "cluster",
        [
            (
                "kill -9 of the run on the machine that submits, its jobs left behind",
                1,
                "a second run names them and waits; " + same,
            ),
            ("kill -9 of a process of a job", 1, same),
            ("node lost with all that it runs", 1, same),
            ("job killed for its memory", 1, "submitted again with more; " + same),
            ("job cancelled", 1, same),
        ],
    )


@pytest.mark.cluster
def test_nothing_remains_of_a_cluster(tmp_path):
    if missing_programs():
        pytest.skip("Slurm is not installed")
    with pytest.raises(ZeroDivisionError), Cluster(tmp_path / "slurm") as cluster:
        words = ["sbatch", "--parsable", "--output", str(tmp_path / "job.txt"), "--wrap", "srun sleep 1000"]
        job = cluster.command(*words).strip()
        wait_until(lambda: cluster.processes_of(job), "the job")
        1 / 0
    assert cluster.processes() == []
    shutil.rmtree(tmp_path / "slurm")
