"""`recall workspaces`: work that waits for a person, brought back or dropped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.interventions import ACTOR
from recall.cli.project import Project, opened_project
from recall.cli.report import Refusal, confirm, say, say_json
from recall.cli.words import columns
from recall.domain.frozen import frozen
from recall.domain.run import Refused, Run, RunState
from recall.domain.text import clean, clean_line
from recall.domain.words import elapsed

if TYPE_CHECKING:
    from recall.gitops.shelf import Shelf, ShelvedWork

_UNITS = (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024))


@frozen
class _Parked:
    """Parked work with the run that it came from, when the store knows it."""

    work: ShelvedWork
    run: Run | None


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  recall workspaces                         what is parked, why, how large, since when
  recall workspaces restore 41              the branch recall-restored/41
  recall workspaces restore 41 --to ../look its files, in a new folder
  recall workspaces drop 41                 let go of it, after asking""",
)
@click.pass_context
def workspaces(context: click.Context) -> None:
    """Show work that is parked; bring it back or drop it."""
    if context.invoked_subcommand is None:
        context.invoke(list_parked, as_json=False)


@workspaces.command("list", epilog="Examples: recall workspaces list, recall workspaces list --json")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_parked(as_json: bool) -> None:
    """List what is parked: run, task, why, size, age."""
    with opened_project() as project:
        parked, now = _parked(project), project.clock.now().wall
    if as_json:
        say_json([_json(one, now) for one in parked])
        return
    if not parked:
        say("nothing is parked")
    for line in columns([_row(one, now) for one in parked], indent=""):
        say(line)


@workspaces.command(epilog="Examples: recall workspaces restore 41, recall workspaces restore 41 --to ../look")
@click.argument("name", metavar="RUN")
@click.option(
    "--to", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Write the files into a new folder."
)
def restore(name: str, folder: Path | None) -> None:
    """Bring parked work back as a branch, or as files in a folder.

    The parked work itself stays where it is.
    """
    with opened_project() as project:
        pinned = [one for one in _named(project, name) if one.work.ref]
        if not pinned:
            left = next(one.work.folder for one in _named(project, name))
            raise Refusal(f"{name} was left as it is in {left}: look there; nothing of it is pinned")
        one, shelf = pinned[0], _shelf(project)
        if folder is None:
            branch = _accepted(shelf.restore_branch(one.work))
            done = f"branch {branch} holds it: `git switch {branch}`"
        else:
            where = folder.parent.resolve() / folder.name
            _accepted(shelf.restore_files(one.work, where))
            done = f"its files lie in {where}; no git repository of their own"
        _note(project, one, "workspace.restored", done)
        say(done)


@workspaces.command(epilog="Examples: recall workspaces drop 41, recall workspaces drop 41 --yes")
@click.argument("name", metavar="RUN")
@click.option("--yes", is_flag=True, help="Do not ask.")
def drop(name: str, yes: bool) -> None:
    """Let go of parked work, after asking.

    Its branch goes with it, unless it is checked out or holds more than what was parked.
    """
    with opened_project() as project:
        found = _named(project, name)
        for one in found:
            if one.run is not None and one.run.state is not RunState.SETTLED:
                raise Refusal(f"run {one.run.id} of {one.run.ref} is not over ({one.run.state}): its work is in use")
        now = project.clock.now().wall
        for line in columns([_row(one, now) for one in found], indent=""):
            say(line)
        if not yes and not confirm("Drop it?"):
            raise Refusal("nothing was dropped")
        branch = next((one.run.branch for one in found if one.run is not None), None)
        said = _shelf(project).drop([one.work for one in found], branch)
        for line in said:
            say(line)
        _note(project, found[0], "workspace.dropped", "; ".join(said))


# -- finding -------------------------------------------------------------------------------------------------------
def _shelf(project: Project) -> Shelf:
    from recall.bootstrap import git_at

    return git_at(project.location, project.settings).shelf


def _parked(project: Project) -> list[_Parked]:
    works = _shelf(project).listed()
    return [_Parked(work, project.store.run(work.run_id) if work.run_id else None) for work in works]


def _named(project: Project, name: str) -> Sequence[_Parked]:
    parked = _parked(project)
    found = [one for one in parked if one.work.name == name]
    if not found:
        raise Refusal(f"nothing is parked as {name}; `recall workspaces` lists what is")
    return found


def _accepted(outcome: str | Refused | None) -> str:
    if isinstance(outcome, Refused):
        raise Refusal(outcome.reason)
    return outcome or ""


def _note(project: Project, one: _Parked, kind: str, reason: str) -> None:
    run = one.run
    project.store.note(
        kind, actor=ACTOR, reason=clean(reason), ref=run.ref if run else None, run_id=run.id if run else None
    )


# -- showing -------------------------------------------------------------------------------------------------------
def _row(one: _Parked, now: float) -> tuple[str, ...]:
    work = one.work
    who = f"{one.run.ref} ({one.run.agent})" if one.run is not None else "-"
    files = f"{work.files} file{'s' if work.files != 1 else ''}" if work.folder is None else f"in {work.folder}"
    return work.name, who, f"{elapsed(now - work.since)} ago", _bytes(work.size), files, clean_line(work.why)


def _bytes(size: int) -> str:
    unit, factor = next(((unit, factor) for unit, factor in _UNITS if size >= factor), ("B", 1))
    return f"{size / factor:.1f} {unit}" if factor > 1 else f"{size} B"


def _json(one: _Parked, now: float) -> dict[str, object]:
    work, run = one.work, one.run
    return {
        "name": work.name,
        "run_id": work.run_id,
        "task": str(run.ref) if run is not None else None,
        "agent": run.agent if run is not None else None,
        "ref": work.ref or None,
        "commit": work.tip or None,
        "why": clean(work.why),
        "files": work.files,
        "bytes": work.size,
        "since": work.since,
        "age_s": now - work.since,
        "folder": str(work.folder) if work.folder is not None else None,
    }
