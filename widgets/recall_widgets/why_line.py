"""The bottom line: why the selected thing does not move, and the keys that are valid here and now."""

from __future__ import annotations

from textual import events

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.hints import Pressed, asked_at, hints_and_last
from recall_widgets.one_line import OneLine
from recall_widgets.rows import Why
from recall_widgets.spans import Line, Span, beside, cleaned, width_of


class WhyLine(OneLine[Why]):
    """The reason comes before the keys: beside it stand the most useful one and the last one, help, and more of them
    where it leaves room."""

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(Why(), symbols=symbols, id=id, classes=classes)

    def on_click(self, event: events.Click) -> None:
        asks = asked_at(self.line_of(self._value, self.content_size.width), self._value.keys, event.x)
        if asks:
            self.post_message(Pressed(asks))

    def line_of(self, value: Why, width: int) -> Line:
        left = [Span(" why " if value.subject else " ", "muted"), Span(value.subject, "strong")]
        left.append(Span(f": {value.text}" if value.subject else value.text))
        always = width_of(hints_and_last([*value.keys[:1], *value.keys[1:][-1:]], width // 2))
        least = min(width_of(cleaned(left)), width - always - 1)
        return beside(left, hints_and_last(value.keys, width - least - 1), width, self.symbols.ellipsis, least=least)
