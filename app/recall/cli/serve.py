"""`recall serve`: the screen in a browser on this machine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from recall.cli.project import opened_project
from recall.cli.report import ExitCode, Stop, say, say_json


@click.command(
    epilog="""\b
Examples:
  recall serve                     on any free port, and open it in the browser
  recall serve --port 8765         on this one, so that an SSH tunnel can lead to it
  recall serve --no-open --json    print the address for a program"""
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Use this port; 0: any free one.")
@click.option("--no-open", is_flag=True, help="Print the address only; open no browser.")
@click.option("--json", "as_json", is_flag=True, help="Print the address as one line of JSON.")
def serve(port: int, no_open: bool, as_json: bool) -> None:
    """Show the screen in a browser on this machine.

    Goes on until Ctrl+C. Each tab is a viewer of its own that ends with it; it is `recall-tui` that lets the agents
    work. Nothing but 127.0.0.1 is listened on. Whoever has the printed address can do here what you can.
    """
    if find_spec("textual_serve") is None or find_spec("aiohttp") is None:
        raise Stop(ExitCode.ENVIRONMENT, "`recall serve` needs two more packages: pip install 'recall-tui[serve]'")
    from recall.serve.server import Place
    from recall.serve.server import serve as listen

    with opened_project() as project:
        place = Place(Path.cwd(), project.name, project.state)

    def opened(address: str, at: int) -> None:
        if as_json:
            say_json({"url": address, "port": at}, compact=True)
        else:
            say(
                f"{place.name} is at {address}\nThis address is your key to it. Ctrl+C ends it, and every view of it."
            )

    listen(place, port, opened=opened, browse=not no_open)
