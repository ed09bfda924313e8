"""`recall resolve`: look at a conflict and settle it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.interventions import ACTOR
from recall.cli.names import complete_task
from recall.cli.project import Project, known_agent, known_task, opened_project
from recall.cli.report import Refusal, say
from recall.cli.words import clock_time
from recall.domain.conflict import ConflictedFile, Decision, Hunk, Side, conflict_reason
from recall.domain.run import Refused, Run
from recall.domain.task import Task, TaskRef
from recall.domain.text import clean_bytes, clean_line

if TYPE_CHECKING:
    from recall.engine.resolve import ConflictView, Resolver

    _Way = Callable[[Resolver, TaskRef], str | Refused]

#: How many lines of one side of a hunk are shown.
_SHOWN = 12
_ANY = ""

_BY_HAND = """\
Edit it, then `recall resolve {id} --continue`. Files without lines lie there as NAME~main and NAME~task: rename the
one that you want to NAME, and delete the other."""

_WAYS = """\
What you can do:
  recall resolve {id} --take main|task [PATH…]   one side, everywhere or at these paths
  recall resolve {id} --checkout DIR             edit it in a new folder, then --continue
  recall resolve {id} --send-back [AGENT]        let an agent do it again, told of both sides
  recall resolve {id} --restart                  start it over from main
  recall resolve {id} --give-up                  cancel it; its work is kept"""


@click.command(
    epilog="""\b
Examples:
  recall resolve T-12                            what met, and what you can do
  recall resolve T-12 --take task                the task's version of everything
  recall resolve T-12 --take main docs/index.md  main's version here; the rest is still open
  recall resolve T-12 --checkout ../fix          edit ../fix, then: recall resolve T-12 --continue
  recall resolve T-12 --send-back codex          codex does it again, told of both sides"""
)
@click.argument("task_id", metavar="ID", shell_complete=complete_task)
@click.argument("paths", metavar="[PATH…]", nargs=-1)
@click.option("--take", type=click.Choice([side.value for side in Side]), help="Take this side's version.")
@click.option("--remembered", is_flag=True, help="Resolve it the way the same conflict was resolved before.")
@click.option(
    "--checkout", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Write it into a new folder."
)
@click.option("--continue", "go_on", is_flag=True, help="Take over what you made of that folder.")
@click.option(
    "--send-back", "agent", is_flag=False, flag_value=_ANY, metavar="[AGENT]", help="Let an agent do it again."
)
@click.option("--restart", is_flag=True, help="Start the task over from main as it is.")
@click.option("--give-up", is_flag=True, help="Cancel the task; its work is kept.")
def resolve(
    task_id: str,
    paths: tuple[str, ...],
    take: str | None,
    remembered: bool,
    folder: Path | None,
    go_on: bool,
    agent: str | None,
    restart: bool,
    give_up: bool,
) -> None:
    """Look at a conflict with main, and settle it.

    Whatever you decide is verified before it lands. Without an option it shows what met; with PATHs, --take and
    --remembered decide about these only, and the task goes on when nothing is open any more.
    """
    table: dict[str, tuple[bool, _Way]] = {
        "--take": (take is not None, lambda desk, ref: desk.take(ref, Side(take), paths)),
        "--remembered": (remembered, lambda desk, ref: desk.take_remembered(ref, paths)),
        "--checkout": (folder is not None, lambda desk, ref: desk.check_out(ref, _absolute(folder or Path()))),
        "--continue": (go_on, lambda desk, ref: desk.take_back(ref)),
        "--send-back": (agent is not None, lambda desk, ref: desk.send_back(ref, agent or None)),
        "--restart": (restart, lambda desk, ref: desk.restart(ref)),
        "--give-up": (give_up, lambda desk, ref: desk.give_up(ref)),
    }
    way = _chosen({name: act for name, (is_given, act) in table.items() if is_given}, paths)
    with opened_project() as project:
        ref = known_task(project.store, task_id).ref
        if agent:
            known_agent(project, agent)
        _go(way or _show, _desk(project), ref)
        if folder is not None:
            say(_BY_HAND.format(id=ref))


def _chosen(ways: dict[str, _Way], paths: tuple[str, ...]) -> _Way | None:
    if len(ways) > 1:
        raise click.UsageError(f"{' and '.join(ways)} are different ways: choose one")
    if paths and not set(ways) & {"--take", "--remembered"}:
        raise click.UsageError("paths go with --take or --remembered only")
    return next(iter(ways.values()), None)


def _go(way: _Way, desk: Resolver, ref: TaskRef) -> None:
    said = way(desk, ref)
    if isinstance(said, Refused):
        raise Refusal(said.reason)
    say(said)


def _absolute(folder: Path) -> Path:
    return folder.parent.resolve() / folder.name


def _desk(project: Project) -> Resolver:
    from recall.bootstrap import dispatcher_runs, git_at
    from recall.engine.resolve import Resolver

    git = git_at(project.location, project.settings)
    return Resolver(project.store, git, ACTOR, unattended=not dispatcher_runs(project.state))


# -- showing it ----------------------------------------------------------------------------------------------------
def _show(desk: Resolver, ref: TaskRef) -> str | Refused:
    view = desk.look(ref)
    return view if isinstance(view, Refused) else "\n".join(_lines(view))


def _lines(view: ConflictView) -> Iterator[str]:
    others = [_named(task, run) for task, run in view.others] or [
        f"{change.commit[:10]} {clean_line(change.subject)}" for change in view.record.changes
    ]
    yield f"{_named(view.task, view.run)} meets {', '.join(others) or 'main'}"
    yield f"  {conflict_reason(view.record.files, view.record.changes)}"
    for file in view.files:
        yield ""
        yield from _file_lines(file, view.record.decisions.get(file.path), str(view.record.ref))
    yield ""
    if view.record.folder:
        yield f"You edit it in {view.record.folder}: `recall resolve {view.record.ref} --continue` takes it over."
    open_ones = [path for path in view.remembered if path not in view.record.decisions]
    if open_ones:
        yield f"A remembered resolution fits {', '.join(map(clean_line, open_ones))}:"
        yield f"  recall resolve {view.record.ref} --remembered"
    yield _WAYS.format(id=view.record.ref)


def _named(task: Task, run: Run | None) -> str:
    """Give a task with who did it and when: `T-2 Parse the config (claude, landed 22:31)`."""
    words = f"{task.ref} {clean_line(task.title)}"
    if run is None:
        return words
    when = f"landed {clock_time(run.settled_at)}" if run.settled_at is not None else f"run {run.id}"
    return f"{words} ({run.agent}, {when})"


def _file_lines(file: ConflictedFile, decision: Decision | None, task: str) -> Iterator[str]:
    count = len(file.hunks)
    hunks = f", {count} hunk{'s' if count > 1 else ''}" if count else ""
    decided = f"  decided: {decision.how}" if decision is not None else ""
    yield f"{clean_line(file.path)}  {file.kind}{hunks}{decided}"
    for hunk in file.hunks if decision is None else ():
        yield from _hunk_lines(hunk, task)


def _hunk_lines(hunk: Hunk, task: str) -> Iterator[str]:
    for label, text, start in (("main", hunk.main, hunk.main_line), (task, hunk.task, hunk.task_line)):
        lines = clean_bytes(text).splitlines()
        yield f"  {label}" + ("" if lines else ": nothing")
        for number, line in enumerate(lines[:_SHOWN], start):
            yield f"  {number:>5}  {line}"
        if len(lines) > _SHOWN:
            yield f"         … and {len(lines) - _SHOWN} more lines"
