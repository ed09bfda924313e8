"""What the screen knows of the store, brought up to date by its events: no change rereads the whole list."""

from __future__ import annotations

from collections import defaultdict

from recall.config.settings import Settings
from recall.domain.clock import Clock
from recall.domain.event import Event
from recall.domain.overview import Overview
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskRef, TaskState
from recall.engine.observing import PAUSED, observe
from recall.engine.ports import Store

#: From so many changed tasks on, reading the whole list is cheaper than reading them one by one.
_MANY = 300
#: Up to so many ready tasks the scheduler's own snapshot is read, with who did what before.
_EXACT = 500


class Ledger:
    """Used by one thread. `refresh` is cheap when little happened."""

    def __init__(self, store: Store, settings: Settings, clock: Clock, name: str) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._name = name
        self._tasks: dict[TaskRef, Task] = {}
        self._waiting_for: dict[TaskRef, set[TaskRef]] = defaultdict(set)
        self._seq = 0

    def refresh(self, *, dispatcher: bool) -> tuple[Overview, list[Event]]:
        """Give the store as it is now, and what happened since the last time (nothing at first)."""
        if not self._tasks:
            return self._whole(dispatcher), []
        events = self._store.events_since(self._seq)
        if not events:
            return self._overview(dispatcher), []
        self._seq = events[-1].seq
        refs = {TaskRef(event.region, event.task) for event in events if event.region and event.task}
        touched = refs.union(*(self._waiting_for.get(ref, set()) for ref in refs)) if refs else set[TaskRef]()
        if len(touched) > _MANY or any(event.kind.startswith("list.") for event in events):
            return self._whole(dispatcher), events
        for ref in touched:
            task = self._store.task(ref)
            if task is not None:
                self._tasks[ref] = task
        return self._overview(dispatcher), events

    def _whole(self, dispatcher: bool) -> Overview:
        self._seq = self._store.last_seq()
        overview = self._observe(dispatcher)
        self._tasks = {task.ref: task for task in overview.tasks}
        self._waiting_for.clear()
        for task in overview.tasks:
            for ref in task.prerequisites:
                self._waiting_for[ref].add(task.ref)
        return overview

    def _overview(self, dispatcher: bool) -> Overview:
        tasks = tuple(self._tasks.values())
        ready = tuple(task for task in tasks if task.state is TaskState.TODO and not task.unmet and not task.is_group)
        if len(ready) <= _EXACT:
            return self._observe(dispatcher, tasks)
        running = tuple(task for task in tasks if task.state is TaskState.IN_PROGRESS)
        paused = self._store.setting(PAUSED) == "yes"
        now, agents = self._clock.now().wall, tuple(self._store.agents())
        return self._observe(dispatcher, tasks, Snapshot(now, ready, running, agents, dispatching=not paused))

    def _observe(
        self, dispatcher: bool, tasks: tuple[Task, ...] | None = None, snapshot: Snapshot | None = None
    ) -> Overview:
        return observe(
            self._store,
            self._settings,
            self._clock,
            name=self._name,
            dispatcher=dispatcher,
            tasks=tasks,
            snapshot=snapshot,
        )
