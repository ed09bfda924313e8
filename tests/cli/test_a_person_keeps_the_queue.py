"""The merge queue from the command line: what waits, in which order, and trying again."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from recall.domain.merge import QUEUE_HELD
from recall.domain.run import Claim
from recall.domain.task import TaskRef
from recall.engine.ports import Store
from tests.cli.conftest import Ended, Recall, opened
from tests.support.hermetic_git import Repo


@pytest.fixture
def store(project: Repo, cli: Recall) -> Generator[Store]:
    """T-1, T-2 and T-3 in the merge queue; T-4 is only ready."""
    project.write("TASKS.md", "".join(f"## T-{number} Task {number}\n\n" for number in (1, 2, 3, 4)))
    assert cli("import").code == 0
    store = opened(project.path)
    for id_ in ("T-1", "T-2", "T-3"):
        claim = store.claim(TaskRef("main", id_), "zoe", f"zoe-{id_}", 1000.0, pulled=True)
        assert isinstance(claim, Claim)
        store.enqueue(claim.run_id, claim.owner, claim.version, tip="c" * 40, base="b" * 40, actor="agent zoe")
    yield store
    store.close()


def order(ended: Ended) -> list[str]:
    assert ended.code == 0, ended.err
    return [row["task"] for row in ended.json]


def test_an_empty_queue_is_said_to_be_one(imported: Repo, cli: Recall) -> None:
    assert imported
    assert cli("queue").out == "nothing waits to land\n"
    assert cli("queue", "list", "--json").json == []


def test_the_list_shows_places_and_states(store: Store, cli: Recall) -> None:
    assert store
    assert [row["place"] for row in cli("queue", "--json").json] == [1, 2, 3]
    assert [line.split()[0] for line in cli("queue").out.splitlines()] == ["1", "2", "3"]
    assert cli("queue").out == cli("queue", "list").out


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("move T-3 up", ["T-1", "T-3", "T-2"]),
        ("move T-1 down", ["T-2", "T-1", "T-3"]),
        ("move T-3 1", ["T-3", "T-1", "T-2"]),
        ("skip T-1", ["T-2", "T-3", "T-1"]),
        ("retry T-1", ["T-1", "T-2", "T-3"]),
    ],
)
def test_each_change_shows_the_new_order(store: Store, cli: Recall, command: str, expected: list[str]) -> None:
    assert order(cli("queue", *command.split(), "--json")) == expected
    assert [entry.task for entry in store.merges()] == expected


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("move T-1 up", "T-1 is number 1 of 3 already"),
        ("move T-1 9", "there is no place 9 in the merge queue: it has 3"),
        ("move T-1 0", "there is no place 0"),
        ("skip T-3", "T-3 is number 3 of 3 already"),
        ("skip T-4", "T-4 is not in the merge queue: it is ready"),
        ("skip t-2", "there is no task t-2; did you mean T-2?"),
        ("retry T-33", "there is no task T-33; did you mean T-3"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(store: Store, cli: Recall, command: str, words: str) -> None:
    ended = cli("queue", *command.split())
    assert (ended.code, ended.out) == (1, "")
    assert words in ended.err
    assert [entry.task for entry in store.merges()] == ["T-1", "T-2", "T-3"]


def test_a_place_that_is_none_is_a_fault_of_the_command_line(store: Store, cli: Recall) -> None:
    assert store
    ended = cli("queue", "move", "T-1", "sideways")
    assert ended.code == 2
    assert "up, down or a number" in ended.err


def test_a_held_queue_says_why(store: Store, cli: Recall) -> None:
    store.put_setting(QUEUE_HELD, "main was rewritten", actor="dispatcher")
    assert "held: main was rewritten" in cli("queue").out
    assert "the merge queue is held: main was rewritten" in cli("queue", "retry", "T-1").err
    assert cli("resume").code == 0
    assert cli("queue", "retry", "T-1").code == 0
