"""Click logs: readers against a literal reading of their rules, estimates against known users."""

from __future__ import annotations

import gzip
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import expon

from walkeval import click_logs
from walkeval.click_logs import FORMATS, ODDITIES, ClickLog, Ledger, read_yandex
from walkeval.clicks import (
    ClickSummary,
    QueryHolding,
    SyntheticUser,
    holding_parameters,
    learned_transition_matrix,
    query_holding_times,
    summarize_clicks,
    transition_matrix,
    write_synthetic_log,
)
from walkeval.errors import InputError, ParameterError, UnknownNameError


def plain(chunks):
    """Chunks as a list of (session, query, list size, [(rank, time, dwell, after gap)]), NaN as None."""
    found = []
    for chunk in chunks:
        for k in range(len(chunk)):
            clicks = [
                (
                    int(chunk.rank[c]),
                    None if math.isnan(chunk.time[c]) else float(chunk.time[c]),
                    None if math.isnan(chunk.dwell[c]) else float(chunk.dwell[c]),
                    bool(chunk.after_gap[c]) and c > chunk.start[k],
                )
                for c in range(chunk.start[k], chunk.start[k + 1])
            ]
            found.append((int(chunk.session[k]), chunk.query[k].item(), int(chunk.list_size[k]), clicks))
    return found


