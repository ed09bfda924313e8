"""What connects a viewer to its browser tab, and ends it with the tab."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING, Any, cast

from textual.app import App
from textual.drivers.web_driver import WebDriver

from recall.ui.signals import leave_on_signals

if TYPE_CHECKING:
    from recall.ui.app import RecallApp


class TabDriver(WebDriver):
    """Leaves the way that a signal has the app leave: wishes are carried out, agents are left at work, and nothing
    may hold the end up."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)

    def start_application_mode(self) -> None:
        super().start_application_mode()
        app = cast("RecallApp", self._app)
        leave_on_signals(app.front.leaving.told)  # the driver has put its own in their place

    def run_input_thread(self) -> None:
        """Read what is typed until the tab is gone; the server, if it was killed, takes its end of the pipe along."""
        super().run_input_thread()
        self._leave()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type == "quit":
            self._leave()
        else:
            super().on_meta(packet_type, payload)

    def write(self, data: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        with contextlib.suppress(BrokenPipeError):
            super().write_meta(data)

    def _leave(self) -> None:
        if not self.exit_event.is_set():
            os.kill(os.getpid(), signal.SIGTERM)
