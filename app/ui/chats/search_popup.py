"""Ctrl+K: finds a chat by its title at once, and by the text of its messages a moment later.

A field and a list over the top of the window. Shows given results, emits what was typed and chosen. GUI
thread.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QRectF,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QFont, QFontMetrics, QHideEvent, QPainter
from PySide6.QtWidgets import QLineEdit, QListView, QStyleOptionViewItem, QWidget

from app.look import marks
from app.look.fonts import small_font
from app.look.icons import icon
from app.look.layouts import vbox
from app.look.list import AT_RIGHT, ROW, Index, ListDelegate, draw_text, in_weight, paint_row_ground
from app.look.marks import Mark
from app.look.painted import paint_mark
from app.look.plain_text import PlainLabel
from app.look.tokens import Tokens, current
from app.look.words import tr
from app.storage.list_rows import ChatSummary
from app.storage.search import SearchHit
from app.ui.base.field_popup import FieldPopup
from app.ui.chats.search_rows import FoundMessages, Heading, day_text, hit_rows, title_rows

MAX_ROWS = 9
_MARGIN = 8


@dataclass(frozen=True, slots=True)
class Known:
    """What can be found by title."""

    chats: Sequence[ChatSummary]
    marks: dict[str, Mark]  # of the chats that are open, by id, in the order of their tabs


class SearchPopup(FieldPopup):
    typed = Signal(str)
    chosen = Signal(str, str, str)  # chat id, turn id or "", the words that were looked for
    beside_chosen = Signal(str)

    def __init__(self, ground: QWidget) -> None:
        super().__init__(ground)
        self._ground = ground
        self._known = Known((), {})
        self._below: QWidget | None = None
        self.model = SearchModel(self)
        self._state = PlainLabel("", self, "muted")
        self._lay_out()
        self.field.textChanged.connect(self._on_text_changed)
        self.model.modelReset.connect(self._on_reset)
        self.hide()

    def open(self, known: Known, below: QWidget | None = None) -> None:
        """With the last words selected, so that they can be continued or replaced.

        Over the top of the window, or with its right edge `below` what was clicked.
        """
        self._known = known
        self._below = below
        self.come_up()
        self.field.selectAll()
        self._show_titles()
        self.typed.emit(self.field.text())

    def show_hits(self, words: str, hits: Sequence[SearchHit]) -> None:
        """Ignored if the words in the field have changed since."""
        if self.isVisible() and words == self.field.text().strip():
            self.model.set_hits(hits)
            self._show_state(is_searching=False)

    def _lay_out(self) -> None:
        self.setObjectName("search")
        self.setAccessibleName(tr("Search chats"))
        self.field.setPlaceholderText(tr("Search titles and messages"))
        self.field.setAccessibleName(tr("Search titles and messages"))
        self.field.setClearButtonEnabled(True)
        self.field.setMinimumHeight(32)
        self.field.addAction(icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.dress_list(self.model, SearchDelegate(self.list), tr("Found chats"))
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._state.setContentsMargins(10, 0, 10, 2)
        vbox(self.field, self.list, self._state, on=self, margins=_MARGIN, spacing=6)

    def place(self) -> None:
        room = self._ground.rect()
        width = min(self.WIDTH, room.width() - 32)
        self.setFixedWidth(width)
        corner = QPoint((room.width() - width) // 2, min(self.TOP, room.height() // 8))
        if self._below:
            edge = self._below.mapTo(self._ground, self._below.rect().bottomRight())
            corner = QPoint(max(_MARGIN, edge.x() - width), edge.y() + 1)
        self.list.setFixedHeight(min(self._wanted_height(), room.height() - corner.y() - 120))
        self.list.setVisible(self.model.rowCount() > 0)
        self.adjustSize()
        self.move(corner)

    def _wanted_height(self) -> int:
        rows = self.model.rows[: MAX_ROWS + 1]
        return sum(HEIGHT if isinstance(row, FoundMessages) else HEADING_HEIGHT for row in rows) + 2

    def _show_titles(self) -> None:
        self.model.set_titles(self.field.text(), self._known.chats, self._known.marks)
        self._show_state(is_searching=bool(self.field.text().strip()))

    def _show_state(self, is_searching: bool) -> None:
        text = tr("Enter opens, Ctrl+Enter opens in split view, Esc closes.")
        if is_searching:
            text = tr("Searching all messages…")
        elif self.field.text().strip() and not self.model.rows:
            text = tr("No title or message contains these words.")
        self._state.setText(text)
        self.place()

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        self._show_titles()
        self.typed.emit(text)

    @Slot()
    def _on_reset(self) -> None:
        first = next(
            (place for place, row in enumerate(self.model.rows) if isinstance(row, FoundMessages)), -1
        )
        self.list.setCurrentIndex(self.model.index(first) if first >= 0 else QModelIndex())

    def take(self, index: Index, is_beside: bool) -> None:
        found = self.model.found_at(index)
        if found is None:
            return
        self.hide()
        if is_beside:
            self.beside_chosen.emit(found.chat_id)
        else:
            self.chosen.emit(found.chat_id, found.turn_id, self.field.text().strip() if found.turn_id else "")

    def step(self, rows: int) -> None:
        """To one that can be chosen, without wrapping around."""
        place = self.list.currentIndex().row() + rows
        places = [at for at, row in enumerate(self.model.rows) if isinstance(row, FoundMessages)]
        wanted = (
            [at for at in places if at >= place] if rows > 0 else [at for at in places if at <= place][::-1]
        )
        if wanted:
            self.list.setCurrentIndex(self.model.index(wanted[0]))
            self.list.scrollTo(self.model.index(max(0, wanted[0] - 1)))
            self.list.scrollTo(self.model.index(wanted[0]))

    def hideEvent(self, event: QHideEvent) -> None:
        """Closed, it holds no chats."""
        super().hideEvent(event)
        if self.isHidden():
            self._known = Known((), {})
            self.model.set_titles("", (), {})


HEIGHT, HEADING_HEIGHT = 46, 26
_INSET = 10
_MARK = 14


class SearchDelegate(ListDelegate):
    def height_of(self, row: FoundMessages | Heading) -> int:
        return HEADING_HEIGHT if isinstance(row, Heading) else HEIGHT

    def paint_row(
        self, painter: QPainter, option: QStyleOptionViewItem, _index: Index, row: FoundMessages | Heading
    ) -> None:
        if isinstance(row, Heading):
            rect = option.rect.adjusted(_INSET, 4, 0, 0)
            draw_text(painter, rect, row.text, current().muted, small_font())
        elif isinstance(row, FoundMessages):
            paint_row_ground(painter, option.rect, option.state, is_framed=True)
            self._paint_found(painter, option.rect.adjusted(_INSET, 3, -_INSET, -3), row, current())

    def _paint_found(self, painter: QPainter, rect: QRect, found: FoundMessages, tokens: Tokens) -> None:
        font, small = QFont(painter.font()), small_font()
        top = rect.adjusted(0, 0, 0, -rect.height() // 2) if found.pieces else rect
        date = day_text(found.at, time.time())
        right = draw_text(painter, top, date, tokens.muted, small, alignment=AT_RIGHT) + 12
        if found.mark is not None and found.mark is not marks.IDLE:
            place = QRectF(top.right() - right - _MARK, top.center().y() - _MARK / 2, _MARK, _MARK)
            paint_mark(painter, place, found.mark, tokens)
            right += _MARK + 6
        font.setWeight(QFont.Weight.Medium if found.mark is not None else QFont.Weight.Normal)
        _draw_pieces(painter, top.adjusted(0, 0, -right, 0), found.title, font, tokens.text, tokens.accent)
        if found.pieces:
            below = rect.adjusted(0, rect.height() // 2, 0, 0)
            _draw_pieces(painter, below, _window(found.pieces), small, tokens.muted, tokens.text)


def _window(pieces: tuple[tuple[str, bool], ...]) -> tuple[tuple[str, bool], ...]:
    """Cuts the text before the first match, so that the match is visible."""
    first, is_marked = pieces[0]
    if is_marked or len(first) <= 36:
        return pieces
    return ((f"…{first[-34:].lstrip('…')}", False), *pieces[1:])


def _draw_pieces(
    painter: QPainter,
    rect: QRect,
    pieces: tuple[tuple[str, bool], ...],
    font: QFont,
    colour: str,
    marked_colour: str,
) -> None:
    bold, left = in_weight(font, QFont.Weight.DemiBold), rect.left()
    for text, is_marked in pieces:
        room = rect.right() - left
        if room <= 8:
            return
        place, own = QRect(left, rect.top(), room, rect.height()), bold if is_marked else font
        draw_text(painter, place, text, marked_colour if is_marked else colour, own)
        left += QFontMetrics(own).horizontalAdvance(text)


class SearchModel(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._titles: list[Heading | FoundMessages] = []
        self._hits: list[Heading | FoundMessages] = []
        self._marks: Mapping[str, Mark] = {}

    @property
    def rows(self) -> Sequence[Heading | FoundMessages]:
        return [*self._titles, *self._hits]

    def set_titles(self, words: str, chats: Sequence[ChatSummary], marks: Mapping[str, Mark]) -> None:
        """Drops messages found for former words."""
        self.beginResetModel()
        self._marks = marks
        self._titles, self._hits = title_rows(words, chats, marks), []
        self.endResetModel()

    def set_hits(self, hits: Sequence[SearchHit]) -> None:
        """Adds messages below the titles, which keep their selection."""
        rows = hit_rows(hits, self._marks)
        if not self._titles or self._hits:
            self.beginResetModel()
            self._hits = rows
            self.endResetModel()
        elif rows:
            first = len(self._titles)
            self.beginInsertRows(QModelIndex(), first, first + len(rows) - 1)
            self._hits = rows
            self.endInsertRows()

    def found_at(self, index: Index) -> FoundMessages | None:
        row = self._row(index)
        return row if isinstance(row, FoundMessages) else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._titles) + len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self._row(index)
        if row is None:
            return None
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.text if isinstance(row, Heading) else row.plain_title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.text if isinstance(row, Heading) else _spoken(row)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
        return usual | Qt.ItemFlag.ItemIsSelectable if self.found_at(index) else usual

    def _row(self, index: Index) -> Heading | FoundMessages | None:
        place, num_titles = index.row(), len(self._titles)
        if not index.isValid() or place >= num_titles + len(self._hits):
            return None
        return self._titles[place] if place < num_titles else self._hits[place - num_titles]


def _spoken(found: FoundMessages) -> str:
    parts = [found.plain_title, found.excerpt]
    if found.mark is not None:
        parts.append(tr("open") if found.mark is marks.IDLE else found.mark.word)
    return ", ".join(part for part in parts if part)
