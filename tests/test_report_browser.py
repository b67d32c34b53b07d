"""The report in a browser: no error, nothing fetched, the filter works, all figures are drawn, and it fits a phone."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest

from walkeval.audit import Verdict, count_verdicts, read_verdicts
from walkeval.claims import read_claims
from walkeval.gathering import Evidence
from walkeval.report import write_page
from walkeval.tables import read_table

ROOT = Path(__file__).resolve().parents[1]
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 60
"""Seconds until a browser that does not answer is given up."""


class Browser:
    """Chromium, driven through a pair of pipes: messages of JSON, each ended by a zero byte."""

    def __init__(self, program: str, profile: Path):
        # Chromium reads commands from descriptor 3 and writes answers to 4. Ours are moved away from these first.
        pipes = [*os.pipe(), *os.pipe()]
        read, self._commands, self._answers, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipes)
        for end in pipes:
            os.close(end)
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
        moves = [(os.POSIX_SPAWN_DUP2, read, 3), (os.POSIX_SPAWN_DUP2, write, 4)]
        self._process = os.posix_spawn(program, command, os.environ, file_actions=[*nothing, *moves])
        os.close(read)
        os.close(write)
        self._number, self._buffer, self._session = 0, b"", None
        self.events: list[dict] = []
        """What happened since the last page was opened."""
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        """End the browser: without its pipes it goes by itself."""
        os.close(self._commands)
        os.close(self._answers)
        deadline = time.monotonic() + PATIENCE
        while os.waitpid(self._process, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(self._process, signal.SIGKILL)
            time.sleep(0.05)

    def _message(self) -> dict:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self._answers, 1 << 16) if ready else b""
            if not piece:
                raise RuntimeError("the browser does not answer")
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)

    def send(self, method: str, parameters: dict | None = None) -> dict:
        """Give a command and wait for its answer; events on the way are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters or {}}
        if self._session:
            message["sessionId"] = self._session
        content = json.dumps(message).encode() + b"\0"
        while content:
            content = content[os.write(self._commands, content) :]
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, page: Path, width: int = 1200, height: int = 900) -> None:
        """Show a page in a window of this size, and wait until it is loaded."""
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", screen)
        self.events.clear()
        self.send("Page.navigate", {"url": page.resolve().as_uri()})
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self.events.append(self._message())

    def value(self, expression: str):
        """What a piece of JavaScript gives."""
        answer = self.send("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        assert "exceptionDetails" not in answer, answer.get("exceptionDetails")
        return answer["result"].get("value")

    def troubles(self) -> list[dict]:
        """Exceptions, and whatever was written to the console or the log."""
        self.value("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        methods = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [one for one in self.events if one.get("method") in methods]

    def requests(self) -> list[str]:
        """Addresses of all that was loaded."""
        sent = (one for one in self.events if one.get("method") == "Network.requestWillBeSent")
        return [one["params"]["request"]["url"] for one in sent]


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not in PATH")
    one = Browser(program, tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


@dataclass(frozen=True)
class Made:
    """A page that was made from published artefacts."""

    page: Path
    results: Path
    names: list[str]
    verdicts: list[Verdict]


@pytest.fixture(scope="module", params=["paper", "demo"])
def made(request, tmp_path_factory) -> Made:
    """The page of an edition, by the program as it is now, on the artefacts that are published."""
    results = ROOT / "results" / request.param
    files = [one.relative_to(results).as_posix() for one in results.rglob("*") if one.is_file()]
    reports = ("report/index.html", "REPRODUCTION.md", "provenance.json")
    names = [one for one in files if one not in reports]
    rows = read_table(results / "evidence.tsv", numbers=()).to_dict("records")
    evidence = [Evidence(row["collection"], row["title"], row["data"], missing=(row["missing"],)) for row in rows]
    claims = read_claims(sorted((ROOT / "config" / "claims").glob("*.tsv")))
    record = json.loads((results / "provenance.json").read_text(encoding="utf-8"))
    page = tmp_path_factory.mktemp("made") / "report" / "index.html"
    page.parent.mkdir()
    write_page(page, results, names, {"edition": request.param, "title": ""}, evidence, claims, record)
    return Made(page, results, names, read_verdicts(results / "audit" / "verdicts.tsv"))


def test_nothing_goes_wrong_and_nothing_is_fetched(browser, made):
    browser.open(made.page)
    assert browser.value("document.title") == f"walkeval: {made.results.name}"
    assert browser.troubles() == []
    assert browser.requests() == [made.page.as_uri()]


def test_the_page_is_small_enough_to_send(made):
    assert made.page.stat().st_size < 1_500_000


def test_every_link_leads_somewhere(browser, made):
    browser.open(made.page)
    links = browser.value("[...document.querySelectorAll('a')].map(one => one.getAttribute('href'))")
    assert len(links) > 50
    inside = {one for one in links if one.startswith("#")}
    assert browser.value(f"{json.dumps(sorted(inside))}.filter(one => !document.querySelector(one))") == []
    files = {unquote(one) for one in links} - inside
    assert [one for one in sorted(files) if not (made.results / "report" / one).resolve().is_file()] == []
    ids = browser.value("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))


def test_it_fits_a_phone(browser, made):
    browser.open(made.page, width=390, height=844)
    assert browser.value("innerWidth") == 390
    for state in ("as it is", "all unfolded"):
        assert browser.value("document.documentElement.scrollWidth") <= 390, state
        browser.value("for (const one of document.querySelectorAll('details')) one.open = true")
    # Nothing is cut off to make it fit: what is wider scrolls in a box of its own.
    assert browser.value("getComputedStyle(document.body).overflowX") == "visible"
    out = """[...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right > 391 &&
        !one.closest('.scroll') && !one.closest('svg')).map(one => one.outerHTML.slice(0, 200))"""
    assert browser.value(out) == []
    assert browser.troubles() == []


@pytest.mark.parametrize("width", [1200, 390])
def test_all_figures_are_drawn(browser, made, width):
    browser.open(made.page, width)
    browser.value("for (const one of document.querySelectorAll('details')) one.open = true")
    sizes = browser.value("""[...document.querySelectorAll('svg')].map(one => ({
            name: one.querySelector('title').textContent, drawn: one.getBBox().width * one.getBBox().height,
            width: one.getBoundingClientRect().width, height: one.getBoundingClientRect().height,
            lost: [...one.querySelectorAll('use')].filter(use => !document.querySelector(use.href.baseVal)).length,
            right: Math.max(...[...one.querySelectorAll('text')].map(text => text.getBoundingClientRect().right)) -
              one.getBoundingClientRect().right }))""")
    assert len(sizes) == sum(one.endswith(".svg") for one in made.names) > 5
    for one in sizes:
        assert one["drawn"] > 10000, one
        assert one["lost"] == 0, one
        assert 200 < one["width"] <= width, one
        assert one["height"] > 100, one
        assert one["right"] < 2, one


def shown(browser: Browser) -> tuple[int, str]:
    """How many rows can be seen, and what is said about it."""
    count = browser.value(
        "[...document.querySelectorAll('#verdict-table tbody tr')].filter(one => one.offsetHeight).length"
    )
    return count, browser.value("document.getElementById('shown').textContent")


def choose(browser: Browser, name: str, value: str) -> None:
    """Do what a user does to a field of the filter."""
    field = f"document.getElementById({json.dumps(name)})"
    event = "new Event('input', {bubbles: true})"
    browser.value(f"{field}.value = {json.dumps(value)}; {field}.dispatchEvent({event})")
    assert browser.value(f"{field}.value") == value


@pytest.mark.parametrize("width", [1200, 390])
def test_verdicts_can_be_filtered_and_searched(browser, made, width):
    browser.open(made.page, width)
    everything = len(made.verdicts)
    assert shown(browser) == (everything, f"{everything} of {everything} shown")
    for verdict, count in count_verdicts(made.verdicts).items():
        choose(browser, "verdict", verdict.replace(" ", "-"))
        assert shown(browser) == (count, f"{count} of {everything} shown"), verdict
    choose(browser, "verdict", "")
    choose(browser, "paper", "sigir2014")
    of_paper = [one for one in made.verdicts if one.claim.startswith("sigir2014/")]
    assert shown(browser)[0] == len(of_paper) > 0
    choose(browser, "search", " tau TABLE2/trec08/  ")
    assert shown(browser)[0] == sum(one.claim.startswith("sigir2014/table2/trec08/") for one in of_paper) == 5
    choose(browser, "search", "no such words <b>")
    assert shown(browser) == (0, f"0 of {everything} shown")
    browser.value("document.querySelector('#filter button').click(); new Promise(requestAnimationFrame)")
    browser.value("new Promise(done => setTimeout(done))")
    assert shown(browser)[0] == everything


def test_a_count_leads_to_its_verdicts(browser, made):
    browser.open(made.page)
    choose(browser, "search", "something else")
    number = browser.value(
        """(() => { const link = document.querySelector('.glance a[data-paper=sigir2014][data-verdict=not-checkable]');
            link.click(); return Number(link.textContent); })()"""
    )
    assert number > 0
    assert shown(browser)[0] == number
    assert browser.value("location.hash") == "#verdicts"


def test_the_keyboard_is_enough(browser, made):
    browser.open(made.page)
    for kind in ("rawKeyDown", "keyUp"):
        browser.send("Input.dispatchKeyEvent", {"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
    assert browser.value("document.activeElement.className") == "skip"
    assert browser.value("document.activeElement.getBoundingClientRect().left") >= 0
    assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    boxes = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1)"
    browser.open(made.page, width=390)
    assert browser.value(f"{boxes}.length") > 0
    assert browser.value(f"{boxes}.filter(one => one.tabIndex !== 0).length") == 0, "a box that scrolls can be reached"


def test_print_shows_what_is_folded_away(browser, made):
    browser.open(made.page)
    closed = "[...document.querySelectorAll('details:not([open])')].filter(one => !one.closest('.files'))"
    seen = f"{closed}.map(one => one.lastElementChild.checkVisibility())"
    assert set(browser.value(seen)) == {False}
    try:
        browser.send("Emulation.setEmulatedMedia", {"media": "print"})
        assert set(browser.value(seen)) == {True}
        assert not browser.value("document.getElementById('filter').checkVisibility()")
    finally:
        browser.send("Emulation.setEmulatedMedia", {"media": ""})
    # Browsers that do not know that style get the same by script.
    count = browser.value(f"{closed}.length")
    browser.value("dispatchEvent(new Event('beforeprint'))")
    assert browser.value(f"{closed}.length") == 0
    browser.value("dispatchEvent(new Event('afterprint'))")
    assert browser.value(f"{closed}.length") == count
    document = base64.b64decode(browser.send("Page.printToPDF")["data"])
    assert document.startswith(b"%PDF-")
    assert browser.troubles() == []


def test_a_foreign_script_does_not_run(browser, made):
    browser.open(made.page)
    browser.value(
        "const one = document.createElement('script'); one.textContent = 'window.ran = 1'; document.body.append(one)"
    )
    assert browser.value("window.ran === undefined")
    assert "Content Security Policy" in json.dumps(browser.troubles())
