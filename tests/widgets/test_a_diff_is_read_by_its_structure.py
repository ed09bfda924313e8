"""What a diff's line is follows from where it stands; everything in it can be seen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from recall_widgets.diff_lines import DiffKind, read_diff
from recall_widgets.diff_view import DiffView
from recall_widgets.visible import visible
from tests.support.pilot import run_app, screen_lines
from tests.widgets.stage import FORBIDDEN, HOSTILE, Stage

DIFF = """\
diff --git a/one.sql b/one.sql
index 1..2 100644
--- a/one.sql
+++ b/one.sql
@@ -1,3 +1,3 @@ create
 same
--- a comment that goes
+++ a comment that comes
 diff --git is only text here
\\ No newline at end of file
@@ -9 +9,0 @@
-last
diff --git a/two b/two
old mode 100644
new mode 100755
"""


def test_a_changed_line_that_looks_like_a_header_is_a_changed_line() -> None:
    assert [line.kind for line in read_diff(DIFF)] == [
        DiffKind.FILE,
        DiffKind.NOTE,
        DiffKind.NOTE,
        DiffKind.NOTE,
        DiffKind.HUNK,
        DiffKind.SAME,
        DiffKind.REMOVED,
        DiffKind.ADDED,
        DiffKind.SAME,
        DiffKind.NOTE,
        DiffKind.HUNK,
        DiffKind.REMOVED,
        DiffKind.FILE,
        DiffKind.NOTE,
        DiffKind.NOTE,
    ]
    assert read_diff("") == []


@given(st.text())
def test_no_line_is_lost(text: str) -> None:
    assert "\n".join(line.text for line in read_diff(text)) == text.removesuffix("\n")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain", "plain"),
        ("a\tb", "a   b"),
        ("x\x1b[31mred", "x␛[31mred"),
        ("x\rhidden", "x␍hidden"),
        ("a\u202eb\u200bc", "a<U+202E>b<U+200B>c"),
        ("a\x9bb\x7f", "a<U+009B>b␡"),
        ("x" * 8195, "x" * 8192 + "… 3 more characters"),
    ],
)
def test_what_a_terminal_would_hide_is_seen(text: str, seen: str) -> None:
    assert visible(text) == seen


@given(st.text() | st.sampled_from(HOSTILE))
def test_what_is_seen_commands_nothing(text: str) -> None:
    assert not FORBIDDEN & set(visible(text))


def test_files_and_hunks_are_a_key_apart() -> None:
    view = DiffView()

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(DIFF + "\n".join(f"note {number}" for number in range(40)))
        view.focus()
        tops: list[str] = []
        for key in ("right_square_bracket", "right_square_bracket", "left_square_bracket", "J", "K", "K"):
            await pilot.press(key)
            await pilot.pause()
            tops.append(screen_lines(app)[0].split()[0:2][-1])
        assert tops == ["-1,3", "-9", "-1,3", "--git", "--git", "--git"]
        assert view.scroll_offset.y == 0

    run_app(Stage(view), (80, 10), body)


def test_a_diff_is_searched_like_a_log() -> None:
    view = DiffView()

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        view.show(DIFF)
        view.focus()
        view.search("comment")
        await pilot.press("n", "n")
        await pilot.pause()
        assert [message.line for message in app.of(DiffView.Searched)] == [6, 7, 6]

    run_app(Stage(view), (80, 10), body)
