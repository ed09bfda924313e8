"""Looks back at a rehearsal: what happened, and whether everything that it is there to show did happen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recall.domain.event import Event
from recall.domain.run import Run, RunResult
from recall.domain.task import Task, TaskRef, TaskState


@dataclass(frozen=True, slots=True)
class Sight:
    """One thing that a rehearsal must show, and what was seen of it ("" when it was not seen)."""

    what: str
    seen: str


def review(tasks: Sequence[Task], runs: Sequence[Run], events: Sequence[Event]) -> list[Sight]:
    """Check the store's own records for each kind of situation."""
    return [
        Sight("parallel work", _parallel(runs)),
        Sight("a hand-over to another agent", _hand_over(tasks, runs)),
        Sight("uncommitted leftovers that landed", _leftovers(events, runs)),
        Sight("a success report whose tests failed", _first(runs, RunResult.VERIFY_FAILED)),
        Sight("a usage limit that ended by itself", _limit_ended(runs)),
        Sight("a conflict, started over or settled", _first(runs, RunResult.CONFLICT) or _settled(events)),
        Sight("a hung agent that was stopped", _first(runs, RunResult.STALLED)),
        Sight("every task landed", _all_landed(tasks)),
    ]


def _parallel(runs: Sequence[Run]) -> str:
    for one in runs:
        for other in runs:
            apart = one.agent != other.agent and one.id < other.id
            if apart and one.started_at and other.started_at and one.ended_at and other.started_at < one.ended_at:
                return f"{one.task} ({one.agent}) and {other.task} ({other.agent}) at the same time"
    return ""


def _hand_over(tasks: Sequence[Task], runs: Sequence[Run]) -> str:
    did = {run.ref: run.agent for run in runs if run.result is RunResult.LANDED}
    for task in tasks:
        agent = did.get(task.ref)
        others = [(ref, did[ref]) for ref in task.prerequisites if ref in did and did[ref] != agent]
        if agent is not None and others and len(others) == len(task.prerequisites):
            ref, before = others[0]
            return f"{task.id} by {agent}, after {ref} by {before}"
    return ""


def _leftovers(events: Sequence[Event], runs: Sequence[Run]) -> str:
    landed = {run.id for run in runs if run.result is RunResult.LANDED}
    for event in events:
        if event.run_id in landed and "uncommitted files committed" in event.reason:
            return f"{event.task}: {event.reason}"
    return ""


def _limit_ended(runs: Sequence[Run]) -> str:
    for run in runs:
        if run.result is RunResult.RATE_LIMITED:
            later = [one for one in runs if one.agent == run.agent and one.id > run.id and one.started_at]
            if later:
                return f"{run.agent} at {run.task}, back at work with {later[0].task}"
    return ""


def _first(runs: Sequence[Run], result: RunResult) -> str:
    run = next((run for run in runs if run.result is result), None)
    return f"{run.task} by {run.agent}: {run.reason.splitlines()[0] if run.reason else result}" if run else ""


def _settled(events: Sequence[Event]) -> str:
    """On the screen a conflict waits for the person, who may have settled it."""
    event = next((event for event in events if event.kind == "merge.resolved"), None)
    return f"{event.task}: {event.reason.splitlines()[0] if event.reason else 'settled by you'}" if event else ""


def _all_landed(tasks: Sequence[Task]) -> str:
    landed = [task for task in tasks if task.state is TaskState.DONE and task.done_commit]
    return f"{len(landed)} tasks" if tasks and len(landed) == len(tasks) else ""


def table(tasks: Sequence[Task], runs: Sequence[Run]) -> list[tuple[str, str, str, str, str]]:
    """Give the rows (task, agent, attempts, result, why) that a rehearsal ends with."""
    by_task: dict[TaskRef, list[Run]] = {}
    for run in runs:
        by_task.setdefault(run.ref, []).append(run)
    return [_row(task, by_task.get(task.ref, [])) for task in tasks]


def _row(task: Task, runs: list[Run]) -> tuple[str, str, str, str, str]:
    last = runs[-1] if runs else None
    before = ", ".join(f"{run.result} ({run.agent})" for run in runs[:-1])
    why = f"before: {before}" if before else (last.why if last else task.reason)
    return (task.id, last.agent if last else "-", str(len(runs)), str(last.result if last else task.state), why)
