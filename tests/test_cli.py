"""The command line: what it writes, its exit codes, and one sentence for every wrong use."""

from __future__ import annotations

import fcntl
import gzip
import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
import pytrec_eval
from matplotlib.backends.backend_agg import FigureCanvasAgg

from walkeval import __version__, cli, evaluate
from walkeval.click_logs import FORMATS
from walkeval.clicks import write_synthetic_log
from walkeval.display import Distribution, chain, distribution, rank_weights, scores
from walkeval.figures import fit, style
from walkeval.judging import ORDERS
from walkeval.measures import known_measures

QRELS = """\
1 0 a 1
1 0 b 0
1 0 c 1
2 0 a 2
2 0 d 1
2 0 e 0
3 0 a 1
"""
RUN = """\
1 Q0 a 1 3.0 first
1 Q0 b 2 2.0 first
1 Q0 c 3 1.0 first
2 Q0 e 1 3.0 first
2 Q0 x 2 2.0 first
2 Q0 d 3 1.0 first
3 Q0 a 1 3.0 first
"""
OTHER = """\
1 Q0 b 1 3.0 second
1 Q0 c 2 2.0 second
2 Q0 a 1 3.0 second
2 Q0 d 2 2.0 second
3 Q0 x 1 3.0 second
3 Q0 a 2 2.0 second
"""


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """A folder with judgements and two runs, in which the command is called."""
    for name, text in (("qrels.txt", QRELS), ("first.txt", RUN), ("second.txt", OTHER)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "ir_datasets"))
    return tmp_path


