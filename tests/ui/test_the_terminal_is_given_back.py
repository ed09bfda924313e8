"""However the screen ends, the shell that comes back finds its terminal as it was; agents at work go on."""

from __future__ import annotations

import os
import signal
import sys
import termios
import time
from contextlib import closing
from pathlib import Path

import pytest

from recall.bootstrap import take_dispatcher_lock
from tests.support.builders import spec
from tests.support.driver import shop_in
from tests.support.hermetic_git import Repo
from tests.support.terminal import Terminal, terminal
from tests.support.workshop import Workshop

TUI = [sys.executable, "-c", "from recall.cli.tui import main; main()"]
_CRASHES = """
from pathlib import Path
from recall.ui.screens.main import MainScreen
show = MainScreen.show
def fail(self, seen):
    if Path("crash").exists():
        raise ZeroDivisionError("the screen met something")
    show(self, seen)
MainScreen.show = fail
from recall.cli.tui import main
main()
"""


@pytest.fixture
def busy(tmp_path: Path, home: Path) -> Workshop:
    """A project whose agent works until a file `go` appears."""
    shop = Workshop.create(tmp_path)
    shop.agent("ant", f"echo started; while [ ! -e {tmp_path / 'go'} ]; do sleep 0.1; done; success")
    shop.tasks("## T-1 First")
    shop.settle()
    return shop


def _at_work(screen: Terminal) -> None:
    screen.shows("T-1", "dispatching", "started")
    assert "1049" in screen.left_on


def _goes_on(shop: Workshop) -> bool:
    return shop.look()["T-1"].state.value == "in_progress" and bool(shop.strays())


@pytest.mark.e2e
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_a_signal_takes_the_screen_down_and_leaves_the_agents_at_work(busy: Workshop, number: signal.Signals) -> None:
    with terminal(TUI, busy.repo.path) as screen:
        _at_work(screen)
        screen.process.send_signal(number)
        assert screen.ends(10) == 128 + number
        assert screen.left_on == []
    assert _goes_on(busy)


@pytest.mark.e2e
def test_a_terminal_that_is_closed_ends_the_program_and_leaves_the_agents_at_work(busy: Workshop) -> None:
    with terminal(TUI, busy.repo.path) as screen:
        _at_work(screen)
        _vanish(screen)
        screen.process.send_signal(signal.SIGHUP)
        assert screen.process.wait(10) in _TERMINAL_IS_GONE
    assert _goes_on(busy)


#: As a hangup ends it; as Textual does that cannot write; or as Python does that cannot flush its output at the end.
_TERMINAL_IS_GONE = (128 + signal.SIGHUP, 1, 120)


def _vanish(screen: Terminal) -> None:
    """Close the other end of the terminal. The program leads no session with it, so no signal tells of that."""
    other = os.open(os.devnull, os.O_RDWR)
    os.dup2(other, screen.fd)
    os.close(other)


@pytest.mark.e2e
def test_a_terminal_that_vanishes_without_a_signal_ends_the_program_as_well(busy: Workshop) -> None:
    with terminal(TUI, busy.repo.path) as screen:
        _at_work(screen)
        _vanish(screen)
        assert screen.process.wait(10) in _TERMINAL_IS_GONE
    assert _goes_on(busy)


@pytest.mark.e2e
def test_a_first_set_up_ends_with_its_terminal(repo: Repo) -> None:
    with terminal(TUI, repo.path) as screen:
        screen.shows("Set up")
        _vanish(screen)
        screen.process.wait(10)
    assert not (repo.path / "recall.toml").exists()


@pytest.mark.e2e
def test_a_screen_that_fails_says_so_and_leaves_the_agents_at_work(busy: Workshop) -> None:
    with terminal([sys.executable, "-c", _CRASHES], busy.repo.path) as screen:
        _at_work(screen)
        (busy.repo.path / "crash").touch()
        assert screen.ends(10) == 1
        screen.shows("ZeroDivisionError", "the screen failed", "the next start of")
        assert screen.left_on == []
    assert _goes_on(busy)


@pytest.mark.e2e
def test_after_a_kill_the_next_start_gives_the_terminal_back_in_order(busy: Workshop) -> None:
    with terminal(TUI, busy.repo.path) as screen:
        _at_work(screen)
        screen.process.kill()
        screen.process.wait()
        killed = termios.tcgetattr(screen.fd)
        assert {"1049", "ECHO", "ICANON"} <= set(screen.left_on)
    with terminal(TUI, busy.repo.path, modes=killed) as screen:
        screen.shows("T-1", "dispatching")
        screen.type("q")
        screen.shows("Still at work: T-1 (ant)")
        screen.type("q")
        assert screen.ends() == 0
        assert screen.left_on == []
    assert _goes_on(busy)


def test_what_another_process_does_is_seen_within_a_quarter_of_a_second(tmp_path: Path, home: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop:
        lock = take_dispatcher_lock(shop.session.location, shop.session.settings)
        with closing(lock), terminal(TUI, shop.repo.path) as screen:
            screen.shows("T-1", "viewing")
            took: list[float] = []
            for number in range(5):
                screen.watch(0.5)
                shop.store.hold(shop.task("T-1").ref, actor="cli", reason=f"round {number}")
                took.append(_seconds_until(screen, f"round {number}"))
                shop.store.unhold(shop.task("T-1").ref, actor="cli")
        assert min(took) < 0.25, took


def _seconds_until(screen: Terminal, word: str) -> float:
    since, first = time.monotonic(), len(screen.output)
    while word.encode() not in screen.output[first:]:
        assert time.monotonic() - since < 10, word
        screen.read(0.05)
    return time.monotonic() - since
