"""What one task costs in git alone, on a small and on a large repository, against the bare commands.

Two stretches are measured: from a claim to a workspace in which the agent can start, and from its report to main
advanced, its checkout included. The bare side does the same by hand in one worktree that is kept: `checkout -B` and
`clean`, then `rebase` and `merge --ff-only`. Neither side has an agent or a verification in it. In each round main
has moved since the task began, so that there is something to rebase.

usage: python -m benchmarks.git_life [--rounds 9] [--files 100 --files 20000]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pairs import Comparison, spread, timed
from benchmarks.scene import environment, run
from recall.config.settings import Settings
from recall.domain.task import TaskRef
from recall.domain.work import Conflict, Landed, Rebased, Result, Workspace
from recall.gitops.gateway import GitGateway
from recall.gitops.locate import locate
from recall.system import SystemClock, SystemRng

GOAL = 1.5
CONFLICT_GOAL = 0.02
_FILES_A_FOLDER = 100
_IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@x",
}


class Ground:
    """A repository with `files` files, and what happens in it besides the measured."""

    def __init__(self, folder: Path, files: int) -> None:
        self.path = folder / "repository"
        self.env = environment(folder) | _IDENTITY
        for number in range(files):
            place = self.path / "src" / str(number // _FILES_A_FOLDER)
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{number}.txt").write_text(f"{number}\n" * 20)
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "start")

    def git(self, *args: str, cwd: Path | None = None) -> str:
        return run(["git", *args], cwd or self.path, self.env)

    def change(self, tree: Path, name: str, content: str = "done\n") -> None:
        """Commit one file."""
        (tree / name).write_text(content)
        self.git("add", "--", name, cwd=tree)
        self.git("commit", "-q", "-m", name, cwd=tree)


@dataclass(frozen=True, slots=True)
class Life:
    """Seconds from the claim to the start, and from the report to main advanced."""

    start: float
    landing: float


class BareGit:
    """One worktree, kept for good."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._tree = ground.path.parent / "kept"
        ground.git("worktree", "add", "-q", "--detach", str(self._tree), "main")

    def live(self, number: int) -> Life:
        branch = f"bare-{number}"

        def start() -> None:
            self._ground.git("checkout", "-q", "-f", "-B", branch, "main", cwd=self._tree)
            self._ground.git("clean", "-q", "-ffdx", cwd=self._tree)

        def land() -> None:
            self._ground.git("rebase", "-q", "main", cwd=self._tree)
            self._ground.git("merge", "-q", "--ff-only", branch)

        before = timed(start)
        self._ground.change(self._tree, f"task-{number}.txt")
        self._ground.change(self._ground.path, f"meanwhile-{number}.txt")
        return Life(before, timed(land))


class Recall:
    """The git side of the dispatcher, as the engine calls it."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        settings = Settings(file=ground.path / "recall.toml", main="main", verify="true")
        self._git = GitGateway(locate(ground.path), settings, SystemClock(), SystemRng())
        self._git.prepare()

    def live(self, number: int) -> Life:
        began = time.perf_counter()
        workspace = self._git.open_workspace(TaskRef("main", f"T-{number}"), 1, number)
        started = time.perf_counter()
        self._ground.change(workspace.tree, f"task-{number}.txt")
        self._ground.change(self._ground.path, f"meanwhile-{number}.txt")
        landing = timed(lambda: self._land(workspace, number))
        self._git.close_workspace(workspace, number, landed=True)
        return Life(started - began, landing)

    def _land(self, workspace: Workspace, number: int) -> None:
        result = self._git.collect(workspace, number, "a task")
        assert isinstance(result, Result), result
        onto = self._git.main_tip()
        rebased = self._git.rebase(base=result.base, tip=result.tip, onto=onto, trailers={"Recall-Run": str(number)})
        assert isinstance(rebased, Rebased), rebased
        slot = self._git.open_slot(rebased.candidate)
        assert not self._git.slot_changes(slot, rebased.candidate)
        landed = self._git.land(merge_id=number, old=onto, new=rebased.candidate, reflog=f"recall run-{number}")
        assert isinstance(landed, Landed), landed

    def meet_conflict(self, number: int) -> float:
        """Seconds until it is known that a task's commit and main's do not go together."""
        workspace = self._git.open_workspace(TaskRef("main", f"T-{number}"), 1, number)
        self._ground.change(workspace.tree, f"both-{number}.txt", "the task's\n")
        self._ground.change(self._ground.path, f"both-{number}.txt", "main's\n")
        result = self._git.collect(workspace, number, "a task")
        assert isinstance(result, Result), result
        onto = self._git.main_tip()
        began = time.perf_counter()
        met = self._git.rebase(base=result.base, tip=result.tip, onto=onto, trailers={})
        seconds = time.perf_counter() - began
        assert isinstance(met, Conflict), met
        self._git.close_workspace(workspace, number, landed=False)
        return seconds


def measure(files: int, rounds: int) -> None:
    """The first round of each side fills its folders and is not counted."""
    with tempfile.TemporaryDirectory(prefix="recall-bench-") as place:
        recall, bare = Recall(Ground(Path(place, "recall"), files)), BareGit(Ground(Path(place, "bare"), files))
        lives = [(recall.live(number), bare.live(number)) for number in range(1, rounds + 2)][1:]
        conflicts = [recall.meet_conflict(number) for number in range(rounds + 2, 2 * rounds + 2)]
    starts = Comparison(
        f"{files} files, claim to start", tuple(a.start for a, _ in lives), tuple(b.start for _, b in lives)
    )
    landings = Comparison(
        f"{files} files, report to main", tuple(a.landing for a, _ in lives), tuple(b.landing for _, b in lives)
    )
    print(starts.line(GOAL))
    print(landings.line(GOAL))
    print(
        f"{files} files, conflict noticed".ljust(32),
        spread(conflicts),
        f"(goal {1000 * CONFLICT_GOAL:.0f} ms)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--files", type=int, action="append")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recall-bench-home-") as home:
        os.environ.update(environment(Path(home)) | _IDENTITY)
        for files in given.files or [100, 20_000]:
            measure(files, given.rounds)


if __name__ == "__main__":
    main()
