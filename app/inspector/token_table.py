"""The tokens of an answer, one row each, and a last row for what came after them. GUI thread."""

from collections.abc import Mapping

from PySide6.QtCore import QModelIndex, QObject
from PySide6.QtWidgets import QWidget

from app.inspector.answer_tokens import Candidates, chance
from app.inspector.row_table import Index, RowDelegate, RowModel, RowTable
from app.inspector.table_column import Column
from app.inspector.token_text import shown
from app.look.figures import count
from app.look.words import mark, tr
from app.protocol.report import ChatTokens

COLUMNS = (
    Column(mark("pos"), mark("Position in the sequence"), "99,999", is_number=True, is_muted=True),
    Column(
        mark("token"),
        mark("The token's text: ␣ is a space, ⏎ a newline, \\x one byte of a character"),
        stretches=True,
    ),
    Column(mark("id"), mark("Token id"), "999999", is_number=True, is_muted=True),
    Column(
        mark("after"),
        mark("Probability after the samplers, where known"),
        ">99.9%",
        is_number=True,
        is_muted=True,
    ),
)
POS, TOKEN, ID, AFTER = range(len(COLUMNS))
NEXT = mark("(next)")  # the token after the last one
_ROOT = QModelIndex()


class AnswerTokens(RowModel):
    """Rows are only added while it shows one answer, so that the selection survives."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self._tokens = ChatTokens("")
        self._names: Mapping[int, bytes] = {}
        self._known: Mapping[int, Candidates] = {}

    def show_answer(
        self, tokens: ChatTokens, names: Mapping[int, bytes], known: Mapping[int, Candidates]
    ) -> None:
        """`names`: how control tokens are written. `known`: candidates, by place in the answer."""
        self.beginResetModel()
        self._tokens, self._names, self._known = tokens, names, known
        self.endResetModel()

    def grow(self, tokens: ChatTokens) -> None:
        """The same answer has more tokens by now."""
        former = len(self._tokens.pieces)
        if len(tokens.pieces) > former:
            self.beginInsertRows(_ROOT, former, len(tokens.pieces) - 1)
            self._tokens = tokens
            self.endInsertRows()

    def emit_texts_changed(self) -> None:
        """Candidates or names have become known."""
        if self._tokens.token_ids:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, AFTER))

    def num_rows(self) -> int:
        return len(self._tokens.pieces) + 1 if self._tokens.token_ids else 0

    def text_at(self, row: int, column: int) -> str:
        position = self._tokens.num_prompt_tokens + row
        if column == POS:
            return count(position)
        if row == len(self._tokens.pieces):
            return tr(NEXT) if column == TOKEN else ""
        token_id = self._tokens.token_ids[position]
        if column == TOKEN:
            return shown(self._tokens.pieces[row] or self._names.get(token_id, b""))
        return str(token_id) if column == ID else self._chance(row, token_id)

    def _chance(self, place: int, token_id: int) -> str:
        if place not in self._known:
            return ""
        sampled = self._known[place].sampled
        told = (one for one in (*sampled.likeliest, sampled.chosen) if one.token_id == token_id)
        return next((chance(one.probability) for one in told), "")


class TokenTable(RowTable):
    def __init__(self, tokens: AnswerTokens, parent: QWidget) -> None:
        super().__init__(tr("Tokens of the answer"), tokens, parent, _Delegate)


class _Delegate(RowDelegate):
    def is_muted(self, index: Index) -> bool:
        return super().is_muted(index) or index.row() == self.rows.num_rows() - 1
