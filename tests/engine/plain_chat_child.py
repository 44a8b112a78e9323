"""The child of chat templates, on a llama-cpp-python as it is published: without the chat layer."""

import runpy

from app.engine import chat_library

chat_library.library_path = lambda: None
runpy.run_module("app.engine.chat_child", run_name="__main__")
