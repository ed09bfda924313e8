"""Acts on a conflict, and what the workbench decided."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from recall.domain.run import Refused
from recall.domain.task import TaskRef
from recall.engine.resolve import ConflictView, Resolver
from recall.ui.acts.kind import OwnAct
from recall.ui.bridge import Done, Met
from recall.ui.context import Context
from recall.ui.front import Front
from recall.ui.screens.conflict import ConflictScreen
from recall.ui.wishes import ACTOR
from recall.ui.workbench import resolve


def _look(front: Front, context: Context) -> None:
    ref = context.ref

    def look() -> Message:
        view = front.session.desk(ACTOR).look(ref)
        return Done(view.reason, refused=True) if isinstance(view, Refused) else Met(view)

    front.ask(look)


def open_workbench(front: Front, view: ConflictView) -> None:
    """Lay out a conflict that was looked at."""
    session = front.session
    front.over(ConflictScreen(view, session.clock.now().wall, session.symbols, session.keys))


def carry_out(front: Front, decided: ConflictScreen.Resolve) -> None:
    """Have done what the workbench was left with."""
    ways: dict[str, Callable[[Resolver, TaskRef], str | Refused]] = {
        "accept": lambda desk, _: resolve(desk, decided.bench),
        "send back": lambda desk, ref: desk.send_back(ref),
        "restart": lambda desk, ref: desk.restart(ref),
        "give up": lambda desk, ref: desk.give_up(ref),
    }
    front.settle(decided.bench.view.task.ref, ways[decided.way])


ACTS: dict[str, OwnAct] = {
    "conflict": _look,
    "send-back": lambda front, context: front.settle(context.ref, lambda desk, ref: desk.send_back(ref)),
    "start-over": lambda front, context: front.settle(context.ref, lambda desk, ref: desk.restart(ref)),
}
