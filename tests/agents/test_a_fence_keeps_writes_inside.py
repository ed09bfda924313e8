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
from recall.agents.sandbox import (
    Reach,
    check_fence,
    empty_scratch,
    fence_argv,
    fence_for,
    prove,
    prove_as_set,
    prove_user,
)
from recall.config.settings import AgentSettings, SandboxSettings, Settings, WorkspaceSettings
from recall.domain.errors import ConfigError
from recall.domain.launch import Fence
from tests.support.tools import need

ANYBODY = "nobody"


#: Who puts which fence up. An ordinary user cannot become another one.
CASES = [("myself", "landlock"), ("myself", "bwrap"), ("myself", "user"), (ANYBODY, "landlock"), (ANYBODY, "bwrap")]


class Ground:
    """A folder that may be written beside one that may not. Both belong to whoever runs the fence, but for the first
    where that becomes another user."""

    def __init__(self, place: Path, user: str, level: str) -> None:
        self.place, self.user, self.level = place, user, level
        self.inside, self.outside = place / "inside", place / "outside"
        for folder in (self.inside, self.outside):
            folder.mkdir()
        (self.outside / "kept").write_text("kept")
        shutil.copy(str(fence_program.__file__), place / "fence.py")
        nobody = pwd.getpwnam(ANYBODY)
        if user:
            for path in (place, *place.rglob("*")):
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
        if level == "user":
            place.chmod(0o711)
            os.chown(self.inside, nobody.pw_uid, nobody.pw_gid)

    @property
    def python(self) -> str:
        """A Python for inside: the system's where that is another user's, who may not enter the folder of ours."""
        found = shutil.which("python3", path="/usr/bin:/usr/local/bin") if self._is_other else sys.executable
        return found or sys.executable

    @property
    def _is_other(self) -> bool:
        return bool(self.user) or self.level == "user"

    def run(self, script: str, *, network: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a shell script inside; `$1` may be written, `$2` not."""
        other = ANYBODY if self.level == "user" else ""
        wanted = Fence(self.level, (), self.inside, network, shutil.which("bwrap") or "", other)
        argv = fence_argv(wanted, self.place)
        (self.place / "fence.json").chmod(0o644)
        argv[0], argv[3] = self.python, str(self.place / "fence.py")
        command = [*argv, "/bin/sh", "-c", script, "sh", str(self.inside), str(self.outside)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=50, cwd=self.inside, user=self.user or None, check=False
        )


@pytest.fixture(params=CASES, ids="-".join)
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    who, level = request.param
    _require(level)
    if (who == ANYBODY or level == "user") and os.geteuid() != 0:
        pytest.skip("only root can become another user; the tests run as an ordinary one already")
    with tempfile.TemporaryDirectory(prefix="fence-") as place:  # pytest's own folders cannot be entered by others
        yield Ground(Path(place), ANYBODY if who == ANYBODY else "", level)


@pytest.fixture(params=["landlock", "bwrap"])
def level(request: pytest.FixtureRequest) -> str:
    _require(request.param)
    return str(request.param)


def _require(level: str) -> None:
    if level == "bwrap":
        need("bwrap")
    if level == "landlock" and fence_program.landlock_abi() < fence_program.OLDEST_ABI:
        pytest.skip("this kernel has no landlock that is new enough")


def test_what_lies_inside_can_be_written(ground: Ground) -> None:
    done = ground.run('mkdir "$1/a" && echo x > "$1/a/b" && mv "$1/a/b" "$1/c" && ln -s c "$1/d" && rm "$1/c"')
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
def test_nothing_outside_changes(ground: Ground, attempt: str) -> None:
    ground.run(attempt)
    assert [path.name for path in ground.outside.iterdir()] == ["kept"]
    assert (ground.outside / "kept").read_text() == "kept"


def test_a_process_outside_can_be_neither_signalled_nor_traced(ground: Ground) -> None:
    stranger = subprocess.Popen(["sleep", "60"], user=ground.user or None)
    try:
        number = stranger.pid
        done = ground.run(f"kill -9 {number}; head -c 1 /proc/{number}/mem; true")
        assert done.returncode == 0
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_without_network_only_the_loopback_of_its_own_is_there(ground: Ground) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        knock = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"
        own = (
            "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname(), 5)"
        )
        ask, answer = (f"{ground.python} -c {shlex.quote(code)}" for code in (knock, own))
        assert ground.run(ask, network=True).returncode == 0
        cut = ground.run(ask, network=False)
        assert cut.returncode != 0
        assert "refused" in cut.stderr
        assert ground.run(answer, network=False).stderr == ""


def test_a_fence_inside_a_fence_holds(ground: Ground) -> None:
    """An agent that fences itself with the same means must be able to start."""
    again = [ground.python, "-I", "-S", str(ground.place / "fence.py"), str(ground.place / "fence.json")]
    done = ground.run(f'{shlex.join(again)} /bin/sh -c \'echo x > "$1/deep"\' sh "$1"')
    if ground.level == "user":  # who became another one has no right to become a third
        assert (done.returncode, list(ground.inside.iterdir())) == (fence_program.CANNOT_START, [])
        return
    assert (done.returncode, done.stderr) == (0, "")
    assert (ground.inside / "deep").exists()


def test_where_the_fence_does_not_stand_nothing_is_started(ground: Ground) -> None:
    wanted = Fence("bwrap", (), ground.inside, True, "/no/such/program")
    argv = fence_argv(wanted, ground.place)
    done = subprocess.run([*argv, "/bin/sh", "-c", "echo started"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (fence_program.CANNOT_START, "")
    assert "nothing was started" in done.stderr


@pytest.mark.parametrize("network", [True, False])
def test_a_level_is_proved_by_trying(level: str, network: bool) -> None:
    proof = prove(level, network=network)
    assert proof.holds, proof.what
    assert ("no network" in proof.what) == (not network)


def test_a_level_that_cannot_cut_the_network_does_not_hold(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_network(fence: Fence, folder: Path) -> list[str]:
        return fence_argv(replace(fence, network=True), folder)

    monkeypatch.setattr("recall.agents.sandbox.fence_argv", with_network)
    assert not prove(level, network=False).holds


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


def _reach(tmp_path: Path, *keep_out: Path) -> Reach:
    return Reach(keep_out, tmp_path / "repo" / ".recall", tmp_path / "repo" / ".git" / "objects", ("/bin/true",))


def test_a_folder_that_holds_what_decides_is_never_opened(tmp_path: Path, level: str) -> None:
    state = tmp_path / "repo" / ".git" / "recall"
    state.mkdir(parents=True)
    reach = _reach(tmp_path, state)
    environ = {"HOME": str(tmp_path)}
    for path in ("~", str(state), str(state / "runs"), f"{tmp_path}/other/../repo", "~/repo/.git"):
        with pytest.raises(ConfigError, match="decides what lands"):
            check_fence(_settings(level=level, write=(path,)), reach, environ)
    agent = AgentSettings("ant", ("sh",), state=("~/repo",))
    with pytest.raises(ConfigError, match="decides what lands"):
        check_fence(replace(_settings(level=level), agents=(agent,)), reach, environ)
    check_fence(_settings(level=level, write=("~/other",)), reach, environ)


@pytest.fixture
def project() -> Iterator[Path]:
    """A repository's folders where another user can come by."""
    with tempfile.TemporaryDirectory(prefix="fence-") as place:
        Path(place).chmod(0o755)
        Path(place, "repo/.git/objects").mkdir(parents=True)
        Path(place, "repo/.git/recall").mkdir(mode=0o700)
        Path(place, "repo/recall.toml").touch(mode=0o644)
        yield Path(place)


def _whole_reach(project: Path) -> Reach:
    repo = project / "repo"
    return _reach(project, repo / ".git/recall", repo / ".git", repo / "recall.toml", repo)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@needs_root
def test_another_user_is_proved_by_what_it_attempts(project: Path) -> None:
    plan = _settings(level="user", user=ANYBODY, network="off")
    check_fence(plan, _whole_reach(project), {})
    assert "write neither" in prove_as_set(plan, _whole_reach(project)).what
    assert sorted(path.name for path in (project / "repo").rglob(".recall-probe*")) == []


@needs_root
@pytest.mark.parametrize(
    ("place", "mode", "said"),
    [
        ("repo/recall.toml", 0o666, "it can write {}"),
        ("repo/.git/recall", 0o777, "it can write {}"),
        ("repo", 0o777, "it can write {}"),
        ("repo/.git/objects", 0o700, "it cannot read {}"),
        ("repo", 0o700, "it cannot enter {}/.recall"),
    ],
)
def test_another_user_that_reaches_too_much_or_too_little_is_refused(
    project: Path, place: str, mode: int, said: str
) -> None:
    (project / place).chmod(mode)
    with pytest.raises(ConfigError, match=r"sandbox\.level user does not hold") as refused:
        check_fence(_settings(level="user", user=ANYBODY), _whole_reach(project), {})
    assert said.format(project / place) in str(refused.value)


@needs_root
def test_a_recall_that_another_user_cannot_run_is_named_with_the_python_that_may_be_why(project: Path) -> None:
    reach = replace(_whole_reach(project), program=("/bin/false",))
    said = prove_user(ANYBODY, reach).what
    assert said.endswith(
        f"it cannot run /bin/false, with which agents report; its Python is {os.path.realpath(sys.executable)}"
    )


@needs_root
@pytest.mark.parametrize(("name", "said"), [("root", "as whom this runs already"), ("no-such", "no such user")])
def test_a_user_that_would_be_no_fence_is_refused(project: Path, name: str, said: str) -> None:
    assert said in prove_user(name, _whole_reach(project)).what


def test_who_is_not_root_is_told_that_it_cannot_become_another_user(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ConfigError, match="only a dispatcher that runs as root can start agents as another user"):
        check_fence(_settings(level="user", user=ANYBODY), _whole_reach(project), {})


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
