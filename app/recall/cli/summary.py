"""An overview as rows for people and as JSON for programs. Pure but for `observe`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recall.cli.project import Project
from recall.cli.words import columns
from recall.domain.agent import Agent, Weight
from recall.domain.merge import MergeEntry
from recall.domain.overview import Overview, agent_doing, agent_word, spaced, why
from recall.domain.task import Task, TaskRef
from recall.domain.words import TASK_WORDS, done_mark, elapsed, glyph, merge_word, task_word

#: How many ready or waiting tasks are listed when not every task is asked for.
_SHOWN = 8


def observe(project: Project) -> Overview:
    """Read everything that the summary shows."""
    from recall.bootstrap import dispatcher_runs, ground_at, with_presets
    from recall.engine.observing import observe as observe_store

    return observe_store(
        project.store,
        with_presets(project.settings),
        project.clock,
        name=project.name,
        dispatcher=dispatcher_runs(project.state),
        shortage=ground_at(project.location, project.settings).shortage(),
    )


def summary_lines(summary: Overview, *, every: bool, ascii_only: bool) -> Iterator[str]:
    """Give the lines that people read."""
    yield _head(summary)
    sections = (
        ("Needs you", [(glyph("needs you", ascii_only=ascii_only), line) for line in summary.standing.waits]),
        ("Agents", [_agent_row(agent, summary, ascii_only) for agent in summary.agents]),
        ("Merge queue", [merge_row(n, entry, summary, ascii_only) for n, entry in enumerate(summary.merges, 1)]),
        ("Tasks", _task_rows(summary, every, ascii_only)),
    )
    for title, rows in sections:
        if rows:
            yield f"\n{title}"
            yield from columns([tuple(cell.replace("\n", " ") for cell in row) for row in rows])
    if not summary.tasks:
        yield "\nNo tasks yet: write them into the task list, then run `recall import`."


def _head(summary: Overview) -> str:
    counts = summary.counts
    shown = " · ".join(f"{count} {word}" for word, count in counts.items() if count)
    tip = f" {summary.tip[:7]}" if summary.tip else ""
    return f"{summary.name}  {summary.main}{tip}  {_dispatching(summary)}  {shown or 'no tasks'}"


def _dispatching(summary: Overview) -> str:
    if not summary.dispatcher:
        return "no dispatcher (`recall-tui` starts one)"
    if summary.snapshot.dispatching:
        return "dispatching"
    reason = summary.snapshot.paused_reason
    return f"paused: {reason}" if reason else "paused"


def _agent_row(agent: Agent, summary: Overview, ascii_only: bool) -> tuple[str, ...]:
    word = agent_word(agent, summary.now)
    return glyph(word, ascii_only=ascii_only), agent.name, word, agent_doing(agent, summary)


def merge_row(number: int, entry: MergeEntry, summary: Overview, ascii_only: bool) -> tuple[str, ...]:
    what = spaced(entry.state) + (f": {entry.reason}" if entry.reason else "")
    since = elapsed(summary.now - entry.changed_at)
    return str(number), glyph(merge_word(entry), ascii_only=ascii_only), str(entry.ref), since, what


def _task_rows(summary: Overview, every: bool, ascii_only: bool) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for word in TASK_WORDS:
        tasks = [task for task in summary.tasks if task_word(task) == word]
        listed = tasks if every else _listed(word, tasks)
        rows += [
            (glyph(word, ascii_only=ascii_only), str(task.ref), task.title + done_mark(task), why(task, summary))
            for task in listed
        ]
        if len(listed) < len(tasks) and listed:
            rows.append(("", "", f"… and {len(tasks) - len(listed)} more {word}", "`recall status --all`"))
    return rows


def _listed(word: str, tasks: Sequence[Task]) -> Sequence[Task]:
    return () if word in {"done", "cancelled"} else tasks[:_SHOWN]


def summary_json(summary: Overview) -> dict[str, object]:
    """Give the same for programs; times are seconds since 1970 UTC."""
    return {
        "project": summary.name,
        "main": summary.main,
        "tip": summary.tip,
        "now": summary.now,
        "dispatcher": summary.dispatcher,
        "dispatching": summary.snapshot.dispatching,
        "paused_reason": summary.snapshot.paused_reason,
        "counts": summary.counts,
        "needs_you": list(summary.standing.waits),
        "agents": [agent_json(agent, summary) for agent in summary.agents],
        "queue": [merge_json(entry) for entry in summary.merges],
        "tasks": [_task_json(task, summary) for task in summary.tasks],
    }


def agent_json(agent: Agent, summary: Overview) -> dict[str, object]:
    return {
        "name": agent.name,
        "state": agent_word(agent, summary.now),
        "doing": agent_doing(agent, summary),
        "runs": [
            {"run_id": run.id, "task": str(run.ref), "started_at": run.started_at or run.claimed_at}
            for run in summary.runs
            if run.agent == agent.name
        ],
        "cooling_until": agent.cooling_until,
        "stopped_reason": agent.stopped_reason,
        "enabled": agent.enabled,
        "parallel": agent.parallel,
        "chosen": {"enabled": agent.chosen_enabled, "parallel": agent.chosen_parallel},
        "weights": {type_: weight_json(weight) for type_, weight in agent.weights.items()},
    }


def weight_json(weight: Weight) -> dict[str, object]:
    """A weight, the runs behind it, and where the share of landings lies with 95 % confidence."""
    low, high = weight.interval
    return {
        "weight": weight.value,
        "landed": weight.landed,
        "failed": weight.failed,
        "low": round(low, 4),
        "high": round(high, 4),
    }


def merge_json(entry: MergeEntry) -> dict[str, object]:
    return {
        "merge_id": entry.id,
        "task": str(entry.ref),
        "run_id": entry.run_id,
        "state": entry.state.value,
        "reason": entry.reason,
        "rounds": entry.rounds,
        "changed_at": entry.changed_at,
        "conflict_paths": list(entry.conflict_paths),
    }


def _task_json(task: Task, summary: Overview) -> dict[str, object]:
    return {
        "task": str(task.ref),
        "title": task.title,
        "type": task.type,
        "priority": task.priority,
        "state": task.state.value,
        "why": why(task, summary),
        "after": [str(TaskRef(*ref)) for ref in task.prerequisites],
        "attempts": task.attempts,
        "interruptions": task.interruptions,
        "done_by": task.done_by.value if task.done_by else None,
        "commit": task.done_commit,
    }
