"""``walkeval measures``: what there is, and where it comes from."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import fields

from walkeval.citations import bibtex
from walkeval.commands.common import measure_of, short_citation
from walkeval.measures import known_measures


def run(arguments: Namespace) -> int:
    if arguments.measures:
        chosen = list(dict.fromkeys(type(measure_of(name)) for name in arguments.measures))
    else:
        chosen = list(known_measures().values())
    if arguments.bibtex:
        keys = dict.fromkeys(one.citation for one in chosen)
        sys.stdout.write("\n".join(f"{bibtex(key)}\n" for key in keys))
        return 0
    sys.stdout.write("measure\tparameters\tcitation\tuser model\n")
    for one in chosen:
        words = " ".join(f"{'@' if field.name == one.at else ''}{field.name}={field.default}" for field in fields(one))
        sys.stdout.write(f"{one.label}\t{words}\t{short_citation(one.citation)}\t{one.user_model}\n")
    return 0
