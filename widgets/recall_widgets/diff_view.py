"""A diff to read: scrolled, searched, and walked through file by file."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from recall_widgets.diff_lines import DiffKind, DiffLines, read_diff
from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.text_view import TextView


class DiffView(TextView):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("J", "file(1)", "Next file", show=False, id="diff.next-file"),
        Binding("K", "file(-1)", "Previous file", show=False, id="diff.previous-file"),
        Binding("right_square_bracket", "hunk(1)", "Next hunk", show=False, id="diff.next-hunk"),
        Binding("left_square_bracket", "hunk(-1)", "Previous hunk", show=False, id="diff.previous-hunk"),
    ]

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(symbols=symbols, id=id, classes=classes)
        self._diff = DiffLines([])

    def show(self, text: str) -> None:
        """Show a unified diff, as git writes it."""
        self._diff = DiffLines(read_diff(text))
        self.show_lines(self._diff)

    def show_file(self, place: int) -> None:
        """Put a file on top; they are counted from 0, in the order of the diff."""
        numbers = [number for number in range(len(self._diff)) if self._diff.kind(number) is DiffKind.FILE]
        if place < len(numbers):
            self.scroll_to(y=numbers[place], animate=False, force=True)

    def action_file(self, by: int) -> None:
        self._jump(by, DiffKind.FILE)

    def action_hunk(self, by: int) -> None:
        self._jump(by, DiffKind.HUNK)

    def _jump(self, by: int, kind: DiffKind) -> None:
        """Put the next or previous line of a kind on top."""
        number = self.scroll_offset.y + by
        while 0 <= number < len(self._diff):
            if self._diff.kind(number) is kind:
                self.scroll_to(y=number, animate=False, force=True)
                return
            number += by
