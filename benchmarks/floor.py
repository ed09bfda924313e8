"""The floor: the smallest dispatcher that claims each task once and lands nothing unverified, and no more.

A SQLite claim, one worktree a task, rebase, verify, fast-forward, one landing at a time. It survives nothing,
shows nothing, parks nothing: whatever Recall takes beyond it is the price of its other promises.

usage: python -m benchmarks.floor FOLDER flat|diamond|chain COUNT AGENTS   (a folder made by benchmarks.scene)
"""

from __future__ import annotations

import shlex
import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from benchmarks.scene import Scene, Shape, chain, diamond, flat, run

SHAPES = {"flat": flat, "chain": chain, "diamond": diamond}
_IDLE = 0.5  # seconds until a lane without a claimable task looks again, if nothing wakes it

#: Recall's agents report with a Python program, so the floor's start one of the same size.
_REPORT = shlex.join([sys.executable, "-c", "import sqlite3, click"])

_SCHEMA = """
CREATE TABLE tasks (id INTEGER PRIMARY KEY, status TEXT NOT NULL, unmet INTEGER NOT NULL);
CREATE TABLE needs (task INTEGER NOT NULL, needs INTEGER NOT NULL);
"""


class Floor:
    """Works a scene's tasks off with as many lanes as there are agents."""

    def __init__(self, scene: Scene, database: sqlite3.Connection) -> None:
        self._scene = scene
        self._database = database
        self._claiming = threading.Lock()
        self._administering = threading.Lock()
        self._landing = threading.Lock()
        self._changed = threading.Condition()
        self._left = len(scene.shape.after)
        _fill(database, scene.shape)

    def work(self) -> None:
        with ThreadPoolExecutor(self._scene.agents) as lanes:
            for lane in [lanes.submit(self._lane) for _ in range(self._scene.agents)]:
                lane.result()

    def _lane(self) -> None:
        while self._left:
            task = self._claim()
            if task is None:
                with self._changed:
                    self._changed.wait(_IDLE)
            else:
                self._do(task)

    def _do(self, task: int) -> None:
        branch, tree = f"work-{task}", self._scene.folder / f"work-{task}"
        with self._administering:
            self._scene.git("worktree", "add", "-q", "-b", branch, str(tree), "main")
        prompt = f"# Task {self._scene.shape.ids[task]}: Write a file\n"
        run(["/bin/bash", str(self._scene.agent), _REPORT], tree, self._scene.env, stdin=prompt)
        with self._landing:
            with self._administering:
                run(["git", *_COMMITTER, "rebase", "-q", "main"], tree, self._scene.env)
            run(["/bin/sh", "-c", "true"], tree, self._scene.env)
            self._scene.git("merge", "-q", "--ff-only", branch)
        self._done(task)
        with self._administering:
            self._scene.git("worktree", "remove", "--force", str(tree))
            self._scene.git("branch", "-q", "-D", branch)

    def _claim(self) -> int | None:
        with self._claiming:
            self._database.execute("BEGIN IMMEDIATE")
            row = self._database.execute(
                "UPDATE tasks SET status = 'running' WHERE id = (SELECT id FROM tasks WHERE status = 'todo' "
                "AND unmet = 0 ORDER BY id LIMIT 1) RETURNING id"
            ).fetchall()
            self._database.execute("COMMIT")
        return row[0][0] if row else None

    def _done(self, task: int) -> None:
        with self._claiming:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("UPDATE tasks SET status = 'done' WHERE id = ?", (task,))
            self._database.execute(
                "UPDATE tasks SET unmet = unmet - 1 WHERE id IN (SELECT task FROM needs WHERE needs = ?)", (task,)
            )
            self._database.execute("COMMIT")
        with self._changed:
            self._left -= 1
            self._changed.notify_all()


_COMMITTER = ("-c", "user.name=floor", "-c", "user.email=floor@example.invalid")


def _fill(database: sqlite3.Connection, shape: Shape) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.executescript(_SCHEMA)
    for task, after in enumerate(shape.after):
        database.execute("INSERT INTO tasks VALUES (?, 'todo', ?)", (task, len(after)))
        database.executemany("INSERT INTO needs VALUES (?, ?)", [(task, number) for number in after])


def main(folder: str, shape: str, count: str, agents: str) -> None:
    scene = Scene(Path(folder), SHAPES[shape](int(count)), int(agents))
    with closing(
        sqlite3.connect(scene.folder / "floor.db", isolation_level=None, check_same_thread=False)
    ) as database:
        Floor(scene, database).work()


if __name__ == "__main__":
    main(*sys.argv[1:])
