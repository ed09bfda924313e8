"""Properties that hold for every input, not for chosen ones."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from recall.domain.task import TaskState
from recall.tasklist import as_json, parse, render_status, runnable

BOXES = ["- [ ] ", "- [x] ", "- [~] ", "- [ ]* ", "2. [ ] ", "- 2.1 [ ] ", "✅ ", "❌ "]
NAMES = ["T-1 ", "T-2 ", "t-1 ", "1. ", "1.1 ", "T-1..T-9", "T-1–T-3", "web:T-1", "TXXX", "{{x}}", "none", "買", "a"]
FIELDS = [
    "(after: T-1)",
    "(after: ",
    "after: T-2\n",
    "- Depends on: ",
    "- **Blocked by:** T-1",
    "Status: done",
    "ID: T-7",
]
LINES = ["Status: ", "blocks: T-2", "priority: P1", "timeout: 3x", "### Dependencies\n", "T-1 and T-2, T-1、T-2"]
BLOCKS = [
    "## ",
    "### ",
    "# ",
    "> ",
    "```",
    "~~~",
    "<!--",
    "-->",
    "---\n",
    "===\n",
    "<<<<<<< a\n",
    "=======\n",
    ">>>>>>> b\n",
]
TABLES = ["| id | task | status |\n|--|--|--|\n", "| T-3 | x | done |\n", "|", "\\|"]
MARKS = ["**", "`", "[", "]", "(", ")", "{", "}", ",", "#", "~~", "—", ":", "：", " ", "  ", "    ", "\t", "\\"]
ENDS = ["\n", "\n\n", "\r\n", "\r", "\ufeff", "\x00", "\x1b]0;x\x07", "\u2028", "\x0b", "\xa0"]
PIECES = st.sampled_from([*BOXES, *NAMES, *FIELDS, *LINES, *BLOCKS, *TABLES, *MARKS, *ENDS])
TEXTS = st.lists(PIECES, max_size=30).map("".join)
BYTES = (
    TEXTS.map(str.encode)
    | st.binary(max_size=120)
    | st.text(max_size=120).map(lambda t: t.encode("utf-8", "replace"))
)
TASK_LINES = st.lists(
    st.tuples(st.sampled_from(["- [ ] ", "* [x] ", "- [-] ", "1. [~] "]), st.text("abc é買[]()`*", max_size=12)),
    max_size=8,
)


@settings(max_examples=300, deadline=None)
@given(BYTES)
def test_no_bytes_raise_and_every_problem_has_a_place(data: bytes) -> None:
    found = parse(data)
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1
    for problem in found.problems:
        assert 1 <= problem.line <= lines
        assert problem.column >= 1
        assert problem.message
    assert all(1 <= task.line <= lines and task.title for task in found.tasks)
    assert runnable(found.tasks) <= {task.id for task in found.tasks}
    assert len(as_json(found)["tasks"]) == len(found.tasks)


@settings(max_examples=300, deadline=None)
@given(BYTES)
def test_writing_unchanged_states_is_the_identity(data: bytes) -> None:
    states = {task.id: task.status for task in parse(data).tasks}
    assert render_status(data, states) == data


@settings(max_examples=200, deadline=None)
@given(
    TASK_LINES, st.data(), st.sampled_from([TaskState.TODO, TaskState.DONE, TaskState.CANCELLED, TaskState.ON_HOLD])
)
def test_writing_one_task_changes_only_its_line(
    lines: list[tuple[str, str]], data: st.DataObject, state: TaskState
) -> None:
    written = [f"{box}T-{number} {title}" for number, (box, title) in enumerate(lines)]
    before = "\r\n".join(written).encode()
    if not written:
        return
    chosen = data.draw(st.integers(0, len(written) - 1))
    after = render_status(before, {f"T-{chosen}": state}).decode().split("\r\n")
    assert [line for at, line in enumerate(after) if at != chosen] == [
        line for at, line in enumerate(written) if at != chosen
    ]
    assert parse("\r\n".join(after).encode()).tasks[chosen].status is state


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12))
def test_a_list_without_a_reported_cycle_can_be_worked_off(pairs: list[tuple[int, int]]) -> None:
    lines = [f"- [ ] T-{i} x (after: {', '.join(f'T-{b}' for a, b in pairs if a == i) or 'none'})" for i in range(8)]
    found = parse("\n".join(lines).encode())
    remaining = {task.id: {ref.id for ref in task.after} for task in found.tasks}
    while ready := [id for id, waits_for in remaining.items() if not waits_for & remaining.keys()]:
        for id in ready:
            del remaining[id]
    reported = {problem.type for problem in found.errors}
    assert bool(remaining) == ("cycle" in reported)
    assert ("self_reference" in reported) == any(a == b for a, b in pairs)
