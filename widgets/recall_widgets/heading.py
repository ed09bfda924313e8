"""The top line of a screen that is about one thing: its state, its name, and a fact or two at the right."""

from __future__ import annotations

from recall.domain.frozen import frozen
from recall_widgets.glyphs import GLYPHS, UNICODE, Shown, Symbols
from recall_widgets.one_line import OneLine
from recall_widgets.spans import Line, Span, beside


@frozen
class HeadingFacts:
    """`state` is None for what has no state; `word` says it in words. `right` gives way last."""

    id: str = ""
    title: str = ""
    state: Shown | None = None
    word: str = ""
    right: str = ""


class Heading(OneLine[HeadingFacts]):
    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(HeadingFacts(), symbols=symbols, id=id, classes=classes)

    def line_of(self, value: HeadingFacts, width: int) -> Line:
        state = value.state
        left = [] if state is None else [Span(f" {self.symbols.glyph(state)}", GLYPHS[state].tone)]
        left += [Span(f" {value.id} ", "strong"), Span(f" {value.title}")]
        right = [Span(value.right, "muted")] if value.right else []
        tone = GLYPHS[state].tone if state is not None else "muted"
        return beside(left, [*right, Span(f"  {value.word} ", tone)], width, self.symbols.ellipsis)
