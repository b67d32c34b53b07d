"""The configuration of an edition: read from YAML, checked against a closed schema, completed with its defaults.

The schema is JSON Schema. What it refuses is told in sentences that name the key, its value and what it may be. Two
formats are known: ``name`` (safe as the name of a file) and ``measure`` (a measure that can be computed).
"""

from __future__ import annotations

import copy
import json
import re
import reprlib
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from walkeval.errors import InputError, ParameterError, WalkevalError, did_you_mean
from walkeval.measures import parse_measure
from walkeval.yaml_files import parse_yaml, read_text, read_yaml


def check(configuration: dict[str, Any], schema: dict[str, Any], path: str | Path) -> dict[str, Any]:
    """The configuration completed with the defaults of the schema, or an `InputError` with a sentence for each mistake.

    ``path`` is the file from which the configuration was read: messages name it, and the line where the mistake stands
    there. The configuration given is left as it is.

    >>> schema = {"properties": {"tau": {"enum": ["a", "b"], "default": "b"}}, "additionalProperties": False}
    >>> check({}, schema, "mine.yaml")
    {'tau': 'b'}
    >>> check({"tau": "c"}, schema, "mine.yaml")
    Traceback (most recent call last):
    walkeval.errors.InputError: mine.yaml: tau is 'c'; it must be 'a' or 'b'
    >>> check({"tua": "b"}, schema, "mine.yaml")
    Traceback (most recent call last):
    walkeval.errors.InputError: mine.yaml: unknown key 'tua'; did you mean 'tau'?
    """
    validator = _Validator(schema, format_checker=_FORMATS)
    root = _compose(path)
    mistakes = []
    for error in validator.iter_errors(configuration):
        for keys, sentence in _explain(error):
            mistakes.append(InputError(path, sentence, _line(root, keys, configuration)))
    if mistakes:
        mistakes.sort(key=lambda one: (one.line or 0, one.sentence))
        first, *others = mistakes
        raise InputError(path, "\n".join([first.sentence, *map(str, others)]), first.line)
    return _complete(configuration, schema)


def read_words(value: Any, schema: dict[str, Any]) -> Any:
    """What Snakemake made of ``--config``, with the words that it leaves as text read as YAML where no text may stand.

    >>> schema = {"properties": {"network": {"type": "boolean"}, "rates": {"items": {"type": "integer"}}, "title": {}}}
    >>> read_words({"network": "false", "rates": ["90", "10"], "title": "false"}, schema)
    {'network': False, 'rates': [90, 10], 'title': 'false'}
    """
    if isinstance(value, dict):
        return {key: read_words(one, schema.get("properties", {}).get(key, {})) for key, one in value.items()}
    if isinstance(value, list):
        return [read_words(one, schema.get("items", {})) for one in value]
    types = schema.get("type", "string")
    if isinstance(value, str) and ("string" not in types or (value == "null" and "null" in types)):
        with suppress(InputError):
            return parse_yaml(value, "the command line")
    return value


def _complete(value: Any, schema: dict[str, Any]) -> Any:
    """A copy of the value in which every missing key with a default has it, at every depth."""
    if isinstance(value, dict):
        known = schema.get("properties", {})
        missing = {key: one["default"] for key, one in known.items() if "default" in one and key not in value}
        return {key: _complete(one, known.get(key, {})) for key, one in {**value, **missing}.items()}
    if isinstance(value, list):
        return [_complete(one, schema.get("items", {})) for one in value]
    return copy.deepcopy(value)


# A whole number written as 10.0 would pass JSON Schema, but not range().
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)

_FORMATS = jsonschema.FormatChecker(formats=())


@_FORMATS.checks("name")
def _is_name(value: Any) -> bool:
    return not isinstance(value, str) or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value) is not None


@_FORMATS.checks("measure", raises=ParameterError)
def _is_measure(value: Any) -> bool:
    if isinstance(value, str):
        parse_measure(value)
    return True


