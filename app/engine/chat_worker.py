"""llama.cpp's chat layer in a child process: `chat_child` for all who are given it. Any thread.

One question at a time, so that nobody's question costs another's. The child starts with the first one.
"""

from __future__ import annotations

import threading
from typing import Any

from app.protocol.answer_format import AnswerFormat
from app.protocol.errors import ChatTemplateError, InvalidRequestError, RequestError
from app.protocol.grammar import is_costly, note_fault
from app.system.said import packed, said, unpacked
from app.system.worker import Message, Worker, WorkerEndedError

MAX_CPU_S = 2
MAX_MEMORY_BYTES = 512 << 20
MAX_WALL_S = 30.0  # a busy machine may take long over two seconds of work


class ChatWorker(Worker):
    def __init__(self) -> None:
        super().__init__("app.engine.chat_child")
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
