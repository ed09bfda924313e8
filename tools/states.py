"""docs/STATES.md: the transition tables of the domain, drawn and told."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum
from string import ascii_lowercase

from recall.domain.merge import MERGE_MOVES, MergeState
from recall.domain.outcome import CONSEQUENCES, WEIGHT_START, Budget, CooldownRule, Effect, Settlement, settle
from recall.domain.receipts import RECEIPT_MOVES, ReceiptState
from recall.domain.run import RUN_MOVES, RunResult, RunState
from recall.domain.task import TASK_MOVES, DoneBy, TaskState
from tools.markdown import code, page, prose, table

Moves = Collection[tuple[tuple[StrEnum, StrEnum], str]]

_HEAD = """\
# States

A task, a run, a merge entry and a receipt each have one table of moves; the store refuses any other. This page is
made from those tables by `make docs`: mend `domain/task.py`, `run.py`, `merge.py`, `receipts.py` or `outcome.py` and
make it anew.
"""

_TASK_STATES = {
    TaskState.TODO: "waits: for its prerequisites, its turn, or the end of a pause",
    TaskState.IN_PROGRESS: "claimed; a run works on it under a lease",
    TaskState.LANDING: "its work is in the merge queue; no lease can run out any more",
    TaskState.DONE: "over; what waited for it may begin",
    TaskState.NEEDS_PERSON: "nothing happens before a person acts; the reason stands beside it",
    TaskState.ON_HOLD: "kept back by a person, or by a mark in the list that nobody could read for sure",
    TaskState.CANCELLED: "given up; its work is kept, and what waits for it can never run",
}

_DONE_BY = {
    DoneBy.LANDED: "a commit of this task is in main",
    DoneBy.MANUAL: "a person, or the agent in pull mode, said so",
    DoneBy.IMPORTED: "the list said so when it was first read",
    DoneBy.GROUP: "every sub-task is over",
}

_EFFECTS = {
    Effect.NONE: "",
    Effect.COOLS: "its account starts nothing before the reset",
    Effect.STOPS: "starts nothing before `recall resume AGENT`",
}

_RESULTS = f"""\
## How a run comes out, and what it costs

Attempts (`run.attempts`), interruptions (`run.max_interruptions`) and an agent's weight for a task type are three
counters of their own. A weight begins at {WEIGHT_START} and stays between 0 and 1. After a used attempt the task
rests for `run.backoff`, twice as long each time. The last two columns say where the task goes, and where when this
was the last attempt or interruption that it had.
"""

_EXCEPTIONS = """\
Some endings differ from their row:

- a run that was stopped together with the dispatcher (Ctrl+C twice) is `orphaned` without costing an interruption;
- a result that only a person can judge (two lines of commits, a half-done rebase, files that look like secrets, a
  changed hook …) is `failed`, but costs neither attempt nor weight, and the task needs a person;
- a running task that a person puts on hold ends its run as `cancelled`, and the task is on hold; one given back with
  `recall release` is claimable at once;
- an entry that main overtook `merge.max_rounds` times is `conflict`, and the task needs a person.
"""


def states_page() -> str:
    return page(
        _HEAD,
        "## Tasks",
        table(("state", "meaning"), [(code(state), _TASK_STATES[state]) for state in TaskState]),
        _machine(TASK_MOVES.items(), TaskState.TODO),
        "A first import may also begin with `done`, `cancelled` or `on_hold`. How a task came to be done is kept:",
        table(("done by", "meaning"), [(code(way), _DONE_BY[way]) for way in DoneBy]),
        "## Runs",
        prose(RunState.__doc__),
        _machine(RUN_MOVES.items(), RunState.PREPARING, RunState.PULLED),
        "## Merge entries",
        prose(MergeState.__doc__),
        _machine(MERGE_MOVES.items(), MergeState.QUEUED),
        "## Receipts of outside actions",
        prose(ReceiptState.__doc__),
        _machine(RECEIPT_MOVES.items(), ReceiptState.BEGUN),
        _RESULTS,
        _results(),
        _EXCEPTIONS,
    )


def _machine(moves: Moves, *begins: StrEnum) -> str:
    rows = [(letter, code(before), code(after), why) for letter, before, after, why in _lettered(moves)]
    return page(_diagram(moves, begins), table(("edge", "from", "to", "when"), rows))


def _diagram(moves: Moves, begins: tuple[StrEnum, ...]) -> str:
    lines = ["```mermaid", "stateDiagram-v2"]
    lines += [f"    [*] --> {state}" for state in begins]
    lines += [f"    {before} --> {after}: {letter}" for letter, before, after, _ in _lettered(moves)]
    return "\n".join([*lines, "```"])


def _lettered(moves: Moves) -> Iterator[tuple[str, StrEnum, StrEnum, str]]:
    """Name the moves a, b, c … in the order of the table. Raises ValueError when the letters run out."""
    if len(moves) > len(ascii_lowercase):
        raise ValueError(f"{len(moves)} moves, but only {len(ascii_lowercase)} letters to name them by")
    for letter, ((before, after), why) in zip(ascii_lowercase, moves, strict=False):
        yield letter, before, after, why


def _results() -> str:
    heads = ("result", "meaning", "attempt", "interruption", "weight", "agent", "task", "at the last one")
    return table(heads, [_result_row(result) for result in RunResult])


def _result_row(result: RunResult) -> tuple[str, ...]:
    row = CONSEQUENCES[result]
    first, last = _settled(result, used=0), _settled(result, used=2)
    return (
        code(result),
        row.meaning,
        "one" if row.attempt else "",
        "one" if row.interruption else "",
        f"{row.weight:+.2f}" if row.weight else "",
        _EFFECTS[row.effect],
        code(first.task_state),
        "" if last.task_state is first.task_state else code(last.task_state),
    )


def _settled(result: RunResult, used: int) -> Settlement:
    """Ask the decider itself, for a task that may have three of each."""
    budget = Budget(attempts=used, max_attempts=3, interruptions=used, max_interruptions=3, backoff=1.0)
    return settle(result, "", budget=budget, cooldown=CooldownRule(0.0, 1.0, 1.0), now=0.0)
