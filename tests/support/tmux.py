"""A program in tmux, a whole terminal: keys go in as a person types them, what stands on the screen comes out.

with tmux(tmp_path, size=(80, 24)) as terminal:
    terminal.types("recall-tui", "Enter").shows("dispatching")

Each has a server of its own, which is gone at the end with everything that it started.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.tools import need

_PATIENCE = 40.0
_PROMPT = "ready> "


@dataclass(frozen=True)
class Tmux:
    """`program` is tmux itself, `socket` where its server listens."""

    program: str
    socket: Path

    def types(self, *keys: str) -> Tmux:
        """Press keys, named as tmux names them; anything else is typed as it is."""
        self.call("send-keys", "-t", "0", *keys)
        return self

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return self.call("capture-pane", "-p", "-t", "0")

    def shows(self, *words: str) -> Tmux:
        return self.until(lambda: all(word in self.text for word in words), f"shows {words}")

    def hides(self, *words: str) -> Tmux:
        return self.until(lambda: not any(word in self.text for word in words), f"hides {words}")

    def until(self, claim: Callable[[], bool], what: str = "") -> Tmux:
        deadline = time.monotonic() + _PATIENCE
        while not claim():
            assert time.monotonic() < deadline, f"not within {_PATIENCE} s: {what}\n{self.text}"
            time.sleep(0.05)
        return self

    def is_back(self) -> Tmux:
        """Wait for the shell's prompt on the last line that holds anything."""
        return self.until(lambda: self.text.rstrip().rpartition("\n")[2].startswith(_PROMPT.strip()), "the prompt")

    @property
    def modes(self) -> str:
        """What a program may have left on: the other screen, a hidden cursor, mouse, pasting and keys of its own."""
        flags = ("alternate_on", "cursor_flag", "mouse_any_flag", "mouse_sgr_flag", "keypad_flag", "insert_flag")
        return self.call("display-message", "-p", "-t", "0", " ".join(f"{flag}=#{{{flag}}}" for flag in flags))

    def lines(self, file: Path) -> str:
        """What the terminal does with lines, as `stty` tells; the shell writes it into a file."""
        file.unlink(missing_ok=True)
        self.types(f"stty -g > {file}.new; mv {file}.new {file}", "Enter")
        self.until(file.exists, "stty")
        return file.read_text()

    def call(self, *args: str) -> str:
        """Run a command of tmux's own."""
        argv = [self.program, "-S", str(self.socket), "-f", os.devnull, *args]
        done = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, f"tmux {args}: {done.stderr.decode()}"
        return done.stdout.decode("utf-8", "replace")


@contextmanager
def tmux(folder: Path, cwd: Path, *, size: tuple[int, int]) -> Generator[Tmux]:
    """Start a shell in tmux, in `cwd`; its socket lies in `folder`."""
    program = need("tmux")
    here = Tmux(program, folder / "tmux")
    environ = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")}
    environ |= {"LANG": "C.UTF-8", "TERM": "xterm-256color", "PYTHONWARNINGS": "error"}
    argv = [program, "-S", str(here.socket), "-f", os.devnull, "-u", "new-session", "-d"]
    argv += ["-x", str(size[0]), "-y", str(size[1]), "-c", str(cwd), f"exec env PS1='{_PROMPT}' /bin/sh"]
    subprocess.run(argv, env=environ, check=True, stdin=subprocess.DEVNULL)
    try:
        here.call("set-option", "-g", "status", "off")  # its line would take one of ours
        yield here.is_back()
    finally:
        subprocess.run([program, "-S", str(here.socket), "kill-server"], check=False, capture_output=True)