def _explain(error: jsonschema.ValidationError) -> Iterable[tuple[Sequence[str | int], str]]:
    """For each mistake in what one rule of the schema refuses: where it is, and the sentence."""
    keys = list(error.absolute_path)
    where = _spell(keys)
    schema = error.schema
    if error.validator == "additionalProperties":
        known = schema.get("properties", {})
        inside = f" in {where}" if keys else ""
        for key in error.instance:
            if key not in known:
                yield [*keys, key], f"unknown key {str(key)!r}{inside}{did_you_mean(str(key), known)}"
    elif error.validator == "required":
        for key in error.validator_value:
            if key not in error.instance:
                meaning = schema.get("properties", {}).get(key, {}).get("description")
                yield keys, f"{_spell([*keys, key])} is missing" + (f" ({meaning})" if meaning else "")
    elif error.validator == "uniqueItems":
        twice = next(one for number, one in enumerate(error.instance) if one in error.instance[:number])
        yield keys, f"{where} has {_show(twice)} twice"
    elif isinstance(error.cause, WalkevalError):
        yield keys, f"{where} is {_show(error.instance)}: {error.cause}"
    else:
        yield keys, f"{where or 'the configuration'} is {_show(error.instance)}; it must be {_allowed(schema)}"


_TYPES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "a mapping of keys to values",
}


def _allowed(schema: dict[str, Any]) -> str:
    """What a value may be, in words."""
    if "enum" in schema:
        *most, last = map(_show, schema["enum"])
        return f"{', '.join(most)} or {last}" if most else last
    if schema.get("format") == "name":
        return "a name of letters, digits, '.', '_' and '-'"
    types = schema.get("type", [])
    words = []
    for one in [types] if isinstance(types, str) else types:
        word = _TYPES[one]
        if one in ("integer", "number"):
            if "minimum" in schema and "maximum" in schema:
                word += f" from {schema['minimum']} to {schema['maximum']}"
            elif "minimum" in schema:
                word += f" of at least {schema['minimum']}"
            elif "maximum" in schema:
                word += f" of at most {schema['maximum']}"
        if one == "string" and schema.get("minLength"):
            word += " that is not empty"
        if one == "array" and schema.get("minItems"):
            word += f" of at least {schema['minItems']}"
        words.append(word)
    return " or ".join(words)


def _show(value: Any) -> str:
    """A value as it would be written in YAML, shortened if it is long."""
    return str(value).lower() if isinstance(value, bool) else "null" if value is None else reprlib.repr(value)


def _spell(keys: Sequence[str | int]) -> str:
    """The way to a value: ``pool_rates[2]``, ``source.mirror``."""
    text = "".join(f"[{key + 1}]" if isinstance(key, int) else f".{key}" for key in keys)
    return text.removeprefix(".")


def _compose(path: str | Path) -> yaml.Node | None:
    """The YAML of a file with its lines, or None if there is no such file."""
    try:
        return yaml.compose(read_text(path), Loader=yaml.SafeLoader)
    except (InputError, yaml.YAMLError):
        return None


def _line(node: yaml.Node | None, keys: Sequence[str | int], configuration: Any) -> int | None:
    """The line of a value in its file; None if it is not there, as when it came from the command line."""
    if node is None or not keys:
        return None
    line = None
    for key in keys:
        if isinstance(node, yaml.MappingNode) and isinstance(configuration, dict):
            found = [(name, value) for name, value in node.value if name.value == str(key)]
            if not found:
                return None
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
        else:
            return None
        configuration = configuration[key]
    return line if yaml.SafeLoader("").construct_document(node) == configuration else None


def main(arguments: Sequence[str]) -> int:
    """Check an edition, and write the folders of its results and of its data: ``SCHEMA EDITION.yaml [KEY=VALUE ...]``."""
    schema_path, path, *settings = arguments
    try:
        configuration = read_yaml(path)
        for setting in settings:
            key, _, value = setting.partition("=")
            configuration[key] = parse_yaml(value, f"{key} on the command line")
        checked = check(configuration, json.loads(read_text(schema_path)), path)
    except WalkevalError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("".join(f"{checked[folder]}/{checked['edition']}\n" for folder in ("results", "data")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
