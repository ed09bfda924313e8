"""How the main screen's panes share the terminal: side by side or one at a time, and whose border is where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from recall.domain.frozen import frozen
from recall.ui.layout import SplitName, Splits
from recall_widgets.pane_tabs import PaneTabs

PaneName: TypeAlias = Literal["tasks", "agents", "queue", "log"]
PANES: tuple[PaneName, ...] = ("tasks", "agents", "queue", "log")
_NAMED: Final[dict[str, PaneName]] = {name: name for name in PANES}
_TABS = ("1 Tasks", "2 Agents", "3 Queue", "4 Log")
_NARROW = 100
_STEP = 5
Axis: TypeAlias = Literal["width", "height"]


@frozen
class _Split:
    """A border between two parts. `first` and `second` are their ids; the share is the first one's."""

    name: SplitName
    first: str
    second: str
    axis: Axis


def pane_named(name: str) -> PaneName | None:
    return _NAMED.get(name)


class Panes(Container):
    """Arranges four widgets, whose ids are the panes' names. Narrow or zoomed it shows one of them, below tabs."""

    class Arranged(Message):
        """The person moved a border, zoomed, or took that back."""

    class Wanted(Message):
        """A tab was clicked: the pane is to have the focus."""

        def __init__(self, pane: PaneName) -> None:
            super().__init__()
            self.pane: PaneName = pane

    def __init__(self, *panes: Widget, splits: Splits, zoomed: str, id: str) -> None:
        super().__init__(id=id)
        self._tasks, self._agents, self._queue, self._log = panes
        self.splits = splits
        self.zoomed = zoomed in PANES
        self._alone: PaneName = pane_named(zoomed) or "tasks"
        self._stacked = False
        self._dragged: _Split | None = None

    def compose(self) -> ComposeResult:
        yield PaneTabs(_TABS, id="tabs")
        with Horizontal(id="upper"):
            yield self._tasks
            with Vertical(id="side"):
                yield self._agents
                yield self._queue
        yield self._log

    def on_mount(self) -> None:
        self._arrange()

    def on_resize(self) -> None:
        self._arrange()

    @property
    def kept_zoom(self) -> str:
        """The pane that is zoomed, or ""."""
        return self._alone if self.zoomed else ""

    @property
    def stacked(self) -> bool:
        """Whether the tasks have the full width, and agents and queue stand side by side below them."""
        return self._stacked

    @stacked.setter
    def stacked(self, stacked: bool) -> None:
        self._stacked = stacked
        self._arrange()

    def pane_of(self, widget: Widget | None) -> PaneName | None:
        """The pane that a widget is, or is in."""
        above = [widget, *widget.ancestors] if widget is not None else []
        return next((name for one in above if (name := pane_named(one.id or ""))), None)

    def show(self, pane: PaneName) -> None:
        """See to it that a pane is in sight."""
        if pane != self._alone:
            self._alone = pane
            self._arrange()

    def zoom(self, pane: PaneName | None) -> None:
        """Give one pane all the room, or take it back."""
        self.zoomed = not self.zoomed
        self._alone = pane or self._alone
        self._arrange()
        self.post_message(self.Arranged())

    def grow(self, pane: PaneName, axis: Axis, by: int) -> None:
        """Move the nearest border of a pane, so that it gets wider or higher by so many steps, or less."""
        for split, sign in self._borders(pane):
            if split.axis == axis:
                self._share(split, self.splits.of(split.name) + sign * by * _STEP)
                self.post_message(self.Arranged())
                return

    def reset(self) -> None:
        self.splits = Splits()
        self._arrange()
        self.post_message(self.Arranged())

    # -- the mouse ---------------------------------------------------------------------------------------------

    def on_mouse_down(self, event: events.MouseDown) -> None:
        split = self._border_at(event.screen_x, event.screen_y)
        if split is not None:
            self._dragged = split
            self.capture_mouse()
            event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragged is not None:
            start, size = self._extent(self._dragged)
            at = event.screen_x if self._dragged.axis == "width" else event.screen_y
            self._share(self._dragged, round(100 * (at + 1 - start) / max(size, 1)))

    def on_mouse_up(self) -> None:
        if self._dragged is not None:
            self._dragged = None
            self.release_mouse()
            self.post_message(self.Arranged())

    @on(PaneTabs.Chosen)
    def _tab_chosen(self, event: PaneTabs.Chosen) -> None:
        event.stop()
        self.post_message(self.Wanted(PANES[event.index]))

    # -- arranging ---------------------------------------------------------------------------------------------

    @property
    def one_at_a_time(self) -> bool:
        return self.zoomed or self.screen.size.width < _NARROW

    def _arrange(self) -> None:
        if not self.is_mounted:
            return
        alone, shown = self.one_at_a_time, self._alone
        for pane in PANES:
            self._put(pane, away=alone and pane != shown)
        self._put("side", away=alone and shown not in ("agents", "queue"))
        self._put("upper", away=alone and shown == "log")
        self.query_one("#upper").styles.layout = "vertical" if self._stacked else "horizontal"
        self.query_one("#side").styles.layout = "horizontal" if self._stacked else "vertical"
        tabs = self.query_one(PaneTabs)
        tabs.display = alone
        tabs.choose(PANES.index(shown))
        self._set_sizes()

    def _put(self, name: str, *, away: bool) -> None:
        self.query_one(f"#{name}").display = not away

    def _set_sizes(self) -> None:
        for split in self._splits():
            share = self.splits.of(split.name)
            for name, part in ((split.first, share), (split.second, 100 - share)):
                styles = self.query_one(f"#{name}").styles
                across, along = (part, 1) if split.axis == "width" else (1, part)
                styles.width, styles.height = f"{across}fr", f"{along}fr"

    def _splits(self) -> tuple[_Split, ...]:
        along: Axis = "height" if self._stacked else "width"
        across: Axis = "width" if self._stacked else "height"
        return (
            _Split("upper", "upper", "log", "height"),
            _Split("columns" if self._stacked else "tasks", "tasks", "side", along),
            _Split("agents", "agents", "queue", across),
        )

    def _borders(self, pane: PaneName) -> Iterator[tuple[_Split, int]]:
        """The borders of a pane from the nearest on, and the sign by which they move when it grows."""
        upper, tasks, agents = self._splits()
        if pane == "log":
            yield upper, -1
            return
        if pane != "tasks":
            yield agents, 1 if pane == "agents" else -1
        yield tasks, 1 if pane == "tasks" else -1
        yield upper, 1

    def _share(self, split: _Split, share: int) -> None:
        _, size = self._extent(split)
        moved = self.splits.moved(split.name, share, size, split.axis)
        if moved != self.splits:
            self.splits = moved
            self._set_sizes()

    def _extent(self, split: _Split) -> tuple[int, int]:
        """Where the two parts of a border begin, and how many cells they have together."""
        both = self._region(split.first).union(self._region(split.second))
        return (both.x, both.width) if split.axis == "width" else (both.y, both.height)

    def _border_at(self, x: int, y: int) -> _Split | None:
        """The border that the mouse is on: the last line of the first part, or the first line of the second."""
        if self.one_at_a_time:
            return None
        for split in self._splits():
            first, second = self._region(split.first), self._region(split.second)
            both = first.union(second)
            at, edge = (x, second.x) if split.axis == "width" else (y, second.y)
            if both.contains(x, y) and at in (edge - 1, edge):
                return split
        return None

    def _region(self, name: str) -> Region:
        return self.query_one(f"#{name}").region
