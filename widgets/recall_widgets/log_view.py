"""A run's transcript: read by offset, drawn line by line, followed while it grows."""

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
from recall_widgets.line_index import Read
from recall_widgets.log_lines import LogLines, Present
from recall_widgets.log_search import LogSearch
from recall_widgets.spans import highlighted, strip_of, width_of
from recall_widgets.tones import COMPONENTS, Palette

#: Bytes that are looked at before other messages get their turn.
_STEP: Final = 1 << 20
_SIDEWAYS: Final = 8


class LogView(ScrollView, can_focus=True):
    """`show` a text, then say when it `grew`: ten times a second at most, however often it is written to."""

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    DEFAULT_CSS = """
    LogView { overflow-x: auto; overflow-y: auto; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "lines(1)", "Down", show=False, id="log.down"),
        Binding("up,k", "lines(-1)", "Up", show=False, id="log.up"),
        Binding("right,l", "sideways(1)", "Right", show=False, id="log.right"),
        Binding("left,h", "sideways(-1)", "Left", show=False, id="log.left"),
        Binding("pagedown", "pages(1.0)", "Page down", show=False, id="log.page-down"),
        Binding("pageup", "pages(-1.0)", "Page up", show=False, id="log.page-up"),
        Binding("ctrl+d", "pages(0.5)", "Half a page down", show=False, id="log.half-page-down"),
        Binding("ctrl+u", "pages(-0.5)", "Half a page up", show=False, id="log.half-page-up"),
        Binding("home,g", "first", "Beginning", show=False, id="log.first"),
        Binding("end,G", "follow", "End, and follow", show=False, id="log.follow"),
        Binding("n", "find_next", "Next match", show=False, id="log.find-next"),
        Binding("N", "find_previous", "Previous match", show=False, id="log.find-previous"),
    ]

    class FollowChanged(Message):
        """The view began to stay at the end of the text, or left it."""

        def __init__(self, sender: LogView, following: bool) -> None:
            super().__init__()
            self.sender = sender
            self.following = following

        @property
        def control(self) -> LogView:
            return self.sender

    class Searched(Message):
        """A search is over. `line` is where it was found, None if nowhere."""

        def __init__(self, sender: LogView, needle: str, line: int | None) -> None:
            super().__init__()
            self.sender = sender
            self.needle = needle
            self.line = line

        @property
        def control(self) -> LogView:
            return self.sender

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.symbols = symbols
        self.palette = Palette(self)
        self._lines: LogLines | None = None
        self._known_size = 0
        self._catching_up = False
        self._following = True
        self._widest = 1
        self._search: LogSearch | None = None
        self._steps: Iterator[int | None] | None = None
        self._found: int | None = None

    @property
    def following(self) -> bool:
        """Whether the view stays at the end of the text while it grows."""
        return self._following

    @property
    def line_count(self) -> int:
        return len(self._lines) if self._lines is not None else 0

    @property
    def caught_up(self) -> bool:
        """Whether everything that it was told of is in view or can be scrolled to."""
        return not self._catching_up

    def show(self, read: Read | None, size: int = 0, *, present: Present | None = None) -> None:
        """Show a text of so many bytes from its end; None: nothing. `present` turns raw lines into others."""
        self._lines = LogLines(read, present) if read is not None else None
        self._known_size = size
        self._widest = 1
        self._found = None
        self._steps = None
        self._set_following(True)
        self.scroll_to(x=0, animate=False, force=True)
        self._grow()
        self.refresh()

    def grew(self, size: int) -> None:
        """The text has so many bytes now."""
        if size > self._known_size:
            self._known_size = size
            self._grow()

    def search(self, needle: str) -> None:
        """Look for text from the top visible line on; empty: no search any more. `Searched` tells how it went."""
        self._search = LogSearch(needle) if needle else None
        self._found = None
        self._steps = None
        self.refresh()
        if self._search is not None:
            self._look(self.scroll_offset.y)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number = y + self.scroll_offset.y
        if self._lines is None or number >= len(self._lines):
            return Strip.blank(width, self.palette.base())
        line = self._lines[number]
        if self._search is not None:
            line = highlighted(line, self._search.pattern)
        length = width_of(line)
        self._note_width(length)
        left = self.scroll_offset.x
        strip = strip_of(line, self.palette, max(length, left + width), "cursor" if number == self._found else "")
        if length > left + width:
            return self._cut(strip.crop(left, left + width - 1))
        return strip.crop(left, left + width)

    def notify_style_update(self) -> None:
        self.palette.forget()
        super().notify_style_update()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._set_following(round(new_value) >= self.max_scroll_y)

    def on_resize(self) -> None:
        if self._following:
            self._to_end()

    def action_lines(self, by: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + by, animate=False, force=True)

    def action_pages(self, pages: float) -> None:
        self.action_lines(int(pages * self.scrollable_content_region.height))

    def action_sideways(self, by: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + by * _SIDEWAYS, animate=False, force=True)

    def action_first(self) -> None:
        self.scroll_to(y=0, animate=False, force=True)

    def action_follow(self) -> None:
        self._set_following(True)
        self._to_end()

    def action_find_next(self) -> None:
        if self._search is not None:
            self._look(self.scroll_offset.y if self._found is None else self._found + 1)

    def action_find_previous(self) -> None:
        if self._search is not None and self._lines is not None:
            start = self.scroll_offset.y if self._found is None else self._found
            self._run(self._search.backwards(self._lines, start - 1))

    def _grow(self) -> None:
        """Look at what is new, a step at a time; the rest of the app gets its turn in between."""
        self._catching_up = False
        lines = self._lines
        before = self.virtual_size.height
        if lines is not None and not lines.index.extend(self._known_size, _STEP):
            self._catching_up = True
            self.call_later(self._grow)
        if self.line_count != before:
            self._fit_size()
        elif self.line_count:
            self._refresh_visible(self.line_count - 1)

    def _fit_size(self) -> None:
        last = self.virtual_size.height - 1
        self.virtual_size = Size(self._widest, self.line_count)
        if self._following:
            self._to_end()
        else:
            self._refresh_visible(last)

    def _to_end(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    def _refresh_visible(self, number: int) -> None:
        if 0 <= number - self.scroll_offset.y < self.scrollable_content_region.height:
            self.refresh_line(number)

    def _set_following(self, following: bool) -> None:
        if following != self._following:
            self._following = following
            self.post_message(self.FollowChanged(self, following))

    def _note_width(self, length: int) -> None:
        if length > self._widest:
            self._widest = length
            self.call_later(self._widen)

    def _widen(self) -> None:
        if self.virtual_size.width != self._widest:
            self.virtual_size = Size(self._widest, self.virtual_size.height)

    def _cut(self, strip: Strip) -> Strip:
        style = self.palette.base() + self.palette["muted"]
        return Strip([*strip, Segment(self.symbols.ellipsis, style)], strip.cell_length + 1)

    def _look(self, start: int) -> None:
        if self._search is not None and self._lines is not None:
            self._run(self._search.forwards(self._lines, start))

    def _run(self, steps: Iterator[int | None]) -> None:
        self._steps = steps
        self._step(steps)

    def _step(self, steps: Iterator[int | None]) -> None:
        if steps is not self._steps or self._search is None:
            return
        number = next(steps, -1)
        if number is None:
            self.call_later(self._step, steps)
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
                self._refresh_visible(line)
