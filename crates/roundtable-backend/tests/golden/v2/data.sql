-- A conversation. `number` is the scene's id in the views below; `id` is its id everywhere else.
CREATE TABLE session (
  number           INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT NOT NULL UNIQUE,
  parent           TEXT,
  parent_seq       INTEGER NOT NULL DEFAULT 0,
  head             INTEGER NOT NULL,
  head_hash        TEXT NOT NULL,
  kind             TEXT NOT NULL,
  topic            TEXT NOT NULL,
  tenant           TEXT,
  status           TEXT NOT NULL,
  rounds_completed INTEGER NOT NULL,
  current_round    INTEGER NOT NULL DEFAULT 1,
  has_work         INTEGER NOT NULL,
  wake_at          INTEGER,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL
);
CREATE INDEX session_due ON session (wake_at) WHERE has_work OR wake_at IS NOT NULL;

-- Who may write a session. The epoch is checked inside every append.
CREATE TABLE lease (
  session TEXT PRIMARY KEY,
  epoch   INTEGER NOT NULL,
  owner   TEXT
) WITHOUT ROWID;

-- An event: a header (all but the last two columns), sealed by a chain of hashes, and a body that
-- can be erased. `id` is the session's number times 2^32 plus the position, so that a session's
-- events lie together and need no second index.
CREATE TABLE event (
  id        INTEGER PRIMARY KEY,
  epoch     INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  kind      TEXT NOT NULL,
  version   INTEGER NOT NULL,
  round     TEXT NOT NULL,
  turn      TEXT NOT NULL,
  iteration TEXT NOT NULL,
  tool_call TEXT NOT NULL,
  digest    TEXT NOT NULL,
  hash      TEXT NOT NULL,
  salt      BLOB,
  body      TEXT
);

