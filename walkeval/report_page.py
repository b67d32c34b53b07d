"""What the report's page is made of: its style and script, and HTML for tables, figures, bars and a little Markdown.

Every function that takes text from data gives HTML in which that text is escaped. Nothing here reads a results folder:
`walkeval.report` says what is shown and in which order.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from walkeval.audit import VERDICTS

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c2128; --quiet: #57606a; --line: #d0d7de; --soft: #f4f6f8;
  --link: #0550ae; --reproduced: #1a7f37; --consistent: #0a5fc2; --differs: #9a5200; --impossible: #b3261e;
  --not-checkable: #5d6670; }
@media (prefers-color-scheme: dark) { :root { --paper: #10151b; --ink: #e6edf3; --quiet: #a3adb8; --line: #3b444e;
  --soft: #1a2129; --link: #84bdff; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, "DejaVu Sans", sans-serif;
  overflow-wrap: break-word; }
body > header, main, body > footer { max-width: 76rem; margin: 0 auto; padding: 0 1rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 1.5rem 0 .5rem; }
h2 { font-size: 1.4rem; line-height: 1.25; margin: 2.75rem 0 .75rem; padding-top: .75rem;
  border-top: 2px solid var(--line); }
h3 { font-size: 1.15rem; line-height: 1.3; margin: 2rem 0 .5rem; }
h4, h5, h6 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p, ul, ol, dl { margin: .5rem 0; max-width: 48rem; }
p.wide { max-width: none; }
ul, ol { padding-left: 1.4rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code { font: .9em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); }
.skip { position: absolute; left: -100rem; top: 0; padding: .5rem 1rem; background: var(--paper); z-index: 2; }
.skip:focus { left: 0; }
.lead { font-size: 1.1rem; }
.synthetic { border: 3px dashed #c76a00; padding: .5rem 1rem; font-weight: 700; max-width: none; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; list-style: none; padding: 0; max-width: none; }
dt { font-weight: 600; float: left; clear: left; min-width: 9rem; }
dd { margin: 0 0 .35rem 9rem; }
.tag { display: inline-block; padding: 0 .5em; border-radius: .7em; font-size: .8rem; line-height: 1.5;
  font-weight: 600; color: #ffffff; background: var(--not-checkable); white-space: nowrap; print-color-adjust: exact;
  -webkit-print-color-adjust: exact; }
.tag.reproduced { background: var(--reproduced); } .tag.consistent { background: var(--consistent); }
.tag.differs { background: var(--differs); } .tag.impossible { background: var(--impossible); }
.bar { display: flex; height: .75rem; min-width: 8rem; border-radius: .2rem; overflow: hidden; margin-top: .3rem;
  gap: 1px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.bar .reproduced { background: var(--reproduced); } .bar .consistent { background: var(--consistent); }
.bar .differs { background: var(--differs); } .bar .impossible { background: var(--impossible); }
.bar .not-checkable { background: #9aa4ae; }
.scroll { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .25rem 0; max-width: min(48rem, calc(100vw - 2.5rem)); }
details caption { max-width: min(48rem, calc(100vw - 4.5rem)); }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
thead th { background: var(--soft); }
td.number, th.number { text-align: right; }
td.words { min-width: 14rem; max-width: 40rem; }
td code, td .sha { overflow-wrap: anywhere; }
table.grid th[scope=row] { position: sticky; left: 0; background: var(--paper); }
table.grid td { min-width: 6.5rem; border-left: 4px solid var(--line); padding: .25rem .5rem; line-height: 1.35; }
table.grid td.reproduced { border-left-color: var(--reproduced); }
table.grid td.consistent { border-left-color: var(--consistent); }
table.grid td.differs { border-left-color: var(--differs); }
table.grid td.impossible { border-left-color: var(--impossible); }
table.grid td.differs, table.grid td.impossible { background: var(--soft); }
.pair { display: block; white-space: nowrap; }
.pair.doubtful { white-space: normal; min-width: 7rem; }
.raw td { white-space: nowrap; } .raw td.words { white-space: normal; min-width: 12rem; }
.pair b { font-weight: 600; }
.range { display: block; color: var(--quiet); font-size: .78rem; white-space: nowrap; }
details { margin: .6rem 0; border: 1px solid var(--line); border-radius: .3rem; padding: 0 .75rem; }
details[open] { padding-bottom: .5rem; }
summary { cursor: pointer; padding: .45rem 0; font-weight: 600; }
.figures { display: flex; flex-wrap: wrap; gap: 1.25rem; align-items: flex-start; }
figure { margin: 0; max-width: 100%; min-width: 0; }
figure > svg { display: block; background: #ffffff; border: 1px solid var(--line); border-radius: .2rem; }
figure > svg { max-width: 100%; height: auto; }
figcaption { font-size: .85rem; color: var(--quiet); padding-top: .2rem; }
form { display: flex; flex-wrap: wrap; gap: .6rem 1.1rem; align-items: end; margin: .75rem 0; }
form[hidden] { display: none; }
label { display: block; font-size: .9rem; font-weight: 600; }
input, select, button { display: block; font: inherit; font-weight: 400; color: inherit; max-width: 100%;
  background: var(--paper); border: 1px solid #7d8791; border-radius: .25rem; padding: .3rem .5rem;
  min-height: 2.4rem; }
button { cursor: pointer; background: var(--soft); }
#shown { font-weight: 600; min-height: 1.5em; }
@media (min-width: 44.01rem) {
  .verdicts { table-layout: fixed; width: 100%; min-width: 56rem; }
  .verdicts th:nth-child(1) { width: 27%; } .verdicts th:nth-child(2) { width: 15%; }
  .verdicts th:nth-child(3) { width: 9rem; } .verdicts th:nth-child(4) { width: 8.5rem; }
}
.id { overflow-wrap: anywhere; font-weight: 400; }
.said { display: block; color: var(--quiet); font-size: .85rem; }
.glance .word { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.glance th[scope=row] { min-width: 15rem; font-weight: 400; }
.glance tfoot td, .glance tfoot th { font-weight: 600; border-bottom: 0; }
body > footer { margin-top: 3rem; padding-bottom: 2rem; color: var(--quiet); font-size: .9rem; }
@media (max-width: 44rem) {
  h1 { font-size: 1.4rem; } h2 { font-size: 1.2rem; }
  dt { float: none; } dd { margin-left: 0; }
  table.grid th[scope=row] { font-size: .8rem; padding-right: .3rem; }
  .reflow thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .reflow, .reflow tbody, .reflow tfoot, .reflow caption, .reflow tr { display: block; }
  .reflow tr { border-bottom: 2px solid var(--line); padding: .5rem 0; }
  .reflow tr[hidden] { display: none; }
  .reflow th, .reflow td { display: block; border: 0; padding: .1rem 0; max-width: none; }
  .reflow td:empty { display: none; }
  .reflow td[data-as]::before { content: attr(data-as) ": "; color: var(--quiet); }
  .glance td { display: inline-block; margin-right: .8rem; text-align: left; }
  .glance td.zero { display: none; }
  .glance .word { position: static; width: auto; height: auto; clip-path: none; }
  .glance th[scope=row], td.words { min-width: 0; }
}
@media print {
  :root { --paper: #ffffff; --ink: #000000; --quiet: #444444; --line: #bbbbbb; --soft: #f4f4f4; --link: #000000; }
  body { font-size: 9pt; } body > header, main, body > footer { max-width: none; padding: 0; }
  nav, form, #shown, .skip { display: none !important; }
  h2, h3, h4, caption, summary { break-after: avoid; } tr, figure { break-inside: avoid; }
  a { text-decoration: none; } .scroll { overflow: visible; } table { font-size: 8pt; }
  th, td, table.grid td { padding: .15rem .3rem; min-width: 0 !important; }
  details { border: 0; padding: 0; } details::details-content { content-visibility: visible; display: block; }
  figure > svg { border: 0; max-height: 22cm; } td.words { max-width: none; }
  .said, .range, figcaption { font-size: 7pt; } .tag { font-size: 6.5pt; } .files { display: none; }
}
"""

