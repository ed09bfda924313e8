"""Signals that end the screen: the terminal is given back, and agents at work go on for the next start to adopt."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable

from recall.ui.external import end_process
from recall.ui.terminal import give_back

_PATIENCE = 3.0
_LEAVING = (signal.SIGTERM, signal.SIGHUP)


def leave_on_signals(leave: Callable[[int], None]) -> None:
    """From now on call `leave` with the exit code when a signal asks to leave, and end by force where that takes
    longer than three seconds. For the running loop of the main thread."""
    loop = asyncio.get_running_loop()
    for number in _LEAVING:
        loop.add_signal_handler(number, _told, leave, 128 + number)


def _told(leave: Callable[[int], None], code: int) -> None:
    watch = threading.Timer(_PATIENCE, _by_force, (code,))
    watch.daemon = True
    watch.start()
    leave(code)


def _by_force(code: int) -> None:
    give_back()
    end_process(code)
