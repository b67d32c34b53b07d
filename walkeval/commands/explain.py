"""``walkeval explain``: a measure's user in words, the chain, the weight of each rank, the effort, the law of P@H."""

from __future__ import annotations

import inspect
import math
import sys
import textwrap
from argparse import Namespace
from dataclasses import fields

from walkeval.commands.common import check_picture, measure_of, save_picture, short_citation
from walkeval.display import Chain, chain, distribution, rank_weights
from walkeval.errors import ParameterError
from walkeval.measures import Measure
from walkeval.measures.markov_precision import MP, MPChain
from walkeval.measures.stopping_time import PH
from walkeval.ranked import RankedLists


def run(arguments: Namespace) -> int:
    check_picture(arguments.plot)
    measure = measure_of(arguments.measure)
    gains = read_gains(arguments.gains)
    walk = chain(measure, gains, arguments.recall_base)
    lists = RankedLists.from_gains([gains], recall_base=arguments.recall_base)
    score = float(measure.score(lists)[0])
    weights = rank_weights(measure, gains, arguments.recall_base)
    parts = [
        *_head(measure),
        "",
        f"On the list {arguments.gains} ({int(lists.recall_base[0])} relevant documents in all) it is {score:.6g}.",
        "",
        "Chain (* relevant):" if walk else "No chain: its user does not walk from document to document.",
        *([textwrap.indent(walk.text(), "  ")] if walk else []),
        "",
        *_ranks(gains, weights, walk),
        "",
        f"Expected effort: {_effort(measure, walk)}",
    ]
    if isinstance(measure, PH):
        law = distribution(measure, gains)
        kind = "exact" if law.law.exact else f"of simulated users, within {law.law.band:.2g}"
        parts += ["", f"Law of P@H ({kind}): mean {law.law.mean:.6g}, variance {law.law.variance:.6g}"]
        parts.append(textwrap.indent(law.text(), "  "))
    sys.stdout.write("\n".join(parts) + "\n")
    if arguments.plot:
        save_picture(_picture(measure, gains, weights, walk), arguments.plot)
    return 0


def read_gains(text: str) -> list[float | None]:
    """The gain at each rank from text; - is an unjudged document.

    >>> read_gains("1,0,-,2")
    [1.0, 0.0, None, 2.0]
    """
    gains: list[float | None] = []
    for rank, word in enumerate(text.split(","), start=1):
        try:
            gains.append(None if word.strip() == "-" else float(word))
        except ValueError:
            raise ParameterError(
                f"--gains {text}: {word.strip()!r} at rank {rank} is not a number; write 1,0,0,1"
            ) from None
    return gains


def _head(measure: Measure) -> list[str]:
    """Name, user, definition, parameters and citation."""
    definition = inspect.cleandoc(type(measure).__doc__ or "").partition("\n>>>")[0].strip()
    lines = [measure.name, "", *textwrap.wrap(f"User: {measure.user_model}", 100), "", definition.replace("``", "")]
    words = [
        f"  {one.name} = {getattr(measure, one.name)}: {one.metadata.get('meaning', '')}" for one in fields(measure)
    ]
    lines += ["", "Parameters:", *words] if words else []
    better = "higher is better" if measure.higher_is_better else "lower is better"
    return [
        *lines,
        "",
        f"Defined by {short_citation(measure.citation)}; {better}.",
        *textwrap.wrap(measure.undefined, 100),
    ]


def _ranks(gains: list[float | None], weights, walk: Chain | None) -> list[str]:
    """What a relevant document adds at each rank, and how much of the walk is there."""
    share = dict(zip(walk.ranks, walk.share, strict=True)) if walk else {}
    title = "visits" if walk and walk.stop.any() else "long run"
    lines = [f"{'rank':>4}  {'gain':>8}  {'weight':>9}" + (f"  {title:>8}" if walk else "")]
    for rank, (gain, weight) in enumerate(zip(gains, weights, strict=True), start=1):
        shown = "unjudged" if gain is None else f"{gain:g}"
        visit = f"  {share[rank]:8.4f}" if rank in share else f"  {'-':>8}" if walk else ""
        lines.append(f"{rank:4}  {shown:>8}  {weight:9.4f}{visit}")
    lines.append(
        "weight: what a relevant document here adds to the score, all other ranks as they are" + _what(title, walk)
    )
    return lines


def _what(title: str, walk: Chain | None) -> str:
    if not walk:
        return ""
    return "; visits: share of all visits" if title == "visits" else "; long run: share of the time spent here"


def _effort(measure: Measure, walk: Chain | None) -> str:
    if isinstance(measure, (MP, MPChain)):
        return "without end, for the user never stops walking."
    if walk is None:
        return "not part of this user model."
    if math.isinf(walk.effort):
        return "infinite: some users never find what they want and read on for ever."
    return f"{walk.effort:.6g} documents visited, counted as often as visited."


def _picture(measure: Measure, gains: list[float | None], weights, walk: Chain | None):
    from walkeval.figures import BLUE, sheet, style

    law = distribution(measure, gains) if isinstance(measure, PH) else None
    steps_far = isinstance(measure, (MP, MPChain))
    heights = [*([1.9 if steps_far else 0.8] if walk else []), 1.4, *([1.6] if law else [])]
    parts = ["the chain (relevant ranks grey)"] if walk else []
    parts += ["what a relevant document at each rank adds to the score", *(["the law of P@H"] if law else [])]
    caption = f"From top to bottom: {', '.join(parts)}."
    with style():
        result = sheet(measure.name, caption, heights)
        panels = iter(result.panels)
        if walk:
            walk.draw(next(panels))
        axes = next(panels)
        axes.bar(range(1, len(gains) + 1), weights, color=BLUE, width=0.6)
        axes.set(
            xlabel="rank",
            ylabel="weight",
            xticks=range(1, len(gains) + 1) if len(gains) <= 20 else None or [1, len(gains)],
        )
        if law:
            law.draw(next(panels), color=BLUE)
    return result
