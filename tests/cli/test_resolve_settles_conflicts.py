"""`recall resolve` on a real conflict: every way out, and every way that makes no sense."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recall.domain.merge import MergeState
from recall.domain.run import RunResult
from recall.domain.task import TaskState
from tests.cli.conflict_ground import CONFIG, TASKS, Files, Ground, meeting
from tests.cli.conftest import Recall
from tests.support.hermetic_git import Repo
from tests.support.kept import Kept

LINES = "".join(f"line {number}\n" for number in range(1, 21))
MAIN_A, TASK_A = LINES.replace("line 5\n", "main 5\n"), LINES.replace("line 5\n", "task 5\n")
MAIN: Files = {"a.txt": MAIN_A, "b.txt": "main b\n", "pic": b"\0main"}
TASK: Files = {"a.txt": TASK_A, "b.txt": "task b\n", "pic": b"\0task", "new.txt": "new\n"}
BEFORE: Files = {"a.txt": LINES, "b.txt": "b\n", "pic": b"\0before"}


@pytest.fixture
def ground(repo: Repo, cli: Recall, monkeypatch: pytest.MonkeyPatch) -> Ground:
    repo.commit("set up", {"recall.toml": CONFIG, "TASKS.md": TASKS})
    monkeypatch.chdir(repo.path)
    assert cli("import").code == 0
    return Ground(repo)


@pytest.fixture
def met(kept: Kept, home: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    ground = meeting(kept, "three-files", MAIN, TASK, BEFORE)
    monkeypatch.chdir(ground.repo.path)
    return ground


def on_main(ground: Ground, path: str) -> bytes:
    return ground.repo.file(path, "main")


# -- looking ---------------------------------------------------------------------------------------------------
def test_it_shows_both_tasks_the_hunks_and_the_ways_out(met: Ground, cli: Recall) -> None:
    shown = cli("resolve", "T-2")
    assert (shown.code, shown.err) == (0, "")
    head = shown.out.splitlines()[0]
    assert head.startswith("T-2 Colour the map (ann, run 2) meets T-1 Draw the map (ann, landed ")
    assert "conflict with T-1 in a.txt and 2 more, 2 hunks" in shown.out
    assert "a.txt  content, 1 hunk" in shown.out
    assert "pic  binary" in shown.out
    assert "      5  main 5" in shown.out
    assert "      5  task 5" in shown.out
    for way in ("--take main|task", "--checkout DIR", "--send-back", "--restart", "--give-up"):
        assert way in shown.out
    assert "--remembered" not in shown.out


def test_looking_changes_nothing(met: Ground, cli: Recall) -> None:
    seq = met.last_seq()
    refs = met.repo.git("for-each-ref")
    cli("resolve", "T-2")
    assert (met.last_seq(), met.repo.git("for-each-ref")) == (seq, refs)


def test_hostile_text_is_shown_and_not_obeyed(ground: Ground, cli: Recall) -> None:
    ground.meet({"x": "\x1b[2Jmain\n"}, {"x": "\x1b]0;title\x07task\n"}, {"x": "x\n"})
    shown = cli("resolve", "T-2").out
    assert "\x1b" not in shown
    assert "main" in shown


def test_a_long_side_is_cut_and_says_so(ground: Ground, cli: Recall) -> None:
    ground.meet({"x": "m\n" * 40}, {"x": "t\n"}, {"x": "x\n"})
    assert "and 28 more lines" in cli("resolve", "T-2").out


@pytest.mark.parametrize(
    "way", [[], ["--take", "task"], ["--continue"], ["--send-back"], ["--restart"], ["--give-up"]]
)
def test_a_task_without_conflict_is_refused_with_its_state(met: Ground, cli: Recall, way: list[str]) -> None:
    before = met.task("T-3")
    refused = cli("resolve", "T-3", *way)
    assert (refused.code, refused.err) == (1, "T-3 is in no conflict: it is todo\n")
    assert met.task("T-3") == before


@pytest.mark.parametrize(
    "arguments", [["--take", "task", "--restart"], ["a.txt"], ["--restart", "a.txt"], ["--take", "ours"]]
)
def test_what_makes_no_sense_is_a_wrong_command_line(met: Ground, cli: Recall, arguments: list[str]) -> None:
    assert cli("resolve", "T-2", *arguments).code == 2
    assert met.entry().state is MergeState.CONFLICT


# -- taking a side -----------------------------------------------------------------------------------------------
def test_the_tasks_side_of_everything(met: Ground, cli: Recall) -> None:
    seq = met.last_seq()
    done = cli("resolve", "T-2", "--take", "task")
    assert (done.code, "back in the merge queue" in done.out) == (0, True)
    assert [(event.kind, event.actor) for event in met.events(seq)] == [("merge.resolved", "cli")]
    assert (met.entry().state, met.task().state) == (MergeState.QUEUED, TaskState.LANDING)
    met.step()
    assert (met.task().state, met.runs()[0].result) == (TaskState.DONE, RunResult.LANDED)
    assert [on_main(met, path) for path in ("a.txt", "b.txt", "pic", "new.txt")] == [
        TASK_A.encode(), b"task b\n", b"\0task", b"new\n"
    ]  # fmt: skip
    assert met.repo.git("log", "-1", "--format=%an|%s", "main") == "Ann|T-2: do it"


def test_one_path_after_the_other_is_kept_until_the_last(met: Ground, cli: Recall) -> None:
    seq = met.last_seq()
    first = cli("resolve", "T-2", "--take", "main", "b.txt")
    assert "still to be decided: a.txt, pic" in first.out
    assert met.entry().state is MergeState.CONFLICT
    assert "b.txt  add/add" not in cli("resolve", "T-2").out
    assert "b.txt  content, 1 hunk  decided: main" in cli("resolve", "T-2").out
    assert "still to be decided: a.txt" in cli("resolve", "T-2", "--take", "task", "pic").out
    assert cli("resolve", "T-2", "--take", "task").code == 0
    assert [event.kind for event in met.events(seq)] == ["merge.decided", "merge.decided", "merge.resolved"]
    met.step()
    assert [on_main(met, path) for path in ("b.txt", "pic")] == [b"main b\n", b"\0task"]
    assert on_main(met, "a.txt") == TASK_A.encode()


def test_a_decision_can_be_changed_while_something_is_open(met: Ground, cli: Recall) -> None:
    cli("resolve", "T-2", "--take", "main", "b.txt")
    cli("resolve", "T-2", "--take", "task", "b.txt")
    cli("resolve", "T-2", "--take", "task")
    met.step()
    assert on_main(met, "b.txt") == b"task b\n"


def test_a_path_that_is_not_in_conflict_is_refused_naming_those_that_are(met: Ground, cli: Recall) -> None:
    refused = cli("resolve", "T-2", "--take", "task", "new.txt")
    assert (refused.code, refused.err) == (1, "new.txt is not in conflict; what is: a.txt, b.txt, pic\n")


def test_main_everywhere_when_the_task_adds_nothing_else_is_refused(ground: Ground, cli: Recall) -> None:
    ground.meet({"x": "main\n"}, {"x": "task\n"}, {"x": "x\n"})
    refused = cli("resolve", "T-2", "--take", "main")
    assert refused.code == 1
    assert "leaves nothing of T-2" in refused.err
    assert ground.entry().state is MergeState.CONFLICT


@pytest.mark.parametrize(("side", "there"), [("main", False), ("task", True)])
def test_a_deletion_is_a_side_too(ground: Ground, cli: Recall, side: str, there: bool) -> None:
    ground.meet({"x": None}, {"x": "task\n", "y": "y\n"}, {"x": "x\n"})
    assert "deleted on main" in cli("resolve", "T-2").out
    assert cli("resolve", "T-2", "--take", side).code == 0
    ground.step()
    assert ("x" in ground.repo.files("main"), "y" in ground.repo.files("main")) == (there, True)


def test_paths_in_each_others_way_need_hands(ground: Ground, cli: Recall, tmp_path: Path) -> None:
    ground.meet({"k": "main\n"}, {"k": None, "k/inner": "task\n"}, {"k": "k\n"})
    refused = cli("resolve", "T-2", "--take", "task")
    assert refused.code == 1
    assert "--checkout DIR" in refused.err
    folder = tmp_path / "by-hand"
    assert cli("resolve", "T-2", "--checkout", str(folder)).code == 0
    (moved,) = folder.glob("k~*")
    moved.rename(folder / "k.txt")
    assert cli("resolve", "T-2", "--continue").code == 0
    ground.step()
    assert {"k.txt", "k/inner"} <= set(ground.repo.files("main"))


# -- by hand -------------------------------------------------------------------------------------------------------
def test_a_folder_is_edited_and_taken_over(met: Ground, cli: Recall, tmp_path: Path) -> None:
    folder = tmp_path / "by-hand"
    told = cli("resolve", "T-2", "--checkout", str(folder))
    assert (told.code, "--continue" in told.out) == (0, True)
    assert f"You edit it in {folder}" in cli("resolve", "T-2").out
    early = cli("resolve", "T-2", "--continue")
    assert early.code == 1
    assert [line.strip() for line in early.err.splitlines()[1:]] == [
        "a.txt:5: a conflict marker is left",
        "b.txt:1: a conflict marker is left",
        "pic: rename pic~main or pic~task to it, delete the rest",
    ]
    assert met.entry().state is MergeState.CONFLICT
    (folder / "a.txt").write_text("mine\n")
    (folder / "b.txt").unlink()
    (folder / "pic~task").rename(folder / "pic")
    (folder / "pic~main").unlink()
    seq = met.last_seq()
    assert cli("resolve", "T-2", "--continue").code == 0
    assert [event.kind for event in met.events(seq)] == ["merge.resolved"]
    met.step()
    assert (on_main(met, "a.txt"), on_main(met, "pic")) == (b"mine\n", b"\0task")
    assert "b.txt" not in met.repo.files("main")
    assert "pic~main" not in met.repo.files("main")


def test_a_folder_is_relative_to_where_the_person_is(met: Ground, cli: Recall) -> None:
    cli("resolve", "T-2", "--checkout", "../by-hand")
    assert (met.repo.path.parent / "by-hand" / "a.txt").exists()


def test_a_used_folder_is_refused_and_nothing_is_remembered_of_it(met: Ground, cli: Recall, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine\n")
    assert cli("resolve", "T-2", "--checkout", str(tmp_path / "full")).code == 1
    refused = cli("resolve", "T-2", "--continue")
    assert (refused.code, "--checkout DIR" in refused.err) == (1, True)


# -- remembered ----------------------------------------------------------------------------------------------------
def test_a_remembered_resolution_is_offered_and_taken(ground: Ground, cli: Recall, tmp_path: Path) -> None:
    ground.repo.commit("before", {"x": LINES, "y": "y\n"})
    ground.begin("T-1", "T-2", "T-3")
    ground.finish("T-1", {"x": MAIN_A, "y": "main\n"})
    ground.finish("T-2", {"x": TASK_A})
    ground.finish("T-3", {"x": TASK_A, "y": "other\n"})
    ground.step()
    assert cli("resolve", "T-3", "--remembered").code == 1
    folder = tmp_path / "by-hand"
    cli("resolve", "T-2", "--checkout", str(folder))
    (folder / "x").write_text(LINES.replace("line 5\n", "both 5\n"))
    assert cli("resolve", "T-2", "--continue").code == 0
    shown = cli("resolve", "T-3").out
    assert "A remembered resolution fits x (from T-2, " in shown
    assert "  recall resolve T-3 --remembered" in shown
    refused = cli("resolve", "T-3", "--remembered", "y")
    assert (refused.code, "for y" in refused.err) == (1, True)
    assert "still to be decided: y" in cli("resolve", "T-3", "--remembered").out
    assert "x  content, 1 hunk  decided: remembered" in cli("resolve", "T-3").out
    assert cli("resolve", "T-3", "--take", "task", "y").code == 0
    ground.step()
    assert (on_main(ground, "x").splitlines()[4], on_main(ground, "y")) == (b"both 5", b"other\n")


def test_a_remembered_hunk_is_offered_beside_one_that_is_new(ground: Ground, cli: Recall) -> None:
    ground.repo.commit("before", {"x": LINES})
    ground.begin("T-1", "T-2", "T-3")
    ground.finish("T-1", {"x": MAIN_A.replace("line 15", "main 15")})
    ground.finish("T-2", {"x": TASK_A})
    ground.finish("T-3", {"x": TASK_A.replace("line 15", "task 15")})
    ground.step()
    assert cli("resolve", "T-2", "--hunks", "both", "x").code == 0
    assert "Of x, hunk 1 is remembered (from T-2, " in cli("resolve", "T-3").out
    (file,) = cli("resolve", "T-3", "--json").json["files"]
    assert [hunk["remembered"] for hunk in file["hunks"]] == ["main 5\ntask 5\n", None]
    assert "for hunk 2 of x" in cli("resolve", "T-3", "--hunks", "remembered,remembered", "x").err
    ground.step()
    assert ground.entry("T-3").state is MergeState.CONFLICT
    assert cli("resolve", "T-3", "--hunks", "main,task", "x").code == 0


# -- hunk by hunk, and by other contents ---------------------------------------------------------------------------
@pytest.fixture
def two_hunks(kept: Kept, home: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    main: Files = {"x": MAIN_A.replace("line 15", "main 15"), "z": None}
    task: Files = {"x": TASK_A.replace("line 15", "task 15"), "z": "task\n"}
    ground = meeting(kept, "two-hunks-and-a-file", main, task, {"x": LINES, "z": "z\n"})
    monkeypatch.chdir(ground.repo.path)
    return ground


def test_each_hunk_gets_its_side(two_hunks: Ground, cli: Recall) -> None:
    assert "still to be decided: z" in cli("resolve", "T-2", "--hunks", "both, task", "x").out
    assert cli("resolve", "T-2", "--delete", "z").code == 0
    two_hunks.step()
    lines = on_main(two_hunks, "x").splitlines()
    assert (lines[4:6], lines[15]) == ([b"main 5", b"task 5"], b"task 15")
    assert "z" not in two_hunks.repo.files("main")


def test_a_choice_for_each_hunk_is_asked_for(two_hunks: Ground, cli: Recall) -> None:
    refused = cli("resolve", "T-2", "--hunks", "main", "x")
    assert (refused.code, "x has 2 hunks, choices were given for 1" in refused.err) == (1, True)
    assert "z has 0 hunks" in cli("resolve", "T-2", "--hunks", "main", "z").err
    wrong = cli("resolve", "T-2", "--hunks", "main,mine", "x")
    assert (wrong.code, "'mine' is no choice" in wrong.err) == (2, True)


def test_a_file_of_ones_own_is_taken(two_hunks: Ground, cli: Recall, tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine\n")
    assert cli("resolve", "T-2", "--with", str(tmp_path / "mine"), "x").code == 0
    assert cli("resolve", "T-2", "--take", "task").code == 0
    two_hunks.step()
    assert (on_main(two_hunks, "x"), on_main(two_hunks, "z")) == (b"mine\n", b"task\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--hunks", "main"], ["--hunks", "main", "x", "z"], ["--with", "recall.toml"], ["--delete"],
        ["--agent", "ann"], ["--send-back", "ann", "--agent", "ann"], ["--delete", "--restart", "x"],
    ],
)  # fmt: skip
def test_ways_that_need_paths_or_a_name_say_so(two_hunks: Ground, cli: Recall, arguments: list[str]) -> None:
    seq = two_hunks.last_seq()
    assert cli("resolve", "T-2", *arguments).code == 2
    assert two_hunks.last_seq() == seq


def test_the_base_is_shown_on_request(two_hunks: Ground, cli: Recall) -> None:
    assert "  base\n" not in cli("resolve", "T-2").out
    assert "  base\n      1  line 5\n  main\n      5  main 5" in cli("resolve", "T-2", "--base").out


# -- for programs --------------------------------------------------------------------------------------------------
def test_a_program_gets_both_tasks_and_every_side(two_hunks: Ground, cli: Recall) -> None:
    cli("resolve", "T-2", "--take", "main", "z")
    told = cli("resolve", "T-2", "--json").json
    assert (told["task"], told["title"], told["agent"], told["folder"]) == ("T-2", "Colour the map", "ann", None)
    assert [(other["task"], other["agent"]) for other in told["others"]] == [("T-1", "ann")]
    assert told["agents"] == ["ann"]
    x, z = told["files"]
    assert (x["path"], x["kind"], x["decision"], x["remembered"]) == ("x", "content", None, None)
    assert [hunk["main"] for hunk in x["hunks"]] == ["main 5\n", "main 15\n"]
    assert (x["hunks"][0]["base"], x["hunks"][0]["task"], x["hunks"][0]["task_line"]) == ("line 5\n", "task 5\n", 5)
    assert (z["kind"], z["main"], z["decision"]) == ("deleted on main", None, {"how": "main", "version": None})


def test_what_was_done_is_one_object_for_programs(two_hunks: Ground, cli: Recall) -> None:
    done = cli("resolve", "T-2", "--take", "main", "x", "--json").json
    assert (done["code"], done["said"], done["error"]) == (0, ["kept; still to be decided: z"], None)
    assert "is not in conflict" in cli("resolve", "T-2", "--take", "main", "y", "--json").json["error"]


# -- ending it -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("way", "kind", "state"),
    [
        ("--send-back", "task.sent_back", TaskState.TODO),
        ("--restart", "task.restarted", TaskState.TODO),
        ("--give-up", "task.cancelled", TaskState.CANCELLED),
    ],
)
def test_an_end_costs_nothing_and_parks_the_work(
    met: Ground, cli: Recall, way: str, kind: str, state: TaskState
) -> None:
    seq = met.last_seq()
    ended = cli("resolve", "T-2", way)
    assert (ended.code, "refs/recall/parked/2" in ended.out) == (0, True)
    task = met.task()
    assert (task.state, task.attempts, task.interruptions, task.lease_owner) == (state, 0, 0, None)
    assert met.entry().state is MergeState.REJECTED
    assert [event.kind for event in met.events(seq)] == [kind, "workspace.closed"]
    assert met.repo.file("new.txt", "refs/recall/parked/2") == b"new\n"
    assert (met.task().brief != "") == (way == "--send-back")
    again = cli("resolve", "T-2", way)
    assert again.code == 1


def test_sent_back_to_one_agent_nobody_else_gets_it_and_the_wish_ends_with_the_claim(
    met: Ground, cli: Recall
) -> None:
    cli("prioritize", "T-2", "9")
    assert cli("resolve", "T-2", "--send-back", "ann").code == 0
    assert cli("next", "--agent", "zoe").code == 10
    assert "ann" in cli("why", "T-2").out
    assert cli("next", "--agent", "ann", "--json").json["task"] == "T-2"
    assert met.task().sent_to is None
    assert "main 5" in met.task().brief
    assert "task 5" in met.task().brief


def test_the_agent_may_be_named_by_an_option(met: Ground, cli: Recall) -> None:
    assert "goes back to ann" in cli("resolve", "T-2", "--send-back", "--agent", "ann").out


@pytest.mark.parametrize(("agent", "words"), [("anne", "did you mean ann?"), ("bob", "may not take T-2")])
def test_an_agent_that_cannot_take_it_is_refused(met: Ground, cli: Recall, agent: str, words: str) -> None:
    refused = cli("resolve", "T-2", "--send-back", agent)
    assert (refused.code, words in refused.err) == (1, True)
    assert met.entry().state is MergeState.CONFLICT


def test_requeueing_forgets_what_was_said_when_it_was_sent_back(met: Ground, cli: Recall) -> None:
    cli("resolve", "T-2", "--send-back", "ann")
    cli("hold", "T-2")
    assert cli("requeue", "T-2").code == 0
    assert (met.task().sent_to, met.task().brief) == (None, "")


def test_a_persons_resolution_that_met_main_again_is_kept_when_it_is_given_up(met: Ground, cli: Recall) -> None:
    cli("resolve", "T-2", "--take", "task")
    met.repo.commit("by hand", {"b.txt": "person\n"})
    met.step()
    assert met.entry().state is MergeState.CONFLICT
    given_up = cli("resolve", "T-2", "--give-up")
    assert "refs/recall/parked/2-result" in given_up.out
    assert met.repo.file("a.txt", "refs/recall/parked/2-result") == TASK_A.encode()
    met.repo.git("fsck", "--connectivity-only")
    assert {"2", "2-result"} <= {row["name"] for row in cli("workspaces", "list", "--json").json}


def test_a_branch_that_was_handed_in_is_kept_when_it_is_given_up(ground: Ground, cli: Recall) -> None:
    ground.repo.commit("before", BEFORE)
    ground.begin("T-1")
    cli("next", "--agent", "zoe")
    ground.repo.switch("mine", create=True)
    ground.repo.commit("by zoe", {"b.txt": "zoe\n"})
    ground.repo.switch("main")
    handed = cli("outcome", "--task", "T-2", "--agent", "zoe", "--result", "success", "--branch", "mine")
    assert handed.code == 0, handed
    ground.finish("T-1", MAIN)
    assert cli("queue", "move", "T-1", "1").code == 0
    ground.step()
    assert ground.entry().state is MergeState.CONFLICT
    given_up = cli("resolve", "T-2", "--give-up")
    assert "-result" in given_up.out
    assert ground.repo.tip("mine")
    assert os.fsdecode(ground.repo.file("b.txt", f"refs/recall/parked/{ground.runs()[0].id}-result")) == "zoe\n"
