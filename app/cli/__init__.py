"""The command line: what `skein` does without a window, and for the desktop."""
