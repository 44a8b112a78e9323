"""Conversations: turns, titles, and the messages for the model. No Qt."""
