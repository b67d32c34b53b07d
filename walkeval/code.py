"""Which code of this library a script stands on, so that its results can be told from those of other code."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
_IMPORT = re.compile(
    rf"^[ \t]*(?:from[ \t]+({PACKAGE.name}[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)|import[ \t]+({PACKAGE.name}[\w.]*))",
    re.MULTILINE,
)


def code_digest(script: str | Path) -> str:
    """A digest of all modules of the library that a script imports, and of those that they import, and so on.

    It changes when one of them does; the script itself is not part of it.

    >>> len(code_digest(PACKAGE / "shards.py"))
    64
    """
    found: set[Path] = set()
    waiting = list(_imported(Path(script)))
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imported(module)
    digest = hashlib.sha256()
    for module in sorted(found):
        digest.update(f"{module.relative_to(PACKAGE).as_posix()}\0{_hash(module)}\n".encode())
    return digest.hexdigest()


@cache
def _hash(module: Path) -> str:
    return hashlib.sha256(module.read_bytes()).hexdigest()


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    """The files of the library that a file imports, wherever in it."""
    modules: list[Path] = []
    for name, names, plain in _IMPORT.findall(path.read_text(encoding="utf-8")):
        # Any word after "import" may be the name of a module; one that is none has no file.
        for dotted in (name or plain, *(f"{name}.{word}" for word in re.findall(r"\w+", names))):
            modules += _files(dotted)
    return tuple(dict.fromkeys(modules))


def _files(dotted: str) -> list[Path]:
    """The file of a module and those of the packages that it is in, as far as they exist."""
    found, place = [PACKAGE / "__init__.py"], PACKAGE
    for part in dotted.split(".")[1:]:
        place = place / part
        if place.is_dir():
            found.append(place / "__init__.py")
        elif place.with_suffix(".py").is_file():
            found.append(place.with_suffix(".py"))
    return [one for one in found if one.is_file()]
