"""`recall doctor` finds what is wrong, says how to mend it, and changes nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

from recall.cli.report import run
from recall.cli.root import recall
from recall.store import open_store
from recall.system import SystemRng
from tests.agents.bench import Bench
from tests.support.clock import FakeClock
from tests.support.hermetic_git import Repo
from tests.support.pull_request_host import PullRequestHost
from tests.support.tools import need


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("PATH", os.pathsep.join(("/usr/bin", "/bin")))  # none of the machine's own agent programs
    repo.write("TASKS.md", "# Tasks\n\n- [ ] T-1: First\n- [ ] T-2: Second (after: T-1)\n")
    repo.write("recall.toml", 'main = "main"\nverify = "none"\n[agents.sh]\ncommand = ["sh"]\n')
    monkeypatch.chdir(repo.path)
    assert run(recall, "recall", ["import"]) == 0
    return repo


def findings(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, str]]:
    capsys.readouterr()
    code = run(recall, "recall", ["doctor", "--json", *args])
    rows = json.loads(capsys.readouterr().out)["findings"]
    return code, {row["about"]: row["what"] for row in rows if not row["good"]}


def test_a_sound_project_has_nothing_to_mend(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert findings(capsys) == (0, {})


def test_a_missing_program_and_a_broken_list_are_named(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("recall.toml", 'main = "main"\nverify = "none"\n[agents.gone]\ncommand = ["no-such-agent"]\n')
    project.write("TASKS.md", "- [ ] T-1: First (after: T-9)\n")
    code, wrong = findings(capsys)
    assert code == 1
    assert "no-such-agent" in wrong["agent gone"]
    assert "T-9" in wrong["task list"]


def test_a_program_that_is_in_the_checkout_alone_is_named(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    toml = 'main = "main"\nverify = "none"\n[agents.own]\ncommand = ["./agent.sh"]\n'
    project.write("recall.toml", toml)
    project.write("agent.sh", "#!/bin/sh\n")
    code, wrong = findings(capsys)
    assert code == 1
    assert "`./agent.sh` is not committed on main" in wrong["agent own"]
    project.write("recall.toml", 'setup = "cp /opt/agent.sh ."\n' + toml)
    assert findings(capsys) == (0, {}), "set-up may make it"
    project.write("recall.toml", toml)
    project.commit("an agent", {"agent.sh": "#!/bin/sh\n"})
    assert findings(capsys) == (0, {})


def test_a_wrong_counter_in_the_store_is_found(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    database = Path(project.git_dir) / "recall" / "recall.db"
    connection = sqlite3.connect(database)
    connection.execute("UPDATE tasks SET unmet = 5 WHERE id = 'T-2'")
    connection.commit()
    connection.close()
    code, wrong = findings(capsys)
    assert code == 1
    assert "T-2" in wrong["store"]


def test_a_repository_without_the_branch_is_told(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("recall.toml", 'main = "trunk"\nverify = "none"\n[agents.sh]\ncommand = ["sh"]\n')
    code, wrong = findings(capsys)
    assert code == 1
    assert "trunk" in wrong["repository"]


def notes(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    run(recall, "recall", ["doctor", "--json"])
    rows = json.loads(capsys.readouterr().out)["findings"]
    return "\n".join(f"{row['about']}: {row['what']}; {row['mend']}" for row in rows if row["grade"] == "note")


def test_a_git_setting_that_opens_main_to_agents_is_wrong(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.git("config", "receive.denyCurrentBranch", "updateInstead")
    project.git("config", "merge.autoStash", "true")
    code, found = findings(capsys)
    assert code == 1
    assert "past the merge queue" in found["git settings"]
    assert "merge.autostash = true" in notes(capsys)


def test_each_level_of_the_sandbox_is_tried(
    project: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(need("git"))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    assert "bwrap is not installed" in notes(capsys)
    with (project.path / "recall.toml").open("a") as file:
        file.write('[sandbox]\nlevel = "bwrap"\n[workspaces]\nkind = "clone"\n')
    _, found = findings(capsys)
    assert "bwrap is in force and does not hold here" in found["sandbox"]


def test_the_user_whom_agents_run_as_is_tried(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    with (project.path / "recall.toml").open("a") as file:
        file.write('[sandbox]\nlevel = "user"\nuser = "nobody"\n[workspaces]\nkind = "clone"\n')
    code, found = findings(capsys)
    assert code == 1
    assert "user is in force and does not hold here" in found["sandbox"]
    said = f"as nobody, it cannot enter {project.path / '.recall'}" if os.geteuid() == 0 else "only a dispatcher"
    assert said in found["sandbox"]


def test_only_a_fix_changes_anything(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    state = Path(project.git_dir) / "recall"
    state.chmod(0o755)
    code, found = findings(capsys)
    assert code == 1
    assert "0755" in found["state folder"]
    assert state.stat().st_mode & 0o777 == 0o755
    assert findings(capsys, "--fix") == (0, {})
    assert state.stat().st_mode & 0o777 == 0o700


def test_processes_of_a_run_that_is_over_are_ended_by_a_fix(
    project: Repo, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bench = Bench(tmp_path / "bench")
    try:
        bench.start(
            "echo up > up; exec sleep 60", folder=Path(project.git_dir) / "recall" / "runs" / "7", timeout=90.0
        )
        bench.wait_for("up")
        code, found = findings(capsys)
        assert code == 1
        assert "run 7" in found["processes"]
        assert findings(capsys, "--fix") == (0, {})
    finally:
        bench.folder = Path(project.git_dir) / "recall" / "runs" / "7"
        assert bench.left() == []
        bench.close()


def test_a_wall_clock_that_was_set_back_is_told(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    later = FakeClock(wall=time.time() + 7200)
    store = open_store(Path(project.git_dir) / "recall" / "recall.db", later, SystemRng())
    store.note("probe", actor="person", reason="written before the clock was set back")
    store.close()
    assert "the wall clock was set back" in notes(capsys)


def test_a_workspace_that_no_run_owns_is_shown_and_left(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    stray = project.path / ".recall" / "ws" / "w9"
    stray.mkdir(parents=True)
    assert str(stray) in notes(capsys)
    findings(capsys, "--fix")
    assert stray.is_dir()


def test_an_agent_program_is_asked_for_its_version_and_flags_only(
    project: Repo, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {asked}\n'
        'case "$*" in --version) echo "9.8.7 (Code)";; *) echo "  -p, --output-format, --verbose";; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    project.write("recall.toml", 'main = "main"\nverify = "none"\n[agents.ann]\npreset = "claude"\n')
    code, _ = findings(capsys)
    assert code == 0
    said = notes(capsys)
    assert "does not mention --permission-mode, --strict-mcp-config" in said
    assert "--verbose" not in said
    assert "may read and change whatever you can" in said
    assert set(asked.read_text().splitlines()) == {"--version", "--help"}


def test_an_agent_program_that_is_not_used_is_offered(
    project: Repo, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert "Codex CLI is installed, not used" in notes(capsys)


@pytest.fixture
def pushing(project: Repo, tmp_path: Path) -> Repo:
    """A project whose main is pushed to a bare repository; gives that."""
    origin = Repo.create(tmp_path / "origin.git", bare=True)
    project.git("remote", "add", "origin", str(origin.path))
    told = project.path / "recall.toml"
    project.commit("settings", {"recall.toml": 'push = "origin"\n' + told.read_text()})
    project.git("push", "-q", "origin", "main")
    return origin


def test_a_remote_that_takes_pushes_is_fine_and_not_touched(
    project: Repo, pushing: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    before = pushing.git("for-each-ref")
    project.commit("more", {"more.txt": "x\n"})
    assert findings(capsys) == (0, {})
    assert pushing.git("for-each-ref") == before


def test_a_remote_that_is_missing_away_ahead_or_read_only_is_told(
    project: Repo, pushing: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = pushing.clone(tmp_path / "clone")
    clone.commit("theirs", {"theirs.txt": "x\n"})
    clone.git("push", "-q", "origin", "main")
    assert "origin has commits that main here does not" in findings(capsys)[1]["remote"]
    project.git("pull", "-q", "origin", "main")
    project.git("config", "remote.origin.receivepack", "false")
    assert "origin can be read, and takes no push from here" in findings(capsys)[1]["remote"]
    project.git("remote", "set-url", "origin", "https://me:s3cret@127.0.0.1:1/x.git")
    told = findings(capsys)[1]["remote"]
    assert "origin could not be reached" in told
    assert "s3cret" not in told
    project.git("remote", "remove", "origin")
    assert "there is no such remote here" in findings(capsys)[1]["remote"]


def test_the_host_of_pull_requests_is_asked(
    project: Repo, pushing: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = project.path / "recall.toml"
    told.write_text(told.read_text() + '[merge]\nland = "pull-request"\n')
    host = PullRequestHost.create(tmp_path, pushing)
    monkeypatch.setenv("PATH", f"{host.folder}:{os.environ['PATH']}")
    assert findings(capsys) == (0, {})
    assert pushing.git("for-each-ref", "refs/heads/recall-offers") == ""
    host.feel("refuses")
    assert "the host has a bad day" in findings(capsys)[1]["pull requests"]
