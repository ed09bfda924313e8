"""From a scene to lines of a terminal: two pixels a cell, or letters where those cannot be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Final

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region
from textual.strip import Strip

from recall_widgets.office.palette import GROUNDS, OWN, THEMED, colours
from recall_widgets.office.people import Pose
from recall_widgets.office.room import DOOR_WIDTH, PICTURE_ROWS, Area, Level, Room
from recall_widgets.office.scene import Piece, Scene, Text
from recall_widgets.office.sprites import FURNITURE, Dress, figure
from recall_widgets.spans import width_of
from recall_widgets.tones import Palette

Raster = tuple[tuple[str, ...], ...]
_UPPER: Final = "▀"
#: Pixels of the highest picture at scale 1.
_TALLEST: Final = 12
#: And how much of the wall a window needs, with a gap to the boss.
_WINDOW_WIDTH: Final = 16


def region_of(piece: Piece) -> Region:
    """The cells that a picture touches."""
    rows = raster(piece)
    x = piece.x - _reach(piece)
    top = piece.y // 2
    return Region(x, top, len(rows[0]), (piece.y + len(rows) + 1) // 2 - top)


def raster(piece: Piece) -> Raster:
    """A picture as rows of colours, "" where it lets through what is behind."""
    return _raster(piece.picture, piece.scale, piece.frame, piece.dress)


@cache
def _raster(picture: str, scale: int, frame: int, dress: Dress | None) -> Raster:
    if dress is not None and picture not in FURNITURE:
        rows, _ = figure(Pose(picture), frame, dress.cut)
    else:
        rows = FURNITURE[picture]
    own = _own(dress)
    return tuple(
        tuple(own.get(letter, letter) for letter in row for _ in range(scale)) for row in rows for _ in range(scale)
    )


def _own(dress: Dress | None) -> Mapping[str, str]:
    worn = () if dress is None else (dress.hair, dress.skin, dress.skin, dress.shirt, dress.shirt)
    numbers = dict(zip(OWN, worn, strict=False))
    return {".": "", "s": "s0", "S": "S0", "h": "h0", "t": "t0", "T": "T0"} | {
        letter: f"{letter}{number}" for letter, number in numbers.items()
    }


def _reach(piece: Piece) -> int:
    """How far a picture reaches to the left of its place."""
    if piece.dress is None or piece.picture in FURNITURE:
        return 0
    return figure(Pose(piece.picture), piece.frame, piece.dress.cut)[1] * piece.scale


class Canvas:
    """Draws lines of one room under one theme."""

    def __init__(self, room: Room, palette: Palette, variables: Mapping[str, str], *, dark: bool) -> None:
        self.room = room
        self._palette = palette
        themed = {letter: variables[name] for letter, name in THEMED.items() if name in variables}
        known = {**colours(dark=dark), **themed}
        self._colours: dict[str, RichColor] = {
            letter: Color.parse(value).rich_color for letter, value in known.items()
        }
        self._styles: dict[tuple[str, str], Style] = {}
        self._ground = ground(room, dark=dark)

    def line(self, scene: Scene, y: int) -> Strip:
        """The cells of one line."""
        upper, lower = list(self._ground[2 * y]), list(self._ground[2 * y + 1])
        for piece in scene.pieces:
            if -2 < 2 * y - piece.y < _TALLEST * piece.scale:
                _lay(piece, 2 * y, upper)
                _lay(piece, 2 * y + 1, lower)
        segments: list[Segment] = []
        x = 0
        for text in texts_of(scene, y):
            segments += self._pixels(upper, lower, x, text.x)
            segments += words_of(text, self._palette, self._under(text))
            x = text.x + width_of(text.spans)
        segments += self._pixels(upper, lower, x, self.room.width)
        return Strip(segments).adjust_cell_length(self.room.width)

    def _pixels(self, upper: list[str], lower: list[str], begin: int, end: int) -> Iterator[Segment]:
        for pair, run in groupby(zip(upper[begin:end], lower[begin:end], strict=True)):
            sign = " " if pair[0] == pair[1] else _UPPER
            yield Segment(sign * len(list(run)), self._style(*pair))

    def _style(self, upper: str, lower: str) -> Style:
        style = self._styles.get((upper, lower))
        if style is None:
            ink = None if upper == lower else self._colours[upper]
            style = Style(color=ink, bgcolor=self._colours[lower])
            self._styles[upper, lower] = style
        return style

    def _under(self, text: Text) -> Style:
        """Text has one colour under all of it, so that nothing shows through between its letters: that of the room,
        whoever passes by."""
        row = self._ground[2 * text.y + 1]
        under = text.ground or row[min(text.x, len(row) - 1)]
        return Style(color=self._ink(under), bgcolor=self._colours[under])

    def _ink(self, under: str) -> RichColor | None:
        colour = GROUNDS.get(under)
        return Color.parse(colour).rich_color if colour else self._palette.base().color


def _lay(piece: Piece, y: int, row: list[str]) -> None:
    rows = raster(piece)
    at = y - piece.y
    if not 0 <= at < len(rows):
        return
    x = piece.x - _reach(piece)
    width = len(row)
    for offset, colour in enumerate(rows[at]):
        if colour and 0 <= x + offset < width:
            row[x + offset] = colour


def texts_of(scene: Scene, y: int) -> Iterator[Text]:
    """The texts of a line from the left; one that another one would cover is left out."""
    x = 0
    for text in sorted((text for text in scene.texts if text.y == y), key=lambda text: text.x):
        if text.x >= x:
            yield text
            x = text.x + width_of(text.spans)


def words_of(text: Text, palette: Palette, base: Style) -> Iterator[Segment]:
    if text.whole:
        base += palette[text.whole]
    for span in text.spans:
        if span.text:
            yield Segment(span.text, base + (palette[span.tone] if isinstance(span.tone, str) else span.tone))


# -- what never moves --------------------------------------------------------------------------------------------
def ground(room: Room, *, dark: bool) -> list[list[str]]:
    """Walls, floor, and what stands there whoever is in: rows of pixels."""
    rows = [["F"] * room.width for _ in range(2 * room.height)]
    if room.level is not Level.ROOM:
        return rows
    _fill(rows, Area(0, 0, room.width, 2 * room.wall), "W")
    _fill(rows, Area(0, 2 * room.wall - 1, room.width, 1), "B")
    board = room.board
    _fill(rows, Area(board.x, 2 * board.y + 1, board.width, 2 * board.height - 2), "k")
    _fill(rows, Area(board.x + 1, 2 * board.y + 2, board.width - 2, 2 * board.height - 4), "C")
    for piece in _fixtures(room, dark=dark):
        _stamp(rows, piece)
    if room.seats:
        top, end = room.seats[0].y, room.seats[-1].y + PICTURE_ROWS * room.scale + room.lines
        _fill(rows, Area(room.seats[0].x - 1, 2 * top, room.width, 2 * (end - top)), "R")
    belt = room.belt
    bottom = 2 * (belt.y + belt.height)
    _fill(rows, Area(0, bottom - 3, belt.width - DOOR_WIDTH + 3, 1), "y")
    _fill(rows, Area(0, bottom - 2, belt.width - DOOR_WIDTH + 3, 1), "Y")
    for x in range(0, belt.width - DOOR_WIDTH + 3, 4):
        _fill(rows, Area(x, bottom - 2, 2, 1), "y")
    door = Area(belt.width - DOOR_WIDTH + 1, 2 * belt.y + 2, DOOR_WIDTH - 2, 2 * belt.height - 3)
    _fill(rows, door, "D")
    _fill(rows, Area(door.x + 1, door.y + 1, door.width - 2, door.height - 1), "q")
    return rows


def _fixtures(room: Room, *, dark: bool) -> Iterable[Piece]:
    boss, window = room.boss, "night" if dark else "day"
    for scale in (room.scale, 1):
        x = boss.x - _WINDOW_WIDTH * scale
        if x > room.board.x + room.board.width:
            yield Piece(window, x, 1, scale)
            break
    yield Piece("boss", boss.x, 2 * boss.y, room.scale)


def _fill(rows: list[list[str]], area: Area, colour: str) -> None:
    for row in rows[max(area.y, 0) : max(area.y + area.height, 0)]:
        for x in range(max(area.x, 0), min(area.x + area.width, len(row))):
            row[x] = colour


def _stamp(rows: list[list[str]], piece: Piece) -> None:
    for y, line in enumerate(raster(piece), piece.y):
        for x, colour in enumerate(line, piece.x):
            if colour and 0 <= y < len(rows) and 0 <= x < len(rows[y]):
                rows[y][x] = colour
