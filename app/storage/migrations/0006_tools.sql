ALTER TABLE chats ADD COLUMN tools TEXT NOT NULL DEFAULT '[]';  -- JSON: keys of the tools it offers its model
ALTER TABLE turns ADD COLUMN rounds TEXT NOT NULL DEFAULT '[]';  -- JSON: parts of an answer that ended in calls
