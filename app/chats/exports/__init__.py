"""Exports chats: formats for other programs, and Skein's own complete one. No Qt."""
