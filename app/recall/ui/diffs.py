"""What a run changed, as text: from its branch, or from the commit that is kept of it."""

from __future__ import annotations

from recall.domain.text import clean_bytes
from recall.gitops.command import run_git
from recall.gitops.locate import Location


def diff_of_run(location: Location, run_id: int, base: str, branch: str) -> str:
    """Give the unified diff of a run's commits against its base, with the files' names first."""
    git_dir = location.common_dir
    for name in (f"refs/heads/{branch}", f"refs/recall/parked/{run_id}"):
        if run_git(["rev-parse", "--verify", "--quiet", name], git_dir=git_dir, check=False).ok:
            flags = ["--no-ext-diff", "--no-textconv", "--no-color", "--stat", "--patch"]
            done = run_git(["diff", *flags, "--end-of-options", base, name], git_dir=git_dir, check=False)
            return clean_bytes(done.out) or "nothing committed yet\n"
    return "its branch is gone: the work has landed, or nothing was committed\n"
