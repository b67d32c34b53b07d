"""Say where an edition's report is and how its verdicts count: python scripts/summarize.py results/demo"""

import sys
from pathlib import Path

from walkeval.audit import count_verdicts, read_verdicts
from walkeval.report_sections import concerns
from walkeval.tables import read_table

folder = Path(sys.argv[1])
sys.stdout.write(f"report: {folder / 'report' / 'index.html'}\n")
verdicts = read_verdicts(folder / "audit" / "verdicts.tsv")
systems = folder / "systems.tsv"
if systems.exists():
    sys.stdout.write(f"systems: {systems}\n")
    own = set(read_table(systems)["collection"])
    if own == set(read_table(folder / "evidence.tsv")["collection"]):
        # Of somebody's own runs alone the papers' claims say nothing, whatever their verdicts without data.
        verdicts = [one for one in verdicts if concerns(one.claim, own)]
if verdicts:
    words = ", ".join(f"{count} {verdict}" for verdict, count in count_verdicts(verdicts).items() if count)
    sys.stdout.write(f"verdicts: {words}\n")
