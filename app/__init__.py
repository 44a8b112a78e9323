"""Skein: many chats with a local language model through one shared llama.cpp context."""

__version__ = "0.1.0"

# A frozen program has no Python beside it: it runs its own modules when this option comes first.
CHILD_OPTION = "--run-module"
