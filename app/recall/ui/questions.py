"""What is asked before a command is carried out: what it ends, and what is kept; "" where nothing is lost."""

from __future__ import annotations

from collections.abc import Callable

from recall.domain.task import TaskState
from recall.ui.context import Context

Question = Callable[[Context], str]

_KEPT = "its work is kept under refs/recall/parked"


def none(_: Context) -> str:
    """Of a command that takes nothing away."""
    return ""


def words(text: str) -> Question:
    """Ask always the same, with the selected task for `{task}`."""
    return lambda context: text.format(task=context.task.ref if context.task else "")


def to_hold(context: Context) -> str:
    stops = what_stops(context)
    return f"Put {context.ref} on hold? {stops}" if stops else ""


def to_cancel(context: Context) -> str:
    return f"Cancel {context.ref}? {what_stops(context) or 'Nothing of it runs; requeue brings it back.'}"


def to_requeue(context: Context) -> str:
    if context.task is not None and context.task.state is TaskState.DONE:
        return f"Do {context.ref} again? What it brought stays in main."
    stops = what_stops(context)
    return f"Start {context.ref} again from main as it is? {stops}" if stops else ""


def what_stops(context: Context) -> str:
    """What of the selected task ends, and what is kept of it; "" if nothing is under way."""
    state = context.task.state if context.task is not None else None
    if state is TaskState.IN_PROGRESS:
        run = f"Run {context.run.id} ({context.run.agent})" if context.run is not None else "Its run"
        return f"{run} is stopped; {_KEPT}."
    if state is TaskState.LANDING or context.entry is not None:
        return f"It leaves the merge queue; {_KEPT}."
    return ""
