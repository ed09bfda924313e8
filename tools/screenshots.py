"""`make screenshots`: play the rehearsal on the real screen, and take a picture of everything there is to see.

The pictures lie in docs/screens as SVG; docs/SCREENS.md, made by `make docs`, shows each with its sentence in the
album. Repository, engine, agents and conflict are real, so commits and times differ from one album to the next. A
picture that would load something, or tells of the machine that it was taken on, is not kept.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from textual.app import App
from textual.pilot import Pilot

from recall.bootstrap import preset_programs
from recall.config.first_files import look_around
from recall.domain.merge import MergeState
from recall.domain.run import Run, RunResult, RunState
from recall.domain.task import TaskRef, TaskState
from recall.gitops.command import run_git
from recall.gitops.locate import locate
from recall.rehearsal.stage import set_stage
from recall.ui.acts.reading import open_run
from recall.ui.app import RecallApp
from recall.ui.commands import BY_ID
from recall.ui.screens.conflict import ConflictScreen
from recall.ui.session import Session, open_session
from recall.ui.set_up import SetUpApp
from recall.ui.terminal import symbols_here
from recall_widgets.office.view import OfficeView
from tools.album import portable, unfit

SCREENS: Final = Path(__file__).parents[1] / "docs" / "screens"

WIDE: Final = (120, 36)
NARROW: Final = (80, 24)

_PATIENCE: Final = 60.0
#: How long the scripted agents think, as a factor: long enough to look around, short enough for their stall time.
_PAUSE: Final = "2.5"


@dataclass(frozen=True)
class Camera:
    """Looks at one app, and keeps what it shows in `folder`."""

    app: App[Any]
    pilot: Pilot[Any]
    folder: Path
    private: tuple[str, ...]

    async def until(self, claim: Callable[[], bool], what: str) -> None:
        """Let the app run until the claim holds. Raises TimeoutError with what was waited for."""
        deadline = time.monotonic() + _PATIENCE
        while not claim():
            if time.monotonic() > deadline:
                self.take("as-it-was")
                raise TimeoutError(f"not within {_PATIENCE:.0f} s: {what}; as-it-was.svg shows what was there")
            await self.pilot.pause(0.02)

    async def command(self, *ids: str) -> None:
        await self.pilot.press(*(BY_ID[id_].key for id_ in ids))
        await self.pilot.pause(0.3)

    async def keys(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause(0.3)

    async def resize(self, size: tuple[int, int]) -> None:
        await self.pilot.resize_terminal(*size)
        await self.pilot.pause(0.3)

    def take(self, name: str) -> None:
        """Keep a picture of what is shown. Raises ValueError for one that must not be shown to anybody."""
        picture = portable(self.app.export_screenshot(title="Recall"))
        if why := unfit(picture, self.private):
            raise ValueError(f"{name}: {why}")
        (self.folder / f"{name}.svg").write_text(picture, "utf-8")


def main() -> None:
    SCREENS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="stage-") as home:
        stage = Path(home)
        _photograph_first_start(stage / "new", SCREENS)
        _photograph_rehearsal(stage / "rehearsal", SCREENS)


def _photograph_rehearsal(stage: Path, folder: Path) -> None:
    stage.mkdir()
    repository = set_stage(stage)
    _forget_the_machine(repository)
    places = {"HOME": str(stage), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with _environment(REHEARSAL_PAUSE=_PAUSE, **places), open_session(repository) as session:
        app = RecallApp(session, leave_working=False)
        _show(app, stage, folder, lambda camera: _rehearsal(camera, app, session))
        app.threads_are_over()


def _forget_the_machine(repository: Path) -> None:
    """Start programs by name where the stage starts them by path."""
    settings = repository / "recall.toml"
    settings.write_text(settings.read_text().replace(sys.executable, "python3"))
    run_git(["commit", "--quiet", "--all", "--amend", "--no-edit"], cwd=repository)


def _photograph_first_start(stage: Path, folder: Path) -> None:
    """As on a machine that has two of the agents that Recall knows."""
    stage.mkdir()
    repository = set_stage(stage)
    (repository / "recall.toml").unlink()
    programs = stage / "bin"
    programs.mkdir()
    for name in ("claude", "codex"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    with _environment(PATH=f"{programs}{os.pathsep}{os.defpath}"):
        found = look_around(locate(repository).common_dir, repository, preset_programs())
    app = SetUpApp(repository, found, symbols_here("unicode"))
    _show(app, stage, folder, _first_start)


@contextmanager
def _environment(**variables: str) -> Generator[None]:
    """Have these variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _show(app: App[Any], stage: Path, folder: Path, play: Callable[[Camera], Awaitable[None]]) -> None:
    private = (str(stage), sys.prefix, pwd.getpwuid(os.getuid()).pw_dir, socket.gethostname())

    async def whole() -> None:
        async with app.run_test(size=WIDE) as pilot:
            await play(Camera(app, pilot, folder, private))

    asyncio.run(whole())


