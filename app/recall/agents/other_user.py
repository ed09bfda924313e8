"""The Linux user whom agents run as at sandbox level `user`: who that is, and what is given to it."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Mapping
from pathlib import Path

from recall.domain.errors import ConfigError
from recall.domain.frozen import frozen
from recall.ownership import give_away

#: Folders on the way to a workspace can be gone through, not listed; a slot's own files can be read.
_WAY, _SLOT = 0o710, 0o2750


@frozen
class Account:
    name: str
    uid: int
    gid: int
    home: str
    shell: str


def account_of(name: str) -> Account:
    """Look a user up. Raises ConfigError when there is none, or when it would be no fence to run as that one."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise ConfigError(
            f"sandbox.user names {name!r}, and this machine has no such user; as root: useradd --create-home {name}"
        ) from None
    if found.pw_uid == 0 or found.pw_uid == os.geteuid():
        raise ConfigError(f"sandbox.user names {name}, as whom this runs already; name a user for agents alone")
    return Account(name, found.pw_uid, found.pw_gid, found.pw_dir, found.pw_shell)


def seen_by(account: Account, environ: Mapping[str, str]) -> dict[str, str]:
    """Give the dispatcher's environment as it is for that user, whose home and folders are others."""
    kept = {name: value for name, value in environ.items() if not name.startswith("XDG_")}
    return {**kept, "HOME": account.home, "USER": account.name, "LOGNAME": account.name, "SHELL": account.shell}


def open_way(account: Account, root: Path) -> None:
    """Let that user go through the folder of workspaces. One that a person made and opened stays as it is."""
    for folder in (root, root / "ws", root / "verify"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not stat.S_IMODE(folder.stat().st_mode) & stat.S_IXOTH:
            _open(folder, account, _WAY)


def open_slot(account: Account, slot: Path) -> None:
    """Let that user read what is written into a slot from now on."""
    _open(slot, account, _SLOT)


def hand_over(account: Account, tree: Path, scratch: Path) -> None:
    """Give that user the folder it works in, and one for temporary files."""
    for folder in (tree, scratch):
        give_away(folder, account.uid, account.gid)


def _open(folder: Path, account: Account, mode: int) -> None:
    os.chown(folder, -1, account.gid, follow_symlinks=False)
    folder.chmod(mode)