@pytest.fixture
def call(files, capsys):
    """Call the command line; gives exit code, standard output and standard error."""

    def run(*words: str | Path) -> tuple[int, str, str]:
        code = cli.main([str(one) for one in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def process(*words: str | Path, cwd: Path, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "walkeval", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, timeout=60, **options)


def values(output: str) -> dict[tuple[str, str], str]:
    """(measure, topic) to value as printed."""
    return {
        (name.strip(), topic): value for name, topic, value in (line.split("\t")[:3] for line in output.splitlines())
    }


# --- the command itself ---


def test_version_and_help(call):
    assert call("--version")[:2] == (0, f"walkeval {__version__}\n")
    code, output, error = call("--help")
    assert (code, error) == (0, "")
    for word in (
        "score",
        "compare",
        "explain",
        "measures",
        "audit",
        "clicks",
        "pool",
        "init",
        "completion",
        "exit codes",
    ):
        assert word in output


def test_help_imports_nothing_heavy(files):
    program = (
        "import sys; from walkeval import cli; cli.main(['score', '--help']); "
        "print(sorted({'numpy', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert result.stdout.splitlines()[-1] == "[]"


def test_scoring_imports_neither_pandas_nor_matplotlib(files):
    program = (
        "import sys; from walkeval import cli; cli.main(['score', 'qrels.txt', 'first.txt']); "
        "print(sorted({'pandas', 'matplotlib', 'ir_datasets'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=files, capture_output=True, text=True, timeout=60)
    assert result.stdout.splitlines()[-1] == "[]", result.stderr


def test_the_words_that_the_parser_knows_are_those_of_the_library():
    assert cli.ORDERS == ORDERS
    assert cli.CLICK_FORMATS == tuple(FORMATS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["scor"], "unknown command 'scor'; did you mean 'score'?"),
        ([], "the following arguments are required: COMMAND"),
        (["score"], "the following arguments are required: QRELS, RUN"),
        (["score", "qrels.txt"], "the following arguments are required: RUN"),
        (["score", "qrels.txt", "first.txt", "--depth", "0"], "it must be at least 1; got 0"),
        (["score", "qrels.txt", "first.txt", "--depth", "ten"], "invalid whole number value: 'ten'"),
        (["score", "qrels.txt", "first.txt", "--format", "xml"], "invalid choice: 'xml'"),
        (["score", "qrels.txt", "first.txt", "--per-topics"], "unrecognized arguments: --per-topics"),
        (
            ["score", "first.txt", "qrels.txt"],
            "first.txt looks like a run (it has 6 columns): the judgements come first",
        ),
        (["score", "qrels.txt", "qrels.txt"], "qrels.txt looks like judgements (it has 4 columns), not like a run"),
        (["score", "qrels.txt", "first.txt", "first.txt"], "the run first.txt is given twice"),
        (["score", "-", "-"], "standard input can be given only once"),
        (["score", "qrels.txt", "first.txt", "-m", "APP"], "unknown measure 'APP'; did you mean 'AP'?"),
        (["score", "qrels.txt", "first.txt", "-m", 'MP(modle="GL_AD_ID")'], "did you mean 'model'?"),
        (["score", "qrels.txt", "first.txt", "-m", 'MP(model="GL_AD")'], "unknown model of MP 'GL_AD'"),
        (["score", "qrels.txt", "first.txt", "-m", "RBP(p=2)"], "RBP: p must be below 1; got 2"),
        (["compare", "qrels.txt", "first.txt"], "compare needs at least two runs"),
        (["compare", "qrels.txt", "first.txt", "second.txt", "--plot", "x.gif"], "must end in .svg, .pdf or .png"),
        (["compare", "qrels.txt", "first.txt", "second.txt", "--dominance", "AP"], "give a PH measure, not AP"),
        (["explain", "AP", "--gains", "1,x"], "'x' at rank 2 is not a number"),
        (["explain", "AP", "--gains", "1,1", "--recall-base", "1"], "recall_base must be at least the 2 in the list"),
        (["explain", "nothing"], "unknown measure 'nothing'"),
        (["measures", "APP"], "unknown measure 'APP'"),
        (["audit", "qrels.txt", "--ties", "2"], "ties must be a share of pairs"),
        (["pool", "qrels.txt", "--rate", "200", "--seed", "a"], "from 1 to 100; got 200"),
        (["clicks", "qrels.txt"], "the following arguments are required: --format"),
        (["init", ".", "--name", "a/b"], "a name consists of letters, digits, _ and -"),
        (["completion", "csh"], "invalid choice: 'csh'"),
    ],
)
def test_wrong_use_is_one_sentence(call, files, words, sentence):
    if "audit" in words:
        (files / "qrels.txt").write_text("\ta\tb\na\t1\t0.5\nb\t0.5\t1\n")
    code, output, error = call(*words)
    assert code == 2, error
    assert sentence in error
    assert len(error.splitlines()) == 1
    assert output == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["score", "none.txt", "first.txt"], "none.txt: cannot be read: No such file or directory"),
        (["score", "qrels.txt", "none.txt"], "none.txt: cannot be read: No such file or directory"),
        (["score", ".", "first.txt"], ".: cannot be read: Is a directory"),
        (["score", "qrels.txt", "empty.txt"], "empty.txt: is empty: a run has at least one line"),
        (["score", "empty.txt", "first.txt"], "empty.txt: is empty: qrels has at least one line"),
        (
            ["score", "qrels.txt", "alien.txt"],
            "alien.txt: is a run for another topic set: it has '901', the judgements have '1'",
        ),
        (["score", "qrels.txt", "bad.txt"], "bad.txt:2: score 'high' is not a number"),
        (
            ["score", "qrels.txt", "short.txt", "--missing", "error"],
            "short: the run has nothing for topic 2 and 1 others",
        ),
        (
            ["compare", "qrels.txt", "first.txt", "short.txt", "--missing", "error"],
            "short: the run has nothing for topic 2",
        ),
        (["score", "no-such/data-set", "first.txt"], "there is no such file, and ir-datasets knows no such id"),
        (["audit", "none.tsv"], "none.tsv: cannot be read: No such file or directory"),
        (["audit", "qrels.txt"], "qrels.txt:1: has no column of correlations"),
        (["clicks", "none.txt", "--format", "yandex"], "none.txt: cannot be read: No such file or directory"),
        (["clicks", "first.txt", "--format", "yandex"], "is the format right?"),
        (
            ["pool", "qrels.txt", "--rate", "50", "--seed", "a", "-o", "no/such"],
            "no/such: cannot be written: there is no such folder",
        ),
        (["explain", "AP", "--plot", "no/such.svg"], "no/such.svg: cannot be written: there is no such folder"),
    ],
)
def test_a_mistake_in_the_data_is_one_sentence(call, files, words, sentence):
    (files / "empty.txt").write_text("\n")
    (files / "alien.txt").write_text("901 Q0 a 1 1.0 tag\n")
    (files / "bad.txt").write_text("1 Q0 a 1 1.0 tag\n1 Q0 b 2 high tag\n")
    (files / "short.txt").write_text("1 Q0 a 1 1.0 tag\n")
    code, _, error = call(*words)
    assert code == 1, error
    assert sentence in error
    assert len(error.splitlines()) == 1


