"""Has one file read in a child process. Blocks, so for a thread of its own.

The file is never opened in this process: merely opening some files blocks forever.
"""

import contextlib
import threading
from pathlib import Path

from app.attachments.limits import MAX_CPU_S, MAX_MEMORY_BYTES, MAX_WALL_S
from app.attachments.refusal import ReadingCancelledError, Reason, RefusedError
from app.chats.attachment import Attachment
from app.chats.text import valid_unicode
from app.system import child_process

MAX_NAME_CHARS = 200


class FileReading:
    def __init__(
        self,
        path: Path,
        max_cpu_s: int = MAX_CPU_S,
        max_memory_bytes: int = MAX_MEMORY_BYTES,
        max_wall_s: float = MAX_WALL_S,
    ) -> None:
        self.path = path
        self._limits = {"max_cpu_s": max_cpu_s, "max_memory_bytes": max_memory_bytes}
        self._max_wall_s = max_wall_s
        self._child: child_process.Child | None = None
        self._lock = threading.Lock()  # `cancel` may come before there is a child
        self._is_cancelled = False

    @property
    def name(self) -> str:
        return valid_unicode(self.path.name)[-MAX_NAME_CHARS:]

    def run(self) -> Attachment:
        """Raises RefusedError or ReadingCancelledError."""
        child = self._start()
        timer = threading.Timer(self._max_wall_s, child_process.kill, [child])
        timer.start()
        try:
            return self._ask(child)
        finally:
            timer.cancel()
            child_process.reap(child)

    def cancel(self) -> None:
        """Any thread, any time."""
        with self._lock:
            self._is_cancelled = True
            if self._child:
                child_process.kill(self._child)

    def _start(self) -> child_process.Child:
        with self._lock:
            if self._is_cancelled:
                raise ReadingCancelledError
            try:
                self._child = child_process.start("app.attachments.reading_child", leads_group=True)
            except OSError as error:
                raise RefusedError(Reason.SYSTEM) from error
            return self._child

    def _ask(self, child: child_process.Child) -> Attachment:
        with contextlib.suppress(OSError):  # it is dead already, so it sends no answer
            child_process.send(child.stdin, {"path": str(self.path.absolute()), **self._limits})
        try:
            return self._receive(child)
        except (EOFError, ValueError):  # it was killed, perhaps in the middle of its answer
            if self._is_cancelled:
                raise ReadingCancelledError from None
            raise RefusedError(Reason.LIMITS) from None

    def _receive(self, child: child_process.Child) -> Attachment:
        answer = child_process.receive(child.stdout)
        if "refusal" in answer:
            raise RefusedError(Reason(answer["refusal"]))
        assert child.stdout is not None
        text = child.stdout.read(answer["num_bytes"])
        if len(text) < answer["num_bytes"]:
            raise EOFError
        return Attachment(self.name, text.decode("utf-8", "replace"), answer["kind"])
