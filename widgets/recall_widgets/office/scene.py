"""What is drawn where at one moment: pictures in pixels and texts in cells. Pure; two scenes are compared to find out
what is to be drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from recall.domain.frozen import frozen
from recall_widgets.glyphs import GLYPHS, UNICODE, Shown, Symbols
from recall_widgets.office.people import Column, Office, Parcel, Place, Pose, Worker
from recall_widgets.office.room import (
    BELT_ROWS,
    DOOR_WIDTH,
    LINE_WIDTH,
    PARCEL_WIDTH,
    PICTURE_ROWS,
    STATION_WIDTH,
    Level,
    Room,
    Spot,
)
from recall_widgets.office.sprites import Dress, dress_of
from recall_widgets.spans import Span, beside, cleaned, clip, fit, shown, width_of

#: Where the engineer is within its place, in pixels at scale 1.
_FIGURE_X: Final = {Place.DESK: 1, Place.SOFA: 6, Place.QUEUE: 1}
_SCREEN_X, _SCREEN_WIDTH = 9, 9
_LIT: Final = frozenset({Pose.TYPING, Pose.ARRIVING, Pose.HANDING_IN})
_LEAST_COLUMN: Final = 9
_BOX: Final = 12


class Step(NamedTuple):
    """Somebody on the way: the upper left pixel."""

    x: int
    y: int
    pose: Pose
    frame: int


@frozen
class Look:
    """How the office is looked at. `typed` are those whose hands are seen in the other position; `steps` are those
    on their way, or with arms in the air, and by their cells what moves on the belt."""

    selected: str = ""
    page: int = 0
    symbols: Symbols = UNICODE
    plain: bool = False
    typed: frozenset[str] = frozenset()
    steps: Mapping[str, Step] = field(default_factory=dict[str, Step])


class Piece(NamedTuple):
    """A picture by its upper left pixel. With a `dress` it is an engineer in a pose, else furniture by its name."""

    picture: str
    x: int
    y: int
    scale: int = 1
    frame: int = 0
    dress: Dress | None = None


class Text(NamedTuple):
    """Text in the cells from `x` on. `ground` is the colour that it stands on, "" for whatever is there; `whole` is a
    tone that lies under it."""

    x: int
    y: int
    spans: tuple[Span, ...]
    ground: str = ""
    whole: str = ""


@frozen
class Scene:
    """What lies further back comes first."""

    pieces: tuple[Piece, ...] = ()
    texts: tuple[Text, ...] = ()


def scene_of(office: Office, room: Room, spots: Mapping[str, Spot], look: Look) -> Scene:
    if room.level is Level.LIST:
        return Scene(texts=tuple(_rows(office, room, spots, look)))
    texts = (
        [] if office.workers else [_text(2, room.height // 2, [Span(office.empty, "muted")], room.width - 4, look)]
    )
    pieces: list[Piece] = []
    in_front: list[Piece] = []
    first = look.page * room.page_size
    for worker, cell in zip(office.workers[first:], room.desks, strict=False):
        spot = spots[worker.key]
        seated_elsewhere = spot.place is not Place.DESK
        pieces += _furniture(worker, Spot(Place.DESK, *cell), room, look, empty=seated_elsewhere)
        if seated_elsewhere:
            name = [Span(f"  {shown(worker.name)}", "muted"), Span("  away", "muted")]
            texts.append(_text(cell.x, cell.y + PICTURE_ROWS * room.scale, name, room.span - 1, look))
    for worker in office.workers:
        spot = spots.get(worker.key)
        if spot is not None:
            in_front += _figure(worker, spot, room, look)
            texts += _labels(worker, spot, room, look)
    if room.level is Level.ROOM:
        pieces += _lounge(spots, room)
        texts += [*_board(office.board, room, look), *_boss(office, room, look)]
        boxes = list(_belt(office, room, look))
        pieces += [box for box in boxes if isinstance(box, Piece)]
        texts += [box for box in boxes if isinstance(box, Text)]
    elif room.board.height:
        texts += [*_board_line(office, room, look), *_belt_line(office, room, look)]
    return Scene((*pieces, *in_front), tuple(texts))


# -- engineers -------------------------------------------------------------------------------------------------
def _furniture(worker: Worker, spot: Spot, room: Room, look: Look, *, empty: bool) -> Iterator[Piece]:
    """What stands at a desk, all of it behind the engineer but for the edge of the desk."""
    x, y, scale = spot.x, 2 * spot.y, room.scale
    if not empty and worker.place is Place.SOFA:
        yield Piece("sofa", x, y, scale)
        return
    lit = not empty and worker.pose in _LIT
    if empty:
        yield Piece("chair", x + scale, y + 5 * scale, scale)
    yield Piece("screen-on" if lit else "screen-off", x, y, scale)
    if lit:
        yield Piece("code-2" if worker.key in look.typed else "code", x + _SCREEN_X * scale, y + 4 * scale, scale)
    yield Piece("desk", x, y, scale)


def _lounge(spots: Mapping[str, Spot], room: Room) -> Iterator[Piece]:
    """The sofas that are used, but one row of them at least; a lamp and a plant where there is room for them."""
    used = sum(spot.place is Place.SOFA for spot in spots.values())
    row = sum(cell.y == room.seats[0].y for cell in room.seats)
    sofas = max(-(-used // row), 1) * row
    yield from (Piece("sofa", cell.x, 2 * cell.y, room.scale) for cell in room.seats[:sofas])
    free = room.seats[sofas:]
    if free:
        yield Piece("lamp", free[0].x + 2 * room.scale, 2 * free[0].y, room.scale)
        yield Piece("plant", free[row - 1].x + 11 * room.scale, 2 * free[0].y + 3 * room.scale, room.scale)


def place_of_figure(spot: Spot, worker: Worker, scale: int) -> tuple[int, int]:
    """The upper left pixel of an engineer at its place."""
    place = Place.SOFA if worker.place is Place.SOFA else spot.place
    return spot.x + _FIGURE_X[place] * scale, 2 * spot.y


def _figure(worker: Worker, spot: Spot, room: Room, look: Look) -> Iterator[Piece]:
    x, y = place_of_figure(spot, worker, room.scale)
    dress, scale = dress_of(worker.name), room.scale
    step = look.steps.get(worker.key)
    if step is not None:
        yield Piece(step.pose, step.x, step.y, scale, step.frame, dress)
        return
    yield Piece(worker.pose, x, y, scale, 0, dress)
    if worker.pose is Pose.TYPING:
        hands = "hands-2" if worker.key in look.typed else "hands"
        yield Piece(hands, x, y + 8 * scale, scale, 0, dress)


def _labels(worker: Worker, spot: Spot, room: Room, look: Look) -> Iterator[Text]:
    width = STATION_WIDTH * room.scale - 1
    bottom = spot.y + PICTURE_ROWS * room.scale
    chosen = "cursor" if worker.key == look.selected else ""
    glyph = GLYPHS[worker.state]
    mark = look.symbols.folded if chosen else " "
    left = [
        Span(mark, "strong"),
        Span(look.symbols.glyph(worker.state) + " ", glyph.tone),
        Span(worker.name, "strong"),
    ]
    if spot.place is Place.QUEUE:
        yield Text(spot.x, bottom, tuple(_fitted(left, LINE_WIDTH * room.scale - 1, look)), "", chosen)
    else:
        right = [_fact(worker, look)]
        yield Text(spot.x, bottom, tuple(beside(left, right, width, look.symbols.ellipsis, 8)), "", chosen)
        if room.lines > 1:
            words = f"  {worker.what or worker.word}"
            room_for_words = room.span - 1 if spot.place is Place.DESK else width
            yield Text(spot.x, bottom + 1, tuple(_fitted([Span(words, "muted")], room_for_words, look)))
    if worker.badge and spot.place is not Place.QUEUE:
        flag = look.symbols.glyph(Shown.NEEDS_YOU) + (str(worker.badge) if worker.badge > 1 else "")
        yield Text(spot.x, spot.y, (Span(flag, "needs-you"),))
    if worker.pose is Pose.DOZING and not look.plain and worker.key not in look.steps:
        x, _ = place_of_figure(spot, worker, room.scale)
        yield Text(x + 8 * room.scale, spot.y, (Span("z z", "cool"),))
    if spot.place is Place.DESK and worker.pose in _LIT:
        yield from _on_screen(worker, spot, room, look)


def _fact(worker: Worker, look: Look) -> Span:
    step = look.steps.get(worker.key)
    if step is not None and step.pose is Pose.CHEERING:
        return Span("landed", "good")
    return Span(worker.time or worker.word, "" if worker.state is Shown.RUNNING else GLYPHS[worker.state].tone)


def _on_screen(worker: Worker, spot: Spot, room: Room, look: Look) -> Iterator[Text]:
    x, y, width = spot.x + _SCREEN_X * room.scale, spot.y + room.scale, _SCREEN_WIDTH * room.scale
    lines = [(worker.screen, "strong"), (worker.what, "")] if room.scale > 1 else [(worker.screen, "strong")]
    for number, (words, tone) in enumerate(lines):
        text = clip(shown(words), width - (2 if room.scale > 1 else 0), look.symbols.ellipsis)
        if text:
            yield Text(x + (width - width_of([Span(text)])) // 2, y + number, (Span(text, tone),), "n")


# -- walls and belt --------------------------------------------------------------------------------------------
def _board(columns: Sequence[Column], room: Room, look: Look) -> Iterator[Text]:
    """As many columns as there is room for, each as wide as its heading needs."""
    area = room.board
    inner = area.width - 3
    titles = [_title(column, look) for column in columns]
    widths = [max(width_of(title), _LEAST_COLUMN) + 1 for title in titles]
    count = next((n for n in range(len(widths), 0, -1) if sum(widths[:n]) <= inner), min(1, len(widths)))
    spare = (inner - sum(widths[:count])) // count if count else 0
    x = area.x + 2
    for column, title, needed in zip(columns[:count], titles, widths, strict=False):
        width = needed + min(spare, 8)
        yield Text(x, area.y + 1, tuple(_fitted(title, width - 1, look)), "C")
        rows = area.height - 3
        ids = list(column.ids[:rows])
        if column.count > len(ids) and len(ids) == rows:
            ids[-1:] = [f"+{column.count - rows + 1} more"]
        for row, id_ in enumerate(ids, 2):
            yield Text(x, area.y + row, tuple(_fitted([Span(id_, "muted")], width - 1, look)), "C")
        x += width


def _title(column: Column, look: Look) -> list[Span]:
    sign = f"{look.symbols.glyph(column.state)} {column.count} "
    return [Span(sign, GLYPHS[column.state].tone), Span(column.title)]


def _board_line(office: Office, room: Room, look: Look) -> Iterator[Text]:
    spans = [span for column in office.board for span in (*_title(column, look), Span("   "))]
    yield _text(1, room.board.y, spans, room.width - 1, look)


def _belt_line(office: Office, room: Room, look: Look) -> Iterator[Text]:
    spans = [*_sign(office, look), Span("  ")]
    for parcel in office.parcels:
        spans.append(Span(f" {look.symbols.glyph(parcel.state)} ", GLYPHS[parcel.state].tone))
        spans += [Span(parcel.id, "strong"), Span(f" {parcel.doing}  ", "muted")]
    yield _text(1, room.belt.y, spans, room.width - 1, look)


def _sign(office: Office, look: Look) -> list[Span]:
    tone, glyph = {True: ("good", Shown.DONE), False: ("bad", Shown.FAILED), None: ("muted", None)}[office.green]
    return [Span((look.symbols.glyph(glyph) + " " if glyph is not None else "") + office.main, tone)]


def _boss(office: Office, room: Room, look: Look) -> Iterator[Text]:
    area = room.boss
    words = f"{look.symbols.glyph(Shown.NEEDS_YOU)} {office.waits} for you" if office.waits else "you"
    x = area.x + (area.width - width_of([Span(words)])) // 2
    yield Text(x, area.y + 5 * room.scale, (Span(words, "strong"),), "D")


def _belt(office: Office, room: Room, look: Look) -> Iterator[Piece | Text]:
    area = room.belt
    yield Text(area.width - DOOR_WIDTH + 2, area.y, tuple(_fitted(_sign(office, look), DOOR_WIDTH - 3, look)))
    places = max((area.width - DOOR_WIDTH - 12) // PARCEL_WIDTH, 1)
    if not office.parcels:
        yield Text(2, area.y + 2, (Span("nothing is on its way", "muted"),))
    for number, parcel in enumerate(office.parcels[:places]):
        step = look.steps.get(parcel.key)
        yield from _parcel(parcel, parcel_place(room, number) if step is None else (step.x, step.y), look)
    if len(office.parcels) > places:
        yield Text(1, area.y + 2, (Span(f"{len(office.parcels) - places} more", "muted"),))


def parcel_place(room: Room, number: int) -> tuple[int, int]:
    """The upper left cell of what is so far from the door, counted from 0."""
    return room.belt.width - DOOR_WIDTH - (number + 1) * PARCEL_WIDTH, room.belt.y + BELT_ROWS - 3


def _parcel(parcel: Parcel, place: tuple[int, int], look: Look) -> Iterator[Piece | Text]:
    x, y = place
    yield Piece("box", x, 2 * y)
    glyph = GLYPHS[parcel.state]
    words = [Span(look.symbols.glyph(parcel.state) + " ", glyph.tone), Span(parcel.doing, "muted")]
    yield Text(x, y - 1, tuple(_fitted(words, PARCEL_WIDTH - 1, look)))
    name = clip(shown(parcel.id), _BOX - 2, look.symbols.ellipsis)
    yield Text(x + 1, y, (Span(name, "strong"),), "x")


# -- a list ----------------------------------------------------------------------------------------------------
def _rows(office: Office, room: Room, spots: Mapping[str, Spot], look: Look) -> Iterator[Text]:
    if not office.workers:
        yield _text(0, 0, [Span(office.empty, "muted")], room.width, look)
    for worker in office.workers:
        spot = spots.get(worker.key)
        if spot is None or spot.place is not Place.DESK:
            continue
        glyph = GLYPHS[worker.state]
        left = [
            Span(f"{look.symbols.glyph(worker.state)} ", glyph.tone),
            Span(worker.name, "strong"),
            Span(f"  {worker.word}", glyph.tone),
            Span(f"  {worker.screen} {worker.what}".rstrip()),
        ]
        if worker.badge:
            left.insert(2, Span(f" {look.symbols.glyph(Shown.NEEDS_YOU)}", "needs-you"))
        line = beside(left, [Span(worker.time)], room.width, look.symbols.ellipsis)
        yield Text(0, spot.y, tuple(line), "", "cursor" if worker.key == look.selected else "")


def _text(x: int, y: int, spans: Sequence[Span], width: int, look: Look) -> Text:
    return Text(x, y, tuple(_fitted(spans, width, look)))


def _fitted(spans: Sequence[Span], width: int, look: Look) -> list[Span]:
    return fit(cleaned(spans), max(width, 0), look.symbols.ellipsis)