# --- score ---


def test_lines_are_those_of_trec_eval(call):
    code, output, error = call(
        "score", "qrels.txt", "first.txt", "-m", "map", "-m", "P_2", "-m", 'MP(model="GL_AD_ID")'
    )
    assert (code, error) == (0, "")
    assert output.splitlines()[:4] == [
        "runid                 \tall\tfirst",
        "num_q                 \tall\t3",
        "AP                    \tall\t0.6667",  # (5/6 + 1/6 + 1) / 3
        "P@2                   \tall\t0.3333",
    ]
    assert output.splitlines()[4].startswith('MP(model="GL_AD_ID")  \tall\t0.')


def test_per_topic_lines_and_several_runs(call):
    _, output, _ = call("score", "qrels.txt", "first.txt", "second.txt", "-m", "AP", "--per-topic")
    lines = [line.split("\t") for line in output.splitlines()]
    assert [line[2] for line in lines if line[0].strip() == "runid"] == ["first", "second"]
    assert [line[1] for line in lines] == ["all", "all", "1", "2", "3", "all"] * 2


@pytest.mark.parametrize("missing", ["skip", "zero"])
def test_missing_topics_count_as_in_trec_eval(call, files, missing):
    (files / "short.txt").write_text(RUN[: RUN.index("3 Q0")])
    _, output, error = call("score", "qrels.txt", "short.txt", "-m", "AP", "-m", "ESL", "--missing", missing)
    found = values(output)
    assert (found["num_q", "all"], found["AP", "all"]) == {"skip": ("2", "0.5000"), "zero": ("3", "0.3333")}[missing]
    assert "1 missing topics" in error
    assert ("ESL(wanted=1) is a cost" in error) == (missing == "zero")


def test_formats(call):
    words = ["score", "qrels.txt", "first.txt", "-m", "AP"]
    _, output, _ = call(*words, "--format", "tsv")
    assert output == "run\ttopic\tmeasure\tvalue\nfirst\tall\tAP\t0.6666666667\n"
    _, output, _ = call(*words, "--format", "jsonl", "--per-topic")
    rows = [json.loads(line) for line in output.splitlines()]
    assert [row["topic"] for row in rows] == ["1", "2", "3", "all"]
    assert rows[1] == {"run": "first", "topic": "2", "measure": "AP", "value": pytest.approx(1 / 6)}
    _, output, _ = call(*words, "--format", "latex", "-m", 'MP(model="GL_AD_ID")')
    assert r"run & AP & MP(model=\"GL\_AD\_ID\") \\".replace('\\"', '"') in output
    assert "first & 0.6667 & " in output


def test_depth_grade_and_order(call, files):
    assert values(call("score", "qrels.txt", "first.txt", "-m", "P_1", "--depth", "1")[1])["P@1", "all"] == "0.6667"
    _, output, _ = call("score", "qrels.txt", "first.txt", "-m", "AP", "-q", "--depth", "1")
    assert values(output)["AP", "1"] == "0.5000"
    _, output, _ = call("score", "qrels.txt", "first.txt", "-m", "R", "-q", "--min-grade", "2")
    assert [values(output)["R", topic] for topic in "123"] == ["0.0000", "0.0000", "0.0000"]
    _, output, _ = call("score", "qrels.txt", "second.txt", "-m", "DCG", "-q", "--binary")
    assert values(output)["DCG", "2"] == "1.6309"  # 1 + 1/log2(3), where grades give 2 + 1/log2(3)
    assert values(call("score", "qrels.txt", "second.txt", "-m", "DCG", "-q")[1])["DCG", "2"] == "2.6309"
    (files / "ranked.txt").write_text("1 Q0 c 2 3.0 tag\n1 Q0 b 1 2.0 tag\n")
    for order, expected in (("trec_eval9", "1.0000"), ("rank", "0.5000"), ("file", "1.0000")):
        _, output, error = call("score", "qrels.txt", "ranked.txt", "-m", "RR", "--order", order)
        assert values(output)["RR", "all"] == expected
        assert "ranks disagree with the scores" in error


def test_bounds(call):
    _, output, _ = call("score", "qrels.txt", "first.txt", "-m", "P_2", "-q", "--bounds")
    assert "P@2                   \t2\t0.0000\t0.0000\t0.5000" in output  # x is not judged
    _, output, _ = call("score", "qrels.txt", "first.txt", "-m", "P_2", "--bounds", "--format", "jsonl")
    row = json.loads(output)
    assert (row["low"], row["high"], row["exact"]) == (pytest.approx(1 / 3), pytest.approx(0.5), True)


