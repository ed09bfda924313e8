"""Asks which agent gets a task in conflict again: any, the one who wrote it, or another by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from textual.screen import Screen

from recall.domain.task import TaskRef
from recall.ui.screens.prompts import Ask, Choose

#: So many can be chosen with a digit.
_MOST_AGENTS: Final = 8
Over = Callable[[Screen[Any], Callable[[Any], None]], None]


def ask_whom(
    over: Over, ref: TaskRef, agents: Sequence[str], author: str, then: Callable[[str | None], None]
) -> None:
    """`agents` are those that may take the task, `author` whose run met the conflict; `then` gets a name, None for
    any agent, and is not called when the person leaves it."""
    names = sorted(agents, key=lambda name: name != author)
    ways = ["any agent", *(f"{name}, who wrote it" if name == author else name for name in names)]
    more = len(ways) > _MOST_AGENTS
    shown = [*ways[:_MOST_AGENTS], "another, by its name"] if more else ways

    def chosen(number: int | None) -> None:
        if number is None or number < 0:
            return
        if more and number == _MOST_AGENTS:
            over(Ask("Which agent?"), lambda name: then(name) if name else None)
        else:
            then(None if number == 0 else names[number - 1])

    over(Choose(f"Send {ref} back, with both sides of every hunk, to", shown), chosen)
