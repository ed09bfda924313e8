"""The tasks as rows of a board: by state below each other or side by side, or as a tree. Made when looked at."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from recall.domain.overview import Overview
from recall.domain.run import Run
from recall.domain.task import RESTING, Task, TaskRef, TaskState
from recall.domain.words import TASK_WORDS, age, done_mark, elapsed, moment, task_word
from recall.ui.roll import Roll
from recall_widgets.glyphs import Shown
from recall_widgets.row_source import KeyedRows
from recall_widgets.rows import BoardRow

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
Column = tuple[BoardRow, Sequence[BoardRow]]


def group_key(word: str, region: str = "") -> str:
    """The key of a state's heading; with a region, of its heading inside that region."""
    return f"group:{word}:{region}" if region else f"group:{word}"


def region_key(region: str) -> str:
    return f"region:{region}"


@dataclass(frozen=True)
class BoardView:
    """What a board shows, and how. `folded` holds the keys of headings; a heading inside a region that is among them
    does the opposite of what its state does everywhere. While a filter is in force, all that matches is open.
    `halt` is the overview's: why no ready task starts."""

    roll: Roll
    now: float
    runs: Mapping[TaskRef, Run] = field(default_factory=dict[TaskRef, Run])
    folded: Collection[str] = ()
    needle: str = ""
    halt: str = ""

    @classmethod
    def of(cls, overview: Overview, roll: Roll, folded: Collection[str] = (), needle: str = "") -> BoardView:
        runs = {run.ref: run for run in overview.runs}
        return cls(roll, overview.now, runs, folded, needle, overview.halt)

    def by_state(self) -> Sequence[BoardRow]:
        """Headings and tasks in the order in which states matter; inside regions, when there are several."""
        found = self.roll.matching(self.needle)
        regions = self.roll.regions
        several = len(regions) > 1
        heads: dict[str, BoardRow] = {}
        keys: list[str] = []
        for region in regions:
            groups = [(word, _in(self.roll.groups.get((region, word), ()), found)) for word in TASK_WORDS]
            if several and not self._open_region(region, sum(len(tasks) for _, tasks in groups), heads, keys):
                continue
            for word, tasks in groups:
                key = group_key(word, region if several else "")
                if tasks and self._open(heads, keys, key, _title(word), len(tasks), SHOWN_TASK[word], int(several)):
                    keys += tasks
        return self._rows(keys, heads, 1 + several)

    def by_column(self) -> list[Column]:
        """A heading for each state that has tasks, and what stands below it; a folded one shows its count only."""
        found = self.roll.matching(self.needle)
        columns: list[Column] = []
        for word in TASK_WORDS:
            parts = [(region, _in(self.roll.groups.get((region, word), ()), found)) for region in self.roll.regions]
            count = sum(len(tasks) for _, tasks in parts)
            if count:
                key = group_key(word)
                head = BoardRow(
                    key, "group", SHOWN_TASK[word], _title(word), count=count, folded=self._is_folded(key)
                )
                columns.append((head, () if head.folded else self._column(parts)))
        return columns

    def by_prerequisite(self) -> Sequence[BoardRow]:
        """Every task once, below its first prerequisite; those that match a filter stand below each other."""
        found = self.roll.matching(self.needle)
        order = self.roll.shape.tree
        regions = self.roll.regions
        heads: dict[str, BoardRow] = {}
        if len(regions) < 2:
            return self._rows(_in(list(order), found), heads, 0, tree=found is None)
        parts: dict[str, list[str]] = {region: [] for region in regions}
        region = regions[0]
        for key, place in order.items():
            region = self.roll.places[key][0] if not place.depth else region
            if found is None or key in found:
                parts[region].append(key)
        keys: list[str] = []
        for region, tasks in parts.items():
            if self._open_region(region, len(tasks), heads, keys):
                keys += tasks
        return self._rows(keys, heads, 1, tree=found is None)

    def folds_over(self, key: str, *, columns: bool) -> set[str]:
        """The keys of closed headings that a task is below."""
        region, word = self.roll.places[key]
        several = len(self.roll.regions) > 1
        over = {group_key(word, region if several and not columns else "")}
        return {one for one in (over | {region_key(region)} if several else over) if self._is_folded(one)}

    # -- headings ----------------------------------------------------------------------------------------------

    def _column(self, parts: Sequence[tuple[str, Sequence[str]]]) -> Sequence[BoardRow]:
        heads: dict[str, BoardRow] = {}
        keys: list[str] = []
        for region, tasks in parts:
            if len(parts) == 1 or self._open_region(region, len(tasks), heads, keys):
                keys += tasks
        return self._rows(keys, heads, int(len(parts) > 1))

    def _open_region(self, region: str, count: int, heads: dict[str, BoardRow], keys: list[str]) -> bool:
        return bool(count) and self._open(heads, keys, region_key(region), region, count, Shown.ACTIVE, 0)

    def _open(
        self, heads: dict[str, BoardRow], keys: list[str], key: str, title: str, count: int, state: Shown, indent: int
    ) -> bool:
        """Add a heading; False: what is below it is folded away."""
        folded = self._is_folded(key)
        heads[key] = BoardRow(key, "group", state, title, count=count, folded=folded, indent=indent)
        keys.append(key)
        return not folded

    def _is_folded(self, key: str) -> bool:
        if self.needle:
            return False
        general, _, region = key.removeprefix("group:").partition(":")
        if key.startswith("group:") and region:
            return (group_key(general) in self.folded) != (key in self.folded)
        return key in self.folded

    # -- rows --------------------------------------------------------------------------------------------------

    def _rows(
        self, keys: Sequence[str], heads: Mapping[str, BoardRow], indent: int, *, tree: bool = False
    ) -> Sequence[BoardRow]:
        def row(key: str) -> BoardRow:
            return heads.get(key) or self._task_row(key, indent, tree=tree)

        return KeyedRows(keys, row)

    def _task_row(self, key: str, indent: int, *, tree: bool) -> BoardRow:
        task = self.roll.tasks[key]
        word = task_word(task)
        detail, time = _detail(task, word, self.now, self.roll, self.runs.get(task.ref), self.halt)
        return BoardRow(
            key,
            "task",
            SHOWN_TASK[word],
            task.title + done_mark(task),
            id=str(task.ref),
            detail=detail,
            time=time,
            indent=indent,
            branch=self.roll.shape.tree[key].more if tree else (),
            needs_you=word == "waiting" and self._waits_for_person(task),
            priority=f"P{task.priority}" if task.priority else "",
            type=task.type,
            tries=f"try {task.attempts + 1}" if task.attempts else "",
            age=age(self.now - task.changed_at) if task.changed_at else "",
        )

    def _waits_for_person(self, task: Task) -> bool:
        return any(
            (other := self.roll.find(ref)) is not None and other.state in RESTING for ref in task.prerequisites
        )


