# Shared by all stages: the checked config and the names of folders.
import hashlib
import json
from pathlib import Path

from walkeval.code import code_digest
from walkeval.configuration import check, read_words
from walkeval.datasets import read_collection
from walkeval.gathering import own_files
from walkeval.publishing import is_published
from walkeval.sources import mirror_folder, note_offers, read_registry

ROOT = Path(workflow.basedir)
SCHEMA = json.loads((ROOT / "workflow" / "schemas" / "config.schema.json").read_text())
config = check(read_words(dict(config), SCHEMA), SCHEMA, f"config/{config.get('edition', '?')}.yaml")


def work(path):
    """A file that this edition makes on its way, in the git-ignored data folder."""
    return f"{config['data']}/{config['edition']}/{path}"


def artefact(path):
    """A file that will be published under results/<edition>/."""
    return work(f"artefacts/{path}")


def log_of(name):
    return work(f"logs/{name}.log")


def benchmark_of(name):
    return work(f"benchmarks/{name}.tsv")


def shards(number, size):
    """Replicates and samples are computed in shards, so that a job takes minutes whatever their number."""
    return range(-(-config[number] // config[size]))


def growing(megabytes):
    """The memory of a job: as much again at every attempt, since a job that was killed may have had too little."""
    return lambda wildcards, attempt: megabytes * attempt


def of_collections(path):
    return expand(work(path), collection=config["collections"])


def of_trec08(path):
    """A file of TREC 8, on whose runs papers are shown that need no certain collection; nothing if the edition lacks it."""
    return [work(path)] if "trec08" in config["collections"] else []


def offers_of_the_mirror():
    """A file that changes when the mirror has sources that are not here yet, so that the work starts again.

    The folder of the mirror itself is no parameter of any rule: it may move, or go, once its files are here.
    """
    registry = read_registry(ROOT / "config" / "sources.tsv")
    note_offers(work("offers.txt"), registry.values(), config["data"], mirror_folder(config))
    return work("offers.txt")


def runs_by_hand(wildcards):
    """A parameter that changes with the files that somebody supplied for a collection, so that the work starts again.

    Not an input: Snakemake reads braces and angle brackets in the name of a file as its own.
    """
    described = (ROOT / "config" / "collections" / f"{name}.yaml" for name in config["collections"])
    paths = [path for one in described if one.exists() for path in own_files(read_collection(one))]
    states = sorted(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths)
    return hashlib.sha256("\n".join(states).encode()).hexdigest()


def click_logs():
    """Names of the click logs of this edition."""
    return ["synthetic"] if config["kind"] == "synthetic" else config["click_logs"]


def click_log_by_hand(wildcards):
    """The original log, if somebody put it below data/clicks/, so that adding it starts the work again."""
    place = Path(config["data"], "clicks", "yandex")
    return [str(place)] if place.exists() else []


def claims_files():
    return sorted(str(one.relative_to(ROOT)) for one in (ROOT / "config" / "claims").glob("*.tsv"))


def artefacts():
    """Everything that is published, but for the report on it."""
    tables = expand(
        artefact("sigir2014-markov-precision/table{number}.{suffix}"),
        number=(1, 2, 3, 4),
        suffix=("tsv", "md", "tex", "html"),
    )
    ledgers = expand(artefact("ledgers/{collection}.tsv"), collection=config["collections"])
    return [
        artefact("evidence.tsv"),
        *ledgers,
        *system_artefacts(),
        *tables,
        *figure_artefacts(),
        *click_artefacts(),
        *ecir2019_artefacts(),
        *ictir2020_artefacts(),
        *sigir1988_artefacts(),
        *sigir2006_artefacts(),
        *convention_artefacts(),
        *explanations(),
        *examination_artefacts(),
        artefact("audit/verdicts.tsv"),
    ]


def own_collections():
    """The collections of this edition that are somebody's own."""
    described = {name: ROOT / "config" / "collections" / f"{name}.yaml" for name in config["collections"]}
    real = config["kind"] == "real"
    return [name for name, path in described.items() if real and path.exists() and read_collection(path).is_own]


def system_artefacts():
    """The ranking of systems, if there are systems of one's own."""
    return [artefact("systems.tsv")] if own_collections() else []


def examination_artefacts():
    """What is impossible in the paper's tables, and how much such an examination finds."""
    names = ("findings.tsv", "findings.svg", "findings.pdf", "examination-power.tsv", "source-columns.tsv")
    return [artefact(f"audit/{name}") for name in names]


def searches_conventions():
    """Whether the collection that the paper's conventions are searched on is a real one of this edition."""
    return config["kind"] == "real" and "trec08" in config["collections"]


def convention_artefacts():
    """The convention search and its tests: only for an edition that is compared with the paper."""
    names = ("conventions.tsv", "conventions-tested.tsv", "readings.tsv")
    return [artefact(f"audit/{name}") for name in names] if searches_conventions() else []


def explanations():
    """What would explain the numbers that differ, if any are compared."""
    return [artefact("audit/explanations.tsv")] if searches_conventions() else []


def figures_of(*names):
    """Figures of the SIGIR 2014 paper, with the numbers that they draw."""
    return expand(artefact("sigir2014-markov-precision/{name}.{suffix}"), name=names, suffix=("svg", "pdf", "tsv"))


def figure_artefacts():
    """The paper's figures, and what goes beyond them for all measures."""
    figures = figures_of("figure1", "figure2", "figure3", "figure4", "figure4-all", "heatmaps")
    names = ["pair-changes.tsv", *(f"pair-changes-summary.{suffix}" for suffix in ("tsv", "md", "tex", "html"))]
    return [*figures, *(artefact(f"sigir2014-markov-precision/{name}") for name in names)]


def click_artefacts():
    """What click logs say, beside the tables of the paper that looked at one."""
    names = [f"backward.{suffix}" for suffix in ("tsv", "md", "tex", "html")]
    names += [f"transitions.{suffix}" for suffix in ("tsv", "svg", "pdf")]
    names += ["holding.tsv", "holding-queries.tsv", "mp.tsv", "ledger.tsv"]
    return [artefact(f"sigir2014-markov-precision/clicks-{name}") for name in names]


def ecir2019_artefacts():
    """The session measure of the ECIR 2019 appendix: checks of its algorithm, and its application to sessions."""
    names = ["algorithm", "quantities", "decisions", "coverage", "sessions", "grid", "parameters", "weights", "tau"]
    files = [f"{name}.tsv" for name in names]
    files += [f"{name}.{suffix}" for name in ("weights", "tau") for suffix in ("svg", "pdf")]
    return [artefact(f"ecir2019-session/{name}") for name in [*files, "README.md"]]


def sigir1988_artefacts():
    """Expected search length: examples and axioms of the paper, and what ties do to runs."""
    names = [
        f"{name}.{suffix}" for name in ("examples", "axioms", "ties", "taus") for suffix in ("tsv", "md", "tex", "html")
    ]
    names += [f"ties-by-wanted.{suffix}" for suffix in ("tsv", "svg", "pdf")]
    return [artefact(f"sigir1988-search-length/{name}") for name in [*names, "errata.md", "README.md"]]


def sigir2006_artefacts():
    """EPRUM: examples and formulas of the paper, the classical user on runs, and its figure on a generated stand-in."""
    tables = ("examples", "formulas", "classical", "statements")
    names = [f"{name}.{suffix}" for name in tables for suffix in ("tsv", "md", "tex", "html")]
    names += [f"figure4.{suffix}" for suffix in ("tsv", "svg", "pdf")]
    return [artefact(f"sigir2006-eprum/{name}") for name in [*names, "stand-in.tsv", "errata.md", "README.md"]]


def ictir2020_artefacts():
    """P@H: the figure, the examples and the formulas of the paper, and its orders on all pairs of systems."""
    tables = ("section6", "closed-forms", "orders-summary")
    files = expand("{name}.{suffix}", name=tables, suffix=("tsv", "md", "tex", "html"))
    files += expand("figure1.{suffix}", suffix=("svg", "pdf", "tsv"))
    files += ["example4-1.tsv", "errata.md", "orders.tsv", "README.md"]
    return [artefact(f"ictir2020-stopping-time/{name}") for name in files]


def reports():
    """What is published beside the artefacts: the page to read, its twin, and what everything stands on."""
    return [artefact("report/index.html"), artefact("REPRODUCTION.md"), artefact("provenance.json")]


def state_of_results(wildcards):
    """A parameter that changes when somebody removes or changes published results, so that they are published again."""
    names = [str(Path(one).relative_to(artefact(""))) for one in [*artefacts(), *reports()]]
    done = Path(work("published.json")).exists()
    there = is_published(artefact(""), names, f"{config['results']}/{config['edition']}")
    return "changed by hand" if done and not there else "as published"


def data_folder(wildcards):
    """Where fetched files are kept for all editions."""
    return config["data"]
