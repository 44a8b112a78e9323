"""All chats there are: the list at the side, and the search over everything."""
