"""How the office is laid out in so many cells: pure geometry.

A cell is one pixel wide and two high. Places are the upper left cells of what stands there.
"""

from __future__ import annotations

from enum import StrEnum
from math import log
from typing import Final, NamedTuple

from recall.domain.frozen import frozen
from recall_widgets.office.people import Office, Place

#: Cells that a place takes at scale 1: a desk or a seat, and a place in the line before the boss.
STATION_WIDTH, PICTURE_ROWS, LINE_WIDTH = 20, 6, 11
BOSS_WIDTH: Final = 22
BELT_ROWS, DOOR_WIDTH = 5, 14
PARCEL_WIDTH: Final = 18
#: From this size on there is a whole room, below the other one only a list.
WHOLE, LEAST = (100, 27), (60, 17)
#: At scale 1: how wide a place may be, how many lines may be free below it; its width to its height, in pixels.
_WIDEST, _MOST_GAP, _SHAPE = 40, 4, 1.4
_MOST_BOARD_ROWS: Final = 10
_LEAST_BOARD: Final = 42


class Level(StrEnum):
    """How much there is room for."""

    LIST = "list"
    DESKS = "desks"
    ROOM = "room"


class Cell(NamedTuple):
    x: int
    y: int


class Area(NamedTuple):
    x: int
    y: int
    width: int
    height: int


class Spot(NamedTuple):
    """Where a worker is on this page: the furniture there, and its upper left cell."""

    place: Place
    x: int
    y: int


