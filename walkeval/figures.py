"""Figures that come out the same, byte for byte, wherever they are drawn: the style, the parts and how they are saved.

No pyplot and no global state: a `sheet` is a figure with its heading, its caption and one axis a panel; the
``draw_*`` functions fill an axis; `save` writes SVG and PDF. Text in the SVG stays text, so that it can be searched and
read aloud; DejaVu Sans is wide, so a reader's other font does not make labels collide.
"""

from __future__ import annotations

import hashlib
import html
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path as Outline
from numpy.typing import NDArray

from walkeval.audit import as_printed

SYNTHETIC = "SYNTHETIC DATA"
"""The mark on the face of everything that does not stand on real collections."""

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE, WINE = "#0072B2", "#D55E00", "#CC79A7", "#882255"
"""The palette of Okabe and Ito, told apart by color-blind readers, and a wine red in place of its pale yellow."""
GREY = "#767676"

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.7,
    "axes.edgecolor": "#444444",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "lines.solid_capstyle": "round",
    "svg.fonttype": "none",
    "svg.hashsalt": "walkeval",
    "pdf.compression": 9,
}

WIDTH = 5.2
"""Inches: at the 390 pixels of a phone 9 points are then as high as 9 pixels."""
_NAMES = re.compile(r'(\bid="|href="#|url\(#)([^")]*)')
_DIGITS = re.compile(r"(\.\d\d)\d+")
_CAPTION_SIZE = 8.0
_CAPTION_LINE = 0.155


