-- A run that ended at a limit or with a question may go on where it stopped. `kept_run` is that run, whose workspace
-- waits; until `kept_until` only its agent, `kept_for`, may take the task. `continues`: the run that this one goes on for.
ALTER TABLE tasks ADD COLUMN kept_run INTEGER REFERENCES runs (id);
ALTER TABLE tasks ADD COLUMN kept_for TEXT;
ALTER TABLE tasks ADD COLUMN kept_until REAL;
CREATE INDEX tasks_kept ON tasks (kept_run) WHERE kept_run IS NOT NULL;
ALTER TABLE runs ADD COLUMN continues INTEGER REFERENCES runs (id);

-- The runs, on different tasks, that this agent failed in quickly and in a row (a JSON array of run ids), and how often in
-- a row it was held for that.
ALTER TABLE agents ADD COLUMN quick_failures TEXT NOT NULL DEFAULT '[]';
ALTER TABLE agents ADD COLUMN suspicions INTEGER NOT NULL DEFAULT 0;
