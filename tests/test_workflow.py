"""The workflow end to end: small editions in a copy of the repository, in a folder with a space in its name."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from walkeval.correlation import ALL_EQUAL, ONE_SYSTEM
from walkeval.tables import read_table

ROOT = Path(__file__).resolve().parents[1]
PAPER = "sigir2014-markov-precision"
FEW = '["AP", "P@10", "Rprec", "bpref", "RBP(p=0.8)", \'MP(model="GL_OR_ID")\']'


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    ours = {
        key: value for key, value in os.environ.items() if not key.startswith(("WALKEVAL_", "TREC_", "IR_DATASETS_"))
    }
    ours |= {"IR_DATASETS_HOME": str(cwd / "ir_datasets"), "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    return subprocess.run(
        [str(one) for one in command],
        cwd=cwd,
        env=ours | variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )


def snakemake(
    repository: Path, edition: str, *settings: str, cores: int = 2, options: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run an edition as ./run does, also where the path of Python has a space, which Snakemake does not quote."""
    program = 'import sys; from snakemake.cli import main; sys.executable = "python"; main()'
    variables = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"} | variables
    command = [sys.executable, "-c", program, "--configfile", f"config/{edition}.yaml"]
    command += ["--config", f"edition={edition}", *settings, "--cores", str(cores), "--show-failed-logs", *options]
    return run(*command, cwd=repository, **variables)


def files(folder: Path) -> dict[str, bytes]:
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


def started(result: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"^(?:local)?rule (\w+):", result.stdout, re.MULTILINE)


def copy_of_the_repository(folder: Path) -> Path:
    folder.mkdir()
    for name in ("workflow", "scripts", "config"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / name, folder)
    return folder


# --- the rules themselves ---


@pytest.mark.parametrize("edition", ["demo", "paper"])
def test_lint_has_nothing_to_say(edition):
    result = snakemake(ROOT, edition, options=("--lint",))
    assert result.returncode == 0, result.stdout
    assert "Congratulations" in result.stdout


def test_the_rules_are_formatted():
    places = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]
    result = run(Path(sys.executable).parent / "snakefmt", "--check", *places, cwd=ROOT)
    assert result.returncode == 0, result.stdout


def rules() -> dict[str, str]:
    """The text of every rule by its name, without the target rules, which do nothing."""
    found = {}
    for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        blocks = re.split(r"^ *rule (\w+):\n", path.read_text(), flags=re.MULTILINE)
        found |= dict(zip(blocks[1::2], blocks[2::2], strict=True))
    return found


@pytest.mark.parametrize("name", sorted(rules()))
def test_every_rule_has_log_benchmark_environment_and_a_script_of_its_name(name):
    text = rules()[name]
    for directive in ("log", "benchmark", "conda", "script"):
        assert len(re.findall(rf"^ +{directive}:$", text, re.MULTILINE)) == 1, directive
    assert not re.search(r"^ +(run|shell):$", text, re.MULTILINE)
    assert f"scripts/{name}.py" in text
    assert (ROOT / "scripts" / f"{name}.py").is_file()


# --- a synthetic edition ---

