"""Files that people write in YAML, read so that nothing in them can do harm or pass unnoticed."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from walkeval.errors import InputError


def read_text(path: str | Path) -> str:
    """The text of a file."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except UnicodeDecodeError:
        raise InputError(path, "not a text file in UTF-8") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None


class _Loader(yaml.SafeLoader):
    """Safe YAML without what no edition needs: a key given twice, of which YAML would silently keep the last; references,
    with which a few lines can stand for gigabytes or contain themselves; tags, which say what a value is; and halves of
    characters, which cannot be written to a file.
    """

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "references (*name) are not accepted", event.start_mark)
        if event.tag is not None:
            raise yaml.composer.ComposerError(None, None, "tags (!name) are not accepted", event.start_mark)
        if isinstance(event, yaml.ScalarEvent) and any("\ud800" <= one <= "\udfff" for one in event.value):
            raise yaml.composer.ComposerError(None, None, "half of a character", event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a word", key.start_mark)
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} is given twice, first in line {seen[key.value]}", key.start_mark
                )
            seen[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep=deep)


def parse_yaml(text: str, path: str | Path) -> Any:
    """What a text in YAML says; ``path`` is where it stands, for messages.

    >>> parse_yaml("[90, 10]", "the command line")
    [90, 10]
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise InputError(path, f"not valid YAML: {error.problem}", line) from None
    except yaml.YAMLError:
        raise InputError(path, "not valid YAML: it holds a character that YAML does not allow") from None
    except (ValueError, RecursionError) as error:  # a date that is none, a number of many digits, a pit of brackets
        raise InputError(path, f"not valid YAML: {error}") from None


def read_yaml(path: str | Path) -> dict[str, Any]:
    """The keys and values of a YAML file, as they stand there; an empty file has none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.yaml")
    ...     _ = path.write_text("kind: real\\ncollections: [trec08]\\n")
    ...     read_yaml(path)
    {'kind': 'real', 'collections': ['trec08']}
    """
    content = parse_yaml(read_text(path), path)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InputError(path, "must be a list of lines 'key: value'")
    return content
