"""The end of a page: the button that scrolls there, and the fade over text that goes on below. GUI thread."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.fonts import small_font
from app.look.icons import icon
from app.look.painted import paint_rounded
from app.look.tokens import current
from app.look.words import tr, tr_n


class JumpButton(QToolButton):
    SIDE = 34
    BADGE = 16
    MARGIN = 6  # of the badge, which stands over the corner

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.num_unread = -1
        self._seen = (0, False)  # when last at the end: number of turns, and whether one was being written
        self.setFixedSize(self.SIDE + 2 * self.MARGIN, self.SIDE + self.MARGIN)
        self.setIconSize(QSize(16, 16))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_unread(0)
        self.hide()

    def count(self, num_turns: int, is_busy: bool, is_at_end: bool) -> None:
        """An answer that has ended since then counts as a new turn."""
        if is_at_end:
            self._seen = (num_turns, is_busy)
        num_seen, was_busy = self._seen
        self.show_unread(max(0, num_turns - num_seen) + int(was_busy and not is_busy))

    def show_unread(self, num_unread: int) -> None:
        if num_unread == self.num_unread:
            return
        self.num_unread = num_unread
        new = tr_n("{n} new message", "{n} new messages", num_unread) if num_unread else ""
        label = tr("Jump to latest")
        self.setAccessibleName(f"{label}: {new}" if new else label)
        self.setToolTip(self.accessibleName())
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        disc = QRectF(self.MARGIN, self.MARGIN, self.SIDE, self.SIDE).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QColor(tokens.accent if self.hasFocus() else tokens.hairline))
        painter.setBrush(QColor(tokens.raised if self.underMouse() else tokens.window))
        painter.drawEllipse(disc)
        side = self.iconSize().width()
        corner = self.MARGIN + (self.SIDE - side) // 2
        icon("arrow-down", "text").paint(painter, corner, corner, side, side)
        if self.num_unread:
            self._paint_badge(painter)

    def _paint_badge(self, painter: QPainter) -> None:
        tokens = current()
        text = str(self.num_unread) if self.num_unread < 100 else "99+"
        painter.setFont(small_font())
        width = max(self.BADGE, painter.fontMetrics().horizontalAdvance(text) + 8)
        badge = QRectF(self.width() - width, 0, width, self.BADGE)
        paint_rounded(painter, badge, self.BADGE / 2, fill=tokens.accent)
        painter.setPen(QColor(tokens.on_accent))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, text)


HEIGHT = 28


class EdgeFade(QWidget):
    """Lets the text fade at the page's lower edge as long as there is more below."""

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
