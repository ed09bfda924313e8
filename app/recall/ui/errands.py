"""What the screen's own thread must not do: it would stand still while the store, git or the disk is slow."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

from textual.message import Message

from recall.domain.errors import RecallError
from recall.ui.bridge import Done, Poster

Errand = Callable[[], Message | None]


class Errands:
    """One thing after another, in the order in which they were asked for; each may post a message at its end.

    The thread is a daemon: an errand that hangs keeps nobody from leaving.
    """

    def __init__(self, app: Poster, name: str, log: Path) -> None:
        self._app = app
        self._log = log
        self._queue: SimpleQueue[Errand | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def send(self, errand: Errand) -> None:
        if self._thread.ident is None:
            self._thread.start()
        self._queue.put(errand)

    def stop(self) -> None:
        """Take no more; what was asked for is still done."""
        self._queue.put(None)

    def is_over(self, patience: float) -> bool:
        """Wait so many seconds for the end of what was asked for; nobody may close the store before."""
        if self._thread.ident is not None:
            self._thread.join(patience)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (errand := self._queue.get()) is not None:
            message = self._outcome(errand)
            if message is not None and not self._app.post_message(message):
                return  # the screen is gone

    def _outcome(self, errand: Errand) -> Message | None:
        try:
            return errand()
        except RecallError as trouble:
            return Done(str(trouble), refused=True)
        except Exception as fault:  # one that fails is shown, and the next one is carried out
            with self._log.open("a") as log:
                traceback.print_exc(file=log)
            return Done(f"failed: {type(fault).__name__}: {fault}; see {self._log}", refused=True)
