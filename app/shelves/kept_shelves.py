"""The shelves as the window has read them, for a program without a window. Follows no files, changes nothing.

One asyncio loop. The window may run at the same time: what it reads meanwhile is found, too.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

from app.chats.attachment import Attachment
from app.shelves.documents import PASSAGES, attached, documents_text
from app.shelves.finder import ShelfFinder
from app.shelves.index import ShelfIndex
from app.shelves.shelf import ListedShelf, Shelf, num_passages, read_shelves

MAX_CHARS_PER_TOKEN = 12  # a shelf with more for each token of the context does not fit it: nobody counts
PIECE_CHARS = 32_000  # tokenized at once: some 10 ms


def fits(num_tokens: int | None, room: int, max_share: int) -> bool:
    """Whether a shelf stands before chats. `max_share` is in percent; None: far too many."""
    return num_tokens is not None and num_tokens <= room * max_share // 100


log = logging.getLogger(__name__)


class KeptShelves:
    """A `NamedShelves`."""

    def __init__(
        self,
        list_file: Path,
        index: ShelfIndex,
        finder: ShelfFinder,
        max_share: int,
        count: Callable[[str], Awaitable[int]],
        room: Callable[[], int],
    ) -> None:
        """`count` says how many tokens a text has, `room` how many the model can take."""
        self._list_file = list_file
        self._index = index
        self._finder = finder
        self._max_share = max_share
        self._count, self._room = count, room
        self._shelves: dict[str, Shelf] = {}
        self._num_files: dict[str, int] = {}
        self._documents: dict[str, tuple[str, int]] = {}  # by shelf id: its text, and the tokens of that

    async def refresh(self) -> None:
        """Its list may have changed."""
        shelves = await asyncio.to_thread(read_shelves, self._list_file)
        self._shelves = {one.id: one for one in shelves}
        for shelf in shelves:
            try:
                self._num_files[shelf.id] = len(await self._index.files(shelf))
            except sqlite3.Error:
                self._num_files[shelf.id] = 0

    def id_of(self, name: str) -> str | None:
        return next((one.id for one in self._shelves.values() if name in (one.name, one.id)), None)

    def listed(self) -> tuple[ListedShelf, ...]:
        return tuple(
            ListedShelf(one.id, one.name, self._num_files.get(one.id, 0), self._num_tokens(one.id))
            for one in self._shelves.values()
        )

    def is_ready(self, shelf_id: str) -> bool:
        return shelf_id in self._documents

    async def prepare(self, shelf_id: str) -> None:
        """Reads it anew: the window may have."""
        shelf = self._shelves.get(shelf_id)
        try:
            texts = await self._index.texts(shelf) if shelf else []
        except sqlite3.Error as error:
            log.warning("A shelf could not be read: %s", error)
            texts = []
        self._num_files[shelf_id] = len(texts)
        if sum(len(text) for _, _, text in texts) > self._room() * MAX_CHARS_PER_TOKEN:
            self._documents.pop(shelf_id, None)
            return
        whole = documents_text(texts) if texts else ""
        known = self._documents.get(shelf_id)
        if known is None or known[0] != whole:
            self._documents[shelf_id] = whole, await self._count(whole)

    def is_whole(self, shelf_id: str, room: int) -> bool:
        if shelf_id not in self._shelves:
            return True
        return fits(self._num_tokens(shelf_id), room, self._max_share)

    def text_before(self, shelf_id: str, room: int) -> str:
        if shelf_id not in self._shelves:
            return ""
        return self._documents[shelf_id][0] if self.is_whole(shelf_id, room) else PASSAGES

    async def passages(
        self, shelf_id: str, text: str, before: str, first_number: int, room: int
    ) -> tuple[Attachment, ...]:
        shelf = self._shelves.get(shelf_id)
        if shelf is None or self.is_whole(shelf_id, room):
            return ()
        try:
            found = await self._finder.find(shelf, text, num_passages(room), before)
        except sqlite3.Error as error:
            log.warning("A shelf could not be searched: %s", error)
            return ()
        return attached(found, first_number)

    def _num_tokens(self, shelf_id: str) -> int | None:
        known = self._documents.get(shelf_id)
        return known[1] if known else None
