"""The states in which people's repositories were found: the dispatcher works there, or says what to do, before any
task is claimed; and it never touches what is not its own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import TaskState
from tests.support.hermetic_git import Repo
from tests.support.workshop import Workshop, eventually, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
CASES = {case["id"]: case for case in json.loads((ROOT / "tests/cases/repo-states.json").read_text())}
BY_HAND = "cd {} && date +%N >> hand.txt && git add hand.txt && git commit -q -m by-hand"
WORKS = 'echo "$TASK" > "$TASK.txt"; commit "$TASK: write"; success'


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path)
    shop.agent("ant", WORKS)
    shop.tasks("## T-1 First")
    return shop


def moved_to(shop: Workshop, place: Path) -> Workshop:
    """The same project, started in another checkout of it."""
    return Workshop(shop.home, Repo(place))


def assert_done(shop: Workshop, at: Workshop | None = None) -> str:
    """Everything lands, and the user's checkout of main is as main is."""
    ended = (at or shop).dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {task.state for task in shop.look().values()} == {TaskState.DONE}
    assert "T-1.txt" in shop.on_main()
    return ended.stdout


def assert_refused(shop: Workshop, *words: str) -> None:
    """It ends at once, in words, with nothing claimed or made."""
    refused = shop.dispatch()
    assert refused.returncode in (2, 4), refused.stdout + refused.stderr
    for word in words:
        assert word in refused.stderr
    assert not (shop.repo.path / ".recall").exists()
    assert "claimed" not in refused.stdout


# -- every state -------------------------------------------------------------------------------------------------
def no_commit_yet(shop: Workshop) -> None:
    shop.settle()
    empty = Repo.create(shop.home / "empty")
    for name in ("recall.toml", "TASKS.md"):
        shutil.copy(shop.repo.path / name, empty.path)
    assert_refused(moved_to(shop, empty.path), "no commit yet", "git commit")


def a_dirty_file_that_the_task_changes(shop: Workshop) -> None:
    shop.agent("ant", 'echo theirs > README.md; commit "change"; success')
    shop.settle()
    shop.repo.write("README.md", "mine\n")
    held = shop.dispatch()
    assert held.returncode == 1
    assert "README.md" in held.stdout and "uncommitted" in held.stdout
    assert (shop.repo.path / "README.md").read_text() == "mine\n"
    assert shop.repo.file("README.md", "main") == b"hello\n"


def main_in_a_second_worktree(shop: Workshop) -> None:
    shop.settle()
    shop.repo.switch("elsewhere", create=True)
    shop.repo.git("worktree", "add", "-q", str(shop.home / "m"), "main")
    assert_done(shop)
    second = Repo(shop.home / "m")
    assert (second.path / "T-1.txt").read_text() == "T-1\n"
    assert second.status() == shop.repo.status() == []
    assert not (shop.repo.path / "T-1.txt").exists()


def started_inside_a_linked_worktree(shop: Workshop) -> None:
    shop.settle()
    linked = shop.repo.worktree(shop.home / "linked", "other")
    assert_done(shop, at=moved_to(shop, linked.path))
    assert not (linked.path / ".recall").exists()
    assert (shop.repo.path / ".recall/ws").is_dir()
    assert "done" in shop.recall("status", "--all", cwd=linked.path).stdout
    assert shop.repo.status() == linked.status() == []


def a_branch_called_like_the_prefix(shop: Workshop) -> None:
    shop.settle()
    shop.repo.branch("recall")
    assert_refused(shop, "git branch -m recall")
    shop.repo.git("branch", "-m", "recall", "recall-old")
    assert_done(shop)


def signing_without_a_key(shop: Workshop) -> None:
    shop.agent("ant", 'echo left > "$TASK.txt"; success')
    shop.settle()
    shop.repo.git("config", "commit.gpgsign", "true")
    shop.repo.git("config", "gpg.program", "/bin/false")
    assert_done(shop)


def verify_that_changes_tracked_files(shop: Workshop) -> None:
    shop.repo.commit("stamp", {"stamp.txt": "never\n"})
    shop.verify = "date > stamp.txt"
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 1
    assert "changed tracked files: stamp.txt" in ended.stdout
    assert "T-1.txt" not in shop.on_main()
    assert shop.repo.file("stamp.txt", "main") == b"never\n"


