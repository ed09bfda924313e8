"""Whether a screen lies out of sight: what it draws there would have the one above it drawn again."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.screen import Screen


def is_covered(screen: Screen[Any]) -> bool:
    """Tell whether a screen that is no dialog lies over this one."""
    app: App[Any] = screen.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - Textual leaves the app's type open
    stack = app.screen_stack
    if screen not in stack:
        return False
    return any(not above.is_modal for above in stack[stack.index(screen) + 1 :])
