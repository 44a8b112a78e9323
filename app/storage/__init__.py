"""Storage of chats, folders and tabs in SQLite. No Qt."""
