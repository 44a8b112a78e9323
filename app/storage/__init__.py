"""Everything that is kept on disk, in SQLite. No Qt."""
