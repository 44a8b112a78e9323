"""The observed Skein with a model that says what a script has, and calls tools: all else is real.

Started as `python -m tests.e2e.scripted STATE.json [arguments of skein…]`. SKEIN_SCRIPT is a JSON file: lists
of a word in the last message and the answer to that, in which «tool {…}» is a call.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QTimer

import app.bridge.engines
import app.bridge.tool_access
from app.bridge.engines import Engines
from app.protocol.commands import Abort, Command, Submit
from app.protocol.output import FinishReason, Output, Usage
from app.protocol.request import Request
from tests.bridge.tool_fakes import FORMAT, FakeReaders
from tests.e2e import observed

PIECE_MS = 25
_PIECES = re.compile(r"\S+\s*|\s+")


class ScriptedEngine(Engines):
    """Only what the window saves is a chat's; the rest is asked of the real model."""

    def post(self, command: Command, address: str = "") -> None:
        if isinstance(command, Submit) and command.request.is_saved:
            _Answer(self, command.request)
        elif isinstance(command, Abort) and command.request_id in _Answer.running:
            _Answer.running[command.request_id].stop()
        else:
            super().post(command, address)


class _Answer:
    running: ClassVar[dict[str, _Answer]] = {}

    def __init__(self, engine: ScriptedEngine, request: Request) -> None:
        self._engine, self._request = engine, request
        asked = request.messages[-1].content
        is_citation = str(request.answer_start).endswith("[")
        self._pieces = ["1]"] if is_citation else _PIECES.findall(_scripted(asked))
        self._num_told = 0
        self.running[request.request_id] = self
        self._timer = QTimer(engine, interval=PIECE_MS)
        self._timer.timeout.connect(self._tell)
        self._timer.start()

    def _tell(self) -> None:
        if self._num_told < len(self._pieces):
            text = self._pieces[self._num_told]
            self._num_told += 1
            self._emit(text, None)
        else:
            self._end(FinishReason.STOP)

    def stop(self) -> None:
        self._end(FinishReason.ABORT)

    def _end(self, reason: FinishReason) -> None:
        self._timer.stop()
        self.running.pop(self._request.request_id, None)
        self._emit("", reason)

    def _emit(self, text: str, reason: FinishReason | None) -> None:
        request, number = self._request, self._num_told
        usage = Usage(num_prompt_tokens=100, num_computed_tokens=20 + number, num_generated_tokens=number)
        told = FORMAT if number == 1 else None
        output = Output(request.request_id, request.chat_id, text, reason, usage=usage, format=told)
        self._engine.ended.emit(output)


def _scripted(asked: str) -> str:
    script = json.loads(Path(os.environ["SKEIN_SCRIPT"]).read_text(encoding="utf-8"))
    return next(answer for word, answer in script if word in asked)


def main() -> int:
    app.bridge.engines.Engines = ScriptedEngine  # type: ignore[misc]  # before it is imported
    app.bridge.tool_access.MessageReaders = FakeReaders  # type: ignore[misc,assignment]
    return observed.main()


if __name__ == "__main__":
    sys.exit(main())
