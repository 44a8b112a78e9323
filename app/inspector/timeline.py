"""How long the last steps' decodes took, one column each, in the colours of the sequences that were in them.

Keeps a pixmap and draws only the new columns, all of them only when size, scale or colours change.
GUI thread.
"""

from collections import deque

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.engine.types import StepReport
from app.look.figures import milliseconds
from app.look.fonts import small_font, tabular
from app.look.sequence_colours import colour_of
from app.look.tokens import Tokens, current

NUM_STEPS = 480  # kept; as many are shown as there is room for
COLUMN = 2  # pixels of one step
HEIGHT = 72
LABEL_HEIGHT = 18
CUT = 3  # the mark on a column that is taller than the scale


def usual_ms(times: list[float]) -> float:
    """What 95 of 100 steps stay below: one slow step must not make the others invisible."""
    return sorted(times)[int(0.95 * (len(times) - 1))] if times else 0.0


def scale_for(longest_ms: float) -> float:
    """The top of the scale: 1, 2 or 5 times a power of ten, so that it seldom changes."""
    top = 1.0
    while True:
        for step in (1, 2, 5):
            if longest_ms <= top * step:
                return top * step
        top *= 10


class Timeline(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._steps: deque[StepReport] = deque(maxlen=NUM_STEPS)
        self._top_ms = 1.0
        self._drawn_for: Tokens | None = None
        self._columns = QPixmap()
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Decode times of the last steps")

    def append(self, reports: list[StepReport]) -> None:
        decoded = [report for report in reports if report.spans]
        self._steps.extend(decoded)
        top_ms = scale_for(usual_ms([step.decode_ms for step in self._steps]))
        if top_ms != self._top_ms or self._drawn_for is not current() or len(decoded) >= NUM_STEPS:
            self._top_ms = top_ms
            self._draw_all()
        else:
            self._scroll(decoded)
        self.setAccessibleDescription(self.text)
        self.update()

    def clear(self) -> None:
        self._steps.clear()
        self._draw_all()
        self.update()

    @property
    def text(self) -> str:
        """The middle and the longest of what is shown."""
        times = sorted(step.decode_ms for step in self._steps)
        if not times:
            return ""
        return f"median {milliseconds(times[len(times) // 2])}, max {milliseconds(times[-1])}"

    def sizeHint(self) -> QSize:
        return QSize(240, HEIGHT + LABEL_HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw_all()

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        if self._drawn_for is not tokens or self._columns.devicePixelRatio() != self.devicePixelRatioF():
            self._draw_all()
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), HEIGHT, QColor(tokens.window))
        painter.setPen(QColor(tokens.hairline))
        painter.drawLine(0, HEIGHT // 2, self.width(), HEIGHT // 2)
        painter.drawPixmap(0, 0, self._columns)
        painter.drawRect(QRect(0, 0, self.width() - 1, HEIGHT - 1))
        self._paint_labels(painter, tokens)

    def _paint_labels(self, painter: QPainter, tokens: Tokens) -> None:
        painter.setPen(QColor(tokens.muted))
        below = QRectF(0, HEIGHT, self.width(), LABEL_HEIGHT)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, self.text)
        scale = f"0 – {self._top_ms:,.0f} ms" if self._steps else ""
        painter.drawText(below, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, scale)

    def _column_width(self) -> int:
        """In device pixels, so that columns are crisp at any scale."""
        return max(1, round(COLUMN * self.devicePixelRatioF()))

    def _draw_all(self) -> None:
        ratio = self.devicePixelRatioF()
        self._columns = QPixmap(int(self.width() * ratio), int(HEIGHT * ratio))
        self._columns.setDevicePixelRatio(ratio)
        self._columns.fill(Qt.GlobalColor.transparent)
        self._drawn_for = current()
        self._draw_newest(list(self._steps))

    def _scroll(self, steps: list[StepReport]) -> None:
        if steps and not self._columns.isNull():
            shift = self._column_width() * len(steps)
            self._columns.scroll(-shift, 0, self._columns.rect())
            self._draw_newest(steps)

    def _draw_newest(self, steps: list[StepReport]) -> None:
        """At the right end, over what is there."""
        if self._columns.isNull():
            return
        pixels = self._columns
        ratio = pixels.devicePixelRatio()
        pixels.setDevicePixelRatio(1.0)
        painter = QPainter(pixels)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        width = self._column_width()
        left = pixels.width() - width * len(steps)
        for step in steps:
            painter.fillRect(left, 0, width, pixels.height(), Qt.GlobalColor.transparent)
            self._draw_column(painter, step, QRectF(left, 0, max(1, width - (width > 2)), pixels.height()))
            left += width
        painter.end()
        pixels.setDevicePixelRatio(ratio)

    def _draw_column(self, painter: QPainter, step: StepReport, place: QRectF) -> None:
        height = place.height() * min(1.0, step.decode_ms / self._top_ms)
        bottom = place.bottom()
        for span in step.spans:
            share = height * span.num_rows / step.num_rows
            painter.fillRect(
                QRectF(place.left(), bottom - share, place.width(), share), colour_of(span.seq_id)
            )
            bottom -= share
        if step.decode_ms > self._top_ms:
            painter.fillRect(QRectF(place.left(), 0, place.width(), CUT), QColor(current().text))
