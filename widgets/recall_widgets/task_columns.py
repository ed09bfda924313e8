"""The tasks side by side: a column for each state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import HorizontalScroll
from textual.events import DescendantFocus

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.row_source import keys_of
from recall_widgets.rows import BoardRow
from recall_widgets.task_board import TaskBoard
from recall_widgets.titles import entitle

#: What a border and its title take beside the title's text.
_FRAME = 6
#: A column that shows its tasks has at least so many cells; where there is no room for all, most show their count.
_LEAST = 16


class TaskColumn(TaskBoard):
    """A state's column; `space` on a task folds the column, on a heading what stands below it."""

    heading: BoardRow | None = None

    def action_fold(self) -> None:
        row = self.cursor_row
        if row is not None and row.kind == "group":
            super().action_fold()
        elif self.heading is not None:
            self.post_message(self.Folded(self, self.heading.key, not self.heading.folded))

    def action_activate(self) -> None:
        if self.heading is not None and self.heading.folded:
            self.action_fold()
        else:
            super().action_activate()

    def on_click(self, event: events.Click) -> None:
        if self.heading is not None and self.heading.folded:
            self.action_fold()


class TaskColumns(HorizontalScroll, can_focus=False):
    """A heading, and the rows below it, for each column. Columns speak for themselves: `Selected`, `Activated` and
    `Folded` come from the board in them. One of them is the current one, whether it has the focus or not."""

    DEFAULT_CSS = """
    TaskColumns { scrollbar-size-horizontal: 0; }
    TaskColumns TaskColumn { width: 1fr; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "column(1)", "Next column", show=False, id="columns.next"),
        Binding("left", "column(-1)", "Previous column", show=False, id="columns.previous"),
    ]

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.symbols = symbols
        self._columns: dict[str, TaskColumn] = {}
        self._current: TaskColumn | None = None
        self._needle = ""

    @property
    def columns(self) -> list[TaskColumn]:
        """From the left."""
        return [board for board in self.query_children(TaskColumn) if board.display]

    @property
    def current(self) -> TaskColumn | None:
        """The column that was in focus last, else the first one with rows."""
        columns = self.columns
        if self._current in columns:
            return self._current
        return next((board for board in columns if board.rows), columns[0] if columns else None)

    @property
    def cursor(self) -> str | None:
        """The selected row of the current column."""
        return self.current.cursor if self.current is not None else None

    @property
    def cursor_row(self) -> BoardRow | None:
        return self.current.cursor_row if self.current is not None else None

    @property
    def needle(self) -> str:
        """The filter text, marked wherever it occurs."""
        return self._needle

    @needle.setter
    def needle(self, text: str) -> None:
        self._needle = text
        for board in self._columns.values():
            board.needle = text

    def set_columns(self, columns: Sequence[tuple[BoardRow, Sequence[BoardRow]]]) -> None:
        """Show these columns. The selection goes along with a task that moves to another one."""
        selected, had_focus = self.cursor, any(board.has_focus for board in self._columns.values())
        wanted = {heading.key for heading, _ in columns}
        following: TaskColumn | None = None
        for heading, rows in reversed(columns):
            following = self._column(heading.key, following)
            following.display = True
            self._fill(following, heading, rows)
        gone = [board for key, board in self._columns.items() if key not in wanted and board.display]
        for board in gone:
            board.set_rows(())
        self._follow(selected, had_focus)
        for board in gone:
            board.display = False
        if had_focus and self._current in gone and self.current is not None:
            self.current.focus()
        self._share_room()

    def select(self, key: str) -> bool:
        """Put the cursor on a row and make its column the current one; False: there is none with that key."""
        for board in self.columns:
            if board.select(key):
                self._make_current(board, focus=any(one.has_focus for one in self._columns.values()))
                return True
        return False

    def action_column(self, by: int) -> None:
        columns, current = self.columns, self.current
        if current is not None:
            at = columns.index(current)
            self._make_current(columns[min(max(at + by, 0), len(columns) - 1)], focus=True)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        if isinstance(event.widget, TaskColumn):
            self._current = event.widget
            self._share_room()

    def on_resize(self) -> None:
        self._share_room()

    def _fill(self, board: TaskColumn, heading: BoardRow, rows: Sequence[BoardRow]) -> None:
        board.heading = heading
        board.set_rows(rows)

    def _share_room(self) -> None:
        """Give every open column as much; where that is too little, the ones around the current one. No column is
        out of sight: one without room shows its count."""
        columns, current = self.columns, self.current
        slim = {board: len(self._short_title(board)) + _FRAME for board in columns}
        open_ones = [board for board in columns if board.heading is not None and not board.heading.folded]
        room = self.size.width - sum(slim.values())
        if not open_ones or current is None or self.size.width <= 0:
            return
        fits = max(1, min(len(open_ones), room // max(_LEAST - min(slim.values()), 1)))
        at = open_ones.index(current) if current in open_ones else 0
        first = min(max(at - fits // 2, 0), len(open_ones) - fits)
        wide = open_ones[first : first + fits]
        for board in columns:
            board.styles.width = "1fr" if board in wide else slim[board]
            self._entitle(board, short=board not in wide)

    def _short_title(self, board: TaskColumn) -> str:
        heading = board.heading
        return f"{self.symbols.glyph(heading.state)} {heading.count}" if heading is not None else ""

    def _entitle(self, board: TaskColumn, *, short: bool) -> None:
        title = self._short_title(board)
        if not short and board.heading is not None:
            title += f" {board.heading.title}"
        entitle(board, title, f"filter: {self._needle}" if self._needle and not short else "")

    def _follow(self, selected: str | None, had_focus: bool) -> None:
        current = self._current
        if selected is None or (current is not None and selected in keys_of(current.rows)):
            return
        for board in self._columns.values():
            if board.display and selected in keys_of(board.rows):
                board.select(selected)
                self._make_current(board, focus=had_focus)
                return

    def _make_current(self, board: TaskColumn, *, focus: bool) -> None:
        self._current = board
        self._share_room()
        if focus:
            board.focus()

    def _column(self, key: str, following: TaskColumn | None) -> TaskColumn:
        """The column of a heading; a new one goes before the one that follows it."""
        if key not in self._columns:
            board = TaskColumn(symbols=self.symbols, classes="pane")
            board.needle = self._needle
            self._columns[key] = board
            self.mount(board, before=following)
        return self._columns[key]
