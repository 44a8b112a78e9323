"""The user's projects: folders of chats whose chats begin alike. GUI thread; knows no widgets.

What a project is, and what it may hold, is in `app/chats/project.py`: here it changes, and is saved.
"""

import asyncio
import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.chats.project import MAX_FACTS, Project, facts_in, facts_text
from app.protocol.commands import Forget
from app.services.chat_library import ChatLibrary
from app.services.shelves import ShelfService
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.system.files import replacing
from app.system.said import said

MAX_FILE_BYTES = 4 << 20
FULL = said(
    "The project has {number:,} facts and takes no more. Delete some of them first.", number=MAX_FACTS
)


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
        return self._projects.get(folder)

    def beginnings(self, room: int) -> Iterator[tuple[str, str]]:
        """The ids of their own sequences, and what chats begin with, of those whose shelves are read."""
        for project in self.all:
            if self._shelves.is_settled(project.shelf_id):
                documents = self._shelves.text_before(project.shelf_id, room)
                yield project.chat_id, project.text_around(documents, room)

    def set(self, project: Project) -> None:
        """Makes its folder this project, or changes it. Also undoes `remove`."""
        self._put(project.folder, project)

    def remove(self, folder: str) -> None:
        """It is a folder only. What was computed for it goes, too."""
        if project := self.of(folder):
            self._engine.post(Forget(project.chat_id))
            self._put(folder, None)

    def change(self, folder: str, change: Callable[..., Project], *args: Any, **named: Any) -> None:
        """By a method of Project, such as `with_facts`. Nothing where the folder is no project any more."""
        if before := self.of(folder):
            anew = change(before, *args, **named)
            if change in (Project.with_facts, Project.with_accepted) and len(anew.facts) >= MAX_FACTS:
                self.failed.emit(FULL)
            if anew != before:
                self.set(anew)

    async def export_facts(self, folder: str, path: Path) -> None:
        """As a list in Markdown where the name ends in “.md”, else as JSON. Emits `failed` on errors."""
        project = self.of(folder)
        text = facts_text(project.facts if project else (), is_markdown=path.suffix.lower() == ".md")
        try:
            await asyncio.to_thread(_write, path, text)
        except OSError as error:
            self._fail(path, error)

    async def import_facts(self, folder: str, path: Path) -> int:
        """Returns how many are new. Emits `failed` on errors, also for want of facts or of room."""
        try:
            found = facts_in(await asyncio.to_thread(_read, path))
        except OSError as error:
            self._fail(path, error)
            return 0
        if not any(fact.text for fact in found):
            self.failed.emit(
                said("{file} has no facts: neither a list in Markdown nor Skein’s JSON.", file=path.name)
            )
        before = self.of(folder)
        self.change(folder, Project.with_facts, found)
        after = self.of(folder)
        return len(after.facts) - len(before.facts) if before and after else 0

    def _fail(self, path: Path, error: OSError) -> None:
        reason = error.strerror or str(error)
        self.failed.emit(
            said("{file} cannot be used: {reason}. Choose another one.", file=path.name, reason=reason)
        )

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
        if project := self.of(folder):
            self._put(folder, replace(project, folder=name))

    @Slot(str)
    def _on_folder_deleted(self, folder: str) -> None:
        self._deleted[folder] = self.of(folder)
        self.remove(folder)

    @Slot(str, str)
    def _on_folder_put_back(self, folder: str, name: str) -> None:
        if project := self._deleted.pop(folder, None):
            self.set(replace(project, folder=name))


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)


def _read(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return content.decode("utf-8-sig", "replace")
