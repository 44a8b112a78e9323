"""The child's side: opens one file, reads it within limits, says its text or why not, and ends."""

import os
import stat
import sys
from io import BytesIO
from pathlib import Path

from app.attachments.extraction import text_of
from app.attachments.limits import MAX_CHARS, MAX_FILE_BYTES
from app.attachments.refusal import Reason, RefusedError
from app.system import child_process

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


def main() -> None:
    words = child_process.receive(sys.stdin.buffer)
    child_process.end_with_parent()
    _limit(words["max_memory_bytes"], words["max_cpu_s"])
    _answer(Path(words["path"]))
    os._exit(0)


def _answer(path: Path) -> None:
    """The text follows raw: parsing it from JSON would hold the parent's GIL for long."""
    stdout = sys.stdout.buffer
    try:
        text, kind = read(path)
    except RefusedError as refusal:
        child_process.send(stdout, {"refusal": refusal.reason})
    else:
        child_process.send(stdout, {"kind": kind, "num_bytes": len(text)})
        stdout.write(text)
        stdout.flush()


def _limit(max_memory_bytes: int, max_cpu_s: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    os.nice(10)
    limits = {
        resource.RLIMIT_AS: max_memory_bytes,
        resource.RLIMIT_CPU: max_cpu_s,
        resource.RLIMIT_FSIZE: 0,  # it writes nothing
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


if __name__ == "__main__":
    main()
