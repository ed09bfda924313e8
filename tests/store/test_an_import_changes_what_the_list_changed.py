"""Bringing a region in line with its list."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.domain.imports import ImportDiff
from recall.domain.run import Claim, Refused
from recall.domain.task import DoneBy, Task, TaskRef, TaskSpec, TaskState
from recall.store import SqliteStore
from tests.support.builders import claimed, import_specs, make_store, ref, spec


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore, None, None]:
    with make_store(tmp_path) as store:
        yield store
        assert store.check() == []


def imported(store: SqliteStore, *specs: TaskSpec, region: str = "main", cancel: bool = True) -> ImportDiff:
    return store.import_tasks(region, specs, actor="cli", cancel_vanished=cancel)


def task_of(store: SqliteStore, id_: str, region: str = "main") -> Task:
    task = store.task(TaskRef(region, id_))
    assert task is not None
    return task


def kinds(store: SqliteStore, since: int) -> list[str]:
    return [event.kind for event in store.events_since(since)]


def test_a_first_import_makes_rows_in_the_order_of_the_file(store: SqliteStore) -> None:
    diff = imported(store, spec("T-2", "T-1", priority=3, touches=["a/*"]), spec("T-1", title="\x1b[31mFirst"))
    assert diff == ImportDiff(new=(ref("T-2"), ref("T-1")))
    rows = store.tasks()
    assert [(task.id, task.position, task.unmet) for task in rows] == [("T-2", 0, 1), ("T-1", 1, 0)]
    assert (rows[0].priority, rows[0].touches, rows[0].prerequisites) == (3, ("a/*",), (ref("T-1"),))
    assert rows[1].title == "First"
    assert kinds(store, 0) == ["task.imported", "task.imported", "list.imported"]


def test_the_same_list_again_changes_nothing(store: SqliteStore) -> None:
    specs = [spec("T-1", agents=["amy"]), spec("T-2", "T-1")]
    imported(store, *specs)
    seq = store.last_seq()
    assert imported(store, *specs) == ImportDiff(unchanged=2)
    assert store.last_seq() == seq


def test_a_dry_run_says_what_an_import_would_do(store: SqliteStore) -> None:
    imported(store, spec("T-1"), spec("T-2"))
    before, seq = store.tasks(), store.last_seq()
    after = [spec("T-1", title="Other"), spec("T-3")]
    told = store.import_tasks("main", after, actor="cli", cancel_vanished=True, dry_run=True)
    assert (store.tasks(), store.last_seq()) == (before, seq)
    assert told == imported(store, *after)


def test_a_changed_text_counts_for_the_next_attempt_of_a_running_task(store: SqliteStore) -> None:
    imported(store, spec("T-1", body="old"))
    claim = claimed(store, "T-1")
    diff = imported(store, spec("T-1", body="new", priority=2))
    assert diff.changed == (ref("T-1"),)
    task = task_of(store, "T-1")
    assert (task.body, task.priority, task.state, task.lease_owner) == ("new", 2, TaskState.IN_PROGRESS, claim.owner)
    [event] = [event for event in store.events_since(0) if event.kind == "task.changed"]
    assert event.reason == "text, priority"


def test_a_status_counts_on_the_first_import_only(store: SqliteStore) -> None:
    imported(store, spec("T-1", status=TaskState.DONE), spec("T-2", "T-1"), spec("T-3", status=TaskState.ON_HOLD))
    assert (task_of(store, "T-1").done_by, task_of(store, "T-2").unmet) == (DoneBy.IMPORTED, 0)
    diff = imported(store, spec("T-1"), spec("T-2", "T-1", status=TaskState.DONE), spec("T-3"))
    assert diff.unchanged == 3
    assert [task.state for task in store.tasks()] == [TaskState.DONE, TaskState.TODO, TaskState.ON_HOLD]


def test_a_priority_set_by_a_person_stays_until_the_list_says_another(store: SqliteStore) -> None:
    imported(store, spec("T-1", priority=1))
    assert store.prioritize(ref("T-1"), 9, actor="person") is None
    imported(store, spec("T-1", priority=1, title="New title"))
    assert task_of(store, "T-1").priority == 9
    imported(store, spec("T-1", priority=2, title="New title"))
    assert task_of(store, "T-1").priority == 2


def test_changed_prerequisites_are_counted_anew(store: SqliteStore) -> None:
    imported(store, spec("T-1"), spec("T-2"), spec("T-3", "T-1"))
    claimed(store, "T-2")
    assert store.finish_manually(ref("T-2"), actor="person", reason="by hand") is None
    imported(store, spec("T-1"), spec("T-2"), spec("T-3", "T-1", "T-2"))
    assert task_of(store, "T-3").unmet == 1
    imported(store, spec("T-1"), spec("T-2"), spec("T-3", "T-2"))
    assert task_of(store, "T-3").unmet == 0


def test_a_list_laid_out_earlier_is_compared_with_what_is_there_by_now(store: SqliteStore) -> None:
    imported(store, spec("T-1", title="Old"))
    listing = store.lay_out("main", [spec("T-1", title="New")])
    imported(store, spec("T-1", title="Of another process"), spec("T-2"))
    diff = store.import_listing(listing, actor="dispatcher", cancel_vanished=False)
    assert (diff.changed, diff.vanished) == ((ref("T-1"),), (ref("T-2"),))
    assert task_of(store, "T-1").title == "New"


def test_one_changed_text_leaves_every_other_row_as_it_is(store: SqliteStore) -> None:
    specs = [spec(f"T-{n}", *([f"T-{n - 1}"] if n else []), touches=[f"{n}/**"], agents=["amy"]) for n in range(20)]
    imported(store, *specs)
    before = store.tasks()
    seq = store.last_seq()
    diff = imported(store, *specs[:7], replace(specs[7], body="other"), *specs[8:])
    assert (diff.changed, diff.unchanged) == ((ref("T-7"),), 19)
    assert kinds(store, seq) == ["task.changed", "list.imported"]
    assert store.tasks() == [*before[:7], replace(before[7], body="other"), *before[8:]]


def test_a_new_link_is_seen_in_the_length_of_what_waits(store: SqliteStore) -> None:
    imported(store, spec("T-1"), spec("T-2"), spec("T-3", "T-2"))
    assert store.snapshot().behind == {ref("T-1"): 0, ref("T-2"): 1}
    imported(store, spec("T-1"), spec("T-2", "T-1"), spec("T-3", "T-2"))
    assert store.snapshot().behind == {ref("T-1"): 2}
    imported(store, spec("T-1"), spec("T-2", "T-1"), spec("T-3"))
    assert store.snapshot().behind == {ref("T-1"): 1, ref("T-3"): 0}


def test_what_waits_in_another_region_counts_too(store: SqliteStore) -> None:
    imported(store, spec("T-1"), spec("T-2"))
    imported(store, spec("W-1", "main:T-1"), spec("W-2", "web:W-1"), region="web")
    imported(store, spec("T-1"), spec("T-2", "T-1"), spec("T-3"))
    assert store.snapshot().behind == {ref("T-1"): 2, ref("T-3"): 0}


# -- vanished and returned ---------------------------------------------------------------------------------


def test_a_vanished_task_is_cancelled_and_returns_with_a_higher_version(store: SqliteStore) -> None:
    imported(store, spec("T-1"), spec("T-2"))
    first = claimed(store, "T-1")
    assert store.release(ref("T-1"), first.owner, first.version, actor="agent amy", reason="") is None
    seq = store.last_seq()
    gone = imported(store, spec("T-2"))
    assert (gone.vanished, gone.unchanged) == ((ref("T-1"),), 1)
    task = task_of(store, "T-1")
    assert (task.state, task.vanished, task.lease_version) == (TaskState.CANCELLED, True, 1)
    assert imported(store, spec("T-2")).vanished == ()

    back = imported(store, spec("T-1", title="Again"), spec("T-2"))
    assert (back.returned, back.changed, back.new) == ((ref("T-1"),), (), ())
    task = task_of(store, "T-1")
    assert (task.state, task.vanished, task.lease_version, task.title) == (TaskState.TODO, False, 2, "Again")
    assert sorted(set(kinds(store, seq))) == ["list.imported", "task.returned", "task.vanished"]
    again = claimed(store, "T-1")
    assert (again.version, again.number) == (3, 2)


def test_a_watched_file_cancels_nothing(store: SqliteStore) -> None:
    imported(store, spec("T-1"), spec("T-2"))
    seq = store.last_seq()
    diff = imported(store, spec("T-2"), cancel=False)
    assert diff.vanished == (ref("T-1"),)
    assert diff.warnings == ("T-1 is not in the list any more: `recall import` would cancel it",)
    assert task_of(store, "T-1").state is TaskState.TODO
    assert "task.vanished" not in kinds(store, seq)


def test_a_running_task_that_vanished_is_only_warned_about(store: SqliteStore) -> None:
    imported(store, spec("T-1"), spec("T-2"))
    claim = claimed(store, "T-1")
    diff = imported(store, spec("T-2"))
    assert diff.warnings == ("T-1 is not in the list any more, but is in progress: it was left alone",)
    assert isinstance(store.renew(ref("T-1"), claim.owner, claim.version, 10.0), Claim)


def test_what_a_person_cancelled_stays_so_when_its_heading_goes_and_comes(store: SqliteStore) -> None:
    imported(store, spec("T-1"), spec("T-2", status=TaskState.DONE))
    assert store.cancel(ref("T-1"), actor="person") is None
    imported(store)
    back = imported(store, spec("T-1"), spec("T-2"))
    assert back.returned == (ref("T-1"), ref("T-2"))
    assert [task.state for task in store.tasks()] == [TaskState.CANCELLED, TaskState.DONE]


def test_whoever_waits_for_a_vanished_task_is_named(store: SqliteStore) -> None:
    imported(store, spec("T-7"))
    imported(store, spec("W-1", "main:T-7"), region="web")
    assert imported(store).warnings == ("web:W-1 can never run: T-7 was cancelled",)
    assert task_of(store, "W-1", "web").unmet == 1


# -- refused -----------------------------------------------------------------------------------------------


def test_what_only_the_store_can_see_refuses_the_whole_import(store: SqliteStore) -> None:
    imported(store, spec("T-1"))
    imported(store, spec("W-1", "T-1"), region="web")
    before, seq = store.tasks(), store.last_seq()
    unknown = imported(store, spec("T-1"), spec("T-2", "web:W-9"))
    assert unknown.refused == ("T-2: its prerequisite web:W-9 is not in region web",)
    ring = imported(store, spec("T-1", "web:W-1"), spec("T-2"))
    assert ring.refused == ("nothing in this cycle could ever run: web:W-1 -> T-1 -> web:W-1",)
    twins = imported(store, spec("T-1"), spec("T-1"))
    assert twins.refused == ("T-1 stands in the list 2 times",)
    assert (store.tasks(), store.last_seq()) == (before, seq)


def test_a_sub_task_that_waits_for_its_own_group_is_a_cycle(store: SqliteStore) -> None:
    diff = imported(store, spec("G-1", is_group=True), spec("G-1.1", "G-1", parent="G-1"))
    assert len(diff.refused) == 1
    assert "cycle" in diff.refused[0]


# -- groups ------------------------------------------------------------------------------------------------


def test_a_group_is_done_when_its_sub_tasks_are_and_so_upwards(store: SqliteStore) -> None:
    specs = [
        spec("G-1", is_group=True, status=TaskState.DONE),
        spec("G-1.1", is_group=True, parent="G-1"),
        spec("G-1.1.1", parent="G-1.1"),
        spec("G-1.2", parent="G-1", status=TaskState.DONE),
        spec("T-1", "G-1"),
    ]
    imported(store, *specs)
    store.sync_agents([])
    assert (task_of(store, "G-1").state, task_of(store, "T-1").unmet) == (TaskState.TODO, 1)
    claim = claimed(store, "G-1.1.1")
    assert isinstance(store.claim(ref("T-1"), "bob", "bob-1", 10.0, pulled=True), Refused)
    assert store.finish_manually(ref("G-1.1.1"), actor="person", reason="by hand") is None
    assert [task_of(store, id_).done_by for id_ in ("G-1.1.1", "G-1.1", "G-1")] == [
        DoneBy.MANUAL,
        DoneBy.GROUP,
        DoneBy.GROUP,
    ]
    assert task_of(store, "T-1").unmet == 0
    assert isinstance(store.renew(ref("G-1.1.1"), claim.owner, claim.version, 10.0), Refused)

    # a new sub-task, or a reopened one, opens the group and locks what waits for it
    imported(store, *specs, spec("G-1.3", parent="G-1"))
    assert (task_of(store, "G-1").state, task_of(store, "T-1").unmet) == (TaskState.TODO, 1)
    assert store.finish_manually(ref("G-1.3"), actor="person", reason="by hand") is None
    assert task_of(store, "T-1").unmet == 0
    assert store.requeue(ref("G-1.1.1"), actor="person") is None
    assert [task_of(store, id_).state for id_ in ("G-1.1", "G-1")] == [TaskState.TODO, TaskState.TODO]
    assert task_of(store, "T-1").unmet == 1


def test_a_group_ends_when_its_last_open_sub_task_leaves_the_list(store: SqliteStore) -> None:
    group = spec("G-1", is_group=True)
    imported(store, group, spec("G-1.1", parent="G-1", status=TaskState.DONE), spec("G-1.2", parent="G-1"))
    imported(store, group, spec("G-1.1", parent="G-1", status=TaskState.DONE))
    assert task_of(store, "G-1").done_by is DoneBy.GROUP


def test_a_cancelled_sub_task_keeps_no_group_open(store: SqliteStore) -> None:
    imported(
        store,
        spec("G-1", is_group=True),
        spec("G-1.1", parent="G-1", status=TaskState.DONE),
        spec("G-1.2", parent="G-1"),
        spec("T-1", "G-1"),
    )
    assert store.cancel(ref("G-1.2"), actor="person") is None
    assert (task_of(store, "G-1").done_by, task_of(store, "T-1").unmet) == (DoneBy.GROUP, 0)
    assert store.requeue(ref("G-1.2"), actor="person") is None
    assert (task_of(store, "G-1").state, task_of(store, "T-1").unmet) == (TaskState.TODO, 1)


def test_a_group_that_leaves_with_its_sub_tasks_is_cancelled_not_done(store: SqliteStore) -> None:
    imported(store, spec("G-1.1", parent="G-1"), spec("G-1", is_group=True), spec("T-1"))
    imported(store, spec("T-1"))
    assert [task.state for task in store.tasks() if task.vanished] == [TaskState.CANCELLED] * 2


def test_a_group_whose_sub_tasks_were_done_before_is_done_at_once(store: SqliteStore) -> None:
    imported(
        store,
        spec("G-1", is_group=True),
        spec("G-1.1", parent="G-1", status=TaskState.DONE),
        spec("T-1", "G-1"),
    )
    assert task_of(store, "T-1").unmet == 0


# -- size --------------------------------------------------------------------------------------------------


def test_a_chain_of_5000_imports_and_lands_without_recursion(store: SqliteStore) -> None:
    chain = [spec("T-0"), *(spec(f"T-{number}", f"T-{number - 1}") for number in range(1, 5000))]
    begun = time.monotonic()
    imported(store, *chain)
    assert time.monotonic() - begun < 20.0
    snapshot = store.snapshot()
    assert snapshot.behind == {ref("T-0"): 4999}
    store.sync_agents([])
    import_specs(store, *(replace(each, priority=1) for each in chain))
    claimed(store, "T-0")
    assert store.finish_manually(ref("T-0"), actor="person", reason="") is None
    assert [task.id for task in store.snapshot().ready] == ["T-1"]
