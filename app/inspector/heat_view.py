"""All that the model reads, as it reads it, with how much of it was read for a part. GUI thread."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from app.inspector.lens_text import ReadText
from app.look.fonts import small_font
from app.look.tokens import current
from app.look.words import tr
from app.protocol.lens import Span

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

MARGIN = 12
NUM_LEVELS = 8  # of the tint
MAX_TINT = 0.75
MAX_TINTED = 3_000  # tokens, the most read ones: each run of them costs the painter


class HeatView(QPlainTextEdit):
    token_clicked = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._read = ReadText(())
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.document().setDocumentMargin(MARGIN)
        self.setFont(small_font())
        self.setTabChangesFocus(True)
        self.setAccessibleName(tr("What the model read"))

    def show_text(self, read: ReadText) -> None:
        self._read = read
        self.setExtraSelections([])
        self.setPlainText(read.text)

    def show_heat(self, heat: "Floats | None", part: Span | None, marked: Span | None = None) -> None:
        """`part` is what it was read for. `marked` is a passage to be found."""
        selections = [] if heat is None else self._tints(heat)
        if part:
            form = QTextCharFormat()
            form.setFontUnderline(True)
            form.setForeground(QColor(current().accent))
            selections.append(self._selection(part, form))
        if marked:
            form = QTextCharFormat()
            form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            form.setUnderlineColor(QColor(current().accent))
            selections.append(self._selection(marked, form))
        self.setExtraSelections(selections)

    def reveal(self, tokens: Span) -> None:
        cursor = self._cursor(tokens)
        cursor.setPosition(cursor.selectionStart())
        self.setTextCursor(cursor)
        self.centerCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            place = self.cursorForPosition(event.position().toPoint()).position()
            before = self._read.text.encode("utf-16-le")[: 2 * place].decode("utf-16-le", "ignore")
            self.token_clicked.emit(self._read.token_at(len(before)))

    def _tints(self, heat: "Floats") -> list[QTextEdit.ExtraSelection]:
        """Runs of tokens of one level share a selection."""
        most = float(heat.max()) if len(heat) else 0.0
        if most <= 0:
            return []
        levels = [math.ceil(NUM_LEVELS * math.sqrt(one / most)) if one > 0 else 0 for one in heat.tolist()]
        if len(levels) > MAX_TINTED:
            least = sorted(heat.tolist())[-MAX_TINTED]
            levels = [level if one >= least else 0 for level, one in zip(levels, heat.tolist(), strict=True)]
        return [self._selection(run, _tinted(level)) for run, level in _runs(levels) if level > 1]

    def _selection(self, tokens: Span, form: QTextCharFormat) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        selection.cursor, selection.format = self._cursor(tokens), form
        return selection

    def _cursor(self, tokens: Span) -> QTextCursor:
        cursor = QTextCursor(self.document())
        last = self.document().characterCount() - 1
        begin, end = (min(self._utf16(char), last) for char in self._read.chars_of(tokens))
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _utf16(self, char: int) -> int:
        """Qt counts characters beyond the first plane twice."""
        text = self._read.text
        return char if text.isascii() else len(text[:char].encode("utf-16-le")) // 2


def _runs(levels: Sequence[int]) -> list[tuple[Span, int]]:
    runs: list[tuple[Span, int]] = []
    for token, level in enumerate(levels):
        if runs and runs[-1][1] == level:
            runs[-1] = ((runs[-1][0][0], token + 1), level)
        else:
            runs.append(((token, token + 1), level))
    return runs


def _tinted(level: int) -> QTextCharFormat:
    form, tint = QTextCharFormat(), QColor(current().accent)
    tint.setAlphaF(MAX_TINT * level / NUM_LEVELS)
    form.setBackground(tint)
    return form
