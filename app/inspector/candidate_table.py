"""Candidates at one place of an answer: probability by the model, and after the samplers. GUI thread."""

import math
from typing import Any

from PySide6.QtCore import QObject, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from app.inspector.answer_tokens import chance
from app.inspector.row_table import Index, RowDelegate, RowModel, RowTable
from app.inspector.table_column import Column
from app.inspector.token_text import shown
from app.look.figures import decimal
from app.look.icons import paint_icon
from app.look.tokens import current
from app.look.words import mark, tr
from app.protocol.output import SampledToken, TokenLogprob

COLUMNS = (
    Column(
        mark("rank"),
        mark("Rank by probability among the whole vocabulary"),
        "100",
        is_number=True,
        is_muted=True,
    ),
    Column(
        mark("token"),
        mark("The token's text: ␣ is a space, ⏎ a newline, \\x one byte of a character"),
        stretches=True,
    ),
    Column(mark("id"), mark("Token id"), "999999", is_number=True, is_muted=True),
    Column(
        mark("before"),
        mark("Probability before the samplers: softmax of the raw logits"),
        width=84,
        is_number=True,
    ),
    Column(
        mark("after"),
        mark("Probability after penalties, temperature and truncation"),
        width=84,
        is_number=True,
    ),
)
TOKEN, BEFORE, AFTER = 1, 3, 4
RULED_OUT = mark("ruled out")
MARK_ROOM = 18
BAR_OPACITY = 0.28  # behind a figure, which must stay legible


class CandidateModel(RowModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self.candidates: tuple[TokenLogprob, ...] = ()
        self._chosen_id: int | None = None

    def apply(self, sampled: SampledToken | None, chosen_id: int | None) -> None:
        self.beginResetModel()
        self.candidates = sampled.likeliest if sampled else ()
        self._chosen_id = chosen_id
        self.endResetModel()

    @property
    def chosen_row(self) -> int | None:
        ids = (row for row, one in enumerate(self.candidates) if one.token_id == self._chosen_id)
        return next(ids, None)

    def num_rows(self) -> int:
        return len(self.candidates)

    def text_at(self, row: int, column: int) -> str:
        candidate = self.candidates[row]
        after = chance(candidate.probability) if candidate.probability else tr(RULED_OUT)
        before = chance(math.exp(candidate.logprob))
        return (str(row + 1), shown(candidate.text), str(candidate.token_id), before, after)[column]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        candidate = self.candidates[index.row()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr("Log-probability: {number}", number=decimal(candidate.logprob, 3))
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == TOKEN:
            text = shown(candidate.text)
            return tr("{token}, chosen", token=text) if candidate.token_id == self._chosen_id else text
        return super().data(index, role)


class CandidateTable(RowTable):
    def __init__(self, candidates: CandidateModel, parent: QWidget) -> None:
        super().__init__(tr("Candidates"), candidates, parent, _Delegate)


class _Delegate(RowDelegate):
    """Marks the token that was chosen, and gives each probability a bar."""

    rows: CandidateModel

    def decorate(self, painter: QPainter, rect: QRect, index: Index, _text: str) -> QRect:
        candidate = self.rows.candidates[index.row()]
        if index.column() == TOKEN:
            if index.row() == self.rows.chosen_row:
                place = QRectF(rect.left(), rect.center().y() - 6, 13, 13)
                paint_icon(painter, "check", place, current().accent)
            return rect.adjusted(MARK_ROOM, 0, 0, 0)
        if index.column() == BEFORE:
            paint_bar(painter, rect, math.exp(candidate.logprob), current().muted)
        elif index.column() == AFTER:
            paint_bar(painter, rect, candidate.probability, current().accent)
        return rect

    def is_muted(self, index: Index) -> bool:
        return super().is_muted(index) or not self.rows.candidates[index.row()].probability


def paint_bar(painter: QPainter, rect: QRect, share: float, colour: str) -> None:
    """Behind the figure, from the left."""
    room = QRectF(rect).adjusted(-3, 4, 3, -4)
    if share * room.width() < 1:
        return
    fill = QColor(colour)
    fill.setAlphaF(BAR_OPACITY)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawRoundedRect(
        QRectF(room.left(), room.top(), room.width() * min(1.0, share), room.height()), 2, 2
    )
    painter.restore()
