"""Who is where in the office, and what hangs on its walls: decided from what the screen knows of the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from recall.domain.agent import Agent
from recall.domain.frozen import frozen
from recall.domain.merge import MergeEntry, MergeState
from recall.domain.overview import Overview, agent_doing
from recall.domain.run import Run, RunResult, RunState
from recall.domain.task import TaskState
from recall.domain.words import age, elapsed
from recall.ui.ledger import Seen
from recall.ui.roll import Roll
from recall.ui.view_models import need_rows, queue_rows
from recall_widgets.glyphs import Shown
from recall_widgets.office.people import Column, Office, Parcel, Place, Pose, Worker

#: The board's columns, from the left, and how many ids of each are looked up.
_COLUMNS = (
    ("needs you", Shown.NEEDS_YOU), ("running", Shown.RUNNING), ("landing", Shown.LANDING), ("ready", Shown.READY),
    ("done", Shown.DONE), ("waiting", Shown.WAITING), ("on hold", Shown.HELD),
)  # fmt: skip
_MOST_IDS = 16
_HALTS = {"paused": "paused: nothing new starts", "held": "held: nothing new starts before you act"}
#: From so many seconds on it is said how long an agent is at work, in words that seldom change.
_MINUTE = 60.0
#: Runs in these take their agent up.
_AT_WORK = frozenset({RunState.PREPARING, RunState.RUNNING, RunState.PULLED, RunState.ENDED})


@frozen
class Wait:
    """Something that waits for a person because of an agent's run, in a word, since a wall second."""

    run: Run
    word: str
    since: float


@frozen
class Past:
    """What of an agent's past decides where it is: its newest run, and what waits because of its runs. It changes
    with the store, not with time."""

    newest: Mapping[str, Run] = field(default_factory=dict[str, Run])
    waits: Mapping[str, tuple[Wait, ...]] = field(default_factory=dict[str, tuple[Wait, ...]])


def past_of(seen: Seen) -> Past:
    """Look for it, once for each change of the store."""
    newest: dict[str, Run] = {}
    for run in (*seen.latest.values(), *seen.overview.runs):
        if (known := newest.get(run.agent)) is None or known.id < run.id:
            newest[run.agent] = run
    waits: dict[str, list[Wait]] = {}
    for wait in _waits(seen):
        waits.setdefault(wait.run.agent, []).append(wait)
    return Past(newest, {name: tuple(sorted(found, key=lambda one: one.since)) for name, found in waits.items()})


def _waits(seen: Seen) -> Iterable[Wait]:
    entries = {entry.ref: entry for entry in seen.overview.merges}
    for task in seen.overview.tasks:
        run = seen.latest.get(task.ref)
        if task.state is TaskState.NEEDS_PERSON and run is not None:
            yield Wait(run, _wait_word(entries.get(task.ref), run), task.changed_at)
    for entry in entries.values():
        run = seen.latest.get(entry.ref)
        if entry.state is MergeState.WAITING_CHECKOUT and run is not None:
            yield Wait(run, "your checkout", entry.changed_at)


def _wait_word(entry: MergeEntry | None, run: Run) -> str:
    if entry is not None and entry.state is MergeState.CONFLICT:
        return "conflict"
    return "question" if run.result is RunResult.QUESTION else "needs you"


def runs_of(agent: str, overview: Overview) -> list[Run]:
    """The runs that an agent is at, oldest first."""
    return [run for run in overview.runs if run.agent == agent and run.state in _AT_WORK]


def shown_run(agent: str, seen: Seen, past: Past, number: int = 0) -> Run | None:
    """The run that the screen is about when an agent is selected: one that it is at, else one that waits for a
    person, else its newest. `number` goes through them where it is at several."""
    runs = runs_of(agent, seen.overview)
    if runs:
        return runs[number % len(runs)]
    waits = past.waits.get(agent)
    return waits[0].run if waits else past.newest.get(agent)


def landed_since(before: Seen, after: Seen) -> frozenset[str]:
    """The agents whose runs were open before and have landed since."""
    return frozenset(
        run.agent
        for run in before.overview.runs
        if (now := after.latest.get(run.ref)) is not None and now.id == run.id and now.result is RunResult.LANDED
    )


def office_of(seen: Seen, roll: Roll, past: Past) -> Office:
    overview = seen.overview
    return Office(
        workers=tuple(worker_of(agent, seen, past) for agent in overview.agents),
        parcels=tuple(_parcels(seen, roll)),
        board=tuple(_columns(roll)),
        main=overview.main,
        green=seen.green,
        waits=len(need_rows(overview)),
        halt=_HALTS.get(overview.halt, ""),
    )


