"""The tree of a chat as rows: a picture of its branches, and each turn in a line. GUI thread."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem, QWidget

from app.chats.branches import Branch
from app.chats.chat import Turn, TurnState
from app.chats.titles import without_markup
from app.look.figures import count
from app.look.list import Index
from app.look.plain_text import one_line
from app.look.table import ROW_HEIGHT, Column, RowDelegate, RowModel, RowTable
from app.look.tokens import colour_of, current
from app.look.words import mark, tr
from app.protocol.output import Usage
from app.protocol.request import Role

if TYPE_CHECKING:
    from app.protocol.report import CellMap

COUNTED = mark("What a question added to the prompt, the template's marks included; what an answer generated")
COLUMNS = (
    Column(
        mark("branch"),
        mark("One line for each sequence that holds the cells: thicker where more sequences share them"),
    ),
    Column(mark("message"), stretches=True),
    Column(mark("tokens"), COUNTED, "99,999", is_number=True, is_muted=True),
    Column(mark("held by"), mark("Sequences that hold its cells now"), "seq 0, 1, 2, 3 …", is_muted=True),
)
BRANCH, MESSAGE, TOKENS, HELD = range(len(COLUMNS))
LANE = 18
MIN_WIDTH, MAX_WIDTH = 56, 240
DOT = 4.0
LINE, GAP = 2.0, 1.0
MAX_LINES = 5  # drawn side by side; the numbers tell the rest
MAX_CHARS = 200
MAX_NAMED = 4
DASH_PX_PER_S = 24
_CHOOSING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
Seqs = tuple[int, ...]


@dataclass(slots=True)
class Strokes:
    """The lines in one row. Each is named by the rows that it leads to.

    `above` comes down to the row's own dot, from `bend` where that is another lane; `below` leaves it;
    `through` are the lanes that pass.
    """

    above: int | None = None
    bend: int | None = None
    below: list[int] = field(default_factory=list)
    through: dict[int, list[int]] = field(default_factory=dict)


def strokes_of(branches: Sequence[Branch]) -> list[Strokes]:
    strokes = [Strokes() for _ in branches]
    for row, branch in enumerate(branches):
        if branch.parent is None:
            continue
        lane = branches[branch.parent].lane
        strokes[branch.parent].below.append(row)
        strokes[row].above = row
        strokes[row].bend = lane if lane != branch.lane else None
        for between in strokes[branch.parent + 1 : row]:
            between.through.setdefault(lane, []).append(row)
    return strokes


def token_ranges(path: Sequence[Turn]) -> list[tuple[int, int]]:
    """The positions of each turn on a path from the first turn on, as its answers tell; (0, 0) if unknown."""
    ranges, begin = list[tuple[int, int]](), 0
    for place, turn in enumerate(path):
        asked = path[place + 1] if turn.role is Role.USER and place + 1 < len(path) else turn
        usage = asked.usage
        end = usage.num_prompt_tokens + (usage.num_generated_tokens if asked is turn else 0)
        ranges.append((begin, end) if end > begin else (0, 0))
        begin = max(begin, end)
    return ranges


def num_tokens(branches: Sequence[Branch], row: int, followers: Sequence[int]) -> int:
    """The tokens of one turn, from the figures of its answers; 0 if unknown."""
    turn, parent = branches[row].turn, branches[row].parent
    if turn.role is not Role.USER:
        return turn.usage.num_generated_tokens
    asked = max((branches[follower].turn.usage.num_prompt_tokens for follower in followers), default=0)
    before = branches[parent].turn.usage if parent is not None else Usage()
    return max(asked - before.num_prompt_tokens - before.num_generated_tokens, 0)


def holders_of(cells: "CellMap | None", seq_id: int, ranges: Sequence[tuple[int, int]]) -> list[Seqs]:
    """The sequences that hold most cells of each range, among the cells of `seq_id`, which comes first.

    Without a map it is the only one.
    """
    if cells is None:
        return [(seq_id,) if end > begin else () for begin, end in ranges]
    import numpy as np

    own = (cells.holders[:, seq_id // 64] >> np.uint64(seq_id % 64)) & np.uint64(1) != 0
    positions, words = cells.pos[own], cells.holders[own]
    held = []
    for begin, end in ranges:
        in_range = words[(positions >= begin) & (positions < end)]
        held.append(_most(in_range, seq_id) if len(in_range) else ())
    return held


def _most(words: object, seq_id: int) -> Seqs:
    import numpy as np

    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")
    held = np.flatnonzero(2 * bits.sum(axis=0, dtype=np.int64) > len(bits)).tolist()
    return tuple(sorted(held, key=lambda other: (other != seq_id, other)))


def together(seqs: Mapping[int, Seqs], rows: Sequence[int]) -> Seqs:
    """All sequences that hold one of these rows."""
    return tuple(sorted({seq_id for row in rows for seq_id in seqs.get(row, ())}))


def text_of(turn: Turn) -> str:
    """What its author said, without the thinking."""
    return turn.text if turn.role is Role.USER else turn.split.answer


def _held_text(held: Seqs) -> str:
    if not held:
        return ""
    return tr("seq {seq_id}", seq_id=", ".join(map(str, held[:MAX_NAMED]))) + " …" * (len(held) > MAX_NAMED)


def line_of(turn: Turn) -> str:
    """The beginning; of what is being written whole words."""
    text = text_of(turn)[:MAX_CHARS]
    if turn.state is TurnState.STREAMING and " " in text:
        text = text[: text.rindex(" ")] + " …"
    if turn.role is Role.USER:
        return tr("You: {text}", text=one_line(text))
    text = one_line(without_markup(text))
    if not text:
        return tr("(computing)") if turn.state is TurnState.STREAMING else tr("(no text)")
    return text


class TreeRows(RowModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self.branches: tuple[Branch, ...] = ()
        self.strokes: list[Strokes] = []
        self.held: Mapping[int, Seqs] = {}

    @property
    def num_lanes(self) -> int:
        return 1 + max((branch.lane for branch in self.branches), default=0)

    def show(self, branches: tuple[Branch, ...]) -> None:
        if _shape(branches) == _shape(self.branches):
            self.branches = branches  # what is chosen and where it is scrolled stays
            return
        self.beginResetModel()
        self.branches, self.strokes = branches, strokes_of(branches)
        self.held = {}
        self.endResetModel()

    def note(self, held: Mapping[int, Seqs]) -> None:
        """Which sequences hold which row. Other figures may have changed, too."""
        self.held = held
        self.redraw()

    def row_of(self, turn: Turn) -> int | None:
        rows = (row for row, one in enumerate(self.branches) if any(place is turn for _, place in one.places))
        return next(rows, None)

    def num_rows(self) -> int:
        return len(self.branches)

    def text_at(self, row: int, column: int) -> str:
        if column == MESSAGE:
            return line_of(self.branches[row].turn)
        if column == TOKENS:
            number = num_tokens(self.branches, row, self.strokes[row].below)
            return count(number) if number else ""
        if column == HELD:
            return _held_text(self.held.get(row, ()))
        return ""

    def spoken_at(self, row: int, column: int) -> str:
        branch = self.branches[row]
        if column != BRANCH:
            return ""
        if not branch.is_shown:
            return tr("Branch {number}", number=branch.lane + 1)
        return tr("Branch {number}, shown", number=branch.lane + 1)

    def is_muted(self, row: int, column: int) -> bool:
        return super().is_muted(row, column) or not self.branches[row].is_shown


def _shape(branches: tuple[Branch, ...]) -> list[tuple[object, ...]]:
    return [(branch.turn.id, branch.parent, branch.lane, branch.is_shown) for branch in branches]


class TreeTable(RowTable):
    """Two rows can be chosen, to be compared: with a key held, a click only chooses."""

    clicked_alone = Signal(QModelIndex)  # without a key

    def __init__(self, rows: TreeRows, parent: QWidget) -> None:
        super().__init__(tr("Turns of the chat"), rows, parent, _TreeDelegate)
        self._rows = rows
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.fit()

    def fit(self) -> None:
        """Makes room for the lanes."""
        self.setColumnWidth(BRANCH, min(MAX_WIDTH, max(MIN_WIDTH, LANE * (self._rows.num_lanes + 1))))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        is_plain = event.button() == Qt.MouseButton.LeftButton and not event.modifiers() & _CHOOSING
        if is_plain and index.isValid():
            self.clicked_alone.emit(index)

    @property
    def chosen_rows(self) -> list[int]:
        return sorted(index.row() for index in self.selectionModel().selectedRows())


class _TreeDelegate(RowDelegate):
    rows: TreeRows

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        if index.column() == BRANCH:
            painter.save()
            painter.setClipRect(option.rect)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_branch(painter, option.rect, index.row())
            painter.restore()

    def _paint_branch(self, painter: QPainter, rect: QRect, row: int) -> None:
        branch, strokes = self.rows.branches[row], self.rows.strokes[row]
        top, middle, bottom = rect.top(), rect.top() + ROW_HEIGHT / 2, rect.top() + ROW_HEIGHT
        for lane, leads_to in strokes.through.items():
            self._paint_lines(painter, rect, leads_to, lambda x: _line(x, top, bottom), lane)
        if strokes.below:
            self._paint_lines(painter, rect, strokes.below, lambda x: _line(x, middle, bottom), branch.lane)
        if strokes.above is not None and strokes.bend is None:
            self._paint_lines(painter, rect, [row], lambda x: _line(x, top, middle), branch.lane)
        elif strokes.above is not None and strokes.bend is not None:
            end = rect.left() + LANE * (branch.lane + 0.75)
            self._paint_lines(painter, rect, [row], lambda x: _bend(x, top, end, middle), strokes.bend)
        self._paint_dot(painter, QPointF(rect.left() + LANE * (branch.lane + 0.75), middle), branch)

    def _paint_lines(
        self,
        painter: QPainter,
        rect: QRect,
        leads_to: Sequence[int],
        path_at: Callable[[float], QPainterPath],
        lane: int,
    ) -> None:
        """One for each sequence that holds what it leads to; while that is written, they move."""
        seqs = together(self.rows.held, leads_to)[:MAX_LINES]
        centre = rect.left() + LANE * (lane + 0.75)
        is_growing = any(self.rows.branches[row].turn.state is TurnState.STREAMING for row in leads_to)
        if not seqs:
            painter.strokePath(path_at(centre), _pen(QColor(current().hairline), 1.4, is_growing))
        left = centre - (len(seqs) - 1) * (LINE + GAP) / 2
        for number, seq_id in enumerate(seqs):
            path = path_at(left + number * (LINE + GAP))
            painter.strokePath(path, _pen(colour_of(seq_id), LINE, is_growing))

    def _paint_dot(self, painter: QPainter, centre: QPointF, branch: Branch) -> None:
        tokens, turn = current(), branch.turn
        colour = QColor(tokens.accent if branch.is_shown else tokens.muted)
        if turn.state is TurnState.FAILED:
            colour = QColor(tokens.danger)
        painter.setPen(QPen(colour, 1.8))
        painter.setBrush(QColor(tokens.window) if turn.role is Role.USER else colour)
        painter.drawEllipse(centre, DOT, DOT)


def _line(x: float, top: float, bottom: float) -> QPainterPath:
    path = QPainterPath(QPointF(x, top))
    path.lineTo(x, bottom)
    return path


def _bend(x: float, top: float, end: float, middle: float) -> QPainterPath:
    path = QPainterPath(QPointF(x, top))
    path.cubicTo(QPointF(x, middle), QPointF(x, middle), QPointF(end, middle))
    return path


def _pen(colour: QColor, width: float, is_growing: bool) -> QPen:
    pen = QPen(colour, width)
    if is_growing:
        pen.setDashPattern([3, 2])
        pen.setDashOffset(-(time.monotonic() * DASH_PX_PER_S / width) % 5)
    return pen
