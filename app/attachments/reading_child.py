"""The child's side: opens one file, reads it within limits, says its text or why not."""

import os
import stat
from io import BytesIO
from pathlib import Path

from app.attachments.extraction import text_of
from app.attachments.refusal import MAX_CHARS, MAX_FILE_BYTES, Reason, RefusedError
from app.system import worker
from app.system.worker import Answer, Parent, Question

MAX_OPEN_FILES = 64


def read(path: Path) -> tuple[bytes, str]:
    """The text in UTF-8 and the kind of file. Raises RefusedError."""
    try:
        text, kind = text_of(BytesIO(_content(path)), path.name)
        if len(text) > MAX_CHARS:
            raise RefusedError(Reason.TOO_MUCH_TEXT)
        return text.encode("utf-8", "replace"), kind
    except RefusedError:
        raise
    except MemoryError as error:
        raise RefusedError(Reason.LIMITS) from error
    except Exception as error:  # whatever a reader raises, the file cannot be read
        raise RefusedError(Reason.DAMAGED) from error


def _content(path: Path) -> bytes:
    """Raises RefusedError. Opens regular files only: opening a pipe or a device has side effects."""
    try:
        _check(path.stat())
        # Should it have become a pipe meanwhile, this does not wait for its writer.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            _check(os.fstat(file.fileno()))
            content = file.read(MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RefusedError(Reason.MISSING) from error
    except PermissionError as error:
        raise RefusedError(Reason.FORBIDDEN) from error
    except OSError as error:
        raise RefusedError(Reason.SYSTEM) from error
    if len(content) > MAX_FILE_BYTES:
        raise RefusedError(Reason.TOO_LARGE)
    if not content:
        raise RefusedError(Reason.EMPTY)
    return content


def _check(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise RefusedError(Reason.FOLDER)
    if not stat.S_ISREG(status.st_mode):
        raise RefusedError(Reason.NO_FILE)
    if status.st_size > MAX_FILE_BYTES:
        raise RefusedError(Reason.TOO_LARGE)


def answer(question: Question) -> Answer:
    worker.stand_back()
    worker.limit(**question.value["limits"], FSIZE=0, NOFILE=MAX_OPEN_FILES)  # it writes nothing
    text, kind = read(Path(question.value["path"]))
    return {"kind": kind}, text


if __name__ == "__main__":
    Parent().serve(answer, RefusedError)
