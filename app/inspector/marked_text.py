"""A text to be read, in which places are marked. GUI thread."""

from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from app.look.fonts import small_font


class MarkedText(QPlainTextEdit):
    """Places are counted in characters. Qt counts those beyond the first plane twice."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = ""
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setFont(small_font())
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)

    def show_text(self, text: str) -> None:
        """Without any marks."""
        self.text = text
        self.setExtraSelections([])
        self.setPlainText(text)

    def cursor_over(self, begin: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._place(begin))
        cursor.setPosition(self._place(end), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def marked(self, begin: int, end: int, form: QTextCharFormat) -> QTextEdit.ExtraSelection:
        """For `setExtraSelections`."""
        selection = QTextEdit.ExtraSelection()
        selection.cursor, selection.format = self.cursor_over(begin, end), form
        return selection

    def _place(self, num_chars: int) -> int:
        if not self.text.isascii():
            num_chars = len(self.text[:num_chars].encode("utf-16-le")) // 2
        return min(num_chars, self.document().characterCount() - 1)
