"""The composer: a message, its attached files, and the buttons to send. GUI thread.

Knows texts and attachments, but neither paths nor the chat.
"""

from collections.abc import Sequence
from functools import cached_property

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFont, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolButton, QWidget

from app.chats.attachment import IS_FOUND, Attachment, valid_unicode
from app.look.buttons import IconButton, quiet_button
from app.look.fonts import set_text_font, small_font
from app.look.icons import icon
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, as_tab_text
from app.look.strip import Offer, Strip, StripLook
from app.look.words import tr
from app.protocol.request import Overflow, Role
from app.ui.base.attachment_chips import AttachmentChip, AttachmentChips
from app.ui.base.attachment_preview import AttachmentPreview
from app.ui.base.attachment_words import PASTED, title
from app.ui.base.notices import UNDO_FOR_MS
from app.ui.base.proportions import ABOVE_BUTTONS, COMPOSER_TOP, TEXT_INSET
from app.ui.base.proportions import COMPOSER_PADDING as PADDING
from app.ui.base.setting import overflow_label
from app.ui.composer.buttons import SendButton, SendMenuButton, ShelfButton, StopButton, ToolsButton
from app.ui.composer.completion import Completion
from app.ui.composer.context_meter import ContextMeter
from app.ui.composer.message_editor import MAX_CHARS, MessageEditor, paint_frame
from app.ui.composer.recording_bar import RecordingBar

SIDE = 28
NOTICE = StripLook((6, 0, 0, 0), tone="muted", wraps=True, is_small=True, can_be_dismissed=True)
MAX_PROMPT, PROMPT_WIDTH = 200, 220  # what the settings button shows of a system prompt: characters, pixels
EDITORS_SHARE, CHIPS_SHARE = 0.4, 0.2  # of the chat's height, at most


