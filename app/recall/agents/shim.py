"""The process that owns one run: `python -I -S shim.py <run folder>`, in a session of its own.

It imports nothing but the standard library, so that an upgrade of Recall cannot change it under a run. It starts
with every run and every verification, so it imports little: no pathlib, dataclasses, typing, and the rest of what
only some runs need where it is needed.
It holds `<run>/lock` for its life, starts the agent, keeps its output, judges its reports, renews the lease,
ends the whole process tree, and leaves `exit.json`. Files of protocol 1, all in the run folder: `spec.json`
and `prompt.md` (read), `stop.json` (a wish to stop, read), `lock`, `transcript*` and `exit.json` (written).
In the slot: reports are read from `tree/.recall-run/`, answers and `closed.json` are written beside `run.json`.

One thread, one selector, awake at least every 0.2 s and whenever a report comes. All limits count the time that
this process was awake, so neither a sleeping machine nor a stopped shim is taken for a hang.
"""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import signal
import stat
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

    Fenced = Literal["done", "lost", "busy", "unreachable"]
    StrPath = str | os.PathLike[str]

PROTOCOL = 1
AHEAD = "-"  # in place of the run folder, which then comes over standard input, ended by a NUL
REPORT_LIMIT = 64 * 1024
REPORT_DEPTH = 8
RESULTS = ("success", "failure", "question")
HEARTBEAT = "heartbeat"

_CHUNK = 64 * 1024
_BYTES_A_TICK = 4 * 1024 * 1024
_TICK = 0.2
_STOPPING_TICK = 0.05
_LONGEST_STEP = 1.0
_STRAY_GRACE = 2.0
_KILL_PATIENCE = 5.0
_DRAIN = 0.5
_END_PATIENCE = 15.0
_STORE_PATIENCE = 0.3
_LOCK_PATIENCE = 1.0
_KEPT_REPORTS = 50
_KEPT_TEXT = 4096
_LISTED = 1000
_EXIT_ROOM = 256 * 1024
_PR_SET_CHILD_SUBREAPER = 36
#: Linux takes 128 KiB an argument, its end included.
_LONGEST_ARGUMENT = 128 * 1024 - 1
_POINTER = "Your task is too long for a command line. Read all of the file {} first: it is your prompt. Then do it.\n"
_CPU_SHARE = 0.01
_IO_RATE = 1024.0
_MTIME_ENTRIES = 50_000
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def failpoint(name: str) -> None:
    """The same as recall.failpoint, which this file cannot import. A shim passes each place once."""
    if os.environ.get("RECALL_FAILPOINT") in (name, f"{name}#1"):
        log(f"failpoint {name} hit, killing pid {os.getpid()}")
        os.kill(os.getpid(), signal.SIGKILL)


# -- the spec ------------------------------------------------------------------------------------------------


class _Values:
    """Named values from JSON: exactly those that the class names."""

    def __init__(self, values: dict[str, Any]) -> None:
        names = type(self).__annotations__
        if values.keys() != names.keys():
            raise ValueError(f"{type(self).__name__} needs {', '.join(names)}; found {', '.join(values)}")
        self.__dict__.update(values)


class Lease(_Values):
    region: str
    task: str
    owner: str
    version: int
    ttl: float
    heartbeat: float
    database: str
    lock_file: str
    renew_sql: str
    end_sql: str


class Spec(_Values):
    """`spec.json` as it was read; see recall.domain.launch.RunSpec. `fence` stands before the command. Seconds."""

    run_id: int
    argv: list[str]
    shell: bool
    fence: list[str]
    cwd: str
    env: dict[str, str]
    marker: str
    prompt_mode: str
    prompt_path: str
    slot: str | None
    token: str
    task: str
    agent: str
    lease: Lease | None
    timeout: float
    stall: float
    grace: float
    after_report: float
    transcript_cap: int

    @classmethod
    def read(cls, path: str) -> Spec:
        raw: dict[str, Any] = json.loads(read_file(path))
        if raw.pop("protocol") != PROTOCOL:
            raise ValueError(f"{path} is not of protocol {PROTOCOL}")
        return cls({**raw, "lease": Lease(raw["lease"]) if raw["lease"] else None})

    def command(self) -> list[str]:
        """Give the argv with the prompt in it, where the mode puts it there."""
        if self.prompt_mode == "arg":
            prompt = read_file(self.prompt_path)
            if len(prompt) > _LONGEST_ARGUMENT:
                prompt = _POINTER.format(self.prompt_path).encode()
            last = [prompt.decode("utf-8", "surrogateescape")]
        else:
            last = [self.prompt_path] if self.prompt_mode == "file" else []
        if self.shell:
            script = f'{self.argv[0]} "$@"' if last else self.argv[0]
            return [*self.fence, "/bin/sh", "-c", script, "sh", *last]
        return [*self.fence, *self.argv, *last]


