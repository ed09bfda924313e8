"""In a conflict a person sees what each side made of the base, line by line, and what is going to land."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from recall.domain.conflict import Hunk
from recall_widgets.hunk_lines import side_lines
from recall_widgets.hunk_view import HunkShown, HunkView
from tests.support.pilot import SIZES, run_app, screen_lines
from tests.widgets.stage import Stage

BASE = b"def load(path):\n    data = json.load(path)\n    check(data)\n    return data\n"
MAIN = b"def load(path):\n    data = tomllib.load(path)\n    check(data)\n    return data\n"
TASK = b"def load(path, strict=True):\n    data = json.load(path)\n    return data\n"


def texts(side: bytes, base: bytes | None = None, first: int | None = None) -> list[str]:
    return ["".join(span.text for span in line) for line in side_lines(side, base, first)]


def test_what_a_side_changed_is_marked_and_what_it_dropped_is_said() -> None:
    assert texts(TASK, BASE, 38) == [
        "38 + def load(path, strict=True):",
        "39       data = json.load(path)",
        "- 1 line of the base gone",
        "40       return data",
    ]


def test_numbers_are_right_aligned_and_ends_of_lines_do_not_count() -> None:
    assert texts(b"a\nb", b"a\n", 9) == [" 9   a", "10 + b"]
    assert texts(b"a\r\nb\r\n") == ["a␍", "b␍"]
    assert texts(b"", b"gone\ntoo\n", 1) == ["- 2 lines of the base gone"]
    assert texts(b"") == ["nothing"]


def test_a_huge_hunk_is_shown_without_comparing() -> None:
    side = b"".join(b"%d\n" % number for number in range(30_000))
    assert len(texts(side, b"x\n" * 30_000, 1)) == 30_000


def drawn(app: Stage) -> str:
    return "\n".join(screen_lines(app))


@pytest.mark.parametrize("size", SIZES)
def test_both_sides_and_the_result_are_in_sight_at_every_size(size: tuple[int, int]) -> None:
    view = HunkView()

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(HunkShown(Hunk(MAIN, BASE, TASK, 41, 38), "main (T-B02)", "T-B07", TASK, "task"))
        await pilot.pause()
        for title in ("main (T-B02)", "T-B07", "result: task"):
            assert title in drawn(app)

    run_app(Stage(view), size, body)


def test_the_base_is_a_key_away() -> None:
    view = HunkView()
    shown = HunkShown(Hunk(MAIN, BASE, TASK, 41, 38), "main", "T-B07")

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(shown)
        view.focus()
        await pilot.press("b")
        await pilot.pause()
        assert view.shows_base
        assert "╭─ base" in drawn(app)
        assert any(line.startswith("│     check(data)") for line in screen_lines(app)[9:])
        await pilot.press("b")
        await pilot.pause()
        assert "╭─ result" in drawn(app)

    run_app(Stage(view), (120, 20), body)


def test_the_sides_scroll_together_and_stay_while_the_result_changes() -> None:
    view = HunkView()
    long = b"".join(b"line %d\n" % number for number in range(200))
    hunk = Hunk(long, b"", long, 1, 1)

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(HunkShown(hunk))
        view.focus()
        await pilot.press("pagedown", "down")
        await pilot.pause()
        before = screen_lines(app)[1]
        assert before.count("line 0") == 0
        left, right = before[1:59].strip(), before[61:119].strip()
        assert left.strip("│ ▁▂▃▄▅▆▇█") == right.strip("│ ▁▂▃▄▅▆▇█")
        view.show(HunkShown(hunk, result=long, how="main"))
        await pilot.pause()
        assert screen_lines(app)[1] == before

    run_app(Stage(view), (120, 20), body)
