"""Judged collections: against a slow join in plain Python, pytrec_eval, and every kind of odd run."""

from __future__ import annotations

import gzip
import json
import struct

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.errors import InputError, ParameterError, UnknownNameError
from walkeval.judging import ORDERS, JudgedCollection, judge
from walkeval.trec import Qrels, read_qrels

DOCUMENTS = ["A", "AA", "AB", "B", "B-1", "ZZZZZZZZZ", "a"]
DOCUMENTS += ["a-long-document-number-0001", "a-long-document-number-0002"]
SCORES = ["1", "1.0", "2", "0.5", "-1", "1.00000001", "1e0", "3", "2.5"]


def write_run(path, rows, columns=6):
    path.write_text("".join(" ".join(map(str, (*row, "tag")[:columns])) + "\n" for row in rows))
    return path


def lines(topic, *documents, scores=None):
    """Rows of a run for one topic, scores falling unless given."""
    scores = scores or range(len(documents), 0, -1)
    return [(topic, "Q0", one, rank, score) for rank, (one, score) in enumerate(zip(documents, scores, strict=True), 1)]


def number32(text):
    return struct.unpack("f", struct.pack("f", float(text)))[0]


def slow_order(rows, order):
    """Rows of one topic in order, first of each document only, and whether each has the score of the one before."""
    value = number32 if order == "trec_eval9" else float
    if order in ("trec_eval", "trec_eval9"):
        rows = sorted(rows, key=lambda row: row[2].encode(), reverse=True)
        rows = sorted(rows, key=lambda row: -value(row[4]))
    elif order == "rank":
        rows = sorted(rows, key=lambda row: row[3])
    seen, kept = set(), []
    for row in rows:
        if row[2] not in seen:
            seen.add(row[2])
            kept.append(row)
    scores = [value(row[4]) for row in kept]
    return kept, [number > 0 and scores[number] == scores[number - 1] for number in range(len(kept))]


@st.composite
def collections(draw):
    topics = ["401", "402", "403"]
    document = st.sampled_from(DOCUMENTS)
    pairs = st.lists(st.tuples(st.sampled_from(topics), document), min_size=1, max_size=20, unique=True)
    judgements = [(topic, name, draw(st.integers(-1, 3))) for topic, name in draw(pairs)]
    row = st.tuples(
        st.sampled_from([*topics, "499"]), st.just("Q0"), document, st.integers(0, 5), st.sampled_from(SCORES)
    )
    known = sorted({judgement[0] for judgement in judgements})
    runs = {}
    for number in range(draw(st.integers(1, 3))):
        rows = draw(st.lists(row, max_size=25))
        # A run with none of the judged topics is refused, which is another test.
        rows.append((draw(st.sampled_from(known)), "Q0", draw(document), 1, "7"))
        runs[f"run{number}"] = rows
    pool = draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=len(judgements), max_size=len(judgements))))
    return judgements, runs, draw(st.sampled_from(ORDERS)), pool, draw(st.integers(1, 3)), draw(st.integers(1, 8))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("judging")


@settings(deadline=None, max_examples=300)
@given(collections())
def test_lists_equal_a_slow_join(scratch, case):
    judgements, runs, order, pool, min_grade, max_rank = case
    qrels = Qrels.from_records(judgements)
    paths = {name: write_run(scratch / name, rows) for name, rows in runs.items()}
    collection = judge(qrels, paths, order=order, max_rank=max_rank)
    mask = None if pool is None else np.array(pool)
    names = [(topic, name) for number, topic in enumerate(qrels.topics) for name in topic_documents(qrels, number)]
    inside = {pair for number, pair in enumerate(names) if pool is None or pool[number]}
    grade = {(topic, document): value for topic, document, value in judgements if (topic, document) in inside}
    lists = collection.lists(mask, min_grade)
    assert len(lists) == len(runs) * len(qrels.topics)
    for run_number, rows in enumerate(runs.values()):
        for topic_number, topic in enumerate(qrels.topics):
            which = run_number * len(qrels.topics) + topic_number
            ordered, tied = slow_order([row for row in rows if row[0] == topic], order)
            ordered, tied = ordered[:max_rank], tied[:max_rank]
            judged = [number for number, row in enumerate(ordered) if (topic, row[2]) in grade]
            part = slice(lists.start[which], lists.start[which + 1])
            gains = [grade[topic, ordered[number][2]] for number in judged]
            first = [max(rank for rank in range(number + 1) if not tied[rank]) + 1 for number in judged]
            last = [
                next((rank for rank in range(number + 1, len(tied)) if not tied[rank]), len(tied)) for number in judged
            ]
            here = [value for (one, _), value in grade.items() if one == topic]
            relevant = sorted((value for value in here if value >= min_grade), reverse=True)
            assert lists.length[which] == len(ordered)
            assert lists.rank[part].tolist() == [number + 1 for number in judged]
            assert lists.gain[part].tolist() == [gain if gain >= min_grade else 0 for gain in gains]
            assert lists.tie_first[part].tolist() == first
            assert lists.tie_last[part].tolist() == last
            assert lists.topic[which] == topic_number
            assert lists.recall_base[which] == len(relevant)
            assert lists.nonrelevant_base[which] == len(here) - len(relevant)
            ideal = slice(lists.ideal_start[topic_number], lists.ideal_start[topic_number + 1])
            assert lists.ideal_gain[ideal].tolist() == relevant


