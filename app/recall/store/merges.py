"""The merge queue's rows. In landing no lease is needed: owner and version decide."""

from __future__ import annotations

import json
from collections.abc import Sequence

from recall.domain.conflict import ConflictKind, LandedChange, RecordedFile, conflict_reason
from recall.domain.errors import RecallError
from recall.domain.merge import FINAL_MERGE_STATES, MAIN_OID, MergeEntry, MergeState
from recall.domain.outcome import Settlement
from recall.domain.run import Run, RunState
from recall.domain.task import TaskState
from recall.domain.text import clean
from recall.domain.work import Conflict
from recall.store import conflicts, events, moves, reading, runs, settings
from recall.store.transaction import Rows, Transaction

_CANDIDATE = "UPDATE merges SET candidate = :candidate, onto = :onto WHERE id = :id"
_AGAIN = """
UPDATE merges SET rounds = rounds + 1, candidate = NULL, onto = NULL, intent_old = NULL, intent_new = NULL,
  conflict_paths = '[]', conflict_step = NULL, conflict_base = NULL, conflict_ours = NULL, conflict_theirs = NULL,
  conflict_detail = ''
WHERE id = :id
"""
_INTENT = "UPDATE merges SET intent_old = :old, intent_new = :new, conflict_paths = '[]' WHERE id = :id"
_PATHS = "UPDATE merges SET reason = :reason, conflict_paths = :paths WHERE id = :id"
_OFFER = """
UPDATE merges SET offered = 1 + (
  SELECT count(*) FROM merges AS other WHERE other.region = merges.region AND other.task = merges.task
    AND other.offered IS NOT NULL)
WHERE id = :id
"""
_OFFERED = "UPDATE merges SET reason = :reason, merged = :merged WHERE id = :id"
_CONFLICT = """
UPDATE merges SET conflict_paths = :paths, conflict_step = :step, conflict_base = :base, conflict_ours = :ours,
  conflict_theirs = :theirs, conflict_detail = :detail
WHERE id = :id
"""
_LANDING = """
INSERT INTO landings (merge_id, run_id, region, task, agent, version, tip, onto, landed_commit, landed_at)
SELECT m.id, m.run_id, m.region, m.task, r.agent, r.version, m.tip, m.onto, :landed, :wall
FROM merges m JOIN runs r ON r.id = m.run_id WHERE m.id = :id
"""


def verifying(tx: Transaction, merge_id: int, candidate: str, onto: str) -> None:
    entry = _entry(tx, merge_id)
    _move(tx, entry, MergeState.VERIFYING, f"{candidate[:12]} on {onto[:12]}")
    tx.change(_CANDIDATE, {"id": entry.id, "candidate": candidate, "onto": onto})


def requeue(tx: Transaction, merge_id: int, reason: str) -> None:
    entry = _open_entry(tx, merge_id, MergeState.QUEUED, reason)
    if entry is None:
        return
    _move(tx, entry, MergeState.QUEUED, reason)
    tx.change(_AGAIN, {"id": entry.id})
    conflicts.forget(tx, entry.id)
    if entry.state is MergeState.CONFLICT:
        _move_task(tx, entry, TaskState.NEEDS_PERSON, TaskState.LANDING, reason)


def intend(tx: Transaction, merge_id: int, old: str, new: str) -> None:
    entry = _entry(tx, merge_id)
    _run_in_landing(tx, entry)
    _move(tx, entry, MergeState.LANDING, f"main is to go from {old[:12]} to {new[:12]}")
    tx.change(_INTENT, {"id": entry.id, "old": old, "new": new})


def waiting(tx: Transaction, merge_id: int, reason: str, paths: Sequence[str]) -> None:
    entry = _open_entry(tx, merge_id, MergeState.WAITING_CHECKOUT, reason)
    if entry is None:
        return
    shown = tuple(clean(path) for path in paths)
    if entry.state is MergeState.WAITING_CHECKOUT:
        if (entry.reason, entry.conflict_paths) == (clean(reason), shown):
            return
        _tell(tx, entry, "merge.waiting_checkout", entry.state, reason)
    else:
        _move(tx, entry, MergeState.WAITING_CHECKOUT, reason)
    tx.change(_PATHS, {"id": entry.id, "reason": clean(reason), "paths": json.dumps(shown)})


def offered(tx: Transaction, merge_id: int, reason: str, merged: str | None) -> None:
    """Offer a verified entry as its task's next pull request, or say how the offer stands."""
    entry = _open_entry(tx, merge_id, MergeState.PULL_REQUEST, reason)
    if entry is None:
        return
    if entry.state is not MergeState.PULL_REQUEST:
        _run_in_landing(tx, entry)
        _move(tx, entry, MergeState.PULL_REQUEST, reason)
        tx.change(_OFFER, {"id": entry.id})
    elif (entry.reason, entry.merged) != (clean(reason), merged):
        _tell(tx, entry, "merge.pull_request" if merged is None else "merge.merged", entry.state, reason)
        tx.change(_OFFERED, {"id": entry.id, "reason": clean(reason), "merged": merged})


