"""What a person decides of a conflict counts for the very conflict that was seen, once, with one event."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.domain.conflict import (
    ConflictKind,
    ConflictRecord,
    Decision,
    LandedChange,
    RecordedFile,
    Side,
    Version,
    Way,
)
from recall.domain.merge import MergeState
from recall.domain.run import Claim, Refused, RunResult, RunState
from recall.domain.task import Task, TaskState
from recall.domain.work import Conflict
from recall.store import SqliteStore
from tests.support.builders import FOREVER, import_specs, make_store, queued, ref, settlement, spec

T1 = ref("T-1")
ODD = "od\udc80d \n.py"
MET = Conflict(paths=("a.py", ODD), step="1", base="2", ours="3", theirs="4", detail="words")
FILES = (RecordedFile("a.py", ConflictKind.CONTENT, 3), RecordedFile(ODD, ConflictKind.DELETED_ON_MAIN, 0))
CHANGES = (LandedChange("c" * 40, "parse\x1b[2J it", ref("T-2")), LandedChange("d" * 40, "by hand"))


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore, None, None]:
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"), spec("T-2"), spec("T-3"))
        store.sync_agents([AgentSpec("amy"), AgentSpec("ben")])
        yield store
        assert store.check() == []


def meet(store: SqliteStore, met: Conflict = MET) -> ConflictRecord:
    _, merge_id = queued(store, "T-1")
    store.merge_conflict(merge_id, met, settlement=None, files=FILES, changes=CHANGES)
    seen = store.conflict_record(merge_id)
    assert seen is not None
    return seen


def task(store: SqliteStore) -> Task:
    found = store.task(T1)
    assert found is not None
    return found


def test_everything_is_kept_as_it_was(store: SqliteStore) -> None:
    seen = meet(store)
    assert seen.files == FILES
    assert (seen.met.step, seen.met.base, seen.met.ours, seen.met.theirs) == ("1", "2", "3", "4")
    assert [(change.commit, change.subject, change.task) for change in seen.changes] == [
        ("c" * 40, "parse it", ref("T-2")),
        ("d" * 40, "by hand", None),
    ]
    assert seen.tasks == (ref("T-2"),)
    assert (seen.decisions, seen.folder) == ({}, "")
    assert task(store).reason == "conflict with T-2 in a.py and 1 more, 3 hunks"


def test_a_settled_one_is_no_conflict(store: SqliteStore) -> None:
    _, merge_id = queued(store, "T-1")
    assert store.conflict_record(merge_id) is None
    store.merge_conflict(merge_id, MET, settlement=settlement(RunResult.CONFLICT, "it met"), files=FILES)
    assert store.conflict_record(merge_id) is None


def test_decisions_are_kept_path_by_path(store: SqliteStore) -> None:
    seen = meet(store)
    gone, kept = Decision(ODD, Side.MAIN, None), Decision("a.py", "edited", Version("100755", "e" * 40))
    assert store.conflict_decide(seen, [gone], actor="cli") is None
    now = store.conflict_record(seen.merge_id)
    assert now is not None
    assert (now.decisions, now.undecided) == ({ODD: gone}, ("a.py",))
    assert store.conflict_decide(seen, [kept], actor="cli") is None
    now = store.conflict_record(seen.merge_id)
    assert now is not None
    assert (now.decisions, now.undecided) == ({ODD: gone, "a.py": kept}, ())


def test_a_resolved_entry_is_queued_like_any_other(store: SqliteStore) -> None:
    seen = meet(store)
    store.conflict_check_out(seen, "/somewhere", actor="cli")
    seq = store.last_seq()
    assert store.merge_resolved(seen, tip="f" * 40, base="3", actor="cli", reason="a.py: task") is None
    (entry,) = store.merges()
    assert (entry.state, entry.tip, entry.base, entry.conflict_paths) == (MergeState.QUEUED, "f" * 40, "3", ())
    assert (task(store).state, store.runs(T1)[0].state) == (TaskState.LANDING, RunState.LANDING)
    (event,) = store.events_since(seq)
    assert (event.kind, event.actor, event.before, event.after) == ("merge.resolved", "cli", "conflict", "queued")
    assert store.conflict(entry.id) is None


def test_meeting_main_again_forgets_what_was_decided_before(store: SqliteStore) -> None:
    seen = meet(store)
    store.conflict_decide(seen, [Decision("a.py", "main", None)], actor="cli")
    store.conflict_check_out(seen, "/somewhere", actor="cli")
    store.merge_resolved(seen, tip="f" * 40, base="3", actor="cli", reason="")
    store.merge_conflict(seen.merge_id, MET, settlement=None, files=FILES[:1])
    again = store.conflict_record(seen.merge_id)
    assert again is not None
    assert (again.files, again.decisions, again.changes, again.folder) == (FILES[:1], {}, (), "")


@pytest.mark.parametrize(
    ("way", "state"), [(Way.SEND_BACK, "todo"), (Way.RESTART, "todo"), (Way.GIVE_UP, "cancelled")]
)
def test_an_end_is_one_event_and_costs_nothing(store: SqliteStore, way: Way, state: str) -> None:
    seen = meet(store)
    seq = store.last_seq()
    assert store.conflict_abandon(seen, way, actor="cli", reason="I say so", brief="both\x1b[1m sides") is None
    now, run = task(store), store.runs(T1)[0]
    assert (now.state, now.attempts, now.interruptions, now.lease_owner) == (state, 0, 0, None)
    assert run.state is RunState.SETTLED
    assert (store.merges(), now.brief) == ([], "" if way is Way.GIVE_UP else "both sides")
    assert len(store.events_since(seq)) == 1
    assert store.agents()[0].weight("general").value == 0.5


def test_whom_it_was_sent_to_is_the_only_one_until_it_is_claimed(store: SqliteStore) -> None:
    store.conflict_abandon(meet(store), Way.SEND_BACK, actor="cli", reason="", agent="ben", brief="both sides")
    assert task(store).takers == ("ben",)
    refused = store.claim(T1, "amy", "amy-1", FOREVER)
    assert refused == Refused("T-1 is for ben only")
    other = store.claim_next("amy", "amy-2", FOREVER, pulled=False)
    assert other is not None
    assert other.ref != T1
    assert isinstance(store.claim_next("ben", "ben-1", FOREVER, pulled=False), Claim)
    assert (task(store).sent_to, task(store).takers, task(store).brief) == (None, (), "both sides")


def test_an_import_does_not_touch_it(store: SqliteStore) -> None:
    store.conflict_abandon(meet(store), Way.SEND_BACK, actor="cli", reason="", agent="ben", brief="both sides")
    seq = store.last_seq()
    import_specs(store, spec("T-1"), spec("T-2"), spec("T-3"))
    assert (task(store).sent_to, task(store).brief, store.last_seq()) == ("ben", "both sides", seq)


WISHES: dict[str, Callable[[SqliteStore, ConflictRecord], Refused | None]] = {
    "decide": lambda store, seen: store.conflict_decide(seen, [Decision("a.py", "main", None)], actor="cli"),
    "check out": lambda store, seen: store.conflict_check_out(seen, "/somewhere", actor="cli"),
    "resolve": lambda store, seen: store.merge_resolved(seen, tip="f", base="3", actor="cli", reason=""),
    **{
        str(way): lambda store, seen, way=way: store.conflict_abandon(seen, way, actor="cli", reason="")
        for way in Way
    },
}


@pytest.mark.parametrize("what", ["resolved meanwhile", "requeued meanwhile", "met again"])
@pytest.mark.parametrize("wish", WISHES)
def test_what_was_seen_must_still_be_there(store: SqliteStore, wish: str, what: str) -> None:
    seen = meet(store)
    if what == "requeued meanwhile":
        assert store.requeue(T1, actor="person") is None
    else:
        store.merge_resolved(seen, tip="f" * 40, base="3", actor="person", reason="")
    if what == "met again":
        store.merge_conflict(seen.merge_id, Conflict(("a.py",), "1", "2", "9", "f" * 40), settlement=None)
    before, record, seq = task(store), store.conflict_record(seen.merge_id), store.last_seq()
    refused = WISHES[wish](store, seen)
    assert isinstance(refused, Refused)
    assert "nothing was changed" in refused.reason
    assert (task(store), store.conflict_record(seen.merge_id)) == (before, record)
    assert [(event.kind, event.reason) for event in store.events_since(seq)] == [("merge.refused", refused.reason)]
