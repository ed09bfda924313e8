"""A real browser, pointed at a real server: what is seen there, what keys do, and what other pages cannot do."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from recall.domain.task import TaskState
from tests.e2e.test_conflicts_are_settled_by_a_person import MEET, PERSON
from tests.serve.conftest import two_tasks
from tests.serve.served import Served, serving
from tests.support.browser import Browser, Person, Tab
from tests.support.driver import Shop
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def _on_the_board(person: Person, served: Served) -> Tab:
    return person.open(served.url).shows("RECALL", "T-1 First", "ant")


@dataclass(frozen=True)
class Visit:
    """A person who looks at the board; nothing of it is changed for good, so that it does for many tests."""

    shop: Shop
    served: Served
    person: Person
    tab: Tab


@pytest.fixture(scope="module")
def visit(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with two_tasks(tmp_path_factory.mktemp("visited")) as shop, serving(shop.repo.path) as served:
        person = browser.person()
        yield Visit(shop, served, person, _on_the_board(person, served))
        person.leave()


def test_the_board_is_seen_and_no_request_leaves_the_machine(visit: Visit) -> None:
    tab, served = visit.tab, visit.served
    assert {urlsplit(each).netloc for each in tab.requests} == {served.host}
    assert any(each.startswith("ws://") for each in tab.requests)
    assert set(tab.statuses.values()) == {200}
    assert [each for each in tab.refusals if "WebGL" not in each] == []
    assert tab.evaluate("document.fonts.check('16px \"Roboto Mono\"')")
    assert "key=" not in tab.evaluate("location.href")


def test_the_page_itself_can_reach_nothing_else(person: Person, served: Served) -> None:
    """What an agent writes is shown as text; if it ever became a part of the page, it still could tell nobody."""
    tab = _on_the_board(person, served)
    seen = len(tab.requests)
    for script in (
        "fetch('http://elsewhere.test/').then(() => 'sent', () => 'kept')",
        "new Promise(end => { const it = new Image(); it.onload = it.onerror = end;"
        " it.src = 'http://elsewhere.test/i' })",
        "new Promise(end => { const it = new WebSocket('ws://elsewhere.test/'); it.onopen = it.onerror = end })",
        "new Promise(end => { const it = document.createElement('script'); it.onload = it.onerror = end;"
        " it.src = 'http://elsewhere.test/s'; document.head.append(it) })",
    ):
        assert tab.evaluate(script) != "sent"
    said = "\n".join(each for each in tab.refusals if "Content Security Policy" in each)
    assert set(re.findall(r"[a-z]+-src", said)) >= {"connect-src", "img-src", "script-src"}, said
    assert {each for each in re.findall(r"\w+://[\w.]+/\w?", said) if "elsewhere" in each} == {
        "http://elsewhere.test/",
        "http://elsewhere.test/i",
        "ws://elsewhere.test/",
        "http://elsewhere.test/s",
    }
    assert not any(each.startswith("ws://elsewhere") for each in tab.statuses)
    assert {urlsplit(each).netloc for each in tab.requests[:seen]} == {served.host}


def test_a_key_pauses_an_agent_in_the_store(visit: Visit) -> None:
    tab, store = visit.tab, visit.shop.store
    tab.press("2", "p").shows("ant  paused")
    eventually(lambda: {each.name: each.paused for each in store.agents()} == {"ant": True, "bee": False})
    store.resume_agent("ant", actor="cli")
    tab.shows("ant  free")


def test_the_office_opens_here_too(visit: Visit) -> None:
    visit.tab.press("O").shows("Office", "2 idle", "ant", "nothing is on its way", "▀")
    visit.tab.press("q").shows("T-1 First")


def test_the_terminal_follows_the_window(visit: Visit) -> None:
    tab = visit.tab.press("1")
    wide = len(tab.lines[0])
    tab.call("Emulation.setDeviceMetricsOverride", width=700, height=500, deviceScaleFactor=1, mobile=False)
    tab.wait(lambda: len(tab.lines[0]) < wide - 40, "a narrow terminal")
    tab.shows("4 Log ", "T-1 First", "why T-1").wait(lambda: tab.lines[0].rstrip()[-3] == ":", "the time at its end")
    tab.call("Emulation.clearDeviceMetricsOverride")
    tab.wait(lambda: len(tab.lines[0]) == wide, "the terminal as it was")


def test_an_editor_cannot_be_opened_here_and_it_is_said_how_to(visit: Visit) -> None:
    visit.tab.press("1", "e").shows("run this in a terminal: cd ")


def test_a_conflict_is_resolved_and_lands(tmp_path: Path, home: Path, person: Person) -> None:
    shop = Workshop.create(tmp_path, verify="grep -q hello README.md")
    shop.extra = PERSON
    names = f'GATE="{tmp_path / "gate"}"; ROOT="{shop.repo.path}"; BASE=$(git rev-parse HEAD)\n'
    for name in ("ant", "bee"):
        shop.agent(name, names + MEET)
    shop.tasks("## T-1 Parse the config", "## T-2 Validate input")
    shop.settle()
    with shop.dispatching("--json", quiet=True), serving(shop.repo.path) as served:
        tab = person.open(served.url).shows("T-2", "conflict with T-1", "c resolve")
        tab.press("c").shows("CONFLICT", "T-1 hello", "T-2 hello", "still open: README.md")
        tab.press("3").shows("all decided", "result: both")
        tab.press("a").shows("2 done")
        assert shop.look()["T-2"].state is TaskState.DONE
    assert shop.repo.git("show", "main:README.md") == "T-1 hello\nT-2 hello"


# -- other pages ---------------------------------------------------------------------------------------------------
class _Quiet(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.cookies.append(self.headers["Cookie"] or "")  # type: ignore[attr-defined] - see `Other`
        body = b"<!DOCTYPE html><title>other</title>other"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing."""


