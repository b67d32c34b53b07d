"""Start a real Slurm on one machine: Debian's slurmctld, slurmd and munge, on loopback, without systemd or cgroups.

Everything lives in one folder: the key and the socket of munge, slurm.conf, spools, process ids and logs. Nothing of a Slurm that
this machine may already have is read or changed.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from processes import descendants, everything, kill, read, variable

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel", "scontrol", "srun")
PLACES = f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"
"""Daemons are often not in the PATH of a user."""
NODES = ("n1", "n2", "n3")
CPUS = 4
MARK = "WALKEVAL_TEST_CLUSTER"
"""A variable that daemons and jobs inherit, so that none of them can be missed at the end."""

CONFIGURATION = """\
ClusterName=walkeval
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
MpiDefault=none
SwitchType=switch/none
# No cgroups: processes are followed through /proc, and memory is watched every second, and enforced.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SchedulerType=sched/backfill
# Jobs go to the least loaded node, so that all nodes have some.
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_LLN
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
# A finished job is shown for an hour: squeue is all that there is without an accounting database.
MinJobAge=3600
# A node that is silent for this long is down, and its jobs have failed.
SlurmdTimeout=15
MessageTimeout=5
SlurmctldTimeout=30
ReturnToService=2
KillWait=2
# More processors than the machine may have: jobs of different nodes then run at the same time.
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


def missing_programs() -> list[str]:
    """The programs of Slurm and munge that are not installed here."""
    return [name for name in PROGRAMS if shutil.which(name, path=PLACES) is None]


def wait_until(condition, what: str, seconds: float = 30.0, pause: float = 0.2):
    """The first true value of ``condition``; an error that names what did not happen when there is none in time."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen in {seconds:g} s")
        time.sleep(pause)


class Job(NamedTuple):
    """What squeue says of a job; ``rules`` starts with the name of the group."""

    id: str
    state: str
    node: str
    memory: str
    rules: str


class Cluster:
    """A controller and three nodes. A context manager: whatever happens, no process remains."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._daemons: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> Cluster:
        try:
            self._configure()
            self._start(
                "munged", "--foreground", "--force", *(f"--{key}={self.folder}/munge.{value}" for key, value in _MUNGE)
            )
            wait_until((self.folder / "munge.socket").exists, "the socket of munge")
            self._start("slurmctld", "-D", "-c")
            for node in NODES:
                self.start_node(node)
            wait_until(lambda: self.states() == dict.fromkeys(NODES, "idle"), "three idle nodes")
        except BaseException as error:
            error.add_note(self.logs())
            self.stop()
            raise
        return self

    def __exit__(self, *ignored) -> None:
        self.stop()

    # --- what tests ask and do ---

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which sbatch, srun and squeue find this cluster."""
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), MARK: str(self.folder), "PATH": path}

    def command(self, *words: str) -> str:
        """What a command of Slurm prints; nothing when it fails, as it does while the controller starts."""
        place = shutil.which(words[0], path=PLACES)
        done = subprocess.run(
            [place, *words[1:]], env=_outside() | self.environment, capture_output=True, text=True, timeout=30
        )
        return done.stdout if done.returncode == 0 else ""

    def states(self) -> dict[str, str]:
        """The state of every node."""
        return dict(line.split() for line in self.command("sinfo", "-N", "-h", "-o", "%N %t").splitlines())

    def jobs(self, *states: str) -> list[Job]:
        """The jobs in these states, in the order of their submission; all of them when none is named."""
        lines = self.command(
            "squeue", "-h", "-S", "i", "-t", ",".join(states) or "all", "-o", "%i|%T|%N|%m|%k"
        ).splitlines()
        return [Job(*line.split("|", maxsplit=4)) for line in lines]

    def processes_of(self, job: str) -> list[int]:
        """The processes of a job, the innermost last; without those of Slurm itself."""
        found = [one for one in self.processes() if variable(one, "SLURM_JOB_ID") == job]
        return sorted(one for one in found if not read(one, "cmdline").startswith(b"slurmstepd"))

    def start_node(self, node: str) -> None:
        """Start the daemon of a node, or start it again."""
        (self.folder / f"spool-{node}").mkdir(exist_ok=True)
        self._start("slurmd", "-D", "-N", node, name=node)

    def lose_node(self, node: str) -> None:
        """As when the power fails: the daemon of a node and everything that it runs are gone at the same time."""
        daemon = self._daemons.pop(node)
        # The daemon is stopped first, so that it cannot report the end of a job.
        daemon.send_signal(signal.SIGSTOP)
        for process in descendants(daemon.pid):
            kill(process)
        # Slurm puts each step into a process of its own, outside of the tree of its daemon.
        for process in self.processes():
            if variable(process, "SLURMD_NODENAME") == node or _is_step_of(process, node, self.folder):
                kill(process)
        daemon.kill()
        daemon.wait()

    def cancel(self, job: str) -> None:
        """Take a job away, as its owner or an administrator may."""
        self.command("scancel", job)

    def logs(self) -> str:
        """The end of every log, for a message."""
        files = sorted(self.folder.glob("*.log"))
        return "\n".join(f"--- {one.name}\n{one.read_text(errors='replace')[-1500:]}" for one in files)

    # --- the life of the daemons ---

    def _configure(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("state", "bin"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        ports = _free_ports(1 + len(NODES))
        nodes = "\n".join(
            f"NodeName={node} NodeAddr=127.0.0.1 NodeHostname={socket.gethostname()} Port={port} CPUs={CPUS} RealMemory=16000"
            for node, port in zip(NODES, ports[1:], strict=True)
        )
        text = CONFIGURATION.format(
            host=socket.gethostname(),
            ports=ports,
            user=pwd.getpwuid(os.getuid()).pw_name,
            folder=self.folder,
            nodes=nodes,
            names=",".join(NODES),
        )
        (self.folder / "slurm.conf").write_text(text)
        # The executor's job step drops SLURM_CONF, without which srun would look for a Slurm of the machine.
        shim = self.folder / "bin" / "srun"
        shim.write_text(
            f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {shutil.which("srun", path=PLACES)} "$@"\n'
        )
        shim.chmod(0o755)

    def _start(self, program: str, *options: str, name: str = "") -> None:
        with (self.folder / f"{name or program}.out.log").open("ab") as output:
            self._daemons[name or program] = subprocess.Popen(
                [shutil.which(program, path=PLACES), *options],
                env=_outside() | self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stop(self) -> None:
        """End every daemon and every job."""
        for daemon in self._daemons.values():
            daemon.kill()
            daemon.wait()
        self._daemons.clear()
        # A process may start another while this looks around.
        wait_until(lambda: not [kill(one) for one in self.processes()], "the end of all processes of the cluster")

    def processes(self) -> list[int]:
        """All processes that inherited the mark, but for this one."""
        return [one for one in everything() if one != os.getpid() and variable(one, MARK) == str(self.folder)]


_MUNGE = (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))


def _outside() -> dict[str, str]:
    """The variables of this process, without those of a Slurm job that it may run in."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "SBATCH", "SRUN"))}


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _is_step_of(process: int, node: str, folder: Path) -> bool:
    """Whether this is Slurm's own process for a step on a node: it holds a file of that node's spool or log open."""
    if not read(process, "cmdline").startswith(b"slurmstepd"):
        return False
    try:
        places = [os.readlink(one) for one in Path(f"/proc/{process}/fd").iterdir()]
    except OSError:
        return False
    return any(one.startswith((f"{folder}/spool-{node}/", f"{folder}/slurmd-{node}.log")) for one in places)