def test_gzip_and_names(call, files):
    (files / "input.zipped.gz").write_bytes(gzip.compress(RUN.encode()))
    (files / "qrels.gz").write_bytes(gzip.compress(QRELS.encode()))
    (files / "other").mkdir()
    (files / "other" / "first.txt").write_text(RUN)
    _, output, _ = call("score", "qrels.gz", "input.zipped.gz", "first.txt", "other/first.txt", "-m", "AP")
    names = [line.split("\t")[2] for line in output.splitlines() if line.startswith("runid")]
    assert names == ["zipped", "first.txt", "other/first.txt"]
    code, _, error = call("score", "input.zipped.gz", "qrels.gz")
    assert code == 2 and "looks like a run" in error


def test_standard_input(files):
    expected = process("score", "qrels.txt", "first.txt", cwd=files).stdout.replace(b"first", b"-")
    assert process("score", "qrels.txt", "-", cwd=files, input=RUN.encode()).stdout == expected
    zipped = process("score", "-", "first.txt", cwd=files, input=gzip.compress(QRELS.encode()))
    assert zipped.stdout == expected.replace(b"-\n", b"first\n", 1)
    bad = process("score", "qrels.txt", "-", cwd=files, input=b"1 Q0 a 1 high tag\n")
    assert (bad.returncode, bad.stderr) == (1, b"walkeval: /dev/stdin:1: score 'high' is not a number\n")


def test_judgements_by_the_id_of_a_data_set(files):
    home = files / "ir_datasets" / "aquaint" / "trec-robust-2005"
    home.mkdir(parents=True)
    (home / "qrels").write_text("303 0 a 1\n303 0 b 0\n")
    (files / "robust.txt").write_text("303 Q0 b 1 2.0 tag\n303 Q0 a 2 1.0 tag\n")
    environment = os.environ | {"IR_DATASETS_HOME": str(files / "ir_datasets")}
    result = process(
        "score", "aquaint/trec-robust-2005", "robust.txt", "-m", "RR", cwd=files, env=environment, text=True
    )
    assert values(result.stdout)["RR", "all"] == "0.5000", result.stderr


TREC_NAMES = ["map", "P_10", "P_30", "Rprec", "bpref", "recip_rank", "ndcg", "ndcg_cut_10", "recall_100"]
OUR_NAMES = ["AP", "P@10", "P@30", "Rprec", "bpref", "RR", "nDCG", "nDCG@10", "R@100"]


@pytest.mark.parametrize("name", ["CL99XT", "INQ604", "READWARE2", "1"])
def test_equals_trec_eval_in_every_printed_digit_with_topics_missing(call, trec8_qrels, trec8_runs, tmp_path, name):
    lines = gzip.decompress(trec8_runs[name].read_bytes()).decode().splitlines(keepends=True)
    short = tmp_path / "short.txt"
    short.write_text("".join(line for line in lines if line.split()[0] not in ("401", "425")))
    table: dict[str, dict[str, int]] = {}
    for line in gzip.decompress(trec8_qrels.read_bytes()).decode().splitlines():
        topic, _, document, grade = line.split()
        table.setdefault(topic, {})[document] = int(grade)
    with short.open() as file:
        theirs = pytrec_eval.RelevanceEvaluator(table, set(TREC_NAMES)).evaluate(pytrec_eval.parse_run(file))
    assert "401" not in theirs and len(theirs) <= 48
    options = [word for measure in TREC_NAMES for word in ("-m", measure)]
    for missing, total in (("skip", len(theirs)), ("zero", 50)):
        code, output, _ = call("score", trec8_qrels, short, *options, "--per-topic", "--missing", missing)
        found = values(output)
        assert code == 0
        assert found["num_q", "all"] == str(total)
        for ours, trec in zip(OUR_NAMES, TREC_NAMES, strict=True):
            for topic, scores_ in theirs.items():
                assert found[ours, topic] == f"{scores_[trec]:.4f}", (ours, topic)
            mean = 0.0
            for topic in sorted(theirs):
                mean += theirs[topic][trec]
            assert found[ours, "all"] == f"{mean / total:.4f}", ours
        assert (("AP", "401") in found) == (missing == "zero")


