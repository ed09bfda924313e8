"""What a person does to a task: checked, carried out and told in one transaction."""

from __future__ import annotations

from recall.domain.intervention import TARGETS, Wish, why_no_answer, why_not
from recall.domain.merge import MergeEntry, MergeState
from recall.domain.run import Refused, Run, RunResult, RunState
from recall.domain.task import DoneBy, Task, TaskRef, TaskState
from recall.domain.text import clean
from recall.store import events, merges, moves, reading, runs
from recall.store.transaction import Transaction

_KINDS = {
    Wish.REQUEUE: "task.requeued",
    Wish.HOLD: "task.held",
    Wish.UNHOLD: "task.unheld",
    Wish.CANCEL: "task.cancelled",
    Wish.FINISH: "task.done",
}
_CLEAR = """
UPDATE tasks SET attempts = 0, interruptions = 0, retry_at = NULL, sent_to = NULL, brief = '',
  kept_run = NULL, kept_for = NULL
WHERE region = :region AND id = :id
"""
_ANSWER = "UPDATE runs SET answer = :answer WHERE id = :id"
_PRIORITIZE = "UPDATE tasks SET priority = :priority WHERE region = :region AND id = :id"


def intervene(tx: Transaction, wish: Wish, ref: TaskRef, actor: str, reason: str) -> Refused | None:
    task = reading.task(tx, ref)
    if task is None:
        return Refused(f"there is no task {ref}")
    entry, run = reading.open_merge(tx, ref), reading.open_run(tx, ref)
    refusal = why_not(wish, task, entry.state if entry else None)
    if refusal:
        return _refused(tx, wish, task, actor, refusal)
    _drop_work(tx, entry, run, reason or f"{wish} by {actor}", actor)
    target = TARGETS[wish]
    if task.state is not target:
        done_by = DoneBy.MANUAL if target is TaskState.DONE else None
        moves.move_task(tx, ref, task.state, target, reason, done_by=done_by)
    if wish is Wish.REQUEUE:
        tx.change(_CLEAR, ref._asdict())
        moves.complete_group(tx, ref)
    events.append(
        tx,
        _KINDS[wish],
        actor=actor,
        ref=ref,
        agent=run.agent if run else None,
        run_id=run.id if run else None,
        merge_id=entry.id if entry else None,
        before=task.state,
        after=target,
        reason=reason,
    )
    return None


def answer(tx: Transaction, ref: TaskRef, text: str, actor: str) -> Refused | None:
    """Keep the answer with the run that asked, and send the task out again."""
    task = reading.task(tx, ref)
    if task is None:
        return Refused(f"there is no task {ref}")
    said = clean(text).strip()
    last = next(reversed(reading.runs(tx, ref)), None)
    refusal = why_no_answer(task, last) or ("" if said else "an answer needs words")
    if refusal or last is None:
        return _refused(tx, "answer", task, actor, refusal)
    tx.change(_ANSWER, {"id": last.id, "answer": said})
    moves.move_task(tx, ref, task.state, TaskState.TODO, "its question is answered")
    events.append(
        tx,
        "task.answered",
        actor=actor,
        ref=ref,
        agent=last.agent,
        run_id=last.id,
        before=task.state,
        after=TaskState.TODO,
        reason=said,
    )
    return None


def prioritize(tx: Transaction, ref: TaskRef, priority: int, actor: str) -> Refused | None:
    task = reading.task(tx, ref)
    if task is None:
        return Refused(f"there is no task {ref}")
    if task.state in {TaskState.DONE, TaskState.CANCELLED}:
        return _refused(tx, "prioritize", task, actor, f"{ref} is {task.state}: requeue it first")
    if task.priority == priority:
        return _refused(tx, "prioritize", task, actor, f"{ref} has priority {priority} already")
    tx.change(_PRIORITIZE, {**ref._asdict(), "priority": priority})
    events.append(tx, "task.prioritized", actor=actor, ref=ref, before=str(task.priority), after=str(priority))
    return None


def _drop_work(tx: Transaction, entry: MergeEntry | None, run: Run | None, reason: str, actor: str) -> None:
    """End what is under way at once: a shim's next renewal fails, and it stops its tree."""
    if entry is not None:
        merges.give_up(tx, entry, reason, actor)
    if run is not None:
        met = entry is not None and entry.state is MergeState.CONFLICT
        moves.move_run(tx, run, RunState.SETTLED, RunResult.CONFLICT if met else RunResult.CANCELLED, reason)
        runs.let_go(tx, run)


def _refused(tx: Transaction, wish: str, task: Task, actor: str, refusal: str) -> Refused:
    events.append(tx, "task.refused", actor=actor, ref=task.ref, before=task.state, after=wish, reason=refusal)
    return Refused(refusal)
