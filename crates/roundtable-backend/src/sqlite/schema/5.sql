-- How many owners in a row died before the session was under way, how often its task panicked since a
-- time, and why nobody takes it up by itself any more.
ALTER TABLE lease ADD COLUMN takeovers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lease ADD COLUMN panics INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lease ADD COLUMN panics_since INTEGER;
ALTER TABLE lease ADD COLUMN parked TEXT;
