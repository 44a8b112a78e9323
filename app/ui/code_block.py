"""A fenced piece of code: its language, a Copy button, the code in colours. GUI thread."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QPainter,
    QPaintEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextDocument,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.look.fonts import small_font
from app.look.plain_text import PlainLabel, one_line
from app.look.tokens import Tokens, current
from app.ui.code_colours import Ink, Run, coloured_lines
from app.ui.copy_button import CopyButton
from app.ui.markdown import Block, fold

RADIUS = 8
PADDING = 12
HEADER = 32


class CodeBlock(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._block: Block | None = None
        self._language = PlainLabel(parent=self, tone="muted")
        self._language.setFont(small_font())
        self._text = _CodeText(self)
        self._colours = _CodeHighlighter(self._text.document())
        self._copy = CopyButton("Copy code", lambda: self._block.code if self._block else "", self)

    def show_block(self, block: Block) -> None:
        if block == self._block:
            return
        self._block = block
        self._language.setText(one_line(block.info) or "text")
        self._show_code(fold(block.code.rstrip("\n")))
        if block.is_closed:
            self._colours.colour(coloured_lines(block.code, _language_of(block.info)))

    def _show_code(self, code: str) -> None:
        """Appends what is new while the code is being written, so a selection in it stays."""
        shown = self._text.toPlainText()
        if code.startswith(shown):
            cursor = self._text.textCursor()
            cursor = type(cursor)(self._text.document())
            cursor.movePosition(cursor.MoveOperation.End)
            cursor.insertText(code[len(shown) :])
        else:
            self._text.setPlainText(code)

    def set_code_font(self, font: QFont) -> None:
        self._text.setFont(font)

    def arrange(self, width: int) -> int:
        inner = width - 2 * PADDING
        self._language.setGeometry(PADDING, 0, inner - CopyButton.SIDE, HEADER)
        self._copy.move(width - CopyButton.SIDE - 4, (HEADER - CopyButton.SIDE) // 2)
        text_height = self._text.height_for(inner)
        self._text.setGeometry(PADDING, HEADER, inner, text_height)
        height = HEADER + text_height + PADDING
        self.setFixedSize(width, height)
        return height

    def plain_text(self) -> str:
        return self._text.toPlainText()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(current().raised))
        painter.drawRoundedRect(self.rect(), RADIUS, RADIUS)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colours.rehighlight()

    def sizeHint(self) -> QSize:
        return self.size()


def _language_of(info: str) -> str:
    return info.split()[0].lower() if info.split() else ""


class _CodeText(QPlainTextEdit):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setAccessibleName("Code")
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)

    def height_for(self, width: int) -> int:
        lines = self.blockCount() * self.fontMetrics().lineSpacing()
        is_wider = self.document().size().width() > width
        return lines + (self.horizontalScrollBar().sizeHint().height() if is_wider else 0) + 2

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Sideways is ours, up and down is the page's."""
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()


class _CodeHighlighter(QSyntaxHighlighter):
    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._lines: list[list[Run]] = []

    def colour(self, lines: list[list[Run]]) -> None:
        self._lines = lines
        self.rehighlight()

    def highlightBlock(self, _text: str) -> None:
        number = self.currentBlock().blockNumber()
        tokens = current()
        for run in self._lines[number] if number < len(self._lines) else ():
            self.setFormat(run.start, run.length, _format(run.ink, tokens))


def _format(ink: Ink, tokens: Tokens) -> QTextCharFormat:
    colours = {
        Ink.KEYWORD: tokens.accent,
        Ink.STRING: tokens.ok,
        Ink.NUMBER: tokens.warning,
        Ink.COMMENT: tokens.muted,
        Ink.NAME: tokens.text,
    }
    result = QTextCharFormat()
    result.setForeground(QColor(colours[ink]))
    result.setFontItalic(ink is Ink.COMMENT)
    if ink is Ink.NAME:
        result.setFontWeight(QFont.Weight.DemiBold)
    return result
