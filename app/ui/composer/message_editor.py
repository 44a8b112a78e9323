"""The editor for a message, limited so that Qt stays fast, and the frame around it. GUI thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QPainter, QPalette, QPen
from PySide6.QtWidgets import QAbstractSlider, QFrame, QPlainTextEdit

from app.look.fonts import reading_font
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.dropped import dropped_files, dropped_model, has_picture, picture_bytes

if TYPE_CHECKING:  # not needed for the first paint
    from PySide6.QtCore import QMimeData
    from PySide6.QtGui import QDragEnterEvent, QFocusEvent, QInputMethodEvent
    from PySide6.QtWidgets import QWidget

MAX_PASTED_CHARS = 4_000  # longer pastes become attachments
MAX_CHARS = 20_000  # as one long word, a keystroke takes 30 ms
PADDING = 6
_MODIFIERS = Qt.KeyboardModifier
_PAGES: dict[int, QAbstractSlider.SliderAction] = {
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
}


class MessageEditor(QPlainTextEdit):
    """Grows with its lines up to a height that is set. Without a preedit, Enter or Ctrl+Enter submits."""

    submitted = Signal()
    focus_changed = Signal()
    files_given = Signal(object)  # list of Path, pasted or dropped
    picture_given = Signal(object)  # bytes of it
    long_text_given = Signal(str)
    edit_last_requested = Signal()  # Up, while there is nothing
    paged = Signal(object)  # a SliderAction: the chat above is to be scrolled
    left_upwards = Signal()  # Backspace at the beginning

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.enter_sends = True
        self.leaves_files = False
        self._is_composing = False
        self._max_height = 200
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setPlaceholderText(tr("Message…"))
        self.setAccessibleName(tr("Message"))
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._show_ground()
        self.document().setDocumentMargin(2)
        self.setFont(reading_font())
        self.document().documentLayout().documentSizeChanged.connect(self.fit)
        self.textChanged.connect(self.fit)
        self.fit()

    def _show_ground(self) -> None:
        """Shows the background below it. Accessing the viewport would load all of Qt's widget classes."""
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        self.setPalette(palette)

    def has_room_for(self, text: str) -> bool:
        return self.document().characterCount() + len(text) <= MAX_CHARS

    def set_max_height(self, height: int) -> None:
        self._max_height = height
        self.fit()

    def fit(self) -> None:
        line = self.fontMetrics().lineSpacing()
        wanted = max(1, int(self.document().size().height())) * line + PADDING
        height = min(wanted, max(self._max_height, line + PADDING))
        if height != self.height():
            self.setFixedHeight(height)
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if height < wanted else policy.ScrollBarAlwaysOff
        )

    def event(self, event: QEvent) -> bool:
        """Where it has nothing to undo, Ctrl+Z is the window's."""
        if event.type() == QEvent.Type.ShortcutOverride and not self.document().isUndoAvailable():
            assert isinstance(event, QKeyEvent)
            if event.matches(QKeySequence.StandardKey.Undo):
                event.ignore()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._press_enter(event)
        elif (
            event.key() == Qt.Key.Key_Up
            and self._is_empty
            and not event.modifiers() & ~_MODIFIERS.KeypadModifier
        ):
            self.edit_last_requested.emit()
        elif (page := _PAGES.get(event.key())) and not event.modifiers() and not self._is_scrollable:
            self.paged.emit(page)
        elif event.key() == Qt.Key.Key_Backspace and self._is_at_start and not self._is_composing:
            self.left_upwards.emit()
        else:
            super().keyPressEvent(event)

    def _press_enter(self, event: QKeyEvent) -> None:
        has_control = bool(event.modifiers() & _MODIFIERS.ControlModifier)
        has_shift = bool(event.modifiers() & _MODIFIERS.ShiftModifier)
        if self._is_composing:  # the key belongs to the input method
            event.ignore()
        elif has_control or (self.enter_sends and not has_shift):
            self.submitted.emit()
        else:
            self.insertPlainText("\n")
            self.ensureCursorVisible()

    @property
    def _is_empty(self) -> bool:
        return self.document().isEmpty() and not self._is_composing

    @property
    def _is_scrollable(self) -> bool:
        return self.verticalScrollBar().maximum() > 0

    @property
    def _is_at_start(self) -> bool:
        cursor = self.textCursor()
        return cursor.atStart() and not cursor.hasSelection()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Once it is part of a chat, files go there or to the window, which say what dropping them does."""
        if self.leaves_files and (dropped_model(event.mimeData()) or dropped_files(event.mimeData())):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """A model file dropped here is for the window."""
        if dropped_model(source):
            return False
        return source.hasText() or has_picture(source) or bool(dropped_files(source))

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pastes plain text, never formatting. An image counts only if there is no text."""
        files = dropped_files(source)
        text = "" if files else source.text()
        if files:
            self.files_given.emit(files)
        elif not text and has_picture(source):
            self.picture_given.emit(picture_bytes(source))
        elif len(text) > MAX_PASTED_CHARS or not self.has_room_for(text):
            self.long_text_given.emit(text)
        else:
            self.insertPlainText(text)
            self.ensureCursorVisible()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()


RADIUS = 12


def paint_frame(painter: QPainter, rect: QRect, is_lit: bool) -> None:
    """Highlighted while it has the focus, or something is dragged over it."""
    tokens = current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(tokens.accent if is_lit else tokens.hairline), 1.5 if is_lit else 1))
    painter.setBrush(QColor(tokens.window))
    painter.drawRoundedRect(rect.toRectF().adjusted(1, 1, -1, -1), RADIUS, RADIUS)
