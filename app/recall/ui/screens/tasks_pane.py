"""The pane with the tasks: a list by state, columns, or a tree of prerequisites; filtered, folded, selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.widget import Widget

from recall.domain.overview import Overview
from recall.ui.board_views import BoardView
from recall.ui.roll import Roll
from recall_widgets.glyphs import Symbols
from recall_widgets.row_source import keys_of
from recall_widgets.rows import BoardRow
from recall_widgets.task_board import TaskBoard
from recall_widgets.task_columns import TaskColumns
from recall_widgets.titles import entitle

View: TypeAlias = Literal["list", "columns", "tree"]
VIEWS: tuple[View, ...] = ("list", "columns", "tree")
_NAMED: dict[str, View] = {view: view for view in VIEWS}
_TITLES = {"list": "1 Tasks", "columns": "1 Tasks", "tree": "1 Tasks by prerequisite"}


def view_named(name: str) -> View:
    """Give the view of a name; the first one, if there is none of that name."""
    return _NAMED.get(name, VIEWS[0])


class TasksPane(Container):
    """Shows a roll. The selected task stays selected from one view to the next, and while it can be seen at all."""

    class Arranged(Message):
        """Another view was chosen, or something was folded or opened."""

    def __init__(self, *, symbols: Symbols, view: View, folded: Sequence[str], id: str) -> None:
        super().__init__(id=id)
        self.symbols = symbols
        self.view: View = view
        self.folded = set(folded)
        self.needle = ""
        self._shown: tuple[Roll, Overview] | None = None
        self._begun = False

    def compose(self) -> ComposeResult:
        yield TaskBoard(symbols=self.symbols, id="board", classes="pane")
        yield TaskColumns(symbols=self.symbols, id="columns")

    def on_mount(self) -> None:
        self._show_view()

    @property
    def cursor(self) -> str | None:
        """The key of the selected row."""
        return self._widget.cursor

    @property
    def focus_target(self) -> Widget:
        """What takes the keys."""
        columns = self.query_one(TaskColumns)
        return (columns.current if self.view == "columns" else None) or self.query_one(TaskBoard)

    def show(self, roll: Roll, overview: Overview) -> None:
        self._shown = roll, overview
        self._fill()
        if not self._begun:
            self._begun = self._begin_at_a_task()

    def select(self, key: str) -> bool:
        """Select a task, opening what it is folded into; False: it is not shown."""
        if self._widget.select(key):
            return True
        if self._shown is not None and key in self._shown[0].tasks and not self.needle:
            view = BoardView(self._shown[0], 0.0, folded=self.folded)
            self.folded ^= view.folds_over(key, columns=self.view == "columns")
            self._changed()
            return self._widget.select(key)
        return False

    def switch(self) -> None:
        """Go to the next view."""
        had_focus, selected = self.has_focus_within, self.cursor
        self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]
        self._show_view()
        self._fill()
        if selected is not None and not self._widget.select(selected):
            self._begin_at_a_task()
        if had_focus:
            self.screen.set_focus(self.focus_target)
        self.post_message(self.Arranged())

    def filter(self, needle: str) -> None:
        self.needle = needle
        self._fill()

    @on(TaskBoard.Folded)
    def _folded(self, event: TaskBoard.Folded) -> None:
        event.stop()
        self.folded ^= {event.key}
        self._changed()

    @property
    def _widget(self) -> TaskBoard | TaskColumns:
        return self.query_one(TaskColumns) if self.view == "columns" else self.query_one(TaskBoard)

    def _show_view(self) -> None:
        self.query_one(TaskBoard).display = self.view != "columns"
        self.query_one(TaskColumns).display = self.view == "columns"

    def _changed(self) -> None:
        self._fill()
        self.post_message(self.Arranged())

    def _fill(self) -> None:
        if self._shown is None:
            return
        roll, overview = self._shown
        view = BoardView.of(overview, roll, self.folded, self.needle)
        if self.view == "columns":
            columns = self.query_one(TaskColumns)
            columns.needle = self.needle
            columns.set_columns(view.by_column())
        else:
            self._fill_board(view.by_prerequisite() if self.view == "tree" else view.by_state())

    def _fill_board(self, rows: Sequence[BoardRow]) -> None:
        board = self.query_one(TaskBoard)
        before, selected = board.rows, board.cursor_row
        board.needle = self.needle
        board.empty = "no task has this in its id or title" if self.needle else "no tasks yet"
        board.set_rows(rows)
        if selected is not None and selected.kind == "task" and board.cursor != selected.key:
            self._stay_at_a_task(board, keys_of(before).index(selected.key))
        entitle(board, _TITLES[self.view], f"filter: {self.needle}" if self.needle else "")

    def _stay_at_a_task(self, board: TaskBoard, place: int) -> None:
        """The selected task went out of sight, as into a folded group: go to the one that is nearest now."""
        tasks = [(abs(at - place), key) for at, key in enumerate(keys_of(board.rows)) if key.startswith("task:")]
        if tasks:
            board.select(min(tasks)[1])

    def _begin_at_a_task(self) -> bool:
        """Begin at a task rather than at a heading; False: there is none."""
        widget = self._widget
        rows = widget.rows if isinstance(widget, TaskBoard) else (widget.current.rows if widget.current else ())
        first = next((key for key in keys_of(rows) if key.startswith("task:")), None)
        return first is not None and widget.select(first)
