"""Shelves in the window: their page, the shelf of a chat, and the reader of their files."""
