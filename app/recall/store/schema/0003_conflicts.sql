-- What met when a merge entry did not apply, path by path. `path` is a JSON string: paths need not be UTF-8.
-- `decided` says how a person settled it (NULL: not yet); then `mode` and `oid` are what lands there, NULL: nothing.
CREATE TABLE conflict_files (
  merge_id INTEGER NOT NULL REFERENCES merges (id),
  position INTEGER NOT NULL,
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  hunks INTEGER NOT NULL,
  decided TEXT,
  mode TEXT,
  oid TEXT,
  PRIMARY KEY (merge_id, position)
) STRICT, WITHOUT ROWID;

-- The commits on main that made the other side, newest first, and the tasks that brought them.
CREATE TABLE conflict_changes (
  merge_id INTEGER NOT NULL REFERENCES merges (id),
  position INTEGER NOT NULL,
  landed_commit TEXT NOT NULL,
  subject TEXT NOT NULL,
  region TEXT,
  task TEXT,
  PRIMARY KEY (merge_id, position)
) STRICT, WITHOUT ROWID;

-- Where a person resolves it by hand.
ALTER TABLE merges ADD COLUMN conflict_folder TEXT;

-- Sent back by a person: the only agent that may take it next, and what the next run is told of the conflict.
ALTER TABLE tasks ADD COLUMN sent_to TEXT;
ALTER TABLE tasks ADD COLUMN brief TEXT NOT NULL DEFAULT '';
