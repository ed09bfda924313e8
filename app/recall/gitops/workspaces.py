"""The folders in which agents work: a pool of work trees, each run on a fresh branch at main's tip.

What a slot is used for stands in one file of the state folder, written before anything else happens, so that a
start after a kill knows whose work lies there. Folders are reused, never work: what has not landed is pinned
before a folder goes back to the pool.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from recall.domain.errors import EnvironmentFailure, Exhausted
from recall.domain.task import TaskRef
from recall.domain.text import clean
from recall.domain.work import Workspace
from recall.failpoint import failpoint
from recall.gitops.agent_files import is_real_folder, read_text
from recall.gitops.changes import GITLINK
from recall.gitops.command import Finished, run_git
from recall.gitops.fingerprint import OF_THE_FOLDER
from recall.gitops.folders import empty_folder, make_removable, remove
from recall.gitops.foreign import ForeignGitDir
from recall.gitops.keeping import Keeper, is_there, unrest
from recall.gitops.linked_worktrees import LinkedWorktrees
from recall.gitops.parking import ParkedWork, Parking
from recall.gitops.pipes import clear_tree
from recall.gitops.shared_clones import SharedClones
from recall.gitops.slot_records import FREE, LEFT, USED, Slot, SlotRecords
from recall.gitops.untrusted_settings import UntrustedSettings
from recall.gitops.user_refs import UserRefs
from recall.ownership import take_back
from recall.whole_files import replace_file, replacing

_WORKERS = "checkout.workers=4"


class WorkTrees(Protocol):
    """One kind of folder: what ties it to the user's repository."""

    def find(self, tree: Path, git_dir: str = "", /) -> ForeignGitDir | None: ...
    def make(self, workspace: Workspace, /) -> Path: ...
    def settings(self) -> list[str]: ...
    def prints(self, workspace: Workspace, git_dir: Path, /) -> dict[str, str]: ...
    def changed(self, workspace: Workspace, slot: Slot, /) -> tuple[str, ...]: ...
    def let_go(self, workspace: Workspace, git_dir: Path, /) -> None: ...
    def discard(self, tree: Path, /) -> None: ...


