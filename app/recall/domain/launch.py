"""What is needed to start a process and to find it again: values that cross between engine, store and agents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.run import ExitRecord


@frozen
class ShimStoreContract:
    """What a shim needs to write on behalf of its run. `renew_sql` moves the lease's end and `end_sql` marks
    the run ended; both are fenced, each changes exactly one row or the lease is lost. Named parameters:
    `:region :task :owner :version :run_id :boot :now :expires :wall :expires_wall`
    (`now` and `expires` are CLOCK_MONOTONIC seconds of `boot`, `wall` seconds UTC). Run inside
    `BEGIN IMMEDIATE` with the flock on `lock_file` held, as the store does."""

    database: Path
    lock_file: Path
    renew_sql: str
    end_sql: str


@frozen
class LeaseSpec:
    """The lease that a shim renews by itself. Seconds."""

    region: str
    task: str
    owner: str
    version: int
    ttl: float
    heartbeat: float
    contract: ShimStoreContract


@frozen
class Fence:
    """What a run is kept in: a `level` (`landlock`, `bwrap`, `user`), the paths below which it may write, a folder
    for temporary files that is emptied before, whether it has the network, the program that the level needs, if any,
    and the Linux `user` whom it runs as, if not the dispatcher's. A path that is not there yet cannot be written."""

    level: str
    write: tuple[Path, ...]
    scratch: Path
    network: bool = True
    program: str = ""
    user: str = ""


@frozen
class RunSpec:
    """Everything a shim needs. `prompt` is given by `prompt_mode`; `lease` and `slot` are None for a
    verification. Limits are seconds; `stall` 0 switches stall detection off. `shell` runs the single string
    in `argv` with /bin/sh."""

    run_id: int
    folder: Path
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    prompt: str = ""
    prompt_mode: str = "none"
    shell: bool = False
    fence: Fence | None = None
    slot: Path | None = None
    token: str = ""
    task: str = ""
    agent: str = ""
    lease: LeaseSpec | None = None
    timeout: float = 7200.0
    stall: float = 0.0
    grace: float = 10.0
    after_report: float = 60.0
    transcript_cap: int = 32 * 1024 * 1024


@frozen
class RunStatus:
    """What is left of a run's process. `live`: its shim holds its lock. `exit`: its record. Neither: lost."""

    live: bool
    exit: ExitRecord | None
    pid: int | None = None
