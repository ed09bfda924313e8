"""Signals that end the screen: the terminal is given back, and agents at work go on for the next start to adopt."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable

from recall.ui.external import end_process
from recall.ui.terminal import give_back

_STDIN = 0
_PATIENCE = 3.0
_LEAVING = (signal.SIGTERM, signal.SIGHUP)


def leave_on_signals(leave: Callable[[int], None]) -> None:
    """From now on call `leave` with the exit code when a signal asks to leave, and end by force where that takes
    longer than three seconds. For the running loop of the main thread."""
    loop = asyncio.get_running_loop()
    for number in _LEAVING:
        loop.add_signal_handler(number, _told, leave, 128 + number)
    on_hangup(lambda: _told(leave, 128 + signal.SIGHUP))


def on_hangup(act: Callable[[], None]) -> None:
    """Call `act` in the running loop when the terminal is gone. No signal tells of it where the terminal controls
    another session, and whoever reads from it then is given nothing, again and again, without a pause."""
    if os.isatty(_STDIN):
        loop = asyncio.get_running_loop()
        threading.Thread(target=_wait_for_hangup, args=(loop, act), name="hangup", daemon=True).start()


def _wait_for_hangup(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    gone = select.poll()
    gone.register(_STDIN, 0)  # a hangup is told of whatever is asked for
    gone.poll()
    with contextlib.suppress(RuntimeError):  # the loop is over as well
        loop.call_soon_threadsafe(act)


def _told(leave: Callable[[int], None], code: int) -> None:
    watch = threading.Timer(_PATIENCE, _by_force, (code,))
    watch.daemon = True
    watch.start()
    leave(code)


def _by_force(code: int) -> None:
    give_back()
    end_process(code)
