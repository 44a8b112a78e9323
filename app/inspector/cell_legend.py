"""What the colours of the KV map mean: free, shared, each sequence by number and title. GUI thread."""

from collections.abc import Mapping
from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector.cell_figures import sequence_text
from app.inspector.cell_picture import NO_SEQUENCE
from app.inspector.media_words import POSITIONS
from app.look.fonts import small_font
from app.look.plain_text import as_tooltip
from app.look.sequence_colours import colour_of
from app.look.tokens import Tokens, current
from app.look.words import mark, tr

LINE = 20
SWATCH = 11
SPACE = 14
MARGIN = 8
MAX_LINES = 4
MAX_TEXT_WIDTH = 120  # where the names do not all fit on one line
FREE, SHARED, MEDIA = mark("free"), mark("shared"), mark("picture or sound")


class CellLegend(QWidget):
    """Shows as many sequences as fit into four lines."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._entries: list[tuple[str, int]] = []  # name, seq_id
        self._most_lines = 1
        self._placed: list[QRectF] = []
        self._placed_for = 0  # this width
        self._chosen = NO_SEQUENCE
        self.setFont(small_font())
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(tr("Legend"))
        self.apply({}, NO_SEQUENCE)

    def apply(self, titles: Mapping[int, str], chosen: int, *, has_media: bool = False) -> None:
        kinds = (FREE, SHARED, MEDIA) if has_media else (FREE, SHARED)
        names = [(tr(kind), NO_SEQUENCE) for kind in kinds]
        self.setToolTip(as_tooltip(tr(POSITIONS)) if has_media else "")
        entries = names + [(sequence_text(seq_id, titles), seq_id) for seq_id in sorted(titles)]
        if (entries, chosen) == (self._entries, self._chosen):
            return
        if entries != self._entries:
            self._placed_for = 0
        self._entries, self._chosen = entries, chosen
        self.setAccessibleDescription(", ".join(name for name, _ in entries))
        if self.heightForWidth(self.width()) > self.height():
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(max(self.width(), 240)))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        """It never shrinks again, so that the map above it does not move."""
        self._most_lines = max(self._most_lines, int(self._places(width)[-1].bottom()) // LINE)
        return self._most_lines * LINE + 4

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        metrics = painter.fontMetrics()
        places = self._places(self.width())
        for (name, seq_id), place in zip(self._entries, places, strict=False):
            swatch = QRectF(place.left(), place.center().y() - SWATCH / 2, SWATCH, SWATCH)
            _paint_swatch(painter, swatch, name, seq_id, tokens)
            is_dimmed = NO_SEQUENCE != self._chosen != seq_id
            painter.setPen(QColor(tokens.muted if is_dimmed else tokens.text))
            text = place.adjusted(SWATCH + 5, 0, 0, 0)
            name = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, ceil(text.width()))
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, name)

    def _places(self, width: int) -> list[QRectF]:
        """One for each entry that fits."""
        if width != self._placed_for:
            self._placed, self._placed_for = self._place(width), width
        return self._placed

    def _place(self, width: int) -> list[QRectF]:
        """Names are elided where they do not all fit on one line."""
        metrics = self.fontMetrics()
        # It is rounded: a text exactly as wide as its room is elided.
        widths = [metrics.horizontalAdvance(name) + 1 for name, _ in self._entries]
        if sum(each + SWATCH + 5 + SPACE for each in widths) - SPACE > width - 2 * MARGIN:
            widths = [min(each, MAX_TEXT_WIDTH) for each in widths]
        places = []
        x, y = float(MARGIN), 0.0
        for text_width in widths:
            needed = SWATCH + 5 + text_width
            if x > MARGIN and x + needed > width - MARGIN:
                x, y = float(MARGIN), y + LINE
            if y >= MAX_LINES * LINE:
                break
            places.append(QRectF(x, y, needed, LINE))
            x += needed + SPACE
        return places


def _paint_swatch(painter: QPainter, rect: QRectF, name: str, seq_id: int, tokens: Tokens) -> None:
    if seq_id != NO_SEQUENCE:
        painter.fillRect(rect, colour_of(seq_id))
        return
    painter.fillRect(rect, QColor(tokens.window))
    if name == tr(SHARED):
        painter.fillRect(rect, QBrush(QColor(tokens.text), Qt.BrushStyle.BDiagPattern))
    is_media = name == tr(MEDIA)
    painter.setPen(QPen(QColor(tokens.text), 1.5) if is_media else QColor(tokens.muted))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect)
