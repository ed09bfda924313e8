"""From an overview to the rows that the widgets show: pure, tested without an app."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from recall.domain.agent import Agent
from recall.domain.intervention import why_no_answer
from recall.domain.merge import MergeEntry, MergeState
from recall.domain.overview import Overview, agent_doing, agent_word, spaced
from recall.domain.run import Run, RunState
from recall.domain.task import RESTING, Task, TaskRef, TaskState
from recall.domain.words import TASK_WORDS, done_mark, elapsed, moment, task_word, until
from recall.ui.keymap import TABLE_KEYS, Keymap
from recall_widgets.glyphs import Shown
from recall_widgets.rows import AgentRow, BoardRow, HeaderFacts, KeyHint, NeedRow, QueueRow

SHOWN_TASK = {
    "needs you": Shown.NEEDS_YOU,
    "running": Shown.RUNNING,
    "landing": Shown.LANDING,
    "ready": Shown.READY,
    "waiting": Shown.WAITING,
    "on hold": Shown.HELD,
    "done": Shown.DONE,
    "cancelled": Shown.CANCELLED,
}
_SHOWN_AGENT = {
    "running": Shown.ACTIVE,
    "idle": Shown.READY,
    "paused": Shown.HELD,
    "cooling": Shown.COOLING,
    "stopped": Shown.NEEDS_YOU,
}
_SHOWN_MERGE = {MergeState.CONFLICT: Shown.NEEDS_YOU, MergeState.WAITING_CHECKOUT: Shown.NEEDS_YOU}
_TITLES = {"needs you": "Needs you", "on hold": "On hold"}


def group_key(word: str) -> str:
    return f"group:{word}"


def task_key(ref: TaskRef) -> str:
    return f"task:{ref.region}:{ref.id}"


def task_of(key: str) -> TaskRef | None:
    """Read a row's key back; None for a group's."""
    kind, _, rest = key.partition(":")
    return TaskRef(*rest.split(":", 1)) if kind == "task" else None


def board_rows(overview: Overview, *, folded: Collection[str] = (), needle: str = "") -> list[BoardRow]:
    """Group the tasks by state, in the order in which they matter. `folded` holds group keys; while a filter is
    in force every group with a match is open."""
    index = {task.ref: task for task in overview.tasks}
    runs = {run.ref: run for run in overview.runs}
    groups: dict[str, list[Task]] = {word: [] for word in TASK_WORDS}
    for task in overview.tasks:
        if _matches(task, needle):
            groups[task_word(task)].append(task)
    rows: list[BoardRow] = []
    for word, tasks in groups.items():
        if not tasks:
            continue
        key = group_key(word)
        closed = key in folded and not needle
        title = _TITLES.get(word, word.capitalize())
        rows.append(BoardRow(key, "group", SHOWN_TASK[word], title, count=len(tasks), folded=closed))
        if not closed:
            rows += [_task_row(task, word, overview.now, index, runs) for task in tasks]
    return rows


def tree_rows(overview: Overview, needle: str = "") -> list[BoardRow]:
    """Order the tasks below their first prerequisite, as far as four levels deep; each task stands once."""
    index = {task.ref: task for task in overview.tasks}
    runs = {run.ref: run for run in overview.runs}
    below: dict[TaskRef, list[Task]] = {}
    roots: list[Task] = []
    for task in overview.tasks:
        first = next((ref for ref in task.prerequisites if ref in index), None)
        if first is None:
            roots.append(task)
        else:
            below.setdefault(first, []).append(task)
    rows: list[BoardRow] = []
    stack = [(task, 0) for task in reversed(roots)]
    while stack:
        task, depth = stack.pop()
        if _matches(task, needle):
            rows.append(_task_row(task, task_word(task), overview.now, index, runs, indent=min(depth, 4)))
        stack += [(child, depth + 1) for child in reversed(below.get(task.ref, []))]
    return rows


def _matches(task: Task, needle: str) -> bool:
    wanted = needle.casefold()
    return not wanted or wanted in str(task.ref).casefold() or wanted in task.title.casefold()


def _task_row(
    task: Task,
    word: str,
    now: float,
    index: Mapping[TaskRef, Task],
    runs: Mapping[TaskRef, Run],
    indent: int = 1,
) -> BoardRow:
    detail, time = _detail(task, word, now, index, runs.get(task.ref))
    waits_for_person = word == "waiting" and any(
        (other := index.get(ref)) is not None and other.state in RESTING for ref in task.prerequisites
    )
    return BoardRow(
        task_key(task.ref),
        "task",
        SHOWN_TASK[word],
        task.title + done_mark(task),
        id=str(task.ref),
        detail=detail,
        time=time,
        indent=indent,
        needs_you=waits_for_person,
    )


def _detail(task: Task, word: str, now: float, index: Mapping[TaskRef, Task], run: Run | None) -> tuple[str, str]:
    """Give the most useful fact for a state, and a time."""
    if word in ("running", "landing") and run is not None:
        return run.agent, elapsed(now - (run.started_at or run.claimed_at))
    if word == "waiting":
        return _after(task, index), ""
    if word == "ready":
        if task.retry_at is not None and task.retry_at > now:
            return f"again at {moment(task.retry_at, now)}", ""
        return "waits: agent", ""
    if word in ("needs you", "on hold"):
        return task.reason.splitlines()[0][:60] if task.reason else "", elapsed(now - task.changed_at)
    if word == "done":
        return (task.done_commit or "")[:7], moment(task.changed_at, now)
    return "", ""


def _after(task: Task, index: Mapping[TaskRef, Task]) -> str:
    open_ones = [
        str(ref)
        for ref in task.prerequisites
        if (other := index.get(ref)) is None or other.state is not TaskState.DONE
    ]
    if task.is_group or not open_ones:
        return "a group" if task.is_group else ""
    more = f" +{len(open_ones) - 2}" if len(open_ones) > 2 else ""
    return f"after {', '.join(open_ones[:2])}{more}"


def agent_rows(overview: Overview, type_: str = "") -> list[AgentRow]:
    """One row an agent. `type_` is the selected task's type, whose weights are shown."""
    return [_agent_row(agent, overview, type_ or "general") for agent in overview.agents]


