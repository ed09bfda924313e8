"""What the screens about one thing have in common: panes by number, a heading, the keys at the bottom, live facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from recall.domain.task import TaskRef
from recall.ui.commands import BY_ID
from recall.ui.context import Context
from recall.ui.ledger import Seen
from recall.ui.session import Session
from recall_widgets.heading import Heading
from recall_widgets.listing import Listing, ListRow
from recall_widgets.rows import KeyHint, Why
from recall_widgets.titles import entitle
from recall_widgets.why_line import WhyLine

_NARROW = 100


class Asker(Protocol):
    """What answers a question off the screen's thread; its message goes to the app."""

    def ask(self, question: Callable[[], Message | None]) -> None: ...


class OpenTask(Message):
    """The person wants to see a task."""

    def __init__(self, ref: TaskRef) -> None:
        super().__init__()
        self.ref = ref


class OpenRun(Message):
    """The person wants to see a run; `pane` is what to look at first."""

    def __init__(self, run_id: int, pane: str = "") -> None:
        super().__init__()
        self.run_id = run_id
        self.pane = pane


def opened(target: str) -> Message | None:
    """Read what a line opens: `task:REGION:ID` or `run:NUMBER`."""
    kind, _, rest = target.partition(":")
    if kind == "task":
        return OpenTask(TaskRef(*rest.split(":", 1)))
    return OpenRun(int(rest)) if kind == "run" else None


def command_bindings(ids: Iterable[str]) -> list[BindingType]:
    """The keys of commands, as the person has them."""
    return [
        Binding(BY_ID[id_].key, f"command('{id_}')", BY_ID[id_].title, show=False, id=id_, priority=id_ == "log")
        for id_ in ids
    ]


