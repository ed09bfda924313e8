"""Headings, items, tables: all the forms in which people and planning tools write tasks."""

from __future__ import annotations

import pytest

from recall.tasklist import Severity, runnable
from tests.tasklist.reading import after, ids, problems, read, task


@pytest.mark.parametrize(
    ("line", "id", "title"),
    [
        ("## T-B02 Parse the config", "T-B02", "Parse the config"),
        ("### T-B02: Parse the config", "T-B02", "Parse the config"),
        ("#### [TASK-001] – Parse", "TASK-001", "Parse"),
        ("## `T-7` Parse", "T-7", "Parse"),
        ("##### **T-7** Parse", "T-7", "Parse"),
        ("## **T-7: Parse**", "T-7", "Parse"),
        ("T-7 Parse\n---------", "T-7", "Parse"),
        ("### 3. Parse", "3", "Parse"),
        ("### Task 3: Parse", "3", "Parse"),
        ("## **Task 3: Parse**", "3", "Parse"),
        ("## T-7 · Parse", "T-7", "Parse"),
        ("## 🚀 T-7: Parse", "T-7", "Parse"),
        ("- [x] [T-7: Parse](./t7.md)", "T-7", "Parse"),
        ("## T-7", "T-7", "T-7"),
        ("- [ ] T-B02: Parse", "T-B02", "Parse"),
        ("* [ ] **T-001** — Lay out", "T-001", "Lay out"),
        ("+ [ ] **T-001:** Lay out", "T-001", "Lay out"),
        ("- [ ] **T-001: Lay out** the rest", "T-001", "Lay out the rest"),
        ("1. [ ] T-001 Lay out", "T-001", "Lay out"),
        ("- [ ] T003 [P] [US1] Model in src/m.py", "T003", "Model in src/m.py"),
        ("- [ ] 1.2 Write migrations", "1.2", "Write migrations"),
        ("- [ ] 1. Set up", "1", "Set up"),
        ("- 2.1 [ ] sub item", "2.1", "sub item"),
        ("- 2. [ ] main item", "2", "main item"),
        ("- [ ] [T-9](https://example.org/T-9) Linked", "T-9", "Linked"),
        ("- [ ] T028b One more", "T028b", "One more"),
        ("- [ ] t1 Small", "t1", "Small"),
        ("- [ ] oauth2: Sign in", "oauth2", "Sign in"),
        ("- [ ] **e2e** Tests", "e2e", "Tests"),
        ("- [ ] T-1_x.y A path", "T-1_x.y", "A path"),
        ("- ✅ T-1 Finished", "T-1", "Finished"),
        ("- [ ] T-1 買牛奶 🥛", "T-1", "買牛奶 🥛"),
        ("- [ ] T-1 a <!-- hidden --> b", "T-1", "a b"),
        ("-\n  [ ] T-1 on the next line", "T-1", "on the next line"),
    ],
)
def test_id_and_title(line: str, id: str, title: str) -> None:
    found = read(line)
    assert [(each.id, each.title) for each in found.tasks] == [(id, title)]
    assert found.ok


@pytest.mark.parametrize(
    "line",
    [
        "# T-1 The document",
        "## Phase 1: Setup",
        "## 2024-11-30 notes",
        "## v1.2 Release",
        "## 3 things",
        "## T-1, T-2 and T-3",
        "T-1 in prose",
        "- T-1 in a plain list",
        "- [T-1] a reference",
        "- [1] a footnote",
        "- [link](x)",
        "> - [ ] T-1 quoted",
        "    - [ ] T-1 indented code",
        "```\n- [ ] T-1 fenced\n```",
        "<!--\n- [ ] T-1 hidden\n-->",
        "`- [ ] T-1 inline code`",
        "---\ntitle: x\nlist:\n  - [ ] T-1 front matter\n---",
        "+++\ntitle = 1\n- [ ] T-1 x\n+++",
    ],
)
def test_what_is_no_task(line: str) -> None:
    found = read(line)
    assert (found.tasks, found.ok) == ((), True)


def test_an_id_is_taken_from_the_field_below_the_item() -> None:
    found = read(
        """
        - [ ] **Fleet: show**
          - **ID:** T-045
          - **Blocked by:** T-046
        - [ ] **Fleet: hide**
          ID: T-046
        """
    )
    assert [(each.id, each.title) for each in found.tasks] == [("T-045", "Fleet: show"), ("T-046", "Fleet: hide")]
    assert after(found, "T-045") == ["T-046"]


def test_items_without_an_id_get_a_stable_one() -> None:
    found = read("# List\n- [ ] Draw the map\n- [x] 買牛奶\n- [ ] Draw the map\n")
    assert ids(found) == ["auto-draw-the-map", "auto-6ce6dcc7", "auto-draw-the-map-2"]
    assert problems(found) == [("automatic_id", 2), ("automatic_id", 3), ("automatic_id", 4)]


def test_a_box_without_an_id_below_a_plain_item_is_said_to_be_unread() -> None:
    found = read("- Backend\n  - [ ] do it\n  - [ ] T-1 do that\n")
    assert ids(found) == ["T-1"]
    assert problems(found) == [("not_a_task", 2)]


@pytest.mark.parametrize(
    "title", ["e2e tests", "OAuth2 login", "3D view", "2nd try", "100% covered", "5 apples", "v1.2 out"]
)
def test_words_with_digits_are_no_ids_unless_marked_as_such(title: str) -> None:
    (only,) = read(f"- [ ] {title}\n").tasks
    assert (only.id.startswith("auto-"), only.title) == (True, title)