SPECIFICATION = """
alpha: {topics: 4, runs: 5, relevant: [2, 4, 6], depth: 20, candidates: 60, pool_depth: 10}
beta: {topics: 4, runs: 5, relevant: [1, 3, 6], depth: 20, candidates: 60, pool_depth: 10}
"""
TINY = f"""
title: Tiny & <small>
kind: synthetic
synthetic: config/small synthetic.yaml
collections: [alpha, beta]
measures: {FEW}
replicates: 2
pool_rates: [50]
bootstrap: 10
click_sessions: 100
planted_tables: 1
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """A copy of the repository in which the tiny edition has run, on two cores."""
    repository = copy_of_the_repository(tmp_path_factory.mktemp("work flow") / "a copy")
    (repository / "config" / "small synthetic.yaml").write_text(SPECIFICATION)
    (repository / "config" / "tiny.yaml").write_text(TINY)
    result = snakemake(repository, "tiny", cores=2, PYTHONHASHSEED="1", LC_ALL="C")
    assert result.returncode == 0, result.stdout
    return repository


def test_an_edition_gives_its_results(tiny):
    results = files(tiny / "results" / "tiny")
    wanted = {f"{PAPER}/table{number}.{suffix}" for number in (1, 2, 3, 4) for suffix in ("tsv", "md", "tex", "html")}
    wanted |= {"report/index.html", "REPRODUCTION.md", "provenance.json", "evidence.tsv", "audit/verdicts.tsv"}
    wanted |= {"ledgers/alpha.tsv", "ledgers/beta.tsv"}
    assert wanted <= results.keys()
    assert all(results.values()), "an empty file"
    assert b"Tiny &amp; &lt;small&gt;" in results["report/index.html"]
    for name, content in results.items():
        if not name.endswith(".pdf"):
            assert str(tiny.parent).encode() not in content, f"{name} tells a path of this machine"
    assert read_table(tiny / "results" / "tiny" / PAPER / "table2.tsv")["tau"].notna().all()
    # Logs and benchmarks of every job, and nothing unfinished.
    logs = {one.stem for one in (tiny / "data" / "tiny" / "logs").rglob("*.log")}
    assert {"alpha", "beta", "alpha-0", "tabulate_sigir2014", "publish_results"} <= logs
    assert {one.stem for one in (tiny / "data" / "tiny" / "benchmarks").rglob("*.tsv")} == logs
    assert not [one for one in tiny.rglob("*") if one.suffix in (".part", ".partial", ".tmp")]


def test_a_second_run_does_nothing(tiny):
    before = files(tiny / "results")
    result = snakemake(tiny, "tiny")
    assert result.returncode == 0, result.stdout
    assert "Nothing to be done" in result.stdout
    assert started(result) == []
    assert files(tiny / "results") == before


def test_a_change_of_the_library_starts_the_work_that_stands_on_it(tiny, tmp_path):
    shutil.copytree(ROOT / "walkeval", tmp_path / "walkeval", ignore=shutil.ignore_patterns("__pycache__"))
    result = snakemake(tiny, "tiny", options=("--dry-run",), PYTHONPATH=str(tmp_path))
    assert "Nothing to be done" in result.stdout
    with (tmp_path / "walkeval" / "papers" / "sigir1988.py").open("a") as file:
        file.write("# a word\n")
    result = snakemake(tiny, "tiny", options=("--dry-run",), PYTHONPATH=str(tmp_path))
    again = set(started(result))
    assert {"reproduce_sigir1988", "audit_claims", "publish_results"} <= again
    assert not {"generate_collection", "score_pools", "reproduce_ictir2020"} & again


def test_cores_hash_seed_locale_folders_and_shards_do_not_show(tiny):
    others = {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"}
    places = ["data=other data", "results=other results", "shard=1", "bootstrap_shard=3"]
    result = snakemake(tiny, "tiny", *places, cores=1, **others)
    assert result.returncode == 0, result.stdout
    here, there = files(tiny / "results" / "tiny"), files(tiny / "other results" / "tiny")
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []
    assert {one.name for one in (tiny / "other data" / "tiny" / "pools" / "alpha").iterdir()} == {"0.npz", "1.npz"}
    assert len(list((tiny / "other data" / "tiny" / "samples" / "alpha").iterdir())) == 4


def test_results_that_were_removed_are_published_again(tiny):
    before = files(tiny / "results")
    shutil.rmtree(tiny / "results" / "tiny" / PAPER)
    (tiny / "results" / "tiny" / "evidence.tsv").write_text("edited\n")
    result = snakemake(tiny, "tiny")
    assert started(result) == ["publish_results", "all"], result.stdout
    assert files(tiny / "results") == before


def test_an_unknown_key_is_refused_with_the_nearest(tiny):
    result = snakemake(tiny, "tiny", "replicate=2")
    assert result.returncode != 0
    assert "unknown key 'replicate'; did you mean 'replicates'?" in result.stdout
    assert started(result) == []


def test_words_of_the_command_line_mean_what_they_say_in_yaml(tiny):
    settings = ["network=false", "rounding=null", "pool_rates=[90,10]", "mirror=null"]
    result = snakemake(tiny, "tiny", *settings, options=("--dry-run", "--quiet"))
    assert result.returncode == 0, result.stdout
    result = snakemake(tiny, "tiny", "network=perhaps", options=("--dry-run",))
    assert result.returncode != 0
    assert "network is 'perhaps'; it must be true or false" in result.stdout


def test_a_collection_that_the_specification_lacks_gets_one_sentence(tiny):
    result = snakemake(tiny, "tiny", "collections=[alpa]", "data=unknown", options=("--until", "generate_collection"))
    assert result.returncode != 0
    assert "unknown synthetic collection 'alpa'; did you mean 'alpha'?" in result.stdout
    assert "Traceback" not in result.stdout


# --- an edition of somebody's own runs ---

MINE = f"""
title: Mine
kind: real
collections: [ordinary, lone, single, level]
measures: {FEW}
network: false
mirror: mirror
replicates: 1
pool_rates: [50]
bootstrap: 10
click_sessions: 100
planted_tables: 1
"""
HOSTILE = "<b>x|y&_$"
MINE_FOLDER = f"data/mine/artefacts/{PAPER}"
MINE_TARGETS = ("table2.tsv", "figure4.svg", "heatmaps.svg", "pair-changes-summary.html")


def ranking(order: str, topics: int = 3) -> str:
    return "".join(
        f"{topic} Q0 {document} {rank} {10 - rank} tag\n"
        for topic in range(1, topics + 1)
        for rank, document in enumerate(order, start=1)
    )


@pytest.fixture(scope="module")
def mine(tmp_path_factory) -> Path:
    """A copy with four collections of one's own: an ordinary one, and three for which there is little to correlate."""
    repository = copy_of_the_repository(tmp_path_factory.mktemp("mine") / "a copy")
    (repository / "config" / "mine.yaml").write_text(MINE)
    runs = {
        "ordinary": {"1": "BACDE", "007": "BADE", HOSTILE: "BACDE", "NA": "CABED"},
        "lone": {"only": "ABCDE"},
        "single": {"one": "ABCDE", "two": "BADCE", "three": "ECABD"},
        "level": {"one": "ABCDE", "two": "ABCDE", "three": "ABCDE"},
    }
    registry = repository / "config" / "sources.tsv"
    lines = registry.read_text()
    for name, rankings in runs.items():
        topics = 1 if name == "single" else 3
        qrels = "".join(
            f"{topic} 0 {document} {grade}\n"
            for topic in range(1, topics + 1)
            for document, grade in zip("ABCDE", "10100", strict=True)
        )
        source = repository / "mirror" / "example.org" / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(qrels)
        digest = hashlib.sha256(qrels.encode()).hexdigest()
        lines += f"{name}/qrels\thttps://example.org/{name}\t{len(qrels)}\t{digest}\tnone\ttests\n"
        (repository / "config" / "collections" / f"{name}.yaml").write_text(
            f"title: {name}\ntopics: {{first: 1, last: {topics}}}\nqrels: {name}/qrels\nruns_folder: my runs/{name}\n"
        )
        for run_name, order in rankings.items():
            path = repository / "my runs" / name / f"{run_name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(ranking(order, topics))
    registry.write_text(lines)
    result = snakemake(repository, "mine", options=tuple(f"{MINE_FOLDER}/{name}" for name in MINE_TARGETS))
    assert result.returncode == 0, result.stdout
    return repository


