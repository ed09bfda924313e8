"""Who gets what next, and why each task and agent is where it is. Every answer names the one rule behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from recall.domain.agent import Agent, Weight
from recall.domain.globs import overlapping
from recall.domain.rng import Rng
from recall.domain.snapshot import Assign, Snapshot
from recall.domain.task import Task, TaskRef, TaskState
from recall.domain.words import moment, task_word

#: How much the record of landings counts against the weight, which remembers the last few runs best.
_RECORD_SHARE = 0.75


def decide(snapshot: Snapshot, *, explore: float, rng: Rng) -> list[Assign]:
    """Give each free agent the task that it should take now, the most urgent task first.

    `explore` is the share of choices that go to another agent than the best. No claimable task is left over
    while an agent that may take it is free.
    """
    return _Round(snapshot, explore, rng).assign() if snapshot.dispatching else []


def has_room(agent: Agent, now: float) -> bool:
    """Tell whether Recall could start something on this agent now, if there is a task for it."""
    return not agent.driven and _room(agent, now) > 0


def why_task(task: Task, snapshot: Snapshot, prerequisites: Sequence[Task] = ()) -> str:
    """Say in one sentence why this task is not moving, or what moves it.

    `prerequisites` are its prerequisites as the store has them, so that the unmet ones can be named.
    """
    if task.state is not TaskState.TODO:
        return _state_words(task)
    if task.is_group:
        return "a group: done when its sub-tasks are"
    if task.unmet:
        return _unmet_words(task, prerequisites)
    if not snapshot.dispatching:
        return _paused_words(snapshot)
    return _why_ready(task, snapshot)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What comes of a snapshot without chance: its ready tasks, most urgent first, who would take which, and which
    are taken then."""

    order: tuple[Task, ...]
    planned: Mapping[TaskRef, Assign]
    given: tuple[Task, ...]


def foresee(snapshot: Snapshot) -> Outlook:
    """Work out what comes next. It is worked out once for a snapshot, however many questions are asked about it."""
    return _foreseen(_Same(snapshot))


def why_agent(agent: Agent, snapshot: Snapshot) -> str:
    """Say in one sentence why this agent starts nothing, or what it starts next."""
    held = _held(agent, snapshot.now)
    if held:
        return held
    if not snapshot.dispatching:
        return _paused_words(snapshot)
    outlook = foresee(snapshot)
    for assign in outlook.planned.values():
        if assign.agent == agent.name:
            return f"free; starts {assign.ref} next"
    claimable = (task for task in outlook.order if _may(agent, task, snapshot.now))
    given_away = False
    for task in claimable:
        if task.ref not in outlook.planned:
            return f"free; {task.ref} {_why_ready(task, snapshot)}"
        given_away = True
    if given_away:
        return "free; every ready task that it may take goes to another agent"
    return "free; no ready task is for it" if snapshot.ready else "free; no task is ready"


def score(weight: Weight) -> float:
    """Rate an agent for one task type in (0, 1), doubting short records: 17 of 20 beats 1 of 1.

    Both halves start at 0.5: the share of runs that landed, with one landing and one failure imagined, and
    the weight, pulled to the middle while there are few runs.
    """
    runs = weight.landed + weight.failed
    record = (weight.landed + 1) / (runs + 2)
    trust = 0.5 + (weight.value - 0.5) * (runs + 1) / (runs + 3)
    return _RECORD_SHARE * record + (1 - _RECORD_SHARE) * trust


