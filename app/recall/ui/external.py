"""Programs that need the terminal: an editor, a merge tool, a shell. The screen steps aside, or says how to run them
elsewhere."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from textual.app import App, SuspendNotSupported

from recall.domain.frozen import frozen
from recall.domain.text import clean
from recall.gitops.command import run_git

_PLUS_LINE = frozenset(
    ("vi", "vim", "nvim", "gvim", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "ne", "mg")
)
_COLON_LINE = frozenset(("hx", "helix", "subl", "zed"))
_GOTO = frozenset(("code", "code-insiders", "codium", "cursor", "windsurf"))


@frozen
class Outside:
    """How a program outside came out. `command` is how to run it elsewhere, where the screen cannot step aside;
    `trouble` says why it could not be started."""

    command: str = ""
    trouble: str = ""


def give_terminal(app: App[Any], argv: Sequence[str], folder: Path) -> Outside:
    """Give the terminal to a program until it ends. The store and the engine go on meanwhile."""
    try:
        with app.suspend():
            subprocess.run(list(argv), cwd=folder, check=False)
    except SuspendNotSupported:
        return Outside(command=clean(f"cd {shlex.quote(str(folder))} && {shlex.join(argv)}"))
    except OSError as broken:
        return Outside(trouble=clean(f"{argv[0]} could not be started: {broken}"))
    return Outside()


def run_outside(app: App[Any], argv: Sequence[str], folder: Path) -> bool:
    """The same; a notice says what could not be done. Tells whether the program was run."""
    outside = give_terminal(app, argv, folder)
    if outside.trouble:
        app.notify(outside.trouble, severity="error", markup=False)
    elif outside.command:
        app.notify(f"run this in a terminal: {outside.command}", markup=False)
    return not (outside.trouble or outside.command)


def editor() -> list[str]:
    """Give the person's editor, with its arguments."""
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")


def shell() -> list[str]:
    """Give the person's shell."""
    return [os.environ.get("SHELL") or "/bin/sh"]


def edit_at(editor: Sequence[str], path: str, line: int) -> list[str]:
    """Give the command that opens a file at a line, from 1; at its beginning with an editor that is not known."""
    program, path = Path(editor[0]).name, path if path[:1] not in "-+" else f"./{path}"
    if program in _PLUS_LINE:
        return [*editor, f"+{line}", path]
    if program in _COLON_LINE:
        return [*editor, f"{path}:{line}"]
    return [*editor, "--goto", f"{path}:{line}"] if program in _GOTO else [*editor, path]


def merge_tool(folder: Path) -> str:
    """Give the name of the merge tool that the person's git is set to, "" for none. For a folder whose git dir is
    Recall's own."""
    return clean(run_git(["config", "--get", "merge.tool"], cwd=folder, check=False).text)


def merge_with(path: str) -> list[str]:
    """Give the command that opens a conflicted file in the person's merge tool. A backup would be taken over with
    the folder."""
    return ["git", "-c", "mergetool.keepBackup=false", "mergetool", "--no-prompt", "--", path]


def end_process(code: int) -> NoReturn:
    """End without waiting for threads."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