def write(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def query_line(session, time, query, documents):
    return "\t".join(map(str, [session, time, "Q", query, 0, *documents])) + "\n"


def click_line(session, time, document):
    return f"{session}\t{time}\tC\t{document}\n"


TEN = list(range(101, 111))
OTHER_TEN = list(range(106, 116))


# ----------------------------------------------------------------------------------------------- the Yandex format


def test_yandex_ranks_times_and_holding_times(tmp_path):
    log = write(
        tmp_path / "log",
        query_line(1, 0, 7, TEN)
        + click_line(1, 5, 103)
        + click_line(1, 25, 101)
        + query_line(1, 40, 8, OTHER_TEN)
        + click_line(1, 41, 115)
        + query_line(2, 0, 7, TEN)
        + click_line(2, 3, 110),
    )
    ledger = Ledger()
    assert plain(read_yandex(log, ledger)) == [
        (1, 7, 10, [(3, 5.0, 20.0, False), (1, 25.0, 15.0, False)]),
        (1, 8, 10, [(10, 41.0, None, False)]),
        (2, 7, 10, [(10, 3.0, None, False)]),
    ]
    assert ledger.records == 7
    assert ledger.rows() == []


def test_yandex_click_goes_to_the_last_list_that_has_the_document(tmp_path):
    log = write(
        tmp_path / "log",
        query_line(1, 0, 7, TEN)
        + query_line(1, 1, 8, OTHER_TEN)
        + click_line(1, 2, 106)  # in both lists: the later one
        + click_line(1, 3, 101)  # only in the earlier one
        + click_line(1, 4, 107),
    )
    assert plain(read_yandex(log, Ledger())) == [
        (1, 7, 10, [(1, 3.0, 1.0, False)]),
        (1, 8, 10, [(1, 2.0, 1.0, False), (2, 4.0, None, False)]),
    ]


def test_yandex_document_twice_in_a_list_has_its_higher_place(tmp_path):
    log = write(tmp_path / "log", query_line(1, 0, 7, [9, 5, 5, *TEN[:7]]) + click_line(1, 2, 5))
    assert plain(read_yandex(log, Ledger()))[0][3] == [(2, 2.0, None, False)]


def test_yandex_oddities_are_listed_and_not_used(tmp_path):
    log = write(
        tmp_path / "log",
        click_line(1, 0, 101)  # line 1: before any query
        + query_line(1, 1, 7, TEN)
        + click_line(1, 2, 102)
        + click_line(1, 3, 999)  # line 4: nowhere
        + click_line(1, 5, 101)
        + query_line(2, 0, 7, TEN)
        + click_line(2, 9, 101)
        + click_line(2, 8, 102)  # line 8: earlier than the line before
        + query_line(3, 0, 7, TEN)
        + query_line(3, 1, 8, TEN[:9])  # line 10: nine documents
        + click_line(3, 8, 102)
        + query_line(4, 0, 7, TEN)
        + "4\t1\tC\n"  # line 13: cut
        + query_line(5, 0, 7, TEN)
        + "\n"  # line 15: empty, in session 5
        + query_line(6, 0, 7, TEN)
        + click_line(6, 1, 110),
    )
    ledger = Ledger()
    assert plain(read_yandex(log, ledger)) == [
        (1, 7, 10, [(2, 2.0, 1.0, False), (1, 5.0, None, True)]),
        (6, 7, 10, [(10, 1.0, None, False)]),
    ]
    assert ledger.records == 17
    assert ledger.rows() == [
        ("malformed record", 3, "log:10 log:13 log:15"),
        ("time running backwards", 1, "log:8"),
        ("session set aside", 4, "log:6 log:9 log:12 log:14"),
        ("click before query", 1, "log:1"),
        ("unknown document", 1, "log:4"),
    ]


def test_no_transition_is_counted_across_an_unknown_document(tmp_path):
    lines = query_line(1, 0, 7, TEN) + click_line(1, 2, 103) + "{}" + click_line(1, 5, 101)
    with_gap = summarize_clicks(ClickLog((write(tmp_path / "gap", lines.format(click_line(1, 3, 999))),), "yandex"))
    without = summarize_clicks(ClickLog((write(tmp_path / "no gap", lines.format("")),), "yandex"))
    assert (with_gap.transitions, without.transitions, without.counts[2, 0]) == (0, 1, 1)
    assert with_gap.clicks == without.clicks == 2


@pytest.mark.parametrize(
    "line",
    [
        "1\t0\tQ\t7\t0\n",
        "1\t0\tQ\t7\t0" + "\t5" * 11 + "\n",
        "1\t0\tX\t7\n",
        "1\t0\tCC\t7\n",
        "1\t0\tC\t7\t8\n",
        "1\t-1\tC\t7\n",
        "1\t1.5\tC\t7\n",
        "1\t1\tC\t\n",
        "1\t1\tC\t12345678901234567\n",
        "1\t1\tC\t14330717152003771520039\n",
        "1\t1\tC\t7\x00\n",
        "1 1 C 7\n",
        "x\t1\tC\t7\n",
        "\t\t\t\n",
        "1\t1\tC\t１\n",
        "1\t1\tC\t/7\n",
        "1\t1\tC\t7:\n",
    ],
)
def test_yandex_malformed_lines(tmp_path, line):
    ledger = Ledger()
    text = query_line(1, 0, 7, TEN) + line + query_line(2, 0, 8, TEN)
    assert [row[:2] for row in plain(read_yandex(write(tmp_path / "log", text), ledger))] == [(2, 8)]
    assert ledger.counts == {"malformed record": 1, "session set aside": 1}
    assert ledger.places["malformed record"] == [("log", 2)]


def test_yandex_sixteen_digits_and_windows_line_ends_and_gzip(tmp_path):
    long = [9_999_999_999_999_990 + k for k in range(10)]
    text = (query_line(12345678, 0, 123456789, long) + click_line(12345678, 3, long[6])).replace("\n", "\r\n")
    expected = [(12345678, 123456789, 10, [(7, 3.0, None, False)])]
    assert plain(read_yandex(write(tmp_path / "log", text), Ledger())) == expected
    assert plain(read_yandex(write(tmp_path / "no end", text.rstrip()), Ledger())) == expected
    # Compression is told by the content, not by the name.
    assert plain(read_yandex(write(tmp_path / "packed", gzip.compress(text.encode())), Ledger())) == expected


@given(st.lists(st.integers(0, 10**16 - 1), min_size=1, max_size=30))
@settings(deadline=None, max_examples=50)
def test_numbers_are_read_exactly(numbers):
    text = click_logs._PAD + "".join(f"{number}\t" for number in numbers).encode()
    end = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == 9)
    start = np.append(16, end[:-1] + 1)
    value, valid = click_logs._numbers(text, start, end)
    assert value.tolist() == numbers
    assert valid.all()


