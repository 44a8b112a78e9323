"""Windows beside the main one are never larger than the screen. GUI thread."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = QSize(40, 80)  # what window managers and panels may need around one


def resize_to_fit(window: QWidget, wanted: QSize) -> None:
    window.resize(wanted.boundedTo(window.screen().availableSize() - FRAME))