class WorkspacePool:
    """`common_dir` is the user's git dir, `integration` the dispatcher's own, `root` the folder that holds `ws/`,
    `keep` the ignore patterns that outlive a reuse. New folders are of `kind` (`worktree`, `clone`), older ones
    stay what they are until they are free. `given_to` is another user whom runs work as. Methods are safe from
    several threads and processes."""

    def __init__(
        self,
        common_dir: Path,
        integration: Path,
        state_dir: Path,
        root: Path,
        main: str,
        keep: Sequence[str] = (),
        kind: str = "worktree",
        *,
        given_to: int | None = None,
    ) -> None:
        self._refs = UserRefs(common_dir, f"refs/heads/{main}")
        self._root = root.resolve()
        self._records = SlotRecords(state_dir)
        self._keep = tuple(keep)
        self._kind = kind
        self._given_to = given_to
        self._parking = Parking(self._refs, integration)
        self._keeper = Keeper(self._refs, self._parking, self._records.folder)
        self.untrusted = UntrustedSettings(common_dir, self._records)
        self._kinds: dict[str, WorkTrees] = {
            "worktree": LinkedWorktrees(self._refs, self._records),
            "clone": SharedClones(self._refs, integration),
        }

    def at(self, slot: str, branch: str, base: str) -> Workspace:
        return Workspace(slot, self._root / "ws" / slot, branch, base)

    def git_dir_of(self, workspace: Workspace) -> ForeignGitDir | None:
        """Give the git dir in which a run worked, for reading; None when it is gone."""
        slot = self._records.all().get(workspace.slot)
        return self._kinds[slot.kind].find(workspace.tree, slot.git_dir) if slot else None

    def index_of(self, workspace: Workspace) -> Path:
        """Where the pool's own index of the folder lies, from when it was last filled."""
        return self._records.index(workspace.slot)

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
        except (EnvironmentFailure, OSError) as failed:
            if not reused:
                self._forget(workspace.slot)
                raise
            if isinstance(failed, Exhausted):
                self.close(workspace, run_id, landed=False)
                raise
            self._leave(workspace.slot, f"it could not be reset: {failed}")
            workspace, _ = self._take(branch, run_id, fresh=True)
            self._ready(workspace)
        return workspace

    def reopen(self, workspace: Workspace, run_id: int) -> str:
        """Let another run go on in a workspace as it lies there. Gives why it cannot, or "". Repeatable."""
        slot = self._records.all().get(workspace.slot)
        if slot is None or slot.status != USED or slot.branch != workspace.branch or not slot.prints:
            return f"workspace {workspace.slot} is not what it was"
        if self.git_dir_of(workspace) is None or not is_there(workspace):
            return f"workspace {workspace.slot} is gone"
        if changed := self.tampered(workspace):
            return f"changed during the run: {', '.join(changed)}"
        if slot.run_id == run_id:
            return ""
        self._refs.git("update-ref", f"refs/recall/base/{run_id}", slot.base)
        failpoint("workspace.base_pinned_again")
        self._records.write(workspace.slot, replace(slot, run_id=run_id))
        failpoint("workspace.handed_over")
        self._refs.delete({f"refs/recall/base/{slot.run_id}": ""})
        return ""

    def parked_diff(self, run_id: int) -> str:
        return self._parking.diff(str(run_id))

    def take_back(self, workspace: Workspace) -> None:
        """Take the folder of an ended run out of the hands of the user whom it ran as, before anything is done there:
        other runs of that user may be at work."""
        if self._given_to is not None and is_there(workspace):
            take_back(workspace.tree, self._given_to)

    def _close_earlier(self, branch: str) -> None:
        """A start that was killed, or failed half way, may have made this very workspace already."""
        for name, slot in self._records.all().items():
            if slot.status == USED and slot.branch == branch:
                self.close(self.at(name, slot.branch, slot.base), slot.run_id, landed=False)

    def _take(self, branch: str, run_id: int, *, fresh: bool = False) -> tuple[Workspace, bool]:
        """Note whose a slot is now. Tells whether it has been in use before."""
        with self._records.administration():
            base = self._refs.tip(self._refs.main)
            if not base:
                raise EnvironmentFailure(f"{self._refs.main} has no commit; make a first one, then start again")
            self._free_branch(branch)
            slots = self._records.all()
            free = [] if fresh else [name for name, slot in slots.items() if slot.status == FREE]
            taken = {*slots, *self._folders()}
            name = free[0] if free else next(new for new in map("s{}".format, range(1, 10_000)) if new not in taken)
            if free and slots[name].kind != self._kind:
                self._discard(self.at(name, branch, base), slots[name])
            self._records.write(name, Slot(USED, run_id, branch, base, kind=self._kind))
            failpoint("workspace.slot_taken")
            self._refs.git("update-ref", f"refs/recall/base/{run_id}", base)
            failpoint("workspace.base_pinned")
        return self.at(name, branch, base), bool(free)

    def _ready(self, workspace: Workspace) -> None:
        trees = self._kinds[self._kind]
        if not is_there(workspace):
            self._discard(workspace, self._records.all()[workspace.slot])
        git_dir = trees.make(workspace)
        failpoint("workspace.work_tree_made")
        self._fill(workspace, git_dir, [*trees.settings(), *self.untrusted.switched_off(workspace.base)])
        slot, prints = self._records.all()[workspace.slot], trees.prints(workspace, git_dir)
        self._records.write(workspace.slot, replace(slot, git_dir=str(git_dir), prints=prints))

    def _fill(self, workspace: Workspace, git_dir: Path, settings: Sequence[str]) -> None:
        """Bring the folder to the base commit, whatever it held. What an agent's index says of its files is not
        believed: the pool has its own, from when it last filled this folder."""
        index, trusted = git_dir / "index", self._records.index(workspace.slot)
        remove(index)
        if trusted.exists():
            shutil.copy2(trusted, index)
        branch = ["-q", "-f", "--no-recurse-submodules", "--no-track", "-B", workspace.branch, workspace.base]
        self._run(workspace, git_dir, settings, "checkout", *branch)
        failpoint("workspace.checked_out")
        self._clean(workspace, git_dir, settings)
        self._empty_submodules(workspace, git_dir)
        failpoint("workspace.cleaned")
        with replacing(trusted, durable=False) as draft:
            shutil.copy2(index, draft.path)
        _make_mailbox(workspace.tree)

    def _clean(self, workspace: Workspace, git_dir: Path, settings: Sequence[str]) -> None:
        kept = [word for pattern in self._keep for word in ("-e", pattern)]
        try:
            self._run(workspace, git_dir, settings, "clean", "-q", "-ffdx", *kept)
        except EnvironmentFailure:  # some tools leave folders that nobody may write
            make_removable(workspace.tree)
            self._run(workspace, git_dir, settings, "clean", "-q", "-ffdx", *kept)

    def _empty_submodules(self, workspace: Workspace, git_dir: Path) -> None:
        """One that an earlier agent filled holds the commit of then, and may have its git dir in one that is gone."""
        listed = self._run(workspace, git_dir, (), "ls-files", "-s", "-z").text.split("\0")
        for path in (entry.partition("\t")[2] for entry in listed if entry.startswith(GITLINK)):
            if is_real_folder(workspace.tree / path):
                empty_folder(workspace.tree / path)

    def _run(self, workspace: Workspace, git_dir: Path, settings: Sequence[str], *args: str) -> Finished:
        tree = workspace.tree
        return run_git(args, cwd=tree, git_dir=git_dir, work_tree=tree, config=[_WORKERS, *settings])

    def _free_branch(self, branch: str) -> None:
        """A branch of this name is a stray of a killed start. One that holds commits is pinned first."""
        full = f"refs/heads/{branch}"
        tip = self._refs.tip(full)
        if not tip:
            return
        if not self._refs.landed(tip):
            self._parking.keep_branch(full, tip)
            failpoint("workspace.stray_kept")
        self._refs.git("update-ref", "-d", full, tip)

    # -- closing ---------------------------------------------------------------------------------------------
    def close(self, workspace: Workspace, run_id: int, *, landed: bool) -> str:
        """Pin what has not landed, then give the folder back to the pool, or leave it for a person. Says what
        was done in one sentence. Repeatable. A workspace that was never made ready holds no work."""
        slot = self._records.all().get(workspace.slot)
        if slot is None or slot.status != USED or slot.run_id != run_id:
            return f"workspace {workspace.slot} is not in use by run {run_id} any more"
        self.take_back(workspace)
        agent = self._kinds[slot.kind].find(workspace.tree, slot.git_dir)
        if agent is None or not is_there(workspace):
            return self._close_vanished(workspace, slot, landed)
        clear_tree(workspace.tree)
        if not slot.prints:
            return self._recycle(workspace, slot, agent.git_dir, landed)
        changed = self._kinds[slot.kind].changed(workspace, slot)
        trouble = unrest(workspace, agent, landed)
        has_landed = landed and not trouble and not changed
        why = trouble or ("kept beside what landed" if landed else "it did not land")
        kept, incomplete = self._keeper.keep(workspace, slot.run_id, agent, why, landed=has_landed)
        failpoint("workspace.work_kept")
        stays = incomplete or (f"changed during the run: {', '.join(changed)}" if changed else "")
        if stays:
            self._leave(workspace.slot, stays)
            return f"workspace {workspace.slot} is left as it is ({stays}){kept}"
        return self._recycle(workspace, slot, agent.git_dir, landed) + kept

    def _recycle(self, workspace: Workspace, slot: Slot, git_dir: Path, landed: bool) -> str:
        with self._records.administration():
            self._kinds[slot.kind].let_go(workspace, git_dir)
            said = self._end_branch(workspace, slot, landed)
            failpoint("workspace.base_unpinned")
            self._records.write(workspace.slot, Slot(FREE, git_dir=str(git_dir), kind=slot.kind))
        return f"workspace {workspace.slot} went back to the pool{said}"

    def _end_branch(self, workspace: Workspace, slot: Slot, landed: bool) -> str:
        """Unpin the base; the branch goes as well once main has what is on it."""
        full, base = f"refs/heads/{workspace.branch}", f"refs/recall/base/{slot.run_id}"
        tip = self._refs.tip(full)
        ends = bool(tip) and (landed or self._refs.landed(tip))
        self._refs.delete({base: "", full: tip} if ends else {base: ""})
        return "" if ends or not tip else f", branch {workspace.branch} stays"

    def _close_vanished(self, workspace: Workspace, slot: Slot, landed: bool) -> str:
        """Somebody removed the folder or its git dir: what is left of both goes."""
        kept, incomplete = "", ""
        if slot.prints and not landed:
            kept, incomplete = self._keeper.keep(
                workspace, slot.run_id, None, "its folder or registration was removed"
            )
        if shared := [name for name in self._changed(workspace, slot) if not name.startswith(OF_THE_FOLDER)]:
            incomplete = incomplete or f"changed during the run: {', '.join(shared)}"
        if incomplete:
            self._leave(workspace.slot, incomplete)
            return f"workspace {workspace.slot} is left as it is ({incomplete}){kept}"
        with self._records.administration():
            self._discard(workspace, slot)
            said = self._end_branch(workspace, slot, landed)
            self._records.forget(workspace.slot)
        return f"workspace {workspace.slot} had been removed by hand{said}{kept}"

    def _changed(self, workspace: Workspace, slot: Slot) -> tuple[str, ...]:
        return self._kinds[slot.kind].changed(workspace, slot) if slot.prints else ()

    # -- what an agent may have changed ----------------------------------------------------------------------
    def tampered(self, workspace: Workspace) -> tuple[str, ...]:
        """Name what changed during the run in the shared configuration, hooks and attributes, in what ties the
        folder to the repository, and whether main was moved to a commit made in this folder."""
        slot = self._records.all().get(workspace.slot)
        if slot is None or not slot.prints:
            return ()
        moved = self._main_moved_here(slot)
        return (*self._kinds[slot.kind].changed(workspace, slot), *([moved] if moved else []))

    def _main_moved_here(self, slot: Slot) -> str:
        """The work tree's own log says which commits were made in it; landed ones are always new commits."""
        main = self._refs.main
        made = _made_here(Path(slot.git_dir) / "logs" / "HEAD")
        if not made or self._refs.tip(main) == slot.base:
            return ""
        ours = made.intersection(self._refs.git("rev-list", f"{slot.base}..{main}", check=False).text.split())
        return f"{main} was moved to commits of this run ({', '.join(sorted(ours)[:3])})" if ours else ""

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
        self._drop_stray_pins()
        unknown = sorted(self._folders() - set(self._records.all()) - set(in_use))
        return said + [f"{self._root / 'ws' / name} belongs to no run; it is left as it is" for name in unknown]

    def _drop_stray_pins(self) -> None:
        """A kill while a workspace was handed over leaves the base pinned for a run that has no workspace."""
        owners = {str(slot.run_id) for slot in self._records.all().values()}
        pins = self._refs.git("for-each-ref", "--format=%(refname)", "refs/recall/base").text.split()
        stray = {pin: "" for pin in pins if pin.rpartition("/")[2] not in owners}
        if stray:
            self._refs.delete(stray)

    def _forget(self, name: str) -> str:
        with self._records.administration():
            self._discard(self.at(name, "", ""), self._records.all()[name])
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
                    self._discard(self.at(name, slot.branch, slot.base), slot)
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
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(self._root / ".gitignore", b"*\n", mode=0o644, durable=False)

    def _discard(self, workspace: Workspace, slot: Slot) -> None:
        try:
            if workspace.folder.is_symlink():
                workspace.folder.unlink()
            self._kinds[slot.kind].discard(workspace.tree)
        except OSError as broken:
            raise EnvironmentFailure(f"{workspace.tree} cannot be removed: {broken}; remove it by hand") from broken


def _component(text: str) -> str:
    """Make one part of a branch name of any id: git refuses some characters and shapes."""
    safe = re.sub(r"[^A-Za-z0-9._-]|\.(?=\.|$)|^\.|(?<=\.)lock$", lambda odd: f"%{ord(odd[0][0]):02X}", text)
    return safe or "%"


def _made_here(log: Path) -> set[str]:
    """Read the commits that were made, not merely checked out, from a HEAD log."""
    made = re.compile(
        r"[0-9a-f]+ ([0-9a-f]+) .*\t(?:commit|cherry-pick|revert|am|rebase \((?:pick|continue|reword)\))"
    )
    return {match[1] for line in read_text(log).splitlines() if (match := made.match(line))}


def _make_mailbox(tree: Path) -> None:
    """Where the agent reports. It ignores itself, so the user's exclude file needs no entry."""
    mailbox = tree / ".recall-run"
    if not is_real_folder(mailbox):  # `workspaces.keep` may have spared whatever an agent put there
        mailbox.unlink(missing_ok=True)
        mailbox.mkdir()
    replace_file(mailbox / ".gitignore", b"*\n", mode=0o644, durable=False)
