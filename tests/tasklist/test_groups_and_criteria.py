"""What belongs to a task: its text, its criteria, its sub-tasks."""

from __future__ import annotations

from recall.tasklist import Severity, runnable
from tests.tasklist.reading import after, ids, problems, read, task


def test_a_heading_task_owns_all_down_to_the_next_heading_of_its_level() -> None:
    found = read("## T-1 One\nText.\n### Notes\nMore.\n## Other\nNot its own.\n## T-2 Two\n")
    assert task(found, "T-1").body == "Text.\n### Notes\nMore."
    assert task(found, "T-2").body == ""


def test_an_item_owns_its_indented_continuation_without_fields_and_sub_tasks() -> None:
    found = read(
        """
        - [ ] T-1 One
          goes on

          - a point
          - after: none
          - [ ] T-2 Two
            its own text

          ```sh
          make
          ```
        """
    )
    assert task(found, "T-1").body == "goes on\n\n- a point\n\n```sh\nmake\n```"
    assert task(found, "T-2").body == "its own text"


def test_boxes_under_a_heading_task_are_criteria_unless_of_its_family() -> None:
    found = read(
        """
        ## T-1 Epic
        - [ ] works
        - [ ] AC1: starts
        - [ ] 2. second
        - [ ] T-2 Child
        - [ ] X-9 stranger

        **Acceptance criteria**:
        - [ ] T-3 is read
        """
    )
    assert ids(found) == ["T-1", "T-2"]
    assert "- [ ] AC1: starts" in task(found, "T-1").body
    assert "- [ ] T-3 is read" in task(found, "T-1").body
    assert problems(found, Severity.NOTE) == [("read_as_criterion", 7)]


def test_a_sub_heading_label_makes_boxes_criteria() -> None:
    found = read("## T-1 One\n### Definition of done\n- [ ] T-2 looks like a task\n### More\n- [ ] T-3 is one\n")
    assert ids(found) == ["T-1", "T-3"]


def test_a_nested_id_makes_its_parent_a_group_that_nobody_runs() -> None:
    found = read("- [ ] T-1 Epic\n  - [ ] T-2 One\n    - [ ] T-3 Deeper\n- [ ] Phase\n  - [ ] T-4 Four\n")
    assert [(each.id, each.parent, each.is_group) for each in found.tasks] == [
        ("T-1", None, True),
        ("T-2", "T-1", True),
        ("T-3", "T-2", False),
        ("auto-phase", None, True),
        ("T-4", "auto-phase", False),
    ]
    assert runnable(found.tasks) == {"T-3", "T-4"}


def test_a_heading_with_an_id_below_a_heading_task_is_its_sub_task() -> None:
    found = read("## EPIC-1 Big\nIntro.\n### T-1 Small\nText.\n### T-2 Other\n## EPIC-2 Next\n")
    assert [(each.id, each.parent) for each in found.tasks] == [
        ("EPIC-1", None), ("T-1", "EPIC-1"), ("T-2", "EPIC-1"), ("EPIC-2", None),
    ]  # fmt: skip
    assert (task(found, "EPIC-1").body, task(found, "T-1").body) == ("Intro.", "Text.")


def test_what_a_group_waits_for_its_sub_tasks_wait_for() -> None:
    found = read("- [ ] T-1 Base\n- [ ] T-2 Epic (after: T-1)\n  - [ ] T-3 Sub\n    - [ ] T-4 Sub-sub\n")
    assert (after(found, "T-3"), after(found, "T-4")) == (["T-1"], ["T-1"])
    assert runnable(found.tasks) == {"T-1"}


def test_a_group_is_done_when_its_sub_tasks_are() -> None:
    done = "- [ ] T-1 Epic\n  - [x] T-2 a\n  - [-] T-3 b\n- [ ] T-4 c (after: T-1)\n"
    assert runnable(read(done).tasks) == {"T-4"}
    still_open = done.replace("[x]", "[ ]").replace("[ ] T-1", "[x] T-1")
    found = read(still_open)
    assert runnable(found.tasks) == {"T-2"}
    assert problems(found) == [("parent_done_child_open", 1)]


def test_sub_tasks_of_a_cancelled_or_optional_group_wait() -> None:
    found = read("- [-] T-1 Epic\n  - [ ] T-2 a\n- [ ]* 3. Optional\n  - [ ] 3.1 b\n  - [x] 3.2 c\n")
    assert [task(found, id).status.value for id in ("T-2", "3", "3.1", "3.2")] == [
        "on_hold",
        "on_hold",
        "on_hold",
        "done",
    ]
    assert problems(found, Severity.WARNING) == [("group_on_hold", 2), ("group_on_hold", 4)]


def test_numbered_steps_of_a_lettered_item_are_its_text() -> None:
    found = read("- [ ] T-1 One\n  - [ ] 1. first\n  - [ ] 2. second\n")
    assert ids(found) == ["T-1"]
    assert task(found, "T-1").body == "- [ ] 1. first\n- [ ] 2. second"


def test_boxes_under_a_heading_that_announces_criteria_are_no_tasks() -> None:
    assert ids(read("## Definition of done\n- [ ] all green\n## Done\n- [x] moved here\n")) == ["auto-moved-here"]


def test_plan_steps_below_a_numbered_task_stay_in_its_text() -> None:
    found = read(
        """
        ### Task 1: Set up
        **Files:**
        - Create: `src/a.py`
        - Test: `tests/a.py:1-20`

        - [ ] **Step 1: Write the failing test**

        ### Task 2: Go on
        **Depends on:** Task 1
        """
    )
    assert ids(found) == ["1", "2"]
    assert task(found, "1").touches == ("src/a.py", "tests/a.py")
    assert "Step 1" in task(found, "1").body
    assert "Create: `src/a.py`" in task(found, "1").body
    assert after(found, "2") == ["1"]
