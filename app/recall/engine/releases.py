"""Workspaces are given back once nothing of their run lives: each run's once, whoever sees its end first."""

from __future__ import annotations

import threading

from recall.domain.errors import RecallError
from recall.domain.run import Run, RunResult
from recall.domain.task import TaskRef
from recall.domain.text import clean
from recall.domain.work import Workspace
from recall.engine.parts import Parts


class Releases:
    """Shared by the loop and its jobs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._begun: set[int] = set()
        self._ended = threading.Condition(self._lock)
        self._closing = 0

    def begun(self, run_id: int) -> bool:
        """Tell whether this run's workspace has been given back, or is being given back now."""
        with self._lock:
            return run_id in self._begun

    def wait_for_closing(self) -> None:
        """Let workspaces that are being given back arrive in the pool: using one again costs less than a new one."""
        with self._ended:
            self._ended.wait_for(lambda: not self._closing)

    def release(self, run_id: int) -> None:
        """Give the folder of a settled run back to the pool, or park what is in it, unless it waits for its agent.
        Nothing happens the second time; when the store cannot be asked it may be tried again."""
        with self._lock:
            if run_id in self._begun:
                return
            self._begun.add(run_id)
        try:
            run = self._to_close(run_id)
        except RecallError:
            self._take_back(run_id)
            raise
        workspace = workspace_of(self._parts, run) if run is not None else None
        if run is not None and workspace is not None:
            self.close(workspace, run.ref, run_id, landed=run.result is RunResult.LANDED)

    def _to_close(self, run_id: int) -> Run | None:
        """Give the run if its folder is nobody else's: not kept for its agent, nor handed over to a later run."""
        store = self._parts.store
        run = store.run(run_id)
        if run is None or run.slot is None:
            return run
        if any(kept.id == run_id for kept in store.kept_runs()):
            self._take_back(run_id)
            return None
        later = (one for one in store.runs(run.ref) if one.id > run_id)
        return None if any((one.slot, one.branch) == (run.slot, run.branch) for one in later) else run

    def _take_back(self, run_id: int) -> None:
        with self._lock:
            self._begun.discard(run_id)

    def close(self, workspace: Workspace, ref: TaskRef, run_id: int, *, landed: bool = False) -> None:
        """Close a workspace that is known, and tell what became of it."""
        with self._lock:
            self._begun.add(run_id)
            self._closing += 1
        try:
            said = self._parts.git.close_workspace(workspace, run_id, landed=landed)
        except RecallError as trouble:
            said = f"{workspace.folder} is left as it is: {trouble}"
        finally:
            with self._ended:
                self._closing -= 1
                self._ended.notify_all()
        self._parts.store.note("workspace.closed", actor="dispatcher", reason=clean(said), ref=ref, run_id=run_id)


def workspace_of(parts: Parts, run: Run) -> Workspace | None:
    """Give the workspace that a run has, or None before it got one and in pull mode."""
    if run.slot is None or run.branch is None or run.base is None:
        return None
    return parts.git.workspace_at(run.slot, branch=run.branch, base=run.base)
