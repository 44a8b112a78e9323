"""Notices that the window does not respond any more, and remembers for the next start which chats it showed.

What hangs may hold the interpreter, so it is a thread of `faulthandler` that writes, unless it is put off in
time: the stacks, behind the ids of the chats in a file of their own. GUI thread.
"""

import faulthandler
import json
import logging
import os
from pathlib import Path
from typing import TextIO

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from app.bridge.workspace import Workspace
from app.whole_file import replacing

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
        self._file: TextIO | None = None
        self._size = 0  # of the file, as long as nothing hangs
        self._beats = QTimer(self, interval=BEAT_MS, timerType=Qt.TimerType.VeryCoarseTimer)
        self._beats.timeout.connect(self._beat)
        workspace.shown_changed.connect(self._note_shown)

    def has_hung(self, chat_id: str) -> bool:
        """While it was shown, in this run or one before, and was not forgiven since."""
        return chat_id in self._hung

    def forgive(self, chat_id: str) -> None:
        self._hung.remove(chat_id)
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
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            self._file = os.fdopen(os.open(self._shown_file, flags, mode=0o600), "w", encoding="utf-8")
        except OSError as error:
            log.warning("%s could not be written: %s", self._shown_file, error)
            return
        self._note_shown()
        self._beat()
        self._beats.start()

    def close(self) -> None:
        """The program ends, and whoever guards its end has the thread from now on."""
        self._beats.stop()
        if self._file:
            faulthandler.cancel_dump_traceback_later()
            self._file.close()
            self._file = None
            self._shown_file.unlink(missing_ok=True)

    @Slot()
    def _note_shown(self) -> None:
        """Before they are drawn."""
        if self._file:
            self._write([session.chat.id for session in self._workspace.shown])

    def _write(self, chat_ids: list[str]) -> None:
        assert self._file
        self._file.seek(0)
        self._file.truncate()
        self._file.write(json.dumps(chat_ids) + "\n")
        self._file.flush()
        self._size = self._file.tell()

    @Slot()
    def _beat(self) -> None:
        assert self._file
        faulthandler.dump_traceback_later(PATIENCE_S, file=self._file)
        if os.fstat(self._file.fileno()).st_size > self._size:
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
