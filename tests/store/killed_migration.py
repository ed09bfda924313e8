"""Migrates one database in one process after another, each killed at a later step than the one before: a statement,
or a file that is opened, put in place or removed. Tells as JSON after how many steps a whole migration is over, how
often one was killed, and which kill did not leave the old database as it was.

Arguments: the database, a copy of it that may be spent, and how many kills are spread over the steps.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from signal import SIGKILL

from recall.store.connection import connect
from recall.store.migrate import known_migrations, migrate

_FILES = ("open", "os.rename", "os.remove", "sqlite3.connect")


def _migrate(database: Path, kill_at: int) -> list[int]:
    """Migrate, and give the steps at which a file was put in place, then their number; this process does not outlive
    the step that it is to be killed at."""
    taken = 0
    placed: list[int] = []

    def step(*_: object) -> None:
        nonlocal taken
        taken += 1
        if taken == kill_at:
            os.kill(os.getpid(), SIGKILL)

    def heard(event: str, _: object) -> None:
        if event in _FILES:
            step()
            placed.extend([taken] if event == "os.rename" else [])

    sys.addaudithook(heard)
    with closing(connect(database)) as connection:
        connection.set_trace_callback(step)
        migrate(connection, known_migrations())
    return [*placed, taken]


def _in_a_child(database: Path, kill_at: int) -> list[int]:
    """Give the steps of a migration that was not killed, nothing for one that was."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(there, json.dumps(_migrate(database, kill_at)).encode())
        os._exit(0)
    os.close(there)
    said = os.read(here, 4096)
    os.close(here)
    os.waitpid(child, 0)
    return json.loads(said or "[]")


def _looks(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        checked = connection.execute("PRAGMA integrity_check").fetchall()
        version = connection.execute("PRAGMA user_version").fetchall()
        return [*map(str, checked), *map(str, version), *connection.iterdump()]


def _kills(steps: int, placed: Sequence[int], most: int) -> list[int]:
    """Spread them over all steps. The last steps, where it is written for good, are among them, and those at which
    the backup is put in place and has been."""
    sure = {*range(max(1, steps - 3), steps + 1), *placed, *(at + 1 for at in placed)}
    return sorted({*range(1, steps, max(1, steps // most)), *sure})


def main(database: Path, spent: Path, most: int) -> None:
    *placed, steps = _in_a_child(spent, 0)
    before, wrong, killed = _looks(database), list[int](), 0
    for at in _kills(steps, placed, most):
        killed += not _in_a_child(database, at)
        if _looks(database) != before:
            wrong.append(at)
            break
    print(json.dumps({"steps": steps, "placed": placed, "killed": killed, "wrong": wrong}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
