"""The state of a tab, independent of whether its chat has a view. GUI thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QColor

from app.bridge.chat_session import ChatSession
from app.chats.chat import Turn, TurnState
from app.look import marks
from app.look.marks import Mark
from app.look.tokens import colour_of
from app.protocol.report import SlotSnapshot
from app.ui.base.titles import shown_title
from app.ui.message.tool_words import asking_uses

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView


def mark_at_work(session: ChatSession, is_paused: bool) -> Mark:
    if next(asking_uses(session.chat), None):
        return marks.ASKING
    return marks.PAUSED if is_paused else marks.COMPUTING


class Tab(QObject):
    """Its view is created when first shown, and may be dropped again: the session has all state."""

    changed = Signal(object)  # this tab: title, busy or turns
    finished = Signal(object)  # this tab: an answer has ended

    def __init__(self, session: ChatSession, parent: QObject) -> None:
        super().__init__(parent)
        self.session = session
        self.view: ChatView | None = None
        self.slot: SlotSnapshot | None = None
        self.is_unread = False
        self.is_hibernated = False
        self.is_paused = False  # as all chats are
        session.changed.connect(self._on_changed)
        session.finished.connect(self._on_finished)

    @property
    def title(self) -> str:
        return shown_title(self.session.chat.display_title)

    @property
    def mark(self) -> Mark:
        turns = self.session.chat.turns
        if self.session.is_busy:
            return mark_at_work(self.session, self.is_paused)
        if turns and turns[-1].state is TurnState.FAILED:
            return marks.FAILED
        if self.is_unread:
            return marks.UNREAD
        return marks.HIBERNATED if self.is_hibernated else marks.IDLE

    @property
    def sequence(self) -> int | None:
        """The seq_id of its chat's slot."""
        return self.slot.seq_id if self.slot else None

    @property
    def colour(self) -> QColor | None:
        return colour_of(self.slot.seq_id) if self.slot else None

    @Slot()
    def _on_changed(self) -> None:
        self.changed.emit(self)

    @Slot(object)
    def _on_finished(self, _answer: Turn) -> None:
        self.finished.emit(self)
