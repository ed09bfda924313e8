"""Move main forward in the user's repository, wherever it is checked out, or say what is in the way.

Nothing here is ever forced: main goes from the recorded old commit to a descendant of it, or stays. Every step
may be the last one before a kill; `recover` then goes forward from the recorded intent.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from recall.domain.errors import EnvironmentFailure
from recall.domain.frozen import frozen
from recall.domain.rng import Rng
from recall.domain.surroundings import failure_told
from recall.domain.text import clean_line
from recall.domain.work import Landed, LandingOutcome, MainMoved, WaitingForCheckout
from recall.failpoint import failpoint
from recall.gitops.checkout import (
    Change,
    Checkout,
    View,
    arrived,
    changes,
    find_checkouts,
    git_dirs_of_people,
    holders,
    in_the_way,
    shown,
    standing_locks,
    view,
)
from recall.gitops.command import HARDENING, Finished, pipe_git, run_git
from recall.gitops.operations import operation
from recall.gitops.pipes import clear_git_dir
from recall.gitops.refs import read_ref
from recall.gitops.roll_forward import finish_files, index_lines, landing_locks, wait_for_end, wait_for_quiet

#: An editor that polls `git status` holds index.lock for milliseconds; the waits grow to two seconds in all.
_ATTEMPTS = 8
_LOCKED = "another git holds a lock; if none is running, delete the file"
_FIRST_WAIT = 0.05  # seconds


@frozen
class _Refused:
    """This attempt moved nothing; the next may."""

    reason: str
    paths: tuple[str, ...] = ()


@frozen
class _Intent:
    """One landing: what is to move from where to where, and what the reflog will say of it."""

    merge_id: int
    old: str
    new: str
    reflog: str

    @property
    def ref(self) -> str:
        return f"refs/recall/landing/{self.merge_id}"


class Lander:
    """Lands one merge at a time. `common_dir` is the user's git dir, `integration` the bare one that holds the
    verified commits, `main_tree` the work tree whose git dir is `common_dir`, if it is known. `settings` gives what
    git is to be told in checkouts (`key=value`) that go from one commit to another, `agents` is the folder below
    which agents and tests are at work. The caller holds the dispatcher lock."""

    def __init__(
        self,
        common_dir: Path,
        integration: Path,
        main: str,
        rng: Rng,
        *,
        main_tree: Path | None = None,
        settings: Callable[[str, str], Sequence[str]] = lambda _old, _new: (),
        agents: Path | None = None,
        pause: Callable[[float], None] = time.sleep,
        patience: float = 30.0,
    ) -> None:
        self._common = common_dir
        self._integration = integration
        self._branch = f"refs/heads/{main}"
        self._main = main
        self._rng = rng
        self._main_tree = main_tree
        self._settings = settings
        self._agents = agents
        self._pause = pause
        self._patience = patience

    def land(self, merge_id: int, old: str, new: str, reflog: str) -> LandingOutcome:
        """Advance main from `old` to its descendant `new`. WaitingForCheckout means that main and every file
        are as they were. Raises EnvironmentFailure when git itself fails."""
        intent = _Intent(merge_id, old, new, reflog)
        if ended := self._ended(intent, "main contained it already"):
            return ended
        self._carry(intent)
        wanted = changes(self._common, old, new)
        refused = _Refused("")
        for attempt in range(_ATTEMPTS):
            step = self._advance(intent, wanted)
            if isinstance(step, WaitingForCheckout):
                return step
            if ended := self._ended(intent, step if isinstance(step, str) else "main contained it already"):
                return ended
            refused = step if isinstance(step, _Refused) else _Refused("main did not move")
            self._pause(_FIRST_WAIT * (attempt + 1) * (0.5 + self._rng.random()))
        return WaitingForCheckout(refused.reason, refused.paths)

    def carry(self, merge_id: int, old: str, new: str) -> None:
        """Bring verified commits into the user's repository, without moving anything, and pin them there until the
        same entry has landed."""
        self._carry(_Intent(merge_id, old, new, f"recall merge-{merge_id}"))

    def recover(self, merge_id: int, old: str, new: str, reflog: str = "") -> LandingOutcome:
        """Roll a landing that a kill interrupted forward. Repeatable."""
        intent = _Intent(merge_id, old, new, reflog or f"recall merge-{merge_id} recovered")
        if not wait_for_end(self._marker(intent), self._patience):
            return WaitingForCheckout("git processes of the interrupted landing are still at work")
        if waiting := self._roll_forward(intent):
            return waiting
        return self.land(merge_id, old, new, intent.reflog)

    def hindrance(self, merge_id: int, old: str, new: str) -> WaitingForCheckout | None:
        """Say what is in the way of a landing that was tried before. Nothing is moved; None: as far as can be seen,
        nothing is."""
        intent = _Intent(merge_id, old, new, "")
        if self._tip() != old or read_ref(self._common, intent.ref) != new:
            return None
        found = self._holder(intent)
        if not isinstance(found, Checkout):
            return found
        if locks := standing_locks(self._common, found.git_dir, self._branch):
            return WaitingForCheckout(_LOCKED, tuple(map(str, locks)))
        return _blocked(found, view(found, changes(self._common, old, new)))

    def _checkouts(self, intent: _Intent) -> list[Checkout]:
        clear_git_dir(self._common)
        found = find_checkouts(self._common, self._main_tree)
        settings = tuple(self._settings(intent.old, intent.new))
        return [replace(one, settings=settings) for one in found]

    # -- where main is ---------------------------------------------------------------------------------------
    def _tip(self) -> str:
        """Main's commit, empty when there is no such branch."""
        known = read_ref(self._common, self._branch)
        if known is not None:
            return known
        return self._git(["rev-parse", "--verify", "-q", f"{self._branch}^{{commit}}"], check=False).text

    def _contains(self, tip: str, commit: str) -> bool:
        return tip == commit or (
            bool(tip) and self._git(["merge-base", "--is-ancestor", commit, tip], check=False).ok
        )

    def _ended(self, intent: _Intent, how: str) -> Landed | MainMoved | None:
        """Ask git whether this landing is over: main has the commit, or stands where nobody expects it."""
        tip = self._tip()
        if tip == intent.old != intent.new:
            return None  # an old commit that contained its own new one would not be let through by `_carry`
        if self._contains(tip, intent.new):
            failpoint("landing.main_advanced")
            self._git(["update-ref", "-d", intent.ref])
            failpoint("landing.unpinned")
            return Landed(intent.new, how)
        if tip != intent.old:
            return MainMoved(tip, rewritten=not self._contains(tip, intent.old))
        return None

    # -- carrying the commits over ---------------------------------------------------------------------------
    def _carry(self, intent: _Intent) -> None:
        """Bring the new commits into the user's repository and pin them. They come as one pack: a fetch
        copies nothing when both repositories share objects."""
        if read_ref(self._common, intent.ref) != intent.new:
            self._copy_objects(intent)
            failpoint("landing.objects_carried")
            self._act(intent, ["update-ref", intent.ref, intent.new])
            failpoint("landing.pinned")
        if not self._contains(intent.new, intent.old):
            raise EnvironmentFailure(
                f"{intent.new} is not a descendant of {intent.old}, so {self._main} cannot move to it without "
                "losing commits; the entry must be rebased first"
            )

    def _copy_objects(self, intent: _Intent) -> None:
        source, sink = pipe_git(
            ["pack-objects", "--revs", "--stdout", "-q"],
            ["index-pack", "--stdin", "--strict"],
            git_dir=self._common,
            source_git_dir=self._integration,
            stdin=f"{intent.new}\n^{intent.old}\n".encode(),
        )
        if not (source.ok and sink.ok):
            said = " ".join(clean_line(f"{source.error} {sink.error}").split())
            raise failure_told(f"the commits up to {intent.new} could not be copied to {self._common}: {said}")

    # -- moving main -----------------------------------------------------------------------------------------
    def _advance(self, intent: _Intent, wanted: Sequence[Change]) -> str | _Refused | WaitingForCheckout:
        """Try once. Gives how main was moved, but git is asked afterwards whether it did."""
        found = self._holder(intent)
        if found is None:
            return self._move_unwatched(intent, wanted)
        return found if isinstance(found, WaitingForCheckout) else self._move_checked_out(intent, found, wanted)

    def _holder(self, intent: _Intent) -> Checkout | WaitingForCheckout | None:
        """Give the one checkout that has main, if it can be reached and is at rest."""
        found = holders(self._checkouts(intent), self._branch)
        if len(found) > 1:
            places = " and ".join(str(one.tree) for one in found)
            return WaitingForCheckout(f"{self._main} is checked out more than once, in {places}; leave one of them")
        if not found:
            return None
        checkout = found[0]
        if checkout.missing:
            return WaitingForCheckout(f"{self._main} is checked out in {checkout.tree}, which cannot be reached now")
        if checkout.branch != self._branch:
            return WaitingForCheckout(f"an operation on {self._main} is in progress in {checkout.tree}; finish it")
        return checkout

    def _move_checked_out(
        self, intent: _Intent, checkout: Checkout, wanted: Sequence[Change]
    ) -> str | _Refused | WaitingForCheckout:
        if locks := standing_locks(self._common, checkout.git_dir, self._branch):
            return _Refused(_LOCKED, tuple(map(str, locks)))
        seen = view(checkout, wanted)
        if blocked := _blocked(checkout, seen):
            return blocked
        if seen.arrived:
            done = self._complete(intent, checkout, wanted)
        elif seen.clean and checkout.pushable:
            done = self._push(intent, checkout)
        else:
            done = self._merge(intent, checkout)
        if done.ok:
            return self._look_again(intent, wanted) or f"checkout {checkout.tree} brought along"
        if done.status < 0 or view(checkout, wanted) != seen:
            self._resume(intent)
        return _Refused(f"git did not move {self._main} in {checkout.tree}: {clean_line(done.error)}")

    def _resume(self, intent: _Intent) -> None:
        """Git died or failed after it had begun to write. The checkout was free of edits in these files a
        moment ago, so what is half new there is ours."""
        if wait_for_end(self._marker(intent), self._patience):
            self._roll_forward(intent)

    def _push(self, intent: _Intent, checkout: Checkout) -> Finished:
        """Addresses main by name, so a switch of branches cannot hit another one. The receiving git does not
        see our flags and gets its own. Not `git push`: what the configuration says of URLs and remotes, which may
        lead a local path anywhere, does not count for `send-pack`."""
        flags = [*HARDENING, *checkout.settings, "receive.denyCurrentBranch=updateInstead", "receive.autogc=false"]
        flags += [f"safe.directory={folder}" for folder in (self._common, checkout.tree)]
        receive = " ".join(["git", *(f"-c {shlex.quote(flag)}" for flag in flags), "receive-pack"])
        lease = f"--force-with-lease={self._branch}:{intent.old}"
        target = f"{intent.new}:{self._branch}"
        send = ["send-pack", "--quiet", "--no-signed", f"--receive-pack={receive}", lease, str(self._common), target]
        return self._act(intent, send, check=False)

    def _merge(self, intent: _Intent, checkout: Checkout) -> Finished:
        """Keeps edits in other files. It moves whatever HEAD is on, hence the look afterwards."""
        flags = ["--ff-only", "--no-autostash", "--no-overwrite-ignore", "--commit", "--no-squash"]
        done = self._act(intent, ["merge", "-q", *flags, "--no-verify-signatures", intent.new], checkout, check=False)
        failpoint("landing.merged")
        if done.ok and self._tip() == intent.old:
            self._give_back(intent, checkout)
        return done

    def _complete(self, intent: _Intent, checkout: Checkout, wanted: Sequence[Change]) -> Finished:
        """A part of the change is in index and files already, where a merge can trip over it. From the index as
        it is to the same with the whole change, then the ref, addressed by name."""
        with tempfile.TemporaryDirectory(prefix="recall-") as folder:
            index = Path(folder, "index")
            shutil.copyfile(checkout.git_dir / "index", index)
            here = self._act(intent, ["write-tree"], checkout, index=index).text
            self._act(
                intent, ["update-index", "-z", "--index-info"], checkout, index=index, stdin=index_lines(wanted)
            )
            there = self._act(intent, ["write-tree"], checkout, index=index).text
        moved = self._move_files(intent, checkout, here, there)
        failpoint("landing.files_completed")
        if not moved.ok:
            return moved
        move = ["update-ref", "-m", intent.reflog, self._branch, intent.new, intent.old]
        return self._act(intent, move, check=False)

    def _give_back(self, intent: _Intent, checkout: Checkout) -> None:
        """The user switched branches in the last instant and that branch moved: put it back where it was."""
        now = self._act(intent, ["symbolic-ref", "-q", "HEAD"], checkout, check=False).text or "HEAD"
        before = self._act(intent, ["rev-parse", "--verify", "-q", f"{now}@{{1}}"], checkout, check=False).text
        if self._act(intent, ["rev-parse", now], checkout).text != intent.new or not before:
            return
        self._move_files(intent, checkout, intent.new, before)
        self._act(intent, ["update-ref", "-m", f"{intent.reflog}: given back", now, before, intent.new], checkout)

    def _move_files(self, intent: _Intent, checkout: Checkout, here: str, there: str) -> Finished:
        """Take index and files from one tree to another, other edits kept. It fails when they are in the way.
        `read-tree` takes a file that was only touched for an edit, hence the refresh."""
        self._act(intent, ["update-index", "-q", "--refresh"], checkout, check=False)
        return self._act(intent, ["read-tree", "-m", "-u", here, there], checkout, check=False)

    def _move_unwatched(self, intent: _Intent, wanted: Sequence[Change]) -> str | _Refused | WaitingForCheckout:
        """Nobody has main checked out: a compare-and-swap of the ref, then a second look."""
        move = ["update-ref", "-m", intent.reflog, self._branch, intent.new, intent.old]
        done = self._act(intent, move, check=False)
        failpoint("landing.ref_moved")
        if not done.ok:
            self._resume(intent)
            return _Refused(f"git did not move {self._main}: {clean_line(done.error)}")
        return self._look_again(intent, wanted) or "no checkout had it"

    def _look_again(self, intent: _Intent, wanted: Sequence[Change]) -> WaitingForCheckout | None:
        """Bring along the files of a user who switched to main while it moved. If they cannot be, main goes
        back to where it was."""
        self._await_switches()
        for late in holders(self._checkouts(intent), self._branch):
            waiting = None if late.missing else self._catch_up(intent, late, wanted)
            if waiting:
                self._act(intent, ["update-ref", "-m", intent.reflog, self._branch, intent.old, intent.new])
                return waiting
        return None

    def _await_switches(self) -> None:
        """A switch of branches holds index.lock until HEAD has moved. Agents' folders do not count."""
        for _ in range(_ATTEMPTS):
            if not any((folder / "index.lock").exists() for folder in git_dirs_of_people(self._common)):
                return
            self._pause(_FIRST_WAIT)

    def _catch_up(self, intent: _Intent, late: Checkout, wanted: Sequence[Change]) -> WaitingForCheckout | None:
        if not arrived(late, [one.reversed() for one in wanted]):
            return None
        strangers = in_the_way(late.tree, wanted)
        if strangers or not self._move_files(intent, late, intent.old, intent.new).ok:
            names = tuple(map(shown, strangers))
            return WaitingForCheckout(
                f"{self._main} was checked out in {late.tree} meanwhile; files are in the way", names
            )
        failpoint("landing.caught_up")
        return None

    # -- after a kill ----------------------------------------------------------------------------------------
    def _marker(self, intent: _Intent) -> str:
        return f"RECALL_LANDING={intent.merge_id}@{self._common}"

    def _roll_forward(self, intent: _Intent) -> WaitingForCheckout | None:
        """Clear away the locks of a dead git, then finish the files that it left half done."""
        everywhere = self._checkouts(intent)
        held = [one for one in holders(everywhere, self._branch) if not one.missing]
        spared = [one.tree for one in everywhere if one not in held] + ([self._agents] if self._agents else [])
        if waiting := self._clear_locks(intent, held, spared):
            return waiting
        failpoint("landing.locks_removed")
        tip = self._tip()
        if tip == intent.new:
            return self._look_again(intent, changes(self._common, intent.old, intent.new))
        if tip != intent.old:
            return None
        self._carry(intent)
        wanted = changes(self._common, intent.old, intent.new)
        for one in held:
            if one.branch == self._branch and not operation(one.git_dir):
                finish_files(one, wanted)
        return None

    def _clear_locks(
        self, intent: _Intent, held: Sequence[Checkout], spared: Sequence[Path]
    ) -> WaitingForCheckout | None:
        locks = landing_locks(self._common, [one.git_dir for one in held], [self._branch, intent.ref])
        if locks and not wait_for_quiet([self._common, *(one.tree for one in held)], spared, self._patience):
            return WaitingForCheckout("git is at work in the checkout and holds a lock", tuple(map(str, locks)))
        for lock in locks:
            lock.unlink(missing_ok=True)
        return None

    # -- running git -----------------------------------------------------------------------------------------
    def _git(self, args: Sequence[str], *, check: bool = True) -> Finished:
        return run_git(args, git_dir=self._common, check=check)

    def _act(
        self,
        intent: _Intent,
        args: Sequence[str],
        checkout: Checkout | None = None,
        *,
        index: Path | None = None,
        stdin: bytes = b"",
        check: bool = True,
    ) -> Finished:
        """Run a git call of this landing: named in reflogs, and found again after a kill by its marker."""
        name, _, value = self._marker(intent).partition("=")
        return run_git(
            args,
            cwd=checkout.tree if checkout else None,
            git_dir=checkout.git_dir if checkout else self._common,
            work_tree=checkout.tree if checkout else None,
            index=index,
            stdin=stdin,
            env={"GIT_REFLOG_ACTION": intent.reflog, name: value},
            config=checkout.settings if checkout else (),
            check=check,
        )


def _blocked(checkout: Checkout, seen: View) -> WaitingForCheckout | None:
    """Say what of the user's files is in the way."""
    if not seen.reason:
        return None
    return WaitingForCheckout(f"{seen.reason} ({checkout.tree})", tuple(map(shown, seen.blocked)))
