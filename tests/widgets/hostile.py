"""Every widget, full of text that tries to be more than text. As a program it shows all of them below each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import walk_packages
from typing import ClassVar

from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

import recall_widgets
from recall.domain.conflict import Hunk
from recall_widgets.agent_list import AgentList
from recall_widgets.diff_view import DiffView
from recall_widgets.glyphs import Shown
from recall_widgets.heading import Heading, HeadingFacts
from recall_widgets.hunk_view import HunkShown, HunkView
from recall_widgets.key_bar import KeyBar
from recall_widgets.landed_chart import LandedChart, Landings
from recall_widgets.listing import Listing, ListRow
from recall_widgets.log_view import LogView
from recall_widgets.needs_you import NeedsYou
from recall_widgets.office.people import Column, Office, Parcel, Place, Pose, Worker
from recall_widgets.office.view import OfficeView
from recall_widgets.pane_tabs import PaneTabs
from recall_widgets.queue_view import QueueView
from recall_widgets.rows import AgentRow, BoardRow, HeaderFacts, KeyHint, NeedRow, QueueRow, Why
from recall_widgets.spans import Span
from recall_widgets.status_strip import StatusStrip
from recall_widgets.task_board import TaskBoard
from recall_widgets.task_columns import TaskColumns
from recall_widgets.time_window import TimeWindow
from recall_widgets.timeline import Bar, Lane, TimeAxis, TimelineView
from recall_widgets.titles import entitle
from recall_widgets.why_line import WhyLine
from tests.widgets.stage import HOSTILE, Stage
from tests.widgets.texts import Text

Builder = Callable[[Sequence[str]], Widget]
_WINDOW = TimeWindow(1_750_000_000.0, 60)


def _board_rows(texts: Sequence[str]) -> list[BoardRow]:
    return [
        BoardRow(f"t{text}", "task", Shown.WAITING, text, id=text, detail=text, time=text, type=text)
        for text in texts
    ]


def board(texts: Sequence[str]) -> Widget:
    groups = [BoardRow(f"g{text}", "group", Shown.RUNNING, text, count=1) for text in texts]
    widget = TaskBoard([*groups, *_board_rows(texts)])
    widget.needle = texts[0]
    return widget


def columns(_: Sequence[str]) -> Widget:
    return TaskColumns()


def agents(texts: Sequence[str]) -> Widget:
    return AgentList([AgentRow(text, Shown.COOLING, text, text, text, (0.1, 2.0), 0.5, text, text) for text in texts])


def queue(texts: Sequence[str]) -> Widget:
    return QueueView([QueueRow(text, 1, Shown.LANDING, text, text, text, text, 0.5) for text in texts])


def needs(texts: Sequence[str]) -> Widget:
    return NeedsYou([NeedRow(text, text, text, (KeyHint(text, text),), text) for text in texts])


def listing(texts: Sequence[str]) -> Widget:
    widget = Listing([ListRow(text, (Span(text),), (Span(text),), opens=text) for text in texts])
    widget.mark(texts[0])
    return widget


def strips(texts: Sequence[str]) -> Widget:
    widgets = [StatusStrip() for _ in texts]
    for widget, text in zip(widgets, texts, strict=True):
        widget.show(HeaderFacts(text, text, text, False, text, Shown.HELD, ((1, text),), 3, text))
    return Vertical(*widgets)


def headings(texts: Sequence[str]) -> Widget:
    widgets = [Heading() for _ in texts]
    for widget, text in zip(widgets, texts, strict=True):
        widget.show(HeadingFacts(text, text, Shown.RUNNING, text, text))
    return Vertical(*widgets)


def whys(texts: Sequence[str]) -> Widget:
    widgets = [WhyLine() for _ in texts]
    for widget, text in zip(widgets, texts, strict=True):
        widget.show(Why(text, text, (KeyHint(text, text), KeyHint("?", "help"))))
    return Vertical(*widgets)


def keys(texts: Sequence[str]) -> Widget:
    widget = KeyBar()
    widget.show([KeyHint(text, text) for text in texts], 40)
    return widget


def tabs(texts: Sequence[str]) -> Widget:
    return Vertical(*(PaneTabs([text, text]) for text in texts))


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


def timeline(_: Sequence[str]) -> Widget:
    return TimelineView()


def time_axis(_: Sequence[str]) -> Widget:
    widget = TimeAxis(None)
    widget.show(_WINDOW)
    return widget


def chart(_: Sequence[str]) -> Widget:
    widget = LandedChart()
    widget.show(Landings(_WINDOW, (_WINDOW.begin + 60,)))
    return widget


def office(_: Sequence[str]) -> Widget:
    return OfficeView()


BUILDERS: list[Builder] = [
    board, columns, agents, queue, needs, listing, strips, headings, whys, keys, tabs, log, diff, hunk, timeline,
    time_axis, chart, office,
]  # fmt: skip


def fill(widget: Widget, texts: Sequence[str]) -> None:
    """Show what only a widget on a screen can be shown; its titles too."""
    for text in texts:
        entitle(widget, text, text)
    match widget:
        case TaskColumns():
            widget.set_columns(
                [
                    (BoardRow(f"c{number}", "group", Shown.RUNNING, text, count=1), _board_rows([f"{number}{text}"]))
                    for number, text in enumerate(texts)
                ]
            )
        case TimelineView():
            begin = _WINDOW.begin
            widget.show(
                [Lane(text, text, (Bar(text, begin, begin + 600, Shown.DONE, text),)) for text in texts], begin + 900
            )
        case OfficeView():
            workers = [
                Worker(str(number), text, Place.DESK, Pose.TYPING, Shown.RUNNING, text, text, text, text, text, 1)
                for number, text in enumerate(texts)
            ]
            parcels = [Parcel(str(number), text, Shown.LANDING, text) for number, text in enumerate(texts)]
            board_there = tuple(Column(text, Shown.WAITING, 1, (text,)) for text in texts[:4])
            widget.show(Office(tuple(workers), tuple(parcels), board_there, texts[-4], False, 1, texts[-5]))
        case _:
            pass


@cache
def widget_classes() -> tuple[type[Widget], ...]:
    """Every class of the package that is a widget."""
    modules = [import_module(found.name) for found in walk_packages(recall_widgets.__path__, "recall_widgets.")]
    members = {member for module in modules for _, member in getmembers(module, isclass)}
    ours = {one for one in members if issubclass(one, Widget) and one.__module__.startswith("recall_widgets")}
    return tuple(sorted(ours, key=lambda one: one.__qualname__))


class Everything(Stage):
    """All of them at once, each twenty lines high, and a last line when they are there."""

    CSS = """
    Everything > Screen > * { height: 20; border: solid white; }
    Everything > Screen > Static { height: 1; border: none; }
    """
    BINDINGS: ClassVar = [("q", "quit", "Quit")]

    def on_mount(self) -> None:
        for widget in self.widgets:
            fill(widget, HOSTILE)
        self.call_after_refresh(self.mount, Static("all of it is shown"))


def main() -> None:
    Everything(*(build(HOSTILE) for build in BUILDERS)).run()


if __name__ == "__main__":
    main()
