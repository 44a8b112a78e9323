"""Shows a chat and hangs, with the interpreter held or not: `python -m tests.bridge.hanging FOLDER HOW`.

Prints a line when it is about to.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from app.bridge import hang_watch
from app.bridge.hang_watch import HangWatch

HUNG = "the chat that hung"


class _Named:
    def __init__(self, name: str) -> None:
        self.id = name
        self.chat = self


class ShowingWorkspace(QObject):
    """What the watch knows of a Workspace."""

    shown_changed = Signal()
    shown: tuple[_Named, ...] = ()

    def show(self, *names: str) -> None:
        self.shown = tuple(map(_Named, names))
        self.shown_changed.emit()


def main() -> None:
    folder, how = Path(sys.argv[1]), sys.argv[2]
    hang_watch.BEAT_MS, hang_watch.PATIENCE_S = 50, 0.5
    application = QCoreApplication([])
    workspace = ShowingWorkspace()
    watch = HangWatch(workspace, folder)  # type: ignore[arg-type]
    watch.start()
    workspace.show(HUNG)

    def begin() -> None:
        os.write(1, b"now\n")
        if how == "C":
            sum(range(10**14))  # holds the interpreter
        while how == "Python":
            pass

    QTimer.singleShot(200, begin)
    application.exec()


if __name__ == "__main__":
    main()
