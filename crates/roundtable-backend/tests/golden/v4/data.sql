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
-- The sessions of a tenant, newest first: an index holds the number of its row besides.
CREATE INDEX session_tenant ON session (tenant);
PRAGMA user_version = 3;
PRAGMA application_id = 1383359084;
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (1, 'ses_one', NULL, 0, 1, '36dbecc576000fa36527f6103c9da7f513736883288378cb7373c70352cd97a1', 'scene', 'By the lake', 'acme', 'active', 0, 1, 0, NULL, 1794815244129464477, 1794815244129464477);
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (2, 'ses_two', NULL, 0, 1, 'bd3d27227620be8a4deb2d4f303e87b43799037dcb50130aaf750877554278f3', 'scene', 'By the lake', NULL, 'active', 0, 1, 0, NULL, 1794815244135977768, 1794815244135977768);
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (3, 'ses_three', NULL, 0, 1, '7715cf2226f9410652045d560b7051ee58cc53b72634d85edec02b3841dec9b7', 'scene', 'By the lake', 'acme', 'active', 0, 1, 0, NULL, 1794815244142248055, 1794815244142248055);
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (4, 'ses_four', NULL, 0, 1, 'fd7f48014c7e90e836ad46ff038fbca38899ebcd4ec37c6fcc5d5eac9930176d', 'scene', 'By the lake', 'zenith', 'active', 0, 1, 0, NULL, 1794815244147404311, 1794815244147404311);
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (5, 'ses_five', NULL, 0, 1, '503bc30116d9d0fc12a7701816c82c945dbd4171484908237f2c2fe6bf2a9d87', 'scene', 'By the lake', NULL, 'active', 0, 1, 0, NULL, 1794815244154281508, 1794815244154281508);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_five', 1, NULL);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_four', 1, NULL);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_one', 1, NULL);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_three', 1, NULL);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_two', 1, NULL);
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967297, 1, 1794815244129464477, 'session_opened', 1, '', '', '', '', '0bdb6d132672a125d28093965a692e6318125c00d5bd52bb1e0b083da6baa324', '36dbecc576000fa36527f6103c9da7f513736883288378cb7373c70352cd97a1', X'ECA9F07B75577D180ABC74B55453EC64', '{"agents":[{"domain":"default","id":"agt_ann","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Ann","persona":"You are Ann.","price":null,"tools":[],"workers":[]},{"domain":"default","id":"agt_bob","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Bob","persona":"You are Bob.","price":null,"tools":[],"workers":[]}],"kind":"scene","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"sequential","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"tenant":"acme","topic":"By the lake"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934593, 1, 1794815244135977768, 'session_opened', 1, '', '', '', '', 'f538dfb8f2ba72251a51a33c012a6db28745dc8cf4896ac95a750eaa246306fc', 'bd3d27227620be8a4deb2d4f303e87b43799037dcb50130aaf750877554278f3', X'A6348C886C2123299927670E7A48D26B', '{"agents":[{"domain":"default","id":"agt_ann","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Ann","persona":"You are Ann.","price":null,"tools":[],"workers":[]},{"domain":"default","id":"agt_bob","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Bob","persona":"You are Bob.","price":null,"tools":[],"workers":[]}],"kind":"scene","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"sequential","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"topic":"By the lake"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901889, 1, 1794815244142248055, 'session_opened', 1, '', '', '', '', 'b070e6f63d7346fda9151fbe2259f9fd5ea02a0761dd719e539d8020ade76ffa', '7715cf2226f9410652045d560b7051ee58cc53b72634d85edec02b3841dec9b7', X'986697626913DEC4F6AA6A34407E81F0', '{"agents":[{"domain":"default","id":"agt_ann","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Ann","persona":"You are Ann.","price":null,"tools":[],"workers":[]},{"domain":"default","id":"agt_bob","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Bob","persona":"You are Bob.","price":null,"tools":[],"workers":[]}],"kind":"scene","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"sequential","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"tenant":"acme","topic":"By the lake"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869185, 1, 1794815244147404311, 'session_opened', 1, '', '', '', '', '77b80a1d84c9ea1b471b01c8127435ea3e0c2583ef52f5ff5e6197666b754c21', 'fd7f48014c7e90e836ad46ff038fbca38899ebcd4ec37c6fcc5d5eac9930176d', X'494F4D204404117C6769F3799EB81436', '{"agents":[{"domain":"default","id":"agt_ann","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Ann","persona":"You are Ann.","price":null,"tools":[],"workers":[]},{"domain":"default","id":"agt_bob","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Bob","persona":"You are Bob.","price":null,"tools":[],"workers":[]}],"kind":"scene","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"sequential","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"tenant":"zenith","topic":"By the lake"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836481, 1, 1794815244154281508, 'session_opened', 1, '', '', '', '', '6506c3718dd0af92087860e4ca50f334ae6f819ed4f0a46be45e208b4146810a', '503bc30116d9d0fc12a7701816c82c945dbd4171484908237f2c2fe6bf2a9d87', X'3F87AC840957187BAE3AC910D039AAD9', '{"agents":[{"domain":"default","id":"agt_ann","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Ann","persona":"You are Ann.","price":null,"tools":[],"workers":[]},{"domain":"default","id":"agt_bob","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Bob","persona":"You are Bob.","price":null,"tools":[],"workers":[]}],"kind":"scene","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"sequential","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"topic":"By the lake"}');
INSERT INTO agent (session, id, name) VALUES (1, 'agt_ann', 'Ann');
INSERT INTO agent (session, id, name) VALUES (1, 'agt_bob', 'Bob');
INSERT INTO agent (session, id, name) VALUES (2, 'agt_ann', 'Ann');
INSERT INTO agent (session, id, name) VALUES (2, 'agt_bob', 'Bob');
INSERT INTO agent (session, id, name) VALUES (3, 'agt_ann', 'Ann');
INSERT INTO agent (session, id, name) VALUES (3, 'agt_bob', 'Bob');
INSERT INTO agent (session, id, name) VALUES (4, 'agt_ann', 'Ann');
INSERT INTO agent (session, id, name) VALUES (4, 'agt_bob', 'Bob');
INSERT INTO agent (session, id, name) VALUES (5, 'agt_ann', 'Ann');
INSERT INTO agent (session, id, name) VALUES (5, 'agt_bob', 'Bob');
INSERT INTO message_text (message_text) VALUES ('rebuild');