def _in(keys: Sequence[str], found: Collection[str] | None) -> Sequence[str]:
    return keys if found is None else [key for key in keys if key in found]


def _title(word: str) -> str:
    return word.capitalize()


def _detail(task: Task, word: str, now: float, roll: Roll, run: Run | None, halt: str) -> tuple[str, str]:
    """Give the most useful fact for a state, and a time."""
    if word == "running" and run is not None:
        return run.agent, elapsed(now - (run.started_at or run.claimed_at))
    if word == "landing" and run is not None:
        return run.agent, age(now - task.changed_at)
    if word == "waiting":
        return _after(task, roll), ""
    if word == "ready":
        if task.retry_at is not None and task.retry_at > now:
            return f"again at {moment(task.retry_at, now)}", ""
        return f"dispatch is {halt}" if halt else "waits: agent", ""
    if word in ("needs you", "on hold"):
        return task.reason.splitlines()[0] if task.reason else "", age(now - task.changed_at)
    if word == "done":
        return (task.done_commit or "")[:7], moment(task.changed_at, now)
    return "", ""


def _after(task: Task, roll: Roll) -> str:
    open_ones = [
        str(ref)
        for ref in task.prerequisites
        if (other := roll.find(ref)) is None or other.state is not TaskState.DONE
    ]
    if task.is_group or not open_ones:
        return "a group" if task.is_group else ""
    more = f" +{len(open_ones) - 2}" if len(open_ones) > 2 else ""
    return f"after {', '.join(open_ones[:2])}{more}"
