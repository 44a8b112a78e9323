ALTER TABLE chats ADD COLUMN model_path TEXT NOT NULL DEFAULT '';  -- the file that answered last
