"""What a machine can run out of or refuse, in words: what was met, and what a person does about it."""

from __future__ import annotations

import errno

from recall.domain.errors import EnvironmentFailure, Exhausted

#: The same work succeeds once there is some again.
_SCARCE = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space, or have the quota raised",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`) and start again, or let fewer agents run",
    errno.ENFILE: "close programs: the whole machine has too many files open",
    errno.ENOMEM: "close programs, or let fewer agents run",
    errno.EAGAIN: "close programs, or raise the limit of processes (`ulimit -u`)",
}
_REFUSED = {
    errno.EROFS: "make the file system writable again (`mount -o remount,rw`)",
    errno.EACCES: "give this user the right to read and write there",
    errno.EPERM: "give this user the right to read and write there",
    errno.EIO: "look at the disk (`dmesg`)",
    errno.ENODEV: "mount the disk again",
    errno.ENXIO: "mount the disk again",
    errno.ESTALE: "mount the disk again",
}
#: How git says it, with LC_ALL=C.
_SCARCE_WORDS = {
    "No space left on device": errno.ENOSPC,
    "Out of diskspace": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
    "Too many open files": errno.EMFILE,
    "Cannot allocate memory": errno.ENOMEM,
    "Resource temporarily unavailable": errno.EAGAIN,
}


def is_of_surroundings(error: OSError) -> bool:
    """Tell whether the machine is at fault rather than a mistake of ours."""
    return error.errno in _SCARCE or error.errno in _REFUSED


def failure_of(error: OSError, what: str) -> EnvironmentFailure:
    """Say what could not be done and what to do about it. `what` reads like "the lock file X cannot be opened"."""
    place = f" ({error.filename})" if error.filename and str(error.filename) not in what else ""
    said = f"{what}: {error.strerror or error}{place}"
    if error.errno in _SCARCE:
        return Exhausted(f"{said}; {_SCARCE[error.errno]}")
    remedy = _REFUSED.get(error.errno or 0)
    return EnvironmentFailure(f"{said}; {remedy}" if remedy else said)


def failure_told(complaint: str) -> EnvironmentFailure:
    """The same for what another program complained about; `complaint` is the whole sentence."""
    found = next((number for words, number in _SCARCE_WORDS.items() if words in complaint), None)
    return EnvironmentFailure(complaint) if found is None else Exhausted(f"{complaint}; {_SCARCE[found]}")


def refuse_scarcity(complaint: str) -> None:
    """Raise Exhausted when a program complained that the machine ran out of something."""
    failure = failure_told(complaint)
    if isinstance(failure, Exhausted):
        raise failure
