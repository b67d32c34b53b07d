"""The sections of the report's page, each made from the artefacts of an edition, and the names of the papers."""

from __future__ import annotations

import hashlib
import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from walkeval import report_page as parts
from walkeval.audit import VERDICTS, Verdict, as_printed, count_verdicts
from walkeval.citations import CITATIONS
from walkeval.claims import Claim
from walkeval.examination import SEVERITIES
from walkeval.gathering import Evidence, evidence_table
from walkeval.report_page import cell, escape, link, tag
from walkeval.tables import read_table

PAPERS = {
    "sigir2014": "ferrante2014",
    "ictir2020": "ferrante2020",
    "ecir2019": "vandijk2019",
    "sigir1988": "bollmann1988",
    "sigir2006": "piwowarski2006",
}
"""The first part of a claim's id to the key of its citation, in the order of the page."""
MEANINGS = {
    "reproduced": "equal in all printed digits under the stated convention; a statement or formula holds",
    "consistent": "not recomputable to all digits, but inside what rounding or the evidence at hand allows",
    "differs": "recomputed, and not equal; a statement or formula fails. A better value is as wrong as a worse one",
    "impossible": "no data could give it",
    "not checkable": "something is missing; the note says what, and how to supply it",
}


@dataclass(frozen=True)
class Artefacts:
    """The files of a results folder that are reported on, and no others that may lie there."""

    folder: Path
    names: frozenset[str]

    @classmethod
    def of(cls, folder: str | PathLike[str], names: Iterable[str]) -> Artefacts:
        """These names below the folder."""
        return cls(Path(folder), frozenset(map(str, names)))

    def rows(self, name: str) -> list[dict[str, str]]:
        """The rows of a TSV file as text; none if it is not among the artefacts."""
        if name not in self.names:
            return []
        return read_table(self.folder / name, numbers=()).to_dict("records")

    def text(self, name: str) -> str:
        """A text file; empty if it is not among the artefacts."""
        return (self.folder / name).read_text(encoding="utf-8") if name in self.names else ""

    def inside(self, folder: str, *suffixes: str) -> list[str]:
        """Names of the files right inside a folder, in the order of a reader: table2 before table10."""
        found = (one for one in self.names if _parent(one) == folder and (not suffixes or one.endswith(suffixes)))
        return sorted(
            found, key=lambda one: [(int(part), "") if part.isdigit() else (0, part) for part in _SPLIT.split(one)]
        )


_SPLIT = re.compile(r"(\d+)")


def _parent(name: str) -> str:
    return PurePosixPath(name).parent.as_posix()


def paper_of(claim: str) -> str:
    """The paper of a claim's id.

    >>> paper_of("sigir2014/table2/trec08/bpref")
    'sigir2014'
    """
    return claim.partition("/")[0]


def paper_name(paper: str) -> str:
    """A paper's short name.

    >>> paper_name("sigir2014"), paper_name("mine")
    ('SIGIR 2014', 'mine')
    """
    entry = CITATIONS.get(PAPERS.get(paper, ""))
    return f"{entry['booktitle']} {entry['year']}" if entry else paper


def paper_citation(paper: str) -> str:
    """Authors and title of a paper; nothing for one that is not known here."""
    entry = CITATIONS.get(PAPERS.get(paper, ""))
    return f"{entry['author'].replace(' and ', ', ')}: {entry['title']}" if entry else ""


