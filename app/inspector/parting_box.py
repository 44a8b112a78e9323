"""Two turns side by side, equal up to the first token where they part. GUI thread."""

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from app.inspector.parting import Parting, around_parting, part, pieces_of, words_of
from app.inspector.token_text import shown
from app.look.figures import count
from app.look.fonts import small_font
from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.tokens import current
from app.look.words import tr
from app.protocol.report import TokenizedText

TINT = 0.28
HEIGHT = 88  # some five lines: the tree stays in sight


class PartingBox(QWidget):
    """`texts_wanted` are to be tokenized and given to `take`."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.head = PlainLabel(parent=self, tone="muted", wraps=True)
        self.head.setFont(small_font())
        self.sides = (_Side(tr("First message"), self), _Side(tr("Second message"), self))
        self._begin, self._around = 0, ("", "")
        self._tokens: dict[str, tuple[bytes, ...]] = {}
        vbox(self.head, (hbox(*((side, 1) for side in self.sides)), 1), on=self, margins=(12, 4, 12, 0))

    @property
    def texts_wanted(self) -> tuple[str, ...]:
        """Those whose tokens are not known yet."""
        return tuple(text for text in dict.fromkeys(self._around) if text and text not in self._tokens)

    def apply(self, one: str, other: str) -> None:
        if [side.toPlainText() for side in self.sides] == [one, other]:
            return
        self._begin, *around = around_parting(one, other)
        self._around, self._tokens = (around[0], around[1]), {}
        for side, text in zip(self.sides, (one, other), strict=True):
            side.setPlainText(text)
        self._show()

    def take(self, tokenized: TokenizedText) -> None:
        if tokenized.text in self.texts_wanted:
            self._tokens[tokenized.text] = tokenized.tokens.texts
            self._show()

    def _show(self) -> None:
        if self.texts_wanted:
            pieces = [words_of(text) for text in self._around]
        else:
            pieces = [pieces_of(text, self._tokens.get(text, ())) for text in self._around]
        parting = part(*pieces)
        self.head.setText(_words(parting, self._begin + parting.num_common_chars))
        for side, piece in zip(self.sides, (parting.one, parting.other), strict=True):
            side.mark(self._begin + parting.num_common_chars, piece or "")


def _words(parting: Parting, place: int) -> str:
    if parting.is_same:
        return tr("Both are the same.")
    one, other = (
        tr("the end") if piece is None else f"“{shown(piece.encode())}”" for piece in _both(parting)
    )
    return tr(
        "The same for {number} characters, then {one} and {other}.", number=count(place), one=one, other=other
    )


def _both(parting: Parting) -> tuple[str | None, str | None]:
    return parting.one, parting.other


class _Side(QPlainTextEdit):
    """What both have is muted, and the first token that differs is marked."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setFont(small_font())
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFixedHeight(HEIGHT)

    def mark(self, place: int, piece: str) -> None:
        muted, marked = QTextCharFormat(), QTextCharFormat()
        muted.setForeground(QColor(current().muted))
        tint = QColor(current().accent)
        tint.setAlphaF(TINT)
        marked.setBackground(tint)
        self.setExtraSelections(
            [self._selection(0, place, muted), self._selection(place, place + len(piece), marked)]
        )
        cursor = self.textCursor()
        cursor.setPosition(min(self._place(place), self._end))
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    @property
    def _end(self) -> int:
        return self.document().characterCount() - 1

    def _place(self, num_chars: int) -> int:
        """Qt counts in UTF-16."""
        return len(self.toPlainText()[:num_chars].encode("utf-16-le")) // 2

    def _selection(self, begin: int, end: int, how: QTextCharFormat) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(self._place(begin), self._end))
        cursor.setPosition(min(self._place(end), self._end), QTextCursor.MoveMode.KeepAnchor)
        selection.cursor, selection.format = cursor, how
        return selection
