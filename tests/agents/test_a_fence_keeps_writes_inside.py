"""Every level of the sandbox that this machine offers, around real processes, as this user and as an ordinary one."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.agents import fence as fence_program
from recall.agents.sandbox import LEVELS, check_fence, empty_scratch, fence_argv, fence_for, prove
from recall.config.settings import AgentSettings, SandboxSettings, Settings, WorkspaceSettings
from recall.domain.errors import ConfigError
from recall.domain.launch import Fence
from tests.support.tools import need

ANYBODY = "nobody"


class Ground:
    """A folder that may be written beside one that may not, both owned by the user who runs the fence."""

    def __init__(self, place: Path, user: str) -> None:
        self.place, self.user = place, user
        self.inside, self.outside = place / "inside", place / "outside"
        for folder in (self.inside, self.outside):
            folder.mkdir()
        (self.outside / "kept").write_text("kept")
        shutil.copy(str(fence_program.__file__), place / "fence.py")
        if user:
            account = pwd.getpwnam(user)
            for path in (place, *place.rglob("*")):
                os.chown(path, account.pw_uid, account.pw_gid)

    def run(self, level: str, script: str, *, network: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a shell script inside; `$1` may be written, `$2` not. Its Python is the system's: another user may
        not enter the folder of this one."""
        wanted = Fence(level, (), self.inside, network, shutil.which("bwrap") or "")
        argv = fence_argv(wanted, self.place)
        (self.place / "fence.json").chmod(0o644)
        argv[0], argv[3] = _python(self.user), str(self.place / "fence.py")
        command = [*argv, "/bin/sh", "-c", script, "sh", str(self.inside), str(self.outside)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=50, cwd=self.inside, user=self.user or None, check=False
        )


def _python(user: str) -> str:
    found = shutil.which("python3", path="/usr/bin:/usr/local/bin") if user else sys.executable
    return found or sys.executable


@pytest.fixture(params=["myself", ANYBODY])
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    user = "" if request.param == "myself" else ANYBODY
    if user and os.geteuid() != 0:
        pytest.skip("only root can become another user; the tests run as an ordinary one already")
    with tempfile.TemporaryDirectory(prefix="fence-") as place:  # pytest's own folders cannot be entered by others
        yield Ground(Path(place), user)


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    if request.param == "bwrap":
        need("bwrap")
    if request.param == "landlock" and fence_program.landlock_abi() < fence_program.OLDEST_ABI:
        pytest.skip("this kernel has no landlock that is new enough")
    return str(request.param)


def test_what_lies_inside_can_be_written(ground: Ground, level: str) -> None:
    done = ground.run(level, 'mkdir "$1/a" && echo x > "$1/a/b" && mv "$1/a/b" "$1/c" && ln -s c "$1/d" && rm "$1/c"')
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in ground.inside.iterdir()) == ["a", "d"]


@pytest.mark.parametrize(
    "attempt",
    [
        'echo x > "$2/new"',
        'echo x >> "$2/kept"',
        'truncate -s 0 "$2/kept"',
        'rm -f "$2/kept"',
        'mv "$2/kept" "$1/taken"',
        'echo x > "$1/x"; mv "$1/x" "$2/moved"',
        'echo x > "$1/x"; ln "$1/x" "$2/linked"',
        'mkdir "$2/folder"',
        'mkfifo "$2/pipe"',
        'ln -s "$2" "$1/way"; echo x > "$1/way/new"',
        'setsid sh -c \'echo x > "$1/new"\' sh "$2"; sleep 0.1',
        "env -i /bin/sh -c 'echo x > \"$1/new\"' sh \"$2\"",
        'cp "$2/kept" "$1/k"; chmod 777 "$1/k"; "$1/k" || echo x > "$2/new"',
    ],
)  # fmt: skip
def test_nothing_outside_changes(ground: Ground, level: str, attempt: str) -> None:
    ground.run(level, attempt)
    assert [path.name for path in ground.outside.iterdir()] == ["kept"]
    assert (ground.outside / "kept").read_text() == "kept"


