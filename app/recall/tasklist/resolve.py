"""From tasks as written to tasks as meant: statuses settled, values read, prerequisites found."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from recall.domain.task import TaskRef, TaskSpec, TaskState
from recall.domain.text import clean, clean_line
from recall.tasklist import values
from recall.tasklist.draft import Draft
from recall.tasklist.labels import AFTER, LINKS, Field
from recall.tasklist.problem import Problem, error, warning
from recall.tasklist.references import Index, References, read_references
from recall.tasklist.source import Source
from recall.tasklist.status import STATES, Kind, Meaning, Sign, read_words, settle

_LONGEST_TYPE = 64
_OWNER_LABELS = frozenset({"assignee", "owner"})


@dataclass(slots=True)
class Resolved:
    """A draft with its meaning. `own_after` are the prerequisites that its own fields name, `after` those and
    its group's."""

    draft: Draft
    state: TaskState
    signs: list[Sign]
    own_after: list[TaskRef] = field(default_factory=list[TaskRef])
    after: tuple[TaskRef, ...] = ()
    details: list[str] = field(default_factory=list[str])
    type: str = "general"
    priority: int = 0
    agents: tuple[str, ...] = ()
    verify: str | None = None
    touches: tuple[str, ...] = ()
    timeout_s: float | None = None
    attempts: int | None = None

    def spec(self, source: Source) -> TaskSpec:
        draft = self.draft
        body = "\n".join(filter(None, (*self.details, draft.body(source))))
        return TaskSpec(
            id=draft.id,
            title=draft.title,
            body=clean(body),
            after=self.after,
            type=self.type,
            priority=self.priority,
            agents=self.agents,
            verify=self.verify,
            touches=self.touches,
            timeout_s=self.timeout_s,
            attempts=self.attempts,
            status=self.state,
            parent=draft.parent.id if draft.parent else None,
            is_group=draft.is_group,
            line=draft.line + 1,
        )


def resolve(drafts: list[Draft], region: str, agents: Collection[str]) -> tuple[list[Resolved], list[Problem]]:
    resolver = _Resolver(drafts, region, agents)
    return resolver.run(), resolver.problems


