"""Leaving: what becomes of agents at work is asked, and no worker keeps the person."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from recall.domain.run import Run, RunState
from recall.engine.hosting import Stopping
from recall.ui.bridge import Left

if TYPE_CHECKING:
    from recall.ui.front import Front

_WORKING = frozenset({RunState.PREPARING, RunState.RUNNING, RunState.ENDED})
_LEAVE, _FINISH, _STOP = (
    "leave them working; the next start adopts them",
    "finish: nothing new, what runs lands, then quit",
    "stop them; their work is kept",
)


def named(runs: Iterable[Run]) -> str:
    return ", ".join(f"{run.ref} ({run.agent})" for run in runs)


class Leaving:
    """`leave_working` offers to leave agents at work, for the next start to adopt."""

    def __init__(self, front: Front, *, leave_working: bool) -> None:
        self._front = front
        self._leave_working = leave_working
        self._stopping = Stopping.NO
        self._going = False
        #: What the process ends with.
        self.code = 0

    @property
    def asked(self) -> bool:
        """The engine was asked to stop, and its end ends the app."""
        return self._stopping is not Stopping.NO

    def begin(self) -> None:
        """Leave, or ask first what becomes of the agents that this process lets work. Each time it is asked for
        again, there is less to wait for."""
        from recall.ui.screens.prompts import Farewell

        shown = self._front.app.screen
        if isinstance(shown, Farewell):
            shown.action_choose(0)
            return
        runs = self.at_work()
        if self._going or not self._front.host.hosting or not runs or self._stopping is Stopping.HALT:
            self._leave(Stopping.DRAIN)
            return
        names = named(runs)
        ways = self._ways()

        def chosen(number: int | None) -> None:
            if number is not None and number >= 0:
                list(ways.values())[number]()

        self._front.over(Farewell(f"Still at work: {names}", list(ways)), chosen)

    def _ways(self) -> dict[str, Callable[[], None]]:
        ways: dict[str, Callable[[], None]] = {_LEAVE: self.now} if self._leave_working else {}
        if not self.asked:
            ways[_FINISH] = lambda: self._leave(Stopping.DRAIN)
        ways[_STOP] = lambda: self._leave(Stopping.HALT)
        return ways

    def told(self, code: int) -> None:
        """Leave because a signal said so; whoever is at work goes on."""
        self.code = code
        self.now()

    def now(self) -> None:
        """Leave as soon as every wish is carried out; asked again, without waiting for them."""
        if self._going:
            self._front.app.post_message(Left())
            return
        self._going = True
        self._front.wishes.send(Left)

    def at_work(self) -> list[Run]:
        """The runs whose agents were at work when the store was last seen."""
        seen = self._front.seen
        return [run for run in seen.overview.runs if run.state in _WORKING] if seen is not None else []

    def _leave(self, stopping: Stopping) -> None:
        """Ask the engine to stop; its end, posted by its thread, ends the app. Asked for no more than before, leave
        at once."""
        if not self._front.host.hosting or stopping <= self._stopping:
            self.now()
            return
        self._stopping = stopping
        self._front.main.say_mode("draining")
        self._front.host.request(stopping)
