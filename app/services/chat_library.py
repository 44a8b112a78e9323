"""All chats, open or not, and their folders: the model behind the sidebar.

Follows the open sessions, so the list is right before anything is on disk. Knows no widgets. GUI thread.
"""

import time
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.chat_session import ChatSession
from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.chats.chat import Turn
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.storage.list_rows import ChatSummary

CHANGED_AFTER_MS = 50  # so that a list of 10,000 chats is not rebuilt for each of several changes


class ChatLibrary(QObject):
    changed = Signal()  # chats or folders
    opened = Signal(str)  # the id of a chat that was opened: its turns are loaded
    failed = Signal(object)  # one sentence for the user
    trash_listed = Signal(object)  # the deleted chats: tuple of ChatSummary
    folder_renamed = Signal(str, str)  # from, to
    folder_deleted = Signal(str)
    folder_put_back = Signal(str, str)  # as it was called, and its name now

    def __init__(self, store: ChatStore, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._workspace = workspace
        self._chats: dict[str, ChatSummary] = {}  # by id
        self.folders: tuple[str, ...] = ()  # in the user's order
        self._cut_off: set[str] = set()  # ids of chats that were deleted while they were answered
        self._is_loaded = False
        self._changed_timer = QTimer(self, singleShot=True, interval=CHANGED_AFTER_MS)
        self._changed_timer.timeout.connect(self.changed)
        workspace.opened.connect(self._on_opened)
        workspace.closed.connect(self._on_closed)
        for session in workspace.sessions:
            self._on_opened(session, 0)

    @property
    def chats(self) -> tuple[ChatSummary, ...]:
        """In no order."""
        return tuple(self._chats.values())

    def chat(self, chat_id: str) -> ChatSummary | None:
        return self._chats.get(chat_id)

    async def load(self) -> None:
        """Reads the list from the disk. Emits `failed` on errors."""
        try:
            summaries, self.folders = await self._store.summaries(), await self._store.folders()
            self._chats = {summary.id: summary for summary in summaries}
        except StorageError as error:
            self.failed.emit(str(error))
        self._is_loaded = True
        for session in self._workspace.sessions:
            self._follow(session)
        self._emit_changed_soon()

    # Actions on chats

    def open(self, chat_id: str) -> None:
        """Shows its tab, or opens one. It stays."""
        self._start(self._open(chat_id, is_looked_at=False))

    def look_at(self, chat_id: str) -> None:
        """Shows its tab, or a preview."""
        self._start(self._open(chat_id, is_looked_at=True))

    def open_beside(self, chat_id: str) -> None:
        self._start(self._open_beside(chat_id))

    def fork(self, chat_id: str) -> None:
        self._start(self._fork(chat_id))

    def rename(self, chat_id: str, title: str) -> None:
        self._place(chat_id, title=title)

    def set_pinned(self, chat_ids: Iterable[str], is_pinned: bool) -> None:
        for chat_id in chat_ids:
            self._place(chat_id, is_pinned=is_pinned)

    def move(self, chat_ids: Iterable[str], folder: str) -> None:
        """An empty name means no folder."""
        for chat_id in chat_ids:
            self._place(chat_id, folder=folder)

    def delete(self, chat_ids: Iterable[str]) -> tuple[str, ...]:
        """Closes their tabs, and moves them to the trash. Returns which of them were open.

        Their answers are stopped, and go on when they are undeleted.
        """
        gone = [chat_id for chat_id in chat_ids if chat_id in self._chats]
        were_open = tuple(chat_id for chat_id in gone if self._workspace.session_of(chat_id))
        for chat_id in gone:
            session = self._workspace.any_session_of(chat_id)
            if session and session.is_busy:
                self._cut_off.add(chat_id)
            self._workspace.discard(chat_id)
            self._chats.pop(chat_id, None)  # now: the end of its answer would list it again
        self._emit_changed_soon()
        self._start(self._delete(gone))
        return were_open

    def undelete(self, chat_ids: Iterable[str], were_open: Iterable[str] = ()) -> None:
        self._start(self._undelete(tuple(chat_ids), tuple(were_open)))

    def resume(self, chat_ids: Iterable[str]) -> None:
        """Goes on with their last answers, which were cut off. Those without a tab get one."""
        self._start(self._resume(tuple(chat_ids)))

    def list_trash(self) -> None:
        """Emits `trash_listed`."""
        self._start(self._list_trash())

    def purge(self, chat_ids: Iterable[str]) -> None:
        """Deletes chats of the trash for good."""
        self._start(self._purge(tuple(chat_ids)))

    # Actions on folders

    def create_folder(self, name: str, index: int | None = None) -> str:
        """Returns its name: a number is added where there is one of that name. None: at the end."""
        name = self._free_name(name)
        place = len(self.folders) if index is None else index
        self._save_folders((*self.folders[:place], name, *self.folders[place:]))
        return name

    def rename_folder(self, name: str, new_name: str) -> str:
        """Its chats stay in it. Returns its name."""
        if new_name == name or not new_name:
            return name
        new_name = self._free_name(new_name)
        inside = self.chats_in(name)
        folders = tuple(new_name if folder == name else folder for folder in self.folders)
        self._save_folders((*folders, name))  # both, until the chats have moved
        self.folder_renamed.emit(name, new_name)
        self.move(inside, new_name)
        self._save_folders(folders)
        return new_name

    def delete_folder(self, name: str) -> tuple[str, ...]:
        """Its chats are in no folder then. Returns their ids."""
        inside = self.chats_in(name)
        self.move(inside, "")
        self._save_folders(tuple(folder for folder in self.folders if folder != name))
        self.folder_deleted.emit(name)
        return inside

    def put_back_folder(self, name: str, index: int, chat_ids: Iterable[str]) -> None:
        """Undoes `delete_folder`."""
        folder = self.create_folder(name, index)
        self.folder_put_back.emit(name, folder)
        self.move(chat_ids, folder)

    def chats_in(self, folder: str) -> tuple[str, ...]:
        return tuple(chat.id for chat in self._chats.values() if chat.folder == folder)

    # Following the sessions

    @Slot(object, int)
    def _on_opened(self, session: ChatSession, _index: int) -> None:
        session.changed.connect(self._on_changed)
        session.draft_changed.connect(self._on_changed)
        session.touched.connect(self._on_touched)
        self._follow(session)

    @Slot(object)
    def _on_closed(self, session: ChatSession) -> None:
        if session.is_blank:
            self._forget(session.chat.id)

    @Slot()
    def _on_changed(self) -> None:
        self._follow(self._sender())

    @Slot(object, object)
    def _on_touched(self, turns: tuple[Turn, ...], _removed: tuple[str, ...]) -> None:
        """Called for each token: a chat is as new as its newest message."""
        session = self._sender()
        known = self._chats.get(session.chat.id)
        newest = max((turn.created_at for turn in turns), default=0.0)
        if known and newest > known.updated_at:
            self._put(replace(known, updated_at=newest))

    def _follow(self, session: ChatSession) -> None:
        chat = session.chat
        if session.is_blank:
            return
        known = self._chats.get(chat.id)
        updated_at = (
            known.updated_at if known else max((turn.created_at for turn in chat.turns), default=time.time())
        )
        num_turns = chat.num_turns if session.is_loaded else known.num_turns if known else 0
        title = chat.title or chat.auto_title
        self._put(
            ChatSummary(chat.id, title, chat.folder, chat.is_pinned, chat.created_at, updated_at, num_turns)
        )

    def _put(self, summary: ChatSummary) -> None:
        if self._chats.get(summary.id) != summary:
            self._chats[summary.id] = summary
            self._emit_changed_soon()

    def _sender(self) -> ChatSession:
        session = self.sender()
        assert isinstance(session, ChatSession)
        return session

    def _emit_changed_soon(self) -> None:
        """Not before the list is loaded: the open chats alone do not have all dates."""
        if self._is_loaded:
            self._changed_timer.start()

    def _place(self, chat_id: str, **placed: Any) -> None:
        summary = self._chats.get(chat_id)
        if summary is None:
            return
        self._put(replace(summary, **placed))
        if session := self._workspace.any_session_of(chat_id):
            session.place(**placed)
        else:
            self._workspace.place_closed(chat_id, **placed)
            self._start(self._store.place(chat_id, **placed))

    def _save_folders(self, folders: tuple[str, ...]) -> None:
        self.folders = folders
        self._emit_changed_soon()
        self._start(self._store.save_folders(folders))

    def _free_name(self, name: str) -> str:
        names, number = {folder.casefold() for folder in self.folders}, 2
        free = name
        while free.casefold() in names:
            free, number = f"{name} {number}", number + 1
        return free

    async def _open(self, chat_id: str, *, is_looked_at: bool) -> None:
        if await self._workspace.open_saved(chat_id, is_looked_at=is_looked_at):
            self.opened.emit(chat_id)
        else:
            self._forget(chat_id)

    async def _open_beside(self, chat_id: str) -> None:
        current = self._workspace.current
        session = await self._workspace.open_saved(chat_id)
        if session and current and session is not current:
            self._workspace.set_current(current)
            self._workspace.show_beside(session)

    async def _fork(self, chat_id: str) -> None:
        if session := await self._workspace.open_saved(chat_id):
            self._workspace.fork(session)

    async def _delete(self, chat_ids: list[str]) -> None:
        await self._workspace.autosave.flush()  # unsaved chats could not be marked as deleted
        await self._store.delete(chat_ids)

    async def _undelete(self, chat_ids: tuple[str, ...], were_open: tuple[str, ...]) -> None:
        await self._store.undelete(chat_ids)
        await self.load()
        for chat_id in were_open:
            await self._workspace.open_saved(chat_id)
        await self._list_trash()
        await self._resume(self._cut_off & set(chat_ids))
        self._cut_off.difference_update(chat_ids)

    async def _resume(self, chat_ids: Iterable[str]) -> None:
        """What is shown stays."""
        shown = self._workspace.current
        for chat_id in chat_ids:
            session = self._workspace.session_of(chat_id) or await self._workspace.open_saved(chat_id)
            if session:
                await self._workspace.load(session)
                session.resume()
        if shown:
            self._workspace.set_current(shown)

    async def _purge(self, chat_ids: tuple[str, ...]) -> None:
        await self._store.purge(chat_ids)
        await self._list_trash()

    async def _list_trash(self) -> None:
        self.trash_listed.emit(await self._store.trash())

    def _forget(self, chat_id: str) -> None:
        """The chat does not exist any more."""
        if chat_id in self._chats:
            del self._chats[chat_id]
            self._emit_changed_soon()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        spawn(self._report_errors(work))

    async def _report_errors(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except StorageError as error:
            self.failed.emit(str(error))


START_AFTER_MS = 120  # of quiet on the keyboard
MAX_HITS = 100


class ChatSearch(QObject):
    """Searches all messages while the user types: one search at a time, always for the newest words."""

    found = Signal(str, object)  # the words, tuple[SearchHit, ...]
    failed = Signal(object)  # one sentence for the user

    def __init__(self, store: ChatStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._words = ""
        self._is_searching = False
        self._pause = QTimer(self, singleShot=True, interval=START_AFTER_MS)
        self._pause.timeout.connect(self._start)

    def look_for(self, words: str) -> None:
        """`found` follows, unless other words are given before."""
        self._words = words.strip()
        if self._words:
            self._pause.start()
        else:
            self._pause.stop()

    @Slot()
    def _start(self) -> None:
        if not self._is_searching:  # else this one starts when that one ends
            self._is_searching = True
            spawn(self._search())

    async def _search(self) -> None:
        words = None
        try:
            while self._words and words != self._words:
                words = self._words
                hits = await self._store.search(words, MAX_HITS)
                if words == self._words:
                    self.found.emit(words, hits)
        except StorageError as error:
            self.failed.emit(str(error))
        finally:
            self._is_searching = False
