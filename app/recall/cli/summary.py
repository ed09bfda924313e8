"""The store at one moment as rows for people and as JSON for programs. Pure but for `observe`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recall.bootstrap import with_presets
from recall.cli.dispatcher import dispatcher_runs
from recall.cli.project import Project
from recall.cli.words import TASK_WORDS, columns, done_mark, elapsed, glyph, merge_word, task_word, until
from recall.domain.agent import Agent
from recall.domain.merge import MergeEntry
from recall.domain.progress import Standing, standing
from recall.domain.run import Run, RunState
from recall.domain.schedule import why_agent, why_task
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskRef, TaskState
from recall.engine.merge_queue import HELD, MAIN
from recall.engine.trust import TRUSTED, distrust_reason

#: How many ready or waiting tasks are listed when not every task is asked for.
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Summary:
    """`now` is wall seconds UTC; `tip` is main's last known commit, empty before the first landing.
    `dispatcher`: one is running. `queue_held` and `distrust` say why nothing lands, or starts, before a person
    acts; empty: nothing holds them."""

    name: str
    main: str
    tip: str
    now: float
    dispatcher: bool
    queue_held: str
    distrust: str
    snapshot: Snapshot
    tasks: tuple[Task, ...]
    agents: tuple[Agent, ...]
    runs: tuple[Run, ...]
    merges: tuple[MergeEntry, ...]

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(task_word(task) for task in self.tasks)
        return {word: found[word] for word in TASK_WORDS}

    @property
    def standing(self) -> Standing:
        return standing(
            self.tasks, self.agents, self.runs, self.merges, queue_held=self.queue_held, dispatch_held=self.distrust
        )


def observe(project: Project) -> Summary:
    """Read everything that the summary shows."""
    store = project.store
    tasks = tuple(store.tasks())
    return Summary(
        name=project.name,
        main=project.settings.main,
        tip=store.setting(MAIN) or "",
        now=project.clock.now().wall,
        dispatcher=dispatcher_runs(project.state),
        queue_held=store.setting(HELD) or "",
        distrust=distrust_reason(with_presets(project.settings), tasks, store.setting(TRUSTED)),
        snapshot=store.snapshot(),
        tasks=tasks,
        agents=tuple(store.agents()),
        runs=tuple(store.open_runs()),
        merges=tuple(store.merges()),
    )


def why(task: Task, summary: Summary) -> str:
    """The one rule that holds a task, with its place in the merge queue when it has one."""
    entry = next((entry for entry in summary.merges if entry.ref == task.ref), None)
    if entry is not None and task.state is TaskState.LANDING:
        reason = f": {entry.reason}" if entry.reason else ""
        return f"number {summary.merges.index(entry) + 1} in the merge queue, {_words(entry.state)}{reason}"
    run = next((run for run in summary.runs if run.ref == task.ref), None)
    if run is not None and task.state is TaskState.IN_PROGRESS:
        return f"{run.agent} works on it, {elapsed(summary.now - (run.started_at or run.claimed_at))} so far"
    wanted = set(task.prerequisites)
    return why_task(task, summary.snapshot, [each for each in summary.tasks if each.ref in wanted])


def summary_lines(summary: Summary, *, every: bool, ascii_only: bool) -> Iterator[str]:
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
            yield from columns(rows)
    if not summary.tasks:
        yield "\nNo tasks yet: write them into the task list, then run `recall import`."


def _head(summary: Summary) -> str:
    counts = summary.counts
    shown = " · ".join(f"{count} {word}" for word, count in counts.items() if count)
    tip = f" {summary.tip[:7]}" if summary.tip else ""
    return f"{summary.name}  {summary.main}{tip}  {_dispatching(summary)}  {shown or 'no tasks'}"


def _dispatching(summary: Summary) -> str:
    if not summary.dispatcher:
        return "no dispatcher (`recall-tui` starts one)"
    if summary.snapshot.dispatching:
        return "dispatching"
    reason = summary.snapshot.paused_reason
    return f"paused: {reason}" if reason else "paused"


def agent_word(agent: Agent, now: float) -> str:
    """Give the word for what an agent is doing."""
    if agent.stopped_reason:
        return "stopped"
    if agent.running:
        return "running"
    if agent.paused or not agent.enabled:
        return "paused"
    return "cooling" if agent.cooling_until is not None and agent.cooling_until > now else "idle"


def _agent_row(agent: Agent, summary: Summary, ascii_only: bool) -> tuple[str, ...]:
    word = agent_word(agent, summary.now)
    return glyph(word, ascii_only=ascii_only), agent.name, word, agent_doing(agent, summary)


def agent_doing(agent: Agent, summary: Summary) -> str:
    """What an agent does and since when, or what it waits for."""
    mine = [run for run in summary.runs if run.agent == agent.name and run.state is not RunState.LANDING]
    if mine:
        return ", ".join(_run_words(run, summary) for run in mine)
    if agent.cooling_until is not None and agent.cooling_until > summary.now and not agent.stopped_reason:
        line = f'  "{agent.cooling_line}"' if agent.cooling_line else ""
        return f"until {until(agent.cooling_until, summary.now)}{line}"
    if agent.driven:
        return "driven by a person: claims with `recall next`"
    return why_agent(agent, summary.snapshot)


def _run_words(run: Run, summary: Summary) -> str:
    task = next((task for task in summary.tasks if task.ref == run.ref), None)
    title = f" {task.title}" if task is not None else ""
    return f"{run.ref}{title}  {elapsed(summary.now - (run.started_at or run.claimed_at))}"


def merge_row(number: int, entry: MergeEntry, summary: Summary, ascii_only: bool) -> tuple[str, ...]:
    what = _words(entry.state) + (f": {entry.reason}" if entry.reason else "")
    since = elapsed(summary.now - entry.changed_at)
    return str(number), glyph(merge_word(entry), ascii_only=ascii_only), str(entry.ref), since, what


def _task_rows(summary: Summary, every: bool, ascii_only: bool) -> list[tuple[str, ...]]:
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


def _words(state: str) -> str:
    return state.replace("_", " ")


def summary_json(summary: Summary) -> dict[str, object]:
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


def agent_json(agent: Agent, summary: Summary) -> dict[str, object]:
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
        "weights": {type_: weight.value for type_, weight in agent.weights.items()},
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


def _task_json(task: Task, summary: Summary) -> dict[str, object]:
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
