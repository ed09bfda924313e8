"""The first start in a repository: what was found, what to decide, the recall.toml that comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Label, Static

from recall.config.first_files import FirstFiles, Found, write_example
from recall.domain.text import clean
from recall.ui.external import editor, run_outside
from recall.ui.first_run import (
    Draft,
    agent_rows,
    draft_of,
    file_rows,
    list_rows,
    list_words,
    read_list,
    verify_words,
    why_not_yet,
)
from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.heading import Heading, HeadingFacts
from recall_widgets.listing import Listing
from recall_widgets.rows import KeyHint, Why
from recall_widgets.titles import entitle
from recall_widgets.why_line import WhyLine

_NARROW = 100
_FIELDS = (("main", "Lands on"), ("verify", "Must pass"), ("tasks", "Task list"))


class SetUpScreen(Screen[FirstFiles]):
    """Gives what is to be written, or None: nothing was, and nothing is left behind. `draft` and `trouble` are from
    a time before, when it could not be written."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "write", show=False, priority=True, id="set-up.write"),
        Binding("escape", "leave", show=False, priority=True, id="set-up.leave"),
        Binding("space", "choose", show=False, id="set-up.choose"),
        Binding("tab", "app.focus_next", show=False, id="set-up.next"),
        Binding("shift+tab", "app.focus_previous", show=False, id="set-up.previous"),
    ]

    def __init__(
        self,
        checkout: Path,
        found: Found,
        symbols: Symbols = UNICODE,
        *,
        draft: Draft | None = None,
        trouble: str = "",
    ) -> None:
        super().__init__()
        self._trouble = trouble
        self.draft = draft or draft_of(found)
        self._checkout = checkout
        self._found = found
        self._symbols = symbols

    def compose(self) -> ComposeResult:
        draft = self.draft
        yield Heading(symbols=self._symbols, id="about")
        with Horizontal(id="halves"):
            with Vertical(id="form"):
                for (name, label), value in zip(_FIELDS, (draft.main, draft.verify, draft.tasks), strict=True):
                    with Horizontal(classes="field"):
                        yield Label(label)
                        yield Input(value, id=name, compact=True)
                    yield Static(id=f"{name}-said", classes="said")
                yield Listing(symbols=self._symbols, id="known-agents", classes="pane")
            yield Listing(symbols=self._symbols, id="preview", classes="pane")
        yield WhyLine(symbols=self._symbols, id="why")

    def on_mount(self) -> None:
        heading = HeadingFacts("Set up", self._checkout.name, right="nothing is written yet")
        self.query_one(Heading).show(heading)
        entitle(self.query_one("#known-agents"), "Agents")
        entitle(self.query_one("#preview"), "recall.toml, as it will be written")
        self._say(self._trouble)
        self.query_one("#verify", Input).focus()
        self._show()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < _NARROW, "-narrow")

    @on(Input.Changed)
    def _typed(self) -> None:
        main, verify, tasks = (self.query_one(f"#{name}", Input).value for name, _ in _FIELDS)
        self.draft = Draft(main, verify, tasks, self.draft.agents)
        self._show()

    @on(Input.Submitted)
    def _next_field(self) -> None:
        self.focus_next()

    @on(Listing.Activated, "#known-agents")
    def _agent_activated(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        agents = self.query_one("#known-agents", Listing)
        if self.focused is agents and agents.cursor is not None:
            self.draft = self.draft.toggled(agents.cursor)
            self._show()

    def action_write(self) -> None:
        self._typed()  # what was typed a moment ago may not have been told yet
        reason = why_not_yet(self.draft, self._checkout)
        if reason:
            self._say(reason)
        else:
            self.dismiss(self.draft.files(self._found))

    def action_leave(self) -> None:
        self.dismiss(None)

    def _say(self, trouble: str) -> None:
        """Say what is in the way beside the keys."""
        keys = (KeyHint("tab", "next"), KeyHint("space", "choose an agent"), KeyHint("ctrl+s", "write"))
        self.query_one(WhyLine).show(Why("", trouble, (*keys, KeyHint("esc", "leave without a trace"))))

    def _show(self) -> None:
        draft, found = self.draft, self._found
        files = draft.files(found)
        told = {
            "main": "the branch that verified work lands on",
            "verify": verify_words(draft, found),
            "tasks": list_words(read_list(self._checkout / files.tasks, files.tasks)),
        }
        for name, words in told.items():
            self.query_one(f"#{name}-said", Static).update(Content(clean(words)))
        self.query_one("#known-agents", Listing).set_rows(agent_rows(draft, found, self._symbols))
        self.query_one("#preview", Listing).set_rows(file_rows(files.text))


_AFTER_SET_UP = "Look at both files and commit them. On the board nothing starts before you let it: P goes on."
_WITHOUT_TASKS = "There are no tasks yet. Press e to write some; agents start as soon as the list is saved."


class FirstListScreen(Screen[bool]):
    """The task list before there is a task in the store: what is in it, what is wrong with it. `said` is what a
    set-up just wrote, if there was one. Gives whether to open the board."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", show=False, id="first-list.edit"),
        Binding("escape,q", "leave", show=False, id="first-list.leave"),
    ]

    def __init__(self, checkout: Path, name: str, said: list[str], symbols: Symbols = UNICODE) -> None:
        super().__init__()
        self._file = checkout / name
        self._checkout = checkout
        self._list_name = name
        self._said = said
        self._symbols = symbols

    def compose(self) -> ComposeResult:
        yield Heading(symbols=self._symbols, id="about")
        yield Static(id="done")
        yield Listing(symbols=self._symbols, id="first-list", classes="pane")
        yield WhyLine(symbols=self._symbols, id="why")

    def on_mount(self) -> None:
        first = bool(self._said)
        about = HeadingFacts("Set up" if first else "Task list", self._checkout.name, right="done" if first else "")
        words = "; ".join(self._said) + "\n" + _AFTER_SET_UP if first else _WITHOUT_TASKS
        self.query_one(Heading).show(about)
        self.query_one("#done", Static).update(Content(clean(words)))
        self.query_one(Listing).focus()
        self._show()

    def _show(self) -> None:
        tasks = read_list(self._file, self._list_name)
        self.query_one(Listing).set_rows(list_rows(tasks, self._list_name))
        entitle(self.query_one(Listing), self._list_name, list_words(tasks))
        keys = (KeyHint("enter", "open the board"), KeyHint("e", "edit the list"), KeyHint("esc", "leave"))
        self.query_one(WhyLine).show(Why("", "", keys))

    @on(Listing.Activated)
    def _activated(self) -> None:
        self.action_go_on()

    def action_edit(self) -> None:
        write_example(self._file, self._list_name)
        app: App[Any] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - Textual leaves the app's type open
        run_outside(app, [*editor(), str(self._file)], self._checkout)
        self._show()

    def action_go_on(self) -> None:
        self.dismiss(True)

    def action_leave(self) -> None:
        self.dismiss(False)
