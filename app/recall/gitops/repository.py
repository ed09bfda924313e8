"""The user's repository: where it is, what main is, whether Recall can work in it at all."""

from __future__ import annotations

import ctypes
import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from recall.domain.errors import ConfigError, EnvironmentFailure
from recall.domain.text import clean_line
from recall.gitops.command import Finished, run_git
from recall.gitops.locate import Location
from recall.gitops.pipes import clear_git_dir
from recall.gitops.refs import read_ref

#: `git merge-tree --write-tree` came with it.
OLDEST_GIT = (2, 38)

#: statfs(2) types on which locks or mmap cannot be trusted.
NETWORK_FILE_SYSTEMS = {
    0x6969: "NFS",
    0x517B: "SMB",
    0xFE534D42: "SMB2",
    0xFF534D42: "CIFS",
    0x01021997: "9p",
    0x73757245: "Coda",
    0x5346414F: "AFS",
    0x00C36400: "Ceph",
}


@dataclass(slots=True)
class _KnownTags:
    state: tuple[tuple[int, int, int], ...] | None = None
    tags: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True)
class Repository:
    """The repository that the user works in. `main` is a branch name without `refs/heads/`; `state_dir` may lie
    anywhere. Everything here only reads, with the git dir pinned."""

    location: Location
    main: str
    state_dir: Path

    @property
    def common_dir(self) -> Path:
        return self.location.common_dir

    @property
    def checkout(self) -> Path | None:
        """The work tree that Recall was started in; None for a bare repository."""
        return self.location.checkout

    @property
    def main_ref(self) -> str:
        return f"refs/heads/{self.main}"

    @property
    def objects(self) -> Path:
        return self.common_dir / "objects"

    @property
    def shallow_file(self) -> Path:
        return self.common_dir / "shallow"

    def git(self, *args: str, stdin: bytes = b"", check: bool = True) -> Finished:
        """Run git on the shared git dir, without a work tree."""
        return run_git(args, git_dir=self.common_dir, stdin=stdin, check=check)

    def main_tip(self) -> str:
        """Give main's commit. Raises EnvironmentFailure when main is gone."""
        tip = read_ref(self.common_dir, self.main_ref) or self.tip_of(self.main_ref)
        if tip is None:
            raise EnvironmentFailure(
                f"branch {self.main!r} is gone from {self.common_dir}; restore it (`git reflog` knows its last "
                "commit) or name another branch as `main` in recall.toml"
            )
        return tip

    def tip_of(self, rev: str) -> str | None:
        """Give the commit that `rev` names, or None."""
        clear_git_dir(self.common_dir)
        done = self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}", check=False)
        return done.text if done.ok else None

    def contains(self, tip: str, commit: str) -> bool:
        """Tell whether `commit` is `tip` or an ancestor of it; a commit that is not here is in nothing."""
        return tip == commit or self.git("merge-base", "--is-ancestor", commit, tip, check=False).status == 0

    def file_on_main(self, path: str) -> bytes | None:
        """Give the content of a file in main's tip, or None when there is none."""
        done = self.git("cat-file", "blob", f"{self.main_ref}:{path}", check=False)
        return done.out if done.ok else None

    def branches(self) -> list[str]:
        """Give the names of all branches."""
        from recall.gitops.wrapper import HardenedRepo  # GitPython is slow to import and seldom asked

        with HardenedRepo(self.common_dir) as repo:
            return [head.name for head in repo.heads]

    def tags(self) -> list[tuple[str, str]]:
        """Give (object id, full ref name) of every tag. Git is asked only when a tag may have come, gone or moved."""
        state = self._tags_state()
        if state is not None and state == self._known_tags.state:
            return self._known_tags.tags
        found = self._list_tags()
        self._known_tags.state, self._known_tags.tags = state, found
        return found

    def _list_tags(self) -> list[tuple[str, str]]:
        out = self.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags").text
        return [(oid, name) for oid, _, name in (line.partition(" ") for line in out.splitlines())]

    def _tags_state(self) -> tuple[tuple[int, int, int], ...] | None:
        """Every tag is a line of packed-refs or a file, and both are only ever replaced as a whole."""
        if (self.common_dir / "reftable").exists():
            return None
        folders = sorted(Path(place) for place, _, _ in os.walk(self.common_dir / "refs" / "tags"))
        return tuple(map(_stamp, (self.common_dir / "packed-refs", *folders)))

    @cached_property
    def _known_tags(self) -> _KnownTags:
        return _KnownTags()

    @cached_property
    def object_format(self) -> str:
        """`sha1` or `sha256`."""
        return self.git("rev-parse", "--show-object-format").text

    def local_config(self, pattern: str) -> list[tuple[str, str]]:
        """Give the (key, value) pairs of the repository's own configuration, without includes, whose key
        matches a regular expression."""
        done = self.git("config", "--local", "--no-includes", "-z", "--get-regexp", pattern, check=False)
        return [_pair(entry) for entry in done.text.split("\0") if entry]

    def global_config(self, pattern: str) -> list[tuple[str, str]]:
        """Give the (key, value) pairs of the user's and the system's configuration whose key matches a regular
        expression, the system's first."""
        done = self.git("config", "--includes", "--show-scope", "-z", "--get-regexp", pattern, check=False)
        fields = iter(done.text.split("\0"))
        found = zip(fields, fields, strict=False)
        return [_pair(entry) for scope, entry in found if scope in ("system", "global")]

    # -- may Recall work here? -------------------------------------------------------------------------------
    def check(self) -> None:
        """Raise ConfigError or EnvironmentFailure, in words, for every state in which no task may be claimed."""
        _check_git_version()
        check_file_system(self.state_dir)
        self._check_complete()
        self._check_main()
        self._check_prefix()

    def _check_complete(self) -> None:
        partial = self.local_config(r"^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$")
        if partial:
            key, value = partial[0]
            raise ConfigError(
                f"this is a partial clone ({key} = {clean_line(value)}): missing objects would be fetched in the "
                "middle of a landing; make a full clone (`git clone` without --filter) and start there"
            )

    def _check_main(self) -> None:
        if self.tip_of(self.main_ref) is not None:
            return
        branches = self.branches()
        if not branches:
            raise ConfigError("this repository has no commit yet; make a first one (`git commit`), then start again")
        known = ", ".join(clean_line(name) for name in branches[:5])
        raise ConfigError(
            f"there is no branch {self.main!r} (found: {known}); set `main` in recall.toml to one of them"
        )

    def _check_prefix(self) -> None:
        if self.tip_of("refs/heads/recall") is not None:
            raise ConfigError(
                "there is a branch called `recall`, so git cannot make the branches recall/REGION/TASK/N; "
                "rename it: `git branch -m recall recall-old`"
            )


