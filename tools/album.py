"""The pictures in docs/screens: what each shows, and what makes a picture fit for everybody."""

from __future__ import annotations

import html
import re
from typing import Final

from rich.cells import cell_len

from tools.markdown import page

#: Each picture with what is to be seen on it, in the order of the page.
ALBUM: Final = {
    "main": "The main screen: what needs you, what runs, what comes next, the merge queue and a run's log.",
    "columns": "The same tasks side by side, a column for each state (`v`).",
    "tree": "The same tasks as a tree of prerequisites (`v` again).",
    "main-80x24": "The smallest terminal that everything fits: panes become tabs, what needs you stays on top.",
    "main-light": "The main screen in the light theme (`T` shows each theme while it is chosen).",
    "workbench": "The conflict workbench: why each side changed the lines, both sides, and what comes of them (`c`).",
    "workbench-light": "The workbench in the light theme.",
    "task": "One task: its text, what it waits for, its runs, and what can be done with it (`enter`).",
    "run": "One run: how it ended, and what it changed, file by file (`d`).",
    "log": "The same run's log, as events that its agent told of (`l`).",
    "office": "The office: who is at work, who rests, who waits for you, and what is on its way to main (`O`).",
    "office-light": "The office in the light theme.",
    "office-80x24": "Where there is less room: each agent at its desk, board and belt as a line each.",
    "agents": "The agents' record: how their runs came out, their weights and limits (`A`).",
    "history": "Everything that happened, newest first, each with its reason (`y`).",
    "settings": "Every setting, its value, and where it comes from (`,`).",
    "help": "Every key (`?`).",
    "leaving": "Leaving asks what becomes of agents at work (`q`).",
    "first-run": "A first start: what was found, what to decide, and the file that comes of it.",
}

#: So many bytes are enough for a screenful.
MOST: Final = 150_000

_WEB_FONT: Final = re.compile(r"\s*@font-face\s*\{[^}]*\}")
_REMARK: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_TEXT: Final = re.compile(r'x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" textLength="[\d.]+" (?P<rest>[^>]*)>(?P<text>[^<]*)<')
_SPACE: Final = "&#160;"
#: How wide a cell is in Textual's pictures.
_CELL: Final = 12.2
_ADDRESS: Final = re.compile(r"https?://(?!www\.w3\.org/)")


def screens_page() -> str:
    """The page that shows the album."""
    parts = [f"## {name}\n\n{words}\n\n![{name}](screens/{name}.svg)" for name, words in ALBUM.items()]
    return page(
        "# Screens",
        "Taken while the rehearsal ran (`make screenshots`): the agents are scripted, everything else is real. "
        "[KEYS.md](KEYS.md) has every key.",
        *parts,
    )


def portable(picture: str) -> str:
    """Make of Textual's picture one that looks alike everywhere: it fetches no font, and no text in it begins or ends
    with spaces, which some viewers leave out."""
    return _TEXT.sub(_without_edges, _REMARK.sub("", _WEB_FONT.sub("", picture)))


def _without_edges(found: re.Match[str]) -> str:
    text = html.unescape(found["text"])
    bare = text.strip("\N{NO-BREAK SPACE}")
    x = float(found["x"]) + _CELL * (len(text) - len(text.lstrip("\N{NO-BREAK SPACE}")))
    shown = html.escape(bare).replace("\N{NO-BREAK SPACE}", _SPACE)
    return f'x="{x:.5g}" y="{found["y"]}" textLength="{_CELL * cell_len(bare):.5g}" {found["rest"]}>{shown}<'


def unfit(picture: str, private: tuple[str, ...] = ()) -> str:
    """Why a picture cannot be shown to anybody, or "". `private` are texts that nobody needs to know."""
    if found := _ADDRESS.search(picture):
        return f"it refers to {picture[found.start() : found.start() + 60]!r}"
    if len(picture) > MOST:
        return f"it has {len(picture)} bytes, {MOST} are enough"
    return next((f"it tells {text!r}" for text in private if text in picture), "")
