"""`recall resolve`: look at a conflict and settle it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recall.cli.interventions import ACTOR
from recall.cli.names import complete_agent, complete_task
from recall.cli.project import Project, known_agent, known_task, opened_project
from recall.cli.report import Answer, Refusal, say, say_json
from recall.domain.conflict import Side
from recall.domain.run import Refused
from recall.domain.task import TaskRef

if TYPE_CHECKING:
    from recall.engine.resolve import Resolver

_CommandT = TypeVar("_CommandT", bound="Callable[..., Any] | click.Command")

_GIVEN = "recall.resolve"  #: where click's context keeps what was wished for
_ANY = ""
_OF_PATHS = ("--take", "--remembered", "--delete")
_OF_ONE_PATH = ("--hunks", "--with")
_OF_A_HUNK = ("main", "task", "both", "remembered")

_BY_HAND = """\
Edit it, then `recall resolve {id} --continue`. Files without lines lie there as NAME~main and NAME~task: rename the
one that you want to NAME, and delete the other."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """The option that was given, its value, and the PATHs."""

    option: str
    value: Any
    paths: tuple[str, ...]


def _keep(context: click.Context, option: click.Parameter, value: object) -> None:
    """Note an option that is a way out of a conflict, if it was given."""
    if value is not None and value is not False:
        context.meta.setdefault(_GIVEN, {})[option.opts[0]] = value


def _way(name: str, **attributes: Any) -> Callable[[_CommandT], _CommandT]:
    return click.option(name, expose_value=False, callback=_keep, **attributes)


@click.command(
    epilog="""\b
Examples:
  recall resolve T-12                            what met, and what you can do
  recall resolve T-12 --take task                the task's version of everything
  recall resolve T-12 --take main docs/index.md  main's version here; the rest is still open
  recall resolve T-12 --hunks main,both a.py     main's lines in its first hunk, both in its second
  recall resolve T-12 --checkout ../fix          edit ../fix, then: recall resolve T-12 --continue
  recall resolve T-12 --send-back codex          codex does it again, told of both sides"""
)
@click.argument("task_id", metavar="ID", shell_complete=complete_task)
@click.argument("paths", metavar="[PATH…]", nargs=-1)
@_way("--take", type=click.Choice([side.value for side in Side]), help="Take this side's version.")
@_way("--hunks", metavar="LIST", help="Take main, task, both or remembered for each hunk of one PATH, with commas.")
@_way("--with", type=click.File("rb"), metavar="FILE", help="Take this file's content for one PATH; - reads it.")
@_way("--delete", is_flag=True, help="Let these PATHs go, whichever side has them.")
@_way("--remembered", is_flag=True, help="Resolve it the way the same conflict was resolved before.")
@_way("--checkout", type=click.Path(path_type=Path), metavar="DIR", help="Write it into a new folder.")
@_way("--continue", is_flag=True, help="Take over what you made of that folder.")
@_way("--send-back", is_flag=False, flag_value=_ANY, metavar="[AGENT]", help="Let an agent do it again.")
@_way("--restart", is_flag=True, help="Start the task over from main as it is.")
@_way("--give-up", is_flag=True, help="Cancel the task; its work is kept.")
@click.option("--agent", metavar="NAME", shell_complete=complete_agent, help="Whom to send it back to.")
@click.option("--base", is_flag=True, help="Show what both sides began with as well.")
@click.option("--json", "as_json", is_flag=True, help="Print the conflict, or what was done, as JSON.")
@click.pass_context
def resolve(
    context: click.Context, task_id: str, paths: tuple[str, ...], agent: str | None, base: bool, as_json: bool
) -> None:
    """Look at a conflict with main, and settle it.

    Whatever you decide is verified before it lands. Without an option it shows what met; with PATHs, --take and
    --remembered decide about these only, and the task goes on when nothing is open any more.
    """
    wish = _wish(context.meta.get(_GIVEN, {}), paths, agent)
    if isinstance(context.obj, Answer):
        context.obj.as_json = as_json and wish is not None
    with opened_project() as project:
        ref = known_task(project.store, task_id).ref
        if wish is None:
            _show(_desk(project), ref, base=base, as_json=as_json)
        else:
            _carry_out(project, ref, wish)


_ACTS: dict[str, Callable[[Resolver, TaskRef, _Wish], str | Refused]] = {
    "--take": lambda desk, ref, wish: desk.take(ref, Side(wish.value), wish.paths),
    "--hunks": lambda desk, ref, wish: desk.take_hunks(ref, wish.paths[0], wish.value),
    "--with": lambda desk, ref, wish: desk.supply(ref, {wish.paths[0]: wish.value.read()}),
    "--delete": lambda desk, ref, wish: desk.delete(ref, wish.paths),
    "--remembered": lambda desk, ref, wish: desk.take_remembered(ref, wish.paths),
    "--checkout": lambda desk, ref, wish: desk.check_out(ref, _absolute(wish.value)),
    "--continue": lambda desk, ref, _: desk.take_back(ref),
    "--send-back": lambda desk, ref, wish: desk.send_back(ref, wish.value or None),
    "--restart": lambda desk, ref, _: desk.restart(ref),
    "--give-up": lambda desk, ref, _: desk.give_up(ref),
}


def _carry_out(project: Project, ref: TaskRef, wish: _Wish) -> None:
    if wish.option == "--send-back" and wish.value:
        known_agent(project, wish.value)
    said = _ACTS[wish.option](_desk(project), ref, wish)
    if isinstance(said, Refused):
        raise Refusal(said.reason)
    say(said)
    if wish.option == "--checkout":
        say(_BY_HAND.format(id=ref))


def _wish(given: dict[str, Any], paths: tuple[str, ...], agent: str | None) -> _Wish | None:
    if agent is not None and given.get("--send-back") != _ANY:
        raise click.UsageError("--agent goes with --send-back, which names nobody itself")
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} are different ways: choose one")
    option, value = next(iter(given.items()), ("", ""))
    if paths and option not in (*_OF_PATHS, *_OF_ONE_PATH):
        raise click.UsageError(f"paths go with {', '.join((*_OF_PATHS, *_OF_ONE_PATH))} only")
    if option in _OF_ONE_PATH and len(paths) != 1:
        raise click.UsageError(f"{option} decides about one PATH")
    if option == "--delete" and not paths:
        raise click.UsageError("--delete needs the PATHs that are to go")
    value = _choices(value) if option == "--hunks" else value
    return _Wish(option, agent if agent is not None else value, paths) if option else None


def _choices(listed: str) -> list[str]:
    choices = [choice.strip() for choice in listed.split(",")]
    wrong = [choice for choice in choices if choice not in _OF_A_HUNK]
    if wrong:
        raise click.UsageError(f"{wrong[0]!r} is no choice for a hunk; there are {', '.join(_OF_A_HUNK)}")
    return choices


def _absolute(folder: Path) -> Path:
    return folder.parent.resolve() / folder.name


def _desk(project: Project) -> Resolver:
    from recall.bootstrap import dispatcher_runs, git_at
    from recall.engine.resolve import Resolver

    git = git_at(project.location, project.settings)
    return Resolver(project.store, git, ACTOR, unattended=not dispatcher_runs(project.state))


def _show(desk: Resolver, ref: TaskRef, *, base: bool, as_json: bool) -> None:
    from recall.cli.conflict_text import conflict_json, conflict_text

    view = desk.look(ref)
    if isinstance(view, Refused):
        raise Refusal(view.reason)
    if as_json:
        say_json(conflict_json(view))
    else:
        say("\n".join(conflict_text(view, base=base)))
