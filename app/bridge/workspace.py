"""The open chats in tab order, and the closed ones that can come back. GUI thread.

Saves them to the ChatStore: when a message is sent, before the engine sees it, when an answer ends, and four
times a second while one is written. Knows no widgets: the tabs follow its signals.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.bridge.autosave import Autosave
from app.bridge.chat_session import ChatSession
from app.bridge.chat_shelf import ShelfAccess
from app.bridge.drafts import Drafts, Field
from app.bridge.engines import ChatEngine, Engines
from app.bridge.media_files import MediaFiles
from app.bridge.notebook_session import NotebookSession
from app.bridge.tab_row import TabRow
from app.bridge.tasks import spawn
from app.bridge.tool_access import ToolAccess
from app.chats.chat import Chat, Turn
from app.chats.options import ChatOptions
from app.protocol.commands import Fork
from app.protocol.request import WAY, Overflow
from app.settings.settings import Settings
from app.storage.chat_rows import SavedChat, SavedTurns
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.storage.list_rows import ClosedTab, SavedWorkspace, Tabs

log = logging.getLogger(__name__)

MAX_CLOSED = 20
NUM_END_TURNS = 40  # of a long chat, those that are shown first


@dataclass(frozen=True, slots=True)
class ClosedChat:
    kept: SavedChat  # with its turns, if they were loaded
    is_loaded: bool
    index: int


class Workspace(QObject):
    opened = Signal(object, int)  # ChatSession, index
    coming = Signal(object)  # ChatSession: opened, and about to become the current one
    closed = Signal(object)  # ChatSession
    came_back = Signal(object, int)  # ChatSession, index: it was closed, and is still being answered
    let_go = Signal()  # the answer of a closed chat has ended
    current_changed = Signal(object)  # ChatSession or None
    shown_changed = Signal()  # one chat is shown, or two others side by side
    restoring = Signal(bool)  # a restore of many tabs began (True) or ended (False)
    pinned = Signal(object, int)  # ChatSession, index: its tab was pinned or unpinned, and moved there
    kept = Signal(object)  # ChatSession: its tab was a preview, and stays
    moved_out = Signal(object)  # ChatSession: it has a window of its own, in the place of its tab
    moved_back = Signal(object)  # ChatSession
    called = Signal(object)  # ChatSession: it is to be shown, and has a window of its own
    save_failed = Signal(object)  # one sentence for the user
    save_recovered = Signal()  # what could not be saved is saved now

    def __init__(
        self, engine: Engines, store: ChatStore, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._store = store
        self._settings = settings
        self.media = MediaFiles(store, self)
        self.tools = ToolAccess()  # its kit is set by who knows one
        self.shelves = ShelfAccess()  # likewise its sources
        self._row: TabRow[ChatSession] = TabRow()
        self._by_chat_id: dict[str, ChatSession] = {}
        self._at_work: dict[str, ChatSession] = {}  # by chat id: closed ones that are still being answered
        self._kept: dict[str, SavedChat] = {}  # by chat id: chats whose turns are still on disk
        self._loading: dict[ChatSession, asyncio.Future[SavedTurns]] = {}
        self._last_emitted: tuple[tuple[ChatSession, ...], ChatSession | None] = ((), None)  # shown, current
        self._closed: list[ClosedChat] = []  # the last closed at the end
        # Gives new chats their options, by default those of the settings; the presets replace it.
        self.options_for_new: Callable[[ChatOptions], ChatOptions] = lambda options: options
        self.autosave = Autosave(store, self._tabs, self)
        self.autosave.failed.connect(self.save_failed)
        self.autosave.recovered.connect(self.save_recovered)
        self.drafts = Drafts(self._on_field_changed)
        engine.chats = self._chats
        engine.chosen.connect(self._on_model_chosen)
        self._holds_tabs_back = True  # until the tabs of the last run are known
        self._stand_in: ChatSession | None = None  # the empty chat shown until then

    @property
    def sessions(self) -> tuple[ChatSession, ...]:
        """In tab order: the pinned ones first."""
        return self._row.tabs

    @property
    def current(self) -> ChatSession | None:
        return self._row.current

    @property
    def shown(self) -> tuple[ChatSession, ...]:
        """From left to right: the current one, and perhaps one beside it."""
        return self._row.shown

    @property
    def can_reopen(self) -> bool:
        return bool(self._closed)

    def is_closed_last(self, session: ChatSession) -> bool:
        """Whether `reopen` brings it back."""
        return bool(self._closed) and self._closed[-1].kept.chat.id == session.chat.id

    def session_of(self, chat_id: str) -> ChatSession | None:
        """Each of several answers to one message has a sequence, and with it a chat id, of its own."""
        return self._by_chat_id.get(chat_id.partition(WAY)[0])

    @property
    def closed_at_work(self) -> tuple[ChatSession, ...]:
        """Chats without a tab whose answers are still being written."""
        return tuple(self._at_work.values())

    def any_session_of(self, chat_id: str) -> ChatSession | None:
        """As `session_of`, or one that is closed and at work."""
        return self.session_of(chat_id) or self._at_work.get(chat_id.partition(WAY)[0])

    def is_pinned(self, session: ChatSession) -> bool:
        return self._row.is_pinned(session)

    def new_chat(self, folder: str = "") -> ChatSession:
        """Opens an empty chat at the end and makes it the current one. In a project it is as that says."""
        session = self._open_new(folder=folder)
        self.set_current(session)
        return session

    def new_notebook(self) -> ChatSession:
        """Opens an empty one, in the place of an empty current chat if there is one."""
        blank = self.current if self.current and self.current.is_blank else None
        session = self._open_new(is_notebook=True)
        self.set_current(session)
        if blank:
            self.close(blank)
        return session

    async def open_saved(self, chat_id: str, *, is_looked_at: bool = False) -> ChatSession | None:
        """Shows a saved chat: its tab if it has one, else a new one.

        One that is only looked at gets a preview, in the place of the preview before, unless it is kept.
        None if there is no such chat. Raises StorageError.
        """
        before: list[ChatSession] = []
        session = self.any_session_of(chat_id)
        if session and not session.has_tab:
            self._come_back(session, len(self.sessions))
        if session is None:
            await self.autosave.flush()  # it may have been closed a moment ago
            kept = await self._store.load_chat(chat_id)
            if kept is None:
                return None
            session = self.session_of(chat_id)
            if session is None:
                before = [each for each in self.sessions if each.is_preview and is_looked_at]
                index = self.sessions.index(before[0]) if before else len(self.sessions)
                session = self._open(kept, index, is_loaded=False, is_preview=is_looked_at)
            # Making its page takes as long again, and so does showing it: keys have their turn between.
            await asyncio.sleep(0)
            if self._is_open(session):
                self.coming.emit(session)
            await asyncio.sleep(0)
        if self._is_open(session):
            self.set_current(session)
            self._give_way(before)
        if not is_looked_at:
            self.keep(session)
        await self.load(session)
        return session

    def keep(self, session: ChatSession) -> None:
        """Its tab stays: the chat is used, not only looked at."""
        if session.is_preview:
            session.is_preview = False
            self.kept.emit(session)

    async def load(self, session: ChatSession) -> None:
        """Loads the turns of a chat from disk, unless they are here. Raises StorageError."""
        kept = self._kept.get(session.chat.id)
        if kept is None or not self._is_open(session):
            return
        loading = self._loading.get(session)
        if loading is None:  # showing a chat and opening it both load its turns
            loading = self._loading[session] = asyncio.ensure_future(self._load_turns(session, kept))
            loading.add_done_callback(lambda _done: self._loading.pop(session))
        turns = await asyncio.shield(loading)
        if (
            self._is_open(session) and self._kept.pop(session.chat.id, None) is not None
        ):  # nothing else has filled it meanwhile
            session.fill(turns.shown, turns.asides)

    async def _load_turns(self, session: ChatSession, kept: SavedChat) -> SavedTurns:
        """Of a long chat, the end is shown while the rest is read."""
        if kept.num_turns > 2 * NUM_END_TURNS:
            end = await self._store.load_end(kept, NUM_END_TURNS)
            if self._is_open(session):
                session.show_end(end)
        return await self._store.load_turns(kept)

    def fork(self, session: ChatSession, num_turns: int | None = None) -> ChatSession | None:
        """Opens a copy of a chat, or of its first turns, to the right of it. Both hold the same cells.

        A question that is still being answered comes along as the draft. None: as soon as it is loaded, or
        never, for it was closed.
        """
        if not self._is_open(session):
            return None
        if not session.is_loaded:
            spawn(self._fork_when_loaded(session))
            return None
        fork = SavedChat(session.chat.fork(num_turns))
        question = session.chat.open_question if num_turns is None else None
        if question:
            fork = replace(fork, draft=question.text, draft_attachments=question.attachments)
        return self._open_fork(session, fork)

    def fork_at(
        self, session: ChatSession, answer: Turn, text: str, token_ids: tuple[int, ...], address: str = ""
    ) -> ChatSession:
        """As `fork`, up to `answer`, which begins with `text` there, `token_ids`, and goes on at once.

        With an `address`, the model there goes on, which must have the same tokens.
        """
        copy = session.chat.fork_at(answer, text)
        fork = self._open_fork(session, SavedChat(replace(copy, model_path=address or copy.model_path)))
        fork.go_on(token_ids)
        return fork

    def close(self, session: ChatSession) -> None:
        """Keeps it for `reopen`. Its answers go on; then its cells are freed.

        The last tab leaves an empty new one.
        """
        index = self.sessions.index(session)
        self._closed = [closed for closed in self._closed if closed.kept.chat.id != session.chat.id]
        if not session.is_blank:
            self._closed = [*self._closed, self._closed_chat(session, index)][-MAX_CLOSED:]
        self._remove(session)

    def _remove(self, session: ChatSession) -> None:
        session.has_tab = session.is_preview = False
        self._row.remove(session)
        del self._by_chat_id[session.chat.id]
        self._kept.pop(session.chat.id, None)
        self._at_work[session.chat.id] = session
        if session.is_loaded:
            self.autosave.touch(session)
        self.autosave.touch_tabs()
        self.closed.emit(session)
        self._engine.note_chats()
        if self.current:
            self._emit_shown()
        else:
            self.new_chat()
        self._let_go_of_idle()

    def discard(self, chat_id: str) -> None:
        """Stops its answers, and closes its tab, if it has one, for good."""
        if session := self.any_session_of(chat_id):
            session.answers.close()
            if session.has_tab:
                self.close(session)
        self._closed = [closed for closed in self._closed if closed.kept.chat.id != chat_id]
        self.autosave.touch_tabs()

    def place_closed(self, chat_id: str, **placed: str | bool) -> None:
        """The title, folder or pin of a closed chat was changed; `reopen` will use it."""
        for closed in self._closed:
            if closed.kept.chat.id == chat_id:
                for name, value in placed.items():
                    setattr(closed.kept.chat, name, value)

    def reopen(self) -> ChatSession | None:
        """The tab closed last comes back where it stood, and becomes the current one."""
        if not self._closed:
            return None
        closed = self._closed.pop()
        session = self.any_session_of(closed.kept.chat.id)
        if session is None:
            session = self._open(closed.kept, closed.index, is_loaded=closed.is_loaded)
        elif not session.has_tab:  # else it was opened from the sidebar meanwhile
            self._come_back(session, closed.index)
        self.set_current(session)
        return session

    def move(self, session: ChatSession, index: int) -> int:
        """Returns where it stands: no tab comes between the pinned ones, or out of them."""
        self.keep(session)
        self.autosave.touch_tabs()
        return self._row.move(session, index)

    def set_pinned(self, session: ChatSession, is_pinned: bool) -> None:
        self.keep(session)
        index = self._row.set_pinned(session, is_pinned)
        self.autosave.touch_tabs()
        self.pinned.emit(session, index)

    def set_current(self, session: ChatSession) -> None:
        """Shows it where the current one is shown, or goes to where it is shown already."""
        if self._row.is_out(session):
            self.called.emit(session)
        elif self._is_open(session):
            self._row.set_current(session)
            self._emit_shown()

    def is_out(self, session: ChatSession) -> bool:
        return self._row.is_out(session)

    def move_out(self, session: ChatSession) -> None:
        """Into a window of its own. Its tab keeps its place, and has it again with the next start."""
        if not self._is_open(session) or self.is_out(session):
            return
        self.keep(session)
        if self._row.next_to(session) is None:
            self._open_new()
        self._row.take_out(session)
        self._emit_shown()
        self.moved_out.emit(session)
        if not session.is_loaded:
            spawn(self._load_or_report(session))

    def move_back(self, session: ChatSession) -> None:
        """To its tab, which is current then."""
        self._row.put_back(session)
        self.moved_back.emit(session)
        self.set_current(session)

    def show_beside(self, session: ChatSession) -> None:
        """On the right, and makes it current. If there is no other for the left, that is a new chat."""
        if not self._is_open(session):
            return
        if self.is_out(session):
            self.move_back(session)
        other = self._open_new() if self._row.next_to(session) is None else None
        self._row.show_beside(session, other)
        self._keep_shown()
        self._emit_shown()

    def split(self) -> None:
        """Shows another tab, or a new chat, beside the current one."""
        if len(self.shown) == 1:
            self._row.show_beside(self._row.next_to(self.shown[0]) or self._open_new())
            self._keep_shown()
            self._emit_shown()

    def end_split(self) -> None:
        """Only the current one is shown from now on."""
        self._row.end_split()
        self._emit_shown()

    async def restore(self) -> None:
        """Opens the tabs of the last run, or an empty chat if there were none."""
        try:
            saved = await self._store.load()
            self.drafts.fill(saved.drafts)
            self._holds_tabs_back = False
            self.autosave.touch_tabs()  # some may have been opened meanwhile
        except StorageError as error:
            self.save_failed.emit(str(error))
            self._holds_tabs_back = True  # those on disk are not to be replaced by fewer
            saved = SavedWorkspace()
        stand_in, self._stand_in = self._stand_in, None
        if stand_in and not stand_in.is_blank:
            stand_in = None
        begun = self.current if self.current is not stand_in else None
        self.restoring.emit(True)
        self._restore_tabs(saved)
        if begun:  # a chat that was opened meanwhile stays current
            self.set_current(begun)
        self.restoring.emit(False)
        if stand_in in self.sessions and len(self.sessions) > 1:
            self.close(stand_in)
        log.info("%d chats are open again.", len(self.sessions))
        if not self.sessions:
            self.new_chat()

    def start_without_tabs(self) -> None:
        """Opens an empty chat. The tabs of the last run stay on disk as they are until `restore`."""
        self._stand_in = self.new_chat()

    def break_off(self) -> None:
        """The program ends: the answers stay on disk as being written, so the next start tells of them."""
        for session in (*self.sessions, *self.closed_at_work):
            session.break_off()

    async def stop_saving(self) -> None:
        """Aborts open answers and saves for the last time: nothing is written after that."""
        for session in (*self.sessions, *self.closed_at_work):
            session.close()
        await self.autosave.stop()
        self.tools.close()

    async def shut_down(self) -> None:
        """Aborts open answers; returns when all is on disk, or `save_failed` was emitted."""
        for session in (*self.sessions, *self.closed_at_work):
            session.close()
        await self.autosave.flush()

    def _restore_tabs(self, saved: SavedWorkspace) -> None:
        for tab in saved.tabs.closed:
            self._closed.append(ClosedChat(saved.chats[tab.chat_id], False, tab.index))
        for chat_id in saved.tabs.open:
            if chat_id in self._by_chat_id:  # it was opened from the list of all chats before
                continue
            session = self._open(saved.chats[chat_id], len(self.sessions), is_loaded=False)
            if chat_id in saved.tabs.pinned:
                self.set_pinned(session, True)
        current = self.session_of(saved.tabs.current or "") or next(iter(self.sessions), None)
        shown = [self._by_chat_id[chat_id] for chat_id in saved.tabs.shown if chat_id in self._by_chat_id]
        if len(shown) == 2:
            self._row.show_beside(shown[1], shown[0])
        if current:
            self.set_current(current)

    def _open_new(self, *, is_notebook: bool = False, folder: str = "") -> ChatSession:
        settings = self._settings
        chat = Chat(
            system_prompt=settings.system_prompt,
            overflow=Overflow(settings.overflow),
            is_notebook=is_notebook,
            folder=folder,
        )
        self.options_for_new(ChatOptions.of(chat)).apply_to(chat)
        if project := self.shelves.project_of(folder):
            chat.tools, chat.model_path = project.tools or chat.tools, project.model_path
        return self._open(SavedChat(chat), len(self.sessions), is_new=True)

    def _open(
        self,
        kept: SavedChat,
        index: int,
        *,
        is_loaded: bool = True,
        is_new: bool = False,
        is_preview: bool = False,
    ) -> ChatSession:
        kind = NotebookSession if kept.chat.is_notebook else ChatSession
        session = kind(
            kept.chat,
            ChatEngine(self._engine, kept.chat),
            self._settings,
            kept.draft,
            self,
            media=self.media,
            save=self.autosave.flush,
            tools=self.tools,
            shelves=self.shelves,
            drafts=self.drafts,
            draft_attachments=kept.draft_attachments,
            is_loaded=is_loaded,
            is_new=is_new,
            leaf_id=kept.leaf_id,
        )
        session.is_preview = is_preview
        session.touched.connect(self._on_touched)
        session.grew.connect(self._on_grew)
        session.finished.connect(self._on_grew)
        session.finished.connect(self._let_go_of_idle, Qt.ConnectionType.QueuedConnection)
        session.changed.connect(self.autosave.save_now)
        session.draft_changed.connect(self._on_draft_changed)
        index = self._row.insert(session, index)
        self._by_chat_id[kept.chat.id] = session
        if not is_loaded:
            self._kept[kept.chat.id] = kept
        self.autosave.touch_tabs()
        self.opened.emit(session, index)
        return session

    def _give_way(self, previews: Sequence[ChatSession]) -> None:
        """To a new preview: without a place among the closed tabs. One that is shown beside it stays."""
        for session in previews:
            if session in self.shown:
                self.keep(session)
            elif session.is_preview:
                self._remove(session)

    def _keep_shown(self) -> None:
        for session in self.shown:
            self.keep(session)

    def _is_open(self, session: ChatSession) -> bool:
        """A chat that was closed and opened again has another session."""
        return self._by_chat_id.get(session.chat.id) is session

    def _come_back(self, session: ChatSession, index: int) -> None:
        """A closed chat that is still being answered has its tab again."""
        session.has_tab = True
        self._by_chat_id[session.chat.id] = self._at_work.pop(session.chat.id)
        index = self._row.insert(session, index)
        self.autosave.touch_tabs()
        self.came_back.emit(session, index)

    @Slot()
    def _let_go_of_idle(self) -> None:
        """Closed chats whose answers have ended: their cells are freed."""
        for session in self.closed_at_work:
            if not session.is_busy:
                del self._at_work[session.chat.id]
                session.close()
                session.deleteLater()
                self.let_go.emit()

    def _closed_chat(self, session: ChatSession, index: int) -> ClosedChat:
        kept = self._kept.get(session.chat.id) or SavedChat(session.chat)
        kept = replace(kept, draft=session.draft, draft_attachments=session.draft_attachments)
        return ClosedChat(kept, session.is_loaded, index)

    def _open_fork(self, session: ChatSession, kept: SavedChat) -> ChatSession:
        self.keep(session)
        self._engine.post(Fork(session.chat.id, kept.chat.id))
        fork = self._open(kept, self.sessions.index(session) + 1)
        self.autosave.touch(fork, kept.chat.turns)
        self.set_current(fork)
        return fork

    async def _fork_when_loaded(self, session: ChatSession) -> None:
        await self._load_or_report(session)
        if session.is_loaded:
            self.fork(session)

    async def _load_or_report(self, session: ChatSession) -> None:
        try:
            await self.load(session)
        except StorageError as error:
            self.save_failed.emit(str(error))

    def _emit_shown(self) -> None:
        """Emits what is shown, if that has changed, and loads the turns of shown chats."""
        now = (self.shown, self.current)
        before, self._last_emitted = self._last_emitted, now
        if now == before:
            return
        for session in self.shown:
            if not session.is_loaded:
                spawn(self._load_or_report(session))
        self.autosave.touch_tabs()
        if now[0] != before[0]:
            self.shown_changed.emit()
        if self.current and self.current is not before[1]:
            self._engine.show(self.current.chat)
            self.current_changed.emit(self.current)

    def _tabs(self) -> Tabs | None:
        if self._holds_tabs_back:
            return None
        return Tabs(
            open=tuple(session.chat.id for session in self.sessions),
            current=self.current.chat.id if self.current else None,
            closed=tuple(ClosedTab(closed.kept.chat.id, closed.index) for closed in self._closed),
            pinned=frozenset(session.chat.id for session in self._row.pinned),
            shown=tuple(session.chat.id for session in self.shown),
        )

    @Slot(object, object)
    def _on_touched(self, turns: tuple[Turn, ...], removed: tuple[str, ...]) -> None:
        session = self._sender()
        self.keep(session)
        self.autosave.touch(session, turns, removed)
        if turns or not session.is_blank:
            self.autosave.touch_tabs()  # a chat is kept once there is anything in it, and its tab with it

    @Slot(object)
    def _on_grew(self, answer: Turn) -> None:
        self.autosave.touch_answer(self._sender(), answer)

    def _on_field_changed(self, field: Field, text: str) -> None:
        if session := self.session_of(field[0]):
            self.keep(session)
        self.autosave.touch_draft(field, text)

    @Slot()
    def _on_draft_changed(self) -> None:
        self.keep(self._sender())
        self.autosave.touch(self._sender())
        self.autosave.touch_tabs()  # a chat is kept from its first draft on, and its tab with it

    def _chats(self) -> list[Chat]:
        return [session.chat for session in (*self.sessions, *self.closed_at_work)]

    @Slot(object)
    def _on_model_chosen(self, chats: list[Chat]) -> None:
        for chat in chats:
            if session := self.session_of(chat.id):
                session.emit_settings_changed()

    def _sender(self) -> ChatSession:
        session = self.sender()
        assert isinstance(session, ChatSession)
        return session
