"""The report of an edition: one self-contained page that works offline from disk, and its Markdown twin.

Both are made from the finished artefacts and say nothing that is not in them. `walkeval.report_sections` has what the
page shows, `walkeval.report_page` the HTML that it is made of.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walkeval import report_page as parts
from walkeval import report_sections as sections
from walkeval.audit import VERDICTS, Verdict, count_verdicts, read_verdicts
from walkeval.claims import Claim
from walkeval.correlation import NOISE_DECIMALS
from walkeval.errors import InputError
from walkeval.gathering import Evidence, evidence_table
from walkeval.measures import parse_measure
from walkeval.report_page import escape
from walkeval.report_sections import GRIDS, MEANINGS, Artefacts, counts_by_paper, in_page_order, in_words, paper_name
from walkeval.scoring import Scores
from walkeval.sources import read_registry
from walkeval.tables import escape_markdown, markdown

PACKAGES = ("ir-datasets", "matplotlib", "numpy", "pandas", "scipy", "snakemake")
_MEASURES_IN_SHORT = 5
"""Measures that the ranking of systems in Markdown shows."""
_OWN = ("data", "mirror", "network", "results", "shard", "bootstrap_shard")
"""Keys of the config that say where things are on one machine and how it works, which is nobody else's concern."""


def provenance(
    config: Mapping[str, Any],
    evidence: Sequence[Evidence],
    registry: str | os.PathLike[str],
    records: Iterable[str | os.PathLike[str]] = (),
) -> str:
    """What the results stand on: evidence, checksums of sources, settings and versions. Nothing that changes by itself.

    ``records`` are JSON files on data that belong to no collection, such as click logs: the sources whose files they
    name were used.
    """
    sources = read_registry(registry)
    used = {name for one in evidence for name in one.sources}
    files = [text for path in records for text in _strings(_read_json(path))]
    used.update(
        name for name, one in sources.items() if any(text.endswith(f"/{one.relative.as_posix()}") for text in files)
    )
    settings = {key: value for key, value in config.items() if key not in _OWN}
    if "synthetic" in settings:
        settings["synthetic"] = Path(settings["synthetic"]).name
    content = {
        "evidence": {one.collection: one.level for one in evidence},
        "data": {one.collection: one.kind for one in evidence},
        "settings": settings,
        "seeds": "derived from names: collection, topic, replicate",
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "sources": {name: source.sha256 for name, source in sources.items() if name in used},
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _read_json(path: str | os.PathLike[str]) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(path, f"is not a record of data ({error}); remove it and run again") from error


def _strings(content: Any) -> list[str]:
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        return [text for one in content for text in _strings(one)]
    return [content] if isinstance(content, str) else []


def told(verdicts: Sequence[Verdict]) -> str:
    """What the verdicts are about, in words."""
    papers = len(counts_by_paper(verdicts))
    return f"{len(verdicts)} published numbers, formulas and statements of {papers} paper{'' if papers == 1 else 's'}"


def _is_synthetic(evidence: Sequence[Evidence]) -> bool:
    return any(one.kind == "synthetic" for one in evidence)


def _own(evidence: Sequence[Evidence]) -> tuple[list[Evidence], bool]:
    """The collections that are somebody's own, and whether there are no others: then no paper is the matter."""
    own = [one for one in evidence if sections.is_own(one)]
    return own, bool(own) and len(own) == len(evidence)


def systems_table(scores: Mapping[str, Scores]) -> pd.DataFrame:
    """The systems of each collection by their mean of the first measure, the best first, with the means of all.

    >>> import numpy as np
    >>> found = Scores(["AP", "ESL"], ["a", "b"], ["1"], np.array([[[0.2], [0.5]], [[3.0], [1.0]]]))
    >>> systems_table({"mine": found}).values.tolist()
    [['mine', 1, 'b', 0.5, 1.0], ['mine', 2, 'a', 0.2, 3.0]]
    """
    rows = []
    for collection, found in scores.items():
        means = found.means()
        if not len(means):
            continue
        # Of a cost the least is the best; the last digits of a mean are noise.
        sign = 1 if parse_measure(found.measures[0]).higher_is_better else -1
        key = np.round(sign * means[0], NOISE_DECIMALS)
        for one in np.argsort(-key, kind="stable"):
            place = 1 + int((key > key[one]).sum())
            head = {"collection": collection, "place": place, "system": found.runs[one]}
            rows.append(head | dict(zip(found.measures, means[:, one].tolist(), strict=True)))
    return pd.DataFrame(rows)


# --- the page -------------------------------------------------------------------------------------------------------


def write_page(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    names: Iterable[str],
    config: Mapping[str, Any],
    evidence: Sequence[Evidence],
    claims: Mapping[str, Claim] | None = None,
    record: Mapping[str, Any] | None = None,
) -> None:
    """Write the page on these files of a folder, which has a folder of its own for each paper.

    Every text that comes from data is escaped, and nothing is loaded from elsewhere. ``claims`` add to each verdict
    what the claim is about; ``record`` is the content of the edition's provenance.
    """
    artefacts, claims = Artefacts.of(folder, names), claims or {}
    own, only_own = _own(evidence)
    verdicts = read_verdicts(artefacts.folder / "audit" / "verdicts.tsv")
    if only_own:
        verdicts = [one for one in verdicts if sections.concerns(one.claim, {each.collection for each in own})]
    counts = counts_by_paper(verdicts)
    verdicts = in_page_order(verdicts, counts)
    audited = {one.claim: one.verdict for one in verdicts}
    is_audit = bool(verdicts) or not only_own
    if only_own:
        of_papers = sections.own_papers(artefacts, own, audited)
        about_papers = [("papers", "The papers", sections.aside(artefacts, bool(verdicts)))]
    else:
        of_papers = sections.papers(artefacts, counts, evidence, audited)
        about_papers = [
            ("errata", "Errata", sections.errata(artefacts)),
            ("findings", "Impossible without any data", sections.findings(artefacts)),
            ("conventions", "Conventions", sections.conventions(artefacts)),
        ]
    glance = ("glance", "At a glance", sections.glance(counts) if is_audit else "")
    shown = [
        ("systems", "Systems", sections.systems(artefacts, own) if own else ""),
        *((*of_papers, glance) if only_own else (glance, *of_papers)),
        ("differences", "What differs, and why", sections.differences(artefacts, verdicts, claims)),
        *about_papers,
        ("evidence", "Evidence", sections.evidence(evidence, artefacts)),
        ("provenance", "Provenance", sections.provenance(config, record or {})),
        ("cost", "Cost", sections.cost(config)),
        ("verdicts", "All verdicts", sections.verdicts(verdicts, counts, claims) if is_audit else ""),
    ]
    shown = [(name, heading, body) for name, heading, body in shown if body]
    title = config["title"] or f"walkeval: {config['edition']}"
    leads = [f"{sections.extent(artefacts, own, len(config.get('measures') or ()))}."] if own else []
    if is_audit:
        leads.append(f"{told(verdicts)}: {in_words(count_verdicts(verdicts))}.")
    lead = " ".join(leads)
    script = parts.SCRIPT if is_audit else parts.SCRIPT_WITHOUT_VERDICTS
    synthetic = (
        '<p class="synthetic">The collections of this edition are SYNTHETIC: they show the machine at work and are '
        "compared with no paper. Claims that need no data are checked all the same.</p>"
    )
    links = "".join(f'<li><a href="#{name}">{escape(heading)}</a></li>' for name, heading, _ in shown)
    body = "\n".join(
        f'<section id="{name}" aria-labelledby="{name}-heading">\n<h2 id="{name}-heading">{escape(heading)}</h2>\n'
        f"{body}\n</section>"
        for name, heading, body in shown
    )
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{html.escape(parts.policy(script))}">
<title>{escape(title)}</title>
<style>{parts.STYLE}</style></head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<h1>{escape(title)}</h1>
{synthetic if _is_synthetic(evidence) else ""}
<p class="lead">{escape(lead)}</p>
<nav aria-label="Sections"><ul>{links}</ul></nav>
</header>
<main id="main">
{body}
</main>
<footer><p>Made by walkeval from the files beside this page. Every table names the TSV file with its numbers at full
precision. {sections.file_link("REPRODUCTION.md", "The same in short, in Markdown")}.</p></footer>
<script>{script}</script>
</body></html>
"""
    Path(path).write_text(page, encoding="utf-8")


# --- the Markdown twin ----------------------------------------------------------------------------------------------


def count_table(verdicts: Sequence[Verdict]) -> list[str]:
    """Counts per paper and verdict as lines of a Markdown table."""
    by_paper = counts_by_paper(verdicts)
    lines = ["| paper | claims | " + " | ".join(VERDICTS) + " |", "| --- | ---: |" + " ---: |" * len(VERDICTS)]
    total = count_verdicts(verdicts)
    for name, counts in [*((paper_name(paper), counts) for paper, counts in by_paper.items()), ("all", total)]:
        lines.append(_line([name, sum(counts.values()), *(counts[one] for one in VERDICTS)]))
    return lines


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(escape_markdown(one) for one in cells) + " |"


def _lines(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    return [_line(heads), "|" + " --- |" * len(heads), *map(_line, rows), ""]


def _systems(artefacts: Artefacts, own: Sequence[Evidence], measures: int) -> list[str]:
    """The ranking of the systems of one's own collections, by the first measures that there is room for."""
    lines = ["## Systems", "", f"{sections.extent(artefacts, own, measures)}.", ""]
    titles = {one.collection: one.title for one in own}
    for collection, rows in sections.rankings(artefacts).items():
        shown = list(rows[0])[1 : 3 + _MEASURES_IN_SHORT]
        name = escape_markdown(titles.get(collection, collection))
        lines += [f"{name}, means over topics; all measures are in [systems.tsv](systems.tsv):", ""]
        lines += _lines(
            shown,
            [[row[one] if one in ("place", "system") else f"{float(row[one]):.4f}" for one in shown] for row in rows],
        )
    return lines


def write_markdown(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    config: Mapping[str, Any],
    evidence: Sequence[Evidence],
    names: Iterable[str] = (),
    claims: Mapping[str, Claim] | None = None,
) -> None:
    """Write the state of the reproduction for a reader on a forge."""
    artefacts, claims = Artefacts.of(folder, names), claims or {}
    own, only_own = _own(evidence)
    verdicts = read_verdicts(artefacts.folder / "audit" / "verdicts.tsv")
    if only_own:
        verdicts = [one for one in verdicts if sections.concerns(one.claim, {each.collection for each in own})]
    verdicts = in_page_order(verdicts, counts_by_paper(verdicts))
    lines = [f"# {escape_markdown(config['title'] or config['edition'])}", ""]
    if _is_synthetic(evidence):
        lines += ["**The collections of this edition are SYNTHETIC; they are compared with no paper.**"]
        lines += ["Claims that need no data are checked all the same.", ""]
    lines += [
        "The page to read is [report/index.html](report/index.html); all numbers are in the TSV files of this folder.",
        "",
    ]
    if own:
        lines += _systems(artefacts, own, len(config.get("measures") or ()))
    if verdicts or not only_own:
        lines += ["## Counts", "", *count_table(verdicts), ""]
        for verdict, words in MEANINGS.items():
            lines.append(f"- *{verdict}*: {words}.")
    table = "sigir2014-markov-precision/table2"
    rows = artefacts.rows(f"{table}.tsv")
    if rows and only_own:
        columns = ("collection", "measure", "printed", "low", "high")
        lines += ["", "## Kendall's tau between AP and other measures, with intervals over topics", ""]
        lines += _lines(
            ("collection", "measure", "tau", "low", "high"),
            [[parts.shorten(row[one]) for one in columns] for row in rows if row["model"] != row["measure"]],
        )
    elif rows:
        audited = {one.claim: one.verdict for one in verdicts}
        titles = {one.collection: one.title for one in evidence}
        mark = " (SYNTHETIC collections)" if _is_synthetic(evidence) else ""
        lines += ["", f"## SIGIR 2014, Table 2: Kendall's tau between AP and the other measures{mark}", ""]
        lines += _lines(
            ("collection", "measure", "reported", "reproduced", "verdict", "evidence"),
            [
                [
                    titles.get(row["collection"], row["collection"]),
                    *(row[one] for one in ("measure", "reported", "printed")),
                    GRIDS[table].verdict(row, audited),
                    row["evidence"],
                ]
                for row in rows
                if row["model"] != row["measure"]
            ],
        )
    found = [one for one in verdicts if one.verdict in ("differs", "impossible")]
    if found:
        lines += ["", "## What differs, and why", ""]
        lines += _lines(
            ("claim", "what", "printed", "reproduced", "conclusion changes", "why"),
            [
                (
                    one.claim, claims[one.claim].what if one.claim in claims else "", parts.readings(one.printed),
                    one.reproduced or one.verdict, one.conclusion_changes, parts.shorten(one.note),
                )
                for one in found
            ],
        )  # fmt: skip
    rows = [row for row in artefacts.rows("audit/findings.tsv") if row["severity"] != "note"]
    if rows and not only_own:
        lines += ["", "## Impossible or implausible without any data", ""]
        lines += _lines(
            ("severity", "test", "finding", "smallest repair"),
            [(row["severity"], row["test"], row["sentence"], row["repair"]) for row in rows],
        )
        lines += ["Notes, and the cells of each finding: [audit/findings.tsv](audit/findings.tsv).", ""]
    lines += ["", "## Evidence", "", markdown(evidence_table(evidence), "What the results stand on:")]
    Path(path).write_text(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)), encoding="utf-8")
