"""Where a message is written: grows with its text, sends on Enter, stops on the same button. GUI thread."""

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QInputMethodEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from app.look.fonts import reading_font
from app.look.icons import icon
from app.look.tokens import current
from app.ui.chat_settings import ChatSettingsButton
from app.ui.context_meter import ContextMeter
from app.ui.dropped_model import dropped_model

MAX_LINES = 8
MAX_WRAPPED_RUN = 5_000  # wrapping a longer unbroken run takes Qt seconds
RADIUS = 12


class Composer(QWidget):
    submitted = Signal(str)
    stop_requested = Signal()
    draft_changed = Signal(str)

    def __init__(self, draft: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_busy = False
        self.editor = _Editor(self)
        self.editor.setPlainText(draft)
        self.settings = ChatSettingsButton(self)
        self.meter = ContextMeter(self)
        self.button = _SendButton(self)
        self._lay_out()
        self.editor.submitted.connect(self._on_submitted)
        self.editor.textChanged.connect(self._on_text_changed)
        self.editor.focus_changed.connect(self.update)
        self.button.clicked.connect(self._on_clicked)
        self.setFocusProxy(self.editor)
        self._show_state()

    def set_busy(self, is_busy: bool) -> None:
        self._is_busy = is_busy
        self._show_state()

    def set_reading_font(self, font: QFont) -> None:
        self.editor.setFont(font)
        self.editor.fit()

    def set_text(self, text: str) -> None:
        self.editor.setPlainText(text)

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 0, 0, 0)
        foot.setSpacing(12)
        foot.addWidget(self.settings)
        foot.addStretch(1)
        foot.addWidget(self.meter)
        foot.addWidget(self.button)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 10, 8, 8)
        column.setSpacing(4)
        inset = QHBoxLayout()
        inset.setContentsMargins(6, 0, 0, 0)
        inset.addWidget(self.editor)
        column.addLayout(inset)
        column.addLayout(foot)

    def _on_submitted(self) -> None:
        text = self.editor.toPlainText()
        if not self._is_busy and text.strip():
            self.editor.clear()
            self.submitted.emit(text)

    def _on_clicked(self) -> None:
        if self._is_busy:
            self.stop_requested.emit()
        else:
            self._on_submitted()
        self.editor.setFocus()

    def _on_text_changed(self) -> None:
        self._show_state()
        self.draft_changed.emit(self.editor.toPlainText())

    def _show_state(self) -> None:
        self.button.show_state(self._is_busy, can_send=bool(self.editor.toPlainText().strip()))

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        has_focus = self.editor.hasFocus()
        painter.setPen(QPen(QColor(tokens.accent if has_focus else tokens.hairline), 1.5 if has_focus else 1))
        painter.setBrush(QColor(tokens.window))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(1, 1, -1, -1), RADIUS, RADIUS)


class _Editor(QPlainTextEdit):
    """Plain text only; as high as its lines, up to eight."""

    submitted = Signal()
    focus_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._is_composing = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setPlaceholderText("Message…")
        self.setAccessibleName("Message")
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(2)
        self.setFont(reading_font())
        self.document().documentLayout().documentSizeChanged.connect(self.fit)
        self.textChanged.connect(self.fit)
        self.fit()

    def fit(self) -> None:
        lines = min(MAX_LINES, max(1, int(self.document().size().height())))
        height = lines * self.fontMetrics().lineSpacing() + 6
        if height != self.height():
            self.setFixedHeight(height)
        policy = (
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if lines == MAX_LINES
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.setVerticalScrollBarPolicy(policy)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_enter:
            super().keyPressEvent(event)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        elif not self._is_composing:
            self.submitted.emit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """A model file dropped here is for the window."""
        return source.hasText() and dropped_model(source) is None

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pastes the words, never their formatting."""
        self._wrap_if_possible(source.text())
        self.insertPlainText(source.text())

    def setPlainText(self, text: str) -> None:
        self._wrap_if_possible(text)
        super().setPlainText(text)

    def _wrap_if_possible(self, text: str) -> None:
        has_long_run = any(len(run) > MAX_WRAPPED_RUN for run in text.split())
        mode = QPlainTextEdit.LineWrapMode
        if has_long_run:
            self.setLineWrapMode(mode.NoWrap)
        elif self.document().isEmpty():
            self.setLineWrapMode(mode.WidgetWidth)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()


class _SendButton(QToolButton):
    """Send, and Stop while an answer is being written."""

    SIDE = 32

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._is_busy = False
        self.setFixedSize(self.SIDE, self.SIDE)
        self.setIconSize(QSize(18, 18))

    def show_state(self, is_busy: bool, can_send: bool) -> None:
        self._is_busy = is_busy
        self.setEnabled(is_busy or can_send)
        self.setAccessibleName("Stop" if is_busy else "Send")
        self.setToolTip("Stop this answer (Esc)" if is_busy else "Send (Enter)")
        self._show_icon()

    def _show_icon(self) -> None:
        tokens = current()
        if self._is_busy:
            self.setIcon(icon("stop", tokens.text))
        else:
            self.setIcon(icon("arrow-up", tokens.on_accent if self.isEnabled() else tokens.muted))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.EnabledChange):
            self._show_icon()

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        is_primary = self.isEnabled() and not self._is_busy
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(tokens.text), 1.5) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent if is_primary else tokens.raised))
        painter.setOpacity(0.85 if self.isDown() or (is_primary and self.underMouse()) else 1.0)
        painter.drawRoundedRect(self.rect().toRectF().adjusted(1, 1, -1, -1), 8, 8)
        side = self.iconSize().width()
        corner = (self.SIDE - side) // 2
        self.icon().paint(painter, corner, corner, side, side)
