"""Runs the rehearsal from an empty folder to a green main, and says what was seen."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from recall.bootstrap import open_store_at, settings_at
from recall.gitops.command import run_git
from recall.gitops.locate import locate
from recall.headless import run_headless
from recall.rehearsal.review import Sight, review, table
from recall.rehearsal.stage import set_stage

_INTRODUCTION = (
    "This is a rehearsal. Its three agents are scripted: they follow written-down recipes instead of thinking.\n"
    "Everything else is real: repository, worktrees, processes, leases, tests and commits;\n"
    "Recall knows nothing of the recipes.\n"
)


def run(folder: Path | None, *, say: Callable[[str], None], json_lines: bool = False, screen: bool = False) -> int:
    """Rehearse in `folder` (a new temporary one when None): until everything is done or, on the screen, until it is
    left. An interrupted rehearsal goes on in its folder. Gives 0 when all tasks landed, main is green and every
    situation was seen, 1 otherwise."""
    home = (folder or Path(tempfile.mkdtemp(prefix="recall-rehearsal-"))).resolve()
    home.mkdir(parents=True, exist_ok=True)
    repository = set_stage(home)
    if not json_lines:
        say(_INTRODUCTION)
        say(f"The repository is {repository}\n")
    if screen:
        code = _on_the_screen(repository)
    else:
        code = run_headless(repository, say=say, json_lines=json_lines, until_done=True)
    sights = _look_back(repository, say, json_lines=json_lines)
    green = _main_is_green(repository, home)
    sights.append(Sight("main is green in a fresh clone", "its tests pass" if green else ""))
    _conclude(sights, say, json_lines=json_lines)
    return 0 if code == 0 and all(sight.seen for sight in sights) else 1


def _on_the_screen(repository: Path) -> int:
    from recall.ui.app import run_app
    from recall.ui.session import open_session

    with open_session(repository) as session:
        return run_app(session, leave_working=False)


def _look_back(repository: Path, say: Callable[[str], None], *, json_lines: bool) -> list[Sight]:
    location = locate(repository)
    store = open_store_at(location, settings_at(location))
    try:
        tasks, runs = store.tasks(), store.runs()
        events = store.events_since(0, limit=1_000_000)
    finally:
        store.close()
    rows = table(tasks, runs)
    if json_lines:
        for task, agent, attempts, result, why in rows:
            say(json.dumps({"type": "row", "task": task, "agent": agent, "attempts": int(attempts),
                            "result": result, "why": why}))  # fmt: skip
    else:
        _print_table([("task", "agent", "runs", "result", "why"), *rows], say)
    return review(tasks, runs, events)


def _print_table(rows: list[tuple[str, str, str, str, str]], say: Callable[[str], None]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    say("")
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        say("  ".join([*cells, row[4]]).rstrip())
    say("")


def _main_is_green(repository: Path, home: Path) -> bool:
    """Run the tests on main as somebody would who clones it now."""
    with tempfile.TemporaryDirectory(prefix="clone-", dir=home) as folder:
        run_git(["clone", "--quiet", "--branch", "main", str(repository), folder], cwd=home)
        tests = subprocess.run(
            [sys.executable, "-m", "unittest", "-q"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    return tests.returncode == 0


def _conclude(sights: list[Sight], say: Callable[[str], None], *, json_lines: bool) -> None:
    for sight in sights:
        if json_lines:
            say(json.dumps({"type": "sight", **asdict(sight)}))
        else:
            say(f"{'✓' if sight.seen else '✗'} {sight.what}: {sight.seen or 'not seen'}")
