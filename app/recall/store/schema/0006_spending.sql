-- What a run used up, as far as its agent told: NULL where it did not.
ALTER TABLE runs ADD COLUMN session TEXT;
ALTER TABLE runs ADD COLUMN input_tokens INTEGER;
ALTER TABLE runs ADD COLUMN output_tokens INTEGER;
ALTER TABLE runs ADD COLUMN cached_tokens INTEGER;
ALTER TABLE runs ADD COLUMN cost_usd REAL;
