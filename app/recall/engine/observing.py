"""Reads the store at one moment for front ends."""

from __future__ import annotations

from recall.config.settings import Settings
from recall.domain.clock import Clock
from recall.domain.imports import LIST_PROBLEMS
from recall.domain.merge import MAIN_OID, QUEUE_HELD
from recall.domain.overview import Overview
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task
from recall.engine.budgets import agents_within_budget, snapshot_within_budget
from recall.engine.ports import Store
from recall.engine.trust import TRUSTED, distrust_reason

#: The setting that says "yes" while a person wants nothing new started.
PAUSED = "dispatching_paused"


def observe(
    store: Store,
    settings: Settings,
    clock: Clock,
    *,
    name: str,
    dispatcher: bool,
    shortage: str = "",
    tasks: tuple[Task, ...] | None = None,
    snapshot: Snapshot | None = None,
) -> Overview:
    """Read everything that an overview shows. `settings` have their presets filled in; `dispatcher` says
    whether one is running, `shortage` which disk has too little room for new work; `tasks` and `snapshot` spare
    their reading to a caller that has them."""
    tasks = tuple(store.tasks()) if tasks is None else tasks
    now = clock.now().wall
    distrust = distrust_reason(settings, tasks, store.setting(TRUSTED))
    return Overview(
        name=name,
        main=settings.main,
        tip=store.setting(MAIN_OID) or "",
        now=now,
        dispatcher=dispatcher,
        queue_held=store.setting(QUEUE_HELD) or "",
        dispatch_held=distrust or shortage,
        snapshot=snapshot_within_budget(store, settings, snapshot or store.snapshot()),
        tasks=tasks,
        agents=agents_within_budget(store, settings, now, store.agents()),
        runs=tuple(store.open_runs()),
        merges=tuple(store.merges()),
        shortage="" if distrust else shortage,
        list_problems=tuple((store.setting(LIST_PROBLEMS) or "").splitlines()) if dispatcher else (),
        receipts=tuple(store.receipts()),
    )
