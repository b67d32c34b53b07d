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
from walkeval.configuration import check, read_edition
from walkeval.examination import examine, read_blocks
from walkeval.judging import judge
from walkeval.sessions import read_sessions
from walkeval.sources import read_registry
from walkeval.trec import read_qrels, read_run

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
    check({**read_edition(path), "edition": "mine"}, SCHEMA, path)


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
    "tau-table": _table,
    "registry": _registry,
}

SEEDS: dict[str, list[bytes]] = {
    "qrels": [b"401 0 FBIS3-1 1\n401 0 FT911-2 0\n402\t0\tLA1\t-1\n"],
    "run": [b"401 Q0 FBIS3-1 1 3.5 tag\n401\tQ0\tFT911-2\t2\t-1e-3\ttag\n"],
    "judged": [b"401 0 A 1\n401 0 B 0\n\n401 Q0 B 1 2 t\n401 Q0 A 2 2 t\nq402 Q0 A 1 1 t\n"],
    "gzip": [b"401 Q0 FBIS3-1 1 3.5 tag\n", b"\x08\x00\x00\x00\x00\x00\x00\x03"],
    "yandex": [b"0\t0\tQ\t8\t0\t7\t103\t51\t92\t43\t12\t73\t69\t27\t105\n0\t103\tC\t51\n0\t110\tC\t7\n"],
    "pyclick": [b"[1,2]\t[3,4]\t5\n", b"1 2 3 4\n"],
    "clickmodel_wc": [b"1\t2\t3\t4\n", b"{}\n"],
    "trec-session": [b"<sessiontrack2013><session num='1'><topic num='1'/></session></sessiontrack2013>"],
    "sessions": [b"<sessiontrack2013><session num='1'><topic num='1'/></session></sessiontrack2013>"],
    "claims": [b"claim\tpaper\twhere\twhat\tprinted\tkind\tneeds\na/b\tp\tw\tx\t0.5|0.6\ttau\tnothing\n"],
    "edition": [b"title: mine\nkind: real\ncollections: [trec08]\nreplicates: 3\n"],
    "tau-table": [b"block\tmodel\tsystems\tAP\tRBP\nx\tAP\t50\t1.000\t0.80\nx\tm\t\t0.9**\t0.1\n"],
    "registry": [b"id\turl\tbytes\tsha256\tlicence\tused_for\na\thttps://h.org/p\t1\t" + b"0" * 64 + b"\tx\ty\n"],
}