def topic_documents(qrels, number):
    return [one.decode() for one in qrels.document[qrels.topic_start[number] : qrels.topic_start[number + 1]].tolist()]


QRELS = Qrels.from_records([("401", "A", 1), ("401", "B", 0), ("402", "A", 2), ("402", "C", 1), ("403", "D", 0)])


def judged(tmp_path, rows, **options):
    return judge(QRELS, {"mine": write_run(tmp_path / "mine.run", rows)}, **options)


def entries(collection, what):
    return [entry for entry in collection.ledger if what in entry.what]


def test_missing_and_extra_topics_are_noted(tmp_path):
    collection = judged(tmp_path, lines("401", "B", "A") + lines("555", "A"))
    assert collection.topics == ["401", "402", "403"]
    assert collection.lists().length.tolist() == [2, 0, 0]
    missing = [(entry.run, entry.topic) for entry in entries(collection, "missing topic")]
    assert missing == [("mine", "402"), ("mine", "403")]
    assert [(entry.count, entry.done) for entry in entries(collection, "without judgements")] == [(1, "left out")]
    assert [entry.topic for entry in entries(collection, "without a relevant document")] == ["403"]


def test_run_for_another_topic_set_is_refused(tmp_path):
    with pytest.raises(InputError, match="mine.run: is a run for another topic set: it has '351'"):
        judged(tmp_path, lines("351", "A"))


def test_empty_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="mine.run: is empty"):
        judged(tmp_path, [])


@pytest.mark.parametrize("prefix", ["q", "Q", "topic-", "0", "q0", "T_", "topic:00"])
def test_topics_match_by_number(tmp_path, prefix):
    collection = judged(tmp_path, lines(prefix + "401", "A") + lines(prefix + "402", "A"))
    assert collection.lists().relevant.count.tolist() == [1, 1, 0]
    assert [entry.count for entry in entries(collection, "written in another way")] == [2]
    prefixed = Qrels.from_records([(prefix + "401", "A", 1)])
    other = judge(prefixed, {"mine": write_run(tmp_path / "plain", lines("401", "A"))})
    assert other.lists().relevant.count.tolist() == [1]


def test_topics_that_differ_only_in_prefix_are_told_apart(tmp_path):
    qrels = Qrels.from_records([("a1", "A", 1), ("b1", "B", 1)])
    run = write_run(tmp_path / "run", lines("a1", "B") + lines("b1", "B") + lines("1", "A"))
    collection = judge(qrels, {"mine": run})
    assert collection.lists().relevant.count.tolist() == [0, 1]
    assert [entry.count for entry in entries(collection, "without judgements")] == [1]


def test_one_topic_under_two_names_is_refused(tmp_path):
    with pytest.raises(InputError, match="topics '401' and 'q401' are the same topic 401"):
        judged(tmp_path, lines("401", "A") + lines("q401", "B"))


def test_duplicate_document_keeps_the_best_rank(tmp_path):
    rows = lines("401", "A", "B", "A", "A", scores=[1, 2, 3, 0])
    collection = judged(tmp_path, rows)
    assert collection.lists().rank.tolist() == [1, 2] and collection.lists().gain.tolist() == [1, 0]
    assert [tuple(entry) for entry in entries(collection, "twice")] == [
        ("mine", "401", "document there twice", 2, "kept the first")
    ]
    assert judged(tmp_path, rows, order="file").lists().rank.tolist() == [1, 2]
    assert judged(tmp_path, rows, order="file").lists().gain.tolist() == [1, 0]


