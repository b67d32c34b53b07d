"""The documentation is executed: every block of it, in the order of the page, as a reader would type it.

Shell blocks run under bash in an empty folder that stands for a checkout. There `walkeval` and `./run python` are the real
programs; of other calls of `./run` (set-up, editions: minutes) only the words are checked. A text block right
after a shell block is what that prints. Python blocks are doctests. Pages other than the README start with the README's sample.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import walkeval
from walkeval.citations import CITATIONS
from walkeval.claims import read_claims, read_rows
from walkeval.cli import build_parser
from walkeval.measures import known_measures
from walkeval.measures.base import _REGISTRY
from walkeval.measures.markov_precision import MP

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGES = {"sh", "python", "text", "yaml", "tsv"}
SAMPLE = "walkeval.synthetic"
"""What the block of the README that makes the sample holds, and no other."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    follows: bool
    """Whether it comes right after the block before it, with no word between."""


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    end = 0
    for one in FENCE.finditer(text):
        follows = bool(found) and not text[end : one.start()].strip()
        found.append(Block(one[2], textwrap.dedent(one[3]), text[: one.start()].count("\n") + 1, follows))
        end = one.end()
    return found


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


# --- a folder to run the blocks in ----------------------------------------------------------------------------------


class Checkout:
    """An empty folder with a `run` that leaves the long work out, and the programs of the environment in PATH."""

    def __init__(self, folder: Path):
        self.folder = folder
        programs = folder.parent / f"{folder.name}-programs"
        programs.mkdir()
        folder.mkdir()
        python = f'exec "{sys.executable}"'
        self._program(programs / "walkeval", f'{python} -m walkeval "$@"')
        self._program(programs / "walkeval-ir-measures", f'{python} -m walkeval.ir_measures "$@"')
        self._program(
            folder / "run",
            'word=${1:-demo}; [ $# = 0 ] || shift\n'
            f'case $word in python) {python} "$@" ;; walkeval) {python} -m walkeval "$@" ;; esac\n'
            'printf "%s\\n" "$word" >>run.words',
        )
        self.environment = os.environ | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "MPLBACKEND": "Agg",
        }

    @staticmethod
    def _program(path: Path, script: str) -> None:
        path.write_text(f"#!/usr/bin/env bash\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def shell(self, block: Block, where: str) -> str:
        """Run a block and return what it prints; `walkeval audit` that finds something ends with 3."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.text],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        last = block.text.strip().splitlines()[-1]
        expected = 3 if last.startswith("walkeval audit") else 0
        assert done.returncode == expected, f"{where}:{block.line}: exit {done.returncode}\n{block.text}\n{done.stderr}"
        return done.stdout

    def words(self) -> list[str]:
        """First words of the calls of ./run that were only noted."""
        noted = self.folder / "run.words"
        return noted.read_text().split() if noted.exists() else []


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample that the README makes."""
    checkout = Checkout(tmp_path_factory.mktemp("docs") / "sample")
    makes = [one for one in blocks(README) if one.language == "sh" and SAMPLE in one.text]
    assert len(makes) == 1
    checkout.shell(makes[0], "README.md")
    return checkout.folder / "sample"


@pytest.fixture(scope="module")
def run_help() -> str:
    done = subprocess.run([ROOT / "run", "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def is_known(word: str, run_help: str, folder: Path) -> bool:
    """Whether ./run takes this word: a command, an edition of the project, or one that the page set up."""
    if re.search(rf"^  \./run {re.escape(word)}\b", run_help, re.MULTILINE) or (ROOT / "config" / f"{word}.yaml").is_file():
        return True
    edition = folder / "config" / f"{word}.yaml"
    if not edition.is_file():
        return False
    check = [sys.executable, "-m", "walkeval.configuration", ROOT / "workflow/schemas/config.schema.json", edition, f"edition={word}"]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    collection = folder / "config" / "collections" / f"{word}.yaml"
    return collection.is_file() and bool(yaml.safe_load(collection.read_text()))


# --- tests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_a_page_does_what_it_says(page, tmp_path, sample, run_help, monkeypatch):
    checkout = Checkout(tmp_path / "walkeval")
    if page != README:
        shutil.copytree(sample, checkout.folder / "sample")
    monkeypatch.chdir(checkout.folder)
    registered = dict(_REGISTRY)
    namespace: dict[str, object] = {}
    printed = ""
    previous = ""
    try:
        for block in blocks(page):
            assert block.language in LANGUAGES, f"{page.name}:{block.line}: a block of no known language"
            if block.language == "sh":
                printed = checkout.shell(block, page.name)
            elif block.language == "python":
                run_python(block, namespace, page)
            elif block.language == "text" and block.follows and previous == "sh":
                assert doctest.OutputChecker().check_output(block.text, printed, FLAGS), (
                    f"{page.name}:{block.line}: printed is\n{printed}"
                )
            previous = block.language
    finally:
        _REGISTRY.clear()
        _REGISTRY.update(registered)
    for word in checkout.words():
        assert is_known(word, run_help, checkout.folder), f"{page.name}: ./run {word}"


def run_python(block: Block, namespace: dict[str, object], page: Path) -> None:
    if ">>>" not in block.text:
        exec(compile(block.text, f"{page.name}:{block.line}", "exec"), namespace)
        return
    parsed = doctest.DocTestParser().get_doctest(block.text, namespace, page.name, str(page), block.line)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    told: list[str] = []
    runner.run(parsed, out=told.append, clear_globs=False)
    namespace.update(parsed.globs)
    assert runner.failures == 0, f"{page.name}:{block.line}:\n{''.join(told)}"


def test_the_readme_shows_all_that_a_new_user_needs():
    shown = "\n".join(one.text for one in blocks(README) if one.language == "sh")
    for command in ("score", "compare", "explain", "audit", "init"):
        assert re.search(rf"^(\./run )?walkeval {command} ", shown, re.MULTILINE), command
    for line in ("./run", "./run test", "./run paper"):
        assert re.search(rf"^{re.escape(line)}( *#.*)?$", shown, re.MULTILINE), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_within_sentences_exist(page, run_help):
    commands = next(one for one in build_parser()._actions if one.dest == "command").choices
    options_of_all = {word for one in commands.values() for word in re.findall(r"--[a-z-]+", one.format_help())}
    for words in INLINE.findall(prose(page)):
        if words.startswith("--"):
            assert words.split()[0] in options_of_all, f"{page.name}: `{words}`"
        match = re.match(r"\./run ([a-z]\S*)", words)
        if match:
            assert match[1] == "mine" or is_known(match[1], run_help, ROOT), f"{page.name}: `{words}`"
        match = re.match(r"(?:\./run )?walkeval ([a-z]\S*)", words)
        if match:
            assert match[1] in commands, f"{page.name}: `{words}`"
            options = re.findall(r"(?<!\S)--[a-z-]+", words)
            known = commands[match[1]].format_help()
            assert all(one in known for one in options), f"{page.name}: `{words}`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for address in LINK.findall(prose(page)):
        if re.match(r"https?://", address):
            continue
        path, _, part = address.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {address}"
        if part:
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in titles]
            assert part in anchors, f"{page.name}: {address}"


def test_the_readme_leads_to_every_page():
    linked = {(README.parent / one.partition("#")[0]).resolve() for one in LINK.findall(README.read_text(encoding="utf-8"))}
    assert set(PAGES) - {README} <= linked


def test_each_family_is_told_in_the_same_five_parts():
    text = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    families = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    told = [one for one in families if "**User model.**" in one]
    assert len(told) == 5
    for family in told:
        for part in ("**Formula.**", "**Worked example.**", "**Cost.**", "**Citation.**"):
            assert family.count(part) == 1, family.splitlines()[0]
    for label, measure in known_measures().items():
        assert f"`{label}" in text, label
        assert CITATIONS[measure.citation]["year"] in text, label


def test_the_example_of_a_claims_file_is_one(tmp_path):
    shown = [one.text for one in blocks(ROOT / "docs" / "extending.md") if one.language == "tsv"]
    assert len(shown) == 1
    (tmp_path / "smith2020.tsv").write_text(shown[0], encoding="utf-8")
    assert {one.kind for one in read_claims([tmp_path / "smith2020.tsv"]).values()} == {"tau", "statement"}


def test_conventions_are_those_of_the_paper_edition():
    text = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    edition = yaml.safe_load((ROOT / "config" / "paper.yaml").read_text(encoding="utf-8"))
    for key in ("order", "rounding", "tau", "printing"):
        assert f"`{key}: {edition[key]}`" in text
    assert (MP().offset, MP().outside) == (2, 0)
    assert "`1 / log10(d + 2)`" in text


def test_errata_are_claims_that_do_not_hold():
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    claims = read_claims(sorted((ROOT / "config" / "claims").glob("*.tsv")))
    verdicts = ROOT / "results" / "paper" / "audit" / "verdicts.tsv"
    columns = verdicts.read_text(encoding="utf-8").partition("\n")[0].split("\t")
    verdict = {row[columns.index("claim")]: row[columns.index("verdict")] for _, row in read_rows(verdicts, columns)}
    papers = {one.partition("/")[0] for one in claims}
    named = [one for one in INLINE.findall(text) if one.partition("/")[0] in papers and "/" in one]
    assert {one.partition("/")[0] for one in named} == papers
    for one in named:
        assert one in claims, one
        assert verdict[one] in ("differs", "impossible"), one


def test_every_source_is_named():
    text = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    registry = ROOT / "config" / "sources.tsv"
    columns = registry.read_text(encoding="utf-8").partition("\n")[0].split("\t")
    for _, row in read_rows(registry, columns):
        source = dict(zip(columns, row, strict=True))
        assert "/".join(source["url"].split("/")[3:5]) in text, source["id"]
        assert source["licence"] in text, source["id"]
    for file in (ROOT / "config" / "collections").glob("trec*.yaml"):
        assert yaml.safe_load(file.read_text(encoding="utf-8"))["runs_folder"] in text, file.name


def test_the_citation_file_says_what_the_package_says():
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert content["cff-version"] == "1.2.0"
    assert content["title"] == "walkeval"
    assert content["version"] == walkeval.__version__
    assert content["license"] == "Apache-2.0"
    assert all(content.get(key) for key in ("message", "authors", "abstract"))
    reproduced = {"ferrante2014", "ferrante2020", "vandijk2019", "bollmann1988", "piwowarski2006"}
    assert {one["title"] for one in content["references"]} == {CITATIONS[key]["title"] for key in reproduced}
    years = {one["title"]: str(one["year"]) for one in content["references"]}
    assert years == {CITATIONS[key]["title"]: CITATIONS[key]["year"] for key in reproduced}


def test_the_changelog_has_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(walkeval.__version__)}\b", text, re.MULTILINE)
