"""Drives the full-screen app in a test the way a person does: looks at what is drawn, presses keys, and waits for
what it expects to see.

with driving(shop) as recall:
    recall.board.shows("T-1 First", "waits: agent")
    recall.board.select("T-1").press("hold")
    recall.board.shows("On hold")

Nothing sleeps: every `shows` polls the screen until a deadline, and fails with the screen as it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from textual.notifications import SeverityLevel
from textual.pilot import Pilot
from textual.widget import Widget

from recall.domain.task import Task, TaskSpec
from recall.engine.ports import Store
from recall.ui.app import RecallApp
from recall.ui.commands import BY_ID
from recall.ui.session import Session, open_session
from recall_widgets.line_list import LineList
from tests.support.builders import ref
from tests.support.hermetic_git import Repo
from tests.support.pilot import WIDE, screen_lines

_PATIENCE = 20.0
_SETTINGS = """\
main = "main"
verify = "true"
[agents.ant]
command = ["/bin/true"]
[agents.bee]
command = ["/bin/true"]
"""


class Recorded(RecallApp):
    """Remembers every notice."""

    def __init__(self, session: Session, *, host: bool) -> None:
        super().__init__(session, host=host)
        self.said: list[str] = []

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        self.said.append(message)
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)


class Driver:
    """One app, driven from a test that is no coroutine. Every step that looks or acts lets the app run."""

    def __init__(
        self, app: Recorded, loop: asyncio.AbstractEventLoop, pilot: Pilot[int], context: contextvars.Context
    ) -> None:
        self.app = app
        self._loop = loop
        self._pilot = pilot
        self._context = context

    # -- places ------------------------------------------------------------------------------------------------
    @property
    def board(self) -> Place:
        return Place(self, "#board", "1")

    @property
    def agents(self) -> Place:
        return Place(self, "#agents", "2")

    @property
    def queue(self) -> Place:
        return Place(self, "#queue", "3")

    @property
    def log(self) -> Place:
        return Place(self, "#log", "4")

    @property
    def needs(self) -> Place:
        return Place(self, "#needs", "")

    @property
    def header(self) -> Place:
        return Place(self, "#status", "")

    @property
    def why(self) -> Place:
        return Place(self, "#why", "")

    @property
    def screen(self) -> Place:
        """All that is drawn, whichever screen or dialog is on top."""
        return Place(self, "", "")

    @property
    def lines(self) -> list[str]:
        return screen_lines(self.app)

    # -- acting ------------------------------------------------------------------------------------------------
    def press(self, *commands: str) -> Driver:
        """Press the keys of commands, by their ids."""
        return self.keys(*(BY_ID[id_].key for id_ in commands))

    def keys(self, *keys: str) -> Driver:
        self._do(self._pilot.press(*keys))
        return self

    def types(self, text: str) -> Driver:
        return self.keys(*text)

    def click(self, words: str) -> Driver:
        """Click where these words stand first on the screen."""
        places = [(line.index(words), y) for y, line in enumerate(self.lines) if words in line]
        assert places, "\n".join([f"nothing shows {words!r}:", *self.lines])
        self._do(self._pilot.click(offset=places[0]))
        return self

    def clicks(self, x: int, y: int, times: int = 1) -> Driver:
        """Click a cell of the screen, so many times in a row."""
        self._do(self._pilot.click(offset=(x, y), times=times))
        return self

    def drags(self, start: tuple[int, int], end: tuple[int, int]) -> Driver:
        """Press the button on one cell and let it go on another one."""
        self._do(self._pilot.mouse_down(offset=start))
        self._do(self._pilot.hover(offset=end))
        self._do(self._pilot.mouse_up(offset=end))
        return self

    def resize(self, width: int, height: int) -> Driver:
        self._do(self._pilot.resize_terminal(width, height))
        return self

    # -- waiting -----------------------------------------------------------------------------------------------
    def wait(self, claim: Callable[[], bool], seconds: float = _PATIENCE) -> Driver:
        """Let the app run until the claim holds."""
        self.lets(claim, seconds)
        assert claim(), "\n".join([f"not within {seconds} s; the screen is:", *self.lines, *self.notices])
        return self

    def lets(self, claim: Callable[[], bool], seconds: float = _PATIENCE) -> None:
        """Let the app run until the claim holds, or for so many seconds."""
        with contextlib.suppress(TimeoutError):
            self._do(asyncio.wait_for(self._until(claim), seconds))

    def calls(self, act: Callable[[], object]) -> Driver:
        """Do something as one of the app's own."""

        async def step() -> None:
            act()

        self._do(step())
        return self

    def has_left(self) -> bool:
        self._do(self._pilot.pause())
        return not self.app.is_running or self.app.return_value is not None

    def leaves(self) -> Driver:
        return self.wait(lambda: self.app.return_value is not None)

    def says(self, *words: str) -> Driver:
        """Wait for a notice that holds all these words."""
        return self.wait(lambda: any(all(word in said for word in words) for said in self.notices))

    @property
    def notices(self) -> list[str]:
        """Everything that was said since the start; on the screen it fades after seconds."""
        return self.app.said

    async def _until(self, claim: Callable[[], bool]) -> None:
        while not claim():
            await self._pilot.pause(0.02)

    def _do(self, step: Coroutine[Any, Any, Any]) -> None:
        """Take a step as one of the app's own: what it starts must know which app it belongs to."""
        self._loop.run_until_complete(self._loop.create_task(step, context=self._context))


