"""The user's shelves: follows their files, reads them, and answers for the chats that have them.

GUI thread; folders are walked, files read and texts kept on others. Knows no widgets.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.attachments.file_reading import FileReading
from app.attachments.refusal import Reason, RefusedError
from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.bridge.token_counter import estimated
from app.chats.attachment import Attachment
from app.media.reading import ReadingCancelledError
from app.protocol.commands import Forget
from app.protocol.errors import EngineError
from app.settings.settings import Settings
from app.shelves.documents import PASSAGES, attached, documents_text
from app.shelves.finder import ShelfFinder
from app.shelves.index import ShelfIndex
from app.shelves.kept_shelves import MAX_CHARS_PER_TOKEN, PIECE_CHARS, fits
from app.shelves.scan import Changes, Scan, changes, scan
from app.shelves.shelf import (
    FileState,
    ListedShelf,
    Passage,
    Shelf,
    ShelfFile,
    num_passages,
    read_shelves,
    write_shelves,
)
from app.system.files import Stamp, stamp_of
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

log = logging.getLogger(__name__)

SCAN_S, SCANS_SHARE = 3.0, 20  # between two scans: at least so long, and so many times as long as the last
CONFIRM_S = 0.5  # a file that is being replaced may be gone for a moment
READ_AT_ONCE = 2
CHANGED_AFTER_MS = 200


@dataclass(frozen=True, slots=True)
class ShelfState:
    """`num_tokens` is that of the open model; None: not counted, for it is far too much or there is none."""

    shelf: Shelf
    files: tuple[ShelfFile, ...] = ()
    is_known: bool = False  # it was looked at once
    is_there: bool = True  # its folder can be looked into
    is_cut: bool = False  # only the first files are taken
    num_tokens: int | None = None
    tokens_of: tuple[int, ...] = ()  # of each of `files`, where counted

    @property
    def num_waiting(self) -> int:
        return sum(one.state is FileState.WAITING for one in self.files)

    @property
    def num_chars(self) -> int:
        return sum(one.num_chars for one in self.files)


class ShelfService(QObject):
    changed = Signal()  # any state, or the list
    failed = Signal(object)  # one sentence for the user

    def __init__(
        self,
        engine: Engines,
        settings: Settings,
        list_file: Path,
        index: ShelfIndex,
        finder: ShelfFinder,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._settings = settings
        self._list_file = list_file
        self._index = index
        self._finder = finder
        self._last_found: tuple[tuple[object, ...], tuple[Passage, ...]] | None = None
        self._states: dict[str, ShelfState] = {}  # by shelf id, in the user's order
        self._documents: dict[str, str] = {}  # of shelves that may fit, by shelf id
        self._counted: dict[str, tuple[object, str]] = {}  # by shelf id: the model and the text
        self._known: dict[str, asyncio.Event] = {}  # by shelf id: it was looked at, or is gone
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._readings: set[FileReading] = set()
        self._last_stamps: dict[str, dict[str, Stamp]] = {}  # by shelf id and path: of the scan before
        self._timer = QTimer(self, singleShot=True, interval=CHANGED_AFTER_MS)
        self._timer.timeout.connect(self.changed)
        engine.loaded.connect(self._on_model_loaded)

    @property
    def states(self) -> tuple[ShelfState, ...]:
        return tuple(self._states.values())

    def state(self, shelf_id: str) -> ShelfState | None:
        return self._states.get(shelf_id)

    @property
    def chat_ids(self) -> tuple[str, ...]:
        """The ids of the shelves' own sequences."""
        return tuple(state.shelf.chat_id for state in self.states)

    def is_settled(self, shelf_id: str) -> bool:
        """Ready, and nothing of it waits to be read."""
        state = self._states.get(shelf_id)
        return state is None or (not state.num_waiting and self.is_ready(shelf_id))

    def beginnings(self, room: int) -> Iterator[tuple[str, str]]:
        """The ids of their own sequences, and the texts, of those that stand before chats as they are now."""
        for shelf_id, state in self._states.items():
            if self.is_settled(shelf_id) and self.is_whole(shelf_id, room):
                yield state.shelf.chat_id, self.text_before(shelf_id, room)

    async def start(self) -> None:
        for shelf in await asyncio.to_thread(read_shelves, self._list_file):
            self._add(shelf)
        await self._forget()

    async def close(self) -> None:
        for task in self._watching.values():
            task.cancel()
        for reading in tuple(self._readings):
            reading.cancel()
        await asyncio.gather(*self._watching.values(), return_exceptions=True)
        self._watching.clear()
        self._states.clear()
        for known in self._known.values():  # a message that waits for its shelf waits no more
            known.set()
        await self._index.close()

    # What the user does

    def add(self, name: str, folder: str = "", files: Iterable[str] = ()) -> Shelf:
        shelf = Shelf(name, folder, tuple(files))
        self._add(shelf)
        self._save()
        return shelf

    def rename(self, shelf: Shelf, name: str) -> None:
        self._replace(replace(shelf, name=name))

    def set_files(self, shelf: Shelf, files: Iterable[str]) -> None:
        self._replace(replace(shelf, files=tuple(dict.fromkeys(files))))
        self.look_now(shelf.id)

    def remove(self, shelf: Shelf) -> None:
        """What was computed for it goes, too."""
        self._states.pop(shelf.id, None)
        for known in (self._documents, self._counted, self._last_stamps):
            known.pop(shelf.id, None)
        self._known.pop(shelf.id).set()
        if task := self._watching.pop(shelf.id, None):
            task.cancel()
        self._engine.post(Forget(shelf.chat_id))
        spawn(self._forget())
        self._save()

    def put_back(self, shelf: Shelf) -> None:
        """Undoes `remove`: its files are read again."""
        self._add(shelf)
        self._save()

    def look_now(self, shelf_id: str) -> None:
        """Does not wait for the next scan."""
        if state := self._states.get(shelf_id):
            if task := self._watching.pop(shelf_id, None):
                task.cancel()
            self._watch(state.shelf)

    # For chats and programs: see `NamedShelves`

    def is_ready(self, shelf_id: str) -> bool:
        known = self._known.get(shelf_id)
        return known is None or (known.is_set() and self._is_counted(shelf_id))

    async def prepare(self, shelf_id: str) -> None:
        if known := self._known.get(shelf_id):
            await known.wait()
        if shelf_id in self._states and not self._is_counted(shelf_id):
            await self._count(shelf_id)

    def is_whole(self, shelf_id: str, room: int) -> bool:
        state = self._states.get(shelf_id)
        return state is None or fits(state.num_tokens, room, self._settings.max_shelf_share)

    def text_before(self, shelf_id: str, room: int) -> str:
        if shelf_id not in self._states:
            return ""
        return self._documents.get(shelf_id, "") if self.is_whole(shelf_id, room) else PASSAGES

    async def passages(
        self, shelf_id: str, text: str, before: str, first_number: int, room: int
    ) -> tuple[Attachment, ...]:
        state = self._states.get(shelf_id)
        if state is None or self.is_whole(shelf_id, room):
            return ()
        found = await self._found(state.shelf, text, num_passages(room), before)
        return attached(found, first_number)

    async def refresh(self) -> None:
        """The list is its own."""

    def id_of(self, name: str) -> str | None:
        found = (one.shelf.id for one in self.states if name in (one.shelf.name, one.shelf.id))
        return next(found, None)

    def listed(self) -> tuple[ListedShelf, ...]:
        return tuple(
            ListedShelf(one.shelf.id, one.shelf.name, len(one.files), one.num_tokens) for one in self.states
        )

    # For readers

    async def text_of(self, shelf_id: str, number: int) -> tuple[str, str] | None:
        """Name and text of a file."""
        state = self._states.get(shelf_id)
        if state is None:
            return None
        try:
            return await self._index.text(state.shelf, number)
        except sqlite3.Error as error:
            log.warning("A file of a shelf could not be read: %s", error)
            return None

    async def best_passage(self, shelf_id: str, number: int, text: str) -> Passage | None:
        """Where in one file most words of `text` are."""
        state = self._states.get(shelf_id)
        if state is None:
            return None
        try:
            found = await self._index.search(state.shelf, text, 1, number)
        except sqlite3.Error as error:
            log.warning("A file of a shelf could not be searched: %s", error)
            return None
        return found[0] if found else None

    async def _found(self, shelf: Shelf, text: str, limit: int, before: str) -> tuple[Passage, ...]:
        """What was found last is not looked for again: a draft asks twice, and ranking takes seconds."""
        if self._last_found and self._last_found[0] == self._state_of_search(shelf, text, limit, before):
            return self._last_found[1]
        try:
            found = await self._finder.find(shelf, text, limit, before)
            self._last_found = self._state_of_search(shelf, text, limit, before), found
            return found
        except sqlite3.Error as error:
            log.warning("A shelf could not be searched: %s", error)
            return ()

    def _state_of_search(self, shelf: Shelf, *asked: object) -> tuple[object, ...]:
        return shelf.id, asked, self._finder.state, self._index.num_changes

    # The list

    def _add(self, shelf: Shelf) -> None:
        self._states[shelf.id] = ShelfState(shelf)
        self._known[shelf.id] = asyncio.Event()
        self._watch(shelf)
        self._note_change()

    def _replace(self, shelf: Shelf) -> None:
        if state := self._states.get(shelf.id):
            self._states[shelf.id] = replace(state, shelf=shelf)
            self._save()

    def _save(self) -> None:
        self._note_change()
        try:
            write_shelves(self._list_file, [state.shelf for state in self.states])
        except OSError as error:
            reason = error.strerror or str(error)
            self.failed.emit(said("The list of shelves could not be saved: {reason}.", reason=reason))

    async def _forget(self) -> None:
        with suppress(sqlite3.Error):
            await self._index.forget_all_but([state.shelf for state in self.states])

    def _note_change(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    # Its files

    def _watch(self, shelf: Shelf) -> None:
        self._watching[shelf.id] = spawn(self._follow(shelf.id))

    async def _follow(self, shelf_id: str) -> None:
        while shelf_id in self._states:
            try:
                seconds = await self._look(shelf_id)
            except* sqlite3.Error as errors:  # such as for a full disk: the next look may have more luck
                log.warning("The files of a shelf could not be kept: %s", errors.exceptions)
                seconds = SCAN_S
            await asyncio.sleep(max(SCAN_S, seconds * SCANS_SHARE))

    async def _look(self, shelf_id: str) -> float:
        """Once; reads what is new. Returns how long the scan took."""
        state = self._states[shelf_id]
        shelf = state.shelf
        known = state.files if state.is_known else await self._index.files(shelf)
        found, diff = await asyncio.to_thread(_compared, shelf, known)
        if diff.gone or diff.moved:
            await asyncio.sleep(CONFIRM_S)
            found, diff = await asyncio.to_thread(_compared, shelf, known)
        if diff:
            await self._index.apply(shelf, diff)
            known = await self._index.files(shelf)
        is_new = not state.is_known or bool(diff)
        is_there = shelf.folder not in found.unknown
        self._set(shelf_id, files=known, is_known=True, is_there=is_there, is_cut=found.is_cut)
        if await self._read_waiting(shelf, found) or is_new:
            await self._load_documents(shelf_id)
        if known_event := self._known.get(shelf_id):
            known_event.set()
        self._last_stamps[shelf_id] = found.stamps
        return found.seconds

    async def _read_waiting(self, shelf: Shelf, found: Scan) -> bool:
        """Reads the files that nobody writes to any more. False: there were none."""
        before = self._last_stamps.get(shelf.id, {})
        due = [
            one
            for one in self._states[shelf.id].files
            if one.stamp == found.stamps.get(one.path)
            and (one.state is FileState.WAITING or _may_be_readable_now(one))
            and (found.is_settled(one.stamp) or before.get(one.path) == one.stamp)
        ]
        waiting = iter(due)

        async def read_some() -> None:
            for one in waiting:
                await self._read(shelf, one)

        async with asyncio.TaskGroup() as group:
            for _ in range(READ_AT_ONCE):
                group.create_task(read_some())
        return bool(due)

    async def _read(self, shelf: Shelf, file: ShelfFile) -> None:
        reading = FileReading(Path(file.path))
        self._readings.add(reading)
        try:
            result: Attachment | Reason = await asyncio.to_thread(reading.run)
        except ReadingCancelledError:
            return
        except RefusedError as refusal:
            # A picture may go with a message, not onto a shelf.
            result = Reason.NO_TEXT if refusal.reason is Reason.IMAGE else refusal.reason
        finally:
            self._readings.discard(reading)
        if result is Reason.MISSING or await asyncio.to_thread(stamp_of, Path(file.path)) != file.stamp:
            return  # it was written to meanwhile: the next scan will tell
        if isinstance(result, Reason):
            await self._index.refuse(shelf, file.number, result)
            anew = replace(file, state=FileState.UNREADABLE, reason=result, num_chars=0)
        else:
            await self._index.put(shelf, file.number, result.text)
            anew = replace(file, state=FileState.READ, reason="", num_chars=len(result.text))
        if state := self._states.get(shelf.id):
            files = tuple(anew if one.number == file.number else one for one in state.files)
            self._set(shelf.id, files=files)
            if not self._known[shelf.id].is_set() and self._is_too_large(self._states[shelf.id]):
                await self._load_documents(shelf.id)

    def _is_too_large(self, state: ShelfState) -> bool:
        """For the open model. One whose tokens cannot be counted here searches in it."""
        model = self._engine.model
        if model and model.is_foreign:
            return True
        return state.num_chars > (model.max_sequence_tokens if model else 0) * MAX_CHARS_PER_TOKEN

    def _set(self, shelf_id: str, **values: object) -> None:
        state = self._states.get(shelf_id)
        if state is None:
            return
        anew = replace(state, **values)  # type: ignore[arg-type]
        if anew != state:
            self._states[shelf_id] = anew
            self._note_change()

    # Their text

    async def _load_documents(self, shelf_id: str) -> None:
        state = self._states.get(shelf_id)
        if state is None:
            return
        if self._is_too_large(state):
            self._documents.pop(shelf_id, None)
            self._set(shelf_id, num_tokens=None, tokens_of=())
            if self._engine.model:  # it is searched, also while more of it is read
                self._known[shelf_id].set()
            return
        texts = await self._index.texts(state.shelf)
        self._documents[shelf_id] = documents_text(texts) if texts else ""
        if not self._engine.is_asleep:
            await self._count(shelf_id)

    def _is_counted(self, shelf_id: str) -> bool:
        """For the open model; or there is nothing to count."""
        text = self._documents.get(shelf_id)
        return text is None or self._counted.get(shelf_id) == (self._engine.model, text)

    async def _count(self, shelf_id: str) -> None:
        """Wakes the model up."""
        text, model = self._documents.get(shelf_id), self._engine.model
        if text is None or model is None:
            return
        try:
            num_tokens = estimated(text) if model.server else await self._tokenized(text)
        except EngineError:
            return
        if self._documents.get(shelf_id) == text:
            self._counted[shelf_id] = model, text
            self._set(shelf_id, num_tokens=num_tokens)
            self._note_change()

    async def _tokenized(self, text: str) -> int:
        num_tokens = 0
        for start in range(0, len(text), PIECE_CHARS):
            piece = text[start : start + PIECE_CHARS]
            num_tokens += await asyncio.wrap_future(
                self._engine.front.use_prompts(partial(_num_tokens, piece))
            )
        return num_tokens

    @Slot(object)
    def _on_model_loaded(self) -> None:
        for shelf_id in self._states:
            spawn(self._load_again(shelf_id))

    async def _load_again(self, shelf_id: str) -> None:
        state = self._states.get(shelf_id)
        if state and state.is_known:
            with suppress(sqlite3.Error):
                await self._load_documents(shelf_id)


def _num_tokens(piece: str, prompts: PromptBuilder) -> int:
    return len(prompts.tokenize(piece, parse_special=False))


def _compared(shelf: Shelf, known: Sequence[ShelfFile]) -> tuple[Scan, Changes]:
    found = scan(shelf)
    return found, changes({one.path: one for one in known}, found)


def _may_be_readable_now(file: ShelfFile) -> bool:
    """Its owner may have changed who may read it, which leaves its stamp as it is."""
    return file.reason == Reason.FORBIDDEN and os.access(file.path, os.R_OK)
