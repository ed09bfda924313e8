"""Another process keeps the store to itself for a while: everybody else says who, or waits, and goes on after it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recall.domain.task import TaskState
from tests.support.overheard import Overheard
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
CASE = next(
    case for case in json.loads((ROOT / "tests/cases/claims.json").read_text("utf-8")) if case["id"] == "CL-006"
)
HELD_FOR = 4.0

#: A program that does not know of our lock file, such as a database browser.
BEGINS = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)
connection.execute("BEGIN IMMEDIATE")
print("holds", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("ROLLBACK")
"""

#: One of ours that is stopped in the middle of a write.
STOPS = """
import os, signal, sys
from pathlib import Path
from recall.store.lock import StoreLock
with StoreLock(Path(sys.argv[1] + ".lock"), 10.0).held():
    print("holds", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path / "shop")
    shop.agent("ant", 'echo "$TASK" > "$TASK.txt"; commit "$TASK: write"; success')
    shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1")
    shop.extra = '[store]\nlock_timeout = "0.5s"\n'
    return shop


@contextmanager
def holder(program: str, *args: str) -> Generator[subprocess.Popen[str]]:
    """Run the program until it says that it holds the store; it is killed in the end."""
    process = subprocess.Popen([sys.executable, "-c", program, *args], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "holds\n"
        try:
            yield process
        finally:
            process.kill()


def check_all_is_done(shop: Workshop) -> None:
    assert {(task.state, task.attempts) for task in shop.look().values()} == {(TaskState.DONE, 0)}
    assert {"T-1.txt", "T-2.txt"} <= shop.on_main()
    with shop.store() as store:
        assert store.open_runs() == []


def test_a_stopped_holder_is_named_and_waited_out(shop: Workshop) -> None:
    """An agent ends while the store is held: commands and dispatcher name the holder, and nothing is forgotten."""
    gate, ready = shop.home / "gate", shop.home / "ready"
    waits = f'touch "{ready}"; until [ -e "{gate}" ]; do sleep 0.05; done; '
    shop.agent("ant", waits + 'echo "$TASK" > "$TASK.txt"; commit "$TASK: write"; success')
    shop.settle()
    with shop.dispatching("--until-done") as process:
        dispatcher = Overheard(process)
        eventually(ready.exists)
        with holder(STOPS, str(shop.state / "recall.db")) as stopped:
            held_by = f"held by PID {stopped.pid}"
            gate.touch()
            asked = shop.recall("hold", "T-2")
            assert asked.returncode == 12
            assert held_by in asked.stderr
            assert f"continue it (kill -CONT {stopped.pid}) or end it" in asked.stderr
            assert shop.recall("status").returncode == 0, "reading waits for nobody"
            dispatcher.says(held_by)
            os.kill(stopped.pid, signal.SIGCONT)
            stopped.wait()
        assert dispatcher.ends() == 0
    assert "Traceback" not in dispatcher.said
    check_all_is_done(shop)


def test_a_transaction_of_a_stranger_breaks_nothing(shop: Workshop) -> None:
    """Held for seconds at the claim and while commands write: one sentence of it, no error, and all is done."""
    shop.extra = ""
    shop.settle()
    assert shop.recall("import").returncode == 0
    with holder(BEGINS, str(shop.state / "recall.db"), str(HELD_FOR)):
        began = time.monotonic()
        with shop.dispatching("--until-done") as process:
            dispatcher = Overheard(process)
            written = [shop.recall("prioritize", "T-2", str(number)) for number in (1, 2)]
            assert [done.returncode for done in written] == [0, 0], [done.stderr for done in written]
            assert dispatcher.ends(60) == 0
    assert "database is locked" not in dispatcher.said
    assert "Traceback" not in dispatcher.said
    assert time.monotonic() - began > HELD_FOR / 2
    assert CASE["expected"]["uncaught_locked_errors"] == 0
    check_all_is_done(shop)


def test_a_stranger_that_stays_is_told_from_our_own(shop: Workshop) -> None:
    shop.settle()
    assert shop.recall("import").returncode == 0
    with holder(BEGINS, str(shop.state / "recall.db"), "60"):
        asked = shop.recall("hold", "T-2")
        assert asked.returncode == 12
        assert "kept busy by a program that does not take its lock file" in asked.stderr
        assert "a database browser?" in asked.stderr
