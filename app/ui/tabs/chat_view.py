"""One tab's page: its transcript, or the empty-chat page, and the composer. GUI thread."""

from functools import cached_property

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QStackedLayout, QWidget

from app.bridge.chat_session import ChatSession
from app.bridge.notebook_session import NotebookSession
from app.chats.attachment import Attachment
from app.chats.chat import Turn
from app.look.fonts import reading_font, set_text_font
from app.look.layouts import Stretch, hbox, vbox
from app.look.strip import Strip, StripLook
from app.look.tokens import current
from app.look.words import sentences, tr, tr_said
from app.protocol.media import Encoding
from app.protocol.report import SlotSnapshot
from app.protocol.request import Role
from app.ui.base.drop_overlay import DropOverlay
from app.ui.base.dropped import drop_text, dropped_files, has_picture, picture_bytes
from app.ui.base.frame_budget import frame_budget
from app.ui.base.picture_viewer import open_media, save_media
from app.ui.base.proportions import BELOW_COMPOSER, BESIDE_COMPOSER, composer_width
from app.ui.base.thumbnails import Thumbnails
from app.ui.base.titles import shown_title
from app.ui.composer.composer import Composer
from app.ui.composer.message_draft import MessageDraft
from app.ui.composer.message_editor import MessageEditor
from app.ui.message.markdown_column import discard
from app.ui.tabs.first_view import FirstPage
from app.ui.tabs.notebook_page import NotebookPage
from app.ui.transcript.answer_text import answer_ended_text
from app.ui.transcript.empty_chat import EmptyChat
from app.ui.transcript.find_in_chat import FindBar, FindInChat
from app.ui.transcript.message_picker import MessagePicker
from app.ui.transcript.transcript import Transcript
from app.ui.transcript.transcript_actions import TranscriptActions
from app.ui.transcript.turn_editor import TurnEditor
from app.ui.transcript.turn_view import AnswerProgress

FORMER_MODEL = StripLook((8, 0, 0, 4), icon="info", icon_side=14, tone="muted", is_small=True, wraps=True)
FACTS = StripLook((16, 0, 8, 0), height=28, tone="muted", is_small=True, can_be_dismissed=True)


