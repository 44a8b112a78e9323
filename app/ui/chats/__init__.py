"""All chats: the sidebar, and the search over everything."""