def test_own_runs_pass_through_and_compare_with_nothing(mine):
    table = read_table(mine / MINE_FOLDER / "table2.tsv")
    ours = table[table["collection"] == "ordinary"]
    assert ours["tau"].notna().all()
    assert set(table["verdict"]) == {""}
    assert set(ours["n_runs"].dropna()) == {4}
    assert all((mine / MINE_FOLDER / name).stat().st_size for name in MINE_TARGETS)


@pytest.mark.parametrize(("collection", "reason"), [("lone", ONE_SYSTEM), ("level", ALL_EQUAL)])
def test_where_there_is_no_tau_the_cell_says_why(mine, collection, reason):
    table = read_table(mine / MINE_FOLDER / "table2.tsv")
    cells = table[(table["collection"] == collection) & (table["measure"] != "AP")]
    assert cells["tau"].isna().all()
    assert set(cells["evidence"]) == {f"runs; undefined: {reason}"}


def test_one_topic_has_a_tau_without_interval(mine):
    table = read_table(mine / MINE_FOLDER / "table2.tsv")
    cells = table[(table["collection"] == "single") & (table["measure"] == "bpref")]
    assert cells["tau"].notna().all()
    assert cells["low"].isna().all()


def test_hostile_names_of_runs_stay_text(mine):
    made = files(mine / MINE_FOLDER)
    for name, content in made.items():
        if name.endswith((".html", ".svg", ".md")):
            assert b"<b>x" not in content, name
    # The ledger names it, because another run has the same documents in the same order.
    assert HOSTILE in (mine / MINE_FOLDER).with_name("ledgers").joinpath("ordinary.tsv").read_text()