def landed(tx: Transaction, merge_id: int, commit: str, settlement: Settlement) -> None:
    entry = _entry(tx, merge_id)
    if entry.state is MergeState.LANDED:
        return
    if entry.state is MergeState.REJECTED:
        _tell(
            tx, entry, "merge.refused", MergeState.LANDED, f"main has {commit[:12]} all the same; look at {entry.ref}"
        )
        settings.put(tx, MAIN_OID, commit)
        return
    run = _run_in_landing(tx, entry)
    _move(tx, entry, MergeState.LANDED, f"main has {commit[:12]}")
    tx.change(_INTENT, {"id": entry.id, "old": None, "new": None})
    tx.change(_LANDING, {"id": entry.id, "landed": commit, "wall": tx.now.wall})
    runs.finish(tx, run, settlement, "dispatcher", landed=commit, merge_id=entry.id)
    settings.put(tx, MAIN_OID, commit)


def conflict(
    tx: Transaction,
    merge_id: int,
    met: Conflict,
    settlement: Settlement | None,
    files: Sequence[RecordedFile],
    changes: Sequence[LandedChange],
) -> None:
    files = files or [RecordedFile(path, ConflictKind.CONTENT, 0) for path in met.paths]
    reason = conflict_reason(files, changes)
    entry = _open_entry(tx, merge_id, MergeState.CONFLICT, reason)
    if entry is None:
        return
    run = _run_in_landing(tx, entry)
    _move(tx, entry, MergeState.CONFLICT, reason)
    tx.change(_CONFLICT, {"id": entry.id, **_met(met)})
    conflicts.keep(tx, entry.id, files, changes)
    if settlement is None:
        _move_task(tx, entry, TaskState.LANDING, TaskState.NEEDS_PERSON, reason)
        return
    _move(tx, _entry(tx, merge_id), MergeState.REJECTED, settlement.reason)
    runs.finish(tx, run, settlement, "dispatcher", merge_id=entry.id)


def rejected(tx: Transaction, merge_id: int, reason: str, settlement: Settlement) -> None:
    entry = _open_entry(tx, merge_id, MergeState.REJECTED, reason)
    if entry is None:
        return
    run = _run_in_landing(tx, entry)
    _move(tx, entry, MergeState.REJECTED, reason)
    runs.finish(tx, run, settlement, "dispatcher", merge_id=entry.id)


def met(rows: Rows, merge_id: int) -> Conflict | None:
    row = rows.one("SELECT * FROM merges WHERE id = :id AND conflict_step IS NOT NULL", {"id": merge_id})
    return conflicts.met(row) if row is not None else None


def give_up(tx: Transaction, entry: MergeEntry, reason: str, actor: str) -> None:
    """Turn an open entry away because a person decided otherwise; its run is settled by the caller."""
    _move(tx, entry, MergeState.REJECTED, reason, actor)


def _met(met: Conflict) -> dict[str, str]:
    return {
        "paths": json.dumps([clean(path) for path in met.paths]),
        "step": met.step,
        "base": met.base,
        "ours": met.ours,
        "theirs": met.theirs,
        "detail": clean(met.detail),
    }


def _entry(rows: Rows, merge_id: int) -> MergeEntry:
    entry = reading.merge(rows, merge_id)
    if entry is None:
        raise RecallError(f"there is no merge entry {merge_id}")
    return entry


def _open_entry(tx: Transaction, merge_id: int, wanted: MergeState, reason: str) -> MergeEntry | None:
    """Give the entry unless it is final; then what came too late is recorded as refused."""
    entry = _entry(tx, merge_id)
    if entry.state not in FINAL_MERGE_STATES:
        return entry
    _tell(tx, entry, "merge.refused", wanted, f"is {entry.state} already; came too late: {reason}")
    return None


def _run_in_landing(rows: Rows, entry: MergeEntry) -> Run:
    run, task = reading.run(rows, entry.run_id), reading.task(rows, entry.ref)
    assert run is not None
    assert task is not None
    if run.state is not RunState.LANDING or (task.lease_owner, task.lease_version) != (run.owner, run.version):
        raise RecallError(
            f"merge entry {entry.id} of {entry.ref} is {entry.state}, and its run {run.id} does not hold the task "
            f"any more ({run.state}, version {run.version} of {task.lease_version}); nothing was changed"
        )
    return run


def _move(tx: Transaction, entry: MergeEntry, after: MergeState, reason: str, actor: str = "dispatcher") -> None:
    moves.move_merge(tx, entry, after, reason)
    _tell(tx, entry, f"merge.{after}", after, reason, actor)


def _move_task(tx: Transaction, entry: MergeEntry, before: TaskState, after: TaskState, reason: str) -> None:
    moves.move_task(tx, entry.ref, before, after, reason)
    events.append(
        tx,
        f"task.{after}",
        actor="dispatcher",
        ref=entry.ref,
        run_id=entry.run_id,
        merge_id=entry.id,
        before=before,
        after=after,
        reason=reason,
    )


def _tell(
    tx: Transaction, entry: MergeEntry, kind: str, after: MergeState, reason: str, actor: str = "dispatcher"
) -> None:
    events.append(
        tx,
        kind,
        actor=actor,
        ref=entry.ref,
        run_id=entry.run_id,
        merge_id=entry.id,
        before=entry.state,
        after=after,
        reason=reason,
    )