class _Resolver:
    def __init__(self, drafts: list[Draft], region: str, agents: Collection[str]) -> None:
        self.index = Index(region, (draft.id for draft in drafts))
        self.region = region
        self.agents = agents
        self.problems: list[Problem] = []
        self.tasks = [self._settled(draft) for draft in drafts]
        self.by_id = {task.draft.id: task for task in reversed(self.tasks)}

    def run(self) -> list[Resolved]:
        for task in self.tasks:
            for each in task.draft.fields:
                self._link(task, each) if each.name in LINKS else self._value(task, each)
        by_draft = {id(task.draft): task for task in self.tasks}
        for task in self.tasks:
            parent = by_draft[id(task.draft.parent)] if task.draft.parent else None
            self._inherit(task, parent)
        return self.tasks

    # Status

    def _settled(self, draft: Draft) -> Resolved:
        signs = [*draft.signs, *(status_sign(each) for each in draft.fields if each.name == "status")]
        state = settle(signs, optional=draft.optional)
        meanings = {sign.meaning for sign in signs}
        if draft.is_group and Meaning.IN_PROGRESS in meanings and meanings <= {Meaning.IN_PROGRESS, Meaning.TODO}:
            state = TaskState.TODO
        elif state is TaskState.ON_HOLD:
            self._explain_hold(draft, signs, meanings)
        return Resolved(draft, state, signs)

    def _explain_hold(self, draft: Draft, signs: list[Sign], meanings: set[Meaning]) -> None:
        unknown = next((sign for sign in signs if sign.meaning is Meaning.UNKNOWN), None)
        states = {STATES[meaning] for meaning in meanings} - {TaskState.TODO}
        if unknown:
            kind = "unknown_status" if unknown.kind is Kind.WORD else "unknown_mark"
            found = clean_line(unknown.text)[:40]
            self._warn(
                kind,
                unknown,
                draft,
                f"{draft.id} has the status `{found}`, which means nothing here, and imports on hold; "
                "expected `[ ]`, `[x]`, `[-]`, `[~]` or a word such as todo or done",
            )
        elif len(states) > 1 or states == {TaskState.DONE}:
            said = " and ".join(f"`{clean_line(sign.text)[:40]}`" for sign in signs)
            self._warn(
                "status_conflict",
                signs[-1],
                draft,
                f"{draft.id} says {said} and imports on hold; make them agree or release it by hand",
            )
        elif meanings & {Meaning.IN_PROGRESS, Meaning.BLOCKED}:
            sign = next(sign for sign in signs if sign.meaning in {Meaning.IN_PROGRESS, Meaning.BLOCKED})
            self._warn(
                "imported_on_hold",
                sign,
                draft,
                f"{draft.id} is marked {sign.meaning.value} and imports on hold, since it is unknown who has it; "
                "release it when it is free",
            )

    def _warn(self, type: str, sign: Sign, draft: Draft, message: str) -> None:
        self.problems.append(warning(type, sign.line, message, id=draft.id, column=sign.column))

    # Prerequisites

    def _link(self, task: Resolved, each: Field) -> None:
        named = read_references(each.value, self.index)
        if not each.sure and len(named.refs) == len(named.unknown):
            return
        self._complain(task.draft, each, named)
        own = TaskRef(self.region, task.draft.id)
        if own in named.refs:
            self._error(
                "self_reference", task.draft, each, f"{task.draft.id} names itself under `{each.label}`; take it out"
            )
        others = [ref for ref in named.refs if ref != own]
        if each.name == AFTER:
            task.own_after += others
        else:
            self._block(own, others, task.draft, each)

    def _block(self, own: TaskRef, blocked: Iterable[TaskRef], draft: Draft, each: Field) -> None:
        for ref in blocked:
            if ref.region != self.region:
                message = (
                    f"{draft.id} blocks {ref} of another list; write `after: {own.region}:{own.id}` there instead"
                )
                self._error("bad_value", draft, each, message)
            elif ref.id in self.by_id:
                self.by_id[ref.id].own_after.append(own)

    def _complain(self, draft: Draft, each: Field, named: References) -> None:
        for id in named.unknown:
            self._error(
                "unknown_prereq",
                draft,
                each,
                f"{draft.id} names {id} under `{each.label}`, but this list has no such task; expected one of its ids"
                f"{self._nearest(id)}; correct it, add the task, or write `none`",
            )
        for part in named.unread if each.sure else ():
            found = f"`{clean_line(part)[:60]}`" if part.strip() else "nothing"
            self._error(
                "unresolvable_prereq",
                draft,
                each,
                f"found {found} under `{each.label}` of {draft.id}; expected task ids or `none`; "
                "name the tasks, or word the line so that it is no field",
            )
        for sentence in named.bad:
            self._error("bad_value", draft, each, f"{draft.id}, `{each.label}`: {sentence}")

    def _nearest(self, id: str) -> str:
        twin = next((known for known in self.index.ids if known.casefold() == id.casefold()), None)
        return f" (it has {twin})" if twin else ""

    def _error(self, type: str, draft: Draft, each: Field, message: str) -> None:
        self.problems.append(error(type, each.line, message, id=draft.id, column=each.column))

    # Other values

    def _value(self, task: Resolved, each: Field) -> None:
        if each.name in {"status", "id"} or (values.says_nothing(each.value) and each.name != "verify"):
            return
        match each.name:
            case "type":
                task.type = clean_line(values.read_type(each.value))[:_LONGEST_TYPE] or task.type
            case "verify":
                task.verify = clean_line(values.read_command(each.value)) or None
            case "touches":
                task.touches = tuple(dict.fromkeys((*task.touches, *map(clean_line, values.read_globs(each.value)))))
            case "agent":
                self._agent(task, each)
            case _:
                self._number(task, each)

    def _agent(self, task: Resolved, each: Field) -> None:
        named, others = values.read_agents(each.value, self.agents)
        task.agents = tuple(dict.fromkeys((*task.agents, *named)))
        if each.label.casefold() in _OWNER_LABELS:
            if others:
                task.details.append(f"{each.label}: {each.value}")
        elif not self.agents:
            task.agents = tuple(dict.fromkeys((*task.agents, *map(clean_line, others))))
        elif others:
            known = ", ".join(sorted(self.agents))
            self._error(
                "bad_value",
                task.draft,
                each,
                f"{task.draft.id} wants the agent `{others[0]}`; expected one of {known}",
            )

    def _number(self, task: Resolved, each: Field) -> None:
        expected = ""
        match each.name:
            case "priority":
                priority = values.read_priority(each.value)
                task.priority = priority or 0
                expected = "" if priority is not None else "an integer, P0 to P4, critical, high, medium or low"
            case "timeout":
                task.timeout_s = values.read_duration(each.value)
                expected = "" if task.timeout_s else "a duration such as 90s, 30m or 2h"
            case _:
                task.attempts = values.read_count(each.value)
                expected = "" if task.attempts else "a whole number from 1"
        if expected:
            found = clean_line(each.value)[:40]
            self._error(
                "bad_value", task.draft, each, f"{task.draft.id} has `{each.label}: {found}`; expected {expected}"
            )

    # What a group hands down

    def _inherit(self, task: Resolved, parent: Resolved | None) -> None:
        """Nobody runs a group, so what holds it back must hold its sub-tasks back. Groups come first."""
        inherited = parent.after if parent else ()
        own = TaskRef(self.region, task.draft.id)
        task.after = tuple(dict.fromkeys((*task.own_after, *(ref for ref in inherited if ref != own))))
        if (
            parent is None
            or task.state is not TaskState.TODO
            or parent.state not in {TaskState.ON_HOLD, TaskState.CANCELLED}
        ):
            return
        task.state = TaskState.ON_HOLD
        message = f"{task.draft.id} imports on hold because its group {parent.draft.id} is {_words(parent.state)}"
        self.problems.append(warning("group_on_hold", task.draft.line, message, id=task.draft.id))


def status_sign(each: Field) -> Sign:
    """Read a status field or cell as a sign, placed on the words that say it."""
    found = read_words(each.value)
    text = each.value[found.start : found.end]
    return Sign(found.kind, found.meaning, text, each.line, each.column + found.start)


def _words(state: TaskState) -> str:
    return state.value.replace("_", " ")