def counts_by_paper(verdicts: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    """How many of each verdict, by paper, in the order of the page."""
    found = dict.fromkeys(paper_of(one.claim) for one in verdicts)
    ordered = [*(one for one in PAPERS if one in found), *(one for one in found if one not in PAPERS)]
    return {paper: count_verdicts(one for one in verdicts if paper_of(one.claim) == paper) for paper in ordered}


def in_words(counts: Mapping[str, int]) -> str:
    """Counts of verdicts or of severities as a list in words.

    >>> in_words({"reproduced": 2, "differs": 0, "impossible": 1}), in_words({"impossible": 2, "note": 2})
    ('2 reproduced, 1 impossible', '2 impossible, 2 notes')
    """
    words = {one: "notes" if one == "note" and count > 1 else one for one, count in counts.items()}
    return ", ".join(f"{count} {words[one]}" for one, count in counts.items() if count)


def in_page_order(verdicts: Iterable[Verdict], papers: Iterable[str]) -> list[Verdict]:
    """Verdicts by paper, in the order of these papers."""
    place = {paper: number for number, paper in enumerate(papers)}
    return sorted(verdicts, key=lambda one: place[paper_of(one.claim)])


def file_link(name: str, text: str = "") -> str:
    """A link from the page to a file of the results."""
    return link("../" + quote(name), text or PurePosixPath(name).name)


def _key(name: str) -> str:
    """A name as an id of HTML."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "x"


# --- own collections ---

OWN_FILES = {
    "sigir2014-markov-precision": {
        "table1": "the collections: topics, runs, relevant documents",
        "table2": "tau between AP and the other measures of SIGIR 2014, with intervals over topics",
        "table3": "tau between the models of Markov Precision and these measures",
        "heatmaps": "tau between all measures",
        "pair-changes-summary": "how many pairs of systems change place between AP and each model",
        "pair-changes": "the clearest of these pairs",
        "figure3": "means as judgements are taken away",
        "figure4": "the order of systems as judgements are taken away",
        "figure4-all": "the same for all measures",
        "clicks-backward": "how often users of the click logs go back",
        "clicks-transitions": "from which rank to which they go",
    },
    "sigir1988-search-length": {
        "ties": "what equal scores do to the expected search length",
        "taus": "tau between the expected search length and other measures",
        "ties-by-wanted": "the same by the number of documents wanted",
    },
}
"""What the folders of the papers have about the collections of any edition, by the stems of files, in words."""
_COLUMNS_BEFORE_MEASURES = ("collection", "place", "system")


def is_own(one: Evidence) -> bool:
    """Whether a collection is somebody's own: it has runs, nothing of it is a source of the registry or missing there.

    >>> is_own(Evidence("mine", "Mine", "real", "q", "own file", {"a": "a"}))
    True
    """
    return one.kind == "real" and bool(one.runs and one.dataset) and not one.sources and not one.missing


def concerns(claim: str, collections: Iterable[str]) -> bool:
    """Whether a claim is about one of these collections, or of a paper that somebody added.

    >>> concerns("sigir2014/table2/trec08/bpref", ["mine"]), concerns("mine2025/table1/best", ["mine"])
    (False, True)
    """
    return paper_of(claim) not in PAPERS or any(part in collections for part in claim.split("/")[1:])


def own_files(artefacts: Artefacts) -> Artefacts:
    """Of the folders of the papers what is about the edition's collections and not empty; everything else as it is."""

    def kept(name: str) -> bool:
        folder = _parent(name).partition("/")[0]
        if folder.partition("-")[0] not in PAPERS:
            return folder != "audit"
        stem = PurePosixPath(name).stem
        return stem in OWN_FILES.get(_parent(name), {}) and bool(artefacts.rows(f"{folder}/{stem}.tsv"))

    return Artefacts(artefacts.folder, frozenset(filter(kept, artefacts.names)))


def extent(artefacts: Artefacts, own: Sequence[Evidence], measures: int) -> str:
    """How much there is, in words."""
    topics = [
        int(float(row["value"]))
        for row in artefacts.rows("sigir2014-markov-precision/table1.tsv")
        if row["feature"] == "topics" and row["collection"] in {one.collection for one in own}
    ]
    counted = [(len(own), "collection"), (sum(len(one.runs) for one in own), "system"), (sum(topics), "topic")]
    told = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in (*counted, (measures, "measure")) if count]
    return ", ".join(told)


