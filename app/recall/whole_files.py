"""Replacing a file as a whole: whoever reads it, and whoever loses power, has the old one or the new one.

All of Recall's files that others read, or that must outlive a kill, are written here. (The shim, one file that runs
apart from the package, has the same for itself.)
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

PRIVATE = 0o600


class Draft(NamedTuple):
    """The new file, empty at first: a descriptor to write to, and where it lies until it takes its place."""

    file: int
    path: Path


@contextmanager
def replacing(path: Path, *, mode: int = PRIVATE, durable: bool = True) -> Generator[Draft]:
    """Give a draft that takes the place of `path` when the block ends, and goes when it fails.

    Its name cannot be guessed and it is always a new file, so a link that somebody planted is never written through,
    neither under the draft's name nor under that of `path`. `durable`: it is on disk when this returns, first the
    file, then the folder's entry; for what is of no use after a power cut that may be spared. Raises OSError.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    name = f".{path.name}.{os.urandom(8).hex()}"
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(name, flags, PRIVATE, dir_fd=folder)
        try:
            yield Draft(file, path.parent / name)
            os.fchmod(file, mode)
            if durable:
                os.fsync(file)
            os.replace(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            raise
        finally:
            os.close(file)
        if durable:
            os.fsync(folder)
    finally:
        os.close(folder)


def replace_file(path: Path, data: bytes, *, mode: int = PRIVATE, durable: bool = True) -> None:
    """Replace a file by these bytes; see `replacing`."""
    with replacing(path, mode=mode, durable=durable) as draft:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(draft.file, rest) :]