class Other(http.server.ThreadingHTTPServer):
    """Somebody else's pages, on another port of this machine. `cookies` are those it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Quiet)
        self.cookies: list[str] = []


@pytest.fixture
def other() -> Iterator[Other]:
    with Other() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


_OPEN_SOCKET = """
new Promise(end => {{
  const it = new WebSocket("ws://127.0.0.1:{port}{room}socket");
  it.onopen = () => end("open"); it.onerror = () => end("refused");
}})
"""
_OPEN_FRAME = """
new Promise(end => {{
  const it = document.createElement("iframe");
  it.onload = () => {{ let seen; try {{ seen = it.contentDocument?.title }} catch {{}} end(seen ?? "nothing") }};
  it.src = "http://127.0.0.1:{port}{room}"; document.body.append(it);
}})
"""


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "elsewhere.test"])
def test_a_page_of_another_origin_gets_nothing(visit: Visit, other: Other, name: str) -> None:
    """The person is inside, so the browser has the cookie, and the page even knows the room."""
    served = visit.served
    tab = visit.person.open(f"http://{name}:{other.server_port}/")
    at = {"port": served.port, "room": served.room}
    assert tab.text == "other"
    assert tab.evaluate(_OPEN_SOCKET.format(**at)) == "refused"
    assert tab.evaluate(_OPEN_FRAME.format(**at)) == "nothing"
    page = f"http://127.0.0.1:{served.port}{served.room}"
    assert (
        tab.evaluate(f"fetch('{page}', {{credentials: 'include'}}).then(() => 'read', () => 'refused')") == "refused"
    )
    tab.evaluate(f"void (location.href = '{page}')")
    tab.wait(lambda: "refused: another page asked for this" in tab.text, "the refusal")
    assert len(served.viewers()) == 1
    assert other.cookies, "it was visited"
    assert set(other.cookies) == {""}, "a cookie of one port is sent to every other, but for its path"
    tab.close()


def test_a_name_that_was_bent_to_this_machine_is_refused(person: Person, served: Served) -> None:
    tab = person.open(served.url.replace("127.0.0.1", "elsewhere.test"))
    tab.wait(lambda: f"refused: this is {served.host} and has no other name" in tab.text, "the refusal")
    assert served.viewers() == []


def test_localhost_is_this_machine_too(person: Person, served: Served) -> None:
    person.open(served.url.replace("127.0.0.1", "localhost")).shows("T-1 First")


def test_a_wrong_key_is_refused(person: Person, served: Served) -> None:
    tab = person.open(served.url[:-1])
    tab.wait(lambda: "refused: open the address that `recall serve` printed last" in tab.text, "the refusal")


def test_a_link_from_another_page_to_the_printed_address_leads_in(
    person: Person, served: Served, other: Other
) -> None:
    tab = person.open(f"http://localhost:{other.server_port}/")
    tab.evaluate(f"void (location.href = '{served.url}')")
    tab.shows("T-1 First")


def test_the_page_that_opens_the_browser_leads_in(person: Person, served: Served, tmp_path: Path) -> None:
    door = tmp_path / "door.html"
    door.write_text(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={served.url}">')
    person.open(door.as_uri()).shows("T-1 First")
