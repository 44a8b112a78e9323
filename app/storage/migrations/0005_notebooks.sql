ALTER TABLE chats ADD COLUMN is_notebook INTEGER NOT NULL DEFAULT 0;  -- plain text that the model continues
