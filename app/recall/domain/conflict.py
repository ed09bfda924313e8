"""What stands against each other when a task's commits do not apply to main, and how a person settles it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from recall.domain.frozen import frozen
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


#: The mode of a submodule's version; its object is a commit of another repository.
SUBMODULE_MODE = "160000"


@frozen
class Version:
    """A file as git stores it: its mode (`100644`, `100755`, `120000`, `160000`) and its object."""

    mode: str
    oid: str


@frozen
class Hunk:
    """One place where both sides changed the same lines. The texts are exact bytes with their line ends;
    `main_line` and `task_line` are the number of the first line in main's and in the task's file, from 1."""

    main: bytes
    base: bytes
    task: bytes
    main_line: int
    task_line: int


@frozen
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

    def marked(self, labels: Labels, choices: Sequence[bytes | None] = ()) -> bytes:
        """Give the whole file with conflict markers in git's diff3 style; a hunk that has a choice has none."""
        return self.chosen(self._with_marks(labels, choices))

    def line_of(self, number: int, labels: Labels, choices: Sequence[bytes | None] = ()) -> int:
        """Give the line, from 1, at which a hunk (from 0) begins in the same file with markers."""
        texts, before = iter(self._with_marks(labels, choices)), 0
        for part in self.parts:
            if isinstance(part, Hunk):
                if number == 0:
                    break
                number -= 1
                part = next(texts)
            before += part.count(b"\n")
        return before + 1

    def pieces(self, content: bytes) -> tuple[bytes, ...] | None:
        """Give what a content has in each hunk's place; None if it differs elsewhere, or can be cut in two ways."""
        around = self._around()
        from_start, from_end = _cut_forward(content, around), _cut_backward(content, around)
        return from_start if from_start == from_end else None

    def _with_marks(self, labels: Labels, choices: Sequence[bytes | None]) -> list[bytes]:
        filled = [*choices, *[None] * (len(self.hunks) - len(choices))]
        return [
            _marked(hunk, labels) if choice is None else choice
            for hunk, choice in zip(self.hunks, filled, strict=True)
        ]

    def _around(self) -> list[bytes]:
        """What stands before, between and after the hunks."""
        around = [b""]
        for part in self.parts:
            if isinstance(part, Hunk):
                around.append(b"")
            else:
                around[-1] += part
        return around


@frozen
class Decision:
    """What is to land at a path: a version, or None for nothing. `how` is `main`, `task`, `remembered`, `edited`
    or `deleted`."""

    path: str
    how: str
    version: Version | None


@frozen
class Remembered:
    """How hunks of a file were resolved before. `hunks` holds the lines of each that is known, by its number from 0,
    `whole` the file's content where all of it is known. `task` and `at` (wall seconds UTC) say of which task's
    conflict that was the resolution, and when it was made."""

    hunks: Mapping[int, bytes]
    whole: bytes | None = None
    task: str = ""
    at: float | None = None


@frozen
class LandedChange:
    """A commit on main that touched what conflicts, and the task that brought it, if one did."""

    commit: str
    subject: str
    task: TaskRef | None = None


@frozen
class RecordedFile:
    """A conflicted path as the store keeps it."""

    path: str
    kind: ConflictKind
    hunks: int
    decision: Decision | None = None


@frozen
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


@frozen
class Labels:
    """What stands behind the conflict markers, such as `main (T-1)` and `T-2`."""

    main: str
    task: str


@frozen
class Taken:
    """What a person made of a conflict in a folder. `open` says, for each path that is not settled, what is left
    to do; `tree` is the folder, with the decisions of before in place of what is open there. `settled` has what lies
    at each path in conflict that is settled there, `elsewhere` the other paths that differ from the merge."""

    tree: str
    open: Mapping[str, str]
    settled: Mapping[str, Version | None] = field(default_factory=dict[str, "Version | None"])
    elsewhere: tuple[str, ...] = ()


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


def text_of(hunk: Hunk, choice: str) -> bytes:
    """Give what `main`, `task` or `both` puts in a hunk's place; of both, main's lines come first."""
    if choice != "both":
        return hunk.main if choice == Side.MAIN else hunk.task
    gap = b"" if not hunk.main or hunk.main.endswith(b"\n") else b"\n"
    return hunk.main + gap + hunk.task


def marker_lines(file: ConflictedFile, content: bytes, labels: Labels) -> list[int]:
    """Give the numbers, from 1, of the lines that are conflict markers; a line that either side has is none."""
    marks = {f"<<<<<<< {labels.main}".encode(), b"||||||| base", b"=======", f">>>>>>> {labels.task}".encode()}
    texts = [(part.main, part.task) if isinstance(part, Hunk) else (part,) for part in file.parts]
    known = {line.rstrip() for sides in texts for side in sides for line in side.splitlines()}
    return [number for number, line in enumerate(content.splitlines(), 1) if line.rstrip() in marks - known]


def _cut_forward(content: bytes, around: Sequence[bytes]) -> tuple[bytes, ...] | None:
    if not content.startswith(around[0]):
        return None
    cut, at = list[bytes](), len(around[0])
    for number, text in enumerate(around[1:], 1):
        last = number == len(around) - 1
        end = len(content) - len(text) if last else content.find(text, at)
        if end < at or not content.startswith(text, end):
            return None
        cut.append(content[at:end])
        at = end + len(text)
    return tuple(cut)


def _cut_backward(content: bytes, around: Sequence[bytes]) -> tuple[bytes, ...] | None:
    """The same from the end: another outcome says that there is more than one."""
    if not content.endswith(around[-1]):
        return None
    cut, end = list[bytes](), len(content) - len(around[-1])
    for number, text in reversed(list(enumerate(around[:-1]))):
        at = 0 if number == 0 else content.rfind(text, 0, end)
        if at < 0 or not content.startswith(text, at) or at + len(text) > end:
            return None
        cut.insert(0, content[at + len(text) : end])
        end = at
    return tuple(cut)


def _marked(hunk: Hunk, labels: Labels) -> bytes:
    end = b"\r\n" if b"\r\n" in hunk.main + hunk.base + hunk.task else b"\n"
    return b"".join(
        (
            f"<<<<<<< {labels.main}".encode(), end, hunk.main, b"||||||| base", end, hunk.base,
            b"=======", end, hunk.task, f">>>>>>> {labels.task}".encode(), end,
        )
    )  # fmt: skip
