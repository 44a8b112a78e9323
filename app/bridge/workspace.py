"""The open chats in tab order, and the closed ones that can come back. GUI thread.

Keeps them in the ChatStore: at once when a message is sent or ended, about twice a second while one is
written. Knows no widgets: whoever shows tabs follows the signals.
"""

import logging
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.active_engine import ActiveEngine
from app.bridge.autosave import Autosave
from app.bridge.chat_session import ChatSession
from app.chats.chat import Chat, Turn
from app.engine.types import Overflow
from app.settings import Settings
from app.storage.chat_store import ChatStore, ClosedTab, SavedChat, SavedWorkspace, Tabs
from app.storage.errors import StorageError

log = logging.getLogger(__name__)

MAX_CLOSED = 20


@dataclass(frozen=True, slots=True)
class ClosedChat:
    chat: Chat
    draft: str
    index: int


class Workspace(QObject):
    opened = Signal(object, int)  # ChatSession, index
    closed = Signal(object)  # ChatSession
    current_changed = Signal(object)  # ChatSession or None
    save_failed = Signal(str)  # one sentence for the user

    def __init__(
        self, engine: ActiveEngine, store: ChatStore, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._store = store
        self._settings = settings
        self._sessions: list[ChatSession] = []
        self._current: ChatSession | None = None
        self._closed: list[ClosedChat] = []  # the last closed at the end
        self._autosave = Autosave(store, self._tabs, self)
        self._autosave.failed.connect(self.save_failed)

    @property
    def sessions(self) -> tuple[ChatSession, ...]:
        """In tab order."""
        return tuple(self._sessions)

    @property
    def current(self) -> ChatSession | None:
        return self._current

    @property
    def can_reopen(self) -> bool:
        return bool(self._closed)

    def session_of(self, chat_id: str) -> ChatSession | None:
        return next((session for session in self._sessions if session.chat.id == chat_id), None)

    def new_chat(self) -> ChatSession:
        """Opens an empty chat at the end and makes it the current one."""
        settings = self._settings
        chat = Chat(system_prompt=settings.system_prompt, overflow=Overflow(settings.overflow))
        session = self._open(chat, "", len(self._sessions))
        self.set_current(session)
        return session

    def fork(self, session: ChatSession, num_turns: int | None = None) -> ChatSession:
        """Opens a copy of a chat, or of its first turns, to the right of it. Both hold the same cells.

        A question that is still being answered comes along as the draft.
        """
        chat = session.chat.fork(num_turns)
        draft = session.chat.open_question if num_turns is None else ""
        return self._open_fork(session, chat, draft)

    def fork_at(
        self, session: ChatSession, answer: Turn, text: str, token_ids: tuple[int, ...]
    ) -> ChatSession:
        """As `fork`, up to `answer`, which begins with `text` there, `token_ids`, and goes on at once."""
        fork = self._open_fork(session, session.chat.fork_at(answer, text), "")
        fork.go_on(token_ids)
        return fork

    def close(self, session: ChatSession) -> None:
        """Ends its sequence, frees its cells, keeps it for `reopen`. The last tab leaves an empty new one."""
        session.close()
        index = self._sessions.index(session)
        self._sessions.remove(session)
        if not session.is_blank:
            self._closed = [*self._closed, ClosedChat(session.chat, session.draft, index)][-MAX_CLOSED:]
        self._autosave.touch(session)
        self._autosave.touch_tabs()
        self.closed.emit(session)
        self._leave(session, index)
        session.deleteLater()

    def reopen(self) -> ChatSession | None:
        """The tab closed last comes back where it stood, and becomes the current one."""
        if not self._closed:
            return None
        closed = self._closed.pop()
        session = self._open(closed.chat, closed.draft, min(closed.index, len(self._sessions)))
        self.set_current(session)
        return session

    def move(self, session: ChatSession, index: int) -> None:
        self._sessions.remove(session)
        self._sessions.insert(index, session)
        self._autosave.touch_tabs()

    def set_current(self, session: ChatSession) -> None:
        if session is self._current or session not in self._sessions:
            return
        self._current = session
        self._engine.set_front(session.chat.id)
        self._autosave.touch_tabs()
        self.current_changed.emit(session)

    async def restore(self) -> None:
        """Opens the tabs of the last run, or an empty chat if there were none."""
        try:
            saved = await self._store.load()
        except StorageError as error:
            self.save_failed.emit(str(error))
            saved = SavedWorkspace()
        self._restore_tabs(saved)
        log.info("%d chats are open again.", len(self._sessions))
        if not self._sessions:
            self.new_chat()

    async def shut_down(self) -> None:
        """Ends what is being written; returns when all is on disk, or `save_failed` was emitted."""
        for session in self._sessions:
            session.close()
        await self._autosave.flush()

    def _restore_tabs(self, saved: SavedWorkspace) -> None:
        for tab in saved.tabs.closed:
            kept = saved.chats[tab.chat_id]
            self._closed.append(ClosedChat(kept.chat, kept.draft, tab.index))
        for chat_id in saved.tabs.open:
            self._restore_tab(saved.chats[chat_id])
        if current := self.session_of(saved.tabs.current or "") or next(iter(self._sessions), None):
            self.set_current(current)

    def _restore_tab(self, kept: SavedChat) -> None:
        session = self._open(kept.chat, kept.draft, len(self._sessions))
        self._autosave.is_on_disk(session)

    def _open(self, chat: Chat, draft: str, index: int) -> ChatSession:
        session = ChatSession(chat, self._engine, self._settings, draft, self)
        session.changed.connect(self._on_changed)
        session.text_appended.connect(self._on_text_appended)
        session.draft_changed.connect(self._on_draft_changed)
        session.limits_changed.connect(self._on_limits_changed)
        self._sessions.insert(index, session)
        self._autosave.touch_tabs()
        self.opened.emit(session, index)
        return session

    def _open_fork(self, session: ChatSession, chat: Chat, draft: str) -> ChatSession:
        self._engine.fork(session.chat.id, chat.id)
        fork = self._open(chat, draft, self._sessions.index(session) + 1)
        self._autosave.touch(fork)
        self.set_current(fork)
        return fork

    def _leave(self, session: ChatSession, index: int) -> None:
        """Chooses another current tab; whoever heard `closed` may have done it already."""
        if not self._sessions:
            self.new_chat()
        elif self._current is session:
            self.set_current(self._sessions[min(index, len(self._sessions) - 1)])

    def _tabs(self) -> Tabs:
        return Tabs(
            open=tuple(session.chat.id for session in self._sessions),
            current=self._current.chat.id if self._current else None,
            closed=tuple(ClosedTab(closed.chat.id, closed.index) for closed in self._closed),
        )

    @Slot()
    def _on_changed(self) -> None:
        self._touch_sender()
        self._autosave.save_now()

    @Slot(str)
    def _on_text_appended(self, _text: str) -> None:
        self._touch_sender()

    @Slot()
    def _on_draft_changed(self) -> None:
        self._touch_sender()
        self._autosave.touch_tabs()  # a chat is kept from its first draft on, and its tab with it

    @Slot()
    def _on_limits_changed(self) -> None:
        self._touch_sender()

    def _touch_sender(self) -> None:
        session = self.sender()
        assert isinstance(session, ChatSession)
        self._autosave.touch(session)
