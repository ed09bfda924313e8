"""Keeps every open run under watch: adopts, settles, orphans, and stops what lost its right to run."""

from __future__ import annotations

from pathlib import Path

from recall.domain.run import Run, RunState
from recall.engine.jobs import Jobs
from recall.engine.parts import Parts
from recall.engine.settlement import release_workspace, settle_ended_run
from recall.engine.watch import Watch


class RunKeeper:
    """`observe` is called at every tick by the loop's thread alone."""

    def __init__(self, parts: Parts, jobs: Jobs, watch: Watch) -> None:
        self._parts = parts
        self._jobs = jobs
        self._watch = watch
        self._told_to_stop: set[int] = set()
        self._leaving: dict[int, Run] = {}

    @property
    def leaving(self) -> bool:
        """Some process still runs whose run is over in the store."""
        return bool(self._leaving)

    def observe(self, runs: list[Run], *, halting: bool) -> None:
        for run in runs:
            if run.state is RunState.RUNNING:
                self._observe_running(run, halting=halting)
            elif run.state is RunState.ENDED:
                self._settle(run)
        self._observe_leaving({run.id for run in runs})

    def _observe_running(self, run: Run, *, halting: bool) -> None:
        if self._jobs.under_way(run.id):
            return
        if halting and run.id not in self._told_to_stop:
            self._told_to_stop.add(run.id)
            self._parts.runner.stop(self._folder(run), "shutdown")
        if not self._watch.watching(run.id) and not self._watch.add(self._parts.runner.pidfd(self._folder(run)), run):
            self._settle(run)

    def _settle(self, run: Run) -> None:
        status = self._parts.runner.status(self._folder(run))
        if status.live:
            return
        self._watch.drop(run.id)
        record = status.exit
        if record is None:
            self._jobs.submit(run.id, lambda: self._orphan(run))
        else:
            self._jobs.submit(run.id, lambda: settle_ended_run(self._parts, run, record))

    def _orphan(self, run: Run) -> None:
        swept = self._parts.runner.sweep(self._folder(run))
        strays = f"; {swept} left-over processes were ended" if swept else ""
        self._parts.store.end_lost_run(run.id, reason=f"its process was lost without a record{strays}")
        release_workspace(self._parts, run)

    def _observe_leaving(self, open_ids: set[int]) -> None:
        """The store took these back (cancelled, lease lost) while their process lives: stop it, then settle
        the folder that it worked in."""
        for run_id, run in self._watch.watched().items():
            if run_id not in open_ids and run_id not in self._leaving:
                self._leaving[run_id] = run
                self._parts.runner.stop(self._folder(run), "lease_lost")
        for run_id, run in list(self._leaving.items()):
            if self._parts.runner.status(self._folder(run)).live:
                continue
            self._watch.drop(run_id)
            if self._jobs.submit(run_id, lambda gone=run: release_workspace(self._parts, gone)):
                del self._leaving[run_id]

    def _folder(self, run: Run) -> Path:
        return self._parts.planner.runs_folder() / str(run.id)
