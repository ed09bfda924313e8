"""The office: engineers at their places, one of them selected. Only what has changed is drawn again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.office.canvas import Canvas, region_of
from recall_widgets.office.letters import LetterCanvas
from recall_widgets.office.people import Office
from recall_widgets.office.room import Level, Spot, at_cell, neighbour, room_for, spots_of
from recall_widgets.office.scene import Look, Scene, Step, Text, place_of_figure, scene_of
from recall_widgets.office.walks import RATE, Walk, cheer, walks_between
from recall_widgets.spans import width_of
from recall_widgets.tones import Palette


class OfficeView(Widget, can_focus=True):
    """`clock` gives seconds for walks. Nothing moves, and no timer runs, unless somebody walks or cheers; with
    Textual's animations off, nobody does."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "go(1, 0)", "Right", show=False, id="office.right"),
        Binding("left,h", "go(-1, 0)", "Left", show=False, id="office.left"),
        Binding("down,j", "go(0, 1)", "Down", show=False, id="office.down"),
        Binding("up,k", "go(0, -1)", "Up", show=False, id="office.up"),
        Binding("tab", "next(1)", "Next", show=False, id="office.next"),
        Binding("shift+tab", "next(-1)", "Previous", show=False, id="office.previous"),
        Binding("pagedown", "page(1)", "Next page", show=False, id="office.page-down"),
        Binding("pageup", "page(-1)", "Previous page", show=False, id="office.page-up"),
        Binding("home,g", "end(0)", "First", show=False, id="office.first"),
        Binding("end,G", "end(-1)", "Last", show=False, id="office.last"),
        Binding("enter", "activate", "Open", show=False, id="list.open"),
    ]

    class Selected(Message):
        """Another engineer is selected, or others are in sight."""

    class Activated(Message):
        """Enter was pressed on an engineer, or it was clicked twice."""

    def __init__(
        self, *, symbols: Symbols = UNICODE, clock: Callable[[], float] = time.monotonic, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self.symbols = symbols
        self.palette = Palette(self)
        self.office = Office()
        self._clock = clock
        self._room = room_for(0, 0, 0)
        self._spots: dict[str, Spot] = {}
        self._scene = Scene()
        self._canvas: Canvas | LetterCanvas | None = None
        self._variables: Mapping[str, str] = {}
        self._strips: dict[int, Strip] = {}
        self._walks: dict[str, Walk] = {}
        self._cheers: dict[str, float] = {}
        self._typed: frozenset[str] = frozenset()
        self._page = 0
        self._cursor = ""
        self._mover: Timer | None = None

    # -- what is shown -----------------------------------------------------------------------------------------
    @property
    def cursor(self) -> str:
        """The selected engineer's key, "" without any."""
        return self._cursor

    @property
    def in_sight(self) -> tuple[int, int]:
        """The first and the last desk of this page, counted from 1."""
        first = self._page * self._room.page_size
        return first + 1, min(first + self._room.page_size, len(self.office.workers))

    @property
    def animates(self) -> bool:
        """Whether anything may move here: not where Textual's animations are off or basic, nor in a list."""
        return self._app.animation_level == "full" and self._room.level is not Level.LIST

    @property
    def is_moving(self) -> bool:
        return self._mover is not None

    def show(self, office: Office, typed: Iterable[str] = ()) -> None:
        """Show the office as it is now. Who is at another place than before walks there; the hands of those in
        `typed`, who put something out, are seen to move."""
        before, places, room = self.office, self._spots, self._room
        if self.animates:
            self._typed ^= frozenset(typed)
        self.office = office
        if office.worker(self._cursor) is None:
            self._cursor = office.workers[0].key if office.workers else ""
        if len(office.workers) != len(before.workers):
            self._furnish()
        else:
            self._spots = spots_of(office, room, self._page)
        if self.animates and room is self._room and before.workers:
            self._walks |= walks_between(before, places, office, self._spots, room, self._clock())
        self._move()

    def cheer(self, keys: Iterable[str]) -> None:
        """Let these be glad for two seconds; where nothing moves, until the next look after those."""
        self._cheers |= dict.fromkeys(keys, self._clock())
        self._move()

    def select(self, key: str) -> None:
        """Put the cursor on an engineer, and its desk in sight."""
        keys = [worker.key for worker in self.office.workers]
        if key not in keys:
            return
        self._cursor = key
        if key not in self._spots:
            self._turn_to(keys.index(key) // self._room.page_size)
        self._draw()
        self.post_message(self.Selected())

    # -- drawing -----------------------------------------------------------------------------------------------
    def render_line(self, y: int) -> Strip:
        canvas = self._canvas
        if canvas is None or y >= self._room.height:
            return Strip.blank(self.size.width, self.palette.base())
        strip = self._strips.get(y)
        if strip is None:
            strip = self._strips[y] = canvas.line(self._scene, y)
        return strip

    def on_resize(self) -> None:
        self._furnish()
        self._move()
        self.post_message(self.Selected())

    def notify_style_update(self) -> None:
        """The focus or the theme is another one."""
        self.palette.forget()
        if self._app.theme_variables is not self._variables:
            self._canvas = None
        self._redraw()
        super().notify_style_update()

    def _furnish(self) -> None:
        """Lay the room out again; everybody is there at once."""
        self._room = room_for(
            self.size.width, self.size.height, len(self.office.workers), largest=1 if self._plain else 2
        )
        self._walks.clear()
        self._canvas = None
        keys = [worker.key for worker in self.office.workers]
        self._page = keys.index(self._cursor) // self._room.page_size if self._cursor in keys else 0
        self._spots = spots_of(self.office, self._room, self._page)

    def _draw(self) -> None:
        """Draw again what is different now."""
        if not self.size:
            return
        room, now = self._room, self._clock()
        look = Look(self._cursor, self._page, self.symbols, self._plain, self._typed, self._steps(now))
        before, self._scene = self._scene, scene_of(self.office, room, self._spots, look)
        if self._canvas is None:
            self._redraw()
            return
        regions = _changed(before, self._scene)
        for region in regions:
            for y in range(region.y, region.bottom):
                self._strips.pop(y, None)
        seen = [region for region in (one.intersection(self.size.region) for one in regions) if region]
        if seen:
            self.refresh(*seen)

    def _redraw(self) -> None:
        self._strips.clear()
        if self.is_attached and self._canvas is None:
            self._variables = self._app.theme_variables
            self._canvas = self._new_canvas()
        self.refresh()

    def _new_canvas(self) -> Canvas | LetterCanvas:
        app = self._app
        if self._plain:
            return LetterCanvas(self._room, self.palette)
        return Canvas(self._room, self.palette, app.theme_variables, dark=app.current_theme.dark)

    @property
    def _plain(self) -> bool:
        """Pixels say nothing without colours, and half a cell is no sign that every terminal has."""
        return self.symbols.plain or self._app.no_color

    def _steps(self, now: float) -> dict[str, Step]:
        """Who is on the way; who arrived is taken off the list."""
        steps: dict[str, Step] = {}
        for key, began in list(self._cheers.items()):
            worker, spot = self.office.worker(key), self._spots.get(key)
            at = place_of_figure(spot, worker, self._room.scale) if worker is not None and spot is not None else None
            step = cheer(at, self._room.scale, now - began, still=not self.animates) if at is not None else None
            if step is not None and self._room.level is not Level.LIST:
                steps[key] = step
            else:
                del self._cheers[key]
        for key, walk in list(self._walks.items()):
            step = walk.step(now)
            if step is not None:
                steps[key] = step
            else:
                del self._walks[key]
        return steps

    def _move(self) -> None:
        """Draw, and go on as long as somebody moves."""
        self._draw()
        moves = self.animates and bool(self._walks or self._cheers)
        if moves and self._mover is None:
            self._mover = self.set_interval(1 / RATE, self._move)
        elif not moves and self._mover is not None:
            self._mover.stop()
            self._mover = None

    @property
    def _app(self) -> App[Any]:
        return self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - Textual leaves it open

    # -- selecting ---------------------------------------------------------------------------------------------
    def action_go(self, dx: int, dy: int) -> None:
        key = neighbour(self._spots, self._cursor, dx, dy)
        if key:
            self.select(key)
        elif dy:
            self.action_page(dy)

    def action_next(self, by: int) -> None:
        keys = [worker.key for worker in self.office.workers]
        if keys:
            self.select(keys[(keys.index(self._cursor) + by) % len(keys)])

    def action_end(self, index: int) -> None:
        if self.office.workers:
            self.select(self.office.workers[index].key)

    def action_page(self, by: int) -> None:
        page = self._page + by
        if 0 <= page < self._room.pages(len(self.office.workers)):
            self._turn_to(page)
            self.select(self.office.workers[page * self._room.page_size].key)

    def action_activate(self) -> None:
        if self._cursor:
            self.post_message(self.Activated())

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        key = at_cell(self._spots, self._room, offset.x, offset.y) if offset is not None else ""
        if key:
            self.select(key)
            if event.chain == 2:
                self.action_activate()

    def on_mouse_scroll_down(self) -> None:
        self.action_page(1)

    def on_mouse_scroll_up(self) -> None:
        self.action_page(-1)

    def _turn_to(self, page: int) -> None:
        self._page = page
        self._walks.clear()
        self._spots = spots_of(self.office, self._room, page)


def _changed(before: Scene, after: Scene) -> list[Region]:
    """Where two scenes differ."""
    pieces = set(before.pieces) ^ set(after.pieces)
    texts = set(before.texts) ^ set(after.texts)
    return [*map(region_of, pieces), *(_region_of_text(text) for text in texts)]


def _region_of_text(text: Text) -> Region:
    return Region(text.x, text.y, max(width_of(text.spans), 1), 1)
