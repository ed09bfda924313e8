"""`recall serve` as a process of its own, and requests to it that no browser would send."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.workshop import eventually, processes_in

_VIEWER = b"recall.serve.viewer"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def cookie(self) -> str:
        """What a browser would send back."""
        return (self.headers["Set-Cookie"] or "").partition(";")[0]


@dataclass(frozen=True)
class Served:
    """`folder` is the repository's, `url` the address that was printed."""

    process: subprocess.Popen[str]
    folder: Path
    url: str
    port: int

    @property
    def entrance(self) -> str:
        """The path of the address, with the key."""
        parts = urlsplit(self.url)
        return f"{parts.path}?{parts.query}"

    @property
    def room(self) -> str:
        return urlsplit(self.url).path.removesuffix("enter")

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(self, path: str, *, host: str = "", cookie: str = "", method: str = "GET", **headers: str) -> Answer:
        """Send one request; `Sec_Fetch_Site="none"` is a header."""
        with self._asked(path, host=host, cookie=cookie, method=method, headers=headers) as answer:
            return answer

    def ask_for_socket(self, *, origin: str | None = None, cookie: str = "", host: str = "") -> Answer:
        """Send what opens a WebSocket; without an origin one of this server's own. The socket is left at once."""
        with self.socket(cookie, origin=origin, host=host) as answer:
            return answer

    @contextmanager
    def socket(self, cookie: str, *, origin: str | None = None, host: str = "") -> Generator[Answer]:
        """Open a WebSocket for a while."""
        key = base64.b64encode(os.urandom(16)).decode()
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
        headers |= {"Sec-WebSocket-Key": key, "Origin": f"http://{self.host}" if origin is None else origin}
        with self._asked(f"{self.room}socket", host=host, cookie=cookie, method="GET", headers=headers) as answer:
            yield answer

    @contextmanager
    def _asked(
        self, path: str, *, host: str, cookie: str, method: str, headers: Mapping[str, str]
    ) -> Generator[Answer]:
        sent = {"Host": host or self.host, **({"Cookie": cookie} if cookie else {})}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, headers=sent)
            answer = connection.getresponse()
            body = b"" if answer.status == http.client.SWITCHING_PROTOCOLS else answer.read()
            yield Answer(answer.status, answer.headers, body.decode("utf-8", "replace"))
        finally:
            connection.close()

    def come_in(self) -> str:
        """Give the cookie of somebody who was given the address. The key is used then."""
        return self.ask(self.entrance).cookie

    def next_url(self) -> str:
        """Give the address that is printed next."""
        assert self.process.stdout is not None
        url: str = json.loads(self.process.stdout.readline())["url"]
        return url

    def viewers(self) -> list[int]:
        return [pid for pid in processes_in(self.folder) if _VIEWER in _command_line(pid)]

    def has_viewers(self, count: int) -> None:
        eventually(lambda: len(self.viewers()) == count)

    def ends(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@contextmanager
def serving(folder: Path, *args: str, env: Mapping[str, str] | None = None) -> Generator[Served]:
    """Serve the repository in `folder`; killed at the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", "serve", "--no-open", "--json", *args],
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "error", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        said = json.loads(process.stdout.readline())
        served = Served(process, folder, said["url"], said["port"])
        yield served
        process.terminate()
        process.wait(30)
        served.has_viewers(0)
    finally:
        process.kill()
        process.communicate()