def _agent_row(agent: Agent, overview: Overview, type_: str) -> AgentRow:
    word, now = agent_word(agent, overview.now), overview.now
    mine = [run for run in overview.runs if run.agent == agent.name and run.state is not RunState.LANDING]
    what, time, quote = agent_doing(agent, overview), "", ""
    if mine:
        first = mine[0]
        titles = {task.ref: task.title for task in overview.tasks if task.ref == first.ref}
        what = f"{first.ref} {titles.get(first.ref, '')}" + (f" +{len(mine) - 1}" if len(mine) > 1 else "")
        time = elapsed(now - (first.started_at or first.claimed_at))
    elif agent.cooling_until is not None and agent.cooling_until > now and not agent.stopped_reason:
        what, quote = f"resets {until(agent.cooling_until, now)}", agent.cooling_line
    weight = agent.weights.get(type_)
    return AgentRow(
        f"agent:{agent.name}",
        _SHOWN_AGENT.get(word, Shown.READY),
        agent.name,
        what,
        time=time,
        weight=weight.value if weight is not None else None,
        quote=quote,
    )


def queue_rows(overview: Overview, typical: float | None = None) -> list[QueueRow]:
    """One row an entry, in order. `typical` is how long earlier verifications took, in seconds."""
    return [_queue_row(place, entry, overview, typical) for place, entry in enumerate(overview.merges, 1)]


def _queue_row(place: int, entry: MergeEntry, overview: Overview, typical: float | None) -> QueueRow:
    agent = next((run.agent for run in overview.runs if run.id == entry.run_id), "")
    since = overview.now - entry.changed_at
    verifying = entry.state is MergeState.VERIFYING
    return QueueRow(
        f"merge:{entry.id}",
        place,
        _SHOWN_MERGE.get(entry.state, Shown.LANDING),
        str(entry.ref),
        agent,
        _entry_doing(entry),
        time=elapsed(since),
        share=min(since / typical, 0.99) if verifying and typical else None,
    )


