"""The life of the server: bound to 127.0.0.1 and nothing else, until somebody asks it to end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from recall.domain.errors import EnvironmentFailure
from recall.serve.gate import Gate
from recall.serve.site import Site

_HERE = "127.0.0.1"
#: Longer than a viewer may take to leave.
_PATIENCE = 10
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: A browser needs a screen; without one a text browser would be started, in the terminal of the server.
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


@dataclass(frozen=True, slots=True)
class Place:
    """What is served: the folder in which viewers are started, the repository's name, its state folder."""

    folder: Path
    name: str
    state: Path


def serve(place: Place, port: int, *, tell: Callable[[str, int], None], browse: bool) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP; then all viewers are gone. `port` 0 takes a free one; `tell` gets the
    address for a person, each time that there is another one, and the port. Raises EnvironmentFailure if the port
    cannot be had."""
    door = place.state / "serve.html"
    with _listening(port) as listener:
        gate = Gate(listener.getsockname()[1])

        def ready() -> None:
            tell(gate.address, gate.port)
            if browse and any(os.environ.get(name) for name in _SCREENS):
                _open_browser(door, gate.address)

        def entered() -> None:
            door.unlink(missing_ok=True)
            tell(gate.address, gate.port)

        try:
            asyncio.run(_serve(Site(gate, place.folder, place.name, entered), listener, ready))
        finally:
            door.unlink(missing_ok=True)


@contextmanager
def _listening(port: int) -> Generator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HERE, port))
        except OSError as refused:
            raise EnvironmentFailure(
                f"port {port} of {_HERE} cannot be had: {refused.strerror}; choose another with --port, or 0 for any"
            ) from refused
        yield listener


async def _serve(site: Site, listener: socket.socket, ready: Callable[[], None]) -> None:
    loop, end = asyncio.get_running_loop(), asyncio.Event()
    for number in _ENDING:
        loop.add_signal_handler(number, end.set)
    runner = web.AppRunner(site.application(), access_log=None, shutdown_timeout=_PATIENCE)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        ready()
        await end.wait()
    finally:
        await runner.cleanup()


def _open_browser(door: Path, address: str) -> None:
    """Give the browser a page that leads to the address: the key in an argument of its command line could be read by
    every user of the machine."""
    door.unlink(missing_ok=True)
    with os.fdopen(os.open(door, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as page:
        page.write(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={address}"><title>Recall</title>\n')
    threading.Thread(target=_browse, args=(door.as_uri(),), daemon=True).start()


def _browse(address: str) -> None:
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(address)
