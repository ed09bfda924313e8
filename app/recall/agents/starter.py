"""Starts shims, and keeps one started ahead if asked to: the next run then does not wait for a Python to start."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from recall.agents.shim import AHEAD
from recall.domain.frozen import frozen

#: Imports the shim rather than running its file, since only what is imported comes from the bytecode cache. Its
#: folder comes last, so that nothing in it can hide a module of the standard library.
_SHIM = "import sys; sys.path.append(sys.argv[1]); import shim; sys.path.pop(); sys.exit(shim.main(sys.argv[2]))"
_NEEDED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "RECALL_FAILPOINT")
_SHIM_FOLDER = str(Path(__file__).parent)


class ShimProcess(subprocess.Popen[bytes]):
    """A shim lives on when its starter ends: dropping this object is no fault."""

    def __del__(self) -> None:
        return


@frozen
class StartedShim:
    """`answer` is the pipe on which it says that it is ready, for the caller to close."""

    process: ShimProcess
    answer: int


@frozen
class _Ahead:
    """One that waits on its standard input, the pipe `told`, for the folder of its run; when that pipe closes, by
    whatever end of this process, it ends."""

    shim: StartedShim
    told: int


class ShimStarter:
    """Safe from several threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._ahead: _Ahead | None = None
        self._keeps_ahead = False

    def start(self, folder: Path) -> StartedShim:
        """Start the shim of a run folder that is written. Raises OSError."""
        ahead = self._take()
        if ahead is not None and _tell(ahead, folder):
            return ahead.shim
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        log = os.open(folder / "shim.log", flags, 0o600)
        try:
            return _spawn(str(folder.absolute()), subprocess.DEVNULL, log)
        finally:
            os.close(log)

    def keep_ahead(self) -> None:
        """Keep one shim ready from now on, until `close`."""
        self._keeps_ahead = True
        self.refill()

    def refill(self) -> None:
        """Put one in the place of one that was used. That it cannot be started is for the next real start to say."""
        with self._guard:
            if self._keeps_ahead and self._ahead is None:
                try:
                    self._ahead = _start_ahead()
                except OSError:
                    return

    def close(self) -> None:
        self._keeps_ahead = False
        ahead = self._take()
        if ahead is not None:
            os.close(ahead.told)
            _give_up(ahead)

    def _take(self) -> _Ahead | None:
        with self._guard:
            ahead, self._ahead = self._ahead, None
            return ahead


def _start_ahead() -> _Ahead:
    waiting, told = os.pipe2(os.O_CLOEXEC)
    try:
        return _Ahead(_spawn(AHEAD, waiting, subprocess.DEVNULL), told)
    except OSError:
        os.close(told)
        raise
    finally:
        os.close(waiting)


def _tell(ahead: _Ahead, folder: Path) -> bool:
    """Name the run folder to it. False: somebody has ended it."""
    try:
        os.write(ahead.told, os.fsencode(folder.absolute()) + b"\0")
    except OSError:
        _give_up(ahead)
        return False
    finally:
        os.close(ahead.told)
    return True


def _give_up(ahead: _Ahead) -> None:
    os.close(ahead.shim.answer)
    ahead.shim.process.wait()


def _environment() -> dict[str, str]:
    """An agent can read the environment of its shim where no fence is between, so there is nothing in it but what a
    Python needs to start."""
    return {name: os.environ[name] for name in _NEEDED if name in os.environ}


def _spawn(folder: str, stdin: int, log: int) -> StartedShim:
    ready, answer = os.pipe2(os.O_CLOEXEC)
    try:
        process = ShimProcess(
            [sys.executable, "-I", "-S", "-c", _SHIM, _SHIM_FOLDER, folder],
            stdin=stdin, stdout=answer, stderr=log, cwd="/", start_new_session=True, env=_environment(),
        )  # fmt: skip
    except OSError:
        os.close(ready)
        raise
    finally:
        os.close(answer)
    return StartedShim(process, ready)