def literal_yandex(text, list_size):
    """The rules of the format, one line after the other."""
    runs: list[list[tuple[int, list[str]]]] = []
    last = None
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split("\t")
        own = int(fields[0]) if fields[0].isdigit() else last
        if not runs or own != last:
            runs.append([])
        last = own
        runs[-1].append((number, fields))
    odd = dict.fromkeys(ODDITIES, 0)
    found = []
    for run in runs:
        records = []
        aside = False
        before = None
        for _, fields in run:
            numbers = [field.isdigit() for k, field in enumerate(fields) if k != 2]
            length = {"Q": 5 + list_size, "C": 4}.get(fields[2] if len(fields) > 2 else "")
            if len(fields) != length or not all(numbers):
                odd["malformed record"] += 1
                aside = True
                before = None
                continue
            time = int(fields[1])
            if before is not None and time < before:
                odd["time running backwards"] += 1
                aside = True
            before = time
            records.append((fields[2], time, [int(field) for field in fields[3:]]))
        if aside:
            odd["session set aside"] += 1
            continue
        lists: list[tuple[int, list[int], list]] = []
        unknown = 0
        for k, (kind, time, values) in enumerate(records):
            if kind == "Q":
                lists.append((values[0], values[2:], []))
                continue
            if not lists:
                odd["click before query"] += 1
                continue
            for _, documents, clicks in reversed(lists):
                if values[0] in documents:
                    dwell = float(records[k + 1][1] - time) if k + 1 < len(records) else None
                    gap = bool(clicks) and clicks[-1][0] != unknown
                    clicks.append((unknown, (documents.index(values[0]) + 1, float(time), dwell, gap)))
                    break
            else:
                odd["unknown document"] += 1
                unknown += 1
        for query, documents, clicks in lists:
            found.append((int(run[0][1][0]), query, len(documents), [click for _, click in clicks]))
    return found, {kind: count for kind, count in odd.items() if count}


messy_line = st.one_of(
    st.builds(
        lambda s, t, q, d: query_line(s, t, q, d),
        st.integers(1, 3),
        st.integers(0, 9),
        st.integers(1, 3),
        st.lists(st.integers(1, 6), min_size=3, max_size=3),
    ),
    st.builds(click_line, st.integers(1, 3), st.integers(0, 9), st.integers(1, 8)),
    st.builds(click_line, st.integers(1, 3), st.just(9), st.integers(1, 8)),
    st.sampled_from(["\n", "2\n", "1\t5\tC\n", "x\ty\n", "3\t1\tQ\t1\t0\t1\t2\n"]),
)


@given(lines=st.lists(messy_line, min_size=1, max_size=40), block=st.integers(1, 200), in_order=st.booleans())
@settings(deadline=None, max_examples=250)
def test_yandex_reader_follows_its_rules_whatever_the_blocks(tmp_path_factory, lines, block, in_order):
    if in_order:  # most random logs are too messy to hold a session that can be used
        lines = sorted(lines, key=lambda line: line.split("\t")[:2])
    text = query_line(4, 0, 1, [1, 2, 3]) + "".join(lines)
    ledger = Ledger()
    path = write(tmp_path_factory.mktemp("log") / "log", text)
    found = plain(read_yandex(path, ledger, list_size=3, block_bytes=block))
    expected, odd = literal_yandex(text, 3)
    assert found == expected
    assert ledger.counts == odd
    assert ledger.records == len(lines) + 1


def test_yandex_session_longer_than_can_be_held_is_cut_and_listed(tmp_path, monkeypatch):
    text = query_line(1, 0, 7, TEN) + "".join(click_line(1, time, 101) for time in range(1, 200))
    monkeypatch.setattr(click_logs, "_LONGEST", 500)
    ledger = Ledger()
    sessions = plain(read_yandex(write(tmp_path / "log", text), ledger, block_bytes=100))
    assert ledger.counts["session cut"] >= 1
    assert ledger.records == 200
    assert sum(len(row[3]) for row in sessions) + ledger.counts["click before query"] == 199


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(click_logs, "_LONGEST", 500)
    with pytest.raises(InputError, match="not a click log"):
        list(read_yandex(write(tmp_path / "log", "1" * 2000), Ledger(), block_bytes=100))


# ------------------------------------------------------------------------------------------------ the other formats


def test_pyclick(tmp_path):
    text = (
        "98435_1\t232,688,167 : 688 , 232; 98435_1\t232,688,167 :; 9_0\t1,2,3,4 : 4 , 9 , 1 , 1\n"
        "\n7_0\t1,2,3 :  ; broken; 8_0\t1,2,x : 1; "
    )
    ledger = Ledger()
    log = ClickLog((write(tmp_path / "log", text),), "pyclick")
    found = plain(log.chunks(ledger))
    assert [row[1:3] for row in found] == [("98435_1", 3), ("98435_1", 3), ("9_0", 4), ("7_0", 3)]
    assert [[click[0] for click in row[3]] for row in found] == [[2, 1], [], [4, 1, 1], []]
    assert found[2][3] == [(4, None, None, False), (1, None, None, True), (1, None, None, False)]
    assert ledger.rows() == [
        ("malformed record", 2, "log:5 log:6"),
        ("session set aside", 2, "log:5 log:6"),
        ("unknown document", 1, "log:3"),
    ]


