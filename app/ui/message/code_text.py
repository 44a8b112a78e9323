"""The view of a code block: grows while it is written, highlighted line by line, as high as its lines.

GUI thread.
"""

import math
from collections.abc import Iterator

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetricsF,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.look.tokens import Tokens, current
from app.look.words import tr
from app.ui.base.frame_budget import frame_budget
from app.ui.base.hidden_characters import BADGE, mark_hidden
from app.ui.message.code_colours import ColourRun, Ink, coloured_lines, is_known
from app.ui.message.folding import fold
from app.ui.message.text_part import SelectedText

LEARNING_MS = 20  # until the next look whether the language is known
MAX_OPEN_CHARS = 2_000  # of a string or comment that is still written: 14 ms
MAX_MEASURED = 400  # lines; those after them are taken for as high as usual


class CodeText(SelectedText, QPlainTextEdit):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._colours = _Highlighter(self.document())
        self._source = ""
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.setTabChangesFocus(True)
        self.setAccessibleName(tr("Code"))
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        option = self.document().defaultTextOption()
        option.setTextDirection(
            Qt.LayoutDirection.LeftToRight
        )  # code stays code, whatever letters it begins with
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDefaultTextOption(option)
        self.set_wrapped(False)

    def show_code(self, code: str, language: str, is_closed: bool) -> None:
        """Appends new text while the code is being written."""
        if code.startswith(self._source) and self._source:
            self._append(code[len(self._source) :])
        elif code != self._source:
            self._colours.forget()
            self.setPlainText(fold(mark_hidden(code)))
        self._source = code
        if is_closed:
            self._colours.colour_all(self.toPlainText(), language)
        else:
            self._colours.colour_new_lines(language)

    def _append(self, new: str) -> None:
        """Rewrites the last line: marks and folds depend on what precedes it."""
        line = self._source.rfind("\n") + 1
        cursor = QTextCursor(self.document())
        cursor.movePosition(cursor.MoveOperation.End)
        before, now = (fold(mark_hidden(text)) for text in (self._source[line:], self._source[line:] + new))
        if not now.startswith(before):
            cursor.movePosition(cursor.MoveOperation.StartOfBlock, cursor.MoveMode.KeepAnchor)
            before = ""
        cursor.insertText(now[len(before) :])

    def set_wrapped(self, is_wrapped: bool) -> None:
        mode = QPlainTextEdit.LineWrapMode
        self.setLineWrapMode(mode.WidgetWidth if is_wrapped else mode.NoWrap)

    def arrange(self, width: int) -> int:
        """Takes this width and returns the height its lines need."""
        is_wrapped = self.lineWrapMode() is QPlainTextEdit.LineWrapMode.WidgetWidth
        if is_wrapped:
            self.resize(width, self.height())
        is_wider = not is_wrapped and self.document().size().width() > width
        bar = self.horizontalScrollBar().sizeHint().height() if is_wider else 0
        height = math.ceil(self._height_of_lines(is_wrapped)) + bar + 2
        self.setFixedSize(width, height)
        return height

    def _height_of_lines(self, is_wrapped: bool) -> float:
        """A line may be higher than the font says: its letters may come from another one."""
        metrics = QFontMetricsF(self.font())
        usual = math.ceil(metrics.ascent()) + math.ceil(metrics.descent())
        num_left = int(self.document().size().height()) if is_wrapped else self.blockCount()
        height, block = 0.0, self.document().begin()
        for _ in range(MAX_MEASURED):
            if not block.isValid():
                return height
            height += self.blockBoundingRect(block).height()
            num_left -= block.lineCount() if is_wrapped else 1
            block = block.next()
        return height + max(0, num_left) * usual

    def set_code_font(self, font: QFont) -> None:
        self.setFont(font)
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))

    def recolour(self) -> None:
        self._colours.rehighlight()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.ignore()  # for what is selected, or the whole message

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Handles horizontal scrolling; vertical is for the page."""
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.recolour()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.verticalScrollBar().setValue(0)


class _Highlighter(QSyntaxHighlighter):
    """Caches the colours of highlighted lines. Works in pieces, so that the window stays responsive."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._lines: list[list[ColourRun]] = []
        self._open: list[str] = []  # lines since a string or a comment began that has not ended
        self._unread: Iterator[list[ColourRun]] = iter(())
        self._next = 0  # the line that `_unread` gives next
        self._all_of = ("", "")  # the code and language that have been read, or are being
        self._reads = QTimer(self)
        self._reads.timeout.connect(self._read_on)

    def forget(self) -> None:
        self._reads.stop()
        self._lines, self._open = [], []
        self._all_of = ("", "")

    def colour_new_lines(self, language: str) -> None:
        """Each complete line, with the string or comment it stands in: nearly right until all was read."""
        last = self.document().blockCount() - 1 if is_known(language) else 0
        for number in range(len(self._lines), last):
            self._open.append(self.document().findBlockByNumber(number).text())
            *lines, after = list(coloured_lines("\n".join([*self._open, "x"]), language)) or [[]]
            self._take(number, lines[-1] if lines else [])
            is_inside = any(run.ink in (Ink.STRING, Ink.COMMENT) for run in after)
            if not is_inside or sum(map(len, self._open)) > MAX_OPEN_CHARS:
                self._open.clear()

    def colour_all(self, code: str, language: str) -> None:
        if self._all_of == (code, language):
            return
        self._all_of = (code, language)
        self._unread, self._next = coloured_lines(code, language), 0
        self._reads.start()
        self._read_on()

    def _read_on(self) -> None:
        can_read = is_known(self._all_of[1])
        self._reads.setInterval(0 if can_read else LEARNING_MS)
        if not can_read:
            return
        with frame_budget().shared():
            while not frame_budget().is_spent:
                line = next(self._unread, None)
                if line is None:
                    self._reads.stop()
                    return
                self._take(self._next, line)
                self._next += 1

    def _take(self, number: int, runs: list[ColourRun]) -> None:
        is_known = number < len(self._lines)
        if is_known and self._lines[number] == runs:
            return
        self._lines[number : number + 1] = [runs]
        if runs or is_known:
            self.rehighlightBlock(self.document().findBlockByNumber(number))

    def highlightBlock(self, text: str) -> None:
        number = self.currentBlock().blockNumber()
        tokens = current()
        for run in self._lines[number] if number < len(self._lines) else ():
            self.setFormat(run.start, run.length, _format(run.ink, tokens))
        for badge in BADGE.finditer(text):
            self.setFormat(badge.start(), badge.end() - badge.start(), _badge_format(tokens))


def _format(ink: Ink, tokens: Tokens) -> QTextCharFormat:
    colours = {
        Ink.KEYWORD: tokens.keyword,
        Ink.STRING: tokens.string,
        Ink.NUMBER: tokens.number,
        Ink.COMMENT: tokens.muted,
        Ink.FUNCTION: tokens.function,
        Ink.TYPE: tokens.type_,
        Ink.OPERATOR: tokens.operator,
        Ink.ADDED: tokens.ok,
        Ink.REMOVED: tokens.danger,
    }
    result = QTextCharFormat()
    result.setForeground(QColor(colours[ink]))
    result.setFontItalic(ink is Ink.COMMENT)
    return result


def _badge_format(tokens: Tokens) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setForeground(QColor(tokens.window))
    result.setBackground(QColor(tokens.warning))
    return result
