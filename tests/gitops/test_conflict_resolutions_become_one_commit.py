"""Decisions, a folder edited by hand, and remembered resolutions: each becomes one commit on top of main."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.domain.conflict import ConflictKind, Decision, Side
from recall.domain.work import Conflict
from tests.gitops.conflict_scene import LABELS, LINES, Files, Scene, edited
from tests.support.hermetic_git import Repo


def content(repo: Repo) -> Scene:
    before = {"f": LINES, "g": "g\n"}
    return Scene(repo, before, {"f": edited(l5="m"), "h": "h\n"}, {"f": edited(l5="t"), "g": "task\n"})


# -- taking a side ---------------------------------------------------------------------------------------------
SIDES: dict[str, tuple[Files, Files, Files]] = {
    "content": ({"f": LINES}, {"f": edited(l5="m")}, {"f": edited(l5="t")}),
    "add/add": ({}, {"f": "m\n"}, {"f": "t\n"}),
    "deleted on main": ({"f": LINES}, {"f": None}, {"f": "t\n"}),
    "deleted by task": ({"f": LINES}, {"f": "m\n"}, {"f": None}),
    "binary": ({"f": b"\0b"}, {"f": b"\0m"}, {"f": b"\0t"}),
    "renamed twice": ({"f": LINES}, {"f": None, "m": LINES}, {"f": None, "t": LINES}),
    "renamed and edited": ({"f": LINES}, {"f": None, "m": edited(l5="m")}, {"f": edited(l5="t")}),
}


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("name", SIDES)
def test_one_side_everywhere(repo: Repo, name: str, side: Side) -> None:
    before, main, task = SIDES[name]
    scene = Scene(repo, {**before, "keep": "k\n"}, main, {**task, "new": "n\n"})
    candidate = scene.landed(scene.desk.tree(scene.met, scene.sided(side)))
    expected = {"README.md", "TASKS.md", "keep", "new"}
    wanted = scene.onto if side is Side.MAIN else scene.tip
    expected |= {path for path in scene.files if scene.files[path].version(side) is not None}
    see = scene.see()
    assert set(see.files(candidate)) == expected
    for path, file in scene.files.items():
        version = file.version(side)
        if version is not None:
            assert see.git("rev-parse", f"{candidate}:{path}") == version.oid
    if name == "content":
        assert see.file("f", candidate) == repo.file("f", wanted)


def test_the_commit_is_the_tasks_on_top_of_main(repo: Repo) -> None:
    scene = content(repo)
    candidate = scene.landed(scene.desk.tree(scene.met, scene.sided(Side.TASK)))
    see = scene.see()
    assert see.git("rev-list", "--count", f"{scene.onto}..{candidate}") == "1"
    assert see.git("log", "-1", "--format=%an <%ae>", candidate) == "Ada <ada@example.invalid>"
    assert see.message(candidate) == (
        "task's side\n\nwhy it is so\n\nRecall-Task: T-1\nRecall-Run: 7\nRecall-Agent: ant"
    )
    assert see.tip("refs/recall/original/3") == scene.tip
    assert {path: see.file(path, candidate) for path in "gh"} == {"g": b"task\n", "h": b"h\n"}


def test_a_resolution_may_meet_main_again_and_be_resolved_again(repo: Repo) -> None:
    scene = content(repo)
    first = scene.desk.commit(scene.record(), scene.desk.tree(scene.met, scene.sided(Side.TASK)))
    later = repo.commit("later", {"f": edited(l5="later")})
    outcome = scene.gateway.rebase(base=scene.met.ours, tip=first, onto=later, trailers={})
    assert isinstance(outcome, Conflict)
    scene.met, scene.base, scene.tip = outcome, scene.met.ours, first
    candidate = scene.landed(scene.desk.tree(scene.met, scene.sided(Side.TASK)))
    assert scene.see().file("f", candidate) == edited(l5="t").encode()
    assert scene.see().git("rev-list", "--count", f"{later}..{candidate}") == "1"
    assert scene.see().subjects(scene.see().tip("refs/recall/original/3"))[-1] == "task's side"


def test_a_resolution_where_main_was_rewritten_lands_on_the_new_main(repo: Repo) -> None:
    scene = content(repo)
    repo.git("reset", "-q", "--hard", f"{scene.base}~1")
    onto = repo.commit("main anew", {"f": edited(l5="anew")})
    scene.met = scene.meet(scene.base, scene.tip, onto)
    decisions = scene.sided(Side.TASK)
    candidate = scene.landed(scene.desk.tree(scene.met, decisions))
    assert scene.see().git("rev-list", f"{onto}..{candidate}").split() == [candidate]
    assert scene.see().file("f", candidate) == edited(l5="t").encode()


def test_a_files_mode_comes_from_the_side_that_changed_it(repo: Repo) -> None:
    scene = content(repo)
    repo.switch("work")
    repo.write("f", edited(l5="t"), mode=0o755)
    scene.tip = repo.commit("make it a program")
    repo.switch("main")
    assert scene.gateway.integration.carry(scene.tip, [scene.base]) is None
    scene.met = scene.meet(scene.base, scene.tip, scene.onto)
    version = scene.desk.write(scene.files["f"], b"#!/bin/sh\n")
    tree = scene.desk.tree(scene.met, [Decision("f", "edited", version)])
    assert scene.see().git("ls-tree", tree, "f").startswith("100755")


def test_main_everywhere_is_known_to_leave_nothing(repo: Repo) -> None:
    scene = Scene(repo, {"f": LINES}, {"f": edited(l5="m")}, {"f": edited(l5="t")})
    assert scene.desk.is_mains(scene.met, scene.desk.tree(scene.met, scene.sided(Side.MAIN)))
    assert not scene.desk.is_mains(scene.met, scene.desk.tree(scene.met, scene.sided(Side.TASK)))


# -- by hand ---------------------------------------------------------------------------------------------------
def test_the_folder_holds_the_merge_with_labelled_markers(repo: Repo, tmp_path: Path) -> None:
    folder = content(repo).check_out(tmp_path / "by-hand")
    text = (folder / "f").read_text()
    assert "<<<<<<< main (T-2)\nm\n||||||| base\nline 5\n=======\nt\n>>>>>>> T-1\n" in text
    assert {(folder / name).read_text() for name in "gh"} == {"task\n", "h\n"}


def test_git_works_in_the_folder_and_is_nobodys(repo: Repo, tmp_path: Path) -> None:
    scene = content(repo)
    before = repo.git("for-each-ref"), repo.git("worktree", "list"), (repo.git_dir / "config").read_bytes()
    folder = Repo(scene.check_out(tmp_path / "by-hand"))
    assert folder.git_dir == folder.path / ".git"
    assert "UU f" in folder.status()
    assert "++<<<<<<< main (T-2)" in folder.git("diff")
    folder.write("f", "resolved\n")
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", "for myself")
    after = repo.git("for-each-ref"), repo.git("worktree", "list"), (repo.git_dir / "config").read_bytes()
    assert after == before


def test_what_was_edited_there_is_taken_over(repo: Repo, tmp_path: Path) -> None:
    scene = content(repo)
    folder = scene.check_out(tmp_path / "by-hand")
    (folder / "f").write_text(edited(l5="both"))
    (folder / "h").unlink()
    (folder / "more").mkdir()
    (folder / "more" / "new").write_text("new\n")
    (folder / "g").chmod(0o755)
    taken = scene.taken(folder)
    assert taken.open == {}
    candidate = scene.landed(taken.tree)
    see = scene.see()
    assert see.file("f", candidate) == edited(l5="both").encode()
    assert set(see.files(candidate)) == {"README.md", "TASKS.md", "f", "g", "more/new"}
    assert see.git("ls-tree", candidate, "g").startswith("100755")


@pytest.mark.parametrize(
    ("left", "line"),
    [
        ("<<<<<<< main (T-2)\nm\n||||||| base\nb\n=======\nt\n>>>>>>> T-1\n", 1),
        ("m\n=======\nt\n", 2),
        ("m\nt\n>>>>>>> T-1\n", 3),
        ("m\r\n||||||| base\r\nt\r\n", 2),
    ],
)
def test_a_marker_that_is_left_is_named_with_its_line(repo: Repo, tmp_path: Path, left: str, line: int) -> None:
    scene = content(repo)
    folder = scene.check_out(tmp_path / "by-hand")
    (folder / "f").write_text(left)
    assert scene.taken(folder).open == {"f": f"f:{line}: a conflict marker is left"}


def test_text_that_only_looks_like_a_marker_is_no_marker(repo: Repo, tmp_path: Path) -> None:
    title = "Title\n=======\n"
    scene = Scene(repo, {"f": title + "b\n"}, {"f": title + "m\n"}, {"f": title + "t\n"})
    folder = scene.check_out(tmp_path / "by-hand")
    (folder / "f").write_text(title + "both\n<<<<<<< HEAD\n")
    assert scene.taken(folder).open == {}


def test_files_without_lines_lie_beside_each_other_until_one_is_chosen(repo: Repo, tmp_path: Path) -> None:
    scene = Scene(
        repo,
        {"pic": b"\0b", "gone": "gone\n", "old": LINES},
        {"pic": b"\0m", "gone": None, "old": None, "on-main": LINES},
        {"pic": b"\0t", "gone": "t\n", "old": None, "by-task": LINES},
    )
    folder = scene.check_out(tmp_path / "by-hand")
    names = {path.name for path in folder.iterdir()} - {".git", "README.md", "TASKS.md"}
    assert names == {"pic~main", "pic~task", "gone~task", "on-main~main", "by-task~task"}
    assert set(scene.taken(folder).open) == {"pic", "gone", "on-main", "by-task"}
    (folder / "pic~task").rename(folder / "pic")
    (folder / "pic~main").unlink()
    (folder / "gone~task").unlink()
    (folder / "on-main~main").rename(folder / "on-main")
    assert set(scene.taken(folder).open) == {"by-task"}
    (folder / "by-task~task").unlink()
    taken = scene.taken(folder)
    assert taken.open == {}
    see = scene.see()
    assert set(see.files(taken.tree)) == {"README.md", "TASKS.md", "pic", "on-main"}
    assert see.file("pic", taken.tree) == b"\0t"


def test_a_chosen_file_counts_although_it_is_ignored(repo: Repo, tmp_path: Path) -> None:
    repo.write("pic.bin", b"\0b")
    repo.git("add", "-f", "pic.bin")
    repo.commit("ignore", {".gitignore": "*.bin\n"})
    scene = Scene(repo, {"keep": "k"}, {"pic.bin": b"\0m"}, {"pic.bin": b"\0t"})
    folder = scene.check_out(tmp_path / "by-hand")
    (folder / "pic.bin~main").rename(folder / "pic.bin")
    (folder / "pic.bin~task").unlink()
    (folder / "other.bin").write_bytes(b"litter")
    taken = scene.taken(folder)
    assert taken.open == {}
    assert scene.see().file("pic.bin", taken.tree) == b"\0m"
    assert "other.bin" not in scene.see().files(taken.tree)


def test_a_file_and_a_folder_of_one_name_need_hands(repo: Repo, tmp_path: Path) -> None:
    scene = Scene(repo, {"k": "b\n"}, {"k": "m\n"}, {"k": None, "k/inner": "t\n"})
    (name,) = scene.files
    folder = scene.check_out(tmp_path / "by-hand")
    assert "another name" in scene.taken(folder).open[name]
    (folder / name).rename(folder / "k.txt")
    taken = scene.taken(folder)
    assert taken.open == {}
    assert {"k.txt", "k/inner"} <= set(scene.see().files(taken.tree))


def test_of_a_file_and_a_folder_of_one_name_the_file_can_be_deleted(repo: Repo) -> None:
    scene = Scene(repo, {"k": "b\n"}, {"k": "m\n"}, {"k": None, "k/inner": "t\n"})
    (name,) = scene.files
    tree = scene.desk.tree(scene.met, [Decision(name, "deleted", None)])
    assert scene.see().files(tree) == ["README.md", "TASKS.md", "k/inner"]


def test_the_folder_says_what_is_settled_and_what_changed_beside_it(repo: Repo, tmp_path: Path) -> None:
    scene = content(repo)
    folder = scene.check_out(tmp_path / "by-hand")
    assert scene.taken(folder).settled == {}
    (folder / "f").write_text(edited(l5="both"))
    (folder / "README.md").write_text("changed too\n")
    taken = scene.taken(folder)
    version = taken.settled["f"]
    assert version is not None
    assert scene.desk.read({version})[version] == edited(l5="both").encode()
    assert taken.elsewhere == ("README.md",)


def test_what_is_decided_is_written_into_the_folder_but_never_over_a_persons_work(repo: Repo, tmp_path: Path) -> None:
    scene = content(repo)
    folder = scene.check_out(tmp_path / "by-hand")
    seen, text = scene.record(folder=folder), edited(l5="both").encode()
    assert scene.desk.place(seen, LABELS, "f", text, ()) == text
    assert (folder / "f").read_bytes() == text
    assert scene.desk.place(seen, LABELS, "f", b"other", [text]) == b"other"
    (folder / "f").write_text("mine\n")
    assert scene.desk.place(seen, LABELS, "f", text, [b"other"]) == b"mine\n"
    assert (folder / "f").read_text() == "mine\n"
    (folder / "f").unlink()
    assert scene.desk.place(seen, LABELS, "f", text, ()) is None


def test_names_beside_each_other_take_nobodys_place(repo: Repo, tmp_path: Path) -> None:
    repo.commit("ignore", {".gitignore": "*~main~\n"})
    scene = Scene(repo, {"pic": b"\0b", "pic~main": "mine\n"}, {"pic": b"\0m"}, {"pic": b"\0t"})
    folder = scene.check_out(tmp_path / "by-hand")
    assert (folder / "pic~main").read_text() == "mine\n"
    assert scene.taken(folder).open == {"pic": "pic: rename pic~main~ or pic~task to it, delete the rest"}
    (folder / "pic~task").unlink()
    assert "pic" in scene.taken(folder).open, "an ignored name counts as well"
    (folder / "pic~main~").rename(folder / "pic")
    taken = scene.taken(folder)
    assert taken.open == {}
    assert scene.see().files(taken.tree) == [".gitignore", "README.md", "TASKS.md", "pic", "pic~main"]


def test_a_folder_that_was_written_already_may_be_named_again(repo: Repo, tmp_path: Path) -> None:
    scene = content(repo)
    folder = scene.check_out(tmp_path / "by-hand")
    (folder / "f").write_text("half done\n")
    assert scene.desk.check_out(scene.record(), folder, LABELS) == ""
    assert (folder / "f").read_text() == "half done\n"


@pytest.fixture
def linked(repo: Repo) -> Scene:
    """Both sides point a submodule somewhere else."""

    def point(to: str) -> str:
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{to * 40},sub")
        (repo.path / "sub").mkdir(exist_ok=True)
        repo.git("commit", "-q", "-m", f"point at {to}")
        return repo.tip()

    scene = content(repo)
    repo.git("checkout", "-q", "-B", "main", scene.base)
    scene.base = point("1")
    repo.git("checkout", "-q", "-B", "work")
    scene.tip = point("3")
    repo.git("checkout", "-q", "-B", "main", scene.base)
    scene.onto = point("2")
    assert scene.gateway.integration.carry(scene.tip, [scene.base]) is None
    scene.met = scene.meet(scene.base, scene.tip, scene.onto)
    return scene


@pytest.mark.parametrize(("side", "wanted"), [(Side.MAIN, "2" * 40), (Side.TASK, "3" * 40)])
def test_a_submodule_is_settled_by_a_side(linked: Scene, tmp_path: Path, side: Side, wanted: str) -> None:
    assert linked.files["sub"].kind is ConflictKind.SUBMODULE
    decisions = linked.sided(side)
    assert linked.see().git("rev-parse", f"{linked.desk.tree(linked.met, decisions)}:sub") == wanted
    folder = linked.check_out(tmp_path / "by-hand")
    assert "--take main|task" in linked.taken(folder).open["sub"]
    taken = linked.taken(folder, *decisions)
    assert taken.open == {}
    assert linked.see().git("rev-parse", f"{taken.tree}:sub") == wanted


def test_what_was_decided_before_stands_in_the_folder_and_in_place_of_what_is_open(
    repo: Repo, tmp_path: Path
) -> None:
    scene = Scene(
        repo, {"a": LINES, "b": b"\0b", "c": LINES},
        {"a": edited(l5="m"), "b": b"\0m", "c": edited(l5="m")},
        {"a": edited(l5="t"), "b": b"\0t", "c": edited(l5="t")},
    )  # fmt: skip
    decided = {one.path: one for one in scene.sided(Side.TASK)}
    folder = scene.check_out(tmp_path / "by-hand", decided["a"])
    assert (folder / "a").read_text() == edited(l5="t")
    (folder / "c").write_text("mine\n")
    taken = scene.taken(folder, decided["a"], decided["b"], decided["c"])
    assert taken.open == {}
    see = scene.see()
    assert see.files(taken.tree) == ["README.md", "TASKS.md", "a", "b", "c"]
    assert (see.file("b", taken.tree), see.file("c", taken.tree)) == (b"\0t", b"mine\n")


def test_line_ends_of_the_checkout_go_out_and_come_back(repo: Repo, tmp_path: Path) -> None:
    repo.commit("attributes", {".gitattributes": "*.txt text eol=crlf\n"})
    scene = Scene(repo, {"f.txt": "b\nx\n"}, {"f.txt": "m\nx\n"}, {"f.txt": "t\nx\n"})
    folder = scene.check_out(tmp_path / "by-hand")
    assert b">>>>>>> T-1\r\nx\r\n" in (folder / "f.txt").read_bytes()
    assert "f.txt:1" in scene.taken(folder).open["f.txt"]
    (folder / "f.txt").write_bytes(b"both\r\nx\r\n")
    assert scene.see().file("f.txt", scene.taken(folder).tree) == b"both\nx\n"


def test_links_in_the_folder_are_links_and_lead_nowhere(repo: Repo, tmp_path: Path) -> None:
    scene = content(repo)
    folder = scene.check_out(tmp_path / "by-hand")
    (tmp_path / "secret").write_text("secret\n")
    (folder / "f").unlink()
    (folder / "f").symlink_to(tmp_path / "secret")
    taken = scene.taken(folder)
    assert scene.see().git("ls-tree", taken.tree, "f").startswith("120000")
    assert b"secret\n" not in scene.see().file("f", taken.tree)


def test_a_repository_inside_the_folder_is_refused(repo: Repo, tmp_path: Path) -> None:
    scene = content(repo)
    folder = scene.check_out(tmp_path / "by-hand")
    (folder / "f").write_text("x\n")
    Repo.create(folder / "nested").commit("inner", {"x": "x"})
    refused = scene.desk.take_back(scene.record(folder=folder), LABELS)
    assert isinstance(refused, str)
    assert "nested" in refused


def test_what_the_folders_own_git_says_is_of_no_account(repo: Repo, tmp_path: Path) -> None:
    scene = content(repo)
    folder = scene.check_out(tmp_path / "by-hand")
    (folder / "f").write_text("resolved\n")
    mark = tmp_path / "ran"
    config = folder / ".git" / "config"
    config.write_text(
        config.read_text() + f'[core]\n\tfsmonitor = "touch {mark}"\n[filter "x"]\n\tclean = touch {mark}\n'
    )
    (folder / ".git" / "info").mkdir()
    (folder / ".git" / "info" / "attributes").write_text("* filter=x\n")
    (folder / ".git" / "index").unlink()
    assert scene.see().file("f", scene.taken(folder).tree) == b"resolved\n"
    assert not mark.exists()


@pytest.mark.parametrize("where", ["full", "a file", "in the checkout", "a link"])
def test_a_folder_that_cannot_be_used_is_refused_and_left_alone(repo: Repo, tmp_path: Path, where: str) -> None:
    scene = content(repo)
    folder = tmp_path / "there"
    match where:
        case "full":
            folder.mkdir()
            (folder / "mine").write_text("mine\n")
        case "a file":
            folder.write_text("mine\n")
        case "a link":
            (tmp_path / "elsewhere").mkdir()
            folder.symlink_to(tmp_path / "elsewhere")
        case _:
            folder = repo.path / "resolve"
    assert scene.desk.check_out(scene.record(), folder, LABELS) != ""
    assert not (folder / ".git").exists()


def test_another_conflicts_folder_is_not_taken(repo: Repo, tmp_path: Path) -> None:
    scene = content(repo)
    folder = scene.check_out(tmp_path / "by-hand")
    (folder / ".git" / "recall-conflict").write_text("4 a b\n")
    assert isinstance(scene.desk.take_back(scene.record(folder=folder), LABELS), str)
    (folder / ".git" / "recall-conflict").unlink()
    assert isinstance(scene.desk.take_back(scene.record(folder=folder), LABELS), str)
    assert isinstance(scene.desk.take_back(scene.record(folder=tmp_path / "none"), LABELS), str)


# -- remembered ------------------------------------------------------------------------------------------------
def resolved(scene: Scene, text: str) -> str:
    version = scene.desk.write(scene.files["f"], text.encode())
    return scene.desk.tree(scene.met, [Decision("f", "edited", version)])


def again(scene: Scene, **elsewhere: str) -> Conflict:
    """The same conflict, met by another attempt on a main that has moved elsewhere in the file."""
    repo = scene.repo
    onto = repo.commit("main elsewhere", {"f": edited(l5="m", **elsewhere)})
    repo.git("checkout", "-q", "-B", "work2", scene.base)
    tip = repo.commit("second attempt", {"f": edited(l5="t")})
    repo.switch("main")
    assert scene.gateway.integration.carry(tip, [scene.base]) is None
    return scene.meet(scene.base, tip, onto)


def test_the_same_conflict_is_offered_its_resolution_again(repo: Repo) -> None:
    scene = content(repo)
    assert scene.desk.remembered(list(scene.files.values())) == {}
    scene.landed(resolved(scene, edited(l5="both")))
    scene.met = again(scene, l25="elsewhere")
    found = scene.desk.remembered(list(scene.files.values()))
    assert found["f"].whole == edited(l5="both", l25="elsewhere").encode()
    assert found["f"].hunks == {0: b"both\n"}
    assert (found["f"].task, found["f"].at is not None) == ("T-1", True)


def test_the_last_resolution_of_a_conflict_counts(repo: Repo) -> None:
    scene = content(repo)
    for text in ("first", "second"):
        scene.desk.commit(scene.record(), resolved(scene, edited(l5=text)))
    found = scene.desk.remembered(list(scene.files.values()))
    assert found["f"].whole == edited(l5="second").encode()


def test_another_conflict_is_not_offered_it(repo: Repo) -> None:
    scene = content(repo)
    scene.desk.commit(scene.record(), resolved(scene, edited(l5="both")))
    onto = repo.commit("another", {"f": edited(l5="something else")})
    scene.met = scene.meet(scene.base, scene.tip, onto)
    assert scene.desk.remembered(list(scene.files.values())) == {}


def test_looking_remembers_nothing_and_leaves_nothing(repo: Repo) -> None:
    scene = content(repo)
    scene.desk.commit(scene.record(), resolved(scene, edited(l5="both")))
    before = sorted(path for path in scene.gateway.integration.git_dir.rglob("*") if "objects" not in path.parts)
    onto = repo.commit("another", {"f": edited(l5="something else")})
    scene.met = scene.meet(scene.base, scene.tip, onto)
    scene.desk.remembered(list(scene.files.values()))
    after = sorted(path for path in scene.gateway.integration.git_dir.rglob("*") if "objects" not in path.parts)
    assert after == before


def test_a_hunk_is_known_in_another_file_and_beside_another_hunk(repo: Repo) -> None:
    scene = content(repo)
    scene.desk.commit(scene.record(), resolved(scene, edited(l5="both")))
    repo.switch("main")
    base = repo.commit("g", {"g": LINES})
    repo.switch("work3", create=True)
    tip = repo.commit("task", {"g": edited(l5="t", l20="t 20")})
    repo.switch("main")
    onto = repo.commit("main", {"g": edited(l5="m", l20="m 20")})
    assert scene.gateway.integration.carry(tip, [base]) is None
    scene.met = scene.meet(base, tip, onto)
    found = scene.desk.remembered(list(scene.files.values()))
    assert (found["g"].hunks, found["g"].whole) == ({0: b"both\n"}, None)


def test_what_was_changed_beside_the_hunks_is_remembered_of_the_whole_file(repo: Repo) -> None:
    scene = content(repo)
    scene.desk.commit(scene.record(), resolved(scene, edited(l5="both", l20="beside")))
    found = scene.desk.remembered(list(scene.files.values()))
    assert (found["f"].hunks, found["f"].whole) == ({}, edited(l5="both", l20="beside").encode())


def test_a_hunk_may_be_resolved_to_nothing(repo: Repo) -> None:
    scene = content(repo)
    scene.desk.commit(scene.record(), resolved(scene, LINES.replace("line 5\n", "")))
    assert scene.desk.remembered(list(scene.files.values()))["f"].hunks == {0: b""}


def test_two_files_with_the_same_conflict_are_both_remembered(repo: Repo) -> None:
    both = ({"f": LINES, "g": LINES}, {"f": edited(l5="m"), "g": edited(l5="m")})
    scene = Scene(repo, *both, {"f": edited(l5="t"), "g": edited(l5="t")})
    versions = {
        path: scene.desk.write(file, edited(l5=f"both {path}").encode()) for path, file in scene.files.items()
    }
    tree = scene.desk.tree(scene.met, [Decision(path, "edited", one) for path, one in versions.items()])
    scene.desk.commit(scene.record(), tree)
    assert set(scene.desk.remembered(list(scene.files.values()))) == {"f", "g"}


def test_the_users_own_rerere_is_not_touched(repo: Repo) -> None:
    scene = content(repo)
    repo.git("config", "rerere.enabled", "true")
    scene.landed(resolved(scene, edited(l5="both")))
    assert not (repo.git_dir / "rr-cache").exists()


def test_merge_tools_find_all_three_versions(repo: Repo, tmp_path: Path) -> None:
    folder = Repo(content(repo).check_out(tmp_path / "by-hand"))
    folder.git("checkout", "--theirs", "f")
    assert (folder.path / "f").read_text() == edited(l5="t")
    assert folder.git("show", ":1:f") + "\n" == LINES