def test_click_times(tmp_path):
    text = (
        "4\t10 11 12\t1 0 1\t1393568686.5 -1 1393568680.25\t0 0 0\n"
        "5\t10 11 12\t0 0 0\t-1 -1 -1\t0 0 0\n"
        "5\t10 11 12\t1 0 0\t-1 -1 -1\t0 0 0\n"  # a click without a time
        "5\t10 11 12\t0 0 0\t8.5 -1 -1\t0 0 0\n"  # a time without a click
        "5\t10 11 12\t0 0\t-1 -1 -1\n"
        "5\t10 11\n"
        "5\t10 11 12\t1 0 0\tnan -1 -1\n"
        "x\t10 11 12\t0 0 0\t-1 -1 -1\n"
    )
    ledger = Ledger()
    found = plain(ClickLog((write(tmp_path / "log", text),), "clickmodel_wc").chunks(ledger))
    assert [row[1:] for row in found] == [
        (4, 3, [(3, 1393568680.25, 6.25, False), (1, 1393568686.5, None, False)]),
        (5, 3, []),
    ]
    assert ledger.rows()[0] == ("malformed record", 6, "log:3 log:4 log:5 log:6 log:7")


def session_xml(interactions, before=""):
    return f'{before}<sessiontrack2013><session num="1" starttime="0">{interactions}</session></sessiontrack2013>'


def interaction(clicks, start="1.5"):
    results = "".join(f'<result rank="{rank}"><url>u</url></result>' for rank in range(1, 13))
    clicked = "".join(
        f'<click num="1" starttime="{begin}" endtime="{end}"><rank>{rank}</rank></click>' for rank, begin, end in clicks
    )
    return (
        f'<interaction num="1" starttime="{start}"><query>two  words</query>'
        f"<results>{results}</results><clicked>{clicked}</clicked></interaction>"
    )


def test_trec_session(tmp_path):
    text = session_xml(
        interaction([(12, 2.5, 4.0), (3, 5.0, "NA")])
        + interaction([], start="9")
        + '<currentquery starttime="10"><query>not an interaction</query></currentquery>'
    )
    ledger = Ledger()
    log = ClickLog((write(tmp_path / "log.xml", text),), "trec-session")
    assert plain(log.chunks(ledger)) == [
        (1, "two words", 12, [(12, 2.5, 1.5, False), (3, 5.0, None, False)]),
        (1, "two words", 12, []),
    ]
    assert ledger.rows() == [("no end of click", 1, "log.xml:1")]
    summary = summarize_clicks(log)
    assert (summary.sessions, summary.query_sessions, summary.backward, summary.beyond) == (1, 2, 1, 1)
    assert summary.counts.sum() == 0


@pytest.mark.parametrize(
    ("clicks", "start", "kind"),
    [
        ([(3, 5.0, 4.0)], "1", "time running backwards"),
        ([(3, 5.0, 6.0), (4, 4.5, 9.0)], "1", "time running backwards"),
        ([(3, 5.0, 6.0)], "8", "time running backwards"),
        ([(3, "soon", 6.0)], "1", "malformed record"),
        ([("third", 5.0, 6.0)], "1", "malformed record"),
        ([(3, -1, 6.0)], "0", "malformed record"),
        ([(3, "inf", 6.0)], "0", "malformed record"),
    ],
)
def test_trec_session_sets_odd_sessions_aside(tmp_path, clicks, start, kind):
    ledger = Ledger()
    text = session_xml(interaction(clicks, start))
    assert plain(ClickLog((write(tmp_path / "log.xml", text),), "trec-session").chunks(ledger)) == []
    assert ledger.counts[kind] >= 1
    assert ledger.counts["session set aside"] == 1


def test_trec_session_click_on_a_rank_that_was_not_shown(tmp_path):
    ledger = Ledger()
    text = session_xml(interaction([(2, 3, 4), (13, 5, 6), (1, 7, 8)]))
    found = plain(ClickLog((write(tmp_path / "log.xml", text),), "trec-session").chunks(ledger))
    assert [(click[0], click[3]) for click in found[0][3]] == [(2, False), (1, True)]
    assert ledger.counts == {"unknown document": 1}


