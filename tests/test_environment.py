"""The files that describe the environment: requirements.in and .txt, environment.yml, pyproject.toml, LICENSE."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import walkeval

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def asked() -> dict[str, Requirement]:
    """What requirements.in asks for, by name."""
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]
    return {canonicalize_name(one.name): one for one in requirements}


@pytest.fixture(scope="module")
def pinned() -> dict[str, str]:
    """The version of each package in requirements.txt."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return {canonicalize_name(name): version for name, version in re.findall(r"(?m)^([\w.-]+)==([^\s;\\]+)", text)}


@pytest.fixture(scope="module")
def conda() -> dict:
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def conda_versions(conda: dict) -> dict[str, str]:
    """Every package of environment.yml with its version, whichever of the two tools installs it."""
    versions = {}
    for one in conda["dependencies"]:
        if isinstance(one, dict):
            for line in one["pip"]:
                if line != "-e .":
                    name, version = line.split("==")
                    versions[canonicalize_name(name)] = version
        elif one != "pip":
            name, version = one.split("=")
            versions[canonicalize_name(name)] = version
    return versions


def test_every_pin_has_a_hash():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) > 10
    for line in lines:
        assert re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line.split()[0]


@pytest.mark.parametrize("name", ["requirements.in", "requirements.txt", "environment.yml", "pyproject.toml", "run"])
def test_no_index_and_no_host_is_named(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host", text)


def test_what_is_asked_for_is_pinned_within_its_range(asked, pinned):
    assert set(asked) <= set(pinned)
    for name, requirement in asked.items():
        assert requirement.specifier.contains(pinned[name]), f"{name}: {pinned[name]} is not {requirement.specifier}"


def test_conda_has_the_same_packages_in_the_same_versions(asked, pinned, conda):
    versions = conda_versions(conda)
    python = versions.pop("python")
    assert versions == {name: pinned[name] for name in asked}
    assert SpecifierSet(">=3.11").contains(python)


def test_conda_uses_no_channel_of_its_own_accord(conda):
    assert conda["channels"] == ["conda-forge", "bioconda", "nodefaults"]


def test_project_metadata(project):
    assert project["name"] == "walkeval"
    assert project["version"] == walkeval.__version__
    assert project["requires-python"] == ">=3.11"
    assert project["license"] == "Apache-2.0"
    assert all((ROOT / name).is_file() for name in project["license-files"])
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8").splitlines()[1]


def test_the_pins_are_within_the_ranges_of_the_project(project, pinned):
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in [Requirement(line) for group in groups for line in group]:
        assert requirement.specifier, f"{requirement.name} has no range"
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement.name


def test_the_library_is_importable_without_the_workflow():
    """Every module, with the packages of the workflow and the tests out of reach."""
    modules = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "walkeval").rglob("*.py")
        if path.name != "__main__.py"
    )
    assert "walkeval.configuration" in modules
    program = f"""
import importlib, sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("snakemake", "ir_datasets", "tqdm", "pytest", "hypothesis", "pytrec_eval"):
            raise ImportError(name + " is out of reach")
sys.meta_path.insert(0, Blocker())
sys.path.insert(0, {str(ROOT)!r})
for name in {modules!r}:
    importlib.import_module(name)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
