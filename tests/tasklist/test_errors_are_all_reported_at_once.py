"""Whatever makes a list unusable has a type, a line, a column and a sentence that helps."""

from __future__ import annotations

import pytest

from recall.tasklist import Severity, parse
from tests.tasklist.reading import error, ids, problems, read

BROKEN = """\
<<<<<<< ours
- [ ] T-1 a
=======
- [ ] t-1 b
>>>>>>> theirs
- [ ] T-2/../x bad
- [ ] T-3 self (after: T-3)
- [ ] T-4 a (after: T-5)
- [ ] T-5 b (after: T-4)
- [ ] T-6 a (after: the moon)
- [ ] T-7 a (priority: huge)
- [ ] T-8 a (after: T-99)
- [ ] T-8 again
- [ ] T-9 caf\xe9
"""


def test_one_reading_finds_everything() -> None:
    found = parse(BROKEN.encode("latin-1"))
    assert problems(found, Severity.ERROR) == [
        ("conflict_marker", 1),
        ("conflict_marker", 3),
        ("case_twin", 4),
        ("conflict_marker", 5),
        ("unsafe_id", 6),
        ("self_reference", 7),
        ("cycle", 8),
        ("unresolvable_prereq", 10),
        ("bad_value", 11),
        ("duplicate_id", 12),
        ("unknown_prereq", 12),
        ("duplicate_id", 13),
        ("bad_encoding", 14),
    ]
    assert ids(found) == ["T-1", "t-1", "T-3", "T-4", "T-5", "T-6", "T-7", "T-8", "T-8", "T-9"]
    assert not found.ok


@pytest.mark.parametrize(
    "id",
    ["T-1/x", "T-1.lock", "T-1..2x", "T-1@{0}", "T-1~", "T-1^", "T-" + "1" * 70, "Tâche-1", "T-1\\x", "T-1%2e"],
)
@pytest.mark.parametrize(
    "form", ["- [ ] {0} Title", "## {0} Title", "| ID | Task | Status |\n|-|-|-|\n| {0} | Title | todo |"]
)
def test_unsafe_ids_never_become_names(form: str, id: str) -> None:
    found = parse(form.replace("{0}", id).encode())
    assert [each for each in ids(found) if each != "T-1"] == []
    if id != "T-1~":
        assert (error(found).type, ids(found)) == ("unsafe_id", [])


def test_bad_utf8_names_the_byte_and_loses_no_task() -> None:
    found = parse(b"\xef\xbb\xbf- [ ] T-1 ok\r\n- [ ] T-2 \xff\xfe x\r\n- [ ] T-3 y (after: T-2)\r\n")
    assert (error(found).type, error(found).line, error(found).column) == ("bad_encoding", 2, 11)
    assert "byte 27 " in error(found).message
    assert ids(found) == ["T-1", "T-2", "T-3"]


def test_utf16_is_named_as_what_it_is() -> None:
    found = parse("- [ ] T-1 a\n".encode("utf-16"))
    assert (error(found).type, found.tasks) == ("bad_encoding", ())


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("- [ ] T-1 a (after: T-3)\n- [ ] T-2 b (after: T-1)\n- [ ] T-3 c (after: T-2)\n", "T-1 → T-3 → T-2 → T-1"),
        ("- [ ] T-1 a (blocks: T-2)\n- [ ] T-2 b (blocks: T-1)\n", "T-1 → T-2 → T-1"),
        ("- [ ] T-1 a\n  - [ ] T-2 b (after: T-3)\n- [ ] T-3 c (after: T-1)\n", "T-1 → T-2 → T-3 → T-1"),
        ("- [ ] T-1 a\n  - [ ] T-2 b (after: T-1)\n", "T-1 → T-2 → T-1"),
    ],
)
def test_the_whole_cycle_is_shown(text: str, path: str) -> None:
    found = parse(text.encode())
    assert error(found).type == "cycle"
    assert path in error(found).message


def test_each_knot_is_reported_once() -> None:
    lines = [f"- [ ] A-{i} x (after: A-{i % 3 + 1})" for i in (1, 2, 3)] + [
        f"- [ ] B-{i} x (after: B-{3 - i})" for i in (1, 2)
    ]
    found = parse("\n".join(lines).encode())
    assert problems(found) == [("cycle", 1), ("cycle", 4)]


def test_a_cycle_as_long_as_the_list_is_found_without_recursion() -> None:
    lines = [f"- [ ] T-{i} x (after: T-{i % 5000 + 1})" for i in range(1, 5001)]
    assert problems(parse("\n".join(lines).encode())) == [("cycle", 1)]


def test_lists_nested_too_deep_are_an_error_not_a_silence() -> None:
    deep = "".join(f"{'  ' * i}- [ ] T-{i} x\n" for i in range(150))
    found = parse(deep.encode())
    assert "too_deep" in [kind for kind, _ in problems(found, Severity.ERROR)]


def test_lists_nested_as_deep_as_people_go_are_read() -> None:
    deep = "".join(f"{'  ' * i}- [ ] T-{i} x\n" for i in range(40))
    assert len(parse(deep.encode()).tasks) == 40


def test_conflict_markers_shown_in_a_code_block_are_no_conflict() -> None:
    assert read("## T-1 a\n```\n<<<<<<< ours\n=======\n>>>>>>> theirs\n```\nTitle\n=======\n").ok


def test_a_prerequisite_that_never_happens_is_a_warning() -> None:
    found = read("- [-] T-1 a\n- [ ] T-2 b (after: T-1)\n- [x] T-3 c (after: T-1)\n")
    assert problems(found) == [("prereq_never_done", 2), ("done_before_prereqs", 3)]


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "# Only a title\n", "Prose.\n"])
def test_a_list_without_tasks_is_no_error(text: str) -> None:
    found = parse(text.encode())
    assert (found.tasks, found.problems) == ((), ())


def test_hostile_text_is_cleaned() -> None:
    found = parse(b"- [ ] T-1 a\x1b]0;owned\x07b \xe2\x80\xae c\n  body \x1b[31mred\x1b[0m\n")
    assert (found.tasks[0].title, found.tasks[0].body) == ("ab  c", "body red")
    assert not any("\x1b" in problem.message for problem in parse(b"- [ ] T-1 a\n  - after: \x1b[31mx\n").problems)
