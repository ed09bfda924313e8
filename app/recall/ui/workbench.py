"""What a person decides about a conflict before anything of it is stored: pure, for the workbench's screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from recall.domain.conflict import NEEDS_HANDS, ConflictedFile, Hunk, Side
from recall.domain.run import Refused, Run
from recall.domain.task import Task
from recall.domain.text import clean_line
from recall.domain.words import moment
from recall.engine.resolve import ConflictView, Resolver


class Choice(StrEnum):
    """Whose lines a hunk gets."""

    MAIN = "main"
    TASK = "task"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to stand in a hunk's place, and how that came about: a `Choice`, or `edited`."""

    text: bytes
    how: str


@dataclass(frozen=True, slots=True)
class Bench:
    """`hunks` holds a choice for each (file, hunk) that has one, `sides` one for each file that has no hunks;
    `file` and `hunk` are where the person is, from 0."""

    view: ConflictView
    hunks: Mapping[tuple[int, int], Chosen] = field(default_factory=dict[tuple[int, int], Chosen])
    sides: Mapping[int, Side] = field(default_factory=dict[int, Side])
    file: int = 0
    hunk: int = 0

    @property
    def current_file(self) -> ConflictedFile:
        return self.view.files[self.file]

    @property
    def current_hunk(self) -> Hunk | None:
        """The hunk in view; None in a file that is decided as a whole."""
        hunks = self.current_file.hunks
        return hunks[self.hunk] if hunks else None

    @property
    def chosen(self) -> Chosen | None:
        return self.hunks.get((self.file, self.hunk))

    @property
    def open(self) -> tuple[str, ...]:
        """What is left to decide: a path, with how many hunks where it has some."""
        left: list[str] = []
        for number, file in enumerate(self.view.files):
            chosen, count = self._chosen_in(number), len(file.hunks)
            if not chosen and (number in self.sides or file.path in self.view.record.decisions):
                continue
            if not count:
                left.append(clean_line(file.path))
            elif chosen < count:
                left.append(f"{clean_line(file.path)} ({count - chosen} of {count} hunks)")
        return tuple(left)

    def _chosen_in(self, file: int) -> int:
        return sum(number == file for number, _ in self.hunks)

    # -- moving ----------------------------------------------------------------------------------------------
    def to_hunk(self, by: int) -> Bench:
        """Go to the next or previous hunk, over the ends of files."""
        places = [(f, h) for f, file in enumerate(self.view.files) for h in range(max(1, len(file.hunks)))]
        at = min(max(places.index((self.file, self.hunk)) + by, 0), len(places) - 1)
        return replace(self, file=places[at][0], hunk=places[at][1])

    def to_file(self, by: int) -> Bench:
        return replace(self, file=min(max(self.file + by, 0), len(self.view.files) - 1), hunk=0)

    # -- deciding --------------------------------------------------------------------------------------------
    def choose(self, choice: Choice) -> Bench | str:
        """Decide what is in view; a text says why that cannot be."""
        hunk, file = self.current_hunk, self.current_file
        if hunk is not None:
            return self.put(_text_of(hunk, choice), choice)
        if file.kind in NEEDS_HANDS:
            return (
                f"no side alone settles {clean_line(file.path)}: `recall resolve {self.view.task.ref} --checkout DIR`"
            )
        if choice is Choice.BOTH:
            return f"{clean_line(file.path)} ({file.kind}) is one side's or the other's"
        return replace(self, sides={**self.sides, self.file: Side(choice)})

    def put(self, text: bytes, how: str = "edited") -> Bench:
        """Decide the hunk in view by a text."""
        return replace(self, hunks={**self.hunks, (self.file, self.hunk): Chosen(text, how)})

    # -- what comes of it ------------------------------------------------------------------------------------
    def contents(self) -> dict[str, bytes]:
        """Give the whole files whose hunks were decided here: all of them, or none."""
        return {
            file.path: file.chosen([self.hunks[number, hunk].text for hunk in range(len(file.hunks))])
            for number, file in enumerate(self.view.files)
            if self._chosen_in(number)
        }

    def whole_files(self) -> dict[Side, list[str]]:
        """Give the paths without hunks, by the side that was taken."""
        taken: dict[Side, list[str]] = {}
        for number, side in self.sides.items():
            taken.setdefault(side, []).append(self.view.files[number].path)
        return taken


def _text_of(hunk: Hunk, choice: Choice) -> bytes:
    if choice is Choice.MAIN:
        return hunk.main
    if choice is Choice.TASK:
        return hunk.task
    gap = b"" if not hunk.main or hunk.main.endswith(b"\n") else b"\n"
    return hunk.main + gap + hunk.task


def resolve(desk: Resolver, bench: Bench) -> str | Refused:
    """Carry out what was decided, file by file; what is decided last resolves the conflict."""
    ref, said = bench.view.task.ref, Refused("nothing was decided") if bench.open else ""
    for side, paths in bench.whole_files().items():
        said = desk.take(ref, side, paths)
        if isinstance(said, Refused):
            return said
    contents = bench.contents() if not isinstance(said, Refused) else {}
    return desk.supply(ref, contents) if contents else said


# -- words -----------------------------------------------------------------------------------------------------------
def heading(bench: Bench, now: float) -> str:
    """Who meets whom, and where the person is."""
    view, file = bench.view, bench.current_file
    others = ", ".join(named(task, run, now) for task, run in view.others) or "main"
    where = f"file {bench.file + 1}/{len(view.files)}"
    if file.hunks:
        where += f" · hunk {bench.hunk + 1}/{len(file.hunks)}"
    return f"CONFLICT  {named(view.task, view.run, now)}  meets  {others}   {clean_line(file.path)}  {where}"


def named(task: Task, run: Run | None, now: float) -> str:
    """A task with who did it and when: `T-2 Parse the config (claude, landed 22:31)`."""
    words = f"{task.ref} {clean_line(task.title)}"
    if run is None:
        return words
    when = f"landed {moment(run.settled_at, now)}" if run.settled_at is not None else f"run {run.id}"
    return f"{words} ({run.agent}, {when})"


def reasons(bench: Bench) -> tuple[str, str]:
    """Why main's side changed this, and why the task does: what the tasks' texts, or the commits, say."""
    view = bench.view
    mains = [_said(task) for task, _ in view.others] or [clean_line(one.subject) for one in view.record.changes]
    return "; ".join(mains) or "main changed meanwhile", _said(view.task)


def whole_file_words(bench: Bench) -> str:
    """What can be said of a file that is decided as a whole."""
    file = bench.current_file
    side = bench.sides.get(bench.file)
    decision = bench.view.record.decisions.get(file.path)
    how = side or (decision.how if decision is not None else None)
    return f"{clean_line(file.path)}: {file.kind}. " + (f"Taken: {how}." if how else "1 takes main's, 2 the task's.")


def _said(task: Task) -> str:
    first = next((line.strip() for line in task.body.splitlines() if line.strip()), "")
    return clean_line(first or task.title)
