"""`recall rehearse`: the real program on a made-up repository."""

from __future__ import annotations

from pathlib import Path

import click

from recall.cli.report import say
from recall.cli.tui import has_terminal


@click.command(
    epilog="""\b
Examples:
  recall rehearse                     on the screen, in a new temporary folder
  recall rehearse --dir demo          in the folder `demo`; goes on there if it was interrupted
  recall rehearse --no-ui             as lines, until everything is done
  recall rehearse --json              as lines of JSON"""
)
@click.option("--dir", "folder", type=click.Path(path_type=Path), metavar="D", help="Work in this folder.")
@click.option("--no-ui", is_flag=True, help="Print lines instead of opening the screen.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.pass_context
def rehearse(context: click.Context, folder: Path | None, no_ui: bool, as_json: bool) -> None:
    """See Recall at work on a made-up repository, without any real agent.

    On the screen it is over when you leave it; what happened is printed then.
    """
    from recall.rehearsal import run

    screen = has_terminal() and not no_ui and not as_json
    context.exit(run(folder, say=say, json_lines=as_json, screen=screen))
