"""A real HTTP service on this machine that carries out what it is sent, and counts.

with CountingService() as service:
    ...  # POST to service.url with an Idempotency-Key; GET of url/KEY asks whether it was carried out
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: Sends its standard input to the address, under the key that it finds in its environment.
_CLIENT = """\
import os, sys, urllib.request
key = os.environ["RECALL_EFFECT_KEY"]
request = urllib.request.Request(sys.argv[1], sys.stdin.buffer.read(), {"Idempotency-Key": key})
with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=50) as answer:
    print(answer.read().decode())
"""
#: Asks whether the key was carried out: exit 0 with the answer, 1 if not, 2 if the service does not say.
_ASKING = """\
import os, sys, urllib.error, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    with opener.open(sys.argv[1] + "/" + os.environ["RECALL_EFFECT_KEY"], timeout=50) as answer:
        print(answer.read().decode())
except urllib.error.HTTPError as error:
    sys.exit(1 if error.code == 404 else 2)
"""


@dataclass
class CountingService:
    """`honours_keys`: one key is carried out once. `requests` counts what came in, `effects` what was carried out, by
    key. While `gate` is not set, what was carried out is not answered. `folder` is for the client programs."""

    folder: Path
    honours_keys: bool = False
    requests: Counter[str] = field(default_factory=Counter[str])
    effects: Counter[str] = field(default_factory=Counter[str])
    bodies: list[bytes] = field(default_factory=list[bytes])
    gate: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> CountingService:
        self.gate.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        for name, program in (("send.py", _CLIENT), ("ask.py", _ASKING)):
            (self.folder / name).write_text(program)
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/effects"

    @property
    def sending(self) -> list[str]:
        """The command that has the effect."""
        return [sys.executable, str(self.folder / "send.py"), self.url]

    @property
    def asking(self) -> str:
        """The shell command that asks whether it happened."""
        return f"{sys.executable} {self.folder / 'ask.py'} {self.url}"

    def take(self, key: str, body: bytes) -> str:
        """Carry a request out, or not, and give the answer."""
        with self._lock:
            self.requests[key] += 1
            self.bodies.append(body)
            if not (self.honours_keys and self.effects[key]):
                self.effects[key] += 1
            return f"receipt {self.effects[key]} for {key}"


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, service: CountingService, *args: Any) -> None:
        self._service = service
        super().__init__(*args)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = self._service.take(self.headers["Idempotency-Key"], body)
        self._service.gate.wait(50)
        self._say(200, answer)

    def do_GET(self) -> None:
        key = self.path.rpartition("/")[2]
        count = self._service.effects[key]
        self._say(200 if count else 404, f"found {count} of {key}")

    def _say(self, status: int, text: str) -> None:
        data = text.encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True  # whoever asked is gone

    def log_message(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # says nothing
        """Keep quiet."""
