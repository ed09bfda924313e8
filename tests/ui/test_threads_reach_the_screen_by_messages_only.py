"""Watcher, engine and errands tell the screen what they found, lose nothing, and survive trouble."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.message import Message

from recall.config.settings import Settings
from recall.domain.errors import ConfigError, DispatcherRunning, EnvironmentFailure
from recall.engine.dispatcher import Dispatcher, Listener
from recall.store import SqliteStore
from recall.system import SystemClock
from recall.ui.bridge import Done, EngineHost, EngineSaid, Observed, Watcher
from recall.ui.errands import Errands
from recall.ui.ledger import Ledger
from tests.support.builders import import_specs, make_store, ref, spec


class Inbox:
    """Takes messages from any thread, as the app does."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._came = threading.Condition()

    def post_message(self, message: Message) -> bool:
        with self._came:
            self.messages.append(message)
            self._came.notify_all()
        return True

    def wait(self, claim: Callable[[list[Message]], bool], seconds: float = 20.0) -> None:
        with self._came:
            assert self._came.wait_for(lambda: claim(self.messages), seconds), self.messages

    @property
    def observed(self) -> list[Observed]:
        return [message for message in self.messages if isinstance(message, Observed)]

    def said(self) -> list[tuple[str, str]]:
        return [(message.mode, message.text) for message in self.messages if isinstance(message, EngineSaid)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with make_store(tmp_path, SystemClock()) as made:
        import_specs(made, *(spec(f"T-{number}") for number in range(40)))
        yield made


@contextmanager
def _watching(store: SqliteStore, inbox: Inbox) -> Generator[None]:
    clock = SystemClock()
    ledger = Ledger(store, Settings(Path("recall.toml"), "main", "true"), clock, "shop")
    watcher = Watcher(inbox, ledger, store, clock, lambda: False)
    watcher.start()
    try:
        inbox.wait(lambda messages: bool(messages))
        yield
    finally:
        watcher.stop()
        assert watcher.is_over(20)


def test_a_change_is_posted_soon(tmp_path: Path, store: SqliteStore) -> None:
    inbox = Inbox()
    with _watching(store, inbox), make_store(tmp_path, SystemClock()) as other:
        began = time.monotonic()
        other.hold(ref("T-7"), actor="cli", reason="wait")
        inbox.wait(lambda _: any(one.seen.overview.counts["on hold"] for one in inbox.observed))
        assert time.monotonic() - began < 2.0


def test_a_burst_of_changes_is_posted_in_few_messages_and_whole(tmp_path: Path, store: SqliteStore) -> None:
    inbox = Inbox()
    with _watching(store, inbox), make_store(tmp_path, SystemClock()) as other:
        for number in range(40):
            other.hold(ref(f"T-{number}"), actor="cli", reason="wait")
        inbox.wait(lambda _: inbox.observed[-1].seen.overview.counts["on hold"] == 40)
        assert len(inbox.observed) < 20


def test_a_newer_observation_replaces_one_that_waits(store: SqliteStore) -> None:
    inbox = Inbox()
    with _watching(store, inbox):
        seen = inbox.observed[0].seen
    assert Observed(seen).can_replace(Observed(seen))
    assert not Observed(seen).can_replace(Done("x"))


def test_a_quiet_store_is_left_in_peace(store: SqliteStore) -> None:
    inbox = Inbox()
    with _watching(store, inbox):
        assert not threading.Event().wait(1.5)
    assert len(inbox.observed) == 1


@pytest.mark.parametrize(
    ("met", "said"),
    [
        (EnvironmentFailure("the disk is gone"), "the disk is gone"),
        (ZeroDivisionError("oops"), "ZeroDivisionError: oops"),
    ],
)
def test_trouble_with_the_store_is_said_once_and_the_watcher_looks_again(
    store: SqliteStore, met: Exception, said: str
) -> None:
    inbox = Inbox()

    class Broken:
        def __init__(self) -> None:
            self.asked = 0

        def data_version(self) -> int:
            self.asked += 1
            raise met

    broken = Broken()
    clock = SystemClock()
    ledger = Ledger(store, Settings(Path("recall.toml"), "main", "true"), clock, "shop")
    watcher = Watcher(inbox, ledger, broken, clock, lambda: False)  # pyright: ignore[reportArgumentType] - all that it asks the store itself
    watcher.start()
    deadline = time.monotonic() + 20
    while broken.asked < 3:
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)
    watcher.stop()
    assert watcher.is_over(20)
    assert inbox.said() == [("", f"the store cannot be read: {said}")]


# -- the engine's thread -------------------------------------------------------------------------------------------
def _host(inbox: Inbox, tmp_path: Path, trouble: Exception) -> EngineHost:
    @contextmanager
    def opened(start: Path, listener: Listener, *, restart_conflicts: bool = True) -> Generator[Dispatcher]:
        raise trouble
        yield

    return EngineHost(inbox, tmp_path, opened, tmp_path / "ui.log")


@pytest.mark.parametrize(
    ("trouble", "mode", "words"),
    [
        (DispatcherRunning("process 7 works here"), "viewing", "process 7 works here"),
        (ConfigError("recall.toml:3: no"), "stopped", "recall.toml:3: no"),
        (ZeroDivisionError("oops"), "stopped", "the engine failed: ZeroDivisionError: oops"),
    ],
)
def test_an_engine_that_cannot_work_is_told_and_can_be_started_again(
    tmp_path: Path, trouble: Exception, mode: str, words: str
) -> None:
    inbox = Inbox()
    host = _host(inbox, tmp_path, trouble)
    for times in (1, 2):
        host.start()
        inbox.wait(lambda messages, times=times: len(messages) == times)
        deadline = time.monotonic() + 20
        while host.hosting:
            assert time.monotonic() < deadline
    assert [said[0] for said in inbox.said()] == [mode, mode]
    assert words in inbox.said()[0][1]


def test_a_fault_of_the_engine_leaves_its_traceback_in_the_log(tmp_path: Path) -> None:
    inbox = Inbox()
    _host(inbox, tmp_path, ZeroDivisionError("oops")).start()
    inbox.wait(lambda messages: len(messages) == 1)
    assert "ZeroDivisionError: oops" in (tmp_path / "ui.log").read_text()


# -- errands -------------------------------------------------------------------------------------------------------
def test_errands_are_carried_out_in_order_and_a_failure_stops_none(tmp_path: Path) -> None:
    inbox = Inbox()
    errands = Errands(inbox, "test", tmp_path / "ui.log")

    def refused() -> Message:
        raise EnvironmentFailure("the store is busy")

    def faulty() -> Message:
        raise ZeroDivisionError("oops")

    errands.send(lambda: Done("one"))
    errands.send(refused)
    errands.send(faulty)
    errands.send(lambda: None)
    errands.send(lambda: Done("two"))
    inbox.wait(lambda messages: len(messages) == 4)
    errands.stop()
    assert errands.is_over(20)
    texts = [message.text for message in inbox.messages if isinstance(message, Done)]
    assert texts[0] == "one"
    assert texts[1] == "the store is busy"
    assert texts[2].startswith("failed: ZeroDivisionError: oops")
    assert texts[3] == "two"