@frozen
class Room:
    """`desks` are the places of one page, `seats` and `line` are there on every page; the first of the line is next.
    `span` is how wide a desk's label may be, `lines` how many it has. Without a room, `board`, `boss` and `belt` are
    empty areas."""

    level: Level
    width: int
    height: int
    scale: int = 1
    lines: int = 1
    span: int = STATION_WIDTH
    desks: tuple[Cell, ...] = ()
    seats: tuple[Cell, ...] = ()
    line: tuple[Cell, ...] = ()
    board: Area = Area(0, 0, 0, 0)
    boss: Area = Area(0, 0, 0, 0)
    belt: Area = Area(0, 0, 0, 0)
    wall: int = 0

    @property
    def page_size(self) -> int:
        return max(len(self.desks), 1)

    def pages(self, count: int) -> int:
        return max(-(-count // self.page_size), 1)


def room_for(width: int, height: int, count: int, *, largest: int = 2) -> Room:
    """Lay out an office of so many engineers: as large as everything fits, up to a scale, else as much as there is
    room for."""
    if width < LEAST[0] or height < LEAST[1]:
        rows = tuple(Cell(0, y) for y in range(max(height, 0)))
        return Room(Level.LIST, width, height, span=width, desks=rows)
    if width < WHOLE[0] or height < WHOLE[1]:
        return _desks(width, height, count)
    for scale, lines in ((2, 2), (1, 2)):
        room = _whole(width, height, count, scale, lines)
        if scale <= largest and len(room.desks) >= count:
            return room
    return _whole(width, height, count, 1, 1)


def _desks(width: int, height: int, count: int) -> Room:
    """Desks only; where they leave two lines, board and belt are a line each."""
    spare = Area(0, 1, width, height - 2)
    for area, lines in ((spare, 2), (spare, 1), (Area(0, 0, width, height), 1)):
        grid = _grid(area, count, 1, lines)
        if len(grid.cells) >= count or area is not spare:
            break
    edge = 1 if area is spare else 0
    return Room(
        Level.DESKS, width, height, lines=lines, span=grid.span, desks=grid.cells,
        board=Area(0, 0, width, edge), belt=Area(0, height - 1, width, edge),
    )  # fmt: skip


def _whole(width: int, height: int, count: int, scale: int, lines: int) -> Room:
    picture = PICTURE_ROWS * scale
    seat_columns = 1 if width < 120 * scale else 2
    lounge = seat_columns * STATION_WIDTH * scale
    least = picture + 2
    spare = height - least - BELT_ROWS - _rows_for(count, width - lounge, scale) * (picture + lines)
    strip = least + min(max(spare // 2, 0), _MOST_BOARD_ROWS - least) if least < _MOST_BOARD_ROWS else least
    grid = _grid(Area(0, strip, width - lounge, height - BELT_ROWS - strip), count, scale, lines)
    seats = tuple(
        Cell(width - lounge + column * STATION_WIDTH * scale, y)
        for y in sorted({cell.y for cell in grid.cells})
        for column in range(seat_columns)
    )
    boss = Area(width - BOSS_WIDTH * scale, strip - picture - 1, BOSS_WIDTH * scale, picture)
    room_for_line = (boss.x - max(_LEAST_BOARD, 3 * width // 8)) // (LINE_WIDTH * scale)
    places = max(min(3 + (width - WHOLE[0]) // 40, room_for_line), 1)
    line = tuple(Cell(boss.x - (number + 1) * LINE_WIDTH * scale, boss.y) for number in range(places))
    board = Area(1, 0, line[-1].x - 3, strip - 1)
    return Room(
        Level.ROOM, width, height, scale, lines, grid.span, grid.cells, seats, line, board, boss,
        Area(0, height - BELT_ROWS, width, BELT_ROWS), strip - 3 * scale,
    )  # fmt: skip


class _Grid(NamedTuple):
    cells: tuple[Cell, ...]
    span: int


def _rows_for(count: int, width: int, scale: int) -> int:
    """The fewest rows of desks for so many."""
    return -(-max(count, 1) // max(width // (STATION_WIDTH * scale), 1))


def _grid(area: Area, count: int, scale: int, lines: int) -> _Grid:
    """Spread as many stations as are wanted, or fit, evenly over an area."""
    count = max(count, 1)
    least = PICTURE_ROWS * scale + lines
    most_columns, most_rows = max(area.width // (STATION_WIDTH * scale), 1), max(area.height // least, 1)
    ways = [(columns, rows) for columns in range(1, most_columns + 1) if (rows := -(-count // columns)) <= most_rows]
    columns, rows = min(ways, key=lambda way: _badness(area, count, *way), default=(most_columns, most_rows))
    width = min(area.width // columns, _WIDEST * scale)
    pitch = min(area.height // rows, least + _MOST_GAP * scale)
    top = area.y + max((area.height - rows * pitch) // 2, 0)
    left = area.x + (width - STATION_WIDTH * scale) // 2
    cells = [Cell(left + column * width, top + row * pitch) for row in range(rows) for column in range(columns)]
    return _Grid(tuple(cells[:count]), width - (left - area.x))


def _badness(area: Area, count: int, columns: int, rows: int) -> float:
    """How far the places of a grid are from the shape of a desk, and how many of them are empty."""
    shape = (area.width / columns) / (2 * area.height / rows)
    return abs(log(shape / _SHAPE)) + 0.1 * (columns * rows - count)


def spots_of(office: Office, room: Room, page: int = 0) -> dict[str, Spot]:
    """Give everybody in sight a place. Who finds no seat, or no place in the line, stays at the own desk; a desk that
    is on another page is out of sight."""
    spots: dict[str, Spot] = {}
    waiting = sorted((one for one in office.workers if one.place is Place.QUEUE), key=lambda one: one.since)
    resting = (one for one in office.workers if one.place is Place.SOFA)
    for workers, cells in ((waiting, room.line), (resting, room.seats)):
        spots |= {one.key: Spot(one.place, *cell) for one, cell in zip(workers, cells, strict=False)}
    first = page * room.page_size
    for worker, cell in zip(office.workers[first:], room.desks, strict=False):
        spots.setdefault(worker.key, Spot(Place.DESK, *cell))
    return spots


def neighbour(spots: dict[str, Spot], key: str, dx: int, dy: int) -> str:
    """The nearest one in a direction, "" if there is none: across counts three times as much as along."""
    here = spots.get(key)
    if here is None:
        return next(iter(spots), "")
    found = [
        (along + 3 * across, other)
        for other, spot in spots.items()
        if (along := (spot.x - here.x) * dx + (spot.y - here.y) * dy * 2) > 0
        if (across := abs(spot.x - here.x) if dy else abs(spot.y - here.y) * 2) <= 3 * along
    ]
    return min(found)[1] if found else ""


def at_cell(spots: dict[str, Spot], room: Room, x: int, y: int) -> str:
    """Whose place a cell belongs to, "" nobody's."""
    height = PICTURE_ROWS * room.scale + room.lines if room.level is not Level.LIST else 1
    for key, spot in spots.items():
        width = LINE_WIDTH * room.scale if spot.place is Place.QUEUE else room.span
        if spot.x <= x < spot.x + width and spot.y <= y < spot.y + height:
            return key
    return ""
