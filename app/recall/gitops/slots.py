"""Verification slots: checkouts in which a candidate's exact tree is tested.

A slot's git dir and index lie in the state folder and are used with GIT_DIR pinned. The `.git` that lies in the
checkout itself is a throw-away for tools that ask git for tags or a hash; what tests do to it is of no account.
"""

from __future__ import annotations

import shutil
import stat
import threading
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from recall.domain.errors import ConfigError, EnvironmentFailure
from recall.domain.frozen import frozen
from recall.failpoint import failpoint
from recall.gitops.agent_files import is_real_folder
from recall.gitops.command import ALONE, Finished, run_git
from recall.gitops.folders import empty_folder
from recall.gitops.included import copy_included
from recall.gitops.integration import IntegrationRepository, config_text
from recall.gitops.pipes import clear_tree
from recall.ownership import take_back

#: What a pattern in `workspaces.keep` must never spare: Python trusts it by time and size.
_STALE_OUTPUT = ("__pycache__", "module.pyc")


@frozen
class _Slot:
    """`tree` is the checkout, `state` the folder with its git dir and index."""

    tree: Path
    state: Path

    @property
    def git_dir(self) -> Path:
        return self.state / "git"

    @property
    def index(self) -> Path:
        return self.state / "index"

    @property
    def proof(self) -> Path:
        """Exists while the checkout is known to equal, byte for byte, what the index says."""
        return self.state / "proven"

    def git(self, *args: str, index: Path | None = None, check: bool = True) -> Finished:
        return run_git(
            args,
            git_dir=self.git_dir,
            cwd=self.tree,
            work_tree=self.tree,
            index=index or self.index,
            env=ALONE,
            config=("checkout.workers=0",),
            check=check,
        )


