"""What a start finds of an earlier dispatcher, and how it goes on from there: git is asked, the store agrees."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from recall.domain.run import Run, RunResult, RunState
from recall.domain.text import clean
from recall.engine.merge_queue import MergeQueue
from recall.engine.parts import Parts
from recall.failpoint import failpoint


def recover(parts: Parts, queue: MergeQueue) -> list[int]:
    """Roll intents forward, stop what nobody waits for, adopt or settle runs, tidy the workspaces. Safe to be
    killed in and run again. The dispatcher lock is held. Gives the runs whose workspaces are still in use."""
    parts.store.recycle()
    alive = _stop_unowned(parts)
    failpoint("recovery.unowned_stopped")
    for entry in parts.store.merges():
        queue.resume(entry)
    failpoint("recovery.queue_settled")
    for run in parts.store.open_runs():
        _take_over(parts, run)
    failpoint("recovery.runs_settled")
    return _tidy(parts, alive)


def _stop_unowned(parts: Parts) -> set[str]:
    """Stop shims whose run is over in the store, and commands that an earlier dispatcher waited for. Gives the
    names of those that would not end."""
    open_ids = {str(run.id) for run in parts.store.open_runs()}
    unowned = [folder for folder in _folders(parts.planner.runs_folder()) if folder.name not in open_ids]
    return {folder.name for folder in unowned if not _stopped(parts, folder)}


def _folders(place: Path) -> Iterable[Path]:
    return sorted(place.iterdir()) if place.is_dir() else ()


def _stopped(parts: Parts, folder: Path) -> bool:
    status = parts.runner.status(folder)
    if status.live:
        return parts.runner.stop_and_wait(folder, "shutdown")
    if status.exit is None:
        parts.runner.sweep(folder)
    return True


def _take_over(parts: Parts, run: Run) -> None:
    """A run that was being prepared never had a process. One whose shim lives is watched from now on; all others
    are left to the dispatcher's first look."""
    if run.state is RunState.PREPARING:
        parts.store.end_lost_run(run.id, reason="the dispatcher ended while its workspace was being made")
    elif run.state is RunState.RUNNING and parts.runner.status(parts.planner.runs_folder() / str(run.id)).live:
        reason = "its agent worked on while no dispatcher was there"
        parts.store.note(
            "run.adopted", actor="dispatcher", reason=reason, ref=run.ref, agent=run.agent, run_id=run.id
        )


def _tidy(parts: Parts, alive: set[str]) -> list[int]:
    """Give back the workspaces of settled runs, each as its run came out; a folder in which something lives, or that
    waits for its agent, is left alone."""
    runs = parts.store.runs()
    waiting = {run.id for run in parts.store.kept_runs()}
    open_or_alive = (
        run for run in runs if run.state is not RunState.SETTLED or str(run.id) in alive or run.id in waiting
    )
    kept = {run.id: run.slot for run in open_or_alive if run.slot}
    landed = {run.id for run in runs if run.result is RunResult.LANDED}
    for sentence in parts.git.tidy_workspaces(list(kept.values()), landed):
        parts.store.note("workspace.tidied", actor="dispatcher", reason=clean(sentence))
    return list(kept)
