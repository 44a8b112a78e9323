"""Notices that the window does not respond any more, and remembers for the next start which chats it showed.

What hangs may hold the interpreter, so it is a thread of `faulthandler` that writes, unless it is put off in
time: the stacks, behind the ids of the chats in a file of their own. GUI thread.
"""

import contextlib
import faulthandler
import json
import logging
import os
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from app.bridge.workspace import Workspace
from app.system.files import replacing

BEAT_MS = 2_000
PATIENCE_S = 5.0  # since the last beat
MAX_REMEMBERED = 100

log = logging.getLogger(__name__)


class HangWatch(QObject):
    def __init__(self, workspace: Workspace, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._shown_file = folder / "shown-chats.log"
        self._hung_file = folder / "hung-chats.json"
        self._hung: list[str] = []  # chat ids
        self._file: int | None = None
        self._size = 0  # of the file, as long as nothing hangs
        self._beats = QTimer(self, interval=BEAT_MS, timerType=Qt.TimerType.VeryCoarseTimer)
        self._beats.timeout.connect(self._beat)
        workspace.shown_changed.connect(self._note_shown)

    def has_hung(self, chat_id: str) -> bool:
        """While it was shown, in this run or one before, and was not forgiven since."""
        return chat_id in self._hung

    def forgive(self, chat_id: str) -> None:
        self._hung = [known for known in self._hung if known != chat_id]
        self._write_hung()

    def start(self) -> None:
        """Learns of the run before, and watches this one, where anything can be written."""
        self._hung = [chat_id for line in _lines(self._hung_file) for chat_id in _ids(line)]
        shown, *stacks = _lines(self._shown_file) or [""]
        if stacks:
            log.warning("The last run hung while it showed %s.\n%s", shown, "\n".join(stacks))
            self._hung = list(dict.fromkeys([*self._hung, *_ids(shown)]))[-MAX_REMEMBERED:]
            self._write_hung()
        try:
            self._file = os.open(self._shown_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o600)
        except OSError as error:
            log.warning("%s could not be written: %s", self._shown_file, error)
            return
        self._note_shown()
        self._beat()
        self._beats.start()

    def close(self) -> None:
        """The program ends, and whoever guards its end has the thread from now on."""
        self._beats.stop()
        if self._file is not None:
            faulthandler.cancel_dump_traceback_later()
            os.close(self._file)
            self._file = None
            with contextlib.suppress(OSError):
                self._shown_file.unlink()

    @Slot()
    def _note_shown(self) -> None:
        """Before they are drawn."""
        if self._file is None:
            return
        chat_ids = [session.chat.id for session in self._workspace.shown]
        try:
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, f"{json.dumps(chat_ids)}\n".encode())
        except OSError as error:
            log.warning("%s could not be written: %s", self._shown_file, error)
        self._size = os.fstat(self._file).st_size

    @Slot()
    def _beat(self) -> None:
        assert self._file is not None
        faulthandler.dump_traceback_later(PATIENCE_S, file=self._file)
        if os.fstat(self._file).st_size > self._size:
            log.warning("The window did not respond for over %.0f s.", PATIENCE_S)
            self._note_shown()  # it took long, but it did not hang

    def _write_hung(self) -> None:
        try:
            with replacing(self._hung_file) as file:
                json.dump(self._hung, file)
        except OSError as error:
            log.warning("%s could not be written: %s", self._hung_file, error)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _ids(line: str) -> list[str]:
    """None of what cannot be read."""
    try:
        return [str(chat_id) for chat_id in json.loads(line)]
    except (ValueError, TypeError, RecursionError):
        return []
