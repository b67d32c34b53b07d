"""Fixtures for tests that read the mirror of public data, without which they are skipped; and the count of what was tried."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from reliability import record

# The same examples every time: a test that fails now and then tells nobody anything.
settings.register_profile("walkeval", derandomize=True, deadline=None)
settings.load_profile("walkeval")

# The fuzzer is a program of its own, and needs a package that the environment does not have.
collect_ignore_glob = ["fuzz/*"]

GITHUB = "raw.githubusercontent.com"


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The mirror directory that WALKEVAL_MIRROR names."""
    name = os.environ.get("WALKEVAL_MIRROR")
    if not name:
        pytest.skip("WALKEVAL_MIRROR is not set: tests on real data need the mirror")
    path = Path(name)
    if not (path / GITHUB).is_dir():
        pytest.skip(f"WALKEVAL_MIRROR is {name}, which holds no mirror")
    return path


@pytest.fixture(scope="session")
def trec8_qrels(mirror: Path) -> Path:
    """The gzipped judgements of TREC 8 ad hoc."""
    return _the_one(mirror, "castorini/anserini-tools/*/qrels/qrels.adhoc.401-450.txt.gz")


@pytest.fixture(scope="session")
def trec8_runs(mirror: Path) -> dict[str, Path]:
    """The gzipped files of the 129 runs of TREC 8 ad hoc by run name, in alphabetical order."""
    found = (mirror / GITHUB).glob("isoboroff/trec8-scores/*/inputs/input.*.gz")
    return {path.name.removeprefix("input.").removesuffix(".gz"): path for path in sorted(found)}


def _the_one(mirror: Path, pattern: str) -> Path:
    found = sorted((mirror / GITHUB).glob(pattern))
    if len(found) != 1:
        pytest.skip(f"the mirror has {len(found)} files {pattern}")
    return found[0]


TRIED: pytest.StashKey[Counter] = pytest.StashKey()
LEFT_OUT: pytest.StashKey[set] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Count the tests that pass of those marked ``tried(part, what, outcome)``, with each of their parameters."""
    report = yield
    marks = [one.args for one in item.iter_markers("tried")]
    if report.when == "call" and report.passed:
        item.config.stash.setdefault(TRIED, Counter()).update(marks)
    elif not report.passed:
        item.config.stash.setdefault(LEFT_OUT, set()).update(marks)
    return report


def pytest_deselected(items):
    for item in items:
        marks = [one.args for one in item.iter_markers("tried")]
        item.config.stash.setdefault(LEFT_OUT, set()).update(marks)


def pytest_sessionfinish(session):
    """Keep the counts of what was tried in full: not where a test failed, was skipped, or was not asked for."""
    if any("::" in one for one in session.config.args):
        return
    left_out = session.config.stash.get(LEFT_OUT, set())
    for mark, times in session.config.stash.get(TRIED, Counter()).items():
        if mark not in left_out:
            part, what, outcome = mark
            record(part, [(what, times, outcome)])
