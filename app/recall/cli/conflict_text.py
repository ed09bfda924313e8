"""A conflict as `recall resolve` shows it, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recall.cli.words import clock_time
from recall.domain.conflict import (
    ConflictedFile,
    Decision,
    Hunk,
    Remembered,
    Side,
    Version,
    conflict_reason,
)
from recall.domain.run import Run
from recall.domain.task import Task
from recall.domain.text import clean_bytes, clean_line

if TYPE_CHECKING:
    from recall.engine.resolve import ConflictView

#: How many lines of one side of a hunk are shown.
_SHOWN = 12

_WAYS = """\
What you can do:
  recall resolve {id} --take main|task [PATH…]   one side, everywhere or at these paths
  recall resolve {id} --hunks main,both PATH     a side, or both, for each hunk of a file
  recall resolve {id} --with FILE PATH           a text of your own for a file
  recall resolve {id} --delete PATH…             let files go
  recall resolve {id} --checkout DIR             edit it in a new folder, then --continue
  recall resolve {id} --send-back [AGENT]        let an agent do it again, told of both sides
  recall resolve {id} --restart                  start it over from main
  recall resolve {id} --give-up                  cancel it; its work is kept"""


def conflict_text(view: ConflictView, *, base: bool) -> Iterator[str]:
    """Give the lines that show a conflict; with `base` what both sides began with as well."""
    others = [_named(task, run) for task, run in view.others] or [
        f"{change.commit[:10]} {clean_line(change.subject)}" for change in view.record.changes
    ]
    yield f"{_named(view.task, view.run)} meets {', '.join(others) or 'main'}"
    yield f"  {conflict_reason(view.record.files, view.record.changes)}"
    for task, _ in (*view.others, (view.task, None)):
        if said := _first_line(task):
            yield f"  {task.ref} wants: {said}"
    for file in view.files:
        yield ""
        yield from _file_lines(view, file, base=base)
    yield ""
    if view.record.folder:
        yield f"You edit it in {view.record.folder}: `recall resolve {view.record.ref} --continue` takes it over."
    yield from _offers(view)
    yield _WAYS.format(id=view.record.ref)


def conflict_json(view: ConflictView) -> dict[str, object]:
    """Give the same for programs: both tasks with title and text, and every hunk with its three sides."""
    return {
        **_task_json(view.task, view.run),
        "reason": conflict_reason(view.record.files, view.record.changes),
        "others": [_task_json(task, run) for task, run in view.others],
        "changes": [
            {"commit": one.commit, "subject": one.subject, "task": str(one.task) if one.task else None}
            for one in view.record.changes
        ],
        "folder": view.record.folder or None,
        "agents": list(view.agents),
        "files": [_file_json(view, file) for file in view.files],
    }


def _named(task: Task, run: Run | None) -> str:
    """Give a task with who did it and when: `T-2 Parse the config (claude, landed 22:31)`."""
    words = f"{task.ref} {clean_line(task.title)}"
    if run is None:
        return words
    when = f"landed {clock_time(run.settled_at)}" if run.settled_at is not None else f"run {run.id}"
    return f"{words} ({run.agent}, {when})"


def _first_line(task: Task) -> str:
    return clean_line(next((line.strip() for line in task.body.splitlines() if line.strip()), ""))


def _offers(view: ConflictView) -> Iterator[str]:
    known = {path: one for path, one in view.remembered.items() if path not in view.record.decisions}
    whole = [path for path, one in known.items() if one.whole is not None]
    if whole:
        named = ", ".join(f"{clean_line(path)} ({_source(known[path])})" for path in whole)
        yield f"A remembered resolution fits {named}:"
        yield f"  recall resolve {view.record.ref} --remembered"
    for path, one in known.items():
        if one.whole is None:
            numbers = ", ".join(str(number + 1) for number in one.hunks)
            yield f"Of {clean_line(path)}, hunk {numbers} is remembered ({_source(one)}): see --hunks"


def _source(known: Remembered) -> str:
    when = f", {clock_time(known.at)}" if known.at is not None else ""
    return f"from {clean_line(known.task)}{when}" if known.task else "from before"


def _file_lines(view: ConflictView, file: ConflictedFile, *, base: bool) -> Iterator[str]:
    decision = view.record.decisions.get(file.path)
    count = len(file.hunks)
    hunks = f", {count} hunk{'s' if count > 1 else ''}" if count else ""
    decided = f"  decided: {decision.how}" if decision is not None else ""
    yield f"{clean_line(file.path)}  {file.kind}{hunks}{decided}"
    for number, hunk in enumerate(file.hunks if decision is None else (), 1):
        if count > 1:
            yield f"  hunk {number}"
        yield from _hunk_lines(hunk, str(view.record.ref), base=base)


def _hunk_lines(hunk: Hunk, task: str, *, base: bool) -> Iterator[str]:
    began = [("base", hunk.base, 1)] if base else []
    for label, text, start in (*began, ("main", hunk.main, hunk.main_line), (task, hunk.task, hunk.task_line)):
        lines = clean_bytes(text).splitlines()
        yield f"  {label}" + ("" if lines else ": nothing")
        for number, line in enumerate(lines[:_SHOWN], start):
            yield f"  {number:>5}  {line}"
        if len(lines) > _SHOWN:
            yield f"         … and {len(lines) - _SHOWN} more lines"


def _task_json(task: Task, run: Run | None) -> dict[str, object]:
    return {
        "task": str(task.ref),
        "title": task.title,
        "text": task.body,
        "agent": run.agent if run is not None else None,
        "run_id": run.id if run is not None else None,
        "settled_at": run.settled_at if run is not None else None,
    }


def _file_json(view: ConflictView, file: ConflictedFile) -> dict[str, object]:
    known = view.remembered.get(file.path)
    return {
        "path": file.path,
        "kind": file.kind.value,
        "base": _version_json(file.base),
        **{side.value: _version_json(file.version(side)) for side in Side},
        "decision": _decision_json(view.record.decisions.get(file.path)),
        "remembered": None if known is None else _remembered_json(known),
        "hunks": [
            {
                "main": _text(hunk.main),
                "base": _text(hunk.base),
                "task": _text(hunk.task),
                "main_line": hunk.main_line,
                "task_line": hunk.task_line,
                "remembered": _text(known.hunks[number]) if known is not None and number in known.hunks else None,
            }
            for number, hunk in enumerate(file.hunks)
        ],
    }


def _version_json(version: Version | None) -> dict[str, object] | None:
    return {"mode": version.mode, "oid": version.oid} if version is not None else None


def _decision_json(decision: Decision | None) -> dict[str, object] | None:
    return {"how": decision.how, "version": _version_json(decision.version)} if decision is not None else None


def _remembered_json(known: Remembered) -> dict[str, object]:
    return {"from": known.task or None, "at": known.at, "whole": known.whole is not None}


def _text(side: bytes) -> str:
    return side.decode("utf-8", "replace")