def _pair(entry: str) -> tuple[str, str]:
    """A key without a value, as git's configuration may have it, means true."""
    key, said, value = entry.partition("\n")
    return key, value if said else "true"


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        state = file.stat()
    except OSError:
        return (0, 0, 0)
    return (state.st_ino, state.st_ctime_ns, state.st_size)


def git_version() -> str:
    """Give what git says of itself, in one line."""
    return clean_line(run_git(["version"]).text)


def _check_git_version() -> None:
    said = git_version()
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_GIT:
        oldest = ".".join(map(str, OLDEST_GIT))
        raise EnvironmentFailure(f"found {said or 'no git'}, need git {oldest} or newer; please update git")


def check_file_system(state_dir: Path) -> None:
    """Refuse a state folder on a network file system: neither flock nor SQLite's WAL can be trusted there."""
    existing = next(folder for folder in (state_dir, *state_dir.parents) if folder.exists())
    name = NETWORK_FILE_SYSTEMS.get(file_system_type(existing))
    if name is not None:
        raise ConfigError(
            f"the state folder {state_dir} is on a network file system ({name}), where locks cannot be trusted; "
            "set `store.state_dir` in recall.toml to a folder on a local disk"
        )


def file_system_type(folder: Path) -> int:
    """Give `f_type` of statfs(2), which Python does not offer. It is the first word of the struct."""
    buffer = ctypes.create_string_buffer(512)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.statfs(bytes(folder), buffer) != 0:
        raise EnvironmentFailure(f"cannot ask which file system {folder} is on (error {ctypes.get_errno()})")
    word = ctypes.c_long.from_buffer(buffer).value
    return word & 0xFFFFFFFF
