"""./run, in a small copy of the repository; nothing is installed and nothing is asked of the network.

Where set-up itself is tested, a stand-in for uv takes the place of the installation; elsewhere the environment is a
stand-in whose python writes down how it was called.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ["fetch", "test", "bench", "snakemake", "python", "walkeval"]

RECORDER = """#!/usr/bin/env bash
# The environment's python: the checks of the stamp and of the configuration are real, the rest is written down.
case "$*" in
  "-I -S -c "*) exec "{python}" "$@" ;;
  "-m walkeval.configuration "*) PYTHONPATH="{library}" exec "{python}" "$@" ;;
esac
{{
  printf 'in %s\\n' "$PWD"
  printf 'mirror %s\\n' "${{WALKEVAL_MIRROR:-}}"
  printf 'variables %s %s %s\\n' "$MPLBACKEND" "$OMP_NUM_THREADS" "$IR_DATASETS_HOME"
  printf 'call'
  printf ' [%s]' "$@"
  printf '\\n'
}} >>"{record}"
[ -f "{record}.reason" ] && mkdir -p data/demo/failures && cp "{record}.reason" data/demo/failures/judge.log
[ -f "{record}.fail" ] && exit "$(cat "{record}.fail")"
exit 0
"""

UV = """#!/usr/bin/env bash
printf '%s\\n' "$*" >>"{record}"
[ ! -f "{record}.fail" ] || {{ echo "uv says no" >&2; exit 1; }}
"""


def fingerprint(repository: Path) -> str:
    """What the stamp of an up-to-date environment says."""
    content = (repository / "requirements.txt").read_bytes() + b"\0" + os.fsencode(repository)
    return f"{sys.version_info.major}.{sys.version_info.minor} {hashlib.sha256(content).hexdigest()}\n"


def environment(**variables: str) -> dict[str, str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("WALKEVAL_", "IR_DATASETS_"))}
    return {**ours, **variables}


def call(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(one) for one in command],
        cwd=cwd,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=120,
    )


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def repository(tmp_path) -> Path:
    """The least that ./run needs, without an environment."""
    root = tmp_path.resolve() / "repository"
    for name in ("config", "workflow/schemas"):
        (root / name).mkdir(parents=True)
    shutil.copy(ROOT / "run", root / "run")
    shutil.copy(ROOT / "workflow/schemas/config.schema.json", root / "workflow/schemas")
    (root / "requirements.txt").write_text("nothing==1.0 --hash=sha256:" + "0" * 64 + "\n")
    for name in ("demo", "paper", "mine"):
        (root / "config" / f"{name}.yaml").write_text(f"title: {name}\n")
    (root / "config" / "synthetic.yaml").write_text("trec08: {}\n")
    return root


def set_up_stand_in(root: Path) -> Path:
    """Put an environment in place that only writes down; the file where it does so."""
    record = root.parent / "record"
    executable(root / ".venv/bin/python", RECORDER.format(python=sys.executable, library=ROOT, record=record))
    (root / ".venv/walkeval.lock").touch()
    (root / ".venv/walkeval.stamp").write_text(fingerprint(root))
    return record


@pytest.fixture
def record(repository) -> Path:
    return set_up_stand_in(repository)


def calls(record: Path) -> list[str]:
    return [line.removeprefix("call ") for line in record.read_text().splitlines() if line.startswith("call ")]


# --- words ---


def test_the_script_is_sound_bash():
    assert call("bash", "-n", ROOT / "run", cwd=ROOT).returncode == 0
    assert os.access(ROOT / "run", os.X_OK)


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_help_lists_every_command_and_edition_and_sets_nothing_up(repository, word):
    result = call(repository / "run", word, cwd=repository)
    assert result.returncode == 0
    assert result.stderr == ""
    for command in COMMANDS:
        assert f"./run {command} " in result.stdout or f"./run {command}\n" in result.stdout
    assert "demo, mine, paper\n" in result.stdout
    assert not (repository / ".venv").exists()


@pytest.mark.parametrize("word", ["papr", "--papr", " ", "config/demo", "../config/demo", "demo.yaml"])
def test_an_unknown_word_gets_one_line_that_lists_what_exists(repository, word):
    result = call(repository / "run", word, cwd=repository)
    assert result.returncode == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert all(one in line for one in [*COMMANDS, "demo, mine, paper"])
    assert ("did you mean 'paper'?" in line) == ("papr" in word)
    assert not (repository / ".venv").exists()


def test_fetch_of_an_unknown_edition_gets_one_line(repository):
    result = call(repository / "run", "fetch", "papr", cwd=repository)
    assert result.returncode == 2
    assert result.stderr.splitlines() == ["run: no edition 'papr'; editions: demo, mine, paper"]


# --- what is called ---


def snakemake(edition: str, *rest: str) -> str:
    settings = [one for one in rest if "=" in one]
    others = [one for one in rest if "=" not in one]
    words = ["-m", "snakemake", "--workflow-profile", "workflow/profiles/default", "--configfile", f"config/{edition}.yaml"]
    words += ["--config", f"edition={edition}", *settings]
    cores = [] if "--profile" in others else ["--cores", "all"]  # a profile says itself where jobs run
    quiet = [] if {"-n", "-np", "--lint", "--verbose", "--quiet"} & {*others} else ["--quiet", "rules"]
    return " ".join(f"[{word}]" for word in [*words, *cores, *quiet, "--show-failed-logs", *others])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], [snakemake("demo"), "[scripts/summarize.py] [results/demo]"]),
        (["demo"], [snakemake("demo"), "[scripts/summarize.py] [results/demo]"]),
        (["paper"], [snakemake("paper"), "[scripts/summarize.py] [results/paper]"]),
        (["mine"], [snakemake("mine"), "[scripts/summarize.py] [results/mine]"]),
        (["demo", "-n"], [snakemake("demo", "-n")]),
        (["demo", "-np"], [snakemake("demo", "-np")]),
        (["demo", "--profile", "there", "-n"], [snakemake("demo", "--profile", "there", "-n")]),
        (["demo", "--lint"], [snakemake("demo", "--lint")]),
        (["fetch"], [snakemake("paper", "fetch")]),
        (["fetch", "mine"], [snakemake("mine", "fetch")]),
        (["fetch", "-n"], [snakemake("paper", "fetch", "-n")]),
        (
            ["paper", "replicates=2", "results=else where"],
            [snakemake("paper", "replicates=2", "results=else where"), "[scripts/summarize.py] [else where/paper]"],
        ),
        (
            ["paper", "tau=a", "--quiet", "--config", "replicates=2", "-C", "shard=1"],
            [
                snakemake("paper", "tau=a", "replicates=2", "shard=1", "--quiet"),
                "[scripts/summarize.py] [results/paper]",
            ],
        ),
        (["test", "-k", "two words"], ["[-m] [pytest] [-k] [two words]"]),
        (["bench"], ["[-m] [benchmarks.run_all]"]),
        (["bench", "--ranx"], ["[-m] [benchmarks.run_all] [--ranx]"]),
        (["snakemake", "--version"], ["[-m] [snakemake] [--version]"]),
        (["python", "-c", "import this"], ["[-c] [import this]"]),
        (["walkeval", "score", "two words"], ["[-m] [walkeval] [score] [two words]"]),
    ],
)
def test_the_words_become_these_calls(repository, record, words, expected):
    result = call(repository / "run", *words, cwd=repository)
    assert result.returncode == 0, result.stderr
    assert calls(record) == expected


def test_an_assignment_after_another_option_belongs_to_that_option(repository, record):
    call(repository / "run", "demo", "--set-threads", "score=4", cwd=repository)
    assert calls(record)[0].endswith(
        "[--config] [edition=demo] [--cores] [all] [--quiet] [rules] [--show-failed-logs] [--set-threads] [score=4]"
    )


def test_the_folder_of_the_results_is_that_of_the_edition(repository, record):
    (repository / "config/mine.yaml").write_text("title: mine\nresults: there\n")
    call(repository / "run", "mine", cwd=repository)
    assert calls(record)[-1] == "[scripts/summarize.py] [there/mine]"


def test_an_audit_with_a_mistake_runs_nothing(repository, record):
    result = call(repository / "run", "audit", "demo", "replicate=3", cwd=repository)
    assert result.returncode == 1
    assert "did you mean 'replicates'?" in result.stderr
    assert not record.exists()


@pytest.mark.parametrize(
    ("line", "orphan"),
    [
        ("7|rule_pools_score_pools|{root}", True),
        ("7|rule_pools_score_pools|{root}/elsewhere", False),
        ("7|(null)|{root}", False),  # somebody's notebook
        ("8|rule_pools_score_pools|{root}", False),  # the job that this runs in
    ],
)
def test_jobs_of_a_killed_run_on_a_cluster_are_waited_for(repository, record, tmp_path, line, orphan):
    programs = tmp_path / "programs"
    programs.mkdir()
    squeue = programs / "squeue"
    squeue.write_text(f"#!/bin/sh\necho '{line.format(root=repository)}'\n")
    squeue.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    result = call(repository / "run", cwd=repository, PATH=path, SLURM_JOB_ID="8")
    assert result.returncode == orphan
    assert result.stderr.endswith("end them with scancel 7\n") == orphan
    assert record.exists() != orphan


@pytest.mark.parametrize("code", [71, 1])
def test_a_file_system_without_locks_is_no_obstacle(repository, record, tmp_path, code):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "flock").write_text(f"#!/bin/sh\necho 'flock: not implemented' >&2\nexit {code}\n")
    (programs / "flock").chmod(0o755)
    locks = repository / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").touch()
    result = call(repository / "run", cwd=repository, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    assert (result.returncode, result.stderr) == (0, "")
    assert list(locks.iterdir()), "of whom this lock is, nobody knows"


def test_the_reason_of_a_failure_is_the_last_word(repository, record):
    failures = repository / "data" / "demo" / "failures"
    failures.mkdir(parents=True)
    (failures / "score.log").write_text("score_collection: of an earlier run\n")
    Path(f"{record}.fail").write_text("1")
    assert call(repository / "run", cwd=repository).stderr == ""
    Path(f"{record}.reason").write_text("judge_collection: runs/a.txt: line 3: a reason\n")
    result = call(repository / "run", cwd=repository)
    assert result.returncode == 1
    assert result.stderr == "run: judge_collection: runs/a.txt: line 3: a reason\n"
    (failures / "score.log").write_text("score_collection: of an earlier run\n")
    assert call(repository / "run", "demo", "-n", cwd=repository).returncode == 1
    assert (failures / "score.log").exists(), "a dry run removes nothing"


def test_a_mistake_in_the_configuration_is_one_sentence_and_nothing_runs(repository, record):
    (repository / "config/mine.yaml").write_text("title: mine\nreplicate: 3\n")
    result = call(repository / "run", "mine", cwd=repository)
    assert result.returncode == 1
    assert result.stderr == "config/mine.yaml:2: unknown key 'replicate'; did you mean 'replicates'?\n"
    assert not record.exists()


def test_the_exit_code_is_that_of_the_edition_and_no_summary_follows(repository, record):
    Path(f"{record}.fail").write_text("7")
    assert call(repository / "run", cwd=repository).returncode == 7
    assert calls(record) == [snakemake("demo")]


# --- from where ---


def test_it_works_from_anywhere_through_links_and_in_any_locale(repository, record, tmp_path):
    elsewhere = tmp_path.resolve() / "else where"
    elsewhere.mkdir()
    (elsewhere / "first").symlink_to(repository / "run")
    (elsewhere / "second").symlink_to("first")
    for script in (elsewhere / "second", "../repository/run"):
        for locale in ("C", "C.UTF-8", "tr_TR.ISO-8859-9"):
            record.unlink(missing_ok=True)
            result = call(script, "demo", cwd=elsewhere, LC_ALL=locale, WALKEVAL_MIRROR="mir ror", CDPATH="/")
            assert result.returncode == 0, result.stderr
            assert calls(record) == [snakemake("demo"), "[scripts/summarize.py] [results/demo]"]
            lines = record.read_text().splitlines()
            assert lines[:3] == [
                f"in {repository}",
                f"mirror {elsewhere}/mir ror",
                f"variables Agg 1 {repository}/data/ir_datasets",
            ]


def test_pass_through_stays_where_it_was_called_and_keeps_absolute_paths(repository, record, tmp_path):
    call(repository / "run", "python", "x.py", cwd=tmp_path, WALKEVAL_MIRROR="/mirror", IR_DATASETS_HOME="/mine")
    lines = record.read_text().splitlines()
    assert lines[:2] == [f"in {tmp_path.resolve()}", "mirror /mirror"]
    assert lines[2].endswith(" /mine")


def test_in_a_path_with_a_space_snakemake_is_given_a_python_that_needs_no_quotes(repository):
    root = repository.rename(repository.with_name("re po"))
    record = set_up_stand_in(root)
    assert call(root / "run", cwd=root).returncode == 0
    first, last = calls(record)
    assert first.startswith(
        '[-c] [import sys; from snakemake.cli import main; sys.executable = "python"; main()] [--workflow-profile]'
    )
    assert last == "[scripts/summarize.py] [results/demo]"


# --- set-up ---


@pytest.fixture
def uv(repository) -> Path:
    """A stand-in for uv that installs nothing, and a package to be found; the file where uv writes down its calls."""
    (repository / "walkeval").mkdir()
    (repository / "walkeval/__init__.py").touch()
    record = repository.parent / "uv-record"
    executable(repository.parent / "tools/uv", UV.format(record=record))
    executable(repository.parent / "tools/python3", f'#!/usr/bin/env bash\nexec "{sys.executable}" "$@"\n')
    return record


def set_up(repository: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{repository.parent}/tools:{os.environ['PATH']}"
    program = "import sys, walkeval; print(sys.prefix); print(walkeval.__file__)"
    return call(repository / "run", "python", "-c", program, cwd=repository, **{"PATH": path, **variables})


def test_the_first_call_sets_up_and_the_second_does_not(repository, uv):
    result = set_up(repository)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [f"{repository}/.venv", f"{repository}/walkeval/__init__.py"]
    assert result.stderr == "setting up .venv (once, about a minute)\n"
    (line,) = uv.read_text().splitlines()
    for option in (
        "--require-hashes",
        "--only-binary :all:",
        "--no-binary connection-pool",
        f"-r {repository}/requirements.txt",
    ):
        assert option in line
    assert (repository / ".venv/walkeval.stamp").read_text() == fingerprint(repository)
    again = set_up(repository)
    assert (again.returncode, again.stdout, again.stderr) == (0, result.stdout, "")
    assert len(uv.read_text().splitlines()) == 1


def test_the_environment_has_the_programs_of_the_package(repository, uv):
    root = repository.rename(repository.with_name("re po"))
    assert set_up(root).returncode == 0
    (root / "walkeval/__main__.py").write_text("import sys; print(sys.argv[1:])")
    result = call(root / ".venv/bin/walkeval", "score", "two words", cwd=root.parent)
    assert (result.returncode, result.stdout) == (0, "['score', 'two words']\n"), result.stderr
    assert os.access(root / ".venv/bin/walkeval-ir-measures", os.X_OK)


def requirements_changed(repository: Path) -> None:
    (repository / "requirements.txt").write_text("something==2.0 --hash=sha256:" + "1" * 64 + "\n")


def interrupted(repository: Path) -> None:
    (repository / ".venv/walkeval.stamp").unlink()


def python_removed(repository: Path) -> None:
    python = repository / ".venv/bin/python"
    python.unlink()
    python.symlink_to(repository / "no-such-python")


def other_python_version(repository: Path) -> None:
    (repository / ".venv/walkeval.stamp").write_text(fingerprint(repository).replace("3.", "2.", 1))


@pytest.mark.parametrize("change", [requirements_changed, interrupted, python_removed, other_python_version])
def test_a_stale_or_unfinished_environment_is_built_anew(repository, uv, change):
    assert set_up(repository).returncode == 0
    left_over = repository / ".venv/lib/left-over"
    left_over.touch()
    change(repository)
    # The environment may be active in the shell: it must not be built upon itself.
    path = f"{repository}/.venv/bin:{repository.parent}/tools:{os.environ['PATH']}"
    result = set_up(repository, PATH=path)
    assert (result.returncode, result.stderr) == (0, "setting up .venv (once, about a minute)\n")
    assert not left_over.exists()
    assert len(uv.read_text().splitlines()) == 2
    assert (repository / ".venv/walkeval.stamp").read_text() == fingerprint(repository)


def test_a_moved_repository_is_set_up_anew(repository, uv):
    assert set_up(repository).returncode == 0
    moved = repository.rename(repository.with_name("moved"))
    result = set_up(moved)
    assert result.stdout.splitlines() == [f"{moved}/.venv", f"{moved}/walkeval/__init__.py"]
    assert len(uv.read_text().splitlines()) == 2


def test_a_failed_set_up_shows_why_and_is_done_again(repository, uv):
    Path(f"{uv}.fail").touch()
    result = set_up(repository, PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull, PIP_FIND_LINKS="")
    assert result.returncode == 1
    first, *shown, last = result.stderr.splitlines()
    assert first == "setting up .venv (once, about a minute)"
    assert any("nothing==1.0" in line for line in shown) and len(shown) <= 15
    assert last == f"run: the set-up failed; its output is in {repository}/.venv/walkeval.log"
    assert not (repository / ".venv/walkeval.stamp").exists()
    Path(f"{uv}.fail").unlink()
    assert set_up(repository).returncode == 0


def test_concurrent_calls_set_up_once(repository, uv):
    if shutil.which("flock") is None:
        pytest.skip("flock is not on this machine")
    path = f"{repository.parent}/tools:{os.environ['PATH']}"
    command = [str(repository / "run"), "python", "-c", "import walkeval"]
    options = {"cwd": repository, "env": environment(PATH=path), "stderr": subprocess.PIPE, "text": True}
    all_three = [subprocess.Popen(command, **options) for _ in range(3)]
    messages = [one.communicate(timeout=120)[1] for one in all_three]
    assert [one.returncode for one in all_three] == [0, 0, 0], messages
    assert "".join(messages).count("setting up") == 1
    assert len(uv.read_text().splitlines()) == 1


def test_the_environment_may_be_elsewhere(repository, uv):
    result = set_up(repository, WALKEVAL_VENV="../the environment")
    assert result.returncode == 0, result.stderr
    prefix, module = result.stdout.splitlines()
    assert Path(prefix).resolve() == repository.parent / "the environment"
    assert module == f"{repository}/walkeval/__init__.py"
    assert not (repository / ".venv").exists()


def test_a_folder_that_is_not_ours_is_left_alone(repository, uv, tmp_path):
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    result = set_up(repository, WALKEVAL_VENV=str(folder))
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line == f"run: {folder} was not made by ./run: remove it, or name another place in WALKEVAL_VENV"
    assert [one.name for one in folder.iterdir()] == ["thesis.txt"]


def test_without_python_one_line_says_what_is_needed(repository, tmp_path):
    tools = tmp_path / "only"
    tools.mkdir()
    for name in ("bash", "env", "dirname", "readlink", "cat", "ls", "mkdir", "grep"):
        (tools / name).symlink_to(shutil.which(name))
    executable(tools / "python3", "#!/usr/bin/env bash\nexit 1\n")  # too old
    result = call(repository / "run", "test", cwd=repository, PATH=str(tools))
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert "needs Python 3.11 or newer" in line
    assert not (repository / ".venv").exists()
