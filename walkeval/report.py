"""The report of an edition: one self-contained page that works offline from disk, and its Markdown twin."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from walkeval.audit import VERDICT_COLUMNS, VERDICTS, Verdict, count_verdicts, read_verdicts
from walkeval.gathering import Evidence, evidence_table
from walkeval.sources import read_registry
from walkeval.tables import html_table, markdown

PACKAGES = ("ir-datasets", "matplotlib", "numpy", "pandas", "scipy", "snakemake")
_PLACES = ("data", "mirror", "results")
"""Keys of the config that say where things are on one machine, which is nobody else's concern."""

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --good: #1a7f37; --near: #0969da; --bad: #b35900; --worst: #b3261e; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; min-width: 3.5rem; }
.synthetic { border: 2px dashed var(--bad); padding: .5rem 1rem; font-weight: 600; }
.verdict-reproduced td { box-shadow: inset 3px 0 var(--good); }
.verdict-consistent td { box-shadow: inset 3px 0 var(--near); }
.verdict-differs td { box-shadow: inset 3px 0 var(--bad); }
.verdict-impossible td { box-shadow: inset 3px 0 var(--worst); }
tr td ~ td { box-shadow: none !important; }
img { max-width: 100%; height: auto; background: #fff; }
label { display: inline-block; margin: 0 1rem .5rem 0; }
@media print { details { display: block; } .filter { display: none; } body { max-width: none; } }
"""

_SCRIPT = """
const rows = [...document.querySelectorAll('#verdicts tbody tr')];
const search = document.getElementById('search'), choice = document.getElementById('choice'), shown = document.getElementById('shown');
function filter() {
  const text = search.value.toLowerCase(), verdict = choice.value;
  let count = 0;
  for (const row of rows) {
    const fits = row.textContent.toLowerCase().includes(text) && (!verdict || row.className === 'verdict-' + verdict);
    row.hidden = !fits;
    count += fits;
  }
  shown.textContent = count + ' of ' + rows.length + ' shown';
}
search.addEventListener('input', filter);
choice.addEventListener('change', filter);
filter();
"""


def provenance(config: Mapping[str, Any], evidence: Sequence[Evidence], registry: str | os.PathLike[str]) -> str:
    """What the results stand on: evidence, checksums of sources, settings and versions. Nothing that changes by itself."""
    used = [one.collection for one in evidence if one.kind == "real"]
    sources = {
        name: source.sha256 for name, source in read_registry(registry).items() if used and name.split("/")[0] in used
    }
    content = {
        "evidence": {one.collection: one.level for one in evidence},
        "data": {one.collection: one.kind for one in evidence},
        "settings": {key: value for key, value in config.items() if key not in _PLACES},
        "seeds": "derived from names: collection, topic, replicate",
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "sources": sources,
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _counts_by_paper(verdicts: Sequence[Verdict]) -> list[tuple[str, dict[str, int]]]:
    papers = dict.fromkeys(one.claim.split("/")[0] for one in verdicts)
    return [(paper, count_verdicts(one for one in verdicts if one.claim.split("/")[0] == paper)) for paper in papers]


def write_page(
    path: str | os.PathLike[str], folder: str | os.PathLike[str], config: Mapping[str, Any], evidence: Sequence[Evidence]
) -> None:
    """Write the page. Every text that comes from data is escaped, and nothing is loaded from elsewhere."""
    folder = Path(folder)
    verdicts = read_verdicts(folder / "audit" / "verdicts.tsv")
    title = config["title"] or f"walkeval: {config['edition']}"
    synthetic = any(one.kind == "synthetic" for one in evidence)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body><main>",
        f"<h1>{html.escape(title)}</h1>",
    ]
    if synthetic:
        parts.append(
            '<p class="synthetic">The collections of this edition are SYNTHETIC: they show the machine at work and are '
            "compared with no paper.</p>"
        )
    head = "".join(f'<th scope="col">{verdict}</th>' for verdict in VERDICTS)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(paper)}</th>' + "".join(f"<td>{counts[one]}</td>" for one in VERDICTS) + "</tr>"
        for paper, counts in _counts_by_paper(verdicts)
    )
    parts += [
        "<h2>At a glance</h2>",
        f'<div class="scroll"><table><thead><tr><th scope="col">paper</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>',
        "<h2>Evidence</h2>",
        f'<div class="scroll">{html_table(evidence_table(evidence), "What the results stand on")}</div>',
    ]
    for paper in sorted(one for one in folder.iterdir() if one.is_dir() and any(one.glob("*.html"))):
        if paper.name == "report":
            continue
        parts.append(f"<h2>{html.escape(paper.name)}</h2>")
        for figure in sorted(paper.glob("*.svg")):
            parts.append(f"<figure>{_inline(figure)}<figcaption>{html.escape(figure.stem)}</figcaption></figure>")
        for table in sorted(paper.glob("*.html")):
            link = html.escape(f"../{paper.name}/{table.stem}.tsv")
            opened = " open" if len(table.read_text(encoding="utf-8")) < 20000 else ""
            parts.append(
                f'<details{opened}><summary>{html.escape(table.stem)} (<a href="{link}">numbers</a>)</summary>'
                f'<div class="scroll">{table.read_text(encoding="utf-8")}</div></details>'
            )
    options = "".join(f'<option value="{one.replace(" ", "-")}">{one}</option>' for one in VERDICTS)
    head = "".join(f'<th scope="col">{name.replace("_", " ")}</th>' for name in VERDICT_COLUMNS)
    rows = "\n".join(
        f'<tr class="verdict-{one.verdict.replace(" ", "-")}">'
        + "".join(f"<td>{html.escape(getattr(one, name))}</td>" for name in VERDICT_COLUMNS)
        + "</tr>"
        for one in verdicts
    )
    parts += [
        "<h2>Verdicts</h2>",
        '<p class="filter"><label>Search <input id="search" type="search"></label>'
        f'<label>Verdict <select id="choice"><option value="">all</option>{options}</select></label>'
        '<span id="shown" role="status"></span></p>',
        f'<div class="scroll"><table id="verdicts"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>',
        '<p><a href="../audit/verdicts.tsv">verdicts.tsv</a>, <a href="../provenance.json">provenance.json</a></p>',
        f"</main><script>{_SCRIPT}</script></body></html>",
    ]
    Path(path).write_text("\n".join(parts) + "\n", encoding="utf-8")


def _inline(figure: Path) -> str:
    """A figure as part of the page, without the lines that only a file of its own needs."""
    text = figure.read_text(encoding="utf-8")
    return text[text.index("<svg") :]


def write_markdown(
    path: str | os.PathLike[str], folder: str | os.PathLike[str], config: Mapping[str, Any], evidence: Sequence[Evidence]
) -> None:
    """Write the state of the reproduction for a reader on a forge."""
    verdicts = read_verdicts(Path(folder) / "audit" / "verdicts.tsv")
    lines = [f"# {config['title'] or config['edition']}", ""]
    if any(one.kind == "synthetic" for one in evidence):
        lines += ["**The collections of this edition are SYNTHETIC; they are compared with no paper.**", ""]
    lines += ["| paper | " + " | ".join(VERDICTS) + " |", "| --- |" + " ---: |" * len(VERDICTS)]
    for paper, counts in _counts_by_paper(verdicts):
        lines.append(f"| {paper} | " + " | ".join(str(counts[one]) for one in VERDICTS) + " |")
    lines += ["", markdown(evidence_table(evidence), "What the results stand on:")]
    Path(path).write_text("\n".join(lines), encoding="utf-8")
