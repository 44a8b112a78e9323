"""Windows that stay beside the main one. GUI thread."""

from PySide6.QtWidgets import QWidget


def come_up(window: QWidget) -> None:
    """In front, whether it was hidden, covered or never shown."""
    window.show()
    window.raise_()
    window.activateWindow()
