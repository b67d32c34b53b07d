"""Reading TREC files: against a slow reader in plain Python, and every kind of bad input."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.errors import InputError
from walkeval.trec import MAX_NAME_BYTES, Qrels, read_qrels, read_run, safe_name, topic_key, whole_file

RUN = b"401 Q0 FBIS3-1 1 2.5 tag\n401 Q0 FT-22 2 2.5 tag\n402 Q0 LA-333 1 -1e-3 tag\n"

blanks = st.text(alphabet=" \t", min_size=1, max_size=3)
names = st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
letters = st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["C", "Z"])
long_names = st.text(alphabet=letters, min_size=1)
digits = st.text(alphabet="0123456789", min_size=1, max_size=19)
simple_numbers = st.builds(
    lambda sign, before, after, point: f"{sign}{before}{point}{after if point else ''}",
    st.sampled_from(["", "-", "+"]),
    digits,
    st.one_of(digits, st.just("")),
    st.sampled_from(["", "."]),
)
numbers = st.one_of(
    simple_numbers,
    digits.map(lambda text: "." + text),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:.6f}"),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:g}"),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:E}"),
    st.floats(0, 1e3).map(lambda value: f"{value:.34f}"),
)
lines = st.lists(st.tuples(names, names, long_names, digits, numbers, names), min_size=1, max_size=12)


def layout(draw, rows, columns):
    """Write rows with any mixture of blanks, line ends and blank lines."""
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = ""
    for row in rows:
        text += draw(st.sampled_from(["", " ", end, "\t" + end]))
        text += draw(blanks).join(row[:columns]) + draw(st.sampled_from(["", " ", "\t"])) + end
    if draw(st.booleans()):
        text = text.removesuffix(end)
    if draw(st.booleans()):
        text += end + end
    mark = "\ufeff" if draw(st.booleans()) else ""
    content = (mark + text).encode()
    return gzip.compress(content) if draw(st.booleans()) else content


@st.composite
def run_files(draw):
    rows = draw(lines)
    return rows, layout(draw, rows, draw(st.sampled_from([5, 6])))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("trec") / "file"


@settings(deadline=None, max_examples=300)
@given(run_files())
def test_run_reads_as_plain_python_reads_it(scratch, case):
    rows, content = case
    scratch.write_bytes(content)
    run = read_run(scratch)
    assert [run.topics[number] for number in run.topic] == [row[0] for row in rows]
    assert run.document.tolist() == [row[2].encode() for row in rows]
    assert run.rank.tolist() == [float(row[3]) for row in rows]
    assert run.score.tolist() == [float(row[4]) for row in rows]


@settings(deadline=None, max_examples=300)
@given(st.lists(simple_numbers, min_size=1, max_size=60))
def test_scores_are_the_nearest_doubles(scratch, texts):
    scratch.write_text("".join(f"1 Q0 d{number} 1 {text} t\n" for number, text in enumerate(texts)))
    assert read_run(scratch).score.tolist() == [float(text) for text in texts]


def test_numbers_at_the_edge_of_the_fast_path(scratch):
    texts = ["999999999999999", "9999999999999999", "123456789012345.6", "0.00000000000001", "1.", ".5", "-.5"]
    texts += ["-0", "+0.0"]
    texts += ["9007199254740993", "0.1", "12345678", "1234567.", "1234.5678", "12345.678", "00000000000000000000001"]
    scratch.write_text("".join(f"1 Q0 d{number} 1 {text} t\n" for number, text in enumerate(texts)))
    score = read_run(scratch).score
    assert score.tolist() == [float(text) for text in texts]
    assert math.copysign(1, score[texts.index("-0")]) == -1


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_qrels_read_as_plain_python_reads_them(scratch, data):
    pairs = data.draw(st.lists(st.tuples(names, long_names), min_size=1, max_size=12, unique=True))
    grades = data.draw(st.lists(st.integers(-2, 3), min_size=len(pairs), max_size=len(pairs)))
    rows = [(topic, "0", document, str(grade)) for (topic, document), grade in zip(pairs, grades, strict=True)]
    scratch.write_bytes(layout(data.draw, rows, 4))
    qrels = read_qrels(scratch)
    expected: dict[str, dict[bytes, int]] = {}
    for (topic, document), grade in zip(pairs, grades, strict=True):
        expected.setdefault(topic, {})[document.encode()] = grade
    assert qrels.topics == sorted(expected, key=topic_key)
    for number, topic in enumerate(qrels.topics):
        part = slice(qrels.topic_start[number], qrels.topic_start[number + 1])
        assert dict(zip(qrels.document[part].tolist(), qrels.grade[part].tolist(), strict=True)) == expected[topic]
        assert qrels.document[part].tolist() == sorted(expected[topic])


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"", None, "is empty"),
        (b"\n \r\n\t\n", None, "is empty"),
        (b"401 Q0 A\0B 1 2 t\n", None, "binary"),
        (b"401 Q0 A 1 2 t\n\n402 Q0 B 1\n", 3, "this line has 4 columns; the lines before have 6"),
        (b"401 Q0 A 1 2 t\n401 Q0 B 2 1\n", 2, "this line has 5 columns; the lines before have 6"),
        (b"401 Q0 A 1 2\n401 Q0 B 2 1 t\n", 2, "this line has 6 columns; the lines before have 5"),
        (b"401 Q0 A 1 2 t\r\n\r\n401 Q0 B 2 1 t x\r\n", 3, "this line has 7 columns"),
        (b"\n\n401 A 1\n", 3, "6 or 5 columns; this one has 3"),
        (b"a b c d e f g h\n", 1, "6 or 5 columns; this one has 8"),
        # Ten fields would make two rows of five if lines did not count.
        (b"1 Q0 A 1 2 t\n1 Q0 B 1\n", 2, "this line has 4 columns"),
        (b"401 Q0 A 1 2 t\n401 Q0 B 2 two t\n", 2, "score 'two' is not a number"),
        (b"\n401 Q0 A 1 nan t\n", 2, "score 'nan' is not a finite number"),
        (b"401 Q0 A 1 -inf t\n", 1, "score '-inf' is not a finite number"),
        (b"401 Q0 A 1 1e999 t\n", 1, "score '1e999' is not a finite number"),
        (b"401 Q0 A 1 1_0 t\n", 1, "score '1_0' is not a number"),
        (b"401 Q0 A 1 1.2.3 t\n", 1, "score '1.2.3' is not a number"),
        (b"401 Q0 A 1 . t\n", 1, "score '.' is not a number"),
        (b"401 Q0 A 1 - t\n", 1, "score '-' is not a number"),
        (b"401 Q0 A 1 +-1 t\n", 1, "score '+-1' is not a number"),
        (b"401 Q0 A 1 0x10 t\n", 1, "score '0x10' is not a number"),
        (b"401 Q0 A 1 1 t\n4\xff1 Q0 A 1 1 t\n", 2, "is not UTF-8 text"),
        (b"401 Q0 " + b"A" * (MAX_NAME_BYTES + 1) + b" 1 1 t\n", 1, "longer than"),
        (b"401 Q0 A 1 " + b"x" * 2000 + b" t\n", 1, "is not a number"),
    ],
)
def test_bad_run_names_file_and_line(tmp_path, content, line, words):
    path = tmp_path / "bad.run"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.run") as caught:
        read_run(path)
    assert caught.value.line == line
    assert words in caught.value.sentence
    # The same fault inside gzip is the same error.
    path.write_bytes(gzip.compress(content))
    with pytest.raises(InputError) as again:
        read_run(path)
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"", None, "is empty"),
        (b"401 0 A 1 x\n", 1, "4 columns; this one has 5"),
        (b"401 0 A 1\n401 0 B 1.5\n", 2, "grade '1.5' is not a whole number"),
        (b"401 0 A 1\n401 0 B high\n", 2, "grade 'high' is not a whole number"),
        (b"401 0 A 99999\n", 1, "grade '99999' is not a whole number of at most"),
        (b"401 0 A 1\n\n401 0 B 0\n401 0 A 2\n", 4, "judges document 'A' twice, with grades 1 and 2 on lines 1 and 4"),
    ],
)
def test_bad_qrels_name_file_and_line(tmp_path, content, line, words):
    path = tmp_path / "bad.qrels"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.qrels") as caught:
        read_qrels(path)
    assert caught.value.line == line
    assert words in caught.value.sentence


def test_repeated_judgement_counts_once_and_is_noted(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("401 0 A 1\n401 0 B 0\n401 0 A 1\n402 0 A 1\n")
    qrels = read_qrels(path)
    assert qrels.document.tolist() == [b"A", b"B", b"A"]
    assert [(entry.topic, entry.count, entry.done) for entry in qrels.ledger] == [("401", 1, "counted once")]


@pytest.mark.parametrize("cut", [2, 5, 20, -9, -1])
def test_truncated_gzip_is_refused(tmp_path, cut):
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(RUN * 50)[:cut])
    with pytest.raises(InputError, match="truncated gzip"):
        read_run(path)


def test_damaged_gzip_is_refused(tmp_path):
    content = bytearray(gzip.compress(RUN * 50))
    content[-6] ^= 0xFF
    path = tmp_path / "run.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged gzip"):
        read_run(path)
    path.write_bytes(gzip.compress(RUN) + b"rubbish")
    with pytest.raises(InputError, match="damaged gzip"):
        read_run(path)


def test_gzip_that_unpacks_to_too_much_is_refused(tmp_path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"\n" * 10_000_000))
    with pytest.raises(InputError, match="unpacks to more than 1000000 bytes"):
        read_run(path, max_bytes=1_000_000)


def test_gzip_is_known_by_its_bytes_and_may_have_members(tmp_path):
    plain, packed = tmp_path / "plain.gz", tmp_path / "packed.txt"
    plain.write_bytes(RUN + RUN)
    packed.write_bytes(gzip.compress(RUN) + gzip.compress(RUN) + b"\0" * 16)
    one, other = read_run(plain), read_run(packed)
    assert one.document.tolist() == other.document.tolist() == [b"FBIS3-1", b"FT-22", b"LA-333"] * 2
    assert one.score.tolist() == other.score.tolist() == [2.5, 2.5, -0.001] * 2
    assert one.topics == ["401", "402"] and one.topic.tolist() == [0, 0, 1] * 2


def test_missing_file_and_folder_are_input_errors(tmp_path):
    with pytest.raises(InputError, match="nothing: cannot be read: No such file"):
        read_run(tmp_path / "nothing")
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path)


def test_ranks_that_are_not_numbers_are_left_to_the_caller(scratch):
    scratch.write_bytes(b"401 Q0 A first 2 t\n401 Q0 B 2 1 t\n")
    assert np.isnan(read_run(scratch).rank).tolist() == [True, False]


def test_selected_topics(tmp_path):
    qrels = Qrels.from_records([("501", "A", 1), ("451", "B", 0), ("502", "C", 2)])
    chosen = qrels.select(["502", "501"])
    assert chosen.topics == ["501", "502"]
    assert chosen.document.tolist() == [b"A", b"C"] and chosen.topic_start.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="no judgements for topic 600"):
        qrels.select(["600"])


UNSAFE = ["", ".hidden", "..", "a/b", "a\\b", "a..b", "tab\there", "new\nline", "nul\0", "\u202e"]


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_names_are_refused(name):
    with pytest.raises(InputError, match="a name must not"):
        safe_name(name)


@pytest.mark.parametrize("name", ["INQ604", "8manexT3D1N0", "run-1_b.v2", "läuft"])
def test_safe_names_pass(name):
    assert safe_name(name) == name


def test_file_appears_only_when_complete(tmp_path):
    path = tmp_path / "out"
    with pytest.raises(RuntimeError, match="halfway"), whole_file(path) as file:
        file.write(b"half")
        raise RuntimeError("halfway")
    assert list(tmp_path.iterdir()) == []
    with whole_file(path) as file:
        file.write(b"all")
        assert not path.exists()
    assert path.read_bytes() == b"all" and list(tmp_path.iterdir()) == [path]


def test_all_runs_of_trec8_have_the_lines_of_their_files(trec8_runs):
    assert len(trec8_runs) == 129
    for path in list(trec8_runs.values())[::16]:
        with gzip.open(path, "rt") as file:
            rows = [line.split() for line in file]
        run = read_run(path)
        assert run.document.tolist() == [row[2].encode() for row in rows]
        assert run.score.tolist() == [float(row[4]) for row in rows]
        assert [run.topics[number] for number in run.topic] == [row[0] for row in rows]


def test_judgements_of_trec8_give_table_1_of_the_sigir_2014_paper(trec8_qrels):
    qrels = read_qrels(trec8_qrels)
    relevant = np.add.reduceat(qrels.grade >= 1, qrels.topic_start[:-1])
    assert (len(relevant), relevant.min(), f"{relevant.mean():.2f}", relevant.max()) == (50, 6, "94.56", 347)