def rankings(artefacts: Artefacts) -> dict[str, list[dict[str, str]]]:
    """The systems of each collection, the best first."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in artefacts.rows("systems.tsv"):
        found.setdefault(row["collection"], []).append(row)
    return found


def systems(artefacts: Artefacts, own: Sequence[Evidence]) -> str:
    """What the owner of runs looks for: the collections, the ranking of systems, and where everything is."""
    body = [_collections(artefacts, own)]
    titles = {one.collection: one.title for one in own}
    for collection, rows in rankings(artefacts).items():
        body.append(_ranking(titles.get(collection, collection), rows))
    shown = own_files(artefacts)
    links = [
        f"<li>{', '.join(map(file_link, names))}: {escape(words)}</li>"
        for folder, stems in OWN_FILES.items()
        for stem, words in stems.items()
        if (names := [one for suffix in ("tsv", "svg", "pdf") if (one := f"{folder}/{stem}.{suffix}") in shown.names])
    ]
    if links:
        body.append(f"<h3>Where everything is</h3>\n<ul>{''.join(links)}</ul>")
    return "\n".join(body)


def _collections(artefacts: Artefacts, own: Sequence[Evidence]) -> str:
    features: dict[tuple[str, str], str] = {
        (row["collection"], row["feature"]): parts.shorten(row["value"])
        for row in artefacts.rows("sigir2014-markov-precision/table1.tsv")
    }
    names = ("topics", "min_relevant", "mean_relevant", "max_relevant")
    rows = []
    for one in own:
        ledger = f"ledgers/{one.collection}.tsv"
        odd = file_link(ledger) if ledger in artefacts.names else ""
        rows.append(
            [
                f'<th scope="row">{escape(one.title)}</th>',
                cell(len(one.runs), "number", "systems"),
                *(cell(features.get((one.collection, name), ""), "number", name.replace("_", " ")) for name in names),
                f'<td data-as="what was odd">{odd}</td>',
            ]
        )
    heads = ["collection", "systems", *(name.replace("_", " ") for name in names), "what was odd"]
    return parts.table("Collections", heads, rows, style="reflow")


def _ranking(title: str, rows: Sequence[Mapping[str, str]]) -> str:
    from walkeval.papers.sigir2014_figures import short_names

    measures = [one for one in rows[0] if one not in _COLUMNS_BEFORE_MEASURES]
    short = short_names(measures)
    lines = [
        [
            f'<td class="number">{escape(row["place"])}</td>',
            f'<th scope="row">{escape(row["system"])}</th>',
            *(f'<td class="number">{float(row[measure]):.4f}</td>' for measure in measures),
        ]
        for row in rows
    ]
    words = f"Systems of {title} by {short[measures[0]]}: means over topics."
    return parts.table(words, ["place", "system", *short.values()], lines, sources=file_link("systems.tsv"))


def own_papers(artefacts: Artefacts, own: Sequence[Evidence], audited: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """A section for each question that the papers ask of any runs, and for each folder of no paper."""
    headings = {
        "sigir2014-markov-precision": ("measures", "Measures compared"),
        "sigir1988-search-length": ("ties", "Ties"),
    }
    shown = own_files(artefacts)
    folders = {_parent(one) for one in shown.names if one.endswith((".html", ".svg", "README.md"))} - {"report", "."}
    result = []
    for folder in (*(one for one in headings if one in folders), *sorted(folders - headings.keys())):
        name, heading = headings.get(folder, (f"folder-{_key(folder)}", folder))
        paper = folder.partition("-")[0]
        asked = f"<p>As asked in {escape(paper_citation(paper))}.</p>" if paper_citation(paper) else ""
        result.append((name, heading, asked + _folder(shown, folder, own, audited)))
    return result


def aside(artefacts: Artefacts, is_audit: bool) -> str:
    """Where the audit of the papers is, on a page that is about something else, whether it audits claims of its own or not."""
    if "audit/verdicts.tsv" not in artefacts.names:
        return ""
    return (
        f"<p>{'' if is_audit else 'Nothing here is compared with a paper. '}What the papers say is audited without these runs: "
        f"{file_link('audit/verdicts.tsv')} has a verdict for each of their claims, as far as it needs no data, and "
        "<code>./run paper</code> checks the rest on public data.</p>"
    )


def glance(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Counts by paper and verdict, and what the words mean."""
    columns = ["paper", "claims", *VERDICTS]
    head = "".join(f'<th scope="col"{"" if one == "paper" else " class=number"}>{one}</th>' for one in columns)

    def numbers(paper: str, one: Mapping[str, int]) -> str:
        cells = [f'<td class="number">{sum(one.values())} <span class="word">claims:</span></td>']
        for verdict in VERDICTS:
            text = str(one[verdict])
            if one[verdict]:
                text = link("#verdicts", text, filter="yes", verdict=parts.label(verdict), paper=paper)
            style = "number" if one[verdict] else "number zero"
            cells.append(f'<td class="{style}">{text} <span class="word">{tag(verdict)}</span></td>')
        return "".join(cells)

    rows = "\n".join(
        f'<tr><th scope="row"><a href="#paper-{_key(paper)}">{escape(paper_name(paper))}</a>'
        f'<span class="said">{escape(paper_citation(paper))}</span>{parts.bar(one)}</th>{numbers(paper, one)}</tr>'
        for paper, one in counts.items()
    )
    total = {verdict: sum(one[verdict] for one in counts.values()) for verdict in VERDICTS}
    meanings = "".join(f"<dt>{tag(verdict)}</dt><dd>{escape(words)}</dd>" for verdict, words in MEANINGS.items())
    return (
        f'<div class="scroll"><table class="glance reflow"><caption>Claims by paper and verdict, from '
        f"{file_link('audit/verdicts.tsv')}; a number leads to its claims</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
        f'<tfoot><tr><th scope="row">all{parts.bar(total)}</th>{numbers("", total)}</tr></tfoot></table></div>\n'
        f"<dl>{meanings}</dl>"
    )


