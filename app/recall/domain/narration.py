"""Events as lines for people."""

from __future__ import annotations

import time

from recall.domain.event import Event
from recall.domain.task import TaskRef
from recall.domain.text import clean_line

#: Kinds that change nothing a person waits for; `recall log` has them all.
_QUIET = ("setting.", "workspace.", "agent.added", "run.", "merge.landing", "merge.landed", "merge.rejected")


def line_of(event: Event) -> str | None:
    """Give one line: local time, whom it is about, what changed, why. None for what only `recall log` shows."""
    if event.kind.startswith(_QUIET):
        return None
    clock = time.strftime("%H:%M:%S", time.localtime(event.at))
    words = [clock, _subject(event).ljust(10), event.kind.replace(".", " ").replace("_", " ").ljust(20)]
    if event.agent and event.task:
        words.append(event.agent)
    if event.reason:
        words.append(clean_line(event.reason.splitlines()[0]))
    return "  ".join(words).rstrip()


def _subject(event: Event) -> str:
    if event.region and event.task:
        return str(TaskRef(event.region, event.task))
    return event.agent or event.region or ""
