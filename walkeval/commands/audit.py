"""``walkeval audit``: what is impossible in a table of correlations."""

from __future__ import annotations

import sys
from argparse import Namespace

from walkeval.commands.common import STANDARD_INPUT, check_picture, check_target, save_picture, say
from walkeval.examination import FINDING_COLUMNS, SEVERITIES, examine, read_blocks, write_findings


def run(arguments: Namespace) -> int:
    check_picture(arguments.plot)
    check_target(arguments.output)
    blocks = read_blocks(STANDARD_INPUT if arguments.table == "-" else arguments.table, arguments.systems)
    findings = examine(blocks, arguments.ties)
    if arguments.output:
        write_findings(arguments.output, findings)
    else:
        rows = [FINDING_COLUMNS, *(one.row() for one in findings)]
        sys.stdout.write("".join("\t".join(row) + "\n" for row in rows))
    if arguments.plot:
        from walkeval.examination_figure import draw_findings

        save_picture(draw_findings(blocks, findings), arguments.plot)
    counts = {severity: sum(one.severity == severity for one in findings) for severity in SEVERITIES}
    cells = sum(len(one.printed) for one in blocks)
    words = {"note": "note" if counts["note"] == 1 else "notes"}
    found = ", ".join(f"{count} {words.get(severity, severity)}" for severity, count in counts.items())
    say(f"findings in {cells} cells: {found}")
    return 3 if counts["impossible"] or counts["implausible"] else 0
