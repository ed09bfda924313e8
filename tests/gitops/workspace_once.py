"""Open or close one workspace, as a process of its own that a test can kill."""

from __future__ import annotations

import sys
from pathlib import Path

from recall.domain.task import TaskRef
from recall.gitops.workspaces import WorkspacePool


def do(what: str, common: str, root: str, number: str, run_id: str, kind: str) -> None:
    state = Path(common) / "recall"
    pool = WorkspacePool(Path(common), state / "integration.git", state, Path(root), "main", (), kind)
    if what == "open":
        pool.open(TaskRef("main", "T-1"), int(number), int(run_id))
    elif what == "tidy":
        pool.tidy([])
    else:
        workspace = pool.at("s1", f"recall/main/T-1/{number}", (state / "base").read_text())
        pool.close(workspace, int(run_id), landed=what == "landed")


def main() -> None:
    do(*sys.argv[1:])
