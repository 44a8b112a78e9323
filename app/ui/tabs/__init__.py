"""The open chats: tabs, their pages, and two beside each other."""
