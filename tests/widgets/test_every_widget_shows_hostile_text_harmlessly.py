"""No text from outside can crash a widget, press a key for its reader, or command the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.widget import Widget

from recall.domain.conflict import Hunk
from recall_widgets.agent_list import AgentList
from recall_widgets.diff_view import DiffView
from recall_widgets.glyphs import Shown
from recall_widgets.hunk_view import HunkShown, HunkView
from recall_widgets.log_view import LogView
from recall_widgets.needs_you import NeedsYou
from recall_widgets.queue_view import QueueView
from recall_widgets.rows import AgentRow, BoardRow, HeaderFacts, KeyHint, NeedRow, QueueRow, Why
from recall_widgets.status_strip import StatusStrip
from recall_widgets.task_board import TaskBoard
from recall_widgets.titles import entitle
from recall_widgets.why_line import WhyLine
from tests.support.pilot import SIZES, run_app, screen_lines
from tests.widgets.stage import HOSTILE, Stage, assert_harmless
from tests.widgets.texts import Text


def board(texts: Sequence[str]) -> Widget:
    rows = [BoardRow(f"g{text}", "group", Shown.RUNNING, text, count=1) for text in texts]
    rows += [
        BoardRow(f"t{text}", "task", Shown.WAITING, text, id=text, detail=text, time=text, type=text)
        for text in texts
    ]
    widget = TaskBoard(rows)
    widget.needle = texts[0]
    return widget


def agents(texts: Sequence[str]) -> Widget:
    return AgentList([AgentRow(text, Shown.COOLING, text, text, text, (0.1, 2.0), 0.5, text, text) for text in texts])


def queue(texts: Sequence[str]) -> Widget:
    return QueueView([QueueRow(text, 1, Shown.LANDING, text, text, text, text, 0.5) for text in texts])


def needs(texts: Sequence[str]) -> Widget:
    return NeedsYou([NeedRow(text, text, text, (KeyHint(text, text),), text) for text in texts])


def strips(texts: Sequence[str]) -> Widget:
    widgets = [StatusStrip() for _ in texts]
    for widget, text in zip(widgets, texts, strict=True):
        widget.show(HeaderFacts(text, text, text, False, text, Shown.HELD, ((1, text),), 3, text))
    return Vertical(*widgets)


def whys(texts: Sequence[str]) -> Widget:
    widgets = [WhyLine() for _ in texts]
    for widget, text in zip(widgets, texts, strict=True):
        widget.show(Why(text, text, (KeyHint(text, text), KeyHint("?", "help"))))
    return Vertical(*widgets)


def log(texts: Sequence[str]) -> Widget:
    source = Text("\n".join(texts).encode("utf-8", "surrogatepass") + b"\n\xff\n")
    widget = LogView()
    widget.show(source.read, len(source.data))
    return widget


def diff(texts: Sequence[str]) -> Widget:
    widget = DiffView()
    files = [f"diff --git a/{text} b/{text}\n@@ -1,2 +1,2 @@ {text}\n-{text}\n+{text}\n {text}" for text in texts]
    widget.show("\n".join(files))
    return widget


def hunk(texts: Sequence[str]) -> Widget:
    data = "\n".join(texts).encode()
    widget = HunkView()
    widget.show(HunkShown(Hunk(data, b"base\n", data, 1, 1), texts[0], texts[-1], data, texts[0]))
    return widget


BUILDERS = [board, agents, queue, needs, strips, whys, log, diff, hunk]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("build", BUILDERS)
def test_hostile_text_is_only_text(build: Callable[[Sequence[str]], Widget], size: tuple[int, int]) -> None:
    widget = build(HOSTILE)

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        for text in HOSTILE:
            entitle(widget, text, text)
        for end in (widget.scroll_home, widget.scroll_end):
            end(animate=False)
            await pilot.pause()
            assert_harmless(screen_lines(app))
            await pilot.click(offset=(3, min(3, size[1] - 1)), times=2)
        assert app.is_running

    run_app(Stage(widget), size, body)


@pytest.mark.parametrize("build", BUILDERS)
def test_no_widget_hides_a_part_of_textual(build: Callable[[Sequence[str]], Widget]) -> None:
    widget = build(["x"])
    theirs = next(cls for cls in type(widget).__mro__ if not cls.__module__.startswith("recall"))
    known = {*dir(theirs), *vars(Vertical())}
    assert not (set(vars(widget)) - set(vars(Vertical()))) & known


def test_a_tasks_text_cannot_press_a_key() -> None:
    widget = board(["[@click=app.quit]press[/]"])

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        await pilot.click(widget, offset=(6, 1))
        await pilot.pause()
        assert app.is_running
        assert any("[@click=app.quit]press[/]" in line for line in screen_lines(app))

    run_app(Stage(widget), (120, 40), body)
