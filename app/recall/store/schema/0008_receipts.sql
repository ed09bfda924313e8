-- What landed, for which task, by whom, is one thing; whether an outside action has happened is another.
ALTER TABLE receipts RENAME TO landings;

CREATE TABLE receipt_states (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO receipt_states (name) VALUES ('begun'), ('done'), ('failed'), ('in_doubt');

-- One row for each outside action. `attempt` counts its beginnings; an answer must name the one it is of. `until_boot` and
-- `until_mono`: when a beginning that no process stands behind counts as lost.
CREATE TABLE receipts (
  key TEXT PRIMARY KEY,
  intent TEXT NOT NULL,
  state TEXT NOT NULL REFERENCES receipt_states (name),
  attempt INTEGER NOT NULL DEFAULT 1 CHECK (attempt > 0),
  actor TEXT NOT NULL,
  region TEXT,
  task TEXT,
  run_id INTEGER REFERENCES runs (id),
  began_at REAL NOT NULL,
  changed_at REAL NOT NULL,
  until_boot TEXT,
  until_mono REAL,
  idempotent INTEGER NOT NULL DEFAULT 0,
  retention REAL NOT NULL DEFAULT 0,
  answer TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '',
  FOREIGN KEY (region, task) REFERENCES tasks (region, id),
  CHECK ((until_boot IS NULL) = (until_mono IS NULL))
) STRICT;
CREATE INDEX receipts_open ON receipts (state) WHERE state <> 'done';

CREATE TRIGGER done_receipts_are_final BEFORE UPDATE ON receipts WHEN OLD.state = 'done'
BEGIN
  SELECT RAISE(ABORT, 'a receipt of what happened is final');
END;

CREATE TRIGGER receipts_are_kept BEFORE DELETE ON receipts
BEGIN
  SELECT RAISE(ABORT, 'receipts are never deleted');
END;
