"""Processes by identity, never by name: pid and start time, and the marker in their environment."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from recall.agents.shim import Process, all_processes, boot_id, carries, read_process, send

__all__ = ["MARKER", "Process", "boot_id", "end_all", "in_session", "marked", "open_pidfd", "read_process", "send"]

#: The variable that every process of a run inherits, through `setsid` and double forks too.
MARKER = "RECALL_RUN_MARKER"

_TERM_PATIENCE = 1.0
_KILL_PATIENCE = 5.0
_STEP = 0.02


def marked(marker: str) -> list[Process]:
    """Every living process that carries the marker in its environment."""
    wanted = f"{MARKER}={marker}\0".encode()
    return [process for process in all_processes() if not process.dead and carries(process.pid, wanted)]


def in_session(leader: int, start: int, below: Path) -> list[Process]:
    """Every living process of a session that works in `below`, the session being that of a leader that has
    died. Once another process has the leader's pid, the session is another one."""
    now = read_process(leader)
    if now is not None and now.start != start:
        return []
    return [
        process
        for process in all_processes()
        if process.session == leader and process.start >= start and not process.dead and _works_in(process.pid, below)
    ]


def end_all(find: Callable[[], list[Process]]) -> int:
    """TERM, then KILL what `find` gives, looking again until nothing is left. Gives how many there were."""
    met: set[tuple[int, int]] = set()
    started = time.monotonic()
    while processes := find():
        waited = time.monotonic() - started
        if waited > _TERM_PATIENCE + _KILL_PATIENCE:
            break
        for process in processes:
            if (process.pid, process.start) not in met:
                send(process, signal.SIGTERM)
            elif waited > _TERM_PATIENCE:
                send(process, signal.SIGKILL)
            met.add((process.pid, process.start))
        time.sleep(_STEP)
    return len(met)


def open_pidfd(pid: int, start: int) -> int | None:
    """A descriptor of exactly this process, for the caller to close; None when it is gone."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return None
    now = read_process(pid)
    if now is None or now.start != start:
        os.close(handle)
        return None
    return handle


def _works_in(pid: int, below: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").readlink().is_relative_to(below)
    except OSError:
        return False
