"""Reads what figures and reports are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from recall.config.settings import Settings
from recall.domain.clock import Clock
from recall.domain.event import Event
from recall.domain.figures.past import COOLING, Past
from recall.domain.figures.report import DiffSize, Report, report_of
from recall.domain.figures.waiting import waiting_of
from recall.domain.merge import MergeState
from recall.domain.overview import Overview
from recall.domain.run import Run
from recall.engine.ports import Store

#: Gives the sizes of changes, each a commit before and one after it; what git does not have is left out.
Measure = Callable[[Mapping[int, tuple[str, str]]], Mapping[int, DiffSize]]

_PAGE = 1000
_ALL = 1 << 31


def read_past(store: Store, settings: Settings, clock: Clock, since: float | None) -> Past:
    """Read what the store keeps from wall second `since` on; None: from its first event."""
    now = clock.now().wall
    events = tuple(reversed(list(_events_back_to(store, since))))
    begin = since if since is not None else events[0].at if events else now
    return Past(
        since=min(begin, now),
        now=now,
        runs=tuple(run for run in store.runs() if _reaches(run, begin)),
        events=events,
        cooling=tuple(event for kind in COOLING for event in store.events_back(None, _ALL, kind=kind)),
        tasks={task.ref: task for task in store.tasks()},
        ttl=settings.lease.ttl,
        heartbeat=settings.lease.heartbeat,
    )


def read_report(
    store: Store, past: Past, overview: Overview, *, measure: Measure, day_of: Callable[[float], str]
) -> Report:
    """Join the past with how things stand in `overview`, and with what git knows of what landed."""
    landed = {run.id for run in past.landed}
    entries = {entry.run_id: entry for entry in store.merges(open_only=False) if entry.run_id in landed}
    changes = {
        entry.run_id: (entry.onto, entry.candidate)
        for entry in entries.values()
        if entry.state is MergeState.LANDED and entry.onto and entry.candidate
    }
    latest = {run.ref: run for run in store.runs()}
    return report_of(
        past,
        project=overview.name,
        counts=overview.counts,
        waiting=waiting_of(overview, latest),
        sizes=measure(changes),
        entries=entries,
        day_of=day_of,
    )


def _reaches(run: Run, since: float) -> bool:
    return run.settled_at is None or run.settled_at >= since


def _events_back_to(store: Store, since: float | None) -> Iterator[Event]:
    """Newest first. A whole page that is older ends it: the wall clock may have been set back in between."""
    before: int | None = None
    while page := store.events_back(before, _PAGE):
        fresh = [event for event in page if since is None or event.at >= since]
        yield from fresh
        if not fresh:
            return
        before = page[-1].seq
