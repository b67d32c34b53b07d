"""What every script does around its work: words go to the rule's log, and a user's mistake ends in one sentence."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from walkeval.errors import WalkevalError


@contextmanager
def job(snakemake) -> Iterator[None]:
    """Run the body with its output in the log; leave with exit code 1, and the reason in the log, when it fails."""
    failed = False
    with Path(snakemake.log[0]).open("w", encoding="utf-8") as log, redirect_stdout(log), redirect_stderr(log):
        try:
            yield
        except WalkevalError as error:
            print(error)
            failed = True
        except Exception:
            traceback.print_exc(file=log)
            failed = True
    if failed:
        sys.exit(1)
