# Shared by all stages: the checked config and the names of folders.
import json
from pathlib import Path

from walkeval.configuration import check

ROOT = Path(workflow.basedir)
SCHEMA = json.loads((ROOT / "workflow" / "schemas" / "config.schema.json").read_text())
config = check(dict(config), SCHEMA, f"config/{config.get('edition', '?')}.yaml")


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


def shards():
    """Replicates are scored in shards, so that a job takes minutes whatever their number."""
    return range(-(-config["replicates"] // config["shard"]))


def of_collections(path):
    return expand(work(path), collection=config["collections"])


def mirror():
    """A folder that stands for the network: from the config, or from the environment."""
    import os

    return config["mirror"] or os.environ.get("WALKEVAL_MIRROR") or None


def runs_by_hand(wildcards):
    """Runs that somebody put below data/runs/, so that adding one starts the work again."""
    folders = (Path(config["data"], "runs", name) for name in config["collections"])
    return sorted(str(one) for folder in folders if folder.is_dir() for one in folder.iterdir() if one.is_file())


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
    return [artefact("evidence.tsv"), *ledgers, *tables, artefact("audit/verdicts.tsv")]


def data_folder(wildcards):
    """Where fetched files are kept for all editions."""
    return config["data"]