class DetailScreen(Screen[None]):
    """A subclass says its `PANES`, titles by id, in the order of their numbers, and which commands it `OFFERED` at
    the bottom; `show_seen` brings it in line with the store, each time that it has changed."""

    PANES: ClassVar[dict[str, str]] = {}
    OFFERED: ClassVar[Sequence[str]] = ()
    FILTER: ClassVar[str] = ""
    AUTO_FOCUS: ClassVar[str | None] = ""  # the pane that was asked for gets the keys, not the first one
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False, id="detail.back"),
        Binding("q", "dismiss", show=False, id="detail.leave"),
        Binding("slash", "filter", show=False, id="filter"),
        Binding("tab", "next_pane(1)", show=False, id="pane.next"),
        Binding("shift+tab", "next_pane(-1)", show=False, id="pane.previous"),
        *(Binding(str(n), f"pane({n - 1})", show=False, id=f"pane.{n}") for n in range(1, 5)),
        *command_bindings(("help", "palette")),
    ]

    class Answered(Message):
        """A question was answered; what came of it, if anything, is handled by this screen. `failed`: it could not
        be answered, for which a notice gives the reason."""

        def __init__(self, message: Message | None, *, failed: bool) -> None:
            super().__init__()
            self.message = message
            self.failed = failed

    def __init__(self, session: Session, asker: Asker, seen: Seen) -> None:
        super().__init__(classes="detail")
        self.session = session
        self.seen = seen
        self.needle = ""
        self._asker = asker
        self._asking = False
        self._again = False
        self._alone = next(iter(self.PANES))

    # -- to be filled in ---------------------------------------------------------------------------------------
    def panes(self) -> ComposeResult:
        """The widgets, whose ids are those of `PANES`."""
        raise NotImplementedError

    def show_seen(self) -> None:
        """Bring what is shown in line with `seen`."""
        raise NotImplementedError

    def read(self) -> Message | None:
        """Read what `seen` does not hold; called off the screen's thread, its message comes back to this screen."""
        return None

    def show_unread(self) -> None:
        """Say where something would stand that it could not be read."""

    def about(self) -> Why:
        """What the bottom line says."""
        return Why()

    def context(self) -> Context:
        """What commands act on here."""
        return Context(self.seen.overview)

    # -- the rest is the same for all ----------------------------------------------------------------------------
    def compose(self) -> ComposeResult:
        symbols = self.session.symbols
        yield Heading(symbols=symbols, id="about")
        with Horizontal(id="parts"):
            yield from self.panes()
        box = Input(placeholder=self.FILTER, id="needle")
        box.display = False
        yield box
        yield WhyLine(symbols=symbols, id="why")

    def on_mount(self) -> None:
        for pane in self.PANES:
            self.query_one(f"#{pane}").add_class("pane")
        self._arrange()
        self.query_one(f"#{self._alone}").focus()
        self.show_seen()
        self.show_about()
        self.reread()

    def on_resize(self) -> None:
        self._arrange()
        self.call_after_refresh(self.show_seen)

    def see(self, seen: Seen) -> None:
        """The store has changed, or time has passed."""
        changed = seen.seq != self.seen.seq
        self.seen = seen
        self.show_seen()
        self.show_about()
        if changed:
            self.reread()

    def reread(self) -> None:
        """Have `read` done. While it is, one more time is remembered, however often it is asked for."""
        if self._asking:
            self._again = True
            return
        self._asking = True
        self.ask(self.read)

    def ask(self, question: Callable[[], Message | None]) -> None:
        """Have a question answered off this thread; its message comes back here."""

        def answer() -> None:
            message: Message | None = None
            failed = True
            try:
                message = question()
                failed = False
            finally:
                self.post_message(self.Answered(message, failed=failed))

        self._asker.ask(answer)

    def show_about(self) -> None:
        """Write the bottom line again, as after another selection."""
        context, keys = self.context(), self.session.keys
        offered = [id_ for id_ in self.OFFERED if not BY_ID[id_].unavailable(context)]
        hints = [KeyHint(keys.name(id_), BY_ID[id_].title) for id_ in offered]
        about = self.about()
        self.query_one(WhyLine).show(Why(about.subject, about.text, (*about.keys, *hints, KeyHint("esc", "back"))))

    def width_of(self, pane: str) -> int:
        """How many cells a line of a pane has."""
        return max(self.query_one(f"#{pane}").scrollable_content_region.width - 2, 20)

    def entitle(self, pane: str, more: str = "") -> None:
        """Write a pane's title: its number, its name, and what there is to say of it."""
        number = list(self.PANES).index(pane) + 1
        others = [f"{n} {title}" for n, (id_, title) in enumerate(self.PANES.items(), 1) if id_ != pane]
        words = (f"{number} " if others else "") + self.PANES[pane] + (f"  {more}" if more else "")
        entitle(self.query_one(f"#{pane}"), words, "  ".join(others) if self._is_narrow else "")

    # -- actions -----------------------------------------------------------------------------------------------
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave every key to a line that is being typed."""
        return not (isinstance(self.focused, Input) and action != "back")

    async def action_command(self, id_: str) -> None:
        await self.run_action(f"app.command('{id_}')")

    def action_pane(self, index: int) -> None:
        if index < len(self.PANES):
            self.bring(list(self.PANES)[index])

    def action_next_pane(self, by: int) -> None:
        panes = list(self.PANES)
        self.bring(panes[(panes.index(self._alone) + by) % len(panes)])

    def bring(self, pane: str) -> None:
        """Put the focus on a pane, which may be out of sight on a narrow screen."""
        self._arrange(pane)
        self.query_one(f"#{pane}").focus()

    def action_filter(self) -> None:
        if self.FILTER:
            box = self.query_one("#needle", Input)
            box.display = True
            box.focus()

    def action_back(self) -> None:
        """Take back the filter, then leave."""
        box = self.query_one("#needle", Input)
        if box.display or self.needle:
            box.display = False
            box.value = ""
            self.bring(self._alone)
        else:
            self.dismiss()

    @on(Input.Changed, "#needle")
    def _needle_changed(self, event: Input.Changed) -> None:
        self.needle = event.value
        self.show_seen()
        self.show_about()

    @on(Input.Submitted, "#needle")
    def _needle_done(self, event: Input.Submitted) -> None:
        event.input.display = False
        self.bring(self._alone)

    @on(Listing.Selected)
    def _selection_moved(self) -> None:
        self.show_about()

    @on(Listing.Activated)
    def _line_opened(self, event: Listing.Activated) -> None:
        row = event.sender.cursor_row
        target = opened(row.opens) if isinstance(row, ListRow) else None
        if target is not None:
            self.post_message(target)

    def on_descendant_focus(self) -> None:
        focused = self.focused
        if focused is not None and focused.id in self.PANES:
            self._alone = focused.id
        self.show_about()

    @on(Answered)
    def _sort_out(self, event: Answered) -> None:
        if event.message is not None:
            self.post_message(event.message)
        if event.failed:
            self.show_unread()
        self._asking = False
        if self._again:
            self._again = False
            self.reread()

    @property
    def _is_narrow(self) -> bool:
        return self.size.width < _NARROW

    def _arrange(self, wanted: str | None = None) -> None:
        """Below 100 columns one pane at a time, the one that is wanted or in focus; above, all of them."""
        self._alone = wanted or self._alone
        self.set_class(self._is_narrow, "-narrow")
        for pane in self.PANES:
            self.query_one(f"#{pane}").set_class(self._is_narrow and pane != self._alone, "-away")
            self.entitle(pane)
        for column in self.query(".column"):
            shown = any(not child.has_class("-away") for child in column.children)
            column.set_class(not shown, "-away")


def listing(pane: str, session: Session) -> Widget:
    """A list for a pane."""
    return Listing(symbols=session.symbols, id=pane)
