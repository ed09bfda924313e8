"""Acts that give the terminal to a program of the person's own."""

from __future__ import annotations

from collections.abc import Sequence

from recall.ui.acts.kind import OwnAct
from recall.ui.context import Context
from recall.ui.external import editor, run_outside, shell
from recall.ui.front import Front
from recall.ui.lists import reread


def _in_workspace(front: Front, context: Context, argv: Sequence[str]) -> None:
    run = context.run
    if run is not None and run.slot is not None:
        run_outside(front.app, argv, front.session.workspaces / run.slot / "tree")


def _edit(front: Front, context: Context) -> None:
    """Edit the list that the selected task is in, and bring it in; one that is edited elsewhere is watched."""
    session, checkout = front.session, front.session.location.checkout
    if checkout is None:
        front.say("a bare repository has no task list to edit", "warning")
        return
    region = context.task.ref.region if context.task is not None else ""
    lists = session.settings.tasks
    task_list = next((one for one in lists if one.region == region), lists[0])
    if run_outside(front.app, [*editor(), task_list.path], checkout):
        front.wishes.send(lambda: reread(session, checkout, task_list))


ACTS: dict[str, OwnAct] = {
    "shell": lambda front, context: _in_workspace(front, context, shell()),
    "editor": lambda front, context: _in_workspace(front, context, [*editor(), "."]),
    "edit": _edit,
}
