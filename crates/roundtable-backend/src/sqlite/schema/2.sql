-- The vectors of one space in one scope. `version` grows with every change, and `removed` is the
-- version of the last removal: a process that holds an older version knows what it has to read.
-- A number is never used again, so a scope that was erased and made anew is another one.
CREATE TABLE vector_scope (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  space   TEXT NOT NULL,
  scope   TEXT NOT NULL,
  version INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  UNIQUE (scope, space)
);

-- A vector, as little-endian numbers of 32 bits, and what it stands for. `session` is the one whose
-- words it was made of.
CREATE TABLE vector (
  id      INTEGER PRIMARY KEY,
  scope   INTEGER NOT NULL REFERENCES vector_scope (number) ON DELETE CASCADE,
  key     TEXT NOT NULL,
  version INTEGER NOT NULL,
  session TEXT,
  payload TEXT NOT NULL,
  numbers BLOB NOT NULL,
  UNIQUE (scope, key)
);
CREATE INDEX vector_later ON vector (scope, version);
CREATE INDEX vector_session ON vector (session) WHERE session IS NOT NULL;
