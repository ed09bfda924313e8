"""The store at one moment, and what it means for people: pure, for every front end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from recall.domain.agent import Agent
from recall.domain.merge import RED_MAIN, MergeEntry, MergeState
from recall.domain.progress import Standing, standing
from recall.domain.receipts import Receipt
from recall.domain.run import Run, RunState
from recall.domain.schedule import why_agent, why_task
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskRef, TaskState
from recall.domain.words import TASK_WORDS, elapsed, task_word, until


@dataclass(frozen=True)
class Overview:
    """`now` is wall seconds UTC; `tip` is main's last known commit, empty before the first landing.
    `dispatcher`: one is running. `queue_held` and `dispatch_held` say why nothing lands, or starts, before a person
    acts; empty: nothing holds them. `shortage` is what holds the dispatch when that is the disk, `list_problems` why
    the newest version of a task list is not in force. `receipts` are those of outside actions that are not done."""

    name: str
    main: str
    tip: str
    now: float
    dispatcher: bool
    queue_held: str
    dispatch_held: str
    snapshot: Snapshot
    tasks: tuple[Task, ...]
    agents: tuple[Agent, ...]
    runs: tuple[Run, ...]
    merges: tuple[MergeEntry, ...]
    shortage: str = ""
    list_problems: tuple[str, ...] = ()
    receipts: tuple[Receipt, ...] = ()

    @cached_property
    def index(self) -> Mapping[TaskRef, Task]:
        """The tasks by their names, in the order of the list."""
        return {task.ref: task for task in self.tasks}

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(task_word(task) for task in self.tasks)
        return {word: found[word] for word in TASK_WORDS}

    @property
    def halt(self) -> str:
        """`held` while nothing new starts before a person acts, or the disk has room; `paused` while a person wants
        nothing started; else ""."""
        if self.dispatch_held:
            return "held"
        return "" if self.snapshot.dispatching else "paused"

    @property
    def standing(self) -> Standing:
        return standing(
            self.tasks,
            self.agents,
            self.runs,
            self.merges,
            queue_held=self.queue_held or red_main_words(self.merges),
            dispatch_held=self.dispatch_held,
            problems=self.list_problems,
            receipts=self.receipts,
        )


def why(task: Task, overview: Overview) -> str:
    """The one rule that holds a task, with its place in the merge queue when it has one."""
    entry = next((entry for entry in overview.merges if entry.ref == task.ref), None)
    if entry is not None and task.state is TaskState.LANDING:
        reason = f": {entry.reason}" if entry.reason else ""
        return f"number {overview.merges.index(entry) + 1} in the merge queue, {spaced(entry.state)}{reason}"
    run = next((run for run in overview.runs if run.ref == task.ref), None)
    if run is not None and task.state is TaskState.IN_PROGRESS:
        return f"{run.agent} works on it, {elapsed(overview.now - (run.started_at or run.claimed_at))} so far"
    if overview.dispatch_held and task.state is TaskState.TODO and not task.unmet:
        return f"nothing new starts: {overview.dispatch_held}"
    known = [overview.index[ref] for ref in task.prerequisites if ref in overview.index]
    return why_task(task, overview.snapshot, known)


def main_is_green(overview: Overview) -> bool | None:
    """Whether main's tip passed verification: it landed here, or it was found red. None: nobody looked."""
    if any(entry.state is MergeState.QUEUED and entry.reason == RED_MAIN for entry in overview.merges):
        return False
    tip = overview.tip
    return True if tip and any(task.done_commit == tip for task in overview.tasks) else None


def red_main_words(merges: Sequence[MergeEntry]) -> str:
    """Say that only a mended main lets the queue go on; empty while an entry may still be what mends it."""
    moving = [one for one in merges if one.state in (MergeState.QUEUED, MergeState.VERIFYING, MergeState.LANDING)]
    if not moving or any(one.state is not MergeState.QUEUED or one.reason != RED_MAIN for one in moving):
        return ""
    return "main itself is red: mend it on main, and the queue goes on"


def agent_word(agent: Agent, now: float) -> str:
    """Give the word for what an agent is doing."""
    if agent.stopped_reason:
        return "stopped"
    if agent.running:
        return "running"
    if agent.paused or not agent.enabled:
        return "paused"
    return "cooling" if agent.cooling_until is not None and agent.cooling_until > now else "idle"


def agent_doing(agent: Agent, overview: Overview) -> str:
    """What an agent does and since when, or what it waits for."""
    mine = [run for run in overview.runs if run.agent == agent.name and run.state is not RunState.LANDING]
    if mine:
        return ", ".join(_run_words(run, overview) for run in mine)
    if (
        agent.cooling_until is not None
        and agent.cooling_until > overview.now
        and not (agent.stopped_reason or agent.paused)
    ):
        reason = f": {agent.cooling_reason}" if agent.cooling_reason else ""
        line = f'  "{agent.cooling_line}"' if agent.cooling_line else reason
        return f"until {until(agent.cooling_until, overview.now)}{line}"
    if agent.driven:
        return "driven by a person: claims with `recall next`"
    if overview.dispatch_held and agent_word(agent, overview.now) == "idle":
        return "free; nothing new starts"
    return why_agent(agent, overview.snapshot)


def _run_words(run: Run, overview: Overview) -> str:
    task = overview.index.get(run.ref)
    title = f" {task.title}" if task is not None else ""
    return f"{run.ref}{title}  {elapsed(overview.now - (run.started_at or run.claimed_at))}"


def spaced(state: str) -> str:
    """Write a state's name in words."""
    return state.replace("_", " ")
