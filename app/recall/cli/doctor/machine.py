"""The machine: what its system offers, how much room there is, and whether its clocks can be trusted."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from recall.cli.doctor.finding import Finding, fine, note, wrong
from recall.cli.project import Project
from recall.domain.words import elapsed

#: A run holds about a dozen descriptors; below this a handful of agents is the end of it.
_FEW_FILES = 512
#: A file's time and the clock may differ by the file system's own granularity.
_SKEW = 2.0
#: How far behind the newest event the wall clock may be before it is worth a word, in seconds.
_BEHIND = 60.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def look_at_machine(project: Project) -> Iterator[Finding]:
    from recall.store import sqlite_version

    yield fine("python", f"{sys.version.split()[0]} with SQLite {sqlite_version()}")
    if not hasattr(os, "pidfd_open") or not Path("/proc/self/stat").exists():
        yield wrong(
            "system", f"{sys.platform} has no pidfd or no /proc", "Recall watches its agents through them: use Linux"
        )
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= files < _FEW_FILES:
        yield note("system", f"a process may open {files} files only", f"`ulimit -n {4 * _FEW_FILES}` before a start")
    yield from _room(project)


def _room(project: Project) -> Iterator[Finding]:
    from recall.bootstrap import ground_at

    shortage = ground_at(project.location, project.settings).shortage()
    if shortage:
        yield wrong("disk", shortage, "make room; nothing new is claimed until then")
    else:
        yield fine("disk", "enough room for the state folder and the workspaces")


def look_at_clock(project: Project) -> Iterator[Finding]:
    """Leases stand on the boot id and the monotonic clock; what people read stands on the wall clock."""
    try:
        boot = _BOOT_ID.read_text().strip()
    except OSError as unreadable:
        yield wrong("clock", f"{_BOOT_ID} cannot be read ({unreadable})", "leases need it: let /proc be mounted")
        return
    now = project.clock.now()
    yield fine("clock", f"up for {elapsed(time.monotonic())}, boot {boot[:8]}")
    skew = _file_skew(project.state)
    if skew > _SKEW:
        yield wrong(
            "clock", f"files in {project.state} get times {skew:.0f} s off", "move `store.state_dir` to a local disk"
        )
    newest = project.store.events_since(max(0, project.store.last_seq() - 1))
    behind = newest[-1].at - now.wall if newest else 0.0
    if behind > _BEHIND:
        yield note(
            "clock",
            f"the newest event lies {elapsed(behind)} in the future: the wall clock was set back",
            "leases do not mind; cooldowns last longer by as much",
        )


def _file_skew(folder: Path) -> float:
    with tempfile.NamedTemporaryFile(dir=folder, prefix="doctor-") as probe:
        return abs(os.fstat(probe.fileno()).st_mtime - time.time())
