"""What boxes, signs and words mean when a task is seen for the first time."""

from __future__ import annotations

import pytest

from tests.tasklist.reading import problems, read, task


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("- [ ] T-1 a", "todo"),
        ("- [\u00a0] T-1 a", "todo"),
        ("- [x] T-1 a", "done"),
        ("- [X] T-1 a", "done"),
        ("- [ x ] T-1 a", "done"),
        ("- [✅] T-1 a", "done"),
        ("- [-] T-1 a", "cancelled"),
        ("- [❌] T-1 a", "cancelled"),
        ("- [~] T-1 a", "on_hold"),
        ("- [ ]* T-1 a", "on_hold"),
        ("- [x]* T-1 a", "done"),
        ("- ✅ T-1 a", "done"),
        ("- ❌ T-1 a", "cancelled"),
        ("- ⏸️ T-1 a", "on_hold"),
        ("- 🟢 T-1 a", "todo"),
        ("- 🐙 T-1 a", "on_hold"),
        ("- [?] T-1 a", "on_hold"),
        ("- [] T-1 a", "on_hold"),
        ("- [DONE] T-1 a", "done"),
        ("## ✅ T-1 a", "done"),
        ("## T-1 a ✅", "done"),
        ("## T-1 a [DONE]", "done"),
        ("## T-1 a (wip)", "on_hold"),
        ("## [x] T-1 a", "done"),
        ("- [x] T-1 a ✅ 2026-01-31", "done"),
        ("- [ ] T-1 Add a ✅", "on_hold"),
        ("- [ ] ~~T-1 a~~", "on_hold"),
        ("- [x] ~~T-1 a~~", "done"),
        ("- [ ] T-1 Handle what is new (open)", "todo"),
    ],
)
def test_marks(line: str, status: str) -> None:
    assert task(read(line), "T-1").status.value == status


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("todo", "todo"),
        ("Open", "todo"),
        ("READY", "todo"),
        ("not started", "todo"),
        ("⏳ Todo", "todo"),
        ("", "todo"),
        ("-", "todo"),
        ("**Done**", "done"),
        ("✅ Done (2026-01-31)", "done"),
        ("✅", "done"),
        ("`closed`", "done"),
        ("[x]", "done"),
        ("已完成", "done"),
        ("in progress", "on_hold"),
        ("IN_PROGRESS", "on_hold"),
        ("🔄 In progress (50 %)", "on_hold"),
        ("doing", "on_hold"),
        ("進行中", "on_hold"),
        ("🚫 Blocked by the network", "on_hold"),
        ("cancelled", "cancelled"),
        ("❌", "cancelled"),
        ("not done", "on_hold"),
        ("done except for the docs", "on_hold"),
        ("who knows", "on_hold"),
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        "## T-1 a\n**Status**: {0}\n",
        "## T-1 a\n- 狀態: {0}\n",
        "| ID | Task | Status |\n|-|-|-|\n| T-1 | a | {0} |\n",
    ],
)
def test_words(form: str, value: str, status: str) -> None:
    assert task(read(form.format(value)), "T-1").status.value == status


@pytest.mark.parametrize(
    ("text", "type", "line"),
    [
        ("- [/] T-1 a", "unknown_mark", 1),
        ("## T-1 a\nStatus: who knows", "unknown_status", 2),
        ("## T-1 a\nStatus: in progress", "imported_on_hold", 2),
        ("- 🔵 T-1 a", "imported_on_hold", 1),
        ("- [x] T-1 a\n  Status: todo", "status_conflict", 2),
        ("- [x] T-1 a\n  Status: in progress", "status_conflict", 2),
    ],
)
def test_what_is_held_for_doubt_is_said_with_its_place(text: str, type: str, line: int) -> None:
    found = read(text)
    assert (task(found, "T-1").status.value, problems(found)) == ("on_hold", [(type, line)])


def test_a_group_in_progress_holds_nothing_back() -> None:
    found = read("## T-0 Epic\nStatus: in progress\n- [ ] T-1 a\n- [x] T-2 b\n")
    assert [each.status.value for each in found.tasks] == ["todo", "todo", "done"]
    assert found.problems == ()
