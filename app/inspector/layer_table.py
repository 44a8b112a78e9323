"""What each layer would have said at one place of an answer: the logit lens as a table. GUI thread."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.inspector.answer_tokens import chance
from app.inspector.candidate_table import paint_bar
from app.inspector.row_table import Index, RowDelegate, RowModel, RowTable
from app.inspector.table_column import Column
from app.inspector.token_text import shown
from app.look.plain_text import as_tooltip
from app.look.tokens import current
from app.look.words import mark, tr
from app.protocol.lens import LayerWords

COLUMNS = (
    Column(mark("layer"), widest="999", is_number=True, is_muted=True),
    Column(
        mark("says"),
        mark("Likeliest token if this layer's output went straight to the output norm and the head"),
        stretches=True,
    ),
    Column(mark("prob."), mark("Probability of that token"), widest=">99.9%", is_number=True),
    Column(
        mark("final"),
        mark("Probability that this layer gives to the model's final likeliest token"),
        widest=">99.9%",
        is_number=True,
    ),
)
LAYER, SAYS, LIKELY, CHOSEN = range(len(COLUMNS))


class LayerRows(RowModel):
    """The last layer first: what it says is what the model says."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self._words: LayerWords | None = None
        self._texts: Mapping[int, bytes] = {}

    def show(self, words: LayerWords | None, texts: Mapping[int, bytes]) -> None:
        self.beginResetModel()
        self._words, self._texts = words, texts
        self.endResetModel()

    @property
    def token_ids(self) -> set[int]:
        words = self._words.words if self._words else ()
        return {token_id for word in words for token_id, _ in word.likeliest}

    def emit_texts_changed(self) -> None:
        if self.rowCount():
            self.dataChanged.emit(self.index(0, SAYS), self.index(self.rowCount() - 1, SAYS))

    def probabilities_at(self, row: int) -> tuple[float, float]:
        """Of the layer's token, and of the model's."""
        assert self._words
        word = self._words.words[-1 - row]
        return word.likeliest[0][1], word.chosen_probability

    def says_the_same(self, row: int) -> bool:
        assert self._words
        return self._words.words[-1 - row].likeliest[0][0] == self._words.chosen_id

    @property
    def first_of_the_same(self) -> int:
        """The layer from which on all say what the model says."""
        assert self._words
        words, first = self._words.words, len(self._words.words) - 1
        while first > 0 and words[first - 1].likeliest[0][0] == self._words.chosen_id:
            first -= 1
        return words[first].layer

    def num_rows(self) -> int:
        return len(self._words.words) if self._words else 0

    def text_at(self, row: int, column: int) -> str:
        assert self._words
        word = self._words.words[-1 - row]
        if column == LAYER:
            return str(word.layer)
        if column == SAYS:
            return self._text(word.likeliest[0][0])
        return chance(self.probabilities_at(row)[column - LIKELY])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == SAYS and self._words:
            likeliest = self._words.words[-1 - index.row()].likeliest
            return as_tooltip("\n".join(f"{self._text(token)}  {chance(one)}" for token, one in likeliest))
        return super().data(index, role)

    def _text(self, token_id: int) -> str:
        return shown(self._texts[token_id]) if token_id in self._texts else str(token_id)


class LayerTable(RowTable):
    def __init__(self, rows: LayerRows, parent: QWidget) -> None:
        super().__init__(tr("What each layer says"), rows, parent, _Delegate)


class _Delegate(RowDelegate):
    rows: LayerRows

    def decorate(self, painter: QPainter, rect: QRect, index: Index, _text: str) -> QRect:
        if index.column() in (LIKELY, CHOSEN):
            share = self.rows.probabilities_at(index.row())[index.column() - LIKELY]
            paint_bar(painter, rect, share, current().muted if index.column() == LIKELY else current().accent)
        return rect

    def is_muted(self, index: Index) -> bool:
        """A layer that would have said something else."""
        return super().is_muted(index) or (
            index.column() == SAYS and not self.rows.says_the_same(index.row())
        )
