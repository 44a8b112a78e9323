"""Says over a part of the window what dropping would do there. GUI thread."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.look.fonts import reading_font
from app.look.painted import paint_rounded
from app.look.plain_text import heading_font, one_line
from app.look.tokens import current

POINTS = 4  # above the reading size
INSET, RADIUS, OPACITY = 12, 10, 0.96


class DropOverlay(QWidget):
    """Covers its parent while something is dragged over it; what is dropped falls through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._ground = parent
        self.text = ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFont(heading_font(reading_font(POINTS)))
        parent.installEventFilter(self)
        self.hide()

    def tell(self, text: str) -> None:
        self.text = one_line(text)
        self.setAccessibleName(self.text)
        self.setGeometry(self._ground.rect())
        self.raise_()
        self.show()
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self._ground:
            self.setGeometry(self._ground.rect())
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        ground = QColor(tokens.window)
        ground.setAlphaF(OPACITY)
        painter = QPainter(self)
        painter.fillRect(self.rect(), ground)
        paint_rounded(painter, self.rect(), RADIUS, INSET, edge=tokens.accent, width=2)
        painter.setPen(QColor(tokens.text))
        room = self.rect().adjusted(3 * INSET, 0, -3 * INSET, 0)
        text = self.fontMetrics().elidedText(self.text, Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)
