"""Tests on the user's own model and machine that batching keeps its promises.

Knows no Qt and prints nothing but in `command`. The thread that runs it owns the context meanwhile.
"""
