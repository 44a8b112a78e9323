"""The child of chat templates, on a llama-cpp-python as it is published: without the chat layer."""

import runpy

from app.engine.prompts import chat_child, chat_worker  # noqa: F401  (the first one for those that start at once)

if __name__ == "__main__":
    chat_worker.library_path = lambda: None
    runpy.run_module("app.engine.prompts.chat_child", run_name="__main__")
