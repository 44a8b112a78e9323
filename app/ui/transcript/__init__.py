"""The page of a chat: its turns, what can be done with them, and finding in it."""
