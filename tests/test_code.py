"""The digest of the code that a script stands on changes with that code, and with no other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from walkeval import code
from walkeval.code import PACKAGE, code_digest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def package(tmp_path, monkeypatch) -> Path:
    """A library in which a imports b within a function, b imports c by its package, and nobody imports d."""
    folder = tmp_path / "walkeval"
    (folder / "papers").mkdir(parents=True)
    texts = {
        "__init__.py": "",
        "a.py": "def f():\n    from walkeval.b import (\n        one,\n        two as three,  # words\n    )\n",
        "b.py": "from walkeval.papers import c\n",
        "papers/__init__.py": "",
        "papers/c.py": "import walkeval.a\n",
        "d.py": "x = 1\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(code, "PACKAGE", folder)
    return folder


def digest(script: Path) -> str:
    code._hash.cache_clear()
    code._imported.cache_clear()
    return code_digest(script)


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ("a.py", True),
        ("b.py", True),
        ("papers/c.py", True),
        ("papers/__init__.py", True),
        ("__init__.py", True),
        ("d.py", False),
    ],
)
def test_what_is_imported_counts_and_nothing_else(package, tmp_path, changed, counts):
    script = tmp_path / "script.py"
    script.write_text("from walkeval.a import f\n")
    before = digest(script)
    script.write_text("from walkeval.a import f, other\n")
    assert digest(script) == before, "the script itself is no part of it"
    with (package / changed).open("a") as file:
        file.write("# a word\n")
    assert (digest(script) != before) == counts


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_import_of_the_library_is_seen(path):
    """As the parser of Python sees it."""
    wanted = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("walkeval"):
            wanted |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        elif isinstance(node, ast.Import):
            wanted |= {one.name for one in node.names if one.name.startswith("walkeval")}
    files = {
        place
        for name in wanted
        for place in (ROOT / f"{name.replace('.', '/')}.py", ROOT / name.replace(".", "/") / "__init__.py")
        if place.is_file()
    }
    assert files <= set(code._imported(path))
