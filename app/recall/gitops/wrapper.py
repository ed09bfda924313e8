"""GitPython, made to start git through `command.run_git` only.

GitPython's own `execute(env=)` merges over the process's environment, so that a `GIT_DIR` or `GIT_CONFIG_COUNT`
of the caller would reach git. Here the whole method is ours.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import git
from git.exc import GitCommandError

from recall.gitops.command import Finished, run_git


class HardenedGit(git.Git):
    """`git.Git` whose every call is `run_git`."""

    def execute(  # pyright: ignore[reportIncompatibleMethodOverride]  # the overloads for live processes are refused
        self,
        command: str | Sequence[Any],
        istream: int | BinaryIO | None = None,
        with_extended_output: bool = False,
        with_exceptions: bool = True,
        as_process: bool = False,
        output_stream: BinaryIO | None = None,
        stdout_as_string: bool = True,
        kill_after_timeout: float | None = None,
        strip_newline_in_stdout: bool = True,
        env: Mapping[str, str] | None = None,
        **_popen: Any,
    ) -> Any:
        """Run one git command to its end. Live processes (`as_process`) are refused: they outlive their use."""
        if isinstance(command, str) or as_process or isinstance(istream, int):
            raise GitCommandError(str(command), 128, "only whole commands run here, given as a list")
        done = run_git(
            [str(part) for part in command[1:]],
            cwd=Path(os.fspath(self.working_dir)) if self.working_dir else None,
            stdin=istream.read() if istream is not None else b"",
            env=env,
            timeout=kill_after_timeout or 600.0,
            check=False,
        )
        if with_exceptions and not done.ok:
            raise GitCommandError(list(done.args), done.status, done.err, done.out)
        return _as_asked(done, with_extended_output, output_stream, stdout_as_string, strip_newline_in_stdout)


def _as_asked(done: Finished, extended: bool, sink: BinaryIO | None, as_string: bool, strip: bool) -> Any:
    if sink is not None:
        sink.write(done.out)
    raw = done.out[:-1] if strip and done.out.endswith(b"\n") else done.out
    out: str | bytes | BinaryIO = sink if sink is not None else (os.fsdecode(raw) if as_string else raw)
    return (done.status, out, done.error) if extended else out


class HardenedRepo(git.Repo):
    """`git.Repo` on top of HardenedGit. One for each operation, in a `with`: it is not for several threads."""

    GitCommandWrapperType: Final = HardenedGit  # pyright: ignore[reportIncompatibleVariableOverride]
