"""A picture of an examined table: the printed digits, and which cells cannot be or hardly can."""

from __future__ import annotations

from collections.abc import Sequence

from walkeval.examination import SEVERITIES, Block, Cell, Finding
from walkeval.figures import Sheet, leave_blank, sheet, style

COLORS = {"impossible": "#D55E00", "implausible": "#E69F00", "note": "#DDDDDD"}
MARKS = {"impossible": "!", "implausible": "?", "note": ""}


def marks(block: Block, findings: Sequence[Finding]) -> dict[Cell, str]:
    """The worst severity of each cell that a finding names.

    A triangle names three cells, of which one at least is wrong; the column's own correlation, which all rows share, is
    not marked for it.
    """
    worst: dict[Cell, str] = {}
    for one in findings:
        if one.block != block.name:
            continue
        for cell in one.cells:
            if cell[0] in block.columns and one.test == "triangle":
                continue
            worst[cell] = min(worst.get(cell, one.severity), one.severity, key=SEVERITIES.index)
    return worst


def draw_findings(blocks: Sequence[Block], findings: Sequence[Finding]) -> Sheet:
    """One panel a block: its cells as printed, on the color of their severity and with its sign."""
    caption = (
        "Cells that cannot be (dark, !) or hardly can (lighter, ?), by the table alone, and cells with a note (grey). Of the cells of a "
        "broken triangle at least one is wrong; the repair in findings.tsv says which."
    )
    with style():
        result = sheet("What is impossible in the table", caption, [0.17 * (len(one.rows) + 1) for one in blocks], left=1.5, below=0.15)
        for axes, block in zip(result.panels, blocks, strict=True):
            leave_blank(axes)
            worst = marks(block, findings)
            axes.set(xlim=(0, len(block.columns)), ylim=(len(block.rows) + 1, 0))
            axes.set_title(block.name, loc="left", fontsize=9)
            for column, name in enumerate(block.columns):
                axes.text(column + 0.5, 0.5, name, ha="center", va="center", fontsize=8, weight="bold")
            for line, row in enumerate(block.rows, start=1):
                axes.text(-0.08, line + 0.5, row, ha="right", va="center", fontsize=8)
                for column, name in enumerate(block.columns):
                    severity = worst.get((row, name))
                    if severity:
                        axes.add_patch(_box(column, line, COLORS[severity]))
                    text = block.printed.get((row, name), "")
                    dark = severity == "impossible"
                    axes.text(
                        column + 0.5, line + 0.5, f"{text}{MARKS.get(severity, '')}", ha="center", va="center", fontsize=8,
                        color="white" if dark else "black", weight="bold" if dark else "normal",
                    )  # fmt: skip
    return result


def _box(column: int, line: int, color: str):
    from matplotlib.patches import Rectangle

    return Rectangle((column + 0.02, line + 0.04), 0.96, 0.92, facecolor=color, edgecolor="none")