@dataclass(slots=True)
class _Round:
    """One round of decisions. What it has given out already counts as running."""

    snapshot: Snapshot
    explore: float = 0.0
    rng: Rng | None = None
    free: dict[str, int] = field(default_factory=dict[str, int])
    taken: list[Task] = field(default_factory=list[Task])
    startable: list[Agent] = field(default_factory=list[Agent])

    def assign(self) -> list[Assign]:
        self.startable = _startable(self.snapshot)
        self.free = {agent.name: _room(agent, self.snapshot.now) for agent in self.startable}
        self.taken = [task for task in self.snapshot.running if task.touches]
        return list(self._assignments())

    def _assignments(self) -> Iterable[Assign]:
        for task in sorted(self.snapshot.ready, key=lambda task: _urgency(task, self.snapshot)):
            if not any(self.free.values()):
                return
            candidates = self._candidates(task)
            held = task.ref in self.snapshot.over_budget or _retry_words(task, self.snapshot.now)
            if not candidates or held or _in_the_way(task, self.taken):
                continue
            agent, reason = self._choose(task, candidates)
            self.free[agent.name] -= 1
            if task.touches:
                self.taken.append(task)
            yield Assign(task.ref, agent.name, f"{agent.name}: {reason}")

    def _candidates(self, task: Task) -> list[Agent]:
        now = self.snapshot.now
        return [agent for agent in self.startable if self.free[agent.name] > 0 and _may(agent, task, now)]

    def _choose(self, task: Task, candidates: list[Agent]) -> tuple[Agent, str]:
        owner = next((agent for agent in candidates if agent.name == task.kept_for), None)
        if owner is not None:
            return owner, f"goes on where its run {task.kept_run} stopped"
        did = _doers(task, self.snapshot)
        fresh = [agent for agent in candidates if agent.name not in did]
        if not fresh:
            agent, reason = self._weigh(task.type, candidates)
            return agent, f"{reason}; did {did[agent.name]} itself, and nobody else is free for it"
        agent, reason = self._weigh(task.type, fresh)
        handed = [f"{other.name} did {did[other.name]}" for other in candidates if other.name in did]
        return agent, f"{reason}; {', '.join(handed)}, so handed over" if handed else reason

    def _weigh(self, type_: str, pool: list[Agent]) -> tuple[Agent, str]:
        ranked = sorted(pool, key=lambda agent: (-score(agent.weight(type_)), self._load(agent)))
        best = ranked[0]
        if len(ranked) == 1:
            return best, "the only free agent for it"
        if self.rng is not None and self.rng.random() < self.explore:
            other = ranked[1 + int(self.rng.random() * (len(ranked) - 1))]
            return other, f"tried out, a share of {self.explore:.2f} goes to others than {best.name}"
        return best, _why_best(best, ranked[1:], type_)

    def _load(self, agent: Agent) -> float:
        return 1 - self.free[agent.name] / max(agent.parallel, 1)


def _startable(snapshot: Snapshot) -> list[Agent]:
    """The agents that Recall starts. Those that a person drives claim by themselves."""
    return [agent for agent in snapshot.agents if not agent.driven]


class _Same:
    """A snapshot as the key of what follows from it: equal to itself only, and not compared task by task."""

    __slots__ = ("snapshot",)

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.snapshot is self.snapshot

    def __hash__(self) -> int:
        return id(self.snapshot)


@lru_cache(maxsize=2)
def _foreseen(same: _Same) -> Outlook:
    snapshot = same.snapshot
    order = sorted(snapshot.ready, key=lambda task: _urgency(task, snapshot))
    planned = {assign.ref: assign for assign in _Round(snapshot).assign()}
    return Outlook(tuple(order), planned, tuple(task for task in order if task.ref in planned))


def _urgency(task: Task, snapshot: Snapshot) -> tuple[int, bool, int, int, TaskRef]:
    """What was begun goes on before something of the same priority is begun."""
    return -task.priority, task.kept_run is None, -snapshot.behind.get(task.ref, 0), task.position, task.ref


def _may(agent: Agent, task: Task, now: float) -> bool:
    return not _barred(agent, task, now)


def _barred(agent: Agent, task: Task, now: float) -> str:
    if task.takers and agent.name not in task.takers:
        return f"is not among the task's agents ({', '.join(task.takers)})"
    if agent.types and task.type not in agent.types:
        return f"takes {', '.join(agent.types)} only"
    if task.is_kept_from(agent.name, now):
        then = moment(task.kept_until or now, now)
        return f"may take it from {then} on, {task.kept_for}'s work on it is kept until then"
    return ""


def _room(agent: Agent, now: float) -> int:
    return 0 if _held(agent, now) else agent.parallel - agent.running