@pytest.mark.tried("hostile", "entities and document types in session XML", "refused by a sentence")
@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE s [<!ENTITY other SYSTEM "file:other.txt">]>',
        '<!DOCTYPE s SYSTEM "other.dtd">',
    ],
)
def test_trec_session_refuses_entities(tmp_path, declaration):
    path = write(tmp_path / "log.xml", session_xml(interaction([]), before=declaration))
    with pytest.raises(InputError, match="declarations are not accepted"):
        list(ClickLog((path,), "trec-session").chunks(Ledger()))


def test_trec_session_refuses_what_is_no_session_file(tmp_path):
    for content, message in [
        ("<a><b></a>", "not well-formed"),
        ("", "not well-formed"),
        ("<a/>", "no session"),
        (session_xml(interaction([]).replace("two", "two" * 10_000)), "characters"),
    ]:
        with pytest.raises(InputError, match=message):
            list(ClickLog((write(tmp_path / "log.xml", content),), "trec-session").chunks(Ledger()))


# ------------------------------------------------------------------------------------------------------- bad files


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_files_that_cannot_be_used(tmp_path, name):
    def read(path):
        list(ClickLog((path,), name).chunks(Ledger()))

    with pytest.raises(InputError, match="cannot be opened"):
        read(tmp_path / "absent")
    with pytest.raises(InputError):
        read(write(tmp_path / "empty", ""))
    with pytest.raises(InputError):
        read(write(tmp_path / "another", "this is\nno click log\n"))
    with pytest.raises(InputError, match="cut or damaged"):
        read(write(tmp_path / "cut.gz", gzip.compress(b"1\t0\tC\t5\n" * 5000)[:-20]))


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="did you mean 'pyclick'"):
        ClickLog(("log",), "pyclik")
    with pytest.raises(UnknownNameError, match="kind of oddity"):
        Ledger().note("strange", "log", [1])


def test_ledger_lists_the_first_places_only():
    ledger, other = Ledger(), Ledger()
    ledger.note("unknown document", "a", range(1, 4))
    other.note("unknown document", "b", range(1, 100))
    other.note("click before query", "b", [7])
    ledger.merge(other)
    assert ledger.rows() == [
        ("click before query", 1, "b:7"),
        ("unknown document", 102, "a:1 a:2 a:3 b:1 b:2"),
    ]


def test_progress_adds_up_to_the_size(tmp_path):
    write_synthetic_log(tmp_path / "log", 20_000, "progress")
    taken = []
    log = ClickLog((tmp_path / "log",), "yandex")
    summarize_clicks(log, progress=taken.append)
    assert sum(taken) == log.size() > 0
    assert len(taken) > 2


# -------------------------------------------------------------------------------------------------------- statistics


def test_backward_shares_by_hand(tmp_path):
    log = write(
        tmp_path / "log",
        query_line(1, 0, 7, TEN)  # 3 1 1 5: backward, repeat, forward
        + click_line(1, 1, 103)
        + click_line(1, 3, 101)
        + click_line(1, 5, 101)
        + click_line(1, 9, 105)
        + query_line(1, 10, 8, OTHER_TEN)  # 2 3: forward
        + click_line(1, 11, 107)
        + click_line(1, 12, 108)
        + query_line(2, 0, 7, TEN)  # 5 4 3: twice backward
        + click_line(2, 1, 105)
        + click_line(2, 2, 104)
        + click_line(2, 4, 103)
        + query_line(3, 0, 7, TEN)  # one click
        + click_line(3, 1, 105)
        + query_line(4, 0, 7, TEN),
    )
    summary = summarize_clicks(ClickLog((log,), "yandex"))
    assert {share.name: share[1:] for share in summary.backward_shares()} == {
        "transitions": (3, 6),
        "transitions without repeats": (3, 5),
        "query sessions": (2, 5),
        "query sessions with a click": (2, 4),
        "query sessions with a transition": (2, 3),
        "sessions": (2, 4),
        "sessions with a transition": (2, 2),
    }
    assert summary.backward_shares()[0].value == 0.5
    assert math.isnan(ClickSummary().backward_shares()[0].value)
    expected = np.zeros((10, 10), dtype=int)
    for origin, target in [(3, 1), (1, 1), (1, 5), (2, 3), (5, 4), (4, 3)]:
        expected[origin - 1, target - 1] += 1
    assert (summary.counts == expected).all()
    assert summary.clicks_by_rank.tolist() == [2, 1, 3, 1, 3, 0, 0, 0, 0, 0]
    # The last click of session 1 (rank 3), of session 2 (rank 3) and of session 3 have no end.
    assert summary.holding_count.tolist() == [2, 1, 1, 1, 2, 0, 0, 0, 0, 0]
    assert summary.holding_total.tolist() == [2 + 4, 1, 2, 2, 1 + 1, 0, 0, 0, 0, 0]


