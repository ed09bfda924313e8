"""Puts a fence around one program: `python -I -S fence.py FENCE.json COMMAND...` becomes COMMAND, which can write
nothing but what the file lists, and neither can anything that it starts.

It imports nothing but the standard library, since it starts with every fenced run. Three levels: `landlock` asks the
kernel (landlock(7); all writing, creating, removing and truncating is refused outside, signals and tracing do not
leave the fence), `bwrap` puts bubblewrap around it (the rest of the disk is mounted read-only, processes outside are
invisible, and all of them end with the first), `user` becomes another Linux user, for whom the kernel's own rights
hold. Without network a run has a loopback of its own.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: What a shell says of a program that cannot be started; a fence that does not stand must not let anything run.
CANNOT_START = 126
#: Linux 6.2 brought it: before, a file outside could still be truncated.
OLDEST_ABI = 3

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ABI_QUERY = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
#: remove a folder or file; make a device, folder, file, socket, pipe, block device, link; move between folders
_MEND_FOLDERS = sum(1 << bit for bit in (4, 5, 6, 7, 8, 9, 10, 11, 12, 13))
_WRITES = _WRITE_FILE | _TRUNCATE | _MEND_FOLDERS
SCOPED_SINCE = 6
_SCOPE_SIGNALS = 1 << 1
#: Devices and what a process may say about itself; the kernel's own rights still hold for each.
_ALWAYS = ("/dev", "/proc")
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


class FenceError(Exception):
    """The fence does not stand; says what the system refused."""


# -- the kernel's own fence ----------------------------------------------------------------------------------


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def landlock_abi() -> int:
    """Give the version of landlock that this kernel offers; 0 where it has none or it is switched off."""
    return max(0, _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ABI_QUERY)))


def restrict_writes(paths: Sequence[str]) -> None:
    """Let this process, and all that it starts, write below these paths only. It cannot be undone."""
    abi = landlock_abi()
    if abi < OLDEST_ABI:
        raise FenceError(f"landlock of this kernel is version {abi}, needed is {OLDEST_ABI} (Linux 6.2)")
    rules = _Ruleset(_WRITES, 0, _SCOPE_SIGNALS if abi >= SCOPED_SINCE else 0)
    size = ctypes.sizeof(rules) if abi >= SCOPED_SINCE else _Ruleset.scoped.offset
    ruleset = _checked(_libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), 0), "landlock")
    for path in (*paths, *_ALWAYS):
        _allow(ruleset, path)
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)


def _allow(ruleset: int, path: str) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # what is not there cannot be written
    folder = stat.S_ISDIR(os.fstat(opened).st_mode)
    rule = _PathBeneath(_WRITES if folder else _WRITE_FILE | _TRUNCATE, opened)
    _checked(_libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0), path)
    os.close(opened)


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise FenceError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


# -- no network ----------------------------------------------------------------------------------------------


def leave_network() -> None:
    """Move to a network of its own in which only the loopback is there, as the same user."""
    user, group = os.geteuid(), os.getegid()
    wanted = _CLONE_NEWNET if user == 0 else _CLONE_NEWNET | _CLONE_NEWUSER
    _checked(_libc.unshare(wanted), "a network of its own")
    if user != 0:
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{file}", "w") as mapping:
                mapping.write(text)
    _loopback_up()


def _loopback_up() -> None:
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        request = struct.pack("16sh22x", b"lo", 0)
        _, flags = struct.unpack("16sh22x", fcntl.ioctl(door, _SIOCGIFFLAGS, request))
        fcntl.ioctl(door, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | _IFF_UP))


# -- bubblewrap ----------------------------------------------------------------------------------------------


def bubblewrap(program: str, paths: Sequence[str], cwd: str, *, network: bool) -> list[str]:
    """Give the argv that stands before the command. All processes end when the first one or this one ends."""
    argv = [program, "--die-with-parent", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in paths:
        if os.path.exists(path):
            argv += ["--bind", path, path]
    if not network:
        argv.append("--unshare-net")
    return [*argv, "--chdir", cwd, "--"]


# -- another user --------------------------------------------------------------------------------------------


def become(name: str) -> None:
    """Be another user from now on, with all groups of theirs and none of ours. It cannot be undone, and no program
    that they start has more rights than they, not even by a set-user-ID bit."""
    import pwd

    try:
        account = pwd.getpwnam(name)
    except KeyError:
        raise FenceError(f"there is no user {name}") from None
    if account.pw_uid == 0:
        raise FenceError(f"{name} is root, whom nothing fences in")
    for stream in (0, 1, 2):
        if stat.S_ISFIFO(os.fstat(stream).st_mode):
            os.fchown(stream, account.pw_uid, account.pw_gid)  # /dev/stdout and the like are opened by name
    os.initgroups(name, account.pw_gid)
    os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
    os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


# -- the program ---------------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    """Become the command, fenced; gives an exit status only where that fails."""
    try:
        with open(arguments[0], "rb") as file:
            fence: dict[str, Any] = json.load(file)
        command = _fenced(fence, list(arguments[1:]))
        os.execvp(command[0], command)
    except (FenceError, OSError, ValueError, KeyError, IndexError) as refused:
        print(f"recall: nothing was started, because the fence does not stand: {refused}", file=sys.stderr)
        return CANNOT_START


def _fenced(fence: dict[str, Any], command: list[str]) -> list[str]:
    paths = [str(path) for path in fence["write"]]
    network = bool(fence["network"])
    if fence["level"] == "bwrap":
        return bubblewrap(fence["bwrap"], paths, os.getcwd(), network=network) + command
    if not network:
        leave_network()
    if fence["level"] == "user":
        become(fence["user"])
    else:
        restrict_writes(paths)
    return command


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
