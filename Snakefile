# walkeval: sources are fetched and checked, turned once into judged runs, scored under many pools by measures,
# turned into the papers' tables and figures, and every published number gets a verdict.
from snakemake.utils import min_version

min_version("9.0")


include: "workflow/rules/common.smk"


wildcard_constraints:
    collection="[A-Za-z0-9_.-]+",
    shard="[0-9]+",


include: "workflow/rules/sources.smk"
include: "workflow/rules/judging.smk"
include: "workflow/rules/scores.smk"
include: "workflow/rules/systems.smk"
include: "workflow/rules/sigir2014.smk"
include: "workflow/rules/conventions.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/clicks.smk"
include: "workflow/rules/examination.smk"
include: "workflow/rules/ecir2019.smk"
include: "workflow/rules/ictir2020.smk"
include: "workflow/rules/sigir1988.smk"
include: "workflow/rules/sigir2006.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/publishing.smk"


localrules:
    all,
    fetch,
    publish_results,


rule all:
    default_target: True
    input:
        work("published.json"),


rule fetch:
    input:
        expand(work("collections/{collection}/evidence.json"), collection=config["collections"]),


# Results depend on the code of the library as they do on the scripts, of whose changes Snakemake knows by itself.
for one in workflow.rules:
    if one.script:
        one.set_params(code=code_digest(ROOT / "scripts" / Path(one.script).name))
