"""Starts runs through their shims and finds them again, from files and locks alone."""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import signal
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from recall.agents import mailbox, process
from recall.agents.other_user import Account, account_of, hand_over, open_slot
from recall.agents.rendered import read_spending
from recall.agents.sandbox import empty_scratch, fence_argv
from recall.agents.shim import PROTOCOL
from recall.agents.starter import ShimProcess, ShimStarter
from recall.agents.transcript import Transcript
from recall.domain.clock import Clock
from recall.domain.errors import EnvironmentFailure
from recall.domain.launch import RunSpec, RunStatus
from recall.domain.rng import Rng
from recall.domain.run import ExitRecord, Report
from recall.domain.stream.dialect import Dialect
from recall.domain.stream.spending import Spending
from recall.domain.text import clean
from recall.failpoint import failpoint
from recall.ownership import take_back
from recall.whole_files import PRIVATE, replace_file

_START_PATIENCE = 20.0
_LEFT_OF_EARLIER_RUNS = ("exit.json", ".exit.json.*", "stop.json", "shim.log", "transcript*")
_STOP_STEP = 0.02


class ProcessRunner:
    """The runner of `engine.ports`. Keeps nothing in memory but its unreaped children, and a shim started ahead if
    asked to: another one, in another process, sees and stops the same runs."""

    def __init__(self, clock: Clock, rng: Rng) -> None:
        self._clock = clock
        self._rng = rng
        self._starter = ShimStarter()
        self._children: list[ShimProcess] = []
        self._guard = threading.Lock()

    def keep_ahead(self) -> None:
        """Keep one shim started ahead from now on, until `close`: runs then start sooner."""
        self._starter.keep_ahead()

    def close(self) -> None:
        """Runs go on; only what was started ahead ends."""
        self._starter.close()

    def start(self, spec: RunSpec) -> int:
        """Write the run folder and start the shim; gives its pid once it holds the run's lock. Raises
        EnvironmentFailure if it cannot."""
        try:
            self._write(spec)
            self._reap()
            shim = self._starter.start(spec.folder)
        except OSError as broken:
            raise EnvironmentFailure(f"run {spec.run_id} could not be started in {spec.folder}: {broken}") from broken
        try:
            said = _first_line(shim.answer, _START_PATIENCE)
        finally:
            os.close(shim.answer)
        if said != "ready":
            shim.process.kill()
            shim.process.wait()
            self.sweep(spec.folder)
            raise EnvironmentFailure(
                f"the shim of run {spec.run_id} did not start: {said or 'no answer'}; see {spec.folder}/shim.log"
            )
        with self._guard:
            self._children.append(shim.process)
        self._starter.refill()
        return shim.process.pid

    def status(self, folder: Path) -> RunStatus:
        self._reap()
        if _held(folder):
            holder = _holder(folder)
            return RunStatus(live=True, exit=None, pid=holder[0] if holder else None)
        return RunStatus(live=False, exit=read_exit(folder))

    def stop(self, folder: Path, reason: str) -> None:
        """Ask a live shim to stop its whole process tree, also one that stands still. Returns at once."""
        if not _held(folder):
            return
        _tell(folder / "stop.json", {"reason": reason})
        handle = self.pidfd(folder)
        if handle is None:
            return
        try:
            signal.pidfd_send_signal(handle, signal.SIGTERM)
            signal.pidfd_send_signal(handle, signal.SIGCONT)
        except ProcessLookupError:
            return
        finally:
            os.close(handle)

    def stop_and_wait(self, folder: Path, reason: str, timeout: float = 30.0) -> bool:
        """Stop a run and wait until its shim is gone. False: it still is there after `timeout` seconds."""
        self.stop(folder, reason)
        until = self._clock.now().mono + timeout
        while _held(folder):
            if self._clock.now().mono > until:
                return False
            time.sleep(_STOP_STEP)
        return True

    def pidfd(self, folder: Path) -> int | None:
        """A descriptor that becomes readable when the run's shim ends, for the caller to close; None when it
        is gone already."""
        holder = _holder(folder)
        return process.open_pidfd(*holder) if holder and _held(folder) else None

    def sweep(self, folder: Path) -> int:
        """After a lost shim: end every process that carries this run's marker, or still is in the shim's
        session and works in the run's folder. Gives how many."""
        try:
            spec = json.loads((folder / "spec.json").read_text("utf-8"))
            marker, cwd = str(spec["marker"]), Path(spec["cwd"])
        except (OSError, ValueError, KeyError):
            return 0
        if _held(folder):
            return 0
        holder = _holder(folder)

        def left() -> list[process.Process]:
            found = {one.pid: one for one in process.marked(marker)}
            if holder is not None:
                found.update({one.pid: one for one in process.in_session(*holder, cwd)})
            return list(found.values())

        return process.end_all(left)

    def tail(self, folder: Path, lines: int = 20) -> str:
        """The last lines of the transcript, decoded with replacement, not cleaned."""
        return Transcript(folder).tail(lines).decode("utf-8", "replace")

    def spending(self, folder: Path, dialect: Dialect) -> Spending:
        """Go through the whole transcript for what the run used up."""
        return read_spending(folder, dialect)

    # -- starting --------------------------------------------------------------------------------------------

    def _write(self, spec: RunSpec) -> None:
        folder = spec.folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _held(folder):
            raise EnvironmentFailure(f"run {spec.run_id} is under way already: its shim holds {folder}/lock")
        for pattern in _LEFT_OF_EARLIER_RUNS:
            for path in folder.glob(pattern):
                path.unlink()
        prompt = folder / "prompt.md"
        replace_file(prompt, spec.prompt.encode("utf-8", "replace"), durable=False)
        failpoint("runner.prompt_written")
        account = account_of(spec.fence.user) if spec.fence is not None and spec.fence.user else None
        if account is not None:
            take_back(spec.cwd, account.uid)  # a run that goes on finds it as the one before left it
        if spec.slot is not None:
            prompt = _open_slot(spec, spec.slot, account)
        failpoint("runner.slot_opened")
        if spec.fence is not None:
            empty_scratch(spec.fence.scratch)
            if account is not None:
                hand_over(account, spec.cwd, spec.fence.scratch)
        _tell(folder / "spec.json", _protocol(spec, prompt, self._rng.token(32)))
        failpoint("runner.spec_written")

    def _reap(self) -> None:
        with self._guard:
            self._children = [child for child in self._children if child.poll() is None]


