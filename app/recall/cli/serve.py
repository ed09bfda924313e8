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
@click.option("--open/--no-open", "browse", default=True, help="Open it in the browser, or only print the address.")
@click.option("--json", "as_json", is_flag=True, help="Print each address as one line of JSON.")
def serve(port: int, browse: bool, as_json: bool) -> None:
    """Show the screen in a browser on this machine.

    Goes on until Ctrl+C. Each tab is a viewer of its own that ends with it; it is `recall-tui` that lets the agents
    work. Nothing but 127.0.0.1 is listened on. Whoever opens the printed address can do here what you can;
    it is good for one browser, and the next one is printed then.
    """
    if find_spec("textual_serve") is None or find_spec("aiohttp") is None:
        raise Stop(ExitCode.ENVIRONMENT, "`recall serve` needs two more packages: pip install 'recall-tui[serve]'")
    from recall.serve.server import Place
    from recall.serve.server import serve as listen

    with opened_project() as project:
        place = Place(Path.cwd(), project.name, project.state)

    told: list[str] = []

    def tell(address: str, at: int) -> None:
        told.append(address)
        if as_json:
            say_json({"url": address, "port": at}, compact=True)
        elif len(told) == 1:
            say(
                f"{place.name} is at {address}\nThis address is your key to it. Ctrl+C ends it, and every view of it."
            )
        else:
            say(f"A browser came in. Another one can: {address}")

    listen(place, port, tell=tell, browse=browse)
