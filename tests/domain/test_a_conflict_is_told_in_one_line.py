"""Whom a task meets and where, as the needs-you line says it; and that it stands there once."""

from __future__ import annotations

import pytest

from recall.domain.conflict import ConflictKind, LandedChange, RecordedFile, conflict_reason
from recall.domain.merge import MergeEntry, MergeState
from recall.domain.progress import standing
from recall.domain.task import Task, TaskRef, TaskState


def file(path: str, hunks: int = 0, kind: ConflictKind = ConflictKind.CONTENT) -> RecordedFile:
    return RecordedFile(path, kind, hunks)


def by(task: str | None, subject: str = "s") -> LandedChange:
    return LandedChange("c" * 40, subject, TaskRef.parse(task) if task else None)


@pytest.mark.parametrize(
    ("files", "changes", "line"),
    [
        ([file("src/parser.py", 3)], [by("T-B02")], "conflict with T-B02 in src/parser.py, 3 hunks"),
        ([file("a", 1)], [by("T-2"), by("T-2")], "conflict with T-2 in a, 1 hunk"),
        ([file("a", 1), file("b", 2)], [by("T-2"), by("w:T")], "conflict with T-2 and w:T in a and 1 more, 3 hunks"),
        ([file("a", 1)], [by("T-2"), by("T-3"), by("T-4")], "conflict with T-2 and 2 more in a, 1 hunk"),
        ([file("a", 1)], [by(None, "fix it"), by("T-3")], "conflict with T-3 in a, 1 hunk"),
        ([file("a", 1)], [by(None, "fix\nit")], f"conflict with {'c' * 10} (fix it) in a, 1 hunk"),
        ([file("a\nb\x1b[2J", 1)], [], "conflict with main in a b, 1 hunk"),
        ([file("p", 0, ConflictKind.BINARY)], [by("T-2")], "conflict with T-2 in p (binary)"),
        ([file("p", 0, ConflictKind.DELETED_ON_MAIN)], [], "conflict with main in p (deleted on main)"),
        ([], [by("T-2")], "conflict with T-2"),
    ],
)  # fmt: skip
def test_the_line(files: list[RecordedFile], changes: list[LandedChange], line: str) -> None:
    assert conflict_reason(files, changes) == line


def test_a_conflict_waits_in_one_line_that_says_what_to_do() -> None:
    reason = "conflict with T-2 in a, 1 hunk"
    task = Task("main", "T-1", "t", "", "general", 0, 0, TaskState.NEEDS_PERSON, reason, 0.0)
    entry = MergeEntry(1, "main", "T-1", 1, 1, MergeState.CONFLICT, reason, "t", "b")
    assert standing([task], [], [], [entry]).waits == (f"T-1: {reason}; `recall resolve T-1` shows what you can do",)