# --- papers ---


@dataclass(frozen=True)
class Grid:
    """How a table of the paper is laid out: the columns of its TSV that name block, row, column and what was found."""

    block: str
    row: str
    column: str
    value: str
    claim: str
    """The id of a cell's claim, with the names of columns in braces."""

    def verdict(self, row: Mapping[str, str], audited: Mapping[str, str]) -> str:
        """The verdict on a cell: that of the audit, which knows more than the table, on what is compared at all."""
        return audited.get(self.claim.format(**row), row["verdict"]) if row["reported"] else row["verdict"]


GRIDS = {
    "sigir2014-markov-precision/table1": Grid(
        "", "feature", "collection", "value", "sigir2014/table1/{collection}/{feature}"
    ),
    "sigir2014-markov-precision/table2": Grid(
        "", "collection", "measure", "printed", "sigir2014/table2/{collection}/{measure}"
    ),
    "sigir2014-markov-precision/table3": Grid(
        "collection", "model", "measure", "printed", "sigir2014/table3/{collection}/{model}/{measure}"
    ),
    "sigir2014-markov-precision/table4": Grid("", "run", "time", "value", "sigir2014/table4/{run}/{time}"),
}


def papers(
    artefacts: Artefacts,
    counts: Mapping[str, Mapping[str, int]],
    evidence: Sequence[Evidence],
    audited: Mapping[str, str],
) -> list[tuple[str, str, str]]:
    """One section for each paper, and for each other folder that has something to show."""
    shown = {_parent(one) for one in artefacts.names if one.endswith((".html", ".svg", "README.md"))} - {
        "audit",
        "report",
        ".",
    }
    sections = []
    for paper in counts:
        folder = next((one for one in sorted(shown) if one == paper or one.startswith(f"{paper}-")), "")
        shown.discard(folder)
        citation = f"<p>{escape(paper_citation(paper))}.</p>" if paper_citation(paper) else ""
        every = link("#verdicts", f"{sum(counts[paper].values())} claims", filter="yes", paper=paper)
        summary = f"<p>{every}: {escape(in_words(counts[paper]))}.</p>{parts.bar(counts[paper])}"
        body = citation + summary + (_folder(artefacts, folder, evidence, audited) if folder else "")
        sections.append((f"paper-{_key(paper)}", paper_name(paper), body))
    return [
        *sections,
        *((f"folder-{_key(one)}", one, _folder(artefacts, one, evidence, audited)) for one in sorted(shown)),
    ]


def _folder(artefacts: Artefacts, folder: str, evidence: Sequence[Evidence], audited: Mapping[str, str]) -> str:
    # The paper's own tables first, then what was compared with it, then the rest.
    files = artefacts.inside(folder, ".html")
    own = [one for one in files if one.removesuffix(".html") in GRIDS]
    others = [one for one in files if one not in own]
    others.sort(key=lambda one: 'class="verdict-' not in artefacts.text(one))
    tables = [_table(artefacts, one, evidence, audited) for one in (*own, *others) if not _is_empty(artefacts, one)]
    figures = [_figure(artefacts, one) for one in artefacts.inside(folder, ".svg") if not _is_empty(artefacts, one)]
    body = []
    readme = artefacts.text(f"{folder}/README.md")
    if readme:
        body.append(_folded("What was done, how, and what could not be", _notes(artefacts, folder, readme), not tables))
    if tables:
        body += ["<h3>Tables</h3>", *tables]
    if figures:
        body += ["<h3>Figures</h3>", f'<div class="figures">{"".join(figures)}</div>']
    every = "".join(f"<li>{file_link(one)}</li>" for one in artefacts.inside(folder))
    folded = _folded("All files of this folder", f"<ul>{every}</ul>")
    return "\n".join([*body, f'<div class="files">{folded}</div>'])


def _is_empty(artefacts: Artefacts, name: str) -> bool:
    """Whether the numbers beside a table or a figure are none, so that it has nothing to show."""
    source = f"{name.rpartition('.')[0]}.tsv"
    return source in artefacts.names and not artefacts.rows(source)


def _notes(artefacts: Artefacts, folder: str, text: str, level: int = 4) -> str:
    files = {PurePosixPath(one).name for one in artefacts.inside(folder)}
    return parts.shorten(parts.markdown_to_html(text, level, files, "../" + quote(folder)))