class Slots:
    """`root` holds the checkouts, `state` their git dirs. There are `count` of them; one that is open is not
    given out again while another is free. `keep` are clean's exclusion patterns. `given_to` is another user whom
    verification works as; each folder is taken back before anything is done there."""

    def __init__(
        self,
        integration: IntegrationRepository,
        root: Path,
        state: Path,
        *,
        keep: Sequence[str],
        count: int,
        given_to: int | None = None,
    ) -> None:
        check_keep(keep)
        self._integration = integration
        self._root = root
        self._given_to = given_to
        self._keep = [f"--exclude={pattern}" for pattern in keep]
        self._slots = [_Slot(root / str(number), state / str(number)) for number in range(max(1, count))]
        self._lock = threading.Lock()
        self._open: list[_Slot] = []  # oldest first

    def open(self, commit: str) -> Path:
        """Give a folder that holds exactly `commit`, what `keep` spares, and the files that the user includes."""
        slot = self._take()
        try:
            self._prepare(slot)
            self._check_out(slot, commit)
            copy_included(self._integration.repository.location, slot.tree, self._root)
            self._write_throw_away(slot, commit)
        except BaseException:
            self._give_back(slot)
            raise
        return slot.tree

    def changes(self, tree: Path, commit: str) -> tuple[str, ...]:
        """Give the tracked files whose content or mode is not that of `commit`, which the slot was opened for. A
        test suite can set times and sizes as it likes, but not the time of that change, which the slot's index
        knows of every file. The slot is free again afterwards."""
        slot = next(slot for slot in self._slots if slot.tree == tree)
        try:
            self._take_back(slot)
            clear_tree(slot.tree)
            changed = _modified(slot, commit)
            if not changed:
                slot.proof.touch()
        finally:
            self._give_back(slot)
        return changed

    # -- which one -------------------------------------------------------------------------------------------
    def _take(self) -> _Slot:
        with self._lock:
            free = next((slot for slot in self._slots if slot not in self._open), None)
            slot = free or self._open.pop(0)
            self._open.append(slot)
            return slot

    def _give_back(self, slot: _Slot) -> None:
        with self._lock:
            if slot in self._open:
                self._open.remove(slot)

    # -- making it hold a commit -----------------------------------------------------------------------------
    def _prepare(self, slot: _Slot) -> None:
        objects = slot.git_dir / "objects"
        for folder in (objects / "info", slot.git_dir / "refs"):
            folder.mkdir(parents=True, exist_ok=True)
        (objects / "info" / "alternates").write_text(f"{self._integration.objects}\n")
        shutil.copyfile(self._integration.git_dir / "config", slot.git_dir / "config")
        (slot.git_dir / "HEAD").write_text("ref: refs/heads/nothing\n")
        self._copy_boundary(slot.git_dir)
        for lock in slot.state.rglob("*.lock"):
            lock.unlink()
        if not is_real_folder(slot.tree):
            slot.tree.unlink(missing_ok=True)
            slot.tree.mkdir(parents=True)
        self._take_back(slot)

    def _take_back(self, slot: _Slot) -> None:
        if self._given_to is not None:
            take_back(slot.tree, self._given_to)

    def _copy_boundary(self, git_dir: Path) -> None:
        boundary = self._integration.git_dir / "shallow"
        if boundary.is_file():
            shutil.copyfile(boundary, git_dir / "shallow")

    def _check_out(self, slot: _Slot, commit: str) -> None:
        """Files that both commits have alike keep their times, so that build tools see what is new. The index
        is believed only if the last look at the slot found every file as it should be; else all are read."""
        if not slot.proof.exists():
            clear_tree(slot.tree)
            slot.index.unlink(missing_ok=True)
            slot.git("read-tree", commit)
            slot.git("update-index", "-q", "--refresh", check=False)
        slot.proof.unlink(missing_ok=True)
        failpoint("slots.proof_taken")
        if self._reset(slot, commit):
            return
        empty_folder(slot.tree)
        slot.index.unlink(missing_ok=True)
        if not self._reset(slot, commit):
            raise EnvironmentFailure(f"cannot check {commit[:12]} out in {slot.tree}; is the disk full?")

    def _reset(self, slot: _Slot, commit: str) -> bool:
        return (
            slot.git("read-tree", "--reset", "-u", commit, check=False).ok
            and slot.git("clean", "-ffdxq", *self._keep, check=False).ok
        )

    def _write_throw_away(self, slot: _Slot, commit: str) -> None:
        git_dir = slot.tree / ".git"
        if is_real_folder(git_dir):
            empty_folder(git_dir)
        else:
            git_dir.unlink(missing_ok=True)
        for folder in ("objects/info", "refs/heads", "refs/tags"):
            (git_dir / folder).mkdir(parents=True, exist_ok=True)
        repository = self._integration.repository
        settings = [("core.repositoryformatversion", "0"), ("core.bare", "false")]
        if repository.object_format != "sha1":
            settings = [
                ("core.repositoryformatversion", "1"),
                ("core.bare", "false"),
                ("extensions.objectformat", repository.object_format),
            ]
        (git_dir / "config").write_text(config_text(settings))
        (git_dir / "objects" / "info" / "alternates").write_text(f"{self._integration.objects}\n")
        (git_dir / "packed-refs").write_text("".join(f"{oid} {name}\n" for oid, name in repository.tags()))
        shutil.copy2(slot.index, git_dir / "index")
        self._copy_boundary(git_dir)
        (git_dir / "HEAD").write_text(f"{commit}\n")


def check_keep(patterns: Sequence[str]) -> None:
    """Refuse to keep what would let yesterday's compiled module answer for today's source."""
    for pattern in patterns:
        parts = [part for part in pattern.split("/") if part]
        if any(fnmatch(stale, part) for part in parts for stale in _STALE_OUTPUT):
            raise ConfigError(
                f"workspaces.keep holds {pattern!r}, which spares compiled Python (`__pycache__`): stale output "
                "could make a broken tree look green; name what you want to keep more narrowly"
            )


def _modified(slot: _Slot, commit: str) -> tuple[str, ...]:
    listed = slot.git("ls-files", "-m", "-z").text
    suspects = tuple(path for path in dict.fromkeys(listed.split("\0")) if path)
    if not suspects:
        return ()
    entries = (entry.partition("\t") for entry in slot.git("ls-tree", "-r", "-z", commit).text.split("\0"))
    known = {path: meta.split(" ") for meta, _, path in entries}
    # where line ends were never normalised, git calls a file modified that is just as it was checked out
    if all(path in known and _as_checked_out(slot, path, known[path][0], known[path][2]) for path in suspects):
        return ()
    return suspects


def _as_checked_out(slot: _Slot, path: str, mode: str, oid: str) -> bool:
    file = slot.tree / path
    try:
        state = file.lstat()
    except OSError:
        return False
    if not stat.S_ISREG(state.st_mode) or bool(state.st_mode & stat.S_IXUSR) != (mode == "100755"):
        return False
    return slot.git("cat-file", "--filters", f"--path={path}", oid).out == file.read_bytes()
