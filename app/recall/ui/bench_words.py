"""What the conflict workbench says: who meets whom, why, and how far the person is. Pure."""

from __future__ import annotations

from rich.cells import cell_len

from recall.domain.run import Run
from recall.domain.task import Task
from recall.domain.text import clean_line
from recall.domain.words import moment
from recall.ui.keymap import TABLE_KEYS, Keymap
from recall.ui.workbench import Bench
from recall_widgets.spans import clip, shown

_SHORTEST = 8  #: cells that the title of a task gets however little room there is
_FOR_RECALL = ("- touches:", "- files:", "- paths:")  #: what stays in a task's text and says nothing of why


def heading(bench: Bench, now: float, room: int | None = None) -> str:
    """Who meets whom, in so many cells: titles give way, each to the same length."""
    view = bench.view
    sides = [(view.task, view.run), *view.others]
    widest = max(cell_len(clean_line(task.title)) for task, _ in sides)
    for most in range(widest, _SHORTEST, -1):
        words = _meeting([named(task, run, now, most) for task, run in sides])
        if room is None or cell_len(words) <= room:
            return words
    return _meeting([named(task, run, now, _SHORTEST) for task, run in sides])


def _meeting(names: list[str]) -> str:
    return f"CONFLICT  {names[0]}  meets  {', '.join(names[1:]) or 'main'}"


def place(bench: Bench) -> str:
    """Where the person is, and how far."""
    view, file = bench.view, bench.current_file
    words = f"{clean_line(file.path)}  file {bench.file + 1}/{len(view.files)}"
    if file.hunks:
        words += f" · hunk {bench.hunk + 1}/{len(file.hunks)}"
    done, every = bench.progress
    return f"{words} · {done} of {every} decided"


def named(task: Task, run: Run | None, now: float, most: int = 1_000) -> str:
    """A task with who did it and when: `T-2 Parse the config (claude, landed 22:31)`. `most` is what its title may
    take, in cells."""
    words = f"{task.ref} {clip(shown(clean_line(task.title)), most)}"
    if run is None:
        return words
    when = f"landed {moment(run.settled_at, now)}" if run.settled_at is not None else f"run {run.id}"
    return f"{words} ({run.agent}, {when})"


def reasons(bench: Bench) -> tuple[str, str]:
    """Why main's side changed this, and why the task does: what the tasks' texts, or the commits, say."""
    view = bench.view
    mains = [_said(task) for task, _ in view.others] or [clean_line(one.subject) for one in view.record.changes]
    return "; ".join(mains) or "main changed meanwhile", _said(view.task)


def standing(bench: Bench, now: float, keys: Keymap = TABLE_KEYS) -> str:
    """What is left to do, and what is remembered of what is in view."""
    accept = f"all decided: {keys.name('accept')} verifies and lands it"
    left = f"still open: {', '.join(bench.open)}" if bench.open else accept
    if bench.offer is not None:
        take, refuse = keys.name("take-remembered"), keys.name("undecide")
        return f"{remembered_words(bench, now)}: {take} takes it, {refuse} does not · {left}"
    return f"{whole_file_words(bench, keys)} {left}" if bench.current_hunk is None else left


def remembered_words(bench: Bench, now: float) -> str:
    """Of which conflict the remembered resolution is: `remembered from T-B07, 22:31`."""
    known = bench.view.remembered[bench.current_file.path]
    when = f", {moment(known.at, now)}" if known.at is not None else ""
    return f"remembered from {clean_line(known.task)}{when}" if known.task else "remembered from before"


def whole_file_words(bench: Bench, keys: Keymap = TABLE_KEYS) -> str:
    """What can be said of a file that is decided as a whole."""
    file = bench.current_file
    whole = bench.wholes.get(bench.file)
    decision = bench.view.record.decisions.get(file.path)
    how = whole.how if whole is not None else decision.how if decision is not None else ""
    main, task, delete = (keys.name(id_) for id_ in ("take-main", "take-task", "delete-file"))
    taken = f"Taken: {how}." if how else f"{main} takes main's, {task} the task's, {delete} deletes it."
    return f"{clean_line(file.path)}: {file.kind}. {taken}"


def _said(task: Task) -> str:
    lines = (line.strip() for line in task.body.splitlines())
    first = next((line for line in lines if line and not line.lower().startswith(_FOR_RECALL)), "")
    return clean_line(first or task.title)
