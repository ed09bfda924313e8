"""The repository, the state folder in it, and git settings that would hurt."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from recall.cli.doctor.finding import Finding, fine, note, wrong
from recall.cli.project import Project
from recall.domain.frozen import frozen

_OWNER_ONLY = 0o700


def look_at_state(project: Project) -> Iterator[Finding]:
    from recall.gitops.repository import check_file_system

    check_file_system(project.state)
    yield fine("state folder", f"{project.state} on a local file system")
    mode = stat.S_IMODE(project.state.stat().st_mode)
    if mode & ~_OWNER_ONLY:
        what = f"{project.state} can be entered by others (mode {mode:04o})"
        yield wrong("state folder", what, f"chmod 700 {project.state}", fix=lambda: _close(project.state))


def _close(folder: Path) -> str:
    folder.chmod(_OWNER_ONLY)
    return f"{folder} is yours alone now"


def look_at_repository(project: Project) -> Iterator[Finding]:
    from recall.gitops.repository import Repository, git_version

    Repository(project.location, project.settings.main, project.state).check()
    yield fine("git", f"{git_version()}; main is {project.settings.main}")


@frozen
class _Harm:
    """A git setting and the values that hurt; `wrong` must be mended, others are worth knowing."""

    key: str
    values: tuple[str, ...]
    hurts: str
    mend: str
    wrong: bool = False


_ON = ("true", "yes", "on", "1")
_HARMS = (
    _Harm(
        "receive.denycurrentbranch",
        ("updateinstead", "false", "ignore", "warn"),
        "lets an agent push to the branch that is checked out, past the merge queue",
        "git config --unset receive.denyCurrentBranch",
        wrong=True,
    ),
    _Harm(
        "gc.pruneexpire",
        ("now", "all"),
        "lets git delete objects that a landing has carried in and not named yet",
        "git config --unset gc.pruneExpire",
        wrong=True,
    ),
    _Harm(
        "core.sharedrepository",
        ("true", "group", "all", "world", "everybody"),
        "lets other users of this machine write to this repository",
        "agents of theirs can change main; use a repository of your own",
    ),
    _Harm(
        "merge.autostash",
        _ON,
        "turns a refused merge into conflict markers in your files",
        "Recall's own calls switch it off; for yours: git config merge.autoStash false",
    ),
    _Harm(
        "core.autocrlf",
        (*_ON, "input"),
        "makes files differ between your checkout and the workspaces",
        "a .gitattributes with `* text=auto` says it for everybody",
    ),
    _Harm("commit.gpgsign", _ON, "asks for signatures", "commits that Recall makes are not signed"),
    _Harm("core.fsmonitor", _ON, "runs a monitor in your checkout", "Recall's own calls switch it off"),
)


def look_at_git_settings(project: Project) -> Iterator[Finding]:
    from recall.gitops.repository import Repository

    repository = Repository(project.location, project.settings.main, project.state)
    pattern = "^(" + "|".join(harm.key.replace(".", r"\.") for harm in _HARMS) + r"|core\.hookspath)$"
    set_here = dict(repository.local_config(pattern))
    everywhere = dict(repository.global_config(pattern)) | set_here
    found = [harm for harm in _HARMS if everywhere.get(harm.key, "").lower() in harm.values]
    for harm in found:
        what = f"{harm.key} = {everywhere[harm.key]} {harm.hurts}"
        yield wrong("git settings", what, harm.mend) if harm.wrong else note("git settings", what, harm.mend)
    if "core.hookspath" in set_here:
        what = f"core.hooksPath = {set_here['core.hookspath']} is set in this repository"
        yield note("git settings", what, "Recall runs no hooks; agents in plain worktrees do, and can change it")
    if not found:
        yield fine("git settings", "none that would hurt")
