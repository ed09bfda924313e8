"""The tasks side by side: what a grouped board shows below each other, with a cursor in every column."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from recall_widgets.glyphs import Shown
from recall_widgets.rows import BoardRow
from recall_widgets.task_board import TaskBoard
from recall_widgets.task_columns import TaskColumns
from tests.support.pilot import run_app, screen_lines
from tests.widgets.stage import Stage


def group(state: Shown, *ids: str, folded: bool = False) -> list[tuple[BoardRow, list[BoardRow]]]:
    heading = BoardRow(f"group:{state}", "group", state, state.capitalize(), count=len(ids), folded=folded)
    return [(heading, [BoardRow(id_, "task", state, f"title {id_}", id=id_) for id_ in ids])]


def test_every_group_is_a_column_and_comes_and_goes_with_its_tasks() -> None:
    view = TaskColumns()

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.set_columns([*group(Shown.RUNNING, "A", "B"), *group(Shown.DONE, "C")])
        await pilot.pause()
        assert "2 Running" in screen_lines(app)[0]
        assert "1 Done" in screen_lines(app)[0]
        assert screen_lines(app)[1].count("title") == 2
        view.set_columns([*group(Shown.RUNNING, "A"), *group(Shown.WAITING, "D"), *group(Shown.DONE, "B", "C")])
        await pilot.pause()
        titles = screen_lines(app)[0]
        assert titles.index("1 Running") < titles.index("1 Waiting") < titles.index("2 Done")
        view.set_columns(group(Shown.DONE, "A", "B", "C", "D"))
        await pilot.pause()
        assert [board.cursor for board in view.columns] == ["A"], "the selection goes along"
        assert "Running" not in screen_lines(app)[0]
        view.set_columns([*group(Shown.RUNNING, "A"), *group(Shown.WAITING, "D"), *group(Shown.DONE, "B")])
        await pilot.pause()
        titles = screen_lines(app)[0]
        assert titles.index("1 Running") < titles.index("1 Waiting") < titles.index("1 Done")

    run_app(Stage(view), (120, 20), body)


def test_keys_go_from_column_to_column() -> None:
    view = TaskColumns()

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.set_columns([*group(Shown.RUNNING, "A", "B"), *group(Shown.DONE, "C")])
        await pilot.pause()
        view.columns[0].focus()
        await pilot.press("j")
        assert view.cursor == "B"
        await pilot.press("right", "right", "right")
        assert view.cursor == "C"
        await pilot.press("left", "enter")
        await pilot.pause()
        assert [message.key for message in app.of(TaskBoard.Activated)] == ["B"]
        assert view.select("C")
        await pilot.pause()
        assert view.cursor == "C"
        assert not view.select("nowhere")

    run_app(Stage(view), (80, 24), body)


def test_no_groups_is_an_empty_view() -> None:
    view = TaskColumns()

    async def body(_: Stage, pilot: Pilot[Any]) -> None:
        view.set_columns([])
        await pilot.pause()
        view.action_column(1)
        assert view.cursor is None

    run_app(Stage(view), (40, 10), body)
