"""Programs that need the terminal: an editor, a shell. The screen steps aside, or says how to run them elsewhere."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from textual.app import App, SuspendNotSupported

from recall.domain.text import clean


def run_outside(app: App[Any], argv: Sequence[str], folder: Path) -> None:
    """Give the terminal to a program until it ends. The store and the engine go on meanwhile."""
    try:
        with app.suspend():
            subprocess.run(list(argv), cwd=folder, check=False)
    except SuspendNotSupported:
        command = clean(f"cd {shlex.quote(str(folder))} && {shlex.join(argv)}")
        app.notify(f"run this in a terminal: {command}", markup=False)
    except OSError as broken:
        app.notify(clean(f"{argv[0]} could not be started: {broken}"), severity="error", markup=False)


def editor() -> list[str]:
    """Give the person's editor, with its arguments."""
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")


def end_process(code: int) -> NoReturn:
    """End without waiting for threads."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
