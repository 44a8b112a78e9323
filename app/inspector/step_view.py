"""The last step: whose rows were in its batch, and where its time went. GUI thread."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.engine.types import Span, StepReport
from app.look.figures import milliseconds
from app.look.fonts import small_font, tabular
from app.look.sequence_colours import colour_of
from app.look.tokens import Tokens, current

BAR_HEIGHT = 16
LINE_HEIGHT = 22


def rows_text(spans: tuple[Span, ...]) -> str:
    """Each sequence and its rows, in the order of the batch."""
    return "   ".join(f"seq {span.seq_id}: {span.num_rows:,}" for span in spans)


def times_of(report: StepReport) -> tuple[tuple[str, str], ...]:
    return (
        ("schedule", milliseconds(report.schedule_ms)),
        ("decode", milliseconds(report.decode_ms)),
        ("update", milliseconds(report.update_ms)),
    )


class StepView(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._report: StepReport | None = None
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Last step")

    def apply(self, report: StepReport | None) -> None:
        self._report = report
        self.setAccessibleDescription(rows_text(report.spans) if report else "")
        self.setToolTip(self.accessibleDescription())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, BAR_HEIGHT + 2 * LINE_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        spans = self._report.spans if self._report else ()
        self._paint_rows(painter, spans, tokens)
        if self._report:
            self._paint_legend(painter, spans, tokens)
            self._paint_times(painter, self._report, tokens)

    def _paint_rows(self, painter: QPainter, spans: tuple[Span, ...], tokens: Tokens) -> None:
        bar = QRectF(0.5, 0.5, self.width() - 1, BAR_HEIGHT - 1)
        outline = QPainterPath()
        outline.addRoundedRect(bar, 4, 4)
        painter.fillPath(outline, QColor(tokens.window))
        painter.save()
        painter.setClipPath(outline)
        total = max(1, sum(span.num_rows for span in spans))
        left = bar.left()
        for span in spans:
            width = bar.width() * span.num_rows / total
            painter.fillRect(QRectF(left, bar.top(), width, bar.height()), colour_of(span.seq_id))
            painter.fillRect(QRectF(left + width - 1, bar.top(), 1, bar.height()), QColor(tokens.window))
            left += width
        painter.restore()
        painter.setPen(QColor(tokens.hairline))
        painter.drawPath(outline)

    def _paint_legend(self, painter: QPainter, spans: tuple[Span, ...], tokens: Tokens) -> None:
        metrics = painter.fontMetrics()
        left, y = 0, BAR_HEIGHT + 4
        for span in spans:
            text = f"{span.seq_id}: {span.num_rows:,}"
            room = max(44, metrics.horizontalAdvance(text) + 22)
            if left + room > self.width():
                painter.drawText(QRectF(left, y, 20, LINE_HEIGHT), Qt.AlignmentFlag.AlignVCenter, "…")
                return
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour_of(span.seq_id))
            painter.drawRoundedRect(QRectF(left, y + LINE_HEIGHT / 2 - 4, 8, 8), 2, 2)
            painter.setPen(QColor(tokens.text))
            painter.drawText(QRectF(left + 13, y, room, LINE_HEIGHT), Qt.AlignmentFlag.AlignVCenter, text)
            left += room

    def _paint_times(self, painter: QPainter, report: StepReport, tokens: Tokens) -> None:
        """In three columns of fixed places."""
        column = self.width() / 3
        y = BAR_HEIGHT + LINE_HEIGHT + 1
        for index, (name, text) in enumerate(times_of(report)):
            place = QRectF(index * column, y, column, LINE_HEIGHT)
            painter.setPen(QColor(tokens.muted))
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, name)
            painter.setPen(QColor(tokens.text))
            after = place.adjusted(painter.fontMetrics().horizontalAdvance(name + "  "), 0, 0, 0)
            painter.drawText(after, Qt.AlignmentFlag.AlignVCenter, text)