def _held(agent: Agent, now: float) -> str:
    if not agent.enabled:
        return "disabled by you" if agent.chosen_enabled is not None else "disabled in recall.toml"
    if agent.stopped_reason:
        return f"stopped until a person acts: {agent.stopped_reason}"
    if agent.paused:
        return _paused_for(agent.paused_reason)
    if agent.cooling_until is not None and agent.cooling_until > now:
        why = agent.cooling_reason or agent.cooling_line
        return f"cooling until {moment(agent.cooling_until, now)}" + (f": {why}" if why else "")
    if agent.over_budget:
        return agent.over_budget
    if agent.running >= agent.parallel:
        return f"busy: runs {agent.running} of {agent.parallel}"
    return ""


def _doers(task: Task, snapshot: Snapshot) -> dict[str, TaskRef]:
    """Who did a prerequisite of the task, and the last of them that each did."""
    done = ((ref, snapshot.done_by_agent.get(ref)) for ref in task.prerequisites)
    return {agent: ref for ref, agent in done if agent}


def _why_best(best: Agent, others: Sequence[Agent], type_: str) -> str:
    weight = best.weight(type_)
    top = max(agent.weight(type_).value for agent in others)
    if score(weight) == max(score(agent.weight(type_)) for agent in others):
        return f"as good as any for {type_} (weight {weight.value:.2f}), and first of the least busy"
    if weight.value >= top:
        return f"highest weight {weight.value:.2f} for {type_}"
    runs = weight.landed + weight.failed
    return f"surest record for {type_}, {weight.landed} of {runs} landed (weight {weight.value:.2f})"


def _in_the_way(task: Task, others: Iterable[Task]) -> str:
    for other in others:
        pair = overlapping(task.touches, other.touches)
        if pair is not None and other.ref != task.ref:
            return f"waits for {other.ref}, which touches {pair[1]} (this one {pair[0]})"
    return ""


def _retry_words(task: Task, now: float) -> str:
    if task.retry_at is None or task.retry_at <= now:
        return ""
    return f"held back until {moment(task.retry_at, now)}" + (f": {task.reason}" if task.reason else "")


def _why_ready(task: Task, snapshot: Snapshot) -> str:
    held = snapshot.over_budget.get(task.ref) or _retry_words(task, snapshot.now)
    waits = held or _in_the_way(task, snapshot.running)
    if waits:
        return waits
    outlook = foresee(snapshot)
    planned = outlook.planned
    if task.ref in planned:
        return f"ready; next for {planned[task.ref].reason}"
    held = [_why_not(agent, task, snapshot.now) for agent in _startable(snapshot)]
    if all(held):
        return "ready, but no agent can take it: " + ("; ".join(held) if held else "none is configured")
    return _in_the_way(task, outlook.given) or f"ready; the free agents take {_some(planned)} first"


def _why_not(agent: Agent, task: Task, now: float) -> str:
    held = _held(agent, now)
    barred = _barred(agent, task, now)
    if barred:
        return f"{agent.name} {barred}"
    return f"{agent.name} is {held}" if held else ""


def _unmet_words(task: Task, prerequisites: Sequence[Task]) -> str:
    unmet = [other for other in prerequisites if other.state is not TaskState.DONE]
    if not unmet:
        return f"waits for {task.unmet} of its prerequisites: {', '.join(map(str, task.prerequisites))}"
    return "waits for " + ", ".join(f"{other.ref} ({_brief(other)})" for other in unmet)


def _some(refs: Iterable[TaskRef]) -> str:
    first, *more = map(str, refs)
    return f"{first} and {len(more)} more" if more else first


def _brief(task: Task) -> str:
    words = task.state.value.replace("_", " ")
    return f"{words}, so this can never run" if task.state is TaskState.CANCELLED else words


def _state_words(task: Task) -> str:
    words = task_word(task)
    if task.state is TaskState.DONE and task.done_by is not None:
        words = f"done ({task.done_by}{', ' + task.done_commit[:12] if task.done_commit else ''})"
    return f"{words}: {task.reason}" if task.reason else words


def _paused_words(snapshot: Snapshot) -> str:
    return f"nothing is started, dispatch is {_paused_for(snapshot.paused_reason)}"


def _paused_for(reason: str) -> str:
    if reason.startswith("paused"):
        return reason
    return f"paused: {reason}" if reason else "paused"
