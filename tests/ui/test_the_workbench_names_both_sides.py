"""However long the titles, the workbench names both tasks, and says why in the words of their authors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from recall.domain.conflict import ConflictedFile, ConflictKind, ConflictRecord
from recall.domain.run import Run, RunState
from recall.domain.task import Task, TaskState
from recall.domain.work import Conflict
from recall.engine.resolve import ConflictView
from recall.ui.bench_words import heading, reasons
from recall.ui.workbench import Bench
from tests.support.builders import ref

LONG = "a title that goes on and on, 検証検証検証検証検証, beyond what a small terminal has room for, and further"


def _bench(title: str, other: str, body: str = "") -> Bench:
    task = Task("main", "T-2", title, body, "general", 0, 2, TaskState.NEEDS_PERSON, "", 0.0)
    landed = replace(task, id="T-1", title=other, state=TaskState.DONE)
    met = Conflict(("a.py",), "", "", ours="o" * 40, theirs="t" * 40)
    record = ConflictRecord(1, ref("T-2"), 7, "c" * 40, "b" * 40, met, (), ())
    run = Run(7, "main", "T-2", "bee", "o", 1, 1, RunState.LANDING)
    file = ConflictedFile("b.png", ConflictKind.BINARY)
    return Bench(ConflictView(record, task, run, ((landed, None),), (file,), {}))


@pytest.mark.parametrize("room", [90, 136, 200])
@pytest.mark.parametrize(("title", "other"), [(LONG, LONG), (LONG, "Parse"), ("Validate", LONG)])
def test_long_titles_give_way_so_that_both_sides_are_named(title: str, other: str, room: int) -> None:
    words = heading(_bench(title, other), 0.0, room)
    assert cell_len(words) <= room
    assert "T-2 " in words
    assert "(bee, run 7)  meets  T-1 " in words
    assert ("Parse" in words, "Validate" in words) == (other == "Parse", title == "Validate")


def test_titles_that_fit_are_whole() -> None:
    assert LONG in heading(_bench(LONG, "Parse"), 0.0, 200)


@pytest.mark.parametrize("label", ["- touches: a.py, b/**", "- Files: a.py"])
def test_what_a_task_touches_is_no_reason(label: str) -> None:
    assert reasons(_bench("Validate", "Parse", f"{label}\n\nReject unknown keys.\n"))[1] == "Reject unknown keys."
    assert reasons(_bench("Validate", "Parse", f"{label}\n"))[1] == "Validate"
