"""A run may get a shim that was started before it: it is a shim like any other, and never one too many."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.agents.process import read_process
from tests.agents.bench import Bench, alive, wait_until

_strangers: list[int] = []


@pytest.fixture(autouse=True)
def _as_it_was() -> None:
    """An engine that an earlier test left at work may have one waiting."""
    _strangers[:] = []
    _strangers[:] = waiting()


@pytest.fixture
def ahead(_as_it_was: None, bench: Bench) -> Iterator[Bench]:
    bench.runner.keep_ahead()
    yield bench
    bench.runner.close()


def waiting() -> list[int]:
    """The shims of this process that have no run yet."""
    found: list[int] = []
    for name in (entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        process = read_process(int(name))
        if process is not None and process.parent == os.getpid() and not process.dead:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            found += [process.pid] if b"import shim" in b" ".join(words) and words[-2] == b"-" else []
    return [pid for pid in found if pid not in _strangers]


def the_one(not_this: int = 0) -> int:
    """The only one that waits. Its arguments cannot be read for a moment after its start."""
    wait_until(lambda: len(set(waiting()) - {not_this}) == 1, "one that waits")
    (pid,) = set(waiting()) - {not_this}
    return pid


def test_the_one_that_waits_is_used_and_another_takes_its_place(ahead: Bench) -> None:
    first = the_one()
    assert ahead.start("true") == first
    assert ahead.finish().status == 0
    second = the_one(not_this=first)
    assert ahead.start("exit 3") == second
    assert ahead.finish().status == 3


def test_its_words_are_in_the_runs_log(ahead: Bench) -> None:
    ahead.start("echo ready > there; sleep 60")
    ahead.wait_for("there")
    assert ahead.runner.stop_and_wait(ahead.folder, "cancel", 10)
    assert "stopping: cancel" in ahead.shim_log()


def test_one_that_was_killed_is_done_without(ahead: Bench) -> None:
    first = the_one()
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not alive(first), "its end")
    assert ahead.run("true").status == 0


def test_none_waits_unless_asked_for_or_after_the_end(bench: Bench) -> None:
    assert bench.run("true").status == 0
    assert waiting() == []
    bench.runner.keep_ahead()
    one = the_one()
    bench.runner.close()
    assert not alive(one)
    assert bench.run("true").status == 0
    assert waiting() == []


_DISPATCHER = """
import sys
from recall.agents.runner import ProcessRunner
from recall.system import SystemClock, SystemRng
ProcessRunner(SystemClock(), SystemRng()).keep_ahead()
print("kept", flush=True)
sys.stdin.read()
"""


def test_a_killed_dispatcher_leaves_none_behind() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _DISPATCHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as dispatcher:
        assert dispatcher.stdout is not None
        assert dispatcher.stdout.readline() == b"kept\n"
        children = Path(f"/proc/{dispatcher.pid}/task/{dispatcher.pid}/children").read_text().split()
        dispatcher.kill()
    (one,) = map(int, children)
    wait_until(lambda: not alive(one), "the end of what was started ahead")
