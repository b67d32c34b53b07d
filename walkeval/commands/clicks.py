"""``walkeval clicks``: what a click log says about how users walk."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from walkeval.click_logs import ClickLog
from walkeval.clicks import holding_parameters, summarize_clicks, transition_matrix
from walkeval.commands.common import say, write_sections
from walkeval.errors import InputError


def run(arguments: Namespace) -> int:
    for path in arguments.logs:
        # The readers stream, so that a file is not opened before it is its turn.
        if not os.path.isfile(path):
            reason = "Is a directory" if os.path.isdir(path) else "No such file or directory"
            raise InputError(path, f"cannot be read: {reason}")
    log = ClickLog(tuple(arguments.logs), arguments.log_format)
    bar = _bar(log)
    summary = summarize_clicks(log, arguments.ranks, progress=bar and bar.update)
    if bar:
        bar.close()
    ranks = range(1, summary.ranks + 1)
    matrix = transition_matrix(summary.counts)
    holding = holding_parameters(summary.holding_count, summary.holding_total)
    shares = [(one.name, one.backward, one.total, one.value) for one in summary.backward_shares()]
    moves = [
        (start, end, int(summary.counts[start - 1, end - 1]), float(matrix[start - 1, end - 1]))
        for start in ranks
        for end in ranks
    ]
    times = [
        (
            rank,
            int(summary.clicks_by_rank[rank - 1]),
            int(summary.holding_count[rank - 1]),
            *(float(one[rank - 1]) for one in holding),
        )
        for rank in ranks
    ]
    write_sections(
        [
            ("backward shares", ("among", "backward", "total", "share"), shares),
            ("transitions", ("from", "to", "count", "share"), moves),
            ("holding", ("rank", "clicks", "times", "mu", "low", "high"), times),
        ],
        arguments.output_format,
    )
    for kind, count, places in summary.ledger.rows():
        say(f"{kind} ({count}), such as {places.split()[0]}")
    return 0


def _bar(log: ClickLog):
    """A bar over the bytes of the log, where somebody is looking."""
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        return None
    return tqdm(total=log.size(), unit="B", unit_scale=True, leave=False, file=sys.stderr)
