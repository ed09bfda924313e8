"""Acts that give the terminal to a program of the person's own."""

from __future__ import annotations

import os

from recall.ui.acts.kind import OwnAct
from recall.ui.context import Context
from recall.ui.external import editor, run_outside
from recall.ui.front import Front


def _shell(front: Front, context: Context) -> None:
    run = context.run
    if run is not None and run.slot is not None:
        folder = front.session.workspaces / run.slot / "tree"
        run_outside(front.app, [os.environ.get("SHELL", "/bin/sh")], folder)


def _edit(front: Front, _: Context) -> None:
    checkout = front.session.location.checkout
    if checkout is None:
        front.say("a bare repository has no task list to edit", "warning")
        return
    run_outside(front.app, [*editor(), front.session.settings.tasks[0].path], checkout)


ACTS: dict[str, OwnAct] = {"shell": _shell, "edit": _edit}
