"""The figure of the scaling points: time and memory over runs, topics and depth, with the fitted powers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from walkeval.figures import BLUE, GREY, VERMILION, save, sheet, style

PANELS = ("runs", "topics", "depth")
QUANTITIES = (("time", "cpu_seconds", "processor seconds", BLUE), ("memory", "peak_mb", "MB above imports", VERMILION))


def draw_scaling(points: pd.DataFrame, exponents: pd.DataFrame, stem: Path) -> None:
    """Write ``stem.svg`` and ``stem.pdf``."""
    caption = (
        "Reading, judging and scoring (21 measures) of synthetic collections, each in a process of its own, on double "
        "logarithmic scales. Lines: powers fitted by least squares to the filled points; at the open ones, fixed costs "
        "count. The number is the exponent."
    )
    with style():
        drawn = sheet(
            "Cost of judging and scoring", caption, [1.25, 1.25], columns=3, width=7.4, left=0.65, between=0.5,
            below=0.45, synthetic=True,
        )  # fmt: skip
        for number, (quantity, column, label, color) in enumerate(QUANTITIES):
            for place, axis in enumerate(PANELS):
                axes = drawn.panels[number * len(PANELS) + place]
                rows = points[(points["axis"] == axis) & (points["stage"] == "both")]
                law = exponents[
                    (exponents["axis"] == axis) & (exponents["stage"] == "both") & (exponents["quantity"] == quantity)
                ]
                _draw_panel(axes, rows, column, float(law["exponent"].iloc[0]), color)
                axes.set_title(f"{quantity} over {axis}")
                axes.set_xlabel(axis)
                if not place:
                    axes.set_ylabel(label)
        save(drawn, stem)


def _draw_panel(axes, rows: pd.DataFrame, column: str, exponent: float, color: str) -> None:
    size, cost = rows["size"].to_numpy(float), rows[column].to_numpy(float)
    fitted = (rows["fitted"] == "yes").to_numpy()
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(True)
    axes.plot(size[~fitted], cost[~fitted], "o", markersize=4, markerfacecolor="white", markeredgecolor=color)
    axes.plot(size[fitted], cost[fitted], "o", markersize=4, color=color)
    if fitted.sum() > 1:
        level = np.exp(np.mean(np.log(cost[fitted]) - exponent * np.log(size[fitted])))
        ends = np.array([size[fitted].min(), size[fitted].max()])
        axes.plot(ends, level * ends**exponent, color=GREY, linewidth=1.0, zorder=1)
        axes.text(0.06, 0.93, f"{exponent:.2f}", transform=axes.transAxes, va="top", size=9, weight="bold")
    axes.minorticks_off()