def test_parts_of_a_log_merge_to_the_whole(tmp_path):
    write_synthetic_log(tmp_path / "whole", 3000, "merge", queries=40)
    lines = (tmp_path / "whole").read_text().splitlines(keepends=True)
    begins = [k for k, (a, b) in enumerate(pairwise(lines), 1) if a.split("\t")[0] != b.split("\t")[0]]
    cut = begins[len(begins) // 3]
    lines.insert(cut, click_line(999_999, 0, 1))  # one oddity
    write(tmp_path / "whole", "".join(lines))
    parts = []
    for name, part in [("first", lines[:cut]), ("second", lines[cut:])]:
        parts.append(ClickLog((write(tmp_path / name, "".join(part)),), "yandex"))
    log = ClickLog((tmp_path / "whole",), "yandex")
    whole = summarize_clicks(log)
    merged = summarize_clicks(parts[0])
    merged.merge(summarize_clicks(parts[1]))
    assert merged.backward_shares() == whole.backward_shares()
    for name in ("counts", "clicks_by_rank", "holding_count", "holding_total", "buckets"):
        assert (getattr(merged, name) == getattr(whole, name)).all()
    assert merged.ledger.counts == whole.ledger.counts == {"click before query": 1}
    assert merged.ledger.records == whole.ledger.records == len(lines)

    together = QueryHolding.empty()
    for part in parts:
        together.merge(query_holding_times(part, merged, minimum_sessions=1))
    expected = query_holding_times(log, whole, minimum_sessions=1)
    for name in ("query", "sessions", "count", "total"):
        assert (getattr(together, name) == getattr(expected, name)).all()
    with pytest.raises(ParameterError):
        whole.merge(ClickSummary(ranks=5))
    with pytest.raises(ParameterError):
        expected.merge(QueryHolding.empty(5))


@pytest.mark.parametrize("buckets", [1, 64, 1 << 22])
def test_frequent_queries_are_exact_whatever_shares_their_bucket(tmp_path, buckets):
    write_synthetic_log(tmp_path / "log", 4000, "frequent", queries=300)
    sessions: dict[int, set[int]] = {}
    for line in (tmp_path / "log").read_text().splitlines():
        fields = line.split("\t")
        if fields[2] == "Q":
            sessions.setdefault(int(fields[3]), set()).add(int(fields[0]))
    expected = {query: len(where) for query, where in sessions.items() if len(where) >= 20}
    log = ClickLog((tmp_path / "log",), "yandex")
    summary = summarize_clicks(log)
    if buckets < len(summary.buckets):
        # As if queries had been scattered into fewer buckets, so that rare ones share theirs with frequent ones.
        sums = np.bincount(np.arange(len(summary.buckets)) % buckets, weights=summary.buckets).astype(int)
        summary.buckets = sums[np.arange(len(summary.buckets)) % buckets]
    holding = query_holding_times(log, summary, minimum_sessions=20)
    assert dict(zip(holding.query.tolist(), holding.sessions.tolist(), strict=True)) == expected
    assert 5 < len(expected) < len(sessions)


def test_a_query_asked_twice_in_a_session_has_one_session_there(tmp_path):
    text = query_line(1, 0, 7, TEN) * 3 + query_line(2, 0, 7, TEN) + query_line(2, 0, 8, TEN)
    log = ClickLog((write(tmp_path / "log", text),), "yandex")
    holding = query_holding_times(log, summarize_clicks(log), minimum_sessions=1)
    assert (holding.query.tolist(), holding.sessions.tolist()) == ([7, 8], [2, 1])


def test_names_of_queries_in_text_keep_their_length(tmp_path):
    # A later chunk brings a longer name than any before.
    text = "1_0\t1,2 : 1\n" * 3 + "123456789_1\t1,2 : 2\n" * 2
    log = ClickLog((write(tmp_path / "log", text),), "pyclick")
    summary = summarize_clicks(log)
    holding = QueryHolding.empty()
    for chunk in log.chunks(Ledger()):
        for name in np.unique(chunk.query):
            holding.add(chunk, chunk.query == name)
    assert holding.query.tolist() == query_holding_times(log, summary, 1).query.tolist() == ["123456789_1", "1_0"]
    assert holding.sessions.tolist() == [2, 3]


# ----------------------------------------------------------------------------------------------------- holding times


def test_holding_parameters_follow_the_paper():
    times = np.array([3.0, 8.0, 1.0, 20.0])
    mu, low, high = holding_parameters(len(times), times.sum())
    assert mu == pytest.approx(1 / times.mean() * 3 / 4)
    assert low < mu < high


def test_the_interval_covers_as_often_as_it_says():
    generator = np.random.default_rng(5)
    samples = expon.rvs(scale=1 / 0.04, size=(20_000, 6), random_state=generator)
    mu, low, high = holding_parameters(np.full(20_000, 6), samples.sum(axis=1), confidence=0.9)
    # 20,000 trials: four standard errors are 0.0085; the estimator has no bias (standard error below 0.0002).
    assert np.mean((low <= 0.04) & (0.04 <= high)) == pytest.approx(0.9, abs=0.0085)
    assert np.mean(low > 0.04) == pytest.approx(0.05, abs=0.0062)
    assert mu.mean() == pytest.approx(0.04, abs=0.0008)


def test_holding_parameters_without_a_value():
    mu, low, high = holding_parameters([0, 1, 3], [0.0, 5.0, 0.0])
    assert np.isnan(mu).all()
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False, True]
    for arguments in [([-1], [1.0]), ([1], [-1.0])]:
        with pytest.raises(ParameterError):
            holding_parameters(*arguments)
    with pytest.raises(ParameterError, match="confidence"):
        holding_parameters([3], [1.0], confidence=1.0)


