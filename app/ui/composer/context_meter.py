"""The share of the context used by this chat and its draft, as a bar and numbers. GUI thread."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.fonts import small_font, tabular
from app.look.plain_text import as_table
from app.look.tokens import current
from app.look.words import tr
from app.ui.composer.context_words import ContextFigures, figures_text, rows

BAR_WIDTH, MIN_BAR_WIDTH, BAR_HEIGHT = 72, 24, 6
GAP = 10
TONES = (1.0, 0.6, 0.3)  # cached, used, draft
NEARLY_FULL = 0.9


class ContextMeter(QWidget):
    """Three tones: cached, used but to be computed again, and what the draft will add."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.figures = ContextFigures()
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Context used"))

    @property
    def text(self) -> str:
        return figures_text(self.figures)

    def apply(self, figures: ContextFigures) -> None:
        if figures == self.figures:
            return
        size = self.sizeHint()
        self.figures = figures
        told = rows(figures) if figures.limit else ()
        self.setToolTip(as_table(told) if told else "")
        self.setAccessibleDescription(", ".join(" ".join(row) for row in told))
        if self.sizeHint() != size:  # else Qt would lay out the whole window for each token
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as the fullest meter, so that it never changes."""
        limit = self.figures.limit
        if not limit:
            return QSize(0, 0)
        metrics = self.fontMetrics()
        widest = figures_text(ContextFigures(limit, limit, limit if self.figures.draft else 0, limit))
        return QSize(BAR_WIDTH + GAP + metrics.horizontalAdvance(widest) + 2, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        """Without the bar, where there is no room for both."""
        size = self.sizeHint()
        return QSize(max(0, size.width() - BAR_WIDTH - GAP), size.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.figures.limit:
            return
        text_width = self.fontMetrics().horizontalAdvance(self.text)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(current().muted))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self.text)
        width = min(BAR_WIDTH, self.width() - text_width - GAP)
        if width >= MIN_BAR_WIDTH:
            left = self.width() - text_width - GAP - width
            self._paint_bar(painter, QRectF(left, (self.height() - BAR_HEIGHT) / 2, width, BAR_HEIGHT))

    def _paint_bar(self, painter: QPainter, bar: QRectF) -> None:
        tokens, figures = current(), self.figures
        shape = QPainterPath()
        shape.addRoundedRect(bar, BAR_HEIGHT / 2, BAR_HEIGHT / 2)
        painter.setClipPath(shape)
        painter.fillRect(bar, QColor(tokens.hairline))
        is_nearly_full = figures.total >= NEARLY_FULL * figures.limit
        colour = QColor(tokens.warning if is_nearly_full else tokens.accent)
        ends = (figures.cached, figures.used, figures.total)
        for start, end, strength in zip((0, *ends), ends, TONES, strict=False):
            colour.setAlphaF(strength)
            self._paint_part(painter, bar, start, end, colour)

    def _paint_part(self, painter: QPainter, bar: QRectF, start: int, end: int, colour: QColor) -> None:
        if end > start:
            scale = bar.width() / self.figures.limit
            left = bar.left() + min(start * scale, bar.width())
            right = bar.left() + min(max(end * scale, start * scale + 2), bar.width())
            painter.fillRect(QRectF(left, bar.top(), right - left, bar.height()), colour)
