"""The queued messages, which can be removed or edited. GUI thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.chats.chat import QueuedMessage
from app.look.buttons import IconButton
from app.look.fonts import reading_font, small_font
from app.look.layouts import drop
from app.look.plain_text import PlainLabel, one_line
from app.look.tokens import current
from app.look.words import tr

PADDING_X, PADDING_Y = 14, 8
RADIUS = 12
SHARE = 0.86  # of the column, at most, as the bubbles of what was sent
MAX_CHARS = 400  # shown of each
GAP = 8
SIDE = 26


class QueueView(QWidget):
    removed = Signal(int)  # which of them
    edit_requested = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._messages: tuple[QueuedMessage, ...] = ()
        self.bubbles: list[QueuedBubble] = []
        self._zoom = 0
        self.setAccessibleName(tr("Queued"))
        self.hide()

    def show_messages(self, messages: Sequence[QueuedMessage]) -> None:
        if tuple(messages) == self._messages:
            return
        self._messages = tuple(messages)
        drop(*self.bubbles)
        self.bubbles = [self._new_bubble(message, n) for n, message in enumerate(messages)]
        self.setVisible(bool(messages))

    def _new_bubble(self, message: QueuedMessage, number: int) -> "QueuedBubble":
        bubble = QueuedBubble(message, self)
        bubble.set_zoom(self._zoom)
        bubble.remove.clicked.connect(lambda: self.removed.emit(number))
        bubble.edit.clicked.connect(lambda: self.edit_requested.emit(number))
        bubble.show()
        return bubble

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for bubble in self.bubbles:
            bubble.set_zoom(zoom)

    def arrange(self, width: int) -> int:
        y = 0
        for bubble in self.bubbles:
            bubble.move(0, y)
            y += bubble.arrange(width) + GAP
        self.setFixedSize(width, y)
        return y


class QueuedBubble(QWidget):
    """The beginning of a message in an outlined bubble."""

    def __init__(self, message: QueuedMessage, parent: QWidget) -> None:
        super().__init__(parent)
        text = message.text if len(message.text) <= MAX_CHARS else message.text[: MAX_CHARS - 1] + "…"
        files = " · ".join(one_line(each.name) for each in message.attachments)[:MAX_CHARS]
        lines = [*([files] if files else []), *text.splitlines()[:6]]
        self.words = PlainLabel("\n".join(lines), self, wraps=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._state = PlainLabel(tr("queued"), self, tone="muted")
        self._state.setFont(small_font())
        self.edit = IconButton("pencil", tr("Edit this message"), SIDE, self)
        self.remove = IconButton("x", tr("Do not send this message"), SIDE, self)

    def set_zoom(self, zoom: int) -> None:
        self.words.setFont(reading_font(zoom))

    def arrange(self, width: int) -> int:
        widest = int(width * SHARE) - 2 * PADDING_X
        wanted = self.words.fontMetrics().boundingRect(0, 0, widest, 0, _FLAGS, self.words.text()).width() + 4
        text_width = min(widest, max(wanted, 40))
        text_height = self.words.heightForWidth(text_width)
        self.words.setGeometry(width - PADDING_X - text_width, PADDING_Y, text_width, text_height)
        y = 2 * PADDING_Y + text_height + 2
        self.remove.move(width - SIDE, y)
        self.edit.move(width - 2 * SIDE, y)
        self._state.adjustSize()
        self._state.setGeometry(self.edit.x() - self._state.width() - 8, y, self._state.width(), SIDE)
        self.setFixedSize(width, y + SIDE)
        return y + SIDE

    def paintEvent(self, _event: QPaintEvent) -> None:
        frame = self.words.geometry().adjusted(-PADDING_X, -PADDING_Y, PADDING_X, PADDING_Y)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(current().muted), 1, Qt.PenStyle.DashLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)


_FLAGS = int(Qt.TextFlag.TextWordWrap) | int(Qt.AlignmentFlag.AlignLeft)
