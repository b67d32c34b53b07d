"""What a measure is, and the registry that turns a name such as ``RBP(p=0.8)`` into one.

A measure is a frozen dataclass: its fields are its parameters, its docstring says what it is, and
``score`` turns ranked lists into one number each. Writing the class and decorating it with
`register` is all that a new measure takes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import ParameterError, UnknownNameError, did_you_mean
from walkeval.ranked import RankedLists

UNDEFINED = (
    "A list that retrieves nothing, or a topic without a relevant document in the pool, scores 0: there is "
    "nothing that a user could have gained."
)


def parameter(
    default: Any,
    meaning: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: Sequence[Any] | None = None,
    named: bool = False,
) -> Any:
    """Declare a measure's parameter: default, meaning and what values it may take.

    ``low`` and ``high`` are allowed themselves, ``above`` and ``below`` are not. A default of None means
    that the parameter may be left out. Whole-number parameters are those annotated ``int``. A ``named`` parameter is
    part of the measure's name even at its default.
    """
    limits = {"low": low, "high": high, "above": above, "below": below, "choices": choices, "named": named}
    return field(default=default, metadata={"meaning": meaning, **limits})


@dataclass(frozen=True)
class Measure:
    """Base of all measures."""

    label: ClassVar[str]
    """The family's name in the registry; the class's name unless `register` is told another."""
    user_model: ClassVar[str]
    """The user in one sentence."""
    citation: ClassVar[str]
    """Key of the paper that defines it, in `walkeval.citations`."""
    at: ClassVar[str | None] = None
    """Which parameter the ``@`` of a name fills: ``P@10``."""
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = UNDEFINED
    """What value it takes where it is not defined, and why."""
    monotone: ClassVar[str | None] = None
    """What makes its bounds over unjudged documents exact (`walkeval.bounds`): ``"gain"`` if raising a gain never
    makes the score worse; ``"swap"`` if, for binary judgements and a fixed number of relevant documents, moving one of
    them up never does; ``"layers"`` if for graded gains it is a sum over grades to whose terms "swap" applies, or
    the ratio of two such sums that the method ``parts`` gives for binary lists; None if none of these holds."""
    binary: ClassVar[bool] = False
    """Whether only it matters which documents are relevant, and not how much."""
    needs_ties: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for one in fields(self):
            _check_parameter(self, one)

    @property
    def name(self) -> str:
        """The name that the registry would turn into this measure again; most defaults are left out."""
        words, suffix = [], ""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == self.at:
                suffix = "" if value is None else f"@{value}"
            elif value != one.default or one.metadata.get("named"):
                shown = f'"{value}"' if isinstance(value, str) else str(value)
                words.append(f"{one.name}={shown}")
        return self.label + (f"({','.join(words)})" if words else "") + suffix

    def __str__(self) -> str:
        return self.name

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        """One score for each list."""
        raise ParameterError(f"{self.name} has no score for ranked lists")


def _check_parameter(measure: Measure, one: Any) -> None:
    value = getattr(measure, one.name)
    label = f"{measure.label}: {one.name}"
    rule = one.metadata
    if value is None and one.default is None:
        return
    if rule.get("choices") is not None:
        if value not in rule["choices"]:
            known = [str(choice) for choice in rule["choices"]]
            raise ParameterError(f"{label}={value!r} is not one of its values{did_you_mean(str(value), known)}")
        return
    kind = str(one.type).split("|")[0].strip()
    if kind == "str" and not isinstance(value, str):
        raise ParameterError(f"{label} must be text; got {value!r}")
    if kind == "bool" and not isinstance(value, bool):
        raise ParameterError(f"{label} must be True or False; got {value!r}")
    if kind not in ("int", "float"):
        return
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ParameterError(f"{label} must be a number; got {value!r}")
    if not _is_finite(value):
        raise ParameterError(f"{label} must be finite; got {value!r}")
    if kind == "int" and value != int(value):
        raise ParameterError(f"{label} must be a whole number; got {value!r}")
    object.__setattr__(measure, one.name, int(value) if kind == "int" else float(value))
    for word, broken in (
        ("low", lambda limit: value < limit),
        ("high", lambda limit: value > limit),
        ("above", lambda limit: value <= limit),
        ("below", lambda limit: value >= limit),
    ):
        if rule.get(word) is not None and broken(rule[word]):
            words = {"low": "at least", "high": "at most", "above": "above", "below": "below"}[word]
            raise ParameterError(f"{label} must be {words} {rule[word]:g}; got {value!r}")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


_REGISTRY: dict[str, type[Measure]] = {}
OTHER_NAMES = {
    "map": "AP", "mrr": "RR", "mean_average_precision": "AP", "average_precision": "AP", "precision": "P", "recall": "R",
    "r-precision": "Rprec", "rprecision": "Rprec", "reciprocal_rank": "RR", "markov_precision": "MP",
}  # fmt: skip
"""What others call our measures, without regard to case: for hints, since the nearest spelling may be another measure."""
_MEASURE = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\((.*)\))?\s*(?:@\s*([^\s@()]+))?\s*", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*([A-Za-z_]\w*)\s*=\s*("[^"]*"|'[^']*'|[^,"'\s]+)\s*(?:,|$)""")


