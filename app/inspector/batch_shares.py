"""The share of each sequence in a batch, as a table with a row for each. GUI thread."""

from collections.abc import Mapping

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.inspector.row_table import ROW_HEIGHT, RowModel, RowTable
from app.inspector.sequence_rows import NO_TAB
from app.inspector.table_column import Column
from app.look.figures import count, rows
from app.look.words import mark, tr
from app.protocol.report import Span

COLUMNS = (
    Column(mark("seq"), mark("The sequence id, seq_id"), "00", is_sequence=True),
    Column(mark("tab"), mark("The chat"), stretches=True),
    Column(
        mark("phase"),
        mark("Part of a prompt, or the next token of an answer"),
        (mark("prefill"), mark("decode")),
        is_muted=True,
    ),
    Column(mark("rows"), mark("Rows of the batch"), "9,999", is_number=True),
    Column(mark("drafted"), mark("Draft tokens among them"), "99", is_number=True),
    Column(mark("positions"), mark("Positions computed in this step"), "99,999–99,999", is_number=True),
    Column(
        mark("logits"),
        mark("Whether logits are read from its rows to sample a token"),
        mark("last row"),
    ),
    Column(
        mark("answer"),
        mark("Tokens generated so far, and the most that were asked for"),
        mark("9,999 of 9,999"),
        is_number=True,
    ),
)
MAX_ROWS_SHOWN = 6


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
        super().__init__(COLUMNS, parent)
        self.spans: tuple[Span, ...] = ()
        self._titles: Mapping[str, str] = {}

    def apply(self, spans: tuple[Span, ...], titles: Mapping[str, str]) -> None:
        self.beginResetModel()
        self.spans, self._titles = spans, titles
        self.endResetModel()

    def num_rows(self) -> int:
        return len(self.spans)

    def text_at(self, row: int, column: int) -> str:
        span = self.spans[row]
        return share_texts(span, self._titles.get(span.chat_id) or tr(NO_TAB))[column]


class ShareTable(RowTable):
    """As high as its rows, up to a few."""

    def __init__(self, shares: ShareModel, parent: QWidget) -> None:
        super().__init__(tr("Sequences in the batch"), shares, parent)
        self._shares = shares
        shares.modelReset.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        num_rows = min(max(self._shares.rowCount(), 1), MAX_ROWS_SHOWN)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + num_rows * ROW_HEIGHT + 4)
