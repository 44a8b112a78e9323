"""The window and its widgets. No threads, no SQL, no tokens."""
