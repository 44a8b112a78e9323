"""Windows that stay beside the main one: in front, and never larger than the screen. GUI thread."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget


def come_up(window: QWidget) -> None:
    """In front, whether it was hidden, covered or never shown."""
    window.show()
    window.raise_()
    window.activateWindow()


FRAME = QSize(40, 80)  # what window managers and panels may need around one


def resize_to_fit(window: QWidget, wanted: QSize) -> None:
    window.resize(wanted.boundedTo(window.screen().availableSize() - FRAME))
