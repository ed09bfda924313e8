"""The only crossing between threads and the screen: values go in by `post_message`, nothing else crosses."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from textual.message import Message

from recall.domain.clock import Clock
from recall.domain.errors import DispatcherRunning, RecallError
from recall.domain.merge import BUSY_MERGE_STATES
from recall.domain.overview import Overview
from recall.domain.run import Run, RunState
from recall.domain.signals import Signal
from recall.engine.hosting import Listener, Stopping
from recall.engine.ports import Store
from recall.ui.ledger import Ledger, Seen

if TYPE_CHECKING:
    from recall.engine.dispatcher import Dispatcher
    from recall.engine.resolve import ConflictView

_POLL = 0.05
#: While something runs, elapsed times are brought up to date this often, in seconds.
_TICK = 1.0
#: And so often while nothing does: the minutes that something waits, a dispatcher that came or went.
_SLOW_TICK = 10.0
#: A busy store is shown at most ten times a second, and reading it takes this share of a core at most.
_LEAST_PAUSE = 0.1
_READING_SHARE = 0.2


class Poster(Protocol):
    """The app, as far as threads may touch it."""

    def post_message(self, message: Message) -> bool: ...


class Observed(Message):
    """The store as it is now, all of it: a newer one replaces one that still waits, and nothing is lost."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.seen = seen

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Observed)


class EngineSaid(Message):
    """The engine's state changed: `dispatching`, `draining`, `viewing`, `stopped`; or it met trouble."""

    def __init__(self, mode: str, text: str = "") -> None:
        super().__init__()
        self.mode = mode
        self.text = text


class NoTasks(Message):
    """Neither the store nor the first task list, of this name, has a task."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Called(Message):
    """Something is worth calling the person for."""

    def __init__(self, signal: Signal) -> None:
        super().__init__()
        self.signal = signal


class Rang(Message):
    """The bell of the terminal is wanted."""


class Done(Message):
    """A person's wish was carried out, or refused with a reason."""

    def __init__(self, text: str, *, refused: bool = False) -> None:
        super().__init__()
        self.text = text
        self.refused = refused


class Found(Message):
    """A run that was looked for; `pane` is what a person wants to see of it first."""

    def __init__(self, run: Run, pane: str) -> None:
        super().__init__()
        self.run = run
        self.pane = pane


class Met(Message):
    """A conflict was looked at."""

    def __init__(self, view: ConflictView) -> None:
        super().__init__()
        self.view = view


class Unconfirmed(Message):
    """Commands that no person has confirmed, by name; `verifies` are the tasks' own of all that are in force."""

    def __init__(self, commands: Sequence[tuple[str, str]], verifies: Collection[str]) -> None:
        super().__init__()
        self.commands = commands
        self.verifies = verifies


class Left(Message):
    """Everything that was asked for is done; the screen may go."""


class Watcher:
    """Looks at the store from a thread of its own and posts what it sees."""

    def __init__(
        self, app: Poster, ledger: Ledger, store: Store, clock: Clock, is_running: Callable[[], bool]
    ) -> None:
        self._app = app
        self._ledger = ledger
        self._store = store
        self._clock = clock
        self._is_running = is_running
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def is_over(self, patience: float) -> bool:
        """Wait so many seconds for the end of a stopped watcher; nobody may close its store before."""
        if self._thread.ident is not None:
            self._thread.join(patience)
        return not self._thread.is_alive()

    def _watch(self) -> None:
        pace = _Pace(-_SLOW_TICK)
        trouble = ""
        while not self._stop.wait(_POLL):
            found: Message | None = None
            try:
                found = self._look(pace)
                trouble = "" if found is not None else trouble
            except Exception as met:  # whatever it is, the screen says that it stands still, and looks again
                pace.last = self._clock.now().mono
                words = str(met) if isinstance(met, RecallError) else f"{type(met).__name__}: {met}"
                if words != trouble:
                    trouble = words
                    found = EngineSaid("", f"the store cannot be read: {trouble}")
            if found is not None and not self._app.post_message(found):
                return

    def _look(self, pace: _Pace) -> Observed | None:
        """Read the store again if it changed, if times run on, or if a dispatcher came or went."""
        now = self._clock.now().mono
        since = now - pace.last
        if since < pace.pause:
            return None
        version = self._store.data_version()
        if version == pace.version and since < (_TICK if pace.lively else _SLOW_TICK):
            return None
        dispatcher = self._is_running()
        seen = self._ledger.refresh(dispatcher=dispatcher)
        view = seen.overview
        pace.pause = max(_LEAST_PAUSE, (self._clock.now().mono - now) / _READING_SHARE)
        pace.last, pace.version = now, version
        pace.lively = _is_lively(view)
        return Observed(seen)


@dataclass(slots=True)
class _Pace:
    """`last` is when the store was looked at, in monotonic seconds, `pause` how long it is left alone then;
    `lively`: something is shown that has a time."""

    last: float
    pause: float = _LEAST_PAUSE
    version: int = -1
    lively: bool = False


def _is_lively(view: Overview) -> bool:
    """Whether a time is shown that changes every second: somebody works, something is verified or cools down."""
    return (
        any(run.state is not RunState.LANDING for run in view.runs)
        or any(entry.state in BUSY_MERGE_STATES for entry in view.merges)
        or any((one.cooling_until or 0.0) > view.now for one in view.agents)
    )


class OpenEngine(Protocol):
    """`bootstrap.open_engine`."""

    def __call__(
        self, start: Path, listener: Listener, *, restart_conflicts: bool = True
    ) -> AbstractContextManager[Dispatcher]: ...


@dataclass(slots=True)
class _Hosted:
    dispatcher: Dispatcher | None = None
    stopping: Stopping = Stopping.NO


class EngineHost:
    """Runs a dispatcher in a thread of its own, if no other process does.

    Nothing waits for that thread on the screen's side: a stop is asked for, and its end is posted.
    """

    def __init__(self, app: Poster, start: Path, open_engine: OpenEngine, log: Path) -> None:
        self._app = app
        self._start = start
        self._open = open_engine
        self._log = log
        self._hosted = _Hosted()
        self._thread: threading.Thread | None = None

    @property
    def hosting(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Become the dispatcher, or a viewer where there is one already."""
        if not self.hosting:
            self._hosted = _Hosted()
            self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
            self._thread.start()

    def request(self, stopping: Stopping) -> None:
        self._hosted.stopping = max(self._hosted.stopping, stopping)
        if self._hosted.dispatcher is not None:
            self._hosted.dispatcher.request(stopping)

    def _run(self) -> None:
        listener = Listener(
            trouble=lambda text: self._say("", text),
            signal=lambda signal: self._post(Called(signal)),
            ring=lambda: self._post(Rang()),
        )
        try:
            with self._open(self._start, listener, restart_conflicts=False) as dispatcher:
                self._hosted.dispatcher = dispatcher
                dispatcher.request(self._hosted.stopping)
                dispatcher.start()
                self._say("dispatching")
                dispatcher.run(until_done=False)
        except DispatcherRunning as other:
            self._say("viewing", str(other))
            return
        except RecallError as trouble:
            self._say("stopped", str(trouble))
            return
        except Exception as fault:  # a fault of the engine is shown, and the app lives on
            with self._log.open("a") as log:
                traceback.print_exc(file=log)
            self._say("stopped", f"the engine failed: {type(fault).__name__}: {fault}; see {self._log}")
            return
        self._say("stopped")

    def _say(self, mode: str, text: str = "") -> None:
        self._post(EngineSaid(mode, text))

    def _post(self, message: Message) -> None:
        self._app.post_message(message)