def read_file(path: StrPath) -> bytes:
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(opened, _CHUNK), b""))
    finally:
        os.close(opened)


# -- the process tree ----------------------------------------------------------------------------------------


class Process:
    """One line of /proc/PID/stat. `start` and the CPU times are clock ticks; `cpu` holds reaped children's too."""

    __slots__ = ("cpu", "dead", "parent", "pid", "session", "start")

    def __init__(self, pid: int, parent: int, session: int, start: int, cpu: int, dead: bool) -> None:
        self.pid = pid
        self.parent = parent
        self.session = session
        self.start = start
        self.cpu = cpu
        self.dead = dead


def boot_id() -> str:
    return read_file("/proc/sys/kernel/random/boot_id").decode().strip()


def read_process(pid: int) -> Process | None:
    try:
        line = read_file(f"/proc/{pid}/stat")
    except OSError:
        return None
    rest = line[line.rindex(b")") + 2 :].split()
    cpu = sum(map(int, rest[11:15]))
    return Process(pid, int(rest[1]), int(rest[3]), int(rest[19]), cpu, rest[0] in b"ZX")


def all_processes() -> list[Process]:
    found = (read_process(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [process for process in found if process is not None]


def descendants(root: int, processes: Iterable[Process]) -> list[Process]:
    """Everything below `root`, and whatever still is in its session."""
    children: dict[int, list[Process]] = {}
    members: dict[int, Process] = {}
    for process in processes:
        children.setdefault(process.parent, []).append(process)
        if process.session == root:
            members[process.pid] = process
    waiting = [root, *members]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child.pid not in members:
                members[child.pid] = child
                waiting.append(child.pid)
    members.pop(root, None)
    return [process for process in members.values() if not process.dead]


def carries(pid: int, marker: bytes) -> bool:
    try:
        return marker in read_file(f"/proc/{pid}/environ")
    except OSError:
        return False


def living(root: int, marker: bytes) -> list[Process]:
    """Everything of this run that is alive: below the shim, in its session, or with its marker. What is older
    than the shim cannot have got the marker from it."""
    processes = all_processes()
    born = next((process.start for process in processes if process.pid == root), 0)
    members = {process.pid: process for process in descendants(root, processes)}
    for process in processes:
        young = process.start >= born and process.pid != root and not process.dead
        if young and process.pid not in members and carries(process.pid, marker):
            members[process.pid] = process
    return list(members.values())


def send(process: Process, number: int) -> bool:
    """Signal exactly this process, never one that got its pid later."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        now = read_process(process.pid)
        if now is None or now.start != process.start:
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def transferred(pid: int) -> int:
    """Bytes that the living threads of a process read and wrote themselves. The process's own count would hold
    what its ended children read while they were being loaded."""
    total = 0
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return 0
    for thread in threads:
        try:
            lines = read_file(f"/proc/{pid}/task/{thread}/io").split(b"\n")
        except OSError:
            continue
        total += sum(int(line.partition(b": ")[2]) for line in lines[:2])
    return total


def changed_since(folder: str, wall: float) -> bool:
    """Tell whether any of the first 50,000 entries under `folder` was changed after `wall`."""
    waiting = [folder]
    left = _MTIME_ENTRIES
    while waiting and left > 0:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if entry.stat(follow_symlinks=False).st_mtime > wall:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return False


class Activity:
    """Tells work from waiting by what the tree did since the last look.

    Only processes seen twice are compared, so that a shell that starts `sleep` again and again is not taken
    for work; what their ended children used is counted with them.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], tuple[int, int]] = {}
        self._at = time.monotonic()

    def look(self, root: int) -> bool:
        now = time.monotonic()
        seen = {
            (process.pid, process.start): (process.cpu, transferred(process.pid))
            for process in descendants(root, all_processes())
        }
        both = seen.keys() & self._seen.keys()
        cpu = sum(seen[key][0] - self._seen[key][0] for key in both) / _TICKS_PER_SECOND
        moved = sum(seen[key][1] - self._seen[key][1] for key in both)
        elapsed = now - self._at
        self._seen, self._at = seen, now
        return cpu > max(_CPU_SHARE * elapsed, 1 / _TICKS_PER_SECOND) or moved > _IO_RATE * elapsed


