"""Where a message is written: text, files, and what they will take of the context."""
