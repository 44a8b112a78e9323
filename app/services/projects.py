"""The user's projects: folders of chats whose chats begin alike. GUI thread; knows no widgets.

What a project is, and what it may hold, is in `app/chats/project.py`: here it changes, and is saved.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.chats.fact_files import FactsError, read_facts, write_facts
from app.chats.project import MAX_FACTS, Fact, Project
from app.protocol.commands import Forget
from app.services.chat_library import ChatLibrary
from app.services.shelves import ShelfService
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.system.said import said

FULL = said("A project holds {number:,} facts at most. Delete some of them first.", number=MAX_FACTS)


class Projects(QObject):
    changed = Signal()
    failed = Signal(object)  # one sentence for the user

    def __init__(
        self,
        store: ChatStore,
        engine: Engines,
        library: ChatLibrary,
        shelves: ShelfService,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._engine = engine
        self._shelves = shelves
        self._projects: dict[str, Project] = {}  # by folder
        self._deleted: dict[str, Project | None] = {}  # of folders that were deleted in this run
        library.folder_renamed.connect(self._on_folder_renamed)
        library.folder_deleted.connect(self._on_folder_deleted)
        library.folder_put_back.connect(self._on_folder_put_back)

    async def load(self) -> None:
        """Emits `failed` on errors."""
        try:
            self._projects = {one.folder: one for one in await self._store.projects()}
        except StorageError as error:
            self.failed.emit(str(error))
        self.changed.emit()

    @property
    def all(self) -> tuple[Project, ...]:
        return tuple(self._projects.values())

    def of(self, folder: str) -> Project | None:
        return self._projects.get(folder) if folder else None

    @property
    def chat_ids(self) -> tuple[str, ...]:
        """The ids of the projects' own sequences."""
        return tuple(project.chat_id for project in self.all)

    def beginnings(self, room: int) -> Iterator[tuple[str, str]]:
        """These ids, and what chats of at most `room` tokens begin with, as far as their shelves are read."""
        for project in self.all:
            if self._shelves.is_settled(project.shelf_id):
                documents = self._shelves.text_before(project.shelf_id, room)
                yield project.chat_id, project.text_around(documents, room)

    def set(self, project: Project) -> None:
        """Makes its folder this project, or changes it. Also undoes `remove`."""
        self._put(project.folder, project)

    def remove(self, folder: str) -> None:
        """It is a folder only. What was computed for it goes, too."""
        if project := self._projects.get(folder):
            self._engine.post(Forget(project.chat_id))
            self._put(folder, None)

    # Facts, and proposals by the model. Nothing where the folder is no project any more.

    def add(self, folder: str, *facts: Fact) -> None:
        if project := self.of(folder):
            self._change(project, project.with_facts(facts), is_full=len(project.facts) >= MAX_FACTS)

    def change(
        self, folder: str, fact_id: str, *, text: str | None = None, is_on: bool | None = None
    ) -> None:
        """Edits or switches a fact. Without a text it is deleted; `add` undoes that."""
        given = {"text": text, "is_on": is_on}
        if project := self.of(folder):
            changes = {name: value for name, value in given.items() if value is not None}
            self._change(project, project.with_changed(fact_id, **changes))

    def propose(self, folder: str, *facts: Fact) -> None:
        if project := self.of(folder):
            self._change(project, project.with_proposed(facts))

    def accept(self, folder: str, fact_id: str, text: str = "") -> None:
        """The proposal is a fact from now on, in these words if there are any."""
        if project := self.of(folder):
            self._change(
                project, project.with_accepted(fact_id, text), is_full=len(project.facts) >= MAX_FACTS
            )

    def drop(self, folder: str, fact_id: str) -> None:
        """It is not proposed again."""
        if project := self.of(folder):
            self._change(project, project.with_dropped(fact_id))

    async def export_facts(self, folder: str, path: Path) -> None:
        """As JSON, or as a list in Markdown where the name ends in “.md”. Emits `failed` on errors."""
        if project := self.of(folder):
            try:
                await asyncio.to_thread(write_facts, path, project.facts)
            except FactsError as error:
                self.failed.emit(error.args[0])

    async def import_facts(self, folder: str, path: Path) -> int:
        """Returns how many are new. Emits `failed` on errors, and for those that find no room."""
        try:
            found = await asyncio.to_thread(read_facts, path)
        except FactsError as error:
            self.failed.emit(error.args[0])
            return 0
        project = self.of(folder)
        if project is None:
            return 0
        anew = project.with_facts(found)
        self._change(project, anew, is_full=len(anew.facts) >= MAX_FACTS)
        return len(anew.facts) - len(project.facts)

    def _change(self, before: Project, anew: Project, *, is_full: bool = False) -> None:
        if is_full:
            self.failed.emit(FULL)
        if anew != before:
            self.set(anew)

    def _put(self, folder: str, project: Project | None) -> None:
        self._projects.pop(folder, None)
        if project:
            self._projects[project.folder] = project
        spawn(self._save(folder, project))
        self.changed.emit()

    async def _save(self, folder: str, project: Project | None) -> None:
        try:
            await self._store.save_project(folder, project)
        except StorageError as error:
            self.failed.emit(str(error))

    @Slot(str, str)
    def _on_folder_renamed(self, folder: str, name: str) -> None:
        if project := self._projects.get(folder):
            self._put(folder, replace(project, folder=name))

    @Slot(str)
    def _on_folder_deleted(self, folder: str) -> None:
        self._deleted[folder] = self.of(folder)
        self.remove(folder)

    @Slot(str, str)
    def _on_folder_put_back(self, folder: str, name: str) -> None:
        if project := self._deleted.pop(folder, None):
            self.set(replace(project, folder=name))
