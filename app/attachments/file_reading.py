"""Has one file read in a child process. Blocks, so for a thread of its own.

The file is never opened in this process: merely opening some files blocks forever.
"""

from pathlib import Path

from app.attachments.limits import MAX_CPU_S, MAX_MEMORY_BYTES, MAX_WALL_S
from app.attachments.refusal import Reason, RefusedError
from app.chats.attachment import Attachment
from app.chats.text import valid_unicode
from app.media.reading import ReadingCancelledError
from app.system.worker import Worker, WorkerEndedError, WorkerRefusedError

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
        self._limits = {"AS": max_memory_bytes, "CPU": max_cpu_s}
        self._max_wall_s = max_wall_s
        self._worker = Worker("app.attachments.reading_child")

    @property
    def name(self) -> str:
        return valid_unicode(self.path.name)[-MAX_NAME_CHARS:]

    def run(self) -> Attachment:
        """Once. Raises RefusedError or ReadingCancelledError."""
        question = {"path": str(self.path.absolute()), "limits": self._limits}
        try:
            answer, (text,) = self._worker.ask(question, max_s=self._max_wall_s)
        except WorkerRefusedError as refusal:
            raise RefusedError(Reason(str(refusal))) from None
        except (WorkerEndedError, ValueError):
            raise ReadingCancelledError if self._worker.is_closed else RefusedError(Reason.LIMITS) from None
        except OSError as error:
            raise RefusedError(Reason.SYSTEM) from error
        finally:
            self._worker.close()
        return Attachment(self.name, text.decode("utf-8", "replace"), answer["kind"])

    def cancel(self) -> None:
        """Any thread, any time."""
        self._worker.end()
