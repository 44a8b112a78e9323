"""The tables of an answer: its tokens, the candidates at one of them, and what layers say. GUI thread."""

import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QObject, QRect, QRectF
from PySide6.QtGui import QPainter

from app.inspector.answer_finder import TokenCandidates, chance
from app.inspector.recording import shown
from app.look.figures import count, decimal
from app.look.icons import paint_icon
from app.look.list import Index
from app.look.plain_text import as_tooltip
from app.look.table import Column, RowDelegate, RowModel
from app.look.tokens import current
from app.look.words import mark, tr
from app.protocol.lens import LayerWord, LayerWords
from app.protocol.output import SampledToken, TokenLogprob
from app.protocol.report import ChatTokens

_TEXT = Column(
    "token", "The token's text: ␣ is a space, ⏎ a newline, \\x one byte of a character", stretches=True
)
_ID = Column("id", "Token id", "999999", is_number=True, is_muted=True)
RULED_OUT = mark("ruled out")
_CHANCES = (">99.9%", "<0.001%")
CANDIDATE_COLUMNS = (
    Column("rank", "Rank by probability among the whole vocabulary", "100", is_number=True, is_muted=True),
    _TEXT,
    _ID,
    Column("before", "Probability before the samplers: softmax of the raw logits", _CHANCES, is_number=True),
    Column(
        "after",
        "Probability after penalties, temperature and truncation",
        (*_CHANCES, RULED_OUT),
        is_number=True,
    ),
)
BEFORE, AFTER = 3, 4
ANSWER_COLUMNS = (
    Column("pos", "Position in the sequence", "99,999", is_number=True, is_muted=True),
    _TEXT,
    _ID,
    Column("after", "Probability after the samplers, where known", _CHANCES, is_number=True, is_muted=True),
)
POS, TOKEN, ID = range(3)
LAYER_COLUMNS = (
    Column("layer", widest="999", is_number=True, is_muted=True),
    Column(
        "says",
        "Likeliest token if this layer's output went straight to the output norm and the head",
        stretches=True,
    ),
    Column("prob.", "Probability of that token", _CHANCES, is_number=True),
    Column(
        "final",
        "Probability that this layer gives to the model's final likeliest token",
        _CHANCES,
        is_number=True,
    ),
)
LAYER, SAYS, LIKELY, CHOSEN = range(len(LAYER_COLUMNS))
MARK_ROOM = 18
NEXT = mark("(next)")  # the token after the last one
_ROOT = QModelIndex()


class CandidateModel(RowModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(CANDIDATE_COLUMNS, parent)
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

    def tip_at(self, row: int, _column: int) -> str:
        return tr("Log-probability: {number}", number=decimal(self.candidates[row].logprob, 3))

    def spoken_at(self, row: int, column: int) -> str:
        candidate = self.candidates[row]
        if column != TOKEN or candidate.token_id != self._chosen_id:
            return ""
        return tr("{token}, chosen", token=shown(candidate.text))

    def is_muted(self, row: int, column: int) -> bool:
        return super().is_muted(row, column) or not self.candidates[row].probability

    def bar_at(self, row: int, column: int) -> tuple[float, str] | None:
        if column == BEFORE:
            return math.exp(self.candidates[row].logprob), current().muted
        return (self.candidates[row].probability, current().accent) if column == AFTER else None


class CandidateDelegate(RowDelegate):
    """Marks the token that was chosen."""

    rows: CandidateModel

    def decorate(self, painter: QPainter, rect: QRect, index: Index, _text: str) -> QRect:
        if index.column() != TOKEN:
            return rect
        if index.row() == self.rows.chosen_row:
            place = QRectF(rect.left(), rect.center().y() - 6, 13, 13)
            paint_icon(painter, "check", place, current().accent)
        return rect.adjusted(MARK_ROOM, 0, 0, 0)


class AnswerTokens(RowModel):
    """Rows are only added while it shows one answer, so that the selection survives."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(ANSWER_COLUMNS, parent)
        self._tokens = ChatTokens("")
        self._names: Mapping[int, bytes] = {}
        self._known: Mapping[int, TokenCandidates] = {}

    def show_answer(
        self, tokens: ChatTokens, names: Mapping[int, bytes], known: Mapping[int, TokenCandidates]
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

    def is_muted(self, row: int, column: int) -> bool:
        return super().is_muted(row, column) or row == len(self._tokens.pieces)

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


class LayerRows(RowModel):
    """The last layer first: what it says is what the model says."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(LAYER_COLUMNS, parent)
        self._layers: Sequence[LayerWord] = ()
        self._chosen_id = -1
        self._texts: Mapping[int, bytes] = {}

    def show(self, words: LayerWords | None, texts: Mapping[int, bytes]) -> None:
        self.beginResetModel()
        self._layers, self._chosen_id = (words.words[::-1], words.chosen_id) if words else ((), -1)
        self._texts = texts
        self.endResetModel()

    @property
    def token_ids(self) -> set[int]:
        return {token_id for layer in self._layers for token_id, _ in layer.likeliest}

    def probabilities_at(self, row: int) -> tuple[float, float]:
        """The probabilities of the layer's token and of the model's."""
        layer = self._layers[row]
        return layer.likeliest[0][1], layer.chosen_probability

    def says_the_same(self, row: int) -> bool:
        return self._layers[row].likeliest[0][0] == self._chosen_id

    @property
    def first_of_the_same(self) -> int:
        """The layer from which on all say what the model says."""
        row = 0
        while row + 1 < len(self._layers) and self.says_the_same(row + 1):
            row += 1
        return self._layers[row].layer

    def num_rows(self) -> int:
        return len(self._layers)

    def text_at(self, row: int, column: int) -> str:
        layer = self._layers[row]
        if column == LAYER:
            return str(layer.layer)
        if column == SAYS:
            return self._text(layer.likeliest[0][0])
        return chance(self.probabilities_at(row)[column - LIKELY])

    def tip_at(self, row: int, column: int) -> str:
        if column != SAYS:
            return ""
        likeliest = self._layers[row].likeliest
        return as_tooltip("\n".join(f"{self._text(token)}  {chance(one)}" for token, one in likeliest))

    def is_muted(self, row: int, column: int) -> bool:
        """A layer that would have said something else."""
        return super().is_muted(row, column) or (column == SAYS and not self.says_the_same(row))

    def bar_at(self, row: int, column: int) -> tuple[float, str] | None:
        if column not in (LIKELY, CHOSEN):
            return None
        colour = current().muted if column == LIKELY else current().accent
        return self.probabilities_at(row)[column - LIKELY], colour

    def _text(self, token_id: int) -> str:
        return shown(self._texts[token_id]) if token_id in self._texts else str(token_id)
