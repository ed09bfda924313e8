"""What there is to look up: every key, every setting; filtered as one types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from recall.config.document import read_document
from recall.config.explain import Explained, explain_settings
from recall.ui.details.reference import key_rows, setting_rows
from recall.ui.screens.detail import DetailScreen, listing
from recall_widgets.heading import Heading, HeadingFacts
from recall_widgets.listing import Listing
from recall_widgets.rows import KeyHint, Why

_FILTER_KEY = KeyHint("/", "filter")


class HelpScreen(DetailScreen):
    PANES: ClassVar[dict[str, str]] = {"keys": "Keys"}
    FILTER: ClassVar[str] = "filter by key or word"

    def panes(self) -> ComposeResult:
        yield listing("keys", self.session)

    def show_seen(self) -> None:
        self.query_one(Heading).show(HeadingFacts("Keys", "ctrl+p offers every one of them by name"))
        view = self.query_one("#keys", Listing)
        view.mark(self.needle)
        view.set_rows(key_rows(self.needle, self.session.keys))
        self.entitle("keys", f"filter: {self.needle}" if self.needle else "")

    def about(self) -> Why:
        row = self.query_one("#keys", Listing).cursor_row
        words = row.left[-1].text if row is not None and len(row.left) > 1 else ""
        return Why("", words, (_FILTER_KEY,))


class SettingsScreen(DetailScreen):
    PANES: ClassVar[dict[str, str]] = {"settings": "Settings"}
    FILTER: ClassVar[str] = "filter by name, value, source or meaning"

    _explained: Sequence[Explained] = ()

    class Read(Message):
        """recall.toml as it is now, and what is in force."""

        def __init__(self, explained: Sequence[Explained]) -> None:
            super().__init__()
            self.explained = explained

    def panes(self) -> ComposeResult:
        yield listing("settings", self.session)

    def read(self) -> Message:
        settings = self.session.settings
        folder = f"{settings.file.parent}/"
        explained = explain_settings(settings, read_document(settings.file))
        return self.Read([(key, value, source.removeprefix(folder), said) for key, value, source, said in explained])

    @on(Read)
    def _take(self, event: Read) -> None:
        self._explained = event.explained
        self.show_seen()
        self.show_about()

    def show_seen(self) -> None:
        heading = HeadingFacts("Settings", _from_home(self.session.settings.file), right="bold: set by you")
        self.query_one(Heading).show(heading)
        if self._explained:
            view = self.query_one("#settings", Listing)
            view.mark(self.needle)
            view.set_rows(setting_rows(self._explained, self.needle))
        self.entitle("settings", f"filter: {self.needle}" if self.needle else "")

    def about(self) -> Why:
        key = self.query_one("#settings", Listing).cursor
        meaning = next((meaning for name, _, _, meaning in self._explained if name == key), "")
        return Why(key if meaning and key else "", meaning, (_FILTER_KEY,))


def _from_home(path: Path) -> str:
    """A path as shells write it: `~` for the person's own folder."""
    home = Path("~").expanduser()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
