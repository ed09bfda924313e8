"""Giving a folder to another user, and taking it back. Nothing here follows a link, and only root can do it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

#: Each level holds an open descriptor. What an agent nests deeper stays whose it is, below folders that are ours.
_DEEPEST = 400
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def give_away(tree: Path, uid: int, gid: int) -> None:
    """Make a folder and all in it theirs. A file that has a name elsewhere, too, is left alone. Raises OSError."""

    def give(folder: int) -> None:
        os.fchown(folder, uid, gid)
        for name, found in _files_in(folder):
            if found.st_uid != uid and found.st_nlink == 1:
                os.chown(name, uid, gid, dir_fd=folder, follow_symlinks=False)

    _each_folder(tree, give)


def take_back(tree: Path, uid: int) -> None:
    """Make a folder and all of `uid` in it ours again, with rights to write for nobody else: then whoever still
    holds one of its folders open, or has another name for one of its files, changes nothing under our hands. Nothing
    happens where no folder is. Raises OSError."""
    ours = os.geteuid(), os.getegid()

    def take(folder: int) -> None:  # itself before its files: from then on nobody else adds one
        os.fchown(folder, *ours)
        os.fchmod(folder, (stat.S_IMODE(os.fstat(folder).st_mode) | stat.S_IRWXU) & ~_OTHERS_WRITE)
        for name, found in _files_in(folder):
            if found.st_uid == uid:
                os.chown(name, *ours, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and found.st_mode & _OTHERS_WRITE:
                    _close_to_others(name, folder)

    if not tree.is_symlink() and tree.is_dir():
        _each_folder(tree, take)


def _close_to_others(name: str, folder: int) -> None:
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fchmod(file, stat.S_IMODE(os.fstat(file).st_mode) & ~_OTHERS_WRITE)
    finally:
        os.close(file)


def _files_in(folder: int) -> list[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        return [
            (entry.name, entry.stat(follow_symlinks=False))
            for entry in entries
            if not entry.is_dir(follow_symlinks=False)
        ]


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
