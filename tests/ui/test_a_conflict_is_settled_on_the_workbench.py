"""The conflict workbench: pure decisions first, then a real conflict from its first look to a verified landing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from recall.domain.conflict import (
    ConflictedFile,
    ConflictKind,
    ConflictRecord,
    Decision,
    Hunk,
    RecordedFile,
    Remembered,
)
from recall.domain.run import Run, RunState
from recall.domain.task import Task, TaskState
from recall.domain.work import Conflict
from recall.engine.resolve import ConflictView, FolderSeen
from recall.ui.bench_words import heading, place, reasons
from recall.ui.session import open_session
from recall.ui.workbench import Bench, Choice, Chosen
from tests.e2e.test_conflicts_are_settled_by_a_person import two_agents_met
from tests.support.builders import ref
from tests.support.driver import Driver, driving
from tests.support.kept import Kept
from tests.support.workshop import Workshop

_TEXT = ConflictedFile(
    "a.py",
    ConflictKind.CONTENT,
    parts=(
        b"top\n",
        Hunk(b"main 1\n", b"base 1\n", b"task 1\n", 2, 2),
        b"between\n",
        Hunk(b"main 2\n", b"", b"task 2\n", 4, 4),
    ),
)
_BINARY = ConflictedFile("b.png", ConflictKind.BINARY)
_TANGLED = ConflictedFile("c", ConflictKind.PLACE)


def _bench(*files: ConflictedFile, decided: Decision | None = None) -> Bench:
    task = Task(
        "main", "T-2", "Validate", "\nReject unknown keys.\n", "general", 0, 2, TaskState.NEEDS_PERSON, "", 0.0
    )
    other = Task("main", "T-1", "Parse", "", "general", 0, 1, TaskState.DONE, "", 0.0)
    recorded = tuple(
        RecordedFile(one.path, one.kind, len(one.hunks), decided if decided and decided.path == one.path else None)
        for one in files
    )
    met = Conflict(("a.py",), "", "", ours="o" * 40, theirs="t" * 40)
    record = ConflictRecord(1, ref("T-2"), 7, "c" * 40, "b" * 40, met, recorded, ())
    run = Run(7, "main", "T-2", "bee", "o", 1, 1, RunState.LANDING)
    return Bench(ConflictView(record, task, run, ((other, None),), files, {}))


def _chosen(bench: Bench, choice: Choice) -> Bench:
    after = bench.choose(choice)
    assert isinstance(after, Bench), after
    return after


def test_what_is_agreed_on_stays_around_what_was_chosen() -> None:
    bench = _chosen(_bench(_TEXT), Choice.MAIN)
    assert bench.open == ("a.py (1 of 2 hunks)",)
    bench = _chosen(bench.to_hunk(1), Choice.BOTH)
    assert bench.open == ()
    assert bench.contents() == {"a.py": b"top\nmain 1\nbetween\nmain 2\ntask 2\n"}


def test_an_edited_hunk_counts_as_decided() -> None:
    bench = _bench(_TEXT).put(b"mine\n")
    assert bench.chosen is not None
    assert bench.chosen.how == "edited"
    assert _chosen(bench.to_hunk(1), Choice.TASK).contents()["a.py"] == b"top\nmine\nbetween\ntask 2\n"


def test_moving_goes_over_the_ends_of_files_and_stops_at_the_last() -> None:
    bench = _bench(_TEXT, _BINARY)
    places = [(bench.file, bench.hunk) for bench in (bench, bench.to_hunk(1), bench.to_hunk(2), bench.to_hunk(9))]
    assert places == [(0, 0), (0, 1), (1, 0), (1, 0)]
    assert (bench.to_file(1).file, bench.to_file(5).file, bench.to_file(-1).file) == (1, 1, 0)


def test_a_file_without_hunks_is_one_side_s_or_the_other_s() -> None:
    bench = _bench(_BINARY)
    assert isinstance(bench.choose(Choice.BOTH), str)
    assert _chosen(bench, Choice.TASK).decisions() == [Decision("b.png", "task", None)]
    assert _chosen(bench, Choice.TASK).open == ()


def test_paths_in_each_other_s_way_are_for_hands() -> None:
    said = _bench(_TANGLED).choose(Choice.MAIN)
    assert isinstance(said, str)
    assert "x deletes it" in said


def test_what_was_decided_before_is_not_open_and_not_sent_again() -> None:
    bench = _bench(_TEXT, _BINARY, decided=Decision("a.py", "main", None))
    assert bench.open == ("b.png",)
    assert _chosen(bench.to_file(1), Choice.MAIN).contents() == {}


def test_the_heading_says_who_meets_whom_and_the_reasons_why() -> None:
    bench = _bench(_TEXT)
    assert heading(bench, 0.0) == "CONFLICT  T-2 Validate (bee, run 7)  meets  T-1 Parse"
    assert place(bench) == "a.py  file 1/1 · hunk 1/2 · 0 of 2 decided"
    assert reasons(bench) == ("Parse", "Reject unknown keys.")


def test_a_file_without_a_side_to_take_can_be_deleted_and_undecided_again() -> None:
    bench = _bench(_TANGLED).delete()
    assert (bench.open, bench.decisions()) == ((), [Decision("c", "deleted", None)])
    assert bench.clear().open == ("c",)
    assert bench.progress == (1, 1)


def _known(bench: Bench, known: Remembered) -> Bench:
    return replace(bench, view=replace(bench.view, remembered={"a.py": known}))


def test_what_is_remembered_is_offered_until_it_is_taken_or_refused() -> None:
    bench = _known(_bench(_TEXT), Remembered({0: b"before\n"}, task="T-9", at=0.0))
    assert bench.offer == b"before\n"
    assert bench.to_hunk(1).offer is None
    assert bench.clear().offer is None
    taken = bench.take_offer()
    assert isinstance(taken, Bench)
    assert (taken.offer, taken.chosen) == (None, Chosen(b"before\n", "remembered"))
    assert isinstance(taken.take_offer(), str)


def test_a_resolution_that_went_beyond_the_hunks_is_offered_for_the_whole_file() -> None:
    taken = _known(_bench(_TEXT), Remembered({}, b"all of it\n")).take_offer()
    assert isinstance(taken, Bench)
    assert (taken.open, taken.contents()) == ((), {"a.py": b"all of it\n"})
    assert _chosen(taken, Choice.MAIN).contents() == {}, "a hunk that is chosen puts the file back to its hunks"


def test_the_file_so_far_has_markers_where_nothing_is_decided() -> None:
    bench = _chosen(_bench(_TEXT), Choice.TASK).to_hunk(1)
    marked = b"<<<<<<< main\nmain 2\n||||||| base\n=======\ntask 2\n>>>>>>> T-2\n"
    assert bench.so_far(0) == b"top\ntask 1\nbetween\n" + marked
    assert bench.line_so_far() == 4


def test_what_lies_in_the_folder_is_taken_over_hunk_by_hunk() -> None:
    content = b"top\nmain 1\nbetween\nmine\n"
    seen = FolderSeen({}, {"a.py": None}, {"a.py": content})
    bench, taken = _bench(_TEXT).taken_from(seen)
    assert taken == ("a.py",)
    assert [bench.hunks[0, number].how for number in (0, 1)] == ["main", "edited"]
    assert bench.contents() == {"a.py": content}
    assert bench.taken_from(seen) == (bench, ()), "what is here already changes nothing"


def test_on_another_look_what_was_decided_of_the_same_lines_is_kept() -> None:
    bench = _bench(_TEXT).put(b"mine\n").to_hunk(1).put(b"mine too\n")
    other = ConflictedFile("a.py", ConflictKind.CONTENT, parts=(b"new\n", *_TEXT.parts[3:]))
    carried = bench.carried_to(_bench(_BINARY, other).view)
    assert dict(carried.hunks) == {(1, 0): Chosen(b"mine too\n", "edited")}
    assert bench.typed_texts() == "== a.py, hunk 1\nmine\n\n== a.py, hunk 2\nmine too\n"


@pytest.mark.parametrize(
    ("content", "pieces"),
    [
        (b"top\nA\nbetween\nB\n", (b"A\n", b"B\n")),
        (b"top\nbetween\n", (b"", b"")),
        (b"other\nA\nbetween\nB\n", None),
        (b"top\nA\nB\n", None),
        (b"top\nA\nbetween\nbetween\nB\n", None),
    ],
)
def test_a_content_is_cut_where_the_hunks_are_or_not_at_all(content: bytes, pieces: tuple[bytes, ...] | None) -> None:
    assert _TEXT.pieces(content) == pieces


# -- a real one ----------------------------------------------------------------------------------------------------
@pytest.fixture
def met(kept: Kept, home: Path) -> Workshop:
    """T-1 has landed, T-2 waits in conflict with it, no dispatcher runs."""
    return two_agents_met(kept)


def _on_the_bench(recall: Driver) -> None:
    recall.needs.shows("T-2", "conflict with T-1", "c resolve")
    recall.board.select("T-2").press("conflict")
    recall.screen.shows("CONFLICT", "T-1 hello", "T-2 hello", "still open: README.md")


@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_a_resolution_is_verified_and_lands(met: Workshop) -> None:
    with open_session(met.repo.path) as session, driving(session, host=True) as recall:
        _on_the_bench(recall)
        recall.keys("a").says("still open: README.md (1 of 1 hunks)")
        recall.keys("3")
        recall.screen.shows("all decided", "result: both")
        recall.keys("a").says("T-2 is resolved")
        recall.header.shows("2 done")
        recall.press("quit").leaves()
    assert met.repo.git("show", "main:README.md") == "T-1 hello\nT-2 hello"


@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_a_hunk_can_be_written_by_hand(met: Workshop) -> None:
    with open_session(met.repo.path) as session, driving(session, host=True) as recall:
        _on_the_bench(recall)
        recall.keys("e")
        recall.screen.shows("ctrl+s keeps it")
        recall.keys("ctrl+a", *("delete",) * 3).types("both hello ").keys("ctrl+s")
        recall.screen.shows("result: edited").hides("ctrl+s keeps it")
        recall.keys("a").says("T-2 is resolved")
        recall.header.shows("2 done")
        recall.press("quit").leaves()
    assert met.repo.git("show", "main:README.md").startswith("both hello ")


@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_it_can_be_given_up_and_left_alone(met: Workshop) -> None:
    with open_session(met.repo.path) as session, driving(session) as recall:
        _on_the_bench(recall)
        recall.keys("escape")
        recall.board.shows("T-2")
        assert met.look()["T-2"].state is TaskState.NEEDS_PERSON
        _on_the_bench(recall)
        recall.keys("X")
        recall.screen.shows("Give T-2 up?")
        recall.keys("enter").says("T-2 is cancelled")
    assert met.look()["T-2"].state is TaskState.CANCELLED


@pytest.mark.e2e
@pytest.mark.timeout(180)
def test_it_can_be_sent_back_from_the_main_screen(met: Workshop) -> None:
    with open_session(met.repo.path) as session, driving(session) as recall:
        recall.board.select("T-2").press("send-back")
        recall.screen.shows("Send T-2 back", "1  any agent", "who wrote it")
        recall.keys("escape").screen.hides("Send T-2 back")
        assert met.look()["T-2"].state is TaskState.NEEDS_PERSON
        recall.press("send-back").keys("1").says("T-2 goes back to any agent")
    assert met.look()["T-2"].state is TaskState.TODO
