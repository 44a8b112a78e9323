"""Saves answers while they grow, by the clock of their words: the GUI's loop may be held up.

Knows no Qt and no database. `put` on the GUI thread; another one writes, which is there while words wait.
"""

import threading
from collections.abc import Callable
from time import monotonic

from app.chats.chat import Turn
from app.storage.errors import StorageError

SAVE_WITHIN_S = 0.25  # after they have come, words are on disk, unless the disk takes longer than that


class GrowingAnswers:
    def __init__(self, write: Callable[[list[Turn]], object], on_failed: Callable[[str], object]) -> None:
        """`write` returns when all is on disk, or raises StorageError; `on_failed` is called with its words.

        Both on any thread.
        """
        self._write = write
        self._on_failed = on_failed
        self._lock = threading.Lock()  # not a queue: of an answer only the newest state counts
        self._unsaved: dict[str, Turn] = {}  # copies, by id
        self._since = 0.0  # when the oldest of their words came
        self._write_s = 0.0  # the last write took
        self._timer: threading.Timer | None = None  # None: nothing waits, and nothing is being written

    def put(self, answer: Turn) -> None:
        """It has more text, or has ended."""
        copy = answer.copied()
        with self._lock:
            if not self._unsaved:
                self._since = monotonic()
            self._unsaved[copy.id] = copy
            if self._timer is None:
                self._start_timer()

    def _start_timer(self) -> None:
        begin = self._since + SAVE_WITHIN_S - self._write_s
        self._timer = threading.Timer(max(0.0, begin - monotonic()), self._save)
        self._timer.daemon = True
        self._timer.start()

    def _save(self) -> None:
        """The timer's thread. Words that come meanwhile are in the next write."""
        with self._lock:
            answers, self._unsaved = list(self._unsaved.values()), {}
        begun = monotonic()
        try:
            self._write(answers)
        except StorageError as error:
            self._on_failed(str(error))
        finally:
            self._write_s = monotonic() - begun
            with self._lock:
                self._timer = None
                if self._unsaved:
                    self._start_timer()
