-- Whether lists leave a session out unless they are asked for archived ones.
ALTER TABLE session ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
