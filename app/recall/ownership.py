"""Giving a folder to another user, and taking it back. Nothing here follows a link, and only root can do it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

#: Each level holds an open descriptor. What an agent nests deeper stays whose it is, below folders that are ours.
_DEEPEST = 400
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def give_away(tree: Path, uid: int, gid: int) -> None:
    """Make a folder and all in it theirs. A file that has a name elsewhere, too, is left alone. Raises OSError."""
    _each_folder(tree, lambda folder: _give(folder, uid, gid))


def take_back(tree: Path) -> None:
    """Make a folder and all in it ours again, with rights to write for nobody else, so that whoever still holds one
    of its folders open changes nothing under our hands. Nothing happens where no folder is. Raises OSError."""
    uid, gid = os.geteuid(), os.getegid()

    def take(folder: int) -> None:
        os.fchown(folder, uid, gid)
        os.fchmod(folder, (stat.S_IMODE(os.fstat(folder).st_mode) | stat.S_IRWXU) & ~(stat.S_IWGRP | stat.S_IWOTH))
        _give(folder, uid, gid)

    if not tree.is_symlink() and tree.is_dir():
        _each_folder(tree, take)


def _give(folder: int, uid: int, gid: int) -> None:
    """A folder before its files: from then on its old owner adds none."""
    os.fchown(folder, uid, gid)
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)]
    for name in names:
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if found.st_uid != uid and found.st_nlink == 1:
                os.chown(name, uid, gid, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            continue


def _each_folder(tree: Path, act: Callable[[int], None]) -> None:
    _below(os.open(tree, _FOLDER), act, _DEEPEST)


def _below(folder: int, act: Callable[[int], None], deeper: int) -> None:
    """Act on an open folder and on those in it, and close it."""
    try:
        act(folder)
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for name in names if deeper else ():
            try:
                inner = os.open(name, _FOLDER, dir_fd=folder)
            except (FileNotFoundError, NotADirectoryError):
                continue
            _below(inner, act, deeper - 1)
    finally:
        os.close(folder)
