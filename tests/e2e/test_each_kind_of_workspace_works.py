"""Linked worktrees and clones with the real program: many at once, over a kill, and from one kind to the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import TaskState
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

KINDS = pytest.mark.parametrize("kind", ["worktree", "clone"])


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    return Workshop.create(tmp_path)


def of_kind(kind: str) -> str:
    return f'[workspaces]\nkind = "{kind}"\n'


def parked(shop: Workshop) -> list[str]:
    return shop.repo.git("for-each-ref", "--format=%(refname)", "refs/recall/parked").split()


@KINDS
def test_twelve_agents_at_once(shop: Workshop, kind: str) -> None:
    shop.extra = of_kind(kind) + '[sandbox]\nlevel = "none"\n'  # they meet at a gate outside of their workspaces
    gate = shop.home / "gate"
    wait = f'touch "{gate}-$TASK"; while [ "$(ls "{gate}"-* | wc -l)" -lt 12 ]; do sleep 0.1; done; '
    for number in range(12):
        shop.agent(f"a{number}", wait + 'echo "$TASK" > "$TASK.txt"; commit "$TASK"; success')
    shop.tasks(*(f"## T-{number} One of many" for number in range(12)))
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {f"T-{number}.txt" for number in range(12)} <= shop.on_main()
    assert shop.repo.status() == []
    assert parked(shop) == []
    assert shop.repo.git("for-each-ref", "refs/heads/recall", "refs/recall/base") == ""
    assert len(shop.repo.git("worktree", "list").splitlines()) == (13 if kind == "worktree" else 1)
    shop.repo.git("fsck", "--strict")


@KINDS
def test_work_of_a_failed_run_is_parked(shop: Workshop, kind: str) -> None:
    shop.extra = of_kind(kind)
    shop.agent("ant", 'echo half > half.txt; commit half; echo loose > loose.txt; failure "cannot"')
    shop.tasks("## T-1 Too hard")
    shop.settle()
    assert shop.dispatch().returncode == 1
    assert len(parked(shop)) == 3
    for ref in parked(shop):
        assert (shop.repo.file("half.txt", ref), shop.repo.file("loose.txt", ref)) == (b"half\n", b"loose\n")
    assert shop.recall("workspaces").stdout.count("T-1") == 3


@pytest.mark.parametrize(("old", "new"), [("clone", "clone"), ("clone", "worktree"), ("worktree", "clone")])
def test_a_run_outlives_the_dispatcher_and_a_change_of_the_kind(shop: Workshop, old: str, new: str) -> None:
    shop.extra = of_kind(old)
    go = shop.home / "go"
    shop.agent("ant", f'touch begun; while [ ! -e "{go}" ]; do sleep 0.05; done; echo x > "$TASK.txt"; success')
    shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1")
    shop.settle()
    with shop.dispatching() as process:
        eventually(lambda: any((shop.repo.path / ".recall").glob("ws/*/tree/begun")))
        process.kill()
        process.wait()
    if new != old:
        shop.extra = of_kind(new)
        shop.settle()
        assert shop.recall("config", "trust").returncode == 0  # another kind may be fenced in less
    go.touch()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {task.state for task in shop.look().values()} == {TaskState.DONE}
    assert [run.result for run in shop.runs()] == [RunResult.LANDED, RunResult.LANDED]
    assert {"T-1.txt", "T-2.txt"} <= shop.on_main()
    (folder,) = (shop.repo.path / ".recall/ws").iterdir()
    assert len(shop.repo.git("worktree", "list").splitlines()) == (2 if new == "worktree" else 1)
    assert folder.is_dir()


def test_an_agent_in_a_clone_finds_nowhere_to_push(shop: Workshop) -> None:
    shop.extra = of_kind("clone")
    shop.agent(
        "ant",
        "echo x > T-1.txt; commit work; git push origin HEAD:main; git push; git branch -f main; "
        "git config user.name Planted; git tag planted; git update-ref -d refs/heads/main; success",
    )
    shop.tasks("## T-1 First")
    shop.settle()
    before = shop.repo.git("config", "--local", "--list")
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert shop.repo.git("config", "--local", "--list") == before
    assert shop.repo.git("tag", "--list") == ""
    assert shop.repo.git("branch", "--format=%(refname:short)") == "main"
    assert shop.repo.git("log", "-1", "--format=%cn", "main") == "Recall"


@KINDS
def test_a_repository_may_lie_in_any_folder(tmp_path: Path, home: Path, kind: str) -> None:
    shop = Workshop.create(tmp_path)
    odd = tmp_path / 'it\'s "ä" $(x) #dir; 日本\\語 %20'
    shop.repo.path.rename(odd)
    shop.repo.path = odd
    shop.extra = of_kind(kind)
    report = "$(printf '%s\\n' \"$PROMPT\" | grep ' outcome --slot .*--result success' | head -1)"
    shop.agent("ant", f'echo x > "$TASK.txt"; eval "{report}"')
    shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1")
    shop.settle()
    shop.repo.write("README.md", "edited by the user\n")
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {"T-1.txt", "T-2.txt"} <= shop.on_main()
    assert shop.repo.status() == [" M README.md"]
