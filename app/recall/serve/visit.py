"""One visit: a viewer process, and the socket of the tab that it is seen in."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from aiohttp.web import WebSocketResponse
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

#: How long a viewer may take to leave, in seconds. It ends itself by force after three.
_PATIENCE = 5.0
#: `-P`: no module of the repository that it is started in may stand in for ours.
_VIEWER = (sys.executable, "-P", "-m", "recall.serve.viewer")


class Visit(AppService):
    """Runs from `start` to `stop`. Whoever of tab and viewer ends first, the other one ends too."""

    def __init__(self, folder: Path, socket: WebSocketResponse, downloads: DownloadManager) -> None:
        super().__init__(
            " ".join(_VIEWER),
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=self._close,
            download_manager=downloads,
        )
        self._folder = folder
        self._socket = socket

    async def _close(self) -> None:
        await self._socket.close()

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """In a session of its own, so that Ctrl+C in the terminal is the server's affair."""
        self._process = await asyncio.create_subprocess_exec(
            *_VIEWER,
            cwd=self._folder,
            env=self._build_environment(width, height),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        self._stdin = self._process.stdin
        return self._process

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        environ = super()._build_environment(width, height)
        environ.pop("RECALL_GLYPHS", None)  # tells of the terminal that the server was started in
        return {**environ, "TEXTUAL_DRIVER": "recall.serve.driver:TabDriver", "TERM": "xterm-256color"}

    async def on_data(self, payload: bytes) -> None:
        with contextlib.suppress(ConnectionError):  # the tab is gone; the viewer must be read on, or it cannot leave
            await super().on_data(payload)

    async def run(self) -> None:
        await super().run()
        await self._close()

    async def stop(self) -> None:
        """Have the viewer leave, and see it gone."""
        process, reading = self._process, self._task
        if process is None or reading is None:
            return
        await self.send_meta({"type": "quit"})
        self.stdin.close()
        try:
            async with asyncio.timeout(_PATIENCE):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        reading.cancel()
        await asyncio.wait({reading})