class ChatView(QWidget):
    changed = Signal(object)  # this view: title, busy or turns changed
    settings_shown = Signal(object)  # this view: the chat has other settings
    empty_made = Signal(object)  # its EmptyChat
    notebook_requested = Signal()

    def __init__(
        self,
        session: ChatSession,
        n_ctx: int = 0,
        parent: QWidget | None = None,
        first_page: FirstPage | None = None,
    ) -> None:
        """`n_ctx` is the context available to one chat. The composer has the first page's editor."""
        super().__init__(parent)
        self.session = session
        self.setAcceptDrops(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # opaque: nothing below is painted
        self.is_paused = False  # as all chats are
        self._zoom = 0
        self.slot: SlotSnapshot | None = None
        self._n_ctx = n_ctx
        self._is_hibernated = False
        self._has_shown_edit = False
        self._encoding: Encoding | None = None  # of its pictures, which its answer waits for
        self.thumbnails = Thumbnails(session.media, self)
        self.transcript = Transcript(session.chat, self, self.thumbnails, session.drafts)
        self.turn_actions = TranscriptActions(session, self.transcript, self)
        self._pages = QStackedLayout()
        self._pages.addWidget(self.transcript)
        self.facts_line, self.model_line = Strip(FACTS, self), Strip(FORMER_MODEL, self)
        self.composer = Composer(self, first_page.hand_over() if first_page else MessageEditor(self))
        self.overlay = DropOverlay(self)
        self._lay_out()
        self._bound_composer()
        self.message_draft = MessageDraft(session, self.composer, self.thumbnails, self)
        self.notebook = self._new_notebook(session)
        self.setFocusProxy(self.notebook or self.composer)
        self._connect()
        self._show_page()
        self.show_limits()
        if first_page:
            first_page.replay(self.composer)

    def _new_notebook(self, session: ChatSession) -> NotebookPage | None:
        """In the place of transcript and composer, if the chat is one."""
        if not isinstance(session, NotebookSession):
            return None
        page = NotebookPage(session, self.composer.settings, self.composer.meter, self)
        page.tokens_requested.connect(self.turn_actions.tokens_requested)
        self._pages.addWidget(page)
        self.composer.hide()
        return page

    # Made when they are first needed: most chats are not searched, and few are empty.

    @cached_property
    def empty(self) -> EmptyChat:
        empty = EmptyChat(self)
        empty.sample_chosen.connect(self._on_sample_chosen)
        empty.notebook_requested.connect(self.notebook_requested)
        self._pages.addWidget(empty)
        self.empty_made.emit(empty)
        return empty

    @cached_property
    def find_bar(self) -> FindBar:
        bar = FindBar(self)
        self._bars.insertWidget(0, bar)
        QWidget.setTabOrder(self.transcript, bar)
        return bar

    @cached_property
    def finder(self) -> FindInChat:
        return FindInChat(self.find_bar, self.transcript, self.session.chat, self)

    @cached_property
    def picker(self) -> MessagePicker:
        picker = MessagePicker(self.transcript, self.session.chat, self)
        self._bars.addWidget(picker.bar)
        QWidget.setTabOrder(self.transcript, picker.bar)
        return picker

    @property
    def made_empty(self) -> EmptyChat | None:
        """None as long as the chat has been empty at no time."""
        return self.__dict__.get("empty")

    @property
    def panes(self) -> tuple[QWidget, ...]:
        """What the keyboard goes through, in reading order."""
        return (self.notebook.editor,) if self.notebook else (self.transcript, self.composer.editor)

    @property
    def foot(self) -> QWidget:
        """Above it, the chat's settings open."""
        return self.notebook.bar if self.notebook else self.composer

    @property
    def title(self) -> str:
        return shown_title(self.session.chat.display_title)

    def set_slot(
        self,
        slot: SlotSnapshot | None,
        n_ctx: int,
        is_paused: bool = False,
        is_hibernated: bool = False,
        encoding: Encoding | None = None,
    ) -> None:
        """The chat's slot, if it has one. `n_ctx` is the context available to one chat."""
        self._encoding = encoding
        self.is_paused = is_paused
        self._is_hibernated = is_hibernated
        is_new_context = n_ctx != self._n_ctx
        self.slot, self._n_ctx = slot, n_ctx
        if is_new_context:
            self.show_limits()
        if self.isVisible():
            self._show_slot()

    def _show_slot(self) -> None:
        """Ten times a second, so only while visible."""
        self._show_progress()
        self.message_draft.set_slot(self.slot, self._n_ctx, is_hibernated=self._is_hibernated)

    def show_limits(self) -> None:
        """Shows the chat's limit and overflow choice."""
        chat, limit = self.session.chat, self.session.context_limit(self._n_ctx)
        self.composer.settings.apply(chat.system_prompt, chat.overflow, limit)
        self._show_progress()
        self.message_draft.show_state()
        self.settings_shown.emit(self)

    @property
    def is_editing(self) -> bool:
        """A turn is being edited; that text exists only here."""
        return self.findChild(TurnEditor) is not None

    def give_up(self) -> None:
        """It is deleted, in pieces; its session may be so before."""
        self.message_draft.stop()
        self.hide()
        self.transcript.selection.when_copied(lambda: frame_budget().wait(self, lambda: discard(self)))

    def show_words(self, turn: Turn, words: str) -> None:
        """Scrolls to a message and marks the searched words."""
        if self.notebook:
            self.notebook.show_words(words)
            return
        self.transcript.show_turn(turn)
        self.find_bar.field.setText(words)
        self.finder.open()

    def show_banner(self, banner: Strip) -> None:
        """Above all else that is shown of the chat."""
        self._column.insertWidget(0, banner)

    def set_reading_font(self) -> None:
        """The editors lose it when they are moved: Qt restores the font of the former place."""
        font = reading_font(self._zoom)
        self.composer.set_reading_font(font)
        if self.notebook:
            set_text_font(self.notebook.editor, font)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        self.set_reading_font()
        self.transcript.set_zoom(zoom)
        if self.notebook:
            self.notebook.set_zoom(zoom)
        self._bound_composer()

    def _lay_out(self) -> None:
        self._bars = vbox(spacing=0)
        self._foot = vbox(self.facts_line, self.model_line, self.composer, spacing=0)
        self._column = vbox(
            self._bars,
            (self._pages, 1),
            hbox(
                Stretch(0),
                (self._foot, 1),
                Stretch(0),
                margins=(BESIDE_COMPOSER, 0, BESIDE_COMPOSER, BELOW_COMPOSER),
            ),
            on=self,
            spacing=0,
        )

    def _connect(self) -> None:
        self.session.changed.connect(self._on_changed)
        for grew in (self.session.grew, self.session.summaries.grew):
            grew.connect(self.transcript.mark_growing)
        self.session.summaries.failed.connect(self._on_summary_failed)
        self.session.limits_changed.connect(self.show_limits)
        self.session.finished.connect(self._on_finished)
        self.turn_actions.asked.connect(self.setFocus)
        self.turn_actions.draft_offered.connect(self._on_draft_offered)
        self.turn_actions.selecting_requested.connect(lambda turn: self.picker.start(turn))
        self.transcript.keep_going_requested.connect(self._on_keep_going_requested)
        self.transcript.edited.connect(self._on_edited)
        self.transcript.edit_left.connect(self._on_edited)
        self.transcript.decided.connect(self.session.decide)
        self.transcript.task_stopped.connect(self.session.stop_task)
        self.transcript.picture_opened.connect(self._on_picture_opened)
        self.transcript.media_saved.connect(self._on_media_saved)
        self.composer.editor.paged.connect(
            lambda page: self.transcript.verticalScrollBar().triggerAction(page)
        )
        self.composer.editor.edit_last_requested.connect(self._on_edit_last_requested)
        self.message_draft.sent.connect(self._on_sent)

    def _show_progress(self) -> None:
        session = self.session
        progress = AnswerProgress(
            session.is_busy,
            self.slot,
            self.is_paused,
            session.way_on if session.is_full else None,
            session.enter_sends,
            self._encoding,
            session.answers.awaited_servers,
        )
        self.transcript.set_progress(progress)

    def _show_page(self) -> None:
        self._pages.setCurrentWidget(self.notebook or self._own_page)

    @property
    def _own_page(self) -> QWidget:
        """The page of a chat that is no notebook."""
        session = self.session
        has_turns = not session.is_loaded or bool(session.chat.turns or session.queue)
        return self.transcript if has_turns or isinstance(session, NotebookSession) else self.empty

    def _bound_composer(self) -> None:
        """A little wider than the text column, where there is room."""
        width = composer_width(self._zoom)
        for part in (self.facts_line, self.model_line, self.composer):
            part.setMaximumWidth(width)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().window))

    @Slot()
    def _on_changed(self) -> None:
        self._show_page()
        self._show_progress()
        self.transcript.mark_dirty()
        self._show_edit()
        if "finder" in self.__dict__:
            self.finder.refresh()
        self.changed.emit(self)

    @Slot(object)
    def _on_summary_failed(self, trouble: str) -> None:
        self.composer.notice.add_problem(sentences(tr("The summary stays as it was."), tr_said(trouble)))

    @Slot(object)
    def _on_finished(self, answer: Turn) -> None:
        """Announces it to screen readers."""
        if self.isVisible() and QAccessible.isActive():
            text = answer_ended_text(answer)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.transcript, text))

    @Slot(str)
    def _on_draft_offered(self, text: str) -> None:
        """A queued message is to be edited first. The present draft stays."""
        draft = self.composer.editor.toPlainText()
        self.composer.set_text(f"{text}\n\n{draft}" if draft.strip() else text)
        self.composer.setFocus()

    @Slot(object, str, object)
    def _on_edited(self) -> None:
        """The editor is gone with its turn: the focus goes to the composer."""
        self.composer.setFocus()

    @Slot(object, object)
    def _on_picture_opened(self, turn: Turn, attachment: Attachment) -> None:
        tell = self.composer.notice.add_problem
        open_media(attachment, turn.attachments, self.thumbnails, self, tell)

    @Slot(object)
    def _on_media_saved(self, attachment: Attachment) -> None:
        save_media(attachment, self.session.media, self, self.composer.notice.add_problem)

    @Slot()
    def _on_keep_going_requested(self) -> None:
        self.transcript.follow_end()
        self.session.keep_going()
        self.composer.setFocus()

    @Slot(str)
    def _on_sample_chosen(self, text: str) -> None:
        self.session.send(text)
        self._on_sent()

    @Slot()
    def _on_sent(self) -> None:
        self.transcript.follow_end()
        self.composer.setFocus()

    @Slot()
    def _on_edit_last_requested(self) -> None:
        """Edits the last user message in place."""
        turns = reversed(self.session.chat.turns)
        message = next((turn for turn in turns if turn.role is Role.USER), None)
        view = self.transcript.show_turn(message) if message and not self.session.is_busy else None
        if view:
            view.start_editing()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_slot()
        self._show_edit()

    def _show_edit(self) -> None:
        """Once: a message that was being edited when the program ended is so again."""
        session = self.session
        if self._has_shown_edit or not session.is_loaded or not self.isVisible():
            return
        self._has_shown_edit = True
        edited = (turn for turn in session.chat.turns if session.drafts.text((session.chat.id, turn.id)))
        if (turn := next(edited, None)) and (view := self.transcript.show_turn(turn)):
            view.start_editing(takes_focus=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.composer.set_room(event.size().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Typing on the page goes to the composer."""
        if is_typed(event) and not self.notebook and not self.composer.editor.hasFocus():
            self.composer.setFocus()
            QApplication.sendEvent(self.composer.editor, event)
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files to attach, or a picture of another program; a model is for the window."""
        data = event.mimeData()
        if self.notebook or not (dropped_files(data) or has_picture(data)):
            return
        event.acceptProposedAction()
        self.overlay.tell(drop_text(data) or tr("Attach the picture"))

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self.overlay.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.overlay.hide()
        if files := dropped_files(event.mimeData()):
            event.acceptProposedAction()
            self.message_draft.attach(files)
            self.composer.setFocus()
        elif has_picture(event.mimeData()):
            event.acceptProposedAction()
            self.message_draft.attach_picture(picture_bytes(event.mimeData()))
            self.composer.setFocus()


def is_typed(event: QKeyEvent) -> bool:
    """Whether it types a character: no shortcut, and not the space that presses a button."""
    commands = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    commands |= Qt.KeyboardModifier.MetaModifier
    return bool(event.text().strip()) and event.text().isprintable() and not event.modifiers() & commands
