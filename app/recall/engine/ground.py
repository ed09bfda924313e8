"""What a dispatcher stands on, asked before it claims anything: room on the disks, and its own lock file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from recall.domain.frozen import frozen

_UNITS = ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"), (1, "bytes"))


@frozen
class Ground:
    """`folders` lie on the disks that work needs, each with at least `least` bytes; `free` measures one.
    `in_place` tells whether the dispatcher's lock file is still there. Without folders there is always room."""

    folders: tuple[Path, ...] = ()
    least: int = 0
    free: Callable[[Path], int] = lambda _: 0
    in_place: Callable[[], bool] = lambda: True

    def shortage(self) -> str:
        """Say which disk has too little room for new work, or ""."""
        short = next((folder for folder in self.folders if self.free(folder) < self.least), None)
        if short is None:
            return ""
        return f"less than {_size(self.least)} is free on the disk of {short}; free some space"


def _size(count: int) -> str:
    unit, name = next((unit, name) for unit, name in _UNITS if count % unit == 0)
    return f"{count // unit} {name}"
