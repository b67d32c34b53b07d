"""Every error that a user can cause, each with the sentence that the user needs.

The message says what is wrong, where (file and line, or parameter and value) and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from os import PathLike


class WalkevalError(Exception):
    """Base of all errors that a program may show to its user as one sentence."""


class InputError(WalkevalError):
    """A file that cannot be used as it is: the message starts with its path and line."""

    def __init__(self, path: str | PathLike[str], sentence: str, line: int | None = None):
        self.path = str(path)
        self.line = line
        self.sentence = sentence
        where = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{where}: {sentence}")

    def __reduce__(self):
        return type(self), (self.path, self.sentence, self.line)


class ParameterError(WalkevalError, ValueError):
    """A parameter with a value that it cannot have: the message names both."""


class UnknownNameError(ParameterError):
    """A name that is not known, with the known name that it resembles most."""

    def __init__(self, what: str, name: str, known: Iterable[str]):
        self.what = what
        self.name = name
        self.known = sorted(known)
        super().__init__(f"unknown {what} {name!r}{did_you_mean(name, self.known)}")

    def __reduce__(self):
        return type(self), (self.what, self.name, self.known)


class SourceError(WalkevalError):
    """A source that cannot be had, or that is not what the registry says."""


class EvidenceError(WalkevalError):
    """Results that would be overwritten by results that stand on weaker evidence."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error message: the nearest known name, or all of them if none is near."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if not near:
        folded = {one.casefold(): one for one in known}
        near = [folded[one] for one in difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)]
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known: {', '.join(known)}"
