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
    """Run the body with its output in the log; leave with exit code 1, and the reason in the log, when it fails.

    The reason is also added to failures.txt of the edition, from where ./run tells it as its last word.
    """
    reason = ""
    place = Path(snakemake.log[0])
    with place.open("w", encoding="utf-8") as log, redirect_stdout(log), redirect_stderr(log):
        try:
            yield
        except WalkevalError as error:
            reason = str(error)
            print(reason)
        except OSError as error:
            reason = f"{error.filename or 'a file'}: {error.strerror or error}"
            traceback.print_exc(file=log)
        except Exception as error:
            reason = f"{type(error).__name__}: {error} (a mistake of walkeval's; the whole of it is in {place})"
            traceback.print_exc(file=log)
    if reason:
        edition = next(one.parent for one in place.parents if one.name == "logs")
        with (edition / "failures.txt").open("a", encoding="utf-8") as file:
            file.write(f"{snakemake.rule}: {' '.join(reason.split())}\n")
        sys.exit(1)