async def _first_start(camera: Camera) -> None:
    await camera.pilot.pause(0.5)
    camera.take("first-run")


async def _rehearsal(camera: Camera, app: RecallApp, session: Session) -> None:
    await camera.until(lambda: _eventful(app), "a conflict beside agents at work")
    conflict = _in_conflict(app)
    await camera.keys("1", "home", "j")
    await camera.until(lambda: conflict.id in str(app.main.query_one("#log").border_title), "the log of its run")
    await _main_screen(camera)
    await _workbench(camera, app, conflict)
    await _office(camera, app)
    await _screens_about_one_thing(camera, app, session)
    await camera.command("quit")
    await camera.keys("2")
    await camera.until(lambda: app.return_value is not None, "the end")


async def _main_screen(camera: Camera) -> None:
    camera.take("main")
    await camera.command("quit")
    camera.take("leaving")
    await camera.keys("escape")
    await camera.command("view")
    camera.take("columns")
    await camera.command("view")
    camera.take("tree")
    await camera.command("view")
    await camera.resize(NARROW)
    camera.take("main-80x24")
    await camera.resize(WIDE)
    async with _light(camera):
        camera.take("main-light")


async def _workbench(camera: Camera, app: RecallApp, conflict: TaskRef) -> None:
    await camera.command("next-need", "conflict")
    await camera.until(lambda: isinstance(app.screen, ConflictScreen), f"the workbench for {conflict}")
    await camera.keys("1")
    camera.take("workbench")
    async with _light(camera):
        camera.take("workbench-light")
    await camera.keys("escape")


async def _office(camera: Camera, app: RecallApp) -> None:
    await camera.command("office")
    await camera.until(lambda: app.screen is not app.main, "the office")
    view = app.screen.query_one(OfficeView)
    await camera.keys("tab")
    await camera.until(lambda: not view.is_moving, "everybody at a place")
    camera.take("office")
    async with _light(camera):
        camera.take("office-light")
    await camera.resize(NARROW)
    camera.take("office-80x24")
    await camera.resize(WIDE)
    await camera.keys("escape")


async def _screens_about_one_thing(camera: Camera, app: RecallApp, session: Session) -> None:
    await camera.keys("2", "down")
    for name in ("agents", "task", "history", "settings", "help"):
        await camera.command("open" if name == "task" else name)
        await camera.until(lambda: app.screen is not app.main, name)
        camera.take(name)
        await camera.keys("escape", "1")
    await camera.until(lambda: bool(_landed(session)), "a run that landed")
    for name, pane in (("run", "diff"), ("log", "log")):
        open_run(app.front, _landed(session)[0].id, pane)
        await camera.until(lambda: app.screen is not app.main, name)
        await camera.pilot.pause(0.5)
        camera.take(name)
        await camera.keys("escape")


@asynccontextmanager
async def _light(camera: Camera) -> AsyncGenerator[None]:
    dark = camera.app.theme
    camera.app.theme = "recall-light"
    await camera.pilot.pause(0.5)
    yield
    camera.app.theme = dark
    await camera.pilot.pause(0.3)


def _eventful(app: RecallApp) -> bool:
    """A conflict waits, two agents work, something has landed: whatever the screen is for can be seen."""
    if app.front.seen is None:
        return False
    view = app.front.seen.overview
    works = sum(run.state is RunState.RUNNING for run in view.runs)
    landed = any(task.state is TaskState.DONE for task in view.tasks)
    return landed and works > 1 and any(entry.state is MergeState.CONFLICT for entry in view.merges)


def _in_conflict(app: RecallApp) -> TaskRef:
    assert app.front.seen is not None
    return next(one.ref for one in app.front.seen.overview.merges if one.state is MergeState.CONFLICT)


def _landed(session: Session) -> list[Run]:
    """Runs that landed and told of it in events, first the one with the most to show."""
    return [run for run in session.store.runs() if run.result is RunResult.LANDED and run.agent == "otter"]


if __name__ == "__main__":
    main()
