-- What a person chose at run time wins over recall.toml, which `enabled` and `parallel` repeat, until it is reset.
-- `listed`: it stands in recall.toml now.
ALTER TABLE agents ADD COLUMN chosen_enabled INTEGER;
ALTER TABLE agents ADD COLUMN chosen_parallel INTEGER CHECK (chosen_parallel > 0);
ALTER TABLE agents ADD COLUMN listed INTEGER NOT NULL DEFAULT 1;
