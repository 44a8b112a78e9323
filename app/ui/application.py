"""The application object, which also takes files that the system asks it to open. GUI thread.

macOS sends an event where others start the program again; the first may come before a slot is connected.
"""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from app.look.theme import STYLE, STYLE_PROPERTY


class Application(QApplication):
    asked_to_open = Signal()  # there are files to take

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__([*arguments, "-style", STYLE])  # faster than by a call
        self.setProperty(STYLE_PROPERTY, STYLE)
        self._asked_files: list[Path] = []

    def take_asked_files(self) -> list[Path]:
        files, self._asked_files = self._asked_files, []
        return files

    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        if file := event.file():  # else it is a URL
            self._asked_files.append(Path(file))
            self.asked_to_open.emit()
        return True
