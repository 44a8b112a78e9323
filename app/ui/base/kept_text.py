"""Keeps what is typed into a text field until it is used. GUI thread."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from app.bridge.drafts import Drafts, Field


class KeptText(QObject):
    def __init__(self, editor: QPlainTextEdit, drafts: Drafts, field: Field) -> None:
        """Shows what was typed before; Undo leads back to what the editor shows now."""
        super().__init__(editor)
        self._editor, self._drafts, self._field = editor, drafts, field
        self._first = editor.toPlainText()
        if draft := drafts.text(field):
            cursor = QTextCursor(editor.document())
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(draft)
            editor.moveCursor(QTextCursor.MoveOperation.End)
        editor.textChanged.connect(self._keep)

    def forget(self) -> None:
        """It was used, or given up."""
        self._drafts.put(self._field, "")

    @Slot()
    def _keep(self) -> None:
        text = self._editor.toPlainText()
        self._drafts.put(self._field, "" if text == self._first else text)
