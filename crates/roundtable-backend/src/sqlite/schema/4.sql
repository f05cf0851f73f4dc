-- What a command stands for, if its sender says so.
ALTER TABLE inbox ADD COLUMN digest TEXT;

-- Who opened a session, and how many bytes its events have.
ALTER TABLE session ADD COLUMN actor TEXT;
ALTER TABLE session ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE session SET
  actor = (SELECT body ->> '$.actor' FROM event
           WHERE event.id = session.number * 4294967296 + 1 AND event.kind = 'session_opened'),
  bytes = coalesce((SELECT sum(length(body)) FROM event
           WHERE event.id BETWEEN session.number * 4294967296 AND session.number * 4294967296 + 4294967295), 0);
CREATE INDEX session_owner ON session (tenant, actor);

-- What was spent per UTC day. The owner is a JSON array of tenant and actor.
CREATE TABLE usage (
  day    INTEGER NOT NULL,
  owner  TEXT NOT NULL,
  calls  INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost   INTEGER NOT NULL,
  PRIMARY KEY (day, owner)
) WITHOUT ROWID;

-- What running model calls may spend, in the order in which they were reserved.
CREATE TABLE reservation (
  number    INTEGER PRIMARY KEY AUTOINCREMENT,
  session   INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE,
  iteration TEXT NOT NULL,
  owner     TEXT NOT NULL,
  calls     INTEGER NOT NULL,
  tokens    INTEGER NOT NULL,
  cost      INTEGER NOT NULL,
  UNIQUE (session, iteration)
);
CREATE INDEX reservation_owner ON reservation (owner);
CREATE INDEX reservation_iteration ON reservation (iteration);