def register(measure: type[Measure]) -> type[Measure]:
    """Make a measure known under its label, which is its class's name unless the class says otherwise."""
    if "label" not in vars(measure):
        measure.label = measure.__name__
    _REGISTRY[measure.label] = measure
    return measure


def known_measures() -> dict[str, type[Measure]]:
    """All registered measures by name, in order of registration."""
    return dict(_REGISTRY)


def parse_measure(name: str, **parameters: Any) -> Measure:
    """The measure of this name, in the grammar of ir_measures; keyword parameters are added to it.

    >>> parse_measure("RBP(p=0.5)").p
    0.5
    >>> parse_measure("P@10").name
    'P@10'
    """
    match = _MEASURE.fullmatch(name)
    if not match:
        raise ParameterError(f"cannot read the measure name {name!r}; write it like AP, P@10 or RBP(p=0.8)")
    family, inside, suffix = match.groups()
    if family not in _REGISTRY:
        ours = next((one for one in _REGISTRY if one.casefold() == family.casefold()), OTHER_NAMES.get(family.casefold()))
        if ours is not None:
            raise ParameterError(f"unknown measure {family!r}; did you mean {ours!r}?")
        raise UnknownNameError("measure", family, _REGISTRY)
    measure = _REGISTRY[family]
    values = _arguments(name, inside or "")
    if suffix is not None:
        if measure.at is None:
            raise ParameterError(f"{family} takes no cut-off: leave out '@{suffix}' in {name!r}")
        if measure.at in values:
            raise ParameterError(f"{family}: {measure.at} is given twice in {name!r}")
        values[measure.at] = _value(suffix)
    for key in parameters:
        if key in values:
            raise ParameterError(f"{family}: {key} is given twice, in the name {name!r} and as an argument")
    values.update(parameters)
    known = [one.name for one in fields(measure)]
    for key in values:
        if key not in known:
            if not known:
                raise ParameterError(f"{family} takes no parameters; got {key!r}")
            raise UnknownNameError(f"parameter of {family}", key, known)
    for one in fields(measure):
        if one.default is MISSING and one.name not in values:
            example = f"{family}@10" if one.name == measure.at else f"{family}({one.name}=...)"
            raise ParameterError(f"{family} needs its parameter {one.name}: write {example}")
    return measure(**values)


def _arguments(name: str, inside: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    position = 0
    while inside[position:].strip():
        match = _ARGUMENT.match(inside, position)
        if not match:
            raise ParameterError(f"cannot read {inside[position:].strip()!r} in {name!r}; write parameter=value")
        key, value = match.groups()
        if key in values:
            raise ParameterError(f"{key} is given twice in {name!r}")
        values[key] = _value(value)
        position = match.end()
    return values


def _value(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    if text in ("True", "False"):
        return text == "True"
    if text == "None":
        return None
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