# ------------------------------------------------------------------------------------------------- transition matrix


@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=4, max_size=4), st.floats(0.01, 10))
@settings(deadline=None, max_examples=50)
def test_learned_matrix_has_one_invariant_law(counts, smoothing):
    matrix = learned_transition_matrix(counts, smoothing)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-12)
    assert (np.diag(matrix) == 0).all()
    assert (matrix[~np.eye(4, dtype=bool)] > 0).all()
    eigenvalues = np.linalg.eigvals(matrix)
    assert np.sum(np.abs(eigenvalues - 1) < 1e-9) == 1


def test_matrices_refuse_what_they_cannot_use():
    for counts in ([[1]], [[1, 2]], [[1, -1], [0, 0]], [[1, math.nan], [0, 0]], [1, 2]):
        with pytest.raises(ParameterError):
            transition_matrix(counts)
        with pytest.raises(ParameterError):
            learned_transition_matrix(counts)
    for smoothing in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ParameterError, match="smoothing"):
            learned_transition_matrix(np.ones((3, 3)), smoothing)


# ------------------------------------------------------------------------------------------------------ the generator


def test_the_same_name_gives_the_same_log(tmp_path):
    for name, seed in [("a", "x"), ("b", "x"), ("c", "y")]:
        write_synthetic_log(tmp_path / name, 200, seed)
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


def test_synthetic_log_is_well_formed(tmp_path):
    written = write_synthetic_log(tmp_path / "log", 500, "form")
    text = (tmp_path / "log").read_text()
    found, odd = literal_yandex(text, 10)
    assert odd == {}
    assert written == len(text.splitlines())
    assert {row[0] for row in found} == set(range(1, 501))
    assert plain(read_yandex(tmp_path / "log", Ledger())) == found


