-- What every claim looks for, the leases that have run out and the files that running tasks touch, is found without
-- going through all that run.
DROP INDEX tasks_leased;
CREATE INDEX tasks_leased ON tasks (lease_boot, lease_expires) WHERE lease_expires IS NOT NULL;
CREATE INDEX tasks_touching ON tasks (touches) WHERE status = 'in_progress' AND touches <> '[]';