# -- the transcript ------------------------------------------------------------------------------------------


class Transcript:
    """Raw output, at most `cap` bytes on disk: `transcript` holds the first half, then `transcript.OFFSET`
    files of a quarter each, of which the last two are kept. OFFSET is that of their first byte."""

    def __init__(self, folder: StrPath, cap: int) -> None:
        self._start = os.path.join(folder, "transcript")
        self._quarter = max(cap // 4, 1)
        self._room: int = max(cap // 2, 1)
        self._tail: list[str] = []
        self._file = self._open(self._start)
        self.size = 0
        self.lost = 0
        self.error = ""

    def write(self, data: bytes) -> None:
        """Keep `data`, or count it as lost when the disk will not take it: the agent must not block on us."""
        view = memoryview(data)
        try:
            while view:
                if not self._room:
                    self._next()
                written = os.write(self._file, view[: self._room])
                self.size += written
                self._room -= written
                view = view[written:]
        except OSError as full:
            self.lost += len(view)
            self.error = str(full)

    def close(self) -> None:
        os.close(self._file)

    def _next(self) -> None:
        path = f"{self._start}.{self.size:020d}"
        if len(self._tail) == 2:
            remove(self._tail.pop(0))
        opened = self._open(path)
        os.close(self._file)
        self._file = opened
        self._tail.append(path)
        self._room = self._quarter

    @staticmethod
    def _open(path: str) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def remove(path: str, folder: int | None = None) -> None:
    try:
        os.unlink(path, dir_fd=folder)
    except FileNotFoundError:
        return


# -- reports -------------------------------------------------------------------------------------------------


class BadReport(Exception):
    """Why a report does not count, in words for the agent. `over`: no report of this run counts any more."""

    def __init__(self, reason: str, *, over: bool = False) -> None:
        super().__init__(reason)
        self.over = over


def depth(text: str) -> int:
    """How deep brackets nest in JSON text, without parsing it."""
    deepest = level = 0
    quoted = escaped = False
    for character in text:
        if quoted:
            quoted = escaped or character != '"'
            escaped = not escaped and character == "\\"
        elif character == '"':
            quoted = True
        elif character in "[{":
            level += 1
            deepest = max(deepest, level)
        elif character in "]}":
            level -= 1
    return deepest


def read_report(folder: int, name: str) -> dict[str, Any]:
    """Read one report without following links. Raises BadReport."""
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as bad:
        raise BadReport(f"cannot be read: {bad.strerror}") from bad
    try:
        kind = os.fstat(opened)
        if not stat.S_ISREG(kind.st_mode):
            raise BadReport("not a regular file")
        if kind.st_size > REPORT_LIMIT:
            raise BadReport(f"{kind.st_size} bytes; at most {REPORT_LIMIT} are read")
        data = os.read(opened, REPORT_LIMIT + 1)
    finally:
        os.close(opened)
    return parse_report(data)


def parse_report(data: bytes) -> dict[str, Any]:
    try:
        text = data.decode("utf-8")
        if depth(text) > REPORT_DEPTH:
            raise BadReport(f"nested deeper than {REPORT_DEPTH} levels")
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as bad:
        raise BadReport(f"not JSON: {bad}") from bad
    if not is_object(value):
        raise BadReport("not a JSON object")
    return value


def is_object(value: object) -> bool:
    return isinstance(value, dict)


def judge(report: dict[str, Any], token: str, task: str, closed: str = "") -> dict[str, str]:
    """Give the report's own fields. Raises BadReport when it is not of this run, says nothing, or comes when
    nothing is accepted any more (`closed` says why)."""
    import hmac

    if closed:
        raise BadReport(closed, over=True)
    given = report.get("token")
    if not isinstance(given, str) or not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        raise BadReport("not this run's token")
    if report.get("task") != task:
        raise BadReport(f"for another task; this run works on {task}")
    result = report.get("result")
    if result not in (*RESULTS, HEARTBEAT):
        raise BadReport(f"result must be one of {', '.join(RESULTS)}")
    texts = {name: report.get(name, "") for name in ("summary", "question")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise BadReport("summary and question must be text")
    return {"result": str(result), **{name: text[:_KEPT_TEXT] for name, text in texts.items()}}


class Mailbox:
    """The slot's reports, each judged once and answered beside `run.json`."""

    def __init__(self, slot: str, token: str, task: str) -> None:
        self._slot = slot
        self._folder = os.path.join(slot, "tree", ".recall-run")
        self._token = token
        self._task = task
        self._bell = Bell()
        self._seen: dict[str, tuple[int, int, int]] = {}
        self.accepted: list[dict[str, str]] = []
        self.refused: list[str] = []

    def collect(self, closed: str = "") -> list[dict[str, str]]:
        """Judge what is new and give what was accepted; `closed` says why nothing is accepted any more."""
        try:
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return []
        try:
            self._bell.hang(folder)
            return [fields for name in self._new(folder) if (fields := self._take(folder, name, closed))]
        except OSError as gone:
            log(f"reports could not be listed: {gone}")
            return []
        finally:
            os.close(folder)

    def _new(self, folder: int) -> list[str]:
        """The names not judged yet, in the order they were given; a file that changed since is judged again."""
        found: list[str] = []
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(_LISTED), strict=False):
                if entry.name.startswith("report-") and entry.name.endswith(".json"):
                    now = entry.stat(follow_symlinks=False)
                    state = (now.st_ino, now.st_size, now.st_mtime_ns)
                    if self._seen.get(entry.name) != state:
                        self._seen[entry.name] = state
                        found.append(entry.name)
        return sorted(found, key=lambda name: (len(name.split("-")[1]), name))

    def _take(self, folder: int, name: str, closed: str) -> dict[str, str] | None:
        try:
            fields = judge(read_report(folder, name), self._token, self._task, closed)
        except BadReport as bad:
            if len(self.refused) < _KEPT_REPORTS:
                self.refused.append(f"{name[:80]}: {bad}")
            self._answer(name, {"accepted": False, "reason": str(bad), "over": bad.over})
            return None
        if fields["result"] != HEARTBEAT:
            self.accepted = [*self.accepted[-_KEPT_REPORTS + 1 :], fields]
        self._answer(name, {"accepted": True})
        return fields

    def _answer(self, name: str, answer: dict[str, object]) -> None:
        try:
            self._tell(f"answer-{name[:120]}", answer)
        except OSError as bad:
            log(f"no answer for {name!r}: {bad}")

    def _tell(self, name: str, value: object) -> None:
        """The slot's group may read it where it may read the slot: an agent that runs as another user is in it."""
        mode = 0o600 | os.stat(self._slot).st_mode & 0o040
        replace_file(os.path.join(self._slot, name), value, mode=mode)

    def close(self, reason: str) -> None:
        try:
            self._tell("closed.json", {"token": self._token, "reason": reason})
        except OSError as bad:
            log(f"the mailbox could not be closed: {bad}")


class Bell:
    """Wakes this process by SIGIO when a report comes in. Where the kernel cannot (or when it is late) the next
    tick finds it, so nothing depends on it."""

    def __init__(self) -> None:
        self._watched = (-1, -1)
        self._held = -1

    def hang(self, folder: int) -> None:
        """Watch the open `folder`, if it is not the one watched already: `git clean` may have taken that."""
        now = os.fstat(folder)
        if (now.st_dev, now.st_ino) == self._watched:
            return
        if self._held >= 0:
            os.close(self._held)
        # a duplicate would not do: closing either of the two ends the watch
        self._held = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        self._watched = (now.st_dev, now.st_ino)
        try:
            fcntl.fcntl(self._held, fcntl.F_NOTIFY, fcntl.DN_RENAME | fcntl.DN_MULTISHOT)
        except OSError as without:
            log(f"reports are looked for every {_TICK} s: {without}")


class Draft:
    """A new file beside `path`, under a name that cannot be guessed, which takes its place as a whole: what
    recall.whole_files does, which this file cannot import. Its mode is 0600."""

    def __init__(self, path: StrPath) -> None:
        folder, self._name = os.path.split(path)
        self._draft = f".{self._name}.{os.urandom(8).hex()}"
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self.file = os.open(self._draft, flags, 0o600, dir_fd=self._folder)
        except OSError:
            os.close(self._folder)
            raise

    def put(self, value: object, *, durable: bool, mode: int = 0o600) -> None:
        """Write JSON into it and put it in its place. `durable`: it is on disk then, the file before its name."""
        data = json.dumps(value).encode()
        try:
            os.pwrite(self.file, data, 0)
            os.ftruncate(self.file, len(data))
            os.fchmod(self.file, mode)
            if durable:
                os.fsync(self.file)
            os.replace(self._draft, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            if durable:
                os.fsync(self._folder)
        except BaseException:
            remove(self._draft, self._folder)
            raise
        finally:
            os.close(self.file)
            os.close(self._folder)


def replace_file(path: StrPath, value: object, *, mode: int = 0o600) -> None:
    """Write JSON so that a reader sees the old file or the whole new one. It is not kept through a power cut, which
    no run outlives."""
    Draft(path).put(value, durable=False, mode=mode)


# -- the lease -----------------------------------------------------------------------------------------------


def lock_within(descriptor: int, seconds: float) -> None:
    """Wait for a lock in the kernel's queue: whoever only tries again and again is starved by busy writers.
    Raises TimeoutError. An alarm ends the wait, since flock(2) knows no time-out."""
    waiting = True

    def give_up(_number: int, _frame: object) -> None:
        if waiting:
            raise TimeoutError(f"held by another process for {seconds:g} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    finally:
        waiting = False
        signal.setitimer(signal.ITIMER_REAL, 0)


class LeaseKeeper:
    """Writes to the store on behalf of the run, fenced by the statements of its spec. While it holds the
    store's lock, its pid and start time stand in it, for whoever waits."""

    def __init__(self, lease: Lease, run_id: int) -> None:
        self._lease = lease
        self._run_id = run_id
        self._boot = boot_id()
        me = read_process(os.getpid())
        self._signature = f"{os.getpid()} {me.start if me else 0}\n".encode()
        self._trouble = ""
        self.due = time.monotonic()

    def renew(self) -> bool:
        """Renew when it is time to. False: the lease is lost. A store that cannot be reached loses nothing."""
        now = time.monotonic()
        if now < self.due:
            return True
        outcome = self.write(self._lease.renew_sql)
        self.due = now + (self._lease.heartbeat if outcome == "done" else min(self._lease.heartbeat, 2.0))
        return outcome != "lost"

    def end(self) -> Fenced:
        """Mark the run ended, trying for a bounded time while the store is busy."""
        patience = time.monotonic() + max(2.0, min(_END_PATIENCE, self._lease.ttl / 4))
        while (outcome := self.write(self._lease.end_sql)) in ("busy", "unreachable"):
            if time.monotonic() > patience:
                break
            time.sleep(_STOPPING_TICK)
        return outcome

    def write(self, sql: str) -> Fenced:
        import sqlite3

        try:
            lock = os.open(self._lease.lock_file, os.O_RDWR | os.O_CLOEXEC)
        except OSError as gone:
            return self._note("unreachable", gone)
        try:
            lock_within(lock, _STORE_PATIENCE)
            os.pwrite(lock, self._signature, 0)
            outcome = self._transaction(sql)
            os.ftruncate(lock, 0)
        except TimeoutError as held:
            return self._note("busy", held)
        except (OSError, sqlite3.Error) as broken:
            return self._note("unreachable", broken)
        finally:
            os.close(lock)
        return outcome

    def _transaction(self, sql: str) -> Fenced:
        import sqlite3

        name = "".join(f"%{byte:02x}" for byte in os.fsencode(self._lease.database))
        connection = sqlite3.connect(f"file:{name}?mode=rw", uri=True, timeout=_TICK, isolation_level=None)
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            cursor = connection.execute(sql, self._parameters())
            cursor.fetchall()
            if cursor.rowcount != 1:
                connection.execute("ROLLBACK")
                return "lost"
            connection.execute("COMMIT")
        finally:
            connection.close()
        return "done"

    def _parameters(self) -> dict[str, object]:
        lease, now, wall = self._lease, time.monotonic(), time.time()
        return {
            "region": lease.region, "task": lease.task, "owner": lease.owner, "version": lease.version,
            "run_id": self._run_id, "boot": self._boot, "now": now, "expires": now + lease.ttl,
            "wall": wall, "expires_wall": wall + lease.ttl,
        }  # fmt: skip

    def _note(self, outcome: Fenced, cause: Exception) -> Fenced:
        if str(cause) != self._trouble:
            self._trouble = str(cause)
            log(f"store {outcome}: {cause}")
        return outcome


# -- the run -------------------------------------------------------------------------------------------------


class Watched:
    """Seconds that this process was awake: a step longer than a second counts as one."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = time.monotonic()

    def advance(self) -> None:
        now = time.monotonic()
        self.seconds += min(now - self._last, _LONGEST_STEP)
        self._last = now


class Run:
    """The agent, from its start to the end of its last process."""

    def __init__(self, folder: str, spec: Spec) -> None:
        self.folder = folder
        self.spec = spec
        self.marker = f"RECALL_RUN_MARKER={spec.marker}".encode()
        self.selector = selectors.DefaultSelector()
        self.transcript = Transcript(folder, spec.transcript_cap)
        self.mailbox = Mailbox(spec.slot, spec.token, spec.task) if spec.slot else None
        self.lease = LeaseKeeper(spec.lease, spec.run_id) if spec.lease else None
        self.activity = Activity()
        self.clock = Watched()
        self.pid = 0
        self.wait_status: int | None = None
        self.error = ""
        self.stopped: str | None = None
        self.strays = 0
        self.started_at = time.time()
        self._output = -1
        self._budget = _BYTES_A_TICK
        self._sweeping = False
        self._terminated = False
        self._kill_at: float | None = None
        self._reported_at: float | None = None
        self._active_at = 0.0
        self._active_wall = time.time()
        self._sample_at = 0.0
        self._unread = b""
        self._wake_signal = False

    # -- starting --------------------------------------------------------------------------------------------

    def may_begin(self) -> bool:
        """Ask the store before there is an agent: a shim that comes up late can find its run taken back."""
        if self.lease is None or self.lease.renew():
            return True
        self.stopped = "lease_lost"
        return False

    def start(self) -> None:
        """Start the agent; on failure `error` says why there is none."""
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        try:
            stdin = subprocess.PIPE if self.spec.prompt_mode == "stdin" else subprocess.DEVNULL
            process = subprocess.Popen(
                self.spec.command(), cwd=self.spec.cwd, env=self.spec.env, bufsize=0,
                stdin=stdin, stdout=write_end, stderr=write_end, process_group=0,
            )  # fmt: skip
        except (OSError, ValueError) as broken:
            self.error = f"could not be started: {broken}{self._missing()}"
            os.close(read_end)
            return
        finally:
            os.close(write_end)
        self.pid = process.pid
        self._output = read_end
        os.set_blocking(read_end, False)
        self.selector.register(read_end, selectors.EVENT_READ, self._read)
        if process.stdin is not None:
            self._give_prompt(os.dup(process.stdin.fileno()))
            process.stdin.close()
        process.returncode = 0  # every child's status is read by `_reap`, this one's too

    def _missing(self) -> str:
        """Say of a program that is named relative to the workspace that it is not in there: what is in your checkout
        alone, is not."""
        program = self.spec.command()[0]
        relative = "/" in program and not os.path.isabs(program)
        if not relative or os.path.lexists(os.path.join(self.spec.cwd, program)):
            return ""
        return ". The workspace does not have it: commit it on main, or give its absolute path in `command`"

    def _give_prompt(self, pipe: int) -> None:
        self._unread = read_file(self.spec.prompt_path)
        os.set_blocking(pipe, False)
        self.selector.register(pipe, selectors.EVENT_WRITE, self._feed)

    def _feed(self, pipe: int) -> None:
        try:
            if self._unread:
                self._unread = self._unread[os.write(pipe, self._unread[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            self._unread = b""
        if not self._unread:
            self.selector.unregister(pipe)
            os.close(pipe)

    # -- output ----------------------------------------------------------------------------------------------

    def _read(self, pipe: int) -> None:
        """Take what is there, up to 4 MiB a tick: an endless writer is slowed down, not the machine."""
        while self._budget > 0:
            try:
                data = os.read(pipe, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                self._close_output()
                return
            self._budget -= len(data)
            self.transcript.write(data)
            self._mark_active()
        self.selector.unregister(pipe)

    def _resume_reading(self) -> None:
        self._budget = _BYTES_A_TICK
        if self._output >= 0 and self._output not in self.selector.get_map():
            self.selector.register(self._output, selectors.EVENT_READ, self._read)

    def _close_output(self) -> None:
        if self._output in self.selector.get_map():
            self.selector.unregister(self._output)
        os.close(self._output)
        self._output = -1

    def drain(self) -> None:
        """Read what the pipe still holds, without waiting for the end of it."""
        until = time.monotonic() + _DRAIN
        while self._output >= 0 and time.monotonic() < until:
            before = self.transcript.size + self.transcript.lost
            self._resume_reading()
            self._read(self._output)
            if self.transcript.size + self.transcript.lost == before:
                break
        if self._output >= 0:
            self._close_output()

    # -- the loop --------------------------------------------------------------------------------------------

    def loop(self, wake: int) -> None:
        """Run until the agent and everything it started are gone."""
        self.selector.register(wake, selectors.EVENT_READ, self._woken)
        next_tick = time.monotonic()
        while self.pid:
            pause = _STOPPING_TICK if self.stopped or self._sweeping else _TICK
            for key, _ in self.selector.select(max(0.0, min(pause, next_tick - time.monotonic()))):
                key.data(key.fd)
            self.clock.advance()
            self._reap()
            just_ended = self.wait_status is not None and not self._sweeping
            if time.monotonic() < next_tick and not just_ended:
                continue
            next_tick = time.monotonic() + pause
            self._resume_reading()
            if self._tick():
                return

    def _woken(self, pipe: int) -> None:
        signals = os.read(pipe, 4096)
        if signal.SIGTERM in signals:
            self._wake_signal = True
        if signal.SIGIO in signals:
            self.take_reports()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid == self.pid:
                self.wait_status = status

    def _tick(self) -> bool:
        """One look at everything; True when the run is over."""
        self.take_reports()
        if self.lease is not None and self.stopped != "lease_lost" and not self.lease.renew():
            self._stop("lease_lost")
        if self.wait_status is not None:
            return self._sweep()
        if self.stopped is None and (reason := self._wish() or self._limit()):
            self._stop(reason)
        if self._kill_at is not None and self.clock.seconds >= self._kill_at:
            self._signal_all(signal.SIGKILL)
        return False

    def take_reports(self) -> None:
        if self.mailbox is None:
            return
        closed = "the lease was lost; the task is no longer this run's" if self.stopped == "lease_lost" else ""
        for report in self.mailbox.collect(closed):
            self._mark_active()
            if report["result"] != HEARTBEAT:
                self._reported_at = self.clock.seconds

    # -- reasons to stop -------------------------------------------------------------------------------------

    def _wish(self) -> str | None:
        """What somebody asked for: `stop.json`, or a bare SIGTERM when the machine shuts down."""
        try:
            wish = json.loads(read_file(os.path.join(self.folder, "stop.json")))
            return str(wish["reason"])
        except FileNotFoundError:
            return "shutdown" if self._wake_signal else None
        except (OSError, ValueError, KeyError, TypeError):
            return "cancel"

    def _limit(self) -> str | None:
        now = self.clock.seconds
        if now >= self.spec.timeout:
            return "timeout"
        if self._reported_at is not None and now - self._reported_at >= self.spec.after_report:
            return "after_report"
        return "stall" if self.spec.stall and self._stalled(now) else None

    def _stalled(self, now: float) -> bool:
        if now >= self._sample_at:
            self._sample_at = now + min(5.0, self.spec.stall / 5)
            if self.activity.look(os.getpid()):
                self._mark_active()
        if now - self._active_at < self.spec.stall:
            return False
        if changed_since(self.spec.cwd, self._active_wall):
            self._mark_active()
            return False
        return True

    def _mark_active(self) -> None:
        self._active_at = self.clock.seconds
        self._active_wall = time.time()

    # -- ending ----------------------------------------------------------------------------------------------

    def _stop(self, reason: str) -> None:
        log(f"stopping: {reason}")
        self.stopped = reason
        self._terminate(self.spec.grace)

    def _terminate(self, grace: float) -> None:
        if not self._terminated:
            self._terminated = True
            self._kill_at = self.clock.seconds + grace
            self._signal_all(signal.SIGTERM)
            self._signal_all(signal.SIGCONT)

    def _sweep(self) -> bool:
        """After the agent's own end: end what it left behind. True when nothing is alive."""
        left = living(os.getpid(), self.marker)
        if not self._sweeping:
            self._sweeping = True
            self.strays = 0 if self.stopped else len(left)
        if not left:
            return True
        self._terminate(min(self.spec.grace, _STRAY_GRACE))
        assert self._kill_at is not None
        self._kill_at = min(self._kill_at, self.clock.seconds + _STRAY_GRACE)
        if self.clock.seconds >= self._kill_at:
            self._signal_all(signal.SIGKILL)
        if self.clock.seconds >= self._kill_at + _KILL_PATIENCE:
            self.error = f"{len(left)} processes could not be ended"
            return True
        return False

    def _signal_all(self, number: int) -> None:
        for process in living(os.getpid(), self.marker):
            send(process, number)

    def abandon(self) -> None:
        """End everything at once, after a fault of this program."""
        until = time.monotonic() + _KILL_PATIENCE
        while living(os.getpid(), self.marker) and time.monotonic() < until:
            self._signal_all(signal.SIGKILL)
            self._reap()
            time.sleep(_STOPPING_TICK)

    # -- the record ------------------------------------------------------------------------------------------

    def record(self) -> dict[str, object]:
        code = None if self.wait_status is None else os.waitstatus_to_exitcode(self.wait_status)
        box = self.mailbox
        return {
            "protocol": PROTOCOL,
            "run_id": self.spec.run_id,
            "status": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "stopped": self.stopped,
            "report": box.accepted[-1] if box and box.accepted else None,
            "accepted": box.accepted if box else [],
            "refused": box.refused if box else [],
            "started_at": self.started_at,
            "ended_at": time.time(),
            "strays": self.strays,
            "error": self.error,
            "output": self.transcript.size,
            "output_lost": self.transcript.lost,
        }


class ExitFile:
    """`exit.json`. Its room on the disk is taken before the agent starts, so that a full disk cannot make a
    finished run look lost. `durable`: it must outlive a power cut; a verification is simply repeated."""

    def __init__(self, folder: str, *, durable: bool) -> None:
        self._path = os.path.join(folder, "exit.json")
        self._durable = durable
        self._draft: Draft | None = Draft(self._path)
        try:
            os.posix_fallocate(self._draft.file, 0, _EXIT_ROOM)
        except OSError as full:
            log(f"no room kept for exit.json: {full}")

    def write(self, record: dict[str, object]) -> None:
        draft, self._draft = self._draft or Draft(self._path), None
        draft.put(record, durable=self._durable)


def log(text: str) -> None:
    """Say something in `shim.log`, which is this process's standard error."""
    try:
        sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n")
        sys.stderr.flush()
    except OSError:
        return


def finish(run: Run, exit_file: ExitFile) -> None:
    """The order matters: the record, then the store, then (by ending) the lock. Whoever sees `ended` in the
    store finds the record, and a record without `ended` is settled under the lease's fence."""
    run.drain()
    run.transcript.close()
    if run.mailbox is not None:
        run.take_reports()
    exit_file.write(run.record())
    failpoint("shim.exit_recorded")
    if run.lease is not None and run.stopped != "lease_lost" and run.lease.end() == "lost":
        run.stopped = run.stopped or "lease_lost"
        exit_file.write(run.record())
    failpoint("shim.end_stored")
    if run.mailbox is not None:
        run.mailbox.close(f"this run has ended ({run.stopped or 'the agent has ended'})")


def take_lock(folder: str) -> int:
    """Take `<run>/lock` and write who holds it. Raises BlockingIOError when another shim does: whoever only
    looks whether it is held, holds it for no longer than that."""
    lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    patience = time.monotonic() + _LOCK_PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > patience:
                raise
            time.sleep(0.01)
    me = read_process(os.getpid())
    assert me is not None
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps({"pid": me.pid, "start": me.start, "boot": boot_id()}).encode(), 0)
    return lock


def become_reaper() -> None:
    """Orphans below this process become its children, whatever sessions they made."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        log("not a sub-reaper; strays are found by session and marker alone")


def listen() -> int:
    """Turn signals into bytes on a pipe, and give its read end."""
    read_end, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGIO):
        signal.signal(number, _noticed)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    return read_end


def _noticed(_number: int, _frame: object) -> None:
    """The byte on the pipe is what counts."""


def main(folder: str) -> int:
    """Standard output carries one line for whoever started this: `ready`, or why not."""
    if folder == AHEAD:
        folder = awaited_folder()
        if not folder:
            return 0
    try:
        folder = os.path.abspath(folder)
        spec = Spec.read(os.path.join(folder, "spec.json"))
        lock = take_lock(folder)
        wake = listen()
        become_reaper()
        run = Run(folder, spec)
        exit_file = ExitFile(folder, durable=spec.lease is not None)
    except Exception as broken:
        print_traceback()
        answer(f"{type(broken).__name__}: {broken}")
        return 2
    answer("ready")
    try:
        if run.may_begin():
            run.start()
            run.loop(wake)
    except Exception as broken:
        print_traceback()
        run.error = f"the shim failed: {type(broken).__name__}: {broken}"
        run.abandon()
    finish(run, exit_file)
    os.close(lock)
    return 0


def awaited_folder() -> str:
    """Wait for the run that this process was started ahead for, and take over its log. Empty: there is none, since
    whoever would have named it is gone."""
    named = b""
    while not named.endswith(b"\0"):
        part = os.read(0, 4096)
        if not part:
            return ""
        named += part
    folder = os.fsdecode(named[:-1])
    for target, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (2, os.path.join(folder, "shim.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND),
    ):
        opened = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.dup2(opened, target)
        os.close(opened)
    return folder


def print_traceback() -> None:
    import traceback

    traceback.print_exc()


def answer(line: str) -> None:
    try:
        os.write(1, line.encode("utf-8", "replace") + b"\n")
    except OSError as gone:
        log(f"nobody waits for the start: {gone}")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.close(null)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
