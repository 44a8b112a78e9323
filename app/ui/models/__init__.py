"""The window about models: those that are here, those that can be had, and how each is loaded."""