class Composer(QWidget):
    submitted = Signal(str, object)  # the text, its attachments
    insert_requested = Signal(object, str, object)  # Role, text, attachments: without asking
    picture_opened = Signal(int)  # which of the attachments is to be enlarged
    hidden = Signal()  # not with the whole window, when that is minimized
    draft_changed = Signal(str)
    attachments_changed = Signal(object)  # tuple of Attachment

    def __init__(self, parent: QWidget | None = None, editor: MessageEditor | None = None) -> None:
        super().__init__(parent)
        self._is_busy = False
        self._can_insert = True
        self.attachments: tuple[Attachment, ...] = ()
        self._previewed: Attachment | None = None
        self.notice = Strip(NOTICE, self)
        self.waiting = Strip(NOTICE, self)
        self.senses = PlainLabel(parent=self, tone="warning", wraps=True)  # that the model does not see
        self.recording = RecordingBar(self)
        self.get_model = quiet_button(tr("Get more models…"), self, "bar")  # one that sees or hears
        self.chips = AttachmentChips(self)
        self.editor = editor or MessageEditor(self)
        self.editor.leaves_files = True
        self.completion = Completion(self.editor, self)
        self.forecast = PlainLabel(parent=self, tone="warning", wraps=True)
        self.attach = IconButton("paperclip", tr("Attach files"), SIDE, self)
        self.record = IconButton("mic", tr("Record a sound"), SIDE, self)
        self.record.hide()
        self.tools = ToolsButton(self)
        self.shelf = ShelfButton(self)
        self.settings = ChatSettingsButton(self)
        self.meter = ContextMeter(self)
        self.more = SendMenuButton(self)
        self.stop = StopButton(self)
        self.button = SendButton(self)
        self._lay_out()
        self._connect()
        # An editor older than its composer would come first in the tab order.
        QWidget.setTabOrder(self.get_model, self.editor)
        self.setFocusProxy(self.editor)
        self._show_state()

    @cached_property
    def preview(self) -> AttachmentPreview:
        """A window of its own, made when the first file is opened."""
        preview = AttachmentPreview(self)
        preview.turned_into_text.connect(self._on_turned_into_text)
        preview.removed.connect(self._on_previewed_removed)
        return preview

    def set_busy(self, is_busy: bool, *, can_insert: bool = True) -> None:
        """While busy messages are queued, and nothing is added without asking."""
        self._is_busy = is_busy
        self._can_insert = can_insert and not is_busy
        if not is_busy and self.stop.hasFocus():
            self.editor.setFocus()
        self.stop.setVisible(is_busy)
        self._show_state()

    def set_enter_sends(self, enter_sends: bool) -> None:
        """Whether Enter sends, or Ctrl+Enter."""
        if enter_sends != self.editor.enter_sends:
            self.editor.enter_sends = enter_sends
            self._show_state()

    def set_reading_font(self, font: QFont) -> None:
        set_text_font(self.editor, font)
        self.editor.fit()

    def set_room(self, height: int) -> None:
        """How high the chat is."""
        self.editor.set_max_height(int(height * EDITORS_SHARE))
        self.chips.set_max_height(int(height * CHIPS_SHARE))

    def set_text(self, text: str) -> None:
        """Replaces the text. One that is too long for the editor becomes an attachment."""
        if len(text) <= MAX_CHARS:
            self.editor.setPlainText(text)
            self.editor.moveCursor(QTextCursor.MoveOperation.End)
        else:
            self._fold(text)
            self.editor.clear()

    def begin_with(self, draft: str) -> None:
        """Puts the saved draft before what was typed already."""
        if self.editor.document().isEmpty():
            self.set_text(draft)
        else:
            QTextCursor(self.editor.document()).insertText(draft)

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        self.attachments = tuple(attachments)
        self.chips.show_attachments(self.attachments)
        self._show_state()

    def set_pending(self, names: Sequence[str]) -> None:
        """Files that are still being read. A message waits for them."""
        self.chips.show_pending(names)
        self._show_state()

    def show_forecast(self, text: str) -> None:
        """What will happen to the chat if the draft is sent."""
        self.forecast.say(text)

    def show_senses(self, trouble: str) -> None:
        """Tells why the model takes no picture or sound of the draft."""
        self.senses.setText(trouble)
        self._senses_row.setVisible(bool(trouble))

    def show_recording(self, is_open: bool, seconds: float | None, level: float, *, can_record: bool) -> None:
        self.recording.apply(is_open, seconds, level)
        self.record.setVisible(can_record or is_open)
        self.record.set_label(tr("Stop and attach the recording") if is_open else tr("Record a sound"))

    # What is done in it

    def _on_submitted(self) -> None:
        if self._can_send:
            self.submitted.emit(*self._take())

    def _insert(self, role: Role) -> None:
        if self._can_send and self._can_insert:
            self.insert_requested.emit(role, *self._take())

    def _take(self) -> tuple[str, tuple[Attachment, ...]]:
        """Takes text and attachments out of the composer."""
        text, attachments = self.editor.toPlainText(), self.attachments
        self.notice.clear()
        self.editor.clear()
        self._change_attachments(())
        return text, attachments

    @property
    def _can_send(self) -> bool:
        has_words = not self.editor.document().isEmpty() and bool(self.editor.toPlainText().strip())
        return (has_words or bool(self.attachments)) and not self.chips.pending_names

    def _on_clicked(self) -> None:
        self._on_submitted()
        self.editor.setFocus()

    def _on_text_changed(self) -> None:
        self._show_state()
        self.draft_changed.emit(self.editor.toPlainText())

    def _fold(self, text: str) -> None:
        """Turns a very long text into an attachment: Qt would need seconds to lay it out."""
        self._change_attachments(
            (*self.attachments, Attachment(tr("Pasted text"), valid_unicode(text), PASTED))
        )

    def _change_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        if attachments != self.attachments:
            self.set_attachments(attachments)
            self.attachments_changed.emit(attachments)

    def _remove(self, number: int) -> None:
        focused = QApplication.focusWidget()
        had_focus = focused is not None and self.chips.isAncestorOf(focused)
        removed = self.attachments[number]
        self._change_attachments((*self.attachments[:number], *self.attachments[number + 1 :]))
        said = tr("Removed “{name}”.", name=title(removed))
        offers = [Offer(tr("Undo"), lambda: self._put_back(removed, number))]
        if removed.kind in IS_FOUND and any(one.kind in IS_FOUND for one in self.attachments):
            offers.append(Offer(tr("Remove all passages"), self._remove_passages))
        self.notice.say(said, *offers, lasts_ms=UNDO_FOR_MS)
        if not (had_focus and self.chips.focus_chip(number)):
            self.editor.setFocus()

    def _remove_passages(self) -> None:
        before = self.attachments
        self._change_attachments(tuple(one for one in before if one.kind not in IS_FOUND))
        undo = Offer(tr("Undo"), lambda: self._change_attachments(before))
        self.notice.say(tr("Removed all passages."), undo, lasts_ms=UNDO_FOR_MS)
        self.editor.setFocus()

    def _move(self, number: int, step: int) -> None:
        order = list(self.attachments)
        order.insert(number + step, order.pop(number))
        self._change_attachments(tuple(order))

    def _put_back(self, attachment: Attachment, number: int) -> None:
        self._change_attachments((*self.attachments[:number], attachment, *self.attachments[number:]))
        self.editor.setFocus()

    def _open(self, number: int, chip: AttachmentChip) -> None:
        attachment = self.attachments[number]
        if attachment.media:
            self.picture_opened.emit(number)
            return
        self._previewed = attachment
        fits_draft = attachment.kind == PASTED and self.editor.has_room_for(attachment.text)
        self.preview.open_above(chip, attachment, chip.detail, fits_draft=fits_draft)

    def _on_turned_into_text(self) -> None:
        number = self._number_of_previewed()
        if number is not None:
            text = self.attachments[number].text
            self._change_attachments((*self.attachments[:number], *self.attachments[number + 1 :]))
            self.editor.insertPlainText(text)
            self.editor.setFocus()

    def _on_previewed_removed(self) -> None:
        number = self._number_of_previewed()
        if number is not None:
            self._remove(number)

    def _number_of_previewed(self) -> int | None:
        return next((n for n, each in enumerate(self.attachments) if each is self._previewed), None)

    def _show_state(self) -> None:
        can_send = self._can_send
        enter_sends = self.editor.enter_sends
        self.button.show_state(is_busy=self._is_busy, can_send=can_send, enter_sends=enter_sends)
        can_insert = can_send and self._can_insert
        self.more.show_state(is_busy=self._is_busy, can_send=can_send, can_insert=can_insert)

    def _connect(self) -> None:
        self.editor.submitted.connect(self._on_submitted)
        self.editor.textChanged.connect(self._on_text_changed)
        self.editor.focus_changed.connect(self.update)
        self.editor.long_text_given.connect(self._fold)
        self.editor.left_upwards.connect(lambda: self.chips.focus_chip(len(self.attachments) - 1))
        self.chips.removed.connect(self._remove)
        self.chips.moved.connect(self._move)
        self.chips.opened.connect(self._open)
        self.button.clicked.connect(self._on_clicked)
        self.more.send.triggered.connect(self._on_clicked)
        self.more.add.triggered.connect(lambda: self._insert(Role.USER))
        self.more.add_answer.triggered.connect(lambda: self._insert(Role.ASSISTANT))

    def _lay_out(self) -> None:
        self.forecast.setFont(small_font())
        self.forecast.hide()
        self.senses.setFont(small_font())
        self._senses_row = QWidget(self)
        hbox((self.senses, 1), self.get_model, on=self._senses_row)
        self._senses_row.hide()
        self._foot = foot = hbox(
            self.attach,
            self.record,
            self.tools,
            self.shelf,
            self.settings,
            STRETCH,
            self.meter,
            8,
            self.more,
            self.stop,
            self.button,
            spacing=4,
        )
        vbox(
            self.waiting,
            self.notice,
            self.recording,
            vbox(
                self.chips,
                self._senses_row,
                self.editor,
                self.forecast,
                margins=(TEXT_INSET, 0, 0, 0),
                spacing=6,
            ),
            foot,
            on=self,
            margins=(PADDING, COMPOSER_TOP, PADDING, PADDING),
            spacing=ABOVE_BUTTONS,
        )

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self.hidden.emit()

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit_foot()
        return super().event(event)

    def _fit_foot(self) -> None:
        """The settings button shows its label only if all others have their full width."""
        button = self.settings
        words = button.sizeHint().width()
        others = self._foot.sizeHint().width() - min(words, button.maximumWidth())
        has_room = self.width() - 2 * PADDING >= others + words
        button.setMaximumWidth(words if has_room else button.minimumSizeHint().width())

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_frame(QPainter(self), self.rect(), self.editor.hasFocus())


