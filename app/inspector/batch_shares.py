"""The share of each sequence in a batch, as a table with a row for each. GUI thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHeaderView, QWidget

from app.inspector.row_table import ROW_HEIGHT, SWATCH_ROOM, Index, RowDelegate, RowModel, RowTable
from app.inspector.sequence_rows import NO_TAB
from app.look.figures import count, rows
from app.look.words import mark, tr
from app.protocol.report import Span

COLUMNS = (
    mark("seq"),
    mark("tab"),
    mark("phase"),
    mark("rows"),
    mark("drafted"),
    mark("positions"),
    mark("logits"),
    mark("answer"),
)
SEQ, TAB, PHASE, ROWS, DRAFTED, POSITIONS, LOGITS, ANSWER = range(len(COLUMNS))
TIPS = (
    mark("The sequence id, seq_id"),
    mark("The chat"),
    mark("Part of a prompt, or the next token of an answer"),
    mark("Rows of the batch"),
    mark("Of them guesses at the tokens that come next"),
    mark("The positions that are computed"),
    mark("Whether a token is sampled from its last row, and from those in front of guesses"),
    mark("Tokens of the answer so far, and how many were asked for"),
)
NUMBERS = (ROWS, DRAFTED, POSITIONS, ANSWER)
WIDEST = {
    SEQ: "00",
    PHASE: (mark("prefill"), mark("decode")),
    ROWS: "9,999",
    DRAFTED: "99",
    POSITIONS: "99,999–99,999",
    LOGITS: mark("last row"),
    ANSWER: mark("9,999 of 9,999"),
}
MAX_ROWS_SHOWN = 6
_ROOT = QModelIndex()


def share_texts(span: Span, title: str) -> tuple[str, ...]:
    """A text for each column."""
    last_pos = span.first_pos + span.num_rows - 1
    made = count(span.num_generated_tokens)
    return (
        str(span.seq_id),
        title,
        tr("prefill") if span.is_prefill else tr("decode"),
        count(span.num_rows),
        count(span.num_drafted) if span.num_drafted else "",
        count(last_pos) if span.num_rows == 1 else f"{count(span.first_pos)}–{count(last_pos)}",
        _logits(span),
        tr("{part} of {whole}", part=made, whole=count(span.max_tokens)) if span.max_tokens else made,
    )


def _logits(span: Span) -> str:
    if not span.wants_logits:
        return tr("none")
    return rows(1 + span.num_drafted) if span.num_drafted else tr("last row")


class ShareModel(RowModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, NUMBERS, TIPS, parent)
        self.spans: tuple[Span, ...] = ()
        self._titles: Mapping[str, str] = {}

    def apply(self, spans: tuple[Span, ...], titles: Mapping[str, str]) -> None:
        self.beginResetModel()
        self.spans, self._titles = spans, titles
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.spans)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            span = self.spans[index.row()]
            return share_texts(span, self._titles.get(span.chat_id) or tr(NO_TAB))[index.column()]
        return None


class ShareTable(RowTable):
    """As high as its rows, up to a few."""

    def __init__(self, shares: ShareModel, parent: QWidget) -> None:
        super().__init__(tr("Sequences in the batch"), parent)
        self._shares = shares
        self.setModel(shares)
        self.setItemDelegate(_Delegate(self))
        for column, widest in WIDEST.items():
            room = SWATCH_ROOM if column == SEQ else 0
            self.setColumnWidth(column, self.width_of(widest, COLUMNS[column], room))
        self.horizontalHeader().setSectionResizeMode(TAB, QHeaderView.ResizeMode.Stretch)
        shares.modelReset.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        num_rows = min(max(self._shares.rowCount(), 1), MAX_ROWS_SHOWN)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + num_rows * ROW_HEIGHT + 4)


class _Delegate(RowDelegate):
    def decorate(self, painter: QPainter, rect: QRect, index: Index) -> QRect:
        shares = index.model()
        if index.column() != SEQ or not isinstance(shares, ShareModel):
            return rect
        return self.decorate_seq(painter, rect, shares.spans[index.row()].seq_id)

    def is_number(self, column: int) -> bool:
        return column in NUMBERS

    def is_muted(self, index: Index) -> bool:
        return index.column() == PHASE
