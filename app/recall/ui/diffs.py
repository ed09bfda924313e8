"""What a run changed: from its branch, from what landed of it, or from the commits that are kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recall.domain.merge import MergeEntry, MergeState
from recall.domain.run import Run
from recall.domain.text import clean_bytes
from recall.gitops.command import Finished, run_git
from recall.gitops.diff_sizes import DIFF_FLAGS, FileChange, file_changes
from recall.gitops.locate import Location

#: A longer diff is shown up to here, in bytes.
_LONGEST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RunWork:
    """`source` says in words where the changes were read, or why there are none. `files` are in the order of `diff`.
    `parked` are the refs that keep what did not land, `leftovers` the paths that were not committed. `branch` is
    empty when the branch is gone."""

    source: str
    files: tuple[FileChange, ...] = ()
    diff: str = ""
    branch: str = ""
    parked: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()


def work_of_run(location: Location, run: Run, entry: MergeEntry | None) -> RunWork:
    """Ask git. `entry` is the run's own in the merge queue, however it ended."""
    return _Asking(location, run, entry).answer()


class _Asking:
    def __init__(self, location: Location, run: Run, entry: MergeEntry | None) -> None:
        self._location = location
        self._run = run
        self._entry = entry

    def answer(self) -> RunWork:
        branch = f"refs/heads/{self._run.branch}" if self._run.branch else ""
        branch = branch if branch and self._knows(branch) else ""
        parked = self._parked()
        for base, tip, source in self._candidates(branch, parked):
            if base and self._knows(base) and self._knows(tip):
                files = file_changes(self._location.common_dir, base, tip)
                diff = self._diff(base, tip) if files else ""
                said = source if files else f"nothing was committed, {source}"
                return RunWork(said, files, diff, branch, parked, self._leftovers(parked))
        return RunWork(self._nothing(), branch=branch, parked=parked)

    def _candidates(self, branch: str, parked: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
        run, entry = self._run, self._entry
        if entry is not None and entry.state is MergeState.LANDED and entry.onto and entry.candidate:
            yield entry.onto, entry.candidate, f"landed as {entry.candidate[:12]}"
        for ref in parked:
            yield run.base or "", ref, f"kept as {ref}"
        if branch:
            yield run.base or "", branch, f"on branch {run.branch}"

    def _nothing(self) -> str:
        if self._run.base is None:
            return "it never had a workspace"
        return "its branch is gone, and nothing of it had to be kept"

    def _parked(self) -> tuple[str, ...]:
        number = self._run.id
        listed = self._git("for-each-ref", "--format=%(refname)", *(
            f"refs/recall/parked/{name}" for name in (f"{number}", f"{number}-*")
        ))  # fmt: skip
        return tuple(clean_bytes(listed.out).split())

    def _leftovers(self, parked: tuple[str, ...]) -> tuple[str, ...]:
        """What a parked folder holds beyond the run's own last commit."""
        ref = f"refs/recall/parked/{self._run.id}"
        if ref not in parked or not self._knows(f"{ref}^1"):
            return ()
        listed = self._git("diff", "--name-only", "-z", *DIFF_FLAGS, "--end-of-options", f"{ref}^1", ref)
        return tuple(clean_bytes(path) for path in listed.out.split(b"\0") if path)

    def _diff(self, base: str, tip: str) -> str:
        out = self._git("diff", "--patch", *DIFF_FLAGS, "--end-of-options", base, tip).out
        more = f"\n… {len(out) - _LONGEST} more bytes" if len(out) > _LONGEST else ""
        return out[:_LONGEST].decode("utf-8", "replace") + more

    def _knows(self, name: str) -> bool:
        if any(character < " " for character in name):
            return False  # what git names nothing by, and what no process can be given
        return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").ok

    def _git(self, *args: str) -> Finished:
        return run_git(args, git_dir=self._location.common_dir, check=False)
