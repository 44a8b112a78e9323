"""Edits a turn in place. GUI thread."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton, QToolTip, QWidget

from app.chats.attachment import Attachment
from app.look.buttons import quiet_button
from app.look.painted import paint_rounded
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.attachment_chips import AttachmentChip, AttachmentChips
from app.ui.base.attachment_preview import AttachmentPreview
from app.ui.base.picture_viewer import open_media, save_media
from app.ui.base.thumbnails import Thumbnails

PADDING = 12
FOOT = 40
MAX_CHIPS_HEIGHT = 120
MIN_LINES, MAX_LINES = 2, 16
MAX_WRAPPED_RUN = 5_000  # wrapping a longer unbroken run takes Qt seconds
RADIUS = 12
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TurnEditor(QWidget):
    """Enter does what it does in the composer: it saves, or begins a line.

    Esc closes the editor, and what was typed is there the next time.
    """

    saved = Signal(str, object)  # the text, the attachments that are left
    cancelled = Signal(bool)  # by Esc, and what was typed is kept; else it is given up
    height_changed = Signal()

    def __init__(
        self,
        text: str,
        save_label: str,
        parent: QWidget,
        attachments: tuple[Attachment, ...] = (),
        thumbnails: Thumbnails | None = None,
    ) -> None:
        super().__init__(parent)
        self.attachments = attachments
        self.chips = AttachmentChips(self)
        if thumbnails:
            self.chips.set_thumbnails(thumbnails)
        self.chips.set_max_height(MAX_CHIPS_HEIGHT)
        self._thumbnails = thumbnails
        self.chips.opened.connect(self._on_opened)
        self.chips.saved.connect(self._on_media_saved)
        self.chips.removed.connect(self._on_removed)
        self.chips.moved.connect(self._on_moved)
        self.enter_saves = True  # else Ctrl+Enter does
        self.text = QPlainTextEdit(self)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setAccessibleName(tr("Edited message"))
        self.text.setTabChangesFocus(True)
        self.text.viewport().setAutoFillBackground(False)
        self.text.document().setDocumentMargin(2)
        if any(len(run) > MAX_WRAPPED_RUN for run in text.split()):
            self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        else:  # a bar for the width that it had a moment ago would lie over its last line
            self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text.setPlainText(text)
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)
        self.text.installEventFilter(self)
        self.save = QPushButton(save_label, self)
        self.save.setProperty("kind", "first")
        self.cancel = quiet_button(tr("Cancel"), self)
        self.cancel.setToolTip(tr("Discard the changes. Esc closes and keeps them."))
        self.save.clicked.connect(self._on_saved)
        self.cancel.clicked.connect(lambda: self.cancelled.emit(False))
        self.text.textChanged.connect(self._on_changed)
        self.chips.show_attachments(attachments)
        self.setFocusProxy(self.text)
        self._height_in_lines = 0
        self._show_state()

    def set_reading_font(self, font: QFont) -> None:
        self.text.setFont(font)

    def arrange(self, width: int) -> int:
        self.text.resize(width - 2 * PADDING, self.text.height())
        self._height_in_lines = self._num_lines()
        text_height = self._height_in_lines * self.text.fontMetrics().lineSpacing() + 12
        is_cut = self._height_in_lines == MAX_LINES
        policy = Qt.ScrollBarPolicy
        self.text.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if is_cut else policy.ScrollBarAlwaysOff
        )
        top = PADDING
        if self.attachments:
            self.chips.setFixedWidth(width - 2 * PADDING)
            self.chips.fit()
            self.chips.move(PADDING, top)
            top += self.chips.height() + 6
        self.text.setGeometry(PADDING, top, width - 2 * PADDING, text_height)
        self.save.adjustSize()
        self.cancel.adjustSize()
        y = top + text_height + (FOOT - self.save.height()) // 2
        self.save.move(width - PADDING - self.save.width(), y)
        self.cancel.move(self.save.x() - 8 - self.cancel.width(), y)
        height = top + text_height + FOOT + 4
        self.setFixedSize(width, height)
        return height

    def _num_lines(self) -> int:
        num_lines = int(self.text.document().size().height())
        return max(MIN_LINES, min(MAX_LINES, num_lines))

    def _on_changed(self) -> None:
        self._show_state()
        if self._num_lines() != self._height_in_lines:
            self.height_changed.emit()

    def _show_state(self) -> None:
        self.save.setEnabled(bool(self.text.toPlainText().strip() or self.attachments))

    def _on_saved(self) -> None:
        if self.save.isEnabled():
            self.saved.emit(self.text.toPlainText(), self.attachments)

    def _on_opened(self, number: int, chip: AttachmentChip) -> None:
        """Opens a preview, as in the composer."""
        attachment = self.attachments[number]
        if not attachment.media:
            preview = AttachmentPreview(self)
            preview.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            preview.open_above(chip, attachment, chip.detail, is_sent=True)
        elif self._thumbnails:
            open_media(attachment, self.attachments, self._thumbnails, self, self._tell)

    def _on_media_saved(self, number: int) -> None:
        if self._thumbnails:
            save_media(self.attachments[number], self._thumbnails.files, self, self._tell)

    def _tell(self, text: str) -> None:
        QToolTip.showText(self.chips.mapToGlobal(self.chips.rect().bottomLeft()), text, None)

    def _on_removed(self, number: int) -> None:
        self._change((*self.attachments[:number], *self.attachments[number + 1 :]))
        self.text.setFocus()

    def _on_moved(self, number: int, step: int) -> None:
        order = list(self.attachments)
        order.insert(number + step, order.pop(number))
        self._change(tuple(order))

    def _change(self, attachments: tuple[Attachment, ...]) -> None:
        self.attachments = attachments
        self.chips.show_attachments(attachments)
        self._show_state()
        self.height_changed.emit()

    def eventFilter(self, _watched: object, event: QEvent) -> bool:
        """Keys go to the text first; otherwise Esc would stop an answer."""
        if not isinstance(event, QKeyEvent):
            return False
        is_escape = event.key() == Qt.Key.Key_Escape
        modifiers = event.modifiers()
        is_save = event.key() in _ENTER and (
            bool(modifiers & Qt.KeyboardModifier.ControlModifier)
            or (self.enter_saves and not modifiers & Qt.KeyboardModifier.ShiftModifier)
        )
        if event.type() == QEvent.Type.ShortcutOverride and (is_escape or is_save):
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress and is_escape:
            self.cancelled.emit(True)
            return True
        if event.type() == QEvent.Type.KeyPress and is_save:
            self._on_saved()
            return True
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        paint_rounded(painter, self.rect(), RADIUS, 1, fill=tokens.window, edge=tokens.accent, width=1.5)
