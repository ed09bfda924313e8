"""The two statements that a shim runs on behalf of its run. Shims that were started by an older Recall go on
with theirs, so these may gain conditions but no parameters."""

from __future__ import annotations

from pathlib import Path

from recall.domain.launch import ShimStoreContract

RENEW = """
UPDATE tasks SET lease_expires = :expires, lease_expires_wall = :expires_wall
WHERE region = :region AND id = :task AND status = 'in_progress' AND lease_owner = :owner
  AND lease_version = :version AND lease_boot = :boot AND lease_expires > :now
  AND EXISTS (SELECT 1 FROM runs WHERE runs.id = :run_id AND runs.state = 'running')
"""

# the trigger `run_ended` takes the lease's end away and appends the event
END = """
UPDATE runs SET state = 'ended', ended_at = :wall
WHERE id = :run_id AND region = :region AND task = :task AND owner = :owner AND version = :version
  AND state = 'running'
  AND EXISTS (SELECT 1 FROM tasks t WHERE t.region = :region AND t.id = :task AND t.status = 'in_progress'
    AND t.lease_owner = :owner AND t.lease_version = :version AND t.lease_boot = :boot AND t.lease_expires > :now)
"""


def shim_contract(database: Path, lock_file: Path) -> ShimStoreContract:
    return ShimStoreContract(database, lock_file, RENEW.strip(), END.strip())
