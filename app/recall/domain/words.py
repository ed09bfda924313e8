"""States, times and glyphs the way every front end writes them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from recall.domain.task import DoneBy, Task, TaskState

if TYPE_CHECKING:
    from recall.domain.agent import Agent
    from recall.domain.merge import MergeEntry

_GLYPHS = {
    "ready": ("○", "o"),
    "waiting": ("◌", "."),
    "running": ("◐", "*"),
    "landing": ("⇡", "^"),
    "done": ("✓", "+"),
    "needs you": ("⚑", "!"),
    "failed": ("✗", "x"),
    "on hold": ("‖", "="),
    "paused": ("‖", "="),
    "cooling": ("◔", "z"),
    "stopped": ("⚑", "!"),
    "idle": ("○", "o"),
    "cancelled": ("–", "-"),
}

_STATES = {
    TaskState.IN_PROGRESS: "running",
    TaskState.LANDING: "landing",
    TaskState.DONE: "done",
    TaskState.NEEDS_PERSON: "needs you",
    TaskState.ON_HOLD: "on hold",
    TaskState.CANCELLED: "cancelled",
}

#: The order in which the states of tasks are listed and counted.
TASK_WORDS = ("needs you", "running", "landing", "ready", "waiting", "on hold", "done", "cancelled")


def glyph(word: str, *, ascii_only: bool) -> str:
    """Give the sign of a state; the word always stands with it somewhere."""
    return _GLYPHS[word][1 if ascii_only else 0]


def task_word(task: Task) -> str:
    """Give the word for a task's state; a todo task is `ready` or `waiting`."""
    if task.state is TaskState.TODO:
        return "waiting" if task.unmet or task.is_group else "ready"
    return _STATES[task.state]


def done_mark(task: Task) -> str:
    """How a task came to be done, when it was not by a landing of ours."""
    return f" ({task.done_by})" if task.done_by not in (None, DoneBy.LANDED) else ""


def chosen_words(agent: Agent) -> str:
    """Whether an agent is enabled and how many tasks it runs at once, and by whose word."""
    enabled = _with_origin(
        "enabled" if agent.enabled else "disabled",
        "enabled" if agent.listed_enabled else "disabled",
        chosen=agent.chosen_enabled is not None,
    )
    at_once = _with_origin(
        f"{agent.parallel} at once", str(agent.listed_parallel), chosen=agent.chosen_parallel is not None
    )
    return f"{enabled}, {at_once}"


def _with_origin(holds: str, listed: str, *, chosen: bool) -> str:
    return f"{holds} by your choice (recall.toml: {listed})" if chosen else holds


def merge_word(entry: MergeEntry) -> str:
    from recall.domain.merge import MergeState

    needs_person = {MergeState.CONFLICT, MergeState.WAITING_CHECKOUT}
    return "needs you" if entry.state in needs_person or entry.is_offered else "landing"


def elapsed(seconds: float) -> str:
    """Write a length of time: `3:20`, `1:02:03`, `2 d 4 h`."""
    minutes, second = divmod(max(0, int(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def age(seconds: float) -> str:
    """Write how long ago something was, in its largest unit: such a text seldom changes."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"


def moment(wall: float, now: float) -> str:
    """Write a moment in local time as people read it: the time, with the date when it is not today's."""
    then, today = datetime.fromtimestamp(wall).astimezone(), datetime.fromtimestamp(now).astimezone().date()
    return then.strftime("%H:%M" if then.date() == today else "%Y-%m-%d %H:%M")


def zone(wall: float) -> str:
    """Name the local time zone at a moment: `CET`, or `+08` where it has no name."""
    return datetime.fromtimestamp(wall).astimezone().tzname() or ""


def until(wall: float, now: float) -> str:
    """Write a moment in the future as wall time and countdown."""
    return f"{moment(wall, now)} (in {elapsed(wall - now)})"
