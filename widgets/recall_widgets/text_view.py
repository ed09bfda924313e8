"""Lines of text that are read, not selected: scrolled both ways and searched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.spans import highlighted, strip_of, width_of
from recall_widgets.text_search import Lines, TextSearch
from recall_widgets.tones import Palette

_SIDEWAYS: Final = 8


class TextView(ScrollView, can_focus=True):
    """Draws the visible part of its `lines`, however many there are."""

    DEFAULT_CSS = """
    TextView { overflow-x: auto; overflow-y: auto; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "lines(1)", "Down", show=False, id="text.down"),
        Binding("up,k", "lines(-1)", "Up", show=False, id="text.up"),
        Binding("right,l", "sideways(1)", "Right", show=False, id="text.right"),
        Binding("left,h", "sideways(-1)", "Left", show=False, id="text.left"),
        Binding("pagedown", "pages(1.0)", "Page down", show=False, id="text.page-down"),
        Binding("pageup", "pages(-1.0)", "Page up", show=False, id="text.page-up"),
        Binding("ctrl+d", "pages(0.5)", "Half a page down", show=False, id="text.half-page-down"),
        Binding("ctrl+u", "pages(-0.5)", "Half a page up", show=False, id="text.half-page-up"),
        Binding("home,g", "first", "Beginning", show=False, id="text.first"),
        Binding("end,G", "last", "End", show=False, id="text.last"),
        Binding("n", "find_next", "Next match", show=False, id="text.find-next"),
        Binding("N", "find_previous", "Previous match", show=False, id="text.find-previous"),
    ]

    class Searched(Message):
        """A search is over. `line` is where it was found, None if nowhere."""

        def __init__(self, sender: TextView, needle: str, line: int | None) -> None:
            super().__init__()
            self.sender = sender
            self.needle = needle
            self.line = line

        @property
        def control(self) -> TextView:
            return self.sender

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.symbols = symbols
        self.palette = Palette(self)
        self._shown: Lines | None = None
        self._widest = 1
        self._search: TextSearch | None = None
        self._steps: Iterator[int | None] | None = None
        self._found: int | None = None

    @property
    def line_count(self) -> int:
        return len(self._shown) if self._shown is not None else 0

    def show_lines(self, lines: Lines | None) -> None:
        """Show other lines, from the first on; None: nothing."""
        self._shown = lines
        self._widest = 1
        self._found = None
        self._steps = None
        self.virtual_size = Size(1, self.line_count)
        if self.is_attached:
            self.scroll_to(x=0, y=0, animate=False, force=True)
            self.refresh()

    def search(self, needle: str) -> None:
        """Look for text from the top visible line on; empty: no search any more. `Searched` tells how it went."""
        self._search = TextSearch(needle) if needle else None
        self._found = None
        self._steps = None
        self.refresh()
        self.action_find_next()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number = y + self.scroll_offset.y
        if self._shown is None or number >= len(self._shown):
            return Strip.blank(width, self.palette.base())
        line = self._shown[number]
        if self._search is not None:
            line = highlighted(line, self._search.pattern)
        length = width_of(line)
        self._note_width(length)
        left = self.scroll_offset.x
        strip = strip_of(line, self.palette, max(length, left + width), "cursor" if number == self._found else "")
        if length > left + width:
            return self._cut(strip.crop(left, left + width - 1))
        return strip.crop(left, left + width)

    def refresh_visible(self, number: int) -> None:
        """Draw a line again, if it can be seen."""
        if 0 <= number - self.scroll_offset.y < self.scrollable_content_region.height:
            self.refresh_line(number)

    def notify_style_update(self) -> None:
        self.palette.forget()
        super().notify_style_update()

    def action_lines(self, by: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + by, animate=False, force=True)

    def action_pages(self, pages: float) -> None:
        self.action_lines(int(pages * self.scrollable_content_region.height))

    def action_sideways(self, by: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + by * _SIDEWAYS, animate=False, force=True)

    def action_first(self) -> None:
        self.scroll_to(y=0, animate=False, force=True)

    def action_last(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    def action_find_next(self) -> None:
        if self._search is not None and self._shown is not None:
            start = self.scroll_offset.y if self._found is None else self._found + 1
            self._begin(self._search.forwards(self._shown, start))

    def action_find_previous(self) -> None:
        if self._search is not None and self._shown is not None:
            start = self.scroll_offset.y if self._found is None else self._found
            self._begin(self._search.backwards(self._shown, start - 1))

    def _note_width(self, length: int) -> None:
        """Only drawn lines say how far there is to scroll sideways: nobody measures those out of sight."""
        if length > self._widest:
            self._widest = length
            self.call_later(self._widen)

    def _widen(self) -> None:
        if self.virtual_size.width != self._widest:
            self.virtual_size = Size(self._widest, self.virtual_size.height)

    def _cut(self, strip: Strip) -> Strip:
        style = self.palette.base() + self.palette["muted"]
        return Strip([*strip, Segment(self.symbols.ellipsis, style)], strip.cell_length + 1)

    def _begin(self, steps: Iterator[int | None]) -> None:
        self._steps = steps
        self._go_on(steps)

    def _go_on(self, steps: Iterator[int | None]) -> None:
        """Take one step; a search that was begun meanwhile ends this one."""
        if steps is not self._steps or self._search is None:
            return
        number = next(steps, -1)
        if number is None:
            self.call_later(self._go_on, steps)
            return
        self._steps = None
        if number >= 0:
            self._show_found(number)
        self.post_message(self.Searched(self, self._search.needle, number if number >= 0 else None))

    def _show_found(self, number: int) -> None:
        before, self._found = self._found, number
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if not top <= number < top + height:
            self.scroll_to(y=max(0, number - height // 3), animate=False, force=True)
        for line in (before, number):
            if line is not None:
                self.refresh_visible(line)
