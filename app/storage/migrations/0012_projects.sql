CREATE TABLE projects (
    folder  TEXT PRIMARY KEY,
    project TEXT NOT NULL  -- JSON: instructions, facts, and what new chats get
) STRICT;
