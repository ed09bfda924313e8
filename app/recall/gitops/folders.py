"""Removing what agents and test suites leave, also where they took the write permission away."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from recall.gitops.agent_files import is_real_folder


def make_removable(folder: Path) -> None:
    """Give the owner every right on a folder and on those below it; links are not followed."""
    folder.chmod(stat.S_IRWXU)
    for place, folders, _ in os.walk(folder):
        for inner in (Path(place, name) for name in folders):
            if is_real_folder(inner):
                inner.chmod(inner.stat().st_mode | stat.S_IRWXU)


def empty_folder(folder: Path) -> None:
    """Remove everything in a folder."""
    make_removable(folder)
    for entry in folder.iterdir():
        remove(entry)


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder; nothing happens when there is none."""
    if is_real_folder(path):
        make_removable(path)
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
