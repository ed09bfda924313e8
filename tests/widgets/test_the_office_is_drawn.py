"""The office: laid out in any size, drawn in pixels or letters, moved only when somebody has a way to go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from textual.color import Color
from textual.pilot import Pilot

from recall_styles import THEMES
from recall_styles.themes import contrast
from recall_widgets.glyphs import ASCII, UNICODE, Shown, Symbols
from recall_widgets.office.canvas import Canvas, ground, raster
from recall_widgets.office.palette import GROUNDS, THEMED, colours
from recall_widgets.office.people import Column, Office, Parcel, Place, Pose, Worker
from recall_widgets.office.room import PICTURE_ROWS, Level, Room, at_cell, neighbour, room_for, spots_of
from recall_widgets.office.scene import Look, Piece, Step, scene_of
from recall_widgets.office.sprites import FURNITURE, dress_of, figure, frames_of
from recall_widgets.office.view import OfficeView
from recall_widgets.office.walks import CHEER_SECONDS, cheer, walks_between
from recall_widgets.spans import width_of
from tests.support.pilot import NARROW, SIZES, TINY, WIDE, run_app, screen_lines
from tests.widgets.stage import HOSTILE, Stage, assert_harmless

LARGE = (200, 60)
PLACES = (
    (Place.DESK, Pose.TYPING, Shown.RUNNING), (Place.DESK, Pose.IDLE, Shown.READY),
    (Place.DESK, Pose.ARRIVING, Shown.RUNNING), (Place.DESK, Pose.HANDING_IN, Shown.LANDING),
    (Place.SOFA, Pose.DOZING, Shown.COOLING), (Place.SOFA, Pose.RESTING, Shown.HELD),
    (Place.QUEUE, Pose.WAITING, Shown.NEEDS_YOU),
)  # fmt: skip


def _worker(number: int, place: Place = Place.DESK, pose: Pose = Pose.IDLE, **more: Any) -> Worker:
    return Worker(f"agent:{number}", f"a{number}", place, pose, more.pop("state", Shown.READY), "word", **more)


def _crowd(count: int, name: Callable[[int], str] = "a{}".format) -> Office:
    """So many, in every place and pose in turn, with boxes on the belt and a full board."""
    workers = [
        Worker(
            f"agent:{at}", name(at), place, pose, state, pose.value, "12:04" if pose is Pose.TYPING else "",
            f"run:{at}" if pose is Pose.TYPING else "", f"T-{at}", f"Task {at}", badge=at % 3, since=float(at),
        )
        for at in range(count)
        for place, pose, state in [PLACES[at % len(PLACES)]]
    ]  # fmt: skip
    parcels = tuple(Parcel(f"merge:{at}", f"T-{at}", Shown.LANDING, "verifying pytest -q") for at in range(12))
    board = tuple(Column(state.value, state, 31, tuple(f"T-{at}" for at in range(16))) for state in Shown)
    return Office(tuple(workers), parcels, board, green=True, waits=2)


# -- layout ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [0, 1, 5, 12, 40])
@pytest.mark.parametrize(
    "size", [(0, 0), TINY, (60, 17), (80, 21), (99, 26), (100, 27), (120, 37), (200, 57), (300, 20)]
)
def test_every_place_lies_in_the_room_and_none_on_another(size: tuple[int, int], count: int) -> None:
    room = room_for(*size, count)
    office = _crowd(count)
    taken: set[tuple[int, int]] = set()
    for page in range(room.pages(count)):
        spots = spots_of(office, room, page)
        taken.clear()
        for spot in spots.values():
            rows = PICTURE_ROWS * room.scale + 1 if room.level is not Level.LIST else 1
            width = 10 if room.level is not Level.LIST else 1
            cells = {(spot.x + x, spot.y + y) for x in range(width) for y in range(rows)}
            assert not cells & taken
            assert all(0 <= x < room.width and 0 <= y < room.height for x, y in cells)
            taken |= cells


@pytest.mark.parametrize(
    ("size", "level", "scale"),
    [
        ((59, 40), Level.LIST, 1),
        ((60, 16), Level.LIST, 1),
        ((80, 21), Level.DESKS, 1),
        ((100, 26), Level.DESKS, 1),
        ((100, 27), Level.ROOM, 1),
        ((120, 37), Level.ROOM, 1),
        ((200, 57), Level.ROOM, 2),
    ],
)
def test_what_there_is_room_for_is_shown(size: tuple[int, int], level: Level, scale: int) -> None:
    room = room_for(*size, 5)
    assert (room.level, room.scale) == (level, scale)
    assert len(room.desks) >= 5


@pytest.mark.parametrize("size", [(100, 27), (120, 37), (160, 40), (200, 57)])
@pytest.mark.parametrize("count", [1, 5, 12])
def test_nothing_hangs_or_stands_before_the_board(size: tuple[int, int], count: int) -> None:
    room = room_for(*size, count)
    board, rows = room.board, ground(room, dark=True)
    inner = range(board.x + 1, board.x + board.width - 1)
    assert {rows[y][x] for y in range(2, 2 * board.height - 2) for x in inner} == {"C"}
    assert all(cell.x >= board.x + board.width for cell in room.line)


def test_twelve_fit_on_the_smallest_and_on_the_usual_screen() -> None:
    assert room_for(80, 21, 12).pages(12) == 1
    assert room_for(120, 37, 12).pages(12) == 1


@pytest.mark.parametrize("size", [(80, 21), (120, 37), TINY])
def test_who_does_not_fit_is_on_another_page(size: tuple[int, int]) -> None:
    office = replace(_crowd(0), workers=tuple(_worker(at) for at in range(100)))
    room = room_for(*size, 100)
    seen = [key for page in range(room.pages(100)) for key in spots_of(office, room, page)]
    assert seen == [worker.key for worker in office.workers]


def test_who_finds_no_seat_and_no_place_in_line_stays_at_the_desk() -> None:
    for place in (Place.SOFA, Place.QUEUE):
        office = Office(tuple(_worker(at, place, since=float(-at)) for at in range(12)))
        room = room_for(120, 37, 12)
        spots = spots_of(office, room)
        assert len(spots) == 12
        places = [spot.place for spot in spots.values()]
        assert places.count(place) == len(room.line if place is Place.QUEUE else room.seats)
        if place is Place.QUEUE:
            assert spots["agent:11"][1:] == room.line[0], "who waited longest stands first"


@pytest.mark.parametrize("size", [(80, 21), (120, 37), (200, 57), TINY])
def test_everybody_in_sight_is_reached_by_arrows(size: tuple[int, int]) -> None:
    office = _crowd(9)
    spots = spots_of(office, room_for(*size, 9))
    reached, news = set[str](), [next(iter(spots))]
    while news:
        key = news.pop()
        reached.add(key)
        found = {neighbour(spots, key, dx, dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
        news += found - reached - {""}
    assert reached == set(spots)


def test_a_click_finds_whom_it_is_on() -> None:
    office, room = _crowd(7), room_for(120, 37, 7)
    spots = spots_of(office, room)
    for key, spot in spots.items():
        assert at_cell(spots, room, spot.x + 3, spot.y + 2) == key
    assert at_cell(spots, room, 0, 36) == ""


# -- pictures --------------------------------------------------------------------------------------------------
def test_every_pixel_has_a_colour() -> None:
    known = {*colours(dark=True), *THEMED}
    assert colours(dark=True).keys() == colours(dark=False).keys()
    dresses = [dress_of(f"agent {number}") for number in range(200)]
    figures = [Piece(pose, 0, 0, 1, frame, dress) for dress in dresses for pose in Pose for frame in range(4)]
    furniture = [Piece(name, 0, 0) for name in FURNITURE]
    assert {colour for piece in (*figures, *furniture) for row in raster(piece) for colour in row} - {""} <= known


@pytest.mark.parametrize("pose", Pose)
def test_pictures_are_as_wide_in_every_row_and_no_pose_looks_like_another(pose: Pose) -> None:
    for cut in range(6):
        for frame in range(frames_of(pose)):
            pixels, _ = figure(pose, frame, cut)
            assert len({len(row) for row in pixels}) == 1
        assert all(figure(pose, 0, cut) != figure(other, 0, cut) for other in Pose if other is not pose)


def test_a_name_always_has_the_same_looks_and_names_differ() -> None:
    assert dress_of("claude") == dress_of("claude")
    assert len({dress_of(name) for name in ("claude", "codex", "gemini", "grok", "copilot", "amp")}) == 6


@pytest.mark.parametrize("dark", [True, False])
def test_text_can_be_read_wherever_it_stands(dark: bool) -> None:
    known = colours(dark=dark)
    for under, ink in GROUNDS.items():
        assert contrast(Color.parse(known[under]), Color.parse(ink)) >= 4.5
    theme = next(theme for theme in THEMES if theme.dark is dark)
    for name in ("foreground", "muted", "needs-you", "run", "land", "good", "cool"):
        text = Color.parse(theme.foreground or "") if name == "foreground" else Color.parse(theme.variables[name])
        rug = Color.parse(theme.variables["cursor-away"])
        assert contrast(text, rug) >= 4.5, name


# -- drawing ---------------------------------------------------------------------------------------------------
def _view(symbols: Symbols = UNICODE, clock: Callable[[], float] = lambda: 0.0) -> OfficeView:
    view = OfficeView(symbols=symbols, clock=clock, id="room")
    view.styles.width = view.styles.height = "1fr"
    return view


class Moments:
    """A clock that is moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def _shown(office: Office, size: tuple[int, int], *, symbols: Symbols = UNICODE, no_color: bool = False) -> list[str]:
    view = _view(symbols)
    found: list[str] = []

    async def look(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(office)
        await pilot.pause()
        found.extend(screen_lines(app))

    app = Stage(view)
    app.no_color = no_color
    run_app(app, size, look)
    return found


def test_every_state_has_its_sign_and_its_word_in_every_size() -> None:
    office = _crowd(7)
    for size in (TINY, NARROW, WIDE, LARGE):
        text = "\n".join(_shown(office, size))
        for worker in office.workers:
            assert f"{UNICODE.glyph(worker.state)} {worker.name}" in text, size
        assert "12:04" in text
        assert "resting" in text


def test_a_whole_room_has_board_boss_belt_and_door() -> None:
    text = "\n".join(_shown(_crowd(7), WIDE))
    for words in ("31 ready", "+", "2 for you", "✓ main", "⇡ verifying", "T-0", "more"):
        assert words in text
    assert "▀" in text


def test_desks_alone_keep_board_and_belt_as_lines_where_there_is_room() -> None:
    lines = _shown(replace(_crowd(4)), NARROW)
    assert "31 ready" in lines[0]
    assert lines[-1].startswith(" ✓ main")


@pytest.mark.parametrize("size", [*SIZES, LARGE])
def test_without_pixels_or_colours_it_is_drawn_in_letters(size: tuple[int, int]) -> None:
    plain = _shown(_crowd(12), size, symbols=ASCII)
    assert all(line.isascii() for line in plain)
    grey = "\n".join(_shown(_crowd(12), size, no_color=True))
    assert "▀" not in grey
    if size != TINY:
        assert "/|\\" in grey


@pytest.mark.parametrize("symbols", [UNICODE, ASCII])
@pytest.mark.parametrize("size", [*SIZES, LARGE, (1, 1), (61, 18)])
def test_hostile_and_wide_names_stay_in_their_place(size: tuple[int, int], symbols: Symbols) -> None:
    names = [*HOSTILE, "日本語のとても長い名前", "e\u0301" * 30, ""]
    office = _crowd(len(names), lambda at: names[at])
    office = replace(
        office,
        workers=tuple(replace(one, screen=one.name, what=one.name, word=one.name) for one in office.workers),
        parcels=tuple(Parcel(text, text, Shown.LANDING, text) for text in names),
        board=tuple(Column(text, Shown.READY, 3, (text,)) for text in names[:3]),
        main=names[0],
    )
    lines = _shown(office, size, symbols=symbols)
    assert_harmless(lines)
    assert max(map(cell_len, lines)) <= size[0]


@pytest.mark.parametrize("theme", ["recall-light", "ansi-dark", "nord"])
def test_it_can_be_drawn_under_every_kind_of_theme(theme: str) -> None:
    view = _view()

    async def look(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(_crowd(7))
        app.theme = theme
        await pilot.pause()
        assert any("▀" in line for line in screen_lines(app))

    run_app(Stage(view), WIDE, look)


def test_who_passes_by_does_not_colour_a_label() -> None:
    office = Office((_worker(0), _worker(1, Place.SOFA)))
    view = _view()

    async def look(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(office)
        await pilot.pause()
        room = room_for(*WIDE, 2)
        canvas = Canvas(room, view.palette, app.theme_variables, dark=True)
        spots = spots_of(office, room)
        spot = spots["agent:0"]
        y = spot.y + PICTURE_ROWS * room.scale
        passes = Step(spot.x, 2 * y - 6, Pose.WALKING, 0)
        drawn = [
            canvas.line(scene_of(office, room, spots, Look(steps=steps)), y) for steps in ({}, {"agent:1": passes})
        ]
        names = [next(segment for segment in strip if "a0" in segment.text) for strip in drawn]
        assert names[0] == names[1]
        assert names[0].style is not None
        assert names[0].style.bgcolor == Color.parse(app.theme_variables["background"]).rich_color

    run_app(Stage(view), WIDE, look)


def test_an_empty_office_says_what_to_do() -> None:
    assert "add [agents.NAME]" in "\n".join(_shown(Office(), WIDE))


def test_texts_do_not_lie_on_each_other() -> None:
    office = _crowd(12)
    for size in ((80, 21), (120, 37), (200, 57)):
        room = room_for(*size, 12)
        scene = scene_of(office, room, spots_of(office, room), Look())
        cells = [(text.x + x, text.y) for text in scene.texts for x in range(width_of(text.spans))]
        doubled = {cell for cell in cells if cells.count(cell) > 1}
        assert not doubled, (size, doubled)


# -- moving ----------------------------------------------------------------------------------------------------
def _walk(before: Worker, after: Worker, *, parcels: tuple[Parcel, ...] = ()) -> tuple[list[Pose], Room]:
    room = room_for(120, 37, 1)
    one, two = Office((before,)), Office((after,), parcels)
    walks = walks_between(one, spots_of(one, room), two, spots_of(two, room), room, 0.0)
    return [leg.pose for key, walk in walks.items() if key == after.key for leg in walk.legs], room


def test_only_who_has_somewhere_to_go_walks() -> None:
    idle, busy = _worker(1), _worker(1, pose=Pose.TYPING, run="run:1", screen="T-1")
    sofa = _worker(1, Place.SOFA, Pose.DOZING)
    assert _walk(idle, idle)[0] == []
    assert _walk(busy, replace(busy, time="0:02"))[0] == []
    assert _walk(idle, sofa)[0] == [Pose.WALKING]
    assert _walk(idle, busy)[0] == [Pose.BRINGING]
    assert _walk(busy, replace(busy, run="run:2"))[0] == [Pose.BRINGING]
    assert _walk(busy, idle)[0] == []
    box = Parcel("merge:1", "T-1", Shown.LANDING, "", "agent:1")
    assert _walk(busy, idle, parcels=(box,))[0] == [Pose.CARRYING, Pose.WALKING]


def test_a_walk_begins_where_one_was_and_ends_where_one_is() -> None:
    room = room_for(120, 37, 1)
    before, after = Office((_worker(1),)), Office((_worker(1, Place.SOFA),))
    (walk,) = walks_between(before, spots_of(before, room), after, spots_of(after, room), room, 10.0).values()
    first, last = walk.step(10.0), walk.step(walk.end - 1e-6)
    assert first is not None
    assert last is not None
    assert (first.x, first.y) == walk.legs[0].start
    assert abs(last.x - walk.legs[0].end[0]) <= 1
    assert walk.step(walk.end) is None
    assert 0.5 <= walk.end - walk.begin <= 1.2


def test_what_moves_up_on_the_belt_is_seen_to_move() -> None:
    room = room_for(120, 37, 0)
    boxes = tuple(Parcel(f"merge:{at}", f"T-{at}", Shown.LANDING, "") for at in range(3))
    before, after = Office(parcels=boxes), Office(parcels=boxes[1:])
    assert set(walks_between(before, {}, after, {}, room, 0.0)) == {"merge:1", "merge:2"}


def test_cheering_ends_after_two_seconds() -> None:
    assert cheer((5, 10), 1, CHEER_SECONDS, still=False) is None
    frames = {cheer((5, 10), 1, at / 8, still=False) for at in range(16)}
    assert {step.frame for step in frames if step is not None} == {0, 1}
    assert len({cheer((5, 10), 1, at / 8, still=True) for at in range(15)}) == 1


def test_nothing_moves_and_no_timer_runs_unless_something_changed() -> None:
    clock = Moments()
    view = _view(clock=clock)
    idle, busy = _worker(1), _worker(1, pose=Pose.TYPING, run="run:1", screen="T-1")

    async def look(app: Stage, pilot: Pilot[Any]) -> None:
        app.animation_level = "full"
        view.show(Office((idle,)))
        assert not view.is_moving
        view.show(Office((busy,)))
        assert view.is_moving
        walking = screen_lines(app)
        clock.now += 0.25
        await pilot.pause(0.2)
        assert screen_lines(app) != walking
        clock.now += 5
        await pilot.pause(0.3)
        assert not view.is_moving
        view.show(Office((replace(busy, time="0:01"),)))
        assert not view.is_moving
        view.cheer(["agent:1", "nobody"])
        await pilot.pause()
        assert view.is_moving
        assert "landed" in "\n".join(screen_lines(app))
        clock.now += CHEER_SECONDS
        await pilot.pause(0.3)
        assert not view.is_moving
        assert "landed" not in "\n".join(screen_lines(app))

    run_app(Stage(view), WIDE, look)


@pytest.mark.parametrize("level", ["none", "basic"])
def test_without_animations_everybody_is_there_at_once(level: Any) -> None:
    clock = Moments()
    view = _view(clock=clock)

    async def look(app: Stage, pilot: Pilot[Any]) -> None:
        app.animation_level = level
        view.show(Office((_worker(1),)))
        sofa = Office((_worker(1, Place.SOFA, Pose.DOZING, state=Shown.COOLING),))
        view.show(sofa)
        await pilot.pause()
        there = screen_lines(app)
        view.cheer(["agent:1"])
        view.show(sofa, ["agent:1"])
        await pilot.pause()
        assert not view.is_moving
        assert "landed" in "\n".join(screen_lines(app))
        clock.now += CHEER_SECONDS
        view.show(sofa)
        await pilot.pause()
        assert screen_lines(app) == there

    run_app(Stage(view), WIDE, look)


def test_hands_move_only_when_something_is_put_out() -> None:
    view = _view(ASCII)

    async def look(app: Stage, pilot: Pilot[Any]) -> None:
        app.animation_level = "full"
        office = Office((_worker(1, pose=Pose.TYPING, run="run:1"), _worker(2, pose=Pose.TYPING, run="run:2")))
        view.show(office)
        await pilot.pause()
        still = "\n".join(screen_lines(app))
        view.show(office, ["agent:2"])
        await pilot.pause()
        typed = "\n".join(screen_lines(app))
        assert (still.count("__=-_"), typed.count("__=-_"), typed.count("__-=_")) == (2, 1, 1)

    run_app(Stage(view), WIDE, look)


# -- selecting -------------------------------------------------------------------------------------------------
def test_keys_and_pages_select_and_the_selection_is_marked() -> None:
    view = _view()

    async def look(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(replace(_crowd(0), workers=tuple(_worker(at) for at in range(40))))
        view.focus()
        await pilot.pause()
        assert view.cursor == "agent:0"
        await pilot.press("tab", "tab", "shift+tab")
        assert view.cursor == "agent:1"
        await pilot.press("right", "left", "down", "up")
        assert view.cursor == "agent:1"
        assert "▸○ a1 " in "\n".join(screen_lines(app))
        first, last = view.in_sight
        assert first == 1
        await pilot.press("pagedown")
        assert view.cursor == f"agent:{last}"
        assert f"a{last}" in "\n".join(screen_lines(app))
        await pilot.press("end", "tab")
        assert view.cursor == "agent:0"
        assert view.in_sight == (first, last)
        await pilot.press("G")
        assert view.cursor == "agent:39"
        await pilot.press("k", "k", "k", "k", "k", "k")
        assert view.in_sight[1] < 40

    run_app(Stage(view), NARROW, look)


def test_what_is_selected_stays_so_while_it_walks_and_the_office_grows() -> None:
    view = _view()

    async def look(app: Stage, pilot: Pilot[Any]) -> None:
        workers = tuple(_worker(at) for at in range(3))
        view.show(Office(workers))
        view.select("agent:2")
        view.show(Office((*workers[:2], _worker(2, Place.SOFA, Pose.RESTING))))
        view.show(Office((_worker(9), *workers)))
        assert view.cursor == "agent:2"
        view.show(Office(workers[:1]))
        assert view.cursor == "agent:0"
        view.show(Office())
        assert view.cursor == ""
        await pilot.press("tab", "down", "enter", "pagedown", "end")
        assert app.is_running

    run_app(Stage(view), WIDE, look)
