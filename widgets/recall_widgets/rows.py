"""What the widgets show: plain values that view models build and tests compare.

Texts may come from outside as they are; the widgets clean and cut them. Nothing in them is markup.
"""

from __future__ import annotations

from typing import Literal

from recall.domain.frozen import frozen
from recall_widgets.glyphs import Shown


@frozen
class BoardRow:
    """A heading or a task. `key` is unique in the list and stays the same while the row is about the same thing.
    `detail` and `time` stand at the right end. `branch` is its place in a tree: for each level, from the top,
    whether more follows there. The fields from `priority` on are for boards with room to spare."""

    key: str
    kind: Literal["group", "task"]
    state: Shown
    title: str
    id: str = ""
    detail: str = ""
    time: str = ""
    indent: int = 0
    branch: tuple[bool, ...] = ()
    count: int = 0
    folded: bool = False
    needs_you: bool = False
    priority: str = ""
    type: str = ""
    tries: str = ""
    age: str = ""


@frozen
class AgentRow:
    """`what`: the task it works on, when it may start again, or why it is idle. `time` is elapsed, or what is left.
    `weights` are its last weights for the selected type, oldest first, `weight` the one now. `quote` is the line
    that a cooldown was read from. `note` and `record` are for lists with room to spare."""

    key: str
    state: Shown
    name: str
    what: str
    time: str = ""
    weights: tuple[float, ...] = ()
    weight: float | None = None
    cost: str = ""
    quote: str = ""
    note: str = ""
    record: str = ""


@frozen
class QueueRow:
    """`share` is how much of its verification is over, 0 to 1, or None if nobody knows how long it takes."""

    key: str
    place: int
    state: Shown
    id: str
    agent: str
    doing: str
    time: str = ""
    share: float | None = None
    branch: str = ""


@frozen
class KeyHint:
    """A key as people type it, what it does here, and what a click on it asks for."""

    key: str
    does: str
    asks: str = ""


@frozen
class NeedRow:
    """One thing that only a person can move on: what, why, the keys that act on it, since when. `whole` is the reason
    where it has more than the one line of `why`."""

    key: str
    id: str
    why: str
    keys: tuple[KeyHint, ...] = ()
    age: str = ""
    whole: str = ""


@frozen
class HeaderFacts:
    """The status strip. `green` is None while nobody knows whether main's tip is green. `dispatcher` is such as
    `dispatching`, `paused`, `draining`, `viewing`; `counts` are such as (4, "running")."""

    project: str = ""
    branch: str = "main"
    tip: str = ""
    green: bool | None = None
    dispatcher: str = ""
    dispatcher_state: Shown = Shown.ACTIVE
    counts: tuple[tuple[int, str], ...] = ()
    needs_you: int = 0
    clock: str = ""


@frozen
class Why:
    """The bottom line: whom it is about, why that one does not move, and the keys valid here and now."""

    subject: str = ""
    text: str = ""
    keys: tuple[KeyHint, ...] = ()
