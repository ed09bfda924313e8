"""What the screen knows of the store, brought up to date by its events: no change rereads the whole list."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from statistics import median

from recall.config.settings import Settings
from recall.domain.clock import Clock
from recall.domain.event import Event
from recall.domain.figures.verifications import Verifications
from recall.domain.frozen import frozen
from recall.domain.overview import Overview, main_is_green
from recall.domain.run import Run
from recall.domain.schedule import foresee
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskRef, TaskState
from recall.engine.observing import PAUSED, observe
from recall.engine.ports import Store
from recall.ui.weights import WeightHistory

#: From so many changed tasks or runs on, reading all of them is cheaper than reading them one by one.
_MANY = 300
#: Up to so many ready tasks the scheduler's own snapshot is read, with who did what before.
_EXACT = 500
_PAGE = 1000
#: What verifications usually take is what so many took lately.
_RECENT = 5


@frozen
class Seen:
    """The store at one moment. `latest` is each task's newest run, `seq` the newest event that it accounts for;
    `typical` is how long verifications took lately, in seconds, `green` whether main's tip is; None while nobody
    knows. `weights` holds agents' weights of the past by agent and task type, oldest first."""

    overview: Overview
    latest: Mapping[TaskRef, Run] = field(default_factory=dict[TaskRef, Run])
    seq: int = 0
    typical: float | None = None
    green: bool | None = None
    weights: Mapping[tuple[str, str], tuple[float, ...]] = field(
        default_factory=dict[tuple[str, str], tuple[float, ...]]
    )


class Ledger:
    """Used by one thread. `refresh` is cheap when little happened."""

    def __init__(
        self, store: Store, settings: Settings, clock: Clock, name: str, shortage: Callable[[], str] = lambda: ""
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._name = name
        self._shortage = shortage
        self._weights = WeightHistory()
        self._tasks: dict[TaskRef, Task] = {}
        self._latest: dict[TaskRef, Run] = {}
        self._waiting_for: dict[TaskRef, set[TaskRef]] = defaultdict(set)
        self._verifications = Verifications()
        self._took: deque[float] = deque(maxlen=_RECENT)
        self._seq = 0

    def refresh(self, *, dispatcher: bool) -> Seen:
        """Give the store as it is now. However much happened since the last time, all of it is accounted for."""
        events = self._news() if self._tasks else self._store.events_since(self._store.last_seq() - _PAGE, _PAGE)
        self._took.extend(self._verifications.see(events))
        if not self._tasks or self._is_too_much(events):
            return self._seen(self._read_all(dispatcher))
        for ref in self._touched(events):
            task = self._store.task(ref)
            if task is not None:
                self._tasks[ref] = task
        for run_id in sorted({event.run_id for event in events if event.run_id is not None}):
            self._note_run(self._store.run(run_id))
        return self._seen(self._overview(dispatcher))

    def _news(self) -> list[Event]:
        """Read every event since the last time, a page at a time."""
        events: list[Event] = []
        while page := self._store.events_since(self._seq, _PAGE):
            events += page
            self._seq = page[-1].seq
            if len(page) < _PAGE:
                break
        return events

    def _is_too_much(self, events: Sequence[Event]) -> bool:
        return len(self._touched(events)) > _MANY or any(event.kind.startswith("list.") for event in events)

    def _touched(self, events: Sequence[Event]) -> set[TaskRef]:
        refs = {TaskRef(event.region, event.task) for event in events if event.region and event.task}
        return refs.union(*(self._waiting_for.get(ref, set()) for ref in refs)) if refs else set()

    def _read_all(self, dispatcher: bool) -> Overview:
        self._seq = self._store.last_seq()
        overview = self._observe(dispatcher)
        self._tasks = {task.ref: task for task in overview.tasks}
        runs = self._store.runs()
        self._latest = {run.ref: run for run in runs}
        self._weights = WeightHistory()
        self._weights.see(runs, self._tasks)
        self._waiting_for.clear()
        for task in overview.tasks:
            for ref in task.prerequisites:
                self._waiting_for[ref].add(task.ref)
        return overview

    def _note_run(self, run: Run | None) -> None:
        if run is not None:
            self._weights.see([run], self._tasks)
        if run is not None and ((known := self._latest.get(run.ref)) is None or known.id <= run.id):
            self._latest[run.ref] = run

    def _seen(self, overview: Overview) -> Seen:
        for run in overview.runs:
            self._note_run(run)
        foresee(overview.snapshot)  # here, not when the screen asks for it
        _ = overview.index
        return Seen(
            overview,
            dict(self._latest),
            self._seq,
            median(self._took) if self._took else None,
            main_is_green(overview),
            self._weights.of(overview.agents),
        )

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
            shortage=self._shortage(),
            tasks=tasks,
            snapshot=snapshot,
        )
