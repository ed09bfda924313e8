"""The pages, their parts and the sockets, behind the gate. Nothing here is asked for from outside the machine."""

from __future__ import annotations

import asyncio
import html
import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

import textual_serve
from aiohttp import WSMsgType, web
from textual_serve.download_manager import DownloadManager

from recall.serve.gate import Gate, Knock
from recall.serve.visit import Visit

_MOST_VISITS = 8
_MOST_CELLS = 1000
_HEARTBEAT_SECONDS = 20
_FAREWELL_SECONDS = 2
_COOKIE = "recall"
_OURS = files("recall.serve") / "page"
_THEIRS = Path(textual_serve.__file__).parent / "static"
#: Every file that there is to ask for.
_PARTS = {
    "page.css": (_OURS / "page.css", "text/css"),
    "page.js": (_OURS / "page.js", "text/javascript"),
    "xterm.css": (_THEIRS / "css/xterm.css", "text/css"),
    "textual.js": (_THEIRS / "js/textual.js", "text/javascript"),
    "roboto-mono.ttf": (_THEIRS / "fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
}
_INSIDE = '<!DOCTYPE html><meta http-equiv="refresh" content="0; url=./"><title>Recall</title>'
#: Styles are written into the page by xterm.js, which draws the terminal.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src data:; "
    "connect-src ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "recall",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Site:
    """Serves one repository. `folder` is where viewers are started, `name` what the page is called; `entered` is
    called when a browser came in and the gate has another address."""

    def __init__(self, gate: Gate, folder: Path, name: str, entered: Callable[[], None]) -> None:
        self._gate = gate
        self._entered = entered
        self._folder = folder
        self._name = name
        self._downloads = DownloadManager()
        self._sockets: set[web.WebSocketResponse] = set()

    def application(self) -> web.Application:
        room = f"/{self._gate.room}"
        app = web.Application()
        app.add_routes(
            [
                web.get(f"{room}/enter", self._enter, allow_head=False),
                web.get(f"{room}/", self._page),
                web.get(f"{room}/socket", self._visit),
                web.get(f"{room}/{{part}}", self._part),
                web.route("*", "/{rest:.*}", self._nothing),
            ]
        )
        app.on_response_prepare.append(_set_headers)
        app.on_shutdown.append(self._close)
        return app

    async def _nothing(self, request: web.Request) -> web.Response:
        """Not even that a path exists is told to whoever does not come in."""
        _admit(self._gate.keeps_out_of_page, request)
        raise web.HTTPNotFound(text="there is nothing here\n")

    async def _enter(self, request: web.Request) -> web.Response:
        """Give the cookie for the key. A page that leads on, not a redirect: where a link elsewhere led here, the
        browser would keep a strict cookie back from the page behind a redirect."""
        knock = _admit(self._gate.keeps_out_of_entrance, request)
        if not self._gate.knows(knock):
            self._gate.renew()
            self._entered()
        answer = web.Response(text=_INSIDE, content_type="text/html")
        path = f"/{self._gate.room}/"
        answer.set_cookie(_COOKIE, self._gate.pass_, path=path, httponly=True, samesite="Strict")
        return answer

    async def _page(self, request: web.Request) -> web.Response:
        _admit(self._gate.keeps_out_of_page, request)
        text = Template((_OURS / "index.html").read_text()).substitute(
            title=html.escape(f"{self._name} · Recall"),
            socket=html.escape(f"ws://{request.host}/{self._gate.room}/socket"),
            font_size=_number(request.query.get("fontsize"), 16, 6, 48),
        )
        return web.Response(text=text, content_type="text/html")

    async def _part(self, request: web.Request) -> web.Response:
        _admit(self._gate.keeps_out_of_page, request)
        found = _PARTS.get(request.match_info["part"])
        if found is None:
            raise web.HTTPNotFound(text="there is nothing here\n")
        file, kind = found
        return web.Response(body=file.read_bytes(), content_type=kind)

    async def _visit(self, request: web.Request) -> web.WebSocketResponse:
        _admit(self._gate.keeps_out_of_socket, request)
        if len(self._sockets) >= _MOST_VISITS:
            raise web.HTTPServiceUnavailable(text=f"{_MOST_VISITS} views are open; close one of them\n")
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS, timeout=_FAREWELL_SECONDS, compress=False)
        self._sockets.add(socket)
        try:
            await socket.prepare(request)
            await self._show(socket, request.query)
        finally:
            self._sockets.discard(socket)
        return socket

    async def _show(self, socket: web.WebSocketResponse, query: Mapping[str, str]) -> None:
        visit = Visit(self._folder, socket, self._downloads)
        try:
            await visit.start(_cells(query.get("width"), 80), _cells(query.get("height"), 24))
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await _pass_on(visit, socket, message.data)
        finally:
            await asyncio.shield(visit.stop())

    async def _close(self, _: web.Application) -> None:
        await asyncio.gather(*(socket.close() for socket in list(self._sockets)))


def _admit(keeps_out: Callable[[Knock], str], request: web.Request) -> Knock:
    headers = request.headers
    knock = Knock(
        request.host,
        headers.get("Origin", ""),
        headers.get("Sec-Fetch-Site", ""),
        headers.get("Sec-Purpose", ""),
        request.query.get("key", ""),
        request.cookies.get(_COOKIE, ""),
    )
    if why := keeps_out(knock):
        raise web.HTTPForbidden(text=f"refused: {why}\n")
    return knock


async def _set_headers(request: web.Request, answer: web.StreamResponse) -> None:
    answer.headers.update(_HEADERS)
    answer.headers["Content-Security-Policy"] = _POLICY.format(host=request.host)


async def _pass_on(visit: Visit, socket: web.WebSocketResponse, text: str) -> None:
    """Give the viewer what the tab sent; what has no such form is left out."""
    match _read(text):
        case ["stdin", str(typed)]:
            await visit.send_bytes(typed.encode("utf-8", "replace"))
        case ["resize", {"width": int(width), "height": int(height)}]:
            await visit.set_terminal_size(_cells(width, 80), _cells(height, 24))
        case ["ping", str(word)]:
            await socket.send_json(["pong", word])
        case ["blur"]:
            await visit.blur()
        case ["focus"]:
            await visit.focus()
        case _:
            pass


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _cells(wanted: str | int | None, default: int) -> int:
    return _number(wanted, default, 1, _MOST_CELLS)


def _number(wanted: str | int | None, default: int, least: int, most: int) -> int:
    try:
        return min(max(int(wanted if wanted is not None else default), least), most)
    except ValueError:
        return default
