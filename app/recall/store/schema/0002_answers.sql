-- What a person answered to a run that ended with a question; the question is the run's reason.
ALTER TABLE runs ADD COLUMN answer TEXT NOT NULL DEFAULT '';
