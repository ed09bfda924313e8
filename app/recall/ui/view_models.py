"""From an overview to the rows that the widgets show: pure, tested without an app."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from recall.domain.agent import Agent
from recall.domain.intervention import why_no_answer
from recall.domain.merge import BUSY_MERGE_STATES, MergeEntry, MergeState
from recall.domain.overview import Overview, agent_doing, agent_word, red_main_words, spaced, why
from recall.domain.receipts import needs_person, waiting_words
from recall.domain.run import Run, RunState
from recall.domain.stream.spending import dollars
from recall.domain.task import Task, TaskRef, TaskState
from recall.domain.words import age, elapsed, moment, zone
from recall.ui.commands import BY_ID
from recall.ui.context import Context
from recall.ui.keymap import TABLE_KEYS, Keymap
from recall.ui.roll import Roll, task_key
from recall_widgets.glyphs import Shown
from recall_widgets.rows import AgentRow, HeaderFacts, KeyHint, NeedRow, QueueRow, Why

_SHOWN_AGENT = {
    "running": Shown.ACTIVE,
    "idle": Shown.READY,
    "paused": Shown.HELD,
    "cooling": Shown.COOLING,
    "stopped": Shown.NEEDS_YOU,
}
_SHOWN_MERGE = {
    MergeState.CONFLICT: Shown.NEEDS_YOU,
    MergeState.WAITING_CHECKOUT: Shown.NEEDS_YOU,
    MergeState.PULL_REQUEST: Shown.NEEDS_YOU,
}
#: The bottom line while a filter is typed.
FILTER_LINE = Why("", "type a part of an id or a title", (KeyHint("enter", "keep"), KeyHint("esc", "take back")))
#: Entries that nothing behind them waits for.
_ASIDE = frozenset({MergeState.CONFLICT, MergeState.WAITING_CHECKOUT, MergeState.PULL_REQUEST})
#: The keys that the bottom line offers, in this order, where they make sense.
_OFFERED = ("trust", "answer", "conflict", "open", "requeue", "cancel", "pause-agent", "lift", "retry", "help")


def agent_rows(
    overview: Overview,
    type_: str = "",
    roll: Roll | None = None,
    weights: Mapping[tuple[str, str], tuple[float, ...]] = MappingProxyType({}),
    costs: Mapping[int, float | None] = MappingProxyType({}),
) -> list[AgentRow]:
    """One row an agent. `type_` is the selected task's type, whose weights are shown; `weights` holds those of the
    past by agent and type, oldest first; `costs` are prices of runs that the store does not know yet."""
    roll = roll or Roll.of(overview.tasks)
    near = replace(overview, tasks=_at_work(overview, roll))
    rows = [_agent_row(agent, near, roll, type_ or "general", weights) for agent in overview.agents]
    return [replace(row, cost=_cost(row.name, near, costs)) for row in rows]


def _cost(agent: str, near: Overview, costs: Mapping[int, float | None]) -> str:
    """What the open runs of an agent cost by now, as far as they told."""
    prices = [run.cost_usd or costs.get(run.id) for run in near.runs if run.agent == agent]
    known = [price for price in prices if price is not None]
    return dollars(sum(known)) if known else ""


def _at_work(overview: Overview, roll: Roll) -> tuple[Task, ...]:
    """The tasks of open runs: few, where all of them may be thousands."""
    return tuple(task for run in overview.runs if (task := roll.find(run.ref)) is not None)


def _agent_row(
    agent: Agent, near: Overview, roll: Roll, type_: str, weights: Mapping[tuple[str, str], tuple[float, ...]]
) -> AgentRow:
    word, now = agent_word(agent, near.now), near.now
    mine = [run for run in near.runs if run.agent == agent.name and run.state is not RunState.LANDING]
    weight = agent.weights.get(type_)
    row = AgentRow(
        f"agent:{agent.name}",
        _SHOWN_AGENT.get(word, Shown.READY),
        agent.name,
        "",
        weight=weight.value if weight is not None else None,
        weights=weights.get((agent.name, type_), ()),
        record=f"{weight.landed} landed, {weight.failed} failed" if weight is not None else "",
    )
    if mine:
        first, more = mine[0], f" +{len(mine) - 1}" if len(mine) > 1 else ""
        task = roll.find(first.ref)
        title = f" {task.title}" if task is not None else ""
        attempt = f"attempt {first.number}" if first.number > 1 else ""
        time = elapsed(now - (first.started_at or first.claimed_at))
        return replace(row, what=f"{first.ref}{title}{more}", time=time, note=attempt)
    if agent.cooling_until is not None and agent.cooling_until > now and not agent.stopped_reason:
        resets = f"resets {moment(agent.cooling_until, now)} {zone(agent.cooling_until)}"
        return replace(row, what=resets, time=f"in {elapsed(agent.cooling_until - now)}", quote=agent.cooling_line)
    if word == "paused" and agent.paused:
        return replace(row, what=agent.paused_reason or "paused")
    return replace(row, what=agent_doing(agent, near))


def queue_rows(
    overview: Overview, roll: Roll | None = None, verify: str | None = None, typical: float | None = None
) -> list[QueueRow]:
    """One row an entry, in order. `verify` is the command where a task has none of its own, `typical` how long
    earlier verifications took, in seconds."""
    roll = roll or Roll.of(overview.tasks)
    return [
        _queue_row(place, entry, overview, _verify_command(entry, roll, verify), typical)
        for place, entry in enumerate(overview.merges, 1)
    ]


def _verify_command(entry: MergeEntry, roll: Roll, verify: str | None) -> str:
    task = roll.find(entry.ref)
    return (task.verify if task is not None else None) or verify or ""


def _queue_row(place: int, entry: MergeEntry, overview: Overview, command: str, typical: float | None) -> QueueRow:
    run = next((run for run in overview.runs if run.id == entry.run_id), None)
    since = overview.now - entry.changed_at
    verifying = entry.state is MergeState.VERIFYING
    return QueueRow(
        f"merge:{entry.id}",
        place,
        _SHOWN_MERGE.get(entry.state, Shown.LANDING),
        str(entry.ref),
        run.agent if run is not None else "",
        _entry_doing(place, entry, overview.merges, command),
        time=elapsed(since) if entry.state in BUSY_MERGE_STATES else age(since),
        share=min(since / typical, 0.99) if verifying and typical else None,
        branch=(run.branch or "") if run is not None else "",
    )


def _entry_doing(place: int, entry: MergeEntry, merges: Sequence[MergeEntry], command: str) -> str:
    """What it does or waits for."""
    below = next((at for at, one in enumerate(merges, 1) if one.candidate and one.candidate == entry.onto), None)
    match entry.state:
        case MergeState.VERIFYING:
            return f"verifying on top of {below}  {command}" if below else f"verifying  {command}"
        case MergeState.CONFLICT | MergeState.PULL_REQUEST:
            return _first_line(entry.reason)
        case MergeState.WAITING_CHECKOUT:
            return f"waits for your checkout: {entry.reason}"
        case MergeState.QUEUED if entry.reason and (entry.rounds or entry.conflict_paths):
            return f"waits: {entry.reason}"
        case MergeState.QUEUED:
            ahead = next((at for at in range(place - 1, 0, -1) if merges[at - 1].state not in _ASIDE), 0)
            return f"waits for {ahead}" if ahead else "comes next"
        case _:
            return spaced(entry.state)


def need_rows(
    overview: Overview,
    latest: Mapping[TaskRef, Run] = MappingProxyType({}),
    keys: Keymap = TABLE_KEYS,
    trouble: str = "",
) -> list[NeedRow]:
    """What only a person can move on, oldest first, each with the keys that act on it. `latest` is each task's
    newest run, `trouble` why no engine runs in this process."""
    conflicts = {entry.ref for entry in overview.merges if entry.state is MergeState.CONFLICT}
    rows = [
        _need(task, overview.now, _task_keys(keys, task, latest.get(task.ref), conflict=task.ref in conflicts))
        for task in sorted(_in_need(overview.tasks), key=lambda task: task.changed_at)
    ]
    rows += [
        NeedRow(
            f"merge:{entry.id}",
            str(entry.ref),
            _first_line(entry.reason),
            _keys(keys, retry="try again", requeue="requeue"),
            age(overview.now - entry.changed_at),
        )
        for entry in overview.merges
        if entry.state is MergeState.WAITING_CHECKOUT or entry.is_offered
    ]
    rows += [
        NeedRow(
            f"agent:{agent.name}", agent.name, _first_line(agent.stopped_reason), _keys(keys, pause_agent="resume")
        )
        for agent in overview.agents
        if agent.stopped_reason
    ]
    rows += [
        NeedRow(
            f"agent:{agent.name}", agent.name, _first_line(agent.cooling_reason), _keys(keys, pause_agent="resume")
        )
        for agent in overview.agents
        if agent.suspicions and not agent.stopped_reason
    ]
    rows += [
        NeedRow(
            f"effect:{one.key}", "outside", _first_line(waiting_words(one)), age=age(overview.now - one.changed_at)
        )
        for one in overview.receipts
        if needs_person(one)
    ]
    if red := red_main_words(overview.merges):
        rows.insert(0, NeedRow("red", overview.main, red))
    if overview.queue_held:
        rows.insert(0, NeedRow("queue", "merge queue", overview.queue_held, _keys(keys, release_queue="accept main")))
    if overview.list_problems:
        rows.insert(0, _list_need(overview.list_problems, keys))
    if overview.shortage:
        rows.insert(0, NeedRow("disk", "disk", overview.shortage))
    elif overview.dispatch_held:
        rows.insert(0, NeedRow("trust", "recall.toml", overview.dispatch_held, _keys(keys, trust="confirm")))
    if trouble and not overview.dispatcher:
        again = _keys(keys, engine="try again")
        rows.insert(0, NeedRow("engine", "dispatcher", _first_line(trouble), again, whole=trouble))
    return rows


def _list_need(problems: Sequence[str], keys: Keymap) -> NeedRow:
    first, *more = problems
    words = f"{first} (and {len(more)} more)" if more else first
    return NeedRow("list", "task list", words, _keys(keys, edit="edit"), whole="\n".join(problems))


def _in_need(tasks: Iterable[Task]) -> Iterator[Task]:
    return (task for task in tasks if task.state is TaskState.NEEDS_PERSON)


def _need(task: Task, now: float, keys: tuple[KeyHint, ...]) -> NeedRow:
    return NeedRow(task_key(task.ref), str(task.ref), _first_line(task.reason), keys, age(now - task.changed_at))


def _task_keys(keys: Keymap, task: Task, run: Run | None, *, conflict: bool) -> tuple[KeyHint, ...]:
    if conflict:
        return _keys(keys, conflict="resolve", send_back="send back", start_over="start over")
    if not why_no_answer(task, run):
        return _keys(keys, answer="answer")
    return _keys(keys, requeue="requeue", cancel="cancel")


def _keys(keys: Keymap, **does: str) -> tuple[KeyHint, ...]:
    """Name commands (with `_` for `-`) by what they do here."""
    named = {id_.replace("_", "-"): words for id_, words in does.items()}
    return tuple(KeyHint(keys.name(id_), words, id_) for id_, words in named.items())


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else "needs you"


def log_titles(
    run: Run | None,
    *,
    following: bool,
    ref: TaskRef | None = None,
    raw: bool | None = None,
    keys: Keymap = TABLE_KEYS,
) -> tuple[str, str]:
    """Title and subtitle of the log of a run, or of a task that has none yet. `raw` None: there is one way to show
    it."""
    if run is None:
        return f"4 Log  {ref} has no run yet" if ref is not None else "4 Log", ""
    words = f"4 Log  run {run.id} · {run.ref} · {run.agent} · attempt {run.number}{' · raw' if raw else ''}"
    where = "following" if following else "f follows"
    if raw is None:
        return words, where
    return words, f"{keys.name('raw')} {'reads events' if raw else 'shows raw'} · {where}"


def header(
    overview: Overview,
    *,
    mode: str,
    clock: str,
    counts: Mapping[str, int] | None = None,
    needs: int | None = None,
    green: bool | None = None,
    keys: Keymap = TABLE_KEYS,
) -> HeaderFacts:
    """The status strip. `mode` is what this process is: `dispatching`, `draining`, `viewing`, `starting`; `green`
    whether main's tip is, None while nobody knows. `counts` and `needs` spare counting again."""
    counts = overview.counts if counts is None else counts
    word = mode
    if mode == "dispatching":
        word = overview.halt or mode
    elif mode == "viewing" and overview.dispatcher and overview.halt:
        word = f"viewing, {overview.halt}"
    elif mode in ("viewing", "stopped") and not overview.dispatcher:
        word = f"nobody dispatches, {keys.name('engine')} takes over"
    return HeaderFacts(
        project=overview.name,
        branch=overview.main,
        tip=overview.tip[:7],
        green=green,
        dispatcher=word,
        dispatcher_state=Shown.ACTIVE if word == "dispatching" else Shown.HELD,
        counts=tuple((counts[name], name) for name in ("running", "ready", "waiting", "done") if counts[name]),
        needs_you=len(need_rows(overview)) if needs is None else needs,
        clock=clock,
    )


