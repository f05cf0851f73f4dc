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
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (1, 'ses_said-no', NULL, 0, 19, 'e78eaca9ef6fdaead7d28214d4ca6666de0d2aa2df230139c50c524f9b394e3e', 'chat', 'a test', NULL, 'active', 1, 2, 0, NULL, 1794963578396345179, 1794963578405581161);
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (2, 'ses_refused', NULL, 0, 18, '21c429b6cc8b27b509e346efe0a589fdf2d4d8da7f14bcd4626501777d62bd6d', 'chat', 'a test', NULL, 'active', 1, 2, 0, NULL, 1794963578408646660, 1794963578413929974);
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (3, 'ses_waiting', NULL, 0, 9, '915f5fe9683f1ea269733eccb054267deefa1aae4a0ecee4ed5d003d116a1032', 'chat', 'a test', NULL, 'active', 0, 1, 0, NULL, 1794963578416644564, 1794963578418953323);
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (4, 'ses_failed', NULL, 0, 17, '564000b9138b38a6aa497a09adceaf0595f0b0591fd1827a3fc7b6df58340432', 'debate', 'Should the town build a tram?', NULL, 'completed', 0, 2, 0, NULL, 1794963578421523919, 1794963578424418496);
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (5, 'ses_spent', NULL, 0, 10, '4e7d8f35570f7d0babbc6aaa555e95e1746c0bbe3a963e29bfe92001f84cedfb', 'chat', 'a test', NULL, 'active', 0, 2, 0, NULL, 1794963578427288606, 1794963578429207808);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_failed', 1, NULL);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_refused', 1, NULL);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_said-no', 1, NULL);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_spent', 1, NULL);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_waiting', 1, NULL);
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967297, 1, 1794963578396345179, 'session_opened', 1, '', '', '', '', 'd2b4159e2667e2d42b187a1ee09a6a2bf31578fac1ea118a560f55511d02c2d1', '436171c42226659778a51ac4ecabb2ec19e7df26cf1f4c12e7825609420fca9a', X'4500415BE6BFE3A15ABDB165182E71A8', '{"agents":[{"domain":"default","id":"agt_gus","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Gus","persona":"You are Gus.","price":{"input":3000000,"output":15000000},"tools":[{"approval":false,"effect":"pure","name":"look","prompt_bytes":38,"runs":"handler"},{"approval":true,"effect":"effectful","name":"send","prompt_bytes":38,"runs":"handler"}],"workers":[]}],"kind":"chat","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"parallel","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"topic":"a test"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967298, 1, 1794963578397639816, 'session_input_accepted', 1, '', '', '', '', '9416ecdb4c38f9081ab1c5be9d67f358d1547113ca83c86be42514a295b6f158', '3537dc8e479bdcde40ea490907719462872a0d10a2664f3e53afd777e5adeb67', X'6883B8212C4F608FE86EFB49B11D3E0E', '{"context":{"conversation_id":"ses_said-no","message_id":"m1","turn_id":"m1"},"sender":"User","text":"Send it."}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967299, 1, 1794963578397639816, 'round_opened', 1, 'rnd_07016f7cf89773331d24', '', '', '', 'bfbcb3601f4a1b2c2904c80ceeb405c9473771f214b0f0995c2b3be96b815045', '3f5da4319a722c40e35fc97ed8f59c4f96e5aaff5d26017fd1892703383f11cf', X'6C52771E05ADE83E787A524F94805A5C', '{"input":{"conversation_id":"ses_said-no","message_id":"m1","turn_id":"m1"},"number":1,"said":{"number":1,"seq":2},"stages":[["agt_gus"]],"take":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967300, 1, 1794963578397639816, 'turn_started', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', '', '', '6203b12d3844628d1205e64598b0903535ddb6d40eb5466fb23b1f5e54851807', 'f40b5d32eb9f06c8a73070771466ccc094bb6b226085be33a62a083fc0086dfe', X'2C02A5D8144FBE6863824CA7B9626875', '{"agent":"agt_gus","seat":0,"stage":0,"task":"seat"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967301, 1, 1794963578397639816, 'iteration_opened', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_4aaf088a21b9b56f8823', '', 'a43a8dc5735a51d901f3701f2ba7e019e74597532a843fa6b957bcb386064865', 'c6062c990d4ce6ca4d1679ecc742d4c0dd0195fec3a4f43304deee3dc4451af8', X'896BF4B9F04DA713C0325F46976DF35A', '{"number":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967302, 1, 1794963578397639816, 'model_call_started', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_4aaf088a21b9b56f8823', '', 'ba50a13d31a9a0e9f09eeeb19c9f661a9e7658f37649f79e9c0fbe6005928f99', 'f96198fc570f4aee5a0344e34f1db52572b968fbbc8ba65a328367caa9e3240f', X'F478E8B9E77D7372FFFF5BBC324311AD', '{"attempt":1,"prompt":{"from":2,"hash":"3e420d0bcbaf260bbe104f80e1424a77a0d878beb0192d62505621518066e5f3","template":2,"to":5},"reserved":{"calls":1,"cost":61746,"tokens":4198}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967303, 1, 1794963578399656353, 'model_call_finished', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_4aaf088a21b9b56f8823', '', 'ff4468f88b843621ffced6b118b80c17b399e4b3ac5ff1130d89520fe55f0ccd', '79c8bbe97d16c91cc4d4ae4bd424d353848b3273c830c84b221d2c4e49f9c437', X'BD6286C14B7F654B22A40F11B84FE622', '{"attempt":1,"calls":1,"record":{"cost":18,"latency_ms":0,"model":"scripted","stop":"tool_calls","usage":{"cached":0,"input":6,"output":0,"reasoning":0}},"text":""}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967304, 1, 1794963578399656353, 'tool_call_requested', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_4aaf088a21b9b56f8823', 'tcl_265eef40839e826e22b1', 'a366220e2b894fcf370cdcb4f3c17023ed72464fbcbf7a818d5efc55b39d7333', 'd560def09abfa344733d8e21b3bbe6b9b2dc2c09176528c68b1d0c2cc192bb53', X'459062BDDD0B2C223B94A7A50D5274B0', '{"arguments":{"to":"everyone"},"effect":"effectful","name":"send"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967305, 1, 1794963578399656353, 'context_requested', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_4aaf088a21b9b56f8823', 'tcl_265eef40839e826e22b1', 'c30b0c06a14e8ccaec81cda14164548603e85423c2fe09c5c09739bf632c81f0', '48ecddfd656538e3619823676c7e56773aa49c9a5a90dbc3f189afd4697ff1ef', X'449B4190C155122A4D8CCD90BB47383F', '{"about":"approval","agent":"agt_gus","at":"2026-11-18T00:59:38.399656353Z","id":"ctx_482f30e5a01e85717fb4","priority":"required","query":"May send be called with {\"to\":\"everyone\"}?","reason":"A person has to agree before each call of this tool.","tool_call":"tcl_265eef40839e826e22b1"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967306, 1, 1794963578402217876, 'context_provided', 1, '', '', '', '', 'b54f2a03dbb2900b04b2493aebfdf656e07a558c1a63e572d53ada12e93cdc89', '5ccd0fea595ac8f0f2368030ffdab959b2247ef4cd41c3df87697d2cfda5f96e', X'4CBE48A9B40230D3C2B5BC0AE4F0CE0B', '{"request":"ctx_482f30e5a01e85717fb4","result":"no","success":true}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967307, 1, 1794963578403002518, 'tool_call_started', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_4aaf088a21b9b56f8823', 'tcl_265eef40839e826e22b1', 'd763bec9293dc7b1b7bf3d617d8529d474919c17b3afd6563a218ab42b9bd1ff', '32192fff58e5feaa019f1600c4640c9e06e7132160e91285f9be2b5501f0efe9', X'C25302F8D1DC93F21195F0D919C6A582', '{"attempt":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967308, 1, 1794963578404555017, 'tool_call_finished', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_4aaf088a21b9b56f8823', 'tcl_265eef40839e826e22b1', '66473240be437d5eac16dd04dc49e2c2b7c93f82bec41f9a81088dd7c3c5ad50', 'b8476346728caf301e2dff57223e4256b4134959ed7fa1c3e88976275469f4f5', X'01A2CC1CFACCBD8198BD0605E2A4CBE1', '{"message":"send is done","outcome":"returned","success":true}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967309, 1, 1794963578404555017, 'iteration_closed', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_4aaf088a21b9b56f8823', '', '7270bf16be6fcacde57e6640031cd09081184b6c82085c3648d5e3c0fa4b7554', '93d86d708feb7c6407b408f2c4e2b5478b51a4fc3223ac1cacfa92322ea609fc', X'F17E7B4B8152D1E7976C727799977283', '{"outcome":"tools_done"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967310, 1, 1794963578404555017, 'iteration_opened', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_6df868d88a771a9d25f6', '', 'c3c8468ffea97b7a51b48211119f1404ef8018afcf01b77b4d4fd51da599b2c7', 'ccaa5f81c0c6a3789524e76736da12e752760f04e772fd377967dbaca1075553', X'53A4A1BF13A1FC99C10E92D351D85D83', '{"number":2}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967311, 1, 1794963578404555017, 'model_call_started', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_6df868d88a771a9d25f6', '', '0fdea54665a48ca07b8fb6432b602457cd641da41d02888a99a83f1b1e129358', 'c776f610369ba2d45c9c6ccb78c1d54848f27f0753e9b5f55c030428a5b07143', X'318B1AA34D19D68C69740F7CC3C9B865', '{"attempt":1,"prompt":{"from":2,"hash":"06e1241f0e3c66ecf67c9e6baf6165a3d8bc03f28f558b42c2642f499abe443c","template":2,"to":14},"reserved":{"calls":1,"cost":61845,"tokens":4231}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967312, 1, 1794963578405581161, 'model_call_finished', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_6df868d88a771a9d25f6', '', 'f34d2bf01bbf5e23116e8a92719e81fc5e92f690c0678dde4b291e7c908f56c0', '696da6cfe4f6b56a09ee4c799b5e93ed4c983658a32ec40a351599748159098a', X'0594D06E4E23BDE515B4277AD5AA4EC1', '{"attempt":1,"calls":0,"record":{"cost":42,"latency_ms":0,"model":"scripted","stop":"end","usage":{"cached":0,"input":9,"output":1,"reasoning":0}},"text":"Sent."}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967313, 1, 1794963578405581161, 'iteration_closed', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', 'itr_6df868d88a771a9d25f6', '', '27d660fc9f8bb29795e06f856993c84cc026e63e46fb568a77ddfc3ef9fe4b5b', '51ac7a315d9b2344cff0cdd3c0246cf57bfbe02781e2ce93704c05d9d1594eea', X'1B60833B245165299056A6D6B3D70CFE', '{"outcome":"answered"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967314, 1, 1794963578405581161, 'turn_ended', 1, 'rnd_07016f7cf89773331d24', 'trn_78e976e71c9625b0e6be', '', '', 'dbc43e174ed2433d3dc99461151ab1a658e73a47159da39f8004bce804d533e8', '47a86a5bf4daa2fa8f8fc0edb63094ce0329febfcbb7fdbb8da9e4a5e3877199', X'C755586AD0AE32A422E9CE7E5ACA2813', '{"outcome":"answered","said":{"number":2,"seq":16}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967315, 1, 1794963578405581161, 'round_closed', 1, 'rnd_07016f7cf89773331d24', '', '', '', 'b0be34fce66b9e9bdf2d4657d77b4e2c19f6cc7f7e2c806fd76ac41e71546594', 'e78eaca9ef6fdaead7d28214d4ca6666de0d2aa2df230139c50c524f9b394e3e', X'E5F00A24873093E3C164D0F7C4929C00', '{"outcome":"completed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934593, 1, 1794963578408646660, 'session_opened', 1, '', '', '', '', 'f0c9efc759baa401892ae449a5c651fd6557737e2f8715c31c3057de41951418', 'f1ba6975b7f49e4f4b11c4859557a21e8571a06b79f782dfa4c06d3e272935a5', X'4082B9F9724D6A2256285FDC67C299C6', '{"agents":[{"domain":"default","id":"agt_gus","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Gus","persona":"You are Gus.","price":{"input":3000000,"output":15000000},"tools":[{"approval":false,"effect":"pure","name":"look","prompt_bytes":38,"runs":"handler"},{"approval":true,"effect":"effectful","name":"send","prompt_bytes":38,"runs":"handler"}],"workers":[]}],"kind":"chat","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"parallel","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"topic":"a test"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934594, 1, 1794963578409546653, 'session_input_accepted', 1, '', '', '', '', 'cc81ec4568c78b16d63c4d5be3fa76a1ac5cc1db98e831b20888ba71bb8c684f', '4a16e50db23f68fa738b2652141c2b1389655d6d5ea9319b0ac7c214f59cfded', X'DE789C41322D05882CBF0F0F0E3BC075', '{"context":{"conversation_id":"ses_refused","message_id":"m1","turn_id":"m1"},"sender":"User","text":"Send it."}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934595, 1, 1794963578409546653, 'round_opened', 1, 'rnd_8012904cd9f42cbdacb3', '', '', '', 'c204f7eca8499d358074c7d391077a036af6fefcc2fbae53afc57e282ee3e7ef', 'afec81fcf316d512b6c5d6e7d38a0892410c377a0574f7abddd40f7fdfefced1', X'57BB3EBBC0B5A288286E4A728E3CE4A7', '{"input":{"conversation_id":"ses_refused","message_id":"m1","turn_id":"m1"},"number":1,"said":{"number":1,"seq":2},"stages":[["agt_gus"]],"take":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934596, 1, 1794963578409546653, 'turn_started', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', '', '', 'd6b812aca2becdcfa470fd166875e3535c1ad28056203afbe4365f74a1de2874', '39c5083f579484d03dd4ca4ad341e5946178c7f0f156024e3df36dc8fcca7175', X'110EC683356B8836181D0EF310CB8715', '{"agent":"agt_gus","seat":0,"stage":0,"task":"seat"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934597, 1, 1794963578409546653, 'iteration_opened', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_ceb57fb4905ea5aadef6', '', '4a044fab4412fc7640d955e7f4777cd83a41737f73d0d8f3ffb8fa34e598d59c', 'c7331a89df811aa75ba993bd8a4eef4d25db4b81042c5d6830750aca1f46b519', X'840125018DEB8D33669634E3724B8193', '{"number":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934598, 1, 1794963578409546653, 'model_call_started', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_ceb57fb4905ea5aadef6', '', '8e0338ff5600da832afb8da3c3eddcd87e1cdb73f814cafa3660f2062462a743', '07948962e275607676ec894816e88f9b515036a948d12676f82c0d1724b34cf6', X'BA401DC6DABE8F331DCE2AC258C1BE96', '{"attempt":1,"prompt":{"from":2,"hash":"3e420d0bcbaf260bbe104f80e1424a77a0d878beb0192d62505621518066e5f3","template":2,"to":5},"reserved":{"calls":1,"cost":61746,"tokens":4198}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934599, 1, 1794963578410970491, 'model_call_finished', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_ceb57fb4905ea5aadef6', '', 'de557869f8326f7cddd0272d644f167a5c19bf5ad7cea3dd07fc03ce6734fb63', '25b5a91d766fbcb0e208a1ff4e099327f54dde02de5b8426b23019da85f498ba', X'CFEA135860F7BB9BCC2328D5820C8862', '{"attempt":1,"calls":1,"record":{"cost":18,"latency_ms":0,"model":"scripted","stop":"tool_calls","usage":{"cached":0,"input":6,"output":0,"reasoning":0}},"text":""}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934600, 1, 1794963578410970491, 'tool_call_requested', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_ceb57fb4905ea5aadef6', 'tcl_913ee6f0f9a7bee5bce2', 'ba2e1c322b0dd8ae93c63a77c70d7867cb7f411d38e5dfcd6a153ab5ff24d89d', '3d23ceb30ea65839f5f7f2298fe439ac379e0b8ecdcd893e1c5fc9038e68d4d6', X'34B7D0B36F5BEA2714D49D2E737085F6', '{"arguments":{"to":"everyone"},"effect":"effectful","name":"send"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934601, 1, 1794963578410970491, 'context_requested', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_ceb57fb4905ea5aadef6', 'tcl_913ee6f0f9a7bee5bce2', 'b401a7aadc962a443024d14668d49cbaa61c46c6de55e002eb26a3d5c3243904', 'eb2403887a4915c6ed5002362f6069a74af0fed962b9ae09fe8f8d5f0aa9ff25', X'1FBEA8424CD04C0F302FD44B82FCB6FA', '{"about":"approval","agent":"agt_gus","at":"2026-11-18T00:59:38.410970491Z","id":"ctx_dfe142ada80c24136fd9","priority":"required","query":"May send be called with {\"to\":\"everyone\"}?","reason":"A person has to agree before each call of this tool.","tool_call":"tcl_913ee6f0f9a7bee5bce2"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934602, 1, 1794963578412864015, 'context_provided', 1, '', '', '', '', '1a1dfbdd2217f52a04fabc04610b8a5b573d8a99d7ceea725b2553ed5e2c020e', '11df7d758db3834108b6523c18bb8a759bb6e77280990ab886b512b1291ed20d', X'DE4623CDB968E1ACAD727929DD527396', '{"error":"not today","request":"ctx_dfe142ada80c24136fd9","success":false}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934603, 1, 1794963578412864015, 'tool_call_finished', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_ceb57fb4905ea5aadef6', 'tcl_913ee6f0f9a7bee5bce2', '1874e1bdd1f5fd5e3d5b459c5ea2c78cd0794da840cd2fe1e966a6d9e1a63bec', '7567e40594547ff3ec86d0f47dc906798f792c4391b7fab81303bd7999055a5f', X'BADAB8A1FD5ABC46E9305AC3F0CEA907', '{"message":"A person refused this call: not today","outcome":"returned","success":false}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934604, 1, 1794963578412864015, 'iteration_closed', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_ceb57fb4905ea5aadef6', '', '73b6f3f38aa81017f18c56c5ac4fcb1bb0191d3887a4c1ec461c1560017a2626', 'ea61036b8e0b0017dca2182993277994a408097f314a839b9b0c47f936f1d577', X'C4532EF91E89F43D7C59424207B90E0C', '{"outcome":"tools_done"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934605, 1, 1794963578412864015, 'iteration_opened', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_b369267d960b08772dd9', '', '40536688461ccd7115309ec3b8df3101a1b904f676834f5cf0a05f64be293b0f', '19c64c9331e48bab944a4c6fd2deda89d0e9297200cd18484573ab6cd8207c36', X'47167D25BCD69D3153DFBC5E06E1C038', '{"number":2}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934606, 1, 1794963578412864015, 'model_call_started', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_b369267d960b08772dd9', '', '56b095f6e6430e5a70a9480a38085e47db0c7bbd9a022763ecacb76c51f5e9e0', '7935a90d5c1143f399f034ed84f2e86aa10471ce8034f5983e564ecc444c5d87', X'339C449AC96E4072BCB997A79A964381', '{"attempt":1,"prompt":{"from":2,"hash":"82709e8c7e8303f387b679645df116cc65e6a763918a649b1f7600da0c20a037","template":2,"to":13},"reserved":{"calls":1,"cost":61920,"tokens":4256}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934607, 1, 1794963578413929974, 'model_call_finished', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_b369267d960b08772dd9', '', 'a36d1f11863e5a41b252a04f6a306406899d87f00db34be4e2262cbe6e77c15a', '6790b8a9492f7cd6efb875cdeaa032d666601ab90cc54d46f6e4efc865d6f127', X'1EA34053DE3096BB6D90276A45D82491', '{"attempt":1,"calls":0,"record":{"cost":54,"latency_ms":0,"model":"scripted","stop":"end","usage":{"cached":0,"input":13,"output":1,"reasoning":0}},"text":"Sent."}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934608, 1, 1794963578413929974, 'iteration_closed', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', 'itr_b369267d960b08772dd9', '', '9d46a4e5a939b815bb231103a98791265e73222ffb207e58b38634f97ebe32fe', 'd26129e3a84059a3b76f19b475851c553149ecbff6b6ab7be41276a0db4605a9', X'F099E93DF654ECAD1F8ED9E36531E570', '{"outcome":"answered"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934609, 1, 1794963578413929974, 'turn_ended', 1, 'rnd_8012904cd9f42cbdacb3', 'trn_ad987e8cb242dca0e42f', '', '', 'e8bcf6063f944b482dd26e5560a85a327a0f36754a98a221612461b0deae2d4c', '5b582f2c34a05bb426647be97bd126da7588ab5c66469df0024149fe19a46816', X'FE161CB6EE8A386F01A5D6309EE3F767', '{"outcome":"answered","said":{"number":2,"seq":15}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (8589934610, 1, 1794963578413929974, 'round_closed', 1, 'rnd_8012904cd9f42cbdacb3', '', '', '', '8614c0fb29e34ced3a4d616f4fd5b95fa53342e6cb5c195d0cb0aa1d6859add6', '21c429b6cc8b27b509e346efe0a589fdf2d4d8da7f14bcd4626501777d62bd6d', X'FB87D9A060E24FC511DE71F2FB119079', '{"outcome":"completed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901889, 1, 1794963578416644564, 'session_opened', 1, '', '', '', '', 'f43e8b4736b57b0e9a8e9b0edef89cbb4e448178ebe826c31f40be5805856ffa', 'f8f193c79099eb6ecc503dc5c75254951bde92688ee80fe6684cc1650c174dad', X'C8BBB0AE7807671A26AFF208F0BD251D', '{"agents":[{"domain":"default","id":"agt_gus","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Gus","persona":"You are Gus.","price":{"input":3000000,"output":15000000},"tools":[{"approval":false,"effect":"pure","name":"look","prompt_bytes":38,"runs":"handler"},{"approval":true,"effect":"effectful","name":"send","prompt_bytes":38,"runs":"handler"}],"workers":[]}],"kind":"chat","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"parallel","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"topic":"a test"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901890, 1, 1794963578417461694, 'session_input_accepted', 1, '', '', '', '', '16dcb549c0f5b71d6b291129e711a0019da2ddeb12b6629f7eb9a90bee2697e8', '592a33576ac5c1237beb471d99b578dc377e4ab96d03a31543de5fc3fdf625d3', X'D4D1FBE0B0C0AEB0F325E13D7079D9EC', '{"context":{"conversation_id":"ses_waiting","message_id":"m1","turn_id":"m1"},"sender":"User","text":"Send it."}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901891, 1, 1794963578417461694, 'round_opened', 1, 'rnd_1f41c2d32578e4584d4b', '', '', '', 'e93ecf423d8b08745be2d27824ab51f0ad8f734242ced2cab1afe275fa47653e', '63b4253e63aad0a812bb0843029a96dbd32245d77f887e26e490aa088ef4afaa', X'B98224B85AE478B8B1743FD33A74610F', '{"input":{"conversation_id":"ses_waiting","message_id":"m1","turn_id":"m1"},"number":1,"said":{"number":1,"seq":2},"stages":[["agt_gus"]],"take":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901892, 1, 1794963578417461694, 'turn_started', 1, 'rnd_1f41c2d32578e4584d4b', 'trn_aecc8fdfef480522aa12', '', '', '2ef4ebbb80cad196d6e9ac9c7e8997f4cc188d9f19487eeec8e99cb166c0a927', 'dfc5b50b291fd9b4e76e19dd120166e4d2a32cf6e767d47da18d70e0dc1802f8', X'3995E6732FCED94D65D239DAB5C48F0F', '{"agent":"agt_gus","seat":0,"stage":0,"task":"seat"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901893, 1, 1794963578417461694, 'iteration_opened', 1, 'rnd_1f41c2d32578e4584d4b', 'trn_aecc8fdfef480522aa12', 'itr_9eb8f0a82f481da09404', '', '5a58656ea1151bda7c612c7bb460b4236f1399abdecc32aeb2af894e58ab1bad', '8e001ef1545465c5232dacd73e4eae293c6d4e31b80d02dc9e91ef6d0d0ad7a4', X'DAC27DECAB5CA29A948A2C91AE530A88', '{"number":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901894, 1, 1794963578417461694, 'model_call_started', 1, 'rnd_1f41c2d32578e4584d4b', 'trn_aecc8fdfef480522aa12', 'itr_9eb8f0a82f481da09404', '', '4c1d7a28f579652a8d3bacdc53e945b7aa1875ae8505372420ddd2dfa68200dc', '0f82e1b048b860ee0eb295dc283eb430cdfd1a04c036dbec2013a5095552abbb', X'073514831B1E43C503746F3E46B1032D', '{"attempt":1,"prompt":{"from":2,"hash":"3e420d0bcbaf260bbe104f80e1424a77a0d878beb0192d62505621518066e5f3","template":2,"to":5},"reserved":{"calls":1,"cost":61746,"tokens":4198}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901895, 1, 1794963578418953323, 'model_call_finished', 1, 'rnd_1f41c2d32578e4584d4b', 'trn_aecc8fdfef480522aa12', 'itr_9eb8f0a82f481da09404', '', '16d5e52e00b7578544bb222b4a146dfbbdddad6e5e71df0e794827b4542f1071', 'b207b794dffe1b9acab3ca99cb5b7dcc704503c217614c783d7913ebd205c995', X'740E52975A8DD2B2AB8996DCD99D3C8E', '{"attempt":1,"calls":1,"record":{"cost":18,"latency_ms":0,"model":"scripted","stop":"tool_calls","usage":{"cached":0,"input":6,"output":0,"reasoning":0}},"text":""}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901896, 1, 1794963578418953323, 'tool_call_requested', 1, 'rnd_1f41c2d32578e4584d4b', 'trn_aecc8fdfef480522aa12', 'itr_9eb8f0a82f481da09404', 'tcl_2c0fba69cb9c0dbc73e2', 'd29eb559895c94ea15a1a22a7bc08afb5108be696f5e697474c4c1ecac8f0aaa', '67074942a7423fe5e3b015ad82abe00071b1b7933aebb7fa711b973d01c0c09a', X'D0FC3EDC169EF3E497490054BEB32DB2', '{"arguments":{"to":"everyone"},"effect":"effectful","name":"send"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (12884901897, 1, 1794963578418953323, 'context_requested', 1, 'rnd_1f41c2d32578e4584d4b', 'trn_aecc8fdfef480522aa12', 'itr_9eb8f0a82f481da09404', 'tcl_2c0fba69cb9c0dbc73e2', '7db218be34ee8d90f50767e62d401fc1137bdc6752b6b768bf44c1a42b8b11be', '915f5fe9683f1ea269733eccb054267deefa1aae4a0ecee4ed5d003d116a1032', X'768E8FC1A41CA697ED79B4403E538539', '{"about":"approval","agent":"agt_gus","at":"2026-11-18T00:59:38.418953323Z","id":"ctx_5692c580f96a1b72586a","priority":"required","query":"May send be called with {\"to\":\"everyone\"}?","reason":"A person has to agree before each call of this tool.","tool_call":"tcl_2c0fba69cb9c0dbc73e2"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869185, 1, 1794963578421523919, 'session_opened', 1, '', '', '', '', '58eeb1b7329a88a637b5b5f6bf422f03bdded549a729c40006bd9935be14e9c4', 'c3ad2c59a26fce631c17ad260a3c136251e6ac7bd8059fe00e0b377e448daf0d', X'C054EA4100FC832BCADB69D9B46C0FE7', '{"agents":[{"domain":"default","id":"agt_joe","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Joe","persona":"You are Joe.","price":{"input":3000000,"output":15000000},"tools":[],"workers":[]},{"domain":"default","id":"agt_jim","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Jim","persona":"You are Jim.","price":{"input":3000000,"output":15000000},"tools":[],"workers":[]}],"kind":"debate","settings":{"auto_continue":false,"debate":{"exit_on_consensus":false,"mode":"collaborative"},"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"parallel","round_limits":{},"seats":["agt_joe","agt_jim"],"session_limits":{"cost":50000000},"total_rounds":1,"window_rounds":32},"topic":"Should the town build a tram?"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869186, 1, 1794963578422394589, 'session_input_accepted', 1, '', '', '', '', '71126ed4c095c67633a54381dc0f5e7e065e30e4a9eb3b1d800a5b0adb14d826', 'd0a2e4b99157dddca82f9c60ae2aec1cda1071a14e08bed9838b0a8e2e4c476d', X'3C8725EE4DFBD5621A5B59213159E16E', '{"context":{"conversation_id":"ses_failed","message_id":"m1","turn_id":"m1"},"sender":"User","text":"Should it?"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869187, 1, 1794963578422394589, 'round_opened', 1, 'rnd_0b6452249dee88304555', '', '', '', '402b4fea21944fef92d12494662288daa6b8a37d7ced1e8b15a0d2bcb2de83d3', '5e3770167cba470605f788099a01bdd2ea7762327579227ae246e72c51e4793d', X'0C2A3052D019DACE75F3DDCD7752CC9B', '{"input":{"conversation_id":"ses_failed","message_id":"m1","turn_id":"m1"},"number":1,"said":{"number":1,"seq":2},"stages":[["agt_joe","agt_jim"]],"take":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869188, 1, 1794963578422394589, 'turn_started', 1, 'rnd_0b6452249dee88304555', 'trn_23d5a9597814642d4835', '', '', 'a4864dca4258de7bb287123d886802f70c8f92bddfa7754fac3a36fc97bf86aa', 'cbd9edbb36e28277b6956db127abed4eb10a81270698859c4d844498620060fe', X'FFB76BD720DBC91B39D679538DE98AB6', '{"agent":"agt_joe","seat":0,"stage":0,"task":"seat"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869189, 1, 1794963578422394589, 'iteration_opened', 1, 'rnd_0b6452249dee88304555', 'trn_23d5a9597814642d4835', 'itr_52786f73909717b70f9d', '', 'b3ef8daf1bc538d5b2840a15345cbbbfca083496333e392bfe9677181909bf8b', '7a038a70d45ad681a7269de4b014acd45a767b3fdb1eb312fcc00853d8fb4e14', X'73AC290E97ADA8CD3DAC37D3EB8ACAD1', '{"number":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869190, 1, 1794963578422394589, 'model_call_started', 1, 'rnd_0b6452249dee88304555', 'trn_23d5a9597814642d4835', 'itr_52786f73909717b70f9d', '', '4bb0d7eb6c1e8eeb23577c4066a7b717278c762f513773f76899b7286a8fc831', '6e62fab297fd8d77335a4689d26748faa68593e497559180a5af12f53e6da288', X'2FC51BA19090C0FF7901E5CF2716428C', '{"attempt":1,"prompt":{"from":2,"hash":"6f206f4f4a184fc99c0f1bec8437c3176f51133428f03daf7cc717a13a755ba2","template":2,"to":5},"reserved":{"calls":1,"cost":68841,"tokens":6563}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869191, 1, 1794963578422394589, 'turn_started', 1, 'rnd_0b6452249dee88304555', 'trn_ba1fed9dc72065290856', '', '', '003c735725e97a0cbbc0f8390db1113010a427eaa73e75f548711b5ee079f670', 'ef86e77dbe359e4ffa0408cd99f6ce6524eb71869599a55481dc9b3bb7e94515', X'9D31F4B7619B92D6621F4EC9AC5F9720', '{"agent":"agt_jim","seat":1,"stage":0,"task":"seat"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869192, 1, 1794963578422394589, 'iteration_opened', 1, 'rnd_0b6452249dee88304555', 'trn_ba1fed9dc72065290856', 'itr_01b53f9f5ec06fd91a1f', '', '8755e54b7bc27fc53c9e1a01ca41677b9f42b2bc4d2c007c0e2c37d6d7bd52f1', 'c2e027cc294ac09d94d36d2067275e30f0b9128a91a4cb3a8402ad1f5823c71e', X'084BDDF4835D5639ACE2AC9C58CAA859', '{"number":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869193, 1, 1794963578422394589, 'model_call_started', 1, 'rnd_0b6452249dee88304555', 'trn_ba1fed9dc72065290856', 'itr_01b53f9f5ec06fd91a1f', '', '6fb6bba63b44767cecbbce43c8b96ec147614bbf05df0f0a0adc71cf3e59e5d5', 'b1d54d0435fc2a4663a8b39e897c4bd01cc7c2ebf689bbd1dc7892fc9b1ca2fb', X'74FB012246BACF088DA649D09DC3A949', '{"attempt":1,"prompt":{"from":2,"hash":"68e19a51a1928f06b5f2a8065ca4dcae58a4ce09c068e93b08809c1b92a4d70d","template":2,"to":8},"reserved":{"calls":1,"cost":68880,"tokens":6576}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869194, 1, 1794963578424372558, 'model_call_failed', 1, 'rnd_0b6452249dee88304555', 'trn_23d5a9597814642d4835', 'itr_52786f73909717b70f9d', '', '79a5476e0df4abf9b021840be5faed2fd412680d861a4851e22786c844e0d497', 'cf129bdf6e357c42d390c3f0a2093fe3191b683d1495f113b649f21f84b74e37', X'BD2B173794D95990B3B4C5E414293268', '{"attempt":1,"error":"the provider refused the key: as the script says"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869195, 1, 1794963578424372558, 'iteration_closed', 1, 'rnd_0b6452249dee88304555', 'trn_23d5a9597814642d4835', 'itr_52786f73909717b70f9d', '', '64e9dd20a0dc374c24b5ccee08de02c6ef57bdb06be87ff593d50befa7ba7c40', '5a5be5a19418d48640fc261baea9482dd7afb2aff6200472035cbd53e9e17b26', X'A43CCB30B75F5DB69E975D8BA966D616', '{"outcome":"failed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869196, 1, 1794963578424372558, 'turn_ended', 1, 'rnd_0b6452249dee88304555', 'trn_23d5a9597814642d4835', '', '', 'c55bbcee5cb33acace108efaeacca1b78e24dafd6e7f49a5244b08ae4ef7949a', 'c6c128b9ed6e456806283f76d59b8cb9af79a10c1c5afb5b7aa526a3a4b4cff9', X'ABB91989BF3A293A4C41EE298FAF304B', '{"error":"the provider refused the key: as the script says","outcome":"failed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869197, 1, 1794963578424418496, 'model_call_failed', 1, 'rnd_0b6452249dee88304555', 'trn_ba1fed9dc72065290856', 'itr_01b53f9f5ec06fd91a1f', '', '6f946ab8f7885db5a43e6b4d8454ff98fb94948891b133613c82ab73822b9bea', '66ec7c4d6dcafa969ed615c2fc37746bf310895b7a1122c1e651f5019335b1c5', X'A381C4D7C95EBD887CC6E20358AF4C2D', '{"attempt":1,"error":"the provider refused the key: as the script says"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869198, 1, 1794963578424418496, 'iteration_closed', 1, 'rnd_0b6452249dee88304555', 'trn_ba1fed9dc72065290856', 'itr_01b53f9f5ec06fd91a1f', '', '2a205f7bc72a2da6ab259f1568be644c316b7c75e48c8395f3f7989c8dc73b35', '46ce7e7494cb7f6762afba1e504d8e97fb83da6f4735f0c85daa0f91ffc6a8a1', X'367E86203A6E6CA320AA8AFE5DD7FDB0', '{"outcome":"failed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869199, 1, 1794963578424418496, 'turn_ended', 1, 'rnd_0b6452249dee88304555', 'trn_ba1fed9dc72065290856', '', '', '9aa140225d1cc193d55111a375e304e377c839a9293bfeecd7c769bf3c050921', 'f86f24c8535405e4ca1c582ba2b97412f8cb8727e36c2a0029afa624f35c9ab0', X'A2E198F386501C2DF9BC129AE76A9A93', '{"error":"the provider refused the key: as the script says","outcome":"failed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869200, 1, 1794963578424418496, 'round_closed', 1, 'rnd_0b6452249dee88304555', '', '', '', '2342b37d4da2ff0ab4e9c9428a07d9a17a22746f1f31e498fc9de2333d3d2f69', '39f4a22a924c392f39d78a8ed8282da3b245cd273b7d175135d431d5ab8a13a0', X'4E5998A0C24D1F579048CEFB440FF1EB', '{"outcome":"failed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (17179869201, 1, 1794963578424418496, 'session_completed', 1, '', '', '', '', '4dfeb970427ddc74b1de64609bf4eaf463d581417c5737e96aa7e650e884cb39', '564000b9138b38a6aa497a09adceaf0595f0b0591fd1827a3fc7b6df58340432', X'507C4100E77053EE8E3B58E467AE8DD2', '{"reason":"all rounds are done"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836481, 1, 1794963578427288606, 'session_opened', 1, '', '', '', '', 'da69ca393a920e949ef6b69a52d78fd70f3ffb7672abb533bbdd8a2ac08eca7e', 'a81dd4e2d4922d34448ceb8c53f4c56e79d40df8dcac0bf05efd3db219bf0ff5', X'31AD55F7159F057D7975E488B6FE69C7', '{"agents":[{"domain":"default","id":"agt_joe","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Joe","persona":"You are Joe.","price":{"input":3000000,"output":15000000},"tools":[{"approval":false,"effect":"pure","name":"look","prompt_bytes":38,"runs":"handler"},{"approval":true,"effect":"effectful","name":"send","prompt_bytes":38,"runs":"handler"}],"workers":[]}],"kind":"chat","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"parallel","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"topic":"a test"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836482, 1, 1794963578428042903, 'session_input_accepted', 1, '', '', '', '', '98b3a01b3f1ac207d43fd4b2656cc55b9b7598fe9542b5b18768f5e60ea10cc8', '101e02270b98efe4db9df6296df88b094461ca73dfdccc9f4453e611bddd67dc', X'17FB47B023EE59B9F1783831B9157343', '{"context":{"conversation_id":"ses_spent","message_id":"m1","turn_id":"m1"},"sender":"User","text":"Go."}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836483, 1, 1794963578428042903, 'round_opened', 1, 'rnd_5371f1f015009a5f9d75', '', '', '', '09ef59b4c5a4c723f26d95bbc1f3a6819baec9d56070fd642c2ffedbce127e92', 'c280b8e0eb3a69b92d335d59d73ed3849ef7eb3f0d84d74b737bfbf3c34b35e2', X'3BD8B0D63AF51842522E6F1EEE8CC81B', '{"input":{"conversation_id":"ses_spent","message_id":"m1","turn_id":"m1"},"number":1,"said":{"number":1,"seq":2},"stages":[["agt_joe"]],"take":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836484, 1, 1794963578428042903, 'turn_started', 1, 'rnd_5371f1f015009a5f9d75', 'trn_4798a84644cbd5aedb60', '', '', '32d59a487913be98f97665635a5be5e8abc46c7bb8650e80ce5f3db4a3ff5010', '5589738bbc3533d60d32caaf5941e983cd3afe12101f43e66173c64fefbbc2ad', X'98E06DEBC91D51B9816A728BDF0D3EE9', '{"agent":"agt_joe","seat":0,"stage":0,"task":"seat"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836485, 1, 1794963578428042903, 'iteration_opened', 1, 'rnd_5371f1f015009a5f9d75', 'trn_4798a84644cbd5aedb60', 'itr_54acec8ca466f20e0173', '', '0bee1a5f69934d5c1696b90d4c2f351e51cff4ceb015b7afb0e5a55e1d38da68', '5f5df8b72c10ba28db81aa6dbd6cd75a1cf3e0bf0ff1d7f98c25b5fab9abd9f4', X'18C95D53B42613F0F0C5D5B965C2466F', '{"number":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836486, 1, 1794963578428042903, 'model_call_started', 1, 'rnd_5371f1f015009a5f9d75', 'trn_4798a84644cbd5aedb60', 'itr_54acec8ca466f20e0173', '', 'f7f92703b76ba71214ff73011d7fdb8d1ff081545022456e6b0f2386aad84722', '6a9620502c7df73a5853cf72d8849a91e420098b539215b6e644e1f81b56c3e0', X'53E547DEC040BB68FF2E42E7917B479C', '{"attempt":1,"prompt":{"from":2,"hash":"509fff26d1ead989a8377b47b7e690a508e3f4e8cdc14302a98b7a1abac266c7","template":2,"to":5},"reserved":{"calls":1,"cost":61731,"tokens":4193}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836487, 1, 1794963578429207808, 'model_call_failed', 1, 'rnd_5371f1f015009a5f9d75', 'trn_4798a84644cbd5aedb60', 'itr_54acec8ca466f20e0173', '', '66b4ff43001ccf08477d74deab2ad9e8e571c83ba5e2150c184cf79921930ec2', '86cb8931875f0a782b93fdab6da5939b64786e2b354fb4b4638a96221775c0e2', X'936BCB5F19220DFDC4B3FFA90F2B181A', '{"attempt":1,"error":"the provider refused the key: as the script says"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836488, 1, 1794963578429207808, 'iteration_closed', 1, 'rnd_5371f1f015009a5f9d75', 'trn_4798a84644cbd5aedb60', 'itr_54acec8ca466f20e0173', '', '12b160fe3cdd26cfbb223ba574f3c31c44ef3a377f699f6c2feaaebeb8909c42', '0748237d985d2a780c2356cd9d3bbf90c28254b6414f21394d93c24e767ff5f1', X'0B8A80AA8FAE9BFC96B3F995EFAA070D', '{"outcome":"failed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836489, 1, 1794963578429207808, 'turn_ended', 1, 'rnd_5371f1f015009a5f9d75', 'trn_4798a84644cbd5aedb60', '', '', '91af0eb624e3808705b3d175a7930f7e67b4a227e0f596b9db17bd5a91452736', '545cfb4e6e9eceb9a38d23dff922ffce1d8bf03242c36dc3729faa6a5d38a967', X'6E777A704F189828B26DB8D7661F2BB7', '{"error":"the provider refused the key: as the script says","outcome":"failed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (21474836490, 1, 1794963578429207808, 'round_closed', 1, 'rnd_5371f1f015009a5f9d75', '', '', '', 'b398e9017f452c9997461362ebed94d358ad611bfb50ac62727245cbe9809604', '4e7d8f35570f7d0babbc6aaa555e95e1746c0bbe3a963e29bfe92001f84cedfb', X'C24AF072BDD343F8D2078B754B483CAA', '{"outcome":"failed"}');
INSERT INTO agent (session, id, name) VALUES (1, 'agt_gus', 'Gus');
INSERT INTO agent (session, id, name) VALUES (2, 'agt_gus', 'Gus');
INSERT INTO agent (session, id, name) VALUES (3, 'agt_gus', 'Gus');
INSERT INTO agent (session, id, name) VALUES (4, 'agt_jim', 'Jim');
INSERT INTO agent (session, id, name) VALUES (4, 'agt_joe', 'Joe');
INSERT INTO agent (session, id, name) VALUES (5, 'agt_joe', 'Joe');
INSERT INTO round (id, session, number, take, active, status, agents, said, started_at, completed_at, vectorized, vectorized_at) VALUES ('rnd_07016f7cf89773331d24', 1, 1, 1, 1, 'completed', '["Gus"]', 1, 1794963578397639816, 1794963578405581161, 0, NULL);
INSERT INTO round (id, session, number, take, active, status, agents, said, started_at, completed_at, vectorized, vectorized_at) VALUES ('rnd_0b6452249dee88304555', 4, 1, 1, 1, 'failed', '["Joe","Jim"]', 1, 1794963578422394589, 1794963578424418496, 0, NULL);
INSERT INTO round (id, session, number, take, active, status, agents, said, started_at, completed_at, vectorized, vectorized_at) VALUES ('rnd_1f41c2d32578e4584d4b', 3, 1, 1, 1, 'in-progress', '["Gus"]', 1, 1794963578417461694, NULL, 0, NULL);
INSERT INTO round (id, session, number, take, active, status, agents, said, started_at, completed_at, vectorized, vectorized_at) VALUES ('rnd_5371f1f015009a5f9d75', 5, 1, 1, 1, 'failed', '["Joe"]', 1, 1794963578428042903, 1794963578429207808, 0, NULL);
INSERT INTO round (id, session, number, take, active, status, agents, said, started_at, completed_at, vectorized, vectorized_at) VALUES ('rnd_8012904cd9f42cbdacb3', 2, 1, 1, 1, 'completed', '["Gus"]', 1, 1794963578409546653, 1794963578413929974, 0, NULL);
INSERT INTO turn (id, session, round, agent, parent, first, last, at) VALUES ('trn_23d5a9597814642d4835', 4, 'rnd_0b6452249dee88304555', 'agt_joe', NULL, 4, 12, 1794963578422394589);
INSERT INTO turn (id, session, round, agent, parent, first, last, at) VALUES ('trn_4798a84644cbd5aedb60', 5, 'rnd_5371f1f015009a5f9d75', 'agt_joe', NULL, 4, 9, 1794963578428042903);
INSERT INTO turn (id, session, round, agent, parent, first, last, at) VALUES ('trn_78e976e71c9625b0e6be', 1, 'rnd_07016f7cf89773331d24', 'agt_gus', NULL, 4, 18, 1794963578397639816);
INSERT INTO turn (id, session, round, agent, parent, first, last, at) VALUES ('trn_ad987e8cb242dca0e42f', 2, 'rnd_8012904cd9f42cbdacb3', 'agt_gus', NULL, 4, 17, 1794963578409546653);
INSERT INTO turn (id, session, round, agent, parent, first, last, at) VALUES ('trn_aecc8fdfef480522aa12', 3, 'rnd_1f41c2d32578e4584d4b', 'agt_gus', NULL, 4, NULL, 1794963578417461694);
INSERT INTO turn (id, session, round, agent, parent, first, last, at) VALUES ('trn_ba1fed9dc72065290856', 4, 'rnd_0b6452249dee88304555', 'agt_jim', NULL, 7, 15, 1794963578422394589);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (1, 1, 1, 'rnd_07016f7cf89773331d24', 1, 'User', NULL, 4294967298, 1794963578397639816, 0);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (2, 1, 2, 'rnd_07016f7cf89773331d24', 1, 'Gus', 'trn_78e976e71c9625b0e6be', 4294967312, 1794963578405581161, 1);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (3, 2, 1, 'rnd_8012904cd9f42cbdacb3', 1, 'User', NULL, 8589934594, 1794963578409546653, 0);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (4, 2, 2, 'rnd_8012904cd9f42cbdacb3', 1, 'Gus', 'trn_ad987e8cb242dca0e42f', 8589934607, 1794963578413929974, 1);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (5, 3, 1, 'rnd_1f41c2d32578e4584d4b', 1, 'User', NULL, 12884901890, 1794963578417461694, 0);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (6, 4, 1, 'rnd_0b6452249dee88304555', 1, 'User', NULL, 17179869186, 1794963578422394589, 0);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (7, 5, 1, 'rnd_5371f1f015009a5f9d75', 1, 'User', NULL, 21474836482, 1794963578428042903, 0);
INSERT INTO request (session, id, agent, body, at) VALUES (3, 'ctx_5692c580f96a1b72586a', 'agt_gus', 12884901897, 1794963578418953323);
INSERT INTO message_text (message_text) VALUES ('rebuild');
