"""Longer texts for people: a task with all that is known of it, the table of keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from recall.domain.event import Event
from recall.domain.overview import Overview, agent_doing, agent_word, spaced, why
from recall.domain.run import Run
from recall.domain.task import Task, TaskRef
from recall.domain.words import elapsed, moment, task_word
from recall.ui.commands import BENCH_COMMANDS, COMMANDS
from recall.ui.keymap import TABLE_KEYS, Keymap


def task_text(task: Task, overview: Overview, runs: Sequence[Run], events: Sequence[Event]) -> str:
    """Everything about a task, as plain lines: text, prerequisites both ways, attempts, why, events."""
    index = {one.ref: one for one in overview.tasks}
    parts = [
        f"{task.ref}  {task.title}",
        f"{task_word(task)}: {why(task, overview)}",
        "",
        f"type {task.type} · priority {task.priority}",
        f"attempts {task.attempts} · interruptions {task.interruptions}",
    ]
    if task.verify:
        parts.append(f"verify: {task.verify}")
    if task.done_commit:
        parts.append(f"landed as {task.done_commit}")
    parts += _section("Text", task.body.strip().splitlines())
    parts += _section("Waits for", [_named(index.get(ref), str(ref)) for ref in task.prerequisites])
    waiting = [one for one in overview.tasks if task.ref in one.prerequisites]
    parts += _section("Others wait for it", [_named(one, str(one.ref)) for one in waiting])
    parts += _section("Runs", [line for run in runs for line in _run_lines(run, overview.now)])
    parts += _section("Events", [_event_line(event, overview.now) for event in events])
    return "\n".join(parts) + "\n"


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []


def _named(task: Task | None, ref: str) -> str:
    return f"{ref}  {task.title} ({task_word(task)})" if task is not None else f"{ref} (not in the list)"


def _run_lines(run: Run, now: float) -> list[str]:
    took = elapsed((run.ended_at or run.settled_at or now) - (run.started_at or run.claimed_at))
    first = f"run {run.id} · {run.agent} · {moment(run.claimed_at, now)} · {took} · {run.result or run.state}"
    reason = [f"    {line}" for line in run.reason.splitlines()]
    return [first, *([f"    given to it because: {run.why}"] if run.why else []), *reason]


def _event_line(event: Event, now: float) -> str:
    move = f" {event.before} → {event.after}" if event.before and event.after else ""
    reason = f"  {event.reason.splitlines()[0]}" if event.reason else ""
    return f"{moment(event.at, now)}  {event.kind}{move}  by {event.actor}{reason}"


def history_text(events: Sequence[Event], now: float) -> str:
    """The whole event log, newest first: when, what about whom, by whom, why."""
    return "\n".join(_history_line(event, now) for event in reversed(events)) + "\n"


def _history_line(event: Event, now: float) -> str:
    about = str(TaskRef(event.region, event.task)) if event.region and event.task else event.agent or ""
    return f"{event.seq:>6}  {about:<10}  {_event_line(event, now)}"


def agents_text(overview: Overview, runs: Sequence[Run]) -> str:
    """Each agent: what it does, how its runs came out, and what it is trusted with by task type."""
    parts: list[str] = []
    for agent in overview.agents:
        results = Counter(str(run.result or run.state) for run in runs if run.agent == agent.name)
        came_out = ", ".join(f"{count} {spaced(name)}" for name, count in results.most_common())
        parts += [
            f"{agent.name}  {agent_word(agent, overview.now)}: {agent_doing(agent, overview)}",
            f"  runs {sum(results.values())}" + (f": {came_out}" if came_out else ""),
        ]
        for type_, weight in sorted(agent.weights.items()):
            parts.append(f"  {type_:<12} weight {weight.value:.2f}, {weight.landed} landed, {weight.failed} failed")
        parts.append("")
    return "\n".join(parts) or "no agents yet: add [agents.NAME] to recall.toml\n"


def settings_text(explained: Sequence[tuple[str, str, str, str]]) -> str:
    """Every setting with its value, where that comes from, and what it means."""
    return "\n".join(f"{key} = {value}\n    {source}: {meaning}" for key, value, source, meaning in explained) + "\n"


#: Keys that move in lists and texts, and between panes.
MOVING = (
    ("1 to 4", "go to tasks, agents, merge queue, log"),
    ("tab", "go to the next pane; shift+tab to the one before"),
    ("j, k", "move down and up, as the arrows do"),
    ("g, G", "go to the first and the last line; in a log the last one is followed"),
    ("ctrl+d, ctrl+u", "move half a page down and up"),
    ("space", "fold a group, or open it"),
    ("esc", "take back the filter, then the zoom, then leave a screen or a dialog"),
)


def keys_text(keys: Keymap = TABLE_KEYS) -> str:
    """Every key, by area."""
    areas: dict[str, list[str]] = {}
    for command in (*COMMANDS, *BENCH_COMMANDS):
        areas.setdefault(command.area, []).append(f"{keys.names(command.id):<7} {command.title:<24} {command.help}")
    parts = [f"{area.upper()}\n" + "\n".join(f"  {line}" for line in lines) for area, lines in areas.items()]
    moving = "\n".join(f"  {key:<16} {does}" for key, does in MOVING)
    return "\n\n".join([*parts, f"MOVING\n{moving}"]) + "\n"
