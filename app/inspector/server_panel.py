"""What a server tells of its work, where the model is one that another program runs. GUI thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

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
MIDDLE = Qt.AlignmentFlag.AlignVCenter
Words = Callable[[float], str]


def _share(value: float) -> str:
    return percent(value, 1.0)


def _number(value: float) -> str:
    return count(int(value)) if value == int(value) else decimal(value, 1)


ROWS: tuple[tuple[FigureKind, str, Words], ...] = (
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
        vbox(self.head, 8, *self.rows.values(), self.message, STRETCH, on=self, margins=12, spacing=0)
        self.draw()

    def reset(self) -> None:
        self._watch(self.isVisible() and self.recording.is_live)
        self.draw()

    def _watch(self, is_watching: bool) -> None:
        """An engine of ours would only make maps of its cells."""
        super()._watch(is_watching and self.recording.foreign is not None)

    def draw(self) -> None:
        model, told = self.recording.foreign, self.recording.figures
        for widget in (self.head, *self.rows.values()):
            widget.setVisible(bool(told))
        self.message.setVisible(not told)
        if not (model and told):
            here = tr(HERE) if self.recording.model else self._no_model(NO_MODEL)
            self.message.setText(tr(NOT_ASKED, host=model.host) if model else here)
            return
        program = told[-1].program or tr("A server with OpenAI's API")
        self.head.setText(f"{program} · {model.host}")
        by_kind = [{one.kind: one for one in each.figures} for each in told]
        for kind, row in self.rows.items():
            row.apply([each.get(kind) for each in by_kind])


class _Row(QWidget):
    """A name, a timeline with the newest second at its right, and the newest value."""

    def __init__(self, name: str, words: Words, parent: QWidget) -> None:
        super().__init__(parent)
        self._name, self._words = name, words
        self._values: list[float | None] = []
        self.text = ""
        self.setFont(tabular(small_font()))
        self.setFixedHeight(ROW_HEIGHT)

    def apply(self, told: Sequence[ServerFigure | None]) -> None:
        """Oldest first. None: it was not told then."""
        self._values = [one.value if one else None for one in told]
        known = [value for value in self._values if value is not None]
        if newest := told[-1]:  # of the last second in which there was any
            self.text = self._words(known[-1]) if known else "–"
        else:
            self.text = tr("not told by this server")
        self.setToolTip(as_tooltip(newest.source if newest else self.text))
        self.setAccessibleName(f"{self._name}: {self.text}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(tokens.muted))
        painter.drawText(QRect(0, 0, NAME_WIDTH, self.height()), MIDDLE, self._name)
        rect = self.rect().adjusted(NAME_WIDTH + GAP, 6, -VALUE_WIDTH - GAP, -6)
        if any(value is not None for value in self._values):
            self._paint_timeline(painter, rect)
            painter.setPen(QColor(tokens.text))
        painter.drawText(self.rect(), MIDDLE | Qt.AlignmentFlag.AlignRight, self.text)

    def _paint_timeline(self, painter: QPainter, rect: QRect) -> None:
        values = self._values[-max(rect.width() // SECOND_WIDTH, 1) :]
        highest = max((value for value in values if value), default=1.0)
        painter.setPen(QPen(QColor(current().hairline), 1))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.setPen(QPen(QColor(current().accent), 1.5))
        before: QPointF | None = None
        for age, value in zip(range(len(values) - 1, -1, -1), values, strict=True):
            x = rect.right() - age * SECOND_WIDTH
            point = None if value is None else QPointF(x, rect.bottom() - value / highest * rect.height())
            if before and point:
                painter.drawLine(before, point)
            before = point
