"""Everything that walkeval costs, measured in one run: ``./run bench``.

Writes into results/benchmarks/: ratios.tsv (against peers), scaling.tsv with exponents.tsv, laws.tsv, checks.tsv and
scaling.svg/.pdf, stages.tsv (of editions that have run), machine.txt and README.md; and the numbers of docs/scale.md.
Nothing is written before everything is measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from benchmarks import ratios, scale, scaling
from benchmarks.drawing import draw_scaling
from benchmarks.files import Files, trec8
from benchmarks.stages import stages
from benchmarks.timing import machine
from walkeval.tables import markdown, write_table

ROOT = Path(__file__).resolve().parents[1]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "benchmarks", help="folder of the tables")
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder in which editions have run")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "scale.md", help="page whose numbers are renewed")
    parser.add_argument(
        "--ranx", action="store_true", help="measure ranx too, which is installed for it elsewhere: some minutes more"
    )
    given = parser.parse_args(words)
    begin = time.perf_counter()

    def say(line: str) -> None:
        sys.stdout.write(f"{time.perf_counter() - begin:5.0f} s  {line}\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory() as folder:
        python = install_ranx(Path(folder, "ranx"), say) if given.ranx else None
        files = trec8(ROOT, Path(folder, "files"))
        measured = measure(files, ratios.Plan(), scaling.Plan(), python, say)
    write(measured, given.results, stages(given.data), given.page)
    for what, reached in ratios.summary(measured[0]).items():
        say(f"{'reached' if reached else 'MISSED '}  {what}")
    say("done")
    return 0


def install_ranx(folder: Path, say: Callable[[str], object]) -> Path | None:
    """An environment that has ranx; None, with a word, where it cannot be installed."""
    say("installing ranx into an environment of its own")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "ranx"], capture_output=True, text=True)
    if done.returncode:
        say("ranx could not be installed")
        return None
    return python


def measure(
    files: Files, ratio_plan: ratios.Plan, scaling_plan: scaling.Plan, python: Path | None, say: Callable[[str], object]
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Ratios, points of scaling, and the machine before and after."""
    before = machine()
    table = ratios.all_ratios(files, ratio_plan, python, say)
    points = scaling.all_points(scaling_plan, files, say)
    after = machine()[-1]
    return table, points, [*before[:-1], f"at the start, {before[-1]}", f"at the end, {after}"]


def write(
    measured: tuple[pd.DataFrame, pd.DataFrame, list[str]], results: Path, stage_table: pd.DataFrame, page: Path
) -> None:
    """All artefacts, from what was measured."""
    table, points, lines = measured
    results.mkdir(parents=True, exist_ok=True)
    exponents, laws = scaling.exponents(points), scaling.laws(points)
    write_table(results / "ratios.tsv", table)
    write_table(results / "scaling.tsv", points)
    write_table(results / "exponents.tsv", exponents)
    write_table(results / "laws.tsv", laws)
    write_table(results / "checks.tsv", scaling.checks(points, laws))
    write_table(results / "stages.tsv", stage_table)
    draw_scaling(points, exponents, results / "scaling")
    (results / "machine.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (results / "README.md").write_text(readme(table, lines), encoding="utf-8")
    scale.write_page(page, results, Path(__file__).with_name("tracks.tsv"))


def readme(table: pd.DataFrame, lines: list[str]) -> str:
    """The ratios to read, and what the other files are."""
    shown = table[["what", "peer", "ratio", "cpu_ratio", "wanted", "note"]].copy()
    for name in ("ratio", "cpu_ratio"):
        shown[name] = [scale.short(value) if pd.notna(value) else "" for value in table[name].astype(float)]
    about = [
        "# Benchmarks",
        "",
        "Written by `./run bench`. A ratio is the peer's time over ours, both the best of several turns in one process",
        "on the same files; `cpu_ratio` is the same of processor times, which a busy machine disturbs less. Both sides",
        "have one thread.",
        "",
        "| file | what |",
        "| --- | --- |",
        "| `ratios.tsv` | against peers, with the times in seconds |",
        "| `scaling.tsv`, `.svg`, `.pdf` | time and memory over runs, topics, depth, replicates and click records |",
        "| `exponents.tsv`, `laws.tsv`, `checks.tsv` | what these points say, and how well it predicts |",
        "| `stages.tsv` | what each rule of an edition took, where one has run |",
        "| `machine.txt` | what the absolute times stand on |",
        "",
        "What follows for larger worlds is in `docs/scale.md`.",
        "",
    ]
    return "\n".join(about) + "\n" + markdown(shown, "Ratios") + "\n" + "".join(f"- {line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
