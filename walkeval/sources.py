"""Sources: the files that others publish, named in a registry, fetched and checked.

`fetch` looks in the cache, then in a mirror directory, then on the network. A file is used only if it has the checksum
that the registry states; what has another one is renamed `<name>.rejected` and never read again.
"""

from __future__ import annotations

import base64
import errno
import fcntl
import gzip
import hashlib
import http.client
import os
import re
import socket
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from walkeval.errors import InputError, SourceError

COLUMNS = ("id", "url", "bytes", "sha256", "licence", "used_for")
NIST_HOST = "trec.nist.gov"
LOOPBACK = frozenset({"127.0.0.1", "localhost"})
CHUNK = 1 << 18

_SEGMENT = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=@-]+")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Source:
    """One line of the registry; `bytes` and `sha256` are those of the plain (not gzipped) file."""

    id: str
    url: str
    bytes: int
    sha256: str
    licence: str
    used_for: str

    @property
    def relative(self) -> Path:
        """Where the file lies below a cache or a mirror: `<host>/<path>`."""
        return relative_path(self.url)


@dataclass(frozen=True)
class FetchResult:
    """What became of one source: status is cached, mirrored, downloaded, missing or rejected.

    `path` is the checked file, or None when there is none; `reason` says why, and what was set aside on the way.
    """

    source: Source
    status: str
    path: Path | None
    reason: str = ""


@dataclass(frozen=True)
class Credentials:
    """A login for one host; it is sent to no other, and its text form does not show it."""

    host: str
    user: str = field(repr=False)
    password: str = field(repr=False)

    @property
    def header(self) -> str:
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")


def nist_credentials() -> Credentials | None:
    """The login for NIST's archive from TREC_USER and TREC_PASSWORD, or None when either is unset."""
    user, password = os.environ.get("TREC_USER"), os.environ.get("TREC_PASSWORD")
    return Credentials(NIST_HOST, user, password) if user and password else None


def relative_path(url: str) -> Path:
    """`<host>/<path>` for a URL, or ValueError when that could point anywhere else.

    Plain http is taken from loopback hosts only.

    >>> relative_path("https://example.org/data/qrels.txt").as_posix()
    'example.org/data/qrels.txt'
    >>> relative_path("https://example.org/../qrels.txt")
    Traceback (most recent call last):
    ValueError: the URL has a part '..', which cannot become a file name
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("the URL is malformed") from None
    if parts.scheme != "https" and not (parts.scheme == "http" and host in LOOPBACK):
        raise ValueError("the URL does not start with https://")
    if not _HOST.fullmatch(host) or ".." in host or parts.username is not None or parts.password is not None:
        raise ValueError("the URL has no plain host name")
    if port is not None and host not in LOOPBACK:
        raise ValueError("the URL names a port")
    if parts.query or parts.fragment:
        raise ValueError("the URL has a query or a fragment")
    segments = parts.path.split("/")[1:]
    for segment in segments or [""]:
        if not _SEGMENT.fullmatch(segment) or set(segment) == {"."}:
            raise ValueError(f"the URL has a part {segment!r}, which cannot become a file name")
    return Path(host, *segments)


def read_registry(path: str | os.PathLike[str]) -> dict[str, Source]:
    """The registry of sources, a table with tabs and the columns id, url, bytes, sha256, licence, used_for."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(path, "is not a text file in UTF-8") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        raise InputError(path, f"the first line must name the columns {', '.join(COLUMNS)}, with tabs between", 1)
    registry: dict[str, Source] = {}
    owner: dict[Path, str] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        values = line.split("\t")
        if len(values) != len(COLUMNS):
            raise InputError(path, f"has {len(values)} columns where {len(COLUMNS)} belong", number)
        identifier, url, size, sha256, licence, used_for = values
        if not _IDENTIFIER.fullmatch(identifier):
            raise InputError(path, f"{identifier!r} cannot be an id: use letters, digits and . _ + - /", number)
        if identifier in registry:
            raise InputError(path, f"the id {identifier!r} occurs twice", number)
        if not (size.isascii() and size.isdigit()):
            raise InputError(path, f"bytes must be a whole number, not {size!r}", number)
        if not _SHA256.fullmatch(sha256):
            raise InputError(path, f"sha256 must be 64 hexadecimal digits in lower case, not {sha256!r}", number)
        if not licence or not used_for:
            raise InputError(path, "licence and used_for must not be empty", number)
        try:
            relative = relative_path(url)
        except ValueError as error:
            raise InputError(path, f"{error}: {url}", number) from None
        if relative in owner:
            raise InputError(path, f"the ids {owner[relative]!r} and {identifier!r} share one file", number)
        owner[relative] = identifier
        registry[identifier] = Source(identifier, url, int(size), sha256, licence, used_for)
    return registry


