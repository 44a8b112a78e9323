"""Chats as files: export, import, backups."""
