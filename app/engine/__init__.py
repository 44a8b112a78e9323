"""Inference: many sequences advanced together in one llama.cpp context.

`Engine.step` is the pulse, and `EngineLoop` gives it a thread. `batching` chooses what a step computes, and
`cells` which slot and cells it gets. `prompts` makes tokens of chats and reads answers, `media` makes rows of
pictures and sounds. `llama` is the gate to the library; `children` are processes of their own.

No Qt, no HTTP, no database; usable from a script (`python -m app ask` is one).
"""
