"""What every script does around its work: words go to the rule's log, and a user's mistake ends in one sentence."""

from __future__ import annotations

import fcntl
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from walkeval.errors import WalkevalError

LOCK = Path(".snakemake", "walkeval-jobs.lock")
"""Made by ./run, and held by every job as long as it works, so that ./run knows when nobody is at work any more."""


@contextmanager
def job(snakemake) -> Iterator[None]:
    """Run the body with its output in the log; leave with exit code 1, and the reason in the log, when it fails.

    The reason is also kept in a file of the edition's folder "failures", from where ./run tells it as its last word.
    """
    reason = None
    place = Path(snakemake.log[0])
    edition = next(one.parent for one in place.parents if one.name == "logs")
    failure = edition / "failures" / "-".join(place.relative_to(edition / "logs").parts)
    with (
        _at_work(),
        place.open("w", encoding="utf-8") as log,
        redirect_stdout(log),
        redirect_stderr(log),
    ):
        try:
            yield
        except WalkevalError as error:
            reason = str(error)
            print(reason)
        except OSError as error:
            reason = f"{error.filename or 'a file'}: {error.strerror or error}"
            traceback.print_exc(file=log)
        except MemoryError:
            reason = "there was not enough memory; give it more, or take smaller shards"
            traceback.print_exc(file=log)
        except Exception as error:
            reason = f"{type(error).__name__}: {error} (a mistake of walkeval's; the whole of it is in {place})"
            traceback.print_exc(file=log)
    if reason is None:
        failure.unlink(missing_ok=True)  # of an earlier attempt
        return
    failure.parent.mkdir(exist_ok=True)
    failure.write_text(f"{snakemake.rule}: {' '.join(reason.split())}\n", encoding="utf-8")
    sys.exit(1)


@contextmanager
def _at_work() -> Iterator[None]:
    """Hold the lock; a file system that knows no locks, or a run that was not started by ./run, does without."""
    try:
        file = LOCK.open("rb")
    except OSError:
        yield
        return
    with file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_SH)
        yield
