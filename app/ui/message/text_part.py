"""What a selection runs through: the texts of a message in reading order. GUI thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QAbstractScrollArea, QTextEdit

from app.look.tokens import current
from app.ui.message.passages import CopiedPassage

LIT, MUTED = 0.32, 0.22  # how much of the colour is seen
_KEYS = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)

Key = tuple[float, ...]  # of a text in its message; texts are read in the order of their keys

if TYPE_CHECKING:

    class _TextView(QAbstractScrollArea):
        """QTextEdit and QPlainTextEdit have no class in common that has these."""

        def document(self) -> QTextDocument: ...
        def setExtraSelections(self, selections: Sequence[QTextEdit.ExtraSelection]) -> None: ...
        def cursorForPosition(self, pos: QPoint) -> QTextCursor: ...
        def cursorRect(self, cursor: QTextCursor = ...) -> QRect: ...
        def textCursor(self) -> QTextCursor: ...
        def toPlainText(self) -> str: ...

else:
    _TextView = object


class SelectedText(_TextView):
    """A text view that shows its part of the page's selection. Selecting is the page's work."""

    _selected: tuple[int, int, bool, int] | None = (
        None  # its begin and end, whether it is lit; the document's revision
    )
    _marks: Sequence[QTextEdit.ExtraSelection] = ()
    _token_marks: Sequence[QTextEdit.ExtraSelection] = ()

    def show_selected(self, begin: int, end: int, *, is_lit: bool) -> None:
        """From one position to another, at most to the end; nothing where they are the same."""
        end = min(end, self.length)
        selected = (begin, end, is_lit, self.document().revision()) if begin < end else None
        if selected != self._selected:
            self._selected = selected
            self._show_colours()

    def show_marks(self, marks: Sequence[QTextEdit.ExtraSelection]) -> None:
        """Marks what a search has found."""
        if marks or self._marks:
            self._marks = marks
            self._show_colours()

    def show_tokens(self, marks: Sequence[QTextEdit.ExtraSelection]) -> None:
        """Marks tokens, below what a search has found."""
        if marks or self._token_marks:
            self._token_marks = marks
            self._show_colours()

    @property
    def length(self) -> int:
        """Its last position."""
        return self.document().characterCount() - 1

    @property
    def selected_range(self) -> tuple[int, int]:
        return self._selected[:2] if self._selected else (0, 0)

    def selected_pieces(self, begin: int, end: int) -> list[QTextEdit.ExtraSelection]:
        return [coloured(self.document(), begin, end, self.selection_colour())]

    def selection_colour(self) -> QColor:
        tokens = current()
        is_lit = self._selected is not None and self._selected[2]
        colour = QColor(tokens.accent if is_lit else tokens.muted)
        colour.setAlphaF(LIT if is_lit else MUTED)
        return colour

    def _show_colours(self) -> None:
        shown = [*self._token_marks, *self._marks]
        if self._selected:
            shown[:0] = self.selected_pieces(*self._selected[:2])
        self.setExtraSelections(shown)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._selected:
            self._show_colours()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons():
            event.ignore()
        else:
            super().mouseMoveEvent(event)  # the pointer over a link

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_selecting = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if is_selecting or any(event.matches(key) for key in _KEYS):
            event.ignore()
        else:
            super().keyPressEvent(event)


@dataclass(frozen=True, slots=True)
class TextPart:
    """One text of a message. `copied` gives the passages between two of its positions."""

    key: Key
    pane: SelectedText | None  # None: it is not shown now
    copied: Callable[[int, int], list[CopiedPassage]]

    def under(self, *key: float) -> "TextPart":
        """The same in what contains its container."""
        return TextPart((*key, *self.key), self.pane, self.copied)


def coloured(
    document: QTextDocument, begin: int, end: int, background: QColor | None, foreground: QColor | None = None
) -> QTextEdit.ExtraSelection:
    """The text between two positions, in these colours."""
    result = QTextEdit.ExtraSelection()
    result.cursor = QTextCursor(document)
    result.cursor.setPosition(begin)
    result.cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    look = QTextCharFormat()
    if background:
        look.setBackground(background)
    if foreground:
        look.setForeground(foreground)
    result.format = look
    return result
