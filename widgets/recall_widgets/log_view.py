"""A run's transcript: read by offset, drawn line by line, followed while it grows."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.line_index import Read
from recall_widgets.log_lines import LogLines, Present
from recall_widgets.text_view import TextView

#: Bytes that are looked at before other messages get their turn.
_STEP: Final = 1 << 20


class LogView(TextView):
    """`show` a text, then say when it `grew`: ten times a second at most, however often it is written to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("end,G", "follow", "End, and follow", show=False, id="log.follow"),
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

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(symbols=symbols, id=id, classes=classes)
        self._log: LogLines | None = None
        self._end = 0
        self._catching_up = False
        self._following = True

    @property
    def following(self) -> bool:
        """Whether the view stays at the end of the text while it grows."""
        return self._following

    @property
    def caught_up(self) -> bool:
        """Whether everything that it was told of can be scrolled to."""
        return not self._catching_up

    def show(self, read: Read | None, size: int = 0, *, present: Present | None = None, follow: bool = True) -> None:
        """Show a text of so many bytes, from its end if it is to be followed; None: nothing. `present` turns raw
        lines into others."""
        self._log = LogLines(read, present) if read is not None else None
        self._end = size
        self.show_lines(self._log)
        self._following = follow
        self._grow()

    def grew(self, size: int) -> None:
        """The text has so many bytes now."""
        if size > self._end:
            self._end = size
            self._grow()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._set_following(round(new_value) >= self.max_scroll_y)

    def on_resize(self) -> None:
        if self._following:
            self.action_last()

    def action_follow(self) -> None:
        self._set_following(True)
        self.action_last()

    def on_mount(self) -> None:
        self._grow()

    def _grow(self) -> None:
        """Look at what is new, a step at a time; the rest of the app gets its turn in between."""
        log = self._log
        if log is None or not self.is_attached:
            return
        before = len(log)
        self._catching_up = not log.index.extend(self._end, _STEP)
        if self._catching_up:
            self.call_later(self._grow)
        if len(log) != before:
            self.virtual_size = Size(self.virtual_size.width, len(log))
            if self._following:
                self.action_last()
        self.refresh_visible(before - 1)
        self.refresh_visible(len(log) - 1)

    def _set_following(self, following: bool) -> None:
        if following != self._following:
            self._following = following
            self.post_message(self.FollowChanged(self, following))