def bottom_line(
    context: Context, roll: Roll, keys: Keymap = TABLE_KEYS, *, on_agent: bool = False, need: NeedRow | None = None
) -> Why:
    """Why the selected task, or agent, does not move, and the keys that make sense now. `need` is what is selected
    of the things that wait for a person."""
    overview, task = context.overview, context.task
    hints = (*_way_on(overview, keys), *_offered(context, keys))
    if on_agent and context.agent is not None:
        near = replace(overview, tasks=_at_work(overview, roll))
        return Why(context.agent.name, agent_doing(context.agent, near), hints)
    if task is not None:
        before = tuple(one for ref in task.prerequisites if (one := roll.find(ref)) is not None)
        return Why(str(task.ref), why(task, replace(overview, tasks=before)), hints)
    if need is not None and need.id:
        return Why(need.id, need.why, need.keys)
    if not overview.tasks:
        return Why("", f"no tasks yet: {keys.name('edit')} edits the task list", hints)
    return Why("", "nothing is selected", hints)


def _way_on(overview: Overview, keys: Keymap) -> tuple[KeyHint, ...]:
    """The key that lets anything start again, before all others."""
    return _keys(keys, pause="resume") if overview.halt == "paused" else ()


def _offered(context: Context, keys: Keymap) -> Iterator[KeyHint]:
    for id_ in _OFFERED:
        if not BY_ID[id_].unavailable(context):
            yield KeyHint(keys.name(id_), BY_ID[id_].title, id_)
