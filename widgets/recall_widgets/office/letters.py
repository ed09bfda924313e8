"""The office in letters, for terminals without pixels or colours: the same places, other pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from recall_widgets.office.canvas import texts_of, words_of
from recall_widgets.office.people import Pose
from recall_widgets.office.room import DOOR_WIDTH, Level, Room
from recall_widgets.office.scene import Piece, Scene
from recall_widgets.spans import width_of
from recall_widgets.tones import Palette

Letters = tuple[str, ...]

#: Six lines high, as the pictures in pixels are; a space lets through what is behind.
_FIGURES: Final[Mapping[str, tuple[Letters, ...]]] = {
    Pose.TYPING: (("", "", "  o", " /|\\"),),
    Pose.IDLE: (("", "", "", "  o", " /|\\", " / \\"),),
    Pose.ARRIVING: (("", "", "", "  o", " /|[]", " / \\"),),
    Pose.HANDING_IN: (("", "", "", "  o", " /|##", " / \\"),),
    Pose.RESTING: (("", "", "  o", " /|\\", " /^\\"),),
    Pose.DOZING: (("", "    z", "  o", " /|\\", " /^\\"),),
    Pose.WAITING: (("", "", "    |>", "  o |", " /|\\|", " / \\"),),
    Pose.CHEERING: (("", "", "", " \\o/", "  |", " / \\"), ("", "", "", "  o", " \\|/", " / \\")),
    Pose.WALKING: (("", "", "", "  o", " /|\\", " / \\"), ("", "", "", "  o", " /|\\", "  |")) * 2,
    Pose.BRINGING: (("", "", "", "  o", " /|[]", " / \\"), ("", "", "", "  o", " /|[]", "  |")) * 2,
    Pose.CARRYING: (("", "", "", "  o", " /|##", " / \\"), ("", "", "", "  o", " /|##", "  |")) * 2,
}
_SCREEN: Final = ("        .---------.", "        |         |", "        '---------'", "             |")
_FURNITURE: Final[Mapping[str, Letters]] = {
    "desk": ("", "", "", "", "___________________", "|                 |"),
    "screen-on": _SCREEN,
    "screen-off": _SCREEN,
    "hands": ("  =-",),
    "hands-2": ("  -=",),
    "chair": ("  .--.", " |    |"),
    "sofa": ("", "", "  .-------------.", " _|             |_", "| |_____________| |", "|_________________|"),
    "boss": ("", "", "         (oo)", "        /|\\/|\\", "______________________", "|                    |"),
    "box": ("[          ]",),
}


class LetterCanvas:
    """Draws lines of one room, at scale 1."""

    def __init__(self, room: Room, palette: Palette) -> None:
        self.room = room
        self._palette = palette
        self._ground = _ground(room)

    def line(self, scene: Scene, y: int) -> Strip:
        cells = [(letter, "muted") for letter in self._ground[y]]
        for piece in scene.pieces:
            _lay(piece, y, cells)
        if self.room.level is Level.ROOM:
            _lay(Piece("boss", self.room.boss.x, 2 * self.room.boss.y), y, cells)
        segments: list[Segment] = []
        x = 0
        for text in texts_of(scene, y):
            segments += [*_runs(cells[x : text.x], self._palette), *words_of(text, self._palette, Style.null())]
            x = text.x + width_of(text.spans)
        segments += _runs(cells[x:], self._palette)
        return Strip(segments).adjust_cell_length(self.room.width).apply_style(self._palette.base())


def _lay(piece: Piece, y: int, cells: list[tuple[str, str]]) -> None:
    if piece.picture in _FURNITURE:
        lines, tone = _FURNITURE[piece.picture], "muted"
    elif piece.picture in _FIGURES:
        frames = _FIGURES[piece.picture]
        lines, tone = frames[piece.frame % len(frames)], "strong"
    else:
        return
    at = y - piece.y // 2
    if not 0 <= at < len(lines):
        return
    for x, letter in enumerate(lines[at], piece.x):
        if letter != " " and 0 <= x < len(cells):
            cells[x] = (letter, tone)


def _runs(cells: Sequence[tuple[str, str]], palette: Palette) -> Iterator[Segment]:
    for tone, run in groupby(cells, key=itemgetter(1)):
        yield Segment("".join(letter for letter, _ in run), palette[tone])


def _ground(room: Room) -> list[str]:
    """Board, belt and door."""
    rows = [" " * room.width for _ in range(room.height)]
    if room.level is not Level.ROOM:
        return rows
    board, belt = room.board, room.belt
    edge = " " * board.x + "+" + "-" * (board.width - 2) + "+"
    rows[board.y] = edge.ljust(room.width)
    rows[board.y + board.height - 1] = edge.ljust(room.width)
    for y in range(board.y + 1, board.y + board.height - 1):
        rows[y] = (" " * board.x + "|" + " " * (board.width - 2) + "|").ljust(room.width)
    bottom, door = belt.y + belt.height - 1, belt.width - DOOR_WIDTH + 1
    inner = DOOR_WIDTH - 4
    for y in range(belt.y + 1, bottom + 1):
        frame = "." + "-" * inner + "." if y == belt.y + 1 else "|" + " " * inner + "|"
        before = {bottom - 1: "=" * (door - 1), bottom: "o   " * (door // 4)}.get(y, "")
        rows[y] = f"{before:{door}}{frame}".ljust(room.width)
    return rows
