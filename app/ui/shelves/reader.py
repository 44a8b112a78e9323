"""The reader beside the chat: a file of a shelf, with the passage that was cited marked. GUI thread."""

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.look.buttons import IconButton
from app.look.fonts import code_font
from app.look.layouts import hbox, vbox
from app.look.plain_text import ElidedLabel, heading_font, one_line
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.hidden_characters import mark_hidden

WIDTH, MIN_WIDTH, MARGIN = 420, 260, 12
SHADE = 0.22  # of the accent, behind the passage


class Reader(QWidget):
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._passage = (0, 0)
        self.title = ElidedLabel(parent=self)
        self.note = ElidedLabel(parent=self, tone="muted")
        self.cross = IconButton("x", tr("Close the reader"), 28, self)
        self.text = QPlainTextEdit(self)
        self.setMinimumWidth(MIN_WIDTH)
        self.setProperty("is_read", True)  # the focus stays in it: see FocusHome
        self.setAccessibleName(tr("Reader"))
        self.text.setReadOnly(True)
        self.text.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.text.document().setDocumentMargin(MARGIN)
        self.text.setAccessibleName(tr("Text of the file"))
        self.text.setFont(code_font())
        self.text.setTabChangesFocus(True)
        self.cross.clicked.connect(self.close_up)
        self.title.setFont(heading_font(self.title.font()))
        head = hbox((vbox(self.title, self.note, spacing=0), 1), self.cross)
        vbox(head, (self.text, 1), on=self, margins=(MARGIN, 8, MARGIN, 0))

    @property
    def marked(self) -> str:
        """The passage, as it is shown."""
        start, end = self._passage
        return self.text.toPlainText()[start:end]

    def show_file(self, name: str, text: str, start: int = 0, end: int = 0) -> None:
        """`start` and `end` of the passage, in characters."""
        before, passage = mark_hidden(text[:start]), mark_hidden(text[start:end])
        self.title.setText(one_line(name))
        line = before.count("\n") + 1
        self.note.setText(tr("Line {number}", number=line) if end > start else "")
        self.text.setPlainText(f"{before}{passage}{mark_hidden(text[end:])}")
        self._passage = (len(before), len(before) + len(passage))
        self._mark()
        self.show()
        self.text.setFocus()
        QTimer.singleShot(0, self, self._scroll)  # once it has its size

    def close_up(self) -> None:
        self.hide()
        self.closed.emit()

    def _mark(self) -> None:
        start, end = self._passage
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(_in_utf16(self.text.toPlainText(), start))
        cursor.setPosition(_in_utf16(self.text.toPlainText(), end), QTextCursor.MoveMode.KeepAnchor)
        look, shade = QTextCharFormat(), QColor(current().accent)
        shade.setAlphaF(SHADE)
        look.setBackground(shade)
        look.setProperty(QTextFormat.Property.FullWidthSelection, False)
        selection.cursor, selection.format = cursor, look
        self.text.setExtraSelections([selection] if end > start else [])

    def _scroll(self) -> None:
        """The passage's first line is in the upper third."""
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(_in_utf16(self.text.toPlainText(), self._passage[0]))
        self.text.setTextCursor(cursor)
        line = cursor.block().firstLineNumber()
        lines = self.text.viewport().height() // max(1, self.text.fontMetrics().lineSpacing())
        self.text.verticalScrollBar().setValue(max(0, line - lines // 4))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_up()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._mark()


def _in_utf16(text: str, place: int) -> int:
    """Qt counts a character beyond the basic plane twice."""
    return len(text[:place].encode("utf-16-le")) // 2
