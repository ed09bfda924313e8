"""What a first set-up shows and decides: values and lines, tested without an app."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from recall.config.first_files import TASKS_NAME, FirstFiles, Found
from recall.domain.text import clean_line
from recall.tasklist.listing import TaskList
from recall.tasklist.parse import parse
from recall.tasklist.problem import Problem, Severity
from recall.ui.details.lines import counted
from recall_widgets.glyphs import GLYPHS, UNICODE, Shown, Symbols
from recall_widgets.listing import ListRow
from recall_widgets.spans import Span

_NAME = 16
_TONES = {Severity.ERROR: "bad", Severity.WARNING: "needs-you", Severity.NOTE: "muted"}


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the form. `agents` are chosen from those that are known."""

    main: str
    verify: str
    tasks: str
    agents: frozenset[str]

    def toggled(self, agent: str) -> Draft:
        return replace(self, agents=self.agents ^ {agent})

    def files(self, found: Found) -> FirstFiles:
        """What this says to write; agents in the order of the presets."""
        verify = self.verify.strip()
        agents = tuple(name for name in found.known if name in self.agents)
        return FirstFiles(
            self.main.strip(), None if verify in ("", "none") else verify, agents, self.tasks.strip() or TASKS_NAME
        )


def draft_of(found: Found) -> Draft:
    """The guesses."""
    verify = found.verify.command if found.verify is not None else ""
    return Draft(found.main, verify, TASKS_NAME, frozenset(found.agents))


def why_not_yet(draft: Draft, checkout: Path) -> str:
    """Say what has to be decided before anything can be written; empty: nothing."""
    if not draft.main.strip():
        return "name the branch that verified work lands on"
    if not draft.verify.strip():
        return "type the command that must pass before anything lands, or none"
    tasks = Path(draft.tasks.strip() or TASKS_NAME)
    if tasks.is_absolute() or ".." in tasks.parts or (checkout / tasks).is_dir():
        return f"the task list must be a file in {checkout.name}"
    return ""


def verify_words(draft: Draft, found: Found) -> str:
    """What there is to say of the verify command."""
    guess = found.verify
    if guess is not None and draft.verify.strip() == guess.command:
        return f"found: {guess.because}"
    if not draft.verify.strip():
        return "nothing was found: type a command, or none"
    if draft.verify.strip() == "none":
        return "none: work would land without any check"
    return "your own command"


def agent_rows(draft: Draft, found: Found, symbols: Symbols = UNICODE) -> list[ListRow]:
    """Every agent that is known, those on this machine first."""
    names = sorted(found.known, key=lambda name: (name not in found.agents, found.known.index(name)))
    return [_agent(name, name in draft.agents, name in found.agents, symbols) for name in names]


def _agent(name: str, chosen: bool, here: bool, symbols: Symbols) -> ListRow:
    glyph = GLYPHS[Shown.DONE]
    mark = Span(f"[{symbols.glyph(Shown.DONE) if chosen else ' '}] ", glyph.tone if chosen else "muted")
    where = Span("on PATH" if here else "not on PATH", "" if here else "muted")
    return ListRow(name, (mark, Span(f"{name:<{_NAME}} ", "strong" if here else "muted"), where))


def file_rows(text: str) -> list[ListRow]:
    """A file as it will be written; comments in the background."""
    return [
        ListRow(str(number), (Span(line, "muted" if line.startswith("#") else ""),))
        for number, line in enumerate(text.splitlines(), 1)
    ]


def read_list(file: Path, name: str) -> TaskList | None:
    """Read a task list from disk; None where there is no such file."""
    try:
        return parse(file.read_bytes(), source=name)
    except OSError:
        return None


def list_words(tasks: TaskList | None) -> str:
    """A task list in a few words."""
    if tasks is None:
        return "not there yet: two example tasks will be written"
    problems = [counted(len(tasks.errors), "problem")] if tasks.errors else []
    return ", ".join([counted(len(tasks.tasks), "task"), *problems])


def list_rows(tasks: TaskList | None, name: str) -> list[ListRow]:
    """What a task list holds, and everything that is wrong with it, each with its line."""
    if tasks is None:
        return [ListRow("gone", (Span(f"{name} cannot be read", "bad"),))]
    return [*(_problem(problem, name) for problem in tasks.problems), *_tasks(tasks)]


def _problem(problem: Problem, name: str) -> ListRow:
    key = f"problem:{problem.line}:{problem.column}:{problem.type}"
    left = (
        Span(f"{name}:{problem.line}  ", "strong"),
        Span(f"{problem.severity}  ", _TONES[problem.severity]),
        Span(clean_line(problem.message)),
    )
    return ListRow(key, left)


def _tasks(tasks: TaskList) -> Iterator[ListRow]:
    for task in tasks.tasks:
        after = f"after {', '.join(map(str, task.after))}" if task.after else ""
        left = (Span(f"{task.id:<10} ", "strong"), Span(task.title))
        yield ListRow(f"task:{task.id}:{task.line}", left, (Span(after, "muted"),))
