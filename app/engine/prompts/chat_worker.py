"""llama.cpp's chat layer, which knows how each model family writes tool calls and reasoning.

It is a library of its own that packaging/build_llama.py makes beside llama.cpp's. What it is given is
strangers', so it runs in a child process.
"""

from __future__ import annotations

import ctypes
import json
import sys
import threading
from pathlib import Path
from typing import Any

from app.protocol.answer_format import AnswerFormat
from app.protocol.errors import ChatTemplateError, InvalidRequestError, RequestError
from app.protocol.grammar import is_costly, note_fault
from app.system.llama_library import chat_folders
from app.system.said import packed, said, unpacked
from app.system.worker import Message, Worker, WorkerEndedError

NAME = "libskein-chat" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
MAX_CPU_S = 2
MAX_MEMORY_BYTES = 512 << 20
MAX_WALL_S = 30.0  # a busy machine may take long over two seconds of work


class ChatWorker(Worker):
    """The child, `chat_child`, for all who are given it. Any thread. It starts with the first question.

    One question at a time, so that nobody's question costs another's.
    """

    def __init__(self) -> None:
        super().__init__("app.engine.prompts.chat_child")
        self.turn = threading.RLock()  # nobody else asks while it is held

    def answered(self, question: dict[str, Any]) -> Message:
        """Raises WorkerEndedError, and the RequestError that the child has caught."""
        with self.turn:
            reply, parts = self.ask(question, max_s=MAX_WALL_S)
        if "error" in reply:
            kind = ChatTemplateError if reply["is_template"] else InvalidRequestError
            raise kind(unpacked(reply["error"]))
        return reply, parts

    def format_of(self, json_schema: str) -> AnswerFormat:
        """Of an answer that is nothing but a value of `json_schema`. Raises InvalidRequestError."""
        try:
            reply, _data = self.answered({"do": "grammar", "schema": json_schema})
        except WorkerEndedError as error:
            raise InvalidRequestError(
                said("The JSON schema crashed llama.cpp's converter. Simplify it.")
                if error.has_crashed
                else said(
                    "The JSON schema took more than {seconds} seconds or {size} MiB. Simplify it.",
                    seconds=MAX_CPU_S,
                    size=MAX_MEMORY_BYTES >> 20,
                )
            ) from None
        return AnswerFormat(grammar=reply["grammar"], warnings=tuple(map(unpacked, reply["warnings"])))

    def check(self, grammar: str) -> None:
        """What is found is what `check_grammar` tells from then on. Raises InvalidRequestError."""
        if not (grammar and is_costly(grammar)):
            return
        try:
            reply, _data = self.answered({"do": "check", "grammar": grammar})
        except WorkerEndedError:
            raise InvalidRequestError(
                said("The grammar took more than {seconds} seconds to check. Simplify it.", seconds=MAX_CPU_S)
            ) from None
        note_fault(grammar, reply["fault"])


def refusal(error: RequestError) -> dict[str, Any]:
    """What `ChatWorker.answered` raises."""
    return {"error": packed(str(error)), "is_template": isinstance(error, ChatTemplateError)}


def library_path() -> Path | None:
    """None: it is not there, or not yet, because it is still being compiled."""
    return next(filter(Path.exists, (folder / NAME for folder in chat_folders())), None)


# The child's side.


class ChatLayerError(Exception):
    """The library's own words about what it cannot do."""


class ChatLayer:
    """Values in, values out; what they are stands in packaging/llama_cpp/chat/chat.cpp. One thread."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.skein_chat.restype = ctypes.c_void_p
        self._library.skein_chat.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self._library.skein_chat_free.restype = None
        self._library.skein_chat_free.argtypes = [ctypes.c_void_p]

    def __call__(self, do: str, **values: Any) -> dict[str, Any]:
        """Raises ChatLayerError."""
        request = json.dumps({"do": do, **values}, ensure_ascii=False).encode("utf-8", "replace")
        pointer = self._library.skein_chat(request, len(request))
        if not pointer:
            raise MemoryError
        try:
            reply: dict[str, Any] = json.loads(ctypes.string_at(pointer))
        finally:
            self._library.skein_chat_free(pointer)
        if "error" in reply:
            raise ChatLayerError(reply["error"])
        return reply
