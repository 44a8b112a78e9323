"""The conversation as the user means it: turns, titles, text for the model. No Qt."""
