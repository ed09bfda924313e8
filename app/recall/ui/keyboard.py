"""Reads keys from the terminal. A lone Esc is known to be one as soon as no rest of a sequence came.

Textual 8.2.8 waits for that in steps of 100 ms, whatever ESCDELAY says: every Esc would be answered that much later.
"""

from __future__ import annotations

import os
import selectors
import time
from codecs import getincrementaldecoder
from typing import Final

from textual import constants
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

#: So many seconds a sequence may pause before it counts as an Esc and other keys; terminals write them at once, only
#: a slow connection tears them apart. The terminal's ESCDELAY counts more.
ESCAPE_DELAY: Final = 0.02
_STEP: Final = 0.005
_IDLE: Final = 0.1
_CHUNK: Final = 4096


class PromptDriver(LinuxDriver):
    """Looks often while something that was typed may go on, and seldom otherwise."""

    def start_application_mode(self) -> None:
        if "ESCDELAY" not in os.environ:  # its own default was read when it was imported
            setattr(constants, "ESCAPE_DELAY", ESCAPE_DELAY)  # noqa: B010 - it is marked as final
        super().start_application_mode()

    def run_input_thread(self) -> None:
        """Read until the screen is left."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            read_at = time.monotonic()
            while not self.exit_event.is_set():
                ready = selector.select(pause(time.monotonic() - read_at, constants.ESCAPE_DELAY))
                if ready:
                    data = os.read(self.fileno, _CHUNK)
                    if not data:
                        break  # nobody will type any more
                    read_at = time.monotonic()
                    if text := decode(data):  # an empty one would end the parser
                        for message in parser.feed(text):
                            self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)


def pause(silence: float, delay: float) -> float:
    """How long to wait for more, in seconds, `silence` seconds after the last that was read: until `delay` is over
    in short steps, because whoever waits exactly so long looks a moment too early."""
    return _STEP if silence < delay + _STEP else _IDLE
