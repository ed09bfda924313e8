"""Acts on a conflict, and what the workbench decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.message import Message
from textual.screen import Screen

from recall.domain.progress import may_take
from recall.domain.run import Refused
from recall.engine.resolve import ConflictView
from recall.ui.acts.kind import OwnAct
from recall.ui.bench_errands import BenchErrands
from recall.ui.bridge import Done, Met
from recall.ui.context import Context
from recall.ui.front import Front
from recall.ui.ledger import Seen
from recall.ui.screens.conflict import ConflictScreen
from recall.ui.screens.send_back import ask_whom
from recall.ui.wishes import ACTOR


def _look(front: Front, context: Context) -> None:
    ref = context.ref

    def look() -> Message:
        view = front.session.desk(ACTOR).look(ref)
        return Done(view.reason, refused=True) if isinstance(view, Refused) else Met(view)

    front.ask(look)


def _send_back(front: Front, context: Context) -> None:
    task, ref = context.task, context.ref
    agents = [one.name for one in context.overview.agents if task is not None and may_take(one, task)]
    author = context.run.agent if context.run is not None else ""

    def send(agent: str | None) -> None:
        front.settle(ref, lambda desk, ref: desk.send_back(ref, agent))

    ask_whom(front.over, ref, agents, author, send)


def open_workbench(front: Front, view: ConflictView) -> None:
    """Lay out a conflict that was looked at."""
    session = front.session
    errands = BenchErrands(session, front.wishes.send, front.questions.send, front.drafts)
    front.over(ConflictScreen(view, session.clock.now().wall, errands, session.symbols, session.keys))


def heed(screens: Sequence[Screen[Any]], seen: Seen) -> None:
    """Let a workbench know what became of its conflict meanwhile."""
    for screen in screens:
        if isinstance(screen, ConflictScreen):
            ref = screen.bench.view.record.ref
            screen.heed(next((entry for entry in seen.overview.merges if entry.ref == ref), None))


ACTS: dict[str, OwnAct] = {
    "conflict": _look,
    "send-back": _send_back,
    "start-over": lambda front, context: front.settle(context.ref, lambda desk, ref: desk.restart(ref)),
}