@pytest.mark.parametrize("user", [SyntheticUser(), SyntheticUser(ranks=10, stop=0.2, backward=0.1, no_click=0.0)])
def test_estimates_recover_the_known_user(tmp_path, user):
    write_synthetic_log(tmp_path / "log", 30_000, "recover", user)
    log = ClickLog((tmp_path / "log",), "yandex")
    summary = summarize_clicks(log)
    assert summary.ledger.counts == {}
    assert summary.sessions == 30_000
    share = summary.backward_shares()[0]
    assert share.value == pytest.approx(user.backward_share(), abs=5 * math.sqrt(0.25 / share.total))
    left = summary.counts.sum(axis=1)
    assert np.abs(transition_matrix(summary.counts) - user.transition()).max() < 5 * math.sqrt(0.25 / left.min())
    # The intervals are wide enough that all ten hold at once: 1 - 10 * 1e-4.
    _, low, high = holding_parameters(summary.holding_count, summary.holding_total, confidence=0.9999)
    assert ((low < user.mu()) & (user.mu() < high)).all()
    assert (high / low < 1.6).all()

    holding = query_holding_times(log, summary)
    assert len(holding) > 5
    assert (holding.sessions >= 100).all()
    mu = holding_parameters(holding.count.sum(axis=0), holding.total.sum(axis=0)).mu
    assert mu == pytest.approx(user.mu(), rel=0.25)


def test_backward_share_of_a_user_by_hand():
    # Two ranks: always to the other one. From rank 1 the moves go forward, back, forward ...
    user = SyntheticUser(ranks=2, stop=0.5)
    first = user.first_rank()
    even, odd = 0.5 / (1 - 0.25), 0.25 / (1 - 0.25)  # expected first, third, ... and second, fourth, ... moves
    expected = (first[0] * odd + first[1] * even) / (odd + even)
    assert user.backward_share() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "wrong", [{"stop": 0}, {"stop": 1.5}, {"another_query": 1}, {"backward": -0.1}, {"ranks": 1}, {"reading": -1}]
)
def test_a_synthetic_user_must_be_possible(wrong):
    with pytest.raises(ParameterError):
        SyntheticUser(**wrong)


def test_parameters_that_cannot_be(tmp_path):
    with pytest.raises(ParameterError):
        write_synthetic_log(tmp_path / "log", 0, "none")
    write_synthetic_log(tmp_path / "log", 5, "few")
    log = ClickLog((tmp_path / "log",), "yandex")
    with pytest.raises(ParameterError):
        query_holding_times(log, summarize_clicks(log), minimum_sessions=0)
    with pytest.raises(ParameterError):
        summarize_clicks(log, ranks=1)
    with pytest.raises(ParameterError):
        list(read_yandex(tmp_path / "log", Ledger(), list_size=0))


# ---------------------------------------------------------------------------------------------------------- real logs


def real_log(mirror, format, pattern):
    paths = tuple(sorted(mirror.glob(f"raw.githubusercontent.com/{pattern}")))
    assert paths
    return ClickLog(paths, format)


def test_real_pyclick_sample(mirror):
    log = real_log(mirror, "pyclick", "finde/PyClick/*/examples/data/*Sample.gz")
    summary = summarize_clicks(log)
    assert summary.query_sessions == summary.ledger.records == 56_477
    assert summary.ledger.counts == {"unknown document": 693}
    assert (summary.clicks, summary.transitions, summary.backward, summary.repeats) == (85_481, 46_995, 8_417, 9_057)
    assert summary.query_sessions_with_backward == 5_998
    assert summary.holding_count.sum() == 0
    assert len(query_holding_times(log, summary)) == 20


def test_real_clickmodel_wc_sample(mirror):
    log = real_log(mirror, "clickmodel_wc", "kurakimai/clickmodel_wc/*/sample/t*_data.gz")
    summary = summarize_clicks(log)
    assert summary.query_sessions == 8_809
    assert summary.ledger.counts == {}
    assert (summary.clicks, summary.transitions, summary.backward, summary.repeats) == (9_495, 3_614, 611, 0)
    assert summary.query_sessions_with_backward == 518
    # The last click of each query session has no end.
    assert summary.holding_count.sum() == summary.clicks - summary.query_sessions_with_click == summary.transitions
    holding = query_holding_times(log, summary)
    assert len(holding) == 6
    assert (holding.sessions >= 100).all()


def test_real_trec_session_file(mirror):
    log = real_log(mirror, "trec-session", "ycycwx/trec_session/*/sessiontrack2013.xml.gz")
    summary = summarize_clicks(log)
    assert (summary.sessions, summary.query_sessions, summary.clicks) == (133, 401, 586)
    assert summary.ledger.counts == {"no end of click": 14}
    assert (summary.transitions, summary.backward, summary.repeats, summary.beyond) == (337, 41, 24, 72)
    assert (summary.query_sessions_with_backward, summary.sessions_with_backward) == (36, 34)
