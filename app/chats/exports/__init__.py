"""Chats as files that others can read, and Skein's own complete format. No Qt."""
