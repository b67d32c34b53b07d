"""Generate a synthetic collection as ordinary TREC files."""

from pathlib import Path

from job import job

from walkeval.errors import UnknownNameError
from walkeval.gathering import Evidence, runs_in_folder
from walkeval.synthetic import generate, read_specifications

with job(snakemake):
    name = snakemake.wildcards.collection
    specifications = read_specifications(snakemake.input.specification)
    if name not in specifications:
        raise UnknownNameError("synthetic collection", name, specifications)
    folder = Path(snakemake.output.files)
    generate(specifications[name], folder)
    Evidence(
        collection=name,
        title=f"{name}, synthetic",
        kind="synthetic",
        qrels=str(folder / "qrels.txt"),
        dataset="generated",
        runs=runs_in_folder(folder / "runs"),
    ).save(snakemake.output.evidence)
