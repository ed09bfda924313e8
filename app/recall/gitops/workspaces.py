"""The folders in which agents work: linked worktrees from a pool, each run on a fresh branch at main's tip.

What a slot is used for stands in one file of the state folder, written before anything else happens, so that a
start after a kill knows whose work lies there. Folders are reused, never work: what has not landed is pinned
before a folder goes back to the pool.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from recall.domain.errors import EnvironmentFailure
from recall.domain.task import TaskRef
from recall.domain.text import clean
from recall.domain.work import Workspace
from recall.failpoint import failpoint
from recall.gitops.checkout import find_git_dir, operation
from recall.gitops.command import Finished, run_git
from recall.gitops.fingerprint import differences, filter_names, fingerprint
from recall.gitops.parking import Leftovers, ParkedWork, Parking
from recall.gitops.slot_records import FREE, LEFT, USED, Slot, SlotRecords

_WORKERS = "checkout.workers=4"

#: What an operation that waits for a person keeps in a work tree's git dir.
_STATE = (
    "rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "SQUASH_MSG",
    "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_LOG", "BISECT_START", "BISECT_TERMS", "BISECT_NAMES",
    "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK", "index.lock", "HEAD.lock", "ORIG_HEAD.lock", "info/sparse-checkout",
)  # fmt: skip

#: Where such an operation remembers commits that no branch may hold.
_REMEMBERED = ("ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge/orig-head", "rebase-apply/orig-head")

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class WorkspacePool:
    """`common_dir` is the user's git dir, `integration` the dispatcher's own, `root` the folder that holds
    `ws/`, `keep` the ignore patterns that outlive a reuse. Methods are safe from several threads and
    processes."""

    def __init__(
        self, common_dir: Path, integration: Path, state_dir: Path, root: Path, main: str, keep: Sequence[str] = ()
    ) -> None:
        self._common = common_dir
        self._main = f"refs/heads/{main}"
        self._root = root.resolve()
        self._records = SlotRecords(state_dir)
        self._keep = tuple(keep)
        self._parking = Parking(common_dir, integration)

    def at(self, slot: str, branch: str, base: str) -> Workspace:
        return Workspace(slot, self._root / "ws" / slot, branch, base)

    # -- opening ---------------------------------------------------------------------------------------------
    def open(self, ref: TaskRef, number: int, run_id: int) -> Workspace:
        """Give a folder whose work tree is main's tip on a fresh branch. Raises EnvironmentFailure when git
        cannot make one."""
        self._prepare_root()
        branch = f"recall/{_component(ref.region)}/{_component(ref.id)}/{number}"
        self._close_earlier(branch)
        workspace, reused = self._take(branch, run_id)
        try:
            self._ready(workspace)
        except EnvironmentFailure as failed:
            if not reused:
                self._forget(workspace.slot)
                raise
            self._leave(workspace.slot, f"it could not be reset: {failed}")
            workspace, _ = self._take(branch, run_id, fresh=True)
            self._ready(workspace)
        return workspace

    def _close_earlier(self, branch: str) -> None:
        """A start that was killed, or failed half way, may have made this very workspace already."""
        for name, slot in self._records.all().items():
            if slot.status == USED and slot.branch == branch:
                self.close(self.at(name, slot.branch, slot.base), slot.run_id, landed=False)

    def _take(self, branch: str, run_id: int, *, fresh: bool = False) -> tuple[Workspace, bool]:
        """Note whose a slot is now. Tells whether it has been in use before."""
        with self._records.administration():
            base = self._tip(self._main)
            if not base:
                raise EnvironmentFailure(f"{self._main} has no commit; make a first one, then start again")
            self._free_branch(branch)
            slots = self._records.all()
            free = [] if fresh else [name for name, slot in slots.items() if slot.status == FREE]
            taken = {*slots, *self._folders()}
            name = free[0] if free else next(new for new in map("s{}".format, range(1, 10_000)) if new not in taken)
            self._records.write(name, Slot(USED, run_id, branch, base))
            failpoint("workspace.slot_taken")
            self._git("update-ref", f"refs/recall/base/{run_id}", base)
            failpoint("workspace.base_pinned")
        return self.at(name, branch, base), bool(free)

    def _ready(self, workspace: Workspace) -> None:
        git_dir = find_git_dir(self._common, workspace.tree)
        if git_dir is None or not (workspace.tree / ".git").is_file():
            with self._records.administration():
                git_dir = self._make(workspace)
        failpoint("workspace.worktree_made")
        slot = replace(self._records.all()[workspace.slot], git_dir=str(git_dir))
        self._records.write(workspace.slot, slot)
        self._fill(workspace, git_dir)
        prints = fingerprint(self._common, git_dir, workspace.tree)
        self._records.write(workspace.slot, replace(slot, prints=prints))

    def _make(self, workspace: Workspace) -> Path:
        """Add a linked worktree without files. What a killed attempt left of it is cleared first: a folder
        without a whole worktree holds nothing that was ever worked on."""
        self._discard(workspace)
        workspace.folder.mkdir(parents=True, exist_ok=True)
        add = ["worktree", "add", "-q", "--no-checkout", "--detach", "--no-guess-remote"]
        self._git(*add, str(workspace.tree), workspace.base)
        git_dir = find_git_dir(self._common, workspace.tree)
        if git_dir is None:
            raise EnvironmentFailure(f"git made no worktree in {workspace.tree}; look at `git worktree list`")
        return git_dir

    def _fill(self, workspace: Workspace, git_dir: Path) -> None:
        """Bring the folder to the base commit, whatever it held."""
        _clear_state(git_dir)
        (git_dir / "logs" / "HEAD").unlink(missing_ok=True)
        _unset_sparse(git_dir)
        config = [_WORKERS, "core.sparseCheckout=false", *self._disarmed_filters()]
        kept = [word for pattern in self._keep for word in ("-e", pattern)]
        for args in (
            ["checkout", "-q", "-f", "--no-recurse-submodules", "--no-track", "-B", workspace.branch, workspace.base],
            ["clean", "-q", "-ffdx", *kept],
        ):
            run_git(args, cwd=workspace.tree, git_dir=git_dir, work_tree=workspace.tree, config=config)
            failpoint("workspace.filled")
        _make_mailbox(workspace.tree)

    def _disarmed_filters(self) -> list[str]:
        """Switch off filter drivers that appeared or changed while an agent that could write them was, or
        still is, at work."""
        now: dict[str, str] = {}
        names: set[str] = set()
        for slot in self._records.all().values():
            if slot.status in (USED, LEFT) and slot.prints:
                now = now or fingerprint(self._common, Path(slot.git_dir), Path("/nonexistent"))
                names |= filter_names(slot.prints, now)
        keys = [f"filter.{name}.{key}=" for name in sorted(names) for key in ("clean", "smudge", "process")]
        return keys + [f"filter.{name}.required=false" for name in sorted(names)]

    def _free_branch(self, branch: str) -> None:
        """A branch of this name is a stray of a killed start. One that holds commits is pinned first."""
        full = f"refs/heads/{branch}"
        tip = self._tip(full)
        if not tip:
            return
        if not self._landed(tip):
            self._parking.keep_branch(full, tip)
            failpoint("workspace.stray_kept")
        self._git("update-ref", "-d", full, tip)

    # -- closing ---------------------------------------------------------------------------------------------
    def close(self, workspace: Workspace, run_id: int, *, landed: bool) -> str:
        """Pin what has not landed, then give the folder back to the pool, or leave it for a person. Says what
        was done in one sentence. Repeatable. A workspace that was never made ready holds no work."""
        slot = self._records.all().get(workspace.slot)
        if slot is None or slot.status != USED or slot.run_id != run_id:
            return f"workspace {workspace.slot} is not in use by run {run_id} any more"
        git_dir = self._git_dir(workspace, slot)
        if git_dir is None or not workspace.tree.is_dir():
            return self._close_vanished(workspace, run_id, bool(slot.prints) and not landed, landed)
        if not slot.prints:
            return self._recycle(workspace, run_id, git_dir, landed)
        changed = self._changed(workspace, slot)
        trouble = self._unrest(workspace, git_dir)
        kept, incomplete = "", ""
        if not landed or trouble or changed:
            kept, incomplete = self._keep_work(workspace, run_id, git_dir, trouble or "it did not land")
        failpoint("workspace.work_kept")
        stays = incomplete or (f"changed during the run: {', '.join(changed)}" if changed else "")
        if stays:
            self._leave(workspace.slot, stays)
            return f"workspace {workspace.slot} is left as it is ({stays}){kept}"
        return self._recycle(workspace, run_id, git_dir, landed) + kept

    def _keep_work(self, workspace: Workspace, run_id: int, git_dir: Path | None, why: str) -> tuple[str, str]:
        """Pin every commit and file that main does not have. Gives what was kept, and what could not be."""
        tip = self._tip(f"refs/heads/{workspace.branch}")
        head = (git_dir and self._head(git_dir)) or tip or workspace.base
        left = Leftovers(self._parking.tree_of(head))
        if workspace.tree.is_dir():
            left = self._parking.snapshot(workspace.tree, head, self._records.folder / f"{workspace.slot}.index")
        known = [commit for commit in (head, tip, *_remembered(git_dir)) if commit and self._tip(commit)]
        unlanded = [commit for commit in dict.fromkeys(known) if not self._landed(commit)]
        if not unlanded and left.tree == self._parking.tree_of(head):
            return "", left.incomplete
        ref = self._parking.park(str(run_id), left.tree, unlanded or [head], why, workspace.base)
        return f"; its work is kept as {ref}", left.incomplete

    def _recycle(self, workspace: Workspace, run_id: int, git_dir: Path, landed: bool) -> str:
        with self._records.administration():
            _clear_state(git_dir)
            (git_dir / "locked").unlink(missing_ok=True)
            run_git(["update-ref", "--no-deref", "HEAD", workspace.base], git_dir=git_dir)
            failpoint("workspace.detached")
            said = self._end_branch(workspace, landed)
            self._git("update-ref", "-d", f"refs/recall/base/{run_id}")
            failpoint("workspace.base_unpinned")
            self._records.write(workspace.slot, Slot(FREE, git_dir=str(git_dir)))
        return f"workspace {workspace.slot} went back to the pool{said}"

    def _end_branch(self, workspace: Workspace, landed: bool) -> str:
        full = f"refs/heads/{workspace.branch}"
        tip = self._tip(full)
        if not tip:
            return ""
        if landed or self._landed(tip):
            self._git("update-ref", "-d", full, tip)
            return ""
        return f", branch {workspace.branch} stays"

    def _close_vanished(self, workspace: Workspace, run_id: int, unkept: bool, landed: bool) -> str:
        """Somebody removed the folder or its registration: what is left of both goes."""
        kept, incomplete = "", ""
        if unkept:
            kept, incomplete = self._keep_work(workspace, run_id, None, "its folder or registration was removed")
        if incomplete:
            self._leave(workspace.slot, incomplete)
            return f"workspace {workspace.slot} is left as it is ({incomplete}){kept}"
        with self._records.administration():
            self._discard(workspace)
            said = self._end_branch(workspace, landed)
            self._git("update-ref", "-d", f"refs/recall/base/{run_id}")
            self._records.forget(workspace.slot)
        return f"workspace {workspace.slot} had been removed by hand{said}{kept}"

    def _unrest(self, workspace: Workspace, git_dir: Path) -> str:
        """Say what keeps a workspace from being at rest; empty when nothing does."""
        if waiting := operation(git_dir):
            return f"a {waiting} was in progress"
        if (git_dir / "index.lock").exists():
            return "its index was locked"
        if _word(git_dir / "HEAD") != f"ref: refs/heads/{workspace.branch}":
            return "it was not on its branch"
        return ""

    # -- what an agent may have changed ----------------------------------------------------------------------
    def tampered(self, workspace: Workspace) -> tuple[str, ...]:
        """Name what changed during the run in the shared configuration, hooks and attributes, in what ties the
        folder to the repository, and whether main was moved to a commit made in this folder."""
        slot = self._records.all().get(workspace.slot)
        if slot is None or not slot.prints:
            return ()
        moved = self._main_moved_here(slot)
        return (*self._changed(workspace, slot), *([moved] if moved else []))

    def _changed(self, workspace: Workspace, slot: Slot) -> tuple[str, ...]:
        return differences(slot.prints, fingerprint(self._common, Path(slot.git_dir), workspace.tree))

    def _main_moved_here(self, slot: Slot) -> str:
        """The work tree's own log says which commits were made in it; landed ones are always new commits."""
        made = _made_here(Path(slot.git_dir) / "logs" / "HEAD")
        listed = self._git("rev-list", f"{slot.base}..{self._main}", check=False).text.split()
        ours = made.intersection(listed)
        return f"{self._main} was moved to commits of this run ({', '.join(sorted(ours)[:3])})" if ours else ""

    # -- at start, and for people ----------------------------------------------------------------------------
    def users(self) -> set[int]:
        """Give the runs whose workspaces have not been closed."""
        return {slot.run_id for slot in self._records.all().values() if slot.status == USED}

    def tidy(self, in_use: Sequence[str], landed: Collection[int] = ()) -> list[str]:
        """Close every workspace that no run owns; says what was done with each. `landed` are runs whose work
        main has."""
        self._prepare_root()
        said: list[str] = []
        for name, slot in self._records.all().items():
            if name not in in_use and slot.status == USED:
                workspace = self.at(name, slot.branch, slot.base)
                said.append(self.close(workspace, slot.run_id, landed=slot.run_id in landed))
            elif name not in in_use and slot.status == FREE and not (self._root / "ws" / name / "tree").is_dir():
                said.append(self._forget(name))
        unknown = sorted(self._folders() - set(self._records.all()) - set(in_use))
        return said + [f"{self._root / 'ws' / name} belongs to no run; it is left as it is" for name in unknown]

    def _forget(self, name: str) -> str:
        with self._records.administration():
            self._discard(self.at(name, "", ""))
            self._records.forget(name)
        return f"workspace {name} holds nothing and was removed"

    def parked(self) -> list[ParkedWork]:
        """List the work that waits for a person: pinned under refs, or left in its folder."""
        left = [
            ParkedWork("", slot.base, clean(slot.why), 0, slot.run_id, self._root / "ws" / name)
            for name, slot in self._records.all().items()
            if slot.status == LEFT
        ]
        return self._parking.listed() + left

    def drop(self, run_id: int) -> str:
        """Remove the folders that were left for a person after this run; says what went."""
        gone: list[str] = []
        with self._records.administration():
            for name, slot in self._records.all().items():
                if slot.status == LEFT and slot.run_id == run_id:
                    self._discard(self.at(name, slot.branch, slot.base))
                    self._records.forget(name)
                    gone.append(str(self._root / "ws" / name))
        return f"removed {', '.join(gone)}" if gone else "no folder was left"

    # -- the pool's own state --------------------------------------------------------------------------------
    def _folders(self) -> set[str]:
        place = self._root / "ws"
        return {folder.name for folder in place.iterdir()} if place.is_dir() else set()

    def _leave(self, name: str, why: str) -> None:
        self._records.write(name, replace(self._records.all()[name], status=LEFT, why=clean(why)))

    def _prepare_root(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        (self._root / ".gitignore").write_text("*\n")

    def _git_dir(self, workspace: Workspace, slot: Slot) -> Path | None:
        """The folder's own git dir, whatever its agent made of the pointers between the two."""
        known = Path(slot.git_dir) if slot.git_dir else find_git_dir(self._common, workspace.tree)
        return known if known and (known / "HEAD").exists() else None

    def _discard(self, workspace: Workspace) -> None:
        """Remove a worktree that holds no work: its registration first, so that no stray one is ever left."""
        git_dir = find_git_dir(self._common, workspace.tree)
        try:
            if git_dir is not None:
                shutil.rmtree(git_dir)
                failpoint("workspace.registration_removed")
            if workspace.tree.is_dir():
                shutil.rmtree(workspace.tree)
        except OSError as broken:
            raise EnvironmentFailure(f"{workspace.tree} cannot be removed: {broken}; remove it by hand") from broken

    # -- git -------------------------------------------------------------------------------------------------
    def _git(self, *args: str, check: bool = True) -> Finished:
        return run_git(args, git_dir=self._common, check=check)

    def _tip(self, rev: str) -> str:
        return self._git("rev-parse", "--verify", "-q", "--end-of-options", f"{rev}^{{commit}}", check=False).text

    def _landed(self, commit: str) -> bool:
        return self._git("merge-base", "--is-ancestor", commit, self._main, check=False).ok

    def _head(self, git_dir: Path) -> str:
        """Read HEAD as a file: git itself would believe a rewritten `commondir`."""
        word = _word(git_dir / "HEAD")
        return self._tip(word.removeprefix("ref: "))


def _component(text: str) -> str:
    """Make one part of a branch name of any id: git refuses some characters and shapes."""
    safe = re.sub(r"[^A-Za-z0-9._-]|\.(?=\.|$)|^\.|(?<=\.)lock$", lambda odd: f"%{ord(odd[0][0]):02X}", text)
    return safe or "%"


def _word(file: Path) -> str:
    try:
        return os.fsdecode(file.read_bytes()).strip()
    except OSError:
        return ""


def _remembered(git_dir: Path | None) -> list[str]:
    words = () if git_dir is None else (_word(git_dir / name) for name in _REMEMBERED)
    return [word for word in words if _OID.fullmatch(word)]


def _made_here(log: Path) -> set[str]:
    """Read the commits that were made, not merely checked out, from a HEAD log."""
    try:
        lines = log.read_bytes().decode("utf-8", "replace").splitlines()
    except OSError:
        return set()
    made = re.compile(
        r"[0-9a-f]+ ([0-9a-f]+) .*\t(?:commit|cherry-pick|revert|am|rebase \((?:pick|continue|reword)\))"
    )
    return {match[1] for line in lines if (match := made.match(line))}


def _clear_state(git_dir: Path) -> None:
    for name in _STATE:
        place = git_dir / name
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def _unset_sparse(git_dir: Path) -> None:
    """`worktree add` copies a sparse checkout of the user's; agents get every file."""
    own = git_dir / "config.worktree"
    if own.exists():
        run_git(["config", "--file", str(own), "--unset-all", "core.sparseCheckout"], cwd=git_dir, check=False)


def _make_mailbox(tree: Path) -> None:
    """Where the agent reports. It ignores itself, so the user's exclude file needs no entry."""
    mailbox = tree / ".recall-run"
    mailbox.mkdir(exist_ok=True)
    (mailbox / ".gitignore").write_text("*\n")