def main_that_moves_while_it_verifies(shop: Workshop) -> None:
    count = shop.home / "count"
    shop.verify = f"echo x >> {count}; test $(wc -l < {count}) -gt 2 || {{ {BY_HAND.format(shop.repo.path)}; }}"
    shop.settle()
    said = assert_done(shop)
    assert said.count("goes round again") == 2
    assert shop.repo.subjects("main")[-3:] == ["by-hand", "by-hand", "T-1: write"]


def main_that_never_stops_moving(shop: Workshop) -> None:
    shop.verify = BY_HAND.format(shop.repo.path)
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 1
    task = shop.look()["T-1"]
    assert (task.state, task.attempts) == (TaskState.NEEDS_PERSON, 0)
    assert "went round 5 times" in task.reason


def a_merge_inside_the_branch(shop: Workshop) -> None:
    shop.agent(
        "ant",
        "git checkout -q -b side; echo s > side.txt; commit side; git checkout -q -; echo m > T-1.txt; commit own; "
        "git -c user.name=Ant -c user.email=a@b.c merge -q --no-edit side; success",
    )
    shop.settle()
    said = assert_done(shop)
    assert "the range holds a merge" in said
    assert {"side.txt", "T-1.txt"} <= shop.on_main()
    assert {"side", "own"} <= set(shop.repo.message("main").split())
    assert shop.repo.git("rev-list", "--merges", "main") == ""


def a_shallow_clone(shop: Workshop) -> None:
    shop.settle()
    shop.repo.commit("more", {"more": "x"})
    shallow = moved_to(shop, shop.repo.clone(shop.home / "shallow", "--depth", "1").path)
    assert_done(shallow)
    assert shallow.repo.git("rev-parse", "--is-shallow-repository") == "true"
    shallow.repo.git("fsck")


def a_worktree_removed_by_hand(shop: Workshop) -> None:
    shop.agent("ant", 'echo half > half.txt; commit half; again || { echo > "$TASK.started"; sleep 600; }; success')
    shop.settle()
    with shop.dispatching() as process:
        eventually(lambda: any((shop.repo.path / ".recall").glob("ws/*/tree/T-1.started")))
        process.kill()
        process.wait()
    for shim in shop.strays():
        os.kill(shim, 9)
    shutil.rmtree(shop.repo.path / ".recall/ws/s1")
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [run.result for run in shop.runs()] == [RunResult.ORPHANED, RunResult.LANDED]
    assert "prunable" not in shop.repo.git("worktree", "list", "--porcelain")
    assert "removed by hand" in " ".join(shop.reasons("workspace.closed") + shop.reasons("workspace.tidied"))