_PRINTING = """  let closed = [];
  addEventListener('beforeprint', () => {
    closed = [...document.querySelectorAll('details:not([open])')];
    for (const one of closed) one.open = true;
  });
  addEventListener('afterprint', () => { for (const one of closed) one.open = false; });
})();
"""
SCRIPT = (
    """
(() => {
  'use strict';
  const form = document.getElementById('filter'), shown = document.getElementById('shown');
  const search = document.getElementById('search'), paper = document.getElementById('paper');
  const verdict = document.getElementById('verdict');
  const rows = [...document.querySelectorAll('#verdict-table tbody tr')].map(row => ({
    row, verdict: row.className.slice('verdict-'.length), text: row.textContent.toLowerCase(),
    paper: row.querySelector('.id').textContent.split('/')[0] }));
  const apply = () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let count = 0;
    for (const one of rows) {
      const fits = (!verdict.value || one.verdict === verdict.value) && (!paper.value || one.paper === paper.value) &&
        words.every(word => one.text.includes(word));
      one.row.hidden = !fits;
      count += fits;
    }
    shown.textContent = count + ' of ' + rows.length + ' shown';
  };
  form.hidden = false;
  form.addEventListener('input', apply);
  form.addEventListener('submit', event => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(apply));
  document.addEventListener('click', event => {
    const link = event.target.closest('a[data-filter]');
    if (!link) return;
    search.value = '';
    verdict.value = link.dataset.verdict || '';
    paper.value = link.dataset.paper || '';
    apply();
  });
  apply();
"""
    + _PRINTING
)
"""What a page with a table of verdicts does."""
SCRIPT_WITHOUT_VERDICTS = f"\n(() => {{\n  'use strict';\n{_PRINTING}"

