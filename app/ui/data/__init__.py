"""What becomes of chats as files: export, import, backups."""
