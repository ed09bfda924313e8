-- How often a run's lease was renewed, the longest time between two renewals, and the largest step of the wall clock against
-- the monotonic one in between (signed); seconds, NULL: never renewed, or before this was kept. Every holder's renewal moves
-- both ends of the lease by what its clocks moved, so they tell without a parameter that older shims would not give.
ALTER TABLE runs ADD COLUMN renewals INTEGER;
ALTER TABLE runs ADD COLUMN longest_gap REAL;
ALTER TABLE runs ADD COLUMN clock_step REAL;

CREATE TRIGGER lease_renewed AFTER UPDATE OF lease_expires ON tasks
WHEN OLD.status = 'in_progress' AND NEW.status = 'in_progress' AND NEW.lease_version = OLD.lease_version
  AND NEW.lease_boot = OLD.lease_boot AND OLD.lease_expires IS NOT NULL AND NEW.lease_expires IS NOT NULL
BEGIN
  UPDATE runs SET renewals = ifnull(renewals, 0) + 1,
    longest_gap = max(ifnull(longest_gap, 0.0), NEW.lease_expires - OLD.lease_expires),
    clock_step = iif(
      abs((NEW.lease_expires_wall - OLD.lease_expires_wall) - (NEW.lease_expires - OLD.lease_expires))
        > abs(ifnull(clock_step, 0.0)),
      (NEW.lease_expires_wall - OLD.lease_expires_wall) - (NEW.lease_expires - OLD.lease_expires),
      ifnull(clock_step, 0.0))
    WHERE region = NEW.region AND task = NEW.id AND version = NEW.lease_version;
END;
