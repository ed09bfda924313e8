"""What a start finds of an earlier dispatcher, and how it goes on from there: git is asked, the store agrees."""

from __future__ import annotations

from recall.domain.merge import MergeEntry, MergeState
from recall.domain.run import Run, RunState
from recall.domain.work import MainMoved
from recall.engine.merge_queue import MergeQueue
from recall.engine.parts import Parts
from recall.failpoint import failpoint


def recover(parts: Parts, queue: MergeQueue) -> None:
    """Roll intents forward, stop what nobody waits for, adopt or settle runs, tidy the workspaces. Safe to be
    killed in and run again. The dispatcher lock is held."""
    parts.store.recycle()
    _stop_unowned(parts)
    failpoint("recovery.unowned_stopped")
    for entry in parts.store.merges():
        _settle_entry(parts, queue, entry)
    failpoint("recovery.queue_settled")
    for run in parts.store.open_runs():
        _settle_lost(parts, run)
    failpoint("recovery.runs_settled")
    in_use = [run.slot for run in parts.store.open_runs() if run.slot is not None]
    for sentence in parts.git.tidy_workspaces(in_use):
        parts.store.note("workspace.tidied", actor="dispatcher", reason=sentence)


def _stop_unowned(parts: Parts) -> None:
    """Stop shims whose run is over in the store, and commands that an earlier dispatcher waited for."""
    open_ids = {str(run.id) for run in parts.store.open_runs()}
    folder = parts.planner.runs_folder()
    if not folder.is_dir():
        return
    for run_folder in sorted(folder.iterdir()):
        if run_folder.name in open_ids:
            continue
        status = parts.runner.status(run_folder)
        if status.live:
            parts.runner.stop_and_wait(run_folder, "shutdown")
        elif status.exit is None:
            parts.runner.sweep(run_folder)


def _settle_entry(parts: Parts, queue: MergeQueue, entry: MergeEntry) -> None:
    """A recorded intent is rolled forward even when main has moved already: the kill may have come between the
    move and the checkout's files, or before the last lock was gone."""
    git = parts.git
    if entry.state is MergeState.LANDING and entry.intent_old is not None and entry.intent_new is not None:
        outcome = git.recover_landing(merge_id=entry.id, old=entry.intent_old, new=entry.intent_new)
        failpoint("recovery.landing_rolled_forward")
        if isinstance(outcome, MainMoved):
            parts.store.merge_requeue(entry.id, "main moved while nothing was watching; goes round again")
        else:
            queue.record(entry, outcome)
    elif entry.candidate is not None and git.knows(entry.candidate) and git.contains(git.main_tip(), entry.candidate):
        queue.landed(entry, entry.candidate)
    elif entry.state in (MergeState.VERIFYING, MergeState.LANDING):
        parts.store.merge_requeue(entry.id, "the dispatcher was restarted; goes round again")


def _settle_lost(parts: Parts, run: Run) -> None:
    """A run that was being prepared never had a process. Running ones are left to the dispatcher's first look."""
    if run.state is RunState.PREPARING:
        parts.store.end_lost_run(run.id, reason="the dispatcher ended while its workspace was being made")
