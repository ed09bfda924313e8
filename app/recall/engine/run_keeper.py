"""Keeps every open run under watch: adopts, settles, orphans, and stops what lost its right to run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from recall.domain.run import Run, RunState
from recall.engine.jobs import Jobs
from recall.engine.parts import Parts
from recall.engine.releases import Releases
from recall.engine.settlement import settle_ended_run, settle_lost_run, settle_unlaunched_run
from recall.engine.watch import Watch


class RunKeeper:
    """`observe` is called at every tick by the loop's thread alone. It keeps the runs in mind that it was told to
    `expect`, so that one which a person or the store ends is stopped and its workspace given back."""

    def __init__(self, parts: Parts, jobs: Jobs, watch: Watch, releases: Releases) -> None:
        self._parts = parts
        self._jobs = jobs
        self._watch = watch
        self._releases = releases
        self._told_to_stop: set[int] = set()
        self._known: set[int] = set()

    def expect(self, run_id: int) -> None:
        """Keep a run in mind that was claimed or found just now: it may be over before the next tick."""
        self._known.add(run_id)

    def leaving(self, open_ids: Collection[int]) -> bool:
        """Something still runs, or lies in a workspace, whose run is over in the store."""
        return any(run_id not in open_ids and not self._releases.begun(run_id) for run_id in self._known)

    def observe(self, runs: list[Run], kept: Collection[int], *, halting: bool) -> None:
        """`runs` are those that are open, `kept` the settled ones whose workspaces wait for their agents."""
        for run in runs:
            if run.state is RunState.RUNNING:
                self._observe_running(run, halting=halting)
            elif run.state is RunState.ENDED:
                self._settle(run.id)
            elif run.state is RunState.PREPARING:
                self._observe_preparing(run.id)
        open_ids = {run.id for run in runs}
        for run_id in self._known - open_ids - set(kept):
            self._observe_leaving(run_id)

    def _observe_running(self, run: Run, *, halting: bool) -> None:
        if self._jobs.under_way(run.id):
            return
        if halting:
            self._tell_to_stop(run.id, "shutdown")
        if not self._watch.watching(run.id) and not self._watch.add(
            self._parts.runner.pidfd(self._folder(run.id)), run.id
        ):
            self._settle(run.id)

    def _observe_preparing(self, run_id: int) -> None:
        """Its launch failed, and so did giving the task back (the disk is full, say): that is done once it can be."""
        self._jobs.submit(run_id, lambda: settle_unlaunched_run(self._parts, run_id))

    def _settle(self, run_id: int) -> None:
        status = self._parts.runner.status(self._folder(run_id))
        if status.live:
            return
        self._watch.drop(run_id)
        record = status.exit
        if record is None:
            self._jobs.submit(run_id, lambda: settle_lost_run(self._parts, self._releases, run_id))
        else:
            self._jobs.submit(run_id, lambda: settle_ended_run(self._parts, self._releases, run_id, record))

    def _observe_leaving(self, run_id: int) -> None:
        """The run is over in the store (settled here, cancelled, lease lost): stop what still lives of it, then
        give its workspace back, unless that has been done."""
        if self._releases.begun(run_id):
            self._forget(run_id)
        elif not self._jobs.under_way(run_id):
            self._tell_to_stop(run_id, "lease_lost")
            if not self._parts.runner.status(self._folder(run_id)).live:
                self._watch.drop(run_id)
                self._jobs.submit(run_id, lambda: self._give_back(run_id))

    def _give_back(self, run_id: int) -> None:
        """A shim that was killed has left its processes in the workspace: they go first."""
        if self._parts.runner.status(self._folder(run_id)).exit is None:
            self._parts.runner.sweep(self._folder(run_id))
        self._releases.release(run_id)

    def _tell_to_stop(self, run_id: int, reason: str) -> None:
        if run_id not in self._told_to_stop:
            self._told_to_stop.add(run_id)
            self._parts.runner.stop(self._folder(run_id), reason)

    def _forget(self, run_id: int) -> None:
        self._watch.drop(run_id)
        self._known.discard(run_id)
        self._told_to_stop.discard(run_id)

    def _folder(self, run_id: int) -> Path:
        return self._parts.planner.runs_folder() / str(run_id)