_READINGS = re.compile(r"[-+]?[\d.]+[%/\d]*(\|[-+]?[\d.]+[%/\d]*)+")
_LONG_NUMBER = re.compile(r"(?<![\d.])-?\d+\.\d{7,}(?![\d.])(?!e)")


def policy(script: str = SCRIPT) -> str:
    """The page's own rule for browsers: no file is loaded, and no script runs but the page's own."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def escape(value: object) -> str:
    """Text from data as HTML, on one line."""
    return html.escape(" ".join(str(value).split()))


def shorten(text: str) -> str:
    """Numbers at full precision with 4 decimals, for reading; printed numbers have fewer digits and stay as they are.

    >>> shorten("inside [0.659039747, 0.66098], -0.0000123456"), shorten("0.43095")
    ('inside [0.6590, 0.66098], -1.235e-05', '0.43095')
    """

    def short(match: re.Match[str]) -> str:
        value = float(match[0])
        return f"{value:.4f}" if abs(value) >= 0.001 or value == 0 else f"{value:.4g}"

    return _LONG_NUMBER.sub(short, text)


def readings(printed: str) -> str:
    """A printed number; the candidates of a doubtful one in words. A bar in a formula stays.

    >>> readings("0.79|0.80"), readings("|{i <= n}|"), readings("+|-")
    ('0.79 or 0.80', '|{i <= n}|', '+|-')
    """
    return printed.replace("|", " or ") if _READINGS.fullmatch(printed) else printed


def label(verdict: str) -> str:
    """The name of a verdict's class: one of the five, or nothing for whatever else data may say."""
    return verdict.replace(" ", "-") if verdict in VERDICTS else ""


def tag(verdict: str) -> str:
    """A verdict as color and word."""
    return f'<span class="tag {label(verdict)}">{escape(verdict)}</span>' if verdict else ""


def bar(counts: Mapping[str, int]) -> str:
    """The shares of verdicts as one line of colors; the numbers stand beside it, so nothing is read aloud."""
    parts = "".join(
        f'<span class="{label(one)}" style="flex:{count}"></span>' for one, count in counts.items() if count
    )
    return f'<div class="bar" aria-hidden="true">{parts}</div>' if parts else ""


def link(address: str, text: str, **data: str) -> str:
    """A link inside the results; ``data`` are its data attributes."""
    marks = "".join(f' data-{name}="{html.escape(value)}"' for name, value in data.items())
    return f'<a href="{html.escape(address)}"{marks}>{escape(text)}</a>'


def heading(caption: str) -> str:
    """A caption with its first part, up to a colon or a full stop, in bold.

    >>> heading("Table 1: main features.")
    '<b>Table 1:</b> main features.'
    """
    first = re.match(r".*?[.:](?=\s|$)|.*", caption)[0]
    rest = caption.removeprefix(first)
    return f"<b>{escape(first)}</b>{' ' if rest.strip() else ''}{escape(rest)}"


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    style: str = "",
    name: str = "",
    sources: str = "",
) -> str:
    """A table in its own box, which scrolls where the screen is narrow.

    Caption and columns are text, cells are whole ``<td>`` or ``<th>`` elements. ``sources`` is HTML after the caption.
    """
    marks = (f' id="{name}"' if name else "") + (f' class="{style}"' if style else "")
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in columns)
    body = "\n".join(row if isinstance(row, str) else f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}"><table{marks}>\n'
        f"<caption>{heading(caption)} {sources}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def cell(value: object, style: str = "", name: str = "") -> str:
    """A cell of text. ``name`` is shown before it where the table is taken apart for a narrow screen."""
    marks = (f' class="{style}"' if style else "") + (f' data-as="{escape(name)}"' if name else "")
    return f"<td{marks}>{escape(shorten(str(value)))}</td>"


