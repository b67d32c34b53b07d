"""Fill the generated parts of README.md and the docs from results/paper: ./run python scripts/update_readme.py"""

import sys
from pathlib import Path

from walkeval.errors import WalkevalError
from walkeval.readme import counts_section, fill, power_section

ROOT = Path(__file__).resolve().parents[1]

try:
    readme = ROOT / "README.md"
    readme.write_text(fill(readme, counts_section(ROOT / "results" / "paper", "results/paper")), encoding="utf-8")
    limits = ROOT / "docs" / "limits.md"
    limits.write_text(fill(limits, power_section(ROOT / "results" / "paper")), encoding="utf-8")
except WalkevalError as error:
    sys.exit(f"update_readme: {error}")
