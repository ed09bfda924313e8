"""A Textual app for the length of one test, without a plugin: `run_app(app, size, body)`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from textual.app import App
from textual.pilot import Pilot

AppT = TypeVar("AppT", bound=App[Any])
Body: TypeAlias = Callable[[AppT, Pilot[Any]], Awaitable[None]]

NARROW, WIDE, TINY = (80, 24), (120, 40), (40, 10)
SIZES = (NARROW, WIDE, TINY)


def run_app(app: AppT, size: tuple[int, int], body: Body[AppT]) -> None:
    """Run the app without a terminal and hand it to `body`; an error inside the app fails the test."""

    async def whole() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await body(app, pilot)

    asyncio.run(whole())


def screen_lines(app: App[Any]) -> list[str]:
    """What stands on the screen, a string for each line; the cells beside wide characters hold nothing."""
    width, height = app.size
    lines = [""] * height
    for y, strip in enumerate(app.screen._compositor.render_strips()[:height]):  # pyright: ignore[reportPrivateUsage] - the only way to the drawn screen
        lines[y] = strip.crop(0, width).text
    return lines
