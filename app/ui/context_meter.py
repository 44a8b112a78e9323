"""How much of the context this chat fills, as a thin bar and two numbers. GUI thread."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.fonts import small_font, tabular
from app.look.tokens import current
from app.ui.answer_text import context_text

BAR_WIDTH, BAR_HEIGHT = 64, 4
NEARLY_FULL = 0.9


class ContextMeter(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._num_used = 0
        self._n_ctx = 0
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Context used")

    def apply(self, num_used: int, n_ctx: int) -> None:
        if (num_used, n_ctx) == (self._num_used, self._n_ctx):
            return
        self._num_used, self._n_ctx = num_used, n_ctx
        self.setToolTip(f"{context_text(num_used, n_ctx)} tokens of the context are this chat's")
        self.setAccessibleDescription(context_text(num_used, n_ctx))
        self.updateGeometry()
        self.update()

    @property
    def text(self) -> str:
        return context_text(self._num_used, self._n_ctx)

    def sizeHint(self) -> QSize:
        """As wide as the fullest meter, so that it never jumps."""
        if not self._n_ctx:
            return QSize(0, 0)
        metrics = self.fontMetrics()
        widest = context_text(self._n_ctx, self._n_ctx)
        return QSize(BAR_WIDTH + 10 + metrics.horizontalAdvance(widest) + 2, metrics.height() + 4)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self._n_ctx:
            return
        tokens = current()
        share = min(1.0, self._num_used / self._n_ctx)
        text_width = self.fontMetrics().horizontalAdvance(self.text)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(tokens.muted))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self.text)
        painter.setPen(Qt.PenStyle.NoPen)
        left = self.width() - text_width - 10 - BAR_WIDTH
        bar = QRectF(left, (self.height() - BAR_HEIGHT) / 2, BAR_WIDTH, BAR_HEIGHT)
        painter.setBrush(QColor(tokens.hairline))
        painter.drawRoundedRect(bar, 2, 2)
        painter.setBrush(QColor(tokens.warning if share >= NEARLY_FULL else tokens.accent))
        painter.drawRoundedRect(
            QRectF(bar.topLeft(), bar.size()).adjusted(0, 0, (share - 1) * BAR_WIDTH, 0), 2, 2
        )
