"""Acts on a task that need words or a choice of the person first."""

from __future__ import annotations

from recall.domain.run import Refused
from recall.engine import interventions
from recall.ui.acts.kind import OwnAct
from recall.ui.context import Context
from recall.ui.front import Front
from recall.ui.questions import what_stops
from recall.ui.screens.prompts import Ask, Choose
from recall.ui.wishes import ACTOR

_REASON = "its run was stopped by you"


def _answer(front: Front, context: Context) -> None:
    ref, store = context.ref, front.session.store

    question = f"{ref} {context.task.reason if context.task else ''}"

    def keep(text: str) -> None:
        front.answers[question] = text

    def answered(text: str | None) -> None:
        if text:
            front.answers.pop(question, None)
            front.wish(lambda: interventions.answer(store, ref, text, actor=ACTOR) or f"{ref} has your answer")

    front.over(Ask(question, front.answers.get(question, ""), keep), answered)


def _stop_run(front: Front, context: Context) -> None:
    """The task stays: it waits for the person, or goes out again at once."""
    ref, store = context.ref, front.session.store

    def stop() -> Refused | None:
        return interventions.hold(store, ref, actor=ACTOR, reason=_REASON)

    def hold() -> Refused | str:
        return stop() or f"the run of {ref} is stopped; the task is on hold"

    def go_on() -> Refused | str:
        refused = stop() or interventions.unhold(store, ref, actor=ACTOR)
        return refused or f"the run of {ref} is stopped; the task may be started again"

    ways = (hold, go_on)

    def chosen(number: int | None) -> None:
        if number is not None and number >= 0:
            front.wish(ways[number])

    key = front.session.keys.name("hold")
    question = f"Stop the run of {ref}? {what_stops(context)}"
    front.over(Choose(question, (f"put the task on hold; {key} lets it go on", "let it be started again")), chosen)


ACTS: dict[str, OwnAct] = {"answer": _answer, "stop-run": _stop_run}
