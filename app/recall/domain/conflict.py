"""What stands against each other when a task's commits do not apply to main, and how a person settles it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from recall.domain.task import TaskRef
from recall.domain.text import clean_bytes, clean_line
from recall.domain.work import Conflict


class Side(StrEnum):
    """Whose version: what main has, or what the task brings."""

    MAIN = "main"
    TASK = "task"


class Way(StrEnum):
    """How a person ends a conflict without resolving it."""

    SEND_BACK = "send back"
    RESTART = "restart"
    GIVE_UP = "give up"


class ConflictKind(StrEnum):
    """What is the matter with a path. Only `content` and `add/add` have hunks."""

    CONTENT = "content"
    BOTH_ADDED = "add/add"
    DELETED_ON_MAIN = "deleted on main"
    DELETED_BY_TASK = "deleted by the task"
    RENAMED = "rename"
    BINARY = "binary"
    LINK = "symbolic link"
    SUBMODULE = "submodule"
    PLACE = "file/directory"


#: Kinds that no choice of a side can settle: the paths themselves are in each other's way.
NEEDS_HANDS = frozenset({ConflictKind.PLACE})


@dataclass(frozen=True, slots=True)
class Version:
    """A file as git stores it: its mode (`100644`, `100755`, `120000`, `160000`) and its object."""

    mode: str
    oid: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place where both sides changed the same lines. The texts are exact bytes with their line ends;
    `main_line` and `task_line` are the number of the first line in main's and in the task's file, from 1."""

    main: bytes
    base: bytes
    task: bytes
    main_line: int
    task_line: int


@dataclass(frozen=True, slots=True)
class ConflictedFile:
    """A path that needs a decision. `parts` is the merged file in order: what is agreed on as bytes, what is not
    as hunks; empty where there is nothing to merge line by line. A version is None where the path is not there."""

    path: str
    kind: ConflictKind
    base: Version | None = None
    main: Version | None = None
    task: Version | None = None
    parts: tuple[bytes | Hunk, ...] = ()

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        return tuple(part for part in self.parts if isinstance(part, Hunk))

    def version(self, side: Side) -> Version | None:
        return self.main if side is Side.MAIN else self.task

    def chosen(self, choices: Sequence[bytes]) -> bytes:
        """Give the whole file with one text for each hunk."""
        texts = iter(choices)
        return b"".join(next(texts) if isinstance(part, Hunk) else part for part in self.parts)

    def marked(self, main_label: str, task_label: str) -> bytes:
        """Give the whole file with conflict markers in git's diff3 style."""
        return self.chosen([_marked(hunk, main_label, task_label) for hunk in self.hunks])


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to land at a path: a version, or None for nothing. `how` is `main`, `task`, `remembered` or
    `edited`."""

    path: str
    how: str
    version: Version | None


@dataclass(frozen=True, slots=True)
class LandedChange:
    """A commit on main that touched what conflicts, and the task that brought it, if one did."""

    commit: str
    subject: str
    task: TaskRef | None = None


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """A conflicted path as the store keeps it."""

    path: str
    kind: ConflictKind
    hunks: int
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class ConflictRecord:
    """Everything that the store knows of an entry in conflict. `tip` and `base` bound the task's commits, `met` is
    where they stopped; `folder` is where a person resolves it by hand, "" when nobody does."""

    merge_id: int
    ref: TaskRef
    run_id: int
    tip: str
    base: str
    met: Conflict
    files: tuple[RecordedFile, ...]
    changes: tuple[LandedChange, ...]
    folder: str = ""

    @property
    def decisions(self) -> dict[str, Decision]:
        return {file.path: file.decision for file in self.files if file.decision is not None}

    @property
    def undecided(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files if file.decision is None)

    @property
    def tasks(self) -> tuple[TaskRef, ...]:
        """The tasks whose landings made main's side, newest first."""
        return tuple(dict.fromkeys(change.task for change in self.changes if change.task is not None))


@dataclass(frozen=True, slots=True)
class Labels:
    """What stands behind the conflict markers, such as `main (T-1)` and `T-2`."""

    main: str
    task: str


@dataclass(frozen=True, slots=True)
class Taken:
    """What a person made of a conflict in a folder. `open` says, for each path that is not settled, what is left
    to do; `tree` is the folder, with the decisions of before in place of what is open there."""

    tree: str
    open: Mapping[str, str]


def conflict_reason(files: Sequence[RecordedFile], changes: Sequence[LandedChange]) -> str:
    """Say whom a task meets and where: `conflict with T-2 in src/parser.py, 3 hunks`."""
    tasks = list(dict.fromkeys(str(change.task) for change in changes if change.task is not None))
    commits = [f"{change.commit[:10]} ({clean_line(change.subject)})" for change in changes]
    reason = f"conflict with {_several(tasks or commits or ['main'])}"
    if not files:
        return reason
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    hunks = sum(file.hunks for file in files)
    what = f", {hunks} hunk{'s' if hunks > 1 else ''}" if hunks else f" ({files[0].kind})"
    return f"{reason} in {clean_line(files[0].path)}{more}{what}"


def conflict_brief(
    files: Sequence[ConflictedFile], title: str, others: Sequence[tuple[TaskRef, str]], *, room: int = 8000
) -> str:
    """Tell the next agent what its task met: both sides of each hunk, and who brought main's. `others` are the
    tasks behind main's side with their titles, `title` is this task's; `room` is about how many characters may
    be quoted."""
    who = ", ".join(f"{ref} ({clean_line(name)})" for ref, name in others) or "commits that landed meanwhile"
    lines = [
        f"An earlier attempt at this task ({clean_line(title)}) could not be merged: it met {who}.",
        "That work is in main, and in your workspace, now. Keep what it does, and do this task on top of it.",
    ]
    left_out = 0
    for file in files:
        shown = _quoted_file(file)
        if len(shown) > room:
            left_out += 1
            continue
        room -= len(shown)
        lines += ["", shown]
    if left_out:
        lines += ["", f"{left_out} more conflicted files are not shown."]
    return "\n".join(lines)


def _quoted_file(file: ConflictedFile) -> str:
    lines = [f"{clean_line(file.path)} ({file.kind})"]
    for hunk in file.hunks:
        sides = (clean_bytes(hunk.main), clean_bytes(hunk.task))
        fence = "`" * max(3, *(_longest_run(side) + 1 for side in sides))
        for label, side in zip(("main has", "the earlier attempt had"), sides, strict=True):
            lines += ["", f"{label}:", "", fence, side.rstrip("\n"), fence]
    return "\n".join(lines)


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _several(names: Sequence[str]) -> str:
    if len(names) <= 2:
        return " and ".join(names)
    return f"{names[0]} and {len(names) - 1} more"


def _marked(hunk: Hunk, main_label: str, task_label: str) -> bytes:
    end = b"\r\n" if b"\r\n" in hunk.main + hunk.base + hunk.task else b"\n"
    return b"".join(
        (
            f"<<<<<<< {main_label}".encode(), end, hunk.main, b"||||||| base", end, hunk.base,
            b"=======", end, hunk.task, f">>>>>>> {task_label}".encode(), end,
        )
    )  # fmt: skip