def read_exit(folder: Path) -> ExitRecord | None:
    """Read `exit.json`, its texts cleaned; None when there is none that can be read."""
    try:
        raw: dict[str, Any] = json.loads((folder / "exit.json").read_text("utf-8"))
        report = raw["report"]
        return ExitRecord(
            status=raw["status"],
            signal=raw["signal"],
            stopped=raw["stopped"],
            report=Report(**{name: clean(text) for name, text in report.items()}) if report else None,
            refused_reports=tuple(map(clean, raw["refused"])),
            started_at=raw["started_at"],
            ended_at=raw["ended_at"],
            strays=raw["strays"],
            error=clean(raw["error"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _open_slot(spec: RunSpec, slot: Path, account: Account | None) -> Path:
    """Give the slot to this run: identity and token, an empty mailbox, the prompt. `account` is another user whom it
    runs as; it can read what is told there, and write in its tree only."""
    if account is None:
        slot.chmod(0o700)
    else:
        open_slot(account, slot)
    for_group = 0o040 if account is not None else 0
    for stale in (*slot.glob("answer-*"), slot / mailbox.CLOSED_FILE):
        stale.unlink(missing_ok=True)
    mailbox.open_reports(slot / "tree" / mailbox.REPORTS)
    prompt = slot / "prompt.md"
    replace_file(prompt, spec.prompt.encode("utf-8", "replace"), mode=PRIVATE | for_group, durable=False)
    identity = {
        "protocol": PROTOCOL, "run_id": spec.run_id, "task": spec.task, "agent": spec.agent, "token": spec.token,
        "run_folder": str(spec.folder.absolute()),
    }  # fmt: skip
    _tell(slot / mailbox.RUN_FILE, identity, mode=0o400 | for_group)
    return prompt


def _tell(file: Path, value: object, *, mode: int = PRIVATE) -> None:
    """Leave JSON for a process that runs beside this one. No run outlives a power cut, so it need not be on disk."""
    replace_file(file, json.dumps(value).encode(), mode=mode, durable=False)


def _protocol(spec: RunSpec, prompt: Path, marker: str) -> dict[str, object]:
    env = {**spec.env, process.MARKER: marker}
    if spec.slot is not None:
        env["RECALL_RUN_ID"] = str(spec.run_id)
    return {
        "protocol": PROTOCOL,
        "run_id": spec.run_id,
        "argv": list(spec.argv),
        "shell": spec.shell,
        "fence": fence_argv(spec.fence, spec.folder) if spec.fence is not None else [],
        "cwd": str(spec.cwd.absolute()),
        "env": env,
        "marker": marker,
        "prompt_mode": spec.prompt_mode,
        "prompt_path": str(prompt.absolute()),
        "slot": str(spec.slot.absolute()) if spec.slot is not None else None,
        "token": spec.token,
        "task": spec.task,
        "agent": spec.agent,
        "lease": _lease(spec),
        "timeout": spec.timeout,
        "stall": spec.stall,
        "grace": spec.grace,
        "after_report": spec.after_report,
        "transcript_cap": spec.transcript_cap,
    }


def _lease(spec: RunSpec) -> dict[str, object] | None:
    if spec.lease is None:
        return None
    lease = asdict(spec.lease)
    contract = lease.pop("contract")
    paths = {"database": str(contract.pop("database")), "lock_file": str(contract.pop("lock_file"))}
    return {**lease, **contract, **paths}


def _held(folder: Path) -> bool:
    try:
        lock = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _holder(folder: Path) -> tuple[int, int] | None:
    """Pid and start time of the last shim that held the lock, if it did so since the machine was started."""
    try:
        raw = json.loads((folder / "lock").read_bytes())
        return (int(raw["pid"]), int(raw["start"])) if raw["boot"] == process.boot_id() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _first_line(pipe: int, patience: float) -> str:
    """What the shim says of its start, or nothing."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        if not selector.select(patience):
            return ""
    return os.read(pipe, 4096).decode("utf-8", "replace").strip()
