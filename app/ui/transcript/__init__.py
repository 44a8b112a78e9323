"""The page of a chat: its turns, the actions on them, and the search in it."""
