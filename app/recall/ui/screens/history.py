"""Everything that happened, the newest first, and only what is asked for."""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from recall.domain.event import Event
from recall.ui.details.events import Entry, Query, entry_of, event_row, event_words, read_query
from recall.ui.ledger import Seen
from recall.ui.screens.detail import Asker, DetailScreen, listing
from recall.ui.session import Session
from recall_widgets.heading import Heading, HeadingFacts
from recall_widgets.listing import Listing, ListRow
from recall_widgets.row_source import KeyedRows
from recall_widgets.rows import KeyHint, Why

_PAGE = 1000
#: Older events are read when so few rows are left below what is in sight.
_AHEAD = 200


class HistoryScreen(DetailScreen):
    """Reads a page at a time: the newest first, what is new as it comes, older ones when they are scrolled to or
    searched through."""

    PANES: ClassVar[dict[str, str]] = {"events": "History"}
    FILTER: ClassVar[str] = "words, kind:claimed, task:T-1, agent:claude, who:person"

    class Newer(Message):
        """Events that came since, oldest first."""

        def __init__(self, entries: list[Entry]) -> None:
            super().__init__()
            self.entries = entries

    class Older(Message):
        """The page before the oldest that is known, newest first."""

        def __init__(self, entries: list[Entry]) -> None:
            super().__init__()
            self.entries = entries

    def __init__(self, session: Session, asker: Asker, seen: Seen) -> None:
        super().__init__(session, asker, seen)
        self._entries: list[Entry] = []  # oldest first: new ones are added at the end
        self._kept: list[Entry] = []
        self._query = Query()
        self._complete = False
        self._paging = False

    def panes(self) -> ComposeResult:
        yield listing("events", self.session)

    def on_mount(self) -> None:
        super().on_mount()
        self.watch(self.query_one("#events", Listing), "scroll_y", self._page_if_near, init=False)
        self._page()

    def read(self) -> Message | None:
        """What is new; the first page is read by itself."""
        if not self._entries:
            return None
        events = self.session.store.events_since(self._entries[-1].event.seq, 1_000_000)
        return self.Newer([entry_of(event) for event in events])

    @on(Newer)
    def _add_newer(self, event: Newer) -> None:
        last = self._entries[-1].event.seq if self._entries else 0
        new = [entry for entry in event.entries if entry.event.seq > last]
        self._entries += new
        self._kept += self._query.pick(new)
        self._show()

    @on(Older)
    def _add_older(self, event: Older) -> None:
        page = list(reversed(event.entries))
        self._paging = False
        self._complete = len(page) < _PAGE
        self._entries = page + self._entries
        self._kept = self._query.pick(page) + self._kept
        self._show()
        self._page_if_near()

    def show_unread(self) -> None:
        self._paging = False  # it is asked for again as soon as somebody scrolls there

    def show_seen(self) -> None:
        query = read_query(self.needle)
        if query != self._query:
            self._query = query
            self._kept = query.pick(self._entries)
            self.query_one("#events", Listing).mark(query.words[0] if query.words else "")
            self._show()
            self._page_if_near()

    def _show(self) -> None:
        kept, now = self._kept, self.seen.overview.now
        by_key = {entry.key: entry.event for entry in kept}

        def make(key: str) -> ListRow:
            return event_row(by_key[key], now, self.session.symbols)

        self.query_one("#events", Listing).set_rows(KeyedRows(list(reversed(by_key)), make))
        known = f"{len(self._entries)}{'' if self._complete else '+'} events"
        shown = f"{len(kept)} of {known} match" if not self._query.is_open else known
        self.query_one(Heading).show(HeadingFacts("History", "newest first", right=shown))
        self.entitle("events", f"filter: {self.needle}" if self.needle else "")

    def about(self) -> Why:
        event = self._selected()
        keys = (KeyHint("/", "filter"), KeyHint("enter", "open its run"))
        return Why("", event_words(event, self.session.symbols) if event is not None else "", keys)

    def _selected(self) -> Event | None:
        key = self.query_one("#events", Listing).cursor
        if key is None or not key.isdecimal():
            return None
        place = bisect_left(self._entries, int(key), key=lambda entry: entry.event.seq)
        return self._entries[place].event if place < len(self._entries) else None

    def _page_if_near(self) -> None:
        view = self.query_one("#events", Listing)
        if len(view.rows) - view.scroll_offset.y - view.size.height < _AHEAD:
            self._page()

    def _page(self) -> None:
        if self._complete or self._paging:
            return
        self._paging = True
        before = self._entries[0].event.seq if self._entries else None
        store = self.session.store
        self.ask(lambda: self.Older([entry_of(event) for event in store.events_back(before, _PAGE)]))
