ALTER TABLE chats ADD COLUMN overflow TEXT NOT NULL DEFAULT 'stop';  -- what becomes of it when it no longer fits
ALTER TABLE chats ADD COLUMN max_context_tokens INTEGER NOT NULL DEFAULT 0;  -- 0: as the settings say
ALTER TABLE turns ADD COLUMN overflowed INTEGER NOT NULL DEFAULT 0;  -- ended early because it no longer fitted
