"""Every screen of one frozen evening, line by line and style by style, as it was accepted.

`make snapshots` writes down what the screens look like now; the difference is for a person to read. A test that
fails prints it, and leaves the picture of what was there.
"""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from recall.config.detect import VerifyGuess
from recall.config.first_files import Found
from recall.engine.resolve import ConflictView
from recall.ui.acts.conflicts import open_workbench
from recall.ui.screens.conflict import ConflictScreen
from recall.ui.set_up import SetUpApp
from recall_widgets.glyphs import UNICODE
from tests.snapshots.plain import plain
from tests.snapshots.scene import evening
from tests.support.driver import Driver, Shop, driving
from tests.support.pilot import NARROW, WIDE, run_app
from tools.album import portable

_ACCEPTED = Path(__file__).parent / "accepted"
_PATIENCE = 10.0
_STILL = 0.5


@pytest.fixture(autouse=True)
def _steady(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One time zone, no cursor that blinks, nothing that moves."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(Input, "cursor_blink", False)
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def scene(home: Path) -> Iterator[tuple[Shop, ConflictView]]:
    with evening(home) as made:
        yield made


class Gallery:
    """Compares what is shown with what was accepted, or accepts it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writes = os.environ.get("SNAPSHOTS") == "write"

    def hang(self, name: str, app: App[Any], settle: Callable[[Callable[[], bool]], None]) -> None:
        """`settle` lets the app run until a claim holds, or its patience ends."""
        file = _ACCEPTED / f"{name}.txt"
        if self._writes:
            settle(_stands_still(app))
            file.write_text(plain(app), "utf-8")
            if _has_picture(name):
                file.with_suffix(".svg").write_text(_picture(app), "utf-8")
            return
        accepted = file.read_text("utf-8") if file.is_file() else ""
        settle(lambda: plain(app) == accepted)
        if (shown := plain(app)) != accepted:
            pytest.fail(self._difference(name, app, accepted, shown), pytrace=False)
        if _has_picture(name) and _picture(app) != file.with_suffix(".svg").read_text("utf-8"):
            pytest.fail(self._difference(name, app, accepted, shown), pytrace=False)

    def _difference(self, name: str, app: App[Any], accepted: str, shown: str) -> str:
        picture = self._folder / f"{name}.svg"
        picture.write_text(_picture(app), "utf-8")
        lines = difflib.unified_diff(accepted.splitlines(), shown.splitlines(), "accepted", "shown", lineterm="", n=1)
        hint = f"the picture: {picture}\nif it is meant so: make snapshots, and read the difference"
        return "\n".join([f"{name} looks different", *lines, hint])


def _has_picture(name: str) -> bool:
    """One picture a screen; of the main screen both sizes and both themes."""
    return name.startswith("main-") or name.endswith(f"-{WIDE[0]}x{WIDE[1]}")


def _picture(app: App[Any]) -> str:
    return portable(app.export_screenshot(title="Recall"))


@pytest.fixture
def gallery(tmp_path: Path) -> Gallery:
    return Gallery(tmp_path)


def _stands_still(app: App[Any]) -> Callable[[], bool]:
    last, since = "", time.monotonic()

    def still() -> bool:
        nonlocal last, since
        if (now := plain(app)) != last:
            last, since = now, time.monotonic()
        return time.monotonic() - since > _STILL

    return still


def _settling(recall: Driver) -> Callable[[Callable[[], bool]], None]:
    def settle(claim: Callable[[], bool]) -> None:
        recall.lets(claim, _PATIENCE)

    return settle


def _shown(recall: Driver) -> None:
    """As the screen of the process that dispatches."""
    recall.app.animation_level = "none"
    recall.needs.shows("T-B07", "T-C03")
    recall.app.main.say_mode("dispatching")
    recall.board.select("T-B02")
    if recall.app.size == WIDE:
        recall.log.shows("Read src/config.py")


SCREENS: dict[str, Callable[[Driver], object]] = {
    "main": lambda recall: None,
    "columns": lambda recall: recall.press("view"),
    "tree": lambda recall: recall.press("view", "view"),
    "task": lambda recall: recall.press("open"),
    "run": lambda recall: recall.press("diff").screen.shows("tomllib"),
    "agents": lambda recall: recall.press("agents"),
    "office": lambda recall: recall.press("office"),
    "history": lambda recall: recall.press("history"),
    "settings": lambda recall: recall.press("settings"),
    "help": lambda recall: recall.press("help"),
    "hold": lambda recall: recall.press("hold"),
}


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["120x40", "80x24"])
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen(gallery: Gallery, scene: tuple[Shop, ConflictView], name: str, size: tuple[int, int]) -> None:
    with driving(scene[0].session, size=size) as recall:
        _shown(recall)
        SCREENS[name](recall)
        gallery.hang(f"{name}-{size[0]}x{size[1]}", recall.app, _settling(recall))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["120x40", "80x24"])
@pytest.mark.parametrize("name", ["main", "office"])
def test_a_screen_in_the_light_theme(
    gallery: Gallery, scene: tuple[Shop, ConflictView], name: str, size: tuple[int, int]
) -> None:
    with driving(scene[0].session, size=size) as recall:
        recall.app.theme = "recall-light"
        _shown(recall)
        SCREENS[name](recall)
        gallery.hang(f"{name}-light-{size[0]}x{size[1]}", recall.app, _settling(recall))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["120x40", "80x24"])
def test_the_workbench(gallery: Gallery, scene: tuple[Shop, ConflictView], size: tuple[int, int]) -> None:
    shop, view = scene
    with driving(shop.session, size=size) as recall:
        _shown(recall)
        recall.calls(lambda: open_workbench(recall.app.front, view))
        recall.wait(lambda: isinstance(recall.app.screen, ConflictScreen))
        recall.keys("2")
        gallery.hang(f"workbench-{size[0]}x{size[1]}", recall.app, _settling(recall))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["120x40", "80x24"])
def test_the_first_start(gallery: Gallery, tmp_path: Path, size: tuple[int, int]) -> None:
    checkout = tmp_path / "shop"
    checkout.mkdir()
    found = Found("trunk", VerifyGuess("make check", "Makefile has a goal check"), ("codex",), ("claude", "codex"))

    async def body(app: SetUpApp, pilot: Pilot[bool]) -> None:
        app.animation_level = "none"
        claims: list[Callable[[], bool]] = []
        await pilot.pause(_STILL)
        gallery.hang(f"first-start-{size[0]}x{size[1]}", app, claims.append)

    run_app(SetUpApp(checkout, found, UNICODE), size, body)


@pytest.mark.skipif(os.environ.get("SNAPSHOTS") == "write", reason="what is accepted is being written")
def test_nothing_is_accepted_that_no_test_shows() -> None:
    shown = {*SCREENS, "main-light", "office-light", "workbench", "first-start"}
    names = {f"{name}-{width}x{height}.txt" for name in shown for width, height in (WIDE, NARROW)}
    names |= {name.replace(".txt", ".svg") for name in names if _has_picture(name.removesuffix(".txt"))}
    assert {file.name for file in _ACCEPTED.iterdir()} == names
