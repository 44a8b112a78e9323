"""Escape does the least destructive thing first: the focused widget gets it first. GUI thread."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent


def keeps_escape(event: QEvent) -> bool:
    """For the `event` of a widget: makes its Escape an ordinary key, which does not stop the answer."""
    is_asked = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
    if is_asked and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
        event.accept()
        return True
    return False