-- A command that was acknowledged, so that sending it again does nothing.
CREATE TABLE command (
  session INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE,
  id      TEXT NOT NULL,
  digest  TEXT NOT NULL,
  receipt TEXT NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;

-- A speed-up, rebuildable from the log.
CREATE TABLE snapshot (
  session INTEGER PRIMARY KEY REFERENCES session (number) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  digest  TEXT NOT NULL,
  state   BLOB NOT NULL
);

-- How far running replies are: overwritten, and gone when their round closes.
CREATE TABLE draft (
  session   TEXT NOT NULL,
  iteration TEXT NOT NULL,
  text      TEXT NOT NULL,
  PRIMARY KEY (session, iteration)
) WITHOUT ROWID;

-- Commands for sessions that another process owns, and their answers.
CREATE TABLE inbox (
  number  INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  id      TEXT NOT NULL,
  command TEXT NOT NULL,
  at      INTEGER NOT NULL,
  answer  TEXT,
  UNIQUE (session, id)
);
CREATE INDEX inbox_waiting ON inbox (session) WHERE answer IS NULL;

-- The agents' names.
CREATE TABLE agent (
  session INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE,
  id      TEXT NOT NULL,
  name    TEXT NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;

-- Rounds, turns, messages and pending requests, as queries want them.
CREATE TABLE round (
  id            TEXT PRIMARY KEY,
  session       INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE,
  number        INTEGER NOT NULL,
  take          INTEGER NOT NULL,
  active        INTEGER NOT NULL DEFAULT 1,
  status        TEXT NOT NULL DEFAULT 'in-progress',
  agents        TEXT NOT NULL,
  said          INTEGER,
  started_at    INTEGER NOT NULL,
  completed_at  INTEGER,
  vectorized    INTEGER NOT NULL DEFAULT 0,
  vectorized_at INTEGER,
  UNIQUE (session, number, take)
) WITHOUT ROWID;
-- Of the takes of a round, one counts at most.
CREATE UNIQUE INDEX round_active ON round (session, number) WHERE active;
CREATE INDEX idx_scene_rounds_scene_vectorized ON round (session, vectorized);

CREATE TABLE turn (
  id      TEXT PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE,
  round   TEXT NOT NULL,
  agent   TEXT NOT NULL,
  parent  TEXT,
  first   INTEGER NOT NULL,
  last    INTEGER,
  at      INTEGER NOT NULL
) WITHOUT ROWID;

-- A message. Its text is the body of the event `body`; it is stored once.
CREATE TABLE message (
  id      INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE,
  number  INTEGER NOT NULL,
  round   TEXT NOT NULL,
  cycle   INTEGER NOT NULL DEFAULT 1,
  sender  TEXT NOT NULL,
  turn    TEXT,
  body    INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  tokens  INTEGER NOT NULL DEFAULT 0,
  UNIQUE (session, number)
);
CREATE INDEX idx_messages_scene_round ON message (session, cycle, number);

CREATE TABLE request (
  session INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE,
  id      TEXT NOT NULL,
  agent   TEXT NOT NULL,
  body    INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;

-- The text of messages, for full-text search over the bodies of their events.
CREATE VIEW message_content AS
  SELECT message.id AS id, coalesce(event.body ->> '$.text', event.body ->> '$.partial', '') AS text
  FROM message JOIN event ON event.id = message.body;
CREATE VIRTUAL TABLE message_text USING fts5 (
  text, content = 'message_content', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE TRIGGER message_gone BEFORE DELETE ON message BEGIN
  INSERT INTO message_text (message_text, rowid, text)
    SELECT 'delete', id, text FROM message_content WHERE id = old.id;
END;

-- What a person reads in the sqlite3 shell.
CREATE VIEW Scenes AS
  SELECT number AS id, topic AS title, id AS sessionId, current_round AS currentRoundNumber, status,
         datetime(created_at / 1000000000, 'unixepoch') AS createdAt
  FROM session WHERE kind = 'scene';
CREATE VIEW Messages AS
  SELECT message.id AS id, message.session AS sceneId, message.number AS messageNumber,
         message_content.text AS message, message.sender AS sender,
         datetime(message.at / 1000000000, 'unixepoch') AS timestamp, message.tokens AS tokenCount,
         message.cycle AS roundNumber
  FROM message JOIN message_content ON message_content.id = message.id
  WHERE EXISTS (
    SELECT 1 FROM round WHERE round.session = message.session AND round.number = message.cycle AND round.active
    AND CASE WHEN message.turn IS NULL THEN round.said = message.number ELSE round.id = message.round END
  );
CREATE VIEW SceneRounds AS
  SELECT session AS sceneId, number AS roundNumber, status, agents AS activeCharacters,
         datetime(started_at / 1000000000, 'unixepoch') AS roundStartedAt,
         datetime(completed_at / 1000000000, 'unixepoch') AS roundCompletedAt,
         vectorized, datetime(vectorized_at / 1000000000, 'unixepoch') AS vectorizedAt
  FROM round WHERE active;
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
PRAGMA user_version = 2;
PRAGMA application_id = 1383359084;
INSERT INTO vector_scope (number, space, scope, version, removed) VALUES (1, 'test/4', '["acme","ada"]', 2, 2);
INSERT INTO vector_scope (number, space, scope, version, removed) VALUES (2, 'test/4', '["acme","ben"]', 1, 0);
INSERT INTO vector (id, scope, key, version, session, payload, numbers) VALUES (1, 1, 'naïve “好”', 1, 'ses_lake', '{"key":"naïve “好”"}', X'0000803F0000003F0000000000000000');
INSERT INTO vector (id, scope, key, version, session, payload, numbers) VALUES (2, 1, 'plain', 1, NULL, '{"key":"plain"}', X'0000803E000000000000000000000000');
INSERT INTO vector (id, scope, key, version, session, payload, numbers) VALUES (3, 2, 'plain', 1, NULL, '{"key":"plain"}', X'DED6FC3D5CF343BF7AD9A03E0D2D8BBE');
INSERT INTO message_text (message_text) VALUES ('rebuild');
