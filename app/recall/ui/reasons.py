"""Why a command makes no sense now: a reason in words with the way out, or "" where it does make sense."""

from __future__ import annotations

from collections.abc import Callable

from recall.domain.intervention import Wish, why_no_answer, why_not
from recall.domain.merge import MergeState
from recall.domain.run import RunState
from recall.domain.task import TaskState
from recall.ui.context import Context

Why = Callable[[Context], str]

_NO_TASK = "select a task first"
_NO_AGENT = "select an agent first"


def never(_: Context) -> str:
    """Of a command that always makes sense."""
    return ""


def no_task(context: Context) -> str:
    return "" if context.task is not None else _NO_TASK


def not_for_task(wish: Wish) -> Why:
    """Give the reason that the rules for a person's wishes have against this one."""

    def why(context: Context) -> str:
        if context.task is None:
            return _NO_TASK
        return why_not(wish, context.task, context.entry.state if context.entry else None)

    return why


def not_to_hold(context: Context) -> str:
    if context.task is not None and context.task.state is TaskState.ON_HOLD:
        return ""
    return not_for_task(Wish.HOLD)(context)


def no_question(context: Context) -> str:
    return why_no_answer(context.task, context.run) if context.task is not None else _NO_TASK


def no_conflict(context: Context) -> str:
    conflict = context.entry is not None and context.entry.state is MergeState.CONFLICT
    return "" if conflict else "the selected task has no conflict"


def no_run(context: Context) -> str:
    return "" if context.run is not None else "the selected task has no run yet"


def no_workspace(context: Context) -> str:
    run = context.run
    if run is None or run.slot is None or run.state is RunState.SETTLED:
        return "the selected task has no workspace at the moment"
    return ""


def no_live_run(context: Context) -> str:
    task = context.task
    if task is None:
        return _NO_TASK
    return "" if task.state is TaskState.IN_PROGRESS else f"{task.ref} is not running"


def no_agent(context: Context) -> str:
    return "" if context.agent is not None else _NO_AGENT


def not_cooling(context: Context) -> str:
    agent = context.agent
    if agent is None:
        return _NO_AGENT
    cooling = agent.cooling_until is not None and agent.cooling_until > context.overview.now
    return "" if cooling else f"{agent.name} is not cooling down"


def not_chosen(context: Context) -> str:
    agent = context.agent
    if agent is None:
        return _NO_AGENT
    chosen = agent.chosen_enabled is not None or agent.chosen_parallel is not None
    return "" if chosen else f"{agent.name} is as recall.toml says"


def no_entry(context: Context) -> str:
    return "" if context.entry is not None else "the selected task is not in the merge queue"


def queue_not_held(context: Context) -> str:
    return "" if context.overview.queue_held else "the merge queue is not held"


def nothing_to_confirm(context: Context) -> str:
    held = context.overview.dispatch_held and not context.overview.shortage
    return "" if held else "nothing waits to be confirmed"
