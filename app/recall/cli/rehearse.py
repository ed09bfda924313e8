"""`recall rehearse`: the real program on a made-up repository."""

from __future__ import annotations

from pathlib import Path

import click

from recall.cli.report import say


@click.command(
    epilog="""\b
Examples:
  recall rehearse                     in a new temporary folder
  recall rehearse --dir demo          in the folder `demo`; goes on there if it was interrupted
  recall rehearse --no-ui --json      as lines of JSON"""
)
@click.option("--dir", "folder", type=click.Path(path_type=Path), metavar="D", help="Work in this folder.")
@click.option("--no-ui", is_flag=True, help="Print lines; in this version the only way.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.pass_context
def rehearse(context: click.Context, folder: Path | None, as_json: bool, **_: bool) -> None:
    """See Recall at work on a made-up repository, without any real agent."""
    from recall.rehearsal import run

    context.exit(run(folder, say=say, json_lines=as_json))