class ChatSettingsButton(QToolButton):
    """Shows the beginning of the chat's system prompt, if it has one."""

    requested = Signal()  # clicked

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.limit = 0  # how many tokens the chat can have; 0: no model
        self.setIconSize(QSize(14, 14))
        self.setFont(small_font())
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setProperty("kind", "chip")
        self.setToolTip(tr("System prompt, sampling and context of this chat (Ctrl+Shift+L)"))
        self.setProperty("command", "chat.settings")
        self.setIcon(icon("sliders-horizontal"))
        self.clicked.connect(self.open_settings)

    def apply(self, system_prompt: str, overflow: Overflow, limit: int) -> None:
        self.limit = limit
        prompt = as_tab_text(system_prompt[:MAX_PROMPT])
        label = self.fontMetrics().elidedText(prompt, Qt.TextElideMode.ElideRight, PROMPT_WIDTH)
        self.setText(f" {label or tr('Chat settings')}")  # the style sets no gap after the icon
        told = ", ".join(part for part in (prompt, overflow_label(overflow)) if part)
        self.setAccessibleName(tr("Chat settings: {label}", label=told))

    def open_settings(self) -> None:
        self.requested.emit()

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + SIDE + 12, SIDE)

    def minimumSizeHint(self) -> QSize:
        return QSize(SIDE, SIDE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shows only the icon where there is no room for the label."""
        super().resizeEvent(event)
        has_room = event.size().width() >= self.sizeHint().width()
        style = Qt.ToolButtonStyle
        self.setToolButtonStyle(style.ToolButtonTextBesideIcon if has_room else style.ToolButtonIconOnly)
