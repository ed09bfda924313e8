"""What the acts of commands are handed: the session, the screen, and ways to have something done off its thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen

from recall.domain.run import Refused
from recall.domain.task import TaskRef
from recall.domain.text import clean
from recall.engine.resolve import Resolver
from recall.ui.absence import Absence
from recall.ui.bridge import Done, EngineHost
from recall.ui.errands import Errands
from recall.ui.leaving import Leaving
from recall.ui.ledger import Seen
from recall.ui.screens.main import MainScreen
from recall.ui.session import Session
from recall.ui.wishes import ACTOR
from recall.ui.workbench import Bench

#: How long a notice stays, in seconds.
_STAYS: dict[SeverityLevel, float] = {"information": 5.0, "warning": 10.0, "error": 30.0}


class Front:
    """`wishes` changes the store and `questions` reads it, each in the order asked; either may take seconds, so
    neither holds the other up. `drafts` holds what was decided in conflicts that were left undecided,
    `answers` what was typed to a question and not sent. `seen` is the store as it was last seen, None at first;
    `theme` is the one that the person chose, "" at first."""

    def __init__(self, app: App[int], session: Session, main: MainScreen, *, leave_working: bool) -> None:
        log = session.state / "ui.log"
        self.app = app
        self.session = session
        self.main = main
        self.seen: Seen | None = None
        self.host = EngineHost(app, session.start, session.open_engine, log)
        self.wishes = Errands(app, "wishes", log)
        self.questions = Errands(app, "questions", log)
        self.drafts: dict[TaskRef, Bench] = {}
        self.answers: dict[str, str] = {}
        self.theme = ""
        self.absence = Absence()
        self.leaving = Leaving(self, leave_working=leave_working)

    def say(self, text: str, severity: SeverityLevel = "information") -> None:
        """Show a passing notice; the text may come from anywhere. The worse it is, the longer it stays."""
        self.app.notify(clean(text), severity=severity, markup=False, timeout=_STAYS[severity])

    def over(self, screen: Screen[Any], then: Callable[[Any], None] | None = None) -> None:
        """Lay a screen or dialog over what is shown; `then` gets what it was left with."""
        self.app.push_screen(screen, then)

    def ask(self, question: Callable[[], Message | None]) -> None:
        """Read something; its message comes back to the app."""
        self.questions.send(question)

    def wish(self, act: Callable[[], Refused | str]) -> None:
        """Have one transaction done, and tell what it says: another process may hold the store for seconds."""
        self.wishes.send(lambda: _told(act()))

    def settle(self, ref: TaskRef, way: Callable[[Resolver, TaskRef], str | Refused]) -> None:
        """End a task's conflict in this way."""
        self.wishes.send(lambda: _told(way(self.session.desk(ACTOR), ref)))


def _told(said: Refused | str) -> Done:
    return Done(said.reason, refused=True) if isinstance(said, Refused) else Done(said)
