"""One tab's page: its transcript, or what to do when there is none, and the composer. GUI thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.bridge.chat_session import ChatSession
from app.chats.chat import Turn, TurnState
from app.engine.types import Overflow, SlotSnapshot, Usage
from app.look import marks
from app.look.fonts import reading_font
from app.look.marks import Mark
from app.look.tokens import current
from app.ui.answer_text import num_context_tokens
from app.ui.composer import Composer
from app.ui.empty_chat import EmptyChat
from app.ui.transcript import Transcript, column_width

OVERHANG = 16  # the composer's frame stands round the column of text


class ChatView(QWidget):
    changed = Signal(object)  # this view: title, busy or turns changed
    fork_requested = Signal(object, int)  # this view, the number of turns to copy
    tokens_requested = Signal(object, object)  # the session, the Turn whose tokens somebody wants to see

    def __init__(self, session: ChatSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.is_unread = False
        self.is_hibernated = False
        self.is_paused = False  # as all chats are
        self._zoom = 0
        self._slot: SlotSnapshot | None = None
        self._n_ctx = 0
        self.transcript = Transcript(session.chat.turns, self)
        self.empty = EmptyChat(self)
        self.composer = Composer(session.draft, self)
        self._lay_out()
        self._bound_composer()
        self._connect()
        self._show_state()
        self.show_limits()

    @property
    def title(self) -> str:
        return self.session.chat.display_title

    @property
    def slot(self) -> SlotSnapshot | None:
        return self._slot

    @property
    def mark(self) -> Mark:
        turns = self.session.chat.turns
        if self.session.is_busy:
            return marks.PAUSED if self.is_paused else marks.COMPUTING
        if turns and turns[-1].state is TurnState.FAILED:
            return marks.FAILED
        if self.is_unread:
            return marks.UNREAD
        return marks.HIBERNATED if self.is_hibernated else marks.IDLE

    def set_slot(self, slot: SlotSnapshot | None, n_ctx: int, is_paused: bool = False) -> None:
        """Where the engine is with this chat. `n_ctx` is what one chat can have of the context."""
        self.is_paused = is_paused
        is_new_context = n_ctx != self._n_ctx
        self._slot, self._n_ctx = slot, n_ctx
        self.transcript.set_slot(slot, is_paused)
        if is_new_context:
            self.show_limits()
        else:
            self._show_meter()

    def show_limits(self) -> None:
        """How long this chat may get, and what becomes of it then."""
        chat, limit = self.session.chat, self.session.context_limit(self._n_ctx)
        self.composer.settings.apply(chat.overflow, chat.max_context_tokens, limit)
        self.transcript.set_can_keep_going(chat.overflow is Overflow.STOP)
        self._show_meter()

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        self.composer.set_reading_font(reading_font(zoom))
        self.transcript.set_zoom(zoom)
        self._bound_composer()

    def _lay_out(self) -> None:
        self._pages = QStackedLayout()
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self.transcript)
        foot = QHBoxLayout()
        foot.setContentsMargins(8, 0, 8 + self.transcript.verticalScrollBar().sizeHint().width(), 16)
        foot.addStretch(1)
        foot.addWidget(self.composer, 1000)
        foot.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._pages, 1)
        column.addLayout(foot)
        self.setFocusProxy(self.composer)

    def _connect(self) -> None:
        self.session.changed.connect(self._on_changed)
        self.session.text_appended.connect(self._on_text_appended)
        self.session.limits_changed.connect(self.show_limits)
        self.transcript.fork_requested.connect(self._on_fork_requested)
        self.transcript.tokens_requested.connect(self._on_tokens_requested)
        self.transcript.keep_going_requested.connect(self._on_keep_going_requested)
        self.composer.settings.changed.connect(self.session.set_limits)
        self.composer.submitted.connect(self._on_submitted)
        self.composer.stop_requested.connect(self.session.stop)
        self.composer.draft_changed.connect(self._on_draft_changed)
        self.empty.sample_chosen.connect(self._on_submitted)

    def _show_state(self) -> None:
        self.composer.set_busy(self.session.is_busy)
        self._pages.setCurrentWidget(self.transcript if self.session.chat.turns else self.empty)
        self._show_meter()

    def _show_meter(self) -> None:
        turns = self.session.chat.turns
        last = turns[-1].usage if turns else Usage()
        limit = self.session.context_limit(self._n_ctx)
        self.composer.meter.apply(num_context_tokens(self._slot, last), limit)

    def _bound_composer(self) -> None:
        """As wide as the column of text and a little more, where there is room."""
        self.composer.setMaximumWidth(column_width(self.maximumWidth(), self._zoom) + 2 * OVERHANG)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().window))

    @Slot()
    def _on_changed(self) -> None:
        self._show_state()
        self.transcript.mark_dirty()
        self.changed.emit(self)

    @Slot()
    def _on_keep_going_requested(self) -> None:
        self.transcript.follow_end()
        self.session.keep_going()
        self.composer.setFocus()

    @Slot(object)
    def _on_fork_requested(self, turn: Turn) -> None:
        self.fork_requested.emit(self, self.session.chat.index_of(turn) + 1)

    @Slot(object)
    def _on_tokens_requested(self, turn: Turn) -> None:
        self.tokens_requested.emit(self.session, turn)

    @Slot(str)
    def _on_text_appended(self, _text: str) -> None:
        self.transcript.mark_dirty()

    @Slot(str)
    def _on_submitted(self, text: str) -> None:
        self.transcript.follow_end()
        self.session.send(text)
        self.composer.setFocus()

    @Slot(str)
    def _on_draft_changed(self, text: str) -> None:
        self.session.draft = text
