"""Real git repositories for tests, cut off from the machine: no outside configuration, fixed identity, own clock.

repo = Repo.create(tmp_path / "repo")
first = repo.commit("start", {"README.md": "hello\n"})
repo.branch("work", first)
assert repo.file("README.md") == b"hello\n"
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

NAME = "Test Person"
EMAIL = "person@example.invalid"
START = 1_750_000_000

_CONFIG = (
    f"[user]\n\tname = {NAME}\n\temail = {EMAIL}\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"
)

#: What a test takes over from the machine. Everything that could lead git elsewhere is left behind.
_KEPT = ("PATH", "TMPDIR", "LANG")


def make_home(folder: Path) -> Path:
    """Make a home folder whose git configuration holds nothing but an identity and the default branch."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitconfig").write_text(_CONFIG)
    return folder


def isolate(environ: MutableMapping[str, str], home: Path) -> None:
    """Point git, and whatever asks for a home folder, at `home`; drop every variable that git listens to."""
    for name in [name for name in environ if name.startswith(("GIT_", "XDG_", "RECALL_"))]:
        del environ[name]
    environ["HOME"] = str(home)
    environ["GIT_CONFIG_NOSYSTEM"] = "1"
    environ["GIT_TERMINAL_PROMPT"] = "0"


@dataclass
class Repo:
    """A git repository driven by the real git. `path` is the work tree (or the git dir of a bare one)."""

    path: Path
    _ticks: list[int] = field(default_factory=lambda: [START], repr=False)

    @classmethod
    def create(cls, path: Path, *, bare: bool = False, main: str = "main") -> Repo:
        """Make an empty repository, without a commit."""
        path.mkdir(parents=True, exist_ok=True)
        repo = cls(path)
        repo.git("init", "-q", "-b", main, *(["--bare"] if bare else []))
        return repo

    # -- running git -----------------------------------------------------------------------------------------
    def run(
        self, *args: str, env: Mapping[str, str] | None = None, stdin: bytes = b"", check: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git here. With `check` a failure is an AssertionError that shows what git said."""
        done = subprocess.run(
            ["git", *args], cwd=self.path, env=self._environment(env), input=stdin, capture_output=True, check=False
        )
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        assert not check or done.returncode == 0, f"git {' '.join(args)} gave {done.returncode}: {said}"
        return done

    def git(self, *args: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> str:
        """Run git here and give its output without the last line end."""
        return os.fsdecode(self.run(*args, env=env, stdin=stdin).stdout).rstrip("\n")

    def _environment(self, extra: Mapping[str, str] | None) -> dict[str, str]:
        env = {name: os.environ[name] for name in _KEPT if name in os.environ}
        stamp = f"{self._ticks[0]} +0200"
        env |= {
            "HOME": os.environ["HOME"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_DATE": stamp,
            "GIT_COMMITTER_DATE": stamp,
        }
        return env | dict(extra or {})

    # -- making history --------------------------------------------------------------------------------------
    def write(self, path: str, content: str | bytes, *, mode: int | None = None) -> Path:
        """Write a file of the work tree, making its folders."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            target.chmod(mode)
        return target

    def commit(
        self,
        message: str,
        files: Mapping[str, str | bytes | None] | None = None,
        *,
        author: str = "",
        allow_empty: bool = False,
    ) -> str:
        """Write `files` (None deletes), commit everything in the work tree and give the commit's id. Every
        commit is a minute younger than the one before. `author` is `Name <mail>`."""
        for path, content in (files or {}).items():
            if content is None:
                (self.path / path).unlink()
            else:
                self.write(path, content)
        self._ticks[0] += 60
        self.git("add", "-A")
        flags = [f"--author={author}"] if author else []
        flags += ["--allow-empty"] if allow_empty else []
        self.git("-c", "maintenance.auto=false", "commit", "-q", "-m", message, *flags)
        return self._head()

    def _head(self) -> str:
        """The id that `git commit` has just written; reading it costs no process."""
        git_dir = self.path / ".git"
        try:
            if git_dir.is_file():
                git_dir = self.path / git_dir.read_text().removeprefix("gitdir: ").rstrip("\n")
            head = (git_dir / "HEAD").read_text().rstrip("\n")
            if not head.startswith("ref: "):
                return head
            link = git_dir / "commondir"
            common = git_dir / link.read_text().rstrip("\n") if link.exists() else git_dir
            return (common / head.removeprefix("ref: ")).read_text().rstrip("\n")
        except OSError:
            return self.tip("HEAD")

    def branch(self, name: str, at: str = "HEAD") -> None:
        self.git("branch", name, at)

    def switch(self, name: str, *, create: bool = False) -> None:
        self.git("checkout", "-q", *(["-b"] if create else []), name)

    def worktree(self, path: Path, branch: str, at: str = "HEAD") -> Repo:
        """Add a linked worktree on a new branch; it shares this repository's clock."""
        self.git("worktree", "add", "-q", "--no-track", "-b", branch, str(path), at)
        return Repo(path, self._ticks)

    def clone(self, path: Path, *flags: str) -> Repo:
        self.git(
            "clone", "-q", *flags, str(self.path) if "--depth" not in flags else f"file://{self.path}", str(path)
        )
        return Repo(path, self._ticks)

    # -- looking ---------------------------------------------------------------------------------------------
    @property
    def git_dir(self) -> Path:
        return Path(self.git("rev-parse", "--absolute-git-dir"))

    def tip(self, rev: str = "HEAD") -> str:
        return self.git("rev-parse", "--verify", f"{rev}^{{commit}}")

    def tree(self, rev: str = "HEAD") -> str:
        return self.git("rev-parse", f"{rev}^{{tree}}")

    def file(self, path: str, rev: str = "HEAD") -> bytes:
        """The content of a file in a commit."""
        return self.run("cat-file", "blob", f"{rev}:{path}").stdout

    def files(self, rev: str = "HEAD") -> list[str]:
        """The paths of all files in a commit."""
        out = self.run("ls-tree", "-r", "-z", "--name-only", rev).stdout
        return [os.fsdecode(path) for path in out.split(b"\0") if path]

    def subjects(self, revs: str = "HEAD") -> list[str]:
        """The commits' first lines, oldest first."""
        return self.git("log", "--reverse", "--format=%s", revs).splitlines()

    def message(self, rev: str = "HEAD") -> str:
        return self.git("log", "-1", "--format=%B", rev)

    def status(self) -> list[str]:
        return self.git("status", "--porcelain=v1", "-uall").splitlines()

    def has(self, rev: str) -> bool:
        return self.run("cat-file", "-e", rev, check=False).returncode == 0
