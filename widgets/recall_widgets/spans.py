"""One line as pieces of text with a tone, fitted to a width in terminal cells. Nothing here needs an app."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, split_text
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from recall.domain.text import clean
from recall_widgets.tones import Palette

_BREAKS = str.maketrans("\n\t", "  ")
#: Asks for a sign's colourful form. Terminals differ on whether that takes one cell or two, so what comes behind it
#: would stand in another column than planned.
_COLOURFUL = "\ufe0f"


class Span(NamedTuple):
    """`tone` is a name of `tones.TONES`, empty for the usual foreground, or a style that the text brought along."""

    text: str
    tone: str | Style = ""


Line: TypeAlias = Sequence[Span]


def shown(text: str) -> str:
    """One line of outside text as it may be drawn."""
    if _COLOURFUL in text:
        text = text.replace(_COLOURFUL, "")
    return text if text.isprintable() else clean(text).translate(_BREAKS)


def cleaned(spans: Line) -> list[Span]:
    return [Span(text, span.tone) if (text := shown(span.text)) is not span.text else span for span in spans]


def width_of(spans: Iterable[Span]) -> int:
    return sum(cell_len(span.text) for span in spans)


def clip(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut to a width in cells; a cut text ends in the ellipsis, which is one cell wide."""
    return text if cell_len(text) <= width else _cut(text, width, ellipsis)


def _cut(text: str, width: int, ellipsis: str) -> str:
    """Cut a text behind which there is more, so that it ends in the ellipsis."""
    kept = split_text(text, width - 1)[0] if width > 0 else ""
    while kept and cell_len(kept + ellipsis) > width:  # joiners make widths that do not add up
        kept = kept[:-1]
    return kept + ellipsis if width > 0 else ""


def fit(spans: Line, width: int, ellipsis: str = "…") -> list[Span]:
    """Cut a line to a width in cells; a cut line ends in the ellipsis."""
    if width_of(spans) <= width:
        return list(spans)
    fitted: list[Span] = []
    room = width
    for span in spans:
        size = cell_len(span.text)
        if size >= room:
            fitted.append(Span(_cut(span.text, room, ellipsis), span.tone))
            break
        fitted.append(span)
        room -= size
    return fitted


def beside(left: Line, right: Line, width: int, ellipsis: str = "…", least: int = 16) -> list[Span]:
    """Clean both sides and put `right` at the right end. The left one gives way first, down to `least` cells, then
    the right one."""
    left, right = cleaned(left), cleaned(right)
    kept = min(width_of(left), least)
    end = fit(right, max(0, width - kept - (1 if kept else 0)), ellipsis)
    taken = width_of(end)
    if not taken:
        start = fit([*left, Span(" "), *right] if width_of(right) else left, width, ellipsis)
    else:
        start = fit(left, max(0, width - taken - 1), ellipsis)
    return [*start, Span(" " * (width - taken - width_of(start))), *end]


def highlighted(spans: Line, found: re.Pattern[str], tone: str = "match") -> list[Span]:
    """Give everything that the pattern finds a tone of its own."""
    return [piece for span in spans for piece in _split(span, found, tone)]


def strip_of(spans: Line, palette: Palette, width: int, whole: str = "") -> Strip:
    """Draw a line; what is left of the width is blank. `whole` is a tone that lies under all of it."""
    segments = [
        Segment(span.text, palette[span.tone] if isinstance(span.tone, str) else span.tone)
        for span in spans
        if span.text
    ]
    return Strip(segments).adjust_cell_length(width).apply_style(palette.base(whole))


def _split(span: Span, found: re.Pattern[str], tone: str) -> list[Span]:
    pieces: list[Span] = []
    end = 0
    for match in found.finditer(span.text):
        pieces += [Span(span.text[end : match.start()], span.tone), Span(match[0], tone)]
        end = match.end()
    return [piece for piece in [*pieces, Span(span.text[end:], span.tone)] if piece.text]