def _folded(summary: str, body: str, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{escape(summary)}</summary>\n{body}\n</details>"


def _figure(artefacts: Artefacts, name: str) -> str:
    """A figure in the page, with links to its files."""
    # The name stands in every rule of the drawing's style, so it is kept short.
    short = "f" + hashlib.sha256(name.encode()).hexdigest()[:6]
    drawing = parts.inline_figure(artefacts.text(name), short)
    others = [f"{name.removesuffix('.svg')}{suffix}" for suffix in (".tsv", ".svg", ".pdf")]
    links = ", ".join(file_link(one) for one in others if one in artefacts.names)
    return f"<figure>{drawing}<figcaption>{links}</figcaption></figure>"


def _table(artefacts: Artefacts, name: str, evidence: Sequence[Evidence], audited: Mapping[str, str]) -> str:
    """A table as the paper lays it out, or row by row where it is not one of the paper's."""
    text, stem = artefacts.text(name), name.removesuffix(".html")
    source = f"{stem}.tsv"
    links = file_link(source) if source in artefacts.names else file_link(name)
    grid, rows = GRIDS.get(stem), artefacts.rows(source)
    found = re.search(r"<caption>(.*?)</caption>", text, re.DOTALL)
    caption = html.unescape(found[1]) if found else PurePosixPath(stem).name
    if grid and rows and {grid.row, grid.column, grid.value, "reported", "verdict"} <= rows[0].keys():
        rows = [row | {"verdict": grid.verdict(row, audited)} for row in rows]
        return _grid(grid, rows, caption, links, evidence)
    told = caption.partition(". ")[0].rstrip(".")
    drawn = parts.polish(text, links)
    box = f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(told)}">{drawn}</div>'
    length = text.count("<tr") - 1
    return box if length <= _LONG else _folded(f"{told} ({length} rows)", box, 'class="verdict-' in text)


def _grid(grid: Grid, rows: list[dict[str, str]], caption: str, links: str, evidence: Sequence[Evidence]) -> str:
    titles = {one.collection: one.title for one in evidence}
    judged = any(row["verdict"] for row in rows)
    ranges = any(row.get("low") for row in rows)
    how = "Each cell: reported → reproduced, and the verdict" if judged else "Each cell: what was found"
    how += ", with its interval from low to high." if ranges else "."

    def heading(name: str) -> str:
        text = titles.get(name, name.replace("_", " ") if grid.row == "feature" else name)
        return escape(text).replace("@", "<wbr>@")

    blocks = dict.fromkeys(row[grid.block] if grid.block else "" for row in rows)
    result = []
    for block in blocks:
        inside = [row for row in rows if not grid.block or row[grid.block] == block]
        cells = {(row[grid.row], row[grid.column]): _found(row, grid.value) for row in inside}
        columns = list(dict.fromkeys(row[grid.column] for row in inside))
        lines = [
            [
                f'<th scope="row">{heading(name)}</th>',
                *(cells.get((name, column), "<td></td>") for column in columns),
            ]
            for name in dict.fromkeys(row[grid.row] for row in inside)
        ]
        heads = [grid.row, *(titles.get(column, column) for column in columns)]
        words = f"{caption} {titles.get(block, block)}." if block else caption
        drawn = parts.table(
            words, heads, lines, style="grid", sources=f'<span class="said">{escape(how)} {links}</span>'
        )
        if len(blocks) > 1:
            seen = count_verdicts(Verdict("", "", "", row["verdict"], "", "", "") for row in inside if row["verdict"])
            told = f": {in_words(seen)}" if judged else ""
            # What nothing could be said of is folded away.
            drawn = _folded(
                f"{caption.partition(':')[0]}, {titles.get(block, block)}{told}",
                drawn,
                sum(seen.values()) != seen["not checkable"],
            )
        result.append(drawn)
    return "\n".join(result)


def _found(row: Mapping[str, str], column: str) -> str:
    reported, value = row["reported"], row[column]
    if column == "value" and reported and value:
        # With the digits of the printed number, as it is compared.
        value = as_printed(float(value), reported.partition("|")[0])
    low, high = row.get("low", ""), row.get("high", "")
    return parts.grid_cell(
        reported,
        parts.shorten(value),
        row["verdict"],
        f"{parts.shorten(low)} to {parts.shorten(high)}" if low and high else "",
    )


# --- the audit ---


def _said(one: Verdict, claims: Mapping[str, Claim]) -> str:
    """The cell that names a claim, and says where it stands and what it is about."""
    claim = claims.get(one.claim)
    about = f'<span class="said">{escape(claim.where)}: {escape(claim.what)}</span>' if claim else ""
    return f'<th scope="row" class="id"><code>{escape(one.claim)}</code>{about}</th>'


def _changes(one: Verdict) -> str:
    changes = one.conclusion_changes
    if not changes.startswith("yes"):
        return ""
    return f"<b>Changes the conclusion{escape(changes.removeprefix('yes'))}.</b> "


