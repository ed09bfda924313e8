"""`recall-tui --no-ui`: the engine without a screen."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import FrameType

from recall.bootstrap import open_engine
from recall.domain.event import Event
from recall.domain.frozen import frozen
from recall.domain.narration import line_of
from recall.domain.progress import Standing
from recall.domain.run import RunState
from recall.domain.signals import Signal
from recall.engine.dispatcher import Dispatcher, Listener, Stopping

ALL_DONE = 0
NEEDS_PERSON = 1


@frozen
class Console:
    """Where a headless run speaks: readable lines, or one JSON object a line."""

    say: Callable[[str], None]
    json_lines: bool

    def events(self, events: Sequence[Event]) -> None:
        for event in events:
            if self.json_lines:
                self.say(json.dumps({"type": "event", **asdict(event)}))
            elif (line := line_of(event)) is not None:
                self.say(line)

    def remark(self, kind: str, text: str) -> None:
        self.say(json.dumps({"type": kind, "message": text}) if self.json_lines else text)

    def trouble(self, text: str) -> None:
        self.remark("trouble", f"trouble: {text}")

    def call(self, signal: Signal) -> None:
        if self.json_lines:
            self.say(json.dumps({"type": "signal", **asdict(signal)}))
        else:
            self.say(f"⚑ {signal.title}: {signal.text}")

    def end(self, standing: Standing) -> None:
        if self.json_lines:
            self.say(json.dumps({"type": "end", **asdict(standing), "complete": standing.complete}))
            return
        self.say(f"{standing.finished} of {standing.total} tasks finished")
        for sentence in standing.waits:
            self.say(f"  ⚑ {sentence}")


class _Signals:
    """Ctrl+C once drains, twice stops the agents; SIGTERM and SIGHUP drain, and stop after the grace time."""

    def __init__(self, dispatcher: Dispatcher, console: Console, grace: float) -> None:
        self._dispatcher = dispatcher
        self._console = console
        self._grace = grace
        self._interrupts = 0
        self._timer: threading.Timer | None = None
        self._previous = {
            number: signal.signal(number, self._on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        }

    def restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        if self._timer is not None:
            self._timer.cancel()

    def _on(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            self._interrupts += 1
            self._interrupted()
        elif self._timer is None:
            self._dispatcher.request(Stopping.DRAIN)
            self._timer = threading.Timer(self._grace, self._dispatcher.request, (Stopping.HALT,))
            self._timer.daemon = True
            self._timer.start()

    def _interrupted(self) -> None:
        if self._interrupts > 1:
            self._dispatcher.request(Stopping.HALT)
            self._console.remark("stopping", "stopping the agents now; their work is kept")
            return
        self._dispatcher.request(Stopping.DRAIN)
        threading.Thread(target=self._say_what_runs, daemon=True).start()

    def _say_what_runs(self) -> None:
        """In a thread of its own: the signal may have come in the middle of a store transaction."""
        runs = [run for run in self._dispatcher.parts.store.open_runs() if run.state is not RunState.PULLED]
        names = ", ".join(f"{run.ref} ({run.agent})" for run in runs) or "nothing"
        words = f"no new work; still under way: {names}. What runs finishes and lands. Ctrl+C again to stop now"
        self._console.remark("draining", words)


def run_headless(
    start: Path,
    *,
    say: Callable[[str], None],
    json_lines: bool = False,
    until_done: bool = False,
    grace: float = 0.0,
    allow_root: bool = False,
    ring: Callable[[], None] = lambda: None,
) -> int:
    """Dispatch until the list stands still (`until_done`) or a signal stops it; gives the exit code 0 (all
    done) or 1 (something is left, and needs a person unless a signal came). Raises ConfigError,
    DispatcherRunning or EnvironmentFailure when it cannot work."""
    console = Console(say, json_lines)
    listener = Listener(console.events, console.trouble, console.call, ring)
    with open_engine(start, listener, allow_root=allow_root) as dispatcher:
        signals = _Signals(dispatcher, console, grace)
        try:
            dispatcher.start()
            standing = dispatcher.run(until_done=until_done)
        finally:
            signals.restore()
    console.end(standing)
    return ALL_DONE if standing.complete and not standing.waits else NEEDS_PERSON
