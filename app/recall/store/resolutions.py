"""What a person does about an entry in conflict: each checked, carried out and told in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from recall.domain.conflict import ConflictRecord, Decision, Way
from recall.domain.merge import MergeEntry, MergeState
from recall.domain.run import Refused, Run, RunResult, RunState
from recall.domain.task import TaskState
from recall.domain.text import clean, clean_line
from recall.store import conflicts, events, moves, reading, runs
from recall.store.transaction import Transaction

_RESOLVED = """
UPDATE merges SET tip = :tip, base = :base, rounds = 0, candidate = NULL, onto = NULL, conflict_paths = '[]',
  conflict_step = NULL, conflict_base = NULL, conflict_ours = NULL, conflict_theirs = NULL, conflict_detail = ''
WHERE id = :id
"""
_BRIEF = "UPDATE tasks SET sent_to = :agent, brief = :brief, retry_at = NULL WHERE region = :region AND id = :id"
_KINDS = {
    Way.SEND_BACK: "task.sent_back",
    Way.RESTART: "task.restarted",
    Way.GIVE_UP: "task.cancelled",
}


def decide(tx: Transaction, seen: ConflictRecord, decisions: Sequence[Decision], actor: str) -> Refused | None:
    entry = _still_there(tx, seen, "decide", actor)
    if isinstance(entry, Refused):
        return entry
    conflicts.decide(tx, entry.id, decisions)
    words = ", ".join(f"{clean_line(one.path)}: {one.how}" for one in decisions)
    _tell(tx, entry, "merge.decided", actor, after=entry.state, reason=words)
    return None


def check_out(tx: Transaction, seen: ConflictRecord, folder: str, actor: str) -> Refused | None:
    entry = _still_there(tx, seen, "check_out", actor)
    if isinstance(entry, Refused):
        return entry
    conflicts.put_folder(tx, entry.id, folder)
    _tell(tx, entry, "merge.checked_out", actor, after=entry.state, reason=f"to be resolved by hand in {folder}")
    return None


def resolve(tx: Transaction, seen: ConflictRecord, tip: str, base: str, actor: str, reason: str) -> Refused | None:
    """Put the entry back into the queue with other commits: from here on it is like any other."""
    entry = _still_there(tx, seen, "resolve", actor)
    if isinstance(entry, Refused):
        return entry
    moves.move_merge(tx, entry, MergeState.QUEUED, reason)
    moves.move_task(tx, entry.ref, TaskState.NEEDS_PERSON, TaskState.LANDING, reason)
    tx.change(_RESOLVED, {"id": entry.id, "tip": tip, "base": base})
    conflicts.forget(tx, entry.id)
    _tell(tx, entry, "merge.resolved", actor, after=MergeState.QUEUED, reason=reason)
    return None


def abandon(
    tx: Transaction, seen: ConflictRecord, way: Way, actor: str, reason: str, agent: str | None, brief: str
) -> Refused | None:
    """Take the entry out of the queue and its task to where the way leads. Costs no attempt and no interruption:
    a person decided."""
    entry = _still_there(tx, seen, way, actor)
    if isinstance(entry, Refused):
        return entry
    run = reading.run(tx, entry.run_id)
    assert run is not None
    moves.move_merge(tx, entry, MergeState.REJECTED, reason)
    _end(tx, run, way, reason)
    if way is not Way.GIVE_UP:
        tx.change(_BRIEF, {**entry.ref._asdict(), "agent": agent, "brief": clean(brief)})
    target = TaskState.CANCELLED if way is Way.GIVE_UP else TaskState.TODO
    moves.move_task(tx, entry.ref, TaskState.NEEDS_PERSON, target, reason)
    events.append(
        tx,
        _KINDS[way],
        actor=actor,
        ref=entry.ref,
        agent=agent or run.agent,
        run_id=run.id,
        merge_id=entry.id,
        before=TaskState.NEEDS_PERSON,
        after=target,
        reason=reason,
    )
    return None


def _end(tx: Transaction, run: Run, way: Way, reason: str) -> None:
    moves.move_run(
        tx, run, RunState.SETTLED, RunResult.CANCELLED if way is Way.GIVE_UP else RunResult.CONFLICT, reason
    )
    runs.let_go(tx, run)


def _still_there(tx: Transaction, seen: ConflictRecord, wish: str, actor: str) -> MergeEntry | Refused:
    """Give the entry if it is still in the very conflict that the person saw; else record the refusal."""
    now, entry = conflicts.record(tx, seen.merge_id), reading.merge(tx, seen.merge_id)
    if entry is None:
        return Refused(f"there is no merge entry {seen.merge_id}")
    if now is not None and (now.met.ours, now.met.theirs) == (seen.met.ours, seen.met.theirs):
        return entry
    words = "is in another conflict by now; look again" if now is not None else f"is {entry.state} by now"
    refusal = f"{entry.ref} {words}: nothing was changed"
    _tell(tx, entry, "merge.refused", actor, after=wish, reason=refusal)
    return Refused(refusal)


def _tell(tx: Transaction, entry: MergeEntry, kind: str, actor: str, *, after: str, reason: str) -> None:
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