def _note(one: Verdict) -> str:
    told = f'<span class="said">Evidence: {escape(one.evidence)}</span>' if one.evidence else ""
    return f'<td class="words">{_changes(one)}{escape(parts.shorten(one.note))}{told}</td>'


def _verdict_cells(one: Verdict, claims: Mapping[str, Claim]) -> str:
    return (
        f"{_said(one, claims)}{cell(parts.readings(one.printed), name='printed')}"
        f"{cell(one.reproduced, name='reproduced')}<td>{tag(one.verdict)}</td>{_note(one)}"
    )


_LONG = 25
"""Rows of a table that is folded away."""
_VERDICT_HEAD = ("claim", "printed", "reproduced", "verdict", "note and evidence")


def differences(artefacts: Artefacts, verdicts: Sequence[Verdict], claims: Mapping[str, Claim]) -> str:
    """Every claim that differs or is impossible, with what explains it."""
    found = [one for one in verdicts if one.verdict in ("differs", "impossible")]
    if not found:
        return ""
    changing = sum(one.conclusion_changes.startswith("yes") for one in found)
    sources = file_link("audit/verdicts.tsv")
    if "audit/explanations.tsv" in artefacts.names:
        sources += ", " + file_link("audit/explanations.tsv")
    words = f"{len(found)} claims that differ or are impossible; {changing} of them change a conclusion"
    rows = [f"<tr>{_verdict_cells(one, claims)}</tr>" for one in found]
    return parts.table(words, _VERDICT_HEAD, rows, style="reflow verdicts", sources=sources)


def errata(artefacts: Artefacts) -> str:
    """Formulas that do not hold as printed, corrected, and the reasons."""
    body = []
    for folder in sorted({_parent(one) for one in artefacts.names}):
        paper = folder.partition("-")[0]
        forms = [row for row in artefacts.rows(f"{folder}/closed-forms.tsv") if row.get("holds") == "no"]
        text = artefacts.text(f"{folder}/errata.md")
        if not forms and not text:
            continue
        body.append(f"<h3>{escape(paper_name(paper))}</h3>")
        if forms:
            rows = [
                [
                    f'<th scope="row">{escape(row.get("where", ""))}</th>',
                    f'<td data-as="printed"><code>{escape(row.get("formula", ""))}</code></td>',
                    f'<td data-as="corrected"><code>{escape(row.get("corrected", ""))}</code></td>',
                    cell(row.get("largest_deviation", ""), name="largest deviation as printed"),
                ]
                for row in forms
            ]
            heads = ("where", "printed", "corrected", "largest deviation as printed")
            words = f"{len(forms)} formulas that do not hold as printed"
            body.append(
                parts.table(words, heads, rows, style="reflow", sources=file_link(f"{folder}/closed-forms.tsv"))
            )
        if text:
            told = f"<p>{file_link(f'{folder}/errata.md')}</p>"
            body.append(_folded("Each erratum with its reason", told + _notes(artefacts, folder, text)))
    return "\n".join(body)


def findings(artefacts: Artefacts) -> str:
    """What is impossible in the printed tables whatever the data."""
    if "audit/findings.tsv" not in artefacts.names:
        return ""
    rows = artefacts.rows("audit/findings.tsv")
    tags = {"impossible": "impossible", "implausible": "differs"}

    def line(row: Mapping[str, str]) -> list[str]:
        mark = f'<span class="tag {tags.get(row["severity"], "")}">{escape(row["severity"])}</span>'
        cells = ", ".join(row["cells"].split("; "))
        return [
            f"<td>{mark}</td>",
            cell(row["test"]),
            cell(row["sentence"], "words"),
            cell(row["repair"], "words", "repair"),
            f'<td class="id" data-as="cells">{escape(cells)}</td>',
        ]

    heads = ("severity", "test", "sentence", "repair", "cells")
    grave = [line(row) for row in rows if row["severity"] != "note"]
    notes = [line(row) for row in rows if row["severity"] == "note"]
    found = Counter(row["severity"] for row in rows)
    told = in_words({severity: found[severity] for severity in SEVERITIES})
    body = [
        "<p>The printed correlations are examined for what no data could give: no run is needed for this. "
        f"{escape(f'Found: {told}.' if told else 'Nothing was found.')}</p>"
    ]
    if grave:
        body.append(
            parts.table("Contradictions", heads, grave, style="reflow", sources=file_link("audit/findings.tsv"))
        )
    if "audit/findings.svg" in artefacts.names:
        body.append(f'<div class="figures">{_figure(artefacts, "audit/findings.svg")}</div>')
    if notes:
        drawn = parts.table("Notes", heads, notes, style="reflow", sources=file_link("audit/findings.tsv"))
        body.append(_folded(f"{len(notes)} notes: possible, but worth a look", drawn))
    power = artefacts.rows("audit/examination-power.tsv")
    if power:
        lines = [
            [f'<th scope="row">{escape(next(iter(row.values())))}</th>', *map(cell, list(row.values())[1:])]
            for row in power
        ]
        words = "Power: of tables with one planted error of a kind, the share in which any test, and each test, sees it"
        body.append(parts.table(words, list(power[0]), lines, sources=file_link("audit/examination-power.tsv")))
    return "\n".join(body)