def _entry_doing(entry: MergeEntry) -> str:
    """What it does or waits for; a result that was just queued has nothing to explain."""
    if entry.state is MergeState.CONFLICT:
        return _first_line(entry.reason)
    says_why = entry.reason and entry.state is not MergeState.VERIFYING and (entry.rounds or entry.conflict_paths)
    waits = entry.state is MergeState.WAITING_CHECKOUT
    return spaced(entry.state) + (f": {entry.reason}" if says_why or waits else "")


def need_rows(
    overview: Overview, latest: Mapping[TaskRef, Run] = MappingProxyType({}), keys: Keymap = TABLE_KEYS
) -> list[NeedRow]:
    """What only a person can move on, oldest first, each with the keys that act on it. `latest` is each task's
    newest run."""
    conflicts = {entry.ref for entry in overview.merges if entry.state is MergeState.CONFLICT}
    rows = [
        _need(task, overview.now, _task_keys(keys, task, latest.get(task.ref), conflict=task.ref in conflicts))
        for task in sorted(overview.tasks, key=lambda task: task.changed_at)
        if task.state is TaskState.NEEDS_PERSON
    ]
    rows += [
        NeedRow(
            f"merge:{entry.id}",
            str(entry.ref),
            _first_line(entry.reason),
            _keys(keys, retry="try again", requeue="requeue"),
            elapsed(overview.now - entry.changed_at),
        )
        for entry in overview.merges
        if entry.state is MergeState.WAITING_CHECKOUT
    ]
    rows += [
        NeedRow(f"agent:{agent.name}", agent.name, _first_line(agent.stopped_reason), _keys(keys, pause_agent="resume"))
        for agent in overview.agents
        if agent.stopped_reason
    ]
    if overview.queue_held:
        rows.insert(0, NeedRow("queue", "merge queue", overview.queue_held, _keys(keys, release_queue="accept main")))
    if overview.dispatch_held:
        rows.insert(0, NeedRow("trust", "recall.toml", overview.dispatch_held, _keys(keys, trust="confirm")))
    return rows


def _need(task: Task, now: float, keys: tuple[KeyHint, ...]) -> NeedRow:
    return NeedRow(task_key(task.ref), str(task.ref), _first_line(task.reason), keys, elapsed(now - task.changed_at))


def _task_keys(keys: Keymap, task: Task, run: Run | None, *, conflict: bool) -> tuple[KeyHint, ...]:
    if conflict:
        return _keys(keys, conflict="resolve", send_back="send back", start_over="start over")
    if not why_no_answer(task, run):
        return _keys(keys, answer="answer")
    return _keys(keys, requeue="requeue", cancel="cancel")


def _keys(keys: Keymap, **does: str) -> tuple[KeyHint, ...]:
    """Name commands (with `_` for `-`) by what they do here."""
    return tuple(KeyHint(keys.name(id_.replace("_", "-")), words) for id_, words in does.items())


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else "needs you"


def log_titles(run: Run | None, *, following: bool) -> tuple[str, str]:
    """Title and subtitle of the log of a run."""
    if run is None:
        return "4 Log", ""
    words = f"4 Log  run {run.id} · {run.ref} · {run.agent} · attempt {run.number}"
    return words, "following" if following else "f follows"


def header(overview: Overview, *, mode: str, clock: str, keys: Keymap = TABLE_KEYS) -> HeaderFacts:
    """The status strip. `mode` is what this process is: `dispatching`, `draining`, `viewing`, `starting`."""
    counts = overview.counts
    word = mode
    if mode == "dispatching" and not overview.snapshot.dispatching:
        word = "paused"
    elif mode in ("viewing", "stopped") and not overview.dispatcher:
        word = f"nobody dispatches, {keys.name('engine')} takes over"
    return HeaderFacts(
        project=overview.name,
        branch=overview.main,
        tip=overview.tip[:7],
        dispatcher=word,
        dispatcher_state=Shown.ACTIVE if word == "dispatching" else Shown.HELD,
        counts=tuple((counts[name], name) for name in ("running", "ready", "waiting", "done") if counts[name]),
        needs_you=len(need_rows(overview)),
        clock=clock,
    )
