"""Reads answers as messages while they grow: text, reasoning and calls of tools.

llama.cpp's chat layer reads them, in a child process: a hostile answer costs itself, no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from app.engine.prompts.chat_worker import MAX_CPU_S, MAX_WALL_S, ChatWorker, library_path
from app.protocol.answer_format import AnswerFormat
from app.protocol.errors import RequestError
from app.protocol.output import MessageDelta, ToolCallDelta, new_call_id
from app.system.said import said
from app.system.worker import WorkerEndedError

MAX_MARK_CHARS = 64  # of the beginning of a call

_names = itertools.count(1)


class AnswerReader:
    """Reads one answer. Without a parser, all of it is text. Any thread, but calls wait for the child."""

    def __init__(self, chat_layer: ChatWorker, parser: str) -> None:
        self._chat_layer = chat_layer
        self._parser = parser if library_path() else ""
        self._name = f"{next(_names)}"
        self._text = ""  # all that was read
        self._begun_in = 0  # which start of the child knows this answer
        self.seconds = 0.0  # of computing, for what was read last
        self._content = self._reasoning = ""  # that was passed on
        self._calls: set[int] = set()
        self._begun_calls: list[dict[str, Any]] = []  # in the prompt, and not passed on yet
        self._prompt, self._said = "", ""  # the answer's beginning in it, and what of that was read as text

    def read(self, text: str, is_last: bool) -> MessageDelta:
        """What the new `text` adds. Raises RequestError for an answer that cannot be read within limits."""
        if not self._parser:
            return MessageDelta(text)
        before, self._text = self._text, self._text + text
        try:
            with self._chat_layer.turn:
                self._begin(before)
                reply = self._ask("read", text=text, is_last=is_last)
                if is_last:
                    self._ask("end")
        except WorkerEndedError as error:
            raise RequestError(
                said("The answer crashed llama.cpp's parser.")
                if error.has_crashed
                else said("Parsing the answer took more than {seconds} seconds.", seconds=MAX_CPU_S)
            ) from None
        if "error" in reply:  # nothing, where the text cannot be read so far
            return MessageDelta()
        found, self.seconds = reply["delta"], reply["seconds"]
        begun, self._begun_calls = self._begun_calls, []
        delta = self._delta(found | {"tool_calls": [*begun, *found["tool_calls"]]})
        return replace(delta, content=delta.content + self._rest()) if found["is_broken"] else delta

    def close(self) -> None:
        """It will not be read to its end."""
        if self._begun_in == self._chat_layer.num_starts:
            with contextlib.suppress(WorkerEndedError), self._chat_layer.turn:
                self._ask("end")

    def _begin(self, before: str) -> None:
        """Tells the child of this answer; again, if another answer has made an end of the former one."""
        self._chat_layer.start()
        if self._begun_in == self._chat_layer.num_starts:
            return
        format_ = json.loads(self._parser)
        self._ask("begin", format=format_ | {"is_continuation": False})
        self._begun_in = self._chat_layer.num_starts
        if format_["is_continuation"]:  # the caller knows what the prompt has said; a call comes as a whole
            begun = self._ask("read", text="", is_last=False)
            if "delta" in begun and not before:
                self._begun_calls = begun["delta"]["tool_calls"]
                self._said = begun["delta"]["content"]
                if self._said or not begun["delta"]["reasoning"]:
                    self._prompt = format_["generation_prompt"]
        if before:
            self._ask("read", text=before, is_last=False)

    def _ask(self, do: str, **values: Any) -> dict[str, Any]:
        question = {"do": do, "reader": self._name, **values}
        reply, _parts = self._chat_layer.ask(question, max_s=MAX_WALL_S)
        return reply

    def _delta(self, found: dict[str, Any]) -> MessageDelta:
        calls = tuple(self._call(**call) for call in found["tool_calls"])
        content = found["content"]
        if content and self._prompt:
            content, self._prompt = self._behind_prompt(content), ""
        self._content += content
        self._reasoning += found["reasoning"]
        return MessageDelta(content, found["reasoning"], calls)

    def _behind_prompt(self, content: str) -> str:
        """`content` without the end of the prompt, which was not read as text while it could begin a call."""
        for length in range(min(len(content), MAX_MARK_CHARS), 0, -1):
            if content[:length].strip() and self._prompt.endswith(self._said + content[:length]):
                return content[length:]
        return content

    def _rest(self) -> str:
        """Of a broken answer, what comes behind what was passed on: it is text. Nothing behind calls."""
        if self._calls:
            return ""
        last = self._content or self._reasoning
        at = self._text.find(last)
        return self._text[at + len(last) :] if at >= 0 else ""

    def _call(self, index: int, id: str, name: str, arguments: str) -> ToolCallDelta:  # noqa: A002
        if index in self._calls:
            return ToolCallDelta(index, arguments=arguments)
        self._calls.add(index)
        return ToolCallDelta(index, id or new_call_id(), name, arguments)


REST = 4  # so many times as long as reading an answer took, it is not read again


class MessageReaders:
    """Readers that share a thread and a child process, which starts with the first answer."""

    def __init__(self) -> None:
        self.chat_layer = ChatWorker()
        self._thread = ThreadPoolExecutor(1, "skein-reading")  # one child reads one answer at a time

    def start(self) -> None:
        """So that the first answer need not wait for it."""
        if library_path():
            self._thread.submit(self.chat_layer.start)

    def open(self, max_calls: int | None = None) -> MessageReader:
        """Of the answer, at most `max_calls` calls of tools are passed on."""
        return MessageReader(self.chat_layer, self._thread, max_calls)

    def close(self) -> None:
        self.chat_layer.close()
        self._thread.shutdown(wait=False, cancel_futures=True)


class MessageReader:
    """Reads one answer, whole or in pieces, for an asyncio loop, which it never holds up.

    Until its format is known, all of it is text.
    """

    def __init__(self, chat_layer: ChatWorker, thread: ThreadPoolExecutor, max_calls: int | None) -> None:
        self._chat_layer, self._thread = chat_layer, thread
        self._max_calls = max_calls
        self._reader: AnswerReader | None = None
        self._rests_until = 0.0
        self._unread = ""

    @property
    def has_format(self) -> bool:
        return self._reader is not None

    def note_format(self, format_: AnswerFormat) -> None:
        """How the model writes this answer. Before anything is read."""
        if format_.parser:
            self._reader = AnswerReader(self._chat_layer, format_.parser)

    def close(self) -> None:
        if self._reader:
            with contextlib.suppress(RuntimeError):  # the program stops
                self._thread.submit(self._reader.close)

    async def read(self, text: str, is_last: bool) -> MessageDelta:
        """What the new `text` adds; nothing while it rests. One call at a time. Raises RequestError."""
        if self._reader is None:
            return MessageDelta(text)
        self._unread += text
        # An answer is read from its beginning each time: a long one less often, so that all take their turns.
        if not is_last and time.monotonic() < self._rests_until:
            return MessageDelta()
        unread, self._unread = self._unread, ""
        delta = await asyncio.get_running_loop().run_in_executor(
            self._thread, self._reader.read, unread, is_last
        )
        self._rests_until = time.monotonic() + REST * self._reader.seconds
        if self._max_calls is None:
            return delta
        return replace(
            delta, tool_calls=tuple(one for one in delta.tool_calls if one.index < self._max_calls)
        )
