"""Shelves: named sets of files that chats begin with, or are searched for each message. No Qt."""
