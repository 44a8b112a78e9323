"""Searches all messages while the user types: one search at a time, always for the newest words.

GUI thread; the store's thread does the work.
"""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.tasks import spawn
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError

START_AFTER_MS = 120  # of quiet on the keyboard
MAX_HITS = 100


class ChatSearch(QObject):
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
