"""Reads answers as messages while they grow: any asyncio loop, which is never held up by it.

The reading itself is done by `AnswerReader`, on one thread for all.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from app.engine.answer_reader import AnswerReader
from app.engine.chat_worker import ChatWorker
from app.protocol.answer_format import AnswerFormat
from app.protocol.output import MessageDelta

REST = 4  # so many times as long as reading an answer took, it is not read again


class MessageReaders:
    """Readers that share a thread and a child process, which start with the first of them."""

    def __init__(self) -> None:
        self.chat_layer = ChatWorker()
        self._thread = ThreadPoolExecutor(1, "skein-reading")  # one child reads one answer at a time

    def open(self, max_calls: int | None = None) -> MessageReader:
        """Of the answer, at most `max_calls` calls of tools are told."""
        return MessageReader(self.chat_layer, self._thread, max_calls)

    def close(self) -> None:
        self.chat_layer.close()
        self._thread.shutdown(wait=False, cancel_futures=True)


class MessageReader:
    """Reads one answer, whole or in pieces. Until its format is known, all of it is text."""

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
