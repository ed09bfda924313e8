"""Reads the store at one moment for front ends."""

from __future__ import annotations

from recall.config.settings import Settings
from recall.domain.clock import Clock
from recall.domain.overview import Overview
from recall.engine.merge_queue import HELD, MAIN
from recall.engine.ports import Store
from recall.engine.trust import TRUSTED, distrust_reason


def observe(store: Store, settings: Settings, clock: Clock, *, name: str, dispatcher: bool) -> Overview:
    """Read everything that an overview shows. `settings` have their presets filled in; `dispatcher` says
    whether one is running."""
    tasks = tuple(store.tasks())
    return Overview(
        name=name,
        main=settings.main,
        tip=store.setting(MAIN) or "",
        now=clock.now().wall,
        dispatcher=dispatcher,
        queue_held=store.setting(HELD) or "",
        distrust=distrust_reason(settings, tasks, store.setting(TRUSTED)),
        snapshot=store.snapshot(),
        tasks=tasks,
        agents=tuple(store.agents()),
        runs=tuple(store.open_runs()),
        merges=tuple(store.merges()),
    )
