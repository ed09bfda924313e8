"""The one function through which every git call goes.

The environment is built from scratch and the flags switch off whatever could run a program that the
repository or its configuration names: hooks, the file-system monitor, signing, editors, pagers, prompts.
Global and system configuration stay in force, since filters such as LFS live there.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recall.domain.errors import EnvironmentFailure

#: What git itself would take from the caller's environment to find another repository (`rev-parse
#: --local-env-vars`), and what would let a program in.
_KEPT = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
    "XDG_DATA_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSL_CAINFO",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_CEILING_DIRECTORIES",
)  # fmt: skip

_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ADVICE": "0",
    "LC_ALL": "C",
}

HARDENING = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "rerere.enabled=false",
    "rebase.autoStash=false",
    "merge.autoStash=false",
    "fetch.fsckObjects=true",
    "protocol.ext.allow=never",
    "advice.detachedHead=false",
)


@dataclass(frozen=True, slots=True)
class Finished:
    """A git call that ended. `out` and `err` are raw bytes: paths are not text."""

    args: tuple[str, ...]
    status: int
    out: bytes
    err: bytes

    @property
    def ok(self) -> bool:
        return self.status == 0

    @property
    def text(self) -> str:
        """Standard output as text without its last line end, undecodable bytes kept as surrogates."""
        return os.fsdecode(self.out).rstrip("\n")

    @property
    def error(self) -> str:
        return self.err.decode("utf-8", "replace").strip()


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give the environment of a git call: an allow-list of the caller's, then the fixed part, then `extra`."""
    env = {name: os.environ[name] for name in _KEPT if name in os.environ}
    env.update(_FIXED)
    if extra:
        env.update(extra)
    return env


def arguments(args: Sequence[str], *, config: Sequence[str] = (), safe: Path | None = None) -> list[str]:
    """Give the whole argv: git, the hardening flags, `config` (`key=value`), then `args`."""
    flags: list[str] = [*HARDENING]
    if safe is not None:
        flags.append(f"safe.directory={safe}")
    flags.extend(config)
    argv = ["git", "--no-pager"]
    for flag in flags:
        argv += ["-c", flag]
    return [*argv, *args]


def run_git(
    args: Sequence[str],
    *,
    cwd: Path | None = None,
    git_dir: Path | None = None,
    work_tree: Path | None = None,
    index: Path | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    config: Sequence[str] = (),
    timeout: float = 600.0,
    check: bool = True,
) -> Finished:
    """Run git and wait for it. `git_dir`, `work_tree` and `index` pin the repository, so that a planted
    `.git` is never looked at. Raises EnvironmentFailure when git cannot be started, does not end within
    `timeout` seconds, or, with `check`, ends with another status than 0."""
    extra = dict(env or {})
    for name, path in (("GIT_DIR", git_dir), ("GIT_WORK_TREE", work_tree), ("GIT_INDEX_FILE", index)):
        if path is not None:
            extra[name] = str(path)
    where = cwd or work_tree or git_dir
    argv = arguments(args, config=config, safe=where)
    try:
        ended = subprocess.run(  # the list has no shell; this is the only place that starts git
            argv,
            cwd=where,
            env=environment(extra),
            input=stdin,
            capture_output=True,
            timeout=timeout,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise EnvironmentFailure(f"git {args[0]} did not end within {timeout:.0f} s in {where}") from late
    except OSError as broken:
        raise EnvironmentFailure(f"git could not be started in {where}: {broken}") from broken
    done = Finished(tuple(args), ended.returncode, ended.stdout, ended.stderr)
    if check and not done.ok:
        raise EnvironmentFailure(f"git {' '.join(args[:3])} failed in {where} ({done.status}): {done.error}")
    return done
