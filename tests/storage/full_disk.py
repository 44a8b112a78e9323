"""Fills the disk at each write in turn: `python -m tests.storage.full_disk FOLDER QUESTIONS STEP`.

A process of its own, because what it limits holds for all files of a process. Prints a line of JSON: how
often it went well, and what was found where it did not.
"""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
import signal
import sys
from pathlib import Path

from tests.storage.recorded import END, Writer, chats_file
from tests.storage.survival import Found, look

FRAME = 4096 + 24  # of the log
LOG_HEADER = 32


def set_limit(size: int | None) -> None:
    """No file of this process can grow beyond it."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


def write_with(folder: Path, num_questions: int, limit: int, *, is_transient: bool) -> tuple[list[str], str]:
    """What was called safe, and what was said."""
    safe: list[str] = []

    def make_room() -> bool:
        if is_transient:
            set_limit(None)
        return is_transient

    writer = Writer(folder, safe.append, make_room)
    set_limit(limit)
    try:
        asyncio.run(writer.write(num_questions))
    finally:
        set_limit(None)
    return safe, writer.notice


def try_one(folder: Path, num_questions: int, limit: int, *, is_transient: bool) -> str:
    """What is wrong; mostly nothing."""
    safe, notice = write_with(folder, num_questions, limit, is_transient=is_transient)
    if END not in safe and not notice:
        return "it ended early and said nothing"
    is_open = chats_file(folder).exists() and bool(safe)
    if is_transient and is_open and END not in safe and "backup" not in notice:
        return f"it did not go on when there was room again: {notice}"
    found = look(folder, safe)
    return "" if found == Found() else str(found)


def size_of_log(folder: Path, num_questions: int) -> int:
    """How large it gets if there is room."""
    sizes: list[int] = []
    log = chats_file(folder).with_name("chats.db-wal")
    asyncio.run(Writer(folder, lambda _word: sizes.append(log.stat().st_size)).write(num_questions))
    shutil.rmtree(folder)
    return max(sizes)


def main() -> None:
    folder, num_questions, step = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    num_frames = (size_of_log(folder, num_questions) - LOG_HEADER) // FRAME
    num_good, wrong = 0, []
    for frame in range(-1, num_frames, step):
        for is_transient in (True, False):
            limit = max(0, LOG_HEADER + frame * FRAME + 100)
            problem = try_one(folder, num_questions, limit, is_transient=is_transient)
            num_good += not problem
            wrong += [f"limit {limit}, transient {is_transient}: {problem}"] if problem else []
            shutil.rmtree(folder, ignore_errors=True)
    json.dump({"num_good": num_good, "wrong": wrong}, sys.stdout)


if __name__ == "__main__":
    main()