@contextmanager
def style() -> Iterator[None]:
    """The style as a context, whatever the settings of the user: ``with style(): ...``."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


@dataclass(frozen=True)
class Sheet:
    """A figure with its panels."""

    figure: Figure
    panels: list[Axes]
    heading: str
    caption: str


def sheet(
    heading: str,
    caption: str,
    panels: Sequence[float],
    *,
    columns: int = 1,
    width: float = WIDTH,
    left: float = 0.6,
    right: float = 0.15,
    above: float = 0.3,
    below: float = 0.5,
    between: float = 0.15,
    foot: float = 0.0,
    synthetic: bool = False,
) -> Sheet:
    """A figure with rows of panels of these heights; all lengths are in inches.

    ``left``, ``right``, ``above`` and ``below`` are the room that labels take around each row of panels, ``between``
    that between columns, and ``foot`` that between the last row and the caption.
    """
    top = 0.58 if synthetic else 0.3
    lines = textwrap.wrap(caption, int((width - 0.2) * 72 / (0.545 * _CAPTION_SIZE)))
    bottom = 0.1 + _CAPTION_LINE * len(lines)
    height = top + sum(above + one + below for one in panels) + foot + bottom
    figure = Figure(figsize=(width, height))
    figure.text(0.1 / width, 1 - 0.1 / height, heading, size=10, weight="bold", va="top")
    if synthetic:
        frame = {"boxstyle": "square,pad=0.25", "facecolor": "white", "edgecolor": VERMILION, "linestyle": "--"}
        figure.text(
            0.15 / width, 1 - 0.37 / height, SYNTHETIC, size=9, weight="bold", color="#A34700", va="top", bbox=frame
        )  # fmt: skip
    for number, line in enumerate(lines):
        y = (bottom - 0.04 - _CAPTION_LINE * number) / height
        figure.text(0.1 / width, y, line, size=_CAPTION_SIZE, color="#333333", va="top")
    axes = []
    each = (width - left - right - between * (columns - 1)) / columns
    y = height - top
    for one in panels:
        y -= above + one
        for column in range(columns):
            x = left + column * (each + between)
            axes.append(figure.add_axes((x / width, y / height, each / width, one / height)))
        y -= below
    return Sheet(figure, axes, heading, caption)


def message_sheet(heading: str, caption: str, sentence: str, synthetic: bool = False) -> Sheet:
    """A figure that says why there is nothing to draw."""
    result = sheet(heading, caption, [1.0], synthetic=synthetic, left=0.15, below=0.1)
    draw_message(result.panels[0], sentence)
    return result


def draw_message(axes: Axes, sentence: str) -> None:
    """Say why there is nothing to draw."""
    leave_blank(axes)
    text = textwrap.fill(sentence, 60)
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color="#333333")


def leave_blank(axes: Axes) -> None:
    """Take away frame, ticks and their labels."""
    axes.set(xticks=[], yticks=[])
    axes.set_axis_off()


def fit(result: Sheet) -> None:
    """Make a figure wider where something would be cut off at its left or right edge: names and ticks have any length.

    Panels keep their size. A figure in which everything has room stays as it is.
    """
    figure = result.figure
    with style():
        found = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    width, height = figure.get_size_inches()
    # In twentieths of an inch, so that no tenth of a point decides.
    left, right = (np.ceil(max(0.0, one) * 20 - 0.001) / 20 for one in (-found.x0, found.x1 - width))
    if not (left or right):
        return
    whole = width + left + right
    figure.set_size_inches(whole, height)
    for axes in figure.axes:
        place = axes.get_position()
        axes.set_position(((place.x0 * width + left) / whole, place.y0, place.width * width / whole, place.height))
    for text in figure.texts:
        text.set_x(text.get_position()[0] * width / whole)


def save(result: Sheet, stem: str | PathLike[str]) -> None:
    """Write ``stem.svg`` and ``stem.pdf``: no date, no version, no random name in them."""
    stem = Path(stem)
    fit(result)
    drawing, document = stem.with_name(stem.name + ".svg"), stem.with_name(stem.name + ".pdf")
    with style():
        buffer = BytesIO()
        metadata = {"Title": result.heading, "Date": None, "Creator": None, "Format": None, "Type": None}
        result.figure.savefig(buffer, format="svg", metadata=metadata)
        drawing.write_text(_tidy_svg(buffer.getvalue().decode(), result.caption), encoding="utf-8")
        metadata = {"Title": result.heading, "CreationDate": None, "Creator": None, "Producer": None}
        result.figure.savefig(document, format="pdf", metadata=metadata)


def _tidy_svg(text: str, caption: str) -> str:
    """Make an SVG of matplotlib fit for a page: it shrinks, can be read aloud, and shares no name with others."""
    text = re.sub(r"\n*<!DOCTYPE[^>]*>|\s*<!--.*?-->", "", text, flags=re.DOTALL)
    # Only definitions need names; that of a group serves nobody.
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    # A hundredth of a point is finer than print, and nothing below it can differ between machines.
    text = re.sub(r'\b(?:d|x|y|transform|width|height)="[^"]*"', lambda match: _DIGITS.sub(r"\1", match[0]), text)
    order = {one: str(place) for place, one in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]*)"', text)))}
    text = _NAMES.sub(lambda match: match[1] + order[match[2]], text)
    # Two papers have a Figure 1, and one page may show both: names follow from what is drawn.
    name = "f" + hashlib.sha256(text.encode()).hexdigest()[:8]
    text = _NAMES.sub(rf"\g<1>{name}-\g<2>", text)
    text = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", text)
    text = re.sub(r"<g>\s*(<text\b[^>]*>[^<]*</text>)\s*</g>", r"\1", text)
    text = re.sub(r"\s*\n\s*", "\n", text)
    # Styles are repeated a thousand times in a heat map; as classes they take a third of the room.
    styles: dict[str, str] = {}
    text = re.sub(r' style="([^"]*)"', lambda match: f' class="{styles.setdefault(match[1], f"c{len(styles)}")}"', text)
    rules = "\n".join(f"#{name}-svg .{label}{{{rule}}}" for rule, label in styles.items())
    text = re.sub(r"\*\{([^}]*)\}", rf"#{name}-svg *{{\1}}\n{rules}", text, count=1)
    text = text.replace("</title>", f"</title>\n <desc>{html.escape(caption, quote=False)}</desc>", 1)
    return text.replace("<svg ", f'<svg id="{name}-svg" role="img" style="max-width: 100%; height: auto" ', 1)


# --- curves ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """How the line of one measure is drawn."""

    label: str
    color: str
    marker: str = "o"
    dashed: bool = False
    width: float = 1.2


def draw_curves(
    axes: Axes, table: pd.DataFrame, looks: Mapping[str, Look], *, ticks: Sequence[int], labels: bool = True
) -> None:
    """Lines over the pool's size, from large to small, with a band from ``low`` to ``high``.

    ``table`` has the columns measure, rate, value, low and high. With ``labels`` each line is named at its end.
    """
    ends = {}
    for measure, look in looks.items():
        rows = table[(table["measure"] == measure) & np.isfinite(table["value"])].sort_values("rate", ascending=False)
        if len(rows) < 2:  # the full pool alone is no curve
            continue
        axes.fill_between(rows["rate"], rows["low"], rows["high"], color=look.color, alpha=0.18, linewidth=0)
        axes.plot(
            rows["rate"], rows["value"], color=look.color, linewidth=look.width, marker=look.marker, markersize=3.6,
            linestyle=_line_style(look), markeredgewidth=0.9,
            markerfacecolor="white" if look.dashed else look.color,
        )  # fmt: skip
        ends[measure] = float(rows["rate"].iloc[-1]), float(rows["value"].iloc[-1])
    span = max(ticks) - min(ticks)
    axes.set_xlim(max(ticks) + 0.03 * span, min(ticks) - 0.03 * span)
    axes.set_xticks(list(ticks))
    axes.grid(True, axis="y")
    if labels and ends:
        _label_ends(axes, {looks[measure]: end for measure, end in ends.items()})


def _label_ends(axes: Axes, ends: Mapping[Look, tuple[float, float]]) -> None:
    """Name each line beside its end; names that would collide are moved apart and led to their lines."""
    low, high = axes.get_ylim()
    points = axes.get_position().height * axes.figure.get_size_inches()[1] * 72
    order = sorted(ends, key=lambda look: (ends[look][1], look.label))
    wanted = np.array([(ends[look][1] - low) / (high - low) for look in order])
    placed = spread(wanted, 10.5 / points)
    for look, y in zip(order, placed, strict=True):
        x, value = ends[look]
        start = axes.transAxes.inverted().transform(axes.transData.transform((x, value)))
        axes.plot(
            [start[0] + 0.012, 1.035, 1.05], [start[1], y, y], transform=axes.transAxes, clip_on=False,
            color=look.color, linewidth=0.6,
        )  # fmt: skip
        axes.text(
            1.06, y, look.label, transform=axes.transAxes, va="center_baseline", size=8.5, color=darker(look.color)
        )


def spread(positions: Sequence[float], gap: float) -> NDArray[np.float64]:
    """Move ascending positions apart until neighbors have the gap, as little as possible in the sum of squares.

    >>> spread([0.0, 0.1, 0.9], 0.2).round(3).tolist()
    [-0.05, 0.15, 0.9]
    """
    offset = gap * np.arange(len(positions))
    blocks: list[list[float]] = []
    for target in np.asarray(positions, dtype=np.float64) - offset:
        blocks.append([float(target), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            value, size = blocks.pop()
            blocks[-1] = [(blocks[-1][0] * blocks[-1][1] + value * size) / (blocks[-1][1] + size), blocks[-1][1] + size]
    return np.repeat([value for value, _ in blocks], [int(size) for _, size in blocks]) + offset


def darker(color: str) -> str:
    """The same color dark enough for text on white.

    >>> darker("#56B4E9"), darker("#000000")
    ('#377597', '#000000')
    """
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    factor = 0.65 if 0.3 * red + 0.59 * green + 0.11 * blue > 120 else 0.85
    return "#" + "".join(f"{int(factor * one):02x}" for one in (red, green, blue))


def draw_key(axes: Axes, looks: Sequence[Look], inside: bool) -> None:
    """Names of lines: in the lower left corner, which falling curves leave free, or to the right of the panel."""
    width, height = (axes.get_position().size * axes.figure.get_size_inches() * 72).tolist()
    x = 4 / width if inside else 1 + 6 / width
    for number, look in enumerate(looks):
        y = ((len(looks) - number - 0.5) * 11 + 2) / height if inside else 1 - (number + 0.5) * 12 / height
        axes.plot(
            [x, x + 18 / width], [y, y], transform=axes.transAxes, clip_on=False, color=look.color,
            linewidth=look.width, linestyle=_line_style(look),
        )  # fmt: skip
        axes.text(
            x + 22 / width, y, look.label, transform=axes.transAxes, va="center_baseline", size=8,
            color=darker(look.color),
        )  # fmt: skip


def _line_style(look: Look):
    return (0, (3.5, 1.6)) if look.dashed else "-"


# --- chains ---------------------------------------------------------------------------------------------------------


def draw_chain(
    axes: Axes, matrix: NDArray[np.float64], ranks: Sequence[int], length: int, grey: Sequence[int] = ()
) -> None:
    """A Markov chain over ranks: steps forward above, steps back below, width and opacity by probability.

    Row i and column j of the matrix are ``ranks[i]`` and ``ranks[j]``. All ranks up to ``length`` are drawn, those in
    ``grey`` in grey. The probability of staying stands inside the node.
    """
    radius = 0.27
    farthest = max(length - 1, 2)
    for row, start in enumerate(ranks):
        for column, end in enumerate(ranks):
            probability = float(matrix[row, column])
            if start == end or probability == 0:
                continue
            side = 1 if end > start else -1
            distance = abs(end - start)
            angle = np.radians(36 + 42 * (distance - 1) / (farthest - 1))
            apex = 0.26 + 0.31 * (distance - 1)
            reach = (apex - radius * np.sin(angle)) / (0.75 * np.sin(angle))
            outward = np.array([np.cos(angle), np.sin(angle)]) * side
            inward = outward * (-1, 1)
            first, last = np.array([start, 0.0]), np.array([end, 0.0])
            points = [first + radius * outward, first + (radius + reach) * outward]
            points += [last + (radius + reach) * inward, last + (radius + 0.02) * inward]
            axes.add_patch(
                FancyArrowPatch(
                    path=Outline(points, [Outline.MOVETO] + [Outline.CURVE4] * 3),
                    arrowstyle="-|>", mutation_scale=7, linewidth=0.5 + 4 * probability,
                    alpha=min(1.0, 0.5 + probability), color=BLUE if side > 0 else VERMILION, zorder=1 + probability,
                )
            )  # fmt: skip
            axes.text(
                (start + end) / 2, side * max(apex, 0.34), decimals(probability), size=8, ha="center", va="center",
                color=darker(BLUE if side > 0 else VERMILION), zorder=4,
                bbox={"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
            )  # fmt: skip
    staying = {rank: float(matrix[place, place]) for place, rank in enumerate(ranks)}
    for rank in range(1, length + 1):
        face = "#c4c4c4" if rank in grey else "white"
        axes.add_patch(Circle((rank, 0), radius, facecolor=face, edgecolor="black", linewidth=1.0, zorder=5))
        stays = staying.get(rank, 0.0) > 0
        axes.text(rank, 0.09 if stays else 0, str(rank), weight="bold", size=9, ha="center", va="center", zorder=6)
        if stays:
            axes.text(rank, -0.11, f"↻{decimals(staying[rank])}", size=8, ha="center", va="center", zorder=6)
    distances = np.abs(np.subtract.outer(ranks, ranks))
    tallest = max(1, int(distances[matrix > 0].max()))
    reach = max(0.26 + 0.31 * (tallest - 1), 0.34) + 0.12
    axes.set_xlim(0.6, length + 0.4)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal", anchor="W")
    leave_blank(axes)


def decimals(value: float) -> str:
    """A probability with two decimals and no leading zero.

    >>> decimals(0.256), decimals(1.0), decimals(0.0004)
    ('.26', '1', '.00')
    """
    text = f"{value:.2f}"
    return "1" if text == "1.00" else text.removeprefix("0")


# --- heat maps ------------------------------------------------------------------------------------------------------


def hundredths_of(value: float, printing: str = "truncated") -> int:
    """A correlation in hundredths, the rest cut off or rounded; 100 is a perfect agreement, and nothing else.

    >>> hundredths_of(0.8571), hundredths_of(0.8571, "rounded"), hundredths_of(0.998, "rounded"), hundredths_of(1.0)
    (85, 86, 99, 100)
    """
    shown = int(as_printed(value, "0.00", printing).replace(".", ""))
    return 99 if shown == 100 and value < 1 - 1e-9 else shown


def draw_heatmap(
    axes: Axes,
    matrix: NDArray[np.float64],
    labels: Sequence[str],
    low: int,
    print_values: bool,
    printing: str = "truncated",
) -> None:
    """The lower triangle of a matrix of correlations, in hundredths from ``low`` or less (pale) to 100 (dark).

    Hundredths are cut off or rounded, as ``printing`` says, and only a perfect agreement is one; its sign is ``≡``, for
    which there is room. Cells of the same color are one shape, which keeps files small.
    """
    size = len(labels)
    shapes: dict[int, list] = {}
    for row in range(size):
        for column in range(row):
            value = float(matrix[row, column])
            if not np.isfinite(value):
                axes.text(column + 0.5, row + 0.5, "–", size=8, ha="center", va="center_baseline", color="#555555")
                continue
            hundredths = hundredths_of(value, printing)
            corners = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1), (column, row)]
            shapes.setdefault(max(hundredths, low), []).append(corners)
            if print_values:
                axes.text(
                    column + 0.5, row + 0.5, "≡" if hundredths == 100 else str(hundredths), size=8, ha="center",
                    va="center_baseline", color="white" if hundredths > low + 0.55 * (100 - low) else "black",
                )  # fmt: skip
    colors = heat_colors(low)
    codes = [Outline.MOVETO] + [Outline.LINETO] * 3 + [Outline.CLOSEPOLY]
    for hundredths, cells in sorted(shapes.items()):
        outline = Outline(np.concatenate(cells), codes * len(cells))
        axes.add_collection(
            PathCollection([outline], facecolors=[colors[hundredths - low]], edgecolors="white", linewidths=0.5)
        )
    axes.set_xlim(0, size)
    axes.set_ylim(size, 0)
    axes.set_xticks(np.arange(size - 1) + 0.5, labels[: size - 1], rotation=90)
    axes.set_yticks(np.arange(1, size) + 0.5, labels[1:])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def heat_colors(low: int) -> NDArray[np.float64]:
    """One color for each hundredth from ``low`` to 100: reversed cividis, which color-blind readers see alike."""
    return matplotlib.colormaps["cividis_r"](np.linspace(0.0, 1.0, 101 - low))


def draw_heat_key(axes: Axes, low: int) -> None:
    """The colors of a heat map, in the corner that its triangle leaves free."""
    inset = axes.inset_axes((0.62, 0.93, 0.34, 0.025))
    colors = heat_colors(low)
    for place, color in enumerate(colors):
        # Each covers the rest, so that no seam shows between two.
        inset.axvspan(low + place - 0.5, 100.5, facecolor=color, linewidth=0)
    inset.set_xlim(low - 0.5, 100.5)
    inset.set_yticks([])
    inset.set_xticks([low, *range(low + 10, 100, 10), 100], [f"≤{low}", *map(str, range(low + 10, 100, 10)), "≡"])
    inset.set_title("Kendall's τ, in hundredths", size=8, weight="normal", loc="left")
    inset.tick_params(length=2)

