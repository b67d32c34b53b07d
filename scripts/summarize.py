"""Say where an edition's report is and how its verdicts count: python scripts/summarize.py results/demo"""

import sys
from pathlib import Path

from walkeval.audit import count_verdicts, read_verdicts

folder = Path(sys.argv[1])
counts = count_verdicts(read_verdicts(folder / "audit" / "verdicts.tsv"))
words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
sys.stdout.write(f"report: {folder / 'report' / 'index.html'}\nverdicts: {words}\n")
