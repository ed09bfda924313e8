"""While nothing may start, header, board and bottom line say so, and what lets it go on stands first."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from recall.domain.errors import EnvironmentFailure
from recall.domain.overview import Overview
from recall.domain.schedule import why_task
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskState
from recall.engine.dispatcher import Dispatcher
from recall.engine.hosting import Listener
from recall.ui.board_views import BoardView
from recall.ui.context import Context
from recall.ui.roll import Roll
from recall.ui.view_models import bottom_line, header, need_rows
from recall_widgets.needs_you import NeedsYou
from recall_widgets.rows import KeyHint, NeedRow, Why
from recall_widgets.why_line import WhyLine
from tests.support.builders import spec
from tests.support.driver import driving, shop_in
from tests.support.pilot import run_app, screen_lines
from tests.widgets.stage import Stage

NOW = 1_800_000_000.0
_TASK = Task("main", "T-1", "Parse", "", "general", 0, 1, TaskState.TODO, "", NOW - 60)
_OPEN = Overview(
    "shop", "main", "", NOW, True, "", "", Snapshot(NOW, (_TASK,), (), ()), (_TASK,), (), (), ()
)  # fmt: skip
_PAUSED = replace(_OPEN, snapshot=replace(_OPEN.snapshot, dispatching=False))
_HELD = replace(_OPEN, dispatch_held="the commands changed")
_FULL = replace(_OPEN, dispatch_held="/ is full", shortage="/ is full")
_NO_COMMIT = "the repository has no commit yet: make one with `git commit`, then try again"


def _drawn(widget: Widget, size: tuple[int, int]) -> str:
    """The first line of it."""
    lines: list[str] = []

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        await pilot.pause()
        lines.extend(screen_lines(app))

    run_app(Stage(widget), size, body)
    return lines[0]


@pytest.mark.parametrize(
    ("overview", "word", "waits"),
    [
        (_OPEN, "dispatching", "waits: agent"),
        (_PAUSED, "paused", "dispatch is paused"),
        (_HELD, "held", "dispatch is held"),
        (_FULL, "held", "dispatch is held"),
        (replace(_PAUSED, dispatch_held="the commands changed"), "held", "dispatch is held"),
    ],
)
def test_header_and_board_agree(overview: Overview, word: str, waits: str) -> None:
    assert header(overview, mode="dispatching", clock="").dispatcher == word
    viewing = "viewing" if word == "dispatching" else f"viewing, {word}"
    assert header(overview, mode="viewing", clock="").dispatcher == viewing
    rows = BoardView.of(overview, Roll.of(overview.tasks)).by_state()
    assert [row.detail for row in rows if row.kind == "task"] == [waits]


@pytest.mark.parametrize(("overview", "first"), [(_PAUSED, "P resume"), (_HELD, "C confirm commands")])
@pytest.mark.parametrize("width", [60, 80])
def test_what_lets_it_go_on_is_the_first_key_however_narrow_it_is(overview: Overview, first: str, width: int) -> None:
    line = bottom_line(Context(overview, _TASK), Roll.of(overview.tasks))
    key, does = first.split(" ", 1)
    assert (line.keys[0].key, line.keys[0].does) == (key, does)
    widget = WhyLine()
    widget.show(line)
    shown = _drawn(widget, (width, 5))
    assert first in shown
    assert "? help" in shown


def test_a_reason_that_fits_is_not_cut_for_a_key() -> None:
    widget, reason = WhyLine(), "nothing is started, dispatch is paused by you"
    keys = [KeyHint("P", "resume"), KeyHint("enter", "open"), KeyHint("X", "cancel"), KeyHint("?", "help")]
    widget.show(Why("T-1", reason, tuple(keys)))
    shown = _drawn(widget, (80, 5))
    assert reason in shown
    assert "P resume" in shown
    assert "X cancel" not in shown


def test_a_need_without_an_age_keeps_no_room_for_one() -> None:
    widget = NeedsYou([NeedRow("trust", "recall.toml", "w" * 90, (KeyHint("C", "confirm"),))])
    shown = _drawn(widget, (60, 5)).rstrip()
    assert shown.endswith("C confirm")
    assert len(shown) >= 59


@pytest.fixture
def _in_taipei(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Taipei")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_in_taipei")
def test_times_are_local_in_reasons_too() -> None:
    held = replace(_TASK, retry_at=NOW + 30, reason="attempt 1 failed")
    assert why_task(held, replace(_OPEN.snapshot, ready=(held,))) == "held back until 16:00: attempt 1 failed"


# -- an engine that cannot start -----------------------------------------------------------------------------------
def test_the_reason_gives_way_to_another_dispatcher() -> None:
    assert need_rows(_OPEN, trouble=_NO_COMMIT) == []
    (row,) = need_rows(replace(_OPEN, dispatcher=False), trouble=_NO_COMMIT)
    assert (row.why, row.keys[0].asks) == (_NO_COMMIT, "engine")


def test_why_no_engine_runs_stays_on_the_screen_until_one_does(tmp_path: Path, home: Path) -> None:
    broken = [True]

    @contextmanager
    def opens(start: Path, listener: Listener, *, restart_conflicts: bool = True) -> Generator[Dispatcher]:
        if broken:
            raise EnvironmentFailure(_NO_COMMIT)
        with engine(start, listener, restart_conflicts=restart_conflicts) as dispatcher:
            yield dispatcher

    with shop_in(tmp_path, spec("T-1")) as shop:
        shop.store.pause_dispatching(actor="test", reason="only the engine is looked at")
        engine = shop.session.open_engine
        with driving(replace(shop.session, open_engine=opens), host=True) as recall:
            recall.needs.shows("dispatcher", "the repository has no commit yet", "E try again")
            recall.calls(recall.app.clear_notifications)
            recall.press("engine").needs.shows("the repository has no commit yet")
            broken.clear()
            recall.press("engine").header.shows("paused")
            recall.needs.hides("no commit")
            recall.press("quit").leaves()