def test_a_mirror_may_move_or_go_once_its_files_are_here(mine):
    target = f"{MINE_FOLDER}/table2.tsv"
    (mine / "mirror").rename(mine / "moved")
    for mirror in ("moved", "null"):
        result = snakemake(mine, "mine", f"mirror={mirror}", options=("--dry-run", target))
        assert result.returncode == 0, result.stdout
        assert "Nothing to be done" in result.stdout
    # What it has that is not here yet is fetched.
    (mine / "moved").rename(mine / "mirror")
    (mine / "data" / "sources" / "example.org" / "level").unlink()
    (mine / "data" / "mine" / "offers.txt").write_text("")
    result = snakemake(mine, "mine", options=("--dry-run", target))
    assert "fetch_sources" in started(result)
    snakemake(mine, "mine", options=("--until", "fetch_sources"))


def test_a_malformed_run_stops_the_edition_with_file_and_line_and_leaves_results_alone(mine):
    (mine / "results" / "mine").mkdir(parents=True)
    (mine / "results" / "mine" / "table.tsv").write_text("of an earlier run\n")
    path = mine / "my runs" / "ordinary" / "007.txt"
    path.write_text(path.read_text().replace("2 Q0 A 2 8 tag\n", "2 Q0 A 2 high tag\n"))
    # No further than the rule that fails: independent jobs beside it would only cost time.
    result = snakemake(mine, "mine", options=("--until", "judge_collection"))
    assert result.returncode != 0
    sentence = "my runs/ordinary/007.txt:6: score 'high' is not a number\n"
    assert f"\n{sentence}" in result.stdout
    failures = mine / "data" / "mine" / "failures"
    assert {one.name: one.read_text() for one in failures.iterdir()} == {
        "judge_collection-ordinary.log": f"judge_collection: {sentence}"
    }
    assert "Traceback" not in result.stdout
    assert files(mine / "results") == {"mine/table.tsv": b"of an earlier run\n"}
    assert not (mine / "data" / "mine" / "judged" / "ordinary.npz").exists(), "a judged collection of bad runs"
    assert not list(mine.rglob("*.part"))


# --- better evidence is not overwritten ---


@pytest.fixture
def committed(tmp_path) -> Path:
    """A copy with results of the paper edition that stand on runs."""
    repository = copy_of_the_repository(tmp_path / "a copy")
    folder = repository / "results" / "paper"
    (folder / PAPER).mkdir(parents=True)
    (folder / "provenance.json").write_text(json.dumps({"evidence": {"trec08": "runs"}}))
    (folder / PAPER / "table3.tsv").write_text("standing on runs\n")
    return repository


def test_weaker_evidence_stops_the_edition_unless_it_writes_elsewhere(committed):
    before = files(committed / "results")
    settings = ["network=false", "collections=[trec08]", "bootstrap=0"]
    evidence, table = (f"data/paper/artefacts/{name}" for name in ("evidence.tsv", f"{PAPER}/table2.tsv"))
    result = snakemake(committed, "paper", *settings, options=("--until", "fetch_sources"))
    assert result.returncode != 0
    sentence = "the results of paper for trec08 stand on its runs, but nothing of it is at hand: set WALKEVAL_MIRROR"
    assert result.stdout.count(sentence) == 1, result.stdout
    assert "Traceback" not in result.stdout
    assert files(committed / "results") == before
    result = snakemake(committed, "paper", *settings, "results=elsewhere", options=(evidence, table))
    assert result.returncode == 0, result.stdout
    assert files(committed / "results") == before
    (row,) = read_table(committed / evidence).to_dict("records")
    assert (row["evidence"], row["runs"]) == ("nothing", "0")
    assert "131 of its sources are missing" in row["missing"]
    cells = read_table(committed / table)
    assert set(cells.loc[cells["measure"] != "AP", "verdict"]) == {"not checkable"}