def another_language(shop: Workshop) -> None:
    shop.settle()
    linked = shop.home / "m"
    shop.repo.switch("elsewhere", create=True)
    shop.repo.git("worktree", "add", "-q", str(linked), "main")
    german = {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"}
    ended = shop.dispatch(env=german)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (linked / "T-1.txt").exists()


STATES: dict[str, Callable[[Workshop], None]] = {
    "RP-001": no_commit_yet,
    "RP-003": a_dirty_file_that_the_task_changes,
    "RP-005": main_in_a_second_worktree,
    "RP-007": started_inside_a_linked_worktree,
    "RP-009": a_branch_called_like_the_prefix,
    "RP-011": signing_without_a_key,
    "RP-013": verify_that_changes_tracked_files,
    "RP-015": main_that_moves_while_it_verifies,
    "RP-017": a_merge_inside_the_branch,
    "RP-019": a_shallow_clone,
    "RP-021": a_worktree_removed_by_hand,
    "RP-023": another_language,
}


def test_each_state_of_the_file_has_its_test() -> None:
    assert set(STATES) == set(CASES)


@pytest.mark.parametrize("case", STATES)
def test_a_state(shop: Workshop, case: str) -> None:
    STATES[case](shop)
    assert shop.strays() == []


# -- more of them ------------------------------------------------------------------------------------------------
def trunk_instead_of_main(shop: Workshop) -> None:
    shop.repo.git("branch", "-m", "main", "trunk")
    shop.settle()
    assert_refused(shop, "no branch 'main'", "trunk")
    config = (shop.repo.path / "recall.toml").read_text().replace('main = "main"', 'main = "trunk"')
    shop.repo.commit("trunk", {"recall.toml": config})
    assert shop.dispatch().returncode == 0
    assert "T-1.txt" in shop.repo.files("trunk")


def a_head_without_a_branch(shop: Workshop) -> None:
    shop.settle()
    shop.repo.git("checkout", "-q", "--detach")
    before = shop.repo.tip("HEAD")
    assert_done(shop)
    assert shop.repo.tip("HEAD") == before
    assert shop.repo.status() == []


def started_in_a_subfolder(shop: Workshop) -> None:
    shop.repo.commit("deep", {"a/b/c.txt": "x"})
    shop.settle()
    assert_done(shop, at=moved_to(shop, shop.repo.path / "a/b"))
    assert not (shop.repo.path / "a/b/.recall").exists()
    assert shop.repo.status() == []


def a_detached_worktree_inside_a_subfolder(shop: Workshop) -> None:
    shop.repo.commit("deep", {"a/b/c.txt": "x"})
    shop.settle()
    shop.repo.git("worktree", "add", "-q", "--detach", str(shop.home / "linked"))
    assert_done(shop, at=moved_to(shop, shop.home / "linked/a/b"))


def a_bare_repository(shop: Workshop) -> None:
    shop.settle()
    bare = shop.repo.clone(shop.home / "bare.git", "--bare")
    shutil.copy(shop.repo.path / "recall.toml", bare.path)
    ended = moved_to(shop, bare.path).dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "T-1.txt" in bare.files("main")


def a_partial_clone(shop: Workshop) -> None:
    shop.settle()
    shop.repo.git("config", "uploadpack.allowFilter", "true")
    clone = shop.home / "partial"
    shop.repo.git("clone", "-q", "--filter=blob:none", f"file://{shop.repo.path}", str(clone))
    assert_refused(moved_to(shop, clone), "partial clone", "git clone")


def a_user_who_cleans_everything_away(shop: Workshop) -> None:
    """`git clean -ffdx` in the checkout takes the agents' folders: what ran there is over, the list is not."""
    shop.agent("ant", "again || { echo > begun; while [ -e begun ]; do sleep 0.05; done; exit 1; }\n" + WORKS)
    shop.settle()
    with shop.dispatching("--until-done") as process:
        eventually(lambda: any((shop.repo.path / ".recall").glob("ws/*/tree/begun")))
        shop.repo.git("clean", "-q", "-ffdx")
        until(process, "landed as")
        assert process.wait(60) == 0
    assert "T-1.txt" in shop.on_main()
    shop.repo.git("clean", "-q", "-ffdx")
    shop.agent("ant", WORKS)
    shop.tasks("## T-1 First", "## T-2 Second")
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "prunable" not in shop.repo.git("worktree", "list", "--porcelain")


def odd_file_names_all_the_way(shop: Workshop) -> None:
    names = ["with space", 'quo"te', "line\nfeed", "日本語", "Case", "case", "tab\there", "-x", "ä" * 60, "'$(x)'"]
    write = "; ".join(f"printf x > ./$(printf %b '{_octal(name)}')" for name in names if "\n" not in name)
    shop.agent("ant", write.replace("./$(", '"./$(').replace("')", "')\"") + "; printf x > $'line\\nfeed'; success")
    shop.verify = "test -e Case && test -e case"
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert set(names) <= shop.on_main()
    assert all((shop.repo.path / name).read_text() == "x" for name in names)
    assert shop.repo.status() == []


def _octal(name: str) -> str:
    return "".join(f"\\0{byte:03o}" for byte in name.encode())


def line_ends_of_every_kind(shop: Workshop) -> None:
    """Bytes land as the agent's git would have committed them, whatever the user's own wish for line ends."""
    shop.repo.commit("attributes", {".gitattributes": "*.bat text eol=crlf\n*.raw -text\n", "old.bat": "a\n"})
    shop.agent("ant", r"printf 'a\r\nb\r\n' > T-1.txt; printf 'a\r\n' > n.raw; printf 'c\r\n' > new.bat; success")
    shop.settle()
    shop.repo.git("config", "core.autocrlf", "input")
    assert_done(shop)
    assert shop.repo.file("T-1.txt", "main") == b"a\nb\n"
    assert shop.repo.file("n.raw", "main") == b"a\r\n"
    assert shop.repo.file("new.bat", "main") == b"c\n"
    assert (shop.repo.path / "new.bat").read_bytes() == b"c\r\n"
    assert shop.repo.status() == []


def a_submodule(shop: Workshop) -> None:
    """It is filled in the user's checkout and empty in an agent's; neither is in the way."""
    library = Repo.create(shop.home / "library")
    library.commit("lib", {"lib.py": "1\n"})
    allow = ["-c", "protocol.file.allow=always"]
    shop.repo.git(*allow, "submodule", "add", "-q", str(library.path), "vendor/lib")
    shop.settle()
    shop.repo.write("vendor/lib/lib.py", "edited by the user\n")
    assert_done(shop)
    assert (shop.repo.path / "vendor/lib/lib.py").read_text() == "edited by the user\n"
    assert shop.repo.git("ls-tree", "main", "vendor/lib").startswith("160000")


MORE = [
    trunk_instead_of_main,
    a_head_without_a_branch,
    started_in_a_subfolder,
    a_detached_worktree_inside_a_subfolder,
    a_bare_repository,
    a_partial_clone,
    main_that_never_stops_moving,
    a_user_who_cleans_everything_away,
    odd_file_names_all_the_way,
    line_ends_of_every_kind,
    a_submodule,
]


@pytest.mark.parametrize("state", MORE)
def test_in(shop: Workshop, state: Callable[[Workshop], None]) -> None:
    state(shop)
    assert shop.strays() == []


# -- started by git itself ---------------------------------------------------------------------------------------
def test_a_start_from_a_git_alias_or_hook_is_not_led_astray(shop: Workshop) -> None:
    """Git hands its aliases and hooks variables that lead every git below them to its own repository."""
    shop.settle()
    other = Repo.create(shop.home / "other", main="wrong")
    other.commit("x", {"x": "x"})
    leading = dict.fromkeys(shop.repo.git("rev-parse", "--local-env-vars").split(), str(other.git_dir))
    leading |= {"GIT_NAMESPACE": "x", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare"}
    leading |= {"GIT_CONFIG_VALUE_0": "true", "GIT_INDEX_FILE": str(other.git_dir / "index")}
    before = {path: path.read_bytes() for path in other.git_dir.rglob("*") if path.is_file()}
    ended = shop.dispatch(env=leading)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "T-1.txt" in shop.on_main()
    assert shop.repo.status() == []
    assert {path: path.read_bytes() for path in other.git_dir.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("stand", ["worktree", "subfolder", "detached"])
def test_commands_work_wherever_one_stands(shop: Workshop, stand: str) -> None:
    shop.repo.commit("deep", {"a/b/c.txt": "x"})
    shop.settle()
    where = shop.repo.path / "a/b"
    if stand == "worktree":
        where = shop.repo.worktree(shop.home / "linked", "other").path / "a/b"
    elif stand == "detached":
        shop.repo.git("checkout", "-q", "--detach")
    imported = shop.recall("import", cwd=where)
    assert imported.returncode == 0, imported.stdout + imported.stderr
    claimed = shop.recall("next", "--agent", "ant", cwd=where)
    assert claimed.returncode == 0, claimed.stdout + claimed.stderr
    assert "T-1" in claimed.stdout
    for place in (shop.repo.path, where):
        status = shop.recall("status", "--all", cwd=place)
        assert status.returncode == 0, status.stderr
        assert "1 running" in status.stdout
    assert len(list(shop.home.rglob("recall.db"))) == 1
    assert shop.recall("status", cwd=shop.home).returncode == 2


def test_a_program_of_the_users_in_the_git_dir_does_not_run(shop: Workshop) -> None:
    """Hooks and monitors that were there before are for the user's own git."""
    ran = shop.home / "ran"
    shop.settle()
    hooks = shop.repo.git_dir / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-merge", "post-checkout", "pre-push", "push-to-checkout", "update", "post-receive"):
        (hooks / hook).write_text(f'#!/bin/sh\n[ -n "$RECALL_RUN_ID" ] || echo {hook} >> {ran}\n')
        (hooks / hook).chmod(0o755)
    assert_done(shop)
    assert not ran.exists()
    shop.repo.git("fsck")
