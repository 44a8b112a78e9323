"""A window that is not painted in a round of Qt's loop that is full, but in one of the next. GUI thread."""

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Slot
from PySide6.QtWidgets import QWidget

from app.bridge.rounds import PatientTimer


class PacedPainting(QObject):
    """Between what changes much of a window and its repainting, keys and clicks have their turn."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._is_due = False
        self._timer = PatientTimer(self)
        self._timer.due.connect(self._paint)
        window.installEventFilter(self)

    def eventFilter(self, _window: QObject, event: QEvent) -> bool:
        """Qt asks for no other repainting until this one is done."""
        if event.type() != QEvent.Type.UpdateRequest or self._is_due or not self._timer.waits:
            return False
        self._timer.start()
        return True

    @Slot()
    def _paint(self) -> None:
        self._is_due = True
        QCoreApplication.sendEvent(self._window, QEvent(QEvent.Type.UpdateRequest))
        self._is_due = False