def conventions(artefacts: Artefacts) -> str:
    """Which conventions the paper must have used, and how they fare on cells that the search did not see."""
    return "\n".join(filter(None, (_searched(artefacts), _tested(artefacts), _readings(artefacts))))


def _searched(artefacts: Artefacts) -> str:
    rows = artefacts.rows("audit/conventions.tsv")
    if not rows:
        return ""
    winner = rows[0]
    switches = list(winner)[: list(winner).index("table2_equal")]
    clear = int(winner["table2_cells"]) + int(winner["table3_cells"])
    source = file_link("audit/conventions.tsv")
    # The first line wins; the best of the others is the first that prints otherwise.
    other = next((row for row in rows if row["equal"] != winner["equal"]), None)
    chosen = [
        [
            f'<th scope="row">{name}</th>',
            *(cell(row[one], name=one) for one in switches),
            cell(f"{row['equal']} of {clear}", name="equal"),
        ]
        for name, row in (("winner", winner), ("best of the others", other))
        if row
    ]
    each = []
    for switch in switches:
        best: dict[str, int] = {}
        for row in rows:
            best[row[switch]] = max(int(row["equal"]), best.get(row[switch], 0))
        for value, equal in sorted(best.items(), key=lambda pair: -pair[1]):
            mark = "<b>winner</b>" if value == winner[switch] else ""
            name = f'<th scope="row">{escape(switch)}</th>'
            each.append([name, cell(value), cell(f"{equal} of {clear}"), f"<td>{mark}</td>"])
    heads = ["", *switches, "equal clear cells"]
    drawn = parts.table(
        "The most clear cells that come out equal with each choice",
        ["switch", "choice", "equal", ""],
        each,
        sources=source,
    )
    return "\n".join(
        [
            f"<p>The paper does not say how it got from runs to digits. All {len(rows)} combinations of the choices "
            "were tried on the clear cells of Tables 2 and 3 of the one collection whose runs are public; "
            f"{escape(winner['note'])}.</p>",
            parts.table("The conventions that were recovered", heads, chosen, style="reflow", sources=source),
            _folded("How much each choice matters", drawn),
        ]
    )


def _tested(artefacts: Artefacts) -> str:
    rows = artefacts.rows("audit/conventions-tested.tsv")
    if not rows:
        return ""
    ways = list(dict.fromkeys(row["convention"] for row in rows))
    by_cell: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in rows:
        by_cell.setdefault((row["collection"], row["cell"]), {})[row["convention"]] = row

    def shown(found: Mapping[str, Mapping[str, str]], way: str) -> str:
        if way not in found:
            return "<td></td>"
        equal = "<b>equal</b>" if found[way]["equal"] == "yes" else "not equal"
        return f'<td data-as="{escape(way)}">{escape(found[way]["shown"])} {equal}</td>'

    lines = []
    for (collection, name), found in by_cell.items():
        first = next(iter(found.values()))
        head = f'<th scope="row">{escape(collection)}: {escape(name)}</th>'
        told = [cell(first["evidence"], name="evidence"), cell(first["printed"], name="printed")]
        lines.append([head, *told, *(shown(found, way) for way in ways)])
    words = "Cells of other collections, which the search never saw: under the winner, and with one choice changed"
    heads = ["cell", "evidence", "printed", *ways]
    return parts.table(words, heads, lines, style="reflow", sources=file_link("audit/conventions-tested.tsv"))


def _readings(artefacts: Artefacts) -> str:
    rows = artefacts.rows("audit/readings.tsv")
    if not rows:
        return ""
    lines = [
        [
            f'<th scope="row">{escape(row["collection"])}: {escape(row["cell"])}</th>',
            cell(parts.readings(row["readings"]), name="readings"),
            cell(row["shown"], name="reproduced"),
            cell(row["reading"], name="so it reads"),
        ]
        for row in rows
    ]
    words = "Digits that the scan leaves in doubt, and what they must be if the winner is right"
    heads = ["cell", "readings", "reproduced", "so it reads"]
    return parts.table(words, heads, lines, style="reflow", sources=file_link("audit/readings.tsv"))


