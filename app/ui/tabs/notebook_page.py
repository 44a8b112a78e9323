"""The page of a notebook: one editor, whose text the model continues. GUI thread."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPalette, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton, QSizePolicy, QTextEdit, QWidget

from app.bridge.notebook_session import NotebookSession
from app.chats.chat import Turn
from app.look.buttons import IconButton
from app.look.fonts import small_font
from app.look.layouts import STRETCH, Stretch, hbox, vbox
from app.look.plain_text import PlainLabel, as_tooltip, one_line
from app.look.tokens import current
from app.look.words import tr, tr_said
from app.protocol.request import Role
from app.ui.base.proportions import BELOW_COMPOSER, BESIDE_COMPOSER, COMPOSER_PADDING, composer_width
from app.ui.composer.message_editor import paint_frame

SIDE = 28
TINT = 0.12  # of what the model wrote last
_MODIFIERS = Qt.KeyboardModifier


class NotebookEditor(QPlainTextEdit):
    submitted = Signal()
    focus_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAcceptDrops(False)  # files are for the window
        self.setAccessibleName(tr("Notebook"))
        self.setPlaceholderText(tr("Write the beginning of a text. The model continues it."))
        self.document().setDocumentMargin(4)
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        self.setPalette(palette)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() & _MODIFIERS.ControlModifier:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()

    @property
    def text(self) -> str:
        return self.toPlainText()

    def append_text(self, text: str, *, begins: bool) -> None:
        """At the end, in one step of the undo history with what was appended before, unless it `begins`."""
        bar = self.verticalScrollBar()
        follows = bar.value() >= bar.maximum() - bar.pageStep() // 8
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        (cursor.beginEditBlock if begins else cursor.joinPreviousEditBlock)()
        cursor.insertText(text)
        cursor.endEditBlock()
        if follows:
            bar.setValue(bar.maximum())

    def mark_end(self, text: str) -> None:
        """Tints `text` where the document ends with it; an empty one removes the tint."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        begin = cursor.position() - len(text.encode("utf-16-le")) // 2
        cursor.setPosition(max(0, begin), QTextCursor.MoveMode.KeepAnchor)
        if not text or cursor.selection().toPlainText() != text:
            self.setExtraSelections([])
            return
        tint = QColor(current().accent)
        tint.setAlphaF(TINT)
        selection = QTextEdit.ExtraSelection()
        selection.cursor = cursor
        selection.format.setBackground(tint)
        self.setExtraSelections([selection])