# --- compare ---


def sections(output: str) -> dict[str, list[list[str]]]:
    found = {}
    for block in output.strip().split("\n\n"):
        title, *lines = block.splitlines()
        found[title.removeprefix("# ")] = [line.split("\t") for line in lines]
    return found


def test_compare(call):
    words = [
        "compare",
        "qrels.txt",
        "first.txt",
        "second.txt",
        "-m",
        "AP",
        "-m",
        "P_1",
        "-m",
        "ESL(wanted=2)",
        "--samples",
        "20",
    ]
    code, output, error = call(*words)
    assert code == 0
    found = sections(output)
    assert list(found) == [
        "means over 3 topics",
        "tau between measures",
        "pairs that change place",
        'dominance by PH(browsing="SFBM",p=0.8,q=0.25,loss=0.0,order=1)',
    ]
    header, best, other = found["means over 3 topics"]
    assert header == ["run", "AP", "P@1", "ESL(wanted=2)"]
    assert (best[0], other[0]) == ("first", "second")
    taus = {tuple(row[:2]): float(row[2]) for row in found["tau between measures"][1:]}
    assert taus["AP", "P@1"] == 1
    # The second run finds two relevant documents at less cost, and a cost is turned round.
    assert (best[3], other[3]) == ("1", "0.6666666667")
    assert taus["AP", "ESL(wanted=2)"] == -1
    assert [row[:3] for row in found["pairs that change place"][1:]] == [["ESL(wanted=2)", "first", "second"]]
    assert "ESL(wanted=2) is a cost" in error
    _, output, _ = call(*words, "--format", "jsonl")
    assert {json.loads(line)["table"] for line in output.splitlines()} == {one for one in found if len(found[one]) > 1}


def test_compare_finds_swaps_and_dominance(call, files):
    (files / "low.txt").write_text(
        "".join(f"{topic} Q0 {one} {rank} {9 - rank} tag\n" for topic in (1, 2, 3) for rank, one in enumerate("xyz", 1))
    )
    # One finds the first relevant document at once, the other finds more of them.
    (files / "qrels.txt").write_text("".join(f"{topic} 0 {one} 1\n" for topic in (1, 2, 3) for one in "abc"))
    (files / "top.txt").write_text(
        "".join(
            f"{topic} Q0 {one} {rank} {9 - rank} tag\n" for topic in (1, 2, 3) for rank, one in enumerate("axyz", 1)
        )
    )
    (files / "deep.txt").write_text(
        "".join(
            f"{topic} Q0 {one} {rank} {9 - rank} tag\n" for topic in (1, 2, 3) for rank, one in enumerate("xabc", 1)
        )
    )
    _, output, _ = call(
        "compare", "qrels.txt", "low.txt", "top.txt", "deep.txt", "-m", "AP", "-m", "RR", "--samples", "0"
    )
    found = sections(output)
    assert [row[:3] for row in found["pairs that change place"][1:]] == [["RR", "deep", "top"]]
    verdicts = {
        frozenset(row[:2]): row[2]
        for row in next(rows for title, rows in found.items() if title.startswith("dominance"))[1:]
    }
    assert verdicts[frozenset(("top", "deep"))] == "crosses"
    assert verdicts[frozenset(("top", "low"))] == verdicts[frozenset(("deep", "low"))] == "dominates"


def test_compare_leaves_out_what_a_run_lacks_for_all(call, files):
    (files / "short.txt").write_text(OTHER[: OTHER.index("3 Q0")])
    _, output, error = call(
        "compare", "qrels.txt", "first.txt", "short.txt", "-m", "AP", "--missing", "skip", "--samples", "0"
    )
    assert "means over 2 topics" in sections(output)
    assert "1 topics that some run lacks are left out for all" in error
    _, output, _ = call("compare", "qrels.txt", "first.txt", "short.txt", "-m", "AP", "--samples", "0")
    assert "means over 3 topics" in sections(output)


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_compare_draws(call, files, suffix):
    code, _, _ = call(
        "compare", "qrels.txt", "first.txt", "second.txt", "--samples", "0", "--plot", f"a picture.{suffix}"
    )
    assert code == 0
    content = (files / f"a picture.{suffix}").read_bytes()
    assert content.lstrip().startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[suffix])


