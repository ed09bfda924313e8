"""`recall-tui`: the dispatcher that lets the agents work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from recall import __version__
from recall.cli.report import ACTOR, Refusal, ring, run, say
from recall.config.values import Unfit, duration

if TYPE_CHECKING:
    from recall.gitops.locate import Location


class _Duration(click.ParamType[float]):
    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return duration(value)
        except Unfit as unfit:
            self.fail(f"{value!r} is not {unfit}", param, ctx)


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="""\b
Examples:
  recall-tui                          open the screen and work
  recall-tui --no-ui                  work until Ctrl-C, without a screen
  recall-tui --no-ui --until-done     end when nothing can move any more
  recall-tui --no-ui --json           one JSON object a line, for programs""",
)
@click.option("--no-ui", is_flag=True, help="Print lines instead of opening the screen.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.option("--until-done", is_flag=True, help="End when no task can move without a person.")
@click.option(
    "--grace",
    type=_Duration(),
    default="0s",
    metavar="TIME",
    help="Without a screen, on SIGTERM or SIGHUP: let agents go on for so long before they are stopped.",
)
@click.option("--allow-root", is_flag=True, help="Start agent CLIs as root: in a container that may be thrown away.")
@click.version_option(__version__, prog_name="recall-tui")
@click.pass_context
def recall_tui(
    context: click.Context, no_ui: bool, as_json: bool, until_done: bool, grace: float, allow_root: bool
) -> None:
    """Let the agents of recall.toml work on the task list, and land what they do.

    Exit codes: 0 done, 1 something needs a person, 2 bad configuration or task list, 3 another dispatcher runs here,
    4 the environment failed.
    """
    if no_ui or as_json or until_done or not has_terminal():
        from recall.headless import run_headless

        code = run_headless(
            Path.cwd(),
            say=say,
            json_lines=as_json,
            until_done=until_done,
            grace=grace,
            allow_root=allow_root,
            ring=lambda: None if as_json else ring(),
        )
        context.exit(code)
    from recall.ui.garbage import put_off

    put_off()
    from recall.bootstrap import config_file
    from recall.engine import interventions
    from recall.gitops.locate import locate
    from recall.ui.app import run_app
    from recall.ui.session import open_session

    location = locate(Path.cwd())
    first = not config_file(location).is_file()
    if first and not _set_up(location):
        context.exit(0)
    with open_session(Path.cwd(), allow_root=allow_root) as session:
        if first:
            interventions.pause_dispatching(session.store, actor=ACTOR, reason="just set up, P lets the agents start")
        context.exit(run_app(session))


def _set_up(location: Location) -> bool:
    """Lead through a first set-up; False: the person does not want the board now."""
    if location.checkout is None:
        raise Refusal(f"{location.git_dir} is a bare repository; start `recall-tui` in a checkout of it")
    from recall.ui.set_up import set_up

    opens = set_up(location, location.checkout)
    if opens is None:
        say("nothing was written")
    return bool(opens)


def has_terminal() -> bool:
    """Tell whether a person sits in front of this process."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def main() -> NoReturn:
    """Run `recall-tui` with the process's arguments and exit with one of `report.ExitCode`."""
    sys.exit(run(recall_tui, "recall-tui"))
