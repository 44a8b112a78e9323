"""Lets the text fade at the page's lower edge as long as there is more below. GUI thread."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.look.tokens import current

HEIGHT = 28


class EdgeFade(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def place(self, width: int, bottom: int) -> None:
        self.setGeometry(0, bottom - HEIGHT, width, HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        page = QColor(current().window)
        clear = QColor(page)
        clear.setAlpha(0)
        gradient = QLinearGradient(0, 0, 0, HEIGHT)
        gradient.setColorAt(0, clear)
        gradient.setColorAt(1, page)
        QPainter(self).fillRect(self.rect(), gradient)
