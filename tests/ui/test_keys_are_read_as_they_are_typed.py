"""What comes from a terminal becomes keys: a lone Esc is one by itself, the parts of a sequence are one key."""

from __future__ import annotations

import asyncio
import os
import pty
import threading
import tty
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest
from textual import constants, events
from textual.app import App
from textual.message import Message

from recall.ui.app import RecallApp
from recall.ui.keyboard import PromptDriver, pause
from tests.support.driver import shop_in


class Told(PromptDriver):
    """Keeps the keys that it would give to an app."""

    def __init__(self, fileno: int, keys: SimpleQueue[str]) -> None:
        asyncio.run(self._begin())
        self.fileno = fileno
        self._keys = keys

    async def _begin(self) -> None:
        super().__init__(App[None]())  # pyright: ignore[reportUnknownMemberType] - its parameter is an App of anything

    def process_message(self, message: Message) -> None:
        if isinstance(message, events.Key):
            self._keys.put(message.key)


class Keyboard:
    """A terminal's two ends, with a driver at one of them."""

    def __init__(self) -> None:
        self.person, self.program = pty.openpty()
        tty.setraw(self.program)
        self.keys: SimpleQueue[str] = SimpleQueue()
        self.driver = Told(self.program, self.keys)
        self.thread = threading.Thread(target=self.driver.run_input_thread, daemon=True)
        self.thread.start()

    def types(self, data: bytes) -> None:
        os.write(self.person, data)

    def told(self) -> str:
        return self.keys.get(timeout=20)

    def close(self) -> None:
        self.driver.exit_event.set()
        self.thread.join(20)
        assert not self.thread.is_alive()
        os.close(self.person)
        os.close(self.program)


@pytest.fixture
def keyboard() -> Iterator[Keyboard]:
    made = Keyboard()
    yield made
    made.close()


def test_a_lone_escape_is_told_without_another_key(keyboard: Keyboard) -> None:
    keyboard.types(b"\x1b")
    assert keyboard.told() == "escape"


def test_a_sequence_that_comes_in_parts_is_one_key(keyboard: Keyboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 20.0)
    keyboard.types(b"\x1b")
    keyboard.types(b"[B")
    assert keyboard.told() == "down"


def test_a_letter_that_comes_in_parts_is_one_key(keyboard: Keyboard) -> None:
    first, second = "é".encode()[:1], "é".encode()[1:]
    keyboard.types(first)
    keyboard.types(second)
    assert keyboard.told() == "é"


def test_bytes_that_are_no_text_end_nothing(keyboard: Keyboard) -> None:
    keyboard.types(b"\xff\xfe")
    keyboard.types(b"q")
    while (key := keyboard.told()) != "q":
        assert key


def test_a_terminal_that_is_gone_is_not_asked_again_and_again() -> None:
    reading, writing = os.pipe()
    driver = Told(reading, SimpleQueue())
    os.close(writing)
    driver.run_input_thread()
    os.close(reading)


@pytest.mark.parametrize("silence", [0.0, 0.02, 0.035])
def test_it_is_looked_often_while_a_sequence_may_go_on(silence: float) -> None:
    assert silence + pause(silence, 0.035) < 0.05


def test_it_is_looked_seldom_when_nobody_types() -> None:
    assert pause(1.0, 0.035) >= 0.1


def test_the_screen_reads_its_keys_so(tmp_path: Path, home: Path) -> None:
    with shop_in(tmp_path) as shop:
        assert RecallApp(shop.session).driver_class is PromptDriver
