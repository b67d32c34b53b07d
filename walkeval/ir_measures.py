"""The measures of walkeval inside ir_measures, through its Python interface and its command line.

ir_measures looks for no plug-ins, so importing this module registers everything::

    import ir_measures
    import walkeval.ir_measures

    model = ir_measures.parse_measure('MP(model="GL_AD_ID")')
    ir_measures.calc_aggregate([model, ir_measures.AP], qrels, run)

The same on the command line: ``walkeval-ir-measures QRELS RUN 'MP(model="GL_AD_ID")' AP`` is the program of ir_measures
with these measures in it.

*What is registered.* Every measure of walkeval under its own name, with its own parameters and ``@`` (``PH(p=0.8)@10``
is the depth, ``EPRUM@0.5`` the level), unless ir_measures has one of that name: AP, P, R, RR, Rprec, RBP, nDCG and ERR
stay those of ir_measures. Its own AP, P, R, RR, Rprec, Bpref and nDCG can be computed here too, with the same
results: ``--provider walkeval``. One parameter is added to all: ``rel``, the lowest grade that counts as relevant.
Gains are grades.

*What its grammar cannot express.* There are no negative numbers and no lists in names of measures, and its command line
cuts words at spaces. A number may be given as text instead, ``MP(model="GL_AD_LID",offset="-0.5",outside=1)``; a list
is text with commas, ``MP(model="GL_AD_ID",holding="0.5,0.25,0.125")``; a matrix has semicolons between its rows,
``MPChain(matrix="0.5,0.5;1,0")``. From Python lists and matrices can be given as they are.

*Ties* are broken as trec_eval does (score in 32 bits, then document number, both descending), whatever the order of the
run; ESL and ESLRF take them as ties.

*Topics that a run lacks* count as lists that retrieve nothing, as everywhere in ir_measures. For most measures this is
0, the worst. ESL is a cost: lower is better, and such a list costs 0 unless ``collection_size`` is given, so means of
ESL over runs that lack topics say little.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import ir_measures
import numpy as np
from ir_measures import measures as their_measures
from ir_measures import providers
from ir_measures.providers.base import NOT_PROVIDED
from ir_measures.providers.base import Any as AnyValue
from ir_measures.providers.base import Choices

from walkeval.errors import ParameterError, WalkevalError
from walkeval.judging import judge
from walkeval.measures import Measure, known_measures, parse_measure
from walkeval.trec import Qrels, Run

_REL = "rel"


class WalkevalMeasure(their_measures.Measure):
    """A measure of walkeval as ir_measures has them; there is a subclass for each."""

    family: type[Measure]

    def walkeval(self) -> Measure:
        """The measure that does the work; a wrong parameter is told in one sentence."""
        values = {key: self._read(key, value) for key, value in self.params.items() if key != _REL}
        if self.AT_PARAM == "cutoff" and "cutoff" in values:
            raise ParameterError(f"{self.NAME} takes no cut-off: leave out '@{values['cutoff']}'")
        return parse_measure(self.family.label, **values)

    def validate_params(self) -> None:
        rel = self[_REL]
        if isinstance(rel, bool) or not isinstance(rel, int) or rel < 1:
            raise ParameterError(f"{self.NAME}: rel must be a whole number of at least 1; got {rel!r}")
        self.walkeval()
        self.validated = True

    def __repr__(self) -> str:
        # That of ir_measures fails for a parameter that does not exist, before anybody can say so.
        known = {
            key: value for key, value in self.params.items() if key in self.SUPPORTED_PARAMS or key == self.AT_PARAM
        }
        words = sorted(f"{key}={value!r}" for key, value in self.params.items() if key not in known)
        return super(WalkevalMeasure, type(self)(**known)).__repr__() + "".join(f"({word})" for word in words)

    def _read(self, key: str, value: Any) -> Any:
        """A value, which may be text where the grammar of ir_measures has no other way."""
        kind = next((str(one.type) for one in fields(self.family) if one.name == key), "str")
        if not isinstance(value, str) or kind.startswith("str"):
            return value
        try:
            if kind.startswith("Sequence[Sequence"):
                return [[float(one) for one in row.split(",")] for row in value.split(";")]
            if kind.startswith("Sequence"):
                return [float(one) for one in value.split(",")]
            return float(value) if kind.startswith(("int", "float")) else value
        except ValueError:
            raise ParameterError(f"{self.NAME}: {key}={value!r} is not made of numbers") from None


def _wrapped(family: type[Measure]) -> WalkevalMeasure:
    """The measure of ir_measures that stands for one of ours, with all parameters at their defaults."""
    supported = {
        one.name: their_measures.ParamInfo(
            default=NOT_PROVIDED if one.default is None else one.default, desc=one.metadata.get("meaning")
        )
        for one in fields(family)
    }
    supported[_REL] = their_measures.ParamInfo(dtype=int, default=1, desc="lowest grade that counts as relevant")
    content = {
        "__name__": family.label,
        "__doc__": f"{family.user_model}\n\nFrom walkeval: {family.__doc__}",
        "NAME": family.label,
        "SHORT_DESC": family.user_model,
        "AT_PARAM": family.at or "cutoff",
        "SUPPORTED_PARAMS": supported,
        "family": family,
    }
    return type(f"_{family.label}", (WalkevalMeasure,), content)()


MEASURES: dict[str, WalkevalMeasure] = {
    label: _wrapped(family) for label, family in known_measures().items() if label not in their_measures.registry
}
"""The measures that this module adds, by name."""


def _classical(measure: their_measures.Measure) -> Measure:
    """Our measure for one of their own."""
    name = {"Bpref": "bpref"}.get(measure.NAME, measure.NAME)
    cutoff = measure.params.get("cutoff")
    return parse_measure(name if cutoff is None else f"{name}@{cutoff}")


class WalkevalProvider(providers.Provider):
    """Computes the measures of walkeval, and the classical ones that mean the same in both."""

    NAME = "walkeval"
    SUPPORTED_MEASURES = [
        their_measures._AP(cutoff=Choices(NOT_PROVIDED), rel=AnyValue(), judged_only=Choices(False)),
        their_measures._P(cutoff=AnyValue(required=True), rel=AnyValue(), judged_only=Choices(False)),
        their_measures._R(cutoff=AnyValue(), rel=AnyValue(), judged_only=Choices(False)),
        their_measures._RR(cutoff=Choices(NOT_PROVIDED), rel=AnyValue(), judged_only=Choices(False)),
        their_measures._Rprec(rel=AnyValue(), judged_only=Choices(False)),
        their_measures._Bpref(rel=AnyValue()),
        their_measures._nDCG(
            cutoff=AnyValue(), dcg=Choices("log2"), gains=Choices(NOT_PROVIDED), judged_only=Choices(False)
        ),
    ]

    def supports(self, measure: their_measures.Measure) -> bool:
        if isinstance(measure, WalkevalMeasure):
            measure.validate_params()
            return True
        return super().supports(measure)

    def _evaluator(self, measures: Iterable[their_measures.Measure], qrels: Any) -> _Evaluator:
        table = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
        return _Evaluator(list(measures), table)


class _Evaluator(providers.Evaluator):
    def __init__(self, measures: list[their_measures.Measure], qrels: dict[str, dict[str, int]]):
        super().__init__(measures, set(qrels))
        self.qrels = qrels
        self.work = []
        for one in measures:
            ours = one.walkeval() if isinstance(one, WalkevalMeasure) else _classical(one)
            # nDCG takes grades as they are, whatever counts as relevant; theirs has no such parameter.
            self.work.append((one, ours, one[_REL] if _REL in one.SUPPORTED_PARAMS else 1))

    def _iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        table = ir_measures.util.RunConverter(run).as_dict_of_dict()
        # Only what ir_measures itself would match: here names of topics are compared as they are.
        records = [
            (topic, document, score)
            for topic, documents in table.items()
            if topic in self.qrels
            for document, score in documents.items()
        ]
        if not records or not any(self.qrels.values()):
            return
        judgements = Qrels.from_records(
            (topic, document, grade) for topic, documents in self.qrels.items() for document, grade in documents.items()
        )
        collection = judge(judgements, {"run": Run.from_records(records)})
        lists = {level: collection.lists(min_grade=level) for level in {level for _, _, level in self.work}}
        for theirs, ours, level in self.work:
            for topic, value in zip(collection.topics, ours.score(lists[level]), strict=True):
                yield ir_measures.Metric(query_id=topic, measure=theirs, value=float(np.float64(value)))


def _register() -> WalkevalProvider:
    """Make measures and provider known to ir_measures, once."""
    known = providers.registry.get(WalkevalProvider.NAME)
    if known is not None:
        return known
    for label, measure in MEASURES.items():
        their_measures.register(measure, name=label)
    provider = WalkevalProvider()
    providers.register(provider)
    # After all others, so that what ir_measures can compute itself stays as it is.
    ir_measures.DefaultPipeline.providers.append(provider)
    return provider


provider = _register()


def __getattr__(name: str) -> WalkevalMeasure:
    """``walkeval.ir_measures.MP`` and so on, to be called with parameters."""
    if name in MEASURES:
        return MEASURES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> int:
    """The command line of ir_measures; mistakes of the user are one sentence."""
    from ir_measures.__main__ import main_cli

    try:
        main_cli()
        sys.stdout.flush()
    except BrokenPipeError:
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    except WalkevalError as error:
        sys.stderr.write(f"walkeval-ir-measures: {error}\n")
        return 2 if isinstance(error, ParameterError) else 1
    except (OSError, ValueError) as error:
        sys.stderr.write(f"walkeval-ir-measures: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