def worker_of(agent: Agent, seen: Seen, past: Past) -> Worker:
    """An agent that is at something is at its desk, whatever else is true of it. One that is blocked itself goes to
    the boss; one that may not start anything rests; one without anything else to do waits with what its last run
    brought up. What waits because of any other of them is a badge."""
    overview, now = seen.overview, seen.overview.now
    waits = past.waits.get(agent.name, ())
    known = Worker(f"agent:{agent.name}", agent.name, Place.DESK, Pose.IDLE, Shown.READY, "idle", badge=len(waits))
    runs = runs_of(agent.name, overview)
    if runs:
        return _at_work(known, agent, runs, overview)
    what = agent_doing(agent, overview)
    if agent.stopped_reason or agent.suspicions:
        reason = agent.stopped_reason or agent.cooling_reason
        return _with(known, Place.QUEUE, Pose.WAITING, Shown.NEEDS_YOU, "blocked", what=reason)
    if agent.paused or not agent.enabled:
        word = "paused" if agent.paused else "disabled"
        return _with(known, Place.SOFA, Pose.RESTING, Shown.HELD, word, what=what)
    if agent.cooling_until is not None and agent.cooling_until > now:
        time = f"in {elapsed(agent.cooling_until - now)}"
        return _with(known, Place.SOFA, Pose.DOZING, Shown.COOLING, "cools down", time=time, what=what)
    if agent.over_budget:
        return _with(known, Place.SOFA, Pose.RESTING, Shown.HELD, "over budget", what=what)
    newest = past.newest.get(agent.name)
    mine = next((wait for wait in waits if newest is not None and wait.run.id == newest.id), None)
    if mine is not None:
        what = f"{mine.run.ref}: {mine.word}"
        return _with(known, Place.QUEUE, Pose.WAITING, Shown.NEEDS_YOU, mine.word, what=what, since=mine.since)
    return _with(known, Place.DESK, Pose.IDLE, Shown.READY, "idle", what=what)


def _at_work(known: Worker, agent: Agent, runs: list[Run], overview: Overview) -> Worker:
    first = runs[0]
    task = overview.index.get(first.ref)
    title = task.title if task is not None else ""
    more = f" +{len(runs) - 1}" if len(runs) > 1 else ""
    pose, state, word = Pose.TYPING, Shown.RUNNING, "at work"
    if first.state is RunState.PREPARING:
        pose, word = Pose.ARRIVING, "takes over" if first.number > 1 else "starts"
    elif first.state is RunState.ENDED:
        pose, state, word = Pose.HANDING_IN, Shown.LANDING, "hands in"
    since = overview.now - (first.started_at or first.claimed_at)
    return Worker(
        known.key,
        known.name,
        Place.DESK,
        pose,
        state,
        word,
        time=age(since) if since >= _MINUTE else "",
        run=f"run:{first.id}",
        screen=f"{first.ref}{more}",
        what=title,
        badge=known.badge,
    )


def _with(
    known: Worker,
    place: Place,
    pose: Pose,
    state: Shown,
    word: str,
    *,
    time: str = "",
    what: str = "",
    since: float = 0.0,
) -> Worker:
    return Worker(known.key, known.name, place, pose, state, word, time, what=what, badge=known.badge, since=since)


def _parcels(seen: Seen, roll: Roll) -> Iterable[Parcel]:
    rows = queue_rows(seen.overview, roll)
    for row in sorted(rows, key=lambda row: row.state is Shown.NEEDS_YOU):
        doing = " ".join(row.doing.split())
        yield Parcel(row.key, row.id, row.state, doing, f"agent:{row.agent}")


def _columns(roll: Roll) -> Iterable[Column]:
    for word, state in _COLUMNS:
        count = roll.count(word)
        if count:
            yield Column("for you" if word == "needs you" else word, state, count, tuple(_ids(roll, word)))


def _ids(roll: Roll, word: str) -> list[str]:
    """The first ones; of what is done, the last ones of the list."""
    groups = [roll.groups.get((region, word), ()) for region in roll.regions]
    some = [group[: -_MOST_IDS - 1 : -1] if word == "done" else group[:_MOST_IDS] for group in groups]
    return [str(roll.tasks[key].ref) for group in some for key in group][:_MOST_IDS]