@dataclass(frozen=True)
class Place:
    """A part of the screen: what is drawn in it, and what can be done there."""

    driver: Driver
    selector: str
    key: str

    @property
    def text(self) -> str:
        lines = self.driver.lines
        if not self.selector:
            return "\n".join(lines)
        area = self._widget().region
        return "\n".join(line[area.x : area.right] for line in lines[area.y : area.bottom])

    def shows(self, *words: str) -> Place:
        self.driver.wait(lambda: all(word in self.text for word in words))
        return self

    def hides(self, *words: str) -> Place:
        self.driver.wait(lambda: not any(word in self.text for word in words))
        return self

    def focus(self) -> Place:
        self.driver.keys(self.key)
        self.driver.wait(lambda: self.driver.app.main.focused is self._widget())
        return self

    def select(self, words: str) -> Driver:
        """Go down from the top to the first row that shows these words."""
        self.focus()
        rows = self._list()
        self.driver.keys("home")
        for _ in range(len(rows.rows)):
            if words in self._cursor_line(rows):
                return self.driver
            self.driver.keys("j")
        raise AssertionError(f"no row shows {words!r}:\n{self.text}")

    def _cursor_line(self, rows: LineList[Any]) -> str:
        row = rows.cursor_row
        return "".join(span.text for span in rows.left_of(row)) if row is not None else ""

    def _list(self) -> LineList[Any]:
        return cast("LineList[Any]", self._widget())

    def _widget(self) -> Widget:
        return self.driver.app.main.query_one(self.selector)


@dataclass
class Shop:
    """A repository with a recall.toml of two agents and a store that the test may write to."""

    repo: Repo
    session: Session

    @property
    def store(self) -> Store:
        return self.session.store

    def task(self, id_: str) -> Task:
        task = self.store.task(ref(id_))
        assert task is not None, id_
        return task

    def has(self, *specs: TaskSpec) -> None:
        diff = self.store.import_tasks("main", specs, actor="test", cancel_vanished=True)
        assert not diff.refused, diff.refused


@contextmanager
def shop_in(folder: Path, *specs: TaskSpec, settings: str = _SETTINGS) -> Generator[Shop]:
    """Make the repository in `folder/shop` with these tasks; nothing dispatches there."""
    repo = Repo.create(folder / "shop")
    repo.commit("start", {"README.md": "hello\n", "recall.toml": settings, "TASKS.md": "# Tasks\n"})
    with open_session(repo.path) as session:
        session.store.sync_agents(session.settings.agent_specs)
        shop = Shop(repo, session)
        if specs:
            shop.has(*specs)
        yield shop


@contextmanager
def driving(session: Session, *, host: bool = False, size: tuple[int, int] = WIDE) -> Generator[Driver]:
    """Show the screen of a session; with `host` it starts an engine if it can."""
    app = Recorded(session, host=host)
    loop = asyncio.new_event_loop()
    ready, over = asyncio.Event(), asyncio.Event()
    drivers: list[Driver] = []

    async def live() -> None:
        async with app.run_test(size=size, notifications=True) as pilot:
            await pilot.pause()
            drivers.append(Driver(app, loop, pilot, contextvars.copy_context()))
            ready.set()
            await over.wait()

    async def until_ready() -> None:
        _, pending = await asyncio.wait(
            {life, started := asyncio.ensure_future(ready.wait())}, return_when=asyncio.FIRST_COMPLETED
        )
        if started in pending:
            started.cancel()
            await life

    life = loop.create_task(live())
    try:
        loop.run_until_complete(until_ready())
        yield drivers[0]
    finally:
        over.set()
        app.on_left()
        loop.run_until_complete(life)
        assert app.threads_are_over(_PATIENCE), "a thread still uses the store"
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
