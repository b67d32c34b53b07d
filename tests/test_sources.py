"""Sources: the registry, the order cache - mirror - network, and everything that can go wrong on the way."""

import errno
import gzip
import hashlib
import http.server
import logging
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walkeval import sources
from walkeval.errors import InputError, SourceError
from walkeval.sources import COLUMNS, Credentials, Source, cached_path, fetch, read_registry, relative_path

REGISTRY = Path(__file__).parents[1] / "config" / "sources.tsv"
CONTENT = b"401 0 FBIS3-1 1\n" * 40_000
FAST = {"timeout": 0.5, "connect_timeout": 2.0, "retries": 2, "backoff": 0.01}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers by the first word of the path; `server.seen` lists (path, Range, Authorization)."""

    def do_GET(self):
        seen = self.server.seen
        seen.append((self.path, self.headers.get("Range"), self.headers.get("Authorization")))
        word = self.path.split("/")[1]
        times = sum(path == self.path for path, _, _ in seen)
        if word.isdigit():
            return self.answer(int(word), b"")
        if word == "flaky" and times == 1:
            return self.answer(500, b"")
        if word == "slow" and times == 1:
            self.server.stop.wait(5)
            return None
        if word == "away":
            return self.answer(302, b"", Location=self.server.away)
        if word == "login" and self.headers.get("Authorization") != Credentials("", "me", "secret").header:
            return self.answer(401, b"")
        if word == "wrong":
            return self.answer(200, bytes(len(CONTENT)))
        if word == "long":
            return self.answer(200, CONTENT + CONTENT)
        start = 0
        if self.headers.get("Range") and word != "norange":
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(CONTENT):
                return self.answer(416, b"")
        body = CONTENT[start:]
        cut = len(body) // 2 if word in ("cut", "norange") and times == 1 else len(body)
        headers = {"Content-Range": f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"} if start else {}
        return self.answer(206 if start else 200, body, cut, **headers)

    def answer(self, code, body, cut=None, **headers):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[:cut])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as one:
        one.seen, one.stop, one.away = [], threading.Event(), ""
        one.url = f"http://127.0.0.1:{one.server_address[1]}"
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield one
        one.stop.set()
        one.shutdown()
        thread.join()


def source(url, content=CONTENT, identifier="one"):
    return Source(identifier, url, len(content), hashlib.sha256(content).hexdigest(), "free", "tests")


def place(folder, one, content=CONTENT, suffix=""):
    path = folder / f"{one.relative}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def leftovers(data):
    """Everything below the data folder but the stamps and what was fetched or rejected on purpose."""
    return [one.name for one in data.rglob("*") if one.suffix in (".tmp", ".part")]


def only(results):
    (one,) = results
    return one


OFFLINE = source("https://example.org/some/file")


# The registry


def test_the_registry_of_the_project_is_sound():
    registry = read_registry(REGISTRY)
    assert len(registry) == 221
    assert sum(one.startswith("trec08/run/") for one in registry) == 129
    assert sum(one.startswith("trec14/per-topic/") for one in registry) == 74
    assert registry["trec07/per-topic/ap"].licence == "CC BY-SA 4.0"


def test_the_registry_has_every_file_of_the_mirror(mirror):
    listed = dict(line.split("  ", 1)[::-1] for line in (mirror / "SHA256SUMS").read_text().splitlines())
    assert {one.relative.as_posix(): one.sha256 for one in read_registry(REGISTRY).values()} == listed


@pytest.mark.tried("fetching", "mistake in the registry of sources", "a sentence with file and line")
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"id": "../up"}, "cannot be an id"),
        ({"id": "first"}, "the id 'first' occurs twice"),
        ({"url": "http://example.org/b"}, "does not start with https://"),
        ({"url": "ftp://example.org/b"}, "does not start with https://"),
        ({"url": "https://me:secret@example.org/b"}, "no plain host name"),
        ({"url": "https://example.org:8080/b"}, "names a port"),
        ({"url": "https://example.org:x/b"}, "malformed"),
        ({"url": "https://example.org/b?c=d"}, "query"),
        ({"url": "https://example.org/../b"}, "cannot become a file name"),
        ({"url": "https://example.org/x/%2e%2e/b"}, "cannot become a file name"),
        ({"url": "https://example.org/x\\b"}, "cannot become a file name"),
        ({"url": "https://example.org//b"}, "cannot become a file name"),
        ({"url": "https://example.org/"}, "cannot become a file name"),
        ({"url": "https://example.org/a"}, "share one file"),
        ({"url": "https://../b"}, "no plain host name"),
        ({"bytes": "-1"}, "whole number"),
        ({"bytes": "1.5"}, "whole number"),
        ({"sha256": "abc"}, "64 hexadecimal digits"),
        ({"sha256": "G" * 64}, "64 hexadecimal digits"),
        ({"licence": ""}, "must not be empty"),
        ({"used_for": "x\ty"}, "has 7 columns where 6 belong"),
    ],
)
def test_an_error_in_the_registry_names_file_and_line(tmp_path, change, sentence):
    good = dict(zip(COLUMNS, ("first", "https://example.org/a", "1", "0" * 64, "x", "y"), strict=True))
    bad = {**good, "id": "second", "url": "https://example.org/b", **change}
    path = tmp_path / "sources.tsv"
    path.write_text("\n".join("\t".join(row) for row in (COLUMNS, good.values(), bad.values())) + "\n")
    with pytest.raises(InputError) as caught:
        read_registry(path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert sentence in str(caught.value)


@pytest.mark.tried("fetching", "registry that is none", "a sentence")
@pytest.mark.parametrize("content", [b"", b"id,url\n", b"\xff\xfe\x00"])
def test_a_file_that_is_no_registry_is_refused(tmp_path, content):
    path = tmp_path / "sources.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=str(path)):
        read_registry(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_registry(tmp_path / "none.tsv")


@given(st.text(alphabet="./\\%2eab:~\x00 ", max_size=20))
def test_no_url_leads_out_of_its_folder(rest):
    try:
        relative = relative_path(f"https://example.org/{rest}")
    except ValueError:
        return
    assert relative.parts[0] == "example.org" and len(relative.parts) > 1
    assert not {".", "..", ""} & set(relative.parts)
    assert os.path.normpath(relative) == str(relative)


# Cache and mirror


@pytest.mark.parametrize("packed", [False, True])
def test_the_mirror_may_be_plain_or_gzipped(tmp_path, packed):
    mirror, data = tmp_path / "mirror", tmp_path / "data"
    place(mirror, OFFLINE, gzip.compress(CONTENT) if packed else CONTENT, ".gz" if packed else "")
    first = only(fetch([OFFLINE], data, mirror, network=False))
    assert (first.status, first.path) == ("mirrored", cached_path(OFFLINE, data))
    assert first.path.read_bytes() == CONTENT
    assert only(fetch([OFFLINE], data, network=False)).status == "cached"
    assert leftovers(data) == []


def test_what_a_mirror_offers_is_noted_once(tmp_path):
    other = source("https://example.org/some/other", identifier="other")
    place(tmp_path / "mirror", OFFLINE)
    noted = tmp_path / "data" / "edition" / "offers.txt"

    def note(mirror):
        before = noted.stat().st_mtime_ns if noted.exists() else None
        sources.note_offers(noted, [OFFLINE, other], tmp_path / "data", mirror)
        return noted.stat().st_mtime_ns != before

    assert note(None)
    assert noted.read_text() == ""
    assert note(tmp_path / "mirror")
    assert noted.read_text().startswith("one ")
    assert not note(tmp_path / "mirror")
    fetch([OFFLINE], tmp_path / "data", tmp_path / "mirror", network=False)
    # Its files are here: the mirror may go, move or come back.
    assert not any(note(mirror) for mirror in (None, tmp_path / "nowhere", tmp_path / "mirror"))
    place(tmp_path / "mirror", other, b"wrong", suffix=".gz")
    assert note(tmp_path / "mirror")
    assert fetch([other], tmp_path / "data", tmp_path / "mirror", network=False)[0].status == "rejected"
    assert not note(tmp_path / "mirror")
    place(tmp_path / "mirror", other, b"mended", suffix=".gz")
    assert note(tmp_path / "mirror")
    assert [line.split()[0] for line in noted.read_text().splitlines()] == ["one", "other", "other"]


def test_the_cache_is_not_read_twice_but_a_change_is_seen(tmp_path, monkeypatch):
    place(tmp_path / "sources", OFFLINE)
    assert only(fetch([OFFLINE], tmp_path, network=False)).status == "cached"
    calls = []
    real = sources.check
    monkeypatch.setattr(sources, "check", lambda *arguments: calls.append(1) or real(*arguments))
    assert only(fetch([OFFLINE], tmp_path, network=False)).status == "cached"
    assert calls == []
    path = cached_path(OFFLINE, tmp_path)
    times = path.stat()
    path.write_bytes(b"x" + CONTENT[1:])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert only(fetch([OFFLINE], tmp_path, network=False)).status == "rejected"
    assert calls == [1]


def test_a_damaged_stamp_file_costs_only_time(tmp_path):
    place(tmp_path / "sources", OFFLINE)
    (tmp_path / "sources" / "verified.tsv").write_bytes(b"\xff\x00 nonsense")
    assert only(fetch([OFFLINE], tmp_path, network=False)).status == "cached"


@pytest.mark.tried("fetching", "wrong checksum in the cache", "set aside, never used")
def test_a_wrong_cached_file_is_set_aside_and_named(tmp_path):
    path = place(tmp_path / "sources", OFFLINE, b"x" + CONTENT[1:])
    result = only(fetch([OFFLINE], tmp_path, network=False))
    assert (result.status, result.path) == ("rejected", None)
    found = hashlib.sha256(b"x" + CONTENT[1:]).hexdigest()
    assert all(word in result.reason for word in (str(path), OFFLINE.sha256, found, ".rejected"))
    assert not path.exists()
    assert Path(f"{path}.rejected").read_bytes() == b"x" + CONTENT[1:]


@pytest.mark.tried("fetching", "wrong checksum in the cache", "set aside, never used")
def test_a_wrong_cached_file_is_replaced_from_the_mirror(tmp_path):
    path = place(tmp_path / "data" / "sources", OFFLINE, b"old")
    place(tmp_path / "mirror", OFFLINE)
    result = only(fetch([OFFLINE], tmp_path / "data", tmp_path / "mirror", network=False))
    assert result.status == "mirrored" and "set aside" in result.reason
    assert path.read_bytes() == CONTENT


@pytest.mark.tried("fetching", "wrong, cut, too long or bursting file in the mirror", "set aside, never used")
@pytest.mark.parametrize(
    ("content", "suffix", "sentence"),
    [
        (b"x" + CONTENT[1:], "", "was expected to have sha256"),
        (CONTENT[:-1], "", f"found {len(CONTENT) - 1}"),
        (CONTENT + b"x", "", "found more"),
        (gzip.compress(CONTENT)[:-20], ".gz", "cannot be read"),
        (b"not gzip", ".gz", "cannot be read"),
        (gzip.compress(bytes(30_000_000)), ".gz", "found more"),
    ],
)
def test_a_wrong_mirrored_file_is_never_used(tmp_path, content, suffix, sentence):
    place(tmp_path / "mirror", OFFLINE, content, suffix)
    data = tmp_path / "data"
    result = only(fetch([OFFLINE], data, tmp_path / "mirror", network=False))
    assert (result.status, result.path) == ("rejected", None)
    assert sentence in result.reason and str(tmp_path / "mirror") in result.reason
    assert not cached_path(OFFLINE, data).exists()
    # A gzip bomb stops at the size that the registry states, plus the byte that shows that there is more.
    assert all(one.stat().st_size <= len(CONTENT) + 1 for one in data.rglob("*.rejected"))
    assert leftovers(data) == []


@pytest.mark.tried("fetching", "full disk", "a sentence; nothing left behind")
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path, monkeypatch, server):
    def full(handle, piece):
        handle.write(piece[:100])
        handle.flush()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sources, "_write", full)
    place(tmp_path / "mirror", OFFLINE)
    data = tmp_path / "data"
    for one, mirror in ((OFFLINE, tmp_path / "mirror"), (source(f"{server.url}/plain/file"), None)):
        with pytest.raises(SourceError, match="no space is left on the disk"):
            fetch([one], data, mirror, **FAST)
        assert [there for there in data.rglob("*") if there.is_file()] == []


def test_a_mirror_that_is_no_directory_is_an_error(tmp_path):
    with pytest.raises(SourceError, match="is not a directory"):
        fetch([OFFLINE], tmp_path, tmp_path / "none")


def test_nothing_at_hand_is_no_error(tmp_path):
    result = only(fetch([OFFLINE], tmp_path, network=False))
    assert (result.status, result.path) == ("missing", None)
    assert "the network was not asked" in result.reason


# The network


def test_a_download_is_checked_and_kept(tmp_path, server):
    one = source(f"{server.url}/plain/file")
    assert only(fetch([one], tmp_path, **FAST)).status == "downloaded"
    assert cached_path(one, tmp_path).read_bytes() == CONTENT
    assert only(fetch([one], tmp_path, **FAST)).status == "cached"
    assert len(server.seen) == 1
    assert leftovers(tmp_path) == []


def test_an_empty_file_can_be_fetched(tmp_path, server):
    one = source(f"{server.url}/200/empty", b"")
    assert only(fetch([one], tmp_path, **FAST)).status == "downloaded"


@pytest.mark.tried("fetching", "wrong checksum or size of a download", "set aside, never used")
@pytest.mark.parametrize("word", ["wrong", "long"])
def test_a_wrong_download_is_set_aside(tmp_path, server, word):
    one = source(f"{server.url}/{word}/file")
    result = only(fetch([one], tmp_path, **FAST))
    assert (result.status, result.path) == ("rejected", None)
    assert one.url in result.reason and "expected" in result.reason and "found" in result.reason
    assert not cached_path(one, tmp_path).exists()
    assert Path(f"{cached_path(one, tmp_path)}.rejected").stat().st_size <= len(CONTENT) + 1
    assert leftovers(tmp_path) == []


@pytest.mark.tried("fetching", "download cut off", "resumed, or begun anew; whole in the end")
def test_a_truncated_download_is_resumed(tmp_path, server):
    one = source(f"{server.url}/cut/file")
    assert only(fetch([one], tmp_path, **FAST)).status == "downloaded"
    assert [asked for _, asked, _ in server.seen] == [None, f"bytes={len(CONTENT) // 2}-"]


@pytest.mark.tried("fetching", "download cut off", "resumed, or begun anew; whole in the end")
def test_a_server_without_ranges_is_asked_for_the_whole(tmp_path, server):
    one = source(f"{server.url}/norange/file")
    assert only(fetch([one], tmp_path, **FAST)).status == "downloaded"
    assert len(server.seen) == 2


@pytest.mark.tried("fetching", "download cut off", "resumed, or begun anew; whole in the end")
@pytest.mark.parametrize(
    ("before", "asked"),
    [
        (CONTENT[:1000], ["bytes=1000-"]),
        (b"y" * 1000, ["bytes=1000-", None]),  # a bad beginning: once more from the start
        (CONTENT, []),
        (CONTENT + b"x", [None]),
    ],
)
def test_an_unfinished_file_of_an_earlier_call_is_resumed(tmp_path, server, before, asked):
    one = source(f"{server.url}/plain/file")
    place(tmp_path / "sources", one, before, ".part")
    assert only(fetch([one], tmp_path, **FAST)).status == "downloaded"
    assert [there for _, there, _ in server.seen] == asked
    assert leftovers(tmp_path) == []


@pytest.mark.tried("fetching", "slow answer, or a failure that passes", "asked again")
@pytest.mark.parametrize("word", ["flaky", "slow"])
def test_a_passing_trouble_is_asked_again(tmp_path, server, word):
    assert only(fetch([source(f"{server.url}/{word}/file")], tmp_path, **FAST)).status == "downloaded"
    assert len(server.seen) == 2


@pytest.mark.tried("fetching", "answer 401, 403 or 404", "told as missing, with what to do")
@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_refusal_is_asked_once(tmp_path, server, code):
    result = only(fetch([source(f"{server.url}/{code}/file")], tmp_path, **FAST))
    assert result.status == "missing" and str(code) in result.reason
    assert len(server.seen) == 1
    assert leftovers(tmp_path) == []


@pytest.mark.tried(
    "fetching", "host that only fails (503) or is not there", "given up for all its files, told as missing"
)
def test_a_host_that_only_fails_is_given_up_for_all_files(tmp_path, server):
    several = [source(f"{server.url}/503/{number}", identifier=f"n{number}") for number in range(4)]
    results = fetch(several, tmp_path, **FAST)
    assert {one.status for one in results} == {"missing"}
    assert {path for path, _, _ in server.seen} == {"/503/0"}
    assert len(server.seen) == 1 + FAST["retries"]


@pytest.mark.tried(
    "fetching", "host that only fails (503) or is not there", "given up for all its files, told as missing"
)
def test_a_host_that_cannot_be_reached_is_asked_once(tmp_path, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    calls = []
    real = socket.create_connection
    monkeypatch.setattr(socket, "create_connection", lambda *a, **k: calls.append(a) or real(*a, **k))
    several = [source(f"http://127.0.0.1:{port}/{number}", identifier=f"n{number}") for number in range(50)]
    results = fetch(several, tmp_path, **FAST)
    assert {one.status for one in results} == {"missing"}
    assert all("cannot be reached" in one.reason for one in results)
    assert len(calls) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_host_that_is_known_to_be_down_is_not_asked(tmp_path, server):
    net = sources.Network(**FAST)
    net.down[server.url.removeprefix("http://")] = "it is down"
    with open(tmp_path / "file", "w+b") as handle, pytest.raises(sources.Unreachable, match="it is down"):
        net.download(f"{server.url}/plain/file", handle, len(CONTENT), len(CONTENT), lambda count: None)
    assert server.seen == []


@pytest.mark.tried(
    "fetching", "host that only fails (503) or is not there", "given up for all its files, told as missing"
)
def test_a_name_that_is_never_resolved_does_not_hold_up(tmp_path, monkeypatch):
    stop = threading.Event()

    def hang(*arguments, **options):
        stop.wait(60)
        raise OSError("too late")

    monkeypatch.setattr(socket, "create_connection", hang)
    try:
        result = only(fetch([OFFLINE], tmp_path, connect_timeout=0.1))
    finally:
        stop.set()
    assert result.status == "missing" and "no answer within 0.1 s" in result.reason


def test_a_redirect_is_followed_on_loopback(tmp_path, server):
    server.away = f"{server.url}/plain/there"
    assert only(fetch([source(f"{server.url}/away/file")], tmp_path, **FAST)).status == "downloaded"


@pytest.mark.tried("fetching", "redirect away from https", "refused")
@pytest.mark.parametrize(
    ("away", "sentence"),
    [
        ("http://example.org/file", "an address that is not https"),
        ("ftp://example.org/file", "an address that is not https"),
        ("file:///etc/hostname", "answered 302"),  # refused by the standard library before we are asked
    ],
)
def test_a_redirect_to_anything_but_https_is_refused(tmp_path, server, away, sentence):
    server.away = away
    result = only(fetch([source(f"{server.url}/away/file")], tmp_path, **FAST))
    assert result.status == "missing" and sentence in result.reason
    assert len(server.seen) == 1


@pytest.mark.tried("fetching", "login asked for by another host", "not sent, and in no log")
def test_the_environment_login_is_for_nist_only(tmp_path, server, monkeypatch):
    monkeypatch.setenv("TREC_USER", "me")
    monkeypatch.setenv("TREC_PASSWORD", "secret")
    assert only(fetch([source(f"{server.url}/login/file")], tmp_path, **FAST)).status == "missing"
    assert server.seen[0][2] is None
    assert sources.nist_credentials().host == "trec.nist.gov"
    assert "secret" not in repr(sources.nist_credentials())


@pytest.mark.tried("fetching", "login asked for by another host", "not sent, and in no log")
def test_a_login_stays_with_its_host(tmp_path, server, caplog):
    caplog.set_level(logging.DEBUG)
    net = sources.Network(**FAST, credentials=Credentials("127.0.0.1", "me", "secret"))
    with open(tmp_path / "file", "w+b") as handle:
        net.download(f"{server.url}/login/file", handle, len(CONTENT), len(CONTENT), lambda count: None)
    server.away = f"{server.url}/login/there"  # the same host: sent again
    with open(tmp_path / "file", "w+b") as handle:
        net.download(f"{server.url}/away/file", handle, len(CONTENT), len(CONTENT), lambda count: None)
    server.away = server.url.replace("127.0.0.1", "localhost") + "/login/elsewhere"
    with open(tmp_path / "file", "w+b") as handle, pytest.raises(sources.Refused) as caught:
        net.download(f"{server.url}/away/file", handle, len(CONTENT), len(CONTENT), lambda count: None)
    assert caught.value.code == 401
    sent = {path: authorization for path, _, authorization in server.seen}
    assert sent["/login/file"] and sent["/login/there"]
    assert sent["/login/elsewhere"] is None
    header = Credentials("127.0.0.1", "me", "secret").header
    assert not any(word in f"{caught.value!r} {caplog.text}" for word in ("secret", header))


@pytest.mark.tried("fetching", "three processes fetching the same file at once", "one whole file")
def test_two_processes_can_fetch_at_once(tmp_path, server):
    one = source(f"{server.url}/plain/file")
    program = (
        "import sys; from walkeval.sources import *; "
        "print(fetch([Source('one', sys.argv[1], int(sys.argv[2]), sys.argv[3], 'x', 'y')], sys.argv[4])[0].status)"
    )
    arguments = [sys.executable, "-c", program, one.url, str(one.bytes), one.sha256, str(tmp_path / "data")]
    root = Path(__file__).parents[1]
    several = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(3)]
    assert {process.communicate(timeout=60)[0].strip() for process in several} <= {"downloaded", "cached"}
    assert cached_path(one, tmp_path / "data").read_bytes() == CONTENT
    assert leftovers(tmp_path / "data") == []


def test_a_part_file_that_is_in_use_is_left_alone(tmp_path):
    target = tmp_path / "file"
    with sources.part_file(target) as first, sources.part_file(target) as second:
        assert first.name != second.name
        first.write(b"first")
        second.write(b"second")
        first.flush()
        assert (tmp_path / "file.part").read_bytes() == b"first"
    assert [one.name for one in tmp_path.iterdir()] == ["file.part"]
    with sources.part_file(target) as again:
        assert again.seek(0, os.SEEK_END) == 5


@pytest.mark.tried("fetching", "write that fails half-way", "the old file stays")
def test_an_atomic_write_leaves_the_old_file_when_it_fails(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError), sources.atomic_write(path) as handle:
        handle.write(b"new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_the_whole_mirror_is_taken(tmp_path, mirror):
    registry = read_registry(REGISTRY)
    small = [one for one in registry.values() if "/run/" not in one.id]
    assert {one.status for one in fetch(small, tmp_path, mirror, network=False)} == {"mirrored"}
    assert {one.status for one in fetch(small, tmp_path, mirror, network=False)} == {"cached"}
