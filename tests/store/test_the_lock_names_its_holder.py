"""What happens while somebody else holds the store."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from recall.domain.errors import StoreBusy
from recall.domain.run import Claim
from recall.store.lock import StoreLock
from tests.support.builders import import_specs, make_store, ref, spec

ROOT = Path(__file__).parents[2]
HOLDER = """
import sys
from pathlib import Path
from recall.store.lock import StoreLock
with StoreLock(Path(sys.argv[1]), 5.0).held():
    print("held", flush=True)
    sys.stdin.readline()
"""
WRITER = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("COMMIT")
connection.close()
"""


@contextmanager
def running(program: str, *arguments: str) -> Generator[subprocess.Popen[str], None, None]:
    """Run a program that says `held` once it holds what it is to hold."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


def test_a_stopped_holder_is_named(tmp_path: Path) -> None:
    lock_file = tmp_path / "db.lock"
    with running(HOLDER, str(lock_file)) as holder:
        holder.send_signal(signal.SIGSTOP)
        _until(lambda: _state(holder.pid) == "T")
        with pytest.raises(StoreBusy) as busy, StoreLock(lock_file, 0.2).held():
            pytest.fail("the lock is not free")
    assert re.search(
        rf"held by PID {holder.pid} python\S*, stopped since about \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC",
        str(busy.value),
    )
    assert f"kill -CONT {holder.pid}" in str(busy.value)
    assert str(lock_file) in str(busy.value)


def test_the_store_says_who_holds_it(tmp_path: Path) -> None:
    with make_store(tmp_path, lock_timeout=0.2) as store:
        import_specs(store, spec("T-1"))
        with running(HOLDER, str(store.shim_contract().lock_file)) as holder:
            with pytest.raises(StoreBusy, match=rf"held by PID {holder.pid} python\S* since"):
                store.recycle()
            assert store.task(ref("T-1")) is not None, "reading waits for nobody"
        assert store.recycle() == []


def test_a_lock_that_comes_too_late_is_let_go(tmp_path: Path) -> None:
    lock_file = tmp_path / "db.lock"
    with running(HOLDER, str(lock_file)) as holder:
        with pytest.raises(StoreBusy), StoreLock(lock_file, 0.05).held():
            pytest.fail("the lock is not free")
        assert any(thread.name == "store-lock" for thread in threading.enumerate())
        assert holder.stdin is not None
        holder.stdin.write("\n")
        holder.stdin.flush()
        assert holder.wait(10) == 0
    _until(lambda: not any(thread.name == "store-lock" for thread in threading.enumerate()))
    with StoreLock(lock_file, 0.0).held():
        pass


def test_a_waiter_gets_the_lock_when_the_holder_dies(tmp_path: Path) -> None:
    lock_file = tmp_path / "db.lock"
    with running(HOLDER, str(lock_file)) as holder:
        threading.Timer(0.1, holder.kill).start()
        with StoreLock(lock_file, 10.0).held():
            assert lock_file.read_text().split()[0] == str(os.getpid())
    assert lock_file.read_text() == ""


def test_a_holder_without_a_name_is_said_to_have_none(tmp_path: Path) -> None:
    lock_file = tmp_path / "db.lock"
    with lock_file.open("w") as nameless:
        fcntl.flock(nameless, fcntl.LOCK_EX)
        with pytest.raises(StoreBusy, match="left no name"), StoreLock(lock_file, 0.05).held():
            pytest.fail("the lock is not free")


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    lock_file = tmp_path / "db.lock"
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with StoreLock(lock_file, 10.0).held():
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_program_that_ignores_the_lock_is_waited_for(tmp_path: Path) -> None:
    """Four seconds of BEGIN IMMEDIATE by another program (CL-006): writers wait, readers do not."""
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"))
        with running(WRITER, str(tmp_path / "state" / "recall.db"), "4"):
            begun = time.monotonic()
            assert store.task(ref("T-1")) is not None
            store.snapshot()
            store.data_version()
            assert time.monotonic() - begun < 0.2
            assert isinstance(store.claim(ref("T-1"), "amy", "amy-1", 60.0, pulled=True), Claim)
            assert time.monotonic() - begun > 2.0


def test_a_program_that_ignores_the_lock_for_too_long_is_complained_about(tmp_path: Path) -> None:
    with make_store(tmp_path, lock_timeout=0.2) as store:
        with closing(sqlite3.connect(tmp_path / "state" / "recall.db", isolation_level=None)) as foreign:
            foreign.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusy, match="does not take its lock file"):
                store.recycle()
            foreign.execute("ROLLBACK")
        assert store.recycle() == []


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _until(holds: object) -> None:
    assert callable(holds)
    deadline = time.monotonic() + 10.0
    while not holds():
        assert time.monotonic() < deadline, "never came true"
        threading.Event().wait(0.01)
