-- Which agents received a message, as a JSON array; everyone, where there is none. And whether it was
-- meant for certain agents.
ALTER TABLE message ADD COLUMN receivers TEXT;
ALTER TABLE message ADD COLUMN whisper INTEGER NOT NULL DEFAULT 0;
-- It was not recorded before. In the sessions in which not everyone received everything, a search finds
-- none of the messages up to here for anyone but those who sent them.
UPDATE message SET receivers = '[]', whisper = 1 WHERE session IN (
  SELECT id >> 32 FROM event
  WHERE (kind IN ('round_opened', 'stages_added') AND body LIKE '%"audience"%')
     OR (kind IN ('session_input_accepted', 'session_input_edited') AND body ->> '$.to' IS NOT NULL)
);