def cached_path(source: Source, data: str | os.PathLike[str]) -> Path:
    """Where the checked file of a source lies once it has been fetched (it need not exist)."""
    return Path(data, "sources") / source.relative


def mirror_folder(configuration: Mapping[str, Any]) -> str | None:
    """A folder that stands for the network: from an edition, or from the environment."""
    return configuration["mirror"] or os.environ.get("WALKEVAL_MIRROR") or None


def note_offers(
    path: str | os.PathLike[str],
    sources: Iterable[Source],
    data: str | os.PathLike[str],
    mirror: str | os.PathLike[str] | None,
) -> None:
    """Add to a list the sources that a mirror has and the cache lacks. Written only where one was not listed before.

    So the file changes when there is something new to fetch, and not when a mirror is moved, emptied or left out after
    its files were taken.
    """
    place = Path(path)
    noted = set(place.read_text(encoding="utf-8").splitlines()) if place.exists() else set()
    # With size and time: a file that was wrong, and was not taken, may have been mended.
    offers = {
        f"{one.id} {path.stat().st_size} {path.stat().st_mtime_ns}"
        for one in sources
        if not cached_path(one, data).exists()
        for path, _ in _mirrored(one, mirror)
    }
    if not place.exists() or offers - noted:
        with atomic_write(place) as file:
            file.write("".join(f"{one}\n" for one in sorted(noted | offers)).encode())


def _mirrored(source: Source, mirror: str | os.PathLike[str] | None) -> list[tuple[Path, bool]]:
    """The files of a mirror that may be a source, and whether each is gzipped."""
    if mirror is None:
        return []
    plain = Path(mirror) / source.relative
    found = [(plain, False), (plain.with_name(f"{plain.name}.gz"), True)]
    return [(path, gzipped) for path, gzipped in found if path.is_file()]


