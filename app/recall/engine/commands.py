"""Set-up and verification commands: started under a shim like an agent, and waited for."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.run import ExitRecord
from recall.domain.text import clean
from recall.engine.ports import Runner, RunSpec

_WAIT_MS = 500


@frozen
class CommandEnd:
    """How a command ended. `tail` is cleaned text for people; `given_up` means that the caller stopped it."""

    record: ExitRecord | None
    tail: str
    given_up: bool = False

    @property
    def green(self) -> bool:
        return self.record is not None and self.record.status == 0 and not self.record.stopped

    @property
    def reason(self) -> str:
        if self.given_up:
            return "given up with the dispatcher"
        if self.record is None:
            return "its process was lost"
        if self.record.stopped == "timeout":
            return "did not end within its time limit"
        if self.record.error:
            return self.record.error
        if self.record.signal is not None:
            return f"killed by signal {self.record.signal}"
        return f"exit code {self.record.status}"


def run_command(runner: Runner, spec: RunSpec, *, give_up: Callable[[], bool]) -> CommandEnd:
    """Run one command to its end. `give_up` is asked twice a second."""
    runner.start(spec)
    stopped = False
    while not _gone(runner, spec.folder):
        if not stopped and give_up():
            runner.stop(spec.folder, "shutdown")
            stopped = True
    status = runner.status(spec.folder)
    return CommandEnd(status.exit, clean(runner.tail(spec.folder, 40)), given_up=stopped)


def _gone(runner: Runner, folder: Path) -> bool:
    """Wait a little for the shim's end; a pidfd wakes at once, so short commands cost no polling."""
    fd = runner.pidfd(folder)
    if fd is None:
        return not runner.status(folder).live
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(_WAIT_MS))
    finally:
        os.close(fd)
