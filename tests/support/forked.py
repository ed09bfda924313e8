"""Programs of the project, started by a process that has imported them already: the imports are most of a start.

ended = run("recall.cli:main", "status", cwd=repo)

A program is a process of its own, with its own arguments, folder, environment and standard streams; it can be killed,
and ends as an interpreter does. Only what Python reads when it starts itself (warnings, encodings) is as it was here.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

import recall

ROOT = Path(__file__).parents[2]

#: What no program here needs, and `recall.__main__`, which would run.
_LEFT_OUT = (
    "recall.__main__",
    "recall.agents.fence",
    "recall.agents.shim",
    "recall.rehearsal",
    "recall.serve",
    "recall.ui",
)
_SCRIPTS = ("tests.faults.landing_once", "tests.gitops.workspace_once")


def run(
    program: str, *args: str, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = 90
) -> subprocess.CompletedProcess[str]:
    """Run a program, named as `module:function`, to its end, as `subprocess.run` does with its output captured."""
    words = {"program": program, "args": args, "cwd": str(cwd), "env": dict(os.environ if env is None else env)}
    mine, theirs = socket.socketpair()
    with mine, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with theirs:
            fds = [theirs.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(_starter(), [json.dumps(words).encode("utf-8", "surrogateescape")], fds)
        mine.settimeout(timeout)
        with mine.makefile("r") as told:
            pid = int(told.readline() or _nothing_is_started())
            try:
                code = int(told.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired([program, *args], timeout) from None
        shown: list[str] = []
        for file in (out, err):
            file.seek(0)
            shown.append(file.read().decode())
    return subprocess.CompletedProcess([program, *args], code, *shown)


def _nothing_is_started() -> str:
    raise AssertionError("the process that starts programs has ended; what it said stands above")


@functools.cache
def _starter() -> socket.socket:
    """Start the process that starts the others; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            cwd=ROOT,
            env={**os.environ, "PYTHONWARNINGS": "error", "RECALL_FAILPOINT": "none yet"},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


# -- the process that starts the others --------------------------------------------------------------------------


def main() -> None:
    for module in pkgutil.walk_packages(recall.__path__, "recall."):
        if not module.name.startswith(_LEFT_OUT):
            importlib.import_module(module.name)
    for name in _SCRIPTS:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        program = _serve(control)
    if program:
        module, _, function = program.partition(":")
        getattr(sys.modules[module], function)()


def _serve(control: socket.socket) -> str:
    """Start what is asked for until nobody can ask any more; also returns, with its program, in each process that was
    started."""
    running: dict[int, socket.socket] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, _wake_up)
    signal.set_wakeup_fd(wake)
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == woken:
                    os.read(woken, 4096)
                    _tell_ends(running)
                    continue
                words, fds, _, _ = socket.recv_fds(control, 1 << 20, 3)
                if not words:
                    return ""
                pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for other in running.values():
                        other.close()
                    for fd in (woken, wake):
                        os.close(fd)
                    return _become(words, fds)
                running[pid] = socket.socket(fileno=fds[0])
                running[pid].sendall(f"{pid}\n".encode())
                for fd in fds[1:]:
                    os.close(fd)


def _wake_up(_signal: int, _frame: FrameType | None) -> None:
    """The number of the signal in the pipe is all that is needed."""


def _tell_ends(running: dict[int, socket.socket]) -> None:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            pid, status = ended
            with running.pop(pid) as asked, contextlib.suppress(BrokenPipeError):
                asked.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(words: bytes, fds: list[int]) -> str:
    wanted = json.loads(words.decode("utf-8", "surrogateescape"))
    os.close(fds[0])
    for fd, stream in zip(fds[1:], (1, 2), strict=True):
        os.dup2(fd, stream)
        os.close(fd)
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    sys.argv = [wanted["program"], *wanted["args"]]
    return wanted["program"]


if __name__ == "__main__":
    main()
