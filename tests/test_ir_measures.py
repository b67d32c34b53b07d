"""The measures of walkeval inside ir_measures: its Python interface and its command line."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytest

import walkeval.ir_measures as ours
from walkeval.errors import ParameterError
from walkeval.judging import judge
from walkeval.measures import known_measures, parse_measure
from walkeval.scoring import score_collection

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 0, "d": 1}, "3": {"e": 1}}
RUN = {"1": {"b": 3.0, "a": 2.0, "c": 1.0, "x": 1.0}, "2": {"d": 1.0, "a": 1.0}}
"""Without topic 3, and with ties."""

NAMES = [
    'MP(model="GL_AD_ID")',
    'MP(model="LO_OR_LID",rescale="recall")',
    'PH(browsing="SFBM",p=0.8)',
    "PH(p=0.5,q=0.25,loss=0.25)@2",
    "ESL(wanted=1)",
    "ESLRF(wanted=1)",
    "MsM",
    "sDCG(b=3.0)",
    "EPRUM@0.5",
    "EPGR",
    "DCG@2",
    'bpref(variant="before_2006")',
]


def by_topic(metrics) -> dict[tuple[str, str], float]:
    return {(str(one.measure), one.query_id): one.value for one in metrics}


def files_of(folder: Path) -> tuple[Path, Path]:
    """The same judgements and run as files."""
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    qrels.write_text(
        "".join(f"{topic} 0 {one} {grade}\n" for topic, table in QRELS.items() for one, grade in table.items())
    )
    run.write_text(
        "".join(f"{topic} Q0 {one} 1 {score} tag\n" for topic, table in RUN.items() for one, score in table.items())
    )
    return qrels, run


def test_everything_is_registered_beside_what_is_there():
    assert {"MP", "PH", "ESL", "ESLRF", "MsM", "sDCG", "EPRUM", "EPGR", "MPChain", "DCG", "bpref"} == set(ours.MEASURES)
    assert set(known_measures()) <= set(ir_measures.measures.registry)
    assert type(ir_measures.parse_measure("AP")) is type(ir_measures.AP)
    assert ours.provider in ir_measures.DefaultPipeline.providers
    assert ours.MP(model="LO_AD_ID") == ir_measures.parse_measure('MP(model="LO_AD_ID")')


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_those_of_the_array_path(tmp_path, name):
    measure = ir_measures.parse_measure(name)
    found = by_topic(ir_measures.iter_calc([measure], QRELS, RUN))
    qrels, run = files_of(tmp_path)
    expected = score_collection(judge(qrels, {"run": run}), [name], graded=True)
    assert [found[str(measure), topic] for topic in expected.topics] == expected.values[0, 0].tolist()
    mean = ir_measures.calc_aggregate([measure], QRELS, RUN)[measure]
    assert mean == pytest.approx(expected.values.mean())


def test_the_least_relevant_grade_is_a_parameter(tmp_path):
    qrels, run = files_of(tmp_path)
    strict = ir_measures.parse_measure("MsM(rel=2)")
    expected = score_collection(judge(qrels, {"run": run}), ["MsM"], min_grade=2, graded=True)
    found = by_topic(ir_measures.iter_calc([strict], QRELS, RUN))
    assert [found["MsM(rel=2)", topic] for topic in expected.topics] == expected.values[0, 0].tolist()
    assert found["MsM(rel=2)", "2"] == 0


def test_their_measures_and_ours_in_one_call():
    measures = [ir_measures.AP, ir_measures.parse_measure('MP(model="GL_AD_constant",rescale="recall")')]
    found = ir_measures.calc_aggregate(measures, QRELS, RUN)
    assert found[measures[1]] == pytest.approx(found[measures[0]]), "constant kernel times recall is AP"


def test_ties_are_broken_as_in_trec_eval_whatever_the_order_of_the_run():
    qrels = [ir_measures.Qrel("1", document, grade) for document, grade in (("d1", 1), ("d2", 0), ("d3", 1), ("d4", 0))]
    documents = [ir_measures.ScoredDoc("1", f"d{number}", 1.0) for number in range(1, 5)]
    measures = [ir_measures.parse_measure(name) for name in ('MP(model="GL_AD_ID")', "PH", "ESL")]
    seen = set()
    for seed in range(6):
        random.Random(seed).shuffle(documents)
        found = ours.provider.calc_aggregate([*measures, ir_measures.RR], qrels, iter(documents))
        seen.add(tuple(found[one] for one in (*measures, ir_measures.RR)))
    ((*_, length, reciprocal),) = seen
    assert reciprocal == 0.5, "d4, d3, d2, d1"
    assert length == pytest.approx(2 / 3), "a tie is a tie for the expected search length"


def test_frames_and_iterators():
    import pandas as pd

    measure = ir_measures.parse_measure('MP(model="GL_OR_ID")')
    expected = by_topic(ir_measures.iter_calc([measure], QRELS, RUN))
    qrels = pd.DataFrame([(topic, one, grade) for topic, table in QRELS.items() for one, grade in table.items()])
    qrels.columns = ["query_id", "doc_id", "relevance"]
    run = (ir_measures.ScoredDoc(topic, one, score) for topic, table in RUN.items() for one, score in table.items())
    assert by_topic(ir_measures.iter_calc([measure], qrels, run)) == expected
    evaluator = ir_measures.evaluator([measure], QRELS)
    assert by_topic(evaluator.iter_calc(RUN)) == by_topic(evaluator.iter_calc(RUN)) == expected


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ('MP(model="GL_AD_LID",offset="-0.25",outside=1)', {"model": "GL_AD_LID", "offset": -0.25, "outside": 1.0}),
        ('MP(model="GL_AD_ID",holding="0.5,0.25,1,1")', {"model": "GL_AD_ID", "holding": [0.5, 0.25, 1, 1]}),
        ('MPChain(matrix="0.5,0.5;1,0")', {"matrix": [[0.5, 0.5], [1, 0]]}),
        ("PH(p=1,q=0,loss=0)", {"p": 1.0, "q": 0.0, "loss": 0.0}),
    ],
)
def test_what_the_grammar_lacks_can_be_written_as_text(name, parameters):
    measure = ir_measures.parse_measure(name)
    assert measure.walkeval() == parse_measure(measure.NAME, **parameters)
    assert ir_measures.parse_measure(str(measure)) == measure
    assert len(list(measure.iter_calc(QRELS, RUN))) == 3


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ('MP(model="GL_AD")', "unknown model of MP"),
        ('MP(modle="GL_AD_ID")', "did you mean 'model'?"),
        ("MP@10", "MP takes no cut-off: leave out '@10'"),
        ("PH(p=2)", "PH: p must be at most 1; got 2"),
        ("MsM(rel=0)", "rel must be a whole number of at least 1; got 0"),
        ('MP(holding="1,two")', "holding='1,two' is not made of numbers"),
        ("MPChain", "MPChain needs its parameter matrix"),
    ],
)
def test_a_wrong_parameter_is_one_sentence(name, sentence):
    with pytest.raises(ParameterError) as caught:
        ir_measures.calc_aggregate([ir_measures.parse_measure(name)], QRELS, RUN)
    assert sentence in str(caught.value)


def test_a_run_without_any_topic_of_the_judgements_counts_as_nothing():
    assert ir_measures.parse_measure("MsM").calc_aggregate(QRELS, {"9": {"a": 1.0}}) == 0
    # Names of topics are compared as they are, as by all other measures of ir_measures.
    assert ir_measures.parse_measure("MsM").calc_aggregate(QRELS, {"01": {"a": 1.0}}) == 0


@pytest.mark.parametrize("name", ["INQ604", "READWARE2"])
def test_classical_measures_equal_their_own_on_real_runs(trec8_qrels, trec8_runs, name):
    with gzip.open(trec8_qrels, "rt") as file:
        qrels = list(ir_measures.read_trec_qrels(file))
    with gzip.open(trec8_runs[name], "rt") as file:
        run = [one for one in ir_measures.read_trec_run(file) if one.query_id != "410"]
    random.Random(1).shuffle(run)
    names = ["AP", "P@10", "R@100", "RR", "Rprec", "Bpref", "nDCG", "nDCG@10", "AP(rel=2)"]
    measures = [ir_measures.parse_measure(one) for one in names]
    theirs = by_topic(ir_measures.pytrec_eval.iter_calc(measures, qrels, run))
    found = by_topic(ours.provider.iter_calc(measures, qrels, run))
    assert found.keys() == theirs.keys()
    assert len(found) == len(names) * 50
    for key, value in theirs.items():
        assert found[key] == pytest.approx(value, abs=1e-12), key


# --- the command line ---


def program(*words: str | Path, module: str = "walkeval.ir_measures") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_the_program_is_that_of_ir_measures_with_our_measures_in_it(tmp_path):
    qrels, run = files_of(tmp_path)
    result = program(qrels, run, 'AP MP(model="GL_AD_ID")', "PH@2")
    assert result.returncode == 0, result.stderr
    lines = dict(line.split("\t") for line in result.stdout.splitlines())
    measure = ir_measures.parse_measure('MP(model="GL_AD_ID")')
    assert lines["MP"] == f"{measure.calc_aggregate(QRELS, RUN):.4f}", "defaults are left out, as ir_measures does"
    assert lines["AP"] == program(qrels, run, "AP", module="ir_measures").stdout.split()[1]
    result = program("-q", "-p", "-1", qrels, run, "ESL")
    found = [line.split("\t") for line in result.stdout.splitlines()]
    assert [line[0] for line in found] == ["1", "2", "3", "all"]
    assert float(found[0][2]) == 1


def test_a_mistake_on_the_command_line_is_one_sentence(tmp_path):
    qrels, run = files_of(tmp_path)
    result = program(qrels, run, 'MP(model="GL_AD")')
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("walkeval-ir-measures: unknown model of MP 'GL_AD'")
    assert len(result.stderr.splitlines()) == 1
    result = program(qrels, tmp_path / "none.txt", "MsM")
    assert result.returncode == 1
    assert "No such file or directory" in result.stderr and len(result.stderr.splitlines()) == 1
