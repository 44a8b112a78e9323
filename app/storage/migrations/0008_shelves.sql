ALTER TABLE chats ADD COLUMN shelf_id TEXT NOT NULL DEFAULT '';  -- the shelf whose files its model reads
