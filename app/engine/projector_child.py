"""The child process of `MediaEncoder`: one projector, which may end its process.

It lays out a picture beside the encoding of another.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from app.engine.llama.projector import Projector, open_projector
from app.protocol.errors import EngineError
from app.protocol.media import MediaKind
from app.system import worker
from app.system.said import said
from app.system.worker import Question

log = logging.getLogger(__name__)


def _described(projector: Projector) -> dict[str, Any]:
    return {
        "sees": projector.sees,
        "hears": projector.hears,
        "rate": projector.rate,
        "takes_whole": projector.takes_whole,
        "max_rows_at_once": projector.max_rows_at_once,
    }


def serve(questions: Iterator[Question]) -> None:
    """Each names the files, which are opened with the first one."""
    projector: Projector | None = None
    to_encode: SimpleQueue[Question] = SimpleQueue()
    with contextlib.ExitStack() as stack:
        for question in questions:
            asked = question.value
            try:
                if projector is None:
                    paths = Path(asked["projector"]), Path(asked["model"])
                    projector = stack.enter_context(open_projector(*paths, asked["num_threads"]))
                    threading.Thread(target=_encode, args=(projector, to_encode), daemon=True).start()
                match asked["do"]:
                    case "describe":
                        question.answer(_described(projector))
                    case "layout":
                        question.answer({"layout": projector.layout(*_what(question))})
                    case "encode":
                        to_encode.put(question)
            except EngineError as error:
                question.refuse(str(error))


def _encode(projector: Projector, questions: SimpleQueue[Question]) -> None:
    while True:
        question = questions.get()
        try:
            rows = []
            for part in projector.encode(*_what(question), question.parts[0]):
                rows.append(part)
                question.tell(num_rows=sum(map(len, rows)))
        except EngineError as error:
            question.refuse(str(error))
        except Exception:  # the root of this thread
            log.exception("encoding failed")
            question.refuse(said("It could not be encoded."))
        else:
            question.answer({"shapes": [part.shape for part in rows]}, *(part.tobytes() for part in rows))


def _what(question: Question) -> tuple[MediaKind, tuple[int, ...]]:
    return MediaKind(question.value["kind"]), tuple(question.value["size"])


if __name__ == "__main__":
    worker.stand_back()
    worker.limit()
    serve(worker.Parent().questions())
