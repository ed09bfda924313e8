"""The flock in front of every write transaction: the kernel queues the waiters, SQLite would let them starve."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from recall.domain.errors import EnvironmentFailure, StoreBusy
from recall.domain.frozen import frozen
from recall.domain.surroundings import failure_of
from recall.domain.text import clean

_STOPPED_STATES = frozenset("Tt")
_SHORT_WAITS_S = (0.0005,) * 20


class StoreLock:
    """An exclusive lock between processes and threads. Whoever holds it has written its pid and start time."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout

    @contextmanager
    def held(self) -> Generator[None, None, None]:
        """Hold the lock for the block. Raises StoreBusy after the time-out, naming the holder."""
        descriptor = self._acquire()
        try:
            with contextlib.suppress(OSError):  # only a name for whoever waits; a disk may be full
                os.pwrite(descriptor, _signature(os.getpid()), 0)
            yield
        finally:
            os.ftruncate(descriptor, 0)
            os.close(descriptor)

    def _acquire(self) -> int:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise failure_of(error, f"the store's lock file {self._path} cannot be opened") from error
        try:
            soon = _comes_soon(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if not soon and not _Waiter(descriptor).got_it_within(self._timeout):
            raise StoreBusy(self._complaint())
        return descriptor

    def _complaint(self) -> str:
        return f"the store {self._path} is {self._holder()}; waited {self._timeout:g} s, then gave up"

    def _holder(self) -> str:
        try:
            pid, started = (int(word) for word in self._path.read_text().split())
            since = datetime.fromtimestamp(self._path.stat().st_mtime, UTC)
            process = _look_at(pid)
        except (OSError, ValueError):
            return "held by a process that left no name"
        if process is None or process.started != started:
            return f"held by PID {pid}, which has ended since: try again"
        if process.stopped:
            return (
                f"held by PID {pid} {process.name}, stopped since about {since:%Y-%m-%d %H:%M:%S} UTC: "
                f"continue it (kill -CONT {pid}) or end it"
            )
        return f"held by PID {pid} {process.name} since {since:%Y-%m-%d %H:%M:%S} UTC"


def _comes_soon(descriptor: int) -> bool:
    """Try for about as long as a few transactions take: most waits end here, for less than a thread costs."""
    for pause in _SHORT_WAITS_S:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(pause)
        else:
            return True
    return False


class _Waiter:
    """Waits for the lock in a thread of its own, since flock(2) knows no time-out. After giving up the
    thread owns the descriptor and lets go of a lock that comes too late."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._mutex = threading.Lock()
        self._over = threading.Event()
        self._given_up = False
        self._error: OSError | None = None
        threading.Thread(target=self._wait, name="store-lock", daemon=True).start()

    def got_it_within(self, timeout: float) -> bool:
        try:
            self._over.wait(timeout)
        except BaseException:
            if not self._give_up():
                os.close(self._descriptor)
            raise
        given_up = self._give_up()
        if self._error is not None:
            os.close(self._descriptor)
            raise EnvironmentFailure(f"the store's lock cannot be taken: {self._error.strerror}") from self._error
        return not given_up

    def _give_up(self) -> bool:
        """Unless the lock came after all."""
        with self._mutex:
            self._given_up = not self._over.is_set()
            return self._given_up

    def _wait(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        except OSError as error:
            self._error = error
        with self._mutex:
            if self._given_up:
                os.close(self._descriptor)
            else:
                self._over.set()


@frozen
class _Process:
    name: str
    stopped: bool
    started: int


def _look_at(pid: int) -> _Process | None:
    """Read /proc/PID/stat; the start time (ticks since boot) tells a reused pid apart."""
    try:
        head, _, tail = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")
    except OSError:
        return None
    fields = tail.split()
    return _Process(clean(head.partition("(")[2]), fields[0] in _STOPPED_STATES, int(fields[19]))


@cache
def _signature(pid: int) -> bytes:
    me = _look_at(pid)
    return f"{pid} {me.started if me else 0}\n".encode()