def grid_cell(reported: str, reproduced: str, verdict: str, interval: str = "") -> str:
    """Reported and reproduced side by side, the verdict as color and word, and an interval where there is one."""
    found = f"<b>{escape(reproduced)}</b>" if reproduced else ""
    pair = " → ".join(filter(None, (escape(readings(reported)), found)))
    span = f'<span class="range">{escape(interval)}</span>' if interval else ""
    style = f' class="{label(verdict)}"' if label(verdict) else ""
    kind = "pair" if readings(reported) == reported else "pair doubtful"
    return f'<td{style}><span class="{kind}">{pair}</span>{tag(verdict)}{span}</td>'


def polish(text: str, sources: str = "") -> str:
    """A table of `walkeval.tables.html_table` for the page: verdicts in color, long numbers short, columns in words.

    ``sources`` is HTML after the caption.
    """
    text = text.replace("<table>", '<table class="raw">', 1)
    text = re.sub(
        r"<caption>(.*?)</caption>",
        lambda match: f"<caption>{heading(html.unescape(match[1]))} {sources}</caption>",
        text,
        count=1,
        flags=re.DOTALL,
    )
    text = re.sub(
        r"(?<=<td>)[^<]*(?=</td>)", lambda match: tag(match[0]) if match[0] in VERDICTS else shorten(match[0]), text
    )
    text = re.sub(r'(?<=<th scope="col">)[a-z]+(_[a-z]+)+(?=</th>)', lambda match: match[0].replace("_", " "), text)
    # What is long is text, and gets the room for it.
    return re.sub(r"<td>(?=[^<]{30})", '<td class="words">', text)


_ZEROS = re.compile(r"(\d)\.0+(?!\d)|(\.\d*?[1-9])0+(?!\d)")
_RECTANGLE = re.compile(r"M(\S+) ([^\sLMz]+)L(\S+) \2L\3 ([^\sLMz]+)L\1 \4(?:L\1 \2)?z")


def shorter_path(data: str) -> str:
    """The same outline of SVG in fewer letters: heat maps have thousands of squares.

    >>> shorter_path("M 1.50 2.00 \\nL 3.25 2.00 \\nL 3.25 10.00 \\nL 1.50 10.00 \\nz\\nM 0 0\\nL 1 1\\n")
    'M1.5 2H3.25V10H1.5zM0 0L1 1'
    """
    data = _ZEROS.sub(lambda match: match[1] or match[2], data)
    return _RECTANGLE.sub(r"M\1 \2H\3V\4H\1z", re.sub(r"\s*([A-Za-z])\s*", r"\1", data).strip())


def inline_figure(text: str, name: str) -> str:
    """An SVG of `walkeval.figures` as part of a page: without prolog and metadata, all its ids under this name.

    Ids follow from what is drawn, so two equal figures of two folders would share them.

    >>> inline_figure('<?xml?><svg id="f1-svg"><path id="f1-0"/><use href="#f1-0"/></svg>', "tau")
    '<svg id="tau-svg"><path id="tau-0"/><use href="#tau-0"/></svg>'
    """
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text[text.index("<svg") :].strip(), flags=re.DOTALL)
    text = re.sub(r'(?<= d=")[^"]*', lambda match: shorter_path(match[0]), text)
    text = _without_bare_groups(text)
    old = re.match(r'<svg id="([\w-]+)-svg"', text)
    return re.sub(rf'(\bid="|#){old[1]}-', rf"\g<1>{name}-", text) if old else text


def _without_bare_groups(text: str) -> str:
    """Without groups that have no attribute: they change nothing."""
    kept: list[bool] = []

    def one(match: re.Match[str]) -> str:
        if match[0].startswith("<g/"):
            return ""
        if match[0].startswith("</"):
            return match[0] if kept.pop() else ""
        kept.append(not match[0].startswith("<g>"))
        return match[0] if kept[-1] else ""

    return re.sub(r"(?:<g(?: [^>]*)?>|<g/>|</g>)\n?", one, text)


# --- Markdown -------------------------------------------------------------------------------------------------------

_INLINE = re.compile(
    r"(?P<code>`[^`]+`)|\\(?P<escaped>[!-/:-@\[-`{-~])|(?P<entity>&(?:\#\d+|\w+);)"
    r"|\*\*(?P<bold>\S(?:.*?\S)?)\*\*|(?<![\w*])\*(?P<stressed>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|\[(?P<text>[^\]\[]+)\]\((?P<target>[^()\s]+)\)"
)


