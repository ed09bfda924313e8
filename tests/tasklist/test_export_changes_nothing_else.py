"""Writing states back: boxes, signs and status fields change, every other byte stays."""

from __future__ import annotations

import pytest

from recall.domain.task import TaskState
from recall.tasklist import parse, render_status

S = TaskState


@pytest.mark.parametrize(
    ("before", "state", "after"),
    [
        ("- [ ] T-1 a", S.DONE, "- [x] T-1 a"),
        ("- [x] T-1 a", S.TODO, "- [ ] T-1 a"),
        ("- [X] T-1 a", S.DONE, "- [X] T-1 a"),
        ("- [ ] T-1 a", S.CANCELLED, "- [-] T-1 a"),
        ("- [ ] T-1 a", S.IN_PROGRESS, "- [~] T-1 a"),
        ("- [ ] T-1 a", S.LANDING, "- [~] T-1 a"),
        ("- [ ] T-1 a", S.NEEDS_PERSON, "- [~] T-1 a"),
        ("- [/] T-1 a", S.ON_HOLD, "- [/] T-1 a"),
        ("- [/] T-1 a", S.DONE, "- [x] T-1 a"),
        ("- [] T-1 a", S.TODO, "- [ ] T-1 a"),
        ("- [ ]* 2. a", S.DONE, "- [x]* 2. a"),
        ("- 2.1 [ ] a", S.DONE, "- 2.1 [x] a"),
        ("- 2. [ ] a", S.DONE, "- 2. [x] a"),
        ("1) [ ] T-1 [ ] a", S.DONE, "1) [x] T-1 [ ] a"),
        ("- 🟢 T-1 a", S.DONE, "- ✅ T-1 a"),
        ("- [ ] **Fleet**\n  - **ID:** T-1", S.DONE, "- [x] **Fleet**\n  - **ID:** T-1"),
        ("## T-1 a\n**Status**: TODO (since May)", S.DONE, "## T-1 a\n**Status**: DONE (since May)"),
        ("## T-1 a\nStatus: ✅ Done", S.TODO, "## T-1 a\nStatus: ⏳ Todo"),
        ("## T-1 a\nStatus: todo", S.IN_PROGRESS, "## T-1 a\nStatus: in progress"),
        ("## T-1 a [DONE]", S.TODO, "## T-1 a [TODO]"),
        ("## T-1 a", S.DONE, "## T-1 a"),
        (
            "| ID | Task | Status |\n|-|-|-|\n| T-1 | `x \\| todo` | ⏳ Todo |",
            S.DONE,
            "| ID | Task | Status |\n|-|-|-|\n| T-1 | `x \\| todo` | ✅ Done |",
        ),
        ("| ID | Done | Task | Status |\n|-|-|-|-|\n| T-1 | [ ] | a | [ ] |", S.DONE,
         "| ID | Done | Task | Status |\n|-|-|-|-|\n| T-1 | [ ] | a | [x] |"),
    ],
)  # fmt: skip
def test_one_place_changes(before: str, state: TaskState, after: str) -> None:
    id = parse(before.encode()).tasks[0].id
    assert render_status(before.encode(), {id: state}).decode() == after


def test_every_other_byte_stays() -> None:
    before = b"\xef\xbb\xbf- [ ] T-1 caf\xe9 \xe8\xb2\xb7\r\n\tbody \x00\xff\r\n- \xe2\x9c\x85 T-2 b  \r- [x] T-3 c"
    after = before.replace(b"[ ] T-1", b"[x] T-1").replace(b"[x] T-3", b"[ ] T-3")
    assert render_status(before, {"T-1": S.DONE, "T-2": S.DONE, "T-3": S.TODO, "T-9": S.DONE}) == after


def test_a_doubled_id_is_left_alone() -> None:
    before = b"- [ ] T-1 a\n- [ ] T-1 b\n- [ ] T-2 c\n"
    assert render_status(before, {"T-1": S.DONE, "T-2": S.DONE}) == b"- [ ] T-1 a\n- [ ] T-1 b\n- [x] T-2 c\n"


def test_boxes_in_code_and_criteria_stay() -> None:
    before = b"## T-1 a\nStatus: todo\n- [ ] works\n\n```\n- [ ] T-1 a\n```\n"
    assert render_status(before, {"T-1": S.DONE}) == before.replace(b"Status: todo", b"Status: done")


@pytest.mark.parametrize("state", [S.TODO, S.DONE, S.CANCELLED, S.ON_HOLD])
@pytest.mark.parametrize(
    "form", ["- [ ] T-1 a", "- [x] T-1 a", "- ❌ T-1 a", "## T-1 a\nStatus: blocked", "- [ ] T-1 a\n  - Status: done"]
)
def test_what_was_written_is_what_is_read(form: str, state: TaskState) -> None:
    assert parse(render_status(form.encode(), {"T-1": state})).tasks[0].status is state
