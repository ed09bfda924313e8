"""A transcript of any size is shown from its file: followed, scrolled, searched, and never obeyed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from textual.pilot import Pilot

from recall_widgets.log_view import LogView
from recall_widgets.spans import Span
from tests.support.pilot import SIZES, run_app, screen_lines
from tests.widgets.stage import CASES, HOSTILE, Stage, assert_harmless
from tests.widgets.texts import Text


def numbered(count: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(count))


async def settled(view: LogView, pilot: Pilot[Any]) -> None:
    await pilot.pause()
    while not view.caught_up:
        await pilot.pause()
    await pilot.pause()


def lines(app: Stage) -> list[str]:
    return [line.rstrip(" ▁▂▃▄▅▆▇█") for line in screen_lines(app)]


def test_it_opens_at_the_end_and_follows() -> None:
    view, text = LogView(), Text(numbered(1000))

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        assert lines(app)[-1] == "line 999"
        text.data += b"one more\nhalf"
        view.grew(len(text.data))
        await settled(view, pilot)
        assert lines(app)[-2:] == ["one more", "half"]
        text.data += b" a line\n"
        view.grew(len(text.data))
        await settled(view, pilot)
        assert lines(app)[-1] == "half a line"
        assert view.following

    run_app(Stage(view), (80, 24), body)


def test_who_scrolls_back_is_left_in_peace_and_comes_back_with_a_key() -> None:
    view, text = LogView(), Text(numbered(1000))

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.focus()
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        await pilot.press("k", "pageup")
        before = lines(app)
        assert not view.following
        text.data += numbered(500)
        view.grew(len(text.data))
        await settled(view, pilot)
        assert lines(app) == before
        await pilot.press("G")
        await pilot.pause()
        assert lines(app)[-1] == "line 499"
        assert [message.following for message in app.of(LogView.FollowChanged)] == [False, True]
        await pilot.press("g")
        await pilot.pause()
        assert lines(app)[0] == "line 0"

    run_app(Stage(view), (80, 24), body)


def test_a_line_that_grows_is_drawn_again_alone() -> None:
    view, text = LogView(), Text(b"first\n10%")

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        text.data += b"\r20%\r"
        view.grew(len(text.data))
        await settled(view, pilot)
        assert lines(app)[:3] == ["first", "20%", ""]

    run_app(Stage(view), (80, 24), body)


def test_a_million_lines_are_scrolled_through_without_being_held() -> None:
    view, text = LogView(), Text(numbered(1_000_000))

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        assert lines(app)[-1] == "line 999999"
        text.given = 0
        for line in (500_000, 3, 777_777):
            view.scroll_to(y=line, animate=False)
            await pilot.pause()
            assert lines(app)[0] == f"line {line}"
        assert text.given < 1_000_000

    run_app(Stage(view), (80, 24), body)


@pytest.mark.parametrize(
    ("keys", "needle", "found"),
    [
        ([], "line 70", [70]),
        (["n"], "LINE 70", [None]),
        (["n", "n"], "line 70", [70, 700, 701]),
        (["N"], "line 70", [70, 709]),
        (["n"], "line 1999", [1999, 1999]),
        ([], "nowhere", [None]),
        ([], "unfinished", [2000]),
    ],
)
def test_search_goes_on_and_back_and_round(keys: list[str], needle: str, found: list[int | None]) -> None:
    view, text = LogView(), Text(numbered(2000) + b"unfinished")

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.focus()
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        await pilot.press("g")
        view.search(needle)
        for key in keys:
            await pilot.pause()
            await pilot.press(key)
        await pilot.pause()
        while len(app.of(LogView.Searched)) < len(found):
            await pilot.pause()
        assert [message.line for message in app.of(LogView.Searched)][: len(found)] == found
        last = found[-1]
        if last is not None:
            assert any(needle in line for line in lines(app))

    run_app(Stage(view), (80, 24), body)


def test_search_finds_what_is_shown_not_what_is_stored() -> None:
    view, text = LogView(), Text(numbered(100) + b"\x1b[31mFAI\x1b[1mLED\x1b[0m\n10%\rdone\n")

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        for needle, line in (("failed", 100), ("10%", None), ("done", 101)):
            view.search(needle)
            await pilot.pause()
            assert app.of(LogView.Searched)[-1].line == line

    run_app(Stage(view), (80, 24), body)


def present(raw: str) -> Sequence[Sequence[Span]]:
    event = json.loads(raw)
    return [[Span(line)] for line in event.get("text", "").splitlines()]


def test_events_are_shown_as_their_owner_presents_them() -> None:
    events = [{"text": f"say {number}\nand more"} if number % 2 else {"quiet": number} for number in range(400)]
    raw = "".join(json.dumps(event) + "\n" for event in events)
    view, text = LogView(), Text(raw.encode() + b'{"text": "ha')

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(text.read, len(text.data), present=present)
        await settled(view, pilot)
        assert view.line_count == 400
        assert lines(app)[-2:] == ["say 399", "and more"]
        text.data += b'lf"}\n'
        view.grew(len(text.data))
        await settled(view, pilot)
        assert lines(app)[-1] == "half"
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        assert view.line_count == 401

    run_app(Stage(view), (80, 24), body)


def test_long_lines_are_capped_and_can_be_scrolled_sideways() -> None:
    view, text = LogView(), Text(b"<" + b"x" * 20_000 + b">\n" + b"p" * 9000 + b"\r100%\n")

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.focus()
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        assert lines(app)[0] == "<" + "x" * 78 + "…"
        assert lines(app)[1] == "100%"
        await pilot.press("l")
        await pilot.pause()
        assert lines(app)[0].startswith("xxx")
        view.scroll_to(x=8150, animate=False)
        await pilot.pause()
        assert "… 11.5 KiB more" in lines(app)[0]

    run_app(Stage(view), (80, 24), body)


@pytest.mark.parametrize("size", SIZES)
def test_what_an_agent_prints_is_shown_and_never_obeyed(size: tuple[int, int]) -> None:
    view, text = LogView(), Text("\n".join(HOSTILE).encode() + b"\ncaf\xe9\n\xf0\x9f\n")

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        view.action_first()
        await pilot.pause()
        assert_harmless(screen_lines(app))
        assert app.is_running

    run_app(Stage(view), size, body)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_text_from_the_wild_keeps_what_a_reader_would_see(case: dict[str, Any]) -> None:
    view, text = LogView(), Text(case["input"]["text"].removesuffix("\n").encode() + b"\n")

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        assert lines(app)[0] == case["expected"]["plain"]

    run_app(Stage(view), (80, 24), body)


def test_bytes_that_are_gone_are_said_to_be() -> None:
    text = Text(numbered(10).ljust(4000, b".") + b"rest\n", dropped=(70, 4000))
    view = LogView()

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(text.read, len(text.data))
        await settled(view, pilot)
        assert "… 3.8 KiB not kept" in lines(app)
        assert "rest" in lines(app)
        view.show(None)
        await pilot.pause()
        assert lines(app) == [""] * 24

    run_app(Stage(view), (80, 24), body)
