"""The rows of one step's batch as a table: each token with its position and sequence. GUI thread."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain

from PySide6.QtCore import QObject

from app.inspector.chat_names import chat_name
from app.inspector.recording import LAST_TEXT, kind_text, shown
from app.look.figures import count
from app.look.table import Column, RowModel
from app.look.words import mark, tr
from app.protocol.report import Span, StepReport

COLUMNS = (
    Column("row", "Index in the batch", "9,999", is_number=True, is_muted=True),
    Column("token", "Token id", "999,999", is_number=True),
    Column("text", "The token's text: ␣ is a space, ⏎ a newline, \\x one byte of a character", width=120),
    Column("pos", "Position in the sequence", "999,999", is_number=True),
    Column("seq", "A chat's place in the shared context (llama.cpp's seq_id)", "00", is_sequence=True),
    Column("tab", "The chat", stretches=True),
    Column(
        "phase",
        "Prefill, decode, a draft token (accepted or not), or read ahead: not sent yet",
        (mark("prefill"), mark("decode"), mark("draft, accepted")),
        is_muted=True,
    ),
    Column("logits", "Whether its logits were requested for sampling", mark("wanted")),
)
TEXT, TAB = 2, 5


class StepRows(RowModel):
    """Makes each row's texts on demand: a prompt has hundreds of rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self._report: StepReport | None = None
        self._ends: list[int] = []  # one past each span's last row
        self._token_ids: tuple[tuple[int, ...], ...] = ()  # of each span; empty where they are not known
        self._texts: Mapping[int, bytes] = {}
        self._titles: Mapping[str, str] = {}

    def apply(self, report: StepReport | None, texts: Mapping[int, bytes], titles: Mapping[str, str]) -> None:
        self._texts, self._titles = texts, titles
        if report is self._report:
            self.redraw(TEXT, TAB)
            return
        self.beginResetModel()
        spans = report.spans if report else ()
        self._report = report
        self._ends = list(accumulate(span.num_rows for span in spans))
        self._token_ids = tuple(span.token_ids for span in spans)
        self.endResetModel()

    @property
    def token_ids(self) -> Iterator[int]:
        return chain.from_iterable(self._token_ids)

    def seq_at(self, row: int) -> int:
        return self._span_at(row)[0].seq_id

    def num_rows(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _span_at(self, row: int) -> tuple[Span, int, int]:
        """The span a row belongs to, its number, and the row's place in it."""
        assert self._report is not None
        number = bisect_right(self._ends, row)
        span = self._report.spans[number]
        return span, number, row - (self._ends[number] - span.num_rows)

    def text_at(self, row: int, column: int) -> str:
        """What is not known is empty."""
        span, number, place = self._span_at(row)
        token_id = self._token_ids[number][place] if self._token_ids[number] else None
        is_media = token_id is not None and token_id < LAST_TEXT
        text = self._texts.get(token_id) if token_id is not None else None
        texts = (
            count(row),
            "" if token_id is None or is_media else str(token_id),
            kind_text(None) if is_media else "" if text is None else shown(text),
            count(span.first_pos + place),
            str(span.seq_id),
            chat_name(span.chat_id, self._titles),
            _phase(span, place),
            tr("wanted") if span.wants_logits and place >= span.num_rows - 1 - span.num_drafted else "",
        )
        return texts[column]


def _phase(span: Span, place: int) -> str:
    num_draft_tokens_before = place - (span.num_rows - span.num_drafted)
    if num_draft_tokens_before >= 0:
        return tr("draft, accepted") if num_draft_tokens_before < span.num_kept else tr("drafted")
    return phase_text(span)


def phase_text(span: Span) -> str:
    if span.is_ahead:
        return tr("read ahead")
    return tr("prefill") if span.is_prefill else tr("decode")
