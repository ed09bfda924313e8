"""A real browser without a window, spoken to over the pipes of its DevTools protocol.

with browsing(tmp_path) as browser:
    tab = browser.person().open(address)
    tab.shows("T-1 First").press("p")

Nothing sleeps: every wait reads what the browser says until a deadline.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.tools import need

_PATIENCE = 40.0
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--no-proxy-server", "--window-size=1280,800", "--remote-debugging-pipe",
    # No name leads anywhere but here; `elsewhere.test` does what a rebound name does.
    "--host-resolver-rules=MAP elsewhere.test 127.0.0.1, MAP localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
#: textual.js keeps its terminal to itself; it is caught when it sets the property that is named here.
_CATCH_TERMINAL = """
Object.defineProperty(Object.prototype, "websocket_url", { configurable: true, set(value) {
  window.seenTerminal = this;
  Object.defineProperty(this, "websocket_url", { value, writable: true });
}});
"""
_READ_TERMINAL = """
(() => {
  if (!window.seenTerminal) return [];
  const { buffer, rows, cols } = window.seenTerminal.terminal, line = (row) => buffer.active.getLine(row);
  return Array.from({ length: rows }, (_, row) => line(row)?.translateToString(false, 0, cols) ?? "");
})()
"""


_PAGE_IS_LEFT = ("navigated or closed", "context was destroyed", "Cannot find context", "Promise was collected")


class Unanswered(AssertionError):
    """The browser could not do what it was asked to."""


@dataclass
class Tab:
    """`requests` are the addresses of everything that was asked for, sockets too; `refusals` what the page's own
    policy kept back or could not be had."""

    browser: Browser
    target: str
    session: str
    requests: list[str] = field(default_factory=list[str])
    statuses: dict[str, int] = field(default_factory=dict[str, int])
    refusals: list[str] = field(default_factory=list[str])

    # -- looking -----------------------------------------------------------------------------------------------
    @property
    def lines(self) -> list[str]:
        """What the terminal in the page holds."""
        found: list[str] = self.evaluate(_READ_TERMINAL)
        return found

    def shows(self, *words: str) -> Tab:
        return self.wait(lambda: all(word in "\n".join(self.lines) for word in words), str(words))

    def evaluate(self, script: str) -> Any:
        """Give the value of an expression in the page; a promise is waited for. Where the page is left meanwhile, the
        next one is asked."""
        while True:
            try:
                answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
                break
            except Unanswered as why:
                if not any(words in str(why) for words in _PAGE_IS_LEFT):
                    raise
                self.browser.read(0.05)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    @property
    def text(self) -> str:
        """What the page says, without its terminal."""
        said: str = self.evaluate("document.body ? document.body.innerText : ''")
        return said

    def picture(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def wait(self, claim: Callable[[], bool], words: str, seconds: float = _PATIENCE) -> Tab:
        deadline = time.monotonic() + seconds
        while not claim():
            left = deadline - time.monotonic()
            assert left > 0, "\n".join([f"not within {seconds} s: {words}", self.text, *self.lines, *self.refusals])
            self.browser.read(0.05)
        return self

    # -- acting ------------------------------------------------------------------------------------------------
    def goto(self, address: str) -> Tab:
        """Go to an address and wait until the page is loaded; a refusal is a page too."""
        self.call("Page.navigate", url=address)
        return self.wait(lambda: self.evaluate("document.readyState") == "complete", address)

    def press(self, *keys: str) -> Tab:
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            code = {"Enter": 13, "Escape": 27, "ArrowDown": 40}.get(key, ord(key.upper()) if len(key) == 1 else 0)
            known: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **known)
            self.call("Input.dispatchKeyEvent", type="keyUp", **known)
        return self

    def close(self) -> None:
        self.browser.call("", "Target.closeTarget", targetId=self.target)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.call(self.session, method, **params)

    def told(self, method: str, params: dict[str, Any]) -> None:
        """Note what the browser told of this tab."""
        match method:
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Network.webSocketCreated":
                self.requests.append(params["url"])
            case "Network.responseReceived":
                self.statuses[params["response"]["url"]] = params["response"]["status"]
            case "Network.loadingFailed":
                self.refusals.append(f"{params['errorText']} {params.get('blockedReason', '')}")
            case "Log.entryAdded":
                self.refusals.append(params["entry"]["text"])
            case _:
                pass


@dataclass
class Browser:
    process: subprocess.Popen[bytes]
    to_it: int
    from_it: int
    _asked: int = 0
    _rest: bytes = b""
    _answers: dict[int, dict[str, Any]] = field(default_factory=dict[int, "dict[str, Any]"])
    _tabs: dict[str, Tab] = field(default_factory=dict[str, Tab])

    def person(self) -> Person:
        """Somebody who uses it, without a cookie or a history of anybody else."""
        return Person(self, self.call("", "Target.createBrowserContext")["browserContextId"])

    def attach(self, target: str) -> Tab:
        session = self.call("", "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = self._tabs[session] = Tab(self, target, session)
        for domain in ("Page", "Network", "Runtime", "Log"):
            tab.call(f"{domain}.enable")
        tab.call("Page.addScriptToEvaluateOnNewDocument", source=_CATCH_TERMINAL)
        return tab

    def call(self, session: str, method: str, **params: Any) -> dict[str, Any]:
        self._asked += 1
        number = self._asked
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to_it, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _PATIENCE
        while number not in self._answers:
            assert time.monotonic() < deadline, f"the browser does not answer {method}"
            self.read(0.2)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise Unanswered(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def read(self, seconds: float) -> None:
        """Take in what the browser says within so many seconds."""
        if not select.select([self.from_it], [], [], seconds)[0]:
            return
        data = os.read(self.from_it, 1 << 20)
        assert data, f"the browser ended with {self.process.poll()}"
        *whole, self._rest = (self._rest + data).split(b"\0")
        for each in whole:
            message = json.loads(each)
            if "id" in message:
                self._answers[message["id"]] = message
            elif message.get("sessionId") in self._tabs:
                self._tabs[message["sessionId"]].told(message["method"], message["params"])


@dataclass(frozen=True)
class Person:
    """Whoever sits in front of the browser."""

    browser: Browser
    context: str

    def blank(self) -> Tab:
        made = self.browser.call("", "Target.createTarget", url="about:blank", browserContextId=self.context)
        return self.browser.attach(made["targetId"])

    def open(self, address: str) -> Tab:
        return self.blank().goto(address)

    def leave(self) -> None:
        """Close every tab: a page that stays open goes on being drawn."""
        self.browser.call("", "Target.disposeBrowserContext", browserContextId=self.context)


@contextmanager
def browsing(folder: Path) -> Generator[Browser]:
    """Start a browser with a profile of its own in `folder`; it is gone at the end."""
    program = need("chromium")
    theirs, to_it = os.pipe()
    from_it, mine = os.pipe()
    script = f'exec "$@" 3<&{theirs} 4>&{mine}'  # the protocol has these two descriptors
    process = subprocess.Popen(
        ["/bin/bash", "-c", script, "sh", program, *_FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
        env={**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(theirs, mine),
        start_new_session=True,
    )
    os.close(theirs)
    os.close(mine)
    try:
        yield Browser(process, to_it, from_it)
    finally:
        os.close(to_it)  # that is its end
        os.close(from_it)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
