"""The header: where main stands, whether anything is dispatched, how much is left, who is waited for."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events

from recall_widgets.glyphs import GLYPHS, UNICODE, Shown, Symbols
from recall_widgets.hints import Pressed
from recall_widgets.one_line import OneLine
from recall_widgets.rows import HeaderFacts
from recall_widgets.spans import Line, Span, beside, cleaned, width_of

_NAME = " RECALL"
_SHORTEST_LEFT = 8
#: What a click on those who wait asks for.
_NEEDS = "next-need"
_STATES = {str(state): state for state in Shown}


class StatusStrip(OneLine[HeaderFacts]):
    """On a narrow screen the least urgent goes first: our own name, the project, words beside the counts."""

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(HeaderFacts(), symbols=symbols, id=id, classes=classes)

    def on_click(self, event: events.Click) -> None:
        if self._value.needs_you and event.x >= self.content_size.width - width_of(
            _urgent(self._value, self.symbols)
        ):
            self.post_message(Pressed(_NEEDS))

    def line_of(self, value: HeaderFacts, width: int) -> Line:
        right = _urgent(value, self.symbols)
        room = width - width_of(right) - 1
        left: Line = ()
        for left in _shorter_and_shorter(value, self.symbols):
            if width_of(cleaned(left)) <= room:
                break
        return beside(left, right, width, self.symbols.ellipsis, least=_SHORTEST_LEFT)


def _urgent(facts: HeaderFacts, symbols: Symbols) -> list[Span]:
    spans: list[Span] = []
    if facts.needs_you:
        glyph = GLYPHS[Shown.NEEDS_YOU]
        verb = "needs" if facts.needs_you == 1 else "need"
        spans.append(Span(f"{symbols.glyph(Shown.NEEDS_YOU)} {facts.needs_you} {verb} you   ", glyph.tone))
    elif facts.clock:
        spans.append(Span("nothing needs you   ", "muted"))
    return [*spans, Span(f"{facts.clock} ", "muted")] if facts.clock else spans


def _shorter_and_shorter(facts: HeaderFacts, symbols: Symbols) -> Iterator[Line]:
    name, project = Span(_NAME, "strong"), Span(f"  {facts.project}")
    main, dispatcher = _main(facts, symbols), _dispatcher(facts, symbols)
    counts, numbers = _counts(facts, symbols), _numbers(facts, symbols)
    yield [name, project, *main, *dispatcher, *counts]
    yield [project, *main, *dispatcher, *counts]
    yield [*main, *dispatcher, *counts]
    yield [*main, *dispatcher, *numbers]
    yield [*dispatcher, *numbers]
    yield dispatcher


def _main(facts: HeaderFacts, symbols: Symbols) -> list[Span]:
    spans = [Span(f"  {facts.branch}"), Span(f" {facts.tip}" if facts.tip else "", "muted")]
    if facts.green is not None:
        state = Shown.DONE if facts.green else Shown.FAILED
        spans.append(Span(f" {symbols.glyph(state)}", GLYPHS[state].tone))
    return spans


def _dispatcher(facts: HeaderFacts, symbols: Symbols) -> list[Span]:
    if not facts.dispatcher:
        return []
    tone = GLYPHS[facts.dispatcher_state].tone
    return [Span(f"   {symbols.glyph(facts.dispatcher_state)} ", tone), Span(facts.dispatcher)]


def _counts(facts: HeaderFacts, symbols: Symbols) -> list[Span]:
    parts = f" {symbols.dot} ".join(f"{count} {word}" for count, word in facts.counts)
    return [Span(f"   {parts}", "muted")] if parts else []


def _numbers(facts: HeaderFacts, symbols: Symbols) -> list[Span]:
    """Counts without words: the glyph of the state, for those that have one."""
    spans: list[Span] = []
    for count, word in facts.counts:
        state = _STATES.get(word)
        mark, tone = (symbols.glyph(state), GLYPHS[state].tone) if state else (word[:1], "muted")
        spans += [Span(f"  {mark}", tone), Span(str(count), "muted")]
    return spans
