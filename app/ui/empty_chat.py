"""What a chat shows before its first message: what to do, and three messages to try. GUI thread."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.look.fonts import reading_font
from app.look.icons import app_icon
from app.look.plain_text import PlainLabel
from app.look.words import mark, tr

SAMPLES = (mark("What is 34 + 21?"), mark("What is a KV cache?"), mark("Count from 7 to 30"))
HINT = mark("Write a message below, or try one of these.")
LOGO = 56


class EmptyChat(QWidget):
    sample_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addStretch(3)
        column.addWidget(_logo(self), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
        column.addWidget(_hint(self), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
        self.buttons = tuple(self._sample(tr(text)) for text in SAMPLES)
        for button in self.buttons:
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(4)

    def _sample(self, text: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setProperty("kind", "chip")
        button.setMinimumWidth(260)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.sample_chosen.emit(text))
        return button


def _logo(parent: QWidget) -> PlainLabel:
    label = PlainLabel(parent=parent)
    label.setPixmap(app_icon().pixmap(LOGO, LOGO))
    return label


def _hint(parent: QWidget) -> PlainLabel:
    label = PlainLabel(tr(HINT), parent)
    font = QFont(reading_font())
    label.setFont(font)
    return label