def test_a_process_outside_can_be_neither_signalled_nor_traced(ground: Ground, level: str) -> None:
    stranger = subprocess.Popen(["sleep", "60"], user=ground.user or None)
    try:
        number = stranger.pid
        done = ground.run(level, f"kill -9 {number}; head -c 1 /proc/{number}/mem; true")
        assert done.returncode == 0
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_without_network_only_the_loopback_of_its_own_is_there(ground: Ground, level: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        knock = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"
        own = (
            "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname(), 5)"
        )
        ask, answer = (f"{_python(ground.user)} -c {shlex.quote(code)}" for code in (knock, own))
        assert ground.run(level, ask, network=True).returncode == 0
        cut = ground.run(level, ask, network=False)
        assert cut.returncode != 0
        assert "refused" in cut.stderr
        assert ground.run(level, answer, network=False).stderr == ""


def test_a_fence_inside_a_fence_holds(ground: Ground, level: str) -> None:
    """An agent that fences itself with the same means must be able to start."""
    again = [_python(ground.user), "-I", "-S", str(ground.place / "fence.py"), str(ground.place / "fence.json")]
    done = ground.run(level, f'{shlex.join(again)} /bin/sh -c \'echo x > "$1/deep"\' sh "$1"')
    assert (done.returncode, done.stderr) == (0, "")
    assert (ground.inside / "deep").exists()


def test_where_the_fence_does_not_stand_nothing_is_started(ground: Ground) -> None:
    wanted = Fence("bwrap", (), ground.inside, True, "/no/such/program")
    argv = fence_argv(wanted, ground.place)
    done = subprocess.run([*argv, "/bin/sh", "-c", "echo started"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (fence_program.CANNOT_START, "")
    assert "nothing was started" in done.stderr


def test_a_level_is_proved_by_trying(level: str) -> None:
    proof = prove(level)
    assert proof.holds, proof.what


def test_a_missing_bubblewrap_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "not installed" in prove("bwrap").what


def test_a_scratch_folder_is_empty_whatever_an_earlier_run_left(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    empty_scratch(scratch)
    (scratch / "deep").mkdir()
    (scratch / "deep" / "file").write_text("x")
    (scratch / "deep").chmod(0)
    empty_scratch(scratch)
    assert list(scratch.iterdir()) == []
    scratch.rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("kept")
    scratch.symlink_to(elsewhere)
    empty_scratch(scratch)
    assert (elsewhere / "kept").exists()
    assert not scratch.is_symlink()


def _settings(**sandbox: object) -> Settings:
    chosen = SandboxSettings(**{"level": "landlock", **sandbox})  # pyright: ignore[reportArgumentType] - fields by name
    return Settings(Path("/p/recall.toml"), "main", "true", sandbox=chosen, workspaces=WorkspaceSettings("clone"))


def test_a_folder_that_holds_what_decides_is_never_opened(tmp_path: Path, level: str) -> None:
    state = tmp_path / "repo" / ".git" / "recall"
    state.mkdir(parents=True)
    environ = {"HOME": str(tmp_path)}
    for path in ("~", str(state), str(state / "runs"), f"{tmp_path}/other/../repo", "~/repo/.git"):
        with pytest.raises(ConfigError, match="decides what lands"):
            check_fence(_settings(level=level, write=(path,)), [state], environ)
    agent = AgentSettings("ant", ("sh",), state=("~/repo",))
    with pytest.raises(ConfigError, match="decides what lands"):
        check_fence(replace(_settings(level=level), agents=(agent,)), [state], environ)
    check_fence(_settings(level=level, write=("~/other",)), [state], environ)


def test_linked_worktrees_are_open_and_clones_fenced_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    def level_of(kind: str, wanted: str) -> str:
        plan = replace(_settings(level=wanted), workspaces=WorkspaceSettings(kind))
        fence = fence_for(plan, tmp_path, tmp_path / "scratch", {}, agent=True)
        return fence.level if fence is not None else "none"

    assert level_of("worktree", "auto") == "none"
    assert level_of("clone", "auto") == "landlock"
    assert level_of("clone", "none") == "none"
    assert level_of("clone", "bwrap") == "bwrap"


def test_only_verification_is_cut_off_the_network(tmp_path: Path) -> None:
    plan = _settings(network="off")
    agent = fence_for(plan, tmp_path, tmp_path / "s", {}, agent=True)
    verification = fence_for(plan, tmp_path, tmp_path / "s", {}, agent=False)
    assert agent is not None
    assert verification is not None
    assert (agent.network, verification.network) == (True, False)