def evidence(evidence: Sequence[Evidence], artefacts: Artefacts) -> str:
    """What is at hand for each collection, and what is missing."""
    if not evidence:
        return ""
    rows = [
        [
            f'<th scope="row">{escape(row["title"])} <span class="said">{escape(row["collection"])}</span></th>',
            *(cell(row[one], name=one) for one in ("data", "evidence", "judgements", "runs")),
            cell(row["missing"], "words", "missing"),
        ]
        for row in evidence_table(evidence).to_dict("records")
    ]
    heads = ["collection", "data", "best evidence", "judgements", "runs", "missing, and how to supply it"]
    source = file_link("evidence.tsv") if "evidence.tsv" in artefacts.names else ""
    ledgers = ", ".join(file_link(one) for one in artefacts.inside("ledgers"))
    told = f"<p>What was wrong in the data, and what was done about it: {ledgers}.</p>" if ledgers else ""
    drawn = parts.table("What the results stand on", heads, rows, style="reflow", sources=source)
    return (
        "<p>From best to worst: runs, per-topic scores, run summaries, judgements. A claim is checked on the best that "
        f"is at hand, and its verdict names it.</p>\n{drawn}{told}"
    )


def provenance(config: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """Versions, settings, and the sources with their checksums."""
    if not record:
        return ""
    versions = [
        [f'<th scope="row">{escape(name)}</th>', cell(version)] for name, version in sorted(record["packages"].items())
    ]
    settings = [
        [
            f'<th scope="row">{escape(name)}</th>',
            cell(", ".join(map(str, value)) if isinstance(value, list) else value, "words"),
        ]
        for name, value in sorted(record["settings"].items())
    ]
    sources = [
        [f'<th scope="row" class="id">{escape(name)}</th>', f'<td class="sha"><code>{escape(checksum)}</code></td>']
        for name, checksum in sorted(record["sources"].items())
    ]
    file = file_link("provenance.json")
    used = parts.table(
        "Sources that were used, and their checksums (SHA-256)", ["source", "SHA-256"], sources, sources=file
    )
    return "\n".join(
        [
            f"<p>Seeds: {escape(record['seeds'])}. The state of the program is that of the commit that holds this "
            f"page, <code>git log -1 -- results/{escape(config['edition'])}</code>. Addresses and licences of the "
            "sources are in <code>config/sources.tsv</code>.</p>",
            parts.table("Versions", ["package", "version"], versions, sources=file),
            _folded("Settings of the edition", parts.table("Settings", ["key", "value"], settings, sources=file)),
            _folded(f"{len(sources)} sources with their checksums", used) if sources else "<p>No source was used.</p>",
        ]
    )


def cost(config: Mapping[str, Any]) -> str:
    """Where times are; here there are none, so that a run again gives the same page."""
    place = f"data/{escape(config['edition'])}"
    return (
        "<p>Seconds and memory differ from run to run and from machine to machine, and this page does not: it has none "
        f"of them. After a run they are in <code>{place}/benchmarks/</code>, one file a step, and what the step said "
        f"is in <code>{place}/logs/</code>.</p>"
    )


def verdicts(verdicts: Sequence[Verdict], papers: Iterable[str], claims: Mapping[str, Claim]) -> str:
    """All claims, with a filter."""
    words = "".join(f'<option value="{parts.label(one)}">{one}</option>' for one in VERDICTS)
    choices = "".join(f'<option value="{html.escape(one)}">{escape(paper_name(one))}</option>' for one in papers)
    form = (
        '<form id="filter" role="search" hidden>'
        '<label>Search <input id="search" type="search" placeholder="words, all of them" autocomplete="off"></label>'
        f'<label>Verdict <select id="verdict"><option value="">all verdicts</option>{words}</select></label>'
        f'<label>Paper <select id="paper"><option value="">all papers</option>{choices}</select></label>'
        '<button type="reset">Show all</button></form><p id="shown" role="status" aria-live="polite"></p>'
    )
    rows = [f'<tr class="verdict-{parts.label(one.verdict)}">{_verdict_cells(one, claims)}</tr>' for one in verdicts]
    drawn = parts.table(
        "Every claim and its verdict",
        _VERDICT_HEAD,
        rows,
        style="reflow verdicts",
        name="verdict-table",
        sources=file_link("audit/verdicts.tsv"),
    )
    return f"{form}\n{drawn}"
