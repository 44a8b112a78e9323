"""What the shapes and shades of the timeline mean, in one line. GUI thread."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector.stalls import Stall
from app.inspector.step_picture import answer_colour, drafted_colour, paint_mark, phase_colours
from app.inspector.step_words import PHASE_WORDS, PHASES
from app.look.fonts import small_font
from app.look.sequence_colours import colour_of
from app.look.tokens import Tokens, current
from app.look.words import mark, tr

HEIGHT = 22
SWATCH = 9
SPACE = 12
MARKS = {
    Stall.FAILED: mark("failed"),
    Stall.HELD_UP: mark("held up"),
    Stall.PAUSED: mark("paused"),
    Stall.NO_WORK: mark("no work"),
}


class StepLegend(QWidget):
    """Shows as many entries as fit."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFont(small_font())
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Legend"))
        self.setAccessibleDescription(
            tr(
                "Full colour: prefill. Lighter: decode. Lightest: draft tokens. Marks: cross failed, "
                "triangle held up, two bars paused, dot no work."
            )
        )

    def sizeHint(self) -> QSize:
        return QSize(240, HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x = 8.0
        for name, sign in _entries(tokens):
            width = SWATCH + 5 + painter.fontMetrics().horizontalAdvance(name)
            if x + width > self.width():
                return
            centre = QPointF(x + SWATCH / 2, HEIGHT / 2)
            if isinstance(sign, Stall):
                paint_mark(painter, centre, sign, tokens)
            else:
                painter.fillRect(QRectF(x, centre.y() - SWATCH / 2, SWATCH, SWATCH), sign)
            painter.setPen(QColor(tokens.muted))
            place = QRectF(x + SWATCH + 5, 0, width, HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, name)
            x += width + SPACE


def _entries(tokens: Tokens) -> list[tuple[str, QColor | Stall]]:
    """The most important entries first."""
    colour = colour_of(0)
    phases = dict(zip(PHASES, phase_colours(tokens), strict=True))
    return [
        (tr("prompt"), colour),
        (tr("answer"), answer_colour(colour, tokens)),
        (tr("drafted"), drafted_colour(colour, tokens)),
        *((tr(word), stall) for stall, word in MARKS.items()),
        *((tr(PHASE_WORDS[name]), phases[name]) for name in ("schedule", "sample", "deliver", "decode")),
    ]
