"""An agent's side of the run mailbox: find the slot, leave one report file, wait for the shim's answer.

A slot is a folder with `run.json` (whose run it is, and its token), `tree/` (the workspace) and
`tree/.recall-run/` (reports). The commands that use this run inside agents' sandboxes, often and in bare
environments, so it needs no store and no variable and imports little.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from recall.domain.errors import RecallError
from recall.domain.frozen import frozen
from recall.whole_files import replace_file

REPORTS = ".recall-run"
RUN_FILE = "run.json"
CLOSED_FILE = "closed.json"
TEXT_LIMIT = 4096

_FIRST_STEP = 0.002
_LONGEST_STEP = 0.02


class MailboxError(RecallError):
    """No slot, or not exactly one, fits what the command was told."""


@frozen
class Slot:
    """One run's mailbox, as `run.json` names it."""

    folder: Path
    run_id: int
    task: str
    agent: str
    token: str

    @property
    def reports(self) -> Path:
        return self.folder / "tree" / REPORTS


@frozen
class Accepted:
    """The shim took the report."""


@frozen
class Declined:
    """The shim, or the run's end, turned the report down. `over`: the run has lost its lease or has ended, and
    no report of it counts any more."""

    reason: str
    over: bool = False


@frozen
class Stored:
    """The report lies in the mailbox; nobody judged it within the time waited."""

    path: Path


Answer = Accepted | Declined | Stored


def read_slot(folder: Path) -> Slot | None:
    """Read `run.json` of a slot; None when there is none that can be read."""
    try:
        raw = json.loads((folder / RUN_FILE).read_text("utf-8"))
        return Slot(folder, int(raw["run_id"]), str(raw["task"]), str(raw["agent"]), str(raw["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find_slot(
    *,
    given: Path | None = None,
    start: Path | None = None,
    roots: Sequence[Path] = (),
    run_id: str = "",
    agent: str = "",
    task: str = "",
) -> Slot:
    """Find the mailbox: the one given, else walking up from `start`, else by what is known of the run.

    `roots` are folders of slots (`.recall/ws`); `run_id` is a hint (RECALL_RUN_ID) and only believed when a
    run in `roots` has it. Raises MailboxError with the candidates when nothing or too much fits.
    """
    if given is not None:
        slot = read_slot(given.absolute())
        if slot is None:
            raise MailboxError(f"{given} has no readable {RUN_FILE}; give the slot folder named in the prompt")
        return slot
    if start is not None and (above := _above(start)) is not None:
        return above
    open_slots = _open_slots(roots)
    hinted = [slot for slot in open_slots if str(slot.run_id) == run_id]
    fitting = hinted or [
        slot for slot in open_slots if (not agent or slot.agent == agent) and (not task or slot.task == task)
    ]
    if len(fitting) == 1 and (hinted or agent or task):
        return fitting[0]
    raise MailboxError(_candidates(fitting or open_slots))


def write_report(
    slot: Slot, result: str, *, summary: str = "", question: str = "", task: str = "", wait: float = 2.0
) -> Answer:
    """Leave a report and wait up to `wait` seconds for the shim's answer.

    `result` is `success`, `failure`, `question` or `heartbeat`; texts are cut at 4,096 characters. `task` is
    what the agent believes to work on, by default the run's own.
    """
    if (closed := _closed(slot)) is not None:
        return closed
    report = {
        "token": slot.token,
        "task": task or slot.task,
        "agent": slot.agent,
        "result": result,
        "summary": summary[:TEXT_LIMIT],
        "question": question[:TEXT_LIMIT],
    }
    name = _leave(slot.reports, json.dumps(report, ensure_ascii=False).encode("utf-8", "replace"))
    until = time.monotonic() + wait
    step = _FIRST_STEP
    while True:
        answer = _answer(slot, name) or _closed(slot)
        if answer is not None:
            return answer
        if time.monotonic() >= until:
            return Stored(slot.reports / name)
        time.sleep(step)
        step = min(1.5 * step, _LONGEST_STEP)


def open_reports(folder: Path) -> None:
    """Make the report folder, whatever lay there before, with the file that hides it from git."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        folder.unlink()
    folder.mkdir(exist_ok=True)
    hidden = folder / ".gitignore"
    if not hidden.is_file() or hidden.is_symlink():
        replace_file(hidden, b"*\n", mode=0o644, durable=False)


def _leave(folder: Path, data: bytes) -> str:
    """Write a report whole under a new name; `git clean` or `git stash` may just have taken the folder."""
    for _ in range(5):
        try:
            open_reports(folder)
            numbers = [int(name.split("-")[1]) for name in os.listdir(folder) if _is_report(name)]  # noqa: PTH208
            name = f"report-{max(numbers, default=0) + 1}-{os.urandom(4).hex()}.json"
            replace_file(folder / name, data)
        except FileNotFoundError:
            continue
        except OSError as broken:
            raise MailboxError(f"the report could not be written to {folder}: {broken}") from broken
        return name
    raise MailboxError(f"{folder} vanishes again and again; is the workspace being deleted?")


def _is_report(name: str) -> bool:
    parts = name.split("-")
    return len(parts) == 3 and parts[0] == "report" and parts[1].isdigit() and len(parts[1]) < 10


def _answer(slot: Slot, name: str) -> Answer | None:
    try:
        raw = json.loads((slot.folder / f"answer-{name}").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return Accepted() if raw["accepted"] else Declined(str(raw["reason"]), bool(raw["over"]))


def _closed(slot: Slot) -> Declined | None:
    try:
        raw = json.loads((slot.folder / CLOSED_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    from hmac import compare_digest

    of_this_run = compare_digest(str(raw["token"]).encode(), slot.token.encode())
    return Declined(str(raw["reason"]), over=True) if of_this_run else None


def _above(start: Path) -> Slot | None:
    here = start.absolute()
    found = (read_slot(folder) for folder in (here, *here.parents) if (folder / "tree").is_dir())
    return next((slot for slot in found if slot is not None), None)


def _open_slots(roots: Sequence[Path]) -> list[Slot]:
    found = (read_slot(path.parent) for root in roots for path in sorted(root.glob(f"*/{RUN_FILE}")))
    return [slot for slot in found if slot is not None and _closed(slot) is None]


def _candidates(slots: Sequence[Slot]) -> str:
    if not slots:
        return "no run is open here; give --slot with the folder named in the prompt"
    listed = "\n".join(
        f"  --slot {slot.folder}   run {slot.run_id}, task {slot.task}, {slot.agent}" for slot in slots
    )
    return f"which run is this of? Give one of:\n{listed}"
