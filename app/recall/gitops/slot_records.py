"""What every folder of the workspace pool is used for: one small file each, and the lock around their changes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import time
from collections.abc import Generator
from dataclasses import asdict, field
from pathlib import Path

from recall.domain.errors import EnvironmentFailure
from recall.domain.frozen import frozen
from recall.whole_files import replace_file

FREE, USED, LEFT = "free", "used", "left"

_LOCK_TIMEOUT = 120.0  # seconds
_POLL = 0.005


@frozen
class Slot:
    """`status`: free, used by `run_id`, or left as it is for a person, with `why`. `kind` says what the folder
    is, `git_dir` is the work tree's own; `prints` is the fingerprint of what it shares with others when the run
    began, empty until then."""

    status: str
    run_id: int = 0
    branch: str = ""
    base: str = ""
    git_dir: str = ""
    why: str = ""
    kind: str = "worktree"
    prints: dict[str, str] = field(default_factory=dict[str, str])


class SlotRecords:
    """The records lie in the state folder, out of reach of `git clean` and of what agents do to their folder."""

    def __init__(self, state_dir: Path) -> None:
        self.folder = state_dir / "workspaces"
        self._lock_file = state_dir / "git.lock"

    @contextlib.contextmanager
    def administration(self) -> Generator[None]:
        """One `git worktree` command at a time, over all threads and processes: side by side they fail and
        leave strays. Not reentrant."""
        self._lock_file.parent.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + _LOCK_TIMEOUT
        with self._lock_file.open("ab") as file:
            while not _locked(file.fileno()):
                if time.monotonic() >= deadline:
                    raise EnvironmentFailure(
                        f"another process has held {self._lock_file} for {_LOCK_TIMEOUT:.0f} s; is one stopped?"
                    )
                time.sleep(_POLL)
            yield

    def all(self) -> dict[str, Slot]:
        """Give every slot by name, s1 first."""
        files = sorted(self.folder.glob("s*.json"), key=lambda file: (len(file.name), file.name))
        read = ((file.stem, _read(file)) for file in files)
        return {name: slot for name, slot in read if slot is not None}

    def write(self, name: str, slot: Slot) -> None:
        """Replace a record as a whole; it is on disk when this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self._file(name), json.dumps(asdict(slot)).encode())

    def forget(self, name: str) -> None:
        self.index(name).unlink(missing_ok=True)
        self._file(name).unlink(missing_ok=True)

    def index(self, name: str) -> Path:
        """Where the index lies that the pool itself wrote when it last filled a folder."""
        return self.folder / f"{name}.index"

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def _read(file: Path) -> Slot | None:
    """Give None for a file that another thread has just removed."""
    try:
        return Slot(**json.loads(file.read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        return Slot(LEFT, why=f"its record {file} cannot be read")


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
