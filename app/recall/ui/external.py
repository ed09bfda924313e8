"""Programs that need the terminal: an editor, a shell. The screen steps aside, or says how to run them elsewhere."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported


def run_outside(app: App[Any], argv: Sequence[str], folder: Path) -> None:
    """Give the terminal to a program until it ends. The store and the engine go on meanwhile."""
    try:
        with app.suspend():
            subprocess.run(list(argv), cwd=folder, check=False)
    except SuspendNotSupported:
        app.notify(f"run this in a terminal: cd {shlex.quote(str(folder))} && {shlex.join(argv)}", markup=False)
    except OSError as broken:
        app.notify(f"{argv[0]} could not be started: {broken}", severity="error", markup=False)
