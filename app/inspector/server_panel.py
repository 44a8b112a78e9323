"""What a server tells of its work, where the model is one that another program runs. GUI thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector.dock_panel import DockPanel
from app.inspector.recording import Recording
from app.look.figures import count, decimal, percent, rate, seconds
from app.look.fonts import small_font, tabular
from app.look.layouts import STRETCH, vbox
from app.look.plain_text import as_tooltip, heading
from app.look.tokens import current
from app.look.words import mark, tr
from app.protocol.server_figures import FigureKind, ServerFigure

HERE = mark("For models that a server runs. This one runs in Skein: see the other panels.")
NO_MODEL = mark("No model is loaded. Add a server under Model → Add an engine….")
NOT_ASKED = mark("{host} is asked once a second while this panel is open or an answer is written.")
ROW_HEIGHT, NAME_WIDTH, VALUE_WIDTH, GAP = 30, 150, 150, 12
SECOND_WIDTH = 3  # pixels of a timeline


def _share(value: float) -> str:
    return percent(value, 1.0)


def _number(value: float) -> str:
    return count(round(value)) if value == round(value) else decimal(value, 1)


ROWS: tuple[tuple[FigureKind, str, Callable[[float], str]], ...] = (
    (FigureKind.RUNNING, mark("Requests running"), _number),
    (FigureKind.WAITING, mark("Requests waiting"), _number),
    (FigureKind.KV_USE, mark("KV cache used"), _share),
    (FigureKind.PREFIX_HITS, mark("Prefix cache hits"), _share),
    (FigureKind.BATCH, mark("Batch size"), _number),
    (FigureKind.ACCEPTED, mark("Draft tokens accepted"), _share),
    (FigureKind.PROMPT_RATE, mark("Prompts"), rate),
    (FigureKind.ANSWER_RATE, mark("Answers"), rate),
    (FigureKind.FIRST_TOKEN_S, mark("First token"), seconds),
)


class ServerPanel(DockPanel):
    NAME = "server"
    TITLE = mark("Server")
    WATCHES_CELLS = True  # which has a server asked for its figures

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self.head = heading("", self)
        self.rows = {kind: _Row(tr(name), words, self) for kind, name, words in ROWS}
        parts = self.head, *self.rows.values(), self.message
        vbox(*parts, STRETCH, on=self, margins=12, spacing=0)
        self.draw()

    def reset(self) -> None:
        self._watch(self.isVisible() and self.recording.is_live)
        self.draw()

    def _watch(self, is_watching: bool) -> None:
        """An engine of ours would only make maps of its cells."""
        super()._watch(is_watching and self.recording.foreign is not None)

    def draw(self) -> None:
        model, figures = self.recording.foreign, self.recording.figures
        has_figures = model is not None and bool(figures)
        for widget in (self.head, *self.rows.values()):
            widget.setVisible(has_figures)
        self.message.setVisible(not has_figures)
        self.message.setText(self._why_empty())
        if not model or not figures:
            return
        program = figures[-1].program or tr("A server with OpenAI's API")
        self.head.setText(f"{program} · {model.host}")
        told = [{one.kind: one for one in each.figures} for each in figures]
        for kind, row in self.rows.items():
            row.apply([each.get(kind) for each in told])

    def _why_empty(self) -> str:
        if model := self.recording.foreign:
            return tr(NOT_ASKED, host=model.host)
        return tr(HERE) if self.recording.model else self._no_model(NO_MODEL)


class _Row(QWidget):
    """A name, a timeline with the newest second at its right, and the newest value."""

    def __init__(self, name: str, words: Callable[[float], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._name, self._words = name, words
        self._values: list[float | None] = []
        self.text = ""
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(NAME_WIDTH + VALUE_WIDTH + 100, ROW_HEIGHT)

    def apply(self, told: Sequence[ServerFigure | None]) -> None:
        """Oldest first. None: it was not told then."""
        newest = told[-1]
        self._values = [one.value if one else None for one in told]
        known = [value for value in self._values if value is not None]
        if newest is None:
            self.text = tr("not told by this server")
        else:  # of the last second in which there was any
            self.text = self._words(known[-1]) if known else "–"
        self.setToolTip(as_tooltip(newest.source if newest else self.text))
        self.setAccessibleName(f"{self._name}: {self.text}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(tokens.muted))
        painter.drawText(QRect(0, 0, NAME_WIDTH, self.height()), left, self._name)
        painter.setPen(QColor(tokens.text if self._values[-1:] != [None] else tokens.muted))
        end = QRect(self.width() - VALUE_WIDTH, 0, VALUE_WIDTH, self.height())
        painter.drawText(end, left | Qt.AlignmentFlag.AlignRight, self.text)
        self._paint_timeline(painter, self.rect().adjusted(NAME_WIDTH + GAP, 6, -VALUE_WIDTH - GAP, -6))

    def _paint_timeline(self, painter: QPainter, rect: QRect) -> None:
        values = self._values[-max(rect.width() // SECOND_WIDTH, 1) :]
        highest = max((value for value in values if value), default=0.0)
        painter.setPen(QPen(QColor(current().hairline), 1))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.setPen(QPen(QColor(current().accent), 1.5))
        points: list[QPointF] = []
        for number, value in enumerate(values):
            if value is None:
                points = []
                continue
            x = rect.right() - (len(values) - 1 - number) * SECOND_WIDTH
            y = rect.bottom() - (value / highest if highest else 0.0) * rect.height()
            points = [*points[-1:], QPointF(x, y)]
            if len(points) == 2:
                painter.drawLine(*points)
