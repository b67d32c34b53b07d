"""Compare verdicts with the published ones: python scripts/compare_verdicts.py NEW PUBLISHED

The policy: exit 0 if every claim has the verdict and the reproduced value that are published, 3 if any has not. A claim that
comes out better has changed as much as one that comes out worse.
"""

import sys
from pathlib import Path

from walkeval.audit import changed_verdicts, count_verdicts, read_verdicts
from walkeval.errors import WalkevalError

try:
    new, published = (read_verdicts(Path(folder, "audit", "verdicts.tsv")) for folder in sys.argv[1:3])
except (OSError, WalkevalError) as error:
    sys.exit(f"audit: {error}")
changes = changed_verdicts(new, published)
for line in changes:
    sys.stdout.write(line + "\n")
words = ", ".join(f"{count} {verdict}" for verdict, count in count_verdicts(new).items() if count)
sys.stdout.write(f"verdicts: {words}; changed since publication: {len(changes)}\n")
sys.exit(3 if changes else 0)