def test_same_document_for_two_topics_is_no_duplicate(tmp_path):
    assert entries(judged(tmp_path, lines("401", "A") + lines("402", "A")), "twice") == []


def test_orders_differ_where_they_should(tmp_path):
    # 1.00000001 and 1 are equal as 32-bit numbers, where the document number decides: descending.
    rows = [("401", "Q0", "A", 3, "1.00000001"), ("401", "Q0", "B", 2, "1"), ("401", "Q0", "X", 1, "0.5")]
    first = {order: judged(tmp_path, rows, order=order).lists() for order in ORDERS}
    assert {order: lists.rank[lists.gain > 0].tolist() for order, lists in first.items()} == {
        "trec_eval": [1],
        "trec_eval9": [2],
        "rank": [3],
        "file": [1],
    }
    assert first["trec_eval9"].tie_last.tolist() == [2, 2] and first["trec_eval"].tie_last.tolist() == [1, 2]


@pytest.mark.filterwarnings("error")
def test_scores_beyond_32_bits_are_equal_there(tmp_path):
    rows = lines("401", "A", "B", scores=["2e300", "1e300"])
    assert judged(tmp_path, rows, order="trec_eval9").lists().gain.tolist() == [0, 1]
    assert judged(tmp_path, rows, order="trec_eval").lists().gain.tolist() == [1, 0]


def test_document_numbers_compare_as_bytes(tmp_path):
    names = ["a", "B", "AB", "A", "A-0000001", "A-00000011", "é", "~"]
    qrels = Qrels.from_records([("401", name, number + 1) for number, name in enumerate(names)])
    run = write_run(tmp_path / "run", lines("401", *names, scores=[1] * len(names)))
    gains = judge(qrels, {"mine": run}).lists().gain
    assert [names[int(gain) - 1] for gain in gains] == sorted(names, key=str.encode, reverse=True)


def test_order_by_rank_needs_ranks(tmp_path):
    rows = [("401", "Q0", "A", 1, 2), ("401", "Q0", "B", "?", 1)]
    assert [entry.count for entry in entries(judged(tmp_path, rows), "ranks that are not numbers")] == [1]
    with pytest.raises(InputError, match=r"mine.run:2: the rank is not a number"):
        judged(tmp_path, rows, order="rank")


def test_ranks_against_scores_are_noted(tmp_path):
    good = [("401", "Q0", "B", 2, 1), ("401", "Q0", "A", 1, 2), ("402", "Q0", "A", 1, 1), ("402", "Q0", "B", 2, 1)]
    assert entries(judged(tmp_path, good), "disagree") == []
    bad = [("401", "Q0", "B", 1, 1), ("401", "Q0", "A", 2, 2), ("402", "Q0", "A", 1, 1)]
    assert [entry.count for entry in entries(judged(tmp_path, bad), "disagree")] == [1]


def test_lists_with_equal_scores_are_counted(tmp_path):
    collection = judged(tmp_path, lines("401", "A", "B", scores=[1, 1]) + lines("402", "A", "B", scores=[1, 0]))
    assert [(entry.count, entry.done) for entry in entries(collection, "equal scores")] == [(1, "order trec_eval9")]


def test_more_than_1000_documents_are_kept_and_noted(tmp_path):
    rows = lines("401", *(f"D{number}" for number in range(1200)), "A")
    collection = judged(tmp_path, rows)
    assert collection.lists().rank.tolist() == [1201]
    assert [(entry.count, entry.done) for entry in entries(collection, "more than 1000")] == [(1201, "kept")]
    assert judged(tmp_path, rows, max_rank=1000).lists().rank.tolist() == []


def test_ranks_beyond_16_bits(tmp_path):
    collection = judged(tmp_path, lines("401", *(f"D{number}" for number in range(70_000)), "A"))
    assert collection.lists().rank.tolist() == [70_001]


