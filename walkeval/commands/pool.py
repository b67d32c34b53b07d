"""``walkeval pool``: judgements with a part of them left out at random."""

from __future__ import annotations

import shutil
import sys
import tempfile
from argparse import Namespace
from pathlib import Path

from walkeval.commands.common import check_target, read_judgements, say
from walkeval.pools import downsample, write_qrels


def run(arguments: Namespace) -> int:
    check_target(arguments.output)
    qrels = read_judgements(arguments.qrels)
    pools = downsample(qrels, [arguments.rate], arguments.replicate, arguments.seed, arguments.min_grade)
    kept = pools[arguments.rate]
    if arguments.output:
        write_qrels(arguments.output, qrels, kept)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "qrels")
            write_qrels(path, qrels, kept)
            sys.stdout.flush()
            with path.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    say(f"kept {int(kept.sum())} of {len(qrels)} judgements")
    return 0
