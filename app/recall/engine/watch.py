"""What the loop sleeps on: a wake pipe, the ends of shims, and a time-out."""

from __future__ import annotations

import os
import selectors
import threading


class Watch:
    """Wakes the loop when a shim ends or another thread calls `wake`. `landing` wakes the landing thread."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._reader, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._selector.register(self._reader, selectors.EVENT_READ, None)
        self._fds: dict[int, int] = {}
        self.landing = threading.Event()

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()
        self._selector.close()
        os.close(self._reader)
        os.close(self._writer)

    def wake(self) -> None:
        """From any thread, or a signal handler."""
        try:
            os.write(self._writer, b"x")
        except BlockingIOError:
            return  # a full pipe wakes as well

    def wait(self, seconds: float) -> bool:
        """Sleep until something happens, `seconds` at most; tell whether it did. A shim that has ended is
        watched no more."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            if key.data is None:
                self._drain()
            else:
                self.drop(key.data)
        return bool(ready)

    def add(self, pidfd: int | None, run_id: int) -> bool:
        """Watch a run's shim, and close the descriptor when it is over. False: it has ended already."""
        if pidfd is None:
            return False
        self._fds[run_id] = pidfd
        self._selector.register(pidfd, selectors.EVENT_READ, run_id)
        return True

    def drop(self, run_id: int) -> None:
        """Watch it no more; nothing happens when it was not."""
        fd = self._fds.pop(run_id, None)
        if fd is not None:
            self._selector.unregister(fd)
            os.close(fd)

    def watching(self, run_id: int) -> bool:
        return run_id in self._fds

    def _drain(self) -> None:
        try:
            while os.read(self._reader, 4096):
                pass
        except BlockingIOError:
            return
