"""Model, engine and API in the window, outside the inspector."""
