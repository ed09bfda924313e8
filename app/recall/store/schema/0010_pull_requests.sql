-- Work that is offered to the remote instead of being landed. `offered`: which pull request of its task this is, from 1, and
-- so what its receipt is called. `merged`: main at the remote once that holds the change; main here follows to it.
INSERT INTO merge_states (name) VALUES ('pull_request');
ALTER TABLE merges ADD COLUMN offered INTEGER;
ALTER TABLE merges ADD COLUMN merged TEXT;