def test_compare_names_runs_beside_the_panel_and_rounds(call, files, monkeypatch):
    kept = []
    monkeypatch.setattr("walkeval.commands.compare.save_picture", lambda result, path: kept.append(result))
    for name in ("syn", "a-name-that-is-far-too-long-for-a-figure-k1=1.2-b=0.75"):
        (files / f"{name}.txt").write_text(RUN.replace(" 3.0 ", " 0.5 "))
    runs = ("first.txt", "second.txt", "syn.txt", "a-name-that-is-far-too-long-for-a-figure-k1=1.2-b=0.75.txt")
    names = ["AP", "P@1", "RR", 'PH(browsing="RWBM",p=0.5,loss=0.25)', 'PH(browsing="SFBM",p=0.6,loss=0.1)']
    words = [word for one in names for word in ("-m", one)]
    code, output, _ = call("compare", "qrels.txt", *runs, *words, "--samples", "0", "--plot", "x.svg")
    assert code == 0
    (result,) = kept
    fit(result)
    with style():
        canvas = FigureCanvasAgg(result.figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        heat, law = result.panels
        edge = law.get_window_extent(renderer).x1
        labels = {one.get_text(): one.get_window_extent(renderer) for one in law.texts}
        assert set(labels) == {Path(one).stem for one in runs}
        assert all(edge < place.x0 and place.x1 <= result.figure.bbox.width for place in labels.values())
        below = [one.get_window_extent(renderer) for one in heat.get_xticklabels()]
        assert min(one.y0 for one in below) > law.get_tightbbox(renderer).y1, "long names leave the panel below alone"
    head, *rows = sections(output)["tau between measures"]
    tau = [float(row[head.index("tau")]) for row in rows]
    shown = {int(one.get_text()) for one in heat.texts if one.get_text() not in "≡–"}
    assert shown == {round(100 * one) for one in tau if one < 1}
    assert shown != {int(100 * one) for one in tau if one < 1}, "some are rounded up"


# --- explain, measures ---


def test_explain_says_all_of_it(call):
    code, output, error = call("explain", 'PH(browsing="SFBM",p=0.5)', "--gains", "1,0,0")
    assert (code, error) == (0, "")
    for words in (
        "User: The user starts at the first document",
        "p = 0.5: probability of a step forward",
        "Ferrante and Ferro, ICTIR 2020; higher is better",
        "[1]* ----> [2]  ----> [3]",
        "stop 0.50       0.50       1.00",
        "Expected effort: 1.75 documents",
        "Law of P@H (exact): mean 0.708333",
    ):
        assert words in output, words
    score = evaluate('PH(browsing="SFBM",p=0.5)', [1, 0, 0])
    assert f"it is {score:.6g}." in output
    assert f"   1         1  {score:9.4f}" in output, "the only relevant document is all of the score"


@pytest.mark.parametrize("label", sorted(set(known_measures()) - {"MPChain"}))
def test_every_measure_can_be_explained(call, label):
    code, output, error = call("explain", label, "--gains", "1,0,-,1,0,0,1", "--recall-base", "4")
    assert (code, error) == (0, "")
    assert known_measures()[label].user_model.split()[0] in output
    assert "Expected effort:" in output


def test_an_explanation_is_drawn(call, files):
    for number, measure in enumerate(("PH", 'MP(model="GL_AD_ID")', "bpref")):
        assert call("explain", measure, "--plot", f"{number}.svg")[0] == 0
        assert "<svg" in (files / f"{number}.svg").read_text()


def test_measures_are_listed_with_user_and_citation(call):
    code, output, _ = call("measures")
    lines = [line.split("\t") for line in output.splitlines()]
    assert code == 0
    assert {line[0] for line in lines[1:]} == set(known_measures())
    assert all(len(line) == 4 and line[2] and line[3] for line in lines)
    _, output, _ = call("measures", "--bibtex", "MP", 'MP(model="LO_OR_ID")', "P_10")
    assert output.count("@") == 2
    assert "@inproceedings{ferrante2014," in output


# --- audit, clicks, pool, completion ---

GOOD = "\tAP\tP@10\tRR\nAP\t1.00\t0.85\t0.70\nP@10\t0.85\t1.00\t0.75\nRR\t0.70\t0.75\t1.00\n"


def test_audit_exit_code_says_whether_something_is_wrong(call, files):
    (files / "good.tsv").write_text(GOOD)
    code, output, error = call("audit", "good.tsv", "--systems", "20")
    assert code == 0
    assert output.splitlines()[0] == "test\tcells\tseverity\tsentence\trepair"
    assert "findings in 6 cells: 0 impossible, 0 implausible, 2 notes\n" in error
    assert call("audit", "good.tsv")[2].endswith("0 implausible, 0 notes\n")
    (files / "bad.tsv").write_text(GOOD.replace("0.85", "0.95").replace("0.75", "0.95"))  # but 0.70 between the two
    code, output, error = call("audit", "bad.tsv", "--plot", "bad.svg", "-o", "findings.tsv")
    assert (code, output) == (3, "")
    assert "2 impossible" in error  # the triangle, and so the matrix
    assert "\ntriangle\t" in (files / "findings.tsv").read_text()
    assert "<svg" in (files / "bad.svg").read_text()


def test_clicks(call, files):
    write_synthetic_log(files / "log.txt", 200, "test")
    code, output, _ = call("clicks", "log.txt", "--format", "yandex", "--ranks", "3")
    found = sections(output)
    assert code == 0
    assert list(found) == ["backward shares", "transitions", "holding"]
    shares = {row[0]: float(row[3]) for row in found["backward shares"][1:]}
    assert 0 < shares["transitions"] < 1
    assert len(found["transitions"]) == 1 + 9
    for start in "123":
        assert sum(float(row[3]) for row in found["transitions"][1:] if row[0] == start) == pytest.approx(1)
    rows = [
        json.loads(line)
        for line in call("clicks", "log.txt", "--format", "yandex", "--output-format", "jsonl")[1].splitlines()
    ]
    assert {row["table"] for row in rows} == set(found)


def test_pool_writes_the_same_part_to_a_file_and_to_standard_output(call, files):
    (files / "many.txt").write_text("".join(f"7 0 d{number} {int(number < 20)}\n" for number in range(100)))
    words = ["pool", "many.txt", "--rate", "50", "--seed", "mine"]
    code, output, error = call(*words, "-o", "half.txt")
    assert (code, output, error) == (0, "", "walkeval: kept 50 of 100 judgements\n")
    half = (files / "half.txt").read_bytes()
    assert process(*words, cwd=files).stdout == half
    assert process(*words, "--replicate", "1", cwd=files).stdout != half
    tenth = process(
        "pool", "-", "--rate", "10", "--seed", "mine", cwd=files, input=(files / "many.txt").read_bytes()
    ).stdout
    assert set(tenth.splitlines()) < set(half.splitlines())


def bash_completes(script: str, *line: str) -> set[str]:
    words = " ".join(f"'{one}'" for one in line)
    program = (
        f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _walkeval; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    return set(subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True).stdout.split())


def test_bash_completes_commands_options_and_values(call):
    _, script, _ = call("completion", "bash")
    assert bash_completes(script, "walkeval", "co") == {"compare", "completion"}
    assert bash_completes(script, "walkeval", "score", "--mi") == {"--missing", "--min-grade"}
    assert bash_completes(script, "walkeval", "score", "q", "r", "--missing", "") == {"skip", "zero", "error"}
    assert bash_completes(script, "walkeval", "completion", "") >= {"bash", "zsh", "fish"}
    assert bash_completes(script, "walkeval", "score", "qre") == set()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_command(call, shell):
    code, script, _ = call("completion", shell)
    assert code == 0
    for word in ("score", "compare", "explain", "measures", "audit", "clicks", "pool", "init", "missing", "skip"):
        assert word in script


# --- pipes, terminals, signals ---


def test_a_reader_that_goes_away_is_no_news(files):
    command = [sys.executable, "-m", "walkeval", "measures", "--bibtex"]
    with subprocess.Popen(command, cwd=files, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == 141


def test_an_interrupt_is_no_news(files):
    # It waits for standard input until it is interrupted.
    command = [sys.executable, "-m", "walkeval", "score", "qrels.txt", "-"]
    with subprocess.Popen(
        command, cwd=files, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        for _ in range(600):
            if _waits(running.pid):
                break
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        output, error = running.communicate(timeout=60)
        assert (running.returncode, output, error) == (130, b"", b"")


def _waits(process_id: int) -> bool:
    """Whether a process has standard input open a second time, which is when it reads it."""
    folder = Path(f"/proc/{process_id}/fd")
    try:
        targets = [os.readlink(one) for one in folder.iterdir()]
        return targets.count(os.readlink(folder / "0")) > 1
    except OSError:
        return False


def test_bars_and_columns_are_for_a_terminal_only(files):
    words = ["compare", "qrels.txt", "first.txt", "second.txt", "-m", "AP", "-m", "RR", "--samples", "0"]
    quiet = process(*words, cwd=files)
    assert quiet.stderr == b""
    assert b"\t" in quiet.stdout
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    command = [sys.executable, "-m", "walkeval", *words]
    with subprocess.Popen(command, cwd=files, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        seen = io.BytesIO()
        try:
            while part := os.read(ours, 65536):
                seen.write(part)
        except OSError:  # Linux says so when the other side is closed
            pass
        assert running.wait(timeout=60) == 0
    os.close(ours)
    assert b"runs" in seen.getvalue() and b"%" in seen.getvalue()
    assert b"\t" not in seen.getvalue()


def test_names_that_cannot_be_shown_do_no_harm(files):
    name = os.fsdecode(b"r\xff\xc3\xa4.txt")
    (files / name).write_text(RUN)
    for encoding in ("utf-8", "ascii"):
        result = process("score", "qrels.txt", name, cwd=files, env=os.environ | {"PYTHONIOENCODING": encoding})
        assert (result.returncode, result.stderr) == (0, b"")
        assert result.stdout.startswith(b"runid")


# --- notebooks ---


def test_frames_in_and_out(files):
    import pandas as pd

    def frame(text: str, columns: dict[int, str]) -> pd.DataFrame:
        rows = [line.split() for line in text.splitlines()]
        return pd.DataFrame({name: [row[place] for row in rows] for place, name in columns.items()})

    qrels = frame(QRELS, {0: "qid", 2: "docno", 3: "label"}).astype({"label": int})
    run = frame(RUN, {0: "query_id", 2: "doc_id", 4: "score"}).astype({"score": float})
    # The order of the rows does not matter: scores order the documents.
    found = scores(qrels, {"frame": run.iloc[::-1], "file": "first.txt"}, ["AP", "RR"])
    assert list(found.columns) == ["run", "topic", "measure", "value"]
    wide = found.pivot(index=["topic", "measure"], columns="run", values="value")
    assert (wide["frame"] == wide["file"]).all()
    assert wide.loc[("2", "RR"), "file"] == pytest.approx(1 / 3)


def test_a_chain_shows_itself_and_its_shares_are_the_weights(files):
    walk = chain('MP(model="GL_AD_ID")', [1, 0, 1, 0])
    assert walk._repr_html_().startswith("<svg")
    assert walk.matrix.sum(axis=1) == pytest.approx([1] * 4)
    ranks = [place for place, gain in enumerate([1, 0, 1, 0]) if gain]
    pi = walk.share[ranks] / walk.share[ranks].sum()
    assert evaluate('MP(model="GL_AD_ID")', [1, 0, 1, 0]) == pytest.approx(pi @ [1, 2 / 3])


@pytest.mark.parametrize("measure", ["RBP(p=0.5)", "P@3", "DCG", "PH", "MsM", "sDCG"])
def test_weights_of_additive_measures_add_up_to_the_score(measure):
    gains = [1, 0, 1, 1, 0]
    weights = rank_weights(measure, gains)
    assert weights[[0, 2, 3]].sum() == pytest.approx(evaluate(measure, gains))
    for rank in (1, 4):
        more = [1 if place == rank else gain for place, gain in enumerate(gains)]
        assert weights[rank] == pytest.approx(evaluate(measure, more) - evaluate(measure, gains))


def test_the_law_shows_itself_and_has_the_score_as_its_mean():
    found = distribution("PH", [1, 0, 1])
    assert isinstance(found, Distribution)
    assert found.law.mean == pytest.approx(evaluate("PH", [1, 0, 1]))
    assert found._repr_html_().startswith("<svg")


@pytest.mark.parametrize(
    ("measure", "effort"), [("P@3", 3), ("RBP(p=0.5)", 2), ("RR", 2), ("ESL(wanted=2)", 4), ("R", 5), ("Rprec", 2)]
)
def test_the_effort_of_a_walk_is_known_in_simple_cases(measure, effort):
    assert chain(measure, [0, 1, 0, 1, 0]).effort == pytest.approx(effort)


def test_a_run_without_a_judged_document_is_told(tmp_path, capsys):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 zza 1 2 t\n1 Q0 zzb 2 1 t\n")
    assert cli.main(["score", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "AP"]) == 0
    assert "none of its 2 documents is judged" in capsys.readouterr().err