def check(path: Path, source: Source) -> str:
    """Empty when the file is what the registry says, otherwise the sentence that names file, expected and found."""
    size = path.stat().st_size
    if size != source.bytes:
        return f"{path} was expected to have {source.bytes} bytes, found {size}"
    with open(path, "rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != source.sha256:
        return f"{path} was expected to have sha256 {source.sha256}, found {found}"
    return ""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when the block ends well; one sentence if the disk does not take it."""
    path = Path(path)
    with _temporary(path) as handle:
        yield handle
        with disk(path):
            handle.flush()
            os.replace(handle.name, path)


@contextmanager
def _temporary(target: Path) -> Iterator[IO[bytes]]:
    """A file of our own beside `target`, gone at the end unless the block has moved it."""
    with disk(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".tmp")
        os.close(descriptor)
    try:
        os.chmod(name, 0o644)  # mkstemp makes it private, but a data folder is often shared
        with open(name, "r+b") as handle:
            yield handle
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def disk(path: Path) -> Iterator[None]:
    """Turns an error of the disk into the sentence that the user needs."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SourceError(f"no space is left on the disk for {path}: free some and run again") from None
        raise SourceError(f"{path} cannot be written: {error.strerror or error}") from None


def fetch(
    sources: Iterable[Source],
    data: str | os.PathLike[str],
    mirror: str | os.PathLike[str] | None = None,
    network: bool = True,
    progress: bool | None = None,
    *,
    timeout: float = 20.0,
    connect_timeout: float = 4.0,
    retries: int = 3,
    backoff: float = 1.0,
) -> list[FetchResult]:
    """Fetch sources into `<data>/sources/<host>/<path>`: from there, else from the mirror, else from the network.

    The mirror is laid out as `<host>/<path>`, each file plain or gzipped with `.gz` appended. Being offline is no
    error: the results say what is missing and why. A full disk is a SourceError. `progress` None shows a bar when
    standard error is a terminal.
    """
    sources = list(sources)
    folder = Path(data, "sources")
    if mirror is not None and not Path(mirror).is_dir():
        raise SourceError(f"the mirror {mirror} is not a directory")
    stamps = _Stamps(folder)
    try:
        results = {source.id: _fetch_locally(source, folder, mirror, stamps) for source in sources}
        wanted = [source for source in sources if results[source.id].path is None]
        if network and wanted:
            net = Network(timeout, connect_timeout, retries, backoff, nist_credentials())
            net.probe(source.url for source in wanted)
            with _bar(sum(source.bytes for source in wanted), progress) as tick:
                for source in wanted:
                    before = results[source.id]
                    after = _fetch_remotely(source, folder, net, stamps, tick)
                    status = before.status if after.status == "missing" else after.status
                    reason = "; ".join(filter(None, (before.reason, after.reason)))
                    results[source.id] = FetchResult(source, status, after.path, reason)
    finally:
        stamps.save()
    return [
        (
            FetchResult(one.source, one.status, None, "neither in the cache nor in a mirror; the network was not asked")
            if one.status == "missing" and not one.reason
            else one
        )
        for one in (results[source.id] for source in sources)
    ]


class _Stamps:
    """Which cached files were checked before: by size and times, so that a second run need not read them again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "verified.tsv"
        self.known: dict[str, str] = {}
        self.changed = False
        # A lost or damaged stamp file costs time, never correctness.
        with suppress(OSError, UnicodeDecodeError):
            for line in self.path.read_text(encoding="utf-8").splitlines():
                name, _, stamp = line.partition("\t")
                self.known[name] = stamp

    def _stamp(self, path: Path, source: Source) -> str:
        # The time of change (ctime) cannot be set back by a tool that rewrites a file and restores its mtime.
        status = path.stat()
        return f"{status.st_size}\t{status.st_mtime_ns}\t{status.st_ctime_ns}\t{source.sha256}"

    def check(self, path: Path, source: Source) -> str:
        stamp = self._stamp(path, source)
        name = source.relative.as_posix()
        if self.known.get(name) == stamp:
            return ""
        trouble = check(path, source)
        if not trouble:
            self.known[name] = stamp
            self.changed = True
        return trouble

    def add(self, path: Path, source: Source) -> None:
        self.known[source.relative.as_posix()] = self._stamp(path, source)
        self.changed = True

    def save(self) -> None:
        if self.changed:
            with atomic_write(self.path) as handle:
                for name, stamp in sorted(self.known.items()):
                    handle.write(f"{name}\t{stamp}\n".encode())


def _set_aside(path: Path, target: Path, trouble: str) -> str:
    rejected = target.with_name(target.name + ".rejected")
    with disk(rejected):
        os.replace(path, rejected)
    return f"{trouble}; set aside as {rejected}"


def _fetch_locally(source: Source, folder: Path, mirror: str | os.PathLike[str] | None, stamps: _Stamps) -> FetchResult:
    target = folder / source.relative
    reasons = []
    try:
        if target.is_file():
            trouble = stamps.check(target, source)
            if not trouble:
                return FetchResult(source, "cached", target)
            reasons.append(_set_aside(target, target, trouble))
    except FileNotFoundError:
        pass  # another process set it aside between two looks
    except OSError as error:
        raise SourceError(f"{target} cannot be read: {error.strerror}") from None
    for candidate, gzipped in _mirrored(source, mirror):
        trouble = _copy(candidate, gzipped, source, target)
        if not trouble:
            stamps.add(target, source)
            return FetchResult(source, "mirrored", target, "; ".join(reasons))
        reasons.append(trouble)
    return FetchResult(source, "rejected" if reasons else "missing", None, "; ".join(reasons))


class _Damaged(Exception):
    pass


def _pieces(path: Path, gzipped: bool, limit: int) -> Iterator[bytes]:
    """The plain bytes of a file, cut off just after `limit` (so that no archive can fill the disk)."""
    try:
        with gzip.open(path, "rb") if gzipped else open(path, "rb") as handle:
            while limit >= 0 and (piece := handle.read(min(CHUNK, limit + 1))):
                limit -= len(piece)
                yield piece
    except (OSError, EOFError, zlib.error) as error:  # BadGzipFile is an OSError
        raise _Damaged(f"{path} cannot be read ({error})") from None


def _copy(origin: Path, gzipped: bool, source: Source, target: Path) -> str:
    """Copy a mirrored file into the cache; the trouble, in one sentence, if it is not what the registry says."""
    digest, size = hashlib.sha256(), 0
    rejected = target.with_name(target.name + ".rejected")
    with _temporary(target) as handle:
        try:
            for piece in _pieces(origin, gzipped, source.bytes):
                digest.update(piece)
                size += len(piece)
                with disk(target):
                    _write(handle, piece)
            trouble = ""
        except _Damaged as damage:
            trouble = str(damage)
        if not trouble and size != source.bytes:
            found = "more" if size > source.bytes else size
            trouble = f"{origin} was expected to hold {source.bytes} bytes, found {found}"
        if not trouble and digest.hexdigest() != source.sha256:
            trouble = f"{origin} was expected to have sha256 {source.sha256}, found {digest.hexdigest()}"
        with disk(target):
            handle.flush()
            os.replace(handle.name, rejected if trouble else target)
    return f"{trouble}; its copy was set aside as {rejected}" if trouble else ""


def _write(handle: IO[bytes], piece: bytes) -> None:
    handle.write(piece)


# The network ---------------------------------------------------------------------------------------------------------


class Refused(Exception):
    """The server answered, but with no file: asking again does not help. `code` is the HTTP status, or 0."""

    def __init__(self, sentence: str, code: int = 0):
        super().__init__(sentence)
        self.code = code


class Unreachable(Exception):
    """The host does not answer, or not to the end, also when asked again."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to https only (to loopback http from loopback http); the login stays with its own host."""

    def __init__(self, credentials: Credentials | None):
        self.credentials = credentials

    def redirect_request(self, request, handle, code, message, headers, new_url):
        old, new = urlsplit(request.full_url), urlsplit(new_url)
        to_loopback = old.scheme == new.scheme == "http" and old.hostname in LOOPBACK and new.hostname in LOOPBACK
        if new.scheme != "https" and not to_loopback:
            raise Refused(f"the server redirects to an address that is not https (host {new.hostname})", code)
        redirected = super().redirect_request(request, handle, code, message, headers, new_url)
        if redirected is not None:
            _authorize(redirected, self.credentials)
        return redirected


def _authorize(request: urllib.request.Request, credentials: Credentials | None) -> None:
    parts = urlsplit(request.full_url)
    if credentials is None or parts.hostname != credentials.host:
        return
    if parts.scheme == "https" or parts.hostname in LOOPBACK:
        # "Unredirected" headers are not copied to the next request by urllib: each host is looked at anew.
        request.add_unredirected_header("Authorization", credentials.header)


class Network:
    """Asks hosts for files, and remembers for its lifetime which hosts do not answer."""

    def __init__(
        self,
        timeout: float = 20.0,
        connect_timeout: float = 4.0,
        retries: int = 3,
        backoff: float = 1.0,
        credentials: Credentials | None = None,
    ):
        self.timeout = timeout
        self.connect_timeout = connect_timeout
        self.retries = retries
        self.backoff = backoff
        self.credentials = credentials
        self.down: dict[str, str] = {}

    def probe(self, urls: Iterable[str]) -> None:
        """Open and close one connection to each host, all at once; who does not answer in time counts as down.

        In threads, because looking up a name has no time-out of its own; they are daemons, so none holds up the end.
        """
        outcome: dict[str, str] = {}

        def connect(host: str, address: tuple[str, int]) -> None:
            try:
                socket.create_connection(address, timeout=self.connect_timeout).close()
                outcome[host] = ""
            except OSError as error:
                outcome[host] = error.strerror or str(error)

        threads = {}
        for url in urls:
            host = urlsplit(url).netloc
            if host not in threads and host not in self.down:
                threads[host] = threading.Thread(target=connect, args=(host, _address(url)), daemon=True)
                threads[host].start()
        deadline = time.monotonic() + self.connect_timeout
        for host, thread in threads.items():
            thread.join(max(0.0, deadline - time.monotonic()))
            trouble = outcome.get(host, f"no answer within {self.connect_timeout:g} s")
            if trouble:
                self.down[host] = f"{host} cannot be reached ({trouble})"

    def download(
        self, url: str, handle: IO[bytes], size: int | None, limit: int, tick: Callable[[int], object]
    ) -> None:
        """Append to `handle` what it lacks of a file, never more than `limit` bytes in all.

        `size` is the size that the file will have, if known. Raises Refused or Unreachable.
        """
        host = urlsplit(url).netloc
        if host in self.down:
            raise Unreachable(self.down[host])
        tries, trouble = 0, ""
        while tries <= self.retries:
            if tries:
                time.sleep(min(30.0, self.backoff * 2 ** (tries - 1)))
            tries += 1
            offset = handle.seek(0, os.SEEK_END)
            try:
                self._request(url, handle, offset, size, limit, tick)
                return
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == 416 and offset:
                    _truncate(handle)
                elif error.code < 500 and error.code not in (408, 429):
                    meaning = http.client.responses.get(error.code, "an unknown status")
                    raise Refused(f"the server answered {error.code} ({meaning})", error.code) from None
                trouble = f"the server answered {error.code}"
            except urllib.error.URLError as error:
                trouble = str(error.reason)
                if not isinstance(error.reason, (TimeoutError, ConnectionResetError, ConnectionAbortedError)):
                    break  # refused, no such name, a bad certificate: the next try would end alike
            except TimeoutError:
                trouble = f"no data for {self.timeout:g} s"
            except (http.client.HTTPException, OSError) as error:
                trouble = str(error) or type(error).__name__
            if handle.seek(0, os.SEEK_END) > offset:
                tries = min(tries, 1)  # it goes on, if slowly: only tries without any progress count
        self.down[host] = f"{host} cannot be reached ({trouble})"
        raise Unreachable(self.down[host])

    def _request(
        self, url: str, handle: IO[bytes], offset: int, size: int | None, limit: int, tick: Callable[[int], object]
    ) -> None:
        headers = {"User-Agent": "walkeval"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        request = urllib.request.Request(url, headers=headers)
        _authorize(request, self.credentials)
        handlers: list[urllib.request.BaseHandler] = [_Redirects(self.credentials)]
        if urlsplit(url).hostname in LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))
        with urllib.request.build_opener(*handlers).open(request, timeout=self.timeout) as response:
            if offset and not (response.headers.get("Content-Range") or "").startswith(f"bytes {offset}-"):
                _truncate(handle)  # the server sends the whole file instead of the rest
                offset = 0
            announced = response.headers.get("Content-Length")
            received = 0
            while offset + received <= limit:
                piece = response.read(min(CHUNK, limit + 1 - offset - received))
                if not piece:
                    break
                with disk(Path(str(handle.name))):
                    _write(handle, piece)
                    handle.flush()
                received += len(piece)
                tick(len(piece))
            if offset + received > limit:
                return  # too long whatever follows: the caller's check says so
            short = size is not None and offset + received < size
            if received < int(announced) if announced and announced.isdigit() else short:
                raise http.client.HTTPException("the connection ended before the file")


