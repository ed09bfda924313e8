"""What must always hold in the database, looked for by `recall doctor`."""

from __future__ import annotations

import sqlite3

from recall.domain.task import TaskRef
from recall.store.transaction import Rows

_UNMET = """
SELECT t.region, t.id, t.unmet, (SELECT count(*) FROM task_prerequisites p
  JOIN tasks d ON d.region = p.needs_region AND d.id = p.needs_task
  WHERE p.region = t.region AND p.task = t.id AND d.status <> 'done') AS found
FROM tasks t WHERE t.unmet <> found
"""
_TASK_AND_RUN = """
SELECT t.region, t.id, t.status, r.id AS run_id, r.state FROM tasks t
LEFT JOIN runs r ON r.region = t.region AND r.task = t.id AND r.state <> 'settled'
WHERE (t.status = 'in_progress') <> (r.state IS NOT NULL AND r.state IN ('preparing', 'running', 'pulled', 'ended'))
  OR (t.status = 'landing' AND r.state IS NOT 'landing')
"""
_LEASE = """
SELECT t.region, t.id, r.state FROM tasks t
LEFT JOIN runs r ON r.region = t.region AND r.task = t.id AND r.state <> 'settled'
WHERE (t.lease_expires IS NOT NULL) <> (r.state IS NOT NULL AND r.state IN ('preparing', 'running', 'pulled'))
"""
_MERGE = """
SELECT m.id, m.region, m.task, m.state, r.state AS run_state FROM merges m JOIN runs r ON r.id = m.run_id
WHERE (m.state NOT IN ('landed', 'rejected')) <> (r.state = 'landing')
"""
_GROUP = """
SELECT g.region, g.id, t.id AS open FROM tasks g JOIN tasks t ON t.region = g.region AND t.parent = g.id
WHERE g.done_by = 'group' AND t.status NOT IN ('done', 'cancelled')
"""


def check(rows: Rows) -> list[str]:
    """Give a sentence for each inconsistency; none is the only right answer."""
    found = [
        f"{_ref(row)}: counts {row['unmet']} unmet prerequisites, has {row['found']}" for row in rows.all(_UNMET)
    ]
    found += [
        f"{_ref(row)} is {row['status']}, its open run is {row['state'] or 'missing'}"
        for row in rows.all(_TASK_AND_RUN)
    ]
    found += [f"{_ref(row)}: lease and open run ({row['state'] or 'none'}) do not fit" for row in rows.all(_LEASE)]
    found += [f"merge entry {row['id']} is {row['state']}, its run is {row['run_state']}" for row in rows.all(_MERGE)]
    found += [f"{_ref(row)} is done by its sub-tasks, but {row['open']} is open" for row in rows.all(_GROUP)]
    found += [f"foreign key violated in {row[0]}, row {row[1]}" for row in rows.all("PRAGMA foreign_key_check")]
    found += [f"database file: {row[0]}" for row in rows.all("PRAGMA quick_check") if row[0] != "ok"]
    return found


def _ref(row: sqlite3.Row) -> TaskRef:
    return TaskRef(row["region"], row["id"])
