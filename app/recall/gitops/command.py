"""The one function through which every git call goes.

The environment is built from scratch and the flags switch off whatever could run a program that the
repository or its configuration names: hooks, the file-system monitor, signing, editors, pagers, prompts.
In the user's repository global and system configuration stay in force, since filters such as LFS live there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from recall.domain.errors import EnvironmentFailure
from recall.domain.frozen import frozen
from recall.domain.surroundings import failure_of, failure_told
from recall.domain.text import clean

#: All that a git call takes over from the caller. Whatever would lead it to another repository (`rev-parse
#: --local-env-vars`) or let a program in is left behind.
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
    "GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1",  # a content that cannot be had leaves its pointer, as in the user's clone
    "LC_ALL": "C",
}

#: For git dirs of our own: the user's and the system's configuration are left out, since agents and tests that run
#: with the same home can write there. What is needed of them was copied in at the start.
ALONE = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

HARDENING = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "log.showSignature=false",
    "merge.verifySignatures=false",
    "color.ui=false",
    "core.alternateRefsCommand=true",
    "core.splitIndex=false",
    "core.safecrlf=false",
    "core.fsync=committed,-loose-object,reference",
    "core.trustctime=true",
    "core.checkStat=default",
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


@frozen
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
    where = cwd or work_tree or git_dir
    extra = _pinned(env, git_dir, work_tree, index)
    child = _start(arguments(args, config=config, safe=where), where, extra, stdin=subprocess.PIPE)
    out, err = _finish(child, args, where, timeout, stdin)
    return _judged(Finished(tuple(args), child.returncode, out, err), where, check)


def pipe_git(
    source: Sequence[str],
    sink: Sequence[str],
    *,
    git_dir: Path,
    source_git_dir: Path | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    config: Sequence[str] = (),
    timeout: float = 1800.0,
) -> tuple[Finished, Finished]:
    """Run `git source | git sink`, whatever the size. `source_git_dir` is where the first one runs if not in
    `git_dir`; `env` is for the first one only. Both results are given unjudged: the caller looks at both."""
    where = source_git_dir or git_dir
    with tempfile.TemporaryFile() as told:
        told.write(stdin)
        told.seek(0)
        first = _start(arguments(source, config=config, safe=where), where, _pinned(env, where), stdin=told)
        assert first.stdout is not None
        try:
            argv = arguments(sink, config=config, safe=git_dir)
            second = _start(argv, git_dir, _pinned(None, git_dir), stdin=first.stdout)
            first.stdout.close()
            first.stdout = None
            out, err = _finish(second, sink, git_dir, timeout)
        except BaseException:
            _end(first)
            raise
        _, complaint = _finish(first, source, where, timeout)
    return (
        Finished(tuple(source), first.returncode, b"", complaint),
        Finished(tuple(sink), second.returncode, out, err),
    )


def _pinned(
    env: Mapping[str, str] | None, git_dir: Path | None, work_tree: Path | None = None, index: Path | None = None
) -> dict[str, str]:
    extra = dict(env or {})
    for name, path in (("GIT_DIR", git_dir), ("GIT_WORK_TREE", work_tree), ("GIT_INDEX_FILE", index)):
        if path is not None:
            extra[name] = str(path)
    return extra


def _start(
    argv: list[str], where: Path | None, extra: Mapping[str, str], stdin: int | IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # a list, no shell; this is the only place that starts git
            argv,
            cwd=where,
            env=environment(extra),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as broken:
        raise failure_of(broken, f"git could not be started in {where}") from broken


def _finish(
    child: subprocess.Popen[bytes],
    args: Sequence[str],
    where: Path | None,
    timeout: float,
    stdin: bytes | None = None,
) -> tuple[bytes, bytes]:
    """Wait for the end. A call that is too late is ended with all that it started: its session is its own."""
    try:
        out, err = child.communicate(stdin, timeout)
    except subprocess.TimeoutExpired as late:
        _end(child)
        raise EnvironmentFailure(f"git {args[0]} did not end within {timeout:.0f} s in {where}") from late
    except BaseException:
        _end(child)
        raise
    return out or b"", err or b""


def _end(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _judged(done: Finished, where: Path | None, check: bool) -> Finished:
    if check and not done.ok:
        raise failure_told(f"git {' '.join(done.args[:3])} failed in {where} ({done.status}): {clean(done.error)}")
    return done
