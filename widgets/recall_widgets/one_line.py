"""A line of the screen that shows one value."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.strip import Strip
from textual.widget import Widget

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.spans import Line, strip_of
from recall_widgets.tones import Palette

ValueT = TypeVar("ValueT")


class OneLine(Widget, Generic[ValueT]):
    """Drawn again only when the value is another one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    OneLine { height: 1; }
    """

    def __init__(
        self, value: ValueT, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.symbols = symbols
        self.palette = Palette(self)
        self._value = value

    def line_of(self, value: ValueT, width: int) -> Line:
        """How the value looks in so many cells."""
        raise NotImplementedError

    def show(self, value: ValueT) -> None:
        if value != self._value:
            self._value = value
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        if y:
            return Strip.blank(width, self.palette.base())
        return strip_of(self.line_of(self._value, width), self.palette, width)

    def notify_style_update(self) -> None:
        self.palette.forget()
        super().notify_style_update()
