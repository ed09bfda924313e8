"""The rows of a conflict: what met, path by path, and what a person decided of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from recall.domain.conflict import ConflictKind, ConflictRecord, Decision, LandedChange, RecordedFile, Version
from recall.domain.merge import MergeState
from recall.domain.task import TaskRef
from recall.domain.text import clean_line
from recall.domain.work import Conflict
from recall.store.transaction import Rows, Transaction

_INSERT_FILE = """
INSERT INTO conflict_files (merge_id, position, path, kind, hunks) VALUES (:id, :position, :path, :kind, :hunks)
"""
_INSERT_CHANGE = """
INSERT INTO conflict_changes (merge_id, position, landed_commit, subject, region, task)
VALUES (:id, :position, :commit, :subject, :region, :task)
"""
_DECIDE = """
UPDATE conflict_files SET decided = :how, mode = :mode, oid = :oid WHERE merge_id = :id AND path = :path
"""
_FOLDER = "UPDATE merges SET conflict_folder = :folder WHERE id = :id"


def keep(tx: Transaction, merge_id: int, files: Sequence[RecordedFile], changes: Sequence[LandedChange]) -> None:
    """Put down a conflict in place of an earlier one of the same entry."""
    forget(tx, merge_id)
    for position, file in enumerate(files):
        values = {"path": json.dumps(file.path), "kind": file.kind, "hunks": file.hunks}
        tx.change(_INSERT_FILE, {"id": merge_id, "position": position, **values})
    for position, change in enumerate(changes):
        values = {"commit": change.commit, "subject": clean_line(change.subject)}
        task = {
            "region": change.task.region if change.task else None,
            "task": change.task.id if change.task else None,
        }
        tx.change(_INSERT_CHANGE, {"id": merge_id, "position": position, **values, **task})


def forget(tx: Transaction, merge_id: int) -> None:
    for table in ("conflict_files", "conflict_changes"):
        tx.change(f"DELETE FROM {table} WHERE merge_id = :id", {"id": merge_id})  # noqa: S608 - two fixed names
    put_folder(tx, merge_id, None)


def decide(tx: Transaction, merge_id: int, decisions: Sequence[Decision]) -> None:
    for one in decisions:
        version = {"mode": one.version.mode if one.version else None, "oid": one.version.oid if one.version else None}
        tx.change(_DECIDE, {"id": merge_id, "path": json.dumps(one.path), "how": one.how, **version})


def put_folder(tx: Transaction, merge_id: int, folder: str | None) -> None:
    tx.change(_FOLDER, {"id": merge_id, "folder": folder})


def record(rows: Rows, merge_id: int) -> ConflictRecord | None:
    """Give an entry that is in conflict, with everything known of it."""
    row = rows.one(
        "SELECT * FROM merges WHERE id = :id AND state = :state", {"id": merge_id, "state": MergeState.CONFLICT}
    )
    if row is None:
        return None
    files = rows.all("SELECT * FROM conflict_files WHERE merge_id = :id ORDER BY position", {"id": merge_id})
    changes = rows.all("SELECT * FROM conflict_changes WHERE merge_id = :id ORDER BY position", {"id": merge_id})
    return ConflictRecord(
        merge_id=merge_id,
        ref=TaskRef(row["region"], row["task"]),
        run_id=row["run_id"],
        tip=row["tip"],
        base=row["base"],
        met=met(row),
        files=tuple(map(_file, files)),
        changes=tuple(map(_change, changes)),
        folder=row["conflict_folder"] or "",
    )


def met(row: sqlite3.Row) -> Conflict:
    """Read what an entry met from its row. Its paths are cleaned, those of `conflict_files` exact."""
    return Conflict(
        paths=tuple(json.loads(row["conflict_paths"])),
        step=row["conflict_step"],
        base=row["conflict_base"],
        ours=row["conflict_ours"],
        theirs=row["conflict_theirs"],
        detail=row["conflict_detail"],
    )


def _file(row: sqlite3.Row) -> RecordedFile:
    path: str = json.loads(row["path"])
    decision = None
    if row["decided"] is not None:
        version = Version(row["mode"], row["oid"]) if row["oid"] is not None else None
        decision = Decision(path, row["decided"], version)
    return RecordedFile(path, ConflictKind(row["kind"]), row["hunks"], decision)


def _change(row: sqlite3.Row) -> LandedChange:
    task = TaskRef(row["region"], row["task"]) if row["task"] is not None else None
    return LandedChange(row["landed_commit"], row["subject"], task)