@pytest.mark.parametrize("placeholder", ["TXXX", "T###", "T-XXX", "{{task id}}", "T-NNN"])
def test_placeholders_are_skipped_with_a_note(placeholder: str) -> None:
    found = read(f"- [ ] {placeholder} Title\n- [ ] T-1 Real\n")
    assert ids(found) == ["T-1"]
    assert problems(found) == [("placeholder", 1)]


def test_a_chinese_table_is_a_task_table() -> None:
    found = read(
        """
        | 編號 | 任務 | 前置任務 | 狀態 | 優先級 | 備註 |
        |---|---|---|---|---|---|
        | T-1 | 畫地圖 | 無 | ✅ 已完成 | 高 | |
        | T-2 | 讀檔 | T-1 | 待辦 | 低 | 小心 |
        | `T-3` | 存檔 | T-1、T-2 | | | |
        """
    )
    assert [(each.id, each.title, each.status.value, each.priority) for each in found.tasks] == [
        ("T-1", "畫地圖", "done", 10),
        ("T-2", "讀檔", "todo", -10),
        ("T-3", "存檔", "todo", 0),
    ]
    assert after(found, "T-3") == ["T-1", "T-2"]
    assert task(found, "T-2").body == "備註: 小心"
    assert runnable(found.tasks) == {"T-2"}


@pytest.mark.parametrize(
    "header",
    ["Word | Meaning", "# | Name", "Name | Date | Signature", "Status | Meaning", "ID | Status"],
)
def test_legends_and_approvals_are_no_task_tables(header: str) -> None:
    width = header.count("|") + 1
    found = read(f"| {header} |\n|{'---|' * width}\n|{'1 |' * width}\n")
    assert (found.tasks, found.ok) == ((), True)


def test_a_row_without_an_id_is_reported() -> None:
    found = read("| ID | Task | Status |\n|-|-|-|\n| | Forgotten | todo |\n| T-1 | Kept | todo |\n")
    assert ids(found) == ["T-1"]
    assert problems(found) == [("not_a_task", 3)]


def test_a_table_under_a_heading_task_needs_ids_of_its_family() -> None:
    found = read("## T-1 Epic\n\n| ID | Task | Status |\n|-|-|-|\n| T-2 | Sub | todo |\n| R-1 | Risk | open |\n")
    assert [(each.id, each.parent, each.is_group) for each in found.tasks] == [
        ("T-1", None, True),
        ("T-2", "T-1", False),
    ]


def test_spec_kit_lists_are_read_whole() -> None:
    found = read(
        """
        # Tasks: Photo albums
        **Prerequisites**: plan.md (required), research.md

        ## Phase 1: Setup
        - [ ] T001 Create the structure
        - [X] T002 [P] Configure linting
        ## Phase 3: User Story 1 (Priority: P1)
        - [ ] T010 [P] [US1] Model in src/m.py (depends on T001, T002)
        - [ ] TXXX [P] Template line

        ## Dependencies & Execution Order
        - **Setup (Phase 1)**: No dependencies
        """
    )
    assert ids(found) == ["T001", "T002", "T010"]
    assert after(found, "T010") == ["T001", "T002"]
    assert found.ok
    assert runnable(found.tasks) == {"T001"}


def test_numbered_headings_own_the_boxes_that_continue_their_number() -> None:
    found = read("## 1. Build\n- [ ] 1.1 Schema\n- [x] 1.2 Code\n## 2. Test\n- [ ] 2.1 Run\n- [ ] 7 other\n")
    assert [(each.id, each.parent) for each in found.tasks] == [
        ("1", None), ("1.1", "1"), ("1.2", "1"), ("2", None), ("2.1", "2"),
    ]  # fmt: skip


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", [True, False])
def test_byte_order_marks_and_line_ends_do_not_matter(line_end: str, bom: bytes, last: bool) -> None:
    from recall.tasklist import parse

    text = "- [ ] T-1 One\n\t- after: T-2\n- [x] T-2 Two" + ("\n" if last else "")
    found = parse(bom + text.replace("\n", line_end).encode())
    assert [(each.id, each.title, each.line) for each in found.tasks] == [("T-1", "One", 1), ("T-2", "Two", 3)]
    assert after(found, "T-1") == ["T-2"]
    assert found.problems == ()


def test_tasks_after_a_rule_at_the_top_are_not_front_matter() -> None:
    assert ids(read("---\n\n- [ ] T-1 One\n\n---\n\n- [ ] T-2 Two\n")) == ["T-1", "T-2"]


@pytest.mark.parametrize(
    ("line", "type"),
    [
        ("-[ ] T-1 no blank", "not_a_task"),
        ("- \\[x\\] T-1 escaped", "not_a_task"),
        ("text\n2. [ ] T-1 in a paragraph", "not_a_task"),
        ("<div>\n- [ ] T-1 x\n</div>", "task_in_html"),
        ("# T-1 Level one", "heading_level"),
        ("```\n- [ ] T-1 x", "unclosed_fence"),
        ("<!--\n- [ ] T-1 x", "unclosed_comment"),
        ("- [ ] T-1, T-2 both", "not_a_task"),
        ("## Some title\n- **ID**: T-1", "not_a_task"),
        ("| Nr | What |\n|-|-|\n| T-1 | x |", "not_a_task"),
    ],
)
def test_what_might_have_been_meant_as_a_task_is_said_to_be_unread(line: str, type: str) -> None:
    found = read(line)
    assert found.tasks == ()
    assert type in [kind for kind, _ in problems(found, Severity.WARNING)]
