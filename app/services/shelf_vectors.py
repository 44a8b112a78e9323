"""Which models shelves are searched with besides words, and the vectors of their passages, computed in the
background. GUI thread; the models run in a child process.

What is computed is kept: only new and changed passages are computed, or all for another model.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.ahead_reader import is_on_mains
from app.bridge.tasks import spawn
from app.engine.children.text_models import TextModels
from app.models.model_file import FileKind, ModelFile, why_not_for_texts
from app.protocol.errors import EngineError
from app.services.model_library import ModelLibrary
from app.services.preferences import Preferences
from app.services.shelves import ShelfService
from app.shelves.finder import ShelfFinder
from app.shelves.index import ShelfIndex
from app.shelves.shelf import Shelf

log = logging.getLogger(__name__)

SETTINGS = {FileKind.EMBEDDING: "shelf_embedder", FileKind.RERANKER: "shelf_reranker"}
BATCH_S, MAX_BATCH = 0.5, 32  # a search waits for no more than one batch
FIRST_WAIT_S, MAX_WAIT_S = 2.0, 300.0  # after a failure; doubled each time
BATTERY_WAIT_S = 30.0


class ShelfVectors(QObject):
    changed = Signal()  # what is chosen, how far it is, or what is wrong
    refused = Signal(object)  # one sentence: the file is no such model

    def __init__(
        self,
        preferences: Preferences,
        library: ModelLibrary,
        shelves: ShelfService,
        index: ShelfIndex,
        finder: ShelfFinder,
        engine: TextModels,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._library = library
        self._shelves = shelves
        self._index = index
        self._finder = finder
        self._engine = engine
        self._counts: dict[str, tuple[int, int]] = {}  # by shelf id: passages with a vector, and all
        self._is_closing = False
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()  # of shelves
        preferences.changed.connect(self._on_setting_changed)
        shelves.changed.connect(self._on_shelves_changed)
        library.changed.connect(self.changed)

    def start(self) -> None:
        """Once the shelves are known."""
        self._apply()

    def chosen(self, kind: FileKind) -> Path | None:
        return self._preferences.value(SETTINGS[kind])  # type: ignore[no-any-return]

    def models(self, kind: FileKind) -> tuple[ModelFile, ...]:
        """The models of the library that are of this kind."""
        return tuple(one for one in self._library.models if one.kind is kind)

    def progress(self, shelf_id: str) -> tuple[int, int] | None:
        """How many passages have a vector, and how many there are. None: none are wanted, or known yet."""
        return self._counts.get(shelf_id) if self.chosen(FileKind.EMBEDDING) else None

    @property
    def trouble(self) -> str:
        """Why searches have less than what was chosen."""
        return self._finder.trouble

    def choose(self, kind: FileKind, path: Path | None) -> None:
        """`refused` or `changed` follows. None: no such model."""
        spawn(self._choose(kind, path))

    async def close(self) -> None:
        self._is_closing = True
        await self._stop()
        await asyncio.to_thread(self._engine.close)

    async def _choose(self, kind: FileKind, path: Path | None) -> None:
        refusal = await asyncio.to_thread(why_not_for_texts, path, kind) if path else ""
        if refusal:
            self.refused.emit(refusal)
            self.changed.emit()
        else:
            self._preferences.set(SETTINGS[kind], path)

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == SETTINGS[FileKind.EMBEDDING]:
            self._counts.clear()
        if name in SETTINGS.values():
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        self._finder.choose(self.chosen(FileKind.EMBEDDING), self.chosen(FileKind.RERANKER))
        spawn(self._begin_anew())

    @Slot()
    def _on_shelves_changed(self) -> None:
        self._news.set()

    async def _begin_anew(self) -> None:
        await self._stop()
        await asyncio.to_thread(self._engine.rest)  # the memory of the former model
        if self.chosen(FileKind.EMBEDDING) and self._task is None and not self._is_closing:
            self._task = spawn(self._follow())

    async def _stop(self) -> None:
        task, self._task = self._task, None
        if task:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _follow(self) -> None:
        wait_s = FIRST_WAIT_S
        while True:
            self._news.clear()
            try:
                for state in self._shelves.states:
                    await self._compute(state.shelf)
                await self._drop_others()
            except (EngineError, sqlite3.Error) as error:
                log.warning("Vectors of a shelf could not be computed: %s", error)
                self.changed.emit()
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, MAX_WAIT_S)
                continue
            wait_s = FIRST_WAIT_S
            await self._news.wait()

    async def _compute(self, shelf: Shelf) -> None:
        """All that the shelf lacks. Raises EngineError and sqlite3.Error."""
        model = await self._finder.model()
        if model is None:
            return
        num_done, num_all = await self._index.num_vectors(shelf, model.key)
        self._note(shelf, num_done, num_all)
        size = 1
        while num_done < num_all:
            if not is_on_mains():
                await asyncio.sleep(BATTERY_WAIT_S)
                continue
            began = time.monotonic()
            if not await self._finder.embedded(shelf, size):
                break
            took_s = max(time.monotonic() - began, 0.001)
            num_done = min(num_done + size, num_all)
            size = max(1, min(MAX_BATCH, 2 * size, round(size * BATCH_S / took_s)))
            self._note(shelf, num_done, num_all)
        self._note(shelf, *await self._index.num_vectors(shelf, model.key))

    async def _drop_others(self) -> None:
        model = await self._finder.model()
        if model:
            await self._index.forget_vectors_but(model.key)

    def _note(self, shelf: Shelf, num_done: int, num_all: int) -> None:
        if self._counts.get(shelf.id) != (num_done, num_all):
            self._counts[shelf.id] = num_done, num_all
            self.changed.emit()
