"""Skein: many chats with a local language model through one shared llama.cpp context."""

__version__ = "0.1.0"