def test_identical_runs_are_noted(tmp_path):
    one = write_run(tmp_path / "one", lines("401", "A", "B"))
    same = write_run(tmp_path / "same", lines("401", "A", "B", scores=[9, 8]), columns=5)
    other = write_run(tmp_path / "other", lines("401", "B", "A"))
    collection = judge(QRELS, {"one": one, "same": same, "other": other})
    assert [(entry.run, entry.what) for entry in entries(collection, "same documents")] == [
        ("same", "same documents in the same order as run one")
    ]


def test_topics_of_a_run_may_be_mixed(tmp_path):
    rows = lines("402", "C", "A") + lines("401", "B", "A")
    mixed = [rows[2], rows[0], rows[3], rows[1]]
    assert judged(tmp_path, mixed).lists().gain.tolist() == judged(tmp_path, rows).lists().gain.tolist() == [0, 1, 1, 2]


def test_documents_that_only_share_a_beginning_are_different(tmp_path):
    qrels = Qrels.from_records([("401", "ABCDEFGH", 1), ("401", "ABCDEFGHI", 1)])
    run = write_run(tmp_path / "run", lines("401", "ABCDEFG", "ABCDEFGH\u00ff", "ABCDEFGHI", "ABCDEFGHI" + "J" * 30))
    assert judge(qrels, {"mine": run}).lists().rank.tolist() == [3]


def test_bad_parameters(tmp_path):
    collection = judged(tmp_path, lines("401", "A"))
    with pytest.raises(ParameterError, match="min_grade must be at least 1"):
        collection.lists(min_grade=0)
    with pytest.raises(ParameterError, match="boolean mask over the 5 judgements"):
        collection.lists(np.ones(4, dtype=bool))
    with pytest.raises(ParameterError, match="boolean mask"):
        collection.lists(np.arange(5))
    with pytest.raises(ParameterError, match="max_rank must be at least 1"):
        judged(tmp_path, lines("401", "A"), max_rank=0)
    with pytest.raises(UnknownNameError, match="did you mean 'trec_eval'"):
        judged(tmp_path, lines("401", "A"), order="treceval")


def test_select_keeps_ties(tmp_path):
    lists = judged(tmp_path, lines("401", "A", "B", scores=[1, 1])).lists()
    assert lists.select([0]).tie_last.tolist() == [2, 2]


def test_saved_collection_is_the_same(tmp_path):
    collection = judged(tmp_path, lines("401", "A", "B", scores=[1, 1]) + lines("555", "A"))
    path = tmp_path / "judged.npz"
    collection.save(path)
    loaded = JudgedCollection.load(path)
    assert (loaded.runs, loaded.topics, loaded.order) == (["mine"], ["401", "402", "403"], "trec_eval9")
    assert loaded.ledger == collection.ledger
    assert loaded.ledger_table().columns.tolist() == ["run", "topic", "what", "count", "done"]
    assert loaded.document.tolist() == QRELS.document.tolist()
    for name in ("length", "start", "rank", "gain", "tie_first", "tie_last", "recall_base", "ideal_gain"):
        assert getattr(loaded.lists(), name).tolist() == getattr(collection.lists(), name).tolist()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["judged.npz", "mine.run"]


def test_ledger_as_a_file(tmp_path):
    collection = judged(tmp_path, lines("401", "A") + lines("402", "A"))
    collection.write_ledger(tmp_path / "ledger.tsv")
    assert (tmp_path / "ledger.tsv").read_text().splitlines() == [
        "run\ttopic\twhat\tcount\tdone",
        "\t403\ttopic without a relevant document\t1\tkept",
        "mine\t403\tmissing topic\t1\tempty list",
    ]


