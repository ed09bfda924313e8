"""Scenes that cost much to make: made once in each process of the test run, and put back for each test.

folder = kept("met", make)     # `make` fills the empty folder that it is given

Git and the store write absolute paths down, so a scene is always put back at the one place where it was made.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path


class Kept:
    """All scenes of one process, below one folder. Nothing may work in a scene any more when the test ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, name: str, make: Callable[[Path], object]) -> Path:
        """Give the scene's folder as `make` left it; `name` stands for `make` and everything that this depends on."""
        scene, copied = self._folder / name / "scene", self._folder / name / "kept"
        if copied.exists():
            shutil.rmtree(scene)
            _copy(copied, scene)
        else:
            shutil.rmtree(scene, ignore_errors=True)  # making it failed
            scene.mkdir(parents=True)
            make(scene)
            _copy(scene, copied)
        return scene


def _copy(source: Path, target: Path) -> None:
    """With times, modes and links: to git, files that were put back look as they did."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)
