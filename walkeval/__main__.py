"""``python -m walkeval``."""

import sys

from walkeval.cli import main

if __name__ == "__main__":
    sys.exit(main())
