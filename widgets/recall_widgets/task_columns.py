"""The tasks side by side: a column for each state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import HorizontalScroll

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.rows import BoardRow
from recall_widgets.task_board import TaskBoard
from recall_widgets.titles import entitle


class TaskColumns(HorizontalScroll, can_focus=False):
    """Takes the rows that a grouped board takes; every group is a column with its own cursor. Columns speak for
    themselves: `Selected` and `Activated` come from the board in them."""

    DEFAULT_CSS = """
    TaskColumns TaskBoard { width: 1fr; min-width: 26; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "column(1)", "Next column", show=False, id="columns.next"),
        Binding("left,h", "column(-1)", "Previous column", show=False, id="columns.previous"),
    ]

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.symbols = symbols
        self._columns: dict[str, TaskBoard] = {}
        self._needle = ""

    @property
    def columns(self) -> list[TaskBoard]:
        """From the left."""
        shown = set(self._columns.values())
        return [board for board in self.query_children(TaskBoard) if board in shown]

    @property
    def cursor(self) -> str | None:
        """The selected row of the column in focus, else of the first one."""
        columns = self.columns
        board = next((board for board in columns if board.has_focus), columns[0] if columns else None)
        return board.cursor if board is not None else None

    @property
    def needle(self) -> str:
        """The filter text, marked wherever it occurs."""
        return self._needle

    @needle.setter
    def needle(self, text: str) -> None:
        self._needle = text
        for board in self._columns.values():
            board.needle = text

    def set_rows(self, rows: Sequence[BoardRow]) -> None:
        """Show groups with the tasks behind each; a group that is gone takes its column along."""
        groups = _groups(rows)
        wanted = {group.key for group, _ in groups}
        for key in [key for key in self._columns if key not in wanted]:
            self._columns.pop(key).remove()
        following: TaskBoard | None = None
        for group, tasks in reversed(groups):
            following = self._column(group.key, following)
            following.set_rows(tasks)
            entitle(following, f"{group.title}  {group.count}")

    def select(self, key: str) -> bool:
        """Put cursor and focus on a row; False: there is none with that key."""
        for board in self.columns:
            if board.select(key):
                board.focus()
                return True
        return False

    def action_column(self, by: int) -> None:
        columns = self.columns
        at = next((index for index, board in enumerate(columns) if board.has_focus), None)
        if columns:
            columns[0 if at is None else min(max(at + by, 0), len(columns) - 1)].focus()

    def _column(self, key: str, following: TaskBoard | None) -> TaskBoard:
        """The column of a group; a new one goes before the one that follows it."""
        if key not in self._columns:
            board = TaskBoard(symbols=self.symbols, classes="pane")
            board.needle = self._needle
            self._columns[key] = board
            self.mount(board, before=following)
        return self._columns[key]


def _groups(rows: Sequence[BoardRow]) -> list[tuple[BoardRow, list[BoardRow]]]:
    groups: list[tuple[BoardRow, list[BoardRow]]] = []
    for row in rows:
        if row.kind == "group":
            groups.append((row, []))
        elif groups:
            groups[-1][1].append(replace(row, indent=0))
    return groups
