-- What every claim looks for, the leases that have run out and the files that running tasks touch, is found without
-- going through all that run.
DROP INDEX tasks_leased;
CREATE INDEX tasks_leased ON tasks (lease_boot, lease_expires) WHERE status = 'in_progress';
CREATE INDEX tasks_touching ON tasks (touches) WHERE status = 'in_progress' AND touches <> '[]';

-- Each index that a claim writes to is one more page on its way to the disk. The first is a part of tasks_leased,
-- the second of runs_open.
DROP INDEX tasks_in_progress;
DROP INDEX runs_busy;
