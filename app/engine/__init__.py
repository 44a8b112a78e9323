"""Inference: many sequences advanced together in one llama.cpp context.

No Qt, no HTTP, no database; usable from a script (`python -m app ask` is one).
"""
