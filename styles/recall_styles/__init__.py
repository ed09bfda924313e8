"""The look of the full-screen app: sheets and themes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from recall_styles.themes import RECALL_DARK, RECALL_LIGHT, THEMES, variable_defaults

__all__ = ["CSS_PATHS", "RECALL_DARK", "RECALL_LIGHT", "THEMES", "sheet", "variable_defaults"]

_FOLDER: Final = Path(__file__).parent


def sheet(name: str) -> Path:
    """The sheet of a screen; `recall` is the one that all of them share."""
    return _FOLDER / f"{name}.tcss"


#: The shared sheet first, then one for each screen. For `App.CSS_PATH`.
CSS_PATHS: Final = [sheet(name) for name in ("recall", "main", "conflict", "dialog", "detail", "set_up")]
