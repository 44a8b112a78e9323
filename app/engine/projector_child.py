"""The child process of `MediaEncoder`: one projector, which may end its process.

Answers each question with JSON and raw bytes behind it. It lays out a picture beside the encoding of another.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from app.engine.llama.projector import Projector, open_projector
from app.protocol.errors import EngineError
from app.protocol.media import MediaKind
from app.system import child_process
from app.system.said import packed, said

log = logging.getLogger(__name__)
Question = tuple[dict[str, Any], bytes]


class Answers:
    """Any thread."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._turn = threading.Lock()

    def send(self, answer: dict[str, Any], parts: list[bytes] | None = None) -> None:
        with self._turn:
            child_process.send(self._pipe, answer | {"parts": [len(part) for part in parts or ()]})
            for part in parts or ():
                self._pipe.write(part)
            self._pipe.flush()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the parent
    answers = Answers(child_process.take_stdout())
    told = child_process.receive(sys.stdin.buffer)
    child_process.stand_back()
    try:
        paths = Path(told["projector"]), Path(told["model"])
        with open_projector(*paths, told["num_threads"]) as projector:
            answers.send(_described(projector))
            _serve(projector, answers)
    except EngineError as error:
        answers.send({"refusal": packed(str(error))})
    os._exit(0)


def _described(projector: Projector) -> dict[str, Any]:
    return {
        "sees": projector.sees,
        "hears": projector.hears,
        "rate": projector.rate,
        "takes_whole": projector.takes_whole,
        "max_rows_at_once": projector.max_rows_at_once,
    }


def _serve(projector: Projector, answers: Answers) -> None:
    """Until the parent closes the pipe."""
    to_encode: SimpleQueue[Question] = SimpleQueue()
    threading.Thread(target=_encode, args=(projector, answers, to_encode), daemon=True).start()
    stdin = sys.stdin.buffer
    while True:
        try:
            question = child_process.receive(stdin)
        except EOFError:
            os._exit(0)
        data = stdin.read(question["num_bytes"])
        if question["do"] == "encode":
            to_encode.put((question, data))
            continue
        try:
            answers.send({"id": question["id"], "layout": projector.layout(*_what(question))})
        except EngineError as error:
            answers.send({"id": question["id"], "refusal": packed(str(error))})


def _encode(projector: Projector, answers: Answers, questions: SimpleQueue[Question]) -> None:
    while True:
        question, data = questions.get()
        try:
            rows = []
            for part in projector.encode(*_what(question), data):
                rows.append(part)
                answers.send({"id": question["id"], "num_rows": sum(map(len, rows))})
        except EngineError as error:
            answers.send({"id": question["id"], "refusal": packed(str(error))})
        except Exception:  # the root of this thread
            log.exception("encoding failed")
            answers.send({"id": question["id"], "refusal": packed(said("It could not be encoded."))})
        else:
            shapes = [part.shape for part in rows]
            answers.send({"id": question["id"], "shapes": shapes}, [part.tobytes() for part in rows])


def _what(question: dict[str, Any]) -> tuple[MediaKind, tuple[int, ...]]:
    return MediaKind(question["kind"]), tuple(question["size"])


if __name__ == "__main__":
    main()
