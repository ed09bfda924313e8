"""One hunk of a conflict: main's side, the task's side, and what comes of them; the base on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Click
from textual.message import Message

from recall.domain.conflict import Hunk, Side
from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.hunk_lines import HunkLines, side_lines
from recall_widgets.spans import Span, shown
from recall_widgets.text_view import TextView
from recall_widgets.titles import entitle


@dataclass(frozen=True, slots=True)
class HunkShown:
    """`result` is what is to land, None while nothing was decided; `how` says whose it is. `offer` is what might
    land, shown until something is decided, and `offered` says whence it is."""

    hunk: Hunk
    main_label: str = "main"
    task_label: str = "task"
    result: bytes | None = None
    how: str = ""
    offer: bytes | None = None
    offered: str = ""
    undecided: str = ""


class HunkView(Vertical, can_focus=True):
    """All three panes scroll together, so that what stands side by side stays side by side. A click on a side picks
    it."""

    DEFAULT_CSS = """
    HunkView Horizontal { height: 1fr; }
    HunkView TextView { width: 1fr; height: 1fr; }
    HunkView.-stacked Horizontal { layout: vertical; height: 2fr; }
    HunkView.-sides-only .result { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "lines(1)", "Down", show=False, id="hunk.down"),
        Binding("up", "lines(-1)", "Up", show=False, id="hunk.up"),
        Binding("pagedown", "pages(1)", "Page down", show=False, id="hunk.page-down"),
        Binding("pageup", "pages(-1)", "Page up", show=False, id="hunk.page-up"),
        Binding("right", "sideways(1)", "Right", show=False, id="hunk.right"),
        Binding("left", "sideways(-1)", "Left", show=False, id="hunk.left"),
        Binding("b", "base", "Base", show=False, id="hunk.base"),
    ]

    _NARROW = 70

    class Picked(Message):
        """A side was clicked."""

        def __init__(self, side: Side) -> None:
            super().__init__()
            self.side = side

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._main_side = _Pane(symbols=symbols, classes="pane side")
        self._task_side = _Pane(symbols=symbols, classes="pane side")
        self._outcome = _Pane(symbols=symbols, classes="pane result")
        self._value: HunkShown | None = None
        self._shows_base = False

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self._main_side
            yield self._task_side
        yield self._outcome

    @property
    def shows_base(self) -> bool:
        return self._shows_base

    def show(self, value: HunkShown) -> None:
        """Show a hunk; the places in the panes are kept while it is the same one."""
        before, self._value = self._value, value
        if before is None or before.hunk != value.hunk:
            hunk = value.hunk
            self._main_side.show_lines(HunkLines(side_lines(hunk.main, hunk.base, hunk.main_line)))
            self._task_side.show_lines(HunkLines(side_lines(hunk.task, hunk.base, hunk.task_line)))
        entitle(self._main_side, value.main_label)
        entitle(self._task_side, value.task_label)
        self._show_result()

    def on_click(self, event: Click) -> None:
        for pane, side in ((self._main_side, Side.MAIN), (self._task_side, Side.TASK)):
            if event.screen_offset in pane.region:
                self.post_message(self.Picked(side))

    def on_resize(self) -> None:
        self.set_class(self.size.width < self._NARROW, "-stacked")

    def action_base(self) -> None:
        self._shows_base = not self._shows_base
        self._show_result()

    def action_lines(self, by: int) -> None:
        for pane in self._panes:
            pane.action_lines(by)

    def action_pages(self, by: int) -> None:
        self.action_lines(by * max(1, self._main_side.size.height - 1))

    def action_sideways(self, by: int) -> None:
        for pane in self._panes:
            pane.action_sideways(by)

    @property
    def _panes(self) -> tuple[TextView, ...]:
        return self._main_side, self._task_side, self._outcome

    def _show_result(self) -> None:
        value = self._value
        if value is None:
            return
        if self._shows_base:
            title, lines = "base", side_lines(value.hunk.base)
        elif value.result is None and value.offer is not None:
            title, lines = value.offered, side_lines(value.offer)
        elif value.result is None:
            title, lines = "result", [[Span(shown(value.undecided), "muted")]]
        else:
            title, lines = f"result: {value.how}" if value.how else "result", side_lines(value.result)
        entitle(self._outcome, title, f"b shows the {'result' if self._shows_base else 'base'}")
        self._outcome.show_lines(HunkLines(lines))


class _Pane(TextView, can_focus=False):
    """Takes no keys: those of the workbench are the same in every pane."""