class NotebookPage(QWidget):
    tokens_requested = Signal(object, object)  # the session, the Turn that the model wrote last

    def __init__(self, session: NotebookSession, settings: QWidget, meter: QWidget, parent: QWidget) -> None:
        """With the buttons for the chat's settings and the meter of its context."""
        super().__init__(parent)
        self._session = session
        self._shown = ""  # the session's text that is in the editor
        self._is_filling = False
        self._has_begun = False  # the continuation under way has text
        self._notice = ""
        self.editor = NotebookEditor(self)
        self.go_on = self._button(tr("Continue"), tr("Let the model continue the text (Ctrl+Enter)"))
        self.go_on.setProperty("kind", "first")
        self.stop = self._button(tr("Stop"), tr("Stop this continuation (Esc)"))
        self.stop.setProperty("command", "chat.stop")
        self.undo = IconButton("rotate-ccw", tr("Undo the last continuation or edit (Ctrl+Z)"), SIDE, self)
        probabilities = tr("Token probabilities of the last continuation")
        self.tokens = IconButton("chart-bar-decreasing", probabilities, SIDE, self)
        self.state = PlainLabel(parent=self, tone="muted")
        self.state.setFont(small_font())
        self.state.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.bar = QWidget(self)
        hbox(
            self.go_on, self.stop, self.undo, self.tokens, (self.state, 1), STRETCH, settings, meter,
            on=self.bar, margins=(8, 4, 8, 4),
        )  # fmt: skip
        self._frame = _Frame(self, self.editor)
        vbox((self.editor, 1), self.bar, on=self._frame, margins=COMPOSER_PADDING, spacing=4)
        middle = hbox(Stretch(0), (self._frame, 1), Stretch(0))
        margins = (BESIDE_COMPOSER, BESIDE_COMPOSER, BESIDE_COMPOSER, BELOW_COMPOSER)
        vbox((middle, 1), on=self, margins=margins)
        self.setFocusProxy(self.editor)
        self._connect()
        self._show_all()

    def set_zoom(self, zoom: int) -> None:
        self._frame.setMaximumWidth(composer_width(zoom))

    def show_words(self, words: str) -> None:
        """The first place of searched words."""
        self.editor.moveCursor(QTextCursor.MoveOperation.Start)
        self.editor.find(words)
        self.editor.setFocus()

    def _connect(self) -> None:
        session = self._session
        session.changed.connect(self._show_all)
        session.grew.connect(self._on_grew)
        session.finished.connect(self._on_finished)
        self.editor.textChanged.connect(self._on_text_changed)
        self.editor.submitted.connect(self._on_go_on)
        self.go_on.clicked.connect(self._on_go_on)
        self.stop.clicked.connect(session.stop)
        self.undo.clicked.connect(self.editor.undo)
        self.editor.undoAvailable.connect(self._show_state)
        self.tokens.clicked.connect(self._on_tokens_clicked)

    @property
    def _last_continuation(self) -> Turn | None:
        turns = self._session.chat.turns
        return turns[-1] if turns and turns[-1].role is Role.ASSISTANT and turns[-1].text else None

    @Slot()
    def _show_all(self) -> None:
        if self._session.text != self._shown:
            self._take(self._session.text)
        self._show_state()

    def _take(self, text: str) -> None:
        """What came from the disk, or from the model."""
        self._is_filling = True
        if self._shown and text.startswith(self._shown):
            self.editor.append_text(text[len(self._shown) :], begins=not self._has_begun)
            self._has_begun = True
        else:
            self.editor.setPlainText(text)
            self.editor.moveCursor(QTextCursor.MoveOperation.End)
        self._shown = text
        self._is_filling = False

    @Slot()
    def _show_state(self) -> None:
        is_busy, last = self._session.is_busy, self._last_continuation
        self.editor.setReadOnly(is_busy)
        self.go_on.setVisible(not is_busy)
        self.go_on.setEnabled(bool(self._shown) and self._session.is_loaded)
        self.stop.setVisible(is_busy)
        self.undo.setEnabled(not is_busy and self.editor.document().isUndoAvailable())
        self.tokens.setEnabled(last is not None)
        self.state.setText(self._notice if not is_busy else "")
        self.state.setToolTip(as_tooltip(self.state.text()))
        self.state.setVisible(bool(self.state.text()))
        self.editor.mark_end(last.text if last else "")

    @Slot()
    def _on_go_on(self) -> None:
        self._has_begun, self._notice = False, ""
        self._session.go_on_writing()

    @Slot(object)
    def _on_grew(self, _answer: Turn) -> None:
        self._show_all()

    @Slot(object)
    def _on_finished(self, answer: Turn) -> None:
        """What was undone meanwhile is undone in the session, too."""
        self._notice = one_line(tr_said(answer.notice))
        self._on_text_changed()
        self._show_state()

    @Slot()
    def _on_text_changed(self) -> None:
        if self._is_filling or self._session.is_busy:
            return
        self._shown = self.editor.text
        self._notice = self._notice if self._shown == self._session.text else ""
        self._session.write(self._shown)
        self._show_state()

    @Slot()
    def _on_tokens_clicked(self) -> None:
        if self._last_continuation:
            self.tokens_requested.emit(self._session, self._last_continuation)

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        return button


class _Frame(QWidget):
    """The same frame as the composer has."""

    def __init__(self, parent: QWidget, editor: NotebookEditor) -> None:
        super().__init__(parent)
        self._editor = editor
        editor.focus_changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_frame(QPainter(self), self.rect(), self._editor.hasFocus())