def markdown_to_html(text: str, level: int = 4, files: Collection[str] = (), folder: str = "") -> str:
    """The Markdown of generated notes as HTML: headings, paragraphs, lists, code, tables; anything else is text.

    A heading of the first level is left out, since the page has its own; one of the second gets ``level``. Code that
    names one of the ``files`` of the ``folder`` links to it, as do links; links to anywhere else are text.

    >>> print(markdown_to_html("## A <b>\\n\\nSee `x.tsv`, **now**.\\n\\n- 1\\n- 2", 3, {"x.tsv"}, "../p"))
    <h3>A &lt;b&gt;</h3>
    <p>See <a href="../p/x.tsv"><code>x.tsv</code></a>, <b>now</b>.</p>
    <ul><li>1</li><li>2</li></ul>
    """

    def inline(line: str) -> str:
        parts, end = [], 0
        for match in _INLINE.finditer(line):
            parts.append(html.escape(line[end : match.start()]))
            parts.append(_inline(match, inline, files, folder))
            end = match.end()
        return "".join([*parts, html.escape(line[end:])])

    blocks: list[str] = []
    lines = text.replace("\t", "    ").splitlines()
    place = 0
    while place < len(lines):
        line = lines[place]
        start = place
        if not line.strip():
            place += 1
        elif heading := re.match(r"(#{1,6}) +(.*?)#*$", line):
            place += 1
            depth = min(6, level + len(heading[1]) - 2)
            if len(heading[1]) > 1:
                blocks.append(f"<h{depth}>{inline(heading[2].strip())}</h{depth}>")
        elif line.startswith("```"):
            place += 1
            while place < len(lines) and not lines[place].startswith("```"):
                place += 1
            blocks.append(
                f'<pre class="scroll"><code>{html.escape(chr(10).join(lines[start + 1 : place]))}</code></pre>'
            )
            place += 1
        elif line.startswith("    "):
            while place < len(lines) and lines[place].startswith("    "):
                place += 1
            content = "\n".join(one[4:] for one in lines[start:place])
            blocks.append(f'<pre class="scroll"><code>{html.escape(content)}</code></pre>')
        elif line.startswith("|") and place + 1 < len(lines) and re.fullmatch(r"\|[ :|-]+\|", lines[place + 1].strip()):
            while place < len(lines) and lines[place].startswith("|"):
                place += 1
            head, _, *body = (_cells(one) for one in lines[start:place])
            top = "".join(f'<th scope="col">{inline(one)}</th>' for one in head)
            rows = "".join(f"<tr>{''.join(f'<td>{inline(one)}</td>' for one in row)}</tr>" for row in body)
            blocks.append(
                '<div class="scroll" role="region" tabindex="0" aria-label="Table"><table>'
                f"<thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table></div>"
            )
        elif item := re.match(r"([-*]|\d+\.) +", line):
            kind = "ul" if item[1] in "-*" else "ol"
            items: list[str] = []
            while place < len(lines) and lines[place].strip():
                if begun := re.match(r"([-*]|\d+\.) +(.*)", lines[place]):
                    items.append(begun[2])
                else:
                    items[-1] += " " + lines[place].strip()
                place += 1
            blocks.append(f"<{kind}>{''.join(f'<li>{inline(one)}</li>' for one in items)}</{kind}>")
        else:
            while place < len(lines) and lines[place].strip() and (place == start or not _starts_block(lines[place])):
                place += 1
            blocks.append(f"<p>{inline(' '.join(one.strip() for one in lines[start:place]))}</p>")
    return "\n".join(blocks)


def _starts_block(line: str) -> bool:
    return re.match(r"#{1,6} |```|\||([-*]|\d+\.) +", line) is not None


def _cells(line: str) -> list[str]:
    """The cells of a line of a table; a bar after a backslash is text."""
    return [one.strip() for one in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))]


def _inline(match: re.Match[str], inline: Callable[[str], str], files: Collection[str], folder: str) -> str:
    if match["code"]:
        text = match["code"][1:-1]
        code = f"<code>{html.escape(text)}</code>"
        return f'<a href="{html.escape(f"{folder}/{text}")}">{code}</a>' if text in files else code
    if match["escaped"]:
        return html.escape(match["escaped"])
    if match["entity"]:
        return html.escape(html.unescape(match["entity"]))
    if match["bold"]:
        return f"<b>{inline(match['bold'])}</b>"
    if match["stressed"]:
        return f"<em>{inline(match['stressed'])}</em>"
    if match["target"] in files:
        address = html.escape(f"{folder}/{match['target']}")
        return f'<a href="{address}">{inline(match["text"])}</a>'
    return inline(match["text"])