def _truncate(handle: IO[bytes]) -> None:
    handle.seek(0)
    handle.truncate()


def _address(url: str) -> tuple[str, int]:
    """Whom to connect to for a URL: its host, or the proxy that the environment names for it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host not in LOOPBACK and not urllib.request.proxy_bypass(host):
        proxy = urllib.request.getproxies().get(parts.scheme)
        if proxy:
            there = urlsplit(proxy if "//" in proxy else f"//{proxy}")
            if there.hostname:
                return there.hostname, there.port or 80
    return host, parts.port or (443 if parts.scheme == "https" else 80)


def reachable(urls: Iterable[str], connect_timeout: float = 4.0) -> bool:
    """Whether any of the hosts of these URLs takes a connection."""
    urls = list(urls)
    net = Network(connect_timeout=connect_timeout)
    net.probe(urls)
    return any(urlsplit(url).netloc not in net.down for url in urls)


@contextmanager
def part_file(target: Path) -> Iterator[IO[bytes]]:
    """The unfinished download of a file: `<name>.part`, which a later call resumes, or, when another process is busy
    with that, a file of our own. The caller moves it where it belongs."""
    part = target.with_name(target.name + ".part")
    with disk(part):
        part.parent.mkdir(parents=True, exist_ok=True)
        handle = open(part, "a+b")  # noqa: SIM115 (closed at the end of the block)
    with handle:
        if _lock(handle, part):
            yield handle
            return
    with _temporary(target) as own:
        yield own


def _lock(handle: IO[bytes], path: Path) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between our open and our lock the other process may have finished and moved the file away.
        return os.path.samestat(os.fstat(handle.fileno()), os.stat(path))
    except OSError:
        return False


def _fetch_remotely(
    source: Source, folder: Path, net: Network, stamps: _Stamps, tick: Callable[[int], object]
) -> FetchResult:
    target = folder / source.relative
    if urlsplit(source.url).netloc in net.down:  # said before any file is made
        return FetchResult(source, "missing", None, net.down[urlsplit(source.url).netloc])
    with part_file(target) as handle:
        path = Path(str(handle.name))
        try:
            resumed = 0 < handle.seek(0, os.SEEK_END) <= source.bytes
            if not resumed:
                _truncate(handle)
            if handle.seek(0, os.SEEK_END) < source.bytes or source.bytes == 0:
                net.download(source.url, handle, source.bytes, source.bytes, tick)
            trouble = check(path, source)
            if trouble and resumed:  # perhaps only the old beginning was bad
                _truncate(handle)
                net.download(source.url, handle, source.bytes, source.bytes, tick)
                trouble = check(path, source)
        except (Refused, Unreachable) as error:
            if path.stat().st_size == 0:
                path.unlink(missing_ok=True)
            return FetchResult(source, "missing", None, f"{source.url}: {error}")
        except SourceError:
            path.unlink(missing_ok=True)  # on a full disk the unfinished file is the first thing to go
            raise
        if trouble:
            trouble = trouble.replace(str(path), source.url)
            return FetchResult(source, "rejected", None, _set_aside(path, target, trouble))
        with disk(target):
            os.replace(path, target)
    stamps.add(target, source)
    return FetchResult(source, "downloaded", target)


@contextmanager
def _bar(total: int, progress: bool | None) -> Iterator[Callable[[int], object]]:
    if not (sys.stderr.isatty() if progress is None else progress):
        yield lambda count: None
        return
    from tqdm import tqdm  # only here: the library works without it

    with tqdm(total=total, unit="B", unit_scale=True, desc="fetch", file=sys.stderr) as bar:
        yield bar.update
