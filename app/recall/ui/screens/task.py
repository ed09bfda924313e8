"""One task: its text, what it waits for, its runs, what happened to it; whatever can be done with it is done here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from recall.domain.event import Event
from recall.domain.overview import why
from recall.domain.run import Run
from recall.domain.task import Task, TaskRef
from recall.ui.context import Context
from recall.ui.details.events import event_row, event_words
from recall.ui.details.task import fact_list, link_rows, run_rows, task_heading
from recall.ui.ledger import Seen
from recall.ui.screens.detail import Asker, DetailScreen, OpenRun, command_bindings, listing
from recall.ui.session import Session
from recall_widgets.heading import Heading, HeadingFacts
from recall_widgets.listing import Listing, ListRow
from recall_widgets.rows import Why
from recall_widgets.spans import Span

_COMMANDS = (
    "requeue", "hold", "cancel", "stop-run", "raise", "lower", "answer", "conflict", "send-back", "start-over",
    "retry", "merge-up", "merge-down", "skip", "shell", "editor", "log", "diff", "pause", "trust",
)  # fmt: skip
#: More than anyone reads of one task.
_EVENTS = 2000


class TaskScreen(DetailScreen):
    PANES: ClassVar[dict[str, str]] = {"facts": "Task", "links": "Prerequisites", "runs": "Runs", "events": "Events"}
    OFFERED: ClassVar[Sequence[str]] = ("answer", "conflict", "requeue", "hold", "cancel", "diff")
    BINDINGS: ClassVar[list[BindingType]] = command_bindings(_COMMANDS)

    class Read(Message):
        """What the store has of the task's past."""

        def __init__(self, runs: list[Run], events: list[Event]) -> None:
            super().__init__()
            self.runs = runs
            self.events = events

    def __init__(self, session: Session, asker: Asker, seen: Seen, ref: TaskRef) -> None:
        super().__init__(session, asker, seen)
        self.ref = ref
        self._past: TaskScreen.Read | None = None

    def panes(self) -> ComposeResult:
        with Vertical(classes="column"):
            yield listing("facts", self.session)
        with Vertical(classes="column"):
            yield listing("links", self.session)
            yield listing("runs", self.session)
            yield listing("events", self.session)

    def read(self) -> Message:
        store = self.session.store
        return self.Read(store.runs(self.ref), store.events_back(None, _EVENTS, ref=self.ref))

    @on(Read)
    def _take(self, event: Read) -> None:
        self._past = event
        self._show_past()
        self.show_about()

    def context(self) -> Context:
        overview = self.seen.overview
        entry = next((entry for entry in overview.merges if entry.ref == self.ref), None)
        return Context(overview, self._shown_task(), None, entry, self.seen.latest.get(self.ref))

    def show_seen(self) -> None:
        task, overview, symbols = self._shown_task(), self.seen.overview, self.session.symbols
        if task is None:
            self.query_one(Heading).show(HeadingFacts(str(self.ref), "is not in any list"))
            return
        self.query_one(Heading).show(task_heading(task, overview.now))
        attempts = self.session.settings.run.attempts
        self.query_one("#facts", Listing).set_rows(fact_list(task, overview, self.width_of("facts"), attempts))
        self.query_one("#links", Listing).set_rows(link_rows(task, overview, symbols))
        self._show_past()

    def _show_past(self) -> None:
        if self._past is None:
            return
        now, symbols = self.seen.overview.now, self.session.symbols
        self.query_one("#runs", Listing).set_rows(run_rows(self._past.runs, now, symbols))
        events = [event_row(event, now, symbols, about=False) for event in self._past.events]
        none = ListRow("none", (Span("nothing happened to it yet", "muted"),))
        self.query_one("#events", Listing).set_rows(events or [none])

    def about(self) -> Why:
        task = self._shown_task()
        if task is None:
            return Why(str(self.ref), "it is gone from the store")
        event = self._selected_event()
        if event is not None:
            return Why("", event_words(event, self.session.symbols))
        return Why(str(self.ref), why(task, self.seen.overview))

    async def action_command(self, id_: str) -> None:
        """The log and the diff are those of the selected run."""
        run_id = self._selected_run()
        if id_ in ("log", "diff") and run_id is not None:
            self.post_message(OpenRun(run_id, id_))
        else:
            await super().action_command(id_)

    def _selected_event(self) -> Event | None:
        """The event under the cursor, while that is where the keys go."""
        listing = self.query_one("#events", Listing)
        if self.focused is not listing or self._past is None:
            return None
        return next((event for event in self._past.events if str(event.seq) == listing.cursor), None)

    def _selected_run(self) -> int | None:
        row = self.query_one("#runs", Listing).cursor_row
        if row is None or not row.opens:
            return None
        return int(row.opens.removeprefix("run:"))

    def _shown_task(self) -> Task | None:
        return self.seen.overview.index.get(self.ref)
