"""What the widgets cost, against Textual's own for the same rows and lines, measured in turn without a terminal.

usage: python -m benchmarks.widgets [--rounds 3] [--rows 10000] [--lines 20000]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import DataTable, RichLog

from benchmarks.pairs import interleaved
from recall_styles import CSS_PATHS, THEMES
from recall_widgets.glyphs import Shown
from recall_widgets.log_view import LogView
from recall_widgets.rows import BoardRow
from recall_widgets.task_board import TaskBoard

SIZE = (120, 40)
CHANGED = 100
LINE = "line %d some output of an agent, about eighty characters long, as usual"

#: What of the baseline's time the subject may take.
GOALS = {"mount": 0.2, "100 rows changed": 1.0, "page scroll": 1.0, "log shown": 0.2, "one more line": 1.0}


class Stage(App[None]):
    CSS_PATH = CSS_PATHS  # pyright: ignore[reportAssignmentType] - a list of paths is what Textual documents
    COMMANDS: ClassVar[set[Any]] = set()

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = "recall-dark"
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget


@dataclass(frozen=True)
class Piece:
    start: int
    data: bytes


def staged(make: Callable[[], Widget], measure: Callable[[Any, Pilot[Any]], Awaitable[float]]) -> float:
    """Show a fresh widget and give what `measure` found."""

    async def whole() -> float:
        widget = make()
        async with Stage(widget).run_test(size=SIZE) as pilot:
            await pilot.pause()
            return await measure(widget, pilot)

    return asyncio.run(whole())


async def clocked(action: Callable[[], object], pilot: Pilot[Any], times: int = 1) -> float:
    """Seconds until the screen is quiet again, a time."""
    started = time.perf_counter()
    for _ in range(times):
        action()
        await pilot.pause()
    return (time.perf_counter() - started) / times


def rows(count: int) -> list[BoardRow]:
    return [
        BoardRow(str(n), "task", Shown.READY, f"task number {n} with a title", id=f"T-{n}", detail="agent-1")
        for n in range(count)
    ]


def cells(count: int) -> list[Sequence[str]]:
    return [(str(n), f"task number {n} with a title", "todo", "agent-1", "00:00:10", "main") for n in range(count)]


class Board:
    """A board and a table with the same rows, and the same things done to both."""

    def __init__(self, count: int) -> None:
        self.rows, self.cells = rows(count), cells(count)
        self.random = random.Random(7)

    def some(self) -> list[int]:
        return self.random.sample(range(len(self.rows)), CHANGED)

    async def mount(self, board: TaskBoard, pilot: Pilot[Any]) -> float:
        return await clocked(lambda: board.set_rows(self.rows), pilot)

    async def table_mount(self, table: DataTable[str], pilot: Pilot[Any]) -> float:
        def fill() -> None:
            table.add_columns("id", "title", "state", "agent", "time", "branch")
            table.add_rows(self.cells)

        return await clocked(fill, pilot)

    async def change(self, board: TaskBoard, pilot: Pilot[Any]) -> float:
        await self.mount(board, pilot)
        current = list(self.rows)

        def change() -> None:
            nonlocal current
            current = list(current)
            for n in self.some():
                current[n] = replace(current[n], state=self.random.choice((Shown.READY, Shown.RUNNING)))
            board.set_rows(current)

        return await clocked(change, pilot, 10)

    async def table_change(self, table: DataTable[str], pilot: Pilot[Any]) -> float:
        await self.table_mount(table, pilot)
        keys, column = list(table.rows), list(table.columns)[2]

        def change() -> None:
            for n in self.some():
                table.update_cell(keys[n], column, self.random.choice(("todo", "running")))

        return await clocked(change, pilot, 10)

    async def scroll(self, board: TaskBoard, pilot: Pilot[Any]) -> float:
        await self.mount(board, pilot)
        return await clocked(lambda: board.scroll_page_down(animate=False), pilot, 20)

    async def table_scroll(self, table: DataTable[str], pilot: Pilot[Any]) -> float:
        await self.table_mount(table, pilot)
        return await clocked(lambda: table.scroll_page_down(animate=False), pilot, 20)


class Log:
    """A log view over bytes and a rich log with the same lines."""

    def __init__(self, count: int) -> None:
        self.lines = [LINE % n for n in range(count)]
        self.data = "".join(f"{line}\n" for line in self.lines).encode()

    def read(self, offset: int, limit: int) -> Piece:
        return Piece(offset, self.data[offset : offset + limit])

    async def shown(self, view: LogView, pilot: Pilot[Any]) -> float:
        started = time.perf_counter()
        view.show(self.read, len(self.data))
        while not view.caught_up:
            await pilot.pause()
        await pilot.pause()
        return time.perf_counter() - started

    async def rich_shown(self, log: RichLog, pilot: Pilot[Any]) -> float:
        return await clocked(lambda: [log.write(line) for line in self.lines], pilot)

    async def grown(self, view: LogView, pilot: Pilot[Any]) -> float:
        await self.shown(view, pilot)

        def one_more() -> None:
            self.data += b"one more line\n"
            view.grew(len(self.data))

        return await clocked(one_more, pilot, 20)

    async def rich_grown(self, log: RichLog, pilot: Pilot[Any]) -> float:
        await self.rich_shown(log, pilot)
        return await clocked(lambda: log.write("one more line"), pilot, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--lines", type=int, default=20_000)
    given = parser.parse_args()
    board = Board(given.rows)
    parts: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {
        "mount": (
            lambda: staged(TaskBoard, board.mount),
            lambda: staged(DataTable[str], board.table_mount),
        ),
        "100 rows changed": (
            lambda: staged(TaskBoard, board.change),
            lambda: staged(DataTable[str], board.table_change),
        ),
        "page scroll": (
            lambda: staged(TaskBoard, board.scroll),
            lambda: staged(DataTable[str], board.table_scroll),
        ),
        "log shown": (
            lambda: staged(LogView, Log(given.lines).shown),
            lambda: staged(RichLog, Log(given.lines).rich_shown),
        ),
        "one more line": (
            lambda: staged(LogView, Log(given.lines).grown),
            lambda: staged(RichLog, Log(given.lines).rich_grown),
        ),
    }
    for name, (subject, baseline) in parts.items():
        print(interleaved(name, subject, baseline, given.rounds).line(GOALS[name]), flush=True)


if __name__ == "__main__":
    main()
