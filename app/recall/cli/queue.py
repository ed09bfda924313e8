"""`recall queue`: the merge queue, and what a person can do to its order."""

from __future__ import annotations

import difflib
from collections.abc import Callable

import click

from recall.cli.names import complete_task
from recall.cli.project import known_task, opened_project
from recall.cli.report import ACTOR, Refusal, accept, plain_terminal, say, say_json
from recall.cli.words import columns
from recall.domain.merge import Shift
from recall.domain.run import Refused
from recall.domain.task import TaskRef
from recall.domain.words import task_word
from recall.engine import interventions
from recall.engine.ports import Store

_task = click.argument("task_id", metavar="ID", shell_complete=complete_task)
_json = click.option("--json", "as_json", is_flag=True, help="Print the queue as JSON.")


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  recall queue                  what waits to land, in order
  recall queue move T-12 up     one place earlier; also `down`, or a place such as 1
  recall queue skip T-12        behind all others
  recall queue retry T-12       try again at once: the checkout is free now, or main is mended""",
)
@_json
@click.pass_context
def queue(context: click.Context, as_json: bool) -> None:
    """Show the merge queue, and change its order.

    An entry is named by its task.
    """
    if context.invoked_subcommand is None:
        _show(as_json)


@queue.command("list", epilog="Example: recall queue list --json")
@_json
def list_entries(as_json: bool) -> None:
    """Show what waits to land, in order."""
    _show(as_json)


@queue.command(epilog="Examples: recall queue move T-12 up, recall queue move T-12 1")
@_task
@click.argument("where", metavar="up|down|N")
@_json
def move(task_id: str, where: str, as_json: bool) -> None:
    """Give an entry another place."""
    to = _place(where)
    _change(task_id, lambda store, ref: interventions.move_merge(store, ref, to, actor=ACTOR), as_json)


@queue.command(epilog="Example: recall queue skip T-12")
@_task
@_json
def skip(task_id: str, as_json: bool) -> None:
    """Put an entry behind all others."""
    _change(task_id, lambda store, ref: interventions.skip_merge(store, ref, actor=ACTOR), as_json)


@queue.command(epilog="Example: recall queue retry T-12")
@_task
@_json
def retry(task_id: str, as_json: bool) -> None:
    """Try at once what waits for your checkout or for main to be green.

    Verdicts that were red are forgotten, so main itself is verified anew as well.
    """
    _change(task_id, lambda store, ref: interventions.retry_merge(store, ref, actor=ACTOR), as_json)


def _place(text: str) -> Shift | int:
    if text in (Shift.UP, Shift.DOWN):
        return Shift(text)
    if text.isdecimal():
        return int(text)
    raise click.BadParameter(f"{text!r} is no place: give up, down or a number from 1")


def _change(task_id: str, change: Callable[[Store, TaskRef], Refused | None], as_json: bool) -> None:
    with opened_project() as project:
        accept(change(project.store, _queued(project.store, task_id)))
    _show(as_json)


def _queued(store: Store, text: str) -> TaskRef:
    """Find the task of an entry as a person named it, or end the command naming what is in the queue."""
    refs = {str(entry.ref): entry.ref for entry in store.merges()}
    if text in refs:
        return refs[text]
    near = [name for name in refs if name.lower() == text.lower()] or difflib.get_close_matches(text, refs, n=2)
    if near and store.task(TaskRef.parse(text)) is None:
        raise Refusal(f"there is no task {text}; did you mean {' or '.join(near)}?")
    task = known_task(store, text)
    raise Refusal(f"{task.ref} is not in the merge queue: it is {task_word(task)}")


def _show(as_json: bool) -> None:
    from recall.cli.summary import merge_json, merge_row, observe

    with opened_project() as project:
        summary = observe(project)
    if as_json:
        say_json([{"place": place, **merge_json(entry)} for place, entry in enumerate(summary.merges, 1)])
        return
    if summary.queue_held:
        say(f"held: {summary.queue_held}")
    if not summary.merges:
        say("nothing waits to land")
    ascii_only = plain_terminal()
    rows = [merge_row(place, entry, summary, ascii_only) for place, entry in enumerate(summary.merges, 1)]
    for line in columns(rows, indent=""):
        say(line)
