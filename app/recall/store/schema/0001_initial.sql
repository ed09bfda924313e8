-- Statuses are rows, not CHECK lists: adding one is an INSERT and rebuilds no table.
CREATE TABLE task_states (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO task_states (name) VALUES
  ('todo'), ('in_progress'), ('landing'), ('done'), ('needs_person'), ('on_hold'), ('cancelled');

CREATE TABLE done_ways (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO done_ways (name) VALUES ('landed'), ('manual'), ('imported'), ('group');

CREATE TABLE run_states (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO run_states (name) VALUES
  ('preparing'), ('running'), ('pulled'), ('ended'), ('landing'), ('settled');

CREATE TABLE run_results (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO run_results (name) VALUES
  ('landed'), ('conflict'), ('verify_failed'), ('failed'), ('no_report'), ('no_change'), ('timed_out'),
  ('stalled'), ('rate_limited'), ('credit_exhausted'), ('auth_required'), ('orphaned'), ('lease_lost'),
  ('cancelled'), ('question');

CREATE TABLE merge_states (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO merge_states (name) VALUES
  ('queued'), ('verifying'), ('landing'), ('waiting_checkout'), ('conflict'), ('landed'), ('rejected');

CREATE TABLE regions (
  name TEXT PRIMARY KEY,
  imported_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- `agents` and `touches` are JSON arrays. `listed_priority` is what the list says, `priority` what holds.
-- `behind` is the longest chain of work behind the task. `unmet` counts the prerequisites that are not done;
-- it always equals what NOT EXISTS over task_prerequisites would find. `cancelled_by_list` marks a task that
-- only its absence from the list cancelled, so that its return revives it.
CREATE TABLE tasks (
  region TEXT NOT NULL REFERENCES regions (name),
  id TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  type TEXT NOT NULL,
  priority INTEGER NOT NULL,
  listed_priority INTEGER NOT NULL,
  position INTEGER NOT NULL,
  behind INTEGER NOT NULL DEFAULT 0,
  agents TEXT NOT NULL DEFAULT '[]',
  touches TEXT NOT NULL DEFAULT '[]',
  verify TEXT,
  timeout_s REAL,
  max_attempts INTEGER,
  is_group INTEGER NOT NULL DEFAULT 0,
  parent TEXT,
  vanished INTEGER NOT NULL DEFAULT 0,
  cancelled_by_list INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL REFERENCES task_states (name),
  status_reason TEXT NOT NULL DEFAULT '',
  status_changed_at REAL NOT NULL,
  status_changed_mono REAL NOT NULL,
  unmet INTEGER NOT NULL DEFAULT 0 CHECK (unmet >= 0),
  attempts INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0,
  retry_at REAL,
  done_by TEXT REFERENCES done_ways (name),
  done_commit TEXT,
  done_agent TEXT,
  lease_owner TEXT,
  lease_version INTEGER NOT NULL DEFAULT 0,
  lease_boot TEXT,
  lease_expires REAL,
  lease_expires_wall REAL,
  PRIMARY KEY (region, id),
  FOREIGN KEY (region, parent) REFERENCES tasks (region, id) DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE INDEX tasks_claimable ON tasks (priority DESC, behind DESC, position, region, id)
  WHERE status = 'todo' AND unmet = 0 AND is_group = 0;
CREATE INDEX tasks_leased ON tasks (lease_expires) WHERE lease_expires IS NOT NULL;
CREATE INDEX tasks_in_progress ON tasks (region, id) WHERE status = 'in_progress';
CREATE INDEX tasks_by_parent ON tasks (region, parent) WHERE parent IS NOT NULL;

CREATE TABLE task_prerequisites (
  region TEXT NOT NULL,
  task TEXT NOT NULL,
  needs_region TEXT NOT NULL,
  needs_task TEXT NOT NULL,
  PRIMARY KEY (region, task, needs_region, needs_task),
  FOREIGN KEY (region, task) REFERENCES tasks (region, id) DEFERRABLE INITIALLY DEFERRED,
  FOREIGN KEY (needs_region, needs_task) REFERENCES tasks (region, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX task_dependants ON task_prerequisites (needs_region, needs_task);

-- `configured` agents stand in recall.toml; the others made themselves known by claiming.
CREATE TABLE agents (
  name TEXT PRIMARY KEY,
  configured INTEGER NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1,
  parallel INTEGER NOT NULL DEFAULT 1,
  types TEXT NOT NULL DEFAULT '[]',
  account TEXT NOT NULL DEFAULT '',
  paused INTEGER NOT NULL DEFAULT 0,
  paused_reason TEXT NOT NULL DEFAULT '',
  cooling_until REAL,
  cooling_reason TEXT NOT NULL DEFAULT '',
  cooling_line TEXT NOT NULL DEFAULT '',
  limits_in_a_row INTEGER NOT NULL DEFAULT 0,
  stopped_reason TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_weights (
  agent TEXT NOT NULL REFERENCES agents (name),
  type TEXT NOT NULL,
  value REAL NOT NULL CHECK (value BETWEEN 0 AND 1),
  landed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (agent, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  region TEXT NOT NULL,
  task TEXT NOT NULL,
  agent TEXT NOT NULL REFERENCES agents (name),
  owner TEXT NOT NULL,
  version INTEGER NOT NULL,
  number INTEGER NOT NULL,
  state TEXT NOT NULL REFERENCES run_states (name),
  result TEXT REFERENCES run_results (name),
  reason TEXT NOT NULL DEFAULT '',
  branch TEXT,
  base TEXT,
  slot TEXT,
  claimed_at REAL NOT NULL,
  started_at REAL,
  ended_at REAL,
  settled_at REAL,
  why TEXT NOT NULL DEFAULT '',
  UNIQUE (region, task, number),
  UNIQUE (region, task, version),
  FOREIGN KEY (region, task) REFERENCES tasks (region, id),
  CHECK ((state = 'settled') = (result IS NOT NULL))
) STRICT;
-- Whatever goes wrong above: never two open runs of one task.
CREATE UNIQUE INDEX runs_open ON runs (region, task) WHERE state <> 'settled';
CREATE INDEX runs_busy ON runs (agent) WHERE state IN ('preparing', 'running', 'pulled', 'ended');

-- What was asked on behalf of runs, the refused wishes too. `refusal` is NULL for an accepted one.
CREATE TABLE outcomes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at REAL NOT NULL,
  run_id INTEGER,
  owner TEXT NOT NULL,
  version INTEGER NOT NULL,
  wish TEXT NOT NULL,
  result TEXT REFERENCES run_results (name),
  reason TEXT NOT NULL DEFAULT '',
  refusal TEXT
) STRICT;
CREATE INDEX outcomes_by_run ON outcomes (run_id);

CREATE TABLE merges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  region TEXT NOT NULL,
  task TEXT NOT NULL,
  run_id INTEGER NOT NULL UNIQUE REFERENCES runs (id),
  position INTEGER NOT NULL UNIQUE,
  state TEXT NOT NULL REFERENCES merge_states (name),
  reason TEXT NOT NULL DEFAULT '',
  tip TEXT NOT NULL,
  base TEXT NOT NULL,
  onto TEXT,
  candidate TEXT,
  intent_old TEXT,
  intent_new TEXT,
  rounds INTEGER NOT NULL DEFAULT 0,
  created_at REAL NOT NULL,
  changed_at REAL NOT NULL,
  conflict_paths TEXT NOT NULL DEFAULT '[]',
  conflict_step TEXT,
  conflict_base TEXT,
  conflict_ours TEXT,
  conflict_theirs TEXT,
  conflict_detail TEXT NOT NULL DEFAULT '',
  FOREIGN KEY (region, task) REFERENCES tasks (region, id),
  CHECK ((intent_old IS NULL) = (intent_new IS NULL))
) STRICT;
CREATE UNIQUE INDEX merges_open ON merges (region, task) WHERE state NOT IN ('landed', 'rejected');

-- One row for each landing, written once: which commit answers for which task, and who made it.
CREATE TABLE receipts (
  merge_id INTEGER PRIMARY KEY REFERENCES merges (id),
  run_id INTEGER NOT NULL REFERENCES runs (id),
  region TEXT NOT NULL,
  task TEXT NOT NULL,
  agent TEXT NOT NULL,
  version INTEGER NOT NULL,
  tip TEXT NOT NULL,
  onto TEXT,
  landed_commit TEXT NOT NULL,
  landed_at REAL NOT NULL,
  FOREIGN KEY (region, task) REFERENCES tasks (region, id)
) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at REAL NOT NULL,
  actor TEXT NOT NULL,
  kind TEXT NOT NULL,
  region TEXT,
  task TEXT,
  agent TEXT,
  run_id INTEGER,
  merge_id INTEGER,
  before TEXT,
  after TEXT,
  reason TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tasks_are_kept BEFORE DELETE ON tasks
BEGIN
  SELECT RAISE(ABORT, 'task rows are never deleted');
END;

CREATE TRIGGER versions_never_fall BEFORE UPDATE OF lease_version ON tasks
WHEN NEW.lease_version < OLD.lease_version
BEGIN
  SELECT RAISE(ABORT, 'a lease version never falls');
END;

CREATE TRIGGER events_are_final BEFORE UPDATE ON events
BEGIN
  SELECT RAISE(ABORT, 'events are append-only');
END;

CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN
  SELECT RAISE(ABORT, 'events are append-only');
END;

-- A shim ends its run by one UPDATE; that nothing expires from then on, and the event, follow from it.
CREATE TRIGGER run_ended AFTER UPDATE OF state ON runs
WHEN NEW.state = 'ended' AND OLD.state <> 'ended'
BEGIN
  UPDATE tasks SET lease_boot = NULL, lease_expires = NULL, lease_expires_wall = NULL
    WHERE region = NEW.region AND id = NEW.task AND lease_owner = NEW.owner AND lease_version = NEW.version;
  INSERT INTO events (at, actor, kind, region, task, agent, run_id, before, after)
    VALUES (NEW.ended_at, 'shim', 'run.ended', NEW.region, NEW.task, NEW.agent, NEW.id, OLD.state, NEW.state);
END;
