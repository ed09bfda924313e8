"""An app that shows one widget in Recall's look, and text that tries to be more than text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from textual.app import App, ComposeResult
from textual.message import Message
from textual.widget import Widget

from recall_styles import CSS_PATHS, THEMES, variable_defaults

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "cases" / "terminal-text.json").read_text())

HOSTILE = [
    *(case["input"]["text"] for case in CASES),
    "[/",
    "[/x]",
    "[@click=app.quit]x[/]",
    "[b unclosed",
    "a\x1b]52;c;cm0gLXJm\x07b",
    "a\x1bcb\x9b31mc\x9d0;t\x9cd",
    "a\u202egnp.exe\u202c",
    "two\nlines\tand a tab",
]

#: What a terminal would obey, or what would turn the direction of the text around it.
FORBIDDEN = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


MessageT = TypeVar("MessageT", bound=Message)


class Stage(App[None]):
    CSS_PATH = CSS_PATHS  # pyright: ignore[reportAssignmentType] - a list of paths is what Textual documents
    TITLE = "stage"
    COMMANDS: ClassVar[set[Any]] = set()

    def __init__(self, *widgets: Widget, theme: str = "recall-dark") -> None:
        super().__init__()
        self.widgets = widgets
        self.heard: list[Message] = []
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield from self.widgets

    def listen(self, message: Message) -> None:
        self.heard.append(message)

    on_line_list_selected = listen
    on_line_list_activated = listen
    on_task_board_folded = listen
    on_log_view_follow_changed = listen
    on_text_view_searched = listen

    def of(self, kind: type[MessageT]) -> list[MessageT]:
        return [message for message in self.heard if isinstance(message, kind)]


def assert_harmless(lines: Iterable[str]) -> None:
    for line in lines:
        assert not FORBIDDEN & set(line), ascii(line)