def test_files_that_are_no_collection_are_refused(tmp_path):
    path = tmp_path / "judged.npz"
    with pytest.raises(InputError, match="cannot be read"):
        JudgedCollection.load(path)
    collection = judged(tmp_path, lines("401", "A"))
    collection.save(path)
    whole = path.read_bytes()
    head = json.dumps({"format": "something else"}).encode()
    np.savez(tmp_path / "other.npz", head=np.frombuffer(head, dtype=np.uint8))
    np.savez(tmp_path / "pickled.npz", head=np.array([{"a": 1}], dtype=object))
    np.save(tmp_path / "single.npy", np.arange(3))
    bad = {"text": b"401 Q0 A 1 1 t\n", "empty": b"", "cut": whole[: len(whole) // 2], "tail": whole[:-30]}
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
    for name in [*bad, "other.npz", "pickled.npz", "single.npy"]:
        with pytest.raises(InputError, match="is not a"):
            JudgedCollection.load(tmp_path / name)


def test_no_runs_make_an_empty_collection():
    assert len(judge(QRELS, {}).lists()) == 0


@pytest.fixture(scope="module")
def trec8(trec8_qrels, trec8_runs):
    return judge(trec8_qrels, trec8_runs, order="trec_eval9")


def average_precision(lists):
    return lists.sum_relevant(lists.relevant.precision) / np.maximum(lists.recall_base, 1)


def test_average_precision_of_all_129_runs_equals_that_of_pytrec_eval(trec8, trec8_qrels, trec8_runs):
    # pytrec_eval-terrier 0.5.11 keeps scores in 32 bits: its order is that of trec_eval up to 9.0.8.
    with gzip.open(trec8_qrels, "rt") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"map"})
    mine = average_precision(trec8.lists()).reshape(129, 50)
    theirs = np.zeros((129, 50))
    for number, path in enumerate(trec8_runs.values()):
        with gzip.open(path, "rt") as file:
            scores = evaluator.evaluate(pytrec_eval.parse_run(file))
        theirs[number] = [scores[topic]["map"] for topic in trec8.topics]
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9)
    np.testing.assert_allclose(mine.mean(axis=1), theirs.mean(axis=1), rtol=0, atol=1e-9)


def test_64_bit_order_differs_from_32_bits_in_a_few_runs_only(trec8, trec8_qrels, trec8_runs):
    chosen = {name: trec8_runs[name] for name in ("uwmt8a0", "Dm8Nbn", "INQ604")}
    wide = average_precision(judge(trec8_qrels, chosen, order="trec_eval").lists()).reshape(3, 50)
    narrow = average_precision(trec8.lists()).reshape(129, 50)[[trec8.runs.index(name) for name in chosen]]
    assert (np.abs(wide - narrow).max(axis=1) > 1e-9).tolist() == [True, True, False]


def test_binary_relevance_gives_every_relevant_document_the_same_gain(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("401 0 A 2\n401 0 B 1\n401 0 C 0\n")
    run = tmp_path / "run"
    run.write_text("401 Q0 A 1 3 t\n401 Q0 C 2 2 t\n401 Q0 B 3 1 t\n")
    collection = judge(path, {"run": run})
    graded, binary = collection.lists(), collection.lists(graded=False)
    assert (graded.gain.tolist(), graded.max_gain) == ([2, 0, 1], 2)
    assert (binary.gain.tolist(), binary.max_gain, binary.ideal_gain.tolist()) == ([1, 0, 1], 1, [1, 1])


def test_trec8_on_disk_is_small(trec8, tmp_path):
    trec8.save(tmp_path / "trec8.npz")
    assert (tmp_path / "trec8.npz").stat().st_size < 40_000_000


def test_trec8_ledger(trec8):
    table = trec8.ledger_table()
    same = table[table.what.str.startswith("same documents")]
    twins = dict(zip(same.run, same.what.str.split().str[-1], strict=True))
    assert twins == {"Mer8Adtd2": "Mer8Adtd1", "isa50t": "isa25t"}
    disagree = table[table.what.str.contains("disagree")].set_index("run")["count"]
    assert disagree.loc["acsys8alo"] == 50 and "INQ604" not in disagree.index
    assert not (table.what == "missing topic").any()


def test_downsampled_judgements_equal_reading_a_smaller_file(trec8, trec8_qrels, trec8_runs, tmp_path):
    qrels = read_qrels(trec8_qrels)
    pool = np.random.default_rng(8).random(len(qrels)) < 0.3
    topic = np.repeat(qrels.topics, np.diff(qrels.topic_start))
    path = tmp_path / "small"
    kept = zip(topic[pool], qrels.document[pool].tolist(), qrels.grade[pool], strict=True)
    path.write_text("".join(f"{one} 0 {name.decode()} {grade}\n" for one, name, grade in kept))
    chosen = dict(list(trec8_runs.items())[::20])
    small = judge(path, chosen, order="trec_eval9").lists()
    masked = judge(qrels, chosen, order="trec_eval9").lists(pool)
    for name in ("length", "start", "rank", "gain", "recall_base", "nonrelevant_base", "tie_first", "ideal_gain"):
        assert getattr(small, name).tolist() == getattr(masked, name).tolist()
