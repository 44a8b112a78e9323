"""What can be put in place of a word that begins with a sign, in a list above the message. GUI thread.

"/" at the beginning offers prompts, "@" before any word something to attach; who knows them is the source.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QStyleOptionViewItem,
    QWidget,
)

from app.look.fonts import small_font
from app.look.layouts import vbox
from app.look.list import AT_RIGHT, ROW, Index, ListDelegate, draw_text, in_weight, paint_row_ground
from app.look.plain_text import as_tooltip, one_line
from app.look.popups import stand_out
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.fuzzy import fit

WIDTH, ROW_HEIGHT, MAX_ROWS, GAP = 520, 44, 6, 6
MAX_LOOKED_AT = 200  # characters before the cursor
_WORD = re.compile(r"(?:^|(?<=\s))([/@])(\S*)\Z")
_MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_TAKES = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`choose` is called once the typed word is gone. None: a note in place of suggestions."""

    name: str
    place: str  # where it comes from
    sentence: str
    choose: Callable[[], object] | None = None


Source = Callable[[str], Sequence[Suggestion]]  # by the sign


class Completion(QObject):
    """Takes the keys of the editor only while its list is open."""

    def __init__(self, editor: QPlainTextEdit, parent: QWidget) -> None:
        super().__init__(parent)
        self._editor = editor
        self._source: Source = lambda _sign: ()
        self._left: tuple[str, int] | None = None  # a word that was left alone by Escape
        self.list: SuggestionList | None = None
        editor.cursorPositionChanged.connect(self.refresh)
        editor.textChanged.connect(self.refresh)
        editor.installEventFilter(self)

    def set_source(self, source: Source) -> None:
        """What it does not know yet it asks for, and calls `refresh`."""
        self._source = source

    @property
    def is_open(self) -> bool:
        return self.list is not None and not self.list.isHidden() and self.list.current.choose is not None

    def refresh(self) -> None:
        word = self._word()
        if word is None:
            self._left = None
        if word is None or word == self._left or not self._editor.hasFocus():
            self.close_up()
            return
        sign, query = word[0][0], word[0][1:]
        found = _matching(self._source(sign), query)
        if not found:
            self.close_up()
            return
        self._shown_list().show_above(found, self._editor)

    def close_up(self) -> None:
        if self.list:
            self.list.hide()

    def _word(self) -> tuple[str, int] | None:
        """The word before the cursor, if it begins with a sign, and where it begins."""
        cursor = self._editor.textCursor()
        if cursor.hasSelection():
            return None
        begin = max(0, cursor.positionInBlock() - MAX_LOOKED_AT)
        before = cursor.block().text()[begin : cursor.positionInBlock()]
        match = _WORD.search(before)
        if match is None:
            return None
        at = cursor.position() - len(match[0])
        return None if match[1] == "/" and at else (match[0], at)

    def _take(self, suggestion: Suggestion) -> None:
        if suggestion.choose is None:
            return
        word = self._word()
        self.close_up()
        if word:
            cursor = self._editor.textCursor()
            cursor.setPosition(word[1], QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
        suggestion.choose()

    def _shown_list(self) -> "SuggestionList":
        """Created on first use."""
        if self.list is None:
            self.list = SuggestionList(self._editor.window())
            self.list.taken.connect(self._take)
        return self.list

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.close_up()
        elif event.type() == QEvent.Type.FocusIn:
            self.refresh()
        elif self.is_open and isinstance(event, QKeyEvent) and not event.modifiers():
            return self._hear_key(event)
        return False

    def _hear_key(self, event: QKeyEvent) -> bool:
        """Whether it is not the editor's."""
        assert self.list
        key = Qt.Key(event.key())
        is_ours = key in _MOVES or key in _TAKES or key == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride and is_ours:
            event.accept()  # Escape would stop an answer
        elif event.type() == QEvent.Type.KeyPress and key in _MOVES:
            self.list.move_by(_MOVES[key])
        elif event.type() == QEvent.Type.KeyPress and key in _TAKES:
            self._take(self.list.current)
        elif event.type() == QEvent.Type.KeyPress and key == Qt.Key.Key_Escape:
            self._left = self._word()
            self.close_up()
        return is_ours


class SuggestionList(QFrame):
    """Over the window, and never with the focus."""

    taken = Signal(object)  # a Suggestion

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("search")
        stand_out(self)
        self.rows = QListWidget(self)
        self.rows.setFrameShape(QFrame.Shape.NoFrame)
        self.rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.setMouseTracking(True)
        self.rows.setUniformItemSizes(True)
        self.rows.setItemDelegate(_SuggestionDelegate(self.rows))
        self.rows.setAccessibleName(tr("Suggestions"))
        self.rows.itemClicked.connect(lambda item: self.taken.emit(item.data(ROW)))
        vbox(self.rows, on=self, margins=5)
        self.hide()

    @property
    def current(self) -> Suggestion:
        suggestion: Suggestion = self.rows.currentItem().data(ROW)
        return suggestion

    def show_above(self, found: Sequence[Suggestion], editor: QWidget) -> None:
        self.rows.clear()
        for suggestion in found:
            item = QListWidgetItem(one_line(suggestion.name), self.rows)
            item.setData(ROW, suggestion)
            item.setToolTip(as_tooltip(suggestion.sentence[:1_000]))
        self.rows.setCurrentRow(0)
        window, corner = self.window(), editor.mapTo(self.window(), QPoint(0, 0))
        width = min(WIDTH, window.width() - 2 * GAP)
        height = min(min(len(found), MAX_ROWS) * ROW_HEIGHT + 12, corner.y() - 2 * GAP)
        left = max(GAP, min(corner.x() - 8, window.width() - width - GAP))
        self.setGeometry(left, corner.y() - GAP - 10 - height, width, height)
        self.show()
        self.raise_()

    def move_by(self, rows: int) -> None:
        """Round the ends."""
        self.rows.setCurrentRow((self.rows.currentRow() + rows) % self.rows.count())


class _SuggestionDelegate(ListDelegate):
    """The name and where it comes from, and below them a sentence."""

    HEIGHT = ROW_HEIGHT

    def paint_row(
        self, painter: QPainter, option: QStyleOptionViewItem, _index: Index, row: Suggestion
    ) -> None:
        tokens, rect = current(), option.rect.adjusted(0, 1, 0, -1)
        paint_row_ground(painter, rect, option.state, is_framed=False)
        inner = rect.adjusted(10, 4, -10, -4)
        top = inner.adjusted(0, 0, 0, -inner.height() // 2)
        half = top.adjusted(inner.width() - inner.width() // 2, 0, 0, 0)
        width = draw_text(painter, half, one_line(row.place), tokens.muted, small_font(), alignment=AT_RIGHT)
        sentence = one_line(row.sentence[:1_000])
        draw_text(painter, inner.adjusted(0, inner.height() // 2, 0, 0), sentence, tokens.muted)
        name = (top if sentence else inner).adjusted(0, 0, -width - 12, 0)
        bold = in_weight(option.font, QFont.Weight.DemiBold)
        elide = Qt.TextElideMode.ElideMiddle
        draw_text(painter, name, one_line(row.name), tokens.text, bold, elide=elide)


def _matching(suggestions: Sequence[Suggestion], query: str) -> list[Suggestion]:
    """The best first; without a query all, in their order."""
    if not query:
        return list(suggestions)
    fits = ((fit(query, f"{each.name} {each.place}"), each) for each in suggestions)
    found = [(one.score, each) for one, each in fits if one and each.choose]
    return [each for _score, each in sorted(found, key=lambda pair: -pair[0])]
