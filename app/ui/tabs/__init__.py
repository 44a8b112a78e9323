"""The open chats: tabs, their pages, and two side by side."""
