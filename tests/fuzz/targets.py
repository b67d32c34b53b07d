"""The readers that take files from outside, as functions of the bytes of a file.

Whatever the bytes, a reader returns or raises a `WalkevalError`; any other exception is a finding. Used by the fuzzer and
by the test that replays its findings.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

from walkeval.claims import read_claims
from walkeval.click_logs import ClickLog, Ledger
from walkeval.configuration import check
from walkeval.datasets import read_collection
from walkeval.examination import examine, read_blocks
from walkeval.judging import judge
from walkeval.sessions import read_sessions
from walkeval.sources import read_registry
from walkeval.synthetic import read_specifications
from walkeval.trec import read_qrels, read_run
from walkeval.yaml_files import read_yaml

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "workflow" / "schemas" / "config.schema.json").read_text(encoding="utf-8"))
MAX_BYTES = 2**22
"""Far more than any input of the fuzzer, so that only a bomb meets it."""


def _qrels(path: Path) -> None:
    read_qrels(path, max_bytes=MAX_BYTES)


def _run(path: Path) -> None:
    read_run(path, max_bytes=MAX_BYTES)


def _judged(path: Path) -> None:
    """The bytes before the first NUL-free blank line are judgements, the others a run."""
    content = path.read_bytes()
    first, _, second = content.partition(b"\n\n")
    qrels, run = path.with_suffix(".qrels"), path.with_suffix(".run")
    qrels.write_bytes(first)
    run.write_bytes(second)
    judge(qrels, {"run": run}, max_bytes=MAX_BYTES).lists()


def _zipped(path: Path) -> None:
    """The bytes as the inside of a gzip file, and as a gzip file themselves."""
    whole = path.with_suffix(".gz")
    whole.write_bytes(gzip.compress(path.read_bytes(), 1))
    try:
        read_run(whole, max_bytes=MAX_BYTES)
    finally:
        whole.write_bytes(b"\x1f\x8b" + path.read_bytes())
        read_run(whole, max_bytes=MAX_BYTES)


def _click_log(kind: str) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        for _ in ClickLog([path], kind).chunks(Ledger()):
            pass

    return read


def _sessions(path: Path) -> None:
    read_sessions(path)


def _claims(path: Path) -> None:
    read_claims([path])


def _edition(path: Path) -> None:
    check({**read_yaml(path), "edition": "mine"}, SCHEMA, path)


def _collection(path: Path) -> None:
    read_collection(path)


def _synthetic(path: Path) -> None:
    read_specifications(path)


def _table(path: Path) -> None:
    examine(read_blocks(path))


def _registry(path: Path) -> None:
    read_registry(path)


TARGETS: dict[str, Callable[[Path], None]] = {
    "qrels": _qrels,
    "run": _run,
    "judged": _judged,
    "gzip": _zipped,
    "yandex": _click_log("yandex"),
    "pyclick": _click_log("pyclick"),
    "clickmodel_wc": _click_log("clickmodel_wc"),
    "trec-session": _click_log("trec-session"),
    "sessions": _sessions,
    "claims": _claims,
    "edition": _edition,
    "collection": _collection,
    "synthetic": _synthetic,
    "tau-table": _table,
    "registry": _registry,
}

_INTERACTION = (
    b'<interaction num="1" starttime="1.5"><query>two words</query><results>'
    b'<result rank="1"><url>u</url><clueweb12id>c-1</clueweb12id></result><result rank="2"><clueweb12id>c-2</clueweb12id></result>'
    b'</results><clicked><click num="1" starttime="2.5" endtime="4"><rank>2</rank></click></clicked></interaction>'
)
_SESSIONS = (
    b'<sessiontrack2013><session num="1" starttime="0"><topic num="7"></topic>'
    + _INTERACTION
    + _INTERACTION
    + b'<currentquery starttime="9">'
    b"<query>more</query></currentquery></session></sessiontrack2013>"
)

SEEDS: dict[str, list[bytes]] = {
    "qrels": [b"401 0 FBIS3-1 1\n401 0 FT911-2 0\n402\t0\tLA1\t-1\n"],
    "run": [b"401 Q0 FBIS3-1 1 3.5 tag\n401\tQ0\tFT911-2\t2\t-1e-3\ttag\n"],
    "judged": [b"401 0 A 1\n401 0 B 0\n\n401 Q0 B 1 2 t\n401 Q0 A 2 2 t\nq402 Q0 A 1 1 t\n"],
    "gzip": [b"401 Q0 FBIS3-1 1 3.5 tag\n", b"\x08\x00\x00\x00\x00\x00\x00\x03"],
    "yandex": [b"0\t0\tQ\t8\t0\t7\t103\t51\t92\t43\t12\t73\t69\t27\t105\n0\t103\tC\t51\n0\t110\tC\t7\n"],
    "pyclick": [b"98_1\t232,688,167 : 688 , 232; 98_1\t232,688,167 :; 9_0\t1,2,3,4 : 4 , 9 , 1 , 1\n"],
    "clickmodel_wc": [
        b"4\t10 11 12\t1 0 1\t1393568686.5 -1 1393568680.25\t0 0 0\n5\t10 11 12\t0 0 0\t-1 -1 -1\t0 0 0\n"
    ],
    "trec-session": [_SESSIONS, b'<!DOCTYPE s [<!ENTITY a "aaaa">]>' + _SESSIONS],
    "sessions": [_SESSIONS, b'<!DOCTYPE s [<!ENTITY a "aaaa">]>' + _SESSIONS],
    "claims": [b"claim\tpaper\twhere\twhat\tprinted\tkind\tneeds\na/b\tp\tw\tx\t0.5|0.6\ttau\tnothing\n"],
    "edition": [
        b"title: mine\nkind: real\ncollections: [trec08]\nreplicates: 3\n",
        b'title: !!bool x\nkind: !!int 3\ntau: &a "\\u20ac"\norder: *a\n',
        b'title: tiny\nkind: synthetic\nsynthetic: s.yaml\ncollections: [alpha, beta]\nmeasures: ["AP", "P@10", \'MP(model="GL_OR_ID")\']\n'
        b"pool_rates: [90, 50]\nbootstrap: 10\nclick_sessions: 100\ntau: b\norder: trec_eval9\nrounding: 4\n",
    ],
    "collection": [
        b"title: x\ntopics: {first: 401, last: 450}\nqrels: a/qrels\nper_topic: {AP: a/b}\nruns_folder: my runs\n",
        b"qrels_file: there/qrels.txt\nruns_glob: 'there/*.txt'\n",
    ],
    "synthetic": [b"a: {topics: 4, runs: 5, relevant: [2, 4, 6], depth: 20, candidates: 60, pool_depth: 10}\n"],
    "tau-table": [b"block\tmodel\tsystems\tAP\tRBP\nx\tAP\t50\t1.000\t0.80\nx\tm\t\t0.9**\t0.1\n"],
    "registry": [b"id\turl\tbytes\tsha256\tlicence\tused_for\na\thttps://h.org/p\t1\t" + b"0" * 64 + b"\tx\ty\n"],
}
