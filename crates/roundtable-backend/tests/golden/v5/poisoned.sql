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
INSERT INTO session (number, id, parent, parent_seq, head, head_hash, kind, topic, tenant, status, rounds_completed, current_round, has_work, wake_at, created_at, updated_at) VALUES (1, 'ses_poisoned', NULL, 0, 25, 'b3296718e86a8781789ecf66e8b05e5a5896692586c875b81e67b60cbe2b56b9', 'chat', 'a test', NULL, 'active', 2, 3, 0, NULL, 1794963578458764666, 1794963578466893940);
INSERT INTO lease (session, epoch, owner) VALUES ('ses_poisoned', 1, NULL);
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967297, 1, 1794963578458764666, 'session_opened', 1, '', '', '', '', '88b20bffc1bba8b43ffe637519b639770194a9e46d19f51c83197f0bd4ba5c73', '69ad836176a0d7cb67fdb90eb4aeee79c4c51d9879549ccc549792ffde3e8150', X'86D862E8362FBB89AE340EC08144B67C', '{"agents":[{"domain":"default","id":"agt_deb","limits":{},"max_iterations":10,"max_tokens":4096,"model":"scripted","name":"Deb","persona":"You are Deb.","price":{"input":3000000,"output":15000000},"tools":[{"approval":false,"effect":"pure","name":"look","prompt_bytes":38,"runs":"handler"},{"approval":true,"effect":"effectful","name":"send","prompt_bytes":38,"runs":"handler"}],"workers":[]}],"kind":"chat","settings":{"auto_continue":false,"max_depth":4,"max_image_bytes":8388608,"max_message_bytes":262144,"max_tool_calls":64,"max_waiting":64,"order":"parallel","round_limits":{},"seats":[],"session_limits":{},"total_rounds":null,"window_rounds":32},"topic":"a test"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967298, 1, 1794963578459966887, 'session_input_accepted', 1, '', '', '', '', '91096f5efc3124968ffb435c805c400c438b7f3c7b5ae8ca9d17905185ba5d8a', '824699205854669e14fae6352be8ec27a0bace31395b1d46e0f1b2ba65bfc5bd', X'1698A61C9DD1DB7F47102BC15C806ECB', '{"context":{"conversation_id":"ses_poisoned","message_id":"m1","turn_id":"m1"},"sender":"User","text":"Well?"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967299, 1, 1794963578459966887, 'round_opened', 1, 'rnd_17a058cb8639290a8741', '', '', '', '3c39898b4c792e6ca052592d90b2a3e22e509d2ebaebd86ca568b7bcf2f0077e', 'aab242eaa67e339ef5e0b9dae0eeb1dcc58da2e6ee08dd92853f8811a5421f34', X'A8E06CDB7BBF22D8EB7BBA345E75CF16', '{"input":{"conversation_id":"ses_poisoned","message_id":"m1","turn_id":"m1"},"number":1,"said":{"number":1,"seq":2},"stages":[["agt_deb"]],"take":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967300, 1, 1794963578459966887, 'turn_started', 1, 'rnd_17a058cb8639290a8741', 'trn_76278d1e3914a2fed9d4', '', '', 'bebdd5c823a0eb71f5dd1602d6e54868de2c197b0eadfb0845d48946273d39be', '4e9f9e5ff06b83e0f93ff7a173856ddc61f6e05e504740797b00181c22dc788c', X'4936DD533026A6350ABCCC2106DD51A8', '{"agent":"agt_deb","seat":0,"stage":0,"task":"seat"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967301, 1, 1794963578459966887, 'iteration_opened', 1, 'rnd_17a058cb8639290a8741', 'trn_76278d1e3914a2fed9d4', 'itr_efc60fd8778f20a51a16', '', 'bbd13ba78e6e2cb9301f9dc3700313fc47ede104a3581966140facf6a083ad83', 'ef2e1ef57f832c8729569e1e2d1906fc575d933e5b30808e51f3d107a335ce76', X'0586D8391AAE54F4C259DD3B0FF51B1D', '{"number":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967302, 1, 1794963578459966887, 'model_call_started', 1, 'rnd_17a058cb8639290a8741', 'trn_76278d1e3914a2fed9d4', 'itr_efc60fd8778f20a51a16', '', '542155126026a3b7930530a73bf8e29f2dc8a39e0cf37a94a45d966e0fca27ed', '0ef2a5f548e53f620ac919ac1460eaab1764997c11113e811a0e27d0e02e521c', X'37C558DF3CCF8EA44E7831BF6AA1ACCD', '{"attempt":1,"prompt":{"from":2,"hash":"8ec1d3e777db5570cf4e12bc1973c63914845f20fc289fa050fbf823d97e54b3","template":2,"to":5},"reserved":{"calls":1,"cost":61737,"tokens":4195}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967303, 1, 1794963578461815614, 'model_call_finished', 1, 'rnd_17a058cb8639290a8741', 'trn_76278d1e3914a2fed9d4', 'itr_efc60fd8778f20a51a16', '', '162d8aabb628c92dd48f579b860dff9a4cc9fb9b07025c6386585c72bf1683ae', '771270b710ee3d485f424520b99d86ca1b965d6b87890915e1b20fd8c3a29463', X'4E143895CB10D4DB7B99F43D4665927D', '{"attempt":1,"calls":0,"record":{"cost":60,"latency_ms":0,"model":"scripted","stop":"end","usage":{"cached":0,"input":5,"output":3,"reasoning":0}},"text":"A finished round."}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967304, 1, 1794963578461815614, 'iteration_closed', 1, 'rnd_17a058cb8639290a8741', 'trn_76278d1e3914a2fed9d4', 'itr_efc60fd8778f20a51a16', '', '8d7913112116c333276a3235f8d0d3e739742e2fc4b9e766c33e64fe32b36c7b', '81f15802c55f4a1d09cf00467d20d1dc841fd49040808501fca27353f50495be', X'46FD82BB3F11B69C6B9C86C3A82EEF9A', '{"outcome":"answered"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967305, 1, 1794963578461815614, 'turn_ended', 1, 'rnd_17a058cb8639290a8741', 'trn_76278d1e3914a2fed9d4', '', '', 'fa22b7f26ccaaed6720fac83ccbc76abd24068d1e3b4a4d963e142745a193b06', '6bad89f425652ea87d024ea6b61c8180ff0cda40b97f212f222cc23f1d646b09', X'B4E790EE083A96A08CB4665BE6F12B73', '{"outcome":"answered","said":{"number":2,"seq":7}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967306, 1, 1794963578461815614, 'round_closed', 1, 'rnd_17a058cb8639290a8741', '', '', '', '357f94dbcc243d70954cdd86297655a771eacae939269db2775f7dd576a8f554', '99c643269a609bfd49e8bb39db2aafebd7d3a96e5cc4955854cde95a3ad3093c', X'8D28BF5BA54DD0AA67443D014AA4D11C', '{"outcome":"completed"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967307, 1, 1794963578463622295, 'session_input_accepted', 1, '', '', '', '', '570a7a7b4f026ce97286222d460fc80bf5fa0d41deadaeee615bd396f44b7548', '1243c84e962ecd23c5d8924274771959b9e9163b7f465df0e37323be98447d6a', X'0F6BBCF906AC1A6C3DE82C3620A4B3D2', '{"context":{"conversation_id":"ses_poisoned","message_id":"m2","turn_id":"m2"},"sender":"User","text":"Look."}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967308, 1, 1794963578463622295, 'round_opened', 1, 'rnd_31ac53845c705c30515c', '', '', '', 'aaee9e931cd067790c1048c2534e2f0afcb1b1354a8bd88742017e5e20a88a98', '25f80a0e4f92e965ffbc517a67e02777c7b36ea14c6d301e04a77e055ac5756a', X'B7A314929515E670B9C98016B43890C2', '{"input":{"conversation_id":"ses_poisoned","message_id":"m2","turn_id":"m2"},"number":2,"said":{"number":3,"seq":11},"stages":[["agt_deb"]],"take":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967309, 1, 1794963578463622295, 'turn_started', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', '', '', '4ece076b9aa182c1624621dd9ec58e103b1a12348c1f410916efb5f4d3a281da', '5710cb894db26b47969f086a71a131e281e20efe8ff6c30fdff0aeead65de473', X'D7A2B119EBF9447B4CC3062A64AE57D3', '{"agent":"agt_deb","seat":0,"stage":0,"task":"seat"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967310, 1, 1794963578463622295, 'iteration_opened', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_c3ec0e137f2bc367cd72', '', '004eb2a39b22ca518f1a8f5bb0f1ee4686ead5525a7c1f1f3279509b8149b1e5', 'ce932ca8db347e18d6e127234c797f075314be6c9e1f41841f5a7e7c78bae575', X'DEB704AD8F6A5F05BA1786CA0225C395', '{"number":1}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967311, 1, 1794963578463622295, 'model_call_started', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_c3ec0e137f2bc367cd72', '', '45abe2ba3d63f7f33ccbf61ca1d453ab5b5ec0d89f4f7486c0ba2d6a0fe05faa', 'bf3280842faf987aa5f4ea0481396d8f274112c2a6849dc525e3049df333190f', X'9FC7DAD92A1DB35B093A0D20731997F9', '{"attempt":1,"prompt":{"from":2,"hash":"c4efdb5d81904816d1c706d1dcc759189e4c45d986f102d09f2462efd14be2d1","template":2,"to":14},"reserved":{"calls":1,"cost":61950,"tokens":4266}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967312, 1, 1794963578465297356, 'model_call_finished', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_c3ec0e137f2bc367cd72', '', 'e9403bdc978eb91345a772d002bab8a3427cffafb8fc77e02f0d20fa41d54d20', '3343995d58db5d45cc1d1b7ef1dbe0f7b83f23a7e05eb5dc6039e61aa9664489', X'67B3B48C33A771AFFD0AF174DC653594', '{"attempt":1,"calls":1,"record":{"cost":51,"latency_ms":0,"model":"scripted","stop":"tool_calls","usage":{"cached":0,"input":17,"output":0,"reasoning":0}},"text":""}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967313, 1, 1794963578465297356, 'tool_call_requested', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_c3ec0e137f2bc367cd72', 'tcl_62334973a7a33d7e1118', '4083b89064de90307420d10d2bd1d53005a6e12469955085501eb5d3d0e5e7fa', 'c01acd9b63fceb7d5dc709abb998a486d8f7af9567424a7373af4eb831c3b3e8', X'16CA03697E1013288C7882BDDFDEB4FC', '{"arguments":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],"effect":"pure","name":"look"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967314, 1, 1794963578465297356, 'tool_call_finished', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_c3ec0e137f2bc367cd72', 'tcl_62334973a7a33d7e1118', '1cd8bb4587009ecf4f1cea1190a6a2a57ec6af425340e3b07acf0ae82f6e8329', '5170db7b1b85f913dcd8874614ffcfc3e4ef94e9b481d2ea6170e37ad00fa7c2', X'FDD8336F574060B8C3C0F3BBE5214C03', '{"message":"the arguments of look do not fit its schema: at \"\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] is not of type \"object\"","outcome":"returned","success":false}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967315, 1, 1794963578465297356, 'iteration_closed', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_c3ec0e137f2bc367cd72', '', 'deb316dfdac02b1abfd509c3b265a90eef6835b9b19d532df8aa3ac4c284b2c0', '28a22f8aacbc0d23bc4245b84a46025109ae942db4fd5c5177bcfcdc03dad748', X'8394A084FC157FF72AEC15907995A286', '{"outcome":"tools_done"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967316, 1, 1794963578465297356, 'iteration_opened', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_897b3805f09985dceab6', '', '90ecab936d36e4d4443d05b7aa737c58e605b8697b3abe2e1802b42f17920e16', 'b07888b7d5619b57e2484de1fcf5216239e9ba61cb172406b7d26834236f9e01', X'9B51A89BF94A97CFE8A13BA277C1AD08', '{"number":2}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967317, 1, 1794963578465297356, 'model_call_started', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_897b3805f09985dceab6', '', 'fe6b45de8e06f0b685a0ab7e38663124018fd4b04b1924f298061822f0a327d7', 'c5fffc4f9b76fe48eccda174608ffd47af9510684d8779be81b1aecc0c42639d', X'ED1E395A55344BF1C8D76947733D8C47', '{"attempt":1,"prompt":{"from":2,"hash":"f2cdb44b9e70378f72d0fce5ed3c50c2eafd495cb688b342630a65e38642c981","template":2,"to":20},"reserved":{"calls":1,"cost":63720,"tokens":4856}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967318, 1, 1794963578466893940, 'model_call_finished', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_897b3805f09985dceab6', '', '01f09f59552d5993b385c1e733950beb4eb0a7dde8984022117e9664c2942844', '32cf60d3231e3341b5f51d7ff636f559af8609b7e3f62d944e3e0ec28ef21873', X'A88BFB605A2A773849E2FEA7AC597C92', '{"attempt":1,"calls":0,"record":{"cost":117,"latency_ms":0,"model":"scripted","stop":"end","usage":{"cached":0,"input":34,"output":1,"reasoning":0}},"text":"Looked."}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967319, 1, 1794963578466893940, 'iteration_closed', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', 'itr_897b3805f09985dceab6', '', '46e25e469ed7a79b6bce00b49d6f8dbf33d861b1c232f164871316a0ec64c015', '3a7220e71e40ed5f94c555f043858116e0fa97aed9294a3f5170e41e2d44039f', X'4FDB3C118CF49ACBA2F11A39C04BFD61', '{"outcome":"answered"}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967320, 1, 1794963578466893940, 'turn_ended', 1, 'rnd_31ac53845c705c30515c', 'trn_c725155a09ed15d7731d', '', '', 'a6fbbd3f16bfc5ab349854a9f284fffb5ad5e811ffb9ea6727363b209826a2d0', '7a96574dbf7bf72a633af16bad4e7133991291cfcdf4320723f6f5bdbf4a0c91', X'6F0149538947D542C15DF4782889980C', '{"outcome":"answered","said":{"number":4,"seq":22}}');
INSERT INTO event (id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, salt, body) VALUES (4294967321, 1, 1794963578466893940, 'round_closed', 1, 'rnd_31ac53845c705c30515c', '', '', '', '624aaf58ececd2ec432baafbd6ec7c20c06066373d0d1470b25114a1d9c21e08', 'b3296718e86a8781789ecf66e8b05e5a5896692586c875b81e67b60cbe2b56b9', X'45EF3F0818205D5202B3D96E9E1C1748', '{"outcome":"completed"}');
INSERT INTO agent (session, id, name) VALUES (1, 'agt_deb', 'Deb');
INSERT INTO round (id, session, number, take, active, status, agents, said, started_at, completed_at, vectorized, vectorized_at) VALUES ('rnd_17a058cb8639290a8741', 1, 1, 1, 1, 'completed', '["Deb"]', 1, 1794963578459966887, 1794963578461815614, 0, NULL);
INSERT INTO round (id, session, number, take, active, status, agents, said, started_at, completed_at, vectorized, vectorized_at) VALUES ('rnd_31ac53845c705c30515c', 1, 2, 1, 1, 'completed', '["Deb"]', 3, 1794963578463622295, 1794963578466893940, 0, NULL);
INSERT INTO turn (id, session, round, agent, parent, first, last, at) VALUES ('trn_76278d1e3914a2fed9d4', 1, 'rnd_17a058cb8639290a8741', 'agt_deb', NULL, 4, 9, 1794963578459966887);
INSERT INTO turn (id, session, round, agent, parent, first, last, at) VALUES ('trn_c725155a09ed15d7731d', 1, 'rnd_31ac53845c705c30515c', 'agt_deb', NULL, 13, 24, 1794963578463622295);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (1, 1, 1, 'rnd_17a058cb8639290a8741', 1, 'User', NULL, 4294967298, 1794963578459966887, 0);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (2, 1, 2, 'rnd_17a058cb8639290a8741', 1, 'Deb', 'trn_76278d1e3914a2fed9d4', 4294967303, 1794963578461815614, 3);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (3, 1, 3, 'rnd_31ac53845c705c30515c', 2, 'User', NULL, 4294967307, 1794963578463622295, 0);
INSERT INTO message (id, session, number, round, cycle, sender, turn, body, at, tokens) VALUES (4, 1, 4, 'rnd_31ac53845c705c30515c', 2, 'Deb', 'trn_c725155a09ed15d7731d', 4294967318, 1794963578466893940, 1);
INSERT INTO message_text (message_text) VALUES ('rebuild');
