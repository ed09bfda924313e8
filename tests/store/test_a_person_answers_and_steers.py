"""Answers, cooldowns and the merge queue's order: each one transaction and one event, refused in words."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.domain.event import Event
from recall.domain.merge import MAIN_OID, QUEUE_HELD, QUEUE_RETRIED, Shift
from recall.domain.run import Claim, Refused, RunResult
from recall.domain.task import TaskState
from recall.domain.work import Conflict
from recall.store import SqliteStore
from tests.support.builders import ended, import_specs, landed, make_store, queued, ref, settlement, spec
from tests.support.clock import FakeClock

T1 = ref("T-1")
NOW = 1_700_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore]:
    with make_store(tmp_path, FakeClock()) as store:
        import_specs(store, *(spec(f"T-{number}") for number in range(1, 5)))
        store.sync_agents([AgentSpec("amy", account="a"), AgentSpec("ben", account="a"), AgentSpec("cat")])
        yield store
        assert store.check() == []


def only_event(store: SqliteStore, act: Callable[[], Refused | None]) -> Event:
    """What `act` told, when it was granted; it must be one event."""
    seq = store.last_seq()
    refused = act()
    assert refused is None, refused
    (event,) = store.events_since(seq)
    return event


# -- answers ---------------------------------------------------------------------------------------------------


def asks(store: SqliteStore, question: str = "which one?") -> Claim:
    claim = ended(store, "T-1")
    asked = settlement(RunResult.QUESTION, question)
    assert store.settle_run(claim.run_id, claim.owner, claim.version, asked, actor="dispatcher") is None
    return claim


def test_an_answer_is_kept_with_the_run_that_asked(store: SqliteStore) -> None:
    claim = asks(store)
    event = only_event(store, lambda: store.answer(T1, "the \x1b[31mred\x1b[0m one \n", actor="person"))
    assert (event.kind, event.actor, event.run_id, event.reason) == (
        "task.answered",
        "person",
        claim.run_id,
        "the red one",
    )
    assert (event.before, event.after) == (TaskState.NEEDS_PERSON, TaskState.TODO)
    run = store.run(claim.run_id)
    assert run is not None
    assert (run.reason, run.answer) == ("which one?", "the red one")
    assert isinstance(store.claim(T1, "cat", "cat-1", 10.0), Claim)


NOT_ASKING: list[tuple[Callable[[SqliteStore], object], str]] = [
    (lambda store: None, "T-1 waits for its turn, it asks nothing"),
    (lambda store: ended(store, "T-1"), "T-1 is running, it asks nothing"),
    (lambda store: queued(store, "T-1"), "T-1 is on its way to main, it asks nothing"),
    (lambda store: landed(store, "T-1"), "T-1 is done, it asks nothing"),
    (
        lambda store: asks(store) and store.requeue(T1, actor="person"),
        "T-1 waits for its turn: its question is settled already",
    ),
]


@pytest.mark.parametrize(("prepare", "words"), NOT_ASKING)
def test_an_answer_needs_a_question(store: SqliteStore, prepare: Callable[[SqliteStore], object], words: str) -> None:
    prepare(store)
    before = (store.tasks(), store.runs())
    assert store.answer(T1, "yes", actor="person") == Refused(words)
    assert (store.tasks(), store.runs()) == before
    last = store.events_since(0, 10_000)[-1]
    assert (last.kind, last.after, last.reason) == ("task.refused", "answer", words)


def test_what_needs_a_person_for_another_reason_has_no_question(store: SqliteStore) -> None:
    claim = ended(store, "T-1")
    failed = settlement(RunResult.FAILED, "cannot", attempts=2)
    store.settle_run(claim.run_id, claim.owner, claim.version, failed, actor="dispatcher")
    refused = store.answer(T1, "yes", actor="person")
    assert refused == Refused("T-1 asks nothing, it needs a person because: 3 attempts used up, the last: cannot")


@pytest.mark.parametrize("text", ["", " \n", "\x1b[31m"])
def test_an_answer_needs_words(store: SqliteStore, text: str) -> None:
    asks(store)
    assert store.answer(T1, text, actor="person") == Refused("an answer needs words")
    assert store.answer(ref("T-9"), "yes", actor="person") == Refused("there is no task T-9")


# -- cooldowns -------------------------------------------------------------------------------------------------


def cooling(store: SqliteStore) -> dict[str, float | None]:
    return {agent.name: agent.cooling_until for agent in store.agents()}


def test_a_cooldown_holds_for_the_account(store: SqliteStore) -> None:
    seq = store.last_seq()
    assert store.set_cooldown("amy", NOW + 60, actor="person", reason="quota") is None
    assert cooling(store) == {"amy": NOW + 60, "ben": NOW + 60, "cat": None}
    told = [(event.kind, event.agent, event.reason) for event in store.events_since(seq)]
    assert told == [("agent.cooling", "amy", "quota"), ("agent.cooling", "ben", "quota")]
    assert store.claim_next("ben", "ben-1", 10.0) is None
    assert store.claim_next("cat", "cat-1", 10.0) is not None


def test_a_cooldown_can_be_made_shorter(store: SqliteStore) -> None:
    store.set_cooldown("amy", NOW + 600, actor="person")
    store.set_cooldown("ben", NOW + 60, actor="person")
    assert cooling(store)["amy"] == NOW + 60


def test_lifting_ends_it_for_the_account_and_leaves_a_pause(store: SqliteStore) -> None:
    store.set_cooldown("amy", NOW + 600, actor="person")
    store.pause_agent("amy", actor="person")
    assert store.lift_cooldown("ben", actor="person") is None
    assert cooling(store) == {"amy": None, "ben": None, "cat": None}
    assert [agent.paused for agent in store.agents()] == [True, False, False]
    event = only_event(store, lambda: store.set_cooldown("cat", NOW + 5, actor="person"))
    assert (event.agent, event.after) == ("cat", "2023-11-14T22:13:25+00:00")
    assert only_event(store, lambda: store.lift_cooldown("cat", actor="person")).kind == "agent.cooldown_lifted"


def test_cooldowns_that_make_no_sense_are_refused(store: SqliteStore) -> None:
    assert store.lift_cooldown("amy", actor="person") == Refused("amy is not cooling")
    assert store.lift_cooldown("zed", actor="person") == Refused("there is no agent zed")
    assert store.set_cooldown("zed", NOW + 1, actor="person") == Refused("there is no agent zed")
    refused = store.set_cooldown("amy", NOW, actor="person")
    assert refused == Refused("amy cannot cool until 2023-11-14T22:13:20+00:00: that is over")


# -- the merge queue -------------------------------------------------------------------------------------------


def queue_of(store: SqliteStore) -> list[str]:
    return [entry.task for entry in store.merges()]


@pytest.fixture
def entries(store: SqliteStore) -> dict[str, int]:
    return {id_: queued(store, id_)[1] for id_ in ("T-1", "T-2", "T-3")}


@pytest.mark.parametrize(
    ("id_", "to", "order", "kind"),
    [
        ("T-1", Shift.DOWN, ["T-2", "T-1", "T-3"], "merge.moved"),
        ("T-3", Shift.UP, ["T-1", "T-3", "T-2"], "merge.moved"),
        ("T-1", Shift.LAST, ["T-2", "T-3", "T-1"], "merge.skipped"),
        ("T-3", 1, ["T-3", "T-1", "T-2"], "merge.moved"),
        ("T-1", 3, ["T-2", "T-3", "T-1"], "merge.moved"),
    ],
)
def test_an_entry_is_moved(
    store: SqliteStore, entries: dict[str, int], id_: str, to: Shift | int, order: list[str], kind: str
) -> None:
    event = only_event(store, lambda: store.merge_move(entries[id_], to, actor="person"))
    assert (event.kind, event.task, event.after) == (kind, id_, str(order.index(id_) + 1))
    assert queue_of(store) == order
    _, newest = queued(store, "T-4")
    assert [entry.id for entry in store.merges()][-1] == newest, "what comes later goes behind all"


def test_nothing_goes_before_what_is_worked_on(store: SqliteStore, entries: dict[str, int]) -> None:
    store.merge_verifying(entries["T-1"], candidate="d", onto="b")
    busy = "T-1 is verifying this moment"
    assert store.merge_move(entries["T-2"], 1, actor="person") == Refused(f"{busy}: nothing can go before it")
    assert store.merge_move(entries["T-1"], 3, actor="person") == Refused(f"{busy}: wait for it")
    assert store.merge_retry(entries["T-1"], actor="person") == Refused(f"{busy}: wait for it")
    assert store.merge_move(entries["T-3"], 2, actor="person") is None
    assert queue_of(store) == ["T-1", "T-3", "T-2"]


@pytest.mark.parametrize(
    ("to", "words"),
    [
        (Shift.UP, "T-1 is number 1 of 3 already"),
        (1, "T-1 is number 1 of 3 already"),
        (4, "there is no place 4 in the merge queue: it has 3"),
        (0, "there is no place 0 in the merge queue: it has 3"),
    ],
)
def test_places_that_are_none_are_refused(
    store: SqliteStore, entries: dict[str, int], to: Shift | int, words: str
) -> None:
    assert store.merge_move(entries["T-1"], to, actor="person") == Refused(words)
    assert queue_of(store) == ["T-1", "T-2", "T-3"]
    assert store.events_since(0, 10_000)[-1].kind == "merge.refused"


def test_what_is_over_waits_in_no_queue(store: SqliteStore) -> None:
    landed(store, "T-1")
    (entry,) = store.merges(open_only=False)
    over = Refused("T-1 is landed already, it waits in no queue")
    assert store.merge_move(entry.id, Shift.UP, actor="person") == over
    assert store.merge_retry(entry.id, actor="person") == over
    assert store.merge_retry(99, actor="person") == Refused("there is no merge entry 99")


def test_trying_again_is_asked_for_once_each_time(store: SqliteStore, entries: dict[str, int]) -> None:
    for count in ("1", "2"):
        assert only_event(store, lambda: store.merge_retry(entries["T-2"], actor="person")).kind == "merge.retried"
        assert store.setting(QUEUE_RETRIED) == count
    assert queue_of(store) == ["T-1", "T-2", "T-3"]


def test_a_conflict_is_not_tried_again_unchanged(store: SqliteStore, entries: dict[str, int]) -> None:
    met = Conflict(paths=("a.py",), step="1", base="2", ours="3", theirs="4")
    store.merge_conflict(entries["T-1"], met, settlement=None)
    refused = store.merge_retry(entries["T-1"], actor="person")
    assert refused is not None
    assert refused.reason.startswith("T-1 is in conflict with main")


def test_a_held_queue_is_released_by_a_person(store: SqliteStore, entries: dict[str, int]) -> None:
    assert store.release_queue(actor="person") == Refused("nothing holds the merge queue")
    store.put_setting(QUEUE_HELD, "main was rewritten", actor="dispatcher")
    store.put_setting(MAIN_OID, "0" * 40, actor="dispatcher")
    refused = store.merge_retry(entries["T-1"], actor="person")
    assert refused == Refused("the merge queue is held: main was rewritten")
    event = only_event(store, lambda: store.release_queue(actor="person"))
    assert (event.kind, event.before) == ("queue.released", "main was rewritten")
    assert (store.setting(QUEUE_HELD), store.setting(MAIN_OID)) == ("", "")
