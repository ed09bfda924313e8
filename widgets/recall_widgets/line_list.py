"""A list of any length that draws its visible lines only and keeps its place while the rows change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic, Protocol, TypeVar, cast

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.row_source import keys_of
from recall_widgets.spans import Span, beside, fit, strip_of
from recall_widgets.tones import Palette


class Row(Protocol):
    """Anything with a key of its own. Rows are compared with `==` to find out what to draw again."""

    @property
    def key(self) -> str: ...


RowT = TypeVar("RowT", bound=Row)


class LineList(ScrollView, Generic[RowT], can_focus=True):
    """Rows are told apart by their key: cursor and place survive every `set_rows`. Subclasses say how one row
    looks in `left_of` and `right_of`."""

    ALLOW_SELECT = False
    #: What stands in a list without rows.
    empty: str = ""
    DEFAULT_CSS = """
    LineList { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Next", show=False, id="list.next"),
        Binding("up,k", "move(-1)", "Previous", show=False, id="list.previous"),
        Binding("pagedown", "pages(1.0)", "Page down", show=False, id="list.page-down"),
        Binding("pageup", "pages(-1.0)", "Page up", show=False, id="list.page-up"),
        Binding("ctrl+d", "pages(0.5)", "Half a page down", show=False, id="list.half-page-down"),
        Binding("ctrl+u", "pages(-0.5)", "Half a page up", show=False, id="list.half-page-up"),
        Binding("home,g", "move_to(0)", "First", show=False, id="list.first"),
        Binding("end,G", "move_to(-1)", "Last", show=False, id="list.last"),
        Binding("enter", "activate", "Open", show=False, id="list.open"),
    ]

    class Selected(Message):
        """The cursor went to another row."""

        def __init__(self, sender: LineList[Row], key: str) -> None:
            super().__init__()
            self.sender = sender
            self.key = key

        @property
        def control(self) -> LineList[Row]:
            return self.sender

    class Activated(Message):
        """Enter was pressed on a row, or it was clicked twice."""

        def __init__(self, sender: LineList[Row], key: str) -> None:
            super().__init__()
            self.sender = sender
            self.key = key

        @property
        def control(self) -> LineList[Row]:
            return self.sender

    def __init__(
        self,
        rows: Sequence[RowT] = (),
        *,
        symbols: Symbols = UNICODE,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.symbols = symbols
        self.palette = Palette(self)
        self._rows: Sequence[RowT] = rows
        self._at = 0
        self.virtual_size = Size(1, len(rows))

    @property
    def rows(self) -> Sequence[RowT]:
        return self._rows

    @property
    def cursor_row(self) -> RowT | None:
        return self._rows[self._at] if self._rows else None

    @property
    def cursor(self) -> str | None:
        """The selected row's key."""
        row = self.cursor_row
        return row.key if row is not None else None

    def left_of(self, row: RowT) -> Sequence[Span]:
        """What is cut when there is no room."""
        raise NotImplementedError

    def right_of(self, row: RowT) -> Sequence[Span]:
        """What stands at the right end."""
        return ()

    def set_rows(self, rows: Sequence[RowT]) -> None:
        """Show other rows. Only visible lines that differ are drawn again."""
        before, at, top = self._rows, self._at, self.scroll_offset.y
        key = self.cursor
        self._rows = rows
        self._at = _place(before, rows, at)
        if bool(rows) != bool(before):
            self.redraw()
        if len(rows) != len(before):
            self.virtual_size = Size(1, len(rows))
        self._keep_place(before, at, top)
        self._refresh_changed(before, at, top)
        if self.cursor is not None and self.cursor != key:
            self._tell_selected()

    def select(self, key: str) -> bool:
        """Put the cursor on a row; False: there is none with that key."""
        keys = keys_of(self._rows)
        if key not in keys:
            return False
        self._go(keys.index(key))
        return True

    def redraw(self) -> None:
        """Draw every visible line again, as after a change of something that all of them depend on."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if not self._rows and y == 0 and self.empty:
            return strip_of(fit([Span(self.empty, "muted")], width, self.symbols.ellipsis), self.palette, width)
        if not 0 <= index < len(self._rows):
            return Strip.blank(width, self.palette.base())
        row = self._rows[index]
        line = beside(self.left_of(row), self.right_of(row), width, self.symbols.ellipsis)
        return strip_of(line, self.palette, width, "cursor" if index == self._at else "")

    def notify_style_update(self) -> None:
        self.palette.forget()
        super().notify_style_update()

    def action_move(self, by: int) -> None:
        self._go(self._at + by)

    def action_move_to(self, index: int) -> None:
        self._go(index if index >= 0 else len(self._rows) + index)

    def action_pages(self, pages: float) -> None:
        self._go(self._at + int(pages * max(self._height, 1)))

    def action_activate(self) -> None:
        if self.cursor is not None:
            self.post_message(self.Activated(cast("LineList[Row]", self), self.cursor))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        index = offset.y + self.scroll_offset.y if offset is not None else len(self._rows)
        if index >= len(self._rows):
            return
        self._go(index)
        self.clicked(event.chain)

    def clicked(self, times: int) -> None:
        """The row under the cursor was clicked so many times in a row."""
        if times == 2:
            self.action_activate()

    def on_resize(self) -> None:
        self._show_cursor()

    @property
    def _height(self) -> int:
        return self.scrollable_content_region.height

    def _go(self, index: int) -> None:
        index = min(max(index, 0), len(self._rows) - 1)
        if index < 0 or index == self._at:
            self._show_cursor()
            return
        for changed in (self._at, index):
            self._refresh_row(changed)
        self._at = index
        self._show_cursor()
        self._tell_selected()

    def _tell_selected(self) -> None:
        if self.cursor is not None:
            self.post_message(self.Selected(cast("LineList[Row]", self), self.cursor))

    def _show_cursor(self) -> None:
        top, height = self.scroll_offset.y, self._height
        if height <= 0:
            return
        if self._at < top:
            self.scroll_to(y=self._at, animate=False, force=True)
        elif self._at >= top + height:
            self.scroll_to(y=self._at - height + 1, animate=False, force=True)

    def _keep_place(self, before: Sequence[RowT], at: int, top: int) -> None:
        """Leave what the reader looks at where it is: the selected row if it is in sight, else the top line."""
        if not top or not before:
            self._show_cursor()
        elif top <= at < top + self._height:
            self.scroll_to(y=self._at - (at - top), animate=False, force=True)
        else:
            self.scroll_to(y=_place(before, self._rows, min(top, len(before) - 1)), animate=False, force=True)

    def _refresh_changed(self, before: Sequence[RowT], at: int, top: int) -> None:
        if self.scroll_offset.y != top:
            return  # scrolling has asked for everything already
        for index in range(top, top + self._height):
            old = before[index] if index < len(before) else None
            new = self._rows[index] if index < len(self._rows) else None
            if old != new or (index == at) != (index == self._at):
                self._refresh_row(index)

    def _refresh_row(self, index: int) -> None:
        if 0 <= index - self.scroll_offset.y < self._height:
            self.refresh_line(index)


def _place(before: Sequence[Row], rows: Sequence[Row], at: int) -> int:
    """Where the row that was at `at` is now; if it is gone, the next one that is left, else the one before."""
    if at >= len(before) or not rows:
        return 0
    if at < len(rows) and rows[at].key == before[at].key:
        return at
    old, new = keys_of(before), keys_of(rows)
    places = {key: index for index, key in enumerate(new)}
    for key in (*old[at:], *reversed(old[:at])):
        if key in places:
            return places[key]
    return min(at, len(rows) - 1)
